from pathlib import Path

import warm

from pycaffe_dist.data.database import write_database
from pycaffe_dist.proto.caffe_pb2 import Datum

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "data"


def run(folder, *args):
    return warm.pcd("db", *args, cwd=folder)


def test_good_database_and_its_sheet(tmp_path):
    done = run(tmp_path, GOLDEN / "lmdb_encoded", "--sheet=sheet.png", "-verify")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith(f"{GOLDEN}/lmdb_encoded: LMDB, 24 records, ")
    assert "3x40x44 PNG: 24 records" in lines
    assert lines[-2:] == ["Wrote sheet.png: the first 24 images", "every record is good"]
    assert (tmp_path / "sheet.png").read_bytes().startswith(b"\x89PNG")


def test_bad_records_are_named_and_the_code_is_1(tmp_path):
    short = Datum(channels=1, height=2, width=2, data=b"123").SerializeToString()
    write_database(tmp_path / "db", "lmdb", [(b"%02d" % i, short) for i in range(25)])
    done = run(tmp_path, "db", "--verify")
    assert done.returncode == 1
    assert "every record is good" not in done.stdout
    lines = done.stderr.splitlines()
    assert lines[0] == "25 bad records:"
    assert lines[1].startswith("  record 00 has 3 values")
    assert lines[-1] == "  ... and 5 more"


def test_no_database(tmp_path):
    done = run(tmp_path, "none")
    assert (done.returncode, done.stderr) == (1, "pcd db: none: there is no such database\n")

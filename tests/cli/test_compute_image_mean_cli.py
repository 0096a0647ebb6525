from pathlib import Path

import warm

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "data"


def run(folder, *args):
    return warm.pcd("compute_image_mean", *args, cwd=folder)


def test_mean(tmp_path):
    done = run(tmp_path, "-backend=lmdb", GOLDEN / "lmdb_color", "mean.binaryproto")
    assert done.returncode == 0, done.stderr
    written = (tmp_path / "mean.binaryproto").read_bytes()
    assert written == (GOLDEN / "mean.binaryproto").read_bytes()
    assert "] mean_value channel [2]: 106.387\n" in done.stderr
    assert done.stdout == "mean of 24 images of 3x40x44 in mean.binaryproto\n"


def test_wrong_kind(tmp_path):
    done = run(tmp_path, GOLDEN / "lmdb_color", "--backend", "leveldb")
    assert done.returncode == 1
    assert done.stderr.endswith("is of the kind lmdb, not leveldb: say -backend lmdb\n")

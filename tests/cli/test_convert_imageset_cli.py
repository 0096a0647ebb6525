import os
import pty
import shutil
import subprocess
import sys
from pathlib import Path

import warm

from pycaffe_dist.data.database import records_of
from pycaffe_dist.data.datum import parse_datum

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "data"
COMMAND = [sys.executable, "-m", "pycaffe_dist", "convert_imageset"]


def run(folder, *args):
    return warm.pcd("convert_imageset", *args, cwd=folder)


def test_list_as_caffe_takes_it(tmp_path):
    (tmp_path / "list.txt").write_text((GOLDEN / "list.txt").read_text() + "none.png 3\n")
    done = run(
        tmp_path,
        "--resize_height=40",
        "-check_size",
        f"{GOLDEN}/images/",
        "list.txt",
        "color",
        "-resize_width",
        44,
    )
    assert done.returncode == 0, done.stderr
    recorded = list(records_of(str(GOLDEN / "lmdb_color"), "lmdb"))
    assert list(records_of(str(tmp_path / "color"), "lmdb")) == recorded
    assert done.stdout.startswith("color: 24 records\nlabels: 7, from 0 to 6\n")
    assert "convert_imageset.cpp:84] A total of 25 images.\n" in done.stderr
    assert "convert_imageset.cpp:149] Processed 24 files.\n" in done.stderr
    assert f"1 images could not be read:\n  {GOLDEN}/images/none.png: " in done.stderr
    assert "\x1b" not in done.stderr


def test_a_label_that_is_no_number(tmp_path):
    (tmp_path / "list.txt").write_text("i00.jpg 1\ni01.png zero\n")
    done = run(tmp_path, f"{GOLDEN}/images/", "list.txt", "db")
    assert done.returncode == 1
    assert "list.txt:2: the label 'zero' of 'i01.png' is no whole number" in done.stderr
    assert "Traceback" not in done.stderr and not (tmp_path / "db").exists()


def test_class_folders_on_a_terminal(tmp_path):
    for folder, name in (("dog", "i00.jpg"), ("cat", "i01.png"), ("cat", "i03.jpg")):
        (tmp_path / "photos" / folder).mkdir(parents=True, exist_ok=True)
        shutil.copyfile(GOLDEN / "images" / name, tmp_path / "photos" / folder / name)
    ours, theirs = pty.openpty()
    try:
        done = subprocess.run(
            [*COMMAND, "--shuffle=true", "--seed", "1", "--encoded", "photos", "db"],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=theirs,
            text=True,
            timeout=150,
            env={**os.environ, "TERM": "xterm"},
        )
        os.close(theirs)
        shown = os.read(ours, 10000).decode()
    finally:
        os.close(ours)
    assert done.returncode == 0, shown
    records = list(records_of(str(tmp_path / "db"), "lmdb"))
    labels = {key[9:]: parse_datum(value).label for key, value in records}
    assert labels == {b"cat/i01.png": 0, b"cat/i03.jpg": 0, b"dog/i00.jpg": 1}
    *lines, last = done.stdout.splitlines()
    assert last == "names of the classes: db/labels.txt"
    assert (tmp_path / "db" / "labels.txt").read_text() == "cat\ndog\n"
    rows = [line.split()[:3] for line in lines[3:]]
    assert rows == [["0", "cat", "2"], ["1", "dog", "1"]]
    assert "\x1b[K" in shown  # where the counter was


def test_mistakes(tmp_path):
    done = run(tmp_path, "one")
    assert done.returncode == 2
    assert "expected ROOTFOLDER/ LISTFILE DB_NAME, or FOLDER DB_NAME" in done.stderr
    (tmp_path / "db").mkdir()
    done = run(tmp_path, f"{GOLDEN}/images/", GOLDEN / "list.txt", "db")
    assert done.returncode == 1
    assert f"pcd convert_imageset: {tmp_path}/db: already exists" in done.stderr
    assert "Traceback" not in done.stderr
    (tmp_path / "photos" / "cats").mkdir(parents=True)
    done = run(tmp_path, "photos", "new")
    assert done.returncode == 1
    assert "found 1 folders and no files in them; with a list of images, give" in done.stderr

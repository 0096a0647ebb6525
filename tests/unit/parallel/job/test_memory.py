"""The folder in memory that outlives a launcher."""

import os
import subprocess
import sys

import pytest

from pycaffe_dist.parallel.job import memory
from pycaffe_dist.parallel.job.memory import memory_folder, sweep

KILLED = """
import os, sys
from pathlib import Path
from pycaffe_dist.parallel.job import memory
memory.root = lambda: Path(sys.argv[1])
with memory.memory_folder(sys.argv[2], False) as folder:
    (folder / "file").write_text("kept")
    os._exit(1)
"""


@pytest.fixture(autouse=True)
def root(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "root", lambda: tmp_path)
    return tmp_path


def killed(root, run="run"):
    subprocess.run([sys.executable, "-c", KILLED, str(root), run])
    (folder,) = root.iterdir()
    return folder


def test_it_is_private_and_goes_with_its_launcher(root):
    with memory_folder("run", resumes=True) as folder:
        assert folder.stat().st_mode & 0o777 == 0o700
        sweep()  # of another launcher
        assert folder.is_dir()
    assert not list(root.iterdir())


def test_the_next_launcher_of_a_run_takes_over_what_a_killed_one_has_left(root):
    left = killed(root)
    with memory_folder("run", resumes=True) as folder:
        assert folder != left
        assert (folder / "file").read_text() == "kept"
    left = killed(root)
    with memory_folder("run", resumes=False) as folder:
        assert not (folder / "file").exists()
        assert left.exists()


def test_what_nobody_takes_over_is_removed(root):
    left = killed(root, "another run")
    with memory_folder("run", resumes=True) as folder:
        assert not (folder / "file").exists()
        sweep()
        assert left.exists()  # its own run may still go on
        os.utime(left, (0, 0))
        sweep()
        assert not left.exists()
        assert folder.exists()


def test_a_folder_that_others_can_write_to_is_not_taken(root):
    left = killed(root)
    os.chmod(left, 0o777)
    os.utime(left, (0, 0))
    with memory_folder("run", resumes=True) as folder:
        assert not (folder / "file").exists()
    sweep()
    assert left.exists()

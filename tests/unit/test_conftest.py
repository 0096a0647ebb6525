"""What tests/conftest.py promises to all tests, seen on a few of its own."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = Path(__file__).parents[1] / "conftest.py"
TESTS = """
import ctypes, os, subprocess, sys
from pathlib import Path
import pytest

def test_sees_nothing_of_the_user():
    assert not [n for n in os.environ if n.startswith(("OMP_", "GLOG_", "XDG_", "PCD_ENGINE"))]
    for name in ("HOME", "PCD_CACHE", "MPLCONFIGDIR"):
        assert os.access(os.environ[name], os.W_OK)
    Path("home").write_text(os.environ["HOME"])

@pytest.mark.timeout(2)
def test_hangs():
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    Path("child").write_text(str(child.pid))
    ctypes.PyDLL(None).sleep(600)  # in C, and no other thread of Python runs meanwhile
"""


SKIPPED = """
import pytest

@pytest.mark.parametrize("i", range(3))
@pytest.mark.skipif(True, reason="no data")
def test_without(i): ...

def test_here():
    pytest.skip("no GPU")

def test_runs(): ...
"""


def test_places_that_it_names_are_there(request):
    """A file that was moved would be tested on one engine only, without a word."""
    plugins = request.config.pluginmanager.get_plugins()
    conftest = next(p for p in plugins if getattr(p, "__file__", None) == str(CONFTEST))
    for name in (*conftest.MATRIX, *conftest.ONEDNN, *conftest.PROGRAMS):
        assert (CONFTEST.parent / name).exists(), name


@pytest.mark.parametrize(("jobs", "skips", "code"), [([], "4", 0), (["-n", "1"], "3", 1)])
def test_a_run_says_what_did_not_run(tmp_path, jobs, skips, code):
    shutil.copy(CONFTEST, tmp_path)
    (tmp_path / "test_it.py").write_text(SKIPPED)
    command = [sys.executable, "-m", "pytest", "-c", os.devnull, "--rootdir=.", "--skips", skips]
    run = subprocess.run([*command, *jobs, "."], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == code, run.stdout + run.stderr
    assert "4 tests did not run: 3 (no data), 1 (no GPU)" in run.stdout
    assert ("3 were expected not to run (--skips)" in run.stdout) == bool(code)


@pytest.mark.timeout(180)
def test_a_hang_is_one_failure_and_the_user_is_not_seen(tmp_path):
    shutil.copy(CONFTEST, tmp_path)
    (tmp_path / "test_it.py").write_text(TESTS)
    theirs = {"HOME": "/nowhere", "XDG_CACHE_HOME": "/nowhere", "PCD_CACHE": "/nowhere"}
    theirs |= {"OMP_NUM_THREADS": "7", "PCD_ENGINE": "none", "GLOG_minloglevel": "3"}
    command = [sys.executable, "-m", "pytest", "-n", "1", "-c", os.devnull, "--rootdir=.", "."]
    run = subprocess.run(
        command, cwd=tmp_path, env=os.environ | theirs, capture_output=True, text=True
    )
    assert "1 failed, 1 passed" in run.stdout, run.stdout + run.stderr
    assert "crashed while running 'test_it.py::test_hangs'" in run.stdout
    assert re.search(r"Timeout \(0:00:[0-4]\d", run.stderr)  # 2 s, times those who share a core
    assert "in test_hangs" in run.stderr  # the stack
    child = Path("/proc", (tmp_path / "child").read_text(), "cmdline")
    assert not child.exists() or child.read_bytes() == b""  # gone, or nobody's yet
    assert not Path((tmp_path / "home").read_text()).exists()  # cleared away

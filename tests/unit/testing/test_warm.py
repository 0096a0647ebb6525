"""tests/helpers/warm.py: a command is a process like one that was started."""

import json
import os
import subprocess
import sys

import pytest
import warm

SCRIPT = """
import atexit, json, os, sys
atexit.register(print, "at the end", file=sys.stderr)
print(json.dumps([os.getcwd(), sys.argv, os.environ.get("NAMED"), "PATH" in os.environ]))
print(os.getpid(), file=sys.stderr)
if sys.argv[1:] == ["kill"]:
    os.kill(os.getpid(), 9)
sys.exit(7)
"""


def test_a_command_is_a_process(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    command = ["run", "script.py", "a b"]
    env = {"NAMED": "here", "PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    done = warm.pcd(*command, cwd=tmp_path, env=env)
    assert done.returncode == 7
    assert json.loads(done.stdout) == [str(tmp_path), ["script.py", "a b"], "here", False]
    pid, end = done.stderr.splitlines()
    assert int(pid) != os.getpid() and end == "at the end"
    started = subprocess.run(
        [sys.executable, "-m", "pycaffe_dist", *command],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
    )
    assert (started.returncode, started.stdout) == (done.returncode, done.stdout)
    again = warm.pcd(*command, cwd=tmp_path)
    assert json.loads(again.stdout)[2:] == [None, True]  # nothing of the first is left
    assert warm.pcd("run", "script.py", "kill", cwd=tmp_path).returncode == -9


def test_nothing_is_measured(tmp_path):
    engine = "from pycaffe_dist.engines.onednn.core.remembered import CHOICES"
    (tmp_path / "script.py").write_text(f"{engine}\nprint(CHOICES.measuring)\n")
    assert warm.pcd("run", "script.py", cwd=tmp_path).stdout == "False\n"


def test_a_command_that_takes_too_long(tmp_path):
    (tmp_path / "script.py").write_text("import time\ntime.sleep(600)\n")
    with pytest.raises(subprocess.TimeoutExpired):
        warm.pcd("run", "script.py", cwd=tmp_path, timeout=2)
    assert warm.pcd("--version", cwd=tmp_path).stdout.startswith("pcd ")

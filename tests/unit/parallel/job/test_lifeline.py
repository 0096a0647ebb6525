import os
import stat
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

from pycaffe_dist.parallel.job import lifeline
from pycaffe_dist.parallel.job.supervisor import Job, _processes, kill_leftovers, sweep

TALK = """
import sys
from pycaffe_dist import events as e
from pycaffe_dist.parallel.job.lifeline import Lifeline, say
life = Lifeline()
print("one")
sys.stdout.write("no newline"); sys.stdout.flush()
life(e.Updated(7, 0.5, 0.1))
life(e.Snapshotted(8, "a.caffemodel", "/x/a.solverstate"))
print("")
print("two", flush=True)
say("end", "done 143")
"""


def job(code, **settings):
    return Job([sys.executable, "-c", code], **settings)


def test_signs_of_life_are_taken_out_of_what_is_shown(capfdbinary):
    with job(TALK) as talk:
        talk.process.wait(60)
    assert (talk.iteration, talk.snapshots, talk.end) == (7, ["/x/a.solverstate"], "done")
    assert talk.code == 143  # a signal has reached one of the ranks
    assert capfdbinary.readouterr().out == b"one\nno newline\n\ntwo\n"


def test_nothing_is_said_where_nobody_listens(capfd, monkeypatch):
    monkeypatch.delenv(lifeline.VARIABLE, raising=False)
    lifeline.say("beat", 1)
    assert capfd.readouterr().out == ""


def test_an_end_without_its_mark_is_a_failure():
    for code, expected in (("pass", 1), ("raise SystemExit(3)", 3)):
        with job(code) as quiet:
            quiet.process.wait(60)
        assert quiet.code == expected
    with job("import os; os.kill(os.getpid(), 9)") as killed:
        killed.process.wait(60)
    assert killed.code == 137


ASKED = """
import os, signal
wishes = {signal.SIGTERM, signal.SIGUSR1}
signal.pthread_sigmask(signal.SIG_BLOCK, wishes)
print("ready", flush=True)
print(signal.Signals(signal.sigwait(wishes)).name, flush=True)
"""


@pytest.mark.parametrize(("stop", "wish"), [(True, b"SIGTERM"), (False, b"SIGUSR1")])
def test_a_wish_reaches_a_rank_alone_as_its_signal(stop, wish):
    said, ready = [], threading.Event()

    def show(line):
        said.append(line.strip())
        ready.set()

    with job(ASKED, show=(show, show)) as asked:
        assert ready.wait(60)
        asked.ask(stop)
        asked.process.wait(60)
        asked.hear_out()
    assert said == [b"ready", wish]


def test_a_job_takes_its_processes_with_it():
    child = "import subprocess, sys; subprocess.Popen(['sleep', '300'], start_new_session=True)"
    with job(child) as parent:
        parent.process.wait(60)
        name = parent.name
    assert kill_leftovers(name) == []
    with job("import time; time.sleep(300)") as parent:
        pass
    assert parent.process.returncode is not None


def test_a_launcher_that_is_killed_takes_the_job_with_it():
    code = (
        "import sys, time; from pycaffe_dist.parallel.job.supervisor import Job\n"
        "with Job([sys.executable, '-c', 'import time; time.sleep(300)']) as job:\n"
        "    print(job.name, flush=True); time.sleep(300)"
    )
    launcher = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    name = launcher.stdout.readline().strip()
    launcher.kill()
    launcher.wait()
    launcher.stdout.close()
    assert wait_until_gone(name)
    (left,) = Path(tempfile.gettempdir()).glob(f"pcd-job-{launcher.pid}-*")
    sweep()
    assert not left.exists()


def wait_until_gone(name, seconds=50):
    end = time.monotonic() + seconds
    while _processes(name):
        if time.monotonic() > end:
            kill_leftovers(name)
            return False
        time.sleep(0.05)
    return True


@pytest.fixture
def planted(tmp_path, monkeypatch):
    """A job's folder of a process that is gone, and a file elsewhere."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder, victim = tmp_path / f"pcd-job-{1 << 30}-x", tmp_path / "victim"
    folder.mkdir(0o700)
    victim.touch()
    return folder, victim


@pytest.mark.parametrize("name", ["{}", "../..{}", "{}\n", "..", ".", "", "../shm"])
def test_names_of_memory_are_plain(planted, name):
    folder, victim = planted
    (folder / "memory").write_text(name.format(victim))
    sweep()
    assert victim.exists()
    assert Path("/dev/shm").exists()
    assert not folder.exists()


def test_folders_of_others_stay_and_are_not_read(planted, monkeypatch):
    folder, _ = planted
    os.mkfifo(folder / "memory")  # whoever opens it as a file waits for ever
    folder.chmod(0o777)
    sweep()
    assert folder.exists()
    folder.chmod(0o700)
    with monkeypatch.context() as patch:
        patch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)
        sweep()
    assert folder.exists()
    sweep()  # ours it is, and the pipe is not waited for
    assert not folder.exists()


def test_a_link_to_a_folder_is_not_followed(planted, tmp_path):
    folder, _ = planted
    folder.rmdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "file").touch()
    folder.symlink_to(tmp_path / "elsewhere")
    sweep()
    assert (tmp_path / "elsewhere" / "file").exists()


def test_the_folder_of_a_job_is_private():
    with job("pass") as running:
        assert stat.S_IMODE(os.stat(running._folder).st_mode) == 0o700


def test_shared_memory_that_a_job_leaves_is_removed():
    with tempfile.NamedTemporaryFile(dir="/dev/shm", delete=False) as left:
        pass
    say = f"from pycaffe_dist.parallel.job.lifeline import *; say(MEMORY, {Path(left.name).name!r})"
    with job(say) as talk:
        talk.process.wait(60)
    assert not Path(left.name).exists()

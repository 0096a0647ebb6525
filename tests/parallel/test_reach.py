"""Hosts that cannot be reached, with a real mpirun and a stand-in for ssh."""

import logging
import re

import pytest

pytest.importorskip("mpi4py")

from runs import ENV

from pycaffe_dist.parallel.job.hostfile import Host
from pycaffe_dist.parallel.job.mpirun import OPEN_MPI, find_mpirun
from pycaffe_dist.tools import launch
from pycaffe_dist.tools.launch import Place, listening, train_on

HANGS = "#!/bin/sh\nsleep 60\n"
FAILS = "#!/bin/sh\necho 'ssh: connect to host: No route to host' >&2\nexit 255\n"
# Called as: ssh -x HOST COMMAND.  One host answers, though no daemon gets through.
ONE_HANGS = '#!/bin/sh\ncase "$2 $3" in *.1\\ true) exit 0;; esac\nsleep 60\n'
AWAY = ("10.255.255.1", "10.255.255.2")


@pytest.fixture
def start(tmp_path, monkeypatch, caplog):
    """Train on hosts that only this stand-in for ssh knows; the log, and what was printed."""
    if find_mpirun().kind != OPEN_MPI:
        pytest.skip("the stand-in for ssh is given to Open MPI's mpirun")
    monkeypatch.setattr(launch, "log_to_stderr", lambda: None)
    monkeypatch.setattr(launch, "REACH_SECONDS", 1.0)
    monkeypatch.setattr(launch, "ANSWER_SECONDS", 3.0)
    caplog.set_level(logging.INFO, "pycaffe_dist")

    def start(ssh):
        agent = tmp_path / "ssh"
        agent.write_text(ssh)
        agent.chmod(0o755)
        for name, value in (ENV | {"PRTE_MCA_plm_ssh_agent": str(agent)}).items():
            monkeypatch.setenv(name, value)
        place = Place(2, tuple(Host(name, 1) for name in AWAY))
        assert train_on(place, ["-solver", "none"], listening("stop", "snapshot")) == 1
        return caplog.text

    return start


@pytest.mark.parametrize(
    ("ssh", "away"),
    [(HANGS, AWAY), (ONE_HANGS, AWAY[1:]), (FAILS, AWAY)],
    ids=["hangs", "one-hangs", "fails"],
)
def test_hosts_without_an_answer_are_named(start, capfd, ssh, away):
    log = start(ssh)
    (names,) = re.findall(r"The job failed: no answer from (.*) before its first iteration", log)
    if ssh is FAILS:  # of several hosts mpirun may tell of one
        assert set(names.split(", ")) <= set(away)
    else:
        assert names == ", ".join(away)
    assert f"Does ssh get to {names} without a password" in log
    out, err = capfd.readouterr()
    assert "daemon" not in out + err
    assert ("No route to host" in err) == (ssh is FAILS)

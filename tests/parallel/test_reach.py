"""Hosts that cannot be reached, with a real mpirun and a stand-in for ssh."""

import logging
import re

import pytest

pytest.importorskip("mpi4py")

from runs import ENV

from pycaffe_dist.errors import PcdError
from pycaffe_dist.parallel.job.hostfile import Host
from pycaffe_dist.parallel.job.mpirun import OPEN_MPI, find_mpirun
from pycaffe_dist.tools import doctor, launch
from pycaffe_dist.tools.launch import listening, train_on
from pycaffe_dist.tools.place import Place

HANGS = "#!/bin/sh\nsleep 60\n"
FAILS = "#!/bin/sh\necho 'ssh: connect to host: No route to host' >&2\nexit 255\n"
# Called as: ssh -x HOST COMMAND.  One host answers, though no daemon gets through.
ONE_HANGS = '#!/bin/sh\ncase "$2 $3" in *.1\\ true) exit 0;; esac\nsleep 60\n'
AWAY = ("10.255.255.1", "10.255.255.2")
HOSTS = tuple(Host(name, 1) for name in AWAY)


@pytest.fixture
def start(ssh, monkeypatch, caplog):
    """Train on hosts that only a stand-in for ssh knows; the log."""
    monkeypatch.setattr(launch, "log_to_stderr", lambda: None)
    monkeypatch.setattr(launch, "REACH_SECONDS", 1.0)
    monkeypatch.setattr(launch, "ANSWER_SECONDS", 3.0)
    caplog.set_level(logging.INFO, "pycaffe_dist")

    def start(standin):
        ssh(standin)
        assert train_on(Place(2, HOSTS), ["-solver", "none"], listening("stop", "snapshot")) == 1
        return caplog.text

    return start


@pytest.fixture
def ssh(tmp_path, monkeypatch):
    """Let mpirun use a stand-in for ssh."""
    if find_mpirun().kind != OPEN_MPI:
        pytest.skip("the stand-in for ssh is given to Open MPI's mpirun")

    def use(text):
        agent = tmp_path / "ssh"
        agent.write_text(text)
        agent.chmod(0o755)
        for name, value in (ENV | {"PRTE_MCA_plm_ssh_agent": str(agent)}).items():
            monkeypatch.setenv(name, value)

    return use


@pytest.mark.parametrize(
    ("standin", "away"),
    [(HANGS, AWAY), (ONE_HANGS, AWAY[1:]), (FAILS, AWAY)],
    ids=["hangs", "one-hangs", "fails"],
)
def test_hosts_without_an_answer_are_named(start, capfd, standin, away):
    log = start(standin)
    (names,) = re.findall(r"The job failed: no answer from (.*) before its first iteration", log)
    if standin is FAILS:  # of several hosts mpirun may tell of one
        assert set(names.split(", ")) <= set(away)
    else:
        assert names == ", ".join(away)
    assert f"Does ssh get to {names} without a password" in log
    out, err = capfd.readouterr()
    assert "daemon" not in out + err
    assert ("No route to host" in err) == (standin is FAILS)


@pytest.mark.parametrize(("standin", "away"), [(HANGS, AWAY), (ONE_HANGS, AWAY[1:])])
def test_the_doctor_names_them_too(ssh, monkeypatch, standin, away):
    monkeypatch.setattr(doctor, "REACH_SECONDS", 1.0)
    monkeypatch.setattr(doctor, "ANSWER_SECONDS", 3.0)
    ssh(standin)
    with pytest.raises(PcdError, match=f"no answer from {', '.join(away)}: does ssh get there"):
        doctor.examine(HOSTS, 0)


def test_the_doctor_examines_ranks_of_this_host(monkeypatch):
    for name, value in ENV.items():
        monkeypatch.setenv(name, value)
    found = doctor.examine([], 2)
    assert [host["host"].split()[1] for host in found.hosts] == ["(rank", "(rank"]
    assert len(found.links) == 1 and found.links[0].bandwidth > 0

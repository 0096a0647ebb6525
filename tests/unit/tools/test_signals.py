import os
import signal

import pytest

from pycaffe_dist.solver import Action
from pycaffe_dist.tools.signals import Signals


def test_signals_become_requests_and_handlers_come_back():
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGHUP)
    with Signals("stop", "snapshot") as signals:
        assert signals.requested() is Action.NONE
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGHUP)
        assert [signals.requested() for _ in range(3)] == [
            Action.SNAPSHOT,  # HUP is reported first
            Action.STOP,
            Action.NONE,
        ]
        assert signals.received is signal.SIGINT
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGHUP)) == before


def test_a_log_that_nobody_reads_asks_for_a_stop():
    reader, writer = os.pipe()
    os.close(reader)
    before = signal.getsignal(signal.SIGPIPE)
    with Signals() as signals, pytest.raises(BrokenPipeError):
        os.write(writer, b"x")
    os.close(writer)
    assert signals.requested() is Action.STOP
    assert signals.code == 141
    assert signal.getsignal(signal.SIGPIPE) is before


def test_a_second_interrupt_leaves_at_once():
    left = []
    with Signals(leave=left.append) as signals:
        os.kill(os.getpid(), signal.SIGINT)
        assert (left, signals.code) == ([], 0)
        os.kill(os.getpid(), signal.SIGINT)
    assert left == [130]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGUSR2, 0)])
def test_exit_codes(number, code):
    with Signals() as signals:
        os.kill(os.getpid(), number)
        assert signals.code == code


def test_no_effect():
    with Signals("none", "none") as signals:
        os.kill(os.getpid(), signal.SIGINT)
        assert signals.requested() is Action.NONE
        assert signals.received is None


def test_signals_that_mpirun_hands_on():
    with Signals("none", "none") as signals:
        os.kill(os.getpid(), signal.SIGUSR1)
        assert signals.requested() is Action.SNAPSHOT
        assert signals.received is None
        os.kill(os.getpid(), signal.SIGUSR2)
        assert signals.requested() is Action.STOP
        assert signals.received is signal.SIGUSR2

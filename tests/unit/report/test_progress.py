import fcntl
import io
import logging
import os
import pty
import re
import struct
import termios

import pytest

from pycaffe_dist import events as e
from pycaffe_dist.report.progress import Progress


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


class Terminal:
    """A real pseudo-terminal, and what a person would see on it."""

    def __init__(self, columns=80):
        self._reader, writer = pty.openpty()
        self.stream = os.fdopen(writer, "w")
        self.resize(columns)
        self.received = ""

    def resize(self, columns):
        fcntl.ioctl(self.stream, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

    def read(self):
        """All that was written; a bell at its end says that nothing is still on its way."""
        self.stream.write("\a")
        self.stream.flush()
        while not self.received.endswith("\a"):
            self.received += os.read(self._reader, 4096).decode()
        self.received = self.received[:-1]
        return self.received

    def screen(self):
        """The lines on the screen; the cursor is in the last one."""
        lines, column = [""], 0
        for piece in re.findall(r"\x1b\[K|.", self.read(), re.DOTALL):
            if piece == "\n":
                lines.append("")
            elif piece == "\r":
                column = 0
            elif piece == "\x1b[K":
                lines[-1] = lines[-1][:column]
            else:
                lines[-1] = lines[-1][:column] + piece + lines[-1][column + 1 :]
                column += 1
        return lines

    def close(self):
        self.stream.close()
        os.close(self._reader)


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    yield terminal
    terminal.close()


def train(progress, clock, iterations, seconds=1.0, loss=0.5):
    for i in iterations:
        clock.now += seconds
        progress(e.Updated(i, loss, 0.01))


def test_the_line(terminal):
    clock = Clock()
    progress = Progress(terminal.stream, batch_size=64, clock=clock)
    progress(e.SolveBegins(0, "LeNet", "inv", 1000))
    progress(e.Tested(0, 0, [e.Output(0, "loss", 2.3, 1.0), e.Output(1, "accuracy", 0.98765)]))
    train(progress, clock, range(1, 102))
    assert terminal.screen() == [
        "iteration 101/1000  10%  loss 0.5  64 images/s  ETA 0:14:59  accuracy 0.9877"
    ]
    assert "  loss 0.5  lr 0.01  64 images/s  " in progress.line(100)


def test_what_fits(terminal):
    clock = Clock()
    progress = Progress(terminal.stream, batch_size=64, clock=clock)
    progress(e.SolveBegins(0, "LeNet", "inv", 1000))
    progress(e.Tested(0, 0, [e.Output(0, "accuracy", 0.9)]))
    train(progress, clock, range(1, 12))
    lines = {width: progress.line(width) for width in range(1, 120)}
    assert all(len(line) <= width for width, line in lines.items())
    assert lines[75] == "iteration 11/1000  1%  loss 0.5  64 images/s  ETA 0:16:29  accuracy 0.9"
    assert lines[45] == "iteration 11/1000  1%  loss 0.5  ETA 0:16:29"
    assert lines[29] == "iteration 11/1000  loss 0.5"
    assert lines[5] == "itera"


def test_a_terminal_that_changes_its_width(terminal):
    clock = Clock()
    progress = Progress(terminal.stream, clock=clock)
    terminal.resize(20)
    train(progress, clock, [123456])
    assert terminal.screen() == ["iteration 123456"]
    terminal.resize(10)
    train(progress, clock, [123457])
    assert terminal.screen() == ["iteration"]


def test_no_more_than_ten_times_a_second(terminal):
    clock = Clock()
    progress = Progress(terminal.stream, clock=clock)
    train(progress, clock, range(1, 1001), seconds=0.001)
    assert 9 <= terminal.read().count("\r") <= 11


def test_a_test_is_announced(terminal):
    clock = Clock()
    progress = Progress(terminal.stream, clock=clock)
    progress(e.SolveBegins(0, "n", "fixed", 500))
    progress(e.TestBegins(0, 0))
    assert terminal.screen() == ["iteration 0/500  0%  testing"]
    progress(e.TestInterrupted(0, 0))
    progress(e.TestBegins(0, 1))
    progress(e.Tested(0, 1, [e.Output(0, "recall", 0.5)]))
    train(progress, clock, [1], loss=float("nan"))
    assert terminal.screen() == ["iteration 1/500  0%  loss nan  lr 0.01  #1 recall 0.5"]


def test_tests_do_not_count_as_training_time(terminal):
    clock = Clock()
    progress = Progress(terminal.stream, batch_size=10, clock=clock)
    train(progress, clock, range(1, 5))
    progress(e.TestBegins(4, 0))
    clock.now += 1000
    progress(e.Tested(4, 0, []))
    train(progress, clock, range(5, 8))
    assert "10 images/s" in terminal.screen()[0]


def test_a_resumed_run_counts_from_where_it_began(terminal):
    clock = Clock()
    progress = Progress(terminal.stream, clock=clock)
    progress(e.SolveBegins(0, "n", "fixed", 1000))
    progress(e.Restored(900, "x.solverstate"))
    train(progress, clock, range(901, 951))
    assert "ETA 0:00:50" in terminal.screen()[0]


def test_the_log_goes_above_the_line(terminal):
    clock = Clock()
    logger = logging.getLogger("pycaffe_dist")
    handler = logging.StreamHandler(terminal.stream)
    logger.addHandler(handler)
    before = logger.level
    logger.setLevel(logging.INFO)
    try:
        with Progress(terminal.stream, clock=clock) as progress:
            train(progress, clock, [1])
            logger.info("first, and longer than the line below it")
            logger.info("second")
            assert terminal.screen() == [
                "first, and longer than the line below it",
                "second",
                "iteration 1  loss 0.5  lr 0.01",
            ]
        logger.info("third")
        assert handler.stream is terminal.stream
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)
    assert terminal.screen()[1:] == ["second", "third", ""]


def test_a_clean_terminal_at_the_end(terminal):
    clock = Clock()
    progress = Progress(terminal.stream, clock=clock)
    train(progress, clock, [1])
    progress(e.SolveEnds(1, False))
    progress.write("Optimization Done.\n")
    assert terminal.screen() == ["Optimization Done.", ""]


def test_nothing_where_there_is_no_terminal():
    stream = io.StringIO()
    with Progress(stream) as progress:
        progress(e.SolveBegins(0, "n", "fixed", 10))
        progress(e.Updated(1, 0.5, 0.01))
        progress(e.SolveEnds(1, False))
    assert stream.getvalue() == ""


def test_nothing_on_a_terminal_that_cannot_erase(terminal, monkeypatch):
    monkeypatch.setenv("TERM", "dumb")
    Progress(terminal.stream)(e.Updated(1, 0.5, 0.01))
    assert terminal.screen() == [""]


def test_a_terminal_that_goes_away(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    reader, writer = pty.openpty()
    stream = os.fdopen(writer, "w")
    progress = Progress(stream)
    os.close(reader)
    progress(e.Updated(1, 0.5, 0.01))
    assert not progress.live
    with pytest.raises(OSError):
        stream.close()

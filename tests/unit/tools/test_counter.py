import io

from pycaffe_dist.report import progress
from pycaffe_dist.tools import counter as module
from pycaffe_dist.tools.counter import Counter


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_shows_a_line_that_is_taken_away(monkeypatch):
    monkeypatch.setattr(module, "REDRAW_SECONDS", 0)
    monkeypatch.delenv("TERM", raising=False)
    terminal = Terminal()
    with Counter("images", 5000, terminal) as counter:
        for _ in range(1200):
            counter.add()
    text = terminal.getvalue()
    assert f"{progress.ERASE}1,200 of 5,000 images  " in text
    assert text.endswith(progress.ERASE)


def test_elsewhere_nothing_is_written():
    stream = io.StringIO()
    with Counter("images", None, stream) as counter:
        counter.add()
    assert counter.count == 1
    assert stream.getvalue() == ""


def test_a_terminal_that_goes_away_stops_nothing(monkeypatch):
    class Gone(Terminal):
        def write(self, text):
            raise OSError("gone")

    monkeypatch.setattr(module, "REDRAW_SECONDS", 0)
    monkeypatch.delenv("TERM", raising=False)
    with Counter("images", None, Gone()) as counter:
        counter.add()
        counter.add()
    assert counter.count == 2

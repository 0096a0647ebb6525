"""A token bucket on a clock of the test's own; the numbers are exact in binary."""

from pycaffe_dist.parallel.transport import budget as pace
from pycaffe_dist.parallel.transport.budget import TokenBucket


def test_sends_begin_while_there_is_something_and_leave_a_debt(monkeypatch):
    monkeypatch.setattr(pace, "BURST_SECONDS", 0.25)
    now = [100.0]
    bucket = TokenBucket(64, clock=lambda: now[0])
    assert bucket.burst == 16
    assert bucket.take(10) and bucket.take(6)
    assert not bucket.take(1)  # just empty
    now[0] += 1 / 64
    assert bucket.take(9)  # one byte is there: a debt of 8
    now[0] += 8 / 64
    assert not bucket.take(1)  # just paid
    now[0] += 1 / 64
    assert bucket.take(1)
    now[0] += 1000  # it is full, and no more
    assert bucket.take(16)
    assert not bucket.take(1)

"""Where the time and the bytes of a rank go: counters always, a trace of every span on request.

A rank's main thread computes and sometimes waits for an exchange; its communication thread has
exchanges under way.  From these three come the figures people ask for:

    busy     = time with at least one exchange under way
    exposed  = time in which the main thread stood still for one
    overlap  = (busy - exposed) / busy: the share of the communication that nobody noticed
    compute  = elapsed - exposed
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from pycaffe_dist.aliases import Facts
from pycaffe_dist.files import atomic_write
from pycaffe_dist.net import Net

MOST_SPANS = 500_000  # kept of a rank; some 100 MB of JSON
MAIN, WIRE = 0, 1  # rows of a rank in the trace: its main thread, then one or more for exchanges


@dataclass
class Totals:
    """Sums since the start, or the difference of two such sums."""

    elapsed: float = 0.0
    busy: float = 0.0
    exposed: float = 0.0
    sent: int = 0
    received: int = 0

    def __sub__(self, other: Totals) -> Totals:
        return Totals(*(a - b for a, b in zip(self._all(), other._all(), strict=True)))  # type: ignore[arg-type]

    def _all(self) -> tuple[float, ...]:
        return self.elapsed, self.busy, self.exposed, self.sent, self.received

    @property
    def compute(self) -> float:
        return self.elapsed - self.exposed

    @property
    def overlap(self) -> float:
        """1 where there was nothing to hide."""
        return max(0.0, (self.busy - self.exposed) / self.busy) if self.busy > 0 else 1.0

    def line(self) -> str:
        share = 100 * self.exposed / self.elapsed if self.elapsed else 0.0
        return (
            f"compute {self.compute:.3f} s, exposed communication {self.exposed:.3f} s "
            f"({share:.1f} %), overlap {100 * self.overlap:.0f} %, {self.sent / 1e6:.2f} MB sent"
        )


@dataclass
class Traffic:
    """What one layer has exchanged by one scheme."""

    exchanges: int = 0
    sent: int = 0
    received: int = 0
    seconds: float = 0.0


@dataclass(frozen=True)
class Span:
    """A stretch of time; ``kind`` is compute, wait or exchange."""

    kind: str
    name: str
    begin: float
    end: float
    facts: Facts = field(default_factory=dict)


class Exchange:
    """An exchange under way; whoever moves its bytes adds to ``sent`` and ``received``."""

    def __init__(self, recorder: Recorder, name: str, scheme: str, begin: float) -> None:
        self._recorder = recorder
        self.name, self.scheme, self.begin = name, scheme, begin
        self.sent = self.received = 0

    def end(self) -> None:
        self._recorder._ended(self)


class Recorder:
    """Counts for a rank, and keeps its spans if asked to.

    ``begin`` and ``Exchange.end`` may be called by another thread than ``waiting`` and ``compute``.

    Args:
        rank: whose.
        keep: whether spans are kept for a trace.

    Attributes:
        device_times: busy and exposed so far, where exchanges run between devices; what the host
            waits for is then no exposed communication.
    """

    def __init__(
        self, rank: int = 0, keep: bool = False, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        self.rank, self.keep = rank, keep
        self.clock = clock
        self._lock = threading.Lock()
        self._under_way = self._waits = 0
        self.device_times: Callable[[], tuple[float, float]] | None = None
        self.zero()

    def zero(self) -> None:
        """Count from now on; called by all ranks at once, it makes their times comparable."""
        with self._lock:
            self.spans: list[Span] = []
            self.dropped = 0
            self.traffic: dict[tuple[str, str], Traffic] = {}
            self._sums = Totals()
            self._start: float = self.clock()
            self._before = self.device_times() if self.device_times else (0.0, 0.0)
            self._busy_since = self._waiting_since = self._start

    # -- what is noted -----------------------------------------------------------------------

    def begin(self, name: str, scheme: str) -> Exchange:
        """An exchange of a layer (or of several, in a bucket) is under way from now on."""
        now = self.clock()
        with self._lock:
            if not self._under_way:
                self._busy_since = now
            self._under_way += 1
        return Exchange(self, name, scheme, now)

    def arrived(self, name: str, scheme: str, size: int) -> None:
        """Something has come that belongs to no exchange of this rank's own."""
        with self._lock:
            self._sums.received += size
            self.traffic.setdefault((name, scheme), Traffic()).received += size

    def _ended(self, exchange: Exchange) -> None:
        now = self.clock()
        with self._lock:
            self._under_way -= 1
            if not self._under_way:
                self._sums.busy += now - self._busy_since
            self._sums.sent += exchange.sent
            self._sums.received += exchange.received
            traffic = self.traffic.setdefault((exchange.name, exchange.scheme), Traffic())
            traffic.exchanges += 1
            traffic.sent += exchange.sent
            traffic.received += exchange.received
            traffic.seconds += now - max(exchange.begin, self._start)
        facts = {"scheme": exchange.scheme, "sent": exchange.sent, "received": exchange.received}
        self._keep("exchange", exchange.name, exchange.begin, now, facts)

    @contextmanager
    def waiting(self, name: str) -> Iterator[None]:
        """The main thread stands still for the exchange of ``name``."""
        begin = self.clock()
        with self._lock:
            self._waits, self._waiting_since = self._waits + 1, begin
        try:
            yield
        finally:
            now = self.clock()
            with self._lock:
                self._waits -= 1
                self._sums.exposed += now - begin
            self._keep("wait", name, begin, now, {})

    def compute(self, name: str, begin: float) -> None:
        """The main thread has computed ``name`` from ``begin``, a time of ``clock``, until now."""
        self._keep("compute", name, begin, self.clock(), {})

    def _keep(self, kind: str, name: str, begin: float, end: float, facts: Facts) -> None:
        if not self.keep:
            return
        if len(self.spans) < MOST_SPANS:
            self.spans.append(Span(kind, name, begin - self._start, end - self._start, facts))
        else:
            self.dropped += 1

    def totals(self) -> Totals:
        """The sums up to now, with what is still under way."""
        with self._lock:
            now = self.clock()
            s = self._sums
            busy = s.busy + (now - self._busy_since if self._under_way else 0.0)
            exposed = s.exposed + (now - self._waiting_since if self._waits else 0.0)
            if self.device_times:
                busy, exposed = (
                    a - b for a, b in zip(self.device_times(), self._before, strict=True)
                )
            return Totals(now - self._start, busy, exposed, s.sent, s.received)

    # -- a net's layers ------------------------------------------------------------------------

    def watch(self, net: Net) -> None:
        """Note every layer's forward and backward as compute.

        What other hooks do before a layer (wait for its parameters) is not its computing: call
        this after they are attached.
        """
        began = [0.0]

        def begin(_: int) -> None:
            began[0] = self.clock()

        def forward(i: int) -> None:
            self.compute(f"{net.layer_names[i]} forward", began[0])

        def backward(i: int) -> None:
            if net.layer_need_backward[i]:
                self.compute(f"{net.layer_names[i]} backward", began[0])

        net.before_forward.append(begin)
        net.after_forward.insert(0, forward)
        net.before_backward.append(begin)
        net.after_backward.insert(0, backward)

    # -- for rank 0 ----------------------------------------------------------------------------

    def report(self, host: str = "") -> Facts:
        """Everything noted, as plain values that travel to rank 0."""
        t = self.totals()
        return {
            "rank": self.rank,
            "host": host,
            "totals": vars(t),
            "traffic": [[*key, *vars(value).values()] for key, value in self.traffic.items()],
            "spans": [[s.kind, s.name, s.begin, s.end, s.facts] for s in self.spans],
            "dropped": self.dropped,
        }


# -- the trace -------------------------------------------------------------------------------------


def write_trace(path: str, reports: Sequence[Facts]) -> None:
    """One file of all ranks, for Perfetto (ui.perfetto.dev) or chrome://tracing."""
    events = [event for report in reports for event in _events(report)]
    with atomic_write(path) as file:
        file.write(b'{"displayTimeUnit": "ms", "traceEvents": [\n')
        file.write(",\n".join(map(json.dumps, events)).encode())
        file.write(b"\n]}\n")


def _events(report: Facts) -> Iterator[Facts]:
    """A process for the rank, a row for its main thread, and rows for its exchanges.

    Exchanges overlap each other; each takes the first row on which it touches no other.
    """
    rank = report["rank"]
    names = {MAIN: "main thread"}
    free: list[float] = []  # from when on each row of exchanges is free
    spans = sorted(report["spans"], key=lambda span: span[2])
    for kind, name, begin, end, facts in spans:
        row = MAIN
        if kind == "exchange":
            lane = next((i for i, t in enumerate(free) if t <= begin), len(free))
            free[lane : lane + 1] = [end]
            row = WIRE + lane
            names[row] = "exchanges" if not lane else f"exchanges {lane + 1}"
        yield {
            "ph": "X",
            "pid": rank,
            "tid": row,
            "name": name,
            "cat": kind,
            "ts": round(begin * 1e6, 1),
            "dur": round((end - begin) * 1e6, 1),
            "args": facts,
        }
    where = f" on {report['host']}" if report["host"] else ""
    yield _meta("process_name", rank, MAIN, {"name": f"rank {rank}{where}"})
    yield _meta("process_sort_index", rank, MAIN, {"sort_index": rank})
    for row, name in names.items():
        yield _meta("thread_name", rank, row, {"name": name})


def _meta(what: str, pid: int, tid: int, args: Facts) -> Facts:
    return {"ph": "M", "pid": pid, "tid": tid, "name": what, "args": args}

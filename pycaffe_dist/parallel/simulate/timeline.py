"""One simulated step as a trace, like those of real runs, for ui.perfetto.dev."""

from __future__ import annotations

from pycaffe_dist.aliases import Array, Json
from pycaffe_dist.parallel.observe.trace import write_trace
from pycaffe_dist.parallel.simulate.ranks import steps
from pycaffe_dist.parallel.simulate.series import Case, Variant

MOST_RANKS = 16  # that a trace shows: the first, and it says so


def write_timeline(path: str, case: Case, variant: Variant, nodes: int) -> None:
    """Write a step of the first ranks."""
    plan, schedule = case.schedule(variant, nodes)
    spans: list[list[list[Json]]] = [[] for _ in range(min(plan.ranks, MOST_RANKS))]

    facts: dict[str, dict[str, Json]] = {
        f"{t.name} ({t.scheme})": {"scheme": t.scheme, "sent": t.bytes} for t in schedule.transfers
    }

    def note(kind: str, name: str, begin: Array, end: Array) -> None:
        for rank, mine in enumerate(spans):
            if end[rank] > begin[rank]:
                mine.append([kind, name, float(begin[rank]), float(end[rank]), facts.get(name, {})])

    steps(schedule, case.paces(plan.ranks)[:1], note, case.net.layer_names)
    host = f"simulated node {{}} of {nodes}"
    write_trace(
        path,
        [
            {"rank": rank, "host": host.format(rank // case.ranks_per_node), "spans": mine}
            for rank, mine in enumerate(spans)
        ],
    )

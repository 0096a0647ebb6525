"""What ``pcd summary`` does: a net's layers, their shapes and what they cost, and the sums."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from pycaffe_dist.aliases import Facts
from pycaffe_dist.errors import PcdError, visible
from pycaffe_dist.facts import LayerFacts, layer_facts, totals
from pycaffe_dist.proto.caffe_pb2 import NetState
from pycaffe_dist.proto.nets import read_net
from pycaffe_dist.proto.state import merge_state
from pycaffe_dist.report.table import net_table
from pycaffe_dist.sketch import NOT_RUN
from pycaffe_dist.tools.model import dry_net


@dataclass
class Summary:
    """A net in one phase; ``guessed`` if its data cannot be read and their shape is made up."""

    name: str
    phase: str
    guessed: bool
    layers: list[LayerFacts]
    not_run: list[str]  # Python layers

    def as_text(self) -> list[str]:
        notes = ["(the data cannot be read: their shape is a guess)"] * self.guessed
        notes += [f"({layer} is {NOT_RUN}; --allow-python runs it)" for layer in self.not_run]
        return [f"{visible(self.name) or 'net'}, {self.phase}", *notes, *net_table(self.layers)]

    def as_json(self) -> Facts:
        whole = asdict(self)
        whole["totals"] = asdict(totals(self.layers))
        return whole


def summarize(
    model: str,
    phase: str = "",
    level: int = 0,
    stages: Sequence[str] = (),
    python: bool = False,
) -> Summary:
    """The facts of a net; without a phase those of TRAIN, or of TEST if it has no other."""
    file = read_net(model)
    first: PcdError | None = None
    for name in (phase,) if phase else ("TRAIN", "TEST"):
        state = NetState(phase=name, level=level, stage=[s for s in stages if s])
        try:
            merged = merge_state(file.net.state.phase, file.net.state, state)
            net = dry_net(file, merged, python)
            net.refuse_problems()
        except PcdError as e:
            first = first or e
            continue
        return Summary(net.name, name, bool(net.guess), layer_facts(net), net.not_run)
    assert first is not None
    raise first

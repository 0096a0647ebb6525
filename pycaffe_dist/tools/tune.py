"""What ``pcd tune`` does: measure now which implementations are fastest for a net's layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pycaffe_dist import engines
from pycaffe_dist.errors import NetError, PcdError
from pycaffe_dist.net import Net
from pycaffe_dist.proto.caffe_pb2 import TRAIN
from pycaffe_dist.recycling import recycle
from pycaffe_dist.report.table import table
from pycaffe_dist.tools.model import read_model

if TYPE_CHECKING:
    from pycaffe_dist.engines.choice import Choices


def choices() -> Choices:
    """Of the engine that computes here.

    Raises:
        NetError: it has nothing to choose from.
    """
    engine = engines.current()
    if engine.name == "cupy":
        from pycaffe_dist.engines.cupy import CupyEngine

        assert isinstance(engine, CupyEngine)
        return engine.convolutions.choices
    if engine.name != "onednn":
        raise NetError(
            f"the engine {engine.name} computes each layer in one way: there is nothing to measure"
        )
    from pycaffe_dist.engines.onednn.core.remembered import CHOICES

    return CHOICES


def tune(model: str, level: int = 0, stages: Sequence[str] = ()) -> list[str]:
    """Measure what training and testing a net needs, on made-up batches; a table of it."""
    found, before = choices(), set(choices().used)
    problems: list[PcdError] = []
    with found.anew():
        for phase in ("TRAIN", "TEST"):
            try:
                net = read_model(model, phase, level, stages, fake=True)
            except PcdError as e:
                problems.append(e)
                continue
            _run(net)
            recycle([net])  # as in `pcd train`, where more is computed together
            _run(net)
        found.save()
    if len(problems) == 2:
        raise problems[0]
    used = [case for case in found.used if case not in before]
    return as_table(found, used)


def _run(net: Net) -> None:
    net.forward()
    if net.phase == TRAIN:
        net.clear_param_diffs()
        net.backward()


def as_table(found: Choices, cases: Sequence[str]) -> list[str]:
    """Each case with what computes it, its time, and the fastest of the others."""
    rows = []
    for case in cases:
        entry = found.remembered().get(case)
        if entry is None:
            rows.append((case, found.used.get(case, ""), "", "not settled", ""))
            continue
        others = sorted((ms, name) for name, ms in entry.ms.items() if name != entry.name)
        other = (others[0][1], f"{others[0][0]:.3f}") if others else ("", "")
        rows.append((case, entry.name, f"{entry.ms[entry.name]:.3f}", *other))
    head = ("case", "chosen", "ms", "next", "ms")
    return [*table(head, rows), f"{len(rows)} choices, kept in {found.path or 'memory only'}"]

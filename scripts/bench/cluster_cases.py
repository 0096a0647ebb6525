"""What scripts/bench_cluster.py measures: nets on clusters, and how they train there."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from bench.cases import CASES as NETS
from bench.cases import Case as Net

NETS.setdefault("vgg19", Net("vgg19", "vgg19", 8, (3, 224, 224)))


@dataclass(frozen=True)
class Mode:
    """A way in which ranks train.

    Attributes:
        side: "ours" or "torch".
        settings: ours: of ClusterSettings; torch: "hook", one of bench/torch_hooks.py.  None: ranks
            that do not communicate.
        slow: one rank, drawn anew in every iteration, takes so many times as long.
        away: seconds of an iteration in which the core is idle, as if a device computed.
    """

    name: str
    label: str
    side: str
    settings: dict[str, Any] | None
    slow: float = 1.0
    away: float = 0.0


ALONE = Mode("alone", "ours, no communication", "ours", None)
AUTO = Mode("auto", "ours: DWBP + SACP", "ours", {})
AUTO_16 = Mode("auto_fp16", "ours: DWBP + SACP, fp16 wire", "ours", {"wire": "fp16"})
DENSE = Mode("dense", "ours: dense, no overlap", "ours", {"comm": "dense", "overlap": False})
DWBP = Mode("dwbp", "ours: dense + DWBP", "ours", {"comm": "dense"})
TORCH_ALONE = Mode("torch_alone", "PyTorch, no communication", "torch", None)
DDP = Mode("ddp", "PyTorch DDP (gloo)", "torch", {})
DDP_16 = Mode("ddp_fp16", "PyTorch DDP, fp16 hook", "torch", {"hook": "fp16"})
DDP_POWER = Mode("ddp_power", "PyTorch DDP, PowerSGD hook", "torch", {"hook": "powersgd"})
SLOW = 3.0
STALE_0 = Mode("s0", "a slow rank, s = 0", "ours", {"staleness": 0}, SLOW)
STALE_3 = Mode("s3", "a slow rank, s = 3", "ours", {"staleness": 3}, SLOW)
# Four ranks on two cores are in each other's way; so most of an iteration is spent elsewhere.
ELSEWHERE = 0.1
AWAY, AWAY_0, AWAY_3 = (replace(mode, away=ELSEWHERE) for mode in (ALONE, STALE_0, STALE_3))

OURS, PEER = (ALONE, AUTO), (TORCH_ALONE, DDP)
ABLATION = (ALONE, DENSE, DWBP, AUTO, AUTO_16)


@dataclass(frozen=True)
class Case:
    """A net on ``nodes`` nodes of ``each`` ranks, with links of ``rate``."""

    name: str
    net: str
    modes: tuple[Mode, ...]
    nodes: int = 2
    each: int = 1
    rate: str = "1gbit"
    batch: int | None = None  # else the net's
    standard: bool = field(default=True)  # measured when no cases are named

    @property
    def ranks(self) -> int:
        return self.nodes * self.each

    @property
    def images(self) -> int:
        """Of a rank, in a step."""
        return self.batch or NETS[self.net].batch

    def only(self, modes: str | None) -> Case:
        """The case with some of its modes, named with commas between; None: all."""
        if modes is None:
            return self
        kept = tuple(mode for mode in self.modes if mode.name in modes.split(","))
        if not kept:
            have = ", ".join(mode.name for mode in self.modes)
            raise SystemExit(f"{self.name} has no mode {modes}; there are: {have}")
        return replace(self, modes=kept)

    @property
    def title(self) -> str:
        ranks = f"{self.nodes} nodes" + (f" of {self.each} ranks" if self.each > 1 else "")
        away = ", mostly off the core" if any(mode.away for mode in self.modes) else ""
        return f"{self.net}, batch {self.images}, {ranks}, {self.rate}{away}"


CASES = {
    case.name: case
    for case in (
        Case("alexnet", "alexnet_no_lrn", (*ABLATION, *PEER, DDP_16, DDP_POWER)),
        Case("vgg19", "vgg19", (*OURS, *PEER)),
        Case("googlenet", "googlenet", (*OURS, *PEER)),
        Case("alexnet-2.5", "alexnet_no_lrn", (*OURS, *PEER), rate="2.5gbit"),
        Case("googlenet-2.5", "googlenet", (*OURS, *PEER), rate="2.5gbit"),
        Case("alexnet-4", "alexnet_no_lrn", (*OURS, *PEER), nodes=4),
        Case("alexnet-2x2", "alexnet_no_lrn", (*OURS, *PEER), nodes=2, each=2),
        Case("staleness", "lenet", (ALONE, STALE_0, STALE_3), nodes=4),
        Case("staleness-away", "lenet", (AWAY, AWAY_0, AWAY_3), nodes=4),
        Case("lenet", "lenet", (*ABLATION, *PEER, DDP_16, DDP_POWER), standard=False),
    )
}


def mode_names() -> list[str]:
    return list(dict.fromkeys(mode.name for case in CASES.values() for mode in case.modes))

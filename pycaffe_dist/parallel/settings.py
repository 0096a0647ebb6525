"""What a user may ask of training on several ranks."""

from __future__ import annotations

from dataclasses import dataclass, field

from pycaffe_dist.errors import NetError
from pycaffe_dist.parallel.schemes.scheme import scheme_options, selectable
from pycaffe_dist.proto.suggest import did_you_mean

COMM = ("auto", "dense", *selectable())
POLICIES = ("measured", "paper")
WIRES = ("fp32", "fp16", "bf16")


@dataclass(frozen=True)
class ClusterSettings:
    """The flags of a distributed run, by their names.

    Attributes:
        comm: the scheme of every parameter that takes it; "auto" lets the plan choose, "dense"
            lets it choose among the schemes that send matrices.
        comm_layer: the scheme of single layers, by their names.
        policy: how the plan chooses.
        overlap: exchange a layer's gradients while the layers below still compute.
        staleness: how many iterations a rank may be ahead of the slowest.
        bandwidth: bits a second that a node may send; None for no limit.
        wire: the number format in which values travel.
        sum_updates: add the ranks' gradients instead of averaging them.
        sync_bn: BatchNorm over the batches of all ranks.
        check_every: iterations after which ranks compare their weights; 0: at snapshots only.
        nccl: whether GPUs exchange by NCCL where they can.
        deterministic: plan from stated figures, because measured ones are never the same again.
        stall_timeout: seconds without progress after which a rank gives up; 0 for never.
        trace: where a trace of the run goes.
        stats_path: where the traffic by layer and scheme goes.
        net_outputs: the prefix of the file of all displayed outputs.
        options: of schemes, by the names of their flags; those that are not given have defaults.
    """

    comm: str = "auto"
    comm_layer: dict[str, str] = field(default_factory=dict)
    policy: str = "measured"
    overlap: bool = True
    staleness: int = 0
    bandwidth: float | None = None
    wire: str = "fp32"
    sum_updates: bool = False
    sync_bn: bool = False
    check_every: int = 0
    nccl: bool = True
    deterministic: bool = False
    stall_timeout: float = 300.0
    trace: str | None = None
    stats_path: str | None = None
    net_outputs: str | None = None
    options: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _one_of("--comm", self.comm, COMM)
        for layer, scheme in self.comm_layer.items():
            _one_of(f"--comm-layer {layer}", scheme, COMM)
        _one_of("--policy", self.policy, POLICIES)
        _one_of("--wire", self.wire, WIRES)
        if self.staleness < 0:
            raise NetError(f"--staleness counts iterations: 0 or more, not {self.staleness}")
        if self.bandwidth is not None and self.bandwidth <= 0:
            raise NetError(f"--bandwidth must be more than 0, not {self.bandwidth:g}")
        if self.check_every < 0:
            raise NetError(f"--check-every counts iterations: 0 or more, not {self.check_every}")
        if self.check_every and self.staleness:
            raise NetError("--check-every needs --staleness 0: stale ranks have different weights")
        if self.stall_timeout < 0:
            raise NetError(f"--stall-timeout is 0 or more seconds, not {self.stall_timeout:g}")
        for name, value in self.options.items():
            _one_of("options", name, tuple(scheme_options()))
            scheme_options()[name].check(name, value)

    @property
    def scheme_options(self) -> dict[str, float]:
        """The options of all schemes, given or by default."""
        defaults = {name: option.default for name, option in scheme_options().items()}
        return {**defaults, **self.options}


def _one_of(flag: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise NetError(
            f'{flag}: there is no "{value}"{did_you_mean(value, known)}; '
            f"there are: {', '.join(known)}"
        )

"""What ``pcd time --roofline`` does: the time of each layer against what this machine can do.

Whole passes are timed, so that layers which are computed together are one row.  For each row and
direction: the arithmetic, the bytes it must move while layers are computed as they are, and the
bytes that are left if layers were fused perfectly.  The least time is the longer of arithmetic at
the measured peak and perfectly fused bytes at the measured bandwidth; what is above it is the gap.

A perfect fusion computes layers that work value by value (activations, Scale, Dropout, a stored
BatchNorm, Eltwise, Concat, Split, ...) while the layer that makes their bottom still has it in
registers: nothing moves but a second operand.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from pycaffe_dist.aliases import Facts
from pycaffe_dist.blob import View, Views
from pycaffe_dist.errors import NetError
from pycaffe_dist.files import atomic_write
from pycaffe_dist.hooks import Hook
from pycaffe_dist.layers.neuron import Neuron
from pycaffe_dist.net import Net
from pycaffe_dist.optional import require
from pycaffe_dist.proto.caffe_pb2 import TEST
from pycaffe_dist.report.table import amount, table
from pycaffe_dist.tools.plot_figure import figure_for

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pycaffe_dist.engines.onednn.core.peaks import Peaks

# Types that work value by value, besides neurons; SHARED ones do not even copy.
SHARED = {"Split", "Flatten", "Reshape", "Silence"}
FUSED = SHARED | {"Scale", "Bias", "Eltwise", "Concat", "Slice"}
NORMALISING = {"Softmax", "LogSoftmax"}  # neurons whose values depend on their neighbours
NAMED = 8  # points of the picture that carry their names
LISTED = 24  # bars of the picture


@dataclass(frozen=True)
class Work:
    """FLOPs, the bytes of a layer by itself and those of a perfectly fused one."""

    flops: float
    bytes: float
    fused_bytes: float

    def __add__(self, other: Work) -> Work:
        fused = self.fused_bytes + other.fused_bytes
        return Work(self.flops + other.flops, self.bytes + other.bytes, fused)


@dataclass(frozen=True)
class Row:
    """Layers that are computed together, in one direction."""

    layers: str
    types: str
    direction: str
    ms: float
    work: Work
    least_ms: float
    by: str

    @property
    def gap_ms(self) -> float:
        """0 for what comes out of a cache faster than memory gives it."""
        return max(0.0, self.ms - self.least_ms)


@dataclass(frozen=True)
class Roofline:
    """The rows, those with the widest gap first, and what they are held against."""

    peaks: Peaks
    rows: list[Row]

    def as_json(self) -> Facts:
        rows = [asdict(row) | {"gap_ms": row.gap_ms} for row in self.rows]
        return {"peaks": asdict(self.peaks), "rows": rows}


def roofline(net: Net, iterations: int) -> Roofline:
    """Measure the machine and ``iterations`` whole passes; the fastest turn of each layer counts.

    Raises:
        MissingPartError: LLVM, which compiles the kernels that measure the peaks, is not there.
        NetError: the net is computed on a GPU, or no pass is asked for.
    """
    if net.context.engine.device is not None:
        raise NetError("--roofline measures the CPU; leave out -gpu (docs/gpu.md has the GPUs')")
    if iterations < 1:
        raise NetError(f"-iterations must be 1 or more, not {iterations}")
    require("llvmlite", "cpu", "Measuring the peaks of this machine")
    from pycaffe_dist.engines.onednn.core.peaks import peaks

    found = peaks()
    turns = _turns(net, iterations)
    groups: dict[int, list[int]] = {}
    for i in range(len(net.layers)):
        groups.setdefault(net.fusions.last(i), []).append(i)
    rows = [
        _row(net, found, group, direction, turns[direction])
        for direction in turns
        for group in groups.values()
    ]
    rows = [row for row in rows if row.work.flops or row.work.bytes]
    return Roofline(found, sorted(rows, key=lambda row: -row.gap_ms))


def _row(net: Net, found: Peaks, group: list[int], direction: str, turns: list[float]) -> Row:
    work_of = forward_work if direction == "forward" else backward_work
    work = sum((work_of(net, i) for i in group), Work(0, 0, 0))
    by = [net.context.engine.computed_by(net.layers[i])[direction == "backward"] for i in group]
    return Row(
        " + ".join(net.layer_names[i] for i in group),
        " + ".join(net.layers[i].type for i in group),
        direction,
        sum(turns[i] for i in group) * 1e3,
        work,
        found.seconds(work.flops, work.fused_bytes) * 1e3,
        by[0],
    )


# -- the work of a layer ---------------------------------------------------------------------------


def forward_work(net: Net, i: int) -> Work:
    layer, bottom, top = net.layers[i], net.bottoms[i], net.tops[i]
    params = _bytes(layer.params)
    whole = _bytes(bottom) + _bytes(top) + params
    flops = layer.flops(bottom, top)
    if not _is_fused(net, i):
        return Work(flops, whole, whole)
    if layer.type in SHARED:
        whole = 0
    return Work(flops, whole, _second_operands(layer.type, bottom) + params)


def backward_work(net: Net, i: int) -> Work:
    """Each gradient costs as much arithmetic as the values: of the bottoms, of the weights."""
    layer, bottom, top = net.layers[i], net.bottoms[i], net.tops[i]
    if not net.layer_need_backward[i]:
        return Work(0, 0, 0)
    down = [v for v, flag in zip(bottom, net.bottom_need_backward[i], strict=True) if flag]
    learns = [v for v, flag in zip(layer.params, layer.param_propagate_down, strict=True) if flag]
    weights = _bytes(learns) + (_bytes(layer.params) if down else 0)  # written, and read
    whole = _bytes(top) + _bytes(bottom) + _bytes(down) + weights
    flops = layer.flops(bottom, top) * (bool(down) + bool(learns))
    if not _is_fused(net, i):
        return Work(flops, whole, whole)
    if layer.type == "Split":
        return Work(flops, whole - _bytes(bottom), _bytes(top[1:]))
    if layer.type in SHARED:
        whole = 0
    return Work(flops, whole, weights)


def _is_fused(net: Net, i: int) -> bool:
    """Whether a perfect fusion computes it while its bottom is in registers."""
    layer = net.layers[i]
    if layer.type == "BatchNorm":
        return bool(getattr(layer, "use_global_stats", layer.phase == TEST))
    by_value = isinstance(layer, Neuron) and layer.type not in NORMALISING
    return by_value or layer.type in FUSED


def _second_operands(kind: str, bottom: Views) -> int:
    """Of a layer with several bottoms all but the one that is made last are fetched."""
    return 0 if kind in ("Concat", "Silence") else _bytes(bottom[1:])


def _bytes(views: Iterable[View]) -> int:
    return sum(view.count * view.blob.dtype.itemsize for view in views)


# -- timing ----------------------------------------------------------------------------------------


def _turns(net: Net, iterations: int) -> dict[str, list[float]]:
    """Seconds of each layer's turn in whole passes, by direction."""
    net.forward()
    net.backward()
    count = len(net.layers)
    best = {"forward": [float("inf")] * count, "backward": [float("inf")] * count}
    for _ in range(iterations):
        for name, hook, run, order in (
            ("forward", net.before_forward, net.forward, range(count)),
            ("backward", net.before_backward, net.backward, range(count - 1, -1, -1)),
        ):
            stamps = _stamps(hook, run)
            for i, begin, end in zip(order, stamps, stamps[1:], strict=False):
                best[name][i] = min(best[name][i], end - begin)
    return best


def _stamps(hook: Hook, run: Callable[[], object]) -> list[float]:
    """When each layer's turn began, and when the pass was over."""
    stamps: list[float] = []

    def note(_: int) -> None:
        stamps.append(time.perf_counter())

    hook.append(note)
    try:
        run()
    finally:
        hook.remove(note)
    return [*stamps, time.perf_counter()]


# -- for people ------------------------------------------------------------------------------------


def as_table(found: Roofline) -> list[str]:
    """Worst first, and the sums."""
    peaks = found.peaks
    head = ("layers", "type", "direction", "ms", "GFLOP/s", "of peak", "GB/s", "MB")
    rows = [_cells(row, peaks) for row in found.rows]
    for direction in ("forward", "backward"):
        some = [row for row in found.rows if row.direction == direction]
        work = sum((row.work for row in some), Work(0, 0, 0))
        ms, least = sum(row.ms for row in some), sum(row.least_ms for row in some)
        rows.append(_cells(Row("sum", "", direction, ms, work, least, ""), peaks))
    return [
        f"{peaks.threads} threads: {amount(peaks.flops, 'FLOP/s')} of multiply-adds between "
        f"registers, {amount(peaks.bandwidth, 'B/s')} from and to memory, both measured",
        *table((*head, "MB fused", "least ms", "gap ms", "computed by"), rows, left=3),
    ]


def _cells(row: Row, peaks: Peaks) -> tuple[str, ...]:
    rate = row.work.flops / row.ms * 1e3 if row.ms else 0.0
    return (
        _short(row.layers),
        _short(row.types),
        row.direction,
        f"{row.ms:.3f}",
        f"{rate / 1e9:.1f}",
        f"{100 * rate / peaks.flops:.0f} %",
        f"{row.work.bytes / row.ms / 1e6:.1f}" if row.ms else "",
        f"{row.work.bytes / 1e6:.2f}",
        f"{row.work.fused_bytes / 1e6:.2f}",
        f"{row.least_ms:.3f}",
        f"{row.gap_ms:.3f}",
        row.by,
    )


def _short(names: str, most: int = 40) -> str:
    return names if len(names) <= most else names[: most - 3] + "..."


def draw(found: Roofline, path: str, title: str) -> None:
    """A picture: rates under the roof, and the widest gaps.

    Raises:
        MissingPartError: matplotlib is not installed.
        PlotError: the file's ending is of no kind that can be drawn.
    """
    figure, kind = figure_for(path, (13, 6))
    roof, gaps = figure.subplots(1, 2)
    figure.suptitle(title)
    _draw_roof(roof, found)
    _draw_gaps(gaps, found.rows[:LISTED])
    with atomic_write(path) as file:
        figure.savefig(file, format=kind)


COLOURS = {"forward": "#0072b2", "backward": "#d55e00"}


def _draw_roof(axes: Axes, found: Roofline) -> None:
    """FLOP/s over FLOPs for each fused byte; a point's area is its gap."""
    peaks, rows = found.peaks, [row for row in found.rows if row.work.flops and row.ms]
    points = [(r.work.flops / max(r.work.fused_bytes, 1), r.work.flops / r.ms / 1e6) for r in rows]
    most = max((row.gap_ms for row in rows), default=0) or 1
    for row, (x, y) in zip(rows, points, strict=True):
        axes.scatter(x, y, s=20 + 400 * row.gap_ms / most, c=COLOURS[row.direction], alpha=0.5)
    for row, point in list(zip(rows, points, strict=True))[:NAMED]:
        axes.annotate(_short(row.layers, 20), point, fontsize=7)
    ridge = peaks.flops / peaks.bandwidth
    ends = [
        min([ridge / 100, *(x for x, _ in points)]),
        max([ridge * 100, *(x for x, _ in points)]),
    ]
    corners = [ends[0], ridge, ends[1]]
    axes.plot(corners, [min(x * peaks.bandwidth, peaks.flops) / 1e9 for x in corners], c="#333333")
    axes.set(xscale="log", yscale="log", xlabel="FLOP for each byte, perfectly fused")
    axes.set(ylabel="GFLOP/s", title=f"{peaks.threads} threads")


def _draw_gaps(axes: Axes, rows: Sequence[Row]) -> None:
    names = [f"{_short(row.layers, 28)}, {row.direction}" for row in rows]
    places = range(len(rows))
    axes.barh(places, [row.least_ms for row in rows], color="#bbbbbb", label="least")
    lefts, colours = [row.least_ms for row in rows], [COLOURS[row.direction] for row in rows]
    axes.barh(places, [row.gap_ms for row in rows], left=lefts, color=colours, label="gap")
    axes.set_yticks(places, names, fontsize=7)
    axes.invert_yaxis()
    axes.set(xlabel="ms", title="least time (grey) and gap, widest first")

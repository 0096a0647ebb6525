"""Bytes and FLOPs of a training step on the GPU, kernel by kernel, and the time they must take.

    python scripts/roofline.py                   # alexnet, resnet50 and vgg16, as in docs/gpu.md
    python scripts/roofline.py --write           # and put the tables into docs/gpu.md
    python scripts/roofline.py models/lenet/train_val.prototxt --batch 64 --precision fp16

A step of the real engine runs on the emulated device, where every launch, product and copy is
seen with its arrays; kernels and products themselves are not executed.  Each array of a launch
counts once (what neighbouring threads read again comes from the cache).  Two small batches are
traced; all counts are straight lines in the batch size, and are followed up to the size asked for.
Which way computes a convolution is the choice for that size.
"""

import argparse
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import reduce
from math import ceil, prod
from pathlib import Path
from unittest import mock

import numpy as np
from bench.pages import put

from pycaffe_dist import recycling
from pycaffe_dist.engines import winograd
from pycaffe_dist.engines.cupy import fusion, paper
from pycaffe_dist.engines.cupy.convolution import choice, columns, implicit
from pycaffe_dist.engines.cupy.convolution import winograd as winograd_way
from pycaffe_dist.engines.cupy.convolution.case import Case
from pycaffe_dist.engines.cupy.convolution.depthwise import Depthwise
from pycaffe_dist.engines.cupy.convolution.way import Way
from pycaffe_dist.engines.cupy.kernels import KERNELS
from pycaffe_dist.engines.cupy.paper import DEVICES, REACHED_BY_OURS, Device, Launch
from pycaffe_dist.layer import Context
from pycaffe_dist.proto.caffe_pb2 import SolverParameter
from pycaffe_dist.proto.nets import read_net
from pycaffe_dist.solver import Solver
from pycaffe_dist.testing import cupy_standin, emulation
from pycaffe_dist.testing.cupy_standin import array
from pycaffe_dist.testing.cupy_standin import kernels as standin_kernels
from pycaffe_dist.testing.cupy_standin.cuda import cublas
from pycaffe_dist.testing.gpu import emulated
from pycaffe_dist.tools.fake_data import fake_data

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "gpu.md"
TRACED = (2, 4)  # images
DEFAULT = [("bvlc_alexnet", 256), ("resnet50", 32), ("vgg16", 32)]
PRECISIONS = ("fp32", "tf32", "fp16")
BY_COLUMNS = (Depthwise, columns.Columns)  # as at first, when ReLUs had kernels of their own
PRODUCTS = ("matmul", "gemm")
COPIES = ("setitem", "zeros", "ascontiguousarray")

# Operations for each element; kernels that are not here have one.
PER_ELEMENT = {
    **dict.fromkeys(("im2col", "swap_axes", "copy_part", "take_part", "fill"), 0),
    **dict.fromkeys(("scale_bias_forward", "channel_dots"), 2),
    "depthwise_weight_sums": 2,
    **dict.fromkeys(("channel_deviations", "batch_norm_forward", "axpby"), 3),
    "softmax_rows_forward": 5,
    **dict.fromkeys(("batch_norm_measure", "batch_norm_add_forward", "batch_norm_gradients"), 4),
    "batch_norm_backward": 6,
    "sgd_update": 7,
}
READ_AND_WRITTEN = re.compile(
    r"\w+_update(_all)?|scale_all|axpy|eltwise_max_next|add_rows|batch_norm_statistics|add_parts"
    r"|winograd_kernel_gradient_\d"
)
BY_TILES = {"small": implicit.SMALL.side, "large": implicit.LARGE.side}


class Trace(list[Launch]):
    """A step's launches, in their order."""

    def kernel(self, name: str, args: dict) -> None:
        declared = {p.name: p for p in KERNELS[name].parameters}
        nbytes = 0
        for key, value in args.items():
            if declared[key].pointer and not (key == "bias" and not args.get("has_bias", 1)):
                both = not declared[key].constant and READ_AND_WRITTEN.fullmatch(name)
                nbytes += sum(a.nbytes for a in arrays(value)) * (2 if both else 1)
        if "tiles" in args:
            self.append(by_tiles(name, args, nbytes))
            return
        flops = elements(name, args) * operations(name, args)
        self.append(Launch(f"`{name}`", nbytes, flops))

    def other(self, what: str, reads: list, writes: list) -> None:
        nbytes = sum(a.nbytes for a in (*reads, *writes))
        if what.startswith(PRODUCTS):
            flops = 2 * writes[0].size * reads[0].shape[-1]
            self.append(Launch("GEMM", nbytes, flops, precision=what.partition(" ")[2]))
        elif what in COPIES:
            self.append(Launch("copies and zeros", nbytes, 0))
        elif what not in KERNELS and not what.startswith("copy"):
            self.append(Launch("CuPy's own", nbytes, writes[0].size if writes else 0))


def by_tiles(name: str, args: dict, nbytes: float) -> Launch:
    """A product of our own: tiles are computed whole, also those that stick out at the bottom."""
    side = BY_TILES[name.split("_")[-1]]
    rows, depth = int(args["rows"]), int(args["depth"])
    if "splits" in args:
        products = int(args["tiles"]) // int(args["splits"]) * side**2 * int(args["windows"])
    else:
        columns, down = int(args["columns"]), ceil(rows / side)
        groups = int(args["tiles"]) // (down * ceil(columns / side))
        products = groups * down * side * columns * depth
        y = args["y"]  # of which this launch may make some pixels only
        nbytes += groups * rows * columns * y.itemsize - y.nbytes
    return Launch(f"`{name}`", nbytes, 2 * products, REACHED_BY_OURS)


def arrays(value) -> list:
    """What is behind an argument: an array, or those that a table has the addresses of."""
    return value.arrays if isinstance(value, emulation.Table) else [value]


def elements(name: str, args: dict) -> int:
    """How many values a kernel goes through."""
    tables = [value for value in args.values() if isinstance(value, emulation.Table)]
    if tables:
        return sum(array.size for array in tables[0].arrays)
    if "rows" not in args:
        return int(args["n"])
    if "multiplier" in args:
        sums = int(args["rows"]) // int(args["splits"])
        return sums * int(args["images"]) * int(args["out_h"]) * int(args["out_w"])
    if "splits" in args:
        return int(args["outer"]) * int(args["channels"]) * int(args["inner"])
    return int(args["rows"]) * int(args.get("classes", args.get("size", args.get("n", 1))))


def operations(name: str, args: dict) -> float:
    """Of each value."""
    if name.startswith("winograd_"):
        return transforming(name)
    if name == "add_parts":
        return int(args["parts"])
    if "lrn_" in name and "size" in args:
        return int(args["size"]) * (2 if name.endswith("forward") else 4) + 6
    if name.endswith(("pool_forward", "pool_test")):
        return int(args["kernel_h"]) * int(args["kernel_w"])
    if name == "depthwise_forward":
        return 2 * int(args["kernel_h"]) * int(args["kernel_w"])
    if name in ("col2im", "ave_pool_backward", "choice_pool_backward", "depthwise_backward"):
        sides = (ceil(int(args[f"kernel_{s}"]) / int(args[f"stride_{s}"])) for s in "hw")
        return prod(sides) * (2 * int(args["multiplier"]) if "multiplier" in args else 1)
    return PER_ELEMENT.get(name.removesuffix("_all"), 1)


def transforming(name: str) -> float:
    """A matrix twice around a tile: a multiplication and an addition for all that is not 0."""
    kind, step = re.fullmatch(r"winograd_(.+)_(\d)", name).groups()
    transforms = {"2": winograd.F2, "4": winograd.F4}[step]
    turned = {"gradient": "out", "kernel_gradient": "kernel", "kernels": "kernel"}
    matrix = reduce(np.matmul, getattr(transforms, turned.get(kind, kind)))
    return 2 * np.count_nonzero(matrix) * sum(matrix.shape)


@contextmanager
def choosing(ways: Sequence[type[Way]], larger: float, devices: Sequence[Device]) -> Iterator[None]:
    """Choose between ways as for a batch that is so many times as large, on some devices.

    All images fit the work space, and blobs are large enough to be used in turn: a batch has as
    many launches as any other.
    """
    ordered, plans = choice.ordered, implicit.plans

    def grown(case: Case) -> Case:
        return case._replace(images=round(case.images * larger))

    rectifying = () if ways is BY_COLUMNS else fusion.Multiplying
    with (
        mock.patch.object(choice, "WAYS", ways),
        mock.patch.object(fusion, "Multiplying", rectifying),
        mock.patch.object(paper, "DEVICES", devices),
        mock.patch.object(recycling, "SMALL", 1),
        mock.patch.object(columns, "WORKSPACE", 1 << 50),
        mock.patch.object(winograd_way, "WORKSPACE", 1 << 50),
        mock.patch.object(choice, "ordered", lambda case: ordered(grown(case))),
        mock.patch.object(implicit, "plans", lambda case: plans(grown(case))),
    ):
        yield


@contextmanager
def tracing(trace: Trace) -> Iterator[None]:
    def launched(function, grid, block, args):
        names = (p.name for p in function.kernel.parameters)
        trace.kernel(function.kernel.name, dict(zip(names, args, strict=True)))

    def touched(stream, what, reads=(), writes=()):
        trace.other(what, list(reads), list(writes))

    def room(shape, dtype=float, order="C"):
        return array.own(np.empty(shape, dtype))  # as nobody writes to it, it takes no memory

    with ExitStack() as stack:
        stack.enter_context(mock.patch.object(emulation.Function, "__call__", launched))
        stack.enter_context(mock.patch.object(cublas, "_compute"))
        stack.enter_context(mock.patch.object(cupy_standin, "empty", room))
        for module in (array, cublas, standin_kernels, cupy_standin):
            stack.enter_context(mock.patch.object(module, "touch", touched))
        yield


def step(
    path: Path,
    batch: int,
    precision: str = "fp32",
    ways: Sequence[type[Way]] = choice.WAYS,
    larger: float = 1,
    devices: Sequence[Device] = DEVICES,
) -> Trace:
    """A second step, when everything has its place; ways are chosen for a larger batch."""
    solver = SolverParameter(
        base_lr=1e-8, momentum=0.9, weight_decay=1e-4, lr_policy="fixed", max_iter=2, random_seed=1
    )
    solver.train_net_param.CopyFrom(fake_data(read_net(str(path)).net, batch_size=batch))
    with (
        emulated() as device,
        choosing(ways, larger, devices),
        (engine := device.at(precision)).convolutions.forced(""),  # whatever was chosen before
        tracing(trace := Trace()),
    ):
        made = Solver(solver, Context(engine=engine))
        recycling.recycle([made.net])  # as pcd train does
        made.step(1)
        trace.clear()
        made.step(1)
    return trace


def followed(
    path: Path,
    batch: int,
    precision: str = "fp32",
    ways: Sequence[type[Way]] = choice.WAYS,
    devices: Sequence[Device] = DEVICES,
) -> Trace:
    """A step at a batch size: each launch by the straight line through two small ones."""
    ahead = (batch - TRACED[0]) / (TRACED[1] - TRACED[0])
    trace = Trace()
    steps = [step(path, b, precision, ways, batch / b, devices) for b in TRACED]
    for small, large in zip(*steps, strict=True):
        assert small.name == large.name, f"{small.name} and {large.name} do not belong together"
        nbytes = small.bytes + (large.bytes - small.bytes) * ahead
        flops = small.flops + (large.flops - small.flops) * ahead
        trace.append(replace(small, bytes=nbytes, flops=flops))
    return trace


def seconds(trace: Trace, device: Device) -> float:
    return sum(launch.expected(device) for launch in trace)


def table(trace: Trace) -> str:
    """In Markdown: the kernels that take 1 % of the time or more, the rest together, and all."""
    groups: dict[str, list[Launch]] = {}
    for launch in trace:
        groups.setdefault(launch.name, []).append(launch)
    whole = {d: seconds(trace, d) for d in DEVICES}

    def share(launches: list[Launch], device: Device) -> float:
        return sum(x.expected(device) for x in launches) / whole[device]

    def line(name: str, launches: list[Launch]) -> str:
        nbytes, flops = (sum(getattr(x, what) for x in launches) for what in ("bytes", "flops"))
        cells = [name, len(launches), f"{nbytes / 1e9:.2f}", f"{flops / 1e9:.1f}"]
        for d in DEVICES:
            part = share(launches, d)
            bounds = {x.bound(d): 0.0 for x in launches}
            for x in launches:
                bounds[x.bound(d)] += x.expected(d)
            most = max(bounds, key=lambda b: bounds[b], default="")
            cells += [f"{part * whole[d] * 1e3:.2f}", f"{100 * part:.0f} %", most]
        return f"| {' | '.join(map(str, cells))} |"

    by_time = sorted(groups, key=lambda n: -share(groups[n], DEVICES[0]))
    shown = [n for n in by_time if any(share(groups[n], d) >= 0.01 for d in DEVICES)]
    rest = [n for n in by_time if n not in shown]
    head = "".join(f" {d.name}, ms | share | bound by |" for d in DEVICES)
    lines = [f"| Kernel | launches | GB | GFLOP |{head}"]
    lines.append("|---|--:|--:|--:|" + "--:|--:|---|" * len(DEVICES))
    lines += [line(name, groups[name]) for name in shown]
    if rest:
        lines.append(line(f"{len(rest)} others", [x for n in rest for x in groups[n]]))
    lines.append(line("all", trace))
    return "\n".join(lines)


def times(path: Path, batch: int, precisions: Sequence[str], before: Trace) -> str:
    """In Markdown: expected times, and their share of that by columns.

    Each device has its own choice of ways, as measuring makes it.
    """
    names = [d.name for d in DEVICES]
    lines = ["| Step |" + "".join(f" {n}, ms | share | images a second |" for n in names)]
    lines.append("|---|" + "--:|--:|--:|" * len(names))
    rows = {"fp32, convolutions by columns": [seconds(before, d) for d in DEVICES]}
    for precision in precisions:
        rows[precision] = [
            seconds(followed(path, batch, precision, devices=[d]), d) for d in DEVICES
        ]
    whole = next(iter(rows.values()))
    for what, row in rows.items():
        cells = [
            f"{1e3 * s:.1f} | {s / w:.2f} | {batch / s:.0f}"
            for s, w in zip(row, whole, strict=True)
        ]
        lines.append(f"| {what} | {' | '.join(cells)} |")
    return "\n".join(lines)


def report(path: Path, batch: int, precisions: Sequence[str]) -> str:
    """The times of all precisions and of a step by columns, and what the first is made of."""
    trace = followed(path, batch, precisions[0])
    before = followed(path, batch, ways=BY_COLUMNS)
    text = f"**{path.parent.name}, batch {batch}.**\n\n{times(path, batch, precisions, before)}"
    return f"{text}\n\nIn {precisions[0]}:\n\n{table(trace)}\n"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("net", nargs="?", type=Path, help="a train_val.prototxt")
    options.add_argument("--batch", type=int, default=32)
    options.add_argument("--precision", choices=("fp32", *DEVICES[0].tensor), default="fp32")
    options.add_argument("--write", action="store_true", help="put the tables into docs/gpu.md")
    given = options.parse_args()
    nets = [(ROOT / "models" / name / "train_val.prototxt", batch) for name, batch in DEFAULT]
    precisions = [given.precision] if given.net else PRECISIONS
    if given.net:
        nets = [(given.net, given.batch)]
    text = "\n".join(report(p, b, precisions) for p, b in nets)
    print(text)
    if given.write:
        put(PAGE, "scripts/roofline.py --write", text)


if __name__ == "__main__":
    main()

"""What ``pcd time`` does: each layer on its own, their sum, and the whole pass measured apart."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from pycaffe_dist import caffe_log as log
from pycaffe_dist.errors import NetError
from pycaffe_dist.net import Net
from pycaffe_dist.report.table import amount, table


@dataclass
class LayerTime:
    """Mean milliseconds of one layer, the FLOPs of its forward pass, and what computes it."""

    name: str
    type: str
    forward_ms: float
    backward_ms: float
    flops: int
    forward_by: str
    backward_by: str

    @property
    def forward_rate(self) -> float:
        return self.flops / self.forward_ms * 1e3 if self.forward_ms else 0.0


@dataclass
class Times:
    """Of a net: its layers one by one, and whole passes without a clock between the layers."""

    iterations: int
    layers: list[LayerTime]
    whole_forward_ms: float
    whole_backward_ms: float
    reorders: float  # values that changed their layout in a forward and backward pass
    reorder_ms: float
    whole_by: str = ""  # the library that computes whole forward passes, if one does

    @property
    def forward_ms(self) -> float:
        return sum(layer.forward_ms for layer in self.layers)

    @property
    def backward_ms(self) -> float:
        return sum(layer.backward_ms for layer in self.layers)


def time_model(net: Net, iterations: int) -> Times:
    """Time ``iterations`` passes and log Caffe's lines.

    As in Caffe every layer's backward runs, also where training would leave it out.
    """
    if iterations < 1:
        raise NetError(f"-iterations must be 1 or more, not {iterations}")
    _warm_up(net)
    log.info("caffe.cpp:365", "*** Benchmark begins ***")
    log.info("caffe.cpp:366", "Testing for %d iterations.", iterations)
    count = len(net.layers)
    forward, backward = [0.0] * count, [0.0] * count
    whole = 0.0
    reorders, reorder_seconds = net.context.engine.converting()
    for iteration in range(iterations):
        begin = time.perf_counter()
        seconds = _each_layer(net)
        spent = time.perf_counter() - begin
        forward = [a + b for a, b in zip(forward, seconds[0], strict=True)]
        backward = [a + b for a, b in zip(backward, seconds[1], strict=True)]
        whole += spent
        _log_iteration(iteration + 1, spent)
    then, seconds_then = net.context.engine.converting()
    times = Times(
        iterations,
        [
            LayerTime(
                net.layer_names[i],
                layer.type,
                forward[i] / iterations * 1e3,
                backward[i] / iterations * 1e3,
                layer.flops(net.bottoms[i], net.tops[i]),
                *net.context.engine.computed_by(layer),
            )
            for i, layer in enumerate(net.layers)
        ],
        sum(_seconds(net, net.forward) for _ in range(iterations)) / iterations * 1e3,
        sum(_seconds(net, net.backward) for _ in range(iterations)) / iterations * 1e3,
        (then - reorders) / iterations,
        (seconds_then - reorder_seconds) / iterations * 1e3,
        net.substitute.name if net.substitute else "",
    )
    _log_times(times, whole * 1e3)
    return times


def _log_iteration(number: int, seconds: float) -> None:
    log.info("caffe.cpp:394", "Iteration: %d forward-backward time: %g ms.", number, seconds * 1e3)


def _warm_up(net: Net) -> None:
    log.info("caffe.cpp:351", "Performing Forward")
    log.info("caffe.cpp:356", "Initial loss: %g", net.forward())
    log.info("caffe.cpp:357", "Performing Backward")
    net.backward()
    _each_layer(net)  # alone, each may be computed otherwise: what is fastest is found out here


def _each_layer(net: Net) -> tuple[list[float], list[float]]:
    """Seconds of the forward and of the backward pass of each layer on its own."""
    indices = range(len(net.layers))
    forward = [_seconds(net, partial(net.forward, i, i)) for i in indices]
    backward = [_seconds(net, partial(_backward, net, i)) for i in reversed(indices)]
    return forward, backward[::-1]


def _seconds(net: Net, work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    net.context.engine.wait()
    return time.perf_counter() - begin


def _backward(net: Net, i: int) -> None:
    """One layer's backward; a layer that has none takes no time."""
    if net.layer_need_backward[i]:
        net.layers[i].backward(net.tops[i], net.bottom_need_backward[i], net.bottoms[i])


def _log_times(times: Times, whole: float) -> None:
    log.info("caffe.cpp:397", "Average time per layer: ")
    for layer in times.layers:
        log.info("caffe.cpp:400", "%10s\tforward: %g ms.", layer.name, layer.forward_ms)
        log.info("caffe.cpp:403", "%10s\tbackward: %g ms.", layer.name, layer.backward_ms)
    log.info("caffe.cpp:408", "Average Forward pass: %g ms.", times.forward_ms)
    log.info("caffe.cpp:410", "Average Backward pass: %g ms.", times.backward_ms)
    log.info("caffe.cpp:412", "Average Forward-Backward: %g ms.", whole / times.iterations)
    log.info("caffe.cpp:414", "Total Time: %g ms.", whole)
    log.info("caffe.cpp:415", "*** Benchmark ends ***")


def as_table(times: Times) -> list[str]:
    """The times for people: layers, the sum, the whole passes, and what computes them."""
    rows = [
        (
            layer.name,
            layer.type,
            f"{layer.forward_ms:.3f}",
            f"{layer.backward_ms:.3f}",
            amount(layer.forward_rate, "FLOP/s") if layer.flops else "",
            layer.forward_by,
            layer.backward_by,
        )
        for layer in times.layers
    ]
    whole = f"{times.whole_forward_ms:.3f}", f"{times.whole_backward_ms:.3f}"
    rows.append(("sum", "", f"{times.forward_ms:.3f}", f"{times.backward_ms:.3f}", "", "", ""))
    rows.append(("whole pass", "", *whole, "", times.whole_by, ""))
    heads = ("layer", "type", "forward ms", "backward ms", "forward rate", "forward by")
    lines = table((*heads, "backward by (weights / bottom)"), rows, left=2)
    if times.reorders:
        changes = f"{times.reorders:g} values change their layout"
        lines.append(f"Of the sum, reorders: {times.reorder_ms:.3f} ms, {changes}")
    return lines

"""Testing: a test net over its batches, and what a solver tells of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pycaffe_dist import caffe_log as log
from pycaffe_dist import loading
from pycaffe_dist.engines.base import Loss
from pycaffe_dist.events import Output, TestBegins, Tested, TestInterrupted
from pycaffe_dist.net import Net
from pycaffe_dist.solvers.detection import Detections

if TYPE_CHECKING:
    from pycaffe_dist.solver import Solver


def test(solver: Solver, index: int) -> None:
    """Run a test net over its batches and tell the means of its outputs."""
    solver.tell(TestBegins(solver.iter, index))
    net = solver.test_nets[index]
    net.debug_info = solver.param.debug_info
    loading.share_weights(net, solver.net)
    if solver.param.eval_type == "detection":
        _test_detector(solver, index, net)
        return
    count = solver.param.test_iter[index]
    sums: list[float] = []
    loss: Loss = 0.0
    for batch in range(count):
        solver.obey()
        if solver.stopped_early:
            solver.tell(TestInterrupted(solver.iter, index))
            return
        if batch % solver.ranks.size != solver.ranks.rank:
            net.feed()
            continue
        loss += net.forward()
        values = [o.value for o in outputs_of(net)]
        sums = [a + b for a, b in zip(values, sums, strict=True)] if sums else values
    outputs = outputs_of(net) if count else []
    shares = [
        v / max(1, count) * solver.ranks.size
        for v in (float(loss), *(sums or [0.0] * len(outputs)))
    ]
    mean_loss, *means = solver.ranks.mean(shares)
    outputs = [replace(o, value=value) for o, value in zip(outputs, means, strict=True)]
    shown = mean_loss if solver.param.test_compute_loss and count else None
    solver.tell(Tested(solver.iter, index, outputs, shown))


def _test_detector(solver: Solver, index: int, net: Net) -> None:
    """Tell the mean average precision of each output; every rank tests all batches."""
    found = {i: Detections(solver.param.ap_version) for i in net.output_ids}
    for _ in range(solver.param.test_iter[index]):
        solver.obey()
        if solver.stopped_early:
            solver.tell(TestInterrupted(solver.iter, index))
            return
        net.forward()
        for i, detections in found.items():
            detections.add(net.blobs[i].data)
    outputs: list[Output] = []
    for i, detections in found.items():
        each = detections.by_class()
        for label, precision in each.items() if solver.param.show_per_class_result else ():
            log.info("solver.cpp:540", "class%d: %g", label, precision)
        mean = sum(each.values()) / max(1, len(each))
        outputs.append(Output(len(outputs), net.blob_names[i], mean, 0.0))
    solver.tell(Tested(solver.iter, index, outputs, None))


def outputs_of(net: Net) -> list[Output]:
    """Every element of the net's outputs, numbered as Caffe's log numbers them."""
    outputs: list[Output] = []
    for i in net.output_ids:
        for value in net.blobs[i].data.reshape(-1):
            outputs.append(
                Output(len(outputs), net.blob_names[i], float(value), net.blob_loss_weights[i])
            )
    return outputs

"""What ``pcd test`` does: the outputs of a net, batch by batch and on average."""

from __future__ import annotations

from dataclasses import replace

from pycaffe_dist import caffe_log as log
from pycaffe_dist.errors import NetError
from pycaffe_dist.events import Output
from pycaffe_dist.loading import load_weights
from pycaffe_dist.net import Net
from pycaffe_dist.report.caffe_lines import with_loss
from pycaffe_dist.solvers.testing import outputs_of


def test_model(net: Net, weights: str, iterations: int) -> list[Output]:
    """Run ``iterations`` batches, log Caffe's lines, return the means."""
    if iterations < 1:
        raise NetError(f"-iterations must be 1 or more, not {iterations}")
    load_weights(net, weights)
    log.info("caffe.cpp:281", "Running for %d iterations.", iterations)
    loss = 0.0
    sums: list[Output] = []
    for batch in range(iterations):
        loss += net.forward()
        outputs = outputs_of(net)
        for output in outputs:
            log.info("caffe.cpp:304", "Batch %d, %s = %g", batch, output.name, output.value)
        before = sums or [replace(o, value=0.0) for o in outputs]
        sums = [replace(o, value=o.value + b.value) for o, b in zip(outputs, before, strict=True)]
    log.info("caffe.cpp:309", "Loss: %g", loss / iterations)
    means = [replace(s, value=s.value / iterations) for s in sums]
    for mean in means:
        log.info("caffe.cpp:321", "%s", with_loss(mean))
    return means

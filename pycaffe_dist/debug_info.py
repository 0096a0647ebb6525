"""Caffe's ``debug_info``: mean magnitudes of values and gradients in the log, layer by layer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pycaffe_dist import caffe_log as log
from pycaffe_dist.aliases import Array

if TYPE_CHECKING:
    from pycaffe_dist.net import Net


def tell_forward(net: Net, i: int) -> None:
    """The tops and parameters of a layer that has run forward."""
    name = net.layer_names[i]
    for t in net.top_ids[i]:
        mean = _mean_abs(net.blobs[t].data)
        what = net.blob_names[t]
        log.info("net.cpp:567", "    [Forward] Layer %s, top blob %s data: %g", name, what, mean)
    for p, blob in zip(net.params.ids[i], net.layers[i].blobs, strict=True):
        what = net.params.learnable[p].name
        mean = _mean_abs(blob.data)
        log.info("net.cpp:580", "    [Forward] Layer %s, param blob %s data: %g", name, what, mean)


def tell_backward(net: Net, i: int) -> None:
    """The gradients of a layer that has run backward."""
    name = net.layer_names[i]
    for b, flag in zip(net.bottom_ids[i], net.bottom_need_backward[i], strict=True):
        if flag:
            mean = _mean_abs(net.blobs[b].diff)
            what = net.blob_names[b]
            text = "    [Backward] Layer %s, bottom blob %s diff: %g"
            log.info("net.cpp:595", text, name, what, mean)
    for j, blob in enumerate(net.layers[i].blobs):
        if net.layers[i].param_propagate_down[j]:
            mean = _mean_abs(blob.diff)
            text = "    [Backward] Layer %s, param blob %d diff: %g"
            log.info("net.cpp:606", text, name, j, mean)


def tell_params(net: Net) -> None:
    """The norms of all parameters and their gradients."""
    blobs = [param.blob for param in net.params.learnable]
    sums = [sum(float(np.abs(b.data).sum()) for b in blobs)]
    sums.append(sum(float(np.abs(b.diff).sum()) for b in blobs))
    sums.append(sum(float(np.square(b.data).sum()) for b in blobs) ** 0.5)
    sums.append(sum(float(np.square(b.diff).sum()) for b in blobs) ** 0.5)
    log.error(
        "net.cpp:552",
        "    [Backward] All net params (data, diff): L1 norm = (%g, %g); L2 norm = (%g, %g)",
        *sums,
    )


def _mean_abs(array: Array) -> float:
    return float(np.abs(array).mean()) if array.size else 0.0

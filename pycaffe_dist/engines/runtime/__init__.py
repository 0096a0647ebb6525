"""TEST nets computed whole by an inference library, where that is faster than our own layers.

A net is exported in memory as ONNX, compiled by OpenVINO or ONNX Runtime for its shapes, and takes
part in the measured choice.  What pycaffe promises stays: every blob may be read, weights may
change.  This room knows nets and the exporter; nets know of it only the `Substitute` they ask.
"""

from __future__ import annotations

import os

from pycaffe_dist.engines.runtime.libraries import NAMES, available
from pycaffe_dist.net import Net
from pycaffe_dist.proto.caffe_pb2 import TEST

__all__ = ["NAMES", "VARIABLE", "attach"]

VARIABLE = "PCD_RUNTIME"  # auto, off, or one of them: that one, from the first pass on


def attach(net: Net) -> None:
    """Let a net in TEST be computed by whichever is fastest; nothing is loaded or measured yet."""
    asked = os.environ.get(VARIABLE, "auto")
    engine = net.context.engine
    ours_alone = net.phase != TEST or net.context.dry or engine.device is not None
    if asked == "off" or ours_alone or engine.precision == "bf16-emulated":
        return
    names = available() if asked == "auto" else (asked,)
    if names:
        from pycaffe_dist.engines.runtime.runner import Runner

        net.substitute = Runner(net, names, forced=asked != "auto")

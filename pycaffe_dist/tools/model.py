"""A net as ``-model``, ``-phase``, ``-level``, ``-stage`` and ``--fake-data`` name it."""

from __future__ import annotations

from collections.abc import Sequence

from pycaffe_dist import caffe_log as log
from pycaffe_dist.net import Net
from pycaffe_dist.proto.caffe_pb2 import NetState
from pycaffe_dist.proto.nets import read_net
from pycaffe_dist.tools.fake_data import fake_data


def read_model(
    path: str, phase: str, level: int = 0, stages: Sequence[str] = (), fake: bool = False
) -> Net:
    """Read and build a net; with ``fake``, on batches made up for it."""
    log.info("caffe.cpp:275", "Use CPU.")
    file = read_net(path)
    file.net.state.MergeFrom(NetState(phase=phase, level=level, stage=stages))
    if fake:
        file.net.CopyFrom(fake_data(file.net))
    return Net(file)

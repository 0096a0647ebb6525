"""Nets for the verbs: as their flags name them, or without values for their shapes."""

from __future__ import annotations

from collections.abc import Sequence

from pycaffe_dist import caffe_log as log
from pycaffe_dist import engines
from pycaffe_dist.errors import PcdError
from pycaffe_dist.layer import Context
from pycaffe_dist.net import Net
from pycaffe_dist.proto.caffe_pb2 import NetParameter, NetState
from pycaffe_dist.proto.nets import NetFile, read_net
from pycaffe_dist.tools.fake_data import fake_data


def read_model(
    path: str, phase: str, level: int = 0, stages: Sequence[str] = (), fake: bool = False
) -> Net:
    """Read and build a net; with ``fake``, on batches made up for it."""
    engine = engines.current()
    if engine.device is None:
        log.info("caffe.cpp:275", "Use CPU.")
    else:
        log.info("caffe.cpp:267", "Use GPU with device ID %d", engine.device)
    file = read_net(path)
    file.net.state.MergeFrom(NetState(phase=phase, level=level, stage=stages))
    if fake:
        file.net.CopyFrom(fake_data(file.net))
    return Net(file, Context(engine=engine))


def dry_net(file: NetFile, state: NetState) -> tuple[Net, PcdError | None]:
    """A net in ``state`` without values, and why its data's shape is a guess, if it is.

    Raises:
        PcdError: it cannot be built, whatever its data are.
    """
    stated = NetFile(NetParameter(), file.path, file.lines)
    stated.net.CopyFrom(file.net)
    stated.net.state.CopyFrom(state)
    try:
        return Net(stated, Context(dry=True)), None
    except PcdError as e:
        try:
            return Net(fake_data(stated.net), Context(dry=True)), e
        except PcdError:
            raise e from None

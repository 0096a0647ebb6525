"""Nets for the verbs: as their flags name them, or without values for their shapes."""

from __future__ import annotations

from collections.abc import Sequence

from pycaffe_dist import caffe_log as log
from pycaffe_dist import engines
from pycaffe_dist.engines import runtime
from pycaffe_dist.errors import PcdError
from pycaffe_dist.layer import Context
from pycaffe_dist.net import Net
from pycaffe_dist.proto.caffe_pb2 import NetParameter, NetState
from pycaffe_dist.proto.nets import NetFile, read_net
from pycaffe_dist.sketch import NOT_RUN, Sketch
from pycaffe_dist.tools.fake_data import fake_data
from pycaffe_dist.tools.inputs import check_sources


def read_model(
    path: str,
    phase: str,
    level: int = 0,
    stages: Sequence[str] = (),
    fake: bool = False,
    writes: bool = False,
) -> Net:
    """Read and build a net; with ``fake``, on batches made up for it.

    Layers that write files do so only if it ``writes``.
    """
    file = read_net(path)
    file.net.state.MergeFrom(NetState(phase=phase, level=level, stage=stages))
    if fake:
        file.net.CopyFrom(fake_data(file.net))
    check_sources([file])
    engine = engines.current()
    if engine.device is None:
        log.info("caffe.cpp:275", "Use CPU.")
    else:
        log.info("caffe.cpp:267", "Use GPU with device ID %d", engine.device)
    net = Net(file, Context(engine=engine, writes=writes))
    runtime.attach(net)
    return net


def dry_net(file: NetFile, state: NetState, python: bool = False) -> Sketch:
    """A net in ``state`` without values; where its data cannot be read, with a guess at them.

    Args:
        file: the net.
        state: the state it is built in.
        python: whether Python layers may run.

    Raises:
        PcdError: not even a sketch of it can be made.
    """
    stated = NetFile(NetParameter(), file.path, file.lines)
    stated.net.CopyFrom(file.net)
    stated.net.state.CopyFrom(state)
    net = Sketch(stated, python)
    unread = net.sources_not_run
    if net.broken or not (unread or net.all_problems()):
        return net
    try:
        guess = Sketch(fake_data(stated.net, python=python), python)
        guess.refuse_problems()
    except PcdError as e:
        if net.data_problems and not net.problems:
            net.problems.append(f"{file.path}: {e}")
        return net
    guess.needs, guess.not_run = net.needs, net.not_run
    guess.asks_phase |= net.asks_phase
    found = [*net.problems, *net.data_problems]
    guess.guess = "\n".join(found) or net.needs or f"{file.path}: data come from a Python layer"
    for layer in guess.layers:
        if layer.name in unread:
            layer.type = f"Python, {NOT_RUN}"
    return guess

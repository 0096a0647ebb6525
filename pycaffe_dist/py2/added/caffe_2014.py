"""Caffe of 2014: the phase was the process's, mode and preparation of images the net's."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from pycaffe_dist.py2.added.words import Adding, in_place
from pycaffe_dist.py2.strings import ByteStr
from pycaffe_dist.py2.values import Names, Value
from pycaffe_dist.pycaffe.modes import SETTINGS


def _pycaffe(module: Value) -> Names:
    def phase(value: int) -> Callable[..., None]:
        return lambda *net: setattr(SETTINGS, "phase", value)

    old: Names = {
        "set_phase_test": phase(module.TEST),
        "set_phase_train": phase(module.TRAIN),
        "set_logging_disabled": lambda: module.init_log(2),
    }
    if SETTINGS.phase is None:  # the phase of a process that sets none
        SETTINGS.phase = module.TRAIN
    for name in ("set_phase_test", "set_phase_train"):
        setattr(module.Net, name, old[name])
    for name in ("set_mode_cpu", "set_mode_gpu", "set_device"):
        function = getattr(module, name)
        setattr(module.Net, name, lambda net, *args, _set=function: _set(*args))
    module.Net.set_mean, module.Net.set_input_scale = _set_mean, _set_input_scale
    for name in ("set_raw_scale", "set_channel_swap", "preprocess", "deprocess"):
        method = getattr(module.io.Transformer, name)
        setattr(module.Net, name, lambda net, *args, _do=method: _do(net.transformer, *args))
    weights = ("copy_from", "load_hdf5", "save", "save_hdf5")
    in_place(module.Net, ("__init__", *weights), _texts)
    in_place(module.io, ("load_image",), _texts)
    in_place(module, ("get_solver",), _texts)
    in_place(module._caffe.Solver, ("__init__", "restore", "solve"), _texts)
    for kind in (module.Classifier, module.Detector):
        kind.__init__ = _with_gpu(kind.__init__, module)
    return old


def _texts(function: Value) -> Value:
    """Names of files that were encoded (``name.encode('utf-8')``) are text."""

    def text(value: Value) -> Value:
        return str(value) if isinstance(value, ByteStr) else value

    @functools.wraps(function)
    def call(*args: Value, **kwargs: Value) -> Value:
        return function(*map(text, args), **{name: text(value) for name, value in kwargs.items()})

    return call


def _set_mean(net: Value, in_: str, mean: Value, mode: str = "elementwise") -> None:
    """The mean may be a file; where it was one, ``input_scale`` came before it, as raw_scale does.

    With ``mode="channel"`` it is a value for each channel.
    """
    transformer = net.transformer
    if isinstance(mean, str):
        mean = np.load(mean)
        net.mean_file = True
        if in_ in transformer.input_scale:
            _set_input_scale(net, in_, transformer.input_scale.pop(in_))
    transformer.set_mean(in_, np.mean(mean, axis=(1, 2)) if mode == "channel" else mean)


def _set_input_scale(net: Value, in_: str, scale: float) -> None:
    first = getattr(net, "mean_file", False) and in_ not in net.transformer.raw_scale
    set_scale = net.transformer.set_raw_scale if first else net.transformer.set_input_scale
    set_scale(in_, scale)


def _with_gpu(init: Value, module: Value) -> Value:
    """``gpu=True`` instead of ``set_mode_gpu``, and the mean as a file of NumPy's."""

    @functools.wraps(init)
    def call(
        net: Value, *args: Value, gpu: bool | None = None, mean_file: Value = None, **kwargs: Value
    ) -> None:
        if gpu is not None:
            (module.set_mode_gpu if gpu else module.set_mode_cpu)()
        init(net, *args, **kwargs)
        if mean_file:
            net.set_mean(net.inputs[0], mean_file)

    return call


ADDED: dict[str, Adding] = {"pycaffe_dist": _pycaffe}

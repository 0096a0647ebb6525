"""Caffe of 2014: the phase was the process's, mode and preparation of images the net's."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from pycaffe_dist.py2.added.words import Adding
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
    methods = ("set_mean", "set_raw_scale", "set_channel_swap", "set_input_scale")
    for name in (*methods, "preprocess", "deprocess"):
        method = getattr(module.io.Transformer, name)
        setattr(module.Net, name, lambda net, *args, _do=method: _do(net.transformer, *args))
    for kind in (module.Classifier, module.Detector):
        kind.__init__ = _with_gpu(kind.__init__, module)
    return old


def _with_gpu(init: Value, module: Value) -> Value:
    """``gpu=True`` instead of ``set_mode_gpu``, and the mean as a file of NumPy's."""

    @functools.wraps(init)
    def call(
        net: Value, *args: Value, gpu: bool | None = None, mean_file: Value = None, **kwargs: Value
    ) -> None:
        if gpu is not None:
            (module.set_mode_gpu if gpu else module.set_mode_cpu)()
        if mean_file is not None:
            kwargs["mean"] = np.load(mean_file)
        init(net, *args, **kwargs)

    return call


ADDED: dict[str, Adding] = {"pycaffe_dist": _pycaffe}

"""pycaffe's API: what a script sees that writes ``import pycaffe_dist as caffe``.

Nothing else in the package needs this room, except the layer type Python, whose classes are users'.
A name is looked up, and its module loaded, when somebody first uses it.
"""

from __future__ import annotations

import importlib
from collections import OrderedDict  # scripts take it, and np, from caffe.pycaffe
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    from pycaffe_dist.proto.caffe_pb2 import TEST, TRAIN
    from pycaffe_dist.pycaffe.as_caffe import install_as_caffe
    from pycaffe_dist.pycaffe.classifier import Classifier
    from pycaffe_dist.pycaffe.detector import Detector
    from pycaffe_dist.pycaffe.distributed import distribute
    from pycaffe_dist.pycaffe.modes import (
        init_log,
        layer_type_list,
        log,
        set_device,
        set_mode_cpu,
        set_mode_gpu,
        set_multiprocess,
        set_precision,
        set_random_seed,
        set_solver_count,
        set_solver_rank,
        solver_count,
        solver_rank,
    )
    from pycaffe_dist.pycaffe.nccl import NCCL, has_nccl
    from pycaffe_dist.pycaffe.net import Net
    from pycaffe_dist.pycaffe.net_spec import NetSpec, params, to_proto
    from pycaffe_dist.pycaffe.python_base import Layer
    from pycaffe_dist.pycaffe.solver import (
        AdaDeltaSolver,
        AdaGradSolver,
        AdamSolver,
        NesterovSolver,
        RMSPropSolver,
        SGDSolver,
        get_solver,
    )
    from pycaffe_dist.pycaffe.timer import Timer
    from pycaffe_dist.tools.start import train

# A module, and what it offers; the imports above say the same to type checkers.
HOLDS = {
    "pycaffe_dist.proto.caffe_pb2": "TEST TRAIN",
    "pycaffe_dist.pycaffe.as_caffe": "install_as_caffe",
    "pycaffe_dist.pycaffe.classifier": "Classifier",
    "pycaffe_dist.pycaffe.detector": "Detector",
    "pycaffe_dist.pycaffe.distributed": "distribute",
    "pycaffe_dist.pycaffe.modes": "init_log layer_type_list log set_device set_mode_cpu "
    "set_mode_gpu set_multiprocess set_precision set_random_seed set_solver_count "
    "set_solver_rank solver_count solver_rank",
    "pycaffe_dist.pycaffe.nccl": "NCCL has_nccl",
    "pycaffe_dist.pycaffe.net": "Net",
    "pycaffe_dist.pycaffe.net_spec": "NetSpec params to_proto",
    "pycaffe_dist.pycaffe.python_base": "Layer",
    "pycaffe_dist.pycaffe.solver": "AdaDeltaSolver AdaGradSolver AdamSolver NesterovSolver "
    "RMSPropSolver SGDSolver get_solver",
    "pycaffe_dist.pycaffe.timer": "Timer",
    "pycaffe_dist.tools.start": "train",
}
HOMES = {name: module for module, names in HOLDS.items() for name in names.split()}

__all__ = [
    "NCCL",
    "TEST",
    "TRAIN",
    "AdaDeltaSolver",
    "AdaGradSolver",
    "AdamSolver",
    "Classifier",
    "Detector",
    "Layer",
    "NesterovSolver",
    "Net",
    "NetSpec",
    "OrderedDict",
    "RMSPropSolver",
    "SGDSolver",
    "Timer",
    "distribute",
    "get_solver",
    "has_nccl",
    "init_log",
    "install_as_caffe",
    "layer_type_list",
    "log",
    "np",
    "params",
    "set_device",
    "set_mode_cpu",
    "set_mode_gpu",
    "set_multiprocess",
    "set_precision",
    "set_random_seed",
    "set_solver_count",
    "set_solver_rank",
    "solver_count",
    "solver_rank",
    "to_proto",
    "train",
]


if not TYPE_CHECKING:  # who would find no name wrong

    def __getattr__(name: str) -> object:
        if name == "np":
            return importlib.import_module("numpy")
        if name not in HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = globals()[name] = getattr(importlib.import_module(HOMES[name]), name)
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *HOMES})

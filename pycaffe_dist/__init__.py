"""Caffe's net and solver semantics in Python, on one machine or across a cluster.

``import pycaffe_dist as caffe`` gives pycaffe's API.
"""

from pycaffe_dist import _caffe, io, layers
from pycaffe_dist.as_caffe import install_as_caffe
from pycaffe_dist.classifier import Classifier
from pycaffe_dist.detector import Detector
from pycaffe_dist.net_spec import NetSpec, params, to_proto
from pycaffe_dist.proto.caffe_pb2 import TEST, TRAIN
from pycaffe_dist.pycaffe import Net
from pycaffe_dist.pynccl import NCCL, has_nccl
from pycaffe_dist.pysolver import (
    AdaDeltaSolver,
    AdaGradSolver,
    AdamSolver,
    NesterovSolver,
    RMSPropSolver,
    SGDSolver,
    get_solver,
)
from pycaffe_dist.python_base import Layer
from pycaffe_dist.settings import (
    init_log,
    layer_type_list,
    log,
    set_device,
    set_mode_cpu,
    set_mode_gpu,
    set_multiprocess,
    set_random_seed,
    set_solver_count,
    set_solver_rank,
    solver_count,
    solver_rank,
)
from pycaffe_dist.timer import Timer
from pycaffe_dist.version import CAFFE

__version__ = CAFFE  # our own is in pycaffe_dist.version

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
    "RMSPropSolver",
    "SGDSolver",
    "Timer",
    "_caffe",
    "get_solver",
    "has_nccl",
    "init_log",
    "install_as_caffe",
    "io",
    "layer_type_list",
    "layers",
    "log",
    "params",
    "set_device",
    "set_mode_cpu",
    "set_mode_gpu",
    "set_multiprocess",
    "set_random_seed",
    "set_solver_count",
    "set_solver_rank",
    "solver_count",
    "solver_rank",
    "to_proto",
]

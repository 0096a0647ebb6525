"""``caffe._caffe``: what pycaffe's compiled module holds, under its names."""

from pycaffe_dist.blob import Blob
from pycaffe_dist.proto.caffe_pb2 import LayerParameter, SolverParameter
from pycaffe_dist.pycaffe.modes import (
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
from pycaffe_dist.pycaffe.nccl import NCCL, has_nccl
from pycaffe_dist.pycaffe.net import Net
from pycaffe_dist.pycaffe.python_base import Layer
from pycaffe_dist.pycaffe.solver import (
    AdaDeltaSolver,
    AdaGradSolver,
    AdamSolver,
    NesterovSolver,
    RMSPropSolver,
    SGDSolver,
    Solver,
    get_solver,
)
from pycaffe_dist.pycaffe.timer import Timer
from pycaffe_dist.pycaffe.vectors import (
    BlobVec,
    BoolVec,
    DtypeVec,
    IntVec,
    LayerVec,
    NetVec,
    RawBlobVec,
    StringVec,
)
from pycaffe_dist.version import CAFFE

__version__ = CAFFE

__all__ = [
    "NCCL",
    "AdaDeltaSolver",
    "AdaGradSolver",
    "AdamSolver",
    "Blob",
    "BlobVec",
    "BoolVec",
    "DtypeVec",
    "IntVec",
    "Layer",
    "LayerParameter",
    "LayerVec",
    "NesterovSolver",
    "Net",
    "NetVec",
    "RMSPropSolver",
    "RawBlobVec",
    "SGDSolver",
    "Solver",
    "SolverParameter",
    "StringVec",
    "Timer",
    "get_solver",
    "has_nccl",
    "init_log",
    "layer_type_list",
    "log",
    "set_device",
    "set_mode_cpu",
    "set_mode_gpu",
    "set_multiprocess",
    "set_random_seed",
    "set_solver_count",
    "set_solver_rank",
    "solver_count",
    "solver_rank",
]

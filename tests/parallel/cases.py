"""Small nets and solvers, the same for ranks that are threads and ranks of mpirun."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from pycaffe_dist.engines.base import NUMPY, Engine
from pycaffe_dist.layer import Context
from pycaffe_dist.parallel.cluster import distribute
from pycaffe_dist.parallel.plan.links import AlphaBeta, Links
from pycaffe_dist.parallel.plan.plan import Plan, make_plan
from pycaffe_dist.parallel.settings import ClusterSettings
from pycaffe_dist.parallel.transport.communicator import Communicator
from pycaffe_dist.proto.caffe_pb2 import SolverParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.solver import Solver

BATCH = 4
STEPS = 10  # past two drops of the step policy; no part of an exchange has a longer period
LINKS = Links(AlphaBeta(1e-4, 8e-9), AlphaBeta(1e-6, 1e-10), 1e10, 1e10)

INPUT = """
layer {{ name: "data" type: "Input" top: "data" top: "label"
  input_param {{ shape {{ dim: {batch} {image} }} shape {{ dim: {batch} }} }} }}
"""
FILLERS = 'weight_filler { type: "gaussian" std: 0.3 } bias_filler { type: "constant" value: 0.1 }'
LOSS = """
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "out" bottom: "label" top: "loss" }
"""
NETS = {
    "conv": f"""
layer {{ name: "conv1" type: "Convolution" bottom: "data" top: "c1" param {{ lr_mult: 1 }}
  param {{ lr_mult: 2 decay_mult: 0 }}
  convolution_param {{ num_output: 5 kernel_size: 3 {FILLERS} }} }}
layer {{ name: "relu1" type: "ReLU" bottom: "c1" top: "c1" }}
layer {{ name: "conv2" type: "Convolution" bottom: "c1" top: "c2"
  convolution_param {{ num_output: 4 kernel_size: 2 {FILLERS} }} }}
layer {{ name: "ip1" type: "InnerProduct" bottom: "c2" top: "i1" param {{ lr_mult: 1 }}
  param {{ lr_mult: 2 }} inner_product_param {{ num_output: 13 {FILLERS} }} }}
layer {{ name: "relu2" type: "ReLU" bottom: "i1" top: "i1" }}
layer {{ name: "ip2" type: "InnerProduct" bottom: "i1" top: "out"
  inner_product_param {{ num_output: 7 {FILLERS} }} }}
""",
    "flavours": f"""
layer {{ name: "rows" type: "InnerProduct" bottom: "data" top: "r"
  inner_product_param {{ num_output: 6 axis: 2 {FILLERS} }} }}
layer {{ name: "square" type: "InnerProduct" bottom: "r" top: "s"
  inner_product_param {{ num_output: 12 transpose: true {FILLERS} }} }}
layer {{ name: "tanh" type: "TanH" bottom: "s" top: "s" }}
layer {{ name: "plain" type: "InnerProduct" bottom: "s" top: "t"
  inner_product_param {{ num_output: 12 bias_term: false {FILLERS} }} }}
layer {{ name: "fixed" type: "InnerProduct" bottom: "t" top: "out" param {{ lr_mult: 1 }}
  param {{ lr_mult: 0 }} inner_product_param {{ num_output: 5 {FILLERS} }} }}
""",
    "shared": f"""
layer {{ name: "flat" type: "Flatten" bottom: "data" top: "flat" }}
layer {{ name: "low" type: "InnerProduct" bottom: "flat" top: "a"
  inner_product_param {{ num_output: 9 {FILLERS} }} }}
layer {{ name: "one" type: "InnerProduct" bottom: "a" top: "b" param {{ name: "w" }}
  param {{ name: "b" }} inner_product_param {{ num_output: 9 {FILLERS} }} }}
layer {{ name: "sigmoid" type: "Sigmoid" bottom: "b" top: "b" }}
layer {{ name: "two" type: "InnerProduct" bottom: "b" top: "out" param {{ name: "w" }}
  param {{ name: "b" }} inner_product_param {{ num_output: 9 {FILLERS} }} }}
""",
    "norm": f"""
layer {{ name: "conv" type: "Convolution" bottom: "data" top: "c"
  convolution_param {{ num_output: 5 kernel_size: 3 {FILLERS} }} }}
layer {{ name: "bn" type: "BatchNorm" bottom: "c" top: "n" }}
layer {{ name: "scale" type: "Scale" bottom: "n" top: "n" scale_param {{ bias_term: true }} }}
layer {{ name: "ip" type: "InnerProduct" bottom: "n" top: "out"
  inner_product_param {{ num_output: 7 {FILLERS} }} }}
""",
    "dense": f"""
layer {{ name: "dense" type: "DenseBlock" bottom: "data" top: "d"
  denseblock_param {{ numTransition: 2 growthRate: 3 Filter_Filler {{ type: "msra" }}
    BN_Scaler_Filler {{ value: 1 }} }} }}
layer {{ name: "ip" type: "InnerProduct" bottom: "d" top: "out"
  inner_product_param {{ num_output: 7 {FILLERS} }} }}
""",
}
NETS["lenet"] = f"""
layer {{ name: "conv1" type: "Convolution" bottom: "data" top: "conv1" param {{ lr_mult: 1 }}
  param {{ lr_mult: 2 }} convolution_param {{ num_output: 20 kernel_size: 5 {FILLERS} }} }}
layer {{ name: "pool1" type: "Pooling" bottom: "conv1" top: "pool1"
  pooling_param {{ kernel_size: 2 stride: 2 }} }}
layer {{ name: "conv2" type: "Convolution" bottom: "pool1" top: "conv2" param {{ lr_mult: 1 }}
  param {{ lr_mult: 2 }} convolution_param {{ num_output: 50 kernel_size: 5 {FILLERS} }} }}
layer {{ name: "pool2" type: "Pooling" bottom: "conv2" top: "pool2"
  pooling_param {{ kernel_size: 2 stride: 2 }} }}
layer {{ name: "ip1" type: "InnerProduct" bottom: "pool2" top: "ip1" param {{ lr_mult: 1 }}
  param {{ lr_mult: 2 }} inner_product_param {{ num_output: 500 {FILLERS} }} }}
layer {{ name: "relu1" type: "ReLU" bottom: "ip1" top: "ip1" }}
layer {{ name: "ip2" type: "InnerProduct" bottom: "ip1" top: "out" param {{ lr_mult: 1 }}
  param {{ lr_mult: 2 }} inner_product_param {{ num_output: 10 {FILLERS} }} }}
"""
# Parameters that do not learn and get a gradient all the same.
FROZEN = "param { lr_mult: 0 }"
NETS["forced"] = f"""
force_backward: true
layer {{ name: "low" type: "InnerProduct" bottom: "data" top: "low" {FROZEN} {FROZEN}
  inner_product_param {{ num_output: 9 {FILLERS} }} }}
layer {{ name: "norm" type: "BatchNorm" bottom: "low" top: "n"
  batch_norm_param {{ use_global_stats: true }} }}
layer {{ name: "ip" type: "InnerProduct" bottom: "n" top: "out"
  inner_product_param {{ num_output: 7 {FILLERS} }} }}
"""
NETS["frozen sharer"] = f"""
layer {{ name: "one" type: "InnerProduct" bottom: "data" top: "a" param {{ name: "w" }}
  inner_product_param {{ num_output: 7 {FILLERS} }} }}
layer {{ name: "two" type: "InnerProduct" bottom: "data" top: "b"
  param {{ name: "w" lr_mult: 0 }} inner_product_param {{ num_output: 7 {FILLERS} }} }}
layer {{ name: "sum" type: "Eltwise" bottom: "a" bottom: "b" top: "out" }}
"""
NETS["frozen LSTM"] = f"""
layer {{ name: "low" type: "InnerProduct" bottom: "data" top: "low"
  inner_product_param {{ num_output: 9 {FILLERS} }} }}
layer {{ name: "x" type: "Reshape" bottom: "low" top: "x"
  reshape_param {{ shape {{ dim: 1 dim: -1 dim: 9 }} }} }}
layer {{ name: "cont" type: "DummyData" top: "cont"
  dummy_data_param {{ shape {{ dim: 1 dim: @B }} data_filler {{ value: 1 }} }} }}
layer {{ name: "lstm" type: "LSTM" bottom: "x" bottom: "cont" top: "y" {FROZEN} {FROZEN} {FROZEN}
  recurrent_param {{ num_output: 6 weight_filler {{ type: "gaussian" std: 1 }} }} }}
layer {{ name: "h" type: "Reshape" bottom: "y" top: "h"
  reshape_param {{ shape {{ dim: -1 dim: 6 }} }} }}
layer {{ name: "ip" type: "InnerProduct" bottom: "h" top: "out"
  inner_product_param {{ num_output: 7 {FILLERS} }} }}
"""
IMAGES = {"lenet": (1, 28, 28)}  # the others take 2 channels of 6 by 6
SOLVERS = {
    "SGD": "momentum: 0.9 weight_decay: 0.01",
    "Nesterov": "momentum: 0.9 weight_decay: 0.01",
    "AdaGrad": "weight_decay: 0.01",
    "RMSProp": "rms_decay: 0.9 weight_decay: 0.01",
    "AdaDelta": "momentum: 0.9 delta: 1e-3 weight_decay: 0.01",
    "Adam": "momentum: 0.9 momentum2: 0.99 delta: 1e-3 weight_decay: 0.01",
}
WHOLE = {  # whose rates depend on norms of whole parameters
    "LARS": "momentum: 0.9 larc_eta: 0.1 weight_decay: 0.01",
    "LAMB": "momentum: 0.9 momentum2: 0.99 delta: 1e-3 weight_decay: 0.01",
}
DECOUPLED = {"AdamW": SOLVERS["Adam"]}
ALL_SOLVERS = {**SOLVERS, **WHOLE, **DECOUPLED}
PLATEAU = 'lr_policy: "plateau" gamma: 0.5 plateau_winsize: 2 plateau_winsize: 3'
RATES = {"AdaDelta": 1.0, "Adam": 0.003, "RMSProp": 0.003, "AdaGrad": 0.02}
RATES |= {"AdamW": 0.003, "LAMB": 0.01}


@dataclass(frozen=True)
class Case:
    """A net, a solver, and how it is distributed."""

    net: str = "conv"
    solver: str = "SGD"
    extra: str = ""
    settings: ClusterSettings = field(default_factory=ClusterSettings)

    def __str__(self) -> str:
        s = self.settings
        parts = [self.net, self.solver, s.comm, self.extra, "" if s.overlap else "no overlap"]
        return " ".join(part for part in [*parts, "" if s.wire == "fp32" else s.wire] if part)


def equality_cases() -> list[Case]:
    """Every scheme with every solver type, then every other way that a step can go."""
    schemes = ("allreduce", "sharded", "sfb", "sf-push")
    cases = [
        Case(net, s, "", ClusterSettings(comm=c))
        for net in ("conv", "lenet")
        for s in SOLVERS
        for c in schemes
    ]
    for comm in schemes:
        settings = ClusterSettings(comm=comm)
        cases += [
            Case("flavours", "Nesterov", "", settings),
            Case("shared", "SGD", "", settings),
            Case("conv", "SGD", "iter_size: 3", settings),
            Case("conv", "SGD", 'regularization_type: "L1"', settings),
            Case("conv", "Adam", "", ClusterSettings(comm=comm, overlap=False)),
        ]
    for comm in ("allreduce", "sfb"):  # the others update before the norm of all is known
        settings = ClusterSettings(comm=comm)
        cases.append(Case("conv", "SGD", "clip_gradients: 0.5", settings))
        cases += [Case("conv", kind, "", settings) for kind in WHOLE]
        cases.append(Case("conv", "SGD", "larc: true larc_eta: 0.1", settings))
        cases.append(Case("conv", "SGD", PLATEAU, settings))
    cases += [Case("conv", "AdamW", "", ClusterSettings(comm=comm)) for comm in schemes]
    cases.append(Case("conv", "SGD", 'lr_policy: "step" stepsize: 4 gamma: 0.5'))
    cases.append(
        Case("conv", "SGD", "", ClusterSettings(comm="allreduce", comm_layer={"ip1": "sfb"}))
    )
    return cases


def small_cases() -> list[Case]:
    """Those whose nets are small enough for an emulated device, and whose rules have kernels."""
    return [
        case
        for case in equality_cases()
        if case.net != "lenet" and case.solver in SOLVERS and "larc" not in case.extra
    ]


def image_of(net: str) -> tuple[int, ...]:
    return IMAGES.get(net, (2, 6, 6))


def batches(net: str, ranks: int, passes: int, seed: int = 7) -> tuple[np.ndarray, np.ndarray]:
    """Inputs and labels by pass, rank and image."""
    rng = np.random.default_rng(seed)
    data = rng.standard_normal((passes, ranks, BATCH, *image_of(net))).astype(np.float32)
    return data, rng.integers(0, 5, (passes, ranks, BATCH)).astype(np.float32)


def build(
    case: Case,
    ranks: Sequence[int],
    of: int,
    prefix: str = "",
    start: int = 0,
    engine: Engine = NUMPY,
) -> Solver:
    """A solver that is fed the batches of ``ranks``, joined, of so many, from pass ``start`` on."""
    rate = RATES.get(case.solver, 0.05) / (5 if case.net == "lenet" else 1)
    policy = "" if "lr_policy" in case.extra else 'lr_policy: "fixed"'
    image = " ".join(f"dim: {d}" for d in image_of(case.net))
    net = INPUT.format(batch=BATCH * len(ranks), image=image) + NETS[case.net] + LOSS
    net = net.replace("@B", str(BATCH * len(ranks)))
    text = (
        f'type: "{case.solver}" base_lr: {rate} {policy} {ALL_SOLVERS[case.solver]} {case.extra} '
        f'snapshot_after_train: false snapshot_prefix: "{prefix}" net_param {{ {net} }}'
    )
    param = parse_text(text, SolverParameter()).message
    # Of LeNet's many pools one is always undecided: which value is the largest, rounding says.
    exact = case.net == "lenet" and case.solver != "SGD"
    dtype = np.float64 if exact else np.float32
    solver = Solver(param, Context(engine=engine, dtype=dtype))
    rng = np.random.default_rng(3)
    for learnable in solver.net.params.learnable:
        blob = learnable.blob
        if learnable.lr_mult or blob.shape != (1,):
            spread = 0.3 if case.net != "lenet" else 0.05
            blob.data[...] = spread * rng.standard_normal(blob.shape)
    data, labels = batches(case.net, of, 3 * STEPS * param.iter_size)
    passes = iter(range(start, len(data)))

    def feed(layer: int) -> None:
        if layer == 0:
            i = next(passes)
            net = solver.net
            shape = net.blobs[net.blob_ids["data"]].shape
            net.blobs[net.blob_ids["data"]].data[...] = data[i, ranks].reshape(shape)
            net.blobs[net.blob_ids["label"]].data[...] = labels[i, ranks].reshape(-1)

    solver.net.before_forward.append(feed)
    return solver


def weights(solver: Solver) -> list[np.ndarray]:
    return [param.blob.data.copy() for param in solver.net.params.learnable]


def reference(case: Case, ranks: int, steps: int = STEPS) -> list[np.ndarray]:
    """The weights after so many steps of one rank with the joint batch."""
    return _joint(case.net, case.solver, case.extra, ranks, steps)


@cache
def _joint(net: str, kind: str, extra: str, ranks: int, steps: int) -> list[np.ndarray]:
    solver = build(Case(net, kind, extra), range(ranks), ranks)
    solver.step(steps)
    return weights(solver)


def plan_for(case: Case, solver: Solver, communicator: Communicator) -> Plan:
    """The same on all ranks, whatever the machine is like today."""
    size, nodes = communicator.size, communicator.nodes.count
    return make_plan(solver.net, case.settings, size, nodes, LINKS, solver.param)


def trained(
    case: Case, communicator: Communicator, steps: int = STEPS, engine: Engine = NUMPY
) -> list[np.ndarray]:
    """The weights after so many steps of this rank among the others."""
    solver = build(case, [communicator.rank], communicator.size, engine=engine)
    plan = plan_for(case, solver, communicator)
    with distribute(solver, case.settings, communicator, plan):
        solver.step(steps)
    return weights(solver)


def identical(ranks: Sequence[Sequence[np.ndarray]]) -> bool:
    """Whether all ranks have the same weights, to the bit."""
    return all(
        (mine == first).all()
        for rank in ranks[1:]
        for mine, first in zip(rank, ranks[0], strict=True)
    )


def distance(a: Sequence[np.ndarray], b: Sequence[np.ndarray]) -> float:
    """The largest relative distance of two parameters."""
    return max(
        float(np.linalg.norm(x - y) / max(np.linalg.norm(y), 1e-12))
        for x, y in zip(a, b, strict=True)
    )

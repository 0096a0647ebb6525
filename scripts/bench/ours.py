"""Our side: a net of models/ on one preloaded batch, by the engine that is asked for."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import numpy as np

from bench.cases import (
    LEARNT,
    MOMENTUM,
    STILL,
    TINY,
    TINY_OUTPUTS,
    WEIGHT_DECAY,
    Case,
    find,
    images_and_labels,
)
from bench.wire import Side, gemm_rate, log_of, sample, serve
from pycaffe_dist import engines
from pycaffe_dist.engines import NUMPY, race
from pycaffe_dist.engines.onednn.core.products import ByBlas
from pycaffe_dist.engines.onednn.core.remembered import CHOICES
from pycaffe_dist.engines.onednn.core.weighted import Weighted
from pycaffe_dist.facts import layer_facts
from pycaffe_dist.layer import Context
from pycaffe_dist.net import Net
from pycaffe_dist.proto.caffe_pb2 import TEST, LayerParameter, NetParameter, SolverParameter
from pycaffe_dist.proto.nets import read_net
from pycaffe_dist.recycling import recycle
from pycaffe_dist.solver import Solver
from pycaffe_dist.version import VERSION

MODELS = Path(__file__).resolve().parents[2] / "models"
PRODUCTS = ("Convolution", "InnerProduct")  # whose multiplications are counted


class Ours(Side):
    def __init__(self, engine: str) -> None:
        self.engine = engines.create(engine)
        self.net: Net
        self.solver: Solver | None = None

    def about(self) -> dict[str, Any]:
        return {"name": "pycaffe_dist", "version": VERSION, "engine": self.engine.name}

    def prepare(
        self,
        net: str,
        batch: int,
        phase: str,
        weights: str | None = None,
        dropout: bool = True,
        double: bool = False,
    ) -> dict[str, Any]:
        case = find(net, batch)
        leave_out = case.without + (() if dropout else ("Dropout",))
        param = description(case, phase, leave_out)
        context = Context(np.float64, NUMPY) if double else Context(engine=self.engine)
        if phase == "train":
            solver = SolverParameter(base_lr=STILL, lr_policy="fixed", max_iter=1, random_seed=1)
            solver.momentum, solver.weight_decay = MOMENTUM, WEIGHT_DECAY
            solver.train_net_param.CopyFrom(param)
            self.solver = Solver(solver, context)
            self.net = self.solver.net
        else:
            self.solver, self.net = None, Net(param, context)
        if context.engine is not NUMPY:
            recycle([self.net])  # as `pcd train` does
        fill(self.net)
        images, self.labels = images_and_labels(case)
        self.data = self._blob("data")
        self.data.data[...] = images
        if phase == "train":
            self._blob("label").data[...] = self.labels
        if weights:
            np.savez(weights, *self.learnable(), **statistics_of(self.net))
        return {"shapes": [list(w.shape) for w in self.learnable()], "flops": flops(self.net)}

    def step(self) -> float:
        # As if the batch had just been read: no engine may keep its own copy of the last one.
        self.data.data_value.write()
        if self.solver is None:
            return self.net.forward()
        self.solver.step(1)
        return self.solver.last_loss

    # -- for bench_cpu.py --peers ------------------------------------------------------------

    def export(self, model: str, image: str) -> dict[str, Any]:
        """Write the TEST net that was prepared as an ONNX file, and its batch beside it."""
        from pycaffe_dist.onnx.export import export
        from pycaffe_dist.onnx.writing import write_model

        with Path(model).open("wb") as file:
            write_model(export(self.net), file)
        np.save(image, self.data.data)
        return {}

    def output(self, path: str) -> dict[str, Any]:
        self.step()
        np.save(path, self.net.blobs[self.net.output_ids[0]].data)
        return {}

    # -- for bench_choice.py -----------------------------------------------------------------

    def remember(self) -> dict[str, Any]:
        """Run a step, so that everything is chosen, and write it down."""
        self.step()
        CHOICES.save()
        return {"choices": CHOICES.used}

    def exhaust(self) -> dict[str, Any]:
        """Measure every candidate at length, the hopeless too, and none favoured; write it down."""
        race.MARGIN, race.HOPELESS, race.PATIENCE = 0.0, math.inf, 0.0
        race._telling = lambda seconds: 4 if seconds > race.LONG else 8
        ByBlas.handicap = staticmethod(lambda: 1.0)
        return self.remember()

    def offered(self) -> dict[str, Any]:
        """The names of all candidates of the net that was prepared, after a step."""
        layers = [layer for layer in self.net.layers if isinstance(layer, Weighted) and layer.fast]
        names = [
            candidate.name
            for layer in layers
            for which, bias, _ in layer._made
            for candidate in layer.candidates(which, bias)
        ]
        return {"names": list(dict.fromkeys(names))}

    def force(self, name: str) -> dict[str, Any]:
        """For a net that is prepared after this."""
        CHOICES._forced = name
        return {}

    def gemm(self) -> dict[str, Any]:
        def multiply(a: Any, b: Any) -> Any:
            out = np.empty_like(a)
            return lambda: np.matmul(a, b, out=out)

        return gemm_rate(multiply)

    def check(self, path: str, rate: float, steps: int) -> dict[str, Any]:
        if self.solver is None:
            self.step()
            np.savez(path, output=log_of(self.net.blobs[self.net.output_ids[0]].data))
            return {}
        solver, found = self.solver, {}
        solver.param.base_lr = rate
        gradients: list[Any] = []

        def keep() -> None:
            if not gradients:
                gradients.extend(sample(p.blob.diff) for p in self._learned())
                found["output"] = np.asarray(solver.last_loss)

        solver.on_gradients_ready.append(keep)
        solver.step(steps)
        found |= {f"gradient_{i}": g for i, g in enumerate(gradients)}
        found |= {f"update_{i}": sample(w) for i, w in enumerate(self.learnable())}
        np.savez(path, **found)
        return {}

    def learn(self, known: bool) -> dict[str, Any]:
        self._blob("label").data[...] = 0 if known else self.labels
        self.learnable()[-1][0] = LEARNT if known else 0
        return {}

    def learnable(self) -> list[Any]:
        return [p.blob.data for p in self._learned()]

    def _learned(self) -> list[Any]:
        return [p for p in self.net.params.learnable if p.lr_mult]

    def _blob(self, name: str) -> Any:
        return self.net.blobs[self.net.blob_ids[name]]


# -- the net ---------------------------------------------------------------------------------------


def description(case: Case, phase: str, leave_out: tuple[str, ...]) -> NetParameter:
    """TRAIN: train_val; TEST: deploy, images in and probabilities out.

    Sources of data become Input.  Every parameter has lr_mult and decay_mult 1, as the optimizer on
    the other side has one rate and one decay for all.
    """
    file = "train_val" if phase == "train" else "deploy"
    read = read_net(str(MODELS / case.folder / f"{file}.prototxt")).net
    net = NetParameter(name=read.name)
    net.state.CopyFrom(read.state)
    if phase == "test":
        net.state.phase = TEST
    net.layer.append(input_layer("data", case.batch, *case.image))
    if phase == "train":
        net.layer.append(input_layer("label", case.batch))
    renamed: dict[str, str] = {}  # the top of a layer that is left out -> what it was made of
    for layer in read.layer:
        if not layer.bottom:
            continue
        for i, name in enumerate(layer.bottom):
            layer.bottom[i] = renamed.get(name, name)
        if layer.type in leave_out:
            renamed[layer.top[0]] = layer.bottom[0]
            continue
        layer.ClearField("param")
        net.layer.append(layer)
    if case.name == TINY.name:
        shrink(net)
    return net


def input_layer(name: str, *shape: int) -> LayerParameter:
    layer = LayerParameter(name=name, type="Input", top=[name])
    layer.input_param.shape.add(dim=shape)
    return layer


def shrink(net: NetParameter) -> None:
    outputs = iter(TINY_OUTPUTS)
    for layer in net.layer:
        if layer.type == "Convolution":
            layer.convolution_param.num_output = next(outputs)
        elif layer.type == "InnerProduct":
            layer.inner_product_param.num_output = next(outputs)


def fill(net: Net) -> None:
    """Weights of √(2 / inputs), so that values neither grow nor fade on their way."""
    rng = np.random.default_rng(2)
    for layer in net.layers:
        if layer.type == "BatchNorm":
            mean, variance, total = (blob.data for blob in layer.blobs)
            mean[...] = 0.1 * rng.standard_normal(mean.shape)
            variance[...] = rng.uniform(0.7, 1.3, variance.shape)
            total[...] = 1
        elif layer.type == "Scale":  # below 1, or residuals add up to a saturated softmax
            layer.blobs[0].data[...] = rng.uniform(0.4, 1.2, layer.blobs[0].shape)
        elif layer.blobs:
            w = layer.blobs[0].data
            w[...] = rng.standard_normal(w.shape, np.float32) * math.sqrt(
                2 / math.prod(w.shape[1:])
            )


def statistics_of(net: Net) -> dict[str, Any]:
    found: dict[str, Any] = {}
    norms = [layer for layer in net.layers if layer.type == "BatchNorm"]
    for i, layer in enumerate(norms):
        mean, variance, total = (blob.data for blob in layer.blobs)
        found |= {f"mean_{i}": mean / total[0], f"variance_{i}": variance / total[0]}
    return found


def flops(net: Net) -> int:
    """Of the convolutions and inner products of a pass: of TEST once, of TRAIN for y, ∂W and ∂x."""
    total = 0
    for facts in layer_facts(net):
        if facts.type in PRODUCTS:
            passes = 1
            if net.layer_need_backward[facts.index] and net.phase != TEST:
                passes = 2 + any(net.bottom_need_backward[facts.index])
            total += passes * facts.flops
    return total


if __name__ == "__main__":
    serve(Ours(sys.argv[2]))

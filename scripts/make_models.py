"""Write train_val.prototxt and deploy.prototxt of the models that a few rules describe.

    python scripts/make_models.py                     # all of them
    python scripts/make_models.py vgg16 vgg19         # some
    python scripts/make_models.py --check             # fail if the committed files differ

A family is a function: it adds the layers between data and scores to a NetSpec and returns the
scores.  What comes before and after is in ``train_val`` and ``deploy``; MODELS at the end puts all
together.  Layer names are those of the published weights, which are loaded by them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from pycaffe_dist.proto.caffe_pb2 import TEST, TRAIN, LayerParameter, NetParameter
from pycaffe_dist.pycaffe.net_spec import NetSpec, Top, params
from pycaffe_dist.pycaffe.net_spec import layers as L

ROOT = Path(__file__).resolve().parent.parent
WIDTH = 100  # a message that fits is written on one line

MAX, AVE = params.Pooling.MAX, params.Pooling.AVE
LMDB = params.Data.LMDB
XAVIER = {"type": "xavier"}
MSRA = {"type": "msra"}
FILLERS = {"weight_filler", "bias_filler", "scale_filler", "shift_filler", "slope_filler"}
# Biases learn twice as fast and do not decay.
BIASED = [{"lr_mult": 1, "decay_mult": 1}, {"lr_mult": 2, "decay_mult": 0}]
DOUBLE = [{"lr_mult": 1}, {"lr_mult": 2}]

Family = Callable[[NetSpec, Top], Top]


# -- one layer, named ------------------------------------------------------------------------------


def gaussian(std: float) -> dict[str, Any]:
    return {"type": "gaussian", "std": std}


def constant(value: float = 0) -> dict[str, Any]:
    return {"type": "constant", "value": value} if value else {"type": "constant"}


def add(n: NetSpec, name: str, top: Top) -> Top:
    n[name] = top
    return top


def add_all(n: NetSpec, names: Sequence[str], tops: Any) -> None:
    """The tops of one layer; a single one is no tuple."""
    for name, top in zip(names, tops if len(names) > 1 else [tops], strict=True):
        n[name] = top


def conv(n: NetSpec, name: str, x: Top, num_output: int, kernel_size: int, /, **more: Any) -> Top:
    usual = {"stride": 1, "pad": 0, "group": 1}
    more = {key: value for key, value in more.items() if key not in usual or value != usual[key]}
    return add(n, name, L.Convolution(x, num_output=num_output, kernel_size=kernel_size, **more))


def inner(n: NetSpec, name: str, x: Top, num_output: int, **more: Any) -> Top:
    return add(n, name, L.InnerProduct(x, num_output=num_output, **more))


def pool(
    n: NetSpec, name: str, x: Top, how: int, kernel_size: int, stride: int, **more: Any
) -> Top:
    return add(n, name, L.Pooling(x, pool=how, kernel_size=kernel_size, stride=stride, **more))


def global_average(n: NetSpec, name: str, x: Top) -> Top:
    return add(n, name, L.Pooling(x, pool=AVE, global_pooling=True))


def relu(n: NetSpec, name: str, x: Top) -> Top:
    return add(n, name, L.ReLU(x, in_place=True))


def dropout(n: NetSpec, name: str, x: Top, ratio: float = 0.5) -> Top:
    return add(n, name, L.Dropout(x, dropout_ratio=ratio, in_place=True))


def normalise(n: NetSpec, bn: str, scale: str, x: Top, *, in_place: bool = True) -> Top:
    """BatchNorm, which has no γ and β, and Scale, which has nothing else."""
    x = add(n, bn, L.BatchNorm(x, in_place=in_place))
    return add(n, scale, L.Scale(x, bias_term=True, in_place=True))


# -- families --------------------------------------------------------------------------------------


def lenet(n: NetSpec, x: Top, suffix: str = "", *, shared: bool = False) -> Top:
    """Two convolutions, two inner products; twice in one net if they are ``shared``."""
    fill = {"weight_filler": XAVIER, "bias_filler": constant()}

    def learned(name: str) -> list[dict[str, Any]]:
        if not shared:
            return DOUBLE
        return [{"name": f"{name}_{i}", **spec} for i, spec in zip("wb", DOUBLE, strict=True)]

    for i, num_output in (1, 20), (2, 50):
        x = conv(n, f"conv{i}{suffix}", x, num_output, 5, param=learned(f"conv{i}"), **fill)
        x = pool(n, f"pool{i}{suffix}", x, MAX, 2, 2)
    x = inner(n, f"ip1{suffix}", x, 500, param=learned("ip1"), **fill)
    x = relu(n, f"relu1{suffix}", x)
    x = inner(n, f"ip2{suffix}", x, 10, param=learned("ip2"), **fill)
    if shared:
        x = inner(n, f"feat{suffix}", x, 2, param=learned("feat"), **fill)
    return x


def cifar10(n: NetSpec, x: Top, *, full: bool) -> Top:
    """Three 5x5 convolutions; the full net has LRN besides, the quick one an inner product more."""
    for i, num_output in (1, 32), (2, 32), (3, 64):
        # The full net's third convolution learns at lr_mult 1 throughout, as it was published.
        rates = {} if full and i == 3 else {"param": DOUBLE}
        std = 0.0001 if i == 1 else 0.01
        fill = {"weight_filler": gaussian(std), "bias_filler": constant()}
        x = conv(n, f"conv{i}", x, num_output, 5, pad=2, **rates, **fill)
        if i == 1:
            x = relu(n, "relu1", pool(n, "pool1", x, MAX, 3, 2))
        else:
            x = pool(n, f"pool{i}", relu(n, f"relu{i}", x), AVE, 3, 2)
        if full and i < 3:
            within = params.LRN.WITHIN_CHANNEL
            lrn = L.LRN(x, local_size=3, alpha=5e-5, beta=0.75, norm_region=within)
            x = add(n, f"norm{i}", lrn)
    if full:
        rates = [{"lr_mult": 1, "decay_mult": 250}, {"lr_mult": 2, "decay_mult": 0}]
        fill = {"weight_filler": gaussian(0.01), "bias_filler": constant()}
        return inner(n, "ip1", x, 10, param=rates, **fill)
    fill = {"weight_filler": gaussian(0.1), "bias_filler": constant()}
    x = inner(n, "ip1", x, 64, param=DOUBLE, **fill)
    return inner(n, "ip2", x, 10, param=DOUBLE, **fill)


@dataclass(frozen=True)
class AlexNet:
    """Krizhevsky's net in Caffe's two forms, and with another last layer."""

    pool_first: bool  # CaffeNet pools before it normalises, AlexNet after
    bias: float  # where biases do not begin at 0
    last: str = "fc8"
    classes: int = 1000
    rate: float = 1  # of the last layer, against the others

    def __call__(self, n: NetSpec, x: Top) -> Top:
        # number, outputs, kernel, stride, pad, group
        for i, num_output, kernel, stride, pad, group in (
            (1, 96, 11, 4, 0, 1),
            (2, 256, 5, 1, 2, 2),
            (3, 384, 3, 1, 1, 1),
            (4, 384, 3, 1, 1, 2),
            (5, 256, 3, 1, 1, 2),
        ):
            fill = self._fill(0.01, self.bias if group > 1 else 0)
            x = conv(
                n, f"conv{i}", x, num_output, kernel,
                stride=stride, pad=pad, group=group, param=BIASED, **fill,
            )  # fmt: skip
            x = relu(n, f"relu{i}", x)
            if i in (1, 2):
                x = self._pool_and_norm(n, i, x)
        x = pool(n, "pool5", x, MAX, 3, 2)
        for i in 6, 7:
            x = inner(n, f"fc{i}", x, 4096, param=BIASED, **self._fill(0.005, self.bias))
            x = dropout(n, f"drop{i}", relu(n, f"relu{i}", x))
        rates = [{**spec, "lr_mult": spec["lr_mult"] * self.rate} for spec in BIASED]
        return inner(n, self.last, x, self.classes, param=rates, **self._fill(0.01, 0))

    def _fill(self, std: float, bias: float) -> dict[str, Any]:
        return {"weight_filler": gaussian(std), "bias_filler": constant(bias)}

    def _pool_and_norm(self, n: NetSpec, i: int, x: Top) -> Top:
        def norm(x: Top) -> Top:
            return add(n, f"norm{i}", L.LRN(x, local_size=5, alpha=0.0001, beta=0.75))

        def pooled(x: Top) -> Top:
            return pool(n, f"pool{i}", x, MAX, 3, 2)

        return norm(pooled(x)) if self.pool_first else pooled(norm(x))


@dataclass(frozen=True)
class VGG:
    """Blocks of 3x3 convolutions, each block half as large as the one before."""

    depths: Sequence[int]
    classes: int = 1000

    def __call__(self, n: NetSpec, x: Top) -> Top:
        fill = {"weight_filler": XAVIER, "bias_filler": constant()}
        widths = (64, 128, 256, 512, 512)
        for block, (depth, width) in enumerate(zip(self.depths, widths, strict=True), 1):
            for i in range(1, depth + 1):
                x = conv(n, f"conv{block}_{i}", x, width, 3, pad=1, param=BIASED, **fill)
                x = relu(n, f"relu{block}_{i}", x)
            x = pool(n, f"pool{block}", x, MAX, 2, 2)
        for i in 6, 7:
            x = inner(n, f"fc{i}", x, 4096, param=BIASED, **fill)
            x = dropout(n, f"drop{i}", relu(n, f"relu{i}", x))
        return inner(n, "fc8", x, self.classes, param=BIASED, **fill)


def googlenet(n: NetSpec, x: Top, *, heads: Callable[[NetSpec, int, Top], None]) -> Top:
    """Nine inception modules; ``heads`` are called with the places where the side heads go."""
    fill = {"param": BIASED, "weight_filler": XAVIER, "bias_filler": constant(0.2)}

    def step(name: str, x: Top, num_output: int, kernel: int, stride: int = 1) -> Top:
        block, kind = name.split("/")
        x = conv(n, name, x, num_output, kernel, stride=stride, pad=kernel // 2, **fill)
        return relu(n, f"{block}/relu_{kind.removesuffix('_s2')}", x)

    def halved(name: str, x: Top) -> Top:
        return pool(n, f"{name}/3x3_s2", x, MAX, 3, 2)

    def inception(name: str, x: Top, widths: str) -> Top:
        """``1x1, 3x3 reduced, 3x3, 5x5 reduced, 5x5, pooled``, a row of the paper's table."""
        one, three_in, three, five_in, five, pooled = (int(w) for w in widths.split())
        name = f"inception_{name}"
        branches = [step(f"{name}/1x1", x, one, 1)]
        branches.append(step(f"{name}/3x3", step(f"{name}/3x3_reduce", x, three_in, 1), three, 3))
        branches.append(step(f"{name}/5x5", step(f"{name}/5x5_reduce", x, five_in, 1), five, 5))
        around = pool(n, f"{name}/pool", x, MAX, 3, 1, pad=1)
        branches.append(step(f"{name}/pool_proj", around, pooled, 1))
        return add(n, f"{name}/output", L.Concat(*branches))

    def norm(name: str, x: Top) -> Top:
        return add(n, name, L.LRN(x, local_size=5, alpha=0.0001, beta=0.75))

    x = norm("pool1/norm1", halved("pool1", step("conv1/7x7_s2", x, 64, 7, 2)))
    x = step("conv2/3x3", step("conv2/3x3_reduce", x, 64, 1), 192, 3)
    x = halved("pool2", norm("conv2/norm2", x))
    x = inception("3a", x, "64 96 128 16 32 32")
    x = inception("3b", x, "128 128 192 32 96 64")
    x = halved("pool3", x)
    x = inception("4a", x, "192 96 208 16 48 64")
    heads(n, 1, x)
    x = inception("4b", x, "160 112 224 24 64 64")
    x = inception("4c", x, "128 128 256 24 64 64")
    x = inception("4d", x, "112 144 288 32 64 64")
    heads(n, 2, x)
    x = inception("4e", x, "256 160 320 32 128 128")
    x = halved("pool4", x)
    x = inception("5a", x, "256 160 320 32 128 128")
    x = inception("5b", x, "384 192 384 48 128 128")
    x = dropout(n, "pool5/drop_7x7_s1", pool(n, "pool5/7x7_s1", x, AVE, 7, 1), 0.4)
    fill["bias_filler"] = constant()
    return inner(n, "loss3/classifier", x, 1000, **fill)


def googlenet_head(n: NetSpec, number: int, x: Top) -> None:
    """A classifier on the way, whose loss counts 0.3 in training."""
    name = f"loss{number}"
    fill = {"param": BIASED, "weight_filler": XAVIER, "bias_filler": constant(0.2)}
    x = pool(n, f"{name}/ave_pool", x, AVE, 5, 3)
    x = relu(n, f"{name}/relu_conv", conv(n, f"{name}/conv", x, 128, 1, **fill))
    x = relu(n, f"{name}/relu_fc", inner(n, f"{name}/fc", x, 1024, **fill))
    x = dropout(n, f"{name}/drop_fc", x, 0.7)
    fill["bias_filler"] = constant()
    x = inner(n, f"{name}/classifier", x, 1000, **fill)
    n[f"{name}/loss1"] = L.SoftmaxWithLoss(x, n.label, name=f"{name}/loss", loss_weight=0.3)
    googlenet_accuracy(n, name, x)


def googlenet_accuracy(n: NetSpec, name: str, scores: Top) -> None:
    n[f"{name}/top-1"] = accuracy(scores, n.label)
    n[f"{name}/top-5"] = accuracy(scores, n.label, top_k=5)


def nin(n: NetSpec, x: Top) -> Top:
    """A convolution, then two 1x1 convolutions ("cccp") that mix its channels; four times."""
    relus = iter(["relu0", *(f"relu{i}" for i in (1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12))])

    def step(name: str, x: Top, num_output: int, kernel: int, std: float, **more: Any) -> Top:
        top, _, suffix = name.partition("-")
        if suffix:  # the last three layers are not named as their tops
            more["name"] = name
        fill = {"weight_filler": gaussian(std), "bias_filler": constant()}
        x = conv(n, top, x, num_output, kernel, param=BIASED, **fill, **more)
        return relu(n, next(relus), x)

    x = step("conv1", x, 96, 11, 0.01, stride=4)
    x = step("cccp2", step("cccp1", x, 96, 1, 0.05), 96, 1, 0.05)
    x = pool(n, "pool0", x, MAX, 3, 2)
    x = step("conv2", x, 256, 5, 0.05, pad=2)
    x = step("cccp4", step("cccp3", x, 256, 1, 0.05), 256, 1, 0.05)
    x = pool(n, "pool2", x, MAX, 3, 2)
    x = step("conv3", x, 384, 3, 0.01, pad=1)
    x = step("cccp6", step("cccp5", x, 384, 1, 0.05), 384, 1, 0.05)
    x = dropout(n, "drop", pool(n, "pool3", x, MAX, 3, 2))
    x = step("conv4-1024", x, 1024, 3, 0.05, pad=1)
    x = step("cccp8-1024", step("cccp7-1024", x, 1024, 1, 0.05), 1000, 1, 0.01)
    return pool(n, "pool4", x, AVE, 6, 1)


def squeezenet(n: NetSpec, x: Top) -> Top:
    """Fire modules: few 1x1 convolutions squeeze, 1x1 and 3x3 ones expand."""

    def step(name: str, relu_name: str, x: Top, num_output: int, kernel: int, **more: Any) -> Top:
        more = {"weight_filler": XAVIER, **more}
        return relu(n, relu_name, conv(n, name, x, num_output, kernel, **more))

    def fire(i: int, x: Top, squeezed: int) -> Top:
        def part(name: str, x: Top, num_output: int, kernel: int, pad: int = 0) -> Top:
            return step(f"fire{i}/{name}", f"fire{i}/relu_{name}", x, num_output, kernel, pad=pad)

        x = part("squeeze1x1", x, squeezed, 1)
        expanded = 4 * squeezed
        sides = part("expand1x1", x, expanded, 1), part("expand3x3", x, expanded, 3, 1)
        return add(n, f"fire{i}/concat", L.Concat(*sides))

    x = step("conv1", "relu_conv1", x, 64, 3, stride=2)
    x = pool(n, "pool1", x, MAX, 3, 2)
    x = pool(n, "pool3", fire(3, fire(2, x, 16), 16), MAX, 3, 2)
    x = pool(n, "pool5", fire(5, fire(4, x, 32), 32), MAX, 3, 2)
    x = fire(7, fire(6, x, 48), 48)
    x = fire(9, fire(8, x, 64), 64)
    x = dropout(n, "drop9", x)
    x = step("conv10", "relu_conv10", x, 1000, 1, weight_filler=gaussian(0.01))
    return global_average(n, "pool10", x)


def resnet20(n: NetSpec, x: Top) -> Top:
    """The 6n+2 layers for CIFAR-10, n = 3: blocks of two 3x3 convolutions in three widths."""

    def step(name: str, bn: str, scale: str, x: Top, *shape: int, stride: int = 1) -> Top:
        width, kernel = shape
        x = conv(
            n, name, x, width, kernel, stride=stride, pad=kernel // 2,
            param=BIASED, weight_filler=MSRA, bias_filler=constant(),
        )  # fmt: skip
        return normalise(n, bn, scale, x)

    x = relu(n, "conv1/ReLU", step("conv1", "conv1/bn", "conv1/scale", x, 16, 3))
    for stage, width in (2, 16), (3, 32), (4, 64):
        for block in 1, 2, 3:
            name = f"conv{stage}_{block}"
            stride = 2 if (stage > 2 and block == 1) else 1
            y = step(f"{name}_0", f"{name}_bn0", f"{name}_scale0", x, width, 3, stride=stride)
            y = relu(n, f"{name}_ReLU0", y)
            y = step(f"{name}_1", f"{name}bn1", f"{name}_scale1", y, width, 3)
            if stride > 1:
                down = [f"{name}_{part}" for part in ("down", "bn_down", "scale_down")]
                x = step(*down, x, width, 1, stride=stride)
            x = add(n, f"conv{stage}_Eltwise_{block}", L.Eltwise(x, y))
            x = relu(n, f"{name}ReLU_1", x)
    x = global_average(n, "Pooling1", x)
    return inner(n, "fc1", x, 10, param=BIASED, weight_filler=MSRA, bias_filler=constant())


@dataclass(frozen=True)
class ResNet:
    """He's nets for ImageNet: blocks of 1x1, 3x3 and 1x1 convolutions around a shortcut."""

    depths: Sequence[int]
    bias: bool  # the first convolution of the published ResNet-50 has one, those of the others not

    def __call__(self, n: NetSpec, x: Top) -> Top:
        bias = {"bias_filler": constant()} if self.bias else {"bias_term": False}
        x = conv(n, "conv1", x, 64, 7, stride=2, pad=3, weight_filler=MSRA, **bias)
        x = relu(n, "conv1_relu", normalise(n, "bn_conv1", "scale_conv1", x))
        x = pool(n, "pool1", x, MAX, 3, 2)
        for stage, depth in enumerate(self.depths, 2):
            for block, name in enumerate(self._block_names(depth)):
                stride = 2 if (stage > 2 and block == 0) else 1
                x = self._block(n, f"{stage}{name}", x, 2 ** (stage + 4), stride, block == 0)
        x = pool(n, "pool5", x, AVE, 7, 1)
        return inner(n, "fc1000", x, 1000, weight_filler=MSRA, bias_filler=constant())

    def _block_names(self, depth: int) -> list[str]:
        """Letters while every stage of the net is short, else a, b1, b2, ..."""
        if depth == 3 or max(self.depths) < 8:
            return list("abcdef"[:depth])
        return ["a", *(f"b{i}" for i in range(1, depth))]

    def _block(self, n: NetSpec, name: str, x: Top, width: int, stride: int, project: bool) -> Top:
        def step(branch: str, x: Top, num_output: int, kernel: int, stride: int = 1) -> Top:
            full = f"{name}_{branch}"
            x = conv(
                n, f"res{full}", x, num_output, kernel, stride=stride, pad=kernel // 2,
                bias_term=False, weight_filler=MSRA,
            )  # fmt: skip
            return normalise(n, f"bn{full}", f"scale{full}", x)

        shortcut = step("branch1", x, 4 * width, 1, stride) if project else x
        y = relu(n, f"res{name}_branch2a_relu", step("branch2a", x, width, 1, stride))
        y = relu(n, f"res{name}_branch2b_relu", step("branch2b", y, width, 3))
        y = step("branch2c", y, 4 * width, 1)
        return relu(n, f"res{name}_relu", add(n, f"res{name}", L.Eltwise(shortcut, y)))


def mobilenet(n: NetSpec, x: Top) -> Top:
    """Depthwise 3x3 convolutions (a group for each channel), each before a 1x1 convolution."""

    def step(name: str, x: Top, num_output: int, kernel: int, **more: Any) -> Top:
        fill = {"bias_term": False, "weight_filler": MSRA, "param": [{"lr_mult": 1}]}
        x = conv(n, name, x, num_output, kernel, pad=kernel // 2, **fill, **more)
        x = normalise(n, f"{name}/bn", f"{name}/scale", x, in_place=False)
        return relu(n, name.replace("conv", "relu"), x)

    x = step("conv1", x, 32, 3, stride=2)
    width = 32
    for name, num_output, stride in (
        ("2_1", 64, 1), ("2_2", 128, 2),
        ("3_1", 128, 1), ("3_2", 256, 2),
        ("4_1", 256, 1), ("4_2", 512, 2),
        *((f"5_{i}", 512, 1) for i in range(1, 6)), ("5_6", 1024, 2),
        ("6", 1024, 1),
    ):  # fmt: skip
        x = step(f"conv{name}/dw", x, width, 3, stride=stride, group=width)
        x = step(f"conv{name}/sep", x, num_output, 1)
        width = num_output
    x = global_average(n, "pool6", x)
    return conv(n, "fc7", x, 1000, 1, param=BIASED, weight_filler=MSRA, bias_filler=constant())


@dataclass(frozen=True)
class DenseNet:
    """Every layer of a block reads the outputs of all before it: concatenation, not addition."""

    depths: Sequence[int]
    growth: int = 32

    def __call__(self, n: NetSpec, x: Top) -> Top:
        width = 2 * self.growth
        x = self._conv(n, "conv1", x, width, 7, stride=2)
        x = self._activate(n, "conv1", "relu1", x)
        # Caffe rounds up, the published net rounds down.
        x = pool(n, "pool1", x, MAX, 3, 2, pad=1, round_mode=params.Pooling.FLOOR)
        for stage, depth in enumerate(self.depths, 2):
            for i in range(1, depth + 1):
                x = self._layer(n, f"{stage}_{i}", x)
            width += depth * self.growth
            x = self._activate(n, f"conv{stage}_blk", f"relu{stage}_blk", x)
            if stage - 1 < len(self.depths):
                width //= 2
                x = self._conv(n, f"conv{stage}_blk", x, width, 1)
                x = pool(n, f"pool{stage}", x, AVE, 2, 2)
        last = len(self.depths) + 1
        x = global_average(n, f"pool{last}", x)
        fill = {"weight_filler": MSRA, "bias_filler": constant()}
        return conv(n, f"fc{last + 1}", x, 1000, 1, param=BIASED, **fill)

    def _layer(self, n: NetSpec, name: str, x: Top) -> Top:
        y = x
        for part, num_output, kernel in ("x1", 4 * self.growth, 1), ("x2", self.growth, 3):
            y = self._activate(n, f"conv{name}/{part}", f"relu{name}/{part}", y)
            y = self._conv(n, f"conv{name}/{part}", y, num_output, kernel)
        return add(n, f"concat_{name}", L.Concat(x, y))

    def _activate(self, n: NetSpec, name: str, relu_name: str, x: Top) -> Top:
        return relu(n, relu_name, normalise(n, f"{name}/bn", f"{name}/scale", x, in_place=False))

    def _conv(self, n: NetSpec, name: str, x: Top, width: int, kernel: int, **more: Any) -> Top:
        more = {"pad": kernel // 2, "bias_term": False, "weight_filler": MSRA, **more}
        return conv(n, name, x, width, kernel, **more)


def autoencoder(n: NetSpec, x: Top) -> Top:
    """784 pixels through 30 numbers and back; the scores are the logits of the pixels."""
    rates = [{"lr_mult": 1, "decay_mult": 1}, {"lr_mult": 1, "decay_mult": 0}]
    # Every unit begins with 15 inputs.
    sparse = {"type": "gaussian", "std": 1, "sparse": 15}

    def code(name: str, x: Top, num_output: int) -> Top:
        return inner(
            n, name, x, num_output, param=rates, weight_filler=sparse, bias_filler=constant()
        )

    for i, width in (1, 1000), (2, 500), (3, 250):
        x = add(n, f"encode{i}neuron", L.Sigmoid(code(f"encode{i}", x, width)))
    x = code("encode4", x, 30)
    for i, width in (4, 250), (3, 500), (2, 1000):
        x = add(n, f"decode{i}neuron", L.Sigmoid(code(f"decode{i}", x, width)))
    return code("decode1", x, 784)


# -- before and after ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Source:
    """Where training and testing take their images from, and what is done to them."""

    train: str
    test: str
    batch: int
    test_batch: int
    transform: dict[str, Any] = field(default_factory=dict)
    train_transform: dict[str, Any] = field(default_factory=dict)
    test_transform: dict[str, Any] = field(default_factory=dict)
    name: str = "data"
    tops: Sequence[str] = ("data", "label")

    def layer(self, phase: int, stage: str = "", source: str = "") -> LayerParameter:
        n = NetSpec()
        given = self.train if phase == TRAIN else self.test
        batch = self.batch if phase == TRAIN else self.test_batch
        changes = self.train_transform if phase == TRAIN else self.test_transform
        include = {"phase": phase, "stage": stage} if stage else {"phase": phase}
        tops = self._tops(
            source or given,
            batch,
            name=self.name,
            ntop=len(self.tops),
            include=include,
            transform_param={**changes, **self.transform},
        )
        add_all(n, self.tops, tops)
        return n.to_proto().layer[0]

    def _tops(self, source: str, batch: int, **more: Any) -> Any:
        return L.Data(source=source, batch_size=batch, backend=LMDB, **more)


class ImageList(Source):
    """Image files named in a list, made 256 by 256."""

    def _tops(self, source: str, batch: int, **more: Any) -> Any:
        return L.ImageData(source=source, batch_size=batch, new_height=256, new_width=256, **more)


def accuracy(scores: Top, label: Top, **more: Any) -> Top:
    return L.Accuracy(scores, label, include={"phase": TEST}, **more)


def classify(n: NetSpec, scores: Top) -> None:
    n.accuracy = accuracy(scores, n.label)
    n.loss = L.SoftmaxWithLoss(scores, n.label)


def classify_top5(n: NetSpec, scores: Top) -> None:
    n.accuracy = accuracy(scores, n.label)
    n.accuracy_top5 = accuracy(scores, n.label, top_k=5)
    n.loss = L.SoftmaxWithLoss(scores, n.label)


def probabilities(n: NetSpec, scores: Top) -> None:
    n.prob = L.Softmax(scores)


def nothing(n: NetSpec, scores: Top) -> None:
    """The scores themselves are what is wanted."""


def googlenet_loss(n: NetSpec, scores: Top) -> None:
    n["loss3/loss3"] = L.SoftmaxWithLoss(scores, n.label, loss_weight=1)
    googlenet_accuracy(n, "loss3", scores)


def autoencoder_losses(n: NetSpec, scores: Top) -> None:
    n.flatdata = L.Flatten(n.data)
    n.cross_entropy_loss = L.SigmoidCrossEntropyLoss(scores, n.flatdata, loss_weight=1)
    n.decode1neuron = L.Sigmoid(scores)
    n.l2_error = L.EuclideanLoss(n.decode1neuron, n.flatdata, loss_weight=0)


def reconstruction(n: NetSpec, scores: Top) -> None:
    n.decode1neuron = L.Sigmoid(scores)


def siamese(n: NetSpec, pairs: Top) -> Top:
    """Two LeNets with the same parameters, one for each image of a pair."""
    n.data, n.data_p = L.Slice(pairs, ntop=2, name="slice_pair", axis=1, slice_point=1)
    lenet(n, n.data, shared=True)
    return lenet(n, n.data_p, "_p", shared=True)


def contrast(n: NetSpec, scores: Top) -> None:
    n.loss = L.ContrastiveLoss(n.feat, n.feat_p, n.sim, margin=1)


# -- nets ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Model:
    """A folder of models/: what its two nets are made of."""

    folder: str
    name: str
    about: str  # the first lines of both files
    family: Family
    input: Sequence[int]  # of deploy
    source: Source | None  # None: there is only deploy
    ending: Callable[[NetSpec, Top], None] = classify_top5
    deploy_ending: Callable[[NetSpec, Top], None] = probabilities
    deploy_family: Family | None = None
    output: str = 'class probabilities in "prob"'  # of deploy
    script: str = "scripts/make_models.py"

    def files(self) -> dict[Path, str]:
        """The text of each file, by its path."""
        folder = ROOT / "models" / self.folder
        texts = {folder / "deploy.prototxt": self._text(self.deploy(), f"Out: {self.output}.")}
        if self.source:
            texts[folder / "train_val.prototxt"] = self._text(self.train_val())
        return texts

    def train_val(self) -> NetParameter:
        assert self.source
        n = NetSpec()
        # Stands for both data layers, which have the same tops.
        add_all(n, self.source.tops, L.DummyData(ntop=len(self.source.tops)))
        self.ending(n, self.family(n, n[self.source.tops[0]]))
        return NetParameter(name=self.name, layer=[*self.data_layers(), *n.to_proto().layer[1:]])

    def data_layers(self) -> list[LayerParameter]:
        assert self.source
        return [self.source.layer(TRAIN), self.source.layer(TEST)]

    def deploy(self) -> NetParameter:
        """The net without what only training needs: labels, losses, rates, fillers."""
        n = NetSpec()
        n.data = L.Input(shape={"dim": list(self.input)})
        self.deploy_ending(n, (self.deploy_family or self.family)(n, n.data))
        net = n.to_proto()
        net.name = self.name
        for layer in net.layer:
            layer.ClearField("param")
            for message in [value for kind, value in layer.ListFields() if kind.message_type]:
                for part in FILLERS & {kind.name for kind, _ in fields_of(message)}:
                    message.ClearField(part)
        return net

    def _text(self, net: NetParameter, *more: str) -> str:
        about = [*self.about.splitlines(), *more, f"Written by {self.script}."]
        return "\n".join([*(f"# {line}" for line in about), *written(net)]) + "\n"


class Autoencoder(Model):
    """Tested on the training images and on the test images, which a stage chooses."""

    def data_layers(self) -> list[LayerParameter]:
        assert self.source
        return [
            self.source.layer(TRAIN),
            self.source.layer(TEST, "test-on-train", self.source.train),
            self.source.layer(TEST, "test-on-test"),
        ]


def fields_of(message: Any) -> list[Any]:
    """The fields that are set; of a list of messages none."""
    return list(message.ListFields()) if hasattr(message, "ListFields") else []


# -- text ------------------------------------------------------------------------------------------


def written(message: Any, indent: str = "") -> list[str]:
    """The fields of a message as lines of text; a message inside it takes one line if it fits."""
    lines = []
    for descriptor, value in message.ListFields():
        repeated = hasattr(value, "append") or hasattr(value, "add")
        for item in value if repeated else [value]:
            if descriptor.message_type is None:
                lines.append(f"{indent}{descriptor.name}: {scalar(descriptor, item)}")
                continue
            inside = written(item)
            line = f"{indent}{descriptor.name} {{ {' '.join(map(str.strip, inside))} }}"
            if len(line) > WIDTH:
                lines += [f"{indent}{descriptor.name} {{", *written(item, indent + "  ")]
                line = f"{indent}}}"
            lines.append(line)
    return lines


def scalar(descriptor: Any, value: Any) -> str:
    if descriptor.enum_type is not None:
        return str(descriptor.enum_type.values_by_number[value].name)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):  # 0.0001 and not the double that is nearest to its float
        return np.format_float_positional(np.float32(value), trim="-")
    return f'"{value}"' if isinstance(value, str) else str(value)


# -- the models ------------------------------------------------------------------------------------

TO_ONE = {"scale": 1 / 256}
MEAN_IMAGE = {"mean_file": "data/ilsvrc12/imagenet_mean.binaryproto"}
MEAN_COLOUR = {"mean_value": [104, 117, 123]}  # blue, green, red
VGG_COLOUR = {"mean_value": [103.939, 116.779, 123.68]}
SCALED_COLOUR = {"scale": 0.017, "mean_value": [103.94, 116.78, 123.68]}


def mnist(transform: dict[str, Any], batch: int = 64, **more: Any) -> Source:
    source = "data/mnist/mnist_{}_lmdb".format
    return Source(source("train"), source("test"), batch, 100, transform, **more)


def cifar(transform: dict[str, Any]) -> Source:
    source = "data/cifar10/cifar10_{}_lmdb".format
    return Source(source("train"), source("test"), 100, 100, transform, name="cifar")


def imagenet(
    transform: dict[str, Any],
    crop: int,
    batch: int,
    *,
    folder: str = "ilsvrc12",
    mirror: bool = True,
) -> Source:
    source = f"data/{folder}/{folder}_{{}}_lmdb".format
    return Source(
        source("train"),
        source("val"),
        batch,
        50,
        {"crop_size": crop, **transform},
        train_transform={"mirror": True} if mirror else {},
        test_transform={"mirror": False} if mirror else {},
    )


def flickr(batch: int) -> Source:
    source = "data/flickr_style/{}.txt".format
    return ImageList(
        source("train"),
        source("test"),
        batch,
        50,
        {"crop_size": 227, **MEAN_IMAGE},
        train_transform={"mirror": True},
        test_transform={"mirror": False},
    )


def padded_cifar() -> Source:
    return Source(
        "data/cifar10/cifar10_padded_train_lmdb",
        "data/cifar10/cifar10_test_lmdb",
        128,
        100,
        {**TO_ONE, "crop_size": 32, "mean_value": [125.3, 122.9, 113.8]},  # red, green, blue
        train_transform={"mirror": True},
        test_transform={"mirror": False},
    )


MODELS: list[Model] = [
    Model(
        "lenet",
        "LeNet",
        "LeNet on MNIST, as Caffe's first example has it.",
        lenet,
        (64, 1, 28, 28),
        mnist(TO_ONE, name="mnist"),
        classify,
    ),
    Autoencoder(
        "mnist_autoencoder",
        "MNISTAutoencoder",
        "Hinton and Salakhutdinov's autoencoder of MNIST: 784-1000-500-250-30 and back.",
        autoencoder,
        (100, 1, 28, 28),
        mnist({"scale": 0.0039215684}, 100, tops=("data",)),
        autoencoder_losses,
        reconstruction,
        output='the pixels again, 0 to 1, in "decode1neuron"; the code in "encode4"',
    ),
    Model(
        "mnist_siamese",
        "mnist_siamese",
        "Two LeNets that share their parameters learn a plane in which equal digits lie together.",
        siamese,
        (64, 1, 28, 28),
        Source(
            "data/mnist/mnist_siamese_train_lmdb",
            "data/mnist/mnist_siamese_test_lmdb",
            64,
            100,
            TO_ONE,
            name="pair_data",
            tops=("pair_data", "sim"),
        ),
        contrast,
        nothing,
        deploy_family=lambda n, x: lenet(n, x, shared=True),
        output='a point of the plane for each image in "feat"',
    ),
    Model(
        "cifar10_quick",
        "CIFAR10_quick",
        "Caffe's quick net for CIFAR-10.",
        lambda n, x: cifar10(n, x, full=False),
        (1, 3, 32, 32),
        cifar({"mean_file": "data/cifar10/mean.binaryproto"}),
        classify,
    ),
    Model(
        "cifar10_full",
        "CIFAR10_full",
        "Caffe's full net for CIFAR-10.",
        lambda n, x: cifar10(n, x, full=True),
        (1, 3, 32, 32),
        cifar({"mean_file": "data/cifar10/mean.binaryproto"}),
        classify,
    ),
    Model(
        "resnet20_cifar",
        "ResNet-20",
        "ResNet-20 for CIFAR-10, shortcuts that change their width by a 1x1 convolution.\n"
        "Trained on 32x32 crops of images with a margin of 4.",
        resnet20,
        (1, 3, 32, 32),
        padded_cifar(),
        classify,
    ),
    Model(
        "bvlc_alexnet",
        "AlexNet",
        "AlexNet as BVLC trained it.",
        AlexNet(pool_first=False, bias=0.1),
        (10, 3, 227, 227),
        imagenet(MEAN_IMAGE, 227, 256),
        classify,
    ),
    Model(
        "bvlc_reference_caffenet",
        "CaffeNet",
        "CaffeNet: AlexNet with pooling before normalisation.",
        AlexNet(pool_first=True, bias=1),
        (10, 3, 227, 227),
        imagenet(MEAN_IMAGE, 227, 256),
        classify,
    ),
    Model(
        "bvlc_reference_rcnn_ilsvrc13",
        "R-CNN-ilsvrc13",
        "R-CNN's detector for the 200 classes of ILSVRC13: CaffeNet whose last layer are its SVMs.",
        AlexNet(pool_first=True, bias=1, last="fc-rcnn", classes=200),
        (10, 3, 227, 227),
        None,
        deploy_ending=nothing,
        output='a score for each class in "fc-rcnn"',
    ),
    Model(
        "finetune_flickr_style",
        "FlickrStyleCaffeNet",
        "CaffeNet for the 20 styles of Flickr Style; the new last layer learns ten times as fast.",
        AlexNet(pool_first=True, bias=1, last="fc8_flickr", classes=20, rate=10),
        (10, 3, 227, 227),
        flickr(50),
        classify,
    ),
    Model(
        "bvlc_googlenet",
        "GoogleNet",
        "GoogLeNet (Inception v1) as BVLC trained it; training has two heads on the way.",
        lambda n, x: googlenet(n, x, heads=googlenet_head),
        (10, 3, 224, 224),
        imagenet(MEAN_COLOUR, 224, 32),
        googlenet_loss,
        deploy_family=lambda n, x: googlenet(n, x, heads=lambda n, number, x: None),
    ),
    Model(
        "vgg16",
        "VGG_ILSVRC_16_layers",
        "VGG with 16 layers (configuration D).",
        VGG((2, 2, 3, 3, 3)),
        (10, 3, 224, 224),
        imagenet(VGG_COLOUR, 224, 32),
    ),
    Model(
        "vgg19",
        "VGG_ILSVRC_19_layers",
        "VGG with 19 layers (configuration E).",
        VGG((2, 2, 4, 4, 4)),
        (10, 3, 224, 224),
        imagenet(VGG_COLOUR, 224, 32),
    ),
    Model(
        "vgg19_22k",
        "VGG19-22K",
        "VGG19 for the 21,841 classes of ImageNet-22K, the net of Poseidon's cluster figures.",
        VGG((2, 2, 4, 4, 4), classes=21841),
        (10, 3, 224, 224),
        imagenet(VGG_COLOUR, 224, 32, folder="imagenet22k"),
    ),
    Model(
        "nin",
        "nin_imagenet",
        "Network in Network for ImageNet.",
        nin,
        (10, 3, 224, 224),
        imagenet(MEAN_IMAGE, 224, 64),
    ),
    Model(
        "squeezenet_v1.1",
        "SqueezeNet_v1.1",
        "SqueezeNet 1.1: AlexNet's accuracy with a fiftieth of its parameters.",
        squeezenet,
        (10, 3, 227, 227),
        imagenet(MEAN_COLOUR, 227, 32, mirror=False),
    ),
    Model(
        "resnet50",
        "ResNet-50",
        "ResNet with 50 layers.",
        ResNet((3, 4, 6, 3), bias=True),
        (1, 3, 224, 224),
        imagenet(MEAN_COLOUR, 224, 32),
    ),
    Model(
        "resnet152",
        "ResNet-152",
        "ResNet with 152 layers.",
        ResNet((3, 8, 36, 3), bias=False),
        (1, 3, 224, 224),
        imagenet(MEAN_COLOUR, 224, 32),
    ),
    Model(
        "mobilenet_v1",
        "MOBILENET",
        "MobileNet v1, width 1.0, for images of 224.",
        mobilenet,
        (1, 3, 224, 224),
        imagenet(SCALED_COLOUR, 224, 64),
    ),
    Model(
        "densenet121",
        "DENSENET_121",
        "DenseNet with 121 layers, growth rate 32.",
        DenseNet((6, 12, 24, 16)),
        (1, 3, 224, 224),
        imagenet(SCALED_COLOUR, 224, 32),
    ),
]


def main(models: Sequence[Model] = MODELS, script: str = "scripts/make_models.py") -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", metavar="MODEL", help="all, if none is named")
    parser.add_argument("--check", action="store_true", help="write nothing, compare")
    options = parser.parse_args()
    known = {model.folder: model for model in models}
    for name in options.models:
        if name not in known:
            parser.error(f"no model {name!r} here; there are: {', '.join(known)}")
    stale = 0
    for name in options.models or known:
        for path, text in known[name].files().items():
            if path.exists() and path.read_text() == text:
                continue
            stale += 1
            if options.check:
                print(f"{path.relative_to(ROOT)} differs; run: python {script} {name}")
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
    return 1 if options.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())

"""Every implementation that can be chosen, by force, against NumPy's engine.

Which ones there are depends on the processor: the last test fails if a net of models/ is offered
one that none of the cases here has run.
"""

import weakref
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from pycaffe_dist import engines
from pycaffe_dist.engines.onednn.core.library import OneDnnError
from pycaffe_dist.engines.onednn.core.primitives import plain
from pycaffe_dist.engines.onednn.core.products import ones
from pycaffe_dist.engines.onednn.core.remembered import CHOICES
from pycaffe_dist.engines.onednn.core.weighted import Weighted
from pycaffe_dist.layer import Context
from pycaffe_dist.net import Net
from pycaffe_dist.proto.caffe_pb2 import TRAIN
from pycaffe_dist.proto.nets import read_net
from pycaffe_dist.testing.twins import Twins
from pycaffe_dist.tools.fake_data import fake_data

MODELS = Path(__file__).parents[2] / "models"
PRODUCTS = ("gather", "spread", "weights")
CONVOLUTION, INNER = "convolution_param", "inner_product_param"
CASES = {
    "3x3": ("Convolution", (4, 32, 8, 8), "num_output: 64 kernel_size: 3 pad: 1"),
    "3x3 of 16": ("Convolution", (2, 16, 9, 9), "num_output: 16 kernel_size: 3 pad: 1"),
    "3x3 without bias": (
        "Convolution",
        (2, 32, 7, 7),
        "num_output: 32 kernel_size: 3 pad: 1 bias_term: false",
    ),
    "3x3 stride 2": (
        "Convolution",
        (2, 16, 9, 9),
        "num_output: 16 kernel_size: 3 pad: 1 stride: 2",
    ),
    "1x1": ("Convolution", (2, 32, 6, 6), "num_output: 48 kernel_size: 1"),
    "1x1 stride 2": ("Convolution", (2, 32, 6, 6), "num_output: 64 kernel_size: 1 stride: 2"),
    "5x5": ("Convolution", (3, 20, 12, 12), "num_output: 50 kernel_size: 5"),
    "7x7 of an image": (
        "Convolution",
        (2, 3, 20, 20),
        "num_output: 64 kernel_size: 7 pad: 3 stride: 2",
    ),
    "11x11 of an image": (
        "Convolution",
        (2, 3, 35, 35),
        "num_output: 96 kernel_size: 11 stride: 4",
    ),
    "one channel": ("Convolution", (4, 1, 14, 14), "num_output: 20 kernel_size: 5"),
    "dilation": ("Convolution", (2, 16, 9, 9), "num_output: 16 kernel_size: 3 dilation: 2"),
    "groups": ("Convolution", (2, 32, 9, 9), "num_output: 64 kernel_size: 5 pad: 2 group: 2"),
    "depthwise": ("Convolution", (2, 32, 9, 9), "num_output: 32 kernel_size: 3 pad: 1 group: 32"),
    "depthwise stride 2": (
        "Convolution",
        (2, 32, 9, 9),
        "num_output: 32 kernel_size: 3 pad: 1 stride: 2 group: 32",
    ),
    "depthwise 5x5": (
        "Convolution",
        (1, 48, 7, 11),
        "num_output: 48 kernel_size: 5 pad: 2 group: 48",
    ),
    "depthwise of few pixels": (
        "Convolution",
        (3, 16, 4, 2),
        "num_output: 16 kernel_size: 3 pad: 2 group: 16 bias_term: false",
    ),
    "depthwise 2x2 stride 2": (
        "Convolution",
        (1, 64, 20, 19),
        "num_output: 64 kernel_size: 2 stride: 2 group: 64",
    ),
    "axis 2": ("Convolution", (2, 3, 8, 6, 6), "num_output: 8 kernel_size: 3 axis: 2"),
    "one dimension": ("Convolution", (2, 16, 20), "num_output: 16 kernel_size: 3"),
    "three dimensions": ("Convolution", (2, 8, 5, 6, 7), "num_output: 16 kernel_size: 3"),
    "deconvolution": ("Deconvolution", (2, 16, 5, 5), "num_output: 8 kernel_size: 4 stride: 2"),
    "upsampling": (
        "Deconvolution",
        (2, 16, 5, 5),
        "num_output: 16 kernel_size: 4 stride: 2 pad: 1 group: 16 bias_term: false",
    ),
    "inner product": ("InnerProduct", (3, 2, 4, 5), "num_output: 24"),
    "inner product of many": ("InnerProduct", (16, 256), "num_output: 64"),
    "odd inner product": ("InnerProduct", (3, 2, 4, 5), "num_output: 7 bias_term: false"),
    "transposed": ("InnerProduct", (3, 40), "num_output: 24 transpose: true"),
    "inner product, axis 2": ("InnerProduct", (3, 2, 4, 5), "num_output: 6 axis: 2"),
}


def text(case):
    kind, shape, param = CASES[case]
    dims = " ".join(f"dim: {d}" for d in shape)
    params = INNER if kind == "InnerProduct" else CONVOLUTION
    return f"""
        force_backward: true
        layer {{ name: "x" type: "Input" top: "x" input_param {{ shape {{ {dims} }} }} }}
        layer {{ name: "y" type: "{kind}" bottom: "x" top: "y" {params} {{ {param}
                 weight_filler {{ type: "gaussian" std: 0.3 }} bias_filler {{ value: 0.3 }} }} }}"""


def step(case):
    twins = Twins(text(case), engines.create("onednn"))
    for seed in (0, 1):  # the second adds to the gradients of the first
        twins.fill_inputs(seed)
        twins.step()
        twins.assert_same()
    return twins.net.layers[1]


@cache
def offered(case):
    """By name: the products for which it is offered."""
    layer, found = step(case), {}
    assert layer.fast
    for which, bias, _ in layer._made:
        for candidate in layer.candidates(which, bias):
            found.setdefault(candidate.name, []).append(which)
    assert {which for which, *_ in layer._made} == set(PRODUCTS)
    return found


def test_trials_share_memory_while_they_are_there():
    image, other = plain((2, 3, 4, 5)), plain((2, 3, 4, 6))
    first = ones(image, 0)
    first[...] = 7
    shared, apart = ones(image, 0) is first, ones(image, 1) is not first
    assert shared and apart and ones(other, 0).size != first.size
    gone = weakref.ref(first)
    del first
    assert gone() is None
    assert (ones(image, 0) == 1).all()


@pytest.mark.parametrize("case", CASES)
def test_each_candidate_computes_what_numpy_does(case):
    for name, products in offered(case).items():
        with CHOICES.forced(name):
            layer = step(case)
        for (which, bias, _), chosen in layer._made.items():
            if which in products and can_be_built(layer, which, bias, name):
                assert str(chosen) == f"{name}, given"


@pytest.mark.parametrize("case", CASES)
def test_what_is_named_is_what_is_built_whatever_was_built_before(case):
    layer = step(case)
    for _ in range(2):  # oneDNN's cache knows more the second time
        for which, bias, _ in layer._made:
            names = [c.name for c in layer.candidates(which, bias)]
            assert len(set(names)) == len(names)
            for candidate in layer.candidates(which, bias):
                if can_be_built(layer, which, bias, candidate.name):
                    assert candidate.build().name == candidate.name


def can_be_built(layer, which, bias, name):
    (candidate,) = (c for c in layer.candidates(which, bias) if c.name == name)
    try:
        candidate.build()
    except OneDnnError:
        return False
    return True


@pytest.mark.parametrize("case", CASES)
def test_a_trial_leaves_the_layer_as_it_was(case, monkeypatch):
    layer = step(case)
    before = [(b.data.copy(), b.diff.copy()) for b in layer.blobs]
    for which, bias, _ in layer._made:
        for candidate in layer.candidates(which, bias):
            if can_be_built(layer, which, bias, candidate.name):
                candidate.trial(candidate.build())()
    for blob, (data, diff) in zip(layer.blobs, before, strict=True):
        np.testing.assert_array_equal(blob.data, data)
        np.testing.assert_array_equal(blob.diff, diff)


def test_the_nets_of_models_are_offered_nothing_that_no_case_has_run():
    tried = {(CASES[case][0], name) for case in CASES for name in offered(case)}
    untried, seen = {}, set()
    for file in sorted(MODELS.glob("*/train_val.prototxt")):
        param = read_net(file).net
        param.state.phase = TRAIN
        net = Net(fake_data(param), Context(engine=engines.create("onednn"), dry=True))
        for i, layer in enumerate(net.layers):
            own = layer.layer_param
            alike = own.convolution_param, own.inner_product_param, layer.type
            key = str((*alike, [v.shape for v in (*net.bottoms[i], *net.tops[i])]))
            if isinstance(layer, Weighted) and key not in seen:  # nets repeat their layers
                seen.add(key)
                layer._prepare(net.bottoms[i], net.tops[i])
                for which in PRODUCTS if layer.fast else ():
                    bias = which != "spread" and layer.type != "Deconvolution"
                    for candidate in layer.candidates(which, bias and len(layer.params) > 1):
                        untried[layer.type, candidate.name] = f"{file.parent.name}: {layer.name}"
    assert untried
    assert {key: where for key, where in untried.items() if key not in tried} == {}

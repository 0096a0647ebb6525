"""Convolutions without columns, forced: they give what NumPy gives, on recorded nets and others."""

from pathlib import Path

import numpy as np
import pytest

from pycaffe_dist.engines.cupy import gemm, launch
from pycaffe_dist.engines.cupy.convolution import choice, columns, implicit, winograd
from pycaffe_dist.engines.cupy.convolution.case import Case, Direction
from pycaffe_dist.layers.windows import Windows
from pycaffe_dist.testing import emulation
from pycaffe_dist.testing.gpu import emulated
from pycaffe_dist.testing.twins import Twins

RECORDED = Path(__file__).parents[1] / "golden" / "layers"
NETS = sorted([*RECORDED.glob("conv*.prototxt"), *RECORDED.glob("deconv*.prototxt")])
NOT_IMPLICIT = {"conv_1x1", "conv_3d"}
BY_WINOGRAD = {"conv_3x3", "conv_depthwise", "conv_group", "conv_nd_im2col", "conv_nobias"}
STEPS = {"winograd 2x2": 2, "winograd 4x4": 4}
SHAPES = [
    ((3, 10, 7, 9), "num_output: 12 pad: 1"),
    ((5, 16, 5, 6), "num_output: 32 group: 2"),
    ((2, 9, 4, 3), "num_output: 8 pad: 2 bias_term: false"),
    ((2, 8, 3, 8), "num_output: 8 pad_h: 0 pad_w: 3"),
]


def launched(name, source, answers=None, steps=1):
    """The kernels that a way launches for a net; gradients are added to those that are there."""
    with emulated() as engine, engine.convolutions.forced(name):
        twins = Twins(source, engine)
        twins.load(answers) if answers else twins.fill_inputs()
        before = emulation.executed.copy()
        for _ in range(steps):
            twins.step()
            twins.assert_same()
        return set(emulation.executed - before)


def of_winograd(step):
    names = ("image", "kernels", "out", "gradient", "kernel_gradient")
    return {f"winograd_{name}_{step}" for name in names}


@pytest.mark.parametrize("path", NETS, ids=lambda path: path.stem)
def test_recorded_nets_by_implicit_products(path):
    made = launched("implicit", path, dict(np.load(path.with_suffix(".npz"))))
    assert ({"convolve_small", "weigh_small"} <= made) == (path.stem not in NOT_IMPLICIT)


@pytest.mark.parametrize("name", STEPS)
def test_recorded_nets_by_winograd(monkeypatch, name):
    monkeypatch.setattr(winograd, "LEAST", 1)
    suits = {}
    for path in NETS:
        made = launched(name, path, dict(np.load(path.with_suffix(".npz"))))
        suits[path.stem] = of_winograd(STEPS[name]) <= made
    assert {stem for stem, suited in suits.items() if suited} == BY_WINOGRAD | {"conv_two_bottoms"}


def net(kind, shape, param):
    dims = " ".join(f"dim: {d}" for d in shape)
    return f"""force_backward: true
        layer {{ name: "x" type: "Input" top: "x" input_param {{ shape {{ {dims} }} }} }}
        layer {{ name: "y" type: "{kind}" bottom: "x" top: "y"
            convolution_param {{ {param} weight_filler {{ type: "xavier" }} }} }}"""


@pytest.mark.parametrize("room", [winograd.WORKSPACE, 1], ids=["together", "one by one"])
@pytest.mark.parametrize("kind", ["Convolution", "Deconvolution"])
@pytest.mark.parametrize(("shape", "param"), SHAPES)
def test_winograd_of_some_images_at_a_time(monkeypatch, shape, param, kind, room):
    monkeypatch.setattr(winograd, "WORKSPACE", room)
    for name, step in STEPS.items():
        made = launched(name, net(kind, shape, f"kernel_size: 3 {param}"), steps=2)
        assert of_winograd(step) <= made


@pytest.mark.parametrize("kind", ["Convolution", "Deconvolution"])
def test_implicit_products_in_large_tiles_and_in_parts(monkeypatch, kind):
    source = net(kind, (2, 2, 8, 10), "num_output: 72 kernel_size: 5 stride: 2 pad: 2")
    monkeypatch.setattr(implicit, "BLOCKS", 1)
    monkeypatch.setattr(launch, "LEAST", 8)
    implicit.plans.cache_clear()
    made = launched("implicit", source, steps=2)
    implicit.plans.cache_clear()
    large = {"convolve_large", "weigh_large"} if kind == "Convolution" else {"convolve_large"}
    assert large <= made


def case(
    direction,
    images,
    channels,
    outputs,
    side,
    kernel,
    stride=1,
    pad=0,
    group=1,
    precision="float32",
):
    windows = Windows((kernel,) * 2, (stride,) * 2, (pad,) * 2, (1, 1))
    windows = windows.over((side,) * 2, windows.fitting((side,) * 2))
    sizes = images, channels, outputs, group
    return Case(direction, windows, *sizes, np.dtype("f"), precision)


@pytest.mark.parametrize(
    ("sizes", "best"),
    [
        ((32, 64, 64, 56, 3, 1, 1), "winograd 4x4"),
        ((32, 64, 64, 56, 1), "columns"),  # there are none: the image is its columns
        ((256, 96, 256, 27, 5, 1, 2, 2), "implicit"),
        ((32, 64, 64, 56, 3, 1, 1, 64), "depthwise"),
    ],
)
def test_what_takes_least_on_paper_is_the_first_choice(sizes, best):
    for direction in (Direction.FORWARD, Direction.FILTER):
        assert choice.ordered(case(direction, *sizes))[0].name == best


def test_a_quarter_of_the_products_is_what_winograd_needs():
    of = case(Direction.FORWARD, 32, 64, 64, 56, 3, 1, 1)
    flops = sum(launch.flops for launch in winograd.Winograd4.work(of))
    assert flops == of.flops / 4


def test_on_paper_factors_in_16_bits_are_half_as_large_and_have_to_be_cast():
    sizes = 32, 64, 64, 56, 1
    full, half = (
        columns.Columns.work(case(Direction.FORWARD, *sizes, precision=precision))
        for precision in ("float32", "fp16")
    )
    image, weights, out = case(Direction.FORWARD, *sizes).nbytes
    assert [(x.name, x.bytes, x.precision) for x in full] == [("GEMM", image + weights + out, "")]
    casts = [("casts", 1.5 * image / 2, ""), ("casts", 1.5 * weights / 2, "")]  # for two products
    product = ("GEMM", (image + weights) / 2 + out, "fp16")
    assert [(x.name, x.bytes, x.precision) for x in half] == [*casts, product]


def test_winograds_products_are_not_to_be_rounded(monkeypatch):
    of = case(Direction.FORWARD, 32, 64, 64, 56, 3, 1, 1)
    assert winograd.Winograd4.can(of) and winograd.Winograd4.can(of._replace(precision="fp16"))
    monkeypatch.setenv(gemm.TF32, "1")
    assert not winograd.Winograd4.can(of)

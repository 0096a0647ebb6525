"""A convolution that adds to the other bottom of an Eltwise, by every implementation there is."""

import numpy as np
import pytest

from pycaffe_dist.engines import create
from pycaffe_dist.engines.onednn.core.arithmetic import SUM
from pycaffe_dist.engines.onednn.core.remembered import CHOICES
from pycaffe_dist.recycling import recycle
from pycaffe_dist.testing.twins import Twins

ENGINE = create("onednn")


def layer(kind, name, bottoms, top, more=""):
    below = " ".join(f'bottom: "{bottom}"' for bottom in bottoms)
    return f'layer {{ name: "{name}" type: "{kind}" {below} top: "{top}" {more} }}'


def conv(name, bottom, top, more="kernel_size: 3 pad: 1", channels=32):
    fillers = 'weight_filler { type: "gaussian" std: 0.2 } bias_filler { value: 0.1 }'
    param = f"convolution_param {{ num_output: {channels} {more} {fillers} }}"
    return layer("Convolution", name, [bottom], top, param)


def block(kernel, channels=32, size=9, norm=True, relu=True, first=False, **other):
    """A residual block, and what is behind it; ``other``: who else reads its bottom."""
    read_again, shared = (other.get(name, False) for name in ("read_again", "shared"))
    shape = f"dim: 2 dim: {channels} dim: {size} dim: {size}"
    parts = [
        "force_backward: false",
        layer("Input", "data", [], "data", f"input_param {{ shape {{ {shape} }} }}"),
        conv("stem", "data", "x", channels=channels),
        *([] if shared else [conv("middle", "x", "m", "kernel_size: 1", channels)]),
        conv("branch", "x" if shared else "m", "y", kernel, channels),
    ]
    if norm:
        parts += [layer("BatchNorm", "norm", ["y"], "y"), layer("Scale", "scale", ["y"], "y")]
    both = ["y", "x"] if first else ["x", "y"]
    parts.append(layer("Eltwise", "sum", both, "z"))
    if relu:
        parts.append(layer("ReLU", "relu", ["z"], "z"))
    parts.append(conv("head", "z", "out", "kernel_size: 1", channels))
    if read_again:
        parts += [
            layer("Concat", "again", ["x", "out"], "both"),
            conv("last", "both", "end", "kernel_size: 1", 8),
        ]
    return "\n".join(parts)


BLOCKS = {
    "3x3": block("kernel_size: 3 pad: 1"),
    "3x3, 48 channels of 13 pixels": block("kernel_size: 3 pad: 1", 48, 13),
    "3x3, odd channels": block("kernel_size: 3 pad: 1", 21, 7),
    "1x1": block("kernel_size: 1", 64, 8),
    "5x5": block("kernel_size: 5 pad: 2"),
    "depthwise": block("kernel_size: 3 pad: 1 group: 32"),
    "the convolution first": block("kernel_size: 1", first=True),
    "without ReLU": block("kernel_size: 1", relu=False),
    "without BatchNorm": block("kernel_size: 1", norm=False),
    "the other is what the convolution reads": block("kernel_size: 3 pad: 1", shared=True),
    "the other is read again": block("kernel_size: 1", read_again=True),
}


@pytest.fixture(autouse=True)
def small_values_are_recycled(monkeypatch):
    monkeypatch.setattr("pycaffe_dist.recycling.SMALL", 1)


def twins_of(name):
    twins = Twins(BLOCKS[name], ENGINE, train=False)
    rng = np.random.default_rng(3)
    for one, other in zip(twins.net.layers, twins.reference.layers, strict=True):
        if one.type in ("BatchNorm", "Scale"):
            for blob, blob_too in zip(one.blobs, other.blobs, strict=True):
                blob.data[...] = blob_too.data[...] = rng.uniform(0.5, 1.5, blob.shape)
    recycle([twins.net])
    return twins


def branch(twins):
    return twins.net.layers[twins.net.layer_names.index("branch")]


def check(twins):
    for seed in range(5):  # one by one, then from a list
        twins.fill_inputs(seed)
        twins.each(lambda net: net.forward())
        got, want = (net.blobs[net.output_ids[0]].data for net in twins.both)
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=2e-4 * np.abs(want).max())


@pytest.mark.parametrize("name", BLOCKS)
def test_a_residual_block_is_one_convolution(name):
    twins = twins_of(name)
    assert "Summed" in [type(chain).__name__ for chain in twins.net.fusions.chains]
    check(twins)
    assert [post_ops[0] for _, _, post_ops in branch(twins)._made] == [SUM]


@pytest.mark.parametrize("name", ["3x3", "3x3, odd channels", "1x1", "5x5", "depthwise"])
def test_every_candidate_adds(name):
    twins = twins_of(name)
    check(twins)
    ((_, bias, post_ops),) = branch(twins)._made
    names = [candidate.name for candidate in branch(twins).candidates("gather", bias, post_ops)]
    assert names
    assert "blas" not in names
    for candidate in names:
        with CHOICES.forced(candidate):
            check(twins_of(name))


def test_whoever_may_look_at_inner_blobs_finds_them():
    twins = Twins(BLOCKS["1x1"], ENGINE, train=False)
    assert "Summed" not in [type(chain).__name__ for chain in twins.net.fusions.chains]
    twins.fill_inputs()
    twins.each(lambda net: net.forward())
    twins.assert_same(diffs=False)


def test_two_branches_of_one_sum_become_one_chain():
    text = BLOCKS["1x1"].replace('bottom: "x" bottom: "y"', 'bottom: "side" bottom: "y"')
    head, tail = text.split(layer("BatchNorm", "norm", ["y"], "y"))
    side = conv("side", "x", "side", "kernel_size: 1", 64)
    twins = Twins(head + side + layer("BatchNorm", "norm", ["y"], "y") + tail, ENGINE, train=False)
    recycle([twins.net])
    kinds = [type(chain).__name__ for chain in twins.net.fusions.chains]
    assert kinds.count("Summed") == 1
    check(twins)

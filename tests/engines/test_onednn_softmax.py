"""Softmax and SoftmaxWithLoss with oneDNN."""

from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pycaffe_dist.engines import create
from pycaffe_dist.errors import NetError
from pycaffe_dist.testing.twins import Twins

ENGINE = create("onednn")


def twins_of(layer, *shapes, tops=("y",), in_place=False):
    inputs = "".join(
        f'layer {{ name: "x{i}" type: "Input" top: "x{i}" input_param {{ shape {{ '
        + " ".join(f"dim: {d}" for d in shape)
        + " } } }\n"
        for i, shape in enumerate(shapes)
    )
    bottoms = " ".join(f'bottom: "x{i}"' for i in range(len(shapes)))
    named = " ".join(f'top: "{top}"' for top in (("x0",) if in_place else tops))
    text = f'force_backward: true {inputs} layer {{ name: "y" {bottoms} {named} {layer} }}'
    twins = Twins(text, ENGINE)
    twins.fill_inputs()
    return twins


def label(twins, labels):
    for net in twins.both:
        net.blobs[1].data[...] = labels


def check(twins, fast=True):
    for _ in range(2):
        twins.step()
        twins.assert_same(1e-5)
    assert twins.net.layers[-1].fast is fast


@settings(max_examples=12, deadline=None, database=None)
@given(shape=st.lists(st.integers(1, 11), min_size=1, max_size=4), data=st.data())
def test_any_axis(shape, data):
    axis = data.draw(st.integers(0, len(shape) - 1))
    twins = twins_of(f'type: "Softmax" softmax_param {{ axis: {axis} }}', shape)
    check(twins, fast=prod(shape[axis + 1 :]) == 1)


def test_in_place():
    twins = twins_of('type: "Softmax"', (5, 10), in_place=True)
    twins.each(lambda net: net.forward())
    twins.assert_same(diffs=False)


def test_scores_far_apart():
    twins = twins_of('type: "Softmax"', (3, 10))
    for net in twins.both:
        net.blobs[0].data[...] = 200 * np.arange(30).reshape(3, 10)
    check(twins)


@pytest.mark.parametrize("strange", [np.nan, np.inf])
def test_a_score_that_is_no_number_spoils_its_row(strange):
    twins = twins_of('type: "Softmax"', (3, 10))
    for net in twins.both:
        net.blobs[0].data[1, 4] = strange
    twins.each(lambda net: net.forward())
    for net in twins.both:
        assert np.isnan(net.blobs[1].data).any(axis=1).tolist() == [False, True, False]
    np.testing.assert_array_equal(*(np.isnan(net.blobs[1].data) for net in twins.both))


def test_a_loss_of_what_is_not_a_number_is_none_either():
    twins = twins_of('type: "SoftmaxWithLoss"', (4, 5), (4,))
    for net in twins.both:
        net.blobs[0].data[2, 3] = np.nan
    twins.each(lambda net: net.forward())
    assert all(np.isnan(net.blobs[2].data) for net in twins.both)


@pytest.mark.parametrize("param", ["", "loss_weight: 0.3", "loss_param { normalization: NONE }"])
@pytest.mark.parametrize("shapes", [((7, 10), (7,)), ((64, 10), (64, 1)), ((1, 3, 1, 1), (1,))])
def test_the_loss(shapes, param):
    twins = twins_of(f'type: "SoftmaxWithLoss" {param}', *shapes)
    label(twins, np.random.default_rng(2).integers(0, shapes[0][1], shapes[1]))
    check(twins)


def test_labels_that_may_not_count_and_classes_that_lie_apart_are_left_to_numpy():
    twins = twins_of('type: "SoftmaxWithLoss" loss_param { ignore_label: 2 }', (6, 5), (6,))
    label(twins, np.arange(6) % 5)
    check(twins, fast=False)
    twins = twins_of('type: "SoftmaxWithLoss"', (2, 5, 3), (2, 3))
    label(twins, np.arange(6).reshape(2, 3) % 5)
    check(twins, fast=False)


def test_the_probabilities_as_a_second_top():
    twins = twins_of('type: "SoftmaxWithLoss"', (6, 5), (6,), tops=("loss", "p"))
    label(twins, np.arange(6) % 5)
    check(twins)
    np.testing.assert_allclose(twins.net.blobs[3].data.sum(axis=1), 1, rtol=1e-6)


@pytest.mark.parametrize("wrong", [-1, 5, np.nan, 1e9])
def test_a_label_that_is_no_class_is_refused(wrong):
    twins = twins_of('type: "SoftmaxWithLoss"', (6, 5), (6,))
    label(twins, [0, 1, wrong, 2, 3, 4])
    with pytest.raises(NetError, match=r"label .* at \(2,\) is none of the 5 classes"):
        twins.net.forward()


def test_a_label_is_cut_off_towards_zero():
    twins = twins_of('type: "SoftmaxWithLoss"', (4, 5), (4,))
    label(twins, [-0.5, 0.9, 4.7, 2.2])
    check(twins)


def test_the_least_probability():
    twins = twins_of('type: "SoftmaxWithLoss"', (2, 3), (2,))
    for net in twins.both:
        net.blobs[0].data[...] = [[0, 500, 0], [500, 0, 0]]
    label(twins, [0, 0])
    check(twins)
    assert float(twins.net.blobs[2].data) == pytest.approx(87.3365 / 2, rel=1e-4)

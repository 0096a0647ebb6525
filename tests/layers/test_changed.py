"""Layers of BVLC's that forks changed."""

import numpy as np
import pytest

from pycaffe_dist.proto.caffe_pb2 import LayerParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.registry import reading
from pycaffe_dist.testing import LayerCase, LayerRun, check_layer

RNG = np.random.default_rng(17)
LABELS = np.array([2.0, 0.0, 4.0, 2.0, 1.0, 0.0])


@pytest.mark.parametrize(
    "layer",
    [
        'type: "Pooling" pooling_param { pool: AVE kernel_size: 2 avg_include_pad: true }',
        'type: "InnerProduct" inner_product_param { num_output: 2 }',
        'type: "SoftmaxWithLoss" softmax_param { normalize_type: "Softmax" }',
        'type: "Scale"',
        'type: "BatchNorm"',
    ],
)
def test_a_file_without_the_forks_words_means_bvlcs(layer):
    assert reading(parse_text(layer, LayerParameter()).message).dialect == "bvlc"


def test_a_mean_without_the_padding():
    def reference(x):
        padded = np.pad(x, [(0, 0), (0, 0), (1, 1), (1, 1)])
        inside = np.pad(np.ones_like(x), [(0, 0), (0, 0), (1, 1), (1, 1)])
        sums, areas = (
            sum(a[:, :, i : i + 5 : 2, j : j + 5 : 2] for i in range(2) for j in range(2))
            for a in (padded, inside)
        )
        return sums / areas

    param = "pool: AVE kernel_size: 2 stride: 2 pad: 1 avg_include_pad: false"
    layer = f'type: "Pooling" pooling_param {{ {param} }}'
    check_layer(LayerCase(layer, [(2, 3, 4, 4)], reference=reference))


def test_inner_product_with_rows_of_length_one():
    layer = """type: "InnerProduct" inner_product_param { num_output: 3 normalize: true
        weight_filler { type: "gaussian" } bias_filler { type: "gaussian" } }"""
    run = LayerRun(LayerCase(layer, [(4, 5)]))
    w, b = (blob.data.copy() for blob in run.layer.blobs)
    unit = w / np.sqrt((w**2).sum(1, keepdims=True) + np.float32(1e-6))
    np.testing.assert_allclose(run.forward()[0], run.inputs[0] @ unit.T + b)
    np.testing.assert_allclose(run.layer.blobs[0].data, unit)
    gy = RNG.standard_normal((4, 3))
    run.backward([gy], [True])
    np.testing.assert_allclose(run.bottom[0].blob.diff, gy @ unit)


@pytest.mark.parametrize("kind", ["L1", "L2"])
def test_a_loss_of_lengths_in_place_of_a_softmax(kind):
    x = RNG.uniform(0.1, 1, (6, 5))
    layer = f'type: "SoftmaxWithLoss" softmax_param {{ normalize_type: "{kind}" }}'
    run = LayerRun(LayerCase(layer, [x, LABELS], tops=2))
    norm = abs(x).sum(1) + 1e-6 if kind == "L1" else np.sqrt((x**2).sum(1) + 1e-6)
    p, at = x / norm[:, None], (np.arange(6), LABELS.astype(int))
    loss, probabilities = run.forward()
    np.testing.assert_allclose(loss, -np.log(p[at]).mean(), rtol=1e-6)
    np.testing.assert_allclose(probabilities, p, rtol=1e-6)
    run.backward([np.array(1.0), np.zeros_like(x)], [True, False])
    p[at] -= 1
    np.testing.assert_allclose(run.bottom[0].blob.diff, p / 6, rtol=1e-5, atol=1e-9)


def test_a_scale_between_bounds():
    layer = 'type: "Scale" scale_param { min_value: -1 max_value: 2 }'
    run = LayerRun(LayerCase(layer, [(4, 3)], fill=[np.array([-5.0, 1.0, 5.0])]))
    np.testing.assert_allclose(run.forward()[0], run.inputs[0] * [-1, 1, 2])
    np.testing.assert_array_equal(run.layer.blobs[0].data, [-1, 1, 2])
    fill = [np.array([-0.5, 1.0, 1.5])]
    check_layer(LayerCase(layer, [(4, 3)], fill=fill, in_place=True, ignores_propagate_down=True))


def test_stored_statistics_are_used_and_updated():
    x = RNG.standard_normal((4, 3, 5)) + 1
    param = "use_global_stats: true update_global_stats: true moving_average_fraction: 0.5"
    layer = f'type: "BatchNorm" batch_norm_param {{ {param} }}'
    fill = [np.full(3, 2.0), np.full(3, 8.0), np.full(1, 2.0)]
    run = LayerRun(LayerCase(layer, [x], fill=fill))
    y = run.forward()[0]
    mean = (1 + x.mean((0, 2))) / 2
    variance = (4 + x.var((0, 2), ddof=0) * 20 / 19) / 2
    np.testing.assert_allclose(run.layer.blobs[0].data, mean * 2)
    np.testing.assert_allclose(run.layer.blobs[2].data, [2])
    factor = np.sqrt(variance + np.float32(1e-5))[:, None]
    np.testing.assert_allclose(y, (x - mean[:, None]) / factor, rtol=1e-6)


NV = 'type: "BatchNorm" batch_norm_param { scale_bias: true moving_average_fraction: 0.75 }'


def test_nvidias_batch_norm_has_a_scale_and_a_shift():
    gamma, beta = RNG.standard_normal((2, 3))

    def reference(x):
        mean, variance = x.mean((0, 2), keepdims=True), x.var((0, 2), keepdims=True)
        normal = (x - mean) / np.sqrt(variance + np.float32(1e-5))
        return normal * gamma[:, None] + beta[:, None]

    fill = [np.zeros(3), np.zeros(3), np.ones(1), gamma, beta]
    check_layer(LayerCase(NV, [(4, 3, 5)], reference=reference, fill=fill, tolerance=1e-5))
    learned = [spec.lr_mult for spec in LayerRun(LayerCase(NV, [(4, 3)])).layer.layer_param.param]
    assert learned == [0, 0, 0]


def test_nvidias_batch_norm_copies_the_first_two_batches():
    run = LayerRun(LayerCase(NV, [np.ones((4, 3))]))
    found = []
    for value in (1, 2, 4, 8):
        run.inputs[0][...] = value
        run.forward()
        found.append(float(run.layer.blobs[0].data[0]))
    assert found == [1, 2, 2.5, 3.875]
    assert run.layer.blobs[2].data[0] == 1
    fill = [np.full(3, 2.0), np.full(3, 4.0), np.zeros(1), np.ones(3), np.zeros(3)]
    test = LayerRun(LayerCase(NV, [np.full((2, 3), 6.0)], phase="TEST", fill=fill))
    np.testing.assert_allclose(test.forward()[0], 2, rtol=1e-5)
    check_layer(LayerCase(NV, [(2, 3)], phase="TEST", fill=fill, params=False, tolerance=1e-5))


def test_inner_product_with_weights_from_a_bottom():
    layer = """type: "InnerProduct" bottom: "x" bottom: "w"
        inner_product_param { bias_term: false }"""
    check_layer(LayerCase(layer, [(4, 3, 2), (5, 6)], reference=lambda x, w: x.reshape(4, 6) @ w.T))


@pytest.mark.parametrize(
    ("dialect", "layer"),
    [
        ("intel", 'type: "Pooling" pooling_param { pool: AVE kernel_size: 2 pad: 1 }'),
        ("happynear", 'type: "InnerProduct" inner_product_param { num_output: 2 }'),
        ("happynear", 'type: "Scale" scale_param { bias_term: true }'),
        ("psp", 'type: "BatchNorm" batch_norm_param { use_global_stats: true }'),
    ],
)
def test_a_dialect_changes_nothing_without_its_words(monkeypatch, dialect, layer):
    case = LayerCase(layer, [(2, 3, 4, 4)])
    bvlc = LayerRun(case)
    expected = bvlc.forward()[0]
    monkeypatch.setenv("PCD_DIALECT", dialect)
    ours = LayerRun(case)
    assert type(ours.layer) is not type(bvlc.layer)
    np.testing.assert_allclose(ours.forward()[0], expected, rtol=1e-12)
    for one, other in zip(ours.layer.blobs, bvlc.layer.blobs, strict=True):
        np.testing.assert_array_equal(one.data, other.data)


def test_of_a_dialects_readings_the_one_that_applies_is_taken(monkeypatch):
    monkeypatch.setenv("PCD_DIALECT", "happynear")
    layer = 'type: "InnerProduct" bottom: "x" bottom: "w" inner_product_param { bias_term: false }'
    check_layer(LayerCase(layer, [(4, 3), (5, 3)], reference=lambda x, w: x @ w.T))


def test_nvidias_batch_norm_without_a_scale_has_three_parameters(monkeypatch):
    monkeypatch.setenv("PCD_DIALECT", "nvcaffe")
    case = LayerCase('type: "BatchNorm"', [(4, 3, 5)], params=False, ignores_propagate_down=True)
    assert len(LayerRun(case).layer.blobs) == 3
    check_layer(case)


def test_softmax_loss_over_a_fixed_number():
    """R-FCN's PRE_FIXED, which does not depend on how many labels count."""
    labels = np.array([0.0, 2, 255])
    words = "ignore_label: 255 normalization: PRE_FIXED pre_fixed_normalizer: 8"

    def reference(x, labels):
        p = np.exp(x) / np.exp(x).sum(1, keepdims=True)
        return -(np.log(p[0, 0]) + np.log(p[1, 2])) / 8

    layer = f'type: "SoftmaxWithLoss" loss_param {{ {words} }}'
    check_layer(LayerCase(layer, [(3, 4), labels], reference=reference))

"""What holds for all layers that work element by element or normalise."""

import numpy as np
import pytest

from pycaffe_dist.blob import Blob, View
from pycaffe_dist.layer import Context
from pycaffe_dist.proto.caffe_pb2 import LayerParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.registry import create_layer
from pycaffe_dist.testing import LayerCase, LayerRun

LAYERS = [
    'type: "AbsVal"',
    'type: "BNLL"',
    'type: "Clip" clip_param { min: -0.5 max: 0.5 }',
    'type: "Dropout"',
    'type: "ELU" elu_param { alpha: 0.3 }',
    'type: "Exp" exp_param { base: 2 scale: 0.3 shift: 0.1 }',
    'type: "Log" log_param { base: 2 scale: 0.3 shift: 9 }',
    'type: "Power" power_param { power: 1.7 scale: 0.3 shift: 9 }',
    'type: "Power" power_param { power: 2 scale: 0.3 shift: 9 }',
    'type: "PReLU"',
    'type: "ReLU"',
    'type: "ReLU" relu_param { negative_slope: 0.1 }',
    'type: "Sigmoid"',
    'type: "Swish" swish_param { beta: 0.3 }',
    'type: "TanH"',
    'type: "BatchNorm"',
    'type: "BatchNorm" batch_norm_param { use_global_stats: true eps: 0.1 }',
    'type: "MVN"',
    'type: "Scale" scale_param { bias_term: true }',
    'type: "Bias"',
]
SHAPE = (4, 3, 2, 2)


@pytest.mark.parametrize("layer", LAYERS)
def test_single_precision_agrees_with_double(layer):
    case = LayerCase(layer, [SHAPE])
    gy = np.random.default_rng(0).standard_normal(SHAPE)
    single, double = LayerRun(case, np.float32), LayerRun(case, np.float64)
    np.testing.assert_allclose(single.forward()[0], double.forward()[0], rtol=2e-5, atol=2e-6)
    for run in single, double:
        run.backward([gy], [True])
    a, b = (run.bottom[0].blob.diff for run in (single, double))
    np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-6)
    for one, other in zip(single.layer.blobs, double.layer.blobs, strict=True):
        np.testing.assert_allclose(one.diff, other.diff, rtol=2e-5, atol=1e-5)


@pytest.mark.parametrize("layer", LAYERS)
def test_what_is_read_stays_as_it_is(layer):
    run = LayerRun(LayerCase(layer, [SHAPE]))
    y = run.forward()[0]
    gy = np.random.default_rng(0).standard_normal(SHAPE)
    run.backward([gy], [True])
    np.testing.assert_array_equal(run.bottom[0].blob.data, run.inputs[0])
    np.testing.assert_array_equal(run.top[0].blob.data, y)
    np.testing.assert_array_equal(run.top[0].blob.diff, gy)


@pytest.mark.parametrize("layer", LAYERS)
def test_backward_may_run_twice(layer):
    run = LayerRun(LayerCase(layer, [SHAPE]))
    run.forward()
    gy = np.random.default_rng(0).standard_normal(SHAPE)
    run.backward([gy], [True])
    once = run.bottom[0].blob.diff.copy()
    run.backward([gy], [True])
    np.testing.assert_array_equal(run.bottom[0].blob.diff, once)


@pytest.mark.parametrize("layer", LAYERS)
def test_batches_may_shrink_and_grow(layer):
    run = LayerRun(LayerCase(layer, [SHAPE]))
    for n in (4, 2, 7):
        case = LayerCase(layer, [(n, *SHAPE[1:])])
        fresh = LayerRun(case)
        run.inputs = fresh.inputs
        run.bottom[0].reshape(*fresh.inputs[0].shape)
        for blob in run.layer.blobs:
            blob.diff[...] = 0
        if "BatchNorm" in layer:
            run.layer.blobs[2].data[...] = 0
        np.testing.assert_allclose(run.forward()[0], fresh.forward()[0])
        gy = np.random.default_rng(n).standard_normal(fresh.inputs[0].shape)
        for each in run, fresh:
            each.backward([gy], [True])
        np.testing.assert_allclose(run.bottom[0].blob.diff, fresh.bottom[0].blob.diff)


@pytest.mark.parametrize("layer", LAYERS)
def test_shapes_alone_need_no_memory(layer):
    param = parse_text(f'name: "dry" {layer}', LayerParameter()).message
    made = create_layer(param, Context(dry=True))
    bottom, top = Blob(SHAPE), Blob()
    made.set_up([View(bottom)], [View(top, writes="data")])
    assert top.shape == SHAPE
    made.flops([View(bottom)], [View(top)])
    for blob in (bottom, top, *made.blobs):
        assert not blob.data_value.current
        assert not blob.diff_value.current


def test_work_space_is_used_again():
    run = LayerRun(LayerCase('type: "TanH"', [SHAPE]))
    large = run.layer.work("some", (4, 3))
    assert not large.any()
    large[...] = 1
    assert (run.layer.work("some", (2, 5)) == 1).all()
    run.layer.work("some", (12,))[...] = 2
    run.layer.work("other", (4, 3))[...] = 3
    assert (large == 2).all()
    assert run.layer.work("some", (4, 4)).shape == (4, 4)
    assert run.layer.work("flags", (2,), bool).dtype == bool

"""Layers that remember more than their parameters: a snapshot keeps it, a run resumes exactly."""

import numpy as np
import pytest

from pycaffe_dist.layer import Layer
from pycaffe_dist.layers.base_data import BaseData
from pycaffe_dist.layers.fake_data import FakeData
from pycaffe_dist.layers.hdf5_data import HDF5Data
from pycaffe_dist.layers.memory_data import MemoryData
from pycaffe_dist.layers.python_layer import PythonLayer
from pycaffe_dist.layers.recurrent import Recurrent
from pycaffe_dist.layers.segmentation.seg_accuracy import SegAccuracy
from pycaffe_dist.registry import READINGS, layer_types
from pycaffe_dist.testing import LayerCase, LayerRun

SCORES, LABELS = (4, 5), np.array([0.0, 2, 1, 4])
FEATURES4 = (4, 6)
FEATURES, PEOPLE = (3, 6), np.array([-1.0, 1, -1])
CASES = {
    "BatchNorm": ("batch_norm_param { scale_bias: true moving_average_fraction: 0.5 }", [(4, 3)]),
    "GradientScaler": ("gradient_scaler_param { max_iter: 20 }", [FEATURES]),
    "LabelSpecificAdd": (
        "label_specific_add_param { bias_base: 0.2 bias_gamma: 0.5 bias_max: 9 }",
        [SCORES, LABELS],
    ),
    "LabelSpecificRescale": (
        "label_specific_rescale_param { positive_weight_base: 2 gamma: 0.5 power: 1 }",
        [SCORES, LABELS],
    ),
    "LabelSpecificMargin": (
        "label_specific_margin_param { margin_base: 1 gamma: 1 power: 1 }",
        [SCORES, LABELS],
    ),
    "LargeMarginInnerProduct": (
        "largemargin_inner_product_param { num_output: 5 type: DOUBLE base: 10 gamma: 0.5 power: 1 "
        'lambda_min: 0 weight_filler { type: "xavier" } }',
        [FEATURES4, LABELS],
    ),
    "MarginInnerProduct": (
        "margin_inner_product_param { num_output: 5 type: DOUBLE base: 10 gamma: 0.5 power: 1 "
        'lambda_min: 0 weight_filler { type: "xavier" } }',
        [FEATURES4, LABELS],
    ),
    "UnlabeledMatching": ("unlabeled_matching_param { queue_size: 5 }", [FEATURES, PEOPLE]),
}


def passes(run, count, seed):
    """So many passes on other inputs each; the tops and the parameters after the last."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        run.inputs[0] = rng.uniform(-0.9, 0.9, run.inputs[0].shape)
        tops = run.forward()
        flags = [True, *[False] * (len(run.bottom) - 1)]
        run.backward([np.ones_like(top) for top in tops], flags)
    return [*tops, *(param.data.copy() for param in run.layer.blobs)]


@pytest.mark.host
@pytest.mark.parametrize("name", CASES)
def test_what_a_layer_remembers_is_restored(name):
    settings, inputs = CASES[name]
    whole, again = (
        LayerRun(LayerCase(f'type: "{name}" {settings}', inputs, phase="TRAIN")) for _ in range(2)
    )
    passes(whole, 3, seed=1)
    state = whole.layer.get_state()
    assert state and state != again.layer.get_state()
    again.layer.set_state(state)
    for blob, values in zip(again.layer.blobs, whole.layer.blobs, strict=True):
        blob.data[...] = values.data
    for got, want in zip(passes(again, 2, seed=2), passes(whole, 2, seed=2), strict=True):
        np.testing.assert_array_equal(got, want)


def test_every_layer_that_keeps_a_state_is_tested():
    """Here, or where the places in data and the states of sequences are."""
    elsewhere = (BaseData, FakeData, HDF5Data, MemoryData, PythonLayer, Recurrent, SegAccuracy)
    classes = {*layer_types().values()} | {one.cls for many in READINGS.values() for one in many}
    keeping = {cls for cls in classes if cls.get_state is not Layer.get_state}
    found = {cls.type for cls in keeping if not issubclass(cls, elsewhere)}
    assert found == CASES.keys()

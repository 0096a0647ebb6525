"""Layers that have no gradient: those that refuse to give one, and those that give zeros."""

import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.testing import LayerCase, LayerRun

IMAGE = (1, 3, 6, 6)
REFUSING = {
    "Downsample": ("", [IMAGE, (1, 3, 3, 3)]),
    "ColorConv": ("color_conv_param { input: 0 output: 3 }", [IMAGE]),
    "SegAccuracy": ("", [(1, 3, 2, 2), np.zeros((1, 1, 2, 2))]),
}
ZEROS = {
    "ContinuationIndicator": (
        "continuation_indicator_param { time_step: 4 batch_size: 2 }",
        [(4, 2, 3)],
    ),
    "Proposal": (
        "proposal_param { ratio: 1 scale: 1 scale: 2 }",
        [(1, 4, 3, 5), (1, 8, 3, 5), np.array([[48.0, 80, 1]])],
    ),
    "BoxOutput": (
        "box_output_param { fg_thr: -99 iou_thr: 0.5 field_w: 16 field_h: 32 downsample_rate: 8 }",
        [(1, 6, 3, 4)],
    ),
}


def ran(name, settings, inputs):
    run = LayerRun(LayerCase(f'type: "{name}" {settings}', inputs))
    return run, [np.ones_like(top) for top in run.forward()]


@pytest.mark.parametrize("name", REFUSING)
def test_a_gradient_that_is_asked_for_is_refused(name):
    run, tops = ran(name, *REFUSING[name])
    nobody = [False] * len(run.bottom)
    run.backward(tops, nobody)
    with pytest.raises(NetError, match="has no gradient"):
        run.backward(tops, [True, *nobody[1:]])


@pytest.mark.parametrize("name", ZEROS)
def test_a_gradient_that_is_asked_for_is_0(name):
    run, tops = ran(name, *ZEROS[name])
    for asked in (False, True):
        for view in run.bottom:
            view.blob.diff[...] = 7
        run.backward(tops, [asked] * len(run.bottom))
        assert all((view.blob.diff == (0 if asked else 7)).all() for view in run.bottom)

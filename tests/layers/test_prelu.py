import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.testing import LayerCase, LayerRun, check_layer


@pytest.mark.parametrize("shape", [(2, 3), (2, 3, 4), (2, 3, 2, 2), (2, 3, 2, 1, 2)])
@pytest.mark.parametrize("shared", [False, True])
def test_values_and_gradient(shape, shared):
    slopes = np.array(0.3) if shared else np.array([0.5, -0.25, 0.1])
    spread = slopes if shared else slopes.reshape(3, *[1] * (len(shape) - 2))
    check_layer(
        LayerCase(
            f'type: "PReLU" prelu_param {{ channel_shared: {str(shared).lower()} }}',
            [shape],
            reference=lambda x: np.where(x > 0, x, spread * x),
            fill=[slopes],
            kink=0.0,
            in_place=True,
        )
    )


def test_slopes():
    plain = LayerRun(LayerCase('type: "PReLU"', [(2, 3, 4)])).layer
    np.testing.assert_array_equal(plain.blobs[0].data, [0.25, 0.25, 0.25])
    shared = LayerRun(
        LayerCase('type: "PReLU" prelu_param { channel_shared: true }', [(2, 3)])
    ).layer
    assert shared.blobs[0].shape == ()
    assert shared.blobs[0].data[()] == 0.25
    filled = LayerCase('type: "PReLU" prelu_param { filler { value: 2 } }', [(2, 3)])
    np.testing.assert_array_equal(LayerRun(filled).layer.blobs[0].data, [2, 2, 2])


def test_gradient_at_zero_is_the_slope():
    run = LayerRun(LayerCase('type: "PReLU"', [np.zeros((1, 1))]))
    run.forward()
    run.backward([np.full((1, 1), 8.0)], [True])
    assert run.bottom[0].blob.diff[0, 0] == 2


def test_frozen_slopes_get_no_gradient():
    run = LayerRun(LayerCase('type: "PReLU"', [-np.ones((2, 3))]))
    run.layer.param_propagate_down = [False]
    run.forward()
    run.backward([np.ones((2, 3))], [True])
    assert not run.layer.blobs[0].diff.any()


def test_needs_two_axes():
    with pytest.raises(NetError, match=r"2 axes or more, the bottom is \(5,\)"):
        LayerRun(LayerCase('type: "PReLU"', [(5,)]))


def test_refuses_other_channels_later():
    run = LayerRun(LayerCase('type: "PReLU"', [(2, 3)]))
    run.bottom[0].reshape(2, 4)
    with pytest.raises(NetError, match=r"each of 3 channels, the bottom is \(2, 4\)"):
        run.layer.reshape(run.bottom, run.top)

import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.testing import LayerCase, LayerRun, check_layer

LAYER = 'type: "Softmax" softmax_param { %s }'


def softmax(x, axis):
    e = np.exp(x)
    return e / e.sum(axis=axis, keepdims=True)


@pytest.mark.parametrize(
    ("settings", "axis", "shape"),
    [
        ("", 1, (3, 5)),
        ("", 1, (2, 4, 3, 2)),
        ("axis: 0", 0, (4, 3)),
        ("axis: 2", 2, (2, 3, 4)),
        ("axis: -1", 2, (2, 3, 4)),
        ("engine: CAFFE", 1, (2, 3)),
    ],
)
def test_values_and_gradient(settings, axis, shape):
    check_layer(
        LayerCase(
            LAYER % settings,
            [shape],
            reference=lambda x: softmax(x, axis),
            ignores_propagate_down=True,
            in_place=True,
        )
    )


def test_propagate_down_is_ignored():
    run = LayerRun(LayerCase(LAYER % "", [(3, 5)]))
    run.forward()
    run.bottom[0].blob.diff[...] = 7
    run.backward([np.eye(3, 5)], [False])
    assert (run.bottom[0].blob.diff != 7).all()


def test_large_scores():
    x = np.array([[1e4, 0, -1e4], [3e38, 3e38, -3e38]])
    with np.errstate(over="ignore"):
        y = LayerRun(LayerCase(LAYER % "", [x]), np.float32).forward()[0]
    np.testing.assert_array_equal(y, [[1, 0, 0], [0.5, 0.5, 0]])
    assert y.dtype == np.float32


def test_no_items():
    assert LayerRun(LayerCase(LAYER % "", [np.empty((0, 4))])).forward()[0].shape == (0, 4)


def test_axis_out_of_range():
    with pytest.raises(NetError, match="axis 1 is out of range"):
        LayerRun(LayerCase(LAYER % "", [(3,)]))

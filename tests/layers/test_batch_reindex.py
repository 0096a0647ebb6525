import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.testing import LayerCase, LayerRun, check_layer

LAYER = 'type: "BatchReindex"'
ORDER = np.array([4.0, 0, 4, 0, 1, 2])  # 3 is left out, 0 and 4 are there twice


@pytest.mark.parametrize("shape", [(5, 4, 3, 2), (5,), (5, 1)])
def test_values_and_gradient(shape):
    check_layer(
        LayerCase(
            LAYER,
            [shape, ORDER],
            reference=lambda x, p: np.stack([x[int(i)] for i in p]),
            bottoms=[0],
        )
    )


def test_indices_are_cut_off():
    x = np.arange(3.0)
    run = LayerRun(LayerCase(LAYER, [x, np.array([2.9, 0.5])]))
    np.testing.assert_array_equal(run.forward()[0], [2, 0])


def test_no_items():
    run = LayerRun(LayerCase(LAYER, [(3, 2), np.empty(0)]))
    assert run.forward()[0].shape == (0, 2)
    run.backward([np.empty((0, 2))], [True, False])
    assert (run.bottom[0].blob.diff == 0).all()


@pytest.mark.parametrize("index", [-1, -0.5, 5, np.nan])
def test_indices_out_of_range(index):
    run = LayerRun(LayerCase(LAYER, [(5, 2), np.array([0, 1, index])]))
    with pytest.raises(NetError, match=f"index {index:g} at 2 is not one of the 5 items"):
        run.forward()


def test_indices_have_one_axis_and_no_gradient():
    with pytest.raises(NetError, match=r"one axis, found \(5, 1\)"):
        LayerRun(LayerCase(LAYER, [(5, 2), np.zeros((5, 1))]))
    run = LayerRun(LayerCase(LAYER, [(5, 2), np.zeros(5)]))
    run.forward()
    with pytest.raises(NetError, match="indices a gradient"):
        run.backward([np.ones((5, 2))], [True, True])

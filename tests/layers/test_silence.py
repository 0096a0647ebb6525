import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.testing import LayerCase, LayerRun


def test_gradients_are_zero_where_wanted():
    run = LayerRun(LayerCase('type: "Silence"', [(2, 3), (4,)], tops=0))
    assert run.forward() == []
    for view in run.bottom:
        view.blob.diff[...] = 7
    run.backward([], [False, True])
    assert (run.bottom[0].blob.diff == 7).all()
    assert (run.bottom[1].blob.diff == 0).all()


def test_no_tops():
    with pytest.raises(NetError, match="takes 0 top"):
        LayerRun(LayerCase('type: "Silence"', [(2, 3)], tops=1))

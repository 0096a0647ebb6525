import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.layer import Context
from pycaffe_dist.testing import LayerCase, LayerRun, check_layer

LAYER = 'type: "Filter"'


@pytest.mark.parametrize("selector", [[0, 1, 1, 0], [1, 0, 0, 0], [1, 1, 1, 1], [0, -2.5, 0, 0.1]])
def test_values_and_gradient(selector):
    s = np.array(selector, float).reshape(4, 1, 1)
    kept = [i for i in range(4) if selector[i]]
    check_layer(
        LayerCase(
            LAYER,
            [(4, 3, 2), (4,), s],
            tops=2,
            reference=lambda x, y, s: (x[kept], y[kept]),
            bottoms=[0, 1],
        )
    )


def test_nothing_picked():
    run = LayerRun(LayerCase(LAYER, [(4, 3), np.zeros(4)]))
    assert run.forward()[0].shape == (0, 3)
    run.bottom[0].blob.diff[...] = 7
    run.backward([np.empty((0, 3))], [True, False])
    assert (run.bottom[0].blob.diff == 0).all()


def test_the_shape_before_the_first_forward_is_the_whole_batch():
    run = LayerRun(LayerCase(LAYER, [(4, 3), np.array([0.0, 1, 0, 0])]))
    assert run.top[0].shape == (4, 3)
    run.layer.reshape(run.bottom, run.top)
    assert run.top[0].shape == (1, 3)


def test_a_dry_net_keeps_the_whole_batch():
    run = LayerRun(LayerCase(LAYER, [(4, 3), np.zeros(4)]))
    run.layer.context = Context(dry=True)
    run.layer.reshape(run.bottom, run.top)
    assert run.top[0].shape == (4, 3)


def test_the_number_of_items_changes():
    run = LayerRun(LayerCase(LAYER, [np.arange(4.0), np.ones(4)]))
    for s in ([1, 0, 0, 0], [1, 1, 1, 1], [0, 0, 0, 0], [0, 1, 0, 1]):
        run.inputs[1] = np.array(s, float)
        assert list(run.forward()[0]) == [i for i in range(4) if s[i]]


@pytest.mark.parametrize(
    ("shapes", "tops", "message"),
    [
        ([(4, 3), (4, 2)], 1, r"\(N,\) or \(N, 1, ...\), found \(4, 2\)"),
        ([(4, 3), ()], 1, "the selector must have the shape"),
        ([(5, 3), (4,)], 1, r"for 4 items, a bottom has the shape \(5, 3\)"),
        ([(4, 3), (4, 3), (4,)], 1, "3 bottoms .* need 2 tops, found 1"),
    ],
)
def test_shapes_refused(shapes, tops, message):
    with pytest.raises(NetError, match=message):
        LayerRun(LayerCase(LAYER, shapes, tops=tops))


def test_no_gradient_for_the_selector():
    run = LayerRun(LayerCase(LAYER, [(4, 3), np.ones(4)]))
    run.forward()
    with pytest.raises(NetError, match="selector a gradient"):
        run.backward([np.ones((4, 3))], [True, True])

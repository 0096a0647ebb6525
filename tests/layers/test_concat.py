import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.testing import LayerCase, LayerRun, check_layer

CONCAT = 'type: "Concat" concat_param { %s }'
SLICE = 'type: "Slice" slice_param { %s }'


@pytest.mark.parametrize(
    ("settings", "axis", "shapes"),
    [
        ("", 1, [(2, 3, 4), (2, 1, 4), (2, 5, 4)]),
        ("axis: 0", 0, [(2, 3), (1, 3)]),
        ("axis: -3", 1, [(2, 3, 2, 2), (2, 2, 2, 2)]),
        ("axis: -1", 2, [(2, 3, 1), (2, 3, 2)]),
        ("concat_dim: 0", 0, [(2, 3), (1, 3)]),
        ("", 1, [(2, 3), (2, 0)]),
    ],
)
def test_concat(settings, axis, shapes):
    check_layer(
        LayerCase(
            CONCAT % settings, shapes, reference=lambda *xs: np.concatenate(xs, axis), step=1e-3
        )
    )


def test_concat_gradient_of_one_bottom_only():
    run = LayerRun(LayerCase(CONCAT % "", [(2, 3), (2, 2)]))
    run.forward()
    run.bottom[0].blob.diff[...] = 7
    gradient = np.arange(10.0).reshape(2, 5)
    run.backward([gradient], [False, True])
    assert (run.bottom[0].blob.diff == 7).all()
    np.testing.assert_array_equal(run.bottom[1].blob.diff, gradient[:, 3:])


@pytest.mark.parametrize("layer", [CONCAT % "", SLICE % ""])
def test_one_piece_shares_memory(layer):
    x = np.arange(6.0).reshape(2, 3)
    case = LayerCase(layer, [x], reference=lambda x: x, ignores_propagate_down=True)
    check_layer(case)
    run = LayerRun(case)
    run.forward()
    assert run.top[0].blob is not run.bottom[0].blob
    assert np.shares_memory(run.top[0].blob.data, run.bottom[0].blob.data)
    assert np.shares_memory(run.top[0].blob.diff, run.bottom[0].blob.diff)
    run.bottom[0].reshape(9, 5)
    run.layer.reshape(run.bottom, run.top)
    assert run.top[0].shape == (9, 5)
    assert np.shares_memory(run.top[0].blob.diff, run.bottom[0].blob.diff)


@pytest.mark.parametrize(
    ("settings", "shapes", "message"),
    [
        ("axis: 1 concat_dim: 1", [(2, 3)] * 2, "either axis or concat_dim"),
        ("axis: 2", [(2, 3)] * 2, "axis 2 is out of range"),
        ("concat_dim: 2", [(2, 3)] * 2, "concat_dim 2 is out of range"),
        ("concat_dim: 4294967295", [(2, 3)] * 2, "concat_dim 4294967295 is out of range"),
        ("", [(2, 3), (3, 3)], r"axis 1 only, found \(2, 3\) and \(3, 3\)"),
        ("", [(2, 3), (2, 3, 1)], "axis 1 only"),
        ("axis: 1", [(2, 3), (2,)], "axis 1 only"),
    ],
)
def test_concat_refuses(settings, shapes, message):
    with pytest.raises(NetError, match=message):
        LayerRun(LayerCase(CONCAT % settings, shapes))


@pytest.mark.parametrize(
    ("settings", "axis", "shape", "cuts"),
    [
        ("", 1, (2, 6, 3), [2, 4]),
        ("axis: 0", 0, (6, 2), [2, 4]),
        ("axis: -1", 2, (2, 1, 3), [1, 2]),
        ("slice_dim: 0", 0, (6, 2), [2, 4]),
        ("slice_point: 1 slice_point: 5", 1, (2, 6, 3), [1, 5]),
        ("axis: 0 slice_point: 2 slice_point: 3", 0, (6, 2), [2, 3]),
        ("slice_point: 1 slice_point: 6", 1, (2, 6), [1, 6]),
    ],
)
def test_slice(settings, axis, shape, cuts):
    check_layer(
        LayerCase(
            SLICE % settings,
            [shape],
            tops=3,
            reference=lambda x: tuple(np.split(x, cuts, axis)),
            step=1e-3,
        )
    )


@pytest.mark.parametrize(
    ("settings", "tops", "message"),
    [
        ("axis: 1 slice_dim: 1", 2, "either axis or slice_dim"),
        ("slice_dim: 3", 2, "slice_dim 3 is out of range"),
        ("axis: -4", 2, "axis -4 is out of range"),
        ("", 4, "4 tops cannot have equal parts of 6"),
        ("slice_point: 2", 3, "3 tops need 2 slice_point, found 1"),
        ("slice_point: 2", 1, "1 tops need 0 slice_point, found 1"),
        ("slice_point: 0", 2, r"rise from above 0 to at most 6, found \[0\]"),
        ("slice_point: 3 slice_point: 3", 3, r"found \[3, 3\]"),
        ("slice_point: 7", 2, r"found \[7\]"),
        ("axis: 0 slice_point: 1 slice_point: 2", 3, "3 tops cannot be cut from 2"),
    ],
)
def test_slice_refuses(settings, tops, message):
    with pytest.raises(NetError, match=message):
        LayerRun(LayerCase(SLICE % settings, [(2, 6, 3)], tops=tops))

import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.net import Net
from pycaffe_dist.proto.caffe_pb2 import NetParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.testing import LayerCase, LayerRun, check_layer

FLATTEN = 'type: "Flatten" flatten_param { %s }'
RESHAPE = 'type: "Reshape" reshape_param { %s }'


def dims(*sizes):
    return f"shape {{ {' '.join(f'dim: {d}' for d in sizes)} }}"


CASES = [
    (FLATTEN, "", (2, 3, 6, 5), (2, 90)),
    (FLATTEN, "axis: 2", (2, 3, 6, 5), (2, 3, 30)),
    (FLATTEN, "end_axis: -2", (2, 3, 6, 5), (2, 18, 5)),
    (FLATTEN, "axis: 0 end_axis: -2", (2, 3, 6, 5), (36, 5)),
    (FLATTEN, "axis: 0", (2, 3), (6,)),
    (FLATTEN, "axis: -1", (2, 3), (2, 3)),
    (FLATTEN, "axis: 2 end_axis: 1", (2, 3, 4), (2, 3, 1, 4)),
    (RESHAPE, dims(0, 2, -1), (2, 4, 3), (2, 2, 6)),
    (RESHAPE, dims(-1), (2, 4, 3), (24,)),
    (RESHAPE, dims(4, 6), (2, 4, 3), (4, 6)),
    (RESHAPE, dims(0, 0, 0), (2, 4, 3), (2, 4, 3)),
    (RESHAPE, "axis: 1 " + dims(2, -1), (2, 4, 3), (2, 2, 6)),
    (RESHAPE, "axis: 1 num_axes: 1 " + dims(2, 2), (2, 4, 3), (2, 2, 2, 3)),
    (RESHAPE, "axis: 1 num_axes: 1 " + dims(0, 1), (2, 4, 3), (2, 4, 1, 3)),
    (RESHAPE, "axis: -2 num_axes: 1 " + dims(3, 1), (2, 4, 3), (2, 4, 3, 1)),
    # New axes at the start, in the middle, at the end.
    (RESHAPE, "axis: 0 num_axes: 0 " + dims(1, 1, 1), (2, 4, 3), (1, 1, 1, 2, 4, 3)),
    (RESHAPE, "axis: 2 num_axes: 0 " + dims(1, 1, 1), (2, 4, 3), (2, 4, 1, 1, 1, 3)),
    (RESHAPE, "axis: -1 num_axes: 0 " + dims(1, 1, 1), (2, 4, 3), (2, 4, 3, 1, 1, 1)),
    (RESHAPE, "axis: -1 " + dims(1, -1), (2, 4, 3), (2, 4, 3, 1, 1)),
    # Axes that are replaced by nothing.
    (RESHAPE, "axis: 1 num_axes: 2", (2, 1, 1, 3), (2, 3)),
    (RESHAPE, "", (1, 1), ()),
    # A 0 copies the axis at its own place, even behind those that are replaced.
    (RESHAPE, "axis: 0 num_axes: 1 " + dims(2, 0), (6, 3, 1), (2, 3, 3, 1)),
]


@pytest.mark.parametrize(("layer", "settings", "shape", "expected"), CASES)
def test_same_values_in_another_shape(layer, settings, shape, expected):
    check_layer(
        LayerCase(
            layer % settings,
            [shape],
            reference=lambda x: x.reshape(expected),
            ignores_propagate_down=True,
            step=1e-3,
        )
    )


@pytest.mark.parametrize("layer", [FLATTEN % "", RESHAPE % dims(0, -1)])
def test_memory_is_shared(layer):
    run = LayerRun(LayerCase(layer, [(2, 3, 4)]))
    run.forward()
    for shape in [(2, 3, 4), (5, 6, 7), (1, 2, 2)]:
        run.bottom[0].reshape(*shape)
        run.layer.reshape(run.bottom, run.top)
        assert run.top[0].shape == (shape[0], shape[1] * shape[2])
        assert np.shares_memory(run.top[0].blob.data, run.bottom[0].blob.data)
        assert np.shares_memory(run.top[0].blob.diff, run.bottom[0].blob.diff)


@pytest.mark.parametrize("layer", [FLATTEN % "", RESHAPE % dims(-1)])
def test_in_place_is_refused(layer):
    with pytest.raises(NetError, match="cannot work in place"):
        LayerRun(LayerCase(layer, [(2, 3)]), in_place=True)


@pytest.mark.parametrize(
    ("layer", "settings", "message"),
    [
        (FLATTEN, "axis: 3", "axis 3 is out of range"),
        (FLATTEN, "axis: 2 end_axis: 0", "end_axis 0 is before axis 2"),
        (RESHAPE, dims(-1, -1), r"may have one -1, found \[-1, -1\]"),
        (RESHAPE, dims(-2, 12), "no dim below -1"),
        (RESHAPE, dims(5, -1), r"nothing fits the -1 in \[5, -1\].*24 values"),
        (RESHAPE, dims(0, 0, 0, 0), "has a 0 where .* no axis to copy"),
        (RESHAPE, dims(5, 5), r"\(5, 5\) has 25 values, the bottom \(2, 4, 3\) has 24"),
        (RESHAPE, "axis: 4 " + dims(1), "axis 4 is out of range"),
        (RESHAPE, "axis: -5 " + dims(1), "axis -5 is out of range"),
        (RESHAPE, "num_axes: -2 " + dims(-1), "num_axes must be -1 .* found -2"),
        (RESHAPE, "axis: 2 num_axes: 2 " + dims(-1), "2 axes from 2 on"),
    ],
)
def test_settings_refused(layer, settings, message):
    with pytest.raises(NetError, match=message):
        LayerRun(LayerCase(layer % settings, [(2, 4, 3)]))


def test_an_empty_batch_has_nothing_to_infer():
    with pytest.raises(NetError, match="nothing fits the -1"):
        LayerRun(LayerCase(RESHAPE % dims(0, -1), [np.empty((0, 3))]))
    run = LayerRun(LayerCase(FLATTEN % "", [np.empty((0, 3, 2))]))
    assert run.forward()[0].shape == (0, 6)


def test_gradients_pass_through_a_chain_of_shared_memory():
    text = """
    force_backward: true
    layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 2 dim: 3 dim: 2 } } }
    layer { name: "t" type: "Input" top: "t" input_param { shape { dim: 4 dim: 3 } } }
    layer { name: "a" type: "Reshape" bottom: "x" top: "a" reshape_param { %s } }
    layer { name: "b" type: "Flatten" bottom: "a" top: "b" }
    layer { name: "c" type: "Concat" bottom: "b" top: "c" }
    layer { name: "d" type: "Slice" bottom: "c" top: "d" }
    layer { name: "e" type: "Flatten" bottom: "c" top: "e" }
    layer { name: "f" type: "EuclideanLoss" bottom: "d" bottom: "t" top: "f" }
    layer { name: "g" type: "EuclideanLoss" bottom: "e" bottom: "t" top: "g" }
    """
    net = Net(parse_text(text % dims(4, 3, 1), NetParameter()).message)
    for num in (1, 2):
        x, t = net.blobs[net.blob_ids["x"]], net.blobs[net.blob_ids["t"]]
        x.data[...] = np.arange(12).reshape(2, 3, 2) * num
        t.data[...] = 1
        net.forward()
        net.backward()
        np.testing.assert_array_equal(x.diff, 2 * (x.data - 1) / 4)

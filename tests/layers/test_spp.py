import math

import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.layer import Context
from pycaffe_dist.net import Net
from pycaffe_dist.proto.caffe_pb2 import NetParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.testing import LayerCase, LayerRun, check_layer


def spp(height, method="MAX"):
    return f'type: "SPP" spp_param {{ pyramid_height: {height} pool: {method} }}'


def bins(size, count):
    """First and last pixel of each bin, and its length with the padding in it."""
    kernel = math.ceil(size / count)
    pad = (kernel * count - size + 1) // 2
    for b in range(count):
        start = b * kernel - pad
        end = min(start + kernel, size + pad)
        yield max(start, 0), min(end, size), end - start


def pyramid(height, method):
    def reference(x):
        parts = []
        for level in range(height):
            rows, columns = (list(bins(size, 2**level)) for size in x.shape[2:])
            y = np.empty((*x.shape[:2], len(rows), len(columns)))
            for i, (h0, h1, sh) in enumerate(rows):
                for j, (w0, w1, sw) in enumerate(columns):
                    seen = x[:, :, h0:h1, w0:w1]
                    total = seen.sum(axis=(2, 3)) / (sh * sw)
                    y[..., i, j] = seen.max(axis=(2, 3)) if method == "MAX" else total
            parts.append(y.reshape(len(x), -1))
        return np.concatenate(parts, axis=1)

    return reference


@pytest.mark.parametrize("method", ["MAX", "AVE"])
@pytest.mark.parametrize("shape", [(2, 3, 9, 8), (1, 2, 7, 7), (2, 1, 12, 9)])
def test_pyramid(method, shape):
    case = LayerCase(spp(3, method), [shape], reference=pyramid(3, method))
    assert LayerRun(case).forward()[0].shape == (shape[0], 21 * shape[1])
    check_layer(case)


def test_one_level_is_not_flattened():
    case = LayerCase(spp(1), [(2, 3, 5, 4)], reference=lambda x: x.max(axis=(2, 3), keepdims=True))
    check_layer(case)


def test_large_images_have_shapes_without_values():
    net = f"""
        layer {{ name: "x" type: "Input" top: "x"
                 input_param {{ shape {{ dim: 4 dim: 3 dim: 1024 dim: 765 }} }} }}
        layer {{ name: "spp" bottom: "x" top: "y" {spp(5)} }}"""
    dry = Net(parse_text(net, NetParameter()).message, Context(dry=True))
    assert dry.blobs[-1].shape == (4, 1023)
    assert not any(blob.data_value.current for blob in dry.blobs)


def test_large_images_are_pooled():
    x = np.random.default_rng(0).standard_normal((1, 2, 300, 260))
    got = LayerRun(LayerCase(spp(5), [x])).forward()[0]
    np.testing.assert_array_equal(got, pyramid(5, "MAX")(x))


def test_drawn_and_expected():
    x = np.random.default_rng(0).random((2, 2, 8, 4))
    drawn = LayerRun(LayerCase(spp(2, "STOCHASTIC"), [x]))
    y = drawn.forward()[0]
    assert np.isin(y, x).all()
    drawn.backward([np.ones(y.shape)], [True])
    assert drawn.bottom[0].blob.diff.sum() == y.size
    expected = LayerRun(LayerCase(spp(1, "STOCHASTIC"), [x], phase="TEST")).forward()[0]
    want = (x**2).sum(axis=(2, 3)) / x.sum(axis=(2, 3))
    np.testing.assert_allclose(expected[..., 0, 0], want)


def test_shapes_may_change():
    run = LayerRun(LayerCase(spp(2), [(2, 3, 5, 4)]))
    for shape in ((1, 3, 9, 9), (3, 3, 9, 9), (2, 2, 4, 6)):
        run.bottom[0].blob.reshape(*shape)
        x = np.random.default_rng(0).standard_normal(shape)
        run.bottom[0].blob.data[...] = x
        run.layer.run_forward(run.bottom, run.top)
        np.testing.assert_array_equal(run.top[0].blob.data, pyramid(2, "MAX")(x))


def test_flops_are_those_of_its_levels():
    run = LayerRun(LayerCase(spp(2), [(1, 1, 8, 8)]))
    assert run.layer.flops(run.bottom, run.top) == 64 + 64


@pytest.mark.parametrize(
    ("layer", "shape", "message"),
    [
        ('type: "SPP"', (1, 1, 4, 4), "pyramid_height must be above 0"),
        (spp(2), (1, 4, 4), r"needs a bottom \(N, C, H, W\)"),
        (spp(3), (1, 1, 3, 3), "must be smaller than the kernel"),
        (spp(2, "STOCHASTIC"), (1, 1, 5, 4), "takes no pad"),
        (spp(40), (1, 1, 4, 4), "more bins than any image"),
    ],
)
def test_errors(layer, shape, message):
    with pytest.raises(NetError, match=message):
        LayerRun(LayerCase(layer, [shape]))

import numpy as np
import pytest

from pycaffe_dist.proto.caffe_pb2 import TEST
from pycaffe_dist.pycaffe.coord_map import (
    PASS_THROUGH_LAYERS,
    AxisMismatchException,
    UndefinedMapException,
    compose,
    coord_map,
    coord_map_from_to,
    crop,
    inverse,
)
from pycaffe_dist.pycaffe.net import Net
from pycaffe_dist.pycaffe.net_spec import NetSpec
from pycaffe_dist.pycaffe.net_spec import layers as L
from pycaffe_dist.pycaffe.net_spec import params as P


def conv_pool_deconv(ks=3, stride=1, pad=0, pool=2, dstride=2, dpad=0):
    n = NetSpec()
    n.data = L.Input(shape={"dim": [2, 1, 100, 100]})
    n.aux = L.Input(shape={"dim": [2, 1, 20, 20]})
    n.conv = L.Convolution(n.data, num_output=10, kernel_size=ks, stride=stride, pad=pad)
    n.pool = L.Pooling(n.conv, pool=P.Pooling.MAX, kernel_size=pool, stride=pool, pad=0)
    n.deconv = L.Deconvolution(
        n.pool, num_output=10, kernel_size=2 * dstride, stride=dstride, pad=dpad
    )
    return n


def the_map(n, top="deconv"):
    """Axis, scale and shift, the latter two as lists."""
    ax, a, b = coord_map_from_to(n[top], n.data)
    return ax, np.atleast_1d(a).tolist(), np.atleast_1d(b).tolist()


def test_down_and_up_again():
    assert the_map(conv_pool_deconv()) == (1, [1], [0])
    assert the_map(conv_pool_deconv(pool=4, dstride=4)) == (1, [1], [-1])


def test_pointwise_layers_change_nothing():
    n = conv_pool_deconv()
    n.relu = L.ReLU(n.deconv)
    n.conv1x1 = L.Convolution(n.relu, num_output=10, kernel_size=1, stride=1, pad=0)
    assert the_map(n, "relu") == the_map(n, "conv1x1") == the_map(n)
    for type_name in PASS_THROUGH_LAYERS:
        assert coord_map(getattr(L, type_name)(n.data).fn) == (None, 1, 0)


@pytest.mark.parametrize("pad", [1, 4, 10])
def test_padding_shifts_and_padding_a_deconvolution_shifts_back(pad):
    _, _, (b,) = the_map(conv_pool_deconv())
    assert the_map(conv_pool_deconv(pad=pad)) == (1, [1], [b - pad])
    assert the_map(conv_pool_deconv(dpad=pad)) == (1, [1], [b + pad])
    assert the_map(conv_pool_deconv(pad=pad, dpad=pad)) == (1, [1], [b])


def test_all_pairs_of_bottoms_and_tops_map_alike():
    n = conv_pool_deconv()
    n.one, n.two = L.Convolution(n.data, n.aux, ntop=2, num_output=1, kernel_size=5, stride=2)
    assert coord_map_from_to(n.one, n.data) == coord_map_from_to(n.two, n.aux) == (1, 2, 2)


def test_each_axis_for_itself():
    square, wide = conv_pool_deconv(), conv_pool_deconv(ks=5, stride=2, pad=10)
    both = conv_pool_deconv(ks=[3, 5], stride=[1, 2], pad=[0, 10])
    (ax1, a1, b1), (ax2, a2, b2), (ax, a, b) = map(the_map, (square, wide, both))
    assert ax == ax1 == ax2
    assert a == a1 + a2
    assert b == b1 + b2
    assert a1 != a2


def test_more_axes():
    n = NetSpec()
    n.data = L.Input(shape={"dim": [2, 3, 100, 100, 100]})
    n.conv = L.Convolution(n.data, num_output=10, kernel_size=3, stride=[1] * 3, pad=[0, 1, 2])
    n.pool = L.Pooling(n.conv, pool=P.Pooling.MAX, kernel_size=2, stride=2, pad=0)
    n.deconv = L.Deconvolution(n.pool, num_output=10, kernel_size=4, stride=2, pad=0)
    assert the_map(n) == (1, [1, 1, 1], [0, -1, -2])


@pytest.mark.parametrize("offset", [0, 3, 10])
def test_crop_of_a_crop(offset):
    n = conv_pool_deconv()
    ax, a, (b,) = the_map(n)
    n.crop = L.Crop(n.deconv, n.data, axis=2, offset=offset)
    assert the_map(n, "crop") == (ax, a, [b + offset])
    n.message = L.Crop(n.deconv, n.data, crop_param={"offset": offset})
    assert the_map(n, "message") == the_map(n, "crop")


def test_only_the_first_bottom_of_a_crop_has_coordinates():
    n = conv_pool_deconv()
    n.crop = L.Crop(n.aux, n.data, axis=2)
    with pytest.raises(RuntimeError):
        coord_map_from_to(n.crop, n.data)


def test_crop_makes_the_layer():
    n = conv_pool_deconv(pool=4, dstride=4)
    n.score = crop(n.deconv, n.data)
    layer = n.score.fn
    assert layer.type_name == "Crop"
    assert layer.inputs == (n.deconv, n.data)
    assert layer.params == {"crop_param": {"axis": 2, "offset": [1]}}


def test_the_crop_aligns_what_was_upsampled(tmp_path):
    """Deconvolution spreads each pooled pixel; after the crop it is back where it came from."""
    n = NetSpec()
    n.data = L.Input(shape={"dim": [1, 1, 12, 12]})
    n.pool = L.Pooling(n.data, pool=P.Pooling.AVE, kernel_size=3, stride=3)
    n.up = L.Deconvolution(
        n.pool,
        convolution_param={
            "num_output": 1,
            "kernel_size": 5,
            "stride": 3,
            "bias_term": False,
            "weight_filler": {"type": "bilinear"},
        },
    )
    n.crop = crop(n.up, n.data)
    (tmp_path / "net.prototxt").write_text(str(n.to_proto()))
    net = Net(str(tmp_path / "net.prototxt"), TEST)
    image = np.zeros((1, 1, 12, 12))
    image[0, 0, 3:6, 6:9] = 1
    found = net.forward(data=image)["crop"]
    assert found.shape == image.shape
    assert np.unravel_index(found.argmax(), found.shape) == (0, 0, 4, 7)


def test_crop_between_tops_of_pointwise_layers():
    n = conv_pool_deconv()
    top = crop(L.ReLU(n.data), n.data)
    assert top.fn.params == {"crop_param": {"axis": 2, "offset": [0]}}


def test_unconnected():
    n = conv_pool_deconv()
    n.ip = L.InnerProduct(n.deconv, num_output=10)
    with pytest.raises(RuntimeError, match="Could not compute map between tops"):
        coord_map_from_to(n.ip, n.data)
    with pytest.raises(UndefinedMapException, match="InnerProduct"):
        coord_map(n.ip.fn)


def test_tops_of_different_branches_meet_in_an_ancestor():
    n = conv_pool_deconv()
    n.conv2 = L.Convolution(n.pool, num_output=1, kernel_size=3)
    ax, a, b = coord_map_from_to(n.deconv, n.conv2)
    assert (ax, a.tolist(), b.tolist()) == (1, [0.5], [-1.75])


@pytest.mark.parametrize(
    ("net", "message"),
    [
        ({"pool": 3, "dstride": 2}, r"scale mismatch on crop \(a = \[1\.5\]\)"),
        ({"dpad": 10}, r"cannot crop negative offset \(b = \[10\.\]\)"),
        ({"ks": 4, "pad": 10}, r"cannot crop noninteger offset \(b = \[-9\.5\]\)"),
    ],
)
def test_crops_that_cannot_be(net, message):
    n = conv_pool_deconv(**net)
    with pytest.raises(AssertionError, match=message):
        crop(n.deconv, n.data)


def test_dilation_axis_and_message():
    data = L.Input()
    fn = L.Convolution(data, convolution_param={"kernel_size": 3, "dilation": 2, "axis": 2}).fn
    assert coord_map(fn) == (2, 1, -2)
    fn = L.Im2col(data, kernel_size=5, stride=2).fn
    assert coord_map(fn) == (1, 0.5, -1)


@pytest.mark.parametrize("name", ["pad_h", "kernel_w", "stride_h"])
def test_sizes_for_one_side(name):
    data = L.Input()
    for fn in (
        L.Pooling(data, kernel_size=3, **{name: 1}).fn,
        L.Convolution(data, convolution_param={name: 1}).fn,
    ):
        with pytest.raises(AssertionError, match="legacy _h/_w params"):
            coord_map(fn)


def test_algebra():
    f, g = (1, np.array([2.0]), np.array([3.0])), (1, np.array([0.5]), np.array([-1.0]))
    assert compose(f, g) == (1, 1, 1)  # 2 (x / 2 - 1) + 3
    assert compose(g, f) == (1, 1, 0.5)
    assert compose(f, inverse(f)) == (1, 1, 0)
    assert compose((None, 1, 0), f) == compose(f, (None, 1, 0)) == f
    with pytest.raises(AxisMismatchException):
        compose(f, (2, 1, 0))

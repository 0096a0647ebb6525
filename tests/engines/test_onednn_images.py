"""Images in one pass: the same bits as NumPy's several, for every order of pixels in memory."""

from itertools import product

import numpy as np
import pytest

from pycaffe_dist.data.transformer import Transformer
from pycaffe_dist.engines import NUMPY, create
from pycaffe_dist.engines.onednn.core.images import transform
from pycaffe_dist.proto.caffe_pb2 import TRAIN, TransformationParameter

RNG = np.random.default_rng(0)
SHAPE = (3, 23, 41)
ORDERS = {
    "planes": lambda x: x,
    "interleaved": lambda x: np.ascontiguousarray(x.transpose(1, 2, 0)).transpose(2, 0, 1),
    "other colours first": lambda x: np.ascontiguousarray(x[::-1].transpose(1, 2, 0))[
        :, :, ::-1
    ].transpose(2, 0, 1),
    "with a gap": lambda x: np.ascontiguousarray(
        np.concatenate([x, x[:1]]).transpose(1, 2, 0)
    ).transpose(2, 0, 1)[:3],
    "part of a larger one": lambda x: np.pad(x, ((0, 0), (2, 3), (5, 1)))[:, 2:-3, 5:-1],
}
MEANS = {
    "none": None,
    "one value": np.full((1, 1, 1), 104.5, np.float32),
    "values": np.array([104, 117, 123.25], np.float32).reshape(3, 1, 1),
    "image": RNG.random(SHAPE).astype(np.float32) * 255,
}


def by_numpy(image, mean, scale, place, out):
    mirrored, top, left = place
    _, rows, columns = out.shape
    mean = np.zeros((1, 1, 1), np.float32) if mean is None else mean
    whole = image.astype(np.float32) - mean
    whole = whole[:, :, ::-1] if mirrored else whole
    out[...] = whole[:, top : top + rows, left : left + columns]
    out *= np.float32(scale)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("mean", MEANS)
def test_every_kind_of_image(order, mean):
    image = ORDERS[order](RNG.integers(0, 256, SHAPE, np.uint8))
    places = [(0, 0, 0), (1, 3, 5), (0, 4, 9), (1, 0, 0)]
    sizes = [(19, 32), (5, 17), (1, 16), (19, 31)]
    for place, size, scale in product(places, sizes, (1.0, 0.00390625, 0.017)):
        want, got = (np.full((3, *size), 7, np.float32) for _ in range(2))
        by_numpy(image, MEANS[mean], scale, place, want)
        assert transform(image, MEANS[mean], scale, place, got)
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(
    ("image", "out"),
    [
        (np.zeros((1, 20, 20), np.float32), np.zeros((1, 20, 20), np.float32)),
        (np.zeros((1, 20, 20), np.uint8), np.zeros((1, 20, 20), np.float64)),
        (np.zeros((1, 20, 15), np.uint8), np.zeros((1, 20, 15), np.float32)),
        (np.zeros((1, 20, 40), np.uint8)[:, :, ::2], np.zeros((1, 20, 20), np.float32)),
    ],
    ids=["floats", "doubles", "narrow", "every second"],
)
def test_others_are_left_to_numpy(image, out):
    assert not transform(image, None, 1.0, (0, 0, 0), out)


@pytest.mark.parametrize("mirror", [False, True])
def test_a_transformer_gives_the_same_with_and_without(mirror):
    param = TransformationParameter(crop_size=17, mirror=mirror, scale=0.1, mean_value=[1, 2, 3])
    images = list(RNG.integers(0, 256, (6, *SHAPE), np.uint8))
    draws = RNG.integers(0, 1 << 32, (6, 2 + mirror), np.uint32)
    found = []
    for engine in (NUMPY, create("onednn")):
        transformer = Transformer(param, TRAIN)
        transformer.one_pass = engine.image_pass()
        out = np.empty((6, 3, 17, 17), np.float32)
        transformer.apply(images, draws, out)
        mixed = [images[0], images[1].astype(np.float32)]
        transformer.apply(mixed, draws[:2], out[:2])
        found.append(out)
    assert NUMPY.image_pass() is None
    np.testing.assert_array_equal(*found)

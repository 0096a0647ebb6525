import sys

import numpy as np
import pytest
from PIL import Image

from pycaffe_dist.errors import MissingPartError
from pycaffe_dist.proto.caffe_pb2 import BlobProto, BlobProtoVector, Datum
from pycaffe_dist.pycaffe import io

RNG = np.random.default_rng(3)


# -- messages --------------------------------------------------------------------------------------


def test_blob_with_the_old_four_dimensions():
    blob = BlobProto(num=1, channels=2, height=1, width=3, data=range(6), diff=range(6, 12))
    assert np.array_equal(io.blobproto_to_array(blob), np.arange(6).reshape(1, 2, 1, 3))
    assert np.array_equal(
        io.blobproto_to_array(blob, return_diff=True), np.arange(6, 12).reshape(1, 2, 1, 3)
    )


def test_one_old_dimension_makes_a_blob_old():
    blob = BlobProto(num=4, data=range(4))
    blob.shape.dim.append(4)
    with pytest.raises(ValueError):
        io.blobproto_to_array(blob)  # 4 x 0 x 0 x 0


def test_blob_with_a_shape():
    blob = BlobProto(data=range(6))
    blob.shape.dim.extend([3, 2])
    array = io.blobproto_to_array(blob)
    assert array.dtype == np.float64
    assert np.array_equal(array, np.arange(6).reshape(3, 2))


def test_several_values_need_a_shape():
    with pytest.raises(ValueError):
        io.blobproto_to_array(BlobProto(data=range(6)))


def test_one_value_needs_none():
    array = io.blobproto_to_array(BlobProto(data=[123]))
    assert array.shape == ()
    assert array == 123


def test_double_values_are_not_looked_at():
    blob = BlobProto(double_data=[1, 2])
    blob.shape.dim.append(2)
    with pytest.raises(ValueError):
        io.blobproto_to_array(blob)


@pytest.mark.parametrize("shape", [(), (5,), (2, 3), (2, 1, 3, 2), (2, 1, 2, 1, 3)])
def test_array_to_blob_and_back(shape):
    data, diff = RNG.random((2, *shape)).astype(np.float32)
    blob = io.array_to_blobproto(data, diff)
    assert tuple(blob.shape.dim) == shape
    assert not blob.HasField("num")
    assert np.array_equal(io.blobproto_to_array(blob), data)
    assert np.array_equal(io.blobproto_to_array(blob, True), diff)
    assert not io.array_to_blobproto(data).diff


def test_list_of_arrays_and_back():
    arrays = [RNG.random((2, 3)).astype(np.float32), np.arange(4)]
    text = io.arraylist_to_blobprotovector_str(arrays)
    assert [list(b.shape.dim) for b in BlobProtoVector.FromString(text).blobs] == [[2, 3], [4]]
    for found, expected in zip(io.blobprotovector_str_to_arraylist(text), arrays, strict=True):
        assert np.array_equal(found, expected)
    assert io.arraylist_to_blobprotovecor_str is io.arraylist_to_blobprotovector_str


def test_bytes_in_a_datum():
    pixels = RNG.integers(0, 256, (3, 2, 4)).astype(np.uint8)
    datum = io.array_to_datum(pixels, 7)
    assert (datum.channels, datum.height, datum.width, datum.label) == (3, 2, 4, 7)
    assert datum.data == pixels.tobytes()
    assert not datum.float_data
    back = io.datum_to_array(datum)
    assert back.dtype == np.uint8
    assert np.array_equal(back, pixels)
    back += 1  # the array is the caller's own


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_floats_in_a_datum(dtype):
    values = np.arange(24).reshape(3, 2, 4).astype(dtype)[:, ::-1]
    datum = io.array_to_datum(values)
    assert datum.data == b""
    back = io.datum_to_array(datum)
    assert back.dtype == np.float64
    assert np.array_equal(back, values)


def test_label_takes_room_only_if_given():
    array = np.ones((1, 2, 2), np.uint8)
    without, with_one = io.array_to_datum(array), io.array_to_datum(array, label=1)
    assert not without.HasField("label")
    assert len(without.SerializeToString()) < len(with_one.SerializeToString())
    assert io.array_to_datum(array, label=0).HasField("label")


def test_datum_has_three_axes():
    with pytest.raises(ValueError, match=r"Incorrect array shape.*3 axes, the array 2"):
        io.array_to_datum(np.ones((2, 2)))


def test_encoded_datum_is_not_pixels():
    with pytest.raises(ValueError, match="encoded"):
        io.datum_to_array(Datum(data=b"\xff\xd8", encoded=True))


# -- Transformer -----------------------------------------------------------------------------------


@pytest.fixture
def transformer():
    return io.Transformer({"data": (10, 3, 4, 5)})


def test_order_of_preprocessing(transformer):
    image = RNG.random((4, 5, 3))
    before = image.copy()
    mean = np.array([1.0, 2.0, 3.0])
    transformer.set_transpose("data", (2, 0, 1))
    transformer.set_channel_swap("data", (2, 0, 1))
    transformer.set_raw_scale("data", 255)
    transformer.set_mean("data", mean)
    transformer.set_input_scale("data", 0.5)
    found = transformer.preprocess("data", image)
    expected = np.empty((3, 4, 5))
    for channel, source in enumerate((2, 0, 1)):
        expected[channel] = (image[:, :, source] * 255 - mean[channel]) * 0.5
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    np.testing.assert_allclose(transformer.deprocess("data", found[None]), image, atol=1e-6)
    assert np.array_equal(image, before)


def test_nothing_set_only_converts(transformer):
    image = RNG.integers(0, 9, (4, 5, 3))
    found = transformer.preprocess("data", image)
    assert found.dtype == np.float32
    assert np.array_equal(found, image)


def test_preprocess_leaves_float32_images_alone(transformer):
    transformer.set_raw_scale("data", 255)
    image = RNG.random((4, 5, 3)).astype(np.float32)
    before = image.copy()
    transformer.preprocess("data", image)
    assert np.array_equal(image, before)


def test_preprocess_resizes_to_the_input(transformer):
    transformer.set_transpose("data", (2, 0, 1))
    image = RNG.random((8, 9, 3)).astype(np.float32)
    found = transformer.preprocess("data", image)
    np.testing.assert_allclose(found, io.resize_image(image, (4, 5)).transpose(2, 0, 1))


def test_deprocess_without_axes_of_one():
    transformer = io.Transformer({"data": (1, 1, 4, 5)})
    image = RNG.random((4, 5))
    assert transformer.deprocess("data", image[None, None]).shape == (4, 5)
    transformer.set_transpose("data", (2, 0, 1))
    assert np.array_equal(transformer.deprocess("data", image[None, None]), image[:, :, None])


@pytest.mark.parametrize(
    "mean",
    [
        np.arange(3.0),
        np.arange(20.0).reshape(4, 5),
        np.arange(20.0).reshape(1, 4, 5),
        np.arange(60.0).reshape(3, 4, 5),
    ],
)
def test_means_that_fit(transformer, mean):
    transformer.set_transpose("data", (2, 0, 1))
    transformer.set_mean("data", mean)
    image = RNG.random((4, 5, 3)).astype(np.float32)
    whole = mean.reshape(3, 1, 1) if mean.ndim == 1 else mean
    np.testing.assert_allclose(
        transformer.preprocess("data", image), image.transpose(2, 0, 1) - whole, atol=1e-5
    )


def test_mean_of_another_size_is_resized(transformer):
    mean = RNG.random((3, 7, 8)) * 100
    transformer.set_mean("data", mean)
    expected = io.resize_image(mean.transpose(1, 2, 0), (4, 5)).transpose(2, 0, 1)
    np.testing.assert_allclose(transformer.mean["data"], expected)
    transformer.set_mean("data", mean[0])
    np.testing.assert_allclose(
        transformer.mean["data"], io.resize_image(mean[0, :, :, None], (4, 5))[None, :, :, 0]
    )
    transformer.set_mean("data", np.full((3, 7, 8), 5.0))  # min and max are the same
    assert np.array_equal(transformer.mean["data"], np.full((3, 4, 5), 5.0))


@pytest.mark.parametrize(
    ("mean", "message"),
    [
        (np.ones(4), "Mean channels incompatible with input: 4 in the mean, 3 in data"),
        (np.ones((2, 4, 5)), "Mean channels incompatible"),
        (np.ones((1, 3, 4, 5)), "Mean shape invalid"),
        (np.float64(3), "Mean shape invalid"),
    ],
)
def test_means_that_cannot_fit(transformer, mean, message):
    with pytest.raises(ValueError, match=message):
        transformer.set_mean("data", mean)


def test_scripts_check_the_name_of_an_input_by_themselves(transformer):
    transformer._Transformer__check_input("data")
    with pytest.raises(Exception, match="nothing is not one of the net inputs"):
        transformer._Transformer__check_input("nothing")


def test_unknown_input_name(transformer):
    calls = [
        lambda: transformer.preprocess("x", np.ones((4, 5, 3))),
        lambda: transformer.deprocess("x", np.ones((3, 4, 5))),
        lambda: transformer.set_transpose("x", (2, 0, 1)),
        lambda: transformer.set_channel_swap("x", (2, 1, 0)),
        lambda: transformer.set_raw_scale("x", 1),
        lambda: transformer.set_mean("x", np.ones(3)),
        lambda: transformer.set_input_scale("x", 1),
    ]
    for call in calls:
        with pytest.raises(Exception, match=r"x is not one of the net inputs: .*data"):
            call()


def test_orders_of_the_wrong_length(transformer):
    with pytest.raises(Exception, match="same number of dimensions as the input"):
        transformer.set_transpose("data", (1, 0))
    with pytest.raises(Exception, match="same number of dimensions as the input channels"):
        transformer.set_channel_swap("data", (1, 0))


# -- images ----------------------------------------------------------------------------------------

PIXELS = RNG.integers(0, 256, (4, 6, 3)).astype(np.uint8)


def saved(tmp_path, image, name="image.png", **options):
    image.save(tmp_path / name, **options)
    return str(tmp_path / name)


def test_load_colours(tmp_path):
    found = io.load_image(saved(tmp_path, Image.fromarray(PIXELS)))
    assert found.dtype == np.float32
    assert np.array_equal(found, (PIXELS / 255).astype(np.float32))


def test_load_colours_as_grey(tmp_path):
    found = io.load_image(saved(tmp_path, Image.fromarray(PIXELS)), color=False)
    assert (found.shape, found.dtype) == ((4, 6, 1), np.float32)
    np.testing.assert_allclose(found[:, :, 0], PIXELS @ [0.2125, 0.7154, 0.0721] / 255, rtol=1e-6)


def test_load_grey(tmp_path):
    path = saved(tmp_path, Image.fromarray(PIXELS[:, :, 0]))
    grey = (PIXELS[:, :, :1] / 255).astype(np.float32)
    assert np.array_equal(io.load_image(path, color=False), grey)
    assert np.array_equal(io.load_image(path), np.tile(grey, (1, 1, 3)))


def test_alpha_is_dropped(tmp_path):
    alpha = np.dstack([PIXELS, RNG.integers(0, 256, (4, 6)).astype(np.uint8)])
    found = io.load_image(saved(tmp_path, Image.fromarray(alpha)))
    assert np.array_equal(found, (PIXELS / 255).astype(np.float32))
    grey = io.load_image(saved(tmp_path, Image.fromarray(alpha[:, :, 2:])), color=False)
    assert np.array_equal(grey, (PIXELS[:, :, 2:] / 255).astype(np.float32))


def test_palettes(tmp_path):
    image = Image.fromarray(PIXELS).convert("P", palette=Image.Palette.ADAPTIVE, colors=8)
    expected = (np.asarray(image.convert("RGB")) / 255).astype(np.float32)
    assert np.array_equal(io.load_image(saved(tmp_path, image)), expected)
    see_through = saved(tmp_path, image, "t.png", transparency=b"\x00\x80")
    assert np.array_equal(io.load_image(see_through), expected)


def test_16_bits_black_and_white_and_floats(tmp_path):
    deep = RNG.integers(0, 65536, (4, 6)).astype(np.uint16)
    found = io.load_image(saved(tmp_path, Image.fromarray(deep)), color=False)
    assert np.array_equal(found[:, :, 0], (deep / 65535).astype(np.float32))
    two = Image.fromarray(PIXELS[:, :, 0]).convert("1")
    found = io.load_image(saved(tmp_path, two), color=False)
    assert np.array_equal(found[:, :, 0], np.asarray(two).astype(np.float32))
    floats = RNG.random((4, 6)).astype(np.float32)
    found = io.load_image(saved(tmp_path, Image.fromarray(floats), "f.tif"))
    assert np.array_equal(found, np.dstack([floats] * 3))


def test_cmyk_becomes_rgb(tmp_path):
    path = saved(tmp_path, Image.new("CMYK", (6, 4), (0, 255, 255, 0)), "c.jpg", quality=100)
    np.testing.assert_allclose(io.load_image(path), np.tile([1.0, 0, 0], (4, 6, 1)), atol=0.02)


def test_missing_image(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nothing\.png"):
        io.load_image(str(tmp_path / "nothing.png"))


def bilinear(image, size, outside):
    """Pixel by pixel, pixels being squares with ``outside`` around the image."""
    height, width, channels = image.shape
    out = np.zeros((*size, channels))
    for i in range(size[0]):
        for j in range(size[1]):
            y = (i + 0.5) * height / size[0] - 0.5
            x = (j + 0.5) * width / size[1] - 0.5
            for r in (int(np.floor(y)), int(np.floor(y)) + 1):
                for c in (int(np.floor(x)), int(np.floor(x)) + 1):
                    inside = 0 <= r < height and 0 <= c < width
                    value = image[r, c] if inside else outside
                    out[i, j] += value * (1 - abs(y - r)) * (1 - abs(x - c))
    return out


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("size", [(4, 6), (8, 12), (2, 3), (7, 5), (1, 1), (3, 13)])
def test_resize_images(channels, size):
    image = (RNG.random((4, 6, channels)) * 200 - 50).astype(np.float32)
    found = io.resize_image(image, size)
    assert (found.shape, found.dtype) == ((*size, channels), np.float32)
    np.testing.assert_allclose(found, bilinear(image, size, image.min()), rtol=1e-5, atol=1e-4)


def test_resize_has_the_values_of_skimage():
    image = np.arange(12).reshape(2, 2, 3) * 3.0 - 5
    found = io.resize_image(image, [3, 4])
    expected = [  # scikit-image 0.26: resize(..., mode="constant", anti_aliasing=False)
        [-5, -3.125, 0.625, 0.625],
        [1.75, 6.25, 10.75, 8.5],
        [6.25, 11.875, 15.625, 11.875],
    ]
    np.testing.assert_allclose(found[:, :, 0], expected, atol=1e-5)


def test_resize_a_constant_image():
    found = io.resize_image(np.full((2, 3, 3), 7, np.uint8), (5, 4))
    assert found.dtype == np.float32
    assert np.array_equal(found, np.full((5, 4, 3), 7))


def test_resize_other_channel_counts_keeps_the_corners():
    image = RNG.random((4, 6, 2))
    found = io.resize_image(image, (7, 11))  # twice as fine
    assert found.dtype == np.float32
    np.testing.assert_allclose(found[::2, ::2], image, rtol=1e-6)
    np.testing.assert_allclose(found[1::2, ::2], (image[:-1] + image[1:]) / 2, rtol=1e-6)
    np.testing.assert_allclose(found[::2, 1::2], (image[:, :-1] + image[:, 1:]) / 2, rtol=1e-6)
    np.testing.assert_allclose(io.resize_image(image, (1, 1))[0, 0], image[0, 0], rtol=1e-6)


@pytest.mark.parametrize("channels", [1, 2])
def test_resize_to_nearest(channels):
    image = RNG.random((4, 6, channels)).astype(np.float32)
    found = io.resize_image(image, (9, 3), interp_order=0)
    values = set(image.ravel().tolist())
    assert set(found.ravel().round(6).tolist()) <= {float(np.float32(v).round(6)) for v in values}
    if channels == 1:
        np.testing.assert_allclose(found[0, :, 0], image[0, 1::2, 0], rtol=1e-6)
    else:
        np.testing.assert_allclose(found[0, :, 0], image[0, [0, 3, 5], 0], rtol=1e-6)


@pytest.mark.parametrize("order", range(2, 6))
@pytest.mark.parametrize("channels", [3, 2])
def test_resize_by_splines(order, channels):
    columns = np.arange(12, dtype=np.float32).reshape(1, 12, 1)
    image = np.broadcast_to(columns, (6, 12, channels))
    found = io.resize_image(image, (6, 24), interp_order=order)
    assert (found.shape, found.dtype) == ((6, 24, channels), np.float32)
    at = (np.arange(24) + 0.5) / 2 - 0.5 if channels == 3 else np.arange(24) * 11 / 23
    np.testing.assert_allclose(found[3, 8:16, 0], at[8:16], atol=0.2)  # a line stays a line
    if channels == 3:
        assert found.min() >= 0
        assert found.max() <= 11 + 1e-4


def test_resize_by_splines_without_scipy(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.ndimage", None)
    with pytest.raises(MissingPartError, match=r"interp_order 3 needs.*scipy(?s:.*)pip install"):
        io.resize_image(np.ones((2, 2, 3)), (4, 4), interp_order=3)


def test_resize_refuses_what_it_has_not():
    with pytest.raises(ValueError, match=r"interp_order 6: there are 0 .* to 5"):
        io.resize_image(np.ones((2, 2, 3)), (4, 4), interp_order=6)
    with pytest.raises(ValueError, match="three axes"):
        io.resize_image(np.ones((2, 2)), (4, 4))


def test_oversample():
    images = [RNG.random((6, 9, 2)).astype(np.float32) for _ in range(2)]
    crops = io.oversample(images, (4, 5))
    assert (crops.shape, crops.dtype) == ((20, 4, 5, 2), np.float32)
    places = [(0, 0), (0, 4), (2, 0), (2, 4), (1, 2)]
    for n, image in enumerate(images):
        for i, (y, x) in enumerate(places):
            crop = image[y : y + 4, x : x + 5]
            assert np.array_equal(crops[10 * n + i], crop)
            assert np.array_equal(crops[10 * n + 5 + i], crop[:, ::-1])


def test_oversample_rounds_the_centre_down():
    image = np.arange(5.0).reshape(1, 5, 1)
    assert np.array_equal(io.oversample([image], np.array([1, 2]))[4, 0, :, 0], [1, 2])


def test_oversample_needs_room():
    with pytest.raises(ValueError, match="crops of 4 x 7 do not fit into images of 6 x 6"):
        io.oversample([np.ones((6, 6, 1))], (4, 7))


def test_scripts_reach_the_messages_through_io():
    assert io.caffe_pb2.BlobProto is BlobProto

import numpy as np
import pytest

from pycaffe_dist.data.image import Color
from pycaffe_dist.data.transformer import Transformer, encoded_color, output_shape, read_mean
from pycaffe_dist.errors import FileError, NetError
from pycaffe_dist.proto.caffe_pb2 import TEST, TRAIN, BlobProto, TransformationParameter
from pycaffe_dist.proto.weights import write_binaryproto
from pycaffe_dist.rng import draw, set_random_seed

IMAGE = np.arange(3 * 5 * 6).reshape(3, 5, 6).astype(np.uint8)


def transformer(phase=TEST, seed=1, **param):
    made = Transformer(TransformationParameter(**param), phase)
    set_random_seed(seed)
    made.init_rand()
    return made


def apply(made, image=IMAGE, dtype=np.float32):
    out = np.full(output_shape(made.param, image.shape), np.nan, dtype)
    made.transform(image, out)
    return out


def test_nothing_asked_for():
    np.testing.assert_array_equal(apply(transformer()), IMAGE)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_mean_then_scale(dtype):
    out = apply(transformer(mean_value=[10], scale=0.1), dtype=dtype)
    want = (IMAGE.astype(dtype) - 10) * np.float32(0.1)
    assert out.dtype == dtype
    np.testing.assert_allclose(out, want, rtol=1e-7)
    values = [1, 2, 3]
    out = apply(transformer(mean_value=values))
    np.testing.assert_array_equal(out, IMAGE - np.array(values).reshape(3, 1, 1).astype("f4"))


def test_floats_are_taken_as_they_are():
    image = np.linspace(-1, 1, 12, dtype=np.float32).reshape(1, 3, 4)
    np.testing.assert_array_equal(apply(transformer(), image), image)


def test_the_middle_is_rounded_down():
    np.testing.assert_array_equal(apply(transformer(crop_size=2)), IMAGE[:, 1:3, 2:4])
    np.testing.assert_array_equal(apply(transformer(crop_size=5)), IMAGE[:, :, 0:5])


@pytest.mark.parametrize("phase", [TRAIN, TEST])
def test_mirror_is_thrown_in_both_phases(phase):
    made = transformer(phase, mirror=True)
    outs = [apply(made) for _ in range(20)]
    plain = [np.array_equal(out, IMAGE) for out in outs]
    mirrored = [np.array_equal(out, IMAGE[:, :, ::-1]) for out in outs]
    assert any(plain) and any(mirrored) and all(map(np.logical_xor, plain, mirrored))


def test_crops_are_random_in_training_only():
    made = transformer(TRAIN, crop_size=3)
    places = {tuple(apply(made)[0, 0, :1]) for _ in range(60)}
    assert len(places) == 12  # 3 rows × 4 columns
    again = transformer(TRAIN, crop_size=3)
    first = transformer(TRAIN, crop_size=3)
    for _ in range(5):
        np.testing.assert_array_equal(apply(first), apply(again))


def test_a_seed_is_drawn_only_if_needed():
    for param, phase, needed in [
        ({}, TRAIN, False),
        ({"crop_size": 3}, TEST, False),
        ({"crop_size": 3}, TRAIN, True),
        ({"mirror": True}, TEST, True),
    ]:
        made = transformer(phase, seed=9, **param)
        assert (made.rng is not None) == needed
        stream = np.random.RandomState(9).randint(0, 1 << 32, 2, dtype=np.uint32)
        assert draw() == stream[int(needed)]


def test_a_mean_image_is_cropped_and_mirrored_with_the_image(tmp_path):
    mean = np.random.default_rng(0).random((1, 3, 5, 6), np.float32)
    write_binaryproto(tmp_path / "mean", mean)
    made = transformer(TRAIN, crop_size=3, mirror=True, mean_file=str(tmp_path / "mean"))
    apart = transformer(TRAIN, crop_size=3, mirror=True)
    difference = IMAGE.astype(np.float32) - mean[0]
    for _ in range(10):
        np.testing.assert_array_equal(apply(made), apply(apart, difference))


@pytest.mark.parametrize("side", [147, 148, 227, 300])  # on both sides of CACHED // FEW bytes
def test_a_batch_is_its_images_one_by_one(side):
    shape = 3, side, side
    rng = np.random.default_rng(side)
    images = list(rng.integers(0, 256, (3, *shape), np.uint8))
    param = {"mean_value": [104, 117, 123], "scale": 0.5, "mirror": True}
    together, apart = transformer(TRAIN, **param), transformer(TRAIN, **param)
    out = np.full((3, *shape), np.nan, np.float32)
    together.apply(images, together.draws(3), out)
    np.testing.assert_array_equal(out, [apply(apart, image) for image in images])


def test_read_mean(tmp_path):
    path = tmp_path / "mean"
    flat = BlobProto(data=np.zeros(6))
    flat.shape.dim.extend([1, 2, 3])
    path.write_bytes(flat.SerializeToString())
    with pytest.raises(FileError, match=r"shape \(1, 2, 3\); a mean image is \(1, channels"):
        read_mean(str(path))
    write_binaryproto(path, np.arange(6, dtype=np.float32).reshape(1, 1, 2, 3))
    np.testing.assert_array_equal(read_mean(str(path)), [[[0, 1, 2], [3, 4, 5]]])


def test_refuses(tmp_path):
    with pytest.raises(NetError, match="both a mean_file and a mean_value"):
        transformer(mean_file="x", mean_value=[1])
    with pytest.raises(NetError, match=r"2 mean_value for 3 channels .colour.; give 1 or one"):
        apply(transformer(mean_value=[1, 2]))
    with pytest.raises(NetError, match="5 × 6 is smaller than crop_size 6"):
        apply(transformer(crop_size=6))
    with pytest.raises(NetError, match=r"gives \(3, 5, 6\), the batch takes \(3, 5, 5\)"):
        transformer().transform(IMAGE, np.empty((3, 5, 5), np.float32))
    write_binaryproto(tmp_path / "mean", np.zeros((1, 3, 5, 5), np.float32))
    with pytest.raises(NetError, match=r"mean has the shape \(3, 5, 5\), an image \(3, 5, 6\)"):
        apply(transformer(mean_file=str(tmp_path / "mean"), crop_size=5))
    says = r"mean has .*: its images have 3 channels \(colour\), these 1 channel \(grey\); `pcd"
    with pytest.raises(NetError, match=says):
        transformer(mean_file=str(tmp_path / "mean")).check((1, 5, 5), (1, 5, 5))
    says = r"it has 1 channel \(grey\), the batch 3 channels \(colour\): .* force_color"
    with pytest.raises(NetError, match=says):
        transformer().check((1, 5, 5), (3, 5, 5))


def test_encoded_color():
    assert encoded_color(TransformationParameter()) is Color.NATIVE
    assert encoded_color(TransformationParameter(force_color=True)) is Color.COLOR
    assert encoded_color(TransformationParameter(force_gray=True)) is Color.GRAY
    with pytest.raises(NetError, match="both force_color and force_gray"):
        encoded_color(TransformationParameter(force_gray=True, force_color=True))


@pytest.mark.parametrize("shape", [(3, 5, 6), (3, 16, 16), (2, 7, 12), (1, 5, 5), (3, 300, 304)])
@pytest.mark.parametrize("mean", ["none", "value", "file"])
def test_many_images_at_once_as_one_by_one(tmp_path, shape, mean):
    """Whatever the width, and whether so small that they are taken together or not."""
    rng = np.random.default_rng(0)
    images = list(rng.integers(0, 256, (9, *shape), dtype=np.uint8))
    param = {"crop_size": 5 if shape[1] < 100 else 297, "mirror": True, "scale": 0.3}
    if mean == "value":
        param["mean_value"] = [3.5]
    if mean == "file":
        write_binaryproto(tmp_path / "mean", rng.random((1, *shape), np.float32))
        param["mean_file"] = str(tmp_path / "mean")
    together, apart = transformer(TRAIN, **param), transformer(TRAIN, **param)
    size = output_shape(together.param, shape)
    out = np.full((9, *size), np.nan, np.float32)
    together.apply(images, together.draws(9), out)
    subtracted = together.mean if together.mean is not None else np.zeros((1, 1, 1), np.float32)
    for image, found in zip(images, out, strict=True):
        np.testing.assert_array_equal(found, apply(apart, image))
    # And as Caffe writes it, from the same draws.
    raw = transformer(TRAIN, **param).draws(9).tolist()
    for image, found, (flip, row, column) in zip(images, out, raw, strict=True):
        top, left = (n % (image.shape[a] - size[1] + 1) for n, a in ((row, 1), (column, 2)))
        window = np.s_[:, top : top + size[1], left : left + size[2]]
        part = image[window].astype(np.float32)
        part -= subtracted[window] if mean == "file" else subtracted
        part *= np.float32(0.3)
        np.testing.assert_array_equal(found, part[:, :, ::-1] if flip % 2 else part)

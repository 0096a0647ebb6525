"""What SSD does to images in training, piece by piece."""

import colorsys

import numpy as np
import pytest

from pycaffe_dist.data import annotations, augment, colors, samplers, scaling
from pycaffe_dist.errors import NetError
from pycaffe_dist.proto.caffe_pb2 import (
    BatchSampler,
    DistortionParameter,
    EmitConstraint,
    ExpansionParameter,
    NoiseParameter,
    ResizeParameter,
)
from pycaffe_dist.proto.text import parse_text

IMAGE = np.random.default_rng(4).integers(0, 256, (12, 16, 3)).astype(np.uint8)
MODES = ["LINEAR", "AREA", "NEAREST", "CUBIC", "LANCZOS4"]


def rng(seed=0):
    return np.random.default_rng(seed)


class TestColors:
    def test_hue_saturation_value(self):
        """As the standard library converts them, within the rounding of bytes."""
        found = colors.to_hsv(IMAGE).reshape(-1, 3).astype(float)
        for pixel, hsv in zip(IMAGE.reshape(-1, 3), found, strict=True):
            b, g, r = pixel / 255
            h, s, v = colorsys.rgb_to_hsv(r, g, b)
            away = abs(hsv - [h * 180, s * 255, v * 255])
            assert min(away[0], 180 - away[0]) <= 1 and (away[1:] <= 1).all()

    @pytest.mark.parametrize(
        ("there", "back", "off"),
        [(colors.to_hsv, colors.from_hsv, 6), (colors.to_ycrcb, colors.from_ycrcb, 2)],
    )
    def test_there_and_back(self, there, back, off):
        assert abs(back(there(IMAGE)).astype(int) - IMAGE).max() <= off

    def test_brightness_and_two_colours_as_opencv(self):
        """What cv2.cvtColor of OpenCV 4.14 gives."""
        image = np.array([[[10, 200, 30], [255, 0, 77], [3, 90, 251], [128, 127, 5]]], np.uint8)
        want = [[[128, 58, 61], [52, 146, 242], [128, 216, 57], [91, 67, 149]]]
        np.testing.assert_array_equal(colors.to_ycrcb(image), want)
        want = [[[0, 0, 111], [165, 255, 75], [221, 0, 0], [0, 171, 127]]]
        np.testing.assert_array_equal(colors.from_ycrcb(image), want)

    def test_grey_has_no_hue_nor_saturation(self):
        grey = np.repeat(np.arange(256, dtype=np.uint8)[None, :, None], 3, axis=2)
        hsv = colors.to_hsv(grey)
        assert not hsv[..., :2].any()
        np.testing.assert_array_equal(colors.from_hsv(hsv), grey)
        np.testing.assert_array_equal(colors.gray(grey)[..., 0], grey[..., 0])

    def test_lab(self):
        """White and black on the axis of L, red where it is known to be."""
        pixels = np.array([[[255, 255, 255], [0, 0, 0], [0, 0, 255]]], np.uint8)
        want = [[[100, 0, 0], [0, 0, 0], [53.24, 80.09, 67.20]]]
        np.testing.assert_allclose(colors.to_lab(pixels), want, atol=0.05)


class TestScaling:
    @pytest.mark.parametrize("mode", MODES)
    @pytest.mark.parametrize("size", [(7, 9), (30, 41), (12, 30)])
    def test_one_colour_stays_one(self, mode, size):
        plain = np.full((12, 16, 3), 77, np.uint8)
        found = scaling.resize_by(plain, *size, getattr(ResizeParameter, mode))
        assert found.shape == (*size, 3) and (found == 77).all()

    @pytest.mark.parametrize(
        ("mode", "want"),
        [
            ("LINEAR", [[0, 125, 144, 50], [50, 91, 129, 153], [100, 56, 114, 255]]),
            ("AREA", [[0, 133, 150, 50], [50, 93, 127, 153], [100, 53, 105, 255]]),
            ("AREA", [[0, 0, 200, 200, 50, 50]] * 2 + [[100, 100, 30, 30, 255, 255]] * 2),
            ("AREA", [[67, 100], [67, 100], [77, 180], [77, 180]]),
            ("NEAREST", [[0, 0, 200, 50], [0, 0, 200, 50], [100, 100, 30, 255]]),
            ("LANCZOS4", [[0, 159, 178, 14], [46, 87, 136, 153], [122, 16, 95, 255]]),
        ],
    )
    def test_larger_as_opencv(self, mode, want):
        """What cv2.resize of OpenCV 4.14 gives."""
        image = np.array([[0, 200, 50], [100, 30, 255]], np.uint8)[:, :, None]
        found = scaling.resize_by(image, *np.shape(want), getattr(ResizeParameter, mode))
        np.testing.assert_array_equal(found[:, :, 0], want)

    def test_nearest_takes_the_pixel_before_where_opencv_does(self):
        """There new pixel 25 is at 25·(1/(50/14)), a bit less than 7."""
        row = np.arange(14, dtype=np.uint8)[None, :, None]
        found = scaling.resize_by(row, 1, 50, ResizeParameter.NEAREST)[0, :, 0]
        assert found[24:28].tolist() == [6, 6, 7, 7]

    def test_half_by_area_is_the_mean_of_four(self):
        """A half is rounded up."""
        found = scaling.resize_by(IMAGE, 6, 8, ResizeParameter.AREA)
        want = IMAGE.reshape(6, 2, 8, 2, 3).mean(axis=(1, 3))
        np.testing.assert_array_equal(found, np.floor(want + 0.5))

    def test_nearest_repeats(self):
        found = scaling.resize_by(IMAGE, 24, 48, ResizeParameter.NEAREST)
        np.testing.assert_array_equal(found, IMAGE.repeat(2, 0).repeat(3, 1))

    @pytest.mark.parametrize("mode", ["LINEAR", "CUBIC", "LANCZOS4"])
    def test_a_slope_stays_a_slope(self, mode):
        slope = np.broadcast_to(np.arange(0, 200, 4, dtype=np.uint8)[None, :, None], (9, 50, 1))
        found = scaling.resize_by(slope, 9, 100, getattr(ResizeParameter, mode))[4, 20:-20, 0]
        assert abs(found - ((np.arange(100) + 0.5) / 2 - 0.5)[20:-20] * 4).max() <= 1

    @pytest.mark.parametrize(
        ("pad_mode", "above"), [("CONSTANT", 9), ("MIRRORED", 2), ("REPEAT_NEAREST", 1)]
    )
    def test_padding(self, pad_mode, above):
        """A wide image in a square: equal borders above and below."""
        image = np.arange(1, 4, dtype=np.uint8)[:, None, None] + np.zeros((3, 5, 1), np.uint8)
        words = "height: 5 width: 5 resize_mode: FIT_LARGE_SIZE_AND_PAD pad_value: 9"
        param = parse_text(f"{words} pad_mode: {pad_mode}", ResizeParameter()).message
        found = scaling.apply_resize(image, param, rng())
        assert found[0, 0, 0] == above
        np.testing.assert_array_equal(found[1:4], image)

    def test_of_several_ways_each_is_used(self):
        param = parse_text(
            "height: 6 width: 8 interp_mode: AREA interp_mode: NEAREST", ResizeParameter()
        ).message
        made = {scaling.apply_resize(IMAGE, param, rng(i)).tobytes() for i in range(20)}
        assert len(made) == 2


class TestDistortion:
    def distorted(self, words, seed=0, image=IMAGE):
        param = parse_text(words, DistortionParameter()).message
        return augment.distort(image, param, rng(seed)).astype(float)

    def test_nothing_is_asked_for(self):
        np.testing.assert_array_equal(self.distorted(""), IMAGE)

    def test_brightness_adds_one_number(self):
        middle = IMAGE // 2 + 64
        for seed in range(5):
            moved = self.distorted("brightness_prob: 1 brightness_delta: 20", seed, middle) - middle
            assert moved.min() == moved.max() and abs(moved).max() <= 20
        assert moved.any()

    def test_contrast_multiplies(self):
        found = self.distorted("contrast_prob: 1 contrast_lower: 0.5 contrast_upper: 0.5")
        np.testing.assert_array_equal(found, np.rint(IMAGE * 0.5))

    def test_without_saturation_it_is_grey(self):
        found = self.distorted("saturation_prob: 1 saturation_lower: 0 saturation_upper: 0")
        np.testing.assert_array_equal(found, np.repeat(IMAGE.max(2)[..., None], 3, axis=2))

    def test_hue_leaves_the_value(self):
        found = self.distorted("hue_prob: 1 hue_delta: 18", 3)
        assert abs(found.max(2) - IMAGE.max(2)).max() <= 1
        assert (found != IMAGE).any()

    def test_channels_change_places(self):
        found = [self.distorted("random_order_prob: 1", seed) for seed in range(10)]
        assert all((np.sort(f, axis=2) == np.sort(IMAGE, axis=2)).all() for f in found)
        assert len({f.tobytes() for f in found}) > 3

    def test_bounds_the_wrong_way_round(self):
        with pytest.raises(NetError, match="contrast_lower 2 and contrast_upper 1"):
            self.distorted("contrast_prob: 1 contrast_lower: 2 contrast_upper: 1")


def test_expansion():
    """The image stands somewhere in the new one, and the window says where."""
    param = parse_text("prob: 1 max_expand_ratio: 3", ExpansionParameter()).message
    for seed in range(8):
        found, window = augment.expand(IMAGE, param, np.array([10.0, 20, 30]), rng(seed))
        size = np.array([16, 12], float)
        left, top = np.rint(-window[:2] * size).astype(int)
        np.testing.assert_array_equal(found[top : top + 12, left : left + 16], IMAGE)
        np.testing.assert_allclose((window[2:] - window[:2]) * size, found.shape[1::-1], rtol=1e-5)
        assert 12 <= found.shape[0] <= 36
        found[top : top + 12, left : left + 16] = [10, 20, 30]
        assert (found == [10, 20, 30]).all()


@pytest.mark.parametrize("words", ["prob: 0 max_expand_ratio: 3", "prob: 1 max_expand_ratio: 1"])
def test_no_expansion(words):
    param = parse_text(words, ExpansionParameter()).message
    assert augment.expand(IMAGE, param, None, rng(1)) is None


class TestNoise:
    def noisy(self, words, image=IMAGE):
        return augment.noise(image, parse_text(words, NoiseParameter()).message, rng())

    def test_plain_changes(self):
        np.testing.assert_array_equal(self.noisy("inverse: true"), 255 - IMAGE)
        np.testing.assert_array_equal(self.noisy("posterize: true"), IMAGE // 64 * 64 + 32)
        np.testing.assert_array_equal(self.noisy("convert_to_hsv: true"), colors.to_hsv(IMAGE))
        assert self.noisy("convert_to_lab: true").dtype == np.float32
        grey = self.noisy("decolorize: true")
        assert (grey == grey[..., :1]).all()

    def test_erosion_takes_the_smallest_of_the_cross(self):
        image = np.full((5, 5, 1), 9, np.uint8)
        image[2, 2] = 1
        want = np.full((5, 5), 9)
        want[[1, 2, 2, 2, 3], [2, 1, 2, 3, 2]] = 1
        np.testing.assert_array_equal(self.noisy("erode: true", image)[..., 0], want)

    def test_blur_keeps_the_mean_and_lowers_the_peak(self):
        image = np.zeros((21, 21, 1), np.uint8)
        image[10, 10] = 255
        found = self.noisy("gauss_blur: true", image)[..., 0].astype(int)
        assert 15 < found.max() < 25 and abs(found.sum() - 255) < 15
        np.testing.assert_array_equal(found, found.T)

    def test_equal_histogram(self):
        """Values in the order they were, the smallest at 0, the largest at 255."""
        image = (IMAGE[..., :1] // 4 + 90).astype(np.uint8)
        found = self.noisy("hist_eq: true", image)
        assert (found.min(), found.max()) == (0, 255)
        order = np.argsort(image.reshape(-1), kind="stable")
        assert (np.diff(found.reshape(-1)[order].astype(int)) >= 0).all()
        plain = np.full((4, 4, 1), 7, np.uint8)
        np.testing.assert_array_equal(self.noisy("hist_eq: true", plain), plain)

    @pytest.mark.parametrize("shape", [(64, 64, 1), (50, 33, 3)])
    def test_local_equalization_raises_the_contrast(self, shape):
        ramp = (np.indices(shape[:2]).sum(0) // 8 + 100).astype(np.uint8)
        image = np.repeat(ramp[..., None], shape[2], axis=2)
        found = self.noisy("clahe: true", image)
        assert found.shape == shape and found.std() > image.std()

    @pytest.mark.parametrize(
        ("shape", "want", "total"),
        [
            ((120, 160), [[2, 86, 49, 182], [47, 141, 103, 217], [90, 170, 139, 248]], 2464345),
            ((19, 27), [[21, 128, 42, 144], [96, 144, 106, 194], [96, 144, 160, 239]], 74074),
        ],
    )
    def test_local_equalization_as_opencv(self, shape, want, total):
        """What cv2.createCLAHE of OpenCV 4.14 gives with a limit of 4; the second is padded."""
        y, x = np.indices(shape)
        image = ((x * x * 3 + y * 7) % 256).astype(np.uint8)[:, :, None]
        found = self.noisy("clahe: true", image)[:, :, 0]
        np.testing.assert_array_equal(found[:18:6, :20:5], want)
        assert found.sum() == total

    def test_jpeg(self):
        found = self.noisy("jpeg: 10")
        assert found.shape == IMAGE.shape and (found != IMAGE).any()

    def test_salt_and_pepper(self):
        found = self.noisy("saltpepper: true saltpepper_param { fraction: 0.25 value: 3 }")
        changed = (found != IMAGE).any(axis=2)
        assert 0.1 < changed.mean() <= 0.25
        assert (found[changed] == 3).all()


class TestSamplers:
    BOXES = np.array([[1, 0, 0.1, 0.1, 0.4, 0.5, 0], [2, 0, 0.6, 0.5, 0.9, 0.9, 0]], np.float32)

    def drawn(self, words, count=200):
        sampler = parse_text(f"max_trials: {count} {words}", BatchSampler()).message
        return np.array(samplers.windows(sampler, self.BOXES, rng()))

    def test_scale_and_ratio(self):
        """Of the area s², between the bounds, and in the image."""
        words = (
            "sampler { min_scale: 0.3 max_scale: 0.9 min_aspect_ratio: 0.5 max_aspect_ratio: 2 }"
        )
        found = self.drawn(words)
        width, height = found[:, 2] - found[:, 0], found[:, 3] - found[:, 1]
        scale = np.sqrt(width * height)
        assert scale.min() >= 0.3 - 1e-6 and scale.max() <= 0.9 + 1e-6 and scale.std() > 0.1
        assert ((width / height > 0.49) & (width / height < 2.01)).all()
        assert found.min() >= 0 and found.max() <= 1 + 1e-6

    @pytest.mark.parametrize("name", ["jaccard_overlap", "sample_coverage", "object_coverage"])
    def test_constraints(self, name):
        """Each window has an object that meets the bounds; and some are turned down."""
        words = "sampler { min_scale: 0.2 } sample_constraint { min_%s: 0.3 max_%s: 0.8 }"
        found = self.drawn(words % (name, name))
        assert 0 < len(found) < 200
        for window in found:
            values = []
            for box in self.BOXES[:, 2:6]:
                side = np.maximum(
                    np.minimum(box[2:], window[2:]) - np.maximum(box[:2], window[:2]), 0
                )
                both, own, other = (
                    side.prod(),
                    np.prod(window[2:] - window[:2]),
                    np.prod(box[2:] - box[:2]),
                )
                whole = {"jaccard_overlap": own + other - both, "sample_coverage": own}
                values.append(both / whole.get(name, other))
            assert any(0.3 - 1e-5 <= v <= 0.8 + 1e-5 for v in values)

    def test_no_more_than_asked_for(self):
        assert len(self.drawn("max_sample: 3")) == 3
        assert len(self.drawn("use_original_image: false")) == 0

    def test_without_objects_no_constraint_is_met(self):
        words = "sample_constraint { min_jaccard_overlap: 0.1 }"
        sampler = parse_text(words, BatchSampler()).message
        assert samplers.sample([sampler], self.BOXES[:0], rng()) is None


def test_projection_leaves_out_what_is_outside():
    boxes = np.array([[1, 0, 0.1, 0.1, 0.5, 0.5, 0], [1, 1, 0.8, 0.8, 1, 1, 0]], np.float32)
    window = np.array([0.3, 0.3, 0.7, 0.7], np.float32)
    found = annotations.projected(boxes, window)
    np.testing.assert_allclose(found, [[1, 0, 0, 0, 0.5, 0.5, 0]], atol=1e-6)
    least = parse_text("emit_type: MIN_OVERLAP emit_overlap: 0.3", EmitConstraint()).message
    assert not len(annotations.projected(boxes, window, least))


@pytest.mark.parametrize(
    ("image", "wanted", "size"),
    [
        ((7, 1), (14, 2), (14, 2)),  # 2 / (1/7) is 13.99... in single precision
        ((7, 1), (14, 3), (21, 3)),
        ((7, 1), (14, 1), (14, 2)),
    ],
)
def test_the_smaller_side_of_an_image_fits(image, wanted, size):
    words = f"resize_mode: FIT_SMALL_SIZE height: {wanted[0]} width: {wanted[1]}"
    resize = parse_text(words, ResizeParameter()).message
    assert annotations.fitted_size(resize, *image) == size


def test_too_large_a_scale_is_told():
    resize = parse_text(
        "resize_mode: FIT_SMALL_SIZE height: 10 width: 10 height_scale: 20 width_scale: 5",
        ResizeParameter(),
    ).message
    with pytest.raises(
        NetError, match="height_scale 20 and width_scale 5 are larger than the 10 × 20"
    ):
        annotations.extrapolated(np.zeros((1, 7), np.float32), resize, (10, 20), annotations.WHOLE)

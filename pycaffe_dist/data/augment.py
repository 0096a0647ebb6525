"""What SSD does to images in training: distortion of colours, expansion, noise."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.data.annotations import Window
from pycaffe_dist.data.colors import from_hsv, from_ycrcb, gray, to_hsv, to_lab, to_ycrcb
from pycaffe_dist.data.encoded import encode
from pycaffe_dist.data.image import Color, Pixels, decode
from pycaffe_dist.data.scaling import rounded
from pycaffe_dist.errors import NetError
from pycaffe_dist.proto.caffe_pb2 import (
    DistortionParameter,
    ExpansionParameter,
    NoiseParameter,
)

# -- distortion ------------------------------------------------------------------------------------


def distort(image: Pixels, param: DistortionParameter, rng: np.random.Generator) -> Pixels:
    """Brightness, then contrast before or behind saturation and hue, then the order of channels.

    Each with its probability: + U(−delta, delta) for brightness and hue, · U(lower, upper) for
    contrast and saturation.  A grey image has neither hue nor saturation.
    """

    def happens(probability: float) -> bool:
        return bool(rng.random() < probability)

    def contrast(image: Pixels) -> Pixels:
        if not happens(param.contrast_prob):
            return image
        return rounded(image * rng.uniform(*_ends(param, "contrast")))

    def brightness(image: Pixels) -> Pixels:
        if not happens(param.brightness_prob):
            return image
        return rounded(image + rng.uniform(-1, 1) * param.brightness_delta)

    def saturation_and_hue(image: Pixels) -> Pixels:
        for channel, probability in ((1, param.saturation_prob), (0, param.hue_prob)):
            if happens(probability) and image.shape[2] == 3:
                hsv = to_hsv(image)
                old = hsv[:, :, channel]
                if channel:
                    new = old * rng.uniform(*_ends(param, "saturation"))
                else:
                    new = old + rng.uniform(-1, 1) * param.hue_delta
                hsv[:, :, channel] = rounded(new)
                image = from_hsv(hsv)
        return image

    first, second = contrast, saturation_and_hue
    if happens(0.5):
        first, second = second, first
    image = second(first(brightness(image)))
    if happens(param.random_order_prob):
        image = image[:, :, rng.permutation(image.shape[2])]
    return image


def _ends(param: DistortionParameter, name: str) -> tuple[float, float]:
    low, high = getattr(param, f"{name}_lower"), getattr(param, f"{name}_upper")
    if not 0 <= low <= high:
        raise NetError(f"distort_param has {name}_lower {low:g} and {name}_upper {high:g}")
    return low, high


# -- expansion -------------------------------------------------------------------------------------


def expand(
    image: Pixels, param: ExpansionParameter, mean: Array | None, rng: np.random.Generator
) -> tuple[Pixels, Window] | None:
    """The image somewhere in a larger one of the mean's colour, up to max_expand_ratio times.

    Also what of the old image the new one is, as a window that reaches over it.  None where it is
    left as it is, by chance or because the ratio is 1.

    mean: (channels or 1,), or None for black.
    """
    if rng.random() > param.prob or abs(param.max_expand_ratio - 1) < 0.01:
        return None
    if param.max_expand_ratio < 1:
        raise NetError(f"expand_param has max_expand_ratio {param.max_expand_ratio:g}, below 1")
    ratio = rng.uniform(1, param.max_expand_ratio)
    height, width, channels = image.shape
    tall, wide = int(height * ratio), int(width * ratio)
    top, left = int(rng.uniform(0, tall - height)), int(rng.uniform(0, wide - width))
    out: Pixels = np.empty((tall, wide, channels), np.uint8)
    out[...] = 0 if mean is None else rounded(mean)
    out[top : top + height, left : left + width] = image
    corners = [-left / width, -top / height, (wide - left) / width, (tall - top) / height]
    return out, np.array(corners, np.float32)


# -- noise -----------------------------------------------------------------------------------------


def noise(image: Pixels, param: NoiseParameter, rng: np.random.Generator) -> Array:
    """What noise_param asks for, one after the other; its ``prob`` is not looked at, as in SSD."""
    if param.decolorize and image.shape[2] == 3:
        image = np.repeat(gray(image), 3, axis=2)
    if param.gauss_blur:
        image = blurred(image)
    if param.hist_eq:
        image = _by_brightness(image, equalized)
    if param.clahe:
        image = _by_brightness(image, locally_equalized)
    if param.jpeg > 0:
        color = Color.COLOR if image.shape[2] == 3 else Color.GRAY
        image = decode(encode(image, "jpg", int(param.jpeg)), color)
    if param.erode:
        image = eroded(image)
    if param.posterize:
        image = image // 64 * 64 + 32
    if param.inverse:
        image = 255 - image
    if param.saltpepper:
        image = sprinkled(image, param, rng)
    if param.convert_to_hsv:
        image = to_hsv(image)
    return to_lab(image) if param.convert_to_lab else image


def _by_brightness(image: Pixels, change: Callable[[Array], Array]) -> Pixels:
    """Change the one channel of a grey image, the brightness of a coloured one."""
    if image.shape[2] == 1:
        return np.asarray(change(image[:, :, 0]))[:, :, None]
    parts = to_ycrcb(image)
    parts[:, :, 0] = change(parts[:, :, 0])
    return from_ycrcb(parts)


def blurred(image: Pixels) -> Pixels:
    """A Gaussian of σ = 1.5 over 7 × 7 pixels, mirrored at the edges."""
    kernel = np.exp(-((np.arange(7) - 3) ** 2) / (2 * 1.5**2))
    kernel /= kernel.sum()
    wide = np.pad(image, [(3, 3), (3, 3), (0, 0)], "reflect").astype(np.float64)
    height, width = image.shape[:2]
    down = sum(weight * wide[i : i + height] for i, weight in enumerate(kernel))
    both = sum(weight * down[:, i : i + width] for i, weight in enumerate(kernel))
    return rounded(both)


def eroded(image: Pixels) -> Pixels:
    """The smallest of each pixel and its four neighbours."""
    wide = np.pad(image, [(1, 1), (1, 1), (0, 0)], "edge")
    across = np.minimum(wide[1:-1, :-2], wide[1:-1, 2:])
    return np.minimum(np.minimum(image, across), np.minimum(wide[:-2, 1:-1], wide[2:, 1:-1]))


def equalized(plane: Pixels) -> Pixels:
    """Brightness spread so that every value is about as frequent."""
    counts = np.bincount(plane.reshape(-1), minlength=256)
    first = int(counts.argmax() if counts.max() == plane.size else np.flatnonzero(counts)[0])
    rest = plane.size - counts[first]
    if not rest:
        return plane
    sums = np.cumsum(counts) - counts[: first + 1].sum()
    return rounded(np.maximum(sums, 0) * (255 / rest))[plane]


def locally_equalized(plane: Pixels, tiles: int = 8, limit: float = 4.0) -> Pixels:
    """CLAHE: equalized by tile, with counts clipped, and between tiles in proportion."""
    height, width = plane.shape
    if height % tiles or width % tiles:
        more = [(0, tiles - side % tiles) for side in plane.shape]
        whole = np.pad(plane, more, "reflect")
    else:
        whole = plane
    tall, wide = whole.shape[0] // tiles, whole.shape[1] // tiles
    cut = whole.reshape(tiles, tall, tiles, wide).swapaxes(1, 2).reshape(tiles * tiles, -1)
    offsets = np.arange(tiles * tiles)[:, None] * 256
    counts = np.bincount((cut + offsets).reshape(-1), minlength=tiles * tiles * 256)
    counts = counts.reshape(-1, 256)
    most = max(int(limit * cut.shape[1] / 256), 1)
    over = np.maximum(counts - most, 0).sum(axis=1)
    counts = np.minimum(counts, most) + np.array([_shared_out(number) for number in over])
    tables = rounded(np.cumsum(counts, axis=1).astype(np.float32) * np.float32(255 / cut.shape[1]))
    tables = tables.reshape(tiles, tiles, 256).astype(np.float32)
    rows, columns = (
        (np.arange(side, dtype=np.float32) * np.float32(1 / size) - np.float32(0.5))
        for side, size in ((height, tall), (width, wide))
    )
    (top, low, down), (left, right, across) = (_between(at, tiles) for at in (rows, columns))
    upper, lower = (
        tables[row[:, None], left, plane] * (1 - across)
        + tables[row[:, None], right, plane] * across
        for row in (top, low)
    )
    return rounded(upper * (1 - down[:, None]) + lower * down[:, None])


def _shared_out(number: int) -> Array:
    """(256,): so many counts, the same for each; of the rest one for each so-many-th."""
    each, rest = divmod(int(number), 256)
    out = np.full(256, each)
    if rest:
        out[:: 256 // rest][:rest] += 1
    return out


def _between(at: Array, tiles: int) -> tuple[Array, Array, Array]:
    """The two tiles that positions lie between, and how far behind the first they are."""
    first = np.floor(at)
    low, high = (np.clip(t, 0, tiles - 1).astype(np.intp) for t in (first, first + 1))
    return low, high, at - first


def sprinkled(image: Pixels, param: NoiseParameter, rng: np.random.Generator) -> Pixels:
    """``fraction`` of the pixels, drawn with repetition, in the colour ``value``."""
    given = param.saltpepper_param
    values = list(given.value)
    if len(values) not in (1, image.shape[2]):
        raise NetError(f"saltpepper_param has {len(values)} value for {image.shape[2]} channels")
    count = int(given.fraction * image.shape[0] * image.shape[1])
    out = image.copy()
    rows, columns = (rng.integers(side, size=count) for side in image.shape[:2])
    out[rows, columns] = np.array(values).astype(np.uint8)
    return out

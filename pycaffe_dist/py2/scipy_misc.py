"""``scipy.misc`` with its functions for images, which SciPy took away.

They work through Pillow, as SciPy's did: an array that is not of bytes is scaled to 0..255 by its
own smallest and largest values first.
"""

from __future__ import annotations

import numpy as np
from PIL import Image

from pycaffe_dist.py2.values import Value

Array = Value

_WAYS = {
    "nearest": Image.Resampling.NEAREST,
    "lanczos": Image.Resampling.LANCZOS,
    "bilinear": Image.Resampling.BILINEAR,
    "bicubic": Image.Resampling.BICUBIC,
    "cubic": Image.Resampling.BICUBIC,
}


def bytescale(
    data: Value, cmin: float | None = None, cmax: float | None = None, high: int = 255, low: int = 0
) -> Array:
    """An array as bytes: from ``cmin``..``cmax`` (its own range) to ``low``..``high``, rounded."""
    data = np.asarray(data)
    if data.dtype == np.uint8:
        return data
    lowest = float(data.min() if cmin is None else cmin)
    span = float(data.max() if cmax is None else cmax) - lowest
    scaled = (data - lowest) * ((high - low) / (span or 1.0)) + low
    return (scaled.clip(low, high) + 0.5).astype(np.uint8)


def toimage(
    arr: Value,
    high: int = 255,
    low: int = 0,
    cmin: float | None = None,
    cmax: float | None = None,
    pal: Value = None,
    mode: str | None = None,
    channel_axis: int | None = None,
) -> Value:
    """A picture of H × W values, or of three or four channels, wherever their axis is."""
    data = np.asarray(arr)
    if data.ndim == 2 and mode == "F":
        return Image.fromarray(data.astype(np.float32))
    if data.ndim == 3:
        if channel_axis is None:
            axes = [i for i, size in enumerate(data.shape) if size in (3, 4)]
            if not axes:
                raise ValueError("Could not find channel dimension.")
            channel_axis = 2 if 2 in axes else axes[0]
        data = np.moveaxis(data, channel_axis, 2)
    elif data.ndim != 2:
        raise ValueError("'arr' does not have a suitable array shape for any mode.")
    picture = Image.fromarray(np.ascontiguousarray(bytescale(data, cmin, cmax, high, low)))
    return picture if mode is None else picture.convert(mode)


def fromimage(im: Value, flatten: bool = False, mode: str | None = None) -> Array:
    """A picture as an array; flattened, grey as float32."""
    if mode is not None:
        im = im.convert(mode)
    elif im.mode == "P":
        im = im.convert("RGBA" if "transparency" in im.info else "RGB")
    elif im.mode == "1":
        im = im.convert("L")
    return np.array(im.convert("F") if flatten else im)


def imread(name: Value, flatten: bool = False, mode: str | None = None) -> Array:
    with Image.open(name) as im:
        return fromimage(im, flatten, mode)


def imsave(name: Value, arr: Value, format: str | None = None) -> None:
    toimage(arr, channel_axis=2 if np.ndim(arr) == 3 else None).save(name, format)


def imresize(arr: Value, size: Value, interp: str = "bilinear", mode: str | None = None) -> Array:
    """An image in another size: percent (an int), a factor (a float), or (height, width)."""
    im = toimage(arr, mode=mode)
    if isinstance(size, (int, np.integer)):
        wanted = tuple(int(side * size / 100.0) for side in im.size)
    elif isinstance(size, (float, np.floating)):
        wanted = tuple((np.array(im.size) * size).astype(int))
    else:
        wanted = (int(size[1]), int(size[0]))
    return fromimage(im.resize(wanted, resample=_WAYS[interp]))


def imrotate(arr: Value, angle: float, interp: str = "bilinear") -> Array:
    return fromimage(toimage(arr).rotate(angle, resample=_WAYS[interp]))


def imshow(arr: Value) -> None:
    toimage(arr).show()


def __getattr__(name: str) -> Value:
    """What went elsewhere: ``logsumexp``, ``comb``, ``factorial``."""
    import scipy.special  # type: ignore[import-untyped]

    try:
        return getattr(scipy.special, name)
    except AttributeError:
        raise AttributeError(f"scipy.misc has no {name!r} here") from None

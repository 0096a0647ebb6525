"""Names that modules had when Python 2 was young, put back into them.

They are only added: where a module still has a name, it stays.  A module of an installed package is
touched when it is imported.  Without a screen, windows of Matplotlib and OpenCV do not open.
"""

from __future__ import annotations

import collections.abc
import errno
import inspect
import itertools
import math
import os
import string
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from pycaffe_dist.py2.strings import ByteStr
from pycaffe_dist.pycaffe.modes import SETTINGS


def _string(module: Any) -> dict[str, Any]:
    methods: tuple[str, ...] = ("capitalize", "count", "expandtabs", "find", "index", "lower")
    methods += ("lstrip", "replace")
    methods += ("rfind", "rindex", "rstrip", "split", "strip", "swapcase", "translate", "upper")
    methods += ("zfill", "ljust", "rjust", "center")
    found: dict[str, Any] = {
        name: (lambda s, *args, _name=name: getattr(s, _name)(*args)) for name in methods
    }
    return {
        **found,
        "atof": float,
        "atoi": int,
        "atol": int,
        "join": lambda words, sep=" ": sep.join(words),
        "joinfields": lambda words, sep=" ": sep.join(words),
        "letters": string.ascii_letters,
        "lowercase": string.ascii_lowercase,
        "maketrans": str.maketrans,
        "uppercase": string.ascii_uppercase,
    }


def _types(module: Any) -> dict[str, Any]:
    kinds = {"String": str, "Unicode": str, "Int": int, "Long": int, "Float": float, "List": list}
    kinds |= {"Tuple": tuple, "Dict": dict, "Boolean": bool, "None": type(None)}
    kinds |= {"Class": type, "Type": type, "Slice": slice, "Instance": object}
    return {f"{name}Type": kind for name, kind in kinds.items()} | {"StringTypes": (str, bytes)}


def _os(module: Any) -> dict[str, Any]:
    return {"errno": errno, "getcwdu": module.getcwd}


def _sys(module: Any) -> dict[str, Any]:
    return {
        "exc_clear": lambda: None,
        "maxint": sys.maxsize,
        "setdefaultencoding": lambda encoding: None,
    }


def _time(module: Any) -> dict[str, Any]:
    return {"clock": time.process_time}


def _itertools(module: Any) -> dict[str, Any]:
    return {
        "ifilter": filter,
        "ifilterfalse": itertools.filterfalse,
        "imap": map,
        "izip": zip,
        "izip_longest": itertools.zip_longest,
    }


def _fractions(module: Any) -> dict[str, Any]:
    return {"gcd": math.gcd}


def _platform(module: Any) -> dict[str, Any]:
    return {"linux_distribution": lambda *args: ("", "", ""), "dist": lambda *args: ("", "", "")}


def _collections(module: Any) -> dict[str, Any]:
    return {name: getattr(collections.abc, name) for name in collections.abc.__all__}


def _inspect(module: Any) -> dict[str, Any]:
    def getargspec(function: Any) -> Any:
        spec = inspect.getfullargspec(function)
        return ArgSpec(spec.args, spec.varargs, spec.varkw, spec.defaults)

    ArgSpec = collections.namedtuple("ArgSpec", "args varargs keywords defaults")
    return {"getargspec": getargspec}


def _urllib(module: Any) -> dict[str, Any]:
    request = ("urlopen", "urlretrieve", "urlcleanup")
    parse = ("quote", "quote_plus", "unquote", "unquote_plus", "urlencode")
    return {
        **{
            name: getattr(urllib.request, name) for name in request if hasattr(urllib.request, name)
        },
        **{name: getattr(urllib.parse, name) for name in parse},
    }


def _configparser(module: Any) -> dict[str, Any]:
    return {"SafeConfigParser": module.ConfigParser}


def _image(module: Any) -> dict[str, Any]:
    module.Image.tostring = lambda self, *args: ByteStr(self.tobytes(*args))
    return {
        "ANTIALIAS": module.Resampling.LANCZOS,
        "LINEAR": module.Resampling.BILINEAR,
        "CUBIC": module.Resampling.BICUBIC,
        "fromstring": module.frombytes,
    }


def _image_draw(module: Any) -> dict[str, Any]:
    def textsize(self: Any, text: str, *args: Any, **kwargs: Any) -> tuple[int, int]:
        left, top, right, bottom = self.textbbox((0, 0), text, *args, **kwargs)
        return int(right - left), int(bottom - top)

    if not hasattr(module.ImageDraw, "textsize"):
        module.ImageDraw.textsize = textsize
    return {}


def _h5py(module: Any) -> dict[str, Any]:
    if not hasattr(module.Dataset, "value"):
        module.Dataset.value = property(lambda self: self[()])
    return {}


def _numpy_random(module: Any) -> dict[str, Any]:
    def random_integers(low: int, high: int | None = None, size: Any = None) -> Any:
        low, high = (1, low) if high is None else (low, high)
        return module.randint(low, high + 1, size)

    return {"random_integers": random_integers}


def _numpy_lib(module: Any) -> dict[str, Any]:
    import numpy as np

    return {"pad": np.pad}


def _headless() -> bool:
    return not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _cv2(module: Any) -> dict[str, Any]:
    if _headless():  # a window is not worth the script's end
        for name in ("destroyAllWindows", "imshow", "moveWindow", "namedWindow", "resizeWindow"):
            setattr(module, name, lambda *args, **kwargs: None)
        module.waitKey = lambda delay=0: -1
    old = {"CV_LOAD_IMAGE_UNCHANGED": -1, "CV_LOAD_IMAGE_GRAYSCALE": 0, "CV_LOAD_IMAGE_COLOR": 1}
    old["CV_AA"] = module.LINE_AA
    frames = {f"CV_{n}": getattr(module, n) for n in dir(module) if n.startswith("CAP_PROP_")}
    return {**old, "cv": SimpleNamespace(**old, **frames)}


def _matplotlib(module: Any) -> dict[str, Any]:
    use = module.use

    def use_one_that_works(backend: str, *args: Any, **kwargs: Any) -> None:
        use("Agg" if _headless() else backend, *args, **kwargs)

    module.use = use_one_that_works
    return {}


def _skimage_io(module: Any) -> dict[str, Any]:
    imread = module.imread

    def with_old_words(fname: Any, as_gray: bool = False, *args: Any, **kwargs: Any) -> Any:
        return imread(fname, kwargs.pop("as_grey", as_gray), *args, **kwargs)

    module.imread = with_old_words
    return {}


def _pyplot(module: Any) -> dict[str, Any]:
    return {"hold": lambda *args: None}


def _axes(module: Any) -> dict[str, Any]:
    axes = module.Axes
    for old, new in (("set_axis_bgcolor", "set_facecolor"),):
        if not hasattr(axes, old):
            setattr(axes, old, getattr(axes, new))
    if not hasattr(axes, "hold"):
        axes.hold = lambda self, *args: None
    hist = axes.hist

    def with_old_words(self: Any, *args: Any, **kwargs: Any) -> Any:
        if "normed" in kwargs:
            kwargs["density"] = bool(kwargs.pop("normed"))
        return hist(self, *args, **kwargs)

    axes.hist = with_old_words
    return {}


def _figure_canvas(module: Any) -> dict[str, Any]:
    if not hasattr(module.FigureCanvasBase, "set_window_title"):
        module.FigureCanvasBase.set_window_title = lambda self, title: None
    return {}


def _colours(module: Any) -> dict[str, Any]:
    spectral = (
        module.get_cmap("nipy_spectral") if hasattr(module, "get_cmap") else module.nipy_spectral
    )
    return {"spectral": spectral}


def _pycaffe(module: Any) -> dict[str, Any]:
    """Caffe of 2014: the phase was the process's, mode and preparation of images the net's."""

    def phase(value: int) -> Callable[..., None]:
        return lambda *net: setattr(SETTINGS, "phase", value)

    old: dict[str, Any] = {
        "set_phase_test": phase(module.TEST),
        "set_phase_train": phase(module.TRAIN),
        "set_logging_disabled": lambda: module.init_log(2),
    }
    for name in ("set_phase_test", "set_phase_train"):
        setattr(module.Net, name, old[name])
    for name in ("set_mode_cpu", "set_mode_gpu", "set_device"):
        function = getattr(module, name)
        setattr(module.Net, name, lambda net, *args, _set=function: _set(*args))
    for name in ("set_mean", "set_raw_scale", "set_channel_swap", "set_input_scale"):
        method = getattr(module.io.Transformer, name)
        setattr(module.Net, name, lambda net, *args, _set=method: _set(net.transformer, *args))
    return old


def _ndimage(module: Any) -> dict[str, Any]:
    from pycaffe_dist.py2.scipy_misc import imread

    return {"imread": imread}


# What to add to a module, by its name.
ADDED: dict[str, Callable[[Any], dict[str, Any]]] = {
    "PIL.Image": _image,
    "PIL.ImageDraw": _image_draw,
    "collections": _collections,
    "configparser": _configparser,
    "cv2": _cv2,
    "fractions": _fractions,
    "h5py": _h5py,
    "inspect": _inspect,
    "itertools": _itertools,
    "matplotlib": _matplotlib,
    "matplotlib.axes": _axes,
    "matplotlib.backend_bases": _figure_canvas,
    "matplotlib.cm": _colours,
    "matplotlib.pyplot": _pyplot,
    "numpy.lib": _numpy_lib,
    "numpy.random": _numpy_random,
    "os": _os,
    "platform": _platform,
    "pycaffe_dist": _pycaffe,
    "scipy.ndimage": _ndimage,
    "skimage.io": _skimage_io,
    "string": _string,
    "sys": _sys,
    "time": _time,
    "types": _types,
    "urllib": _urllib,
}


def add_names(module: Any) -> None:
    """Give a module the names that it had."""
    for name, value in ADDED[module.__name__](module).items():
        if not hasattr(module, name):
            setattr(module, name, value)

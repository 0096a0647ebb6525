"""Matplotlib."""

from __future__ import annotations

import functools
import importlib
import os
from collections.abc import Callable

import numpy as np

from pycaffe_dist.py2.added.words import Adding, in_place, old_words
from pycaffe_dist.py2.shadows import numpy as numpy_2015
from pycaffe_dist.py2.strings import ByteStr
from pycaffe_dist.py2.values import Names, Value

GONE_BACKENDS = ("qt4", "gtk", "cocoa")
STYLES = "seaborn-v0_8"  # of the styles "seaborn", "seaborn-whitegrid" and others
SPECTRAL = {"spectral": "nipy_spectral", "spectral_r": "nipy_spectral_r"}


def headless() -> bool:
    return not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _matplotlib(module: Value) -> Names:
    use = module.use

    def use_one_that_works(backend: str, *args: Value, **kwargs: Value) -> None:
        try:
            use("Agg" if headless() else backend, *args, **kwargs)
        except ValueError:  # Qt4Agg, GTKAgg and others are gone: Matplotlib chooses
            if not backend.lower().startswith(GONE_BACKENDS):
                raise

    module.use = use_one_that_works
    return {}


def _with_a_place(legend: Value) -> Value:
    """``legend(labels, 'upper left')``: behind labels came the place."""

    @functools.wraps(legend)
    def call(*args: Value, **kwargs: Value) -> Value:
        *labels, place = args or (None,)
        if labels and isinstance(labels[-1], (list, tuple)) and isinstance(place, (str, int)):
            return legend(*labels, loc=place, **kwargs)
        return legend(*args, **kwargs)

    return call


def _pyplot(module: Value) -> Names:
    in_place(module, ("legend",), _with_a_place)
    in_place(module, ("axes", "subplot"), lambda f: old_words(f, axisbg="facecolor"))
    in_place(module, ("bar",), lambda f: old_words(f, left="x"))
    in_place(module, ("hist", "imshow", "plot", "scatter"), lambda f: old_words(f, hold=None))
    if headless():
        in_place(module, ("switch_backend",), lambda switch: lambda backend: switch("agg"))
    return {"hold": lambda *args: None}


def _axes(module: Value) -> Names:
    axes = module.Axes
    for what in ("get", "set"):
        if not hasattr(axes, f"{what}_axis_bgcolor"):
            setattr(axes, f"{what}_axis_bgcolor", getattr(axes, f"{what}_facecolor"))
    if not hasattr(axes, "hold"):
        axes.hold = lambda self, *args: None
    words: dict[str, dict[str, str | None]] = {
        "bar": {"left": "x"},
        "grid": {"b": "visible"},
        "hist": {"normed": "density"},
        "set_xlim": {"xmin": "left", "xmax": "right"},
        "set_ylim": {"ymin": "bottom", "ymax": "top"},
    }
    for name, new_words in words.items():
        setattr(axes, name, old_words(getattr(axes, name), **new_words))
    in_place(axes, ("legend",), _with_a_place)
    for axis in "xy":
        in_place(axes, (f"set_{axis}scale", f"semilog{axis}", "loglog"), _scale_words(axis))
    axes.tick_params = _on_and_off(axes.tick_params)
    if not hasattr(axes, "set_color_cycle"):
        axes.set_color_cycle = lambda self, colours: self.set_prop_cycle(color=colours)
    return {}


def _scale_words(axis: str) -> Callable[[Value], Value]:
    """``set_yscale('log', basey=10)``: the words had the axis in them."""
    same = ("base", "linscale", "linthresh", "subs")
    words = {**{f"{word}{axis}": word for word in same}, f"nonpos{axis}": "nonpositive"}
    return lambda function: old_words(function, **words)


def _on_and_off(function: Value) -> Value:
    """``bottom='off'`` means False."""

    @functools.wraps(function)
    def call(*args: Value, **kwargs: Value) -> Value:
        truths = {"on": True, "off": False}
        known = {k: truths.get(v, v) if isinstance(v, str) else v for k, v in kwargs.items()}
        return function(*args, **known)

    return call


def _figure(module: Value) -> Names:
    figure = module.Figure
    figure.add_subplot = old_words(figure.add_subplot, axisbg="facecolor")
    figure.savefig = old_words(figure.savefig, frameon=None)
    gca = figure.gca

    @functools.wraps(gca)
    def with_words(self: Value, **kwargs: Value) -> Value:
        """``gca(projection='3d')`` makes axes."""
        return self.add_subplot(**kwargs) if kwargs else gca(self)

    figure.gca = with_words
    return {}


def _figure_canvas(module: Value) -> Names:
    if not hasattr(module.FigureCanvasBase, "set_window_title"):
        module.FigureCanvasBase.set_window_title = lambda self, title: None
    return {}


def _agg(module: Value) -> Names:
    def tostring_rgb(self: Value) -> ByteStr:
        return ByteStr(np.asarray(self.buffer_rgba())[..., :3].tobytes())

    if not hasattr(module.FigureCanvasAgg, "tostring_rgb"):
        module.FigureCanvasAgg.tostring_rgb = tostring_rgb
    return {}


def _colours(module: Value) -> Names:
    maps = module._colormaps
    for old, new in SPECTRAL.items():
        if old not in maps:
            maps.register(maps[new], name=old)

    def get_cmap(name: Value = None, lut: int | None = None) -> Value:
        default = importlib.import_module("matplotlib").rcParams["image.cmap"]
        found = maps[name or default] if name is None or isinstance(name, str) else name
        return found if lut is None else found.resampled(lut)

    return {**{old: maps[old] for old in SPECTRAL}, "get_cmap": get_cmap}


def _style(module: Value) -> Names:
    """``style.use('seaborn-whitegrid')``."""
    use = module.use

    def known(style: Value) -> Value:
        seaborn = isinstance(style, str) and style.startswith("seaborn")
        return style.replace("seaborn", STYLES) if seaborn and STYLES not in style else style

    def use_known(style: Value) -> None:
        use([known(s) for s in style] if isinstance(style, (list, tuple)) else known(style))

    module.use = use_known
    return {}


def _pylab(module: Value) -> Names:
    """It has all of NumPy's names: those that mean something else today as they were."""
    for name in ("np", "numpy"):
        if hasattr(module, name):
            setattr(module, name, numpy_2015)
    for name in numpy_2015.OURS:
        if getattr(module, name, None) is getattr(np, name, numpy_2015):
            setattr(module, name, getattr(numpy_2015, name))
    return {"find": _find}


def _find(condition: Value) -> Value:
    return np.nonzero(np.ravel(condition))[0]


def _mlab(module: Value) -> Names:
    def normpdf(x: Value, mu: Value, sigma: Value) -> Value:
        return np.exp(-0.5 * ((x - mu) / sigma) ** 2) / (np.sqrt(2 * np.pi) * sigma)

    return {"find": _find, "normpdf": normpdf}


ADDED: dict[str, Adding] = {
    "matplotlib": _matplotlib,
    "matplotlib.axes": _axes,
    "matplotlib.backend_bases": _figure_canvas,
    "matplotlib.backends.backend_agg": _agg,
    "matplotlib.cm": _colours,
    "matplotlib.figure": _figure,
    "matplotlib.mlab": _mlab,
    "matplotlib.pylab": _pylab,
    "matplotlib.pyplot": _pyplot,
    "matplotlib.style": _style,
    "pylab": _pylab,
}

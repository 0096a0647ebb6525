"""Matplotlib."""

from __future__ import annotations

import functools
import os

import numpy as np

from pycaffe_dist.py2.added.words import Adding, in_place, old_words
from pycaffe_dist.py2.strings import ByteStr
from pycaffe_dist.py2.values import Names, Value

STYLES = "seaborn-v0_8"  # of the styles "seaborn", "seaborn-whitegrid" and others
SPECTRAL = {"spectral": "nipy_spectral", "spectral_r": "nipy_spectral_r"}


def headless() -> bool:
    return not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _matplotlib(module: Value) -> Names:
    use = module.use

    def use_one_that_works(backend: str, *args: Value, **kwargs: Value) -> None:
        use("Agg" if headless() else backend, *args, **kwargs)

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
    return {"hold": lambda *args: None}


def _axes(module: Value) -> Names:
    axes = module.Axes
    for old, new in (("set_axis_bgcolor", "set_facecolor"),):
        if not hasattr(axes, old):
            setattr(axes, old, getattr(axes, new))
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
    axes.tick_params = _on_and_off(axes.tick_params)
    if not hasattr(axes, "set_color_cycle"):
        axes.set_color_cycle = lambda self, colours: self.set_prop_cycle(color=colours)
    return {}


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
    return {old: maps[old] for old in SPECTRAL}


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
    "matplotlib.pyplot": _pyplot,
    "matplotlib.style": _style,
    "pylab": lambda module: {"find": _find},
}

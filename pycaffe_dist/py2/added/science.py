"""Parts of NumPy, SciPy, scikit-learn, pandas and h5py."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from pycaffe_dist.py2.added.words import Adding, in_place, old_words
from pycaffe_dist.py2.operations import whole


def _h5py(module: Any) -> dict[str, Any]:
    if not hasattr(module.Dataset, "value"):
        module.Dataset.value = property(lambda self: self[()])
    return {}


def _numpy_random(module: Any) -> dict[str, Any]:
    def random_integers(low: int, high: int | None = None, size: Any = None) -> Any:
        low, high = (1, low) if high is None else (low, high)
        return module.randint(low, high + 1, size)

    names = ("choice", "normal", "permutation", "rand", "randint", "randn", "random", "uniform")
    in_place(module, (*names, "random_sample"), _whole_sizes)
    return {"random_integers": random_integers}


def _whole_sizes(function: Any) -> Any:
    """A size may be a float, as a quotient is."""
    shape = function.__name__ in ("rand", "randn")

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except TypeError:
            first = 0 if shape else 1
            sizes = (whole(arg) for arg in args[first:])
            return function(*args[:first], *sizes, **{k: whole(v) for k, v in kwargs.items()})

    return call


def _numpy_lib(module: Any) -> dict[str, Any]:
    return {"pad": np.pad}


def _ndimage(module: Any) -> dict[str, Any]:
    from pycaffe_dist.py2.scipy_misc import imread

    return {"imread": imread}


def _scipy(module: Any) -> dict[str, Any]:
    """All of NumPy was in it."""
    names = {name: getattr(np, name) for name in np.__all__}
    return {**names, "rand": np.random.rand, "randn": np.random.randn}


def _integrate(module: Any) -> dict[str, Any]:
    new = {"simps": "simpson", "trapz": "trapezoid", "cumtrapz": "cumulative_trapezoid"}
    return {old: getattr(module, name) for old, name in new.items()}


def _signal(module: Any) -> dict[str, Any]:
    names = ("bartlett", "blackman", "gaussian", "hamming", "hann", "kaiser", "triang")
    return {**{n: getattr(module.windows, n) for n in names}, "hanning": module.windows.hann}


def _linalg(module: Any) -> dict[str, Any]:
    return {"pinv2": module.pinv}


def _manifold(module: Any) -> dict[str, Any]:
    module.TSNE = old_words(module.TSNE, n_iter="max_iter")
    return {}


def _pandas(module: Any) -> dict[str, Any]:
    in_place(module, ("read_csv", "read_table"), _read_csv)
    frame = module.DataFrame
    old: dict[str, Any] = {
        "append": lambda self, other, ignore_index=False: module.concat(
            [self, other], ignore_index=ignore_index
        ),
        "as_matrix": lambda self, columns=None: (self if columns is None else self[columns]).values,
        "iteritems": lambda self: self.items(),
        "ix": property(_Rows),
        "sort": lambda self, columns=None, ascending=True: self.sort_values(
            columns, ascending=ascending
        ),
    }
    for name, value in old.items():
        if not hasattr(frame, name):
            setattr(frame, name, value)
    return {}


def _read_csv(function: Any) -> Any:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if kwargs.pop("delim_whitespace", False):
            kwargs["sep"] = r"\s+"
        if not kwargs.pop("error_bad_lines", True):
            kwargs["on_bad_lines"] = "skip"
        return function(*args, **kwargs)

    return call


class _Rows:
    """``frame.ix``: rows by their labels, or by their numbers."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def __getitem__(self, key: Any) -> Any:
        try:
            return self._frame.loc[key]
        except (KeyError, TypeError):
            return self._frame.iloc[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._frame.loc[key] = value


ADDED: dict[str, Adding] = {
    "h5py": _h5py,
    "numpy.lib": _numpy_lib,
    "numpy.random": _numpy_random,
    "pandas": _pandas,
    "scipy": _scipy,
    "scipy.integrate": _integrate,
    "scipy.linalg": _linalg,
    "scipy.ndimage": _ndimage,
    "scipy.signal": _signal,
    "sklearn.manifold": _manifold,
}

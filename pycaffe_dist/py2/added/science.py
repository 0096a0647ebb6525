"""Parts of NumPy, SciPy, scikit-learn, pandas and h5py."""

from __future__ import annotations

import functools
import importlib

import numpy as np

from pycaffe_dist.py2.added.words import Adding, in_place, old_words
from pycaffe_dist.py2.operations import whole
from pycaffe_dist.py2.strings import byte_strs
from pycaffe_dist.py2.values import Names, Value


def _texts(getitem: Value) -> Value:
    """Strings in a file are text."""

    @functools.wraps(getitem)
    def call(self: Value, *args: Value, **kwargs: Value) -> Value:
        found = getitem(self, *args, **kwargs)
        if isinstance(found, np.ndarray) and found.dtype == object:
            for place, value in np.ndenumerate(found):
                found[place] = byte_strs(value)
        return byte_strs(found) if isinstance(found, bytes) else found

    return call


def _h5py(module: Value) -> Names:
    in_place(module.Dataset, ("__getitem__",), _texts)
    if not hasattr(module.Dataset, "value"):
        module.Dataset.value = property(lambda self: self[()])
    return {}


def _numpy_random(module: Value) -> Names:
    def random_integers(low: int, high: int | None = None, size: Value = None) -> Value:
        low, high = (1, low) if high is None else (low, high)
        return module.randint(low, high + 1, size)

    names = ("choice", "normal", "permutation", "rand", "randint", "randn", "random", "uniform")
    in_place(module, (*names, "random_sample"), _whole_sizes)
    return {"random_integers": random_integers}


def _whole_sizes(function: Value) -> Value:
    """A size may be a float, as a quotient is."""
    shape = function.__name__ in ("permutation", "rand", "randn", "random", "random_sample")

    @functools.wraps(function)
    def call(*args: Value, **kwargs: Value) -> Value:
        try:
            return function(*args, **kwargs)
        except TypeError:
            first = 0 if shape else 1
            sizes = (whole(arg) for arg in args[first:])
            return function(*args[:first], *sizes, **{k: whole(v) for k, v in kwargs.items()})

    return call


def _numpy_linalg(module: Value) -> Names:
    return {"linalg": module}


def _numpy_lib(module: Value) -> Names:
    return {"pad": np.pad}


def _ndimage(module: Value) -> Names:
    from pycaffe_dist.py2.scipy_misc import imread

    return {"imread": imread}


def _scipy(module: Value) -> Names:
    """All of NumPy was in it; and Caffe, which imports scikit-image, brought ``scipy.misc``."""
    names = {name: getattr(np, name) for name in np.__all__}
    misc = importlib.import_module("pycaffe_dist.py2.scipy_misc")
    return {**names, "misc": misc, "rand": np.random.rand, "randn": np.random.randn}


def _integrate(module: Value) -> Names:
    new = {"simps": "simpson", "trapz": "trapezoid", "cumtrapz": "cumulative_trapezoid"}
    return {old: getattr(module, name) for old, name in new.items()}


def _signal(module: Value) -> Names:
    names = ("bartlett", "blackman", "gaussian", "hamming", "hann", "kaiser", "triang")
    return {**{n: getattr(module.windows, n) for n in names}, "hanning": module.windows.hann}


def _linalg(module: Value) -> Names:
    return {"pinv2": module.pinv}


def _decomposition(module: Value) -> Names:
    def randomized(n_components: Value = None, **kwargs: Value) -> Value:
        return module.PCA(n_components, svd_solver="randomized", **kwargs)

    return {"RandomizedPCA": randomized}


def _manifold(module: Value) -> Names:
    module.TSNE = old_words(module.TSNE, n_iter="max_iter")
    return {}


def _neighbors(module: Value) -> Names:
    """A number of neighbours may be a float."""

    def counted(init: Value) -> Value:
        @functools.wraps(init)
        def call(self: Value, n_neighbors: Value = 5, **kwargs: Value) -> None:
            init(self, n_neighbors=whole(n_neighbors), **kwargs)

        return call

    for name in ("KNeighborsClassifier", "KNeighborsRegressor", "NearestNeighbors"):
        kind = getattr(module, name)
        kind.__init__ = counted(kind.__init__)
    return {}


def _pandas(module: Value) -> Names:
    in_place(module, ("read_csv", "read_table"), _read_csv)
    frame = module.DataFrame
    old: Names = {
        "append": lambda self, other, ignore_index=False: module.concat(
            [self, frame([other]) if type(other) is dict else other], ignore_index=ignore_index
        ),
        "get_value": lambda self, index, column: self.at[index, column],
        "icol": lambda self, number: self.iloc[:, number],
        "irow": lambda self, number: self.iloc[number],
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
    in_place(frame, ("to_csv",), lambda f: old_words(f, cols="columns"))
    in_place(frame, ("to_hdf",), _to_hdf)
    in_place(module, ("Series",), _with_order)
    kinds = ("mean", "median", "std", "sum", "min", "max")
    return {f"rolling_{kind}": _rolling(kind) for kind in kinds}


def _with_order(series: Value) -> Value:
    if not hasattr(series, "order"):
        series.order = lambda self, **kwargs: self.sort_values(**kwargs)
    return series


def _rolling(kind: str) -> Value:
    """``rolling_mean(values, 10)``."""
    return lambda values, window, **kwargs: getattr(values.rolling(window, **kwargs), kind)()


def _to_hdf(function: Value) -> Value:
    """The key by its place."""

    @functools.wraps(function)
    def call(self: Value, path: Value, key: Value = None, **kwargs: Value) -> Value:
        return function(self, path, key=key, **kwargs)

    return call


def _read_csv(function: Value) -> Value:
    @functools.wraps(function)
    def call(*args: Value, **kwargs: Value) -> Value:
        if kwargs.pop("delim_whitespace", False):
            kwargs["sep"] = r"\s+"
        if not kwargs.pop("error_bad_lines", True):
            kwargs["on_bad_lines"] = "skip"
        return function(*args, **kwargs)

    return call


class _Rows:
    """``frame.ix``: rows by their labels, or by their numbers."""

    def __init__(self, frame: Value) -> None:
        self._frame = frame

    def __getitem__(self, key: Value) -> Value:
        try:
            return self._frame.loc[key]
        except (KeyError, TypeError):
            return self._frame.iloc[key]

    def __setitem__(self, key: Value, value: Value) -> None:
        self._frame.loc[key] = value


ADDED: dict[str, Adding] = {
    "h5py": _h5py,
    "numpy.lib": _numpy_lib,
    "numpy.linalg": _numpy_linalg,
    "numpy.random": _numpy_random,
    "pandas": _pandas,
    "scipy": _scipy,
    "scipy.integrate": _integrate,
    "scipy.linalg": _linalg,
    "scipy.ndimage": _ndimage,
    "scipy.signal": _signal,
    "sklearn.decomposition": _decomposition,
    "sklearn.manifold": _manifold,
    "sklearn.neighbors": _neighbors,
}

"""Names that modules had when Python 2 was young, put back into them.

They are only added: where a module still has a name, it stays, and at most takes more than it does
today (an old keyword, a float for an integer).  A module of an installed package is touched when it
is imported.  Without a screen, windows of Matplotlib and OpenCV do not open.

    python.py      the standard library
    science.py     NumPy's parts, SciPy, scikit-learn, pandas, h5py
    pictures.py    Pillow, scikit-image
    opencv.py      OpenCV
    charts.py      Matplotlib
    caffe_2014.py  Caffe itself
"""

from __future__ import annotations

from pycaffe_dist.py2.added import caffe_2014, charts, opencv, pictures, python, science
from pycaffe_dist.py2.values import Value

# What to add to a module, by its name.
ADDED = {
    **python.ADDED,
    **science.ADDED,
    **pictures.ADDED,
    **opencv.ADDED,
    **charts.ADDED,
    **caffe_2014.ADDED,
}


def add_names(module: Value) -> None:
    """Give a module the names that it had."""
    for name, value in ADDED[module.__name__](module).items():
        if not hasattr(module, name):
            setattr(module, name, value)

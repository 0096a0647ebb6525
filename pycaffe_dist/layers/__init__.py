"""Caffe's layers: a file for each type, small families together.

Scripts for pycaffe write ``from caffe import layers as L`` and mean net_spec's functions, so those
are here too: ``L.Convolution(bottom, num_output=20)``.  Types begin with a capital, files do not.
"""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    if not name[:1].isupper():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from pycaffe_dist.pycaffe import net_spec

    return getattr(net_spec.layers, name)

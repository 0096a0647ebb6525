"""Caffe's net and solver semantics in Python, on one machine or across a cluster."""

from pycaffe_dist.version import VERSION as __version__

__all__ = ["__version__"]

"""Caffe's net and solver semantics in Python, on one machine or across a cluster.

``import pycaffe_dist as caffe`` gives pycaffe's API.
"""

from pycaffe_dist.proto.caffe_pb2 import TEST, TRAIN
from pycaffe_dist.pycaffe import Net

__version__ = "1.0.0"  # the Caffe whose API this is; our own is in pycaffe_dist.version

__all__ = ["TEST", "TRAIN", "Net"]

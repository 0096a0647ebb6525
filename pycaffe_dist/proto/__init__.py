"""Messages: text with positions, binary, HDF5, upgrades, filters, splits."""

import importlib


def __getattr__(name: str) -> object:
    """``caffe.proto.caffe_pb2`` as in pycaffe, where ``import caffe`` has loaded it."""
    if name == "caffe_pb2":
        return importlib.import_module(f"{__name__}.caffe_pb2")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

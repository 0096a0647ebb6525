"""Python: a layer that the user writes."""

from __future__ import annotations

import importlib
import os
import sys
from types import ModuleType
from typing import Any

from pycaffe_dist import python_base
from pycaffe_dist.as_caffe import install_as_caffe
from pycaffe_dist.blob import Blob, Flags, Views
from pycaffe_dist.blob_vec import BlobVec
from pycaffe_dist.layer import Context, Layer, register
from pycaffe_dist.proto.caffe_pb2 import LayerParameter


@register("Python")
class PythonLayer(Layer):
    """Calls the methods of an object of the class ``layer`` from ``module``.

    The class derives from caffe.Layer.  The object, ``user_layer``, gets blobs with host arrays.
    Its exceptions come through as they are, and what this layer lacks is looked up there.
    """

    bottoms = (0, None)
    tops = (0, None)

    def __init__(self, param: LayerParameter, context: Context) -> None:
        super().__init__(param, context)
        self.user_layer = self._user_class()(self.layer_param)
        self.user_layer.blobs = BlobVec(self.dtype)
        text = param.python_param.param_str
        self.user_layer.param_str = self.user_layer.param_str_ = text
        self.user_layer.phase = int(self.phase)

    def setup(self, bottom: Views, top: Views) -> None:
        self.user_layer.setup(_blobs(bottom), _blobs(top))
        for blob in self.user_layer.blobs:
            self.adopt(blob)

    def reshape(self, bottom: Views, top: Views) -> None:
        self.user_layer.reshape(_blobs(bottom), _blobs(top))

    def forward(self, bottom: Views, top: Views) -> None:
        self.user_layer.forward(_blobs(bottom), _blobs(top))

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        self.user_layer.backward(_blobs(top), list(propagate_down), _blobs(bottom))

    def __getattr__(self, name: str) -> Any:
        if name == "user_layer":
            raise AttributeError(name)
        return getattr(self.user_layer, name)

    def _user_class(self) -> type[python_base.Layer]:
        p = self.layer_param.python_param
        self.check(bool(p.module and p.layer), "python_param needs a module and a layer")
        module = self._import(p.module)
        found = getattr(module, p.layer, None)
        where = f"module {p.module} ({getattr(module, '__file__', None)})"
        if found is None:
            raise self.error(f"{where} has no class {p.layer}")
        if not (isinstance(found, type) and issubclass(found, python_base.Layer)):
            bases = getattr(found, "__mro__", (type(found),))
            names = ", ".join(f"{base.__module__}.{base.__qualname__}" for base in bases)
            raise self.error(
                f"{p.layer} of {where} must be a class derived from {python_base.Layer.__module__}."
                f"Layer (caffe.Layer where no other caffe is installed); it is {names}"
            )
        return found

    def _import(self, name: str) -> ModuleType:
        """From the search path, or failing that from the working directory."""
        install_as_caffe()
        importlib.invalidate_caches()
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as e:
            if not _is_part_of(e.name, name):
                raise
        sys.path.append(os.getcwd())
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as e:
            if not _is_part_of(e.name, name):
                raise
            sys.path.pop()
            raise self.error(
                f'module "{name}" is neither on the search path nor in {os.getcwd()}; '
                "set PYTHONPATH to the folder that holds it"
            ) from e


def _is_part_of(missing: str | None, name: str) -> bool:
    """True if what is missing is the module itself, not something that it imports."""
    return missing is not None and f"{name}.".startswith(f"{missing}.")


def _blobs(views: Views) -> list[Blob]:
    return [view.blob for view in views]

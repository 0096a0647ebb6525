"""Python: a layer that the user writes."""

from __future__ import annotations

import numpy as np

from pycaffe_dist import python2
from pycaffe_dist.aliases import Facts
from pycaffe_dist.blob import BlobVec, Flags, Views
from pycaffe_dist.errors import NetError
from pycaffe_dist.layer import Context, Layer, register
from pycaffe_dist.proto.caffe_pb2 import LayerParameter
from pycaffe_dist.pycaffe import python_base
from pycaffe_dist.pycaffe.vectors import BoolVec, RawBlobVec
from pycaffe_dist.user_modules import import_user_module


@register("Python")
class PythonLayer(Layer):
    """Calls the methods of an object of the class ``layer`` from ``module``.

    The class derives from caffe.Layer.  The object, ``user_layer``, gets blobs with host arrays.
    Its exceptions come through as they are, with a hint where a word is Python 2's; what this
    layer lacks is looked up there.
    """

    bottoms = (0, None)
    tops = (0, None)
    remembers = changes_batch = True  # it may

    def __init__(self, param: LayerParameter, context: Context) -> None:
        super().__init__(param, context)
        self.check(context.python, "is not run here: --allow-python lets its module be imported")
        with python2.hints():
            self.user_layer = self._user_class()(self.layer_param)
        self.user_layer.blobs = BlobVec(self.dtype)
        text = param.python_param.param_str
        self.user_layer.param_str = self.user_layer.param_str_ = text
        self.user_layer.phase = int(self.phase)

    def setup(self, bottom: Views, top: Views) -> None:
        with python2.hints():
            self.user_layer.setup(_blobs(bottom), _blobs(top))
        for blob in self.user_layer.blobs:
            self.adopt(blob)

    def reshape(self, bottom: Views, top: Views) -> None:
        with python2.hints():
            self.user_layer.reshape(_blobs(bottom), _blobs(top))

    def forward(self, bottom: Views, top: Views) -> None:
        with python2.hints():
            self.user_layer.forward(_blobs(bottom), _blobs(top))

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        with python2.hints():
            self.user_layer.backward(_blobs(top), BoolVec(propagate_down), _blobs(bottom))

    def get_state(self) -> Facts:
        state = self.user_layer.get_state()
        return {k: v.item() if isinstance(v, np.generic) else v for k, v in state.items()}

    def set_state(self, state: Facts) -> None:
        self.user_layer.set_state(state)

    def gives_gradient(self, index: int) -> bool:
        return True  # nobody tells the object which of its parameters learn

    def __getattr__(self, name: str) -> object:
        if name == "user_layer":
            raise AttributeError(name)
        return getattr(self.user_layer, name)

    def _user_class(self) -> type[python_base.Layer]:
        p = self.layer_param.python_param
        self.check(bool(p.module and p.layer), "python_param needs a module and a layer")
        try:
            module = import_user_module(p.module)
        except NetError as e:
            raise self.named(e) from e
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


def _blobs(views: Views) -> RawBlobVec:
    return RawBlobVec(view.blob for view in views)

"""Nets written in Python: ``layers.InnerProduct(data, num_output=10)`` instead of prototxt.

    n = NetSpec()
    n.data = layers.Input(shape=dict(dim=[64, 1, 28, 28]))
    n.ip = layers.InnerProduct(n.data, num_output=10, weight_filler=dict(type="xavier"))
    print(n.to_proto())

Layers and tops are named by the attributes of the NetSpec; the others by type and number.
"""

from __future__ import annotations

import importlib
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from pycaffe_dist.aliases import Facts, FieldDescriptor
from pycaffe_dist.proto import caffe_pb2
from pycaffe_dist.proto.caffe_pb2 import LayerParameter, NetParameter
from pycaffe_dist.proto.suggest import unknown_field


def param_name_dict() -> dict[str, str]:
    """The field of LayerParameter for each layer type, without its ``_param``: ReLU -> relu.

    A fork may have another field of one of BVLC's messages: BVLC's, with the lower number, counts.
    """
    known: list[FieldDescriptor] = list(LayerParameter.DESCRIPTOR.fields)
    fields = sorted(known, key=lambda field: field.number, reverse=True)
    return {
        field.message_type.name.removesuffix("Parameter"): field.name.removesuffix("_param")
        for field in fields
        if field.name.endswith("_param") and field.message_type is not None
    }


_param_names = param_name_dict()


def to_proto(*tops: Top) -> NetParameter:
    """The net of all layers that ``tops`` depend on, its layers named by type and number."""
    return _net([top.fn for top in tops], {})


def assign_proto(proto: Any, name: str, val: object) -> None:
    """Set a field from plain Python: a dict fills a message, a list or one value a repeated field.

    Raises:
        AttributeError: the message has no such field.
    """
    if name not in proto.DESCRIPTOR.fields_by_name:
        raise AttributeError(unknown_field(proto.DESCRIPTOR, name))
    field = getattr(proto, name)
    if hasattr(field, "extend"):
        for item in val if isinstance(val, (list, tuple, np.ndarray)) else [val]:
            if isinstance(item, dict):
                _assign_all(field.add(), item)
            else:
                field.append(item)
    elif isinstance(val, dict):
        _assign_all(field, val)
    else:
        setattr(proto, name, val)


def _assign_all(proto: Any, values: Facts) -> None:
    for name, value in values.items():
        assign_proto(proto, name, value)


class Top:
    """One output of a layer."""

    def __init__(self, fn: Function, n: int) -> None:
        self.fn = fn
        self.n = n

    def to_proto(self) -> NetParameter:
        """The net of all layers that this top depends on."""
        return to_proto(self)

    def _to_proto(
        self, layers: dict[Function, LayerParameter], names: Names, autonames: Counter[str]
    ) -> None:
        self.fn._to_proto(layers, names, autonames)


class Function:
    """A layer: its type, the tops it takes, and its parameters.

    ``ntop`` (how many tops it makes, 1) and ``in_place`` are taken out of the parameters.
    """

    def __init__(self, type_name: str, inputs: tuple[Top, ...], params: Facts) -> None:
        for index, given in enumerate(inputs):
            if not isinstance(given, Top):
                raise TypeError(f"{type_name} input {index} is not a Top (type is {type(given)})")
        self.type_name = type_name
        self.inputs = inputs
        self.params = params
        self.ntop: int = params.pop("ntop", 1)
        self.in_place: bool = params.pop("in_place", False)
        self.tops = tuple(Top(self, n) for n in range(self.ntop))

    @property
    def fn(self) -> Function:
        """Itself, so that a layer without tops can stand where a top does."""
        return self

    # Names of what the net does not name itself are a type and a number, counted in ``autonames``.

    def _get_name(self, names: Names, autonames: Counter[str]) -> str:
        return self._named(self, names, autonames)

    def _get_top_name(self, top: Top, names: Names, autonames: Counter[str]) -> str:
        return self._named(top, names, autonames)

    def _named(self, thing: Top | Function, names: Names, autonames: Counter[str]) -> str:
        if thing not in names:
            autonames[self.type_name] += 1
            names[thing] = f"{self.type_name}{autonames[self.type_name]}"
        return names[thing]

    def _to_proto(
        self,
        layers: dict[Function, LayerParameter],
        names: Names,
        autonames: Counter[str],
    ) -> None:
        """Add this layer to ``layers``, after those whose tops it takes and that are missing."""
        stack = [self]  # no recursion: nets are deeper than Python's stack
        while stack:
            fn = stack[-1]
            below = [top.fn for top in fn.inputs if top.fn not in layers]
            if below:
                stack += reversed(below)
                continue
            stack.pop()
            if fn not in layers:
                bottoms = [layers[top.fn].top[top.n] for top in fn.inputs]
                layers[fn] = fn._layer(bottoms, names, autonames)

    def _layer(self, bottoms: list[str], names: Names, autonames: Counter[str]) -> LayerParameter:
        layer = LayerParameter(type=self.type_name, bottom=bottoms)
        # An in-place layer is named after a top that the net does not have.
        tops = self.tops[:1] if self.in_place else self.tops
        top_names = [self._get_top_name(top, names, autonames) for top in tops]
        layer.top.extend(bottoms if self.in_place else top_names)
        layer.name = top_names[0] if self.ntop else self._get_name(names, autonames)
        own = _param_names.get(self.type_name)
        message = getattr(layer, f"{own}_param") if own else layer
        for key, value in self.params.items():
            inside = key in message.DESCRIPTOR.fields_by_name and not key.endswith("param")
            try:
                assign_proto(message if inside else layer, key, value)
            except (AttributeError, TypeError, ValueError) as e:
                kind = next(k for k in (AttributeError, TypeError, ValueError) if isinstance(e, k))
                raise kind(f'layer "{layer.name}" ({self.type_name}), {key}: {e}') from e
        return layer


Names = dict[Top | Function, str]  # names given so far


def _net(functions: Iterable[Function], given: Names) -> NetParameter:
    """Each function once, after the functions whose tops it takes."""
    layers: dict[Function, LayerParameter] = {}
    names, autonames = dict(given), Counter[str]()
    for function in functions:
        function._to_proto(layers, names, autonames)
    return NetParameter(layer=layers.values())


class _NoTop(KeyError, AttributeError):
    """What pycaffe raises, and what hasattr() understands."""


class NetSpec:
    """Tops by name, as attributes or items; ``to_proto`` makes the net that computes them all."""

    tops: OrderedDict[str, Top | Function]

    def __init__(self) -> None:
        super().__setattr__("tops", OrderedDict())

    def __setattr__(self, name: str, value: Top | Function) -> None:
        self.tops[name] = value

    def __getattr__(self, name: str) -> Any:
        if name == "tops":  # a copy in the making
            raise AttributeError(name)
        return self[name]

    def __setitem__(self, name: str, value: Top | Function) -> None:
        self.tops[name] = value

    def __getitem__(self, name: str) -> Any:
        try:
            return self.tops[name]
        except KeyError:
            raise _NoTop(name) from None

    def __delitem__(self, name: str) -> None:
        del self.tops[name]

    def keys(self) -> list[str]:
        """The names of its tops."""
        return list(self.tops)

    def vals(self) -> list[Top | Function]:
        """The tops themselves, in the same order."""
        return list(self.tops.values())

    def update(self, name: str, params: Facts) -> None:
        """Change parameters of the layer behind the top ``name``."""
        self[name].fn.params.update(params)

    def to_proto(self) -> NetParameter:
        """The net of all layers that its tops depend on, named as its attributes are."""
        return _net(
            [top.fn for top in self.tops.values()],
            {top: name for name, top in self.tops.items()},
        )


class Layers:
    """``layers.<Type>(*tops, **params)`` is the layer's top, or tops (``ntop``).

    With ``ntop=0`` it is the Function itself.
    """

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__"):  # not a layer type: copy, inspect and others ask
            raise AttributeError(name)

        def layer(*inputs: Top, **params: object) -> Top | tuple[Top, ...] | Function:
            fn = Function(name, inputs, params)
            if fn.ntop == 0:
                return fn
            return fn.tops[0] if fn.ntop == 1 else fn.tops

        layer.__name__ = layer.__qualname__ = name
        return layer


class Parameters:
    """``params.<Message>.<VALUE>`` is an enum's value: ``params.Pooling.MAX``."""

    def __getattr__(self, name: str) -> Any:
        try:
            return getattr(caffe_pb2, f"{name}Parameter")
        except AttributeError:
            raise AttributeError(f"there is no message {name}Parameter") from None


layers = Layers()
params = Parameters()


def __getattr__(name: str) -> Any:
    """``net_spec.protobuf``, which scripts find here."""
    if name != "protobuf":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return importlib.import_module("google.protobuf")

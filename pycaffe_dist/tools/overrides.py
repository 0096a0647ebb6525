"""Settings changed from the command line: ``--set base_lr=0.02``, ``--set-net conv1.stride=2``."""

from __future__ import annotations

import re

from google.protobuf.message import Message

from pycaffe_dist.errors import NetError, PrototxtError
from pycaffe_dist.proto.caffe_pb2 import LayerParameter, NetParameter, SolverParameter
from pycaffe_dist.proto.suggest import did_you_mean, unknown_field
from pycaffe_dist.proto.text import parse_text


def override_solver(solver: SolverParameter, setting: str) -> None:
    """Apply ``field=value`` (or ``field.inner=value``) to a solver; a list replaces a list."""
    path, value = _split(setting)
    _assign(solver, path, value, setting)


def override_net(net: NetParameter, setting: str) -> None:
    """Apply ``layer.field=value`` to all layers of that name, ``field=value`` to the net itself.

    Fields of a layer's own parameter message may be given directly: ``conv1.num_output=32``.
    """
    path, value = _split(setting)
    names = {layer.name for layer in net.layer}
    # Layer names may have dots and slashes: the longest that fits is meant.
    name = max((n for n in names if path.startswith(n + ".")), key=len, default=None)
    if name is None:
        if path.split(".")[0] in NetParameter.DESCRIPTOR.fields_by_name:
            _assign(net, path, value, setting)
            return
        first = path.split(".")[0]
        raise NetError(
            f'--set-net {setting}: there is no layer "{first}"{did_you_mean(first, names)}'
        )
    inner = path[len(name) + 1 :]
    for layer in net.layer:
        if layer.name == name:
            _assign(layer, _whole_path(layer, inner), value, setting)


def _split(setting: str) -> tuple[str, str]:
    path, equals, value = setting.partition("=")
    if not equals or not path:
        raise NetError(f"{setting!r}: expected NAME=VALUE")
    return path.strip(), value.strip()


def _whole_path(layer: LayerParameter, path: str) -> str:
    """``num_output`` as ``convolution_param.num_output``, where the layer has such a message."""
    first = path.split(".")[0]
    if first in LayerParameter.DESCRIPTOR.fields_by_name:
        return path
    for field, message in layer.ListFields():
        if field.name.endswith("_param") and first in message.DESCRIPTOR.fields_by_name:
            return f"{field.name}.{path}"
    return path


def _assign(message: Message, path: str, value: str, setting: str) -> None:
    *outer, last = path.split(".")
    target = message
    for name in outer:
        field = target.DESCRIPTOR.fields_by_name.get(name)
        if field is None or field.message_type is None:
            raise NetError(f"{setting}: {unknown_field(target.DESCRIPTOR, name)}")
        target = getattr(target, name)
    if last not in target.DESCRIPTOR.fields_by_name:
        raise NetError(f"{setting}: {unknown_field(target.DESCRIPTOR, last)}")
    parsed = _parsed(type(target)(), last, value, setting)
    target.ClearField(last)
    target.MergeFrom(parsed)


def _parsed(empty: Message, name: str, value: str, setting: str) -> Message:
    """``value`` as protobuf text; a bare word is taken as a string where one is wanted."""
    field = empty.DESCRIPTOR.fields_by_name[name]
    if field.type == field.TYPE_STRING and not re.match(r"""["'\[]""", value):
        value = '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    try:
        return parse_text(f"{name}: {value}", empty, "--set").message
    except PrototxtError as e:
        raise NetError(f"{setting}: {e.problems[0].message}") from e

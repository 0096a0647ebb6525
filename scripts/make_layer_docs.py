"""Write docs/layers.md, the catalogue of layer types, from the classes and the schema.

python scripts/make_layer_docs.py            # write it
python scripts/make_layer_docs.py --check    # fail if it is not what would be written
"""

import inspect
import re
import sys
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from pycaffe_dist import engines
from pycaffe_dist.layer import Layer, layer_types
from pycaffe_dist.proto.caffe_pb2 import LayerParameter
from pycaffe_dist.testing.gpu import emulated

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "layers.md"
HEAD = """# Layers

Written by `scripts/make_layer_docs.py`: every layer type, what it does, how many bottoms and tops
it takes, and its parameters with their defaults. `include`, `exclude`, `loss_weight`, `param` and
`propagate_down` are every layer's. Every type runs on every [engine](engines.md); types that the
`onednn` or `cupy` engine has an implementation of its own for say so.

"""
# Field names that every layer may have and none is described by.
SHARED = ("transform_param", "loss_param")


def page() -> str:
    types = {name: cls for name, cls in layer_types().items() if _ours(cls)}
    index = ", ".join(f"[{name}](#{name.lower()})" for name in types)
    messages = sorted({m for cls in types.values() for m in _shared_messages(cls)})
    parts = [HEAD + index, *(_layer(name, cls) for name, cls in types.items())]
    parts += [_message(name) for name in messages]
    return "\n\n".join(parts) + "\n"


def _ours(cls: type[Layer]) -> bool:
    """Tests and users' scripts register types too."""
    return cls.__module__.startswith("pycaffe_dist.layers.")


def _layer(name: str, cls: type[Layer]) -> str:
    doc = inspect.cleandoc(cls.__doc__ or sys.modules[cls.__module__].__doc__ or "")
    doc = doc.replace("*", r"\*")
    file = cls.__module__.replace(".", "/") + ".py"
    source = f"[{file.rpartition('/')[2]}](../{file})"
    counts = f"Bottoms: {_count(cls.bottoms)}. Tops: {_count(cls.tops)}. Source: {source}."
    own = [f"`{engine}`" for engine, layers in _engines().items() if name in layers]
    counts += f" Own implementations: {', '.join(own)}." if own else ""
    tables = [_fields(field) for field in _own_params(cls)]
    shared = [
        f"Also `{field}`: [{_type(field).name}](#{_type(field).name.lower()})."
        for field in SHARED
        if field in _params(cls)
    ]
    return "\n\n".join([f"## {name}", doc, counts, *tables, *shared])


@cache
def _engines() -> dict[str, Collection[str]]:
    """The layer types that the other engines have implementations of their own for."""
    with emulated() as cupy:
        return {"onednn": engines.create("onednn").layers, "cupy": cupy.layers}


def _count(arity: Any) -> str:
    least, most = arity if isinstance(arity, tuple) else (arity, arity)
    if most is None:
        return f"{least} or more"
    return str(least) if least == most else f"{least} to {most}"


def _params(cls: type[Layer]) -> list[str]:
    """The parameter messages that a class and its bases read, by their fields' names."""
    names: dict[str, None] = {}
    for base in cls.__mro__:
        if issubclass(base, Layer) and base is not Layer:
            found = re.findall(r"\b(?:layer_param|param)\.(\w+_param)\b", inspect.getsource(base))
            names |= dict.fromkeys(found)
    # Where it is read with getattr or in a helper, it has the layer's name.
    snake = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", cls.type).lower() + "_param"
    names |= {snake: None}
    return [name for name in names if name in LayerParameter.DESCRIPTOR.fields_by_name]


def _own_params(cls: type[Layer]) -> list[str]:
    return [name for name in _params(cls) if name not in SHARED]


def _shared_messages(cls: type[Layer]) -> list[str]:
    """Messages told of once: those of SHARED, and those inside other messages."""
    names = [_type(field).name for field in SHARED if field in _params(cls)]
    for field in _params(cls):
        names += [f.message_type.name for f in _type(field).fields if f.message_type]
    return names


def _type(field: str) -> Any:
    return LayerParameter.DESCRIPTOR.fields_by_name[field].message_type


def _fields(field: str) -> str:
    return "\n".join([f"`{field}`:", "", *_rows(_type(field))])


def _message(name: str) -> str:
    [message] = {
        id(m): m for field in LayerParameter.DESCRIPTOR.fields if (m := _find(field, name))
    }.values()
    return "\n".join([f"## {name}", "", *_rows(message)])


def _find(field: Any, name: str) -> Any:
    if field.message_type is None:
        return None
    if field.message_type.name == name:
        return field.message_type
    inner = (f.message_type for f in field.message_type.fields if f.message_type)
    return next((m for m in inner if m.name == name), None)


def _rows(message: Any) -> Iterator[str]:
    yield "| field | type | default |"
    yield "|---|---|---|"
    for field in message.fields:
        yield f"| {field.name} | {_kind(field)} | {_default(field)} |"


def _kind(field: Any) -> str:
    if field.enum_type:
        kind = ", ".join(f"`{value.name}`" for value in field.enum_type.values)
    elif field.message_type:
        kind = f"[{field.message_type.name}](#{field.message_type.name.lower()})"
    else:
        kind = KINDS[field.type]
    return f"list of {kind}" if _repeated(field) else kind


KINDS = {1: "double", 2: "float", 3: "int64", 4: "uint64", 5: "int32", 13: "uint32"} | {
    8: "bool",
    9: "string",
    12: "bytes",
}


def _repeated(field: Any) -> bool:
    # Protobuf 7 has no `label` any more, older ones no `is_repeated`.
    if hasattr(field, "is_repeated"):
        return bool(field.is_repeated)
    return bool(field.label == field.LABEL_REPEATED)


def _default(field: Any) -> str:
    if _repeated(field) or field.message_type:
        return ""
    value = field.default_value
    if field.enum_type:
        return f"`{field.enum_type.values_by_number[value].name}`"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, float):
        return f"`{value:.7g}`"
    return f"`{value}`" if value != "" else ""


def main() -> int:
    text = page()
    if sys.argv[1:] == ["--check"]:
        if not PAGE.exists() or PAGE.read_text() != text:
            print(f"{PAGE.relative_to(ROOT)} is old: run python scripts/make_layer_docs.py")
            return 1
        return 0
    if sys.argv[1:]:
        print(__doc__)
        return 2
    PAGE.write_text(text)
    print(f"Wrote {PAGE.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

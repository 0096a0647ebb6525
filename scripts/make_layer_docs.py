"""Write docs/layers.md and docs/forks.md, the catalogues of layer types, from classes and schema.

python scripts/make_layer_docs.py            # write them
python scripts/make_layer_docs.py --check    # fail if they are not what would be written
"""

import inspect
import json
import re
import sys
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from pycaffe_dist import engines
from pycaffe_dist.layer import Layer
from pycaffe_dist.proto import forks
from pycaffe_dist.proto.caffe_pb2 import LayerParameter
from pycaffe_dist.proto.dialects import PRIVATE, PRIVATE_VALUE, dialects
from pycaffe_dist.proto.strange import HARMLESS, of_bvlc
from pycaffe_dist.registry import READINGS, Reading, layer_types, messages_of
from pycaffe_dist.testing.gpu import emulated

ROOT = Path(__file__).resolve().parent.parent
CASES = ROOT / "tests" / "golden" / "forks"
HEAD = """# Layers

Written by `scripts/make_layer_docs.py`: every layer type of BVLC Caffe, what it does, how many
bottoms and tops it takes, and its parameters with their defaults; those of forks are in
[forks.md](forks.md), and a field that a fork added says so. `include`, `exclude`, `loss_weight`,
`param` and `propagate_down` are every layer's. Every type runs on every [engine](engines.md); types
that the `onednn` or `cupy` engine has an implementation of its own for say so.

"""
FORKS_HEAD = """# Layers of Caffe's forks

Written by `scripts/make_layer_docs.py`. Text files of forks are read by the names of their fields;
weights by name, type and blobs. Where forks call different layers by one name, the file decides by
the rule that stands with each, `pcd check` says which was taken, and `--dialect NAME` decides by
hand. Weights and states are written in BVLC's format, without the forks' fields;
under `--dialect NAME` the net part of weights keeps those of that fork, on its own numbers.

"""
# Field names that every layer may have and none is described by.
SHARED = ("transform_param", "loss_param")


def layers_page() -> str:
    types = {name: cls for name, cls in layer_types().items() if _ours(cls) and not _of_fork(cls)}
    return _page(HEAD, types, [_layer(name, cls) for name, cls in types.items()])


def forks_page() -> str:
    known = {name: cls for name, cls in layer_types().items() if _ours(cls)}
    types: dict[str, list[Reading | type[Layer]]] = {}
    for name, cls in known.items():
        found = [one for one in READINGS.get(name, []) if _of_fork(one.cls)]
        if found or _of_fork(cls):
            types[name] = [*found] or [cls]
    parts = [_dialects(), _in_bvlc_layers(known)]
    parts += [_fork_type(name, meant) for name, meant in types.items()]
    classes = {
        f"{name} {i}": one.cls if isinstance(one, Reading) else one
        for name, meant in types.items()
        for i, one in enumerate(meant)
    }
    return _page(FORKS_HEAD, classes, parts, types)


def _page(head: str, classes: Any, parts: list[str], types: Collection[str] = ()) -> str:
    index = ", ".join(f"[{name}](#{name.lower()})" for name in types or classes)
    messages = sorted({m for cls in classes.values() for m in _shared_messages(cls)})
    read = {where for cls in classes.values() for where in cls.fork_fields}
    tables = ["\n".join([f"## {m}", "", *_rows(_all_messages()[m], read)]) for m in messages]
    return "\n\n".join([head + index, *parts, *tables]) + "\n"


def _dialects() -> str:
    rows = ["## Dialects", "", "| name | fork | fields |", "|---|---|---|"]
    for name, text in forks.FORKS.items():
        schema = dialects().get(name)
        count = sum(len(m.fields) for m in schema.messages.values()) if schema else 0
        link = f"[{name}](../pycaffe_dist/proto/dialects/{name}.proto)" if schema else name
        rows.append(f"| {link} | {text} | {count or ''} |")
    return "\n".join(rows)


def _in_bvlc_layers(known: dict[str, type[Layer]]) -> str:
    """What forks added to BVLC's layers: read, or known to change nothing; all else is refused."""
    rows = ["## Fields that forks added to BVLC's layers", "", "| type | field | fork |"]
    rows.append("|---|---|---|")
    classes = [*known.items(), *((name, r.cls) for name, rs in READINGS.items() for r in rs)]
    read = {(name, where) for name, cls in classes for where in cls.fork_fields}
    read |= {
        ("Pooling", "PoolingParameter.ceil_mode"),
        ("Convolution", "ConvolutionParameter.hole"),
    }
    for name, where in sorted(read):
        rows.append(f"| {name} | {where} | {forks.of_field(*where.split('.'))} |")
    text = ", ".join(f"`{name}`" for name in sorted({h.partition(".")[2] for h in HARMLESS}))
    tail = f"Passed over, because they change no result: {text}. All others are refused by name. "
    tail += "(Of `forward_type`, its like and `global_grad_scale` GPUs make their "
    tail += "[precision](gpu.md#precision).)"
    return "\n".join([*rows, "", tail])


def _fork_type(name: str, meant: list[Reading | type[Layer]]) -> str:
    parts = [f"## {name}", f"From {forks.of_layer_type(name) or 'a fork of Caffe'}."]
    for one in meant:
        cls = one.cls if isinstance(one, Reading) else one
        if isinstance(one, Reading):
            parts.append(f"**{forks.FORKS[one.dialect]}** (`--dialect {one.dialect}`): {one.why}.")
        parts.append(_body(name, cls))
    cases = _cases().get(name, [])
    parts.append(f"Recorded answers: {', '.join(cases)}." if cases else "No recorded answers.")
    return "\n\n".join(parts)


@cache
def _cases() -> dict[str, list[str]]:
    """The recorded cases of each layer type."""
    found: dict[str, list[str]] = {}
    for case in json.loads((CASES / "index.json").read_text()):
        text = (CASES / f"{case['name']}.prototxt").read_text()
        for name in sorted(set(re.findall(r'\btype: "([A-Z]\w*)"', text))):
            found.setdefault(name, []).append(case["name"])
    return found


def _of_fork(cls: type[Layer]) -> bool:
    return cls.__module__.count(".") > 2


def _ours(cls: type[Layer]) -> bool:
    """Tests and users' scripts register types too."""
    return cls.__module__.startswith("pycaffe_dist.layers.")


def _layer(name: str, cls: type[Layer]) -> str:
    return f"## {name}\n\n{_body(name, cls)}"


def _body(name: str, cls: type[Layer]) -> str:
    doc = inspect.cleandoc(cls.__doc__ or sys.modules[cls.__module__].__doc__ or "")
    doc = doc.replace("*", r"\*")
    file = cls.__module__.replace(".", "/") + ".py"
    source = f"[{file.rpartition('/')[2]}](../{file})"
    counts = f"Bottoms: {_count(cls.bottoms)}. Tops: {_count(cls.tops)}. Source: {source}."
    own = [
        f"`{engine}`"
        for engine, layers in _engines().items()
        if name in layers and issubclass(layers[name], cls)
    ]
    counts += f" Own implementations: {', '.join(own)}." if own else ""
    tables = [
        "\n".join([f"`{field}`:", "", *_rows(_type(field), cls.fork_fields)])
        for field in _own_params(cls)
    ]
    shared = [
        f"Also `{field}`: [{_type(field).name}](#{_type(field).name.lower()})."
        for field in SHARED
        if field in messages_of(cls)
    ]
    return "\n\n".join([doc, counts, *tables, *shared])


@cache
def _engines() -> dict[str, Any]:
    """The layer types that the other engines have implementations of their own for."""
    with emulated() as cupy:
        return {"onednn": engines.create("onednn").layers, "cupy": cupy.layers}


def _count(arity: Any) -> str:
    least, most = arity if isinstance(arity, tuple) else (arity, arity)
    if most is None:
        return f"{least} or more"
    return str(least) if least == most else f"{least} to {most}"


def _own_params(cls: type[Layer]) -> list[str]:
    return [name for name in messages_of(cls) if name not in SHARED]


def _shared_messages(cls: type[Layer]) -> list[str]:
    """Messages told of once: those of SHARED, and those inside other messages."""
    names = [_type(field).name for field in SHARED if field in messages_of(cls)]
    for field in messages_of(cls):
        shown = _shown(_type(field), cls.fork_fields)
        names += [f.message_type.name for f in shown if f.message_type]
    for name in [*names]:
        shown = _shown(_all_messages()[name], cls.fork_fields)
        names += [f.message_type.name for f in shown if f.message_type]
    return names


def _type(field: str) -> Any:
    return LayerParameter.DESCRIPTOR.fields_by_name[field].message_type


@cache
def _all_messages() -> dict[str, Any]:
    """Every message below LayerParameter, by name."""
    found: dict[str, Any] = {}
    left = [LayerParameter.DESCRIPTOR]
    while left:
        message = left.pop()
        if message.name not in found:
            found[message.name] = message
            left += [f.message_type for f in message.fields if f.message_type]
    return found


def _shown(message: Any, read: Collection[str]) -> list[Any]:
    """The fields of a message: of what forks added to BVLC's, those that are ``read``."""
    if message.name not in of_bvlc():
        return list(message.fields)
    return [f for f in message.fields if f.number < PRIVATE or f"{message.name}.{f.name}" in read]


def _rows(message: Any, read: Collection[str]) -> Iterator[str]:
    yield "| field | type | default |"
    yield "|---|---|---|"
    for field in _shown(message, read):
        fork = " (a fork's)" if field.number >= PRIVATE else ""
        yield f"| {field.name}{fork} | {_kind(field)} | {_default(field)} |"


def _kind(field: Any) -> str:
    if field.enum_type:
        values = [v.name for v in field.enum_type.values if v.number < PRIVATE_VALUE]
        kind = ", ".join(f"`{value}`" for value in values)
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
    if sys.argv[1:] not in ([], ["--check"]):
        print(__doc__)
        return 2
    pages = {"layers.md": layers_page(), "forks.md": forks_page()}
    paths = [ROOT / "docs" / name for name in pages]
    old = [path for path in paths if not path.exists() or path.read_text() != pages[path.name]]
    for path in old:
        if sys.argv[1:]:
            print(f"{path.relative_to(ROOT)} is old: run python scripts/make_layer_docs.py")
        else:
            path.write_text(pages[path.name])
            print(f"Wrote {path.relative_to(ROOT)}")
    return int(bool(sys.argv[1:] and old))


if __name__ == "__main__":
    sys.exit(main())

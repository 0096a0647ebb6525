"""What forks of Caffe add to BVLC's schema, as data: a file of proto syntax for each fork.

``message LayerParameter { optional PermuteParameter permute_param = 202; }`` in ``ssd.proto`` says
that SSD added this field on this number.  :func:`join` makes one schema of BVLC's and all of these
for ``make proto``.  Text is read by name, so the union of the names reads every fork's files:

* a message, enum or field of one name in several forks is one, with the members of all;
* repeated wins over optional, optional over required, the wider of two number types over the other;
* a default on which the forks disagree is none: the layer asks ``HasField`` and knows its fork;
* what BVLC has stays as BVLC has it.

The forks' own numbers clash, so what is added to BVLC's messages gets private numbers, made of the
names.  Those never go into a file: ``proto/bvlc.py`` takes the fields out of what is written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from zlib import crc32

PRIVATE = 100_000_000  # fields from here on are forks'; BVLC's and our own are below
PRIVATE_VALUE = 1_000_000  # the same for values of enums that BVLC has
_NUMBERS = ("bool", "uint32", "int32", "uint64", "int64", "float", "double")
_LABELS = ("required", "optional", "repeated")
_TOKEN = re.compile(r'"[^"]*"|[\w.+-]+|[{}=;\[\],]')


@dataclass(frozen=True)
class Field:
    """``label type name = number [default = ..., packed = ...];``"""

    label: str
    type: str
    name: str
    number: int
    options: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        inside = ", ".join(f"{key} = {value}" for key, value in self.options)
        tail = f" [{inside}]" if inside else ""
        return f"{self.label} {self.type} {self.name} = {self.number}{tail};"


@dataclass
class Message:
    """The fields and enums of a message; a schema is one too, with its messages."""

    fields: dict[str, Field] = field(default_factory=dict)
    enums: dict[str, dict[str, int]] = field(default_factory=dict)
    messages: dict[str, Message] = field(default_factory=dict)


# -- reading ---------------------------------------------------------------------------------------


def parse(text: str) -> Message:
    """The messages and enums of a schema, in the part of proto2's syntax that ours use."""
    tokens = iter(_TOKEN.findall(re.sub(r"//[^\n]*", "", text)))
    schema = Message()
    for word in tokens:
        if word in ("syntax", "package"):
            _until(tokens, ";")
        else:
            _member(schema, word, tokens)
    return schema


def _member(owner: Message, word: str, tokens: Iterator[str]) -> None:
    if word == "message":
        inner = owner.messages.setdefault(next(tokens), Message())
        next(tokens)
        while (word := next(tokens)) != "}":
            _member(inner, word, tokens)
    elif word == "enum":
        name = next(tokens)
        words = _until(tokens, "}")[1:]
        values = {words[i]: int(words[i + 2]) for i in range(0, len(words), 4)}
        owner.enums.setdefault(name, {}).update(values)
    elif word in _LABELS:
        kind, name, _, number, *rest = _until(tokens, ";")
        options = tuple((rest[i], rest[i + 2]) for i in range(1, len(rest), 4))
        owner.fields[name] = Field(word, kind, name, int(number), options)
    else:
        raise ValueError(f"a schema has messages, enums and fields; found {word!r}")


def _until(tokens: Iterator[str], end: str) -> list[str]:
    found = []
    while (word := next(tokens)) != end:
        found.append(word)
    return found


@cache
def dialects() -> dict[str, Message]:
    """What each fork adds, by the name of its file; SSD first, whose records are binary files."""
    files = sorted(Path(__file__).parent.glob("*.proto"), key=lambda f: (f.stem != "ssd", f.stem))
    return {file.stem: parse(file.read_text("utf-8")) for file in files}


# -- joining ---------------------------------------------------------------------------------------


def join(core: str) -> str:
    """The schema in ``core`` and what all forks add to it, as one."""
    schema = parse(core)
    head = re.findall(r"^(?:syntax|package)\b.*$", core, re.M)
    added = Message()
    for dialect in dialects().values():
        _merge(added, dialect)
    _add(schema, added, "")
    return "\n".join([*head, *_lines(schema, "")]) + "\n"


def _merge(into: Message, other: Message) -> None:
    """Union of what forks add, by name."""
    for name, new in other.fields.items():
        old = into.fields.get(name)
        into.fields[name] = _both(old, new) if old else new
    for name, values in other.enums.items():
        known = into.enums.setdefault(name, {})
        known |= {value: number for value, number in values.items() if value not in known}
    for name, message in other.messages.items():
        _merge(into.messages.setdefault(name, Message()), message)


def _both(a: Field, b: Field) -> Field:
    """One field for two of a name."""
    label = max(a.label, b.label, key=_LABELS.index)
    if a.type != b.type and not {a.type, b.type} <= set(_NUMBERS):
        raise ValueError(f"forks disagree on the type of {a.name}: {a.type} and {b.type}")
    kind = max(a.type, b.type, key=_NUMBERS.index) if a.type != b.type else a.type
    agreed = a.options == b.options and label != "repeated"
    return replace(a, label=label, type=kind, options=a.options if agreed else ())


def _add(core: Message, added: Message, path: str) -> None:
    """Put what forks added into BVLC's schema.

    Its messages get private numbers; others keep the forks' own, the first's where they clash.
    """
    ours = bool(core.fields)
    taken = {0}
    for name, new in added.fields.items():
        if name in core.fields:
            continue
        clashes = ours or new.number in taken
        core.fields[name] = replace(new, number=_private(f"{path}.{name}")) if clashes else new
        taken.add(new.number)
    for name, values in added.enums.items():
        if name not in core.enums:
            core.enums[name] = values
            continue
        fresh = {v for v in values if v not in core.enums[name]}
        core.enums[name] |= {v: _private_value(f"{path}.{name}.{v}") for v in sorted(fresh)}
    for name, message in added.messages.items():
        _add(core.messages.setdefault(name, Message()), message, name)


def _private(name: str) -> int:
    return PRIVATE + crc32(name.encode()) % 400_000_000


def _private_value(name: str) -> int:
    return PRIVATE_VALUE + crc32(name.encode()) % 100_000_000


def _lines(message: Message, indent: str) -> Iterator[str]:
    for name, values in message.enums.items():
        numbers = list(values.values())
        alias = "option allow_alias = true; " if len(set(numbers)) < len(numbers) else ""
        inside = " ".join(f"{value} = {number};" for value, number in values.items())
        yield f"{indent}enum {name} {{ {alias}{inside} }}"
    yield from (f"{indent}{item}" for item in message.fields.values())
    for name, inner in message.messages.items():
        yield f"{indent}message {name} {{"
        yield from _lines(inner, indent + "  ")
        yield f"{indent}}}"

"""Damage to bytes, texts and messages; what changes follows from a random generator alone."""

from __future__ import annotations

import random
import re
from typing import Any

from google.protobuf import text_format

from pycaffe_dist.proto import wire_format

INTEGERS = [0, 1, -1, 2, 3, 5, 7, 8, 16, 31, 32, 33, 127, 128, 255, 256, 1000, 32767, 32768, 65535]
INTEGERS += [65536, 1 << 20, (1 << 24) + 1, 1 << 30, (1 << 31) - 1, 1 << 31, -(1 << 31), 1 << 32]
INTEGERS += [(1 << 32) - 1, 1 << 62, (1 << 63) - 1, -(1 << 63), (1 << 64) - 1, -2, -3, 46341, 4, 6]
FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, 1e-30, 1e30, 3.4e38, -3.4e38, 1e-45]
FLOATS += [float("inf"), float("-inf"), float("nan")]
STRINGS = ["", "x", "y", "l", "ip", "loss", "data", "a" * 300, "../x", "no/such/file", "a\nb"]
STRINGS += ["\x1b[31mred\x1b[0m", "%s%n", "ünï", "/", "a/b", ".", "..", "$\\foo$", "a\0b", "0"]
STRINGS += ["x:y", '"', "'", "<b>", "ip_x_0_split_0", "list.txt", "db", "mean.binaryproto"]
STRINGS += ["h5.txt", "xavier", "gaussian", "Split", "Python", "Data", "Input", "/dev/zero"]
WORDS = ["nan", "inf", "-inf", "1e400", "0x7fffffff", "true", "MAX", "TEST", "'", '"', "{", "}"]
WORDS += [":", "#", "9" * 5000, "-", "[1, 2]"]

MOST_BYTES = 1 << 20  # of parts that are repeated

_TOKEN = re.compile(r'"[^"\n]*"|[A-Za-z_]\w*|[-+.\w]+|\s+|.')


def damage_bytes(rng: random.Random, data: bytes, head: int = 0) -> bytes:
    """Flip, overwrite, cut, insert, repeat; more often in the first ``head`` bytes."""
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4, 16))):
        if not out:
            break
        at = rng.randrange(min(head, len(out)) if head and rng.random() < 0.5 else len(out))
        what = rng.random()
        if what < 0.4:
            out[at] ^= 1 << rng.randrange(8)
        elif what < 0.7:
            overwrite(rng, out, at, rng.choice(("little", "big")))
        elif what < 0.8:
            del out[at : len(out) if rng.random() < 0.5 else at + rng.randint(1, 64)]
        elif what < 0.9:
            out[at:at] = rng.randbytes(rng.randint(1, 16))
        else:
            out[at:at] = out[at : at + rng.randint(1, 200)]
    return bytes(out)


def overwrite(rng: random.Random, out: bytearray, at: int, order: str = "little") -> None:
    """A number of some width, of those that programs stumble over."""
    width = rng.choice((1, 2, 4, 8))
    number = rng.choice(INTEGERS) & ((1 << 8 * width) - 1)
    out[at : at + width] = number.to_bytes(width, order)  # type: ignore[arg-type]


def damage_text(rng: random.Random, text: str) -> str:
    """Change some tokens."""
    tokens = _TOKEN.findall(text)
    for _ in range(rng.choice((1, 1, 2, 4))):
        if not tokens:
            break
        i, what = rng.randrange(len(tokens)), rng.random()
        if what < 0.4:
            numbers = [n for n, t in enumerate(tokens) if re.fullmatch(r"-?[\d.]+", t)]
            if numbers:
                tokens[rng.choice(numbers)] = str(rng.choice(INTEGERS + FLOATS))
        elif what < 0.55:
            tokens[i] = rng.choice(WORDS)
        elif what < 0.65:
            tokens[i] = f'"{rng.choice(STRINGS)}"'
        elif what < 0.75:
            del tokens[i : i + rng.randint(1, 8)]
        elif what < 0.85:
            tokens[i:i] = tokens[i : i + rng.randint(1, 40)]
        else:
            j = rng.randrange(len(tokens))
            tokens[i], tokens[j] = tokens[j], tokens[i]
    return "".join(tokens)


def damage_text_or_bytes(rng: random.Random, text: str) -> bytes:
    if rng.random() < 0.7:
        return damage_text(rng, text).encode(errors="surrogateescape")
    return damage_bytes(rng, text.encode(errors="surrogateescape"))


# -- messages --------------------------------------------------------------------------------------


def damage_message(rng: random.Random, message: Any) -> None:
    """Change some fields, anywhere in it, to other values of their types."""
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        owner = rng.choice(_messages(message))
        there = [field for field, _ in owner.ListFields()]
        known = rng.random() < 0.65 and there
        field = rng.choice(known or owner.DESCRIPTOR.fields)
        if field.is_repeated:
            _damage_repeated(rng, getattr(owner, field.name), field)
        elif rng.random() < 0.15:
            owner.ClearField(field.name)
        elif field.cpp_type == field.CPPTYPE_MESSAGE:
            getattr(owner, field.name).SetInParent()
        else:
            setattr(owner, field.name, _value_of(rng, field))


def _damage_repeated(rng: random.Random, values: Any, field: Any) -> None:
    what = rng.random()
    if len(values) and what < 0.25:
        del values[rng.randrange(len(values))]
    elif field.cpp_type == field.CPPTYPE_MESSAGE:
        new = values.add()
        if len(values) > 1 and what < 0.7:
            new.CopyFrom(values[rng.randrange(len(values) - 1)])
    elif len(values) and what < 0.4:
        kept = list(values)
        rng.shuffle(kept)
        values[:] = kept
    elif len(values) and what < 0.8:
        values[rng.randrange(len(values))] = _value_of(rng, field)
    else:
        values.extend(_value_of(rng, field) for _ in range(rng.choice((1, 1, 2, 40))))


def _messages(message: Any) -> list[Any]:
    """The message and all within it."""
    found = [message]
    for field, value in message.ListFields():
        if field.cpp_type == field.CPPTYPE_MESSAGE:
            for each in value if field.is_repeated else [value]:
                found += _messages(each)
    return found


def _value_of(rng: random.Random, field: Any) -> Any:
    ranges = {
        field.CPPTYPE_INT32: (-(1 << 31), (1 << 31) - 1),
        field.CPPTYPE_INT64: (-(1 << 63), (1 << 63) - 1),
        field.CPPTYPE_UINT32: (0, (1 << 32) - 1),
        field.CPPTYPE_UINT64: (0, (1 << 64) - 1),
    }
    if field.cpp_type in ranges:
        low, high = ranges[field.cpp_type]
        if rng.random() < 0.2:
            return rng.randint(max(low, -40), min(high, 40))
        return rng.choice([n for n in INTEGERS if low <= n <= high])
    if field.cpp_type in (field.CPPTYPE_FLOAT, field.CPPTYPE_DOUBLE):
        return rng.choice(FLOATS) if rng.random() < 0.7 else rng.uniform(-3, 3)
    if field.cpp_type == field.CPPTYPE_BOOL:
        return rng.random() < 0.5
    if field.cpp_type == field.CPPTYPE_ENUM:
        return rng.choice(field.enum_type.values).number
    text = rng.choice(STRINGS)
    return text.encode() if field.type == field.TYPE_BYTES else text


def damage_prototxt(rng: random.Random, text: str, message: Any) -> str:
    """By its fields most often, else by its tokens."""
    if rng.random() < 0.25:
        return damage_text(rng, text)
    text_format.Parse(text, message)
    damage_message(rng, message)
    return text_format.MessageToString(message)


# -- the wire format -------------------------------------------------------------------------------


def damage_binary(rng: random.Random, data: bytes, kind: Any) -> bytes:
    """A binary message: by its fields, its tags and lengths, or its bytes."""
    what = rng.random()
    if what < 0.35:
        message = kind.FromString(data)
        damage_message(rng, message)
        return bytes(message.SerializePartialToString())
    return damage_wire(rng, data) if what < 0.75 else damage_bytes(rng, data, 100)


def damage_wire(rng: random.Random, data: bytes, depth: int = 0) -> bytes:
    """Change a tag, a length or a number of a binary message, at any depth."""
    view = memoryview(data)
    try:
        fields = list(wire_format.fields(view, 0, len(view)))
    except ValueError:
        return damage_bytes(rng, data)
    if not fields:
        return data
    i = rng.randrange(len(fields))
    field, begin = fields[i], fields[i - 1].end if i else 0
    inner = bytes(view[field.begin : field.end])
    if field.wire == wire_format.LEN and depth < 6 and rng.random() < 0.7:
        inner = damage_wire(rng, inner, depth + 1)
        new = wire_format.head(field.number, len(inner)) + inner
    else:
        kind = rng.choice((0, 1, 2, 3, 4, 5, 5, 2, 2))
        number = rng.choice((field.number, field.number, rng.randint(1, 200), 0, 1 << 28))
        sizes = (len(inner), len(inner) + 1, 0, 1 << 31, (1 << 63) + 5, (1 << 64) - 1, 1 << 35)
        size = wire_format.varint(rng.choice(sizes)) if kind in (0, 2) else b""
        new = wire_format.varint(number << 3 | kind) + size + inner
    times = rng.choice((1, 1, 1, 1, 2, 300))
    new *= min(times, max(1, MOST_BYTES // len(new)))  # a file of gigabytes may take gigabytes
    return bytes(view[:begin]) + new + bytes(view[field.end :])

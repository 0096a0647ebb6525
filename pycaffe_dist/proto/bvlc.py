"""Messages as files keep them: BVLC's fields alone, or with those of a chosen fork.

What forks added has private numbers here.  In a file it has the number that its fork gave it, if
the dialect of that fork was asked for; otherwise it is left out.
"""

from __future__ import annotations

import os

from google.protobuf.message import Message as ProtobufMessage

from pycaffe_dist.aliases import Descriptor
from pycaffe_dist.proto import wire_format
from pycaffe_dist.proto.dialects import PRIVATE, PRIVATE_VALUE, Message, dialects
from pycaffe_dist.proto.text import is_repeated
from pycaffe_dist.proto.wire_format import LEN, VARINT

DIALECT = "PCD_DIALECT"  # the variable that `--dialect` sets


def without_dialects(message: ProtobufMessage) -> list[str]:
    """Take what forks added out of ``message``, in place; the names of what went.

    A value that an enum of BVLC's does not have goes with its field.
    """
    gone: list[str] = []
    for field, value in message.ListFields():
        values = value if is_repeated(field) else [value]
        strange = field.enum_type is not None and any(v >= PRIVATE_VALUE for v in values)
        if field.number >= PRIVATE or strange:
            gone.append(f"{message.DESCRIPTOR.name}.{field.name}")
            message.ClearField(field.name)
        elif field.message_type is not None:
            for inner in values:
                gone += without_dialects(inner)
    return gone


def written(message: ProtobufMessage, dialect: str | None = None) -> bytes:
    """The bytes of ``message`` for a file.

    Args:
        message: it stays as it is.
        dialect: the fork whose fields are kept; None: the one that ``--dialect`` chose, if any.
    """
    chosen = os.environ.get(DIALECT, "") if dialect is None else dialect
    schema = dialects().get(chosen, Message())
    return _renumbered(message.SerializeToString(), message.DESCRIPTOR, schema)


def _renumbered(raw: bytes, kind: Descriptor, schema: Message) -> bytes:
    """A serialized message with the numbers of a fork's schema, without what that has not."""
    own = schema.messages.get(kind.name, Message())
    parts: list[bytes] = []
    for f in wire_format.fields(memoryview(raw), 0, len(raw)):
        field = kind.fields_by_number.get(f.number)
        number, value = f.number, f.value
        if field is not None and number >= PRIVATE:
            number = own.fields[field.name].number if field.name in own.fields else 0
        if field is not None and field.enum_type is not None and value >= PRIVATE_VALUE:
            word = field.enum_type.values_by_number[value].name
            value = own.enums.get(field.enum_type.name, {}).get(word, -1)
        if number == 0 or value < 0:
            continue  # the fork has no such field, or its number is not known
        parts.append(wire_format.varint(number << 3 | f.wire))
        if f.wire == VARINT:
            parts.append(wire_format.varint(value))
            continue
        body = raw[f.begin : f.end]
        if f.wire == LEN:
            if field is not None and field.message_type is not None:
                body = _renumbered(body, field.message_type, schema)
            parts.append(wire_format.varint(len(body)))
        parts.append(body)
    return b"".join(parts)

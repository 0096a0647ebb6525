"""Messages as BVLC Caffe knows them: without what forks added, which has no number of its own."""

from __future__ import annotations

from typing import Any

from pycaffe_dist.proto.dialects import PRIVATE, PRIVATE_VALUE
from pycaffe_dist.proto.text import is_repeated


def without_dialects(message: Any) -> list[str]:
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

"""What the writer of a wrong name probably meant, and which fork of Caffe a name comes from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pycaffe_dist.proto import forks
from pycaffe_dist.proto.dialects import PRIVATE, PRIVATE_VALUE

if TYPE_CHECKING:
    from pycaffe_dist.aliases import Descriptor, FieldDescriptor

MOST_HINTS = 10  # names of one file that are looked for among others, which takes its time

# What the old format's fields are called in `layer { ... }`.
_MOVED = {
    "blobs_lr": "param { lr_mult: ... }",
    "weight_decay": "param { decay_mult: ... }",
    "blob_share_mode": "param { share_mode: ... }",
}


def near(name: str, known: Iterable[str]) -> str | None:
    """The one of ``known`` that ``name`` is a slip of the pen away from, if any."""
    from difflib import get_close_matches  # needed where something is wrong

    # Two names are not alike because both end in _param.
    end = "_param" if name.endswith("_param") else ""
    by_stem = {k.lower().removesuffix(end): k for k in known if k.endswith(end)}
    found = get_close_matches(name.lower().removesuffix(end), by_stem, n=1, cutoff=0.75)
    return by_stem[found[0]] if found else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """``; did you mean "x"?`` or nothing."""
    guess = near(name, known)
    return f'; did you mean "{guess}"?' if guess else ""


def unknown_field(message: Descriptor, name: str) -> str:
    """The message for a field that ``message`` does not have."""
    text = f'{message.name} has no field "{name}"'
    if message.name == "LayerParameter" and name in _MOVED:
        return f"{text}; that is the old `layers` format, in `layer` write: {_MOVED[name]}"
    source = forks.of_field(message.name, name)
    if source:
        return f"{text}; it comes from {source}"
    owners = _owners(message, name)
    if owners:
        return f"{text}; it belongs inside {owners}"
    return text + did_you_mean(name, message.fields_by_name)


def _owners(message: Descriptor, name: str) -> str:
    """BVLC's sub-messages of ``message`` with the field: `kernel_size` outside its braces."""
    names = [
        field.name
        for field in message.fields
        if field.message_type
        and name in field.message_type.fields_by_name
        and field.number < PRIVATE
    ]
    return " or ".join(names) if len(names) <= 4 else ""


def unknown_enum(field: FieldDescriptor, given: str) -> str:
    """The message for a value that the enum of ``field`` does not have."""
    names = [v.name for v in field.enum_type.values if v.number < PRIVATE_VALUE]
    text = f'"{field.name}" cannot be {given}'
    source = forks.of_enum_value(field.enum_type.name, given)
    if source:
        return f"{text}; that value comes from {source}"
    quoted = given[:1] in "\"'"
    if quoted and field.enum_type.name == "LayerType":
        return (
            f"{text}: in the old `layers` format types are bare words such as CONVOLUTION; "
            "with a quoted type write `layer`"
        )
    bare = given.strip("\"'")
    if quoted and bare in names:
        return f"{text}: write {bare} without quotes"
    guess = did_you_mean(bare, names)
    return text + (guess or f"; expected one of {', '.join(sorted(names))}")

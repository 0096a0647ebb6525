"""Label maps: the classes of a detector by number and by name, in SSD's text format.

    item { name: "none_of_the_above" label: 0 display_name: "background" }
    item { name: "aeroplane" label: 1 display_name: "aeroplane" }

``name`` is what annotation files call a class, ``display_name`` what people do.
"""

from __future__ import annotations

from collections import Counter

from pycaffe_dist.errors import FileError
from pycaffe_dist.files import read_bytes, reading
from pycaffe_dist.proto.caffe_pb2 import LabelMap, LabelMapItem
from pycaffe_dist.proto.text import read_text

BACKGROUND = LabelMapItem(name="none_of_the_above", label=0, display_name="background")


def read_label_map(path: str) -> LabelMap:
    """A label map.

    Raises:
        FileError: it cannot be read, or has no items.
        PrototxtError: it is another kind of file.
    """
    found = read_text(path, LabelMap()).message
    if not found.item:
        raise FileError(f"{path}: has no items; a label map is made by `pcd create_label_map`")
    return found


def names(found: LabelMap) -> dict[int, str]:
    """The names of classes by number."""
    return {item.label: item.name for item in found.item}


def shown_names(found: LabelMap) -> dict[int, str]:
    """What people call the classes, by number."""
    return {item.label: item.display_name or item.name for item in found.item}


def labels(found: LabelMap) -> dict[str, int]:
    """The numbers of classes by name; of equal names the last counts."""
    return {item.name: item.label for item in found.item}


def check_unique(found: LabelMap, path: str) -> None:
    """Refuse a name or a number that comes twice.

    Raises:
        FileError: there is one.
    """
    for field in ("name", "label"):
        [(value, count)] = Counter(getattr(item, field) for item in found.item).most_common(1)
        if count > 1:
            raise FileError(f"{path}: the {field} {value!r} comes {count} times, expected once")


def parse_names(path: str, delimiter: str = " ", background: bool = False) -> LabelMap:
    """A label map of a list of classes: lines of ``name``, ``name label`` or
    ``name label display_name``, all of the same kind, separated by any one of ``delimiter``.

    Without labels the classes are numbered from 0, with ``background`` from 1 after it.

    Raises:
        FileError: the list is empty, or a line has other fields than the first.
    """
    with reading(path, "is not UTF-8 text"):
        text = read_bytes(path).decode()
    out = LabelMap(item=[BACKGROUND] if background else [])
    begin, fields = len(out.item), 0
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        words = _split(line.strip(), delimiter)
        fields = fields or len(words)
        if len(words) != fields or fields > 3:
            raise FileError(
                f"{path}:{number}: expected {fields if fields <= 3 else '1 to 3'} fields (name, "
                f"label, display_name) separated by {delimiter!r}, found {len(words)}: {line!r}. "
                "--delimiter names another separator."
            )
        label = len(out.item) if fields == 1 else _number(path, number, words[1])
        out.item.add(name=words[0], label=label, display_name=words[2 if fields == 3 else 0])
    if len(out.item) == begin:
        raise FileError(f"{path}: lists no classes")
    return out


def _split(line: str, delimiter: str) -> list[str]:
    for letter in delimiter[1:]:
        line = line.replace(letter, delimiter[0])
    return line.split(delimiter[0]) if delimiter else [line]


def _number(path: str, line: int, word: str) -> int:
    try:
        label = int(word)
        if abs(label) < 1 << 31:
            return label
    except ValueError:
        pass
    raise FileError(f"{path}:{line}: the label {word!r} is no whole number of 32 bits")

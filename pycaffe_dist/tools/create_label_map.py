"""Label maps out of lists of classes and out of COCO's files."""

from __future__ import annotations

from pycaffe_dist.data.annotation_files import read_json
from pycaffe_dist.data.label_map import BACKGROUND, check_unique, parse_names
from pycaffe_dist.errors import FileError
from pycaffe_dist.files import atomic_write
from pycaffe_dist.proto.caffe_pb2 import LabelMap
from pycaffe_dist.proto.text import format_text


def create_label_map(
    source: str, target: str, delimiter: str = " ", background: bool = False
) -> LabelMap:
    """Write the label map of a list of classes, or of a .json of COCO; it is returned, too.

    Raises:
        FileError: the list cannot be read, or has a name or a label twice.
    """
    if source.endswith(".json"):
        found = coco_label_map(source, read_json(source))
    else:
        found = parse_names(source, delimiter, background)
    check_unique(found, source)
    with atomic_write(target) as file:
        file.write(format_text(found).encode())
    return found


def coco_label_map(path: str, coco: object) -> LabelMap:
    """The categories of COCO: their ids, which have gaps, are the names; labels count from 1.

    Raises:
        FileError: there are none.
    """
    kinds = coco.get("categories") if isinstance(coco, dict) else None
    try:
        numbered = sorted((int(kind["id"]), str(kind["name"])) for kind in kinds or ())
    except (TypeError, KeyError, ValueError, AttributeError) as e:
        raise FileError(f'{path}: expected "categories" with an id and a name each') from e
    if not numbered:
        raise FileError(f'{path}: has no "categories"')
    out = LabelMap(item=[BACKGROUND])
    for label, (number, name) in enumerate(numbered, 1):
        out.item.add(name=str(number), label=label, display_name=name)
    return out

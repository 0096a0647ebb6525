"""Make a database of images: pcd convert_imageset [flags] ROOTFOLDER/ LISTFILE DB_NAME.

pcd convert_imageset images/ list.txt train_lmdb --resize-height 256 --resize-width 256 --shuffle
pcd convert_imageset photos train_lmdb --shuffle --encoded    (photos has a folder for each class)

A line of the list is a path below ROOTFOLDER, a space and the label, a whole number.
"""

from __future__ import annotations

import dataclasses
import os
import sys

from pycaffe_dist.cli._booleans import boolean, plain
from pycaffe_dist.cli._flags import Parser, flag, parser
from pycaffe_dist.cli._show import complain, show
from pycaffe_dist.data.database import BACKENDS
from pycaffe_dist.data.image_list import read_image_list
from pycaffe_dist.report.glog import log_to_stderr
from pycaffe_dist.tools.convert_imageset import (
    Converted,
    ImagesetOptions,
    class_folders,
    convert_imageset,
)
from pycaffe_dist.tools.label_histogram import label_histogram

MOST_UNREADABLE = 20  # named; the rest are counted


def main(argv: list[str]) -> int:
    p = _parser()
    booleans = ("gray", "shuffle", "check_size", "encoded")
    args = p.parse_intermixed_args(plain(argv, booleans))
    if len(args.paths) not in (2, 3):
        p.error(f"expected ROOTFOLDER/ LISTFILE DB_NAME, or FOLDER DB_NAME; got {len(args.paths)}")
    names = {field.name for field in dataclasses.fields(ImagesetOptions)}
    given = {name: value for name, value in vars(args).items() if name in names}
    log_to_stderr()
    root, database = args.paths[0], args.paths[-1]
    classes: list[str] = []
    if len(args.paths) == 3:
        entries = read_image_list(args.paths[1])
    else:
        root = os.path.join(root, "")
        entries, classes = class_folders(root)
    converted = convert_imageset(root, entries, database, ImagesetOptions(**given))
    _tell(converted, database, classes)
    return 0


def _parser() -> Parser:
    p = parser("convert_imageset", __doc__)
    defaults = ImagesetOptions()
    p.add_argument("paths", nargs="+", metavar="PATH", help="ROOTFOLDER/ LISTFILE DB_NAME")
    which = p.add_argument_group("which images, in which order")
    boolean(which, "shuffle", "in a random order")
    text = "keep this random part"
    flag(which, "subsampling", type=float, default=1.0, metavar="PART", help=text)
    text = "keep labels up to this one; -1: all"
    flag(which, "label_range", type=int, default=-1, metavar="N", help=text)
    flag(which, "seed", type=int, metavar="N", help="of --shuffle and --subsampling")
    how = p.add_argument_group("what is kept of them")
    boolean(how, "gray", "read images as grey")
    text = "bring them to this size, with --resize-height; 0: as they are"
    flag(how, "resize_width", type=int, default=0, metavar="N", help=text)
    flag(how, "resize_height", type=int, default=0, metavar="N", help="with --resize-width")
    boolean(how, "check_size", "stop if images have different sizes")
    boolean(how, "encoded", "keep the bytes of an image file, not its pixels")
    flag(how, "encode_type", default="", metavar="EXT", help="png, jpg, ...; implies --encoded")
    out = p.add_argument_group("the database")
    flag(out, "backend", choices=BACKENDS, default=defaults.backend, help="kind of the database")
    text = "threads that decode images"
    flag(out, "threads", type=int, default=defaults.threads, metavar="N", help=text)
    return p


def _tell(converted: Converted, database: str, classes: list[str]) -> None:
    print(f"{database}: {converted.count:,} records")
    show(*label_histogram(converted.labels, dict(enumerate(classes))))
    unreadable = converted.unreadable
    if unreadable:
        print(f"{len(unreadable):,} images could not be read:", file=sys.stderr)
        complain(*(f"  {text}" for text in unreadable[:MOST_UNREADABLE]))
    if len(unreadable) > MOST_UNREADABLE:
        print(f"  ... and {len(unreadable) - MOST_UNREADABLE:,} more", file=sys.stderr)

"""Make a database of images: pcd convert_imageset [flags] ROOTFOLDER/ LISTFILE DB_NAME.

pcd convert_imageset images/ list.txt train_lmdb --resize-height 256 --resize-width 256 --shuffle
pcd convert_imageset photos train_lmdb --shuffle --encoded    (photos has a folder for each class)

A line of the list is a path below ROOTFOLDER, a space and the label, a whole number.  Of class
folders the names are written to DB_NAME/labels.txt.
"""

from __future__ import annotations

import os

from pycaffe_dist.cli._booleans import boolean, plain
from pycaffe_dist.cli._flags import Parser, flag, parser
from pycaffe_dist.cli._imageset_flags import BOOLEANS, add_database, add_pixels, chosen, tell
from pycaffe_dist.cli._show import show
from pycaffe_dist.data.image_list import read_image_list
from pycaffe_dist.errors import FileError
from pycaffe_dist.report.glog import log_to_stderr
from pycaffe_dist.tools.convert_imageset import (
    ImagesetOptions,
    class_folders,
    convert_imageset,
    write_labels,
)


def main(argv: list[str]) -> int:
    p = _parser()
    args = p.parse_intermixed_args(plain(argv, BOOLEANS))
    if len(args.paths) not in (2, 3):
        p.error(f"expected ROOTFOLDER/ LISTFILE DB_NAME, or FOLDER DB_NAME; got {len(args.paths)}")
    options = chosen(args, ImagesetOptions)
    log_to_stderr()
    root, database = args.paths[0], args.paths[-1]
    classes: list[str] = []
    if len(args.paths) == 3:
        entries = read_image_list(args.paths[1])
    else:
        root = os.path.join(root, "")
        try:
            entries, classes = class_folders(root)
        except FileError as e:
            raise FileError(f"{e}; with a list of images, give ROOTFOLDER/ LISTFILE DB_NAME") from e
    converted = convert_imageset(root, entries, database, options)
    tell(converted, database, dict(enumerate(classes)))
    if classes:
        show(f"names of the classes: {write_labels(database, classes)}")
    return 0


def _parser() -> Parser:
    p = parser("convert_imageset", __doc__)
    p.add_argument("paths", nargs="+", metavar="PATH", help="ROOTFOLDER/ LISTFILE DB_NAME")
    which = p.add_argument_group("which images, in which order")
    boolean(which, "shuffle", "in a random order")
    text = "keep this random part"
    flag(which, "subsampling", type=float, default=1.0, metavar="PART", help=text)
    text = "keep labels up to this one; -1: all"
    flag(which, "label_range", type=int, default=-1, metavar="N", help=text)
    flag(which, "seed", type=int, metavar="N", help="of --shuffle and --subsampling")
    add_pixels(p)
    add_database(p)
    return p

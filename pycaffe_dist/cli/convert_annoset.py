"""Make a database of images and boxes: pcd convert_annoset [flags] ROOTFOLDER/ LISTFILE DB_NAME.

pcd convert_annoset --anno-type detection --label-map-file labelmap.prototxt VOCdevkit/ train.txt db
pcd convert_annoset --anno-type detection --encoded train2017/ instances_train2017.json coco_lmdb

A line of the list is a path below ROOTFOLDER and a label, or for detection the path of a file with
the image's annotations. COCO's .json of all images is a list, too.
"""

from __future__ import annotations

from pycaffe_dist.cli._booleans import boolean, plain
from pycaffe_dist.cli._flags import Parser, flag, parser
from pycaffe_dist.cli._imageset_flags import BOOLEANS, add_database, add_pixels, chosen, tell
from pycaffe_dist.data.annotation_files import READERS
from pycaffe_dist.report.glog import log_to_stderr
from pycaffe_dist.tools.convert_annoset import AnnosetOptions, convert_annoset


def main(argv: list[str]) -> int:
    p = _parser()
    args = p.parse_intermixed_args(plain(argv, (*BOOLEANS, "check_label")))
    options = chosen(args, AnnosetOptions)
    log_to_stderr()
    converted, names = convert_annoset(args.root, args.list_file, args.database, options)
    what = "boxes" if options.anno_type == "detection" else "records"
    tell(converted, args.database, names, what)
    return 0


def _parser() -> Parser:
    p = parser("convert_annoset", __doc__)
    defaults = AnnosetOptions()
    p.add_argument("root", metavar="ROOTFOLDER", help="put before each path as it is")
    p.add_argument("list_file", metavar="LISTFILE", help="images and their labels or annotations")
    p.add_argument("database", metavar="DB_NAME", help="the database")
    what = p.add_argument_group("annotations")
    kinds, text = ("classification", "detection"), "what an image has: a label, or boxes"
    flag(what, "anno_type", choices=kinds, default=defaults.anno_type, help=text)
    text = "annotation files: VOC's XML, COCO's JSON, lines of label and corners, or MOT's tables"
    flag(what, "label_type", choices=[*READERS], default=defaults.label_type, help=text)
    flag(what, "label_map_file", default="", metavar="FILE", help="the numbers of the classes")
    boolean(what, "check_label", "refuse a label map with a name or a number twice")
    which = p.add_argument_group("which images, in which order")
    boolean(which, "shuffle", "in a random order")
    flag(which, "seed", type=int, metavar="N", help="of --shuffle")
    how = add_pixels(p)
    text = "enlarge those whose shorter side has fewer pixels"
    flag(how, "min_dim", type=int, default=0, metavar="N", help=text)
    text = "scale those down whose longer side has more pixels"
    flag(how, "max_dim", type=int, default=0, metavar="N", help=text)
    add_database(p)
    return p

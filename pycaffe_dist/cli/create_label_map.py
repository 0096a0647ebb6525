"""Number the classes of a detector: pcd create_label_map [flags] MAPFILE OUTFILE.

pcd create_label_map --include-background classes.txt labelmap.prototxt
pcd create_label_map instances_train2017.json labelmap_coco.prototxt

A line of MAPFILE is a class: its name, or its name and label, or these and what to show.
"""

from __future__ import annotations

from pycaffe_dist.cli._booleans import boolean, plain
from pycaffe_dist.cli._flags import flag, parser
from pycaffe_dist.tools.create_label_map import create_label_map


def main(argv: list[str]) -> int:
    p = parser("create_label_map", __doc__)
    p.add_argument("source", metavar="MAPFILE", help="a list of classes, or COCO's .json")
    p.add_argument("target", metavar="OUTFILE", help="the label map, a text file")
    boolean(p, "include_background", "begin with none_of_the_above, label 0")
    text = "what separates the fields of a line: any of these letters (default: a space)"
    flag(p, "delimiter", metavar="LETTERS", help=text)
    args = p.parse_intermixed_args(plain(argv, ["include_background"]))
    found = create_label_map(
        args.source, args.target, args.delimiter or " ", args.include_background
    )
    print(f"{args.target}: {len(found.item)} classes")
    return 0

"""Score windows of images as Caffe's detect.py does, or find boxes: pcd detect [--ssd] IN OUT.

pcd detect windows.csv scores.csv --model deploy.prototxt --weights rcnn.caffemodel
pcd detect --ssd photos/ drawn/ --model deploy.prototxt --weights ssd.caffemodel --labels map.txt

Without --ssd, INPUT is a .csv with the columns filename, ymin, xmin, ymax, xmax (or for
--crop-mode selective_search, which needs MATLAB, a .txt with an image on each line), OUTPUT a .csv
or .h5. With --ssd, for any net that ends in DetectionOutput or one of YOLO's, INPUT is an image, a
folder or a .txt that lists images; boxes are printed and, if there is an OUTPUT, drawn: into a
.png, or a folder. An OUTPUT that ends in .json gets what --json prints.
"""

from __future__ import annotations

import argparse
import json
import time

from pycaffe_dist.cli._flags import Parser, flag, parser
from pycaffe_dist.cli._image_flags import (
    add_means,
    add_net,
    add_preparation,
    check_size,
    preparation,
)
from pycaffe_dist.cli._show import show
from pycaffe_dist.data.label_map import read_label_map, shown_names
from pycaffe_dist.errors import NetError
from pycaffe_dist.files import atomic_write
from pycaffe_dist.tools.detect import (
    detect_list,
    detect_selective_search,
    detector,
    read_names,
    read_windows,
    write,
)
from pycaffe_dist.tools.detect_boxes import (
    BoxDetector,
    as_json,
    as_table,
    detect_images,
    drawings,
    images_of,
    write_drawing,
)


def main(argv: list[str]) -> int:
    p = _parser()
    args = p.parse_args(argv)
    if args.ssd:
        check_size(p, args)
        if p.get_default("model_def") == args.model_def:
            p.error("--ssd needs a net and its weights: --model-def, --pretrained-model")
        return _boxes(args)
    if args.output_file is None:
        p.error("the following arguments are required: OUTPUT")
    return _windows(args)


def _parser() -> Parser:
    p = parser("detect", __doc__)
    p.add_argument("input_file", metavar="INPUT", help="windows, or with --ssd images")
    text = ".csv or .h5; with --ssd where to draw"
    p.add_argument("output_file", nargs="?", metavar="OUTPUT", help=text)
    net = p.add_argument_group("the net")
    add_net(net, "bvlc_reference_rcnn_ilsvrc13")
    text = "a detector that finds boxes itself: SSD, YOLO, ..."
    flag(net, "ssd", action="store_true", help=text)
    windows = p.add_argument_group("windows")
    modes, text = ("list", "selective_search"), "where windows come from (default: list)"
    flag(windows, "crop_mode", choices=modes, help=text)
    flag(windows, "context_pad", type=int, default=16, metavar="N", help="pixels around a window")
    boxes = p.add_argument_group("with --ssd")
    text = "the least score of a box that counts"
    flag(boxes, "threshold", type=float, default=0.5, metavar="X", help=text)
    flag(boxes, "labels", "label_map_file", default="", metavar="FILE", help="a label map")
    add_means(boxes)
    boxes.add_argument("--json", action="store_true", help="print JSON")
    add_preparation(p.add_argument_group("how images are prepared"))
    return p


def _windows(args: argparse.Namespace) -> int:
    if not args.output_file.endswith((".csv", ".h5", ".hdf5")):
        raise NetError(f"{args.output_file}: give a name that ends in .csv or .h5")
    listed = args.input_file.endswith(".csv")
    if (args.crop_mode or "list") == "list" and not listed:
        raise NetError(
            f"{args.input_file}: windows come from a .csv file; a .txt file of images is for "
            "--crop_mode selective_search"
        )
    windows = read_windows(args.input_file) if listed else {}
    net = detector(preparation(args), args.context_pad)
    begin = time.perf_counter()
    if args.crop_mode == "selective_search":
        found = detect_selective_search(net, windows or read_names(args.input_file))
    else:
        found = detect_list(net, windows)
    print(f"Processed {len(found.filenames)} windows in {time.perf_counter() - begin:.3f} s.")
    write(args.output_file, found)
    print(f"Saved to {args.output_file}")
    return 0


def _boxes(args: argparse.Namespace) -> int:
    names = shown_names(read_label_map(args.labels)) if args.labels else {}
    images = images_of(args.input_file)
    output = args.output_file or ""
    as_file = output.endswith(".json")
    paths = drawings(images, output) if output and not as_file else []
    net = BoxDetector(preparation(args), args.input_size)
    found = []
    for i, (image, one) in enumerate(detect_images(net, images, args.threshold)):
        found.append(one)
        if paths:
            write_drawing(paths[i], image, one, names)
    text = json.dumps([as_json(one, names) for one in found], indent=1)
    if as_file:
        with atomic_write(output) as file:
            file.write(text.encode() + b"\n")
    show(text if args.json else "\n".join(as_table(found, names)))
    return 0

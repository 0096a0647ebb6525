"""Score windows of images as Caffe's detect.py does: pcd detect WINDOWS.csv OUT.csv|OUT.h5.

WINDOWS.csv has the columns filename, ymin, xmin, ymax, xmax. A .txt with an image on each line is
for --crop-mode selective_search, which needs MATLAB.
"""

from __future__ import annotations

import time

from pycaffe_dist.cli._flags import flag, parser
from pycaffe_dist.cli._image_flags import add_net, add_preparation, preparation
from pycaffe_dist.errors import NetError
from pycaffe_dist.tools.detect import (
    detect_list,
    detect_selective_search,
    detector,
    read_names,
    read_windows,
    write,
)


def main(argv: list[str]) -> int:
    p = parser("detect", __doc__)
    p.add_argument("input_file", metavar="INPUT", help=".csv with windows, or .txt with images")
    p.add_argument("output_file", metavar="OUTPUT", help=".csv or .h5")
    add_net(p, "bvlc_reference_rcnn_ilsvrc13")
    modes, text = ("list", "selective_search"), "where windows come from (default: list)"
    flag(p, "crop_mode", choices=modes, help=text)
    flag(p, "context_pad", type=int, default=16, metavar="N", help="pixels around a window")
    add_preparation(p)
    args = p.parse_args(argv)
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

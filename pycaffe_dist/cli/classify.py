"""Score images as Caffe's classify.py does: pcd classify IMAGE|FOLDER|FILE.npy OUT.npy [flags]."""

from __future__ import annotations

import time

import numpy as np

from pycaffe_dist.cli._flags import flag, parser
from pycaffe_dist.cli._image_flags import add_net, add_preparation, numbers, preparation
from pycaffe_dist.files import atomic_write
from pycaffe_dist.tools.classify import read_inputs, score


def main(argv: list[str]) -> int:
    p = parser("classify", __doc__)
    p.add_argument("input_file", metavar="INPUT", help="an image, a folder of images or a .npy")
    p.add_argument("output_file", metavar="OUT.npy", help="a row of scores for each image")
    add_net(p, "bvlc_reference_caffenet")
    flag(p, "center_only", action="store_true", help="the middle instead of ten crops")
    text = "the size before cropping"
    flag(p, "images_dim", type=numbers(int), default=(256, 256), metavar="H,W", help=text)
    flag(p, "ext", default="jpg", help="which files of a folder")
    add_preparation(p)
    args = p.parse_args(argv)
    if len(args.images_dim) != 2:
        p.error("argument --images_dim: give a height and a width: 256,256")
    how = preparation(args)
    count, images = read_inputs(args.input_file, how.channels(), args.ext)
    print(f"Classifying {count} inputs.")
    begin = time.perf_counter()
    scored = score(how, images, args.images_dim, not args.center_only)
    rows = np.stack([row for _, row in scored])
    print(f"Done in {time.perf_counter() - begin:.2f} s.")
    path = args.output_file if args.output_file.endswith(".npy") else args.output_file + ".npy"
    print(f"Saving results into {path}")
    with atomic_write(path) as file:
        np.save(file, rows)
    return 0

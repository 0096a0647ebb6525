"""Tell the class of each pixel of images: pcd segment INPUT OUTPUT --model DEPLOY --weights FILE.

pcd segment photos/ classes/ --model deploy.prototxt --weights pspnet.caffemodel
pcd segment photos/ classes/ --overlay mixed/ --model deploy.prototxt --weights fcn.caffemodel
pcd segment val/ classes/ --truth labels/ --ignore-label 255 --model deploy.prototxt --weights W

INPUT is an image, a folder, or a .txt with an image on each line, perhaps with its labels. OUTPUT
and --overlay are folders, or for one image .png files: classes as indices of VOC's palette, and
the image with the classes' colours over it. With labels it says how good the classes are: the
intersection over union of each, their mean, and the part of the pixels that is right.
"""

from __future__ import annotations

import json

from pycaffe_dist.cli._flags import Parser, flag, parser
from pycaffe_dist.cli._image_flags import add_means, add_preparation, check_size, preparation
from pycaffe_dist.cli._show import show
from pycaffe_dist.data.image import read_image
from pycaffe_dist.data.label_image import write_label_image
from pycaffe_dist.tools.classify import read_labels
from pycaffe_dist.tools.detect_boxes import drawings, write_png
from pycaffe_dist.tools.segment import Confusion, Segmenter, overlaid, pairs_of

IGNORED = 255  # VOC's border of objects
OVER = 0.6  # of an overlay is the classes' colour


def main(argv: list[str]) -> int:
    p = _parser()
    args = p.parse_args(argv)
    check_size(p, args)
    names = dict(enumerate(read_labels(args.labels))) if args.labels else {}
    pairs = pairs_of(args.input, args.truth)
    images = [image for image, _ in pairs]
    outputs = drawings(images, args.output)
    overlays = drawings(images, args.overlay) if args.overlay else []
    net = Segmenter(preparation(args), args.input_size, args.blob)
    confusion = Confusion(net.classes, args.ignore_label or [IGNORED])
    for i, (path, truth) in enumerate(pairs):
        image = read_image(path, color=net.color)
        classes = net.segment(image)
        write_label_image(outputs[i], classes)
        if overlays:
            write_png(overlays[i], overlaid(image, classes, OVER))
        if truth:
            confusion.add(classes, truth)
    if any(truth for _, truth in pairs):
        found = confusion.as_json(names)
        show(json.dumps(found, indent=1) if args.json else "\n".join(confusion.table(names)))
    else:
        print(f"{args.output}: the classes of {len(pairs):,} images")
    return 0


def _parser() -> Parser:
    p = parser("segment", __doc__)
    p.add_argument("input", metavar="INPUT", help="an image, a folder of images or a list")
    p.add_argument("output", metavar="OUTPUT", help="a folder, or a .png")
    net = p.add_argument_group("the net")
    text, model = "the net's prototxt", ("model", "model_def")
    flag(net, *model, dest=model[1], required=True, metavar="FILE", help=text)
    text, weights = "a .caffemodel, binary or HDF5", ("weights", "pretrained_model")
    flag(net, *weights, dest=weights[1], required=True, metavar="FILE", help=text)
    text = "the scores of the classes of pixels (default: the only such output)"
    flag(net, "blob", default="", metavar="NAME", help=text)
    add_means(net)
    add_preparation(p.add_argument_group("how images are prepared"))
    out = p.add_argument_group("output")
    flag(out, "overlay", default="", metavar="DIR", help="images with the colours of their classes")
    text = "the labels of the image, or a folder of labels"
    flag(out, "truth", default="", metavar="PATH", help=text)
    text = "a label whose pixels do not count; may be repeated (default: 255)"
    flag(out, "ignore_label", type=int, action="append", metavar="N", help=text)
    flag(out, "labels", default="", metavar="FILE", help="names of the classes, one on each line")
    out.add_argument("--json", action="store_true", help="how good it is, as JSON")
    return p

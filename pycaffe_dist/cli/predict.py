"""Say what images show: pcd predict INPUT --run DIR, or --model DEPLOY --weights FILE.

pcd predict cat.jpg --run runs/photos       (the net, transform, labels and weights of a run)
pcd predict cat.jpg --model deploy.prototxt --weights net.caffemodel --labels words.txt
pcd predict photos/ --model deploy.prototxt --weights net.caffemodel --mean-value 104,117,123 --json
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

from pycaffe_dist.cli._flags import Parser, add_precision, flag, parser
from pycaffe_dist.cli._image_flags import add_preparation, numbers, preparation
from pycaffe_dist.cli._show import show
from pycaffe_dist.report.table import table
from pycaffe_dist.tools.classify import Guess, best, one_row, read_inputs, read_labels, score
from pycaffe_dist.tools.detect_boxes import (
    BoxDetector,
    as_table,
    detect_images,
    finds_boxes,
    images_of,
)
from pycaffe_dist.tools.detect_boxes import as_json as boxes_as_json
from pycaffe_dist.tools.preprocess import Preprocess
from pycaffe_dist.tools.run_model import run_model

# Names of the flags: those of `pcd test`, and those of classify.py.
MODEL = ("model", "model_def")
WEIGHTS = ("weights", "pretrained_model")


def main(argv: list[str]) -> int:
    p = parser("predict", __doc__)
    p.add_argument("input", metavar="INPUT", help="an image, a folder of images or a .npy")
    net = p.add_argument_group("the net")
    text = "the --run-dir of a training: its net, labels, best or newest weights, and how it "
    flag(net, "run", default="", metavar="DIR", help=text + "prepared images")
    text = "the deployed net's prototxt"
    flag(net, *MODEL, dest=MODEL[1], default="", metavar="FILE", help=text)
    text = "a .caffemodel, binary or HDF5"
    flag(net, *WEIGHTS, dest=WEIGHTS[1], default="", metavar="FILE", help=text)
    add_precision(net)
    prepare = p.add_argument_group("how images are prepared")
    flag(prepare, "mean_value", type=numbers(float), metavar="B,G,R", help="subtract these instead")
    flag(prepare, "oversample", action="store_true", help="the mean over ten crops")
    flag(prepare, "images_dim", type=numbers(int), metavar="H,W", help="the size before cropping")
    add_preparation(prepare)
    out = p.add_argument_group("output")
    flag(out, "labels", default="", metavar="FILE", help="names of the classes, one on each line")
    flag(out, "top", type=int, default=5, metavar="K", help="how many classes to name, or boxes")
    text = "the least score of a box that counts, of a net that finds boxes"
    flag(out, "threshold", type=float, default=0.3, metavar="X", help=text)
    out.add_argument("--json", action="store_true", help="the same as JSON")
    args = p.parse_args(argv)
    if args.images_dim is not None and len(args.images_dim) != 2:
        p.error("argument --images_dim: give a height and a width: 256,256")
    if args.top < 1:
        p.error("argument --top: give 1 or more")
    how, labels = _net(p, args)
    if finds_boxes(how.model_def):
        return _boxes(how, labels, args)
    _, images = read_inputs(args.input, how.channels())
    found = [
        (name, best(one_row(scores, how.model_def), args.top, labels))
        for name, scores in score(how, images, args.images_dim, args.oversample)
    ]
    show(json.dumps(_as_json(found), indent=1) if args.json else "\n".join(_as_text(found)))
    return 0


def _net(p: Parser, args: argparse.Namespace) -> tuple[Preprocess, list[str]]:
    """The net, how images are prepared for it, and the names of its classes."""
    if bool(args.run) == bool(args.model_def):
        p.error("give --run, or --model and --weights")
    if not args.run and not args.pretrained_model:
        p.error("argument --weights: is needed with --model")
    how = preparation(args)
    labels = read_labels(args.labels) if args.labels else []
    if args.run:
        run = run_model(args.run, args.pretrained_model)
        how, labels = run.how, labels or run.labels
        args.images_dim = args.images_dim or run.images_dim
    return how, labels


def _boxes(how: Preprocess, labels: Sequence[str], args: argparse.Namespace) -> int:
    """What a detector finds: its best boxes, as ``pcd detect --ssd`` shows them."""
    names = dict(enumerate(labels))
    net, images = BoxDetector(how), images_of(args.input)
    found = [one for _, one in detect_images(net, images, args.threshold)]
    for one in found:
        one.rows = one.rows[: args.top]
    shown = json.dumps([boxes_as_json(one, names) for one in found], indent=1)
    show(shown if args.json else "\n".join(as_table(found, names)))
    return 0


def _as_json(found: Sequence[tuple[str, list[Guess]]]) -> list[dict[str, object]]:
    return [
        {
            "input": name,
            "predictions": [
                {"class": guess.number, "label": guess.label or None, "score": guess.score}
                for guess in guesses
            ],
        }
        for name, guesses in found
    ]


def _as_text(found: Sequence[tuple[str, list[Guess]]]) -> list[str]:
    rows = [
        (name if i == 0 else "", f"{guess.score:.4f}", str(guess.number), guess.label)
        for name, guesses in found
        for i, guess in enumerate(guesses)
    ]
    return table(("image", "score", "class", "label"), rows)

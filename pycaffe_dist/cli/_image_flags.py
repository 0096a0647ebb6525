"""The flags that classify, predict and detect share: the net and how images are prepared."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TypeVar

from pycaffe_dist.cli._flags import Group, add_import, flag, leave_out_building, use_gpu
from pycaffe_dist.tools.image_net import OWN_SIZE
from pycaffe_dist.tools.preprocess import Preprocess

N = TypeVar("N", int, float)


def numbers(kind: Callable[[str], N]) -> Callable[[str], tuple[N, ...]]:
    """A parser of ``256,256``."""

    def parse(text: str) -> tuple[N, ...]:
        try:
            return tuple(kind(part) for part in text.split(","))
        except ValueError as e:
            raise argparse.ArgumentTypeError(f"{text!r}: numbers separated by commas") from e

    return parse


def add_preparation(where: Group) -> None:
    flag(where, "mean_file", default="", metavar="FILE", help="subtract this: .npy, .binaryproto")
    flag(where, "input_scale", type=float, metavar="X", help="multiply by this after the mean")
    text = "multiply by this before the mean"
    flag(where, "raw_scale", type=float, default=255.0, metavar="X", help=text)
    text = "the order of channels (default: 2,1,0 for colour, which is BGR)"
    flag(where, "channel_swap", type=numbers(int), metavar="I,J,K", help=text)
    # Caffe's scripts take no number here.
    flag(where, "gpu", action="store_true", help="compute on the GPU")
    add_import(where)


def add_net(where: Group, name: str) -> None:
    """Caffe's defaults, seen from its main folder."""
    folder = f"models/{name}"
    model = f"{folder}/deploy.prototxt"
    flag(where, "model_def", "model", default=model, metavar="FILE", help="the net")
    file = f"{folder}/{name}.caffemodel"
    flag(where, "pretrained_model", "weights", default=file, metavar="FILE", help="its weights")


def add_means(where: Group) -> None:
    """What nets that take the net's own transform_param have besides."""
    text = "subtract these instead"
    flag(where, "mean_value", type=numbers(float), metavar="B,G,R", help=text)
    text = "the size of the net's input; 0,0: that of each image (default: as the net says)"
    flag(where, "input_size", type=numbers(int), metavar="H,W", help=text)


def check_size(p: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    size = args.input_size
    if size is not None and (len(size) != 2 or (min(size) < 1 and tuple(size) != OWN_SIZE)):
        p.error("argument --input-size: give a height and a width: 300,300")


def preparation(args: argparse.Namespace) -> Preprocess:
    leave_out_building(args)
    use_gpu(args.gpu)
    return Preprocess(
        args.model_def,
        args.pretrained_model,
        args.mean_file,
        getattr(args, "mean_value", None) or (),
        args.input_scale,
        args.raw_scale,
        args.channel_swap,
    )

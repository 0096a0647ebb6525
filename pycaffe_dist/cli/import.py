"""Read an ONNX model as a net: pcd import model.onnx -o net.prototxt --weights net.caffemodel.

What the net computes is compared with ONNX Runtime; a net that differs is not written.
"""

from __future__ import annotations

import argparse

from pycaffe_dist.cli._flags import flag, leave_out_building, parser
from pycaffe_dist.cli._show import show
from pycaffe_dist.errors import visible
from pycaffe_dist.optional import require
from pycaffe_dist.report.glog import log_to_stderr


def main(argv: list[str]) -> int:
    p = parser("import", __doc__)
    p.add_argument("model", metavar="MODEL.onnx", help="the model")
    p.add_argument("-o", "--output", metavar="FILE", required=True, help="the prototxt to write")
    flag(p, "weights", required=True, metavar="FILE", help="the .caffemodel to write")
    flag(p, "batch", type=int, default=1, metavar="N", help="where the model leaves the batch open")
    text = "the shape of an input that the model leaves open: data=1,3,224,224; may be repeated"
    flag(p, "shape", action="append", default=[], metavar="INPUT=N,C,H,W", help=text)
    flag(p, "tolerance", type=float, metavar="X", help="largest difference, by the largest value")
    p.add_argument("--no-check", dest="check", action="store_false", help="write without comparing")
    args = p.parse_args(argv)
    shapes = dict(_shape(p, text) for text in args.shape)
    leave_out_building(args)
    log_to_stderr()
    require("onnx", "onnx", "Reading an ONNX model")
    if args.check:
        require("onnxruntime", "onnx", "Checking what was read (--no-check leaves it out)")
    from pycaffe_dist.tools.import_onnx import import_model

    made = import_model(
        args.model, args.output, args.weights, shapes, args.batch, args.check, args.tolerance
    )
    for name, apart in made.differences.items():
        show(f"{visible(name)}: largest difference {apart:.2g} of the largest value")
    show(f"{args.output}: {made.layers} layers; {args.weights}: {made.parameters} parameters")
    return 0


def _shape(p: argparse.ArgumentParser, text: str) -> tuple[str, tuple[int, ...]]:
    name, _, sizes = text.rpartition("=")
    try:
        shape = tuple(int(size) for size in sizes.split(","))
    except ValueError:
        shape = ()
    if not name or not shape or min(shape) < 1:
        p.error(f"argument --shape: {text!r} is not INPUT=N,C,H,W")
    return name, shape

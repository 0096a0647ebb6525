"""Write a net and its weights as an ONNX file or a PyTorch module: pcd export NET [WEIGHTS] ...

With -o model.onnx an ONNX file: what ONNX Runtime makes of it is compared with what our engine
computes; a file that differs is not written.  With --torch module.py a plain nn.Module and its
state_dict, compared where PyTorch is installed.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from pycaffe_dist.cli._flags import add_import, add_state, flag, leave_out_building, parser
from pycaffe_dist.cli._image_flags import numbers
from pycaffe_dist.cli._show import show
from pycaffe_dist.errors import visible
from pycaffe_dist.files import read_bytes, reading
from pycaffe_dist.optional import require
from pycaffe_dist.report.glog import log_to_stderr
from pycaffe_dist.tools.inputs import check_weights

if TYPE_CHECKING:
    from pycaffe_dist.onnx.export import Dynamic
    from pycaffe_dist.onnx.preprocessing import Preprocess


def main(argv: list[str]) -> int:
    p = parser("export", __doc__)
    p.add_argument("model", metavar="NET", help="the net's prototxt, as a rule its deploy file")
    text = "a .caffemodel, binary or HDF5; without it the fillers' values"
    p.add_argument("weights", metavar="WEIGHTS", nargs="?", default="", help=text)
    p.add_argument("-o", "--output", metavar="FILE", default="", help="the .onnx to write")
    text = "the .py to write: a plain nn.Module; its state_dict is beside it as .safetensors"
    flag(p, "torch", default="", metavar="FILE.py", help=text)
    _add_form(p)
    _add_preparation(p)
    net = p.add_argument_group("the net")
    add_state(net)
    add_import(net)
    args = p.parse_intermixed_args(argv)
    leave_out_building(args)
    log_to_stderr()
    if args.weights:
        check_weights([args.weights])
    if bool(args.output) == bool(args.torch):
        p.error("give -o FILE.onnx or --torch FILE.py")
    if args.torch:
        _export_torch(args)
        return 0
    require("onnx", "onnx", "Exporting to ONNX")
    if args.check:
        require("onnxruntime", "onnx", "Checking an ONNX file (--no-check leaves it out)")
    _export(p, args)
    return 0


def _export_torch(args: argparse.Namespace) -> None:
    from pycaffe_dist.tools.export_torch import export_torch

    stages = tuple(args.stage.split(","))
    report = export_torch(args.model, args.weights, args.torch, args.level, stages)
    if report.left_out:
        show(f"Left out, as they have no meaning in TEST: {visible(', '.join(report.left_out))}")
    outputs = [d for name, d in report.differences.items() if name.startswith("out:")]
    gradients = [d for name, d in report.differences.items() if not name.startswith("out:")]
    if outputs:
        show(f"outputs: largest difference {max(outputs):.2g} of the largest value")
    if gradients:
        show(f"gradients: largest difference {max(gradients):.2g} of their length")
    if not report.differences:
        show("Not compared: PyTorch is not installed; PCD_TORCH_PYTHON may name a Python with it")
    elif report.gradients:
        show(f"Gradients were not compared: {visible(report.gradients)}")
    show(f"{report.code}, {report.state}: {report.parameters:,} values")


def _add_form(p: argparse.ArgumentParser) -> None:
    form = p.add_argument_group("the file")
    flag(
        form,
        "opset",
        type=int,
        default=17,
        metavar="N",
        help="version of ONNX's operators, from 13",
    )
    text = "sizes that may change: batch, image (batch, height and width) or INPUT:AXIS,AXIS"
    flag(form, "dynamic", action="append", default=[], metavar="WHAT", help=text)
    flag(form, "fold", action="store_true", help="fold BatchNorm and Scale into convolutions")
    flag(form, "fp16", action="store_true", help="compute in half precision")
    flag(
        form,
        "labels",
        default="",
        metavar="FILE",
        help="class names, a line each, to put into the file",
    )
    flag(
        form, "tolerance", type=float, metavar="X", help="largest difference, by the largest value"
    )
    form.add_argument(
        "--no-check", dest="check", action="store_false", help="write without comparing"
    )
    flag(form, "table", action="store_true", help="which operators each layer has become")


def _add_preparation(p: argparse.ArgumentParser) -> None:
    group = p.add_argument_group("images in")
    text = "take uint8 RGB images (N, H, W, C) of any size, and prepare them in the file"
    flag(group, "preprocess", action="store_true", help=text)
    text = "compare on this image too, prepared by the flags below; may be repeated"
    flag(group, "try_image", action="append", default=[], metavar="FILE", help=text)
    flag(group, "mean_file", default="", metavar="FILE", help="a mean as .binaryproto or .npy")
    flag(
        group, "mean_value", type=numbers(float), default=(), metavar="B,G,R", help="or its values"
    )
    flag(
        group, "input_scale", type=float, default=1.0, metavar="X", help="a factor behind the mean"
    )
    flag(group, "raw_scale", type=float, default=1.0, metavar="X", help="a factor before the mean")
    flag(group, "rgb", action="store_true", help="the net takes red first, not blue")


def _export(p: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    # These bring onnx, which is an extra.
    from pycaffe_dist.tools.export import Wanted, export_model

    prepared = _preparation(args)
    wanted = Wanted(
        opset=args.opset,
        dynamic=_dynamic(p, args.dynamic),
        fold=args.fold,
        fp16=args.fp16,
        preprocess=prepared if args.preprocess else None,
        images=tuple(args.try_image),
        prepared=prepared,
        labels=_labels(args.labels),
        level=args.level,
        stages=tuple(args.stage.split(",")),
        check=args.check,
        tolerance=args.tolerance,
    )
    report = export_model(args.model, args.weights, args.output, wanted)
    lines = [f"{visible(n)}: {', '.join(o) or 'nothing'}" for n, o in report.operators.items()]
    if args.table:
        show(*lines)
    if report.left_out:
        show(f"Left out, as they have no meaning in TEST: {visible(', '.join(report.left_out))}")
    for name, apart in report.differences.items():
        show(f"{visible(name)}: largest difference {apart:.2g} of the largest value")
    if not args.check:
        show("Not compared with our engine (--no-check)")
    operators = sum(map(len, report.operators.values()))
    folded = f", {report.folded} folded" if report.folded else ""
    show(f"{args.output}: {operators} operators{folded}, {report.size / 1e6:.1f} MB")


def _dynamic(p: argparse.ArgumentParser, given: list[str]) -> Dynamic:
    if given in ([], ["batch"]):
        return bool(given)
    if given == ["image"]:
        return "image"
    found: dict[str, list[int]] = {}
    for text in given:
        name, _, axes = text.rpartition(":")
        try:
            found[name] = [int(axis) for axis in axes.split(",")]
        except ValueError:
            p.error(f"argument --dynamic: {text!r} is none of batch, image and INPUT:AXIS,AXIS")
    return found


def _preparation(args: argparse.Namespace) -> Preprocess:
    from pycaffe_dist.onnx.preprocessing import Preprocess
    from pycaffe_dist.tools.preprocess import Preprocess as Files

    mean = Files("", "", args.mean_file, args.mean_value).mean()
    return Preprocess(mean, args.input_scale, args.raw_scale, not args.rgb)


def _labels(path: str) -> tuple[str, ...]:
    if not path:
        return ()
    with reading(path):
        return tuple(read_bytes(path).decode().splitlines())

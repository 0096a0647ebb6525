"""From a folder of class folders to a classifier: pcd quickstart FOLDER [--model NAME].

pcd quickstart photos --model squeezenet_v1.1       (photos has a folder for each class)
pcd quickstart photos --model lenet --epochs 50 -o runs/small
pcd quickstart photos --model squeezenet_v1.1 --weights squeezenet_v1.1.caffemodel   (fine-tune)

Splits the images, converts them, computes their mean, writes a net and a solver for these classes,
trains, draws the curves, and tells the command that predicts.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import shlex
from pathlib import Path

from pycaffe_dist.cli._flags import Parser, add_engine, flag, parser
from pycaffe_dist.cli._show import show
from pycaffe_dist.errors import MissingPartError
from pycaffe_dist.parallel.job.failure import told
from pycaffe_dist.report.glog import log_to_stderr
from pycaffe_dist.tools.plot import charted
from pycaffe_dist.tools.plot_figure import draw
from pycaffe_dist.tools.quickstart import QuickstartOptions, prepare
from pycaffe_dist.tools.run_folder import METRICS, next_name
from pycaffe_dist.tools.terminal_chart import chart
from pycaffe_dist.tools.train import TrainOptions, train


def main(argv: list[str]) -> int:
    p = _parser()
    args = p.parse_args(argv)
    _check(p, args)
    names = {field.name for field in dataclasses.fields(QuickstartOptions)}
    options = QuickstartOptions(**{n: v for n, v in vars(args).items() if n in names})
    if not options.output:
        name = f"runs/{Path(os.path.abspath(args.folder)).name}"
        options.output = next_name(name) if os.path.exists(name) else name
    log_to_stderr()
    ready = prepare(options)
    show(f"{len(ready.classes)} classes, {ready.train:,} images to train, {ready.test:,} to test")
    with told():
        code = train(
            TrainOptions(
                solver=ready.solver,
                weights=args.weights,
                run_dir=options.output,
                keep_best=ready.score,
                keep_last=1,
                engine=args.engine,
                threads=args.threads,
                quiet=args.quiet,
                verbose=args.verbose,
                command="pcd quickstart " + shlex.join(argv),
            )
        )
    _tell(options.output)
    return code


def _tell(run: str) -> None:
    curves = charted([f"{run}/{METRICS}"])
    try:
        draw(curves, f"{run}/training.png")
        show(f"Chart: {run}/training.png")
    except MissingPartError:
        show(*chart(curves, 80, 20, "iterations", False))
    show("To predict:", f"  pcd predict --run {shlex.quote(run)} image.jpg")


def _parser() -> Parser:
    defaults = QuickstartOptions("")
    p = parser("quickstart", __doc__)
    p.add_argument("folder", metavar="FOLDER", help="it has a folder of images for each class")
    net = p.add_argument_group("the net")
    flag(net, "model", default=defaults.model, metavar="NAME", help="one of `pcd models`")
    flag(net, "weights", default="", metavar="FILE", help="begin with these: fine-tune")
    how = p.add_argument_group("how it learns")
    text = "the part of each class to test with"
    flag(how, "test_part", type=float, default=defaults.test_part, metavar="PART", help=text)
    text = "how often it sees each image"
    flag(how, "epochs", type=int, default=defaults.epochs, metavar="N", help=text)
    flag(how, "batch", type=int, default=0, metavar="N", help="images at once; 0: as the model has")
    text = "the first learning rate (default: the model's, scaled with the batch)"
    flag(how, "rate", type=float, metavar="X", help=text)
    flag(how, "seed", type=int, default=defaults.seed, metavar="N", help="of everything random")
    add_engine(how)
    text = "the folder of the run (default: runs/NAME, or the next that is free)"
    p.add_argument("-o", "--output", default="", metavar="DIR", help=text)
    return p


def _check(p: Parser, args: argparse.Namespace) -> None:
    if not 0 < args.test_part < 1:
        p.error("argument --test-part: give a part between 0 and 1")
    if args.epochs < 1 or args.batch < 0:
        p.error("arguments --epochs and --batch: give 1 or more")

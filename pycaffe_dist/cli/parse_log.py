"""Turn a training log into tables, as Caffe's parse_log.py does: pcd parse_log LOG OUTDIR.

OUTDIR/<log>.train and OUTDIR/<log>.test have NumIters, Seconds, LearningRate and the net's outputs,
separated by commas.  -v names the files that are written.
"""

from __future__ import annotations

import argparse
import os

from pycaffe_dist.cli._flags import parser
from pycaffe_dist.cli._show import complain
from pycaffe_dist.errors import FileError
from pycaffe_dist.tools.parse_log import read_log, write_tables


def main(argv: list[str]) -> int:
    text = "Write OUTDIR/<log>.train and OUTDIR/<log>.test: NumIters, Seconds, LearningRate and\n"
    p = parser("parse_log", text + "the net's outputs, separated by commas.")
    p.add_argument("log", metavar="LOG", help="log of pcd train or of caffe train")
    p.add_argument("folder", metavar="OUTDIR", help="made if it is missing")
    p.add_argument("--delimiter", default=",", type=_character, help="what stands between columns")
    args = p.parse_args(argv)
    run = read_log(args.log)
    try:
        os.makedirs(args.folder, exist_ok=True)
    except OSError as e:
        raise FileError(f"{args.folder}: cannot be made: {e.strerror or e}") from e
    written = write_tables(run, args.log, args.folder, args.delimiter)
    if not written:
        complain(
            f"pcd parse_log: {args.log}: no table was written: it tells of iterations, but has no "
            'line "Train net output #0: loss = ..." and none of a test'
        )
    for path in written:
        if args.verbose:
            print(f"Wrote {path}")
    return 0


def _character(text: str) -> str:
    text = "\t" if text == r"\t" else text
    if len(text) != 1 or text in '"\r\n':
        raise argparse.ArgumentTypeError(f"{text!r}: give one character")
    return text

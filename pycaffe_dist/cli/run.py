"""Run a Python script written for pycaffe: its `import caffe` gives this package.

pcd run solve.py --gpu 0             (what follows the script is the script's)
pcd run --cpu --py2 solve.py         (a script of 2015, on a machine of today; see docs/scripts.md)
"""

from __future__ import annotations

import argparse
import os
import sys
from types import ModuleType, TracebackType

import pycaffe_dist
from pycaffe_dist import python2
from pycaffe_dist.as_caffe import install_as_caffe
from pycaffe_dist.cli import INTERRUPTED
from pycaffe_dist.cli._flags import parser
from pycaffe_dist.settings import CPU_INSTEAD

CANNOT_START = 2  # as python's own


def main(argv: list[str]) -> int:
    """Do as ``python SCRIPT ARGS``, a traceback and exit code 1 for an exception included."""
    args = _parser().parse_args(argv)
    script: str = args.script
    if args.cpu:
        os.environ[CPU_INSTEAD] = "1"
    try:
        with open(script, "rb") as file:
            source = file.read()
    except OSError as e:
        print(f"pcd run: can't open file {script!r}: {e.strerror}", file=sys.stderr)
        return CANNOT_START
    install_as_caffe()
    sys.modules["caffe"] = pycaffe_dist  # also where another caffe is installed
    path = os.path.abspath(script)
    sys.argv[:] = [script, *args.args]
    sys.path[0] = os.path.dirname(os.path.realpath(script))
    module = ModuleType("__main__")
    module.__file__ = path
    sys.modules["__main__"] = module
    try:
        exec(compile(source, path, "exec", dont_inherit=True), module.__dict__)
    except SystemExit:
        raise
    except BaseException as e:
        python2.add_hint(e)
        inside = _from(path, e.__traceback__)
        sys.excepthook(type(e), e.with_traceback(inside), inside)
        return INTERRUPTED if isinstance(e, KeyboardInterrupt) else 1
    return 0


def _parser() -> argparse.ArgumentParser:
    p = parser("run", __doc__)
    p.usage = "pcd run [-q] [-v] [--cpu] SCRIPT [ARGS ...]"
    p.add_argument("script", metavar="SCRIPT", help="a Python file")
    p.add_argument("args", nargs=argparse.REMAINDER, metavar="ARGS", help="the script's own")
    p.add_argument("--cpu", action="store_true", help="where it asks for a GPU, take the CPU")
    return p


def _from(path: str, traceback: TracebackType | None) -> TracebackType | None:
    """The part of a traceback from the script on, without ours."""
    while traceback is not None and traceback.tb_frame.f_code.co_filename != path:
        traceback = traceback.tb_next
    return traceback

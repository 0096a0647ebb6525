"""Run a Python script written for pycaffe: its `import caffe` gives this package."""

from __future__ import annotations

import os
import sys
from types import ModuleType, TracebackType

import pycaffe_dist
from pycaffe_dist import python2
from pycaffe_dist.as_caffe import install_as_caffe
from pycaffe_dist.cli import INTERRUPTED

USAGE = "usage: pcd run SCRIPT [ARGS ...]"
CANNOT_START = 2  # as python's own


def main(argv: list[str]) -> int:
    """Do as ``python SCRIPT ARGS``, a traceback and exit code 1 for an exception included."""
    if not argv or argv[0].startswith("-"):
        asked = argv[:1] in (["-h"], ["-help"], ["--help"])
        print(f"{USAGE}\n\n{__doc__}" if asked else USAGE, file=sys.stdout if asked else sys.stderr)
        return 0 if asked else CANNOT_START
    script = argv[0]
    try:
        with open(script, "rb") as file:
            source = file.read()
    except OSError as e:
        print(f"pcd run: can't open file {script!r}: {e.strerror}", file=sys.stderr)
        return CANNOT_START
    install_as_caffe()
    sys.modules["caffe"] = pycaffe_dist  # also where another caffe is installed
    path = os.path.abspath(script)
    sys.argv[:] = argv
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


def _from(path: str, traceback: TracebackType | None) -> TracebackType | None:
    """The part of a traceback from the script on, without ours."""
    while traceback is not None and traceback.tb_frame.f_code.co_filename != path:
        traceback = traceback.tb_next
    return traceback

"""Run a Python script written for pycaffe: its `import caffe` gives this package.

pcd run solve.py --gpu 0             (what follows the script is the script's)
pcd run --cpu --py2 solve.py         (a script of 2015, on a machine of today; see docs/scripts.md)
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from types import ModuleType, TracebackType

import pycaffe_dist
from pycaffe_dist import python2
from pycaffe_dist.aliases import Facts
from pycaffe_dist.cli import INTERRUPTED
from pycaffe_dist.cli._flags import parser
from pycaffe_dist.files import atomic_write
from pycaffe_dist.pycaffe.as_caffe import install_as_caffe
from pycaffe_dist.pycaffe.modes import CPU_INSTEAD

CANNOT_START = 2  # as python's own
# What scripts import besides caffe, by the packages that bring it.
PACKAGES = {
    **{name: name for name in ("easydict", "matplotlib", "pandas", "pydot", "scipy", "seaborn")},
    "Crypto": "pycryptodome",
    "Image": "pillow",
    "PIL": "pillow",
    "bs4": "beautifulsoup4",
    "cv2": "'opencv-python-headless<5'",  # version 5 has no cascades, HOG, or machine learning
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "yaml": "PyYAML",
}


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
    code: str | bytes = source
    sys.argv[:] = [script, *args.args]
    sys.path[0] = os.path.dirname(os.path.realpath(script))
    module = ModuleType("__main__")
    module.__file__ = path
    sys.modules["__main__"] = module
    try:
        if args.py2 or args.py2_save:
            code = _from_python2(source, path, module.__dict__, args)
        exec(compile(code, path, "exec", dont_inherit=True), module.__dict__)
    except SystemExit:
        raise
    except BaseException as e:
        of_python2 = not args.py2 and python2.add_hint(e)
        inside = _from(path, e.__traceback__)
        sys.excepthook(type(e), e.with_traceback(inside), inside)
        if hint := _lacking(e):
            print(f"pcd run: {hint}", file=sys.stderr)
        if of_python2:
            print(f"pcd run: if this is Python 2: pcd run --py2 {script}", file=sys.stderr)
        return INTERRUPTED if isinstance(e, KeyboardInterrupt) else 1
    return 0


def _lacking(error: BaseException) -> str:
    """What to install, if the error came from something that is not."""
    package = PACKAGES.get((getattr(error, "name", None) or "").partition(".")[0])
    if isinstance(error, ModuleNotFoundError) and package:
        return f"the script needs a package: pip install {package}"
    if isinstance(error, AttributeError) and error.obj is sys.modules.get("cv2", error):
        return f"OpenCV before version 5 may have {error.name}: pip install {PACKAGES['cv2']}"
    return ""


def _from_python2(source: bytes, path: str, module: Facts, args: argparse.Namespace) -> str:
    """The text of a script in Python 3; the modules beside it are going to be translated too."""
    from pycaffe_dist.py2 import hook  # needed by few

    def tell(path: str, changes: Counter[str]) -> None:
        for kind, count in sorted(changes.items()):
            print(f"pcd run --py2: {os.path.relpath(path)}: {count} x {kind}", file=sys.stderr)

    hook.install(None if args.quiet else tell)
    translation = hook.main_translation(path, source)
    if args.py2_save:
        with atomic_write(args.py2_save) as file:
            file.write(translation.to_save().encode())
    hook.prepare(module)
    return translation.text


def _parser() -> argparse.ArgumentParser:
    p = parser("run", __doc__)
    p.usage = "pcd run [-q] [-v] [--cpu] [--py2 [--py2-save FILE]] SCRIPT [ARGS ...]"
    p.add_argument("script", metavar="SCRIPT", help="a Python file")
    p.add_argument("args", nargs=argparse.REMAINDER, metavar="ARGS", help="the script's own")
    p.add_argument("--py2", action="store_true", help="it is Python 2: translate it in memory")
    p.add_argument("--py2-save", metavar="FILE", help="and write the translation")
    p.add_argument("--cpu", action="store_true", help="where it asks for a GPU, take the CPU")
    return p


def _from(path: str, traceback: TracebackType | None) -> TracebackType | None:
    """The part of a traceback from the script on, without ours."""
    while traceback is not None and traceback.tb_frame.f_code.co_filename != path:
        traceback = traceback.tb_next
    return traceback

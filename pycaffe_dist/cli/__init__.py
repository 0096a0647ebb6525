"""``pcd``: one verb, then its flags."""

from __future__ import annotations

import errno
import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from pycaffe_dist.errors import PcdError, PrototxtError
from pycaffe_dist.version import VERSION

# The order in which help lists verbs; those that are not named here come last.
_ORDER = (
    "init",
    "models",
    "quickstart",
    "train",
    "launch",
    "sweep",
    "test",
    "time",
    "tune",
    "check",
    "summary",
    "plan",
    "draw",
    "run",
    "classify",
    "predict",
    "detect",
    "eval_detection",
    "segment",
    "export",
    "import",
    "weights",
    "board",
    "report",
    "plot",
    "parse_log",
    "convert_imageset",
    "convert_annoset",
    "create_label_map",
    "compute_image_mean",
    "convert_mnist_data",
    "convert_cifar_data",
    "convert_mnist_siamese_data",
    "extract_features",
    "partition_data",
    "db",
    "info",
    "device_query",
    "upgrade_net_proto_text",
    "upgrade_net_proto_binary",
    "upgrade_solver_proto_text",
    "shims",
)
# Each is a module of this package whose first line says what it does, with main(argv) -> exit code.
_FILES = {path.stem: path for path in sorted(Path(__file__).parent.glob("[!_]*.py"))}
VERBS = tuple(dict.fromkeys((*_ORDER, *_FILES)))
WRONG_USE = 2  # what argparse ends with, too
INTERRUPTED = 130  # what a shell reports for a program ended by Ctrl-C


def main(argv: Sequence[str] | None = None) -> int:
    """Run a verb; what we raise on purpose becomes a message and exit code 1."""
    if sys.stderr is None:  # closed before we began
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    try:
        code = _run(list(sys.argv[1:] if argv is None else argv))
        if sys.stdout is not None:  # None: closed before we began
            sys.stdout.flush()
    except BrokenPipeError:  # the reader, `head` perhaps, has seen enough
        _drop(sys.stdout)
        return 0
    except OSError as e:
        if e.errno != errno.ENOSPC:
            raise
        _drop(sys.stdout)
        print(f"pcd: the output cannot be written: {e.strerror}", file=sys.stderr)
        return 1
    _flush_errors()
    return code


def _flush_errors() -> None:
    """A log that nobody reads any more: Python's own last flush would change the exit code."""
    try:
        if sys.stderr is not None:
            sys.stderr.flush()
    except BrokenPipeError:
        _drop(sys.stderr)


def _drop(stream: TextIO) -> None:
    """Nothing more is written to it, not even by Python's own last flush."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _run(args: list[str]) -> int:
    if not args or args in (["-h"], ["-help"], ["--help"], ["help"]):
        print(_usage())
        return 0
    verb, rest = args[0], args[1:]
    if verb == "help":  # of a verb
        verb, rest = rest[0], ["--help"]
    if verb in ("--version", "-version"):
        print(f"pcd {VERSION}")
        return 0
    if verb not in VERBS:
        from pycaffe_dist.proto.suggest import did_you_mean

        print(f"pcd: there is no verb {verb!r}{did_you_mean(verb, VERBS)}", file=sys.stderr)
        print("pcd --help shows all verbs", file=sys.stderr)
        return WRONG_USE
    try:
        code: int = importlib.import_module(f"pycaffe_dist.cli.{verb}").main(rest)
    except PrototxtError as e:
        print(e, file=sys.stderr)
    except PcdError as e:
        print(f"pcd {verb}: {e}", file=sys.stderr)
    except (MemoryError, RuntimeError, UnicodeEncodeError) as e:
        from pycaffe_dist.parallel.job.failure import in_words  # slow to import

        if not (words := in_words(e)):
            raise
        print(f"pcd {verb}: {words}", file=sys.stderr)
    except KeyboardInterrupt:
        return INTERRUPTED
    else:
        return code
    return 1


def _usage() -> str:
    rows = ["usage: pcd VERB [flags]    (pcd VERB --help for its flags)", ""]
    width = max(map(len, VERBS))
    for verb in VERBS:
        rows.append(f"  {verb:{width}}  {_first_line(_FILES[verb])}")
    return "\n".join(rows)


def _first_line(module: Path) -> str:
    """Of its docstring, read from the file: importing all verbs takes a second."""
    with module.open(encoding="utf-8") as file:
        return file.readline().strip().strip('"')

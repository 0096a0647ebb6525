"""Starting, stopping and snapshots from the page, where ``--control`` allows it."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

from pycaffe_dist.aliases import Facts
from pycaffe_dist.board.places import Places
from pycaffe_dist.board.runs import Run
from pycaffe_dist.errors import FileError, NetError
from pycaffe_dist.files import make_folder

NAME = re.compile(r"[\w][\w.+-]{0,99}")
SETTING = re.compile(r"\w+=[\w.+:/ -]*")
SIGNALS = {"stop": signal.SIGINT, "snapshot": signal.SIGHUP}


def command(places: Places, form: Facts) -> tuple[list[str], Path]:
    """The words after `pcd` of what a form asks for, and the folder of the new run.

    Raises:
        FileError, NetError: a path outside, a name or a setting that is none.
    """
    solver = places.inside(str(form.get("solver", "")))
    if not solver.is_file():
        raise FileError(f"{solver}: there is no such solver")
    name = str(form.get("name", ""))
    if not NAME.fullmatch(name):
        raise NetError(f"{name!r}: a run's name has letters, digits, '.', '+', '-' and '_'")
    folder = places.roots[0] / name
    words = ["train", "--solver", _seen(solver), "--run-dir", _seen(folder)]
    for setting in form.get("settings", []):
        if not SETTING.fullmatch(str(setting)):
            raise NetError(f"{setting!r}: a setting is FIELD=VALUE")
        words += ["--set", str(setting)]
    for flag in ("ranks", "max_iter"):
        if form.get(flag):
            words += [f"--{flag.replace('_', '-')}", str(int(form[flag]))]
    return words, folder


def _seen(path: Path) -> str:
    """From the folder the board runs in, in which paths of prototxts count."""
    return os.path.relpath(path) if path.is_absolute() else str(path)


def shown(words: list[str]) -> str:
    return "pcd " + shlex.join(words)


def start(places: Places, form: Facts) -> tuple[Facts, subprocess.Popen[bytes]]:
    """Start it as a process of its own, which lives on when the board ends."""
    words, folder = command(places, form)
    make_folder(folder)
    with open(folder / "board.log", "ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "pycaffe_dist", *words],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    return {"command": shown(words), "process": process.pid, "run": folder.name}, process


def tell(run: Run, what: str) -> Facts:
    """Send a run the signal that means stop or snapshot.

    Raises:
        NetError: it is not running on this machine, or the word is another.
    """
    if what not in SIGNALS:
        raise NetError(f"{what!r}: a run can be told to stop or to snapshot")
    process = run.process()
    if process is None:
        raise NetError(f"{run.name}: is not running on this machine")
    os.kill(process, SIGNALS[what])
    return {"told": what, "process": process}

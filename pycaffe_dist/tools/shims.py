"""Caffe's commands as small files that call this environment's pcd."""

from __future__ import annotations

import os
import shlex
import sys
import sysconfig
from pathlib import Path

import pycaffe_dist
from pycaffe_dist.errors import FileError
from pycaffe_dist.files import atomic_write

TOOLS = (
    "compute_image_mean",
    "convert_annoset",
    "convert_cifar_data",
    "convert_imageset",
    "convert_mnist_data",
    "convert_mnist_siamese_data",
    "create_label_map",
    "device_query",
    "extract_features",
    "upgrade_net_proto_binary",
    "upgrade_net_proto_text",
    "upgrade_solver_proto_text",
)
# What each command of Caffe is called here; its tools also end in .bin.
VERBS = {
    "pcd": "",
    **{f"caffe{end}": "" for end in ("", ".bin")},
    **{f"{tool}{end}": tool for tool in TOOLS for end in ("", ".bin")},
    "classify.py": "classify",
    "detect.py": "detect",
    "draw_net.py": "draw",
    "parse_log.py": "parse_log",
    "summarize.py": "summary",
}
MARK = "# Written by `pcd shims`."


def write_shims(folder: str) -> list[str]:
    """Write them all into ``folder``, made if it is missing; their names.

    Raises:
        FileError: a file of such a name is not one of ours, or the folder cannot be written;
            nothing was written then.
    """
    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
        foreign = [name for name in VERBS if not _is_ours(target / name)]
    except OSError as e:
        raise FileError(f"{folder}: cannot be written: {e.strerror or e}") from e
    if foreign:
        raise FileError(
            f"{folder}: has files that `pcd shims` did not write: {', '.join(foreign)}. "
            "Nothing was written; name another folder."
        )
    command = _command()
    for name, verb in VERBS.items():
        line = " ".join(filter(None, ("exec", command, verb, '"$@"')))
        with atomic_write(target / name) as file:
            file.write(f"#!/bin/sh\n{MARK}\n{line}\n".encode())
        (target / name).chmod(0o755)
    return list(VERBS)


def _is_ours(path: Path) -> bool:
    """Whether it may be written: it is one of ours, or not there."""
    if not os.path.lexists(path):
        return True
    return path.is_file() and MARK.encode() in path.read_bytes()[:200].splitlines()


def _command() -> str:
    """What starts this environment's pcd from anywhere, in the words of a shell."""
    script = Path(sysconfig.get_path("scripts"), "pcd")
    if script.is_file():
        return shlex.quote(str(script))
    root = shlex.quote(str(Path(pycaffe_dist.__file__).parents[1]))  # run from its sources
    python = shlex.quote(sys.executable)
    return f"env PYTHONPATH={root}${{PYTHONPATH:+:$PYTHONPATH}} {python} -m pycaffe_dist"

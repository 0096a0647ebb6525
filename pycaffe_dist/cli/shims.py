"""Write Caffe's commands (caffe, convert_imageset, draw_net.py, ...) into a folder: pcd shims DIR.

They call this environment's pcd, also from outside of it.
"""

from __future__ import annotations

import os
import shlex

from pycaffe_dist.cli._flags import parser
from pycaffe_dist.tools.shims import write_shims


def main(argv: list[str]) -> int:
    p = parser("shims", __doc__)
    p.add_argument("folder", metavar="DIR", help="made if it is not there")
    folder = p.parse_args(argv).folder
    names = write_shims(folder)
    print(f"Wrote {len(names)} commands into {folder}")
    whole = os.path.abspath(folder)
    if whole not in os.environ.get("PATH", "").split(os.pathsep):
        print(f"Put it on PATH:\n  export PATH={shlex.quote(whole)}:$PATH")
    return 0

"""Examine hosts before they train together: pcd doctor --hostfile hosts [--json]; or GPUs: --gpu.

Versions, clocks, memory, disk, how fast each computes, and latency and bandwidth of every link
between two of them; what is out of line is named, and so are hosts that do not answer.
With --gpu: driver, runtime, libraries, every file of kernels and the ways between the GPUs here.
"""

from __future__ import annotations

import json

from pycaffe_dist.cli._flags import flag, parser
from pycaffe_dist.cli._show import show
from pycaffe_dist.parallel.job.hostfile import read_hostfile
from pycaffe_dist.tools.doctor import examine


def main(argv: list[str]) -> int:
    p = parser("doctor", __doc__)
    flag(p, "hostfile", metavar="FILE", help='hosts: lines "id ip port" or "host slots=4"')
    flag(p, "ranks", type=int, default=2, metavar="P", help="without hosts: so many ranks here")
    p.add_argument("--json", action="store_true", help="the same as JSON")
    p.add_argument("--gpu", action="store_true", help="examine the GPUs of this machine instead")
    args = p.parse_args(argv)
    if args.gpu:
        return _gpus(args.json)
    found = examine(read_hostfile(args.hostfile) if args.hostfile else [], args.ranks)
    show(json.dumps(found.as_json(), indent=1) if args.json else "\n".join(found.as_text()))
    return 1 if any(found.differences()) else 0  # what is slow trains all the same


def _gpus(as_json: bool) -> int:
    from pycaffe_dist.tools import doctor_gpu  # needed by few, and slow to import

    found = doctor_gpu.examine()
    text = json.dumps(doctor_gpu.as_json(found), indent=1)
    show(text if as_json else "\n".join(doctor_gpu.as_text(found)))
    return 0 if all(f.fine for f in found if f.needed) else 1

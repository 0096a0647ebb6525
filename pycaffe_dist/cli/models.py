"""List the models that the package carries, show one, or copy its files: pcd models [show|get].

pcd models                          (parameters, work for one image, published figures)
pcd models show squeezenet_v1.1     (its readme and its layers)
pcd models get lenet mine           (its files, into the folder mine)
"""

from __future__ import annotations

import json

from pycaffe_dist.cli._flags import parser
from pycaffe_dist.cli._show import show
from pycaffe_dist.tools.models import as_json, as_lines, copy, deployed, listed, readme


def main(argv: list[str]) -> int:
    p = parser("models", __doc__)
    p.add_argument("words", nargs="*", metavar="show NAME | get NAME DIR", help="what to do")
    p.add_argument("--json", action="store_true", help="the same as JSON")
    args = p.parse_args(argv)
    match args.words:
        case []:
            models = listed()
            show(*([json.dumps(as_json(models), indent=1)] if args.json else as_lines(models)))
        case ["show", name]:
            summary = deployed(name)
            if args.json:
                show(json.dumps(summary.as_json(), indent=1, default=int))
            else:
                show(readme(name), *summary.as_text())
        case ["get", name, folder]:
            show(*(f"Wrote {path}" for path in copy(name, folder)))
        case _:
            p.error("expected nothing, or: show NAME, or: get NAME DIR")
    return 0

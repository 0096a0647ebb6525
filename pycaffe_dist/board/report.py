"""A report of some runs: one HTML file with all it needs, to send by mail."""

from __future__ import annotations

import json
import math
import re
from datetime import datetime

from pycaffe_dist.board.board import Board
from pycaffe_dist.board.server import STATIC
from pycaffe_dist.errors import FileError
from pycaffe_dist.files import atomic_write
from pycaffe_dist.version import VERSION

MODULES = ("ui.js", "chart.js", "graph.js", "report.js")
MOST_NETS = 4
IMPORT = re.compile(r"^import .*?;\n", re.M)
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>pcd report</title>
<style>{style}</style>
</head>
<body>
<main id="main"></main>
<script type="application/json" id="data">{data}</script>
<script>{plot}</script>
<script type="module">{script}</script>
</body>
</html>
"""


def write_report(board: Board, path: str) -> int:
    """Write all runs of a board, read to their ends; how many.

    Raises:
        FileError: there are no runs, or the file cannot be written.
    """
    runs = list(board.runs.by_name.values())
    if not runs:
        raise FileError("there are no runs here: `pcd train --run-dir` makes them")
    for run in runs:
        while run.read_more():
            pass
    table = board.table()
    if len(runs) == 1:  # nothing differs, so all is told
        table["runs"][0]["settings"] = runs[0].settings
    names = [row["name"] for row in table["runs"]]
    nets = []
    for name in names[:MOST_NETS]:
        try:
            nets.append({"run": name, **board.net(name)})
        except FileError:
            continue
    when = f"Made by pycaffe_dist {VERSION}, {datetime.now():%Y-%m-%d %H:%M}."
    curves = board.curves(names, -math.inf, math.inf)
    said = {"table": table, "curves": curves, "nets": nets, "made": when}
    with atomic_write(path) as file:
        file.write(page(said).encode())
    return len(runs)


def page(said: object) -> str:
    """The whole page; what a script element could end in is written otherwise."""
    data = json.dumps(said, allow_nan=False).replace("<", "\\u003c")
    script = "\n".join(_plain((STATIC / name).read_text()) for name in MODULES)
    style = "\n".join((STATIC / name).read_text() for name in ("uplot.css", "style.css"))
    plot = (STATIC / "uplot.js").read_text()
    return PAGE.format(style=style, data=data, plot=plot, script=script)


def _plain(module: str) -> str:
    """A module as a part of one script: it neither imports nor exports."""
    return IMPORT.sub("", module).replace("\nexport ", "\n")

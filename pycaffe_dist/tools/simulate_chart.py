"""The chart of ``pcd simulate``: speedups over the number of nodes."""

from __future__ import annotations

from collections.abc import Sequence

from pycaffe_dist.files import atomic_write
from pycaffe_dist.parallel.simulate.series import Point
from pycaffe_dist.tools.plot_figure import COLOURS, GREY, figure_for

MARKS = "osD^vPX*"


def draw(points: Sequence[Point], path: str, title: str = "") -> None:
    """Draw into ``path``; its ending says as what: .png, .pdf, .svg.

    Raises:
        MissingPartError: matplotlib is not installed.
        PlotError: it cannot draw into such a file.
    """
    figure, kind = figure_for(path, (8, 5))
    axes = figure.add_subplot()
    ideal = sorted({(p.nodes, p.ranks) for p in points})
    nodes = [n for n, _ in ideal]
    axes.plot(nodes, [r for _, r in ideal], color=GREY, linestyle=":", label="ideal")
    for i, name in enumerate(dict.fromkeys(p.variant for p in points)):
        mine = [p for p in points if p.variant == name]
        axes.plot(
            [p.nodes for p in mine],
            [p.speedup for p in mine],
            color=COLOURS[i % len(COLOURS)],
            marker=MARKS[i % len(MARKS)],
            markersize=4,
            label=name,
        )
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    axes.set_xticks(nodes, [str(n) for n in nodes])
    axes.yaxis.set_major_formatter("{x:g}")
    axes.set_xlabel("nodes")
    axes.set_ylabel("speedup over one rank (simulated)")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    if title:
        axes.set_title(title)
    with atomic_write(path) as file:
        figure.savefig(file, format=kind)

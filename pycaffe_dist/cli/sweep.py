"""Train with every combination of some settings, and compare: pcd sweep --solver S --set F=V,V.

pcd sweep --solver solver.prototxt --set base_lr=0.1,0.01 --set momentum=0.9,0.95 -j 2
pcd sweep --solver solver.prototxt --set base_lr=0.1,0.01 --run-dir runs/rates -- --max-iter 500

What follows -- goes to `pcd train`.  Begun again, a sweep resumes what is not done.
"""

from __future__ import annotations

import shutil

from pycaffe_dist.cli._flags import flag, parser
from pycaffe_dist.cli._show import show
from pycaffe_dist.errors import MissingPartError
from pycaffe_dist.tools.plot import PlotError, charted
from pycaffe_dist.tools.plot_figure import draw
from pycaffe_dist.tools.sweep import as_lines, ranked, sweep, trials
from pycaffe_dist.tools.terminal_chart import chart

MOST_DRAWN = 8  # runs in the chart, the best of them


def main(argv: list[str]) -> int:
    p = parser("sweep", __doc__)
    flag(p, "solver", required=True, metavar="FILE", help="the solver's prototxt")
    text = "values of a field of the solver, separated by commas; again for another field"
    p.add_argument("--set", action="append", default=[], metavar="FIELD=VALUES", help=text)
    flag(p, "run_dir", default="runs/sweep", metavar="DIR", help="a folder in it for each run")
    p.add_argument("-j", "--jobs", type=int, default=1, metavar="N", help="runs at a time")
    middle = argv.index("--") if "--" in argv else len(argv)
    args = p.parse_args(argv[:middle])
    if args.jobs < 1:
        p.error("argument --jobs: give 1 or more")
    planned = trials(args.set, args.run_dir)
    done = []
    for trial in sweep(args.solver, planned, args.jobs, argv[middle + 1 :]):
        done.append(trial)
        words = "failed" if trial.code else "done"
        show(f"{len(done)} of {len(planned)} {words}: {trial.folder}")
    show("", *as_lines(done))
    drawn = [trial.metrics for trial in ranked(done) if not trial.code and trial.has_numbers]
    _chart(drawn[:MOST_DRAWN], args.run_dir)
    return 1 if any(trial.code for trial in done) else 0


def _chart(metrics: list[str], folder: str) -> None:
    try:
        curves = charted(metrics) if metrics else {}
    except PlotError:  # no number is finite
        return
    if not curves:
        return
    try:
        draw(curves, f"{folder}/sweep.png")
        show("", f"Chart: {folder}/sweep.png", f"Live: pcd board {folder}")
    except MissingPartError:
        size = shutil.get_terminal_size()
        show("", *chart(curves, size.columns, 20, "iterations", False))

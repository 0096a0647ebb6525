"""What the pages ask for, as plain values: the runs, kept up to date by a thread, and the rest."""

from __future__ import annotations

import subprocess
import threading
import time
from pathlib import Path

from pycaffe_dist.aliases import Facts
from pycaffe_dist.board import control, databases
from pycaffe_dist.board.evaluation import Evaluation
from pycaffe_dist.board.metrics_index import BLOCKS
from pycaffe_dist.board.net_view import graph, layer_view
from pycaffe_dist.board.places import Places
from pycaffe_dist.board.predictor import Predictor
from pycaffe_dist.board.runs import Run, Runs
from pycaffe_dist.board.series import Series, drawn, grid, means, on_grid
from pycaffe_dist.board.timeline import layer_times, loose_traces, timeline, traces
from pycaffe_dist.errors import FileError

LOOK_EVERY = 0.5  # seconds between two looks at the files that are known
FIND_EVERY = 5.0  # and for new ones
POINTS = 500  # of a curve, unless the page asks for another number
SAMPLED, LEAST_BLOCKS = 2000, 6  # blocks that are read of all long files before the first page
MANY = 50  # points of a curve; with more, noise hides it
FEW = 8  # runs whose curves have each their own x
COARSE = 100  # a zoom to fewer buckets than these is read from the file itself


def _span(runs: list[Run], begin: float, end: float) -> tuple[float, float]:
    """From the first to the last iteration, as far as these are asked for."""
    lasts = [s.last[0] for run in runs for s in run.index.series.values() if s.last]
    first, last = 0.0, max(lasts, default=1.0)
    return max(begin, first), max(min(end, last), first + 1)


class Board:
    """All that the server knows."""

    def __init__(self, places: Places, may_control: bool = False) -> None:
        self.places, self.may_control = places, may_control
        self.runs = Runs(places)
        self.changes: dict[str, int] = {}  # by run: how often it has changed
        self.changed = threading.Condition()
        self._predictors: dict[tuple[str, str], Predictor] = {}
        self._evaluations: dict[str, Evaluation] = {}
        self.started: list[subprocess.Popen[bytes]] = []
        self._lock = threading.Lock()
        self.runs.find()
        for run in self.runs.by_name.values():
            self._sample(run)

    # -- keeping up ------------------------------------------------------------------------------

    def watch(self, stop: threading.Event) -> None:
        """Read what is new until told to stop; short files first: the table is soon whole."""
        found = time.monotonic()
        while not stop.is_set():
            begin = time.monotonic()
            if begin - found > FIND_EVERY:
                self.find()
                self.started = [p for p in self.started if p.poll() is None]
                found = begin
            busy = False
            for run in sorted(self.runs.by_name.values(), key=lambda r: r.index.behind):
                busy |= self.update(run)
                if time.monotonic() - begin > LOOK_EVERY:
                    break
            stop.wait(0.002 if busy else LOOK_EVERY)

    def find(self) -> None:
        before = set(self.runs.by_name)
        self.runs.find()
        for name in set(self.runs.by_name) - before:
            self._sample(self.runs.by_name[name])
            self._tell(name)

    def update(self, run: Run) -> bool:
        """Take in one piece of a run; the pages hear of it when the last piece is in."""
        try:
            if not run.read_more():
                return False
        except FileError:
            return False
        if not run.index.behind:
            self._tell(run.name)
        return True

    def _sample(self, run: Run) -> None:
        try:
            if not run.is_log:
                share = SAMPLED // max(len(self.runs.by_name), 1)
                run.index.sample(min(max(share, LEAST_BLOCKS), BLOCKS))
        except FileError:
            return

    def _tell(self, name: str) -> None:
        with self.changed:
            self.changes[name] = self.changes.get(name, 0) + 1
            self.changed.notify_all()

    def wait_for_change(self, seen: dict[str, int], seconds: float = 5.0) -> dict[str, int]:
        """The changes of all runs, once there are others than those seen, or after some seconds."""
        with self.changed:
            self.changed.wait_for(lambda: self.changes != seen, seconds)
            return dict(self.changes)

    # -- runs and curves -------------------------------------------------------------------------

    def table(self) -> Facts:
        """The runs, newest first, and which of their settings differ."""
        rows = [run.summary() for run in list(self.runs.by_name.values())]
        rows.sort(key=lambda row: -row["updated"])
        parents = self.runs.parents()
        values: dict[str, set[str]] = {}
        with_settings = [row for row in rows if row["settings"]]
        for row in with_settings:
            for name, value in row["settings"].items():
                values.setdefault(name, set()).add(value)
        differ = [
            name
            for name, found in values.items()
            if len(found) > 1 or any(name not in row["settings"] for row in with_settings)
        ]
        for row in rows:
            row["settings"] = {n: row["settings"][n] for n in differ if n in row["settings"]}
            row["parent"] = parents.get(row["name"], "")
        return {"runs": rows, "differ": differ, "control": self.may_control}

    def curves(
        self, names: list[str], begin: float, end: float, points: int = POINTS, only: str = ""
    ) -> Facts:
        """The curves of some runs between two iterations; ``only`` is one of them by its name.

        Those of many runs share one x, so that a chart of them all is drawn fast.
        """
        runs = [self.runs.get(name) for name in names]
        found: Facts = {}
        shared = len(runs) > FEW
        if shared:
            begin, end = _span(runs, begin, end)
        for run in runs:
            curves = {}
            for label, series in list(run.index.series.items()):
                if only and label != only:
                    continue
                if shared:
                    y = on_grid(series.view(begin, end, 4 * points), begin, end, points)
                    curves[label] = {"y": y, "loss": series.is_loss}
                else:
                    curves[label] = self._curve(run, label, series, begin, end, points)
            preview = run.index.previewed or run.index.behind > 0
            share = run.index.done / run.index.size if run.index.size else 1.0
            found[run.name] = {"curves": curves, "preview": preview, "read": round(share, 3)}
        return {"runs": found, "x": grid(begin, end, points) if shared else None}

    def _curve(
        self, run: Run, label: str, series: Series, begin: float, end: float, points: int
    ) -> Facts:
        view = series.view(begin, end, points)
        if len(view) < COARSE and series.size > 1:
            closer = run.index.closer(label, begin, end)
            view = closer.view(begin, end, points) if closer is not None else view
        x, y = drawn(view)
        said: Facts = {"x": x, "y": y, "loss": series.is_loss, "count": series.count}
        if len(view) >= MANY and label.startswith("train"):
            said["mean_x"], said["mean"] = means(view)
        if best := series.best:
            said["best"] = [best[0], float(f"{best[1]:.7g}")]
        if series.not_finite:
            said["not_finite"] = [series.first_not_finite, series.not_finite]
        return said

    # -- net, cluster, predictions, data ---------------------------------------------------------

    def net(self, name: str) -> Facts:
        run = self.runs.get(name)
        names = traces(run)
        return graph(run, layer_times(run.file(names[0]) if names else None))

    def layer(self, name: str, layer: str) -> Facts:
        return layer_view(self.runs.get(name), layer)

    def traces(self) -> list[dict[str, str]]:
        """Those of runs, and those that lie beside them, which have no run."""
        runs = list(self.runs.by_name.values())
        found = [{"run": run.name, "trace": name} for run in runs for name in traces(run)]
        return found + [{"run": "", "trace": n} for n in loose_traces(self.places, runs)]

    def timeline(self, name: str, trace: str, begin: float | None, end: float | None) -> Facts:
        if not name:
            loose = loose_traces(self.places, list(self.runs.by_name.values()))
            if trace not in loose:
                raise FileError(f"there is no trace {trace!r}")
            return timeline(self.places.inside(loose[trace]), begin, end)
        run = self.runs.get(name)
        if trace not in traces(run):
            raise FileError(f"{name}: has no trace {trace!r}")
        return timeline(run.file(trace), begin, end)

    def predictor(self, name: str) -> Predictor:
        """The net of a run with the weights it has now; those of the last few are kept."""
        from pycaffe_dist.tools.run_model import newest_weights

        run = self.runs.get(name)
        folder = run.file("deploy.prototxt").parent
        key = name, str(Path(newest_weights(str(folder))).resolve())
        with self._lock:
            if key not in self._predictors:
                while len(self._predictors) >= 3:
                    self._predictors.pop(next(iter(self._predictors)))
                self._predictors[key] = Predictor(run)
            return self._predictors[key]

    def evaluation(self, name: str, again: bool = False) -> Facts:
        """The state of a run's evaluation, which is begun if there is none."""
        if again or name not in self._evaluations:
            self._evaluations[name] = Evaluation(
                self.runs.get(name), self.predictor(name), self.places
            )
        return self._evaluations[name].state()

    def databases(self) -> list[str]:
        return sorted(databases.find(self.places))

    def database(self, name: str) -> Facts:
        found = databases.find(self.places)
        if name not in found:
            raise FileError(f"there is no database {name!r}")
        for file in ("data.mdb", "CURRENT"):
            self.places.inside(found[name] / file)
        return databases.look(found[name])

    # -- control ---------------------------------------------------------------------------------

    def command(self, form: Facts) -> Facts:
        return {"command": control.shown(control.command(self.places, form)[0])}

    def start(self, form: Facts) -> Facts:
        said, process = control.start(self.places, form)
        self.started.append(process)
        return said

    def tell(self, name: str, what: str) -> Facts:
        return control.tell(self.runs.get(name), what)

    def solvers(self) -> list[str]:
        """The solvers that a run may be started from."""
        found = []
        for root in (*self.places.roots, *self.places.data):
            if root.is_dir():
                found += [str(p) for p in root.rglob("*solver*.prototxt") if p.is_file()]
        return sorted(found)[:500]

"""What a training run says: its log, its reporters, and the account of its communication."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pycaffe_dist.aliases import Facts
from pycaffe_dist.errors import FileError, NetError
from pycaffe_dist.events import Displayed, Event, Subscriber
from pycaffe_dist.files import make_folder
from pycaffe_dist.parallel.job import lifeline
from pycaffe_dist.parallel.job.failure import rank_name
from pycaffe_dist.parallel.job.lifeline import Lifeline
from pycaffe_dist.parallel.observe.stats import write_stats
from pycaffe_dist.parallel.observe.trace import Recorder, Totals, write_trace
from pycaffe_dist.proto.caffe_pb2 import SolverParameter
from pycaffe_dist.proto.suggest import did_you_mean
from pycaffe_dist.report.caffe_lines import CaffeLines
from pycaffe_dist.report.glog import GlogFormatter, LogFile, log_to_stderr, warn_on_screen_only
from pycaffe_dist.report.metrics import MetricsFile
from pycaffe_dist.report.net_outputs import NetOutputs
from pycaffe_dist.report.progress import Progress
from pycaffe_dist.report.tensorboard import TensorBoard
from pycaffe_dist.report.trackers import TRACKERS, Tracker
from pycaffe_dist.solver import Solver
from pycaffe_dist.threads import threads
from pycaffe_dist.tools import run_folder
from pycaffe_dist.tools.plan import plan_table
from pycaffe_dist.tools.run_layers import LayersFile

if TYPE_CHECKING:
    from pycaffe_dist.parallel.cluster import Cluster
    from pycaffe_dist.parallel.settings import ClusterSettings
    from pycaffe_dist.tools.train import TrainOptions

logger = logging.getLogger(__name__)


# -- the log ---------------------------------------------------------------------------------------


@contextmanager
def logging_of(options: TrainOptions, rank: int) -> Iterator[None]:
    level = logging.WARNING if options.quiet or rank else None
    log_to_stderr(logging.DEBUG if options.verbose and not rank else level)
    root = logging.getLogger("pycaffe_dist")
    if rank:
        with _named(root, rank):
            yield
        return
    handlers = []
    if options.log_file:
        make_folder(Path(options.log_file).parent)
        goes_on = options.resume or options.snapshot or os.environ.get(lifeline.AGAIN)
        handlers.append(LogFile(options.log_file, "a" if goes_on else "w"))
    if options.run_dir:
        handlers.append(LogFile(f"{options.run_dir}/{run_folder.LOG}", "a"))
    if handlers and options.quiet:
        warn_on_screen_only()
    for handler in handlers:
        handler.setFormatter(GlogFormatter())
        root.addHandler(handler)
    try:
        yield
    finally:
        for handler in handlers:
            root.removeHandler(handler)
            handler.close()


@contextmanager
def _named(root: logging.Logger, rank: int) -> Iterator[None]:
    """Lines of a rank that is not the one people listen to begin with its name."""

    def name(record: logging.LogRecord) -> bool:
        record.msg = f"{rank_name(rank)}: {record.msg}"
        return True

    handlers = list(root.handlers)
    for handler in handlers:
        handler.addFilter(name)
    try:
        yield
    finally:
        for handler in handlers:
            handler.removeFilter(name)


# -- who is told -----------------------------------------------------------------------------------


def metrics_path(options: TrainOptions, param: SolverParameter) -> str:
    """Where the metrics of a run go: into its folder, or beside its snapshots."""
    where = f"{options.run_dir}/" if options.run_dir else f"{param.snapshot_prefix}."
    return where + run_folder.METRICS


def subscribers(
    options: TrainOptions, solver: Solver, recorder: Recorder, stack: ExitStack
) -> list[Subscriber]:
    """Those of rank 0."""
    batch = effective_batch(solver)
    found: list[Subscriber] = [CaffeLines(), _lifeline(solver)]
    if solver.ranks.size > 1:
        found.append(Communication(recorder))
    if options.dry_run is None:
        path = metrics_path(options, solver.param)
        found.append(stack.enter_context(MetricsFile(path, batch)))
    if options.run_dir:
        found.append(LayersFile(options.run_dir, solver))
    found.append(stack.enter_context(Progress(sys.stderr, batch)))
    if lifeline.PROGRESS in os.environ:
        found.append(lifeline.Relay(batch))
    if options.cluster.net_outputs:
        found.append(stack.enter_context(NetOutputs(options.cluster.net_outputs)))
    for name in filter(None, options.report.split(",")):
        reporter = _reporter(name, options, solver)
        stack.enter_context(reporter)
        found.append(reporter)
    return found


def _reporter(name: str, options: TrainOptions, solver: Solver) -> TensorBoard | Tracker:
    """One of those that ``--report`` names."""
    folder = options.run_dir or f"{solver.param.snapshot_prefix}.{name}"
    if name == "tensorboard":
        return TensorBoard(folder, solver.net)
    if name in TRACKERS:
        settings = {field.name: _as_written(value) for field, value in solver.param.ListFields()}
        return TRACKERS[name](folder, settings)
    known = ("tensorboard", *TRACKERS)
    raise NetError(f"--report {name}: there are {', '.join(known)}{did_you_mean(name, known)}")


def _as_written(value: object) -> str:
    """A setting as its file has it: floats have 32 bits there."""
    return f"{value:.7g}" if isinstance(value, float) else str(value)


def _lifeline(solver: Solver) -> Lifeline:
    """A launcher hears of every iteration, and of every batch of a long test."""
    life = Lifeline()
    for net in solver.test_nets:
        net.before_forward.append(lambda _: life.beat())
    return life


class Communication:
    """Subscriber: a line at every display on how well communication hides behind computing."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self._before = Totals()

    def __call__(self, event: Event) -> None:
        if isinstance(event, Displayed):
            now = self.recorder.totals()
            logger.info("Iteration %d, %s", event.iteration, (now - self._before).line())
            self._before = now


# -- the cluster -----------------------------------------------------------------------------------


def describe_cluster(solver: Solver, cluster: Cluster) -> None:
    """The three levels, the batch that they make together, and the plan."""
    nodes = cluster.communicator.nodes
    sizes = [f"{name}: {len(nodes.ranks_on(i))}" for i, name in enumerate(nodes.names)]
    text = "%d ranks: cluster of %d node(s), ranks by node (%s), threads of a worker: %d"
    logger.info(text, cluster.size, nodes.count, ", ".join(sizes), threads())
    if cluster.way.words:
        logger.info("%s", cluster.way.words)
    each, turns = batch_size(solver), solver.param.iter_size
    text = "Effective batch: %d = %d ranks x batch %d x iter_size %d"
    logger.info(text, effective_batch(solver), cluster.size, each, turns)
    for line in plan_table(cluster.plan, solver.net):
        logger.info("%s", line)


def batch_size(solver: Solver) -> int:
    """Images of one forward pass of a rank."""
    first = solver.net.blobs[0].shape if solver.net.blobs else []
    return first[0] if first else 1


def effective_batch(solver: Solver) -> int:
    """Images of an iteration, all ranks together."""
    return batch_size(solver) * solver.param.iter_size * solver.ranks.size


def check_account(cluster: ClusterSettings) -> None:
    """Find out before the run, and not after it, that its account cannot be written."""
    for path in filter(None, (cluster.trace, cluster.stats_path)):
        folder = Path(path).absolute().parent
        if not os.access(folder, os.W_OK):
            raise FileError(f"{path}: the folder {folder} is missing or may not be written to")


def account(options: TrainOptions, solver: Solver, reports: list[Facts]) -> None:
    """Write what the ranks noted of the run."""
    cluster = options.cluster
    if cluster.trace:
        write_trace(cluster.trace, reports)
    if cluster.stats_path:
        write_stats(
            cluster.stats_path,
            reports,
            iterations=solver.iter,
            batch=effective_batch(solver),
            staleness=cluster.staleness,
            wire=cluster.wire,
        )

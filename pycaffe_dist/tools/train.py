"""What ``pcd train`` does: a solver from its file and the command line, run under guards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from pycaffe_dist import caffe_log as log
from pycaffe_dist import engines
from pycaffe_dist.errors import NetError
from pycaffe_dist.events import Subscriber
from pycaffe_dist.files import make_folder
from pycaffe_dist.layer import Context, DataSettings
from pycaffe_dist.parallel.cluster import distribute, watch
from pycaffe_dist.parallel.job import lifeline
from pycaffe_dist.parallel.job.watchdog import Watchdog
from pycaffe_dist.parallel.observe.trace import Recorder
from pycaffe_dist.parallel.settings import ClusterSettings
from pycaffe_dist.parallel.transport.collectives import broadcast_object
from pycaffe_dist.parallel.transport.communicator import Communicator, run
from pycaffe_dist.parallel.transport.solo import SoloCommunicator
from pycaffe_dist.proto.caffe_pb2 import NetParameter, SolverParameter
from pycaffe_dist.proto.nets import SolverNet, read_solver, train_net
from pycaffe_dist.proto.nets import test_nets as solver_test_nets
from pycaffe_dist.recycling import recycle
from pycaffe_dist.solver import Solver
from pycaffe_dist.solvers import snapshots
from pycaffe_dist.solvers.run_lock import only_run
from pycaffe_dist.solvers.writer import Writer
from pycaffe_dist.threads import placement, set_threads
from pycaffe_dist.tools import run_folder
from pycaffe_dist.tools.deadline import with_deadline
from pycaffe_dist.tools.elastic import KEEP, SCALE
from pycaffe_dist.tools.fake_data import fake_data
from pycaffe_dist.tools.guards import LossGuard
from pycaffe_dist.tools.inputs import check_sources, check_weights
from pycaffe_dist.tools.joint_batch import divided
from pycaffe_dist.tools.keeper import Keeper
from pycaffe_dist.tools.memory_snapshots import MemorySnapshots, newer_in_memory
from pycaffe_dist.tools.overrides import override_net, override_solver
from pycaffe_dist.tools.run_model import remember
from pycaffe_dist.tools.signals import Signals
from pycaffe_dist.tools.solver_file import check_to_train
from pycaffe_dist.tools.stop_when import StopWhen
from pycaffe_dist.tools.train_engine import engine_of
from pycaffe_dist.tools.train_reports import (
    account,
    check_account,
    describe_cluster,
    logging_of,
    subscribers,
)


@dataclass
class TrainOptions:
    """The flags of ``pcd train``, by their names."""

    solver: str
    weights: str = ""
    snapshot: str = ""
    level: int = 0
    stage: str = ""
    gpu: str = ""
    sigint_effect: str = "stop"
    sighup_effect: str = "snapshot"
    set: list[str] = field(default_factory=list)
    set_net: list[str] = field(default_factory=list)
    max_iter: int | None = None
    max_time: str | None = None
    stop_when: str = ""
    dry_run: int | None = None
    seed: int | None = None
    deterministic: bool = False
    fake_data: bool = False
    data_threads: int | None = None
    shuffle: bool = False
    bad_records: str = "stop"
    on_nan: str = "stop"
    engine: str | None = None
    device: int | None = None
    threads: int | None = None
    cluster: ClusterSettings = field(default_factory=ClusterSettings)
    as_ranks: int | None = None
    elastic_batch: str = KEEP
    resume: str | None = None
    snapshot_async: bool = False
    keep_last: int = 0
    keep_best: str = ""
    run_dir: str | None = None
    log_file: str | None = None
    report: str = ""
    quiet: bool = False
    verbose: bool = False
    command: str = ""


def train(
    options: TrainOptions,
    communicator: Communicator | None = None,
    told: Sequence[Subscriber] = (),
) -> int:
    """Train, alone or as one of the ranks of a communicator; the exit code.

    Rank 0 speaks for all: it alone logs, writes files, and tells whoever started the job, and
    those in ``told``.
    """
    ranks = communicator or SoloCommunicator()
    first = ranks.rank == 0
    if options.dry_run is not None:
        options = replace(options, run_dir=None)  # it writes no files
    if options.run_dir and first:
        run_folder.claim(options.run_dir, options.resume or options.snapshot)
    with ExitStack() as stack:
        stack.enter_context(logging_of(options, ranks.rank))
        param = resolve(options, ranks.size)
        engine = _prepared(options, param, ranks)
        if first and (param.snapshot or param.snapshot_after_train):
            stack.enter_context(only_run(param.snapshot_prefix))
        if first and options.run_dir:
            run_folder.describe(options.run_dir, options.command, param)
        watchdog = stack.enter_context(watch(options.cluster, ranks))
        resume = _beginning(options, param, ranks, watchdog)
        solver = _solver(options, param, engine, ranks)
        recorder = Recorder(ranks.rank, keep=bool(options.cluster.trace))
        if ranks.size > 1:
            if resume and first:
                solver.notes = snapshots.read_notes(resume)  # where the plan is
            cluster = stack.enter_context(
                distribute(solver, options.cluster, ranks, recorder=recorder, watchdog=watchdog)
            )
            describe_cluster(solver, cluster)
        if recorder.keep:
            recorder.watch(solver.net)
        if first:
            solver.subscribers += [*subscribers(options, solver, recorder, stack), *told]
        signals = _attended(options, solver, stack)
        codes = _run(options, solver, resume, recorder, ranks.nodes.host(ranks.rank), signals)
    if first:
        end = "early" if solver.stopped_early else "done"
        lifeline.say(lifeline.END, f"{end} {max(codes)}")
    return max(codes) if first else signals.code


def _prepared(options: TrainOptions, param: SolverParameter, ranks: Communicator) -> engines.Engine:
    """Refuse what cannot be trained before anything is built; the engine, set up."""
    check_weights(param.weights)
    check_sources(net.read() for net in (train_net(param), *solver_test_nets(param)))
    engine = engine_of(param, ranks.size, options.engine, options.device, options.gpu)
    set_threads(options.threads)
    if options.threads is not None:
        log.info("caffe.cpp:197", "Computing with %s.", placement())
    if options.deterministic:
        engine.fix_choices()
    if ranks.rank == 0:
        check_account(options.cluster)
    return engine


def _beginning(
    options: TrainOptions, param: SolverParameter, ranks: Communicator, watchdog: Watchdog
) -> str | None:
    """The state that all ranks resume from, which rank 0 finds; then no weights are loaded."""
    resume = newer_in_memory(_resume_from(options, param)) if ranks.rank == 0 else None
    with watchdog.during("where to begin", ranks.awaited):
        resume = run(broadcast_object(ranks, resume))
    if resume:
        param.ClearField("weights")
    return resume


def _solver(
    options: TrainOptions, param: SolverParameter, engine: engines.Engine, ranks: Communicator
) -> Solver:
    seed = max(0, param.random_seed) if options.shuffle else None
    data = DataSettings(options.data_threads, options.bad_records, seed)
    writes = options.dry_run is None
    context = Context(engine=engine, rank=ranks.rank, ranks=ranks.size, writes=writes, data=data)
    solver = Solver(param, context)
    if ranks.rank == 0 and options.run_dir:
        remember(options.run_dir, solver, param)
    recycle([solver.net, *solver.test_nets])
    return solver


def _attended(options: TrainOptions, solver: Solver, stack: ExitStack) -> Signals:
    """Let guards, keepers, the writer of snapshots, signals and goals watch the training."""
    prefix = solver.param.snapshot_prefix
    solver.subscribers.append(lifeline.Place())
    LossGuard(solver, options.on_nan, lambda text: log.warning("solver.cpp", text))
    if options.keep_last or options.keep_best:
        link = f"{options.run_dir}/best" if options.run_dir else f"{prefix}_best"
        solver.subscribers.append(Keeper(solver, options.keep_last, options.keep_best, link))
    if options.snapshot_async and solver.context.rank == 0:
        solver.writer = stack.enter_context(Writer())
        solver.subscribers.append(solver.writer)
    memory = MemorySnapshots.asked_for(solver)
    if memory:
        solver.subscribers.append(stack.enter_context(memory))
    signals = stack.enter_context(Signals(options.sigint_effect, options.sighup_effect))
    solver.requested_action = with_deadline(signals, options.max_time)
    if options.stop_when:
        goal = StopWhen(options.stop_when)
        solver.subscribers.append(goal)
        solver.requested_action = goal.or_else(solver.requested_action)
    return signals


def _run(
    options: TrainOptions,
    solver: Solver,
    resume: str | None,
    recorder: Recorder,
    host: str,
    signals: Signals,
) -> list[int]:
    """Train to the end; the exit codes of all ranks, on rank 0."""
    if resume:
        log.info("caffe.cpp:235", "Resuming from %s", resume)
        solver.restore(resume)
    log.info("caffe.cpp:239", "Starting Optimization")
    recorder.zero()
    solver.solve()
    reports = solver.ranks.gather(recorder.report(host))
    codes = solver.ranks.gather(signals.code)  # a signal to any rank counts for all
    if solver.context.rank == 0:
        account(options, solver, reports)
    log.info("caffe.cpp:250", "Optimization Done.")
    return codes


# -- the solver's settings -------------------------------------------------------------------------


def resolve(options: TrainOptions, ranks: int = 1) -> SolverParameter:
    """The solver as the file and the flags together mean it, on so many ranks."""
    param = read_solver(options.solver).message
    for setting in options.set:
        override_solver(param, setting)
    if options.max_iter is not None:
        param.max_iter = options.max_iter
    if options.seed is not None:
        param.random_seed = options.seed
    if options.deterministic and param.random_seed < 0:
        param.random_seed = 1
    if options.run_dir:
        make_folder(options.run_dir)
        param.snapshot_prefix = str(Path(options.run_dir) / Path(param.snapshot_prefix).name)
    if options.dry_run is not None:
        param.max_iter, param.snapshot, param.snapshot_after_train = options.dry_run, 0, False
        param.test_iter[:] = [min(count, options.dry_run) for count in param.test_iter]
    if options.weights and (options.snapshot or options.resume not in (None, "auto")):
        raise NetError("give a snapshot to resume from, or weights to start from, not both")
    if options.weights:
        param.ClearField("weights")
        param.weights.append(options.weights)
    param.train_state.level = options.level
    # As in Caffe the list has one, empty, stage when none is given.
    param.train_state.stage.extend(options.stage.split(","))
    check_to_train(options.solver, param)
    if options.set_net or options.fake_data:
        _inline_nets(param, lambda _, net: _as_set(net, options))
    if options.as_ranks not in (None, ranks):
        _take_steps_of(param, options.as_ranks, ranks, options.elastic_batch)
    return param


def _take_steps_of(param: SolverParameter, as_ranks: int, ranks: int, batch: str) -> None:
    """Fewer or more ranks divide the joint batch, or have another one, and a rate to go with it."""
    if batch == SCALE:
        param.base_lr *= ranks / as_ranks
        return

    def change(described: SolverNet, net: NetParameter) -> NetParameter:
        return divided(net, ranks, as_ranks) if described.role == "train net" else net

    _inline_nets(param, change)


def _as_set(net: NetParameter, options: TrainOptions) -> NetParameter:
    for setting in options.set_net:
        override_net(net, setting)
    return fake_data(net) if options.fake_data else net


def _inline_nets(
    param: SolverParameter, change: Callable[[SolverNet, NetParameter], NetParameter]
) -> None:
    """Put the nets, changed, into the solver itself."""

    def changed(described: SolverNet) -> SolverNet:
        described.source = change(described, described.read().net)
        return described

    training, tests = changed(train_net(param)), [changed(t) for t in solver_test_nets(param)]
    states = [test.state for test in tests]
    for name in ("net", "net_param", "train_net", "train_net_param", "test_net", "test_net_param"):
        param.ClearField(name)
    param.ClearField("test_state")
    param.train_net_param.CopyFrom(training.source)  # type: ignore[arg-type]
    for test, state in zip(tests, states, strict=True):
        param.test_net_param.add().CopyFrom(test.source)  # type: ignore[arg-type]
        param.test_state.add().CopyFrom(state)


def _resume_from(options: TrainOptions, param: SolverParameter) -> str | None:
    if options.resume != "auto":
        return options.resume or options.snapshot or None
    found = snapshots.newest_whole(param.snapshot_prefix)
    if found is None:
        log.info("caffe.cpp:235", "No snapshot of %s yet: from the start", param.snapshot_prefix)
    return found.state if found else None


# -- how long, and what stays ----------------------------------------------------------------------

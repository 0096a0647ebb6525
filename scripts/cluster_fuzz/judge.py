"""Whether the runs of a case agree."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import traceback
from dataclasses import replace
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from cluster_fuzz.case import Case
from cluster_fuzz.files import net_text, solver_text, write_records
from cluster_fuzz.rounding import set_wires
from cluster_fuzz.run import DONE, SECONDS, Result, Way, build, prepare, run_ranks, train
from pycaffe_dist import loading
from pycaffe_dist.data.lmdb_source import open_environment
from pycaffe_dist.proto.weights import read_weights

CLOSE = 1e-8  # relative, of double precision: rounding stays far below, faults far above
CLOSE_RESUMED = 3e-5  # of runs that went through a snapshot, whose numbers are of single precision
CLOSE_WIRE = 0.02
CLOSE_CLI = 2e-3
ROUNDINGS = 16  # how much larger than in other orders of summation an error may be
ROUNDINGS_SENT = 8  # the same, than where what is sent is rounded at random
DRAWS = 2  # runs that do
SINGLE = float(np.finfo(np.float32).eps)
LARGE = 1e4  # losses and weights of runs that diverge
RATES = (1, 1e-3, 1e-6)  # times that of the case, until the joint run does not
DIVERGES = "the joint run itself diverges"
Verdict = tuple[str, str, list[str]]  # agrees, DIFFERS, FAILS, HANGS or skipped; words; schemes


class Difference(Exception):
    """Two runs that should be the same are not."""


def judge(case: Case, folder: Path) -> Verdict:
    """Run a case in a folder of its own."""
    prepare(case)
    DONE.clear()
    write_records(case, folder)
    kept: Any = open_environment(str(folder / "lmdb")) if case.source == "Data" else None
    schemes: list[str] = []
    try:
        single = case.kind in ("wire", "single")
        case, joint = _joint(case, folder, Way("joint", double=not single))
        if joint is None:
            return "skipped", DIVERGES, []
        if case.kind == "cli":
            return _judge_cli(case, folder)
        way = Way("ranks", double=not single, engine=_engine(case))
        ranks = run_ranks(case, folder, case.hosts, way)
        schemes = ranks[0].schemes
        agree(ranks, "ranks")
        kinds = {"stale": _judge_stale, "single": _judge_single, "wire": _judge_wire}
        how = kinds.get(case.kind, _judge_exact)
        return "agrees", how(case, folder, ranks, joint), schemes
    except Difference as e:
        return "DIFFERS", str(e), schemes
    except TimeoutError as e:
        return "HANGS", str(e), schemes
    except Exception as e:
        last = traceback.extract_tb(e.__traceback__)[-1]
        where = f"{Path(last.filename).name}:{last.lineno}"
        return "FAILS", f"{type(e).__name__} at {where}: {str(e)[-1500:]}", schemes
    finally:
        set_wires("wire")
        del kept  # one environment for all threads


def _joint(case: Case, folder: Path, way: Way) -> tuple[Case, Result | None]:
    """The joint run of a case, at a lower rate where it diverges; None if even that does not help.

    Where numbers grow a thousandfold in a step, so does rounding.
    """
    for factor in RATES:
        slower = replace(case, solver=_at_rate(case.solver, factor))
        joint = train(slower, folder, None, way)
        numbers = [np.array(joint.losses), *joint.weights]
        if all(np.isfinite(x).all() and np.abs(x).max(initial=0) < LARGE for x in numbers):
            return slower, joint
    return case, None


def _at_rate(solver: str, factor: float) -> str:
    return re.sub(r"base_lr: (\S+)", lambda m: f"base_lr: {float(m[1]) * factor}", solver)


def _engine(case: Case) -> str:
    return case.engine if case.kind == "single" else "numpy"


# -- comparing -------------------------------------------------------------------------------------


def far(a: Any, b: Any) -> float:
    """The relative distance of two arrays."""
    return float(np.linalg.norm(a - b) / (np.linalg.norm(b) + 1e-6)) if a.size else 0.0


def agree(ranks: list[Result], what: str) -> None:
    """All ranks have the same weights, to the bit."""
    for r, other in enumerate(ranks[1:], 1):
        for name, a, b in zip(other.names, other.weights, ranks[0].weights, strict=True):
            if a.tobytes() != b.tobytes():
                raise Difference(
                    f"{what}: {name} of rank {r} differs from rank 0's by {far(a, b):.2g}"
                )


def compare(
    mine: Result, joint: Result, what: str, close: float, nudged: Result | None = None
) -> float:
    """Weights, history, losses and scores; the largest distance.

    ``nudged`` is a joint run that began with other last bits.  A gradient that cancels to nothing
    is off by the rounding of its terms, however small it is itself; so it is in that run, which
    tells how much that may be: ROUNDINGS times as much, up to CLOSE_RESUMED.
    """
    most = 0.0
    other = nudged or joint
    for part, xs, ys, zs in (
        ("weights", mine.weights, joint.weights, other.weights),
        ("history", mine.history, joint.history, other.history),
    ):
        for i, (x, y, z) in enumerate(zip(xs, ys, zs, strict=True)):
            d = far(x, y)
            most = max(most, d)
            if not d <= max(close, min(ROUNDINGS * far(z, y), CLOSE_RESUMED)):
                name = joint.names[i % len(joint.names)]
                raise Difference(f"{what}: {part} of {name} is off by {d:.2g}")
    for i, (x, y) in enumerate(zip(mine.losses[::-1], joint.losses[::-1], strict=False), 1):
        if not abs(x - y) <= close * (1 + abs(y)):
            raise Difference(f"{what}: loss of step -{i} is {x:.8g}, of the joint batch {y:.8g}")
    _compare_scores(mine, joint, what, close)
    return most


def _compare_scores(mine: Result, joint: Result, what: str, close: float) -> None:
    scores = {(i, n): v for i, n, v in joint.tests}
    for iteration, net, values in mine.tests:
        for x, y in zip(values, scores.get((iteration, net), values), strict=True):
            if not abs(x - y) <= max(close, 1e-6) * (1 + abs(y)):
                raise Difference(
                    f"{what}: test net {net} at iteration {iteration} gives {x:.6g}, "
                    f"the joint run {y:.6g}"
                )


# -- kinds -----------------------------------------------------------------------------------------


def _judge_exact(case: Case, folder: Path, ranks: list[Result], joint: Result) -> str:
    most = _compare_exact(case, folder, ranks[0], joint) if case.comparable else 0.0
    resumed = run_ranks(case, folder, case.hosts_resumed, Way("resumed", True))
    agree(resumed, "resumed")
    if case.comparable:
        compare(resumed[0], joint, f"resumed with {case.resumed} ranks", CLOSE_RESUMED)
    if case.ranks == case.resumed:
        repeat(case, folder)
    return f"{most:.1g}"


def _compare_exact(case: Case, folder: Path, mine: Result, joint: Result) -> float:
    try:
        return compare(mine, joint, "ranks", CLOSE)
    except Difference:
        nudged = train(case, folder, None, Way("joint", nudged=True))
        return compare(mine, joint, "ranks", CLOSE, nudged)


def _judge_wire(case: Case, folder: Path, ranks: list[Result], joint: Result) -> str:
    """With half the bits on the wire: off by no more than rounding of what is sent.

    A number that is sent is off by up to u of itself: 2^-8 as bf16, 2^-11 as fp16.  So the sum of P
    numbers is off by up to u times the sum of their absolute values, and the next steps go on from
    there.  How much that is, is measured by runs that round at random (rounding.py), after one that
    takes the same ways without rounding was found as near the joint run as single precision is.
    """
    resumed = run_ranks(case, folder, case.hosts_resumed, Way("resumed", True, False))
    agree(resumed, "resumed")
    if case.ranks == case.resumed:
        repeat(case, folder)
    if not case.comparable:
        return "ranks only"
    exact = train(case, folder, None, Way("joint"))
    later = _at_random(case, folder, case.hosts_resumed, Way("resumed", True, False))
    others = _at_random(case, folder, case.hosts, Way("ranks", double=False))
    plain = run_ranks(case, folder, case.hosts, Way("ranks", double=False, rounding="none"))
    within(plain[0], exact, [joint], ROUNDINGS, "a wire that does not round")
    most = within(ranks[0], exact, others, ROUNDINGS_SENT, "ranks")
    what = f"resumed with {case.resumed} ranks"
    within(resumed[0], exact, [*others, *later], ROUNDINGS_SENT, what)
    return f"{100 * most:.0f} % of what rounding may make"


def _at_random(case: Case, folder: Path, hosts: list[str], way: Way) -> list[Result]:
    """Runs that round at random."""
    ways = [replace(way, rounding="random", draw=i) for i in range(DRAWS)]
    return [run_ranks(case, folder, hosts, way)[0] for way in ways]


def within(mine: Result, exact: Result, others: list[Result], roundings: float, what: str) -> float:
    """Whether a run is as near the exact one as others, which rounding alone has moved.

    The largest of their distances and a unit in the last place of single precision, times
    ``roundings``, is what rounding may make of a parameter; the part of that which it has made.
    """
    most = 0.0
    for i, name in enumerate(exact.names):
        right = exact.weights[i]
        distance, *errors = (float(np.linalg.norm(r.weights[i] - right)) for r in (mine, *others))
        bound = roundings * (max(errors) + SINGLE * float(np.linalg.norm(right)))
        most = max(most, distance / bound if bound else 0.0)
        if not distance <= bound:
            raise Difference(
                f"{what}: {name} is off by {distance:.2g}, rounding explains {bound:.2g}"
            )
    return most


def repeat(case: Case, folder: Path) -> None:
    """In single precision, a run that goes on with the same ranks repeats the undisturbed one."""
    engine = _engine(case)
    ranks = run_ranks(case, folder, case.hosts, Way("ranks", False, False, engine))
    resumed = run_ranks(case, folder, case.hosts, Way("resumed", True, False, engine))
    agree(resumed, "resumed")
    what = f"resumed with the same {case.ranks} ranks, against undisturbed"
    compare(resumed[0], ranks[0], what, 0.0)


def _judge_single(case: Case, folder: Path, ranks: list[Result], joint: Result) -> str:
    """In single precision by the case's engine: off by no more than rounding of the sums.

    How much that is, is measured: the joint run in single precision, by NumPy and by the engine,
    adds the same numbers up in two other orders.
    """
    repeat(case, folder)
    if not case.comparable:
        return "ranks only"
    exact = train(case, folder, None, Way("joint"))
    other = train(case, folder, None, Way("joint", double=False, engine=case.engine))
    most = within(ranks[0], exact, [joint, other], ROUNDINGS, "single precision")
    return f"{100 * most:.0f} % of what rounding may make"


def _judge_stale(case: Case, folder: Path, ranks: list[Result], joint: Result) -> str:
    """Ranks agree already; is the bound kept, and is a small step right?"""
    bound = case.settings["staleness"]
    for rank, result in enumerate(ranks):
        if result.worst > bound:
            raise Difference(f"rank {rank} was {result.worst} iterations ahead, not up to {bound}")
    if not np.isfinite(ranks[0].losses).all():
        raise Difference("losses are no numbers")
    if case.comparable and "clip" not in case.features:
        solver = build(case, folder, 0, 1, Way("start"))
        start = [p.blob.data for p in solver.net.params.learnable]
        for name, w, j, s in zip(joint.names, ranks[0].weights, joint.weights, start, strict=True):
            right = float(np.linalg.norm(j - s))
            d = float(np.linalg.norm(w - j)) / (right + 1e-12)
            if d > CLOSE_WIRE and right > 1e-9:
                raise Difference(f"stale: the change of {name} is off by {d:.2g} of itself")
    resumed = run_ranks(case, folder, case.hosts_resumed, Way("resumed", True))
    agree(resumed, "resumed")
    return f"at most {max(r.worst for r in ranks)} of {bound} ahead"


# -- by the command line ---------------------------------------------------------------------------


def _judge_cli(case: Case, folder: Path) -> Verdict:
    """`pcd train --ranks P` against one rank with the joint batch, both in single precision."""
    start = folder / "start.caffemodel"
    loading.save_weights(build(case, folder, 0, 1, Way("joint", double=False)).net, str(start))
    finals: dict[int, Any] = {}
    for ranks in (1, case.ranks):
        sub = folder / f"of{ranks}"
        sub.mkdir()
        args = ["-weights", str(start), "--engine", case.engine, *_write_files(case, folder, ranks)]
        finals[ranks] = _pcd_train(args, sub, case)
    log = (folder / f"of{case.ranks}" / "log").read_text()
    schemes = sorted(s for s in ("allreduce", "sharded", "sfb", "sf-push") if f" {s} " in log)
    if not case.comparable:
        return "agrees", "ranks only", schemes
    for key, y in finals[1].items():
        d = far(finals[case.ranks][key].astype(np.float64), y.astype(np.float64))
        if d > CLOSE_CLI:
            raise Difference(f"pcd train --ranks {case.ranks}: {key} is off by {d:.2g}")
    return "agrees", "", schemes


def _write_files(case: Case, folder: Path, ranks: int) -> list[str]:
    """Nets and solver for so many ranks; the arguments for them."""
    sub = folder / f"of{ranks}"
    text = solver_text(case, folder, f"of{ranks}/run")
    text = text.replace("snapshot_after_train: false", "") + f' train_net: "{sub}/net.prototxt"'
    (sub / "net.prototxt").write_text(net_text(case, folder, case.joint // ranks))
    for i, (batch, _) in enumerate(case.tests):
        (sub / f"test{i}.prototxt").write_text(net_text(case, folder, batch))
        text += f' test_net: "{sub}/test{i}.prototxt"'
    (sub / "solver.prototxt").write_text(text)
    args = ["--solver", str(sub / "solver.prototxt")]
    if ranks > 1:
        args += ["--ranks", str(ranks), "--comm", case.settings["comm"], "--check-every", "1"]
        args += ["--overlap", "on" if case.settings["overlap"] else "off"]
        args += ["--sync-bn"] if case.settings["sync_bn"] else []
    return args


def _pcd_train(args: list[str], sub: Path, case: Case) -> dict[str, Any]:
    """Run the command; the weights of its last snapshot by layer and number."""
    path = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    with (sub / "log").open("w") as log:
        done = subprocess.run(
            [sys.executable, "-m", "pycaffe_dist", "train", *args],
            cwd=sub,
            stdout=log,
            stderr=log,
            timeout=2 * SECONDS,
            env=os.environ | {"PYTHONPATH": path},
        )
    if done.returncode:
        said = (sub / "log").read_text()[-1500:]
        raise RuntimeError(f"pcd train {args[4:]} ended with {done.returncode}: {said}")
    found: dict[str, Any] = {}
    if "HDF5" in case.solver:
        with h5py.File(sub / f"run_iter_{case.steps}.caffemodel.h5") as file:
            file["data"].visititems(
                lambda name, x: found.update({name: x[()]}) if hasattr(x, "shape") else None
            )
        return found
    layers = read_weights(str(sub / f"run_iter_{case.steps}.caffemodel")).layers
    return {f"{layer.name}/{i}": b.data for layer in layers for i, b in enumerate(layer.blobs)}

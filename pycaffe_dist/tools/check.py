"""Everything that can be said about a net or a solver without data and without computing."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field

from pycaffe_dist.errors import NetError, PcdError
from pycaffe_dist.facts import layer_facts
from pycaffe_dist.files import read_bytes
from pycaffe_dist.proto.caffe_pb2 import (
    TEST,
    TRAIN,
    NetParameter,
    NetState,
    Phase,
    SolverParameter,
)
from pycaffe_dist.proto.lexer import tokenize
from pycaffe_dist.proto.nets import (
    NetFile,
    SolverNet,
    read_net,
    read_solver,
    test_nets,
    train_net,
)
from pycaffe_dist.proto.sniff import describe
from pycaffe_dist.proto.state import filter_net, merge_state
from pycaffe_dist.proto.text import Prototxt
from pycaffe_dist.proto.weights import read_state, read_weights
from pycaffe_dist.proto.wiring import wiring_problems
from pycaffe_dist.report.table import net_table
from pycaffe_dist.solvers.policies import NEEDS, policy_problems
from pycaffe_dist.tools.model import dry_net


@dataclass
class Report:
    """What was found: a line on each thing that is there, and the errors and warnings."""

    facts: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    tables: dict[str, list[str]] = field(default_factory=dict)  # a table, and whose it is


def check_file(path: str | os.PathLike[str], state: NetState | None = None) -> Report:
    """Check a net, a solver and its nets, or a weights or state file.

    Args:
        path: the file.
        state: what is added to the net's own state; without a phase both are checked.

    Raises:
        PcdError: the file does not parse.
    """
    raw = read_bytes(path)
    if describe(raw) != "text":
        return _check_binary(path)
    if _is_solver(raw.decode("utf-8", "surrogateescape")):
        return _check_solver(read_solver(path))
    return check_net(read_net(path), state)


def _is_solver(text: str) -> bool:
    """True if more of the outermost names are a solver's than a net's."""
    depth = 0
    score = 0
    for token in tokenize(text):
        if token.kind == "mark":
            depth += (token.text in "{<") - (token.text in "}>")
        elif token.kind == "name" and depth == 0:
            score += token.text in SolverParameter.DESCRIPTOR.fields_by_name
            score -= token.text in NetParameter.DESCRIPTOR.fields_by_name
    return score > 0


# -- nets ------------------------------------------------------------------------------------------


def check_net(file: NetFile, state: NetState | None = None) -> Report:
    """Check a net in one state, or in both phases, of which one has to hold."""
    asked = state or NetState()
    phases = (asked.phase,) if asked.HasField("phase") else (TRAIN, TEST)
    reports = {
        Phase.Name(phase): _check_in_state(
            file, merge_state(phase, file.net.state, asked, NetState(phase=phase))
        )
        for phase in phases
    }
    if len(phases) == 1:
        return reports[Phase.Name(asked.phase)]
    usable = [r for r in reports.values() if not r.errors]
    whole = Report([f"net {_quoted(file.net.name)}: {len(file.net.layer)} layers in the file"])
    for phase, report in reports.items():
        whole.facts += report.facts
        for text, owners in report.tables.items():
            whole.tables.setdefault(text, []).extend(owners)
        whole.warnings += [w for w in report.warnings if w not in whole.warnings]
        if report.errors and usable:  # many nets are written for one phase only
            whole.warnings += [f"{e} (as a {phase} net)" for e in report.errors]
        else:
            whole.errors += [e for e in report.errors if e not in whole.errors]
    stages = {s for la in file.net.layer for r in (*la.include, *la.exclude) for s in r.stage}
    if stages and not usable:
        whole.warnings.append(
            f"{file.path}: its layers are chosen by stage; check it with one of: "
            + " ".join(f"--stage {stage}" for stage in sorted(stages))
        )
    return whole


def _check_in_state(file: NetFile, state: NetState) -> Report:
    report = Report()
    phase = Phase.Name(state.phase)
    try:
        net = filter_net(file.net, state)
    except NetError as e:
        report.errors.append(f"{file.path}: {e}")
        return report
    lines = file.lines_of(net)
    report.errors += [_at(file.path, lines[i], text) for i, text in wiring_problems(net)]
    for name, count in Counter(layer.name for layer in net.layer).items():
        if count > 1:
            report.warnings.append(
                f"{file.path}: {count} layers are called {_quoted(name)} in phase {phase}; "
                "weights are kept by name, so that only one of them can be loaded"
            )
    if not net.layer:
        report.errors.append(f"{file.path}: no layer is left in phase {phase}")
    elif not report.errors:
        _describe(file, state, report)
    return report


def _describe(file: NetFile, state: NetState, report: Report) -> None:
    """Build the net without values and put what it is into the report."""
    try:
        net, unknown = dry_net(file, state)
    except PcdError as e:
        report.errors.append(str(e))
        return
    if unknown is not None:
        report.warnings.append(f"{unknown}\n    The shapes shown are those of a guess at the data.")
    phase = Phase.Name(state.phase)
    splits = sum(layer.type == "Split" for layer in net.layers)
    inputs = [net.blob_names[i] for i in net.input_ids]
    outputs = [net.blob_names[i] for i in net.output_ids]
    report.facts.append(
        f"  {phase}: {len(net.layers) - splits} layers, {splits} splits, "
        + (f"in: {', '.join(inputs)}; " if inputs else "")
        + f"out: {', '.join(outputs) or 'nothing'}"
    )
    report.tables.setdefault("\n".join(net_table(layer_facts(net))), []).append(phase)


# -- solvers ---------------------------------------------------------------------------------------


def _check_solver(file: Prototxt[SolverParameter]) -> Report:
    solver = file.message
    policy = solver.lr_policy or "none"
    report = Report(
        [f"solver: {solver.type}, {solver.max_iter} iterations, lr {solver.base_lr:g} ({policy})"]
    )
    report.errors += [f"{file.path}: {text}" for text in _settings_problems(solver)]
    try:
        nets = [train_net(solver), *test_nets(solver)]
    except NetError as e:
        report.errors.append(f"{file.path}: {e}")
        return report
    for net in nets:
        _check_solver_net(file.path, net, report)
    return report


def _check_solver_net(solver_path: str, net: SolverNet, report: Report) -> None:
    report.facts.append(f"{net.role}: {net.source if isinstance(net.source, str) else 'inline'}")
    try:
        file = net.read()
    except PcdError as e:
        report.errors.append(_explain_missing(solver_path, net, e))
        return
    inner = _check_in_state(file, file.net.state)
    report.facts += inner.facts
    for text in inner.tables:
        report.tables.setdefault(text, []).append(net.role)
    report.errors += inner.errors
    report.warnings += inner.warnings


def _explain_missing(solver_path: str, net: SolverNet, error: PcdError) -> str:
    """Paths in a solver count from where the command is run; say so when that is the trouble."""
    if not isinstance(net.source, str) or os.path.exists(net.source):
        return str(error)
    text = f'{solver_path}: {net.role} "{net.source}" is not there, seen from {os.getcwd()}'
    folder = os.path.dirname(os.path.abspath(solver_path))
    while folder != os.path.dirname(folder):
        if os.path.exists(os.path.join(folder, net.source)):
            return f"{text}; it is, seen from {folder}: run from that folder"
        folder = os.path.dirname(folder)
    return text


def _settings_problems(solver: SolverParameter) -> list[str]:
    problems = policy_problems(solver) or [
        f"lr_policy {_quoted(solver.lr_policy)} needs {name}"
        for name in NEEDS[solver.lr_policy]
        if not getattr(solver, name)
    ]
    if not solver.HasField("base_lr"):
        problems.append("base_lr is missing")
    if not solver.HasField("max_iter"):
        problems.append("max_iter is missing: training would end at once")
    if solver.type in ("AdaGrad", "RMSProp") and solver.momentum:
        problems.append(f"momentum cannot be used with type {_quoted(solver.type)}; leave it out")
    return problems


# -- weights and state -----------------------------------------------------------------------------


def _check_binary(path: str | os.PathLike[str]) -> Report:
    try:
        weights = read_weights(path)
    except PcdError as not_weights:
        try:
            state = read_state(path)
        except PcdError:
            raise not_weights from None
        values = sum(blob.data.size for blob in state.history)
        return Report(
            [
                f"solver state: iteration {state.iter}, weights {_quoted(state.learned_net)}, "
                f"{len(state.history)} history blobs, {values:,} values"
            ]
        )
    blobs = [blob for layer in weights.layers for blob in layer.blobs if blob is not None]
    return Report(
        [
            f"weights: net {_quoted(weights.name)}, {len(weights.layers)} layers, "
            f"{len(blobs)} blobs, {sum(blob.data.size for blob in blobs):,} values"
        ]
    )


def _quoted(name: str) -> str:
    return f'"{name}"'


def _at(path: str, line: int | None, text: str) -> str:
    return f"{path}:{line}: {text}" if line else f"{path}: {text}"

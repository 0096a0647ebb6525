"""Everything that can be said about a net or a solver without data and without computing."""

from __future__ import annotations

import gc
import os
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from pycaffe_dist.errors import FileError, NetError, PcdError, PrototxtError, visible
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
from pycaffe_dist.proto.nets import (
    NetFile,
    SolverNet,
    is_solver,
    read_net,
    read_solver,
    test_nets,
    train_net,
    upgraded,
)
from pycaffe_dist.proto.sniff import describe
from pycaffe_dist.proto.state import filter_net, merge_state
from pycaffe_dist.proto.strange import ignored, passed_over
from pycaffe_dist.proto.text import Prototxt
from pycaffe_dist.registry import UNBUILT, reading, readings, unknown_types
from pycaffe_dist.report.table import net_table
from pycaffe_dist.sketch import NOT_RUN, Sketch
from pycaffe_dist.tools.model import dry_net
from pycaffe_dist.tools.solver_file import folder_problems, missing_net, settings_problems

# Unknown fields of a layer's own parameters leave its name, type, bottoms and tops as they are.
_HARMLESS = re.compile(
    r'(?!NetParameter|\w*LayerParameter)\w+ has no field|\w*LayerParameter has no field "\w+_param"'
)


@dataclass
class Report:
    """What was found: a line on each thing that is there, and the errors and warnings."""

    facts: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    tables: dict[str, list[str]] = field(default_factory=dict)  # a table, and whose it is
    needs: list[str] = field(default_factory=list)  # layer types that are not known, in one line

    def with_needs(self) -> Report:
        """The report with that line as its first error."""
        self.errors[:0] = self.needs
        return self


@contextmanager
def _uncollected() -> Iterator[None]:
    """Without the garbage collector: a net is no garbage, and it would be walked as it grows."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@_uncollected()
def check_file(
    path: str | os.PathLike[str], state: NetState | None = None, python: bool = False
) -> Report:
    """Check a net, a solver and its nets, or a weights or state file.

    Args:
        path: the file.
        state: what is added to the net's own state; without a phase both are checked.
        python: whether Python layers may run: their modules are imported.

    Raises:
        PcdError: the file does not parse; with what else is wrong, as far as that can be told.
    """
    raw = read_bytes(path)
    if not raw.strip():
        raise FileError(f"{path}: is empty; a net, a solver, weights or a state was expected here")
    if describe(raw) != "text":
        del raw  # it is read again, and may be large
        return _check_binary(path)
    if is_solver(raw.decode("utf-8", "surrogateescape")):
        return _check_solver(read_solver(path), python)
    try:
        return check_net(read_net(path), state, python)
    except PrototxtError as e:
        raise PrototxtError(e.problems, e.parsed, _beyond_syntax(e, python)) from e


def _beyond_syntax(error: PrototxtError, python: bool) -> list[str]:
    """What else is wrong with a net that does not parse.

    From the first layer on whose place in the net is in doubt only the types of layers are looked
    at.
    """
    try:
        file = upgraded(error.parsed)
    except PcdError:
        return []
    needs = _needs(file)
    for problem in error.problems:
        above = [line for line in file.lines if line and line <= problem.line]
        first = file.lines.index(above[-1]) if above else 0
        if not _HARMLESS.match(problem.message):
            del file.net.layer[first:], file.lines[first:]
            break
        if above:
            file.net.layer[first].type = UNBUILT
    if not file.net.layer:
        return needs
    rest = check_net(file, python=python)
    return [*needs, *(text for text in rest.errors if text not in rest.needs)]


# -- nets ------------------------------------------------------------------------------------------


def check_net(file: NetFile, state: NetState | None = None, python: bool = False) -> Report:
    """Check a net in one state, or in both phases, of which one has to hold."""
    asked = state or NetState()
    phases = (asked.phase,) if asked.HasField("phase") else (TRAIN, TEST)
    sketches = _Sketches(file, python)
    reports = {
        Phase.Name(phase): _check_in_state(
            sketches, merge_state(phase, file.net.state, asked, NetState(phase=phase))
        )
        for phase in phases
    }
    if len(phases) == 1:
        return reports[Phase.Name(asked.phase)].with_needs()
    usable = [r for r in reports.values() if not r.errors]
    whole = Report([f"net {_quoted(file.net.name)}: {len(file.net.layer)} layers in the file"])
    for phase, report in reports.items():
        whole.facts += report.facts
        for text, owners in report.tables.items():
            whole.tables.setdefault(text, []).extend(owners)
        whole.warnings[:] = dict.fromkeys([*whole.warnings, *report.warnings])
        if report.errors and usable:  # many nets are written for one phase only
            whole.warnings += [f"{e} (as a {phase} net)" for e in report.errors]
        else:
            whole.errors[:] = dict.fromkeys([*whole.errors, *report.errors])
    if any(report.needs for report in reports.values()):
        whole.needs = _needs(file)  # of both phases in one line
    stages = {s for la in file.net.layer for r in (*la.include, *la.exclude) for s in r.stage}
    if stages and not usable:
        whole.warnings.append(
            f"{file.path}: its layers are chosen by stage; check it with one of: "
            + " ".join(f"--stage {stage}" for stage in sorted(stages))
        )
    return whole.with_needs()


class _Sketches:
    """The sketches of a file's net: one for both phases, if it does not ask for its phase."""

    def __init__(self, file: NetFile, python: bool) -> None:
        self.file, self._python = file, python
        self._last: Sketch | None = None
        self._table = ""

    def sketch(self, state: NetState) -> Sketch:
        if self._last is None or self._last.asks_phase:
            self._last, self._table = None, ""  # not two at once: they may be large
            self._last = dry_net(self.file, state, self._python)
        return self._last

    def table(self) -> str:
        """That of the last one."""
        if self._last and not self._table:
            self._table = "\n".join(net_table(layer_facts(self._last)))
        return self._table


def _needs(file: NetFile) -> list[str]:
    """The layer types that are not known, in one line."""
    lines = file.lines_of(file.net)
    return [_at(file.path, lines[i], text) for i, text in unknown_types(file.net.layer)]


def _check_in_state(sketches: _Sketches, state: NetState) -> Report:
    report, file = Report(), sketches.file
    phase = Phase.Name(state.phase)
    try:
        net = filter_net(file.net, state)
    except NetError as e:
        report.errors.append(f"{file.path}: {e}")
        return report
    for name, count in Counter(layer.name for layer in net.layer).items():
        if count > 1:
            report.warnings.append(
                f"{file.path}: {count} layers are called {_quoted(name)} in phase {phase}; "
                "weights are kept by name, so that only one of them can be loaded"
            )
    if net.layer:
        _describe(sketches, state, report)
        report.facts += [f"  {phase}: {line}" for line in readings(net.layer)]
        if passed_over := ignored(net):
            names = ", ".join(name.partition(".")[2] for name in passed_over)
            report.warnings.append(f"{file.path}: forks' fields that change no result: {names}")
        report.warnings += _otherwise(file, net)
    else:
        report.errors.append(f"{file.path}: no layer is left in phase {phase}")
    return report


def _otherwise(file: NetFile, net: NetParameter) -> list[str]:
    """What is computed, but not as the fork that a net was written for computes it."""
    found = []
    edges = any(layer.type == "ImageLabelmapData" for layer in net.layer)
    entropy = "SigmoidCrossEntropyLoss"
    lines: list[int | None] = []
    for i, layer in enumerate(net.layer):
        texts = [
            f"{name} is passed over; the fork's own results differ a little"
            for name in passed_over(layer)
        ]
        if edges and layer.type == entropy and reading(layer).dialect != "hed":
            texts.append(
                "is BVLC's; in HED, where ImageLabelmapData comes from, it weighs edges by how "
                "rare they are: `--dialect hed`"
            )
        for text in texts:
            lines = lines or file.lines_of(net)
            name = f"layer {_quoted(layer.name)} ({layer.type})"
            found.append(_at(file.path, lines[i], f"{name}: {text}"))
    return found


def _describe(sketches: _Sketches, state: NetState, report: Report) -> None:
    """Sketch the net and put what it is, and what is wrong with it, into the report."""
    try:
        net = sketches.sketch(state)
    except PcdError as e:
        report.errors.append(str(e))
        return
    report.needs = [net.needs] * bool(net.needs)
    if net.guess and net.guess != net.needs:
        text = f"{net.guess}\n    The shapes shown are those of a guess at the data."
        report.warnings.append(text)
    report.warnings += [f"{layer} is {NOT_RUN}; --allow-python runs it" for layer in net.not_run]
    if net.problems:
        report.errors += [*net.problems, *net.data_problems]
        return
    report.warnings += net.data_problems
    if net.broken:
        return
    phase = Phase.Name(state.phase)
    splits = sum(layer.type == "Split" for layer in net.layers)
    inputs = [net.blob_names[i] for i in net.input_ids]
    outputs = [net.blob_names[i] for i in net.output_ids]
    report.facts.append(
        f"  {phase}: {len(net.layers) - splits} layers, {splits} splits, "
        + (f"in: {', '.join(inputs)}; " if inputs else "")
        + f"out: {', '.join(outputs) or 'nothing'}"
    )
    report.tables.setdefault(sketches.table(), []).append(phase)


# -- solvers ---------------------------------------------------------------------------------------


def _check_solver(file: Prototxt[SolverParameter], python: bool) -> Report:
    solver = file.message
    policy = solver.lr_policy or "none"
    report = Report(
        [f"solver: {solver.type}, {solver.max_iter} iterations, lr {solver.base_lr:g} ({policy})"]
    )
    report.errors += [f"{file.path}: {text}" for text in settings_problems(solver)]
    report.warnings += folder_problems(file.path, solver)
    try:
        nets = [train_net(solver), *test_nets(solver)]
    except NetError as e:
        report.errors.append(f"{file.path}: {e}")
        return report
    for net in nets:
        _check_solver_net(file.path, net, python, report)
    return report


def _check_solver_net(solver_path: str, net: SolverNet, python: bool, report: Report) -> None:
    report.facts.append(f"{net.role}: {net.source if isinstance(net.source, str) else 'inline'}")
    try:
        file = net.read()
    except PcdError as e:
        report.errors.append(missing_net(solver_path, net) or str(e))
        return
    inner = _check_in_state(_Sketches(file, python), file.net.state).with_needs()
    report.facts += inner.facts
    for text in inner.tables:
        report.tables.setdefault(text, []).append(net.role)
    report.errors[:] = dict.fromkeys([*report.errors, *inner.errors])
    report.warnings[:] = dict.fromkeys([*report.warnings, *inner.warnings])


# -- weights and state -----------------------------------------------------------------------------


def _check_binary(path: str | os.PathLike[str]) -> Report:
    from pycaffe_dist.proto.weights import read_state, read_weights  # no net needs them

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
    return f'"{visible(name)}"'


def _at(path: str, line: int | None, text: str) -> str:
    return f"{path}:{line}: {text}" if line else f"{path}: {text}"

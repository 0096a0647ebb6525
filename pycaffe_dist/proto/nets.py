"""Net and solver files as the rest of the house wants them: read, upgraded, located, resolved."""

from __future__ import annotations

import contextlib
import glob
import os
from bisect import bisect_left
from dataclasses import dataclass

from pycaffe_dist.errors import FileError, NetError, PrototxtError
from pycaffe_dist.files import read_bytes
from pycaffe_dist.proto.caffe_pb2 import (
    TEST,
    TRAIN,
    LayerParameter,
    NetParameter,
    NetState,
    SolverParameter,
)
from pycaffe_dist.proto.lexer import tokens
from pycaffe_dist.proto.state import merge_state
from pycaffe_dist.proto.text import Prototxt, read_text
from pycaffe_dist.proto.upgrade import complete_snapshot_prefix, upgrade_net, upgrade_solver

ENOUGH_NAMES = 500  # outermost ones, to tell a solver from a net


_Key = tuple[str, str, bytes]  # a layer's name, its type, and its include and exclude rules


@dataclass
class NetFile:
    """An upgraded net and the lines of the layers in the file it was read from."""

    net: NetParameter
    path: str
    lines: list[int | None]  # of each layer of ``net``; none for a net that is in no file

    def lines_of(self, net: NetParameter) -> list[int | None]:
        """The line of each layer of ``net``, which upgrades, filters or splits made of this file.

        Those keep the order of the layers they keep, their names and their rules, which tell
        layers of the same name apart.  None for a layer that the file does not have.
        """
        at: dict[_Key, list[int]] = {}
        for i, _ in enumerate(self.lines):
            at.setdefault(_key(self.net.layer[i]), []).append(i)
        found: list[int | None] = []
        begin = 0
        for layer in net.layer:
            places = at.get(_key(layer), [])
            next_one = bisect_left(places, begin)
            if next_one == len(places):
                found.append(None)
            else:
                found.append(self.lines[places[next_one]])
                begin = places[next_one] + 1
        return found


def _key(layer: LayerParameter) -> _Key:
    if not layer.include and not layer.exclude:
        return layer.name, layer.type, b""
    rules = LayerParameter(include=layer.include, exclude=layer.exclude)
    return layer.name, layer.type, rules.SerializeToString()


def read_net(path: str | os.PathLike[str]) -> NetFile:
    """Read a net and bring it to today's form, as Caffe does on every read."""
    return upgraded(read_net_text(path))


def read_net_text(path: str | os.PathLike[str]) -> Prototxt[NetParameter]:
    """Read a net as it is written; a solver is told by its name, not by a hundred errors."""
    try:
        return read_text(path, NetParameter())
    except PrototxtError as e:
        if not is_solver(read_bytes(path).decode("utf-8", "surrogateescape")):
            raise
        raise FileError(f"{path}: this is a solver; {_nets_of(path)}") from e


def _nets_of(path: str | os.PathLike[str]) -> str:
    """Which nets a solver has, for those who need one of them."""
    try:
        solver = read_text(path, SolverParameter()).message
    except PrototxtError:
        return "a net is expected here"
    names = dict.fromkeys(n for n in (solver.net, solver.train_net, *solver.test_net) if n)
    if not names:
        return "a net is expected here, and its net is written inside it"
    many = "its net is" if len(names) == 1 else "its nets are"
    return f"{many} {', '.join(names)}"


def is_solver(text: str) -> bool:
    """True if more of the outermost names are a solver's than a net's."""
    return _leaning(text) > 0


def _leaning(text: str) -> int:
    """How many of the outermost names only a solver has, less those that only a net has."""
    depth = names = score = 0
    for token in tokens(text):
        if token.kind == "mark":
            depth += (token.text in "{<") - (token.text in "}>")
        elif token.kind == "name" and depth == 0:
            if (names := names + 1) > ENOUGH_NAMES:
                break
            score += token.text in SolverParameter.DESCRIPTOR.fields_by_name
            score -= token.text in NetParameter.DESCRIPTOR.fields_by_name
    return score


def upgraded(prototxt: Prototxt[NetParameter]) -> NetFile:
    """Upgrade a parsed net, keeping where its layers stand."""
    net = prototxt.message
    lines: list[int | None] = [
        prototxt.places["layers", i][0]
        for i, layer in enumerate(net.layers)
        if layer.layer.type != "padding"  # those are folded into others
    ]
    lines += [prototxt.places["layer", i][0] for i in range(len(net.layer))]
    upgrade_net(net, prototxt.path)
    if len(net.layer) > len(lines):
        lines.insert(0, None)  # the Input layer that `input` fields became
    return NetFile(net, prototxt.path, lines)


def read_solver(path: str | os.PathLike[str]) -> Prototxt[SolverParameter]:
    """Read a solver, upgrade it, and complete its ``snapshot_prefix``."""
    prototxt = read_solver_text(path)
    upgrade_solver(prototxt.message, prototxt.path)
    complete_snapshot_prefix(prototxt.message, path)
    return prototxt


def read_solver_text(path: str | os.PathLike[str]) -> Prototxt[SolverParameter]:
    """Read a solver as it is written; a net is told by its name."""
    try:
        return read_text(path, SolverParameter())
    except PrototxtError as e:
        if _leaning(read_bytes(path).decode("utf-8", "surrogateescape")) >= 0:
            raise
        raise FileError(f"{path}: this is a net; {_solvers_of(os.fspath(path))}") from e


def _solvers_of(path: str) -> str:
    """The solvers beside a net that train it, or what such a file looks like."""
    folder, name = os.path.split(path)
    found = []
    for beside in sorted(glob.glob(os.path.join(glob.escape(folder), "*.prototxt"))):
        with contextlib.suppress(FileError, PrototxtError):
            solver = read_text(beside, SolverParameter()).message
            if name in map(os.path.basename, (solver.net, solver.train_net)):
                found.append(beside)
    if found:
        return f"its solver is {', or '.join(found)}"
    return f'a solver is expected here, a file with net: "{path}", base_lr, lr_policy and max_iter'


@dataclass
class SolverNet:
    """One of a solver's nets: its file, or its message where it is written inside the solver."""

    role: str  # "train net", "test net #0"
    source: str | NetParameter
    state: NetState
    iterations: int = 0  # test_iter

    def read(self) -> NetFile:
        if isinstance(self.source, str):
            file = read_net(self.source)
        else:  # Caffe does not upgrade nets inside a solver; nobody can want that.
            net = NetParameter()
            net.CopyFrom(self.source)
            upgrade_net(net, self.role)
            file = NetFile(net, self.role, [])
        phase = TRAIN if self.role == "train net" else TEST
        file.net.state.CopyFrom(merge_state(phase, file.net.state, self.state))
        return file


def train_net(solver: SolverParameter) -> SolverNet:
    """The net a solver trains: exactly one of net, net_param, train_net, train_net_param."""
    names = ("train_net_param", "train_net", "net_param", "net")
    given = [name for name in names if solver.HasField(name)]
    if len(given) != 1:
        found = " and ".join(given) if given else "none of them"
        raise NetError(
            "a solver names its training net in exactly one of net, net_param, train_net, "
            f"train_net_param; found {found}"
        )
    return SolverNet("train net", getattr(solver, given[0]), solver.train_state)


def test_nets(solver: SolverParameter) -> list[SolverNet]:
    """The nets a solver tests, in Caffe's order: test_net_param, test_net, net for the rest."""
    sources: list[str | NetParameter] = [*solver.test_net_param, *solver.test_net]
    generic = [n for n in ("net_param", "net") if solver.HasField(n)]
    iterations = list(solver.test_iter)
    if generic:
        if len(iterations) < len(sources):
            raise NetError(
                f"test_iter must be given for each test net: {len(sources)} test nets, "
                f"{len(iterations)} test_iter"
            )
        sources += [getattr(solver, generic[-1])] * (len(iterations) - len(sources))
    elif len(iterations) != len(sources):
        raise NetError(
            f"test_iter must be given once for each test net: {len(sources)} test nets, "
            f"{len(iterations)} test_iter"
        )
    states = list(solver.test_state)
    if states and len(states) != len(sources):
        raise NetError(
            f"test_state must be given not at all or once for each test net: {len(sources)} test "
            f"nets, {len(states)} test_state"
        )
    if sources and solver.test_interval <= 0:
        raise NetError("a solver with test nets needs test_interval above 0")
    states = states or [NetState() for _ in sources]
    return [
        SolverNet(f"test net #{i}", source, state, count)
        for i, (source, state, count) in enumerate(zip(sources, states, iterations, strict=True))
    ]

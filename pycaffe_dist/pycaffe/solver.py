"""pycaffe's solvers: ``get_solver(file)``, ``SGDSolver(file)`` and the others."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace

from pycaffe_dist import engines, loading
from pycaffe_dist.errors import PcdError
from pycaffe_dist.layer import Context
from pycaffe_dist.parallel.job.launcher import rank_and_size
from pycaffe_dist.proto.caffe_pb2 import SolverParameter
from pycaffe_dist.proto.nets import read_solver
from pycaffe_dist.pycaffe.modes import SETTINGS, begin_log
from pycaffe_dist.pycaffe.nccl import NCCL
from pycaffe_dist.pycaffe.net import Net
from pycaffe_dist.pycaffe.notebook import History, progress_shown
from pycaffe_dist.pycaffe.vectors import NetVec
from pycaffe_dist.report.caffe_lines import CaffeLines
from pycaffe_dist.solver import Solver as CoreSolver
from pycaffe_dist.solvers.rules import create_rule

STRANGERS = (
    "mpirun started %d ranks of this script, and each trains a net of its own. To train one net "
    "together, add the line caffe.distribute(solver) after the solver is made "
    '("From Python" in docs/distributed.md); or mpirun -n %d pcd train -solver FILE'
)

logger = logging.getLogger(__name__)


class Solver:
    """A solver from a prototxt; the class, not the file's ``type``, says which rule it uses."""

    type: str

    def __init__(self, solver_file: str) -> None:
        begin_log()
        param = read_solver(solver_file).message
        param.type = self.type
        self.core = CoreSolver(
            param, Context(engine=engines.current(), rank=SETTINGS.rank, ranks=SETTINGS.ranks)
        )
        self.history = History()
        self.core.subscribers += [CaffeLines(), self.history]
        self._net = Net.of(self.core.net)
        self._test_nets = NetVec(Net.of(net) for net in self.core.test_nets)
        self._told = False

    @property
    def net(self) -> Net:
        """The training net."""
        return self._net

    @property
    def test_nets(self) -> NetVec:
        """The nets that tests run, with the weights of ``net``."""
        return self._test_nets

    @property
    def iter(self) -> int:
        """How many iterations it has made."""
        return self.core.iter

    @property
    def lr(self) -> float:
        """The learning rate of this iteration."""
        return self.core.lr

    @property
    def param(self) -> SolverParameter:
        """The settings, as a message; a change counts from the next iteration on."""
        return self.core.param

    def step(self, count: int) -> None:
        """Make so many iterations, with tests and snapshots where they are due."""
        with self._watched():
            self.core.step(count)

    def solve(self, resume: str | None = None, progress: bool = False) -> None:
        """Train to ``max_iter``; with ``progress`` a bar in a notebook, a line in a terminal."""
        shown = progress_shown(self.core.subscribers, self.param.max_iter)
        with self._watched(), shown if progress else nullcontext():
            self.core.solve(resume)

    def __repr__(self) -> str:
        where = f"iteration {self.iter} of {self.param.max_iter}"
        return f"{type(self).__name__} of {self.net.core.name or 'a net'}, {where}"

    def _repr_html_(self) -> str:
        return self.history.as_svg()

    def restore(self, path: str) -> None:
        """Go on from a .solverstate, or .solverstate.h5."""
        self.core.restore(path)

    def snapshot(self) -> None:
        """Write weights and state now, by the solver's ``snapshot_prefix``."""
        self.core.snapshot()

    def apply_update(self) -> None:
        """Update the weights with the gradients that are in the net."""
        with self._watched():
            self.core.apply_update()

    @contextmanager
    def _watched(self) -> Iterator[None]:
        self._tell_strangers()
        nets = [self.net, *self.test_nets]
        for net in nets:
            net.touched.pick_up()
        yield
        for net in nets:
            net.touched.show()

    def _tell_strangers(self) -> None:
        """Say once, on rank 0, that ranks of mpirun do not train together."""
        rank, ranks = rank_and_size()
        joined = self.core.ranks.size > 1 or self.core.on_gradients_ready  # by NCCL, for one
        if ranks > 1 and not rank and not joined and not self._told:
            self._told = True
            logger.warning(STRANGERS, ranks, ranks)

    def deal(self, rank: int, ranks: int) -> None:
        """Read the share of one of so many ranks; the weights stay.

        Data are dealt out when a net is built, so the nets are built anew.

        Raises:
            PcdError: the solver has trained already, with the data of all.
        """
        old = self.core
        if (old.context.rank, old.context.ranks) == (rank, ranks):
            return
        if old.iter:
            raise PcdError(
                f"the solver has made {old.iter} iterations with all of the data; "
                "call caffe.distribute(solver) before its first step"
            )
        new = CoreSolver(old.param, replace(old.context, rank=rank, ranks=ranks))
        pairs = zip(new.net.params.learnable, old.net.params.learnable, strict=True)
        for mine, before in pairs:
            mine.blob.data[...] = before.blob.data
        new.subscribers += [CaffeLines(), self.history]
        new.on_start, new.on_gradients_ready = old.on_start, old.on_gradients_ready
        self.core = new
        self._net._take(new.net)
        for net, core in zip(self._test_nets, new.test_nets, strict=True):
            net._take(core)

    def share_weights(self, net: Net) -> None:
        """Let ``net`` use the training net's parameters."""
        loading.share_weights(net.core, self.core.net)

    def add_callback(
        self,
        on_start: Callable[[], object] | NCCL,
        on_gradients_ready: Callable[[], object] | None = None,
    ) -> None:
        """Call one function before each iteration's forward pass, one before its update.

        An NCCL alone has both.
        """
        if isinstance(on_start, NCCL):
            nccl = on_start
            on_start, on_gradients_ready = nccl.on_start, nccl.on_gradients_ready
        if on_gradients_ready is None:
            raise PcdError("add_callback takes two functions, or an NCCL")
        self.core.on_start.append(on_start)
        self.core.on_gradients_ready.append(on_gradients_ready)


class SGDSolver(Solver):
    """Stochastic gradient descent with momentum."""

    type = "SGD"


class NesterovSolver(Solver):
    """Nesterov's accelerated gradient."""

    type = "Nesterov"


class AdaGradSolver(Solver):
    """AdaGrad: each weight has a rate of its own, which falls with its gradients."""

    type = "AdaGrad"


class RMSPropSolver(Solver):
    """RMSProp: rates by a running mean of squared gradients (``rms_decay``)."""

    type = "RMSProp"


class AdaDeltaSolver(Solver):
    """AdaDelta: steps as large as the last ones were, without a rate to tune."""

    type = "AdaDelta"


class AdamSolver(Solver):
    """Adam: running means of gradients and of their squares, both corrected."""

    type = "Adam"


_SOLVERS: dict[str, type[Solver]] = {
    cls.type: cls
    for cls in (
        SGDSolver,
        NesterovSolver,
        AdaGradSolver,
        RMSPropSolver,
        AdaDeltaSolver,
        AdamSolver,
    )
}


def get_solver(solver_file: str) -> Solver:
    """The solver that the file's ``type`` names."""
    param = read_solver(solver_file).message
    create_rule(param)  # which says what is wrong with a type that does not exist
    return _SOLVERS[param.type](solver_file)

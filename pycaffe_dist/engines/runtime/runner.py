"""Runner: decides pass by pass whether a library or our own engine computes a net."""

from __future__ import annotations

import ctypes
import os
import time
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import version
from itertools import groupby
from pathlib import Path

import numpy as np

from pycaffe_dist import caffe_log as log
from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import View
from pycaffe_dist.engines.base import Loss
from pycaffe_dist.engines.choice import Candidate, Choices, RefusedError, cache_file
from pycaffe_dist.engines.runtime.cut import Cut, cut, signature
from pycaffe_dist.engines.runtime.libraries import Run, available, compile_by, inherited
from pycaffe_dist.errors import PcdError
from pycaffe_dist.memory import HOST, Promise, Value
from pycaffe_dist.net import Net
from pycaffe_dist.proto.seal import checksum_of
from pycaffe_dist.threads import threads

TOLERANCE = {"fp32": 1e-4, "bf16": 5e-2}  # by the largest value of an output
# Seconds of our own engine's passes after which a library is tried: exporting and compiling take
# about as long, so a net that runs a few times does not pay for it.
PATIENCE = 1.0
MOST_ASKED = 8  # blobs between; a net of which more are read is better off with its layers


@dataclass(eq=False)
class Way:
    """Who computes passes with these shapes and weights: a library, or the layers of our engine."""

    name: str
    compiled: tuple[Cut, Run] | None = None

    def __post_init__(self) -> None:
        _WAYS.add(self)


_WAYS: weakref.WeakSet[Way] = weakref.WeakSet()


def _keep_ways() -> None:
    """A forked process has them without their threads, for which the end of one would wait."""
    for way in list(_WAYS):
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(way))


os.register_at_fork(after_in_child=_keep_ways)


class Runner:
    """Stands in for the whole forward pass of a net in TEST.

    Our engine runs until it has used PATIENCE seconds since shapes or weights have changed; then
    the libraries are compiled and compared with it, and the fastest is kept.

    Args:
        net: in TEST.
        names: the libraries that may be used.
        forced: the first of them is taken at once, or an error says why not.
    """

    def __init__(self, net: Net, names: Sequence[str], forced: bool = False) -> None:
        self.net, self.names, self.forced = net, names, forced
        self.way: Way | None = None
        self._refused = False
        self._spent = 0.0
        self._seen: object = None  # what a change of shapes, threads or weights changes
        self._known: object = None  # as _seen, with the weights' checksums
        self._sums: dict[Value, tuple[int, int]] = {}  # of each parameter: version, checksum
        self._promise = Promise(self._read_between)
        self._promised: Cut | None = None  # whose hidden blobs are not computed yet
        self._given: list[Array] = []  # some numbers of the inputs of that pass
        self._asked: set[int] = set()  # blobs between that somebody has read
        self._look_again = False  # whether somebody has read a blob between since the last pass

    # -- what the net asks -------------------------------------------------------------------

    @property
    def name(self) -> str:
        return self.way.name if self.way is not None and self.way.compiled is not None else ""

    def forward(self) -> Loss:
        net = self.net
        watched = net.before_forward or net.after_forward or net.debug_info
        if not self._refused and inherited():
            self._refused, self.way = True, None
            log.warning(
                "runtime",
                "Our engine computes in this process, forked from one that used a library",
            )
        if not (self._refused or watched):
            self._notice_changes()
            self._take_in_what_is_read()
            if self.way is None and (self.forced or self._spent >= PATIENCE):
                return self._choosing_pass()
            if self.way is not None and self.way.compiled is not None:
                return self._pass(*self.way.compiled)
        return self._own()

    def settle(self) -> None:
        """Everything that our layers know after a forward pass is there: for a backward."""
        if self._promised is not None:
            self._middle(self._promised)

    # -- passes ------------------------------------------------------------------------------

    def _own(self) -> Loss:
        self._forget()
        begin = time.perf_counter()
        loss = self.net.forward_here()
        self._spent += time.perf_counter() - begin
        return loss

    def _pass(self, parts: Cut, run: Run) -> Loss:
        return self._layers(parts.sources) + self._behind(parts, run)

    def _behind(self, parts: Cut, run: Run) -> Loss:
        """All but what brings data, which has been run: another time it would bring the next."""
        try:
            loss = self._computed(parts, run)
        except Exception as e:  # libraries raise what they like, and when they like
            if self.forced:
                raise PcdError(f"{self.name or self.names[0]} cannot compute this net: {e}") from e
            self._refused, self.way = True, None
            log.warning("runtime", "Our engine computes this net from now on: %s", e)
            loss = self._middle(parts)
        return loss + self._layers(parts.tail)

    def _computed(self, parts: Cut, run: Run) -> Loss:
        """The library's outputs, and the losses among them; what is between is promised."""
        blobs, weights = self.net.blobs, self.net.blob_loss_weights
        loss: Loss = 0.0
        for t, values in zip(parts.outputs, run(parts.given()), strict=True):
            blobs[t].reshape(*values.shape)  # how many boxes there are, for one
            blobs[t].replace_data()[...] = values
            if weights[t]:
                loss += weights[t] * values.sum(dtype=np.float64)
        for t in parts.hidden:
            blobs[t].data_value.promise(self._promise)
        self._promised, self._given = parts, _some(parts)
        return loss

    def _middle(self, parts: Cut) -> Loss:
        """By our layers what a library computes."""
        self._forget()
        loss: Loss = 0.0
        outside = {*parts.sources, *parts.tail}
        rows = groupby(range(len(self.net.layers)), lambda i: i in outside)
        for row in [list(row) for apart, row in rows if not apart]:
            loss += self.net.forward_here(row[0], row[-1])
        return loss

    def _layers(self, layers: Sequence[int]) -> Loss:
        net = self.net
        loss: Loss = 0.0
        for i in layers:
            loss += net.layers[i].run_forward(net.bottoms[i], net.tops[i])
        return loss

    def _read_between(self) -> None:
        """Somebody reads a blob that is no output: our layers compute it, and next time it is one.

        Which blobs somebody holds is told by where they are: our layers keep theirs elsewhere.
        """
        said = "A blob between was read: our layers run for this pass, too; from the next on it is "
        log.info("runtime", said + "an output of %s", self.name)
        parts = self._promised
        if parts and not all(map(np.array_equal, self._given, _some(parts))):
            said = "The inputs were written after this pass, and a blob between is read now: all "
            log.warning("runtime", said + "blobs become those of the new inputs; read it before")
        self.settle()
        self._look_again = True

    def _take_in_what_is_read(self) -> None:
        """Blobs between that somebody holds become outputs."""
        if self.way is None or self.way.compiled is None or not self._look_again:
            return
        parts, _ = self.way.compiled
        blobs = self.net.blobs
        self._asked |= {t for t in parts.hidden if blobs[t].data_value.lives_in(HOST)}
        self._refused = len(self._asked) > MOST_ASKED
        self._look_again, self.way = False, None

    def _forget(self) -> None:
        """Our layers are about to write what was promised; some read a top before they write it."""
        if self._promised is not None:
            for t in self._promised.hidden:
                self.net.blobs[t].data_value.zero()
        self._promised = None

    # -- the choice --------------------------------------------------------------------------

    def _notice_changes(self) -> None:
        """Other shapes, threads or weights: what was compiled does not fit any more."""
        net = self.net
        given = zip(net.bottom_ids, net.top_ids, strict=True)
        shapes = [net.blobs[t].shape for bottoms, tops in given if not bottoms for t in tops]
        weights = [param.blob.data_value for param in net.params.learnable]
        around = shapes, threads()
        seen = around, [(id(value), value.version) for value in weights]
        if seen == self._seen:
            return
        known = around, [self._checksum(value) for value in weights]
        if known != self._known:
            self._forget()
            self.way, self._spent = None, 0.0
        self._seen, self._known = seen, known

    def _checksum(self, value: Value) -> int:
        """Weights that somebody has looked at may have been changed."""
        if self._sums.get(value, (-1,))[0] != value.version:
            self._sums[value] = value.version, checksum_of(value.read(HOST))
        return self._sums[value][1]

    def _choosing_pass(self) -> Loss:
        """Compile what may be faster than our engine, and let the measured choice decide.

        Data are brought once, and what judges or writes outputs comes once behind the last trial.
        """
        self.net.reshape()  # the shapes of inputs may have changed since the last pass
        try:
            parts = cut(self.net, self._asked)
        except (PcdError, RefusedError) as e:
            self._give_up(e)
            return self._own()
        loss = self._layers(parts.sources)
        try:
            self.way = self._built(self.names[0], parts) if self.forced else self._fastest(parts)
        except (PcdError, RefusedError) as e:
            self._give_up(e)
            return loss + self._middle(parts) + self._layers(parts.tail)
        if self.way.compiled is None:
            return loss + self._middle(parts) + self._layers(parts.tail)
        log.info("runtime", "%s computes %s", self.way.name, self.net.name or "this net")
        return loss + self._behind(parts, self.way.compiled[1])

    def _give_up(self, why: Exception) -> None:
        if self.forced:
            raise PcdError(f"{self.names[0]} cannot compute this net: {why}") from why
        self._refused = True
        log.info("runtime", "Our engine computes this net: %s", why)

    def _fastest(self, parts: Cut) -> Way:
        def trial(way: Way) -> Callable[[], Loss]:
            if way.compiled is None:
                return partial(self._middle, parts)
            return partial(self._computed, *way.compiled)

        engine = self.net.context.engine
        ways = [Candidate(engine.name, partial(Way, engine.name), trial)]
        ways += [Candidate(name, partial(self._built, name, parts), trial) for name in self.names]
        case = f"net {signature(self.net)} {engine.precision} threads {threads()}"
        return _choices(_path()).pick(case, ways).product

    def _built(self, name: str, parts: Cut) -> Way:
        """A library's way, compared with ours on the data that are there.

        Raises:
            RefusedError: it does not take the net, or computes something else.
        """
        from pycaffe_dist.onnx.check import difference

        precision = self.net.context.engine.precision
        run = compile_by(name, parts.model, list(parts.outputs.values()), precision)
        self._middle(parts)
        try:
            found = run(parts.given())
        except Exception as e:
            raise RefusedError(" ".join(str(e).split())) from e
        for t, theirs in zip(parts.outputs, found, strict=True):
            far = difference(View(self.net.blobs[t]).data, np.asarray(theirs))
            if far > TOLERANCE[precision]:
                what = f"{self.net.blob_names[t]} differs by {far:.2g}"
                raise RefusedError(f"{what}, more than {TOLERANCE[precision]:g}")
        return Way(name, (parts, run))


def _some(parts: Cut) -> list[Array]:
    """About a thousand numbers of each input, which tell whether it was written; as bits."""
    flat = [values.reshape(-1) for values in parts.given().values()]
    return [f[:: max(1, f.size >> 10)].copy().view(np.uint32) for f in flat]


@cache
def _choices(path: Path | None) -> Choices:
    return Choices(path)


def _path() -> Path | None:
    """Where choices between engines are kept; other versions of them have another file."""
    versions = "-".join(f"{name}-{version(name)}" for name in available())
    return cache_file(f"runtime-{versions}")

"""Runner: decides pass by pass whether a library or our own engine computes a net."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from itertools import groupby
from pathlib import Path

import numpy as np

from pycaffe_dist import caffe_log as log
from pycaffe_dist.aliases import Array
from pycaffe_dist.engines.base import Loss
from pycaffe_dist.engines.onednn.core.choice import Candidate, Choices, cache_file
from pycaffe_dist.engines.onednn.core.library import OneDnnError
from pycaffe_dist.engines.runtime.cut import Cut, cut, signature
from pycaffe_dist.engines.runtime.libraries import Compiled, available, compile_by
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


class DisagreesError(OneDnnError):
    """A library does not take a net, or its outputs are not ours: the choice leaves it out."""


@dataclass
class Way:
    """Who computes the passes of one set of shapes and weights; no library: our engine."""

    name: str
    compiled: Compiled | None


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
        self._key: tuple[object, ...] = ()
        self._cut: Cut | None = None
        self._sums: dict[int, tuple[int, int]] = {}  # of each parameter: version, checksum
        self._asked: set[str] = set()  # blobs between that somebody has read
        self._promise = Promise(self._read_between)
        self._promised = False
        self._look_again = False  # whether somebody has read a blob between since the last pass

    # -- what the net asks -------------------------------------------------------------------

    @property
    def name(self) -> str:
        return self.way.name if self.way is not None and self.way.compiled is not None else ""

    def forward(self) -> Loss | None:
        """The loss of a pass; None: our engine is to run it."""
        net = self.net
        if self._refused or net.before_forward or net.after_forward or net.debug_info:
            self._forget()
            return None
        self._notice_changes()
        if self._look_again and self.way is not None:
            self._take_in_what_is_read()
        if self.way is None and (self.forced or self._spent >= PATIENCE):
            self._choose()
        if self.way is None or self.way.compiled is None:
            self._forget()
            return self._own() if self.way is None and not self._refused else None
        assert self._cut is not None
        return self._pass(self._cut, self.way.compiled)

    def settle(self) -> None:
        """Everything that our layers know after a forward pass is there: for a backward."""
        if self._promised:
            self._run_layers()

    # -- passes ------------------------------------------------------------------------------

    def _own(self) -> Loss:
        begin = time.perf_counter()
        loss = self.net.forward_here()
        self._spent += time.perf_counter() - begin
        return loss

    def _pass(self, parts: Cut, compiled: Compiled) -> Loss:
        loss = self._run(parts.sources)
        self._put(parts, compiled.run(self._inputs(parts)))
        for name in parts.hidden:
            self.net.blobs[self.net.blob_ids[name]].data_value.promise(self._promise)
        self._promised = True
        return loss + self._run(parts.tail)

    def _run(self, layers: Sequence[int]) -> Loss:
        net = self.net
        loss: Loss = 0.0
        for i in layers:
            loss += net.layers[i].run_forward(net.bottoms[i], net.tops[i])
        return loss

    def _inputs(self, parts: Cut) -> dict[str, Array]:
        return {name: self._values(name) for name in parts.inputs}

    def _value(self, name: str) -> Value:
        return self.net.blobs[self.net.blob_ids[name]].data_value

    def _values(self, name: str) -> Array:
        blob = self.net.blobs[self.net.blob_ids[name]]
        blob.data_value.read(HOST)
        values: Array = blob.data_value.shaped(HOST, blob.shape)
        return values

    def _put(self, parts: Cut, found: Sequence[Array]) -> None:
        for name, values in zip(parts.outputs, found, strict=True):
            blob = self.net.blobs[self.net.blob_ids[name]]
            if values.shape != blob.shape:  # how many boxes there are, for one
                blob.reshape(*values.shape)
            blob.data_value.replace(HOST)
            blob.data_value.shaped(HOST, blob.shape)[...] = values

    def _read_between(self) -> None:
        """Somebody reads a blob that is no output: our layers compute it, and next time it is one.

        Which blobs somebody holds is told by where they are: our layers keep theirs elsewhere.
        """
        assert self._cut is not None
        said = "A blob between was read: our layers run for this pass, too; from the next on it is "
        log.info("runtime", said + "an output of %s", self.name)
        self._run_layers()
        self._look_again = True

    def _take_in_what_is_read(self) -> None:
        """Blobs between that somebody holds become outputs."""
        assert self._cut is not None
        self._look_again = False
        self._asked |= {n for n in self._cut.hidden if self._value(n).lives_in(HOST)}
        self.way = None
        self._refused = len(self._asked) > MOST_ASKED

    def _run_layers(self) -> None:
        """Our engine computes all layers but those that bring data."""
        self._forget()
        assert self._cut is not None
        brought = set(self._cut.sources)
        rows = groupby(range(len(self.net.layers)), lambda i: i in brought)
        for row in [list(row) for is_source, row in rows if not is_source]:
            self.net.forward_here(row[0], row[-1])

    def _forget(self) -> None:
        """Our layers are about to write what was promised; some read a top before they write it."""
        if self._promised and self._cut is not None:
            for name in self._cut.hidden:
                self._value(name).zero()
        self._promised = False

    # -- the choice --------------------------------------------------------------------------

    def _notice_changes(self) -> None:
        """Other shapes, threads or weights: what was compiled does not fit any more."""
        shapes = tuple(self.net.blobs[t].shape for t in self._outer())
        versions = sum(p.blob.data_value.version for p in self.net.params.learnable)
        key = (shapes, threads(), versions)
        if key == self._key:
            return
        same_shapes = self._key[:2] == key[:2]
        self._key = key
        changed = self._weights_changed()  # or only looked at
        if self.way is not None and (changed or not same_shapes):
            self._forget()
            self.way, self._cut, self._spent = None, None, 0.0

    def _outer(self) -> list[int]:
        net = self.net
        return [t for i, ids in enumerate(net.top_ids) if not net.bottom_ids[i] for t in ids]

    def _weights_changed(self) -> bool:
        changed = False
        for i, param in enumerate(self.net.params.learnable):
            value = param.blob.data_value
            version, known = self._sums.get(i, (-1, -1))
            if version != value.version:
                now = checksum_of(value.read(HOST))
                self._sums[i] = value.version, now
                changed |= now != known
        return changed

    def _choose(self) -> None:
        """Compile what may be faster than our engine, and let the measured choice decide."""
        self.net.reshape()  # the shapes of inputs may have changed since the last pass
        try:
            self._cut = cut(self.net, self._asked)
            self.way = self._force() if self.forced else self._measure()
        except (PcdError, OneDnnError) as e:
            if self.forced:
                raise PcdError(f"{self.names[0]} cannot compute this net: {e}") from e
            self._refused = True
            log.info("runtime", "Our engine computes this net: %s", e)
            return
        if self.way.compiled is not None:
            log.info("runtime", "%s computes %s", self.way.name, self.net.name or "this net")

    def _force(self) -> Way:
        assert self._cut is not None
        return Way(self.names[0], self._compiled(self.names[0], self._cut))

    def _measure(self) -> Way:
        own = Candidate(
            self.net.context.engine.name,
            lambda: Way(self.net.context.engine.name, None),
            lambda way: self.net.forward_here,
        )
        others = [Candidate(name, self._built(name), self._trial) for name in self.names]
        case = f"net {signature(self.net)} {self.net.context.engine.precision} threads {threads()}"
        return _choices(_path()).pick(case, [own, *others]).product

    def _built(self, name: str) -> Callable[[], Way]:
        def build() -> Way:
            assert self._cut is not None
            try:
                return Way(name, self._compiled(name, self._cut))
            except PcdError as e:
                raise DisagreesError(str(e)) from e

        return build

    def _compiled(self, name: str, parts: Cut) -> Compiled:
        precision = self.net.context.engine.precision
        compiled = compile_by(name, parts.model, parts.names, precision)
        self._compare(parts, compiled, TOLERANCE[precision])
        return compiled

    def _trial(self, way: Way) -> Callable[[], object]:
        parts, compiled = self._cut, way.compiled
        assert parts is not None and compiled is not None
        return lambda: self._pass(parts, compiled)

    def _compare(self, parts: Cut, compiled: Compiled, tolerance: float) -> None:
        """Run both on the data that are there; refuse a library that computes something else."""
        from pycaffe_dist.onnx.check import difference

        self.net.forward_here()
        ours = [self._values(name).copy() for name in parts.outputs]
        theirs = compiled.run(self._inputs(parts))
        for name, a, b in zip(parts.outputs, ours, theirs, strict=True):
            far = difference(a, np.asarray(b))
            if far > tolerance:
                raise DisagreesError(f"{name} differs by {far:.2g}, more than {tolerance:g}")


@cache
def _choices(path: Path | None) -> Choices:
    return Choices(path)


def _path() -> Path | None:
    """Where choices between engines are kept; other versions of them have another file."""
    versions = "-".join(f"{name}-{version(name)}" for name in available())
    return cache_file(f"runtime-{versions}")

"""Runner: decides pass by pass whether a library or our own engine computes a net."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import version
from itertools import groupby
from pathlib import Path

import numpy as np

from pycaffe_dist import caffe_log as log
from pycaffe_dist.blob import View
from pycaffe_dist.engines.base import Loss
from pycaffe_dist.engines.choice import Candidate, Choices, RefusedError, cache_file
from pycaffe_dist.engines.runtime.cut import Cut, cut, signature
from pycaffe_dist.engines.runtime.libraries import Run, available, compile_by
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


@dataclass
class Way:
    """Who computes passes with these shapes and weights: a library, or the layers of our engine."""

    name: str
    compiled: tuple[Cut, Run] | None = None


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
        self._asked: set[int] = set()  # blobs between that somebody has read
        self._look_again = False  # whether somebody has read a blob between since the last pass

    # -- what the net asks -------------------------------------------------------------------

    @property
    def name(self) -> str:
        return self.way.name if self.way is not None and self.way.compiled is not None else ""

    def forward(self) -> Loss:
        net = self.net
        if not (self._refused or net.before_forward or net.after_forward or net.debug_info):
            self._notice_changes()
            self._take_in_what_is_read()
            if self.way is None and (self.forced or self._spent >= PATIENCE):
                self._choose()
            if self.way is not None and self.way.compiled is not None:
                return self._pass(*self.way.compiled)
        return self._own()

    def settle(self) -> None:
        """Everything that our layers know after a forward pass is there: for a backward."""
        parts = self._promised
        if parts is None:
            return
        self._forget()
        rows = groupby(range(len(self.net.layers)), lambda i: i in parts.sources)
        for row in [list(row) for brought, row in rows if not brought]:
            self.net.forward_here(row[0], row[-1])

    # -- passes ------------------------------------------------------------------------------

    def _own(self) -> Loss:
        self._forget()
        begin = time.perf_counter()
        loss = self.net.forward_here()
        self._spent += time.perf_counter() - begin
        return loss

    def _pass(self, parts: Cut, run: Run) -> Loss:
        blobs = self.net.blobs
        loss = self._layers(parts.sources)
        for t, values in zip(parts.outputs, run(parts.given()), strict=True):
            blobs[t].reshape(*values.shape)  # how many boxes there are, for one
            blobs[t].replace_data()[...] = values
        for t in parts.hidden:
            blobs[t].data_value.promise(self._promise)
        self._promised = parts
        return loss + self._layers(parts.tail)

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
        seen = shapes, threads(), sum(value.version for value in weights)
        if seen == self._seen:
            return
        known = shapes, threads(), [self._checksum(value) for value in weights]
        if known != self._known:
            self._forget()
            self.way, self._spent = None, 0.0
        self._seen, self._known = seen, known

    def _checksum(self, value: Value) -> int:
        """Weights that somebody has looked at may have been changed."""
        if self._sums.get(value, (-1,))[0] != value.version:
            self._sums[value] = value.version, checksum_of(value.read(HOST))
        return self._sums[value][1]

    def _choose(self) -> None:
        """Compile what may be faster than our engine, and let the measured choice decide."""
        self.net.reshape()  # the shapes of inputs may have changed since the last pass
        try:
            parts = cut(self.net, self._asked)
            self.way = self._built(self.names[0], parts) if self.forced else self._fastest(parts)
        except (PcdError, RefusedError) as e:
            if self.forced:
                raise PcdError(f"{self.names[0]} cannot compute this net: {e}") from e
            self._refused = True
            log.info("runtime", "Our engine computes this net: %s", e)
            return
        if self.way.compiled is not None:
            log.info("runtime", "%s computes %s", self.way.name, self.net.name or "this net")

    def _fastest(self, parts: Cut) -> Way:
        def trial(way: Way) -> Callable[[], Loss]:
            return partial(self._pass, *way.compiled) if way.compiled else self._own

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
        self._own()
        for t, theirs in zip(parts.outputs, run(parts.given()), strict=True):
            far = difference(View(self.net.blobs[t]).data, np.asarray(theirs))
            if far > TOLERANCE[precision]:
                what = f"{self.net.blob_names[t]} differs by {far:.2g}"
                raise RefusedError(f"{what}, more than {TOLERANCE[precision]:g}")
        return Way(name, (parts, run))


@cache
def _choices(path: Path | None) -> Choices:
    return Choices(path)


def _path() -> Path | None:
    """Where choices between engines are kept; other versions of them have another file."""
    versions = "-".join(f"{name}-{version(name)}" for name in available())
    return cache_file(f"runtime-{versions}")

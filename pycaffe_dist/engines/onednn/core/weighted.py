"""Layers with weights: each of their three products is computed by whatever is fastest for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from pycaffe_dist.engines.onednn.core.accelerated import Accelerated
from pycaffe_dist.engines.onednn.core.arithmetic import PostOps
from pycaffe_dist.engines.onednn.core.choice import Candidate, Chosen
from pycaffe_dist.engines.onednn.core.library import INFERENCE, TRAINING
from pycaffe_dist.engines.onednn.core.products import ByBlas, Product
from pycaffe_dist.engines.onednn.core.remembered import CHOICES, case
from pycaffe_dist.proto.caffe_pb2 import TEST


class Weighted(Accelerated):
    """A mixin: ``facts`` says what the times of its products depend on, ``candidates`` who races.

    Attributes:
        post_ops: of the forward pass, where another layer was fused into this one.
        forward_product: what the forward pass computes; backward are the others.
    """

    post_ops: PostOps = ()
    forward_product = "gather"

    def prepare_products(self) -> None:
        """Forget what was chosen for other shapes."""
        self.forward_kind = INFERENCE if self.phase == TEST else TRAINING
        self._made: dict[tuple[str, bool, PostOps], Chosen[Product]] = {}

    def facts(self) -> tuple[Any, ...]:
        raise NotImplementedError

    def candidates(
        self, which: str, bias: bool, post_ops: PostOps = ()
    ) -> Iterator[Candidate[Product]]:
        """All that can compute a product of this layer, oneDNN's own choice first."""
        raise NotImplementedError

    def product(self, which: str, bias: bool = False, post_ops: PostOps = ()) -> Product:
        """What computes it: with a bias or without, and with these operations on the result."""
        key = which, bias, post_ops
        if key not in self._made:
            facts = *self.facts(), bias, len(post_ops), self.forward_kind
            name = case(f"{self.type} {which}", *facts)
            self._made[key] = CHOICES.pick(name, list(self.candidates(*key)))
        return self._made[key].product

    def chosen(self) -> list[Chosen[Product]]:
        """What computes the products that were asked for so far."""
        return list(self._made.values())

    def computed_by(self) -> tuple[str, str]:
        """The products of the forward pass and of the backward pass; weights come first."""
        passes: dict[bool, list[str]] = {True: [], False: []}
        for (which, *_), made in sorted(self._made.items(), reverse=True):
            passes[which == self.forward_product].append(str(made))
        forward, backward = (" / ".join(dict.fromkeys(passes[which])) for which in (True, False))
        return forward, backward

    def by_blas(
        self,
        which: str,
        bias: bool,
        post_ops: PostOps,
        layouts: list[Any],
        trial: Callable[[Product], Any],
    ) -> Candidate[Product]:
        """A candidate that calls ``blas_gather``, ``blas_spread`` or ``blas_weights``."""
        if not bias:
            del layouts[2]
        call = getattr(self, f"blas_{which}")
        call = partial(call, post_ops=post_ops) if post_ops else call
        return Candidate("blas", lambda: ByBlas(layouts, call), trial, ByBlas.handicap())

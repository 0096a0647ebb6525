"""Layers with weights: each of their three products is computed by whatever is fastest for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from pycaffe_dist.engines.choice import Candidate, Chosen
from pycaffe_dist.engines.onednn.core.accelerated import Accelerated, Key
from pycaffe_dist.engines.onednn.core.arithmetic import SUM, PostOps
from pycaffe_dist.engines.onednn.core.bfloat16 import Rounded
from pycaffe_dist.engines.onednn.core.library import BF16, F32, INFERENCE, TRAINING, OneDnnError
from pycaffe_dist.engines.onednn.core.primitives import Layout, Primitive
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

    @property
    def kinds(self) -> tuple[int, ...]:
        """Types of numbers that products may have; in bf16, one in fp32 may still be faster."""
        return (BF16, F32) if self.context.engine.precision == "bf16" else (F32,)

    @property
    def emulated(self) -> bool:
        """Whether operands are rounded to bf16, and products computed in fp32."""
        return self.context.engine.precision == "bf16-emulated"

    def hints(self, make: Callable[[int], Primitive]) -> dict[int, Primitive]:
        """The forward primitive for each type of numbers; bf16 is left out where it is refused."""
        found = {}
        for kind in self.kinds:
            try:
                found[kind] = make(kind)
            except OneDnnError:
                if kind == F32:
                    raise
        return found

    def prepare_products(self) -> None:
        """Forget what was chosen for other shapes."""
        self.forward_kind = INFERENCE if self.phase == TEST else TRAINING
        self._made: dict[tuple[str, bool, PostOps], Chosen[Product]] = {}

    def facts(self) -> Key:
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
            operations = "sum+" * (SUM in post_ops) + str(len(post_ops))
            facts = *self.facts(), bias, operations, self.forward_kind
            precision = self.context.engine.precision
            facts += (precision,) if precision != "fp32" else ()
            name = case(f"{self.type} {which}", *facts)
            chosen = CHOICES.pick(name, list(self.candidates(*key)))
            if self.emulated:
                chosen = Chosen(Rounded(chosen.product, which), chosen.how)
            self._made[key] = chosen
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
        layouts: list[Layout],
        trial: Callable[[Product], Callable[[], object]],
    ) -> Candidate[Product]:
        """A candidate, in fp32, that calls ``blas_gather``, ``blas_spread`` or ``blas_weights``."""
        if not bias:
            del layouts[2]
        call = getattr(self, f"blas_{which}")
        call = partial(call, post_ops=post_ops) if post_ops else call
        return Candidate("blas", lambda: ByBlas(layouts, call), trial, ByBlas.handicap())

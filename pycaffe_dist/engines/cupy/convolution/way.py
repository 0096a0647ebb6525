"""What a way to compute a convolution is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

from pycaffe_dist.aliases import DeviceArray
from pycaffe_dist.engines.cupy.convolution.case import Case
from pycaffe_dist.engines.cupy.paper import Launch

if TYPE_CHECKING:
    from pycaffe_dist.engines.cupy.engine import CupyEngine


class Offer(NamedTuple):
    """A way by its name; ``build`` may find that it is none, and raise a RefusedError."""

    name: str
    build: Callable[[], Way]


class Way:
    """Computes one case, for which it was prepared; of fewer images, too.

    A subclass says in ``can`` which cases it takes and has ``compute``; one that adds the bias by
    itself has ``run`` instead.

    Attributes:
        name: by which it is chosen and remembered.
    """

    name = ""

    def __init__(self, engine: CupyEngine, case: Case) -> None:
        self.engine, self.case = engine, case

    @classmethod
    def can(cls, case: Case) -> bool:
        return True

    @classmethod
    def offers(cls, engine: CupyEngine, case: Case) -> Iterator[Offer]:
        """What the class has for a case: more than one way where a library has several."""
        if cls.can(case):
            yield Offer(cls.name, partial(cls, engine, case))

    @classmethod
    def work(cls, case: Case) -> list[Launch] | None:
        """What is launched for a case, if that is known.

        The way that must take least on paper stands first: it computes where nothing is measured.
        """
        return [Launch(cls.name, sum(case.nbytes), case.flops)]

    def run(
        self,
        image: DeviceArray,
        weights: DeviceArray,
        out: DeviceArray,
        bias: DeviceArray = None,
        rectify: bool = False,
    ) -> None:
        """Make one of the arrays of the others, as the direction says, + b, and max(0, ·).

        Raises:
            RefusedError: it cannot after all.
        """
        self.compute(image, weights, out)
        y = (image, weights, out)[self.case.direction.makes]
        if bias is not None:
            settings = y.shape[1], prod(y.shape[2:]), rectify
            self.launch("bias_forward", y.size, *settings, y, bias, y)
        elif rectify:
            self.launch("relu_forward", y.size, 0, y, y)

    def compute(self, image: DeviceArray, weights: DeviceArray, out: DeviceArray) -> None:
        raise NotImplementedError

    def launch(self, name: str, n: int, *args: Any) -> None:
        self.engine.launch(name, self.case.dtype, n, *args)

    def spare(self, name: str, shape: Sequence[int]) -> Any:
        """Work space until the way returns, which all share."""
        return self.engine.spare(name, shape, self.case.dtype)

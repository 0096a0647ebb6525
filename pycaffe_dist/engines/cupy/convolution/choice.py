"""Which way computes a convolution: the fastest of those whose results are right.

At the first use of a case its ways are compared with columns, on made-up numbers, and those that
fail or are off are dropped with a line in the log.  The rest race; who won is remembered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property, partial
from math import inf, prod
from typing import TYPE_CHECKING, Any

from pycaffe_dist import caffe_log as log
from pycaffe_dist.aliases import DeviceArray
from pycaffe_dist.engines.choice import (
    Candidate,
    Choices,
    RefusedError,
    UnsupportedError,
    cache_file,
    word,
)
from pycaffe_dist.engines.cupy import backend, paper
from pycaffe_dist.engines.cupy.convolution.case import Case, Direction
from pycaffe_dist.engines.cupy.convolution.columns import Columns
from pycaffe_dist.engines.cupy.convolution.cudnn import CuDnn
from pycaffe_dist.engines.cupy.convolution.depthwise import Depthwise
from pycaffe_dist.engines.cupy.convolution.implicit import Implicit
from pycaffe_dist.engines.cupy.convolution.way import Offer, Way
from pycaffe_dist.engines.cupy.convolution.winograd import Winograd2, Winograd4

if TYPE_CHECKING:
    from pycaffe_dist.engines.cupy.engine import CupyEngine

REFERENCE = Columns
WAYS: tuple[type[Way], ...] = (Depthwise, Winograd4, Winograd2, Implicit, Columns, CuDnn)
# How far the largest difference may be, in units of the root mean square of what is right: above
# what orders of sums and Winograd's transforms cost, below one product of some thousand.
TOLERANCE = {"float64": 1e-8, "float32": 1e-3, "tf32": 1e-2, "fp16": 1e-2, "bf16": 8e-2}
RUNS = 4  # one after another in a trial, so that the device and not the host is measured


def ordered(case: Case) -> list[type[Way]]:
    """Those that take a case; the first is the rule's choice: it takes least time on paper.

    That is the geometric mean of what it must take on known devices, where a step is bound by
    arithmetic or by memory.  What is a library's own stands last.
    """

    def seconds(kind: type[Way]) -> float:
        work = kind.work(case)
        if work is None:
            return inf
        return prod(sum(launch.expected(device) for launch in work) for device in paper.DEVICES)

    return sorted((kind for kind in WAYS if kind.can(case)), key=seconds)


class Convolutions:
    """The convolutions of a device.

    Attributes:
        choices: who computes what.  Times on an emulated device mean nothing: there the rule holds.
        checking: whether ways are compared with the reference before they compute.
    """

    def __init__(self, engine: CupyEngine) -> None:
        self.engine = engine
        self.checking = not backend.is_emulated()
        path = cache_file(f"cupy-{engine.xp.__version__}", word(engine.device_name))
        self.choices = Choices(path, self._clock)
        self.choices.measuring = not backend.is_emulated()
        self._ways: dict[Case, Way] = {}
        self._said: set[str] = set()
        self._seconds = 0.0  # of the clock, at its last event
        self._event: Any = None

    def at(self, engine: CupyEngine) -> Convolutions:
        """Those of the same device in another precision, which has cases of its own."""
        made = Convolutions(engine)
        made.choices, made.checking = self.choices, self.checking
        return made

    def run(
        self,
        case: Case,
        image: DeviceArray,
        weights: DeviceArray,
        out: DeviceArray,
        bias: DeviceArray = None,
        rectify: bool = False,
    ) -> None:
        """Compute a case; if its way fails, by the reference from now on."""
        way = self._ways.get(case)
        if way is None:
            way = self._ways[case] = self._chosen(case)
        try:
            way.run(image, weights, out, bias, rectify)
        except RefusedError as e:
            self._say_dropped(way.name, case, str(e))
            self._ways[case] = REFERENCE(self.engine, case)
            self._ways[case].run(image, weights, out, bias, rectify)

    def way(self, case: Case) -> str:
        """The name of what computes a case; nothing before it came up."""
        found = self._ways.get(case)
        return found.name if found else ""

    @contextmanager
    def forced(self, name: str) -> Iterator[None]:
        """Where a way of that name is offered it computes, whatever was chosen before."""
        before, self._ways = self._ways, {}
        try:
            with self.choices.forced(name):
                yield
        finally:
            self._ways = before

    def _chosen(self, case: Case) -> Way:
        if case.empty:
            return REFERENCE(self.engine, case)
        offers = [offer for kind in ordered(case) for offer in kind.offers(self.engine, case)]
        sample = Sample(self.engine, case)
        candidates = [
            Candidate(offer.name, partial(self._made, offer, sample), sample.trial)
            for offer in offers
        ]
        try:
            return self.choices.pick(self._name(case), candidates).product
        except MemoryError:  # not even for a trial
            return REFERENCE(self.engine, case)

    def _name(self, case: Case) -> str:
        """Under which a choice is remembered: with another cuDNN, or with none, it is another."""
        handle = self.engine.cudnn
        return f"{case}, cuDNN {handle.library.release}" if handle else str(case)

    def _made(self, offer: Offer, sample: Sample) -> Way:
        """What is offered, if it computes what the reference does.

        Raises:
            RefusedError: it does not.
        """
        try:
            way = offer.build()
            if self.checking and offer.name != REFERENCE.name:
                sample.check(way)
        except UnsupportedError:
            raise
        except RefusedError as e:
            self._say_dropped(offer.name, sample.case, str(e))
            raise
        return way

    def _say_dropped(self, name: str, case: Case, why: str) -> None:
        """A line in the log, once for each reason: a broken library fails in every case."""
        if why not in self._said:
            self._said.add(why)
            log.warning("convolution", "%s does not compute %s: %s", name, case, why)

    def _clock(self) -> float:
        """Seconds of the device, when it has done all that it was given.

        They are added up from event to event: CUDA tells what is between two in 24 bits.
        """
        before, self._event = self._event, self.engine.home.compute.record()
        self._event.synchronize()
        if before is not None:
            passed = float(self.engine.xp.cuda.get_elapsed_time(before, self._event))  # ms
            self._seconds += passed / 1e3
        return self._seconds


class Sample:
    """Made-up numbers to try ways with, for as long as they are tried."""

    def __init__(self, engine: CupyEngine, case: Case) -> None:
        self.engine, self.case = engine, case

    def trial(self, way: Way) -> Callable[[], object]:
        image, weights, out = self._arrays

        def run() -> None:
            for _ in range(RUNS):
                way.run(image, weights, out)

        return run

    def check(self, way: Way) -> None:
        """Compare with the reference.

        Raises:
            RefusedError: it makes something else.
        """
        xp, right = self.engine.xp, self._right
        far = float(xp.absolute(self._made_by(way) - right).max())
        far /= max(float(xp.sqrt(xp.square(right).sum() / right.size)), 1e-30)
        limit = TOLERANCE[self.case.precision]
        if not far <= limit:  # NaN is not, either
            raise RefusedError(f"its results are off by {far:.2g}, more than {limit:g}")

    @cached_property
    def _arrays(self) -> tuple[DeviceArray, DeviceArray, DeviceArray]:
        """Image, weights and out, of numbers from -1/2 to 1/2."""
        case = self.case
        arrays = []
        for number, shape in enumerate((case.image, case.weights, case.out)):
            array = self.engine.xp.empty(shape, case.dtype)
            self.engine.launch("uniform", case.dtype, array.size, 1, number, 0, array)
            arrays.append(array - case.dtype.type(0.5))
        return arrays[0], arrays[1], arrays[2]

    @cached_property
    def _right(self) -> Any:
        return self._made_by(REFERENCE(self.engine, self.case))

    def _made_by(self, way: Way) -> Any:
        """What a way makes of the others: NaN where it writes nothing; gradients are added to."""
        arrays, direction = list(self._arrays), self.case.direction
        made = arrays[direction.makes] = arrays[direction.makes].copy()
        if direction is not Direction.FILTER:
            made.fill(float("nan"))
        way.run(*arrays)
        return made

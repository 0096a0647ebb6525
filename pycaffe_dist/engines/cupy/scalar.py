"""A number that is still on the device."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from pycaffe_dist.aliases import ArrayModule, DeviceArray

if TYPE_CHECKING:
    from pycaffe_dist.engines.cupy.engine import CupyEngine

CHUNK = 256  # numbers that memory is asked for at a time


class Places:
    """Room for single numbers, used again when they are done with."""

    def __init__(self, xp: ArrayModule) -> None:
        self.xp = xp
        self._free: list[DeviceArray] = []

    def take(self) -> Any:
        if not self._free:
            room = self.xp.empty(CHUNK, np.float64)
            self._free = [room[i : i + 1] for i in range(CHUNK)]
        return self._free.pop()

    def give(self, place: DeviceArray) -> None:
        self._free.append(place)


class Scalar:
    """A loss, or a sum of some: arithmetic stays on the device, only ``float()`` waits for it."""

    __slots__ = ("engine", "place")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, engine: CupyEngine, value: DeviceArray = None) -> None:
        self.engine, self.place = engine, engine.places.take()
        if value is not None:
            self.place[...] = value

    def __del__(self) -> None:
        self.engine.places.give(self.place)

    def __float__(self) -> float:
        self.engine.enter()
        self.engine.tell_what_is_wrong()
        return float(self.place.get()[0])

    def __format__(self, spec: str) -> str:
        return format(float(self), spec)

    def __repr__(self) -> str:
        return "<a number on the device>"

    def _by(self, function: Callable[..., Any], a: Any, b: Any) -> Scalar:
        result = Scalar(self.engine)
        plain = [x.place if isinstance(x, Scalar) else x for x in (a, b)]
        function(*plain, out=result.place)
        return result

    def __add__(self, other: Any) -> Scalar:
        return self._by(self.engine.xp.add, self, other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Scalar:
        return self._by(self.engine.xp.subtract, self, other)

    def __rsub__(self, other: DeviceArray) -> Scalar:
        return self._by(self.engine.xp.subtract, other, self)

    def __mul__(self, other: DeviceArray) -> Scalar:
        return self._by(self.engine.xp.multiply, self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: DeviceArray) -> Scalar:
        return self._by(self.engine.xp.divide, self, other)

    def __eq__(self, other: object) -> bool:
        return float(self) == other

    def __lt__(self, other: DeviceArray) -> bool:
        return float(self) < float(other)

    def __gt__(self, other: DeviceArray) -> bool:
        return float(self) > float(other)

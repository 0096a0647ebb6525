"""History: what an update rule remembers, a blob for each of its slots and each parameter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from numpy.typing import DTypeLike

from pycaffe_dist.blob import Blob


class History:
    """The history of all learnable parameters.

    Iterating gives the blobs in Caffe's order, as they are in a state file: all parameters of the
    first slot, then all of the second.

    Args:
        slots: their names, as the rule calls them.
        shapes: of the parameters.
        dtype: of the values.
    """

    def __init__(
        self, slots: Sequence[str], shapes: Sequence[tuple[int, ...]], dtype: DTypeLike
    ) -> None:
        self.slots = tuple(slots)
        self._dtype = dtype
        self._blobs = {slot: [Blob(shape, dtype) for shape in shapes] for slot in self.slots}

    def __getitem__(self, slot: str) -> list[Blob]:
        """A blob of each parameter."""
        return self._blobs[slot]

    def __iter__(self) -> Iterator[Blob]:
        return (blob for slot in self.slots for blob in self._blobs[slot])

    def __len__(self) -> int:
        return sum(map(len, self._blobs.values()))

    def of(self, param: int) -> dict[str, Blob]:
        """A blob of each slot."""
        return {slot: blobs[param] for slot, blobs in self._blobs.items()}

    def release(self, param: int) -> None:
        """Let go of the memory of a parameter's history: it is zero, and takes none."""
        for blobs in self._blobs.values():
            blobs[param] = Blob(blobs[param].shape, self._dtype)

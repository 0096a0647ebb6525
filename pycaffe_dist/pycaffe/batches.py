"""Any number of items in batches of a net's size."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pycaffe_dist.aliases import Array, Facts
from pycaffe_dist.blob import Blob


class Batched:
    """The part of a net that runs any number of items, batch by batch."""

    @property
    def inputs(self) -> list[str]:
        raise NotImplementedError

    @property
    def outputs(self) -> list[str]:
        raise NotImplementedError

    @property
    def blobs(self) -> OrderedDict[str, Blob]:
        raise NotImplementedError

    def forward(self, blobs: list[str] | None = None, **inputs: Any) -> dict[str, Array]:
        raise NotImplementedError

    def backward(self, diffs: list[str] | None = None, **inputs: Any) -> dict[str, Array]:
        raise NotImplementedError

    def forward_all(self, blobs: Iterable[str] | None = None, **inputs: Any) -> dict[str, Array]:
        """Run any number of items in batches; copies of the outputs for all of them."""
        collected: dict[str, list[Array]] = {name: [] for name in [*self.outputs, *(blobs or [])]}
        for batch in self._batch(inputs):
            for name, values in self.forward(list(blobs or []), **batch).items():
                collected[name].extend(values.copy())
        count = len(next(iter(inputs.values())))
        return {name: np.asarray(values)[:count] for name, values in collected.items()}

    def forward_backward_all(
        self,
        blobs: Iterable[str] | None = None,
        diffs: Iterable[str] | None = None,
        **kwargs: Any,
    ) -> tuple[dict[str, Array], dict[str, Array]]:
        """Run any number of items forward and backward in batches; outputs and input gradients."""
        all_outs: dict[str, list[Array]] = {n: [] for n in [*self.outputs, *(blobs or [])]}
        all_diffs: dict[str, list[Array]] = {n: [] for n in [*self.inputs, *(diffs or [])]}
        forward = self._batch({n: kwargs[n] for n in self.inputs if n in kwargs})
        backward = self._batch({n: kwargs[n] for n in self.outputs if n in kwargs})
        nothing: Facts = {}
        for ins, grads in zip_longest(forward, backward, fillvalue=nothing):
            for name, values in self.forward(list(blobs or []), **ins).items():
                all_outs[name].extend(values.copy())
            for name, values in self.backward(list(diffs or []), **grads).items():
                all_diffs[name].extend(values.copy())
        count = len(next(iter(kwargs.values())))
        return (
            {name: np.asarray(values)[:count] for name, values in all_outs.items()},
            {name: np.asarray(values)[:count] for name, values in all_diffs.items()},
        )

    def _batch(self, arrays: Mapping[str, ArrayLike]) -> Iterator[Facts]:
        """Arrays of any length in batches of the net's size; pycaffe's name for it."""
        return batches(next(iter(self.blobs.values())).shape[0], arrays)


def batches(size: int, arrays: Mapping[str, ArrayLike]) -> Iterator[Facts]:
    """Slices of ``size`` items of each array, the last one filled up with zeros."""
    if not arrays:
        return
    whole = {name: np.asarray(values) for name, values in arrays.items()}
    count = len(next(iter(whole.values())))
    for begin in range(0, count, size):
        batch = {name: values[begin : begin + size] for name, values in whole.items()}
        short = size - len(next(iter(batch.values())))
        if short:
            batch = {
                name: np.concatenate([v, np.zeros((short, *v.shape[1:]), v.dtype)])
                for name, v in batch.items()
            }
        yield batch

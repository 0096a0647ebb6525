"""Split: the gradients of all readers added in one pass over memory."""

from __future__ import annotations

from collections.abc import Sequence

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.engines.onednn.core.accelerated import Accelerated, accelerates, layout_of
from pycaffe_dist.engines.onednn.core.arithmetic import ADD, copy, element_dims, fold
from pycaffe_dist.engines.onednn.core.primitives import Call, Layout
from pycaffe_dist.layers import split as generic


@accelerates("Split")
class Split(Accelerated, generic.Split):
    __doc__ = generic.Split.__doc__
    replays = True
    shares_memory = True

    def prepare(self, bottom: Views, top: Views) -> None:
        self._dims = element_dims(bottom[0].shape)
        self._calls: dict[tuple[Layout, int], Call] = {}

    def fast_forward(self, bottom: Views, top: Views) -> None:
        pass

    def fast_backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        """Readers that gave no gradient are left out."""
        if not propagate_down[0]:
            return
        total = bottom[0].diff_value
        given = [y.diff_value for y in top if not y.diff_value.is_zero]
        if not given:
            total.zero()
            return
        layout = layout_of(bottom[0].data_value, self._dims)
        self._add(layout, [value.read(layout.home) for value in given], total.replace(layout.home))

    def _add(self, layout: Layout, given: Sequence[Array], total: Array) -> None:
        key = layout, len(given)
        if key not in self._calls:
            adds = [ADD] * (len(given) - 1)
            self._calls[key] = fold(layout, adds) if adds else copy(layout, layout)
        self._calls[key](*given, total)

"""ReverseTime: the steps of each sequence in reverse order."""

from __future__ import annotations

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import Layer, register


@register("ReverseTime")
class ReverseTime(Layer):
    """y[t, n] = x[length[n] − 1 − t, n] for the first length[n] steps, then the rest as it is, or 0
    without ``copy_remaining``;  ∂x goes back the same way.

    x: (T, N, …)  length: (N,)
    """

    bottoms = 2
    label_bottoms = (1,)

    def reshape(self, bottom: Views, top: Views) -> None:
        x, lengths = bottom[0].shape, bottom[1]
        self.check(len(x) >= 2, f"bottom 0 must be (steps, streams, …), found {x}")
        self.check(
            lengths.count == x[1],
            f"needs {x[1]} lengths, one for each stream of the bottom {x}, found {lengths.shape}",
        )
        self.check(top[0].blob is not bottom[0].blob, "cannot work in place")
        top[0].reshape(*x)

    def forward(self, bottom: Views, top: Views) -> None:
        self._reverse(bottom, bottom[0].data, top[0].data)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        self.check(not propagate_down[1], "cannot give the lengths a gradient")
        if propagate_down[0]:
            self._reverse(bottom, top[0].diff, bottom[0].diff)

    def flops(self, bottom: Views, top: Views) -> int:
        return 0

    def _reverse(self, bottom: Views, given: Array, result: Array) -> None:
        """Each step knows where it comes from; the order is its own inverse."""
        xp, (steps, streams) = self.xp, given.shape[:2]
        lengths, t = bottom[1].data.reshape(-1).astype("int64"), xp.arange(steps)[:, None]
        inside = t < lengths
        source = xp.where(inside, lengths - 1 - t, t)
        shape = (steps, streams, -1)
        taken = given[source, xp.arange(streams)]
        if not self.layer_param.reverse_time_param.copy_remaining:
            taken = taken * inside.reshape(steps, streams, *[1] * (given.ndim - 2))
        result.reshape(shape)[...] = taken.reshape(shape)

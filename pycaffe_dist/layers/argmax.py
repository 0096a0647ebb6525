"""ArgMax: where the largest values are."""

from __future__ import annotations

from pycaffe_dist.blob import Views
from pycaffe_dist.layer import Layer, register


@register("ArgMax")
class ArgMax(Layer):
    """The indices of the ``top_k`` largest values, largest first; of equal ones the last.

    Without ``axis``, over all of an item: (N, 1, k), or (N, 2, k) with the values behind the
    indices if ``out_max_val``, and ones behind up to the bottom's number of axes.
    With ``axis``, along it: that axis becomes k; ``out_max_val`` gives values instead of indices.
    """

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.argmax_param
        self.top_k, self.values = p.top_k, p.out_max_val
        self.axis = bottom[0].axis(p.axis) if p.HasField("axis") else None
        self.check(self.top_k >= 1, f"top_k must be at least 1, found {self.top_k}")

    def reshape(self, bottom: Views, top: Views) -> None:
        x = bottom[0]
        self.check(len(x.shape) > 0, "needs a bottom with at least one axis")
        if self.axis is not None:
            self.outer, self.size = x.count_from(0, self.axis), x.shape[self.axis]
            shape = [*x.shape]
            shape[self.axis] = self.top_k
        else:
            self.outer, self.size = x.shape[0], x.count_from(1)
            shape = [x.shape[0], 2 if self.values else 1, self.top_k] + [1] * (len(x.shape) - 3)
        self.check(
            self.top_k <= self.size,
            f"top_k is {self.top_k}, but the bottom {x.shape} has {self.size} to choose from",
        )
        self.inner = x.count_from(self.axis + 1) if self.axis is not None else 1
        top[0].reshape(*shape)

    def forward(self, bottom: Views, top: Views) -> None:
        xp = self.xp
        x = bottom[0].data.reshape(self.outer, self.size, self.inner)
        if self.top_k == 1:
            best = self.size - 1 - x[:, ::-1].argmax(axis=1)[:, None]
        else:
            # A stable sort leaves equal values in the order of their indices.
            best = xp.argsort(x, axis=1, kind="stable")[:, : -self.top_k - 1 : -1]
        if not self.values:
            top[0].data[...] = best.reshape(top[0].shape)
            return
        values = xp.take_along_axis(x, best, axis=1)
        if self.axis is None:
            y = top[0].data.reshape(self.outer, 2, self.top_k)
            y[:, 0], y[:, 1] = best[:, :, 0], values[:, :, 0]
        else:
            top[0].data[...] = values.reshape(top[0].shape)

    def flops(self, bottom: Views, top: Views) -> int:
        return bottom[0].count

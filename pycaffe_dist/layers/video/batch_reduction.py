"""BatchReduction: sums, means or the best of several snippets of a video."""

from __future__ import annotations

from collections.abc import Iterator

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.work import Working


@register("BatchReduction")
class BatchReduction(Working):
    """y = Σ x (SUM), Σ x / n (MEAN) or the mean of the k largest x (TOPK), along an axis.

    The axis is reduction_param's, and it disappears.  With several ``level`` l₁, l₂, … it is cut
    into pieces of l₁², l₂², … and there is a y for each of them.
    ∂x = ∂y, ∂y / n, or ∂y / k where x is one of the k largest; of equal ones the first count.
    """

    fork_fields = ("ReductionParameter.operation", "ReductionParameter.k")

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.batch_reduction_param
        r = p.reduction_param
        self.operation, self.k = r.operation, r.k
        self.axis = bottom[0].axis(r.axis)
        self.levels = list(p.level) or [1]
        self.check(
            r.operation in (r.SUM, r.MEAN, r.TOPK),
            f"operation {r.ReductionOp.Name(r.operation)} is none of SUM, MEAN and TOPK",
        )

    def reshape(self, bottom: Views, top: Views) -> None:
        x, whole = bottom[0], self.levels == [1]
        self.check(len(x.shape) > self.axis, f"has no axis {self.axis}: {x.shape}")
        size = x.shape[self.axis]
        self.pieces = [size] if whole else [level**2 for level in self.levels]
        self.check(
            sum(self.pieces) == size,
            f"levels {self.levels} need {sum(self.pieces)} on axis {self.axis}, found {x.shape}",
        )
        self.check(
            self.operation != self._topk() or 0 < self.k <= min(self.pieces),
            f"k is {self.k}, there are {min(self.pieces)} to choose from",
        )
        kept = () if whole else (len(self.pieces),)
        top[0].reshape(*x.shape[: self.axis], *kept, *x.shape[self.axis + 1 :])

    def forward(self, bottom: Views, top: Views) -> None:
        xp, y = self.xp, self._folded(top, "data")
        for i, x in enumerate(self._cut(bottom[0].data)):
            if self.operation == self._topk():
                best = xp.argsort(-x, axis=1, kind="stable")[:, : self.k]
                self.work(f"best {i}", best.shape, best.dtype)[...] = best
                x = xp.take_along_axis(x, best, axis=1)
            y[:, i] = x.sum(axis=1) * self._share(x.shape[1])

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if not propagate_down[0]:
            return
        gy = self._folded(top, "diff")
        for i, gx in enumerate(self._cut(bottom[0].diff)):
            part = gy[:, i][:, None]
            if self.operation != self._topk():
                gx[...] = part * self._share(gx.shape[1])
                continue
            best = self.work(f"best {i}", (gx.shape[0], self.k, gx.shape[2]), int)
            number = self.xp.arange(gx.shape[1]).reshape(1, 1, -1, 1)
            chosen = (best[:, :, None] == number).any(axis=1)
            gx[...] = chosen * part * self._share(self.k)

    def flops(self, bottom: Views, top: Views) -> int:
        return bottom[0].count

    def _topk(self) -> int:
        return self.layer_param.batch_reduction_param.reduction_param.TOPK

    def _share(self, count: int) -> Array:
        sums = self.operation == self.layer_param.batch_reduction_param.reduction_param.SUM
        return self.dtype.type(1 if sums else 1 / count)

    def _cut(self, x: Array) -> Iterator[Array]:
        """The pieces of the axis, each (outer, piece, inner)."""
        outer = 1
        for size in x.shape[: self.axis]:
            outer *= size
        x, begin = x.reshape(outer, sum(self.pieces), -1), 0
        for piece in self.pieces:
            yield x[:, begin : begin + piece]
            begin += piece

    def _folded(self, top: Views, part: str) -> Array:
        y = getattr(top[0], part)
        outer = top[0].count_from(0, self.axis)
        return y.reshape(outer, len(self.pieces), -1)

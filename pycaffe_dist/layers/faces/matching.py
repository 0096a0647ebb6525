"""LabeledMatching and UnlabeledMatching: features against a table of those seen before."""

from __future__ import annotations

from collections.abc import Sequence

from pycaffe_dist.aliases import Array, Facts
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import Layer, register


class Matching(Layer):
    """y = x Wᵀ;  ∂x = ∂y W.  W gets no gradient: backward writes the features x into it.

    x: (M, K)  labels: (M,)  W: (N, K), zeros at first  y: (M, N)
    """

    bottoms = 2
    label_bottoms = (1,)
    follows_batches = True

    def remember(self, x: Array, labels: Sequence[int]) -> None:
        """Change W by features (M, K) with their labels (M,), in their order."""
        raise NotImplementedError

    def make(self, rows: int, bottom: Views) -> None:
        self.rows, self.size = rows, bottom[0].count_from(1)
        self.check(rows > 0, f"needs a table of 1 row or more, found {rows}")
        self.add_blob((rows, self.size))

    def reshape(self, bottom: Views, top: Views) -> None:
        x, labels = bottom[0], bottom[1]
        self.check(
            len(x.shape) > 1 and x.count_from(1) == self.size,
            f"its table is of {self.size} features, the bottom is {x.shape}",
        )
        self.check(
            labels.count == x.shape[0],
            f"needs {x.shape[0]} labels, one for each item, found {labels.shape}",
        )
        top[0].reshape(x.shape[0], self.rows)

    def forward(self, bottom: Views, top: Views) -> None:
        x = bottom[0].data.reshape(-1, self.size)
        self.xp.matmul(x, self.params[0].data.T, out=top[0].data)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        self.check(not propagate_down[1], "cannot give its labels a gradient")
        if propagate_down[0]:
            gx = bottom[0].diff.reshape(-1, self.size)
            self.xp.matmul(top[0].diff, self.params[0].data, out=gx)
        if self.param_propagate_down[0]:
            labels = bottom[1].data.reshape(-1)
            self.remember(bottom[0].data.reshape(-1, self.size), [int(n) for n in labels])

    def flops(self, bottom: Views, top: Views) -> int:
        return int(2 * top[0].count * self.size)


@register("LabeledMatching")
class LabeledMatching(Matching):
    """y = x Wᵀ, a row of W for each known person;  ∂x = ∂y W, and backward moves the row of an
    item's label towards it: w ← m·w + (1 − m)·x, m ``momentum``.

    Tops: y (M, ``num_classes``) and, if wanted, the labels, −1 for those that are no class.
    Parameters: W, and for each row how many items ago it was changed.
    """

    tops = (1, 2)

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.labeled_matching_param
        self.momentum = self.dtype.type(p.momentum)
        self.make(p.num_classes, bottom)
        self.add_blob((p.num_classes,))

    def reshape(self, bottom: Views, top: Views) -> None:
        super().reshape(bottom, top)
        for view in top[1:]:
            view.reshape_like(bottom[1])

    def forward(self, bottom: Views, top: Views) -> None:
        super().forward(bottom, top)
        for view in top[1:]:
            labels = bottom[1].data
            known = (labels >= 0) & (labels < self.rows)
            view.data[...] = self.xp.where(known, labels, self.dtype.type(-1))

    def remember(self, x: Array, labels: Sequence[int]) -> None:
        w, ages = (param.change_data() for param in self.params)
        for item, label in zip(x, labels, strict=True):
            if 0 <= label < self.rows:
                w[label] = self.momentum * w[label] + (1 - self.momentum) * item
                ages += 1
                ages[label] = 0


@register("UnlabeledMatching")
class UnlabeledMatching(Matching):
    """y = x Wᵀ, W the last ``queue_size`` features without a label;  ∂x = ∂y W, and backward puts
    the items with the label −1 into W, in turn.
    """

    def setup(self, bottom: Views, top: Views) -> None:
        self.check(
            self.context.ranks == 1,
            "cannot be on several ranks: each would have a queue of its own",
        )
        self.make(self.layer_param.unlabeled_matching_param.queue_size, bottom)
        self.next = 0

    def remember(self, x: Array, labels: Sequence[int]) -> None:
        w = self.params[0].change_data()
        for item, label in zip(x, labels, strict=True):
            if label == -1:
                w[self.next] = item
                self.next = (self.next + 1) % self.rows

    def get_state(self) -> Facts:
        return {"next": self.next}

    def set_state(self, state: Facts) -> None:
        self.next = int(state["next"])

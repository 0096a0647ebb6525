"""What all loss layers have in common: a scalar top, its weight, labels and the normaliser."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import SupportsInt

import numpy as np

from pycaffe_dist.aliases import Array, ArrayModule
from pycaffe_dist.blob import Blob, Flags, View, Views
from pycaffe_dist.layer import Arity, Layer
from pycaffe_dist.proto.caffe_pb2 import LossParameter

Folded = tuple[int, int, int]  # (outer, classes, inner): scores seen from the axis of the classes


class Loss(Layer):
    """Bottoms of equal length in, a scalar out; the weight of the loss is 1 if none is given.

    Gradients are multiplied by what is in the top's diff, where the net puts the weight.
    """

    bottoms: Arity = 2
    auto_tops = True
    label_bottoms: tuple[int, ...] = (1,)
    default_normalization: int = LossParameter.VALID
    ranks = 1
    mean_over_ranks: Callable[[Array], Array] = staticmethod(lambda array: array)

    def share_batch(self, ranks: int, mean_over_ranks: Callable[[Array], Array]) -> None:
        """From the next pass on, the batch is one of so many parts, whose losses are averaged."""
        self.ranks, self.mean_over_ranks = ranks, mean_over_ranks

    def setup(self, bottom: Views, top: Views) -> None:
        if not self.layer_param.loss_weight:
            self.layer_param.loss_weight.extend([1.0] + [0.0] * (len(top) - 1))

    def reshape(self, bottom: Views, top: Views) -> None:
        shapes = bottom[0].shape, bottom[1].shape
        self.check(all(shapes), f"bottoms need an axis for the items, found {shapes}")
        self.check(
            shapes[0][0] == shapes[1][0],
            f"the bottoms have different lengths: {shapes[0]} and {shapes[1]}",
        )
        top[0].reshape()

    def flops(self, bottom: Views, top: Views) -> int:
        return 3 * bottom[0].count

    # -- help for subclasses -----------------------------------------------------------------

    def work_space(self) -> View:
        """A blob of our own, which takes memory when its data is first asked for."""
        return View(Blob(dtype=self.dtype), self.context.home, "data")

    def refuse_label_gradient(self, propagate_down: Flags) -> None:
        self.check(
            not any(propagate_down[i] for i in self.label_bottoms if i < len(propagate_down)),
            "cannot give its labels a gradient",
        )

    def ignored_label(self) -> int | None:
        p = self.layer_param.loss_param
        return p.ignore_label if p.HasField("ignore_label") else None

    def normalization(self) -> int:
        """The mode that loss_param asks for, the old ``normalize`` included."""
        p = self.layer_param.loss_param
        if p.HasField("normalization"):
            return p.normalization
        if p.HasField("normalize"):
            return LossParameter.VALID if p.normalize else LossParameter.BATCH_SIZE
        return self.default_normalization

    def normalizer(self, folded: Folded, counted: Array | None) -> float:
        """What the sum over the positions is divided by, at least 1 for the whole batch.

        ``counted`` says of each position whether its label counts; None if all do.  Of a batch in P
        parts, whose losses are averaged, each is divided by a P-th of what the whole would be.
        """
        outer, _, inner = folded
        mode = self.normalization()
        amount = self.ranks * outer * inner
        if mode == LossParameter.NONE:
            amount = 1
        elif mode == LossParameter.BATCH_SIZE:
            amount = self.ranks * outer
        elif self.counts_labels() and counted is not None:
            mean = self.mean_over_ranks(np.array([float(counted.sum())]))
            amount = round(self.ranks * float(mean[0]))
        return max(1, amount) / self.ranks if self.ranks > 1 else max(1, amount)

    def counts_labels(self) -> bool:
        """Whether it is divided by the number of labels that count."""
        return self.normalization() == LossParameter.VALID and self.ignored_label() is not None

    def scaled_weight(self, top: Views, divisor: float) -> Array:
        """The weight of the loss over ``divisor``, of the layer's number type."""
        return top[0].diff / self.dtype.type(divisor)

    def position_weights(self, top: Views, folded: Folded, counted: Array | None) -> Array:
        """What the gradient of the sum over the positions is multiplied by: 0 where none counts."""
        weight = self.scaled_weight(top, self.normalizer(folded, counted))
        return weight if counted is None else weight * counted[:, None]


class OneLabelLoss(Loss):
    """A loss that takes one label for each item."""

    def reshape(self, bottom: Views, top: Views) -> None:
        super().reshape(bottom, top)
        self.num = bottom[0].shape[0]
        self.check(
            bottom[1].count == self.num,
            f"needs {self.num} labels, one for each item, found the shape {bottom[1].shape}",
        )


def fold_classes(layer: Layer, bottom: Views, axis: int) -> Folded:
    """The scores' shape as (outer, classes, inner), with as many labels as outer × inner."""
    scores, labels = bottom[0], bottom[1]
    axis = scores.axis(axis)
    outer, inner = scores.count_from(0, axis), scores.count_from(axis + 1)
    layer.check(
        labels.count == outer * inner,
        f"needs a label for each position: scores of the shape {scores.shape} with the classes on "
        f"axis {axis} take {outer * inner} labels, found {labels.count} in {labels.shape}",
    )
    return outer, scores.shape[axis], inner


def class_numbers(
    layer: Layer, labels: View, folded: Folded, ignored: int | None = None
) -> tuple[Array, Array | None]:
    """The labels as class numbers (outer, inner), and which of them count (None if all do).

    A label is cut off towards zero.  Where it is the ignored one, the class number is 0.

    Raises:
        NetError: a label that is no class; it says which, where and how many classes there are.
    """
    outer, classes, inner = folded
    given = labels.data.reshape(outer, inner)
    fine = (given > -1) & (given < classes)
    counted = None
    if ignored is not None:
        counted = layer.xp.trunc(given) != ignored
        fine |= ~counted
    if not fine.all():
        at = int(fine.argmin())
        place = np.unravel_index(at, labels.shape)
        raise layer.error(wrong_label(float(given.reshape(-1)[at]), place, classes, ignored))
    numbers = given.astype(np.intp)
    if counted is not None:
        numbers *= counted
    return numbers, counted


def wrong_label(
    value: float, place: Sequence[SupportsInt], classes: int, ignored: int | None
) -> str:
    """What to say of a label that is no class."""
    where = tuple(int(i) for i in place)
    text = f"label {value:g} at {where} is none of the {classes} classes (0 to {classes - 1})"
    return text if ignored is None else f"{text}, nor ignore_label {ignored}"


def places(xp: ArrayModule, numbers: Array, folded: Folded) -> Array:
    """Where in the flat scores each label's own is."""
    outer, classes, inner = folded
    at = numbers + classes * xp.arange(outer)[:, None]
    at *= inner
    at += xp.arange(inner)
    return at

"""Softmax and its loss: probabilities by oneDNN, where the classes lie side by side."""

from __future__ import annotations

from math import isfinite

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.engines.onednn.core.accelerated import Accelerated, accelerates
from pycaffe_dist.engines.onednn.core.library import INFERENCE, Arg, OneDnnError
from pycaffe_dist.engines.onednn.core.primitives import Call, Primitive, plain
from pycaffe_dist.engines.onednn.core.tape import do
from pycaffe_dist.layers import softmax as generic
from pycaffe_dist.layers import softmax_loss as generic_loss
from pycaffe_dist.layers.loss import Folded

ACCURATE = 0x30000  # the algorithm
LEAST = np.float32(generic_loss.LEAST)


class Probabilities:
    """p = softmax of scores x, which oneDNN computes if all of them are numbers."""

    def __init__(self, folded: Folded) -> None:
        outer, classes, inner = self._folded = folded
        if inner > 1:
            raise OneDnnError("the classes are apart")
        rows = plain((outer, classes))
        made = Primitive("softmax_forward", INFERENCE, ACCURATE, rows.md, rows.md, 1)
        self._call: Call = made.call((Arg.SRC, rows), (Arg.DST, rows))
        self._count = rows.count

    def __call__(self, x: Array, p: Array) -> None:
        scores = x if x.size == self._count else x[: self._count]
        if isfinite(np.add.reduce(scores)):
            self._call(x, p)
        else:
            shape, end = self._folded, self._count
            generic.softmax(np, scores.reshape(shape), p[:end].reshape(shape))


@accelerates("Softmax")
class Softmax(Accelerated, generic.Softmax):
    __doc__ = generic.Softmax.__doc__
    replays = True

    def prepare(self, bottom: Views, top: Views) -> None:
        self._probabilities = Probabilities(self.folded)

    def fast_forward(self, bottom: Views, top: Views) -> None:
        x, y = bottom[0].blob.data_value, top[0].blob.data_value
        room = x.read()
        do(self._probabilities, room, x.write() if x is y else y.replace())

    def fast_backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        """By NumPy: the primitive for it is a slow one."""
        super(Accelerated, self).backward_alone(top, propagate_down, bottom)


@accelerates("SoftmaxWithLoss")
class SoftmaxWithLoss(Accelerated, generic_loss.SoftmaxWithLoss):
    __doc__ = generic_loss.SoftmaxWithLoss.__doc__

    def prepare(self, bottom: Views, top: Views) -> None:
        if self.ignored_label() is not None:
            raise OneDnnError("some labels may not count")
        self._probabilities = Probabilities(self.folded)
        outer, classes, _ = self.folded
        self._rows = np.arange(outer) * classes

    def fast_forward(self, bottom: Views, top: Views) -> None:
        p = self.prob.blob.data_value.replace()
        self._probabilities(bottom[0].blob.data_value.read(), p)
        own = p[self._places(bottom)]
        np.maximum(own, LEAST, out=own)
        np.log(own, out=own)
        total = np.add.reduce(own) / self.normalizer(self.folded, None)
        top[0].blob.data_value.replace()[0] = 0 - total  # never −0

    def fast_backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        self.refuse_label_gradient(propagate_down)
        if not propagate_down[0]:
            return
        weight = self.scaled_weight(top, self.normalizer(self.folded, None))
        p, count = self.prob.blob.data_value.read(), bottom[0].count
        gx = bottom[0].blob.diff_value.replace()
        np.multiply(p[:count], weight, out=gx[:count])
        gx[self._places(bottom)] -= weight

    def _places(self, bottom: Views) -> Array:
        """Where in the flat scores each label's own is."""
        labels = bottom[1].blob.data_value.read()[: len(self._rows)]
        least, most = np.minimum.reduce(labels), np.maximum.reduce(labels)
        if not (least > -1 and most < self.folded[1]):
            self.labels(bottom)  # says which is wrong
        places = labels.astype(np.intp)
        places += self._rows
        return places

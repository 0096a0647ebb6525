"""InfogainLoss: the softmax loss with a gain for every pair of label and class."""

from __future__ import annotations

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, View, Views
from pycaffe_dist.errors import FileError
from pycaffe_dist.layer import register
from pycaffe_dist.layers.loss import Loss, class_numbers, fold_classes
from pycaffe_dist.layers.softmax import softmax
from pycaffe_dist.proto.weights import read_binaryproto

LEAST = 1e-20  # probabilities below it count as this


@register("InfogainLoss")
class InfogainLoss(Loss):
    """−1/n Σ H[label, k] log p[k] over classes k and positions, p = softmax of the scores.

    scores: (N, C, ...) with the classes on ``axis``  labels: (N, ...)  H: C·C values, the third
    bottom or else the file ``source``.  Tops: the loss and, if wanted, p, which takes no gradient.
    ∂scores = 1/n (p Σₖ H[label, k] − H[label]), 0 where the label is ignored.
    """

    bottoms = (2, 3)
    tops = (1, 2)

    def setup(self, bottom: Views, top: Views) -> None:
        super().setup(bottom, top)
        self.check(
            not self.layer_param.loss_param.HasField("normalize"),
            "does not take the old normalize; write normalization: VALID or BATCH_SIZE",
        )
        self.prob, self.logs, self.gains = (self.work_space() for _ in range(3))
        if len(bottom) == 2:
            self._read_gains()

    def reshape(self, bottom: Views, top: Views) -> None:
        super().reshape(bottom, top)
        self.folded = fold_classes(self, bottom, self.layer_param.infogain_loss_param.axis)
        classes = self.folded[1]
        if len(bottom) == 3 or not self.context.dry:
            gains = self._gains(bottom)
            self.check(
                gains.count == classes * classes,
                f"{classes} classes need a matrix of {classes * classes} gains, "
                f"found {gains.count} in {gains.shape}",
            )
        self.prob.reshape_like(bottom[0])
        self.logs.reshape_like(bottom[0])
        for view in top[1:]:
            view.reshape_like(bottom[0])
            view.share_data(self.prob)

    def forward(self, bottom: Views, top: Views) -> None:
        xp = self.xp
        p, logs = self.prob.data.reshape(self.folded), self.logs.data.reshape(self.folded)
        softmax(xp, bottom[0].data.reshape(self.folded), out=p)
        xp.maximum(p, self.dtype.type(LEAST), out=logs)
        xp.log(logs, out=logs)
        rows, _, counted = self._rows(bottom)
        logs *= rows
        terms = logs.sum(axis=1)
        if counted is not None:
            xp.copyto(terms, 0, where=~counted)
        top[0].data[...] = 0 - terms.sum() / self.normalizer(self.folded, counted)  # never −0

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        self.refuse_label_gradient(propagate_down)
        self.check(not any(propagate_down[2:]), "cannot give its matrix of gains a gradient")
        if not propagate_down[0]:
            return
        xp, gx = self.xp, bottom[0].diff.reshape(self.folded)
        rows, sums, counted = self._rows(bottom)
        xp.multiply(self.prob.data.reshape(self.folded), sums, out=gx)
        gx -= rows
        gx *= self.position_weights(top, self.folded, counted)

    def flops(self, bottom: Views, top: Views) -> int:
        return 7 * bottom[0].count

    def _read_gains(self) -> None:
        source = self.layer_param.infogain_loss_param.source
        self.check(bool(source), "needs the matrix of gains: a third bottom, or a file as source")
        if self.context.dry:
            return
        try:
            values = read_binaryproto(source).data
        except FileError as e:
            raise self.error(f"the matrix of gains: {e}") from e
        self.gains.reshape(*values.shape)
        self.gains.blob.data[...] = values

    def _gains(self, bottom: Views) -> View:
        return bottom[2] if len(bottom) == 3 else self.gains

    def _rows(self, bottom: Views) -> tuple[Array, Array, Array | None]:
        """H[label] and its sum at each position, as (outer, C, inner), and which of them count."""
        classes = self.folded[1]
        labels, counted = class_numbers(self, bottom[1], self.folded, self.ignored_label())
        gains = self._gains(bottom).data.reshape(classes, classes)
        rows = gains[labels].transpose(0, 2, 1)
        return rows, gains.sum(axis=1)[labels][:, None], counted

"""CTCLoss, CtcLoss and WarpCTCLoss: three forks' layers around one loss."""

from __future__ import annotations

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, View, Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.loss import Loss
from pycaffe_dist.layers.ocr.ctc import Ctc, Labels, packed, repeats


class CtcBase(Loss):
    """The mean over the batch of −log p(labels);  ∂x is the gradient of the **sum**, as in forks.

    x: (T, N, C), scores before any softmax
    """

    label_bottoms = (1, 2, 3)

    def setup(self, bottom: Views, top: Views) -> None:
        super().setup(bottom, top)
        self.gradient = self.work_space()

    def reshape(self, bottom: Views, top: Views) -> None:
        x = bottom[0].shape
        self.check(
            len(x) > 2 and bottom[0].count_from(3) == 1,
            f"bottom 0 must be (steps, sequences, classes), found {x}",
        )
        self.steps, self.num, self.classes = x[:3]
        self.check_labels(bottom[-1], transposed=len(bottom) > 2)
        self.gradient.reshape(*x[:3])
        top[0].reshape()

    def target(self, bottom: Views) -> tuple[Array, Labels]:
        """How many steps each sequence has, (N,), and the labels."""
        raise NotImplementedError

    def blank(self) -> int:
        raise NotImplementedError

    def losses(self, x: Array, steps: Array, labels: Labels) -> tuple[Array, Array]:
        """Of each sequence the loss, and the gradients."""
        return Ctc(self.xp, labels, self.blank())(x, steps)

    def mean(self, losses: Array) -> Array:
        return losses.sum() / max(1, self.num)

    def forward(self, bottom: Views, top: Views) -> None:
        x = bottom[0].data.reshape(self.gradient.shape)
        losses, gradient = self.losses(x, *self.target(bottom))
        self.gradient.data[...] = gradient
        top[0].data[...] = self.mean(losses)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        self.check(not any(propagate_down[1:]), "cannot give its labels a gradient")
        if propagate_down[0]:
            gx = bottom[0].diff.reshape(self.gradient.shape)
            self.xp.multiply(self.gradient.data, top[0].diff, out=gx)

    def flops(self, bottom: Views, top: Views) -> int:
        return 20 * bottom[0].count

    # -- help for subclasses -----------------------------------------------------------------

    def last_if_negative(self, blank: int) -> int:
        """−1 is the last class."""
        blank = self.classes - 1 if blank < 0 else blank
        self.check(blank < self.classes, f"blank {blank} is none of the {self.classes} classes")
        return blank

    def check_labels(self, labels: View, transposed: bool) -> None:
        shape = labels.shape
        streams = shape[1] if transposed and len(shape) > 1 else shape[0] if shape else 0
        expected = "(…, sequences)" if transposed else "(sequences, …)"
        self.check(
            streams == self.num,
            f"labels must be {expected} for {self.num} sequences, found {shape}",
        )

    def rows(self, labels: View, transposed: bool) -> Array:
        """Labels (N, L) or, ``transposed``, (L, N), as whole numbers (N, L)."""
        flat = labels.data.reshape((-1, self.num) if transposed else (self.num, -1))
        rounded = self.xp.floor(flat + self.dtype.type(0.5)).astype("int64")
        return rounded.T if transposed else rounded

    def refuse_unknown(self, rows: Array) -> None:
        wrong = (rows >= self.classes).any()
        if bool(wrong):
            raise self.error(
                f"label {int(rows.max())} is none of the {self.classes} classes (0 to "
                f"{self.classes - 1})"
            )

    def until_negative(self, rows: Array) -> Labels:
        """What is before the first negative label, or the first blank, of each row."""
        self.refuse_unknown(rows)
        ended = (rows < 0) | (rows == self.blank())
        count = self.xp.where(ended.any(axis=1), ended.argmax(axis=1), rows.shape[1])
        return packed(self.xp, rows, self.xp.arange(rows.shape[1]) < count[:, None])

    def without_blanks(self, rows: Array) -> Labels:
        self.refuse_unknown(rows)
        return packed(self.xp, rows, (rows != self.blank()) & (rows >= 0))

    def by_indicators(self, indicators: View) -> Array:
        """Steps (N,) of sequences that each begin at step 0 and end before the next 0."""
        self.check(
            indicators.count == self.steps * self.num,
            f"bottom 1 must be (steps, sequences) = {(self.steps, self.num)}, found "
            f"{indicators.shape}",
        )
        given = indicators.data.reshape(self.steps, self.num)
        begins = given[1:] < self.dtype.type(0.5)
        if self.steps == 1:
            return self.xp.ones(self.num, "int64")
        return self.xp.where(begins.any(axis=0), begins.argmax(axis=0) + 1, self.steps)


@register("CTCLoss")
class CTCLoss(CtcBase):
    """1/N Σ −log p(labels) by connectionist temporal classification;  ∂x is that of Σ, without 1/N.

    x: (T, N, C), scores before any softmax  indicators: (T, N), 0 where a sequence begins
    labels: (T, N), the labels of each, then a negative number.  The blank is ``blank_index``, or
    the last class.  ``preprocess_collapse_repeated`` makes one of equal labels in a row, without
    ``ctc_merge_repeated`` repeats in a path are not merged, ``output_delay`` steps come before
    the first that counts.  A sequence of one step without labels does not count.
    """

    bottoms = 3

    def blank(self) -> int:
        p = self.layer_param.ctc_loss_param
        return self.last_if_negative(p.blank_index if p.HasField("blank_index") else -1)

    def target(self, bottom: Views) -> tuple[Array, Labels]:
        labels = self.until_negative(self.rows(bottom[2], True))
        steps = self.by_indicators(bottom[1])
        steps = self.xp.where((labels.lengths == 0) & (steps <= 1), 0, steps)
        if self.layer_param.ctc_loss_param.preprocess_collapse_repeated:
            labels = self._collapsed(labels)
        return steps, labels

    def losses(self, x: Array, steps: Array, labels: Labels) -> tuple[Array, Array]:
        p, xp = self.layer_param.ctc_loss_param, self.xp
        delay = p.output_delay
        self.check(0 <= delay < self.steps, f"output_delay {delay}: there are {self.steps} steps")
        left = xp.maximum(steps - delay, 0)
        if bool((labels.lengths > left).any()):
            raise self.error("a sequence has fewer steps than labels")
        merge = p.ctc_merge_repeated
        losses, late = Ctc(xp, labels, self.blank(), merge)(x[delay:], left)
        gradient = xp.zeros(x.shape, "float64")
        gradient[delay:] = late
        return xp.where(steps > 0, losses, 0.0), gradient

    def _collapsed(self, labels: Labels) -> Labels:
        kept = self.xp.arange(labels.classes.shape[1]) < labels.lengths[:, None]
        kept[:, 1:] &= labels.classes[:, 1:] != labels.classes[:, :-1]
        return packed(self.xp, labels.classes, kept)


class WarpCtc(CtcBase):
    """The losses of warp-ctc: 0, without a gradient, where there are not steps enough."""

    def losses(self, x: Array, steps: Array, labels: Labels) -> tuple[Array, Array]:
        losses, gradient = super().losses(x, steps, labels)
        fits = labels.lengths + repeats(self.xp, labels) <= steps
        return self.xp.where(fits, losses, 0.0), gradient * fits[:, None]


@register("CtcLoss")
class CtcLoss(WarpCtc):
    """As CTCLoss, by warp-ctc: bottoms x (T, N, C) and labels (N, L), in which blanks are skipped.

    The blank is ``blank_label``; ``alphabet_size`` C and ``time_step`` T must be those of x.
    Where labels do not fit into the steps, the loss is 0.
    """

    bottoms = 2

    def reshape(self, bottom: Views, top: Views) -> None:
        super().reshape(bottom, top)
        p = self.layer_param.ctc_loss_param
        self.check(
            (p.time_step, p.alphabet_size) == (self.steps, self.classes),
            f"time_step {p.time_step} and alphabet_size {p.alphabet_size} must be those of the "
            f"bottom {bottom[0].shape}",
        )

    def blank(self) -> int:
        return self.last_if_negative(self.layer_param.ctc_loss_param.blank_label)

    def target(self, bottom: Views) -> tuple[Array, Labels]:
        labels = self.without_blanks(self.rows(bottom[1], False))
        return labels.lengths * 0 + self.steps, labels


@register("WarpCTCLoss")
class WarpCTCLoss(WarpCtc):
    """As CtcLoss, the mean over the sequences that have a path.

    Bottoms: x (T, N, C) and labels (N, L), in which blanks are skipped, ``blank_index`` being 0
    unless given; or x, indicators (T, N) and labels (L, N) as those of CTCLoss; or x, the number of
    steps (N,), the number of labels (N,) and labels (L, N): with these the blank is the last class.
    """

    bottoms = (2, 4)

    def setup(self, bottom: Views, top: Views) -> None:
        super().setup(bottom, top)
        p = self.layer_param.ctc_loss_param
        default = 0 if len(bottom) == 2 else -1
        self.blank_index = p.blank_index if p.HasField("blank_index") else default

    def blank(self) -> int:
        return self.last_if_negative(self.blank_index)

    def target(self, bottom: Views) -> tuple[Array, Labels]:
        if len(bottom) == 2:
            labels = self.without_blanks(self.rows(bottom[1], False))
            return labels.lengths * 0 + self.steps, labels
        if len(bottom) == 3:
            return self.by_indicators(bottom[1]), self.until_negative(self.rows(bottom[2], True))
        rows = self.rows(bottom[3], True)
        self.refuse_unknown(rows)
        steps, lengths = (self._counts(view) for view in bottom[1:3])
        return steps, packed(self.xp, rows, self.xp.arange(rows.shape[1]) < lengths[:, None])

    def mean(self, losses: Array) -> Array:
        finite = losses < float("inf")
        return self.xp.where(finite, losses, 0.0).sum() / self.xp.maximum(finite.sum(), 1)

    def _counts(self, view: View) -> Array:
        self.check(
            view.count == self.num, f"needs {self.num} counts, one a sequence, found {view.shape}"
        )
        return view.data.reshape(-1).astype("int64")

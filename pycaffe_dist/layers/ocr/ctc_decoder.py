"""What is around CTC: CTCGreedyDecoder, LabelsequenceAccuracy, ContinuationIndicator.

Sequences become text here, in plain memory whatever the engine.
"""

from __future__ import annotations

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, View, Views
from pycaffe_dist.layer import Layer, register
from pycaffe_dist.layers.ocr.ctc import Labels, packed
from pycaffe_dist.layers.without_gradient import WithoutGradient


def best_path(scores: Array, steps: Array, blank: int, merge: bool = True) -> Labels:
    """Of scores (T, N, C), the class with the highest at each of a sequence's steps (N,).

    Blanks are dropped, with ``merge`` also what equals the class of the step before.
    """
    classes = scores.argmax(axis=2).T
    kept = (classes != blank) & (np.arange(len(scores)) < steps[:, None])
    if merge:
        kept[:, 1:] &= classes[:, 1:] != classes[:, :-1]
    return packed(np, classes, kept)


def padded(labels: Labels, width: int) -> Array:
    """The sequences (N, width), with −1 behind them."""
    rows = np.full((len(labels.lengths), width), -1)
    found = labels.classes.shape[1]
    inside = np.arange(found) < labels.lengths[:, None]
    rows[:, :found][inside] = labels.classes[inside]
    return rows


def edit_distances(a: Labels, b: Labels) -> Array:
    """How many insertions, deletions and changes make a's sequence b's, for each pair.

    d(i, j) = min(d(i−1, j) + 1, d(i−1, j−1) + [aᵢ ≠ bⱼ], d(i, j−1) + 1), all pairs at once; the
    last is a running minimum of what the first two are, less j.
    """
    num, width = b.classes.shape
    j = np.arange(width + 1)
    d = np.broadcast_to(j, (num, width + 1))
    found = np.where(a.lengths == 0, b.lengths, 0)
    for i in range(a.classes.shape[1]):
        changed = d[:, :-1] + (a.classes[:, i, None] != b.classes)
        kept = np.concatenate([d[:, :1] + 1, np.minimum(d[:, 1:] + 1, changed)], axis=1)
        d = np.minimum.accumulate(kept - j, axis=1) + j
        ends = a.lengths == i + 1
        found = np.where(ends, d[np.arange(num), b.lengths], found)
    return found


class Reader(Layer):
    """Scores (T, N, C) read as sequences of classes; there is no gradient."""

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        self.check(not any(propagate_down), "has no gradient, but one is asked of it")

    def flops(self, bottom: Views, top: Views) -> int:
        return bottom[0].count

    def read_shape(self, x: View) -> tuple[int, int, int]:
        self.check(
            len(x.shape) > 2 and x.count_from(3) == 1,
            f"bottom 0 must have the axes steps, sequences and classes, found {x.shape}",
        )
        return x.shape[0], x.shape[1], x.shape[2]

    def check_labels(self, labels: View, num: int) -> None:
        self.check(
            labels.shape[:1] == (num,),
            f"labels must be (sequences, …) for {num} sequences, found {labels.shape}",
        )

    def labels_of(self, labels: View, num: int, blank: int) -> Labels:
        """Labels (N, L) without blanks and negative numbers."""
        rows = np.floor(labels.blob.data.reshape(num, -1) + 0.5).astype(np.int64)
        return packed(np, rows, (rows != blank) & (rows >= 0))


@register("CTCGreedyDecoder")
class CTCGreedyDecoder(Reader):
    """The best class of each step, without blanks and, by ``ctc_merge_repeated``, without repeats.

    x: (T, N, C), to sequences (N, T, 1, 1) with −1 behind them.  Further bottoms and tops:
    indicators (T, N), 0 where a sequence begins, and with them labels (T, N), each sequence ended
    by a negative number; tops: scores (N, 1, 1, 1), −Σ of the best, and (the last, with labels) the
    accuracy (1, 1, 1, 1), 1 − mean of edit distance / longer length.  Or labels (N, L) alone: one
    top (1, 2, 1, 1), that accuracy and the share of sequences without an error.

    ``blank_index`` is the last class unless given; without indicators it is 0.
    """

    bottoms = (1, 3)
    tops = (1, 3)

    def reshape(self, bottom: Views, top: Views) -> None:
        self.steps, self.num, self.classes = self.read_shape(bottom[0])
        indicated = (self.steps, self.num)
        self.indicated = len(bottom) > 1 and bottom[1].shape[:2] == indicated
        self.check(
            len(bottom) < 3 or self.indicated,
            f"bottom 1 must be (steps, sequences) = {indicated}, found "
            f"{', '.join(str(view.shape) for view in bottom[1:2])}",
        )
        most = len(bottom) if self.indicated else 1
        self.check(len(top) <= most, f"takes {most} top(s) with these bottoms, found {len(top)}")
        p = self.layer_param.ctc_decoder_param
        default = -1 if self.indicated else 0
        blank = p.blank_index if p.HasField("blank_index") else default
        self.blank = self.classes - 1 if blank < 0 else blank
        self.compares = len(bottom) == 2 and not self.indicated
        if self.compares:
            self.check_labels(bottom[1], self.num)
        top[0].reshape(*((1, 2, 1, 1) if self.compares else (self.num, self.steps, 1, 1)))
        for i, view in enumerate(top[1:], 1):
            view.reshape(1 if self._is_accuracy(i, bottom, top) else self.num, 1, 1, 1)

    def forward(self, bottom: Views, top: Views) -> None:
        scores = bottom[0].blob.data.reshape(self.steps, self.num, self.classes)
        steps = self._steps(bottom)
        merge = self.layer_param.ctc_decoder_param.ctc_merge_repeated
        found = best_path(scores, steps, self.blank, merge)
        if self.compares:
            wanted = self.labels_of(bottom[1], self.num, self.blank)
            top[0].blob.data[...] = np.reshape(self._accuracy(found, wanted), (1, 2, 1, 1))
            return
        top[0].blob.data[...] = padded(found, self.steps)[:, :, None, None]
        for i, view in enumerate(top[1:], 1):
            if self._is_accuracy(i, bottom, top):
                view.blob.data[...] = self._accuracy(found, self._targets(bottom[2]))[0]
            else:
                best = scores.max(axis=2) * (np.arange(self.steps)[:, None] < steps)
                view.blob.data[...] = -best.sum(axis=0).reshape(view.shape)

    def _is_accuracy(self, i: int, bottom: Views, top: Views) -> bool:
        return len(bottom) == 3 and i == len(top) - 1

    def _steps(self, bottom: Views) -> Array:
        whole = np.full(self.num, self.steps)
        if not self.indicated or self.steps == 1:
            return whole
        begins = bottom[1].blob.data.reshape(self.steps, self.num)[1:] == 0
        return np.where(begins.any(axis=0), begins.argmax(axis=0) + 1, whole)

    def _targets(self, labels: View) -> Labels:
        rows = np.floor(labels.blob.data.reshape(-1, self.num).T + 0.5).astype(np.int64)
        return packed(np, rows, np.cumsum(rows < 0, axis=1) == 0)

    def _accuracy(self, found: Labels, wanted: Labels) -> tuple[float, float]:
        distances = edit_distances(wanted, found)
        longer = np.maximum(np.maximum(found.lengths, wanted.lengths), 1)
        return 1 - (distances / longer).mean(), (distances == 0).mean()


@register("LabelsequenceAccuracy")
class LabelsequenceAccuracy(Reader):
    """The share of sequences whose best path is exactly their labels.

    x: (N, T, C)  labels: (N, L), in which ``blank_label`` is skipped
    """

    bottoms = 2

    def reshape(self, bottom: Views, top: Views) -> None:
        self.num, self.steps, self.classes = self.read_shape(bottom[0])
        self.check_labels(bottom[1], self.num)
        top[0].reshape()

    def forward(self, bottom: Views, top: Views) -> None:
        blank = self.layer_param.labelsequence_accuracy_param.blank_label
        scores = bottom[0].blob.data.reshape(self.num, self.steps, self.classes).swapaxes(0, 1)
        found = best_path(scores, np.full(self.num, self.steps), blank)
        wanted = self.labels_of(bottom[1], self.num, blank)
        top[0].blob.data[...] = (edit_distances(wanted, found) == 0).mean()


@register("ContinuationIndicator")
class ContinuationIndicator(WithoutGradient):
    """What LSTM layers take as their second bottom, (T, N): 0 in the first row, else 1.

    T is ``time_step``, N ``batch_size``; a bottom is not looked at.
    """

    bottoms = (0, 1)

    def reshape(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.continuation_indicator_param
        self.check(
            p.time_step > 0 and p.batch_size > 0,
            f"needs time_step and batch_size, found {p.time_step} and {p.batch_size}",
        )
        top[0].reshape(p.time_step, p.batch_size)

    def forward(self, bottom: Views, top: Views) -> None:
        top[0].data[...] = 1
        top[0].data[0] = 0

    def flops(self, bottom: Views, top: Views) -> int:
        return 0

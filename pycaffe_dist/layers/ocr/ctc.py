"""Connectionist temporal classification: the sum over all paths that spell a label sequence.

A path has a class at each step; merged repeats and dropped blanks leave the labels.  With blanks
around and between, the labels l become l′ = (–, l₁, –, l₂, …, –), and a path walks through it, from
u to u, u + 1, or u + 2 if that skips a blank between different labels:

α_t(u) = p_t(l′_u) · (α_{t−1}(u) + α_{t−1}(u − 1) + α_{t−1}(u − 2) where allowed)
β_t(u) = the same from behind, without p_t(l′_u)
p(l) = Σ_u α_t(u) β_t(u) at any t   loss = −log p(l)   ∂x_t = p_t − Σ_u [l′_u] α_t(u) β_t(u)/p(l)

All in logarithms and double precision, for all sequences of a batch at once.
"""

from __future__ import annotations

from dataclasses import dataclass

from pycaffe_dist.aliases import Array, ArrayModule

NEVER = -1e30  # the logarithm of a probability of 0: finite, so that differences are numbers too


@dataclass
class Labels:
    """Label sequences (N, L), each at the front of its row with 0 behind it, and their lengths."""

    classes: Array
    lengths: Array


def packed(xp: ArrayModule, classes: Array, kept: Array) -> Labels:
    """Of rows (N, L), what is ``kept``, moved to the front in its order."""
    lengths = kept.sum(axis=1)
    longest = int(lengths.max()) if len(lengths) else 0
    order = xp.argsort(~kept, axis=1, kind="stable")[:, :longest]
    front = xp.take_along_axis(classes, order, axis=1)
    inside = xp.arange(longest) < lengths[:, None]
    return Labels(xp.where(inside, front, 0).astype("int64"), lengths)


def repeats(xp: ArrayModule, labels: Labels) -> Array:
    """How many labels of each sequence equal the one before; a path needs a blank between them."""
    pairs = labels.classes[:, 1:] == labels.classes[:, :-1]
    inside = xp.arange(1, labels.classes.shape[1]) < labels.lengths[:, None]
    return (pairs & inside).sum(axis=1)


class Ctc:
    """The losses of a batch of N sequences of up to T steps.

    Without ``merge``, a repeat in a path is a repeat in the labels: only blanks may stay.
    """

    def __init__(self, xp: ArrayModule, labels: Labels, blank: int, merge: bool = True) -> None:
        self.xp = xp
        rows, longest = labels.classes.shape
        self.places = xp.zeros((rows, 2 * longest + 1), "int64")  # l′
        self.places[...] = blank
        self.places[:, 1::2] = labels.classes
        u, end = xp.arange(2 * longest + 1), 2 * labels.lengths[:, None]
        self.first = self._logs_of(u <= xp.minimum(end, 1))
        self.last = self._logs_of((u == end) | (u == end - 1))
        self.stays = self._logs_of((self.places == blank) | merge)
        two_before = _moved(xp, self.places, 2, blank)
        differs = (self.places != two_before) | (not merge)
        self.skips = self._logs_of((self.places != blank) & differs & (u >= 2))
        self.skipped = _moved(xp, self.skips, -2, NEVER)

    def __call__(self, scores: Array, steps: Array) -> tuple[Array, Array]:
        """Of scores (T, N, C) with ``steps`` (N,) each: losses (N,), gradients (T, N, C).

        The loss is +∞ where there is no path, and the gradient then p, as if all were wrong.
        """
        xp = self.xp
        log_p = scores.astype("float64")
        log_p -= log_p.max(axis=2, keepdims=True)
        log_p -= xp.log(xp.exp(log_p).sum(axis=2, keepdims=True))
        walked = xp.take_along_axis(log_p, self.places[None], axis=2)
        paths = self._alphas(walked) + self._betas(walked, steps)
        best = paths[0].max(axis=1)
        total = best + xp.log(xp.exp(paths[0] - best[:, None]).sum(axis=1))
        found = total > NEVER / 2
        share = xp.exp(paths - xp.where(found, total, 0.0)[:, None])
        gradient = xp.exp(log_p)
        xp.add.at(gradient.reshape(-1), self._flat(scores.shape), -share)
        gradient *= (xp.arange(len(scores))[:, None] < steps)[:, :, None]
        return xp.where(found, -total, float("inf")), gradient

    def _alphas(self, walked: Array) -> Array:
        xp, alphas = self.xp, self.xp.empty_like(walked)
        alphas[0] = self.first + walked[0]
        for t in range(1, len(walked)):
            now = alphas[t - 1]
            one, two = (_moved(xp, now, k, NEVER) for k in (1, 2))
            ways = xp.logaddexp(xp.logaddexp(now + self.stays, one), two + self.skips)
            alphas[t] = ways + walked[t]
        return alphas

    def _betas(self, walked: Array, steps: Array) -> Array:
        xp, betas = self.xp, self.xp.empty_like(walked)
        now = self.first * 0 + NEVER
        for t in reversed(range(len(walked))):
            if t + 1 < len(walked):
                ahead = betas[t + 1] + walked[t + 1]
                one, two = (_moved(xp, ahead, -k, NEVER) for k in (1, 2))
                now = xp.logaddexp(xp.logaddexp(ahead + self.stays, one), two + self.skipped)
            betas[t] = xp.where((steps == t + 1)[:, None], self.last, now)
        return betas

    def _flat(self, shape: tuple[int, ...]) -> Array:
        """Where in the flat scores the class of each place is, (T, N, S)."""
        steps, rows, classes = shape
        row = self.xp.arange(steps * rows).reshape(steps, rows, 1)
        return row * classes + self.places

    def _logs_of(self, allowed: Array) -> Array:
        return self.xp.where(allowed, 0.0, NEVER)


def _moved(xp: ArrayModule, rows: Array, by: int, filling: float) -> Array:
    """Rows moved ``by`` places to the right, or to the left if it is negative."""
    moved = xp.empty_like(rows)
    moved[...] = filling
    if by > 0:
        moved[:, by:] = rows[:, :-by]
    else:
        moved[:, :by] = rows[:, -by:]
    return moved

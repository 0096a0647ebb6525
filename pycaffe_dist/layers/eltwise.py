"""Eltwise: blobs of one shape multiplied, added, or the largest taken, element by element."""

from __future__ import annotations

import numpy as np

from pycaffe_dist.blob import Blob, Flags, View, Views
from pycaffe_dist.layer import Layer, register
from pycaffe_dist.proto.caffe_pb2 import EltwiseParameter


@register("Eltwise")
class Eltwise(Layer):
    """All of one shape.

    PROD:  y = Π xⱼ       ∂xᵢ = ∂y · Π xⱼ without xᵢ, or ∂y · y / xᵢ unless ``stable_prod_grad``
    SUM:   y = Σ cⱼ xⱼ    ∂xᵢ = cᵢ ∂y
    MAX:   y = max xⱼ     ∂xᵢ = ∂y where xᵢ is the largest: of the first two, if equal, the second,
                          of all others the first.  Nothing is larger than NaN, which so stays,
                          but for that of the first bottom: there the second counts.
    """

    bottoms = (2, None)

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.eltwise_param
        self.operation, self.stable = p.operation, p.stable_prod_grad
        self.check(
            len(p.coeff) in (0, len(bottom)),
            f"{len(p.coeff)} coeff for {len(bottom)} bottoms; give none or one for each",
        )
        self.check(not (p.coeff and self.operation == EltwiseParameter.PROD), "PROD takes no coeff")
        self.coeffs = [self.dtype.type(c) for c in p.coeff or [1.0] * len(bottom)]
        self.winner = View(Blob((), np.int16), self.context.home, "data")

    def reshape(self, bottom: Views, top: Views) -> None:
        shapes = [view.shape for view in bottom]
        self.check(len(set(shapes)) == 1, f"bottoms must have one shape, found {shapes}")
        top[0].reshape_like(bottom[0])
        if self.operation == EltwiseParameter.MAX:
            self.winner.reshape_like(bottom[0])

    def forward(self, bottom: Views, top: Views) -> None:
        if self.operation == EltwiseParameter.PROD:
            self._multiply(bottom, top)
        elif self.operation == EltwiseParameter.SUM:
            self._add(bottom, top)
        else:
            self._maximum(bottom, top)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        xp, gy = self.xp, top[0].diff
        for i, view in enumerate(bottom):
            if not propagate_down[i]:
                continue
            gx = view.diff
            if self.operation == EltwiseParameter.PROD:
                self._rest_of_product(i, bottom, top)
                gx *= gy
            elif self.operation == EltwiseParameter.SUM:
                xp.multiply(gy, self.coeffs[i], out=gx)
            else:
                xp.multiply(gy, self.winner.data == i, out=gx)

    def flops(self, bottom: Views, top: Views) -> int:
        coeffs = self.coeffs if self.operation == EltwiseParameter.SUM else []
        return (len(bottom) - 1 + sum(float(c) != 1 for c in coeffs)) * top[0].count

    def _multiply(self, bottom: Views, top: Views) -> None:
        y = top[0].data
        self.xp.multiply(bottom[0].data, bottom[1].data, out=y)
        for view in bottom[2:]:
            y *= view.data

    def _add(self, bottom: Views, top: Views) -> None:
        xp, y, c = self.xp, top[0].data, self.coeffs
        if top[0].blob is bottom[0].blob:
            y[...] = 0  # in place, Caffe loses the first bottom; nets have been trained like that
        if c[0] == c[1] == 1:
            xp.add(bottom[0].data, bottom[1].data, out=y)
            rest = 2
        else:
            xp.multiply(bottom[0].data, c[0], out=y)
            rest = 1
        for view, coeff in zip(bottom[rest:], c[rest:], strict=True):
            if coeff == 1:
                y += view.data
            elif coeff == -1:
                y -= view.data
            else:
                y += coeff * view.data

    def _maximum(self, bottom: Views, top: Views) -> None:
        xp, y, winner = self.xp, top[0].data, self.winner.data
        first, second = bottom[0].data, bottom[1].data
        wins = first > second
        winner[...] = ~wins
        y[...] = xp.where(wins, first, second)
        for i, view in enumerate(bottom[2:], 2):
            wins = view.data > y
            xp.copyto(y, view.data, where=wins)
            xp.maximum(winner, wins * winner.dtype.type(i), out=winner)

    def _rest_of_product(self, i: int, bottom: Views, top: Views) -> None:
        gx = bottom[i].diff
        if not self.stable:
            self.xp.divide(top[0].data, bottom[i].data, out=gx)
            return
        others = [view.data for j, view in enumerate(bottom) if j != i]
        gx[...] = others[0]
        for x in others[1:]:
            gx *= x

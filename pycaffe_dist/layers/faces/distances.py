"""InnerDistance, and what losses of distances to the centres of classes have in common."""

from __future__ import annotations

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, View, Views
from pycaffe_dist.layer import Layer, register
from pycaffe_dist.layers.loss import Loss, class_numbers
from pycaffe_dist.layers.neuron import sign

EPS = 1e-6


@register("InnerDistance")
class InnerDistance(Layer):
    """y = ‖x − w‖² for each row w of W, with ``distance_type`` L1 Σ |x − w|, + b.

    x: (M, K), flattened from ``axis`` on  W: (N, K), or the second bottom  b: (N,)  y: (M, N)
    ∂x = 2 Σ ∂y·(x − w)   ∂w = 2 Σ ∂y·(w − x), with L1 the signs.  ``update_center_only`` gives w
    only the ∂y of items with its label, the last bottom.  ``normalize`` scales the rows of W to
    length 1 first.
    """

    bottoms = (1, 3)

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.inner_distance_param
        self.check(
            p.distance_type in ("L1", "L2"),
            f"distance_type must be L1 or L2, found {p.distance_type!r}",
        )
        self.check(not p.transpose, "transpose is not supported, give W as (num_output, inputs)")
        self.absolute, self.labelled = p.distance_type == "L1", p.update_center_only
        self.given = len(bottom) - self.labelled > 1
        self.axis = bottom[0].axis(p.axis)
        self.inputs = bottom[0].count_from(self.axis)
        self.outputs = bottom[1].shape[0] if self.given else p.num_output
        self.biased = p.bias_term and not self.given
        self.remembers = p.normalize and not self.given  # weights scaled by each pass
        if not self.given:
            self.add_blob((self.outputs, self.inputs), p.weight_filler)
        if self.biased:
            self.add_blob((self.outputs,), p.bias_filler)
        self.label_bottoms = (len(bottom) - 1,) if self.labelled else ()

    def reshape(self, bottom: Views, top: Views) -> None:
        inputs, items = bottom[0].count_from(self.axis), bottom[0].count_from(0, self.axis)
        self.check(
            inputs == self.inputs and self._weights(bottom).count == self.outputs * inputs,
            f"its weights are {(self.outputs, self.inputs)}, the bottom is {bottom[0].shape}",
        )
        self.check(
            not self.labelled or (len(bottom) > 1 and bottom[-1].count == items),
            f"update_center_only needs {items} labels as its last bottom",
        )
        top[0].reshape(*bottom[0].shape[: self.axis], self.outputs)

    def forward(self, bottom: Views, top: Views) -> None:
        xp, y = self.xp, top[0].data.reshape(-1, self.outputs)
        if self.layer_param.inner_distance_param.normalize and not self.given:
            unit = self.params[0].change_data()
            unit /= xp.sqrt(xp.einsum("nk,nk->n", unit, unit) + self.dtype.type(EPS))[:, None]
        x, w = self._x(bottom), self._w(bottom)
        if self.absolute:
            for n in range(self.outputs):
                y[:, n] = abs(x - w[n]).sum(axis=1)
        else:
            squares = [xp.einsum("ik,ik->i", a, a) for a in (x, w)]
            xp.maximum(squares[0][:, None] + squares[1] - 2 * (x @ w.T), 0, out=y)
        if self.biased:
            y += self.params[-1].data

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        gy, x, w = top[0].diff.reshape(-1, self.outputs), self._x(bottom), self._w(bottom)
        weights = self._weights(bottom)
        if propagate_down[0]:
            bottom[0].diff.reshape(x.shape)[...] = self._pull(gy, x, w)
        own = self._own(gy, bottom) if self.labelled else gy
        if self.given:
            if propagate_down[1]:
                weights.diff.reshape(w.shape)[...] = self._pull(own.T, w, x)
        elif self.param_propagate_down[0]:
            weights.diff[...] += self._pull(own.T, w, x)
        if self.biased and self.param_propagate_down[1]:
            self.params[1].diff[...] += gy.sum(axis=0)

    def flops(self, bottom: Views, top: Views) -> int:
        return int(3 * top[0].count * self.inputs)

    def _pull(self, g: Array, a: Array, b: Array) -> Array:
        """Σ_j g_ij · ∂distance(a_i, b_j)/∂a_i, of a: (I, K) and b: (J, K)."""
        if not self.absolute:
            return 2 * (g.sum(axis=1)[:, None] * a - g @ b)
        total, signs = self.xp.zeros(a.shape, self.dtype), self.xp.empty_like(a)
        for j in range(len(b)):
            sign(self.xp, a - b[j], out=signs)
            total += g[:, j, None] * signs
        return total

    def _own(self, gy: Array, bottom: Views) -> Array:
        labels, _ = class_numbers(self, bottom[-1], (len(gy), self.outputs, 1))
        return gy * (self.xp.arange(self.outputs) == labels)

    def _x(self, bottom: Views) -> Array:
        return bottom[0].data.reshape(-1, self.inputs)

    def _w(self, bottom: Views) -> Array:
        return self._weights(bottom).data.reshape(self.outputs, self.inputs)

    def _weights(self, bottom: Views) -> View:
        return bottom[1] if self.given else self.params[0]


class LabelledDistances(Loss):
    """Distances (N, K) to the centres of K classes, and labels (N,)."""

    def reshape(self, bottom: Views, top: Views) -> None:
        super().reshape(bottom, top)
        self.num, self.classes = max(1, bottom[0].shape[0]), bottom[0].count_from(1)
        self.check_values(bottom, 1)
        self.check_extra(bottom)
        for view in top[1:]:
            view.reshape(2)

    def check_values(self, bottom: Views, number: int) -> None:
        """A bottom must have a value for each item."""
        for view in bottom[number : number + 1]:
            self.check(
                view.count == bottom[0].shape[0],
                f"needs a value for each of the {bottom[0].shape[0]} items, found {view.shape}",
            )

    def check_extra(self, bottom: Views) -> None:
        """Look at a third bottom."""
        raise NotImplementedError

    def distances(self, bottom: Views) -> Array:
        return bottom[0].data.reshape(-1, self.classes)

    def labelled(self, bottom: Views) -> tuple[Array, Array]:
        """Where the distance to the own class is."""
        items = bottom[0].shape[0]
        labels, _ = class_numbers(self, bottom[1], (items, self.classes, 1))
        return self.xp.arange(items), labels.reshape(-1)

"""What the recurrent layers have in common: kept states, and the inputs of all steps at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pycaffe_dist import caffe_log as log
from pycaffe_dist.aliases import Array, Facts
from pycaffe_dist.blob import Blob, Flags, View, Views
from pycaffe_dist.layer import Context
from pycaffe_dist.layers.work import Working
from pycaffe_dist.proto.caffe_pb2 import LayerParameter


class Recurrent(Working):
    """T steps of N streams: y_t, h_t = step(W_x x_t + b + W_s x_static, cont_t · h_{t−1}).

    x: (T, N, …)  cont: (T, N)  x_static: (N, …)  y: (T, N, D)
    W_x: (G·D, I)  b: (G·D,)  W_s: (G·D, S), if there is a static input  W_h: (G·D, D)

    Where cont is 0 a sequence begins: nothing of the state before comes through.  A forward
    continues from the state in which the one before ended; with ``expose_hidden`` the states
    (1, N, D) come from bottoms and go to tops instead.  Gradients stay within the T steps.

    Caffe unrolls a net of small layers.  Here the products with x are one GEMM for all steps, and
    only those with the state are done step by step.
    """

    states = 1
    gates = 1  # G, the blocks of D sums that a step needs
    bias = 1  # b among the parameters
    has_static = False
    label_bottoms = (1,)
    remembers = True

    def __init__(self, param: LayerParameter, context: Context) -> None:
        super().__init__(param, context)
        self.exposed = self.states if param.recurrent_param.expose_hidden else 0
        self.bottoms = (2 + self.exposed, 3 + self.exposed)
        self.tops = 1 + self.exposed

    # -- what a subclass writes --------------------------------------------------------------

    def steps_forward(
        self, sums: Array, cont: Array, first: Sequence[Array], y: Array
    ) -> Sequence[Array]:
        """Run the steps from the states ``first``; fill y, return the last states."""
        raise NotImplementedError

    def steps_backward(self, gy: Array, cont: Array) -> tuple[Array, Array]:
        """The gradient of the sums (T, N, G·D), and the states (T, N, D) that W_h saw."""
        raise NotImplementedError

    # -- the layer ---------------------------------------------------------------------------

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.recurrent_param
        self.layer_param.ClearField("blobs")  # as in Caffe: not even values in the prototxt count
        self.check(p.num_output > 0, "num_output must be positive")
        self.size = p.num_output
        self.has_static = len(bottom) > 2 + self.exposed
        self._check_axes(bottom)
        self.length = bottom[0].shape[0]
        rows = self.gates * self.size
        self.inputs = self._inputs(bottom)
        self.add_blob((rows, self.inputs[0]), p.weight_filler)
        self.add_blob((rows,), p.bias_filler)
        if self.has_static:
            self.add_blob((rows, self.inputs[1]), p.weight_filler)
        self.state_weights = len(self.blobs)
        self.add_blob((rows, self.size), p.weight_filler)
        home = self.context.home
        self.last = [View(Blob((), self.dtype), home, "data") for _ in range(self.states)]

    def reshape(self, bottom: Views, top: Views) -> None:
        self._check_axes(bottom)
        self.check(
            bottom[0].shape[0] == self.length,
            f"was set up for {self.length} steps, the bottom {bottom[0].shape} has another number",
        )
        inputs = self._inputs(bottom)
        self.check(
            inputs == self.inputs,
            f"its weights are for {self.inputs} inputs, the bottoms have {inputs}",
        )
        self.streams = streams = bottom[0].shape[1]
        state = (1, streams, self.size)
        for i in range(len(bottom) - self.exposed, len(bottom)):
            self.check(
                bottom[i].shape == state,
                f"bottom {i} is a state and must have the shape {state}, not {bottom[i].shape}",
            )
        top[0].reshape(self.length, streams, self.size)
        for view in (*self.last, *top[1:]):
            view.reshape(*state)

    def _inputs(self, bottom: Views) -> list[int]:
        """I, and S if there is a static input."""
        counts = [bottom[0].count_from(2)]
        return [*counts, bottom[2].count_from(1)] if self.has_static else counts

    def _check_axes(self, bottom: Views) -> None:
        x, cont = bottom[0].shape, bottom[1].shape
        self.check(len(x) > 2, f"bottom 0 must be (steps, streams, inputs ...), found {x}")
        self.check(cont == x[:2], f"bottom 1 must be (steps, streams) = {x[:2]}, found {cont}")
        if self.has_static:
            static = bottom[2].shape
            self.check(
                len(static) > 1 and static[0] == x[1],
                f"bottom 2 must be (streams, inputs ...) for {x[1]} streams, found {static}",
            )

    def forward(self, bottom: Views, top: Views) -> None:
        streams = self.streams
        sums = self.work("sums", (self.length, streams, self.gates * self.size))
        x = bottom[0].data.reshape(-1, self.inputs[0])
        self.xp.matmul(x, self.params[0].data.T, out=sums.reshape(len(x), -1))
        sums += self.params[self.bias].data
        if self.has_static:
            sums += bottom[2].data.reshape(streams, -1) @ self.params[2].data.T
        given = bottom[len(bottom) - self.exposed :] if self.exposed else self.last
        first = [view.data[0] for view in given]
        y = top[0].data.reshape(self.length, streams, self.size)
        ends = self.steps_forward(sums, self.continues(bottom), first, y)
        for view, end in zip([*self.last, *top[1:]], [*ends, *ends], strict=False):
            view.data[0] = end

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        """To inputs and all parameters, asked for or not: Caffe does not look at the flags here."""
        self.check(not any(propagate_down[1:2]), "cannot give the sequence indicators a gradient")
        gy = top[0].diff.reshape(self.length, self.streams, self.size)
        g, kept = self.steps_backward(gy, self.continues(bottom))
        flat = g.reshape(-1, g.shape[-1])
        x = bottom[0].data.reshape(-1, self.inputs[0])
        self.params[0].diff[...] += flat.T @ x
        self.params[self.bias].diff[...] += flat.sum(axis=0)
        if self.has_static:
            total, streams = g.sum(axis=0), g.shape[1]
            self.params[2].diff[...] += total.T @ bottom[2].data.reshape(streams, -1)
            gs = bottom[2].diff.reshape(streams, -1)
            self.xp.matmul(total, self.params[2].data, out=gs)
        self.params[self.state_weights].diff[...] += flat.T @ kept.reshape(-1, self.size)
        gx = bottom[0].diff.reshape(-1, self.inputs[0])
        self.xp.matmul(flat, self.params[0].data, out=gx)

    def gives_gradient(self, index: int) -> bool:
        return True

    def reset(self) -> None:
        """Forget the states: the next forward begins with zeros."""
        for view in self.last:
            view.data[...] = 0

    def get_state(self) -> Facts:
        """The states in which the last forward ended, unless they come from bottoms."""
        if self.exposed or self.context.dry:
            return {}
        return {f"state{i}": view.blob.data[0].copy() for i, view in enumerate(self.last)}

    def set_state(self, state: Facts) -> None:
        """Streams that are not in ``state`` begin with zeros."""
        for i, view in enumerate(self.last):
            stored, target = state.get(f"state{i}"), view.blob.data[0]
            if stored is None:  # of a snapshot that does not have it
                continue
            self.check(
                stored.shape[1:] == target.shape[1:],
                f"the snapshot's state has {stored.shape[1:]} values for each stream, "
                f"{target.shape[1:]} are needed",
            )
            known = min(len(stored), len(target))
            target[:known], target[known:] = stored[:known], 0
            if i == 0 and known < len(target):
                text = "%s: the snapshot has the states of %d streams; %d others begin with zeros"
                log.warning("recurrent_layer.cpp", text, self.name, known, len(target) - known)

    def deal_state(self, states: Sequence[Facts], rank: int, ranks: int) -> Facts:
        """Stream k of all is stream k div P of rank k mod P, as data layers deal their records."""
        joint = {
            key: np.stack([state[key] for state in states], 1).reshape(-1, self.size)
            for key in states[0]
        }
        return {key: values[rank::ranks] for key, values in joint.items()}

    def flops(self, bottom: Views, top: Views) -> int:
        products = self.length * (self.inputs[0] + self.size) + sum(self.inputs[1:])
        return int(2 * self.streams * self.gates * self.size * products)

    def continues(self, bottom: Views) -> Array:
        """Cont: (T, N), 0 where a sequence begins."""
        return bottom[1].data

    # -- help for subclasses -----------------------------------------------------------------

    def continued(self, state: Array, cont: Array) -> Array:
        """The state where a sequence continues, 0 (even for NaN) where one begins."""
        return self.xp.where(cont != 0, state, self.dtype.type(0))

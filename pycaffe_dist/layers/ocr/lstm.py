"""Lstm: the LSTM of junhyukoh/caffe-lstm, which nets that read text use."""

from __future__ import annotations

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Blob, Flags, View, Views
from pycaffe_dist.layer import Context, register
from pycaffe_dist.layers.lstm import LSTM
from pycaffe_dist.proto.caffe_pb2 import LayerParameter


@register("Lstm", dialect="ocr")
class Lstm(LSTM):
    """LSTM with its parameters in another order: W_x (4D, I), W_h (4D, D), b (4D,).

    x: (T·N, I…) with ``batch_size`` N, y: (T·N, D);  or (T, N, I), y: (T, N, D), if it has three
    axes and no batch_size is given.  An optional second bottom, of T·N values, is cont; without it
    every forward is one sequence.  ``clipping_threshold`` limits the gradients of the sums to ± it.
    Backward leaves in the top's diff the whole gradient of h, that from the steps behind included.
    """

    bias = 2

    def __init__(self, param: LayerParameter, context: Context) -> None:
        super().__init__(param, context)
        self.bottoms = (1, 2)

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.lstm_param
        self.check(p.num_output > 0, "num_output must be positive")
        self.size, self.exposed = p.num_output, 0
        self.threshold = self.dtype.type(p.clipping_threshold)
        self.flat = p.HasField("batch_size") or len(bottom[0].shape) != 3
        self.inputs = [self._inputs_of(bottom[0])]
        rows = 4 * self.size
        self.add_blob((rows, self.inputs[0]), p.weight_filler)
        self.state_weights = len(self.blobs)
        self.add_blob((rows, self.size), p.weight_filler)
        self.add_blob((rows,), p.bias_filler)
        home = self.context.home
        self.last = [View(Blob((), self.dtype), home, "data") for _ in range(self.states)]

    def reshape(self, bottom: Views, top: Views) -> None:
        x = bottom[0]
        self.check(
            self._inputs_of(x) == self.inputs[0],
            f"its weights are for {self.inputs[0]} inputs, the bottom is {x.shape}",
        )
        if self.flat:
            self.streams = self.layer_param.lstm_param.batch_size
            self.check(
                self.streams > 0 and x.shape[0] % self.streams == 0,
                f"the bottom {x.shape} does not hold whole steps of batch_size {self.streams}",
            )
            self.length = x.shape[0] // self.streams
        else:
            self.length, self.streams = x.shape[:2]
        for cont in bottom[1:]:
            self.check(
                cont.count == self.length * self.streams,
                f"bottom 1 must have {self.length} · {self.streams} values, found {cont.shape}",
            )
        top[0].reshape(*x.shape[: 1 if self.flat else 2], self.size)
        for view in self.last:
            view.reshape(1, self.streams, self.size)

    def continues(self, bottom: Views) -> Array:
        shape = self.length, self.streams
        if len(bottom) > 1:
            return bottom[1].data.reshape(shape)
        cont = self.xp.ones(shape, self.dtype)
        cont[0] = 0
        return cont

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        super().backward(top, propagate_down, bottom)
        whole = View(top[0].blob, self.context.home, "diff").diff
        whole[...] = self.work("whole", (self.length, self.streams, self.size)).reshape(whole.shape)

    def stepped_back(self, t: int, g: Array, gh: Array) -> None:
        self.work("whole", (self.length, self.streams, self.size))[t] = gh
        if self.threshold > 0:
            self.xp.minimum(g, self.threshold, out=g)
            self.xp.maximum(g, -self.threshold, out=g)

    def _inputs_of(self, x: View) -> int:
        return int(x.count_from(1 if self.flat else 2))


@register(
    "Lstm",
    dialect="lstm",
    when=lambda p: p.lstm_param.batch_size > 1,
    why="lstm_param has a batch_size above 1, which is computed as caffe-lstm's CPU code does; "
    "`--dialect ocr` computes it as the GPU code does",
)
class CaffeLstm(Lstm):
    """Lstm with a ``batch_size`` above 1, to the letter of caffe-lstm's CPU code.

    There every stream sees the h of stream 0 in place of its own, and W_h gets the gradient as if
    it were its own, also where a sequence begins.  Of a cont that is not (T, N), step t reads the N
    values from the t-th on.  A net that was trained on a GPU needs ``--dialect ocr``.
    """

    def continues(self, bottom: Views) -> Array:
        shape = self.length, self.streams
        if len(bottom) == 1 or bottom[1].shape[:2] == shape:
            return super().continues(bottom)
        xp = self.xp
        places = xp.arange(self.length)[:, None] + xp.arange(self.streams)
        return bottom[1].data.reshape(-1)[places]

    def recall(self, h: Array, goes_on: Array, kept: Array) -> Array:
        kept[...] = h
        return h[:1] * goes_on

    def passed_back(self, gh: Array, goes_on: Array) -> Array:
        first = self.xp.zeros(gh.shape, self.dtype)
        first[0] = (gh * goes_on).sum(axis=0)
        return first

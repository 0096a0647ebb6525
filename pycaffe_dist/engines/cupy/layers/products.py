"""InnerProduct and Embed."""

from __future__ import annotations

from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.engines.cupy.launch import Multiplying, OnDevice, accelerates
from pycaffe_dist.layers.embed import Embed
from pycaffe_dist.layers.inner_product import InnerProduct

PARTS = 64  # shares of a table's rows, each added to by a thread for every column


@accelerates("InnerProduct")
class DeviceInnerProduct(Multiplying, InnerProduct):
    def forward_alone(self, bottom: Views, top: Views) -> None:
        x, y = bottom[0].data.reshape(-1, self.inputs), top[0].data.reshape(-1, self.outputs)
        self.engine.multiply(x, self._weights_in_out(), y)
        if len(self.params) > 1:
            settings = self.outputs, 1, self.rectifies
            self.launch("bias_forward", y.size, *settings, y, self.params[1].data, y)
        elif self.rectifies:
            self.launch("relu_forward", y.size, 0, y, y)

    def backward_alone(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        gy, x = self.factors(top, bottom)
        if self.param_propagate_down[0]:
            total = self.params[0].diff
            a, b = (x, gy) if self.transpose else (gy, x)
            self.engine.multiply(a.T, b, total, add=True)
        if len(self.params) > 1 and self.param_propagate_down[1]:
            shape = len(gy), self.outputs, 1
            self.sums("channel_sums", shape, gy, out=self.params[1].diff, keep=1)
        if propagate_down[0]:
            gx = bottom[0].diff.reshape(-1, self.inputs)
            self.engine.multiply(gy, self._weights_in_out().T, gx)


@accelerates("Embed")
class DeviceEmbed(OnDevice, Embed):
    def forward(self, bottom: Views, top: Views) -> None:
        x, y = bottom[0].data, top[0].data
        self.engine.check_numbers(self, x, self.inputs, self._wrong)
        self.launch("take_rows", y.size, self.outputs, self.inputs, x, self.params[0].data, y)
        if len(self.params) > 1:
            settings = self.outputs, 1, False
            self.launch("bias_forward", y.size, *settings, y, self.params[1].data, y)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        self.check(not propagate_down[0], "cannot give its indices a gradient")
        x, gy = bottom[0].data, top[0].diff.reshape(-1, self.outputs)
        if self.param_propagate_down[0]:
            gw = self.params[0].diff
            sizes = PARTS, self.outputs, len(gy), self.inputs
            self.launch("add_rows", PARTS * self.outputs, *sizes, x, gy, gw)
        if len(self.params) > 1 and self.param_propagate_down[1]:
            shape = len(gy), self.outputs, 1
            self.sums("channel_sums", shape, gy, out=self.params[1].diff, keep=1)

    def _wrong(self, value: float, at: int) -> str:
        return f"the index {value:g} is not one of 0 to {self.inputs - 1}"

"""Element-wise layers."""

from __future__ import annotations

from pycaffe_dist.aliases import DeviceArray
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.engines.chains import Chainable
from pycaffe_dist.engines.cupy.launch import OnDevice, accelerates, seed
from pycaffe_dist.layers.absval import AbsVal
from pycaffe_dist.layers.bnll import BNLL
from pycaffe_dist.layers.clip import Clip
from pycaffe_dist.layers.dropout import Dropout
from pycaffe_dist.layers.elu import ELU
from pycaffe_dist.layers.exponential import Exp, Log
from pycaffe_dist.layers.power import Power
from pycaffe_dist.layers.prelu import PReLU
from pycaffe_dist.layers.relu import ReLU
from pycaffe_dist.layers.sigmoid import Sigmoid, Swish
from pycaffe_dist.layers.tanh import TanH
from pycaffe_dist.layers.threshold import Threshold
from pycaffe_dist.layers.work import planes


class Elementwise(OnDevice):
    """One kernel forward, one backward.

    Attributes:
        kernel: their names without ``_forward`` and ``_backward``.
        settings, slope_settings: attributes of the layer that the kernels take before the arrays.
        sees: what backward reads besides ∂y: x, y or both.
    """

    kernel = ""
    settings: tuple[str, ...] = ()
    slope_settings: tuple[str, ...] | None = None
    sees = "x"

    def forward(self, bottom: Views, top: Views) -> None:
        x, y = bottom[0].data, top[0].data
        self.launch(f"{self.kernel}_forward", x.size, *self._values(self.settings), x, y)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if not propagate_down[0]:
            return
        names = self.settings if self.slope_settings is None else self.slope_settings
        seen = [{"x": bottom[0], "y": top[0]}[letter].data for letter in self.sees]
        gy, gx = top[0].diff, bottom[0].diff
        self.launch(f"{self.kernel}_backward", gy.size, *self._values(names), *seen, gy, gx)

    def _values(self, names: tuple[str, ...]) -> list[DeviceArray]:
        return [getattr(self, name) for name in names]


@accelerates("ReLU")
class DeviceReLU(Chainable, Elementwise, ReLU):
    kernel, settings = "relu", ("slope",)


@accelerates("ELU")
class DeviceELU(Elementwise, ELU):
    kernel, settings, sees = "elu", ("alpha",), "xy"


@accelerates("Sigmoid")
class DeviceSigmoid(Elementwise, Sigmoid):
    kernel, sees = "sigmoid", "y"


@accelerates("TanH")
class DeviceTanH(Elementwise, TanH):
    kernel, sees = "tanh", "y"


@accelerates("AbsVal")
class DeviceAbsVal(Elementwise, AbsVal):
    kernel = "absval"


@accelerates("BNLL")
class DeviceBNLL(Elementwise, BNLL):
    kernel = "bnll"


@accelerates("Power")
class DevicePower(Elementwise, Power):
    kernel, settings, sees = "power", ("power", "scale", "shift"), "xy"


@accelerates("Exp")
class DeviceExp(Elementwise, Exp):
    kernel, settings, sees = "exp", ("inner_scale", "outer_scale"), "y"
    slope_settings = ("inner_scale",)


@accelerates("Log")
class DeviceLog(Elementwise, Log):
    kernel, settings = "log", ("base_scale", "input_scale", "input_shift")
    slope_settings = ("diff_scale", "input_scale", "input_shift")


@accelerates("Clip")
class DeviceClip(Elementwise, Clip):
    kernel, settings = "clip", ("min", "max")


@accelerates("Threshold")
class DeviceThreshold(OnDevice, Threshold):
    def forward(self, bottom: Views, top: Views) -> None:
        x, y = bottom[0].data, top[0].data
        self.launch("threshold_forward", x.size, self.threshold, x, y)


@accelerates("Swish")
class DeviceSwish(OnDevice, Swish):
    def forward(self, bottom: Views, top: Views) -> None:
        x, y = bottom[0].data, top[0].data
        self.launch("swish_forward", x.size, self.beta, x, self.kept("gate", x.shape), y)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if propagate_down[0]:
            y, gy, gx = top[0].data, top[0].diff, bottom[0].diff
            gate = self.kept("gate", y.shape)
            self.launch("swish_backward", y.size, self.beta, gate, y, gy, gx)


@accelerates("PReLU")
class DevicePReLU(OnDevice, PReLU):
    def forward(self, bottom: Views, top: Views) -> None:
        x, y = bottom[0].data, top[0].data
        if top[0].blob is bottom[0].blob:
            self.kept("input", x.shape)[...] = x
        self.launch("prelu_forward", x.size, *self._channels(x), self.params[0].data, x, y)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        gy, x = top[0].diff, bottom[0].data
        if top[0].blob is bottom[0].blob:
            x = self.kept("input", x.shape)
        channels, inner = self._channels(x)
        if self.param_propagate_down[0]:
            shape = x.size // max(1, channels * inner), channels, inner
            slopes = self.params[0].diff.reshape(-1)
            self.sums("prelu_slope_sums", shape, x, gy, out=slopes, keep=1)
        if propagate_down[0]:
            slopes, gx = self.params[0].data, bottom[0].diff
            self.launch("prelu_backward", x.size, channels, inner, slopes, x, gy, gx)

    def _channels(self, x: DeviceArray) -> tuple[int, int]:
        """Of the slopes: how many, and the values that each of them serves in a row."""
        return (x.shape[1], planes(x).shape[2]) if self.params[0].shape else (1, max(1, x.size))


@accelerates("Dropout")
class DeviceDropout(OnDevice, Dropout):
    """The mask is not stored: backward draws the same numbers again."""

    seed = 0

    def forward(self, bottom: Views, top: Views) -> None:
        if self.draws:
            self.seed = seed()
            self._apply(bottom[0].data, top[0].data)
        else:
            super().forward(bottom, top)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if propagate_down[0] and self.draws:
            self._apply(top[0].diff, bottom[0].diff)
        else:
            super().backward(top, propagate_down, bottom)

    def _apply(self, x: DeviceArray, y: DeviceArray) -> None:
        self.launch("dropout", x.size, self.limit, self.scale, self.seed, 0, 0, x, y)

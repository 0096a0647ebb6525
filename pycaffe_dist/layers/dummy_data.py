"""DummyData: constants or random numbers, without any file."""

from __future__ import annotations

from typing import TypeVar

from pycaffe_dist.blob import Flags, View, Views
from pycaffe_dist.errors import NetError
from pycaffe_dist.fillers import check_filler, fill
from pycaffe_dist.layer import Layer, register
from pycaffe_dist.proto.caffe_pb2 import FillerParameter

T = TypeVar("T")


@register("DummyData")
class DummyData(Layer):
    """Tops of given shapes, filled: constants once, all others before every forward."""

    bottoms = 0
    tops = (1, None)

    def setup(self, bottom: Views, top: Views) -> None:
        given = list(self.layer_param.dummy_data_param.data_filler) or [FillerParameter()]
        self.fillers = self._one_for_each("data_filler", given, len(top))
        shapes = self._one_for_each("shape", self._shapes(len(top)), len(top))
        for view, shape, filler in zip(top, shapes, self.fillers, strict=True):
            view.reshape(*shape)
            check_filler(filler, view.shape)
            if filler.type == "constant" and not self.context.dry:
                self._fill(view, filler)

    def _shapes(self, tops: int) -> list[tuple[int, ...]]:
        p = self.layer_param.dummy_data_param
        old = {name: list(getattr(p, name)) for name in ("num", "channels", "height", "width")}
        if not any(old.values()):
            return [tuple(shape.dim) for shape in p.shape]
        self.check(not p.shape, "has both a shape and num, channels, height, width")
        columns = [self._one_for_each(name, values, tops) for name, values in old.items()]
        return list(zip(*columns, strict=True))

    def _one_for_each(self, name: str, values: list[T], tops: int) -> list[T]:
        self.check(
            len(values) in (1, tops),
            f"{len(values)} {name} for {tops} tops; give one, or one for each",
        )
        return values * tops if len(values) == 1 else values

    def reshape(self, bottom: Views, top: Views) -> None:
        pass

    def forward(self, bottom: Views, top: Views) -> None:
        for view, filler in zip(top, self.fillers, strict=True):
            if filler.type != "constant":
                self._fill(view, filler)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        pass

    def _fill(self, view: View, filler: FillerParameter) -> None:
        try:
            fill(filler, view.blob.data)
        except NetError as e:
            raise self.error(str(e)) from e

    def flops(self, bottom: Views, top: Views) -> int:
        return 0

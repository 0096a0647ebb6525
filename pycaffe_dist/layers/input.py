"""Input: blobs that the user fills."""

from __future__ import annotations

from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import Layer, register


@register("Input")
class Input(Layer):
    """Tops of the given shapes: one for all, or one for each; none if the caller shapes them."""

    bottoms = 0
    tops = (1, None)

    def setup(self, bottom: Views, top: Views) -> None:
        shapes = self.layer_param.input_param.shape
        self.check(
            len(shapes) in (0, 1, len(top)),
            f"{len(shapes)} shapes for {len(top)} tops; give none, one, or one for each",
        )
        for i, view in enumerate(top):
            if shapes:
                view.reshape(*shapes[i if len(shapes) > 1 else 0].dim)

    def reshape(self, bottom: Views, top: Views) -> None:
        pass

    def forward(self, bottom: Views, top: Views) -> None:
        pass

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        pass

    def flops(self, bottom: Views, top: Views) -> int:
        return 0

"""SpatialDropout."""

from __future__ import annotations

from pycaffe_dist.aliases import Shape
from pycaffe_dist.layer import register
from pycaffe_dist.layers.dropout import Dropout


@register("SpatialDropout")
class SpatialDropout(Dropout):
    """Dropout of whole channels: one number is drawn for each channel of each item.

    Its ratio is dropout_param's, as in the fork, which has a spatial_dropout_param, too.
    """

    def mask_shape(self, shape: Shape) -> Shape:
        return (*shape[:2], *[1] * (len(shape) - 2))

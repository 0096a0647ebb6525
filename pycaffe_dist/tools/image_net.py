"""A net that looks at one image at a time: for detect, eval_detection and segment."""

from __future__ import annotations

import numpy as np

from pycaffe_dist import engines
from pycaffe_dist.aliases import Array
from pycaffe_dist.data.image import Color, Pixels, resize
from pycaffe_dist.data.scaling import apply_resize
from pycaffe_dist.errors import NetError
from pycaffe_dist.layer import Context
from pycaffe_dist.loading import load_weights
from pycaffe_dist.net import Net
from pycaffe_dist.proto.caffe_pb2 import (
    TEST,
    LayerParameter,
    NetParameter,
    NetState,
    ResizeParameter,
    TransformationParameter,
)
from pycaffe_dist.proto.deploy import with_input
from pycaffe_dist.proto.nets import NetFile, read_net
from pycaffe_dist.proto.state import filter_net
from pycaffe_dist.tools.inputs import check_weights
from pycaffe_dist.tools.preprocess import Preprocess, read_mean

OWN_SIZE = (0, 0)  # of an input: that of each image
ANY = 32  # pixels, of an input whose size is that of each image, before there is one


class ImageNet:
    """A deployed net, or a test net whose data layer gives way to an input.

    An image (height, width, channels) of bytes, blue first, is brought to the size of the input;
    then x = (pixel · raw_scale / 255 − mean) · scale.  Mean and scale are those of ``how``, or else
    of the net's transform_param, which also says how the image is brought to its size.

    Args:
        how: the files of the net, and the preparation of its images.
        size: height and width of the input, if not those of the net; OWN_SIZE for each image's.
    """

    def __init__(self, how: Preprocess, size: tuple[int, ...] | None = None) -> None:
        self.how = how
        file = read_net(how.model_def)
        file.net.state.MergeFrom(NetState(phase=TEST))
        net = filter_net(file.net)
        self.source = source = _source(net, how.model_def)
        self.param = source.transform_param
        self.size = tuple(size) if size is not None else _size_of(source)
        self.resize = self._resize(size)
        shape = (1, _channels(source), *(side or ANY for side in self.size))
        made = with_input(net, source, shape)
        check_weights([how.pretrained_model])
        self.net = Net(NetFile(made, how.model_def, []), Context(engine=engines.current()))
        load_weights(self.net, how.pretrained_model)
        self.input = self.net.blobs[self.net.blob_ids[source.top[0]]]
        self.swap = how.swap(shape[1])
        self.mean = self._mean()
        scale = self.param.scale if how.input_scale is None else how.input_scale
        self.scale, self.raw_scale = np.float32(scale), np.float32(how.raw_scale / 255)

    @property
    def color(self) -> Color:
        """What its images are decoded to."""
        return Color.GRAY if self.input.shape[1] == 1 else Color.COLOR

    def run(self, image: Pixels) -> None:
        """Let the net look at an image."""
        values = self.prepared(image)
        if values.shape != self.input.shape[1:]:
            self.input.reshape(1, *values.shape)
            self.net.reshape()
        self.input.data[0] = values
        self.net.forward()

    def prepared(self, image: Pixels) -> Array:
        """(channels, height, width): what the net takes for an image."""
        if self.resize is not None:
            image = apply_resize(image, self.resize, np.random.default_rng(0))
        elif self.size != OWN_SIZE:
            height, width = self.size
            image = resize(image, height, width)
        planes = image.transpose(2, 0, 1)
        if self.swap is not None:  # it counts from red on
            planes = planes[::-1][list(self.swap)]
        values: Array = planes.astype(np.float32) * self.raw_scale
        if self.mean is not None:
            values -= self._mean_of(values.shape)
        return values * self.scale

    def _resize(self, size: object) -> ResizeParameter | None:
        """The way of the net's transform_param, unless another size is asked for."""
        if size is not None or not self.param.resize_param:
            return None
        out = ResizeParameter()
        out.CopyFrom(self.param.resize_param[0])
        del out.interp_mode[1:]  # a test is not random
        return out

    def _mean(self) -> Array | None:
        mean = self.how.mean()
        if mean is None and self.param.mean_value:
            mean = np.array(self.param.mean_value, np.float32)
        elif mean is None and self.param.mean_file:
            mean = read_mean(self.param.mean_file)
        channels = self.input.shape[1]
        if mean is not None and len(mean) not in (1, channels):
            raise NetError(f"the mean has {len(mean)} values, images have {channels} channel(s)")
        return mean

    def _mean_of(self, shape: tuple[int, ...]) -> Array:
        """The mean image, or of one of another size and of values the mean of each channel."""
        assert self.mean is not None
        if self.mean.shape == shape:
            return self.mean
        mean: Array = self.mean.reshape(len(self.mean), -1).mean(axis=1)[:, None, None]
        return mean


# -- the net's file --------------------------------------------------------------------------------


def _source(net: NetParameter, path: str) -> LayerParameter:
    """The layer that brings images in."""
    for layer in net.layer:
        if not layer.bottom and layer.top and layer.type not in ("DummyData", "Parameter"):
            return layer
    raise NetError(f"{path}: has no layer that brings images in: an Input, or a data layer")


def _channels(source: LayerParameter) -> int:
    if source.type == "Input":
        dims = [dim for shape in source.input_param.shape[:1] for dim in shape.dim]
        if len(dims) != 4:
            raise NetError(
                f'layer "{source.name}": images need an input of 4 axes (batch, channels, height, '
                f"width), found {len(dims)}"
            )
        return int(dims[1])
    p = source.transform_param
    grey = p.force_gray or (source.type == "ImageData" and not source.image_data_param.is_color)
    return 1 if grey else 3


def _size_of(source: LayerParameter) -> tuple[int, ...]:
    """Height and width as the file tells them; OWN_SIZE if it does not."""
    p: TransformationParameter = source.transform_param
    if source.type == "Input":
        _channels(source)
        return tuple(int(side) for side in source.input_param.shape[0].dim[2:])
    if p.resize_param:
        way = p.resize_param[0]
        fixed = way.resize_mode != ResizeParameter.FIT_SMALL_SIZE
        return (way.height, way.width) if fixed else OWN_SIZE
    if p.crop_size or p.crop_h or p.crop_height:
        return p.crop_size or p.crop_h or p.crop_height, p.crop_size or p.crop_w or p.crop_width
    image = source.image_data_param
    return (image.new_height, image.new_width) if image.new_height else OWN_SIZE

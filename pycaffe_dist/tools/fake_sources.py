"""A data source that ``--fake-data`` replaces, and the shapes its batches may have."""

from __future__ import annotations

import re

from pycaffe_dist.aliases import Shape
from pycaffe_dist.errors import PcdError
from pycaffe_dist.proto.caffe_pb2 import FillerParameter, LayerParameter, NetParameter
from pycaffe_dist.sketch import Sketch
from pycaffe_dist.tools.fake_uses import MARKED

IMAGE_USERS = ("Convolution", "Deconvolution", "Pooling", "LRN", "Im2col", "SPP", "Crop", "Slice")
VIDEO_USERS = ("Convolution3D", "Deconvolution3D", "Pooling3D")
FRAMES = 16  # of a clip, where its source does not say
# A label for each pixel of the image, (N, 1, H, W).
LABELLED_PIXELS = ("ImageSegData", "DenseImageData", "ImageLabelmapData")
# Where settings say how large an image is when it leaves its source, the last step first.
SIZES = (
    ("crop_h", "crop_w"),
    ("crop_height", "crop_width"),
    ("height", "width"),
    ("new_height", "new_width"),
)
# Shapes of one item, by a word in the names of source, layer or net.
KNOWN = {
    "siamese": (2, 28, 28),
    "mnist": (1, 28, 28),
    "lenet": (1, 28, 28),
    "cifar": (3, 32, 32),
    "camvid": (3, 360, 480),
    "mjsynth": (1, 32, 100),
    "ctc_digits": (1, 28, 96),
}
IMAGES = (
    (3, 224, 224),
    (3, 227, 227),
    (3, 32, 32),
    (1, 28, 28),
    (2, 28, 28),
    (1, 32, 32),
    (3, 64, 64),
    (3, 96, 96),
    (1, 64, 64),
    (3, 256, 256),
    (3, 321, 321),
    (3, 500, 500),
    (6, 224, 224),
    (3, 299, 299),
    (3, 12, 12),
    (3, 24, 24),
    (3, 48, 48),
    (3, 32, 280),
    (1, 32, 280),
)
VIDEO = (112, 112)
SEQUENCES = ((4, 16), (8, 4, 16), (16,))  # with the batch in front as steps, or as whole batches
WORDS = ((4,), ())
VECTORS = ((16,), (784,), (4096,), (32, 1, 1))


class Source:
    """A layer that is to be replaced, and the shapes its tops may have."""

    def __init__(
        self, layer: LayerParameter, net_name: str, batch_size: int | None, python: bool
    ) -> None:
        self.layer, self.python = layer, python
        self.tops = list(layer.top)
        settings = str(layer).lower()
        found = re.search(r"batch_size\W+(\d+)", settings)  # in whichever message; or param_str
        self.says_batch = bool(batch_size or found)
        self.batch = batch_size or (int(found[1]) if found else 1)
        # Images that keep their proportions come one by one.
        self.batch = 1 if "fit_small_size" in settings else max(1, self.batch)
        self.words = f"{settings} {net_name.lower()}"
        self.read = self._read()

    def _read(self) -> list[Shape] | None:
        """The shapes of one item of each top as the layer itself finds them."""
        alone = NetParameter(layer=[self.layer])
        alone.layer[0].ClearField("include")
        alone.layer[0].ClearField("exclude")
        try:
            net = Sketch(alone, self.python)
        except PcdError:
            return None
        return [b.shape[1:] for b in net.blobs] if net.knows(0) else None

    def item_shapes(self, users: set[str], steps: int = 0) -> list[Shape]:
        """What its first top may hold, likeliest first.

        Args:
            users: the types of the layers that take it.
            steps: of the sequences that columns of images become, if the net says how many.
        """
        shapes = [self.read[0]] if self.read else []
        if users & set(VIDEO_USERS):
            found = re.search(r"\bnew_length: (\d+)", self.words)
            frames = int(found[1]) if found else FRAMES
            shapes += [(3, frames, *size) for size in (*self._sizes(), VIDEO)]
        for size in self._sizes():
            shapes += [(channels, *size) for channels in (3, 1, 2, 4, 6)]
        shapes += [shape for word, shape in KNOWN.items() if word in self.words]
        if steps:
            shapes += [(channels, 32, steps * n) for n in (1, 2, 4, 8) for channels in (3, 1)]
        if "Embed" in users:
            shapes += WORDS
        if users & set(MARKED):
            shapes += SEQUENCES
        if not users & set(IMAGE_USERS) and self.layer.type == "HDF5Data":
            shapes += VECTORS
        return list(dict.fromkeys([*shapes, *IMAGES, *VECTORS, *SEQUENCES]))

    def _sizes(self) -> list[tuple[int, int]]:
        """Height and width as its settings have them."""
        crop = self.layer.transform_param.crop_size
        found = [(crop, crop)] if crop else []
        for names in SIZES:
            given = [re.search(rf"\b{name}: (\d+)", self.words) for name in names]
            sides = [int(side[1]) for side in given if side]
            if len(sides) == 2 and all(sides):
                found.append((sides[0], sides[1]))
        return found

    def label_item(self, item: Shape) -> Shape | None:
        """The shape of a label where the type of the source says it."""
        if self.layer.type in LABELLED_PIXELS and len(item) == 3:
            return (1, *item[1:])
        return None

    def pixels(self) -> FillerParameter:
        """Values like those of its images: bytes less the mean, scaled."""
        if self.layer.type in ("HDF5Data", "Python"):
            return FillerParameter(type="gaussian", mean=0, std=1)
        p = self.layer.transform_param
        scale = p.scale
        if self.layer.type == "WindowData":
            scale = self.layer.window_data_param.scale
        mean = 0.0
        if p.mean_value or p.mean_file:
            mean = sum(p.mean_value) / len(p.mean_value) if p.mean_value else 120.0
        ends = sorted(((0 - mean) * scale, (255 - mean) * scale))
        return FillerParameter(type="uniform", min=ends[0], max=ends[1])

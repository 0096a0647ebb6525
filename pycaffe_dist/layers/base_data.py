"""What the layers that read images have in common."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pycaffe_dist.blob import Blob, Flags, Views
from pycaffe_dist.data.transformer import Shape, Transformer, output_shape
from pycaffe_dist.errors import FileError, NetError
from pycaffe_dist.layer import Arity, Layer
from pycaffe_dist.memory import Array
from pycaffe_dist.rng import draw


class BaseData(Layer):
    """Batches of images (batch, channels, height, width) and labels (batch,).

    A subclass says how large a batch is, opens its files and fills batches; it raises plain errors,
    to which the layer's name is added here.  A dry net opens nothing that it can do without.
    """

    bottoms = 0
    tops: Arity = 2

    def batch_size(self) -> int:
        raise NotImplementedError

    def open(self) -> Shape:
        """Open the files; the shape of one image as it leaves the layer."""
        raise NotImplementedError

    def guess_shape(self) -> Shape:
        """The same from the settings, as far as they tell."""
        raise NotImplementedError

    def next_image(self) -> tuple[str, Array, int]:
        """What to call it in errors, an image (channels, height, width), its label."""
        raise NotImplementedError

    def setup(self, bottom: Views, top: Views) -> None:
        size = self.batch_size()
        self.check(size > 0, "batch_size must be positive")
        with naming(self):
            shape = self.guess_shape() if self.context.dry else self._start()
        top[0].reshape(size, *shape)
        if len(top) > 1:
            top[1].reshape(size)

    def _start(self) -> Shape:
        """Caffe seeds the transformer twice, then the thread that reads: the draws must agree."""
        self.transformer = Transformer(self.layer_param.transform_param, self.phase)
        self.transformer.init_rand()
        shape = self.open()
        self.transformer.init_rand()
        draw()
        return shape

    def reshape(self, bottom: Views, top: Views) -> None:
        pass

    def forward(self, bottom: Views, top: Views) -> None:
        with naming(self):
            self.load_batch(top[0].blob, top[1].blob if len(top) > 1 else None)

    def load_batch(self, data: Blob, labels: Blob | None) -> None:
        """Fill the blobs with the next batch; its first image decides the shape of all."""
        size = self.batch_size()
        found = []
        for i in range(size):
            name, image, label = self.next_image()
            try:
                if i == 0:
                    data.reshape(size, *output_shape(self.transformer.param, image.shape))
                self.transformer.transform(image, data.data[i])
            except NetError as e:
                raise NetError(f"{name}: {e}") from e
            found.append(label)
        if labels is not None:
            labels.reshape(size)
            labels.data[...] = found

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        pass

    def flops(self, bottom: Views, top: Views) -> int:
        return 0


@contextmanager
def naming(layer: Layer) -> Iterator[None]:
    """Add the layer's name to errors of the files and settings it works with."""
    try:
        yield
    except (FileError, NetError) as e:
        raise layer.error(str(e)) from e

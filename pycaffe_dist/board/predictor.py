"""A run's net, ready to look at images: what it predicts, and what its layers make of them."""

from __future__ import annotations

import threading

import numpy as np

from pycaffe_dist import engines
from pycaffe_dist.aliases import Facts
from pycaffe_dist.board.runs import Run
from pycaffe_dist.data.drawing import palette
from pycaffe_dist.data.image import Color, Pixels, decode, resize
from pycaffe_dist.errors import FileError, NetError
from pycaffe_dist.layer import Context
from pycaffe_dist.loading import load_weights
from pycaffe_dist.memory import Array
from pycaffe_dist.net import Net
from pycaffe_dist.pictures import data_uri, tiles
from pycaffe_dist.proto.caffe_pb2 import NetParameter
from pycaffe_dist.proto.nets import read_net
from pycaffe_dist.tools.detect_boxes import DETECTORS
from pycaffe_dist.tools.run_model import DEPLOY, TRANSFORM, newest_weights, run_model
from pycaffe_dist.tools.segment import overlaid

TOP = 5
LEAST_SCORE = 0.3  # of a box


class Predictor:
    """The deployed net of a run with its best or newest weights.

    One image at a time comes from the page, batches from a test set; a lock keeps them apart.

    Raises:
        FileError, NetError: the run remembers no net for images, has no weights yet, or its net
            would run or read something else than what it is given.
    """

    def __init__(self, run: Run) -> None:
        folder = run.file(DEPLOY).parent
        run.file(TRANSFORM)
        model = run_model(str(folder), str(run.places.inside(newest_weights(str(folder)))))
        self.how, self.images_dim, self.labels = model.how, model.images_dim, model.labels
        file = read_net(self.how.model_def)
        refuse_foreign(file.net)
        self.net = Net(file, Context(engine=engines.current()))
        load_weights(self.net, self.how.pretrained_model)
        self.input = self.net.blobs[0]
        self.mean = self.how.mean()
        self.lock = threading.Lock()
        self.output = self.net.blobs[self.net.top_ids[-1][0]]

    @property
    def kind(self) -> str:
        """What it gives: boxes, a mask or classes."""
        if self.net.layers[-1].type in DETECTORS:
            return "boxes"
        return "mask" if len(self.output.shape) == 4 and self.output.shape[2] > 1 else "classes"

    def pixels(self, encoded: bytes) -> Pixels:
        """An image as the net takes it, grey or in colour, blue first."""
        color = Color.GRAY if self.input.shape[1] == 1 else Color.COLOR
        try:
            return decode(encoded, color)
        except ValueError as e:
            raise FileError(f"this is no image that can be read: {e}") from e

    def prepared(self, image: Pixels) -> Array:
        """(channels, height, width): as the data layer of the run's tests makes it."""
        height, width = self.input.shape[2:]
        image = resize(image, *self.images_dim)
        top, left = (image.shape[0] - height) // 2, (image.shape[1] - width) // 2
        planes = image[top : top + height, left : left + width].transpose(2, 0, 1)
        return self.scaled(planes)

    def scaled(self, planes: Array) -> Array:
        values: Array = planes.astype(np.float32)
        if self.mean is not None:
            values -= self.mean.reshape(-1, 1, 1) if self.mean.ndim == 1 else self.mean
        return values * np.float32(self.how.input_scale or 1)

    def forward(self, batch: Array) -> Array:
        """What the net puts out for prepared images."""
        if self.input.shape != batch.shape:
            self.input.reshape(*batch.shape)
            self.net.reshape()
        self.input.data[...] = batch
        self.net.forward()
        return np.array(self.output.data)

    # -- for the page --------------------------------------------------------------------------

    def predict(self, encoded: bytes) -> Facts:
        image = self.pixels(encoded)
        with self.lock:
            found = self.forward(self.prepared(image)[None])
        said: Facts = {"kind": self.kind, "weights": self.how.pretrained_model}
        said["height"], said["width"] = image.shape[:2]
        if said["kind"] == "boxes":
            rows = found.reshape(-1, found.shape[-1])[:, :7]  # polygons are not drawn
            rows = rows[(rows[:, 1] >= 0) & (rows[:, 2] >= LEAST_SCORE)]
            said["boxes"] = [
                {"label": self.label(int(r[1])), "score": float(r[2]), "at": r[3:].tolist()}
                for r in rows[np.argsort(-rows[:, 2])]
            ]
        elif said["kind"] == "mask":
            classes = found[0].argmax(0).astype(np.uint8)
            shown = image if image.shape[2] == 3 else image.repeat(3, 2)
            said["mask"] = data_uri(overlaid(shown, _enlarged(classes, shown.shape), 0.5))
            said["classes"] = [
                {"label": self.label(int(c)), "color": palette()[c].tolist()}
                for c in np.unique(classes)
            ]
        else:
            scores = found[0].reshape(-1)
            order = np.argsort(-scores, kind="stable")[:TOP]
            said["top"] = [{"label": self.label(int(i)), "score": float(scores[i])} for i in order]
        return said

    def label(self, number: int) -> str:
        return self.labels[number] if 0 <= number < len(self.labels) else str(number)

    def activations(self, encoded: bytes, layer: str) -> str:
        """The first top of a layer for an image, channel by channel, as a picture."""
        if layer not in self.net.layer_names:
            raise NetError(f"the deployed net has no layer {layer!r}")
        with self.lock:
            self.forward(self.prepared(self.pixels(encoded))[None])
            blob = self.net.blobs[self.net.top_ids[self.net.layer_names.index(layer)][0]]
            values = np.array(blob.data[0])
        planes = values if values.ndim == 3 else values.reshape(1, 1, -1)
        return data_uri(tiles(planes))


def refuse_foreign(net: NetParameter) -> None:
    """Nothing of a prototxt is executed, and no file that it names is read or written."""
    for layer in net.layer:
        reads = not layer.bottom and layer.type != "Input"
        if layer.type in ("Python", "HDF5Output") or reads:
            raise NetError(
                f'layer "{layer.name}" ({layer.type}): the board runs nets of plain layers only; '
                "`pcd predict` runs this one"
            )
        layer.detection_output_param.ClearField("save_output_param")
        if layer.type not in DETECTORS:
            layer.ClearField("detection_output_param")


def _enlarged(classes: Pixels, shape: tuple[int, ...]) -> Pixels:
    """Classes of pixels at the size of an image, without mixing them."""
    rows = np.arange(shape[0]) * classes.shape[0] // shape[0]
    columns = np.arange(shape[1]) * classes.shape[1] // shape[1]
    enlarged: Pixels = classes[rows[:, None], columns]
    return enlarged

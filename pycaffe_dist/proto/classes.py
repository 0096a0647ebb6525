"""A net that tells classes of images apart, as the template of one for other classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pycaffe_dist.errors import PcdError
from pycaffe_dist.proto.caffe_pb2 import TEST, TRAIN, DataParameter, LayerParameter, NetParameter

SIZES = {"Convolution": "convolution_param", "InnerProduct": "inner_product_param"}
FASTER = 10.0  # how much faster a layer learns that begins anew among trained ones


@dataclass
class Template:
    """Such a net: its data layers, and the layers whose outputs are the scores of the classes."""

    net: NetParameter
    batch: int
    crop: int
    last: list[str]  # names of the layers that give the scores

    @classmethod
    def of(cls, net: NetParameter, name: str) -> Template:
        """The template of a model.

        Raises:
            PcdError: it learns something else than classes of images from a database.
        """
        data = [layer for layer in net.layer if not layer.bottom]
        losses = [layer for layer in net.layer if layer.type == "SoftmaxWithLoss"]
        scored = [_scoring(net, loss) for loss in losses]
        if not scored or any(layer.type != "Data" or len(layer.top) != 2 for layer in data):
            raise PcdError(
                f"model {name}: does not learn the classes of images by SoftmaxWithLoss from Data "
                "layers; `pcd quickstart` takes those that do, for example squeezenet_v1.1"
            )
        first = next(layer for layer in data if _phase(layer) == TRAIN)
        crop = first.transform_param.crop_size
        return cls(net, first.data_param.batch_size, crop, [layer.name for layer in scored])

    def for_classes(
        self,
        classes: int,
        data: Mapping[str, tuple[str, int]],
        mean: Sequence[float],
        fresh: bool = False,
    ) -> tuple[NetParameter, str]:
        """The net for other classes, and the name of its accuracy.

        Args:
            classes: how many.
            data: "train" and "test": the LMDB and the size of a batch.
            mean: of each channel.
            fresh: whether the layers of the scores are named anew, so that published weights are
                not loaded into them, and learn faster than the others.
        """
        net = NetParameter()
        net.CopyFrom(self.net)
        del net.layer[:]
        for layer in self.net.layer:
            if layer.type == "Accuracy" and layer.accuracy_param.top_k > classes:
                continue
            kept = net.layer.add()
            kept.CopyFrom(layer)
            if not layer.bottom:
                _read_from(kept, *data["train" if _phase(layer) == TRAIN else "test"], mean)
            elif layer.name in self.last:
                _resize(kept, classes, fresh)
        return net, _accuracy(net)


def _phase(layer: LayerParameter) -> int:
    return layer.include[0].phase if layer.include else TRAIN


def _scoring(net: NetParameter, loss: LayerParameter) -> LayerParameter:
    """The layer that gives a loss its scores, below neurons and pooling."""
    blob, at = loss.bottom[0], list(net.layer).index(loss)
    for layer in reversed(net.layer[:at]):
        if blob in layer.top:
            if layer.type in SIZES:
                return layer
            blob = layer.bottom[0]
    raise PcdError(f'layer "{loss.name}": no Convolution or InnerProduct gives its scores')


def _read_from(layer: LayerParameter, source: str, batch: int, mean: Sequence[float]) -> None:
    layer.data_param.Clear()
    layer.data_param.source, layer.data_param.batch_size = source, batch
    layer.data_param.backend = DataParameter.LMDB
    layer.transform_param.ClearField("mean_file")
    layer.transform_param.mean_value[:] = mean


def _resize(layer: LayerParameter, classes: int, fresh: bool) -> None:
    getattr(layer, SIZES[layer.type]).num_output = classes
    if not fresh:
        return
    layer.name += "_new"
    for _ in range(2 - len(layer.param)):
        layer.param.add()
    for param in layer.param:
        param.lr_mult *= FASTER


def _accuracy(net: NetParameter) -> str:
    """The name of the share of right answers, which is added where no layer tells it."""
    for layer in net.layer:
        if layer.type == "Accuracy" and layer.accuracy_param.top_k == 1:
            return layer.top[0]
    loss = [layer for layer in net.layer if layer.type == "SoftmaxWithLoss"][-1]
    added = net.layer.add(name="accuracy", type="Accuracy", bottom=loss.bottom, top=["accuracy"])
    added.include.add().phase = TEST
    return "accuracy"

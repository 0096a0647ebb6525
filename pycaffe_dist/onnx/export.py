"""A net in TEST as an ONNX model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import onnx
from onnx import TensorProto, helper

from pycaffe_dist.aliases import Array
from pycaffe_dist.errors import NetError
from pycaffe_dist.layer import Layer
from pycaffe_dist.layers.accuracy import Accuracy
from pycaffe_dist.layers.hdf5_output import HDF5Output
from pycaffe_dist.layers.loss import Loss
from pycaffe_dist.layers.mscnn.accuracy import BboxAccuracy, DetectionAccuracy
from pycaffe_dist.layers.ocr.ctc_decoder import LabelsequenceAccuracy
from pycaffe_dist.layers.parameter import Parameter
from pycaffe_dist.layers.rcnn.ohem import BoxAnnotatorOHEM
from pycaffe_dist.layers.segmentation.mat_write import MatWrite
from pycaffe_dist.layers.segmentation.seg_accuracy import SegAccuracy
from pycaffe_dist.layers.silence import Silence
from pycaffe_dist.layers.softmax_loss import SoftmaxWithLoss
from pycaffe_dist.layers.ssd.detection_evaluate import DetectionEvaluate
from pycaffe_dist.layers.ssd.prior_box import Priors
from pycaffe_dist.layers.yolo.segmentation import SegmentationEvaluate
from pycaffe_dist.net import Net
from pycaffe_dist.onnx.exporters import brings_data, exporter
from pycaffe_dist.onnx.graph import Graph, Value
from pycaffe_dist.version import VERSION

# The axes of each input whose sizes may change; all first ones; or of images height and width too.
Dynamic = Mapping[str, Sequence[int]] | bool | Literal["image"]
OLDEST, USUAL = 13, 17
# What only training and measuring need.
LEFT_OUT: tuple[type[Layer], ...] = (Loss, Accuracy, SegAccuracy, LabelsequenceAccuracy)
LEFT_OUT += (DetectionEvaluate, SegmentationEvaluate, BoxAnnotatorOHEM)
LEFT_OUT += (DetectionAccuracy, BboxAccuracy, Silence, HDF5Output, MatWrite)


def is_left_out(layer: Layer) -> bool:
    """Whether a layer has no meaning in a file that only computes."""
    return isinstance(layer, LEFT_OUT)


@dataclass
class Exported:
    """A model without the values of its constants, and these beside it.

    Attributes:
        model: the graph; its initializers are names, types and shapes only.
        constants: the values of the initializers.
        operators: of each layer, the ONNX operators that it became.
        left_out: the layers that have no meaning in TEST.
        blobs: of each blob, the name of its last value in the graph.
    """

    model: onnx.ModelProto
    constants: dict[str, Array]
    operators: dict[str, list[str]] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    blobs: dict[str, str] = field(default_factory=dict)


def newest() -> int:
    """The last opset that the installed onnx knows."""
    return int(onnx.defs.onnx_opset_version())


def export(
    net: Net,
    opset: int = USUAL,
    dynamic: Dynamic = False,
) -> Exported:
    """Write a net, built in TEST by the NumPy engine.

    Args:
        net: the net with its weights.
        opset: the version of ONNX's operators, 13 or later.
        dynamic: which sizes may change.

    Raises:
        NetError: a layer has no form in ONNX; it is named.
    """
    if not OLDEST <= opset <= newest():
        raise NetError(f"opset {opset} is not supported: give one from {OLDEST} to {newest()}")
    return _Export(net, opset, dynamic).run()


class _Export:
    def __init__(self, net: Net, opset: int, dynamic: Dynamic) -> None:
        self.net, self.graph, self.dynamic = net, Graph(opset), dynamic
        self.values: dict[int, Value] = {}  # of blobs, as they are now
        self.inputs: list[Value] = []
        self.ends: list[int] = []  # blobs that only layers which are left out read
        self.silenced: list[int] = []  # blobs that Silence reads
        self.probabilities: list[Value] = []  # of losses that are left out
        self.operators: dict[str, list[str]] = {}
        self.left_out: list[str] = []
        for name in net.blob_names:
            self.graph.reserve(name)
        axes = (
            [] if isinstance(dynamic, (bool, str)) else [a for of in dynamic.values() for a in of]
        )
        self.graph.resizable = dynamic == "image" or any(axes)

    def run(self) -> Exported:
        for i, layer in enumerate(self.net.layers):
            self.graph.scope = layer.name
            if is_left_out(layer):
                self._leave_out(i, layer)
            elif isinstance(layer, Parameter) or brings_data(self.net, i):
                self._source(i, layer)
            else:
                self._layer(i, layer)
        self._name_after_blobs()
        outputs = self._outputs()
        self._keep_needed(outputs)
        return self._model(outputs)

    # -- layers ------------------------------------------------------------------------------

    def _source(self, i: int, layer: Layer) -> None:
        """What comes from outside is an input; parameters are constants."""
        for t in self.net.top_ids[i]:
            name, shape = self.net.blob_names[t], self.net.blobs[t].shape
            if isinstance(layer, Parameter):
                made = self.graph.constant(layer.blobs[0].data, name=f"{layer.name}/value")
                self.values[t] = Value(made, shape)
            else:
                self.values[t] = Value(name, shape)
                self.inputs.append(self.values[t])

    def _layer(self, i: int, layer: Layer) -> None:
        graph, net = self.graph, self.net
        graph.out = [net.blobs[t].shape for t in net.top_ids[i]]
        before = len(graph.nodes)
        if isinstance(layer, Priors):
            tops = self._fixed(i, layer)
        else:
            write = exporter(layer)
            if write is None:
                raise layer.error("has no form in ONNX")
            made = write(graph, layer, [self.values[b] for b in net.bottom_ids[i]])
            tops = [made] if isinstance(made, str) else made
        if not layer.name.endswith("_split"):
            self.operators[layer.name] = [node.op_type for node in graph.nodes[before:]]
        for t, top in zip(net.top_ids[i], tops, strict=True):
            self.values[t] = Value(top, net.blobs[t].shape)

    def _fixed(self, i: int, layer: Layer) -> list[str]:
        """Tops that depend on the bottoms' shapes alone."""
        layer.forward(self.net.bottoms[i], self.net.tops[i])
        tops = [self.net.blobs[t].data for t in self.net.top_ids[i]]
        return [self.graph.constant(values, name=f"{layer.name}/value") for values in tops]

    def _leave_out(self, i: int, layer: Layer) -> None:
        """Of losses and scores nothing stays, of a SoftmaxWithLoss the probabilities."""
        self.left_out.append(f"{layer.name} ({layer.type})")
        bottoms = self.net.bottom_ids[i]
        if not isinstance(layer, SoftmaxWithLoss):
            (self.silenced if isinstance(layer, Silence) else self.ends).extend(bottoms)
            return
        axis = layer.layer_param.softmax_param.axis
        scores = self.values[bottoms[0]]
        made = self.graph.op("Softmax", scores, axis=axis)
        self.probabilities.append(Value(self.graph.unique("prob"), scores.shape))
        self.graph.rename(made, self.probabilities[-1])

    # -- names -------------------------------------------------------------------------------

    def _name_after_blobs(self) -> None:
        """A blob's last value has its name, if an operator made it and no other blob is it."""
        made = {name for node in self.graph.nodes for name in node.output}
        taken = {str(value) for value in self.inputs}
        new: dict[str, str] = {}
        for blob, value in self.values.items():
            name = self.net.blob_names[blob]
            if value in made and value not in new and name not in taken:
                new[value] = name
        self.graph.rename_all(new)
        self.values = {b: Value(new.get(v, v), v.shape) for b, v in self.values.items()}

    def _outputs(self) -> list[Value]:
        """What the net gives, and what only layers that are left out would read."""
        read = {name for node in self.graph.nodes for name in node.input}
        given = [str(value) for value in self.inputs]
        wanted = {self.net.blob_names[b]: self.values[b] for b in self._ends()}
        outputs: list[Value] = []
        for name, value in wanted.items():
            passed_on = value in read or value in given
            if name == value and name in given:  # an input that nobody reads
                continue
            if passed_on and self.net.blob_ids[name] not in self.net.output_ids:
                continue
            plain = self.graph.makes(value) and value not in outputs
            if not plain:
                self.graph.scope, made = "", self.graph.op("Identity", value)
                name = self.graph.unique(name) if name in given else name
                self.graph.rename(made, name)
            outputs.append(value if plain else Value(name, value.shape))
        outputs += [value for value in self.probabilities if value not in read]
        return outputs

    def _ends(self) -> list[int]:
        """What is silenced is an output where there is no other: scripts read such blobs."""
        ends = [b for b in [*self.net.output_ids, *self.ends] if b in self.values]
        return ends if ends or self.probabilities else self.silenced

    def _keep_needed(self, outputs: list[Value]) -> None:
        """Drop inputs that nobody reads, such as labels."""
        read = {name for node in self.graph.nodes for name in node.input} | set(outputs)
        self.inputs = [value for value in self.inputs if value in read]

    # -- the model ---------------------------------------------------------------------------

    def _model(self, outputs: list[Value]) -> Exported:
        graph = helper.make_graph(
            self.graph.nodes,
            self.net.name or "net",
            [self._info(value, self._axes(value)) for value in self.inputs],
            [self._info(value, self._free(value)) for value in outputs],
        )
        opsets = [helper.make_opsetid("", self.graph.opset)]
        model = helper.make_model(
            graph,
            opset_imports=opsets,
            ir_version=helper.find_min_ir_version_for(opsets),
            producer_name="pycaffe_dist",
            producer_version=VERSION,
        )
        blobs = {self.net.blob_names[b]: str(value) for b, value in self.values.items()}
        return Exported(model, self.graph.constants, self.operators, self.left_out, blobs)

    def _axes(self, value: Value) -> Sequence[int]:
        """The axes of an input whose size may change."""
        if isinstance(self.dynamic, bool):
            return [0] if self.dynamic else []
        if self.dynamic == "image":
            return [0, 2, 3] if len(value.shape) == 4 else [0]
        return self.dynamic.get(str(value), [])

    def _free(self, value: Value) -> Sequence[int]:
        """The axes of an output whose size is not known beforehand."""
        several = any(axis for value in self.inputs for axis in self._axes(value))
        first = bool(self.dynamic) or any(layer.changes_batch for layer in self.net.layers)
        return range(len(value.shape) if several else min(1 if first else 0, len(value.shape)))

    def _info(self, value: Value, dynamic: Sequence[int]) -> onnx.ValueInfoProto:
        shape: list[int | str] = list(value.shape)
        for axis in dynamic:
            shape[axis] = "N" if axis == 0 and value in self.inputs else f"{value}_{axis}"
        return helper.make_tensor_value_info(value, TensorProto.FLOAT, shape)

"""pycaffe's Net: names instead of numbers, keyword arguments, live arrays."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from pycaffe_dist import engines, loading
from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Blob
from pycaffe_dist.engines import runtime
from pycaffe_dist.errors import FileError, NetError
from pycaffe_dist.hooks import Hook
from pycaffe_dist.layer import Context
from pycaffe_dist.net import Net as CoreNet
from pycaffe_dist.proto.caffe_pb2 import NetState
from pycaffe_dist.proto.nets import read_net
from pycaffe_dist.proto.suggest import did_you_mean
from pycaffe_dist.pycaffe import notebook
from pycaffe_dist.pycaffe.batches import Batched
from pycaffe_dist.pycaffe.modes import SETTINGS, begin_log
from pycaffe_dist.pycaffe.vectors import DtypeVec, IntVec, LayerVec, StringVec
from pycaffe_dist.pycaffe.watched import Touched, WatchedDict


class NoSuchLayerError(NetError, ValueError):
    """A layer's name that the net does not have; also the ValueError that pycaffe raises."""


class Net(Batched, notebook.Shown):
    """A net from a prototxt: ``Net(file, phase, level=0, stages=None, weights=None)``.

    The old order ``Net(file, weights, phase)`` is accepted too.
    """

    def __init__(
        self,
        network_file: str,
        *positional: Any,
        phase: int | None = None,
        level: int = 0,
        stages: Iterable[str] | None = None,
        weights: str | None = None,
    ) -> None:
        if len(positional) == 2 and isinstance(positional[0], (str, Path)):
            warnings.warn(
                "Net(file, weights, phase) is the old form: use named arguments",
                DeprecationWarning,
                stacklevel=2,
            )
            weights, phase = str(positional[0]), positional[1]
        elif len(positional) == 1 and isinstance(positional[0], (str, Path)):
            weights = str(positional[0])
        elif positional:
            phase = positional[0]
            level = positional[1] if len(positional) > 1 else level
            stages = positional[2] if len(positional) > 2 else stages
            weights = positional[3] if len(positional) > 3 else weights
        phase = SETTINGS.phase if phase is None else phase
        if phase is None:
            given = f"Net(file, {weights!r})" if weights is not None else "Net(file)"
            raise TypeError(
                f"{given} needs a phase, caffe.TRAIN or caffe.TEST: "
                "Net(file, caffe.TEST, weights=weights)"
            )
        state = NetState(phase=phase, level=level, stage=list(stages or []))  # type: ignore[arg-type]
        self._take(_built(network_file, state))
        if weights is not None:
            loading.load_weights(self.core, weights)
        runtime.attach(self.core)

    @classmethod
    def of(cls, core: CoreNet) -> Net:
        """The pycaffe face of a net that exists."""
        net = cls.__new__(cls)
        net._take(core)
        return net

    def _take(self, core: CoreNet) -> None:
        self.core = core
        self.touched = touched = Touched()
        self._blobs_dict: OrderedDict[str, Blob] = WatchedDict(
            zip(core.blob_names, core.blobs, strict=True), lambda blob: touched.add([blob])
        )
        layers = zip(core.layer_names, core.layers, strict=True)
        self._params_dict: OrderedDict[str, list[Blob]] = WatchedDict(
            ((name, layer.blobs) for name, layer in layers if layer.blobs), touched.add
        )
        self._layers = LayerVec(getattr(layer, "user_layer", layer) for layer in core.layers)
        self._layer_dict = OrderedDict(zip(core.layer_names, self._layers, strict=True))

    # -- what is in it -----------------------------------------------------------------------

    @property
    def blobs(self) -> OrderedDict[str, Blob]:
        """The blobs by name; their ``data`` and ``diff`` are live arrays."""
        return self._blobs_dict

    @property
    def params(self) -> OrderedDict[str, list[Blob]]:
        """The parameters of each layer that has some: weights, then bias."""
        return self._params_dict

    @property
    def layers(self) -> LayerVec:
        """The layers, in the order in which they run."""
        return self._layers

    @property
    def layer_dict(self) -> OrderedDict[str, Any]:
        """The layers by name."""
        return self._layer_dict

    @property
    def inputs(self) -> list[str]:
        """The names of the blobs that come from outside."""
        return [self.core.blob_names[i] for i in self.core.input_ids]

    @property
    def outputs(self) -> list[str]:
        """The names of the blobs that no layer takes."""
        return [self.core.blob_names[i] for i in self.core.output_ids]

    @property
    def top_names(self) -> OrderedDict[str, list[str]]:
        """The tops of each layer, by its name."""
        return self._names(self.core.top_ids)

    @property
    def bottom_names(self) -> OrderedDict[str, list[str]]:
        """The bottoms of each layer, by its name."""
        return self._names(self.core.bottom_ids)

    def _names(self, ids: list[list[int]]) -> OrderedDict[str, list[str]]:
        names = [[self.core.blob_names[i] for i in row] for row in ids]
        return OrderedDict(zip(self.core.layer_names, names, strict=True))

    @property
    def blob_loss_weights(self) -> OrderedDict[str, float]:
        """How much each blob counts in the loss, by its name."""
        return OrderedDict(zip(self.core.blob_names, self.core.blob_loss_weights, strict=True))

    _layer_names = property(lambda self: StringVec(self.core.layer_names))
    _blob_names = property(lambda self: StringVec(self.core.blob_names))
    _blobs = property(lambda self: self.core.blobs)
    _blob_loss_weights = property(lambda self: DtypeVec(self.core.blob_loss_weights))
    _inputs = property(lambda self: IntVec(self.core.input_ids))
    _outputs = property(lambda self: IntVec(self.core.output_ids))
    # Where BVLC's pycaffe keeps what it has looked up once.
    _input_list = property(lambda self: self.inputs)
    _output_list = property(lambda self: self.outputs)
    _top_names = property(lambda self: self.top_names)
    _bottom_names = property(lambda self: self.bottom_names)
    _blob_loss_weights_dict = property(lambda self: self.blob_loss_weights)

    def _top_ids(self, layer: int) -> IntVec:
        return IntVec(self.core.top_ids[layer])

    def _bottom_ids(self, layer: int) -> IntVec:
        return IntVec(self.core.bottom_ids[layer])

    # -- hooks: net.after_backward(f) calls f(layer index) -----------------------------------

    @property
    def before_forward(self) -> Hook:
        """``net.before_forward(f)`` calls ``f(index)`` before a layer runs forward."""
        return self.core.before_forward

    @property
    def after_forward(self) -> Hook:
        """``net.after_forward(f)`` calls ``f(index)`` after a layer ran forward."""
        return self.core.after_forward

    @property
    def before_backward(self) -> Hook:
        """``net.before_backward(f)`` calls ``f(index)`` before a layer runs backward."""
        return self.core.before_backward

    @property
    def after_backward(self) -> Hook:
        """``net.after_backward(f)`` calls ``f(index)`` after a layer ran backward."""
        return self.core.after_backward

    # -- running -----------------------------------------------------------------------------

    def forward(
        self,
        blobs: Iterable[str] | None = None,
        start: str | None = None,
        end: str | None = None,
        **inputs: Any,
    ) -> dict[str, Array]:
        """Set the inputs, run, and return the outputs (and ``blobs``) as live arrays.

        With ``end`` the tops of that layer are returned instead of the net's outputs.
        """
        names = list(blobs or [])
        first = self._layer_index(start) if start is not None else 0
        if end is not None:
            last = self._layer_index(end)
            wanted = self.top_names[end] + names
        else:
            last = len(self.core.layers) - 1
            wanted = self.outputs + names
        if inputs:
            if set(inputs) != set(self.inputs):
                raise ValueError(
                    f"Input blob arguments do not match net inputs: {sorted(inputs)} were given, "
                    f"the net has {self.inputs}"
                )
            for name, values in inputs.items():
                self._assign(self.blobs[name], "data", name, values, "Input")
        self._forward(first, last)
        return {name: self.blobs[name].data for name in dict.fromkeys(wanted)}

    def backward(
        self,
        diffs: Iterable[str] | None = None,
        start: str | None = None,
        end: str | None = None,
        **top_diffs: Any,
    ) -> dict[str, Array]:
        """Set the outputs' gradients, run backward, and return the inputs' (and ``diffs``)."""
        names = list(diffs or [])
        first = self._layer_index(start) if start is not None else len(self.core.layers) - 1
        if end is not None:
            last = self._layer_index(end)
            wanted = self.bottom_names[end] + names
        else:
            last = 0
            wanted = self.inputs + names
        if top_diffs:
            if set(top_diffs) != set(self.outputs):
                raise ValueError(
                    f"Top diff arguments do not match net outputs: {sorted(top_diffs)} were given, "
                    f"the net has {self.outputs}"
                )
            for name, values in top_diffs.items():
                self._assign(self.blobs[name], "diff", name, values, "Diff")
        self._backward(first, last)
        return {name: self.blobs[name].diff for name in dict.fromkeys(wanted)}

    @staticmethod
    def _assign(blob: Blob, part: str, name: str, values: Any, what: str) -> None:
        batch = np.shape(values)[:1]
        if blob.shape and batch != blob.shape[:1]:
            raise ValueError(
                f"{what} is not batch sized: {name} has {batch[0] if batch else 'no'} items, "
                f"the net takes {blob.shape[0]}"
            )
        getattr(blob, part)[...] = values

    def _layer_index(self, name: str) -> int:
        try:
            return self.core.layer_names.index(name)
        except ValueError:
            raise NoSuchLayerError(
                f'there is no layer "{name}" in net "{self.core.name}"'
                + did_you_mean(name, self.core.layer_names)
            ) from None

    def _forward(self, start: int, end: int) -> float:
        self.touched.pick_up()
        loss = self.core.forward(start, end)
        self.touched.show()
        return float(loss)

    def _backward(self, start: int, end: int) -> None:
        self.touched.pick_up()
        self.core.backward(start, end)
        self.touched.show()

    def reshape(self) -> None:
        """Give all blobs the shapes that follow from those of the inputs."""
        self.core.reshape()

    def clear_param_diffs(self) -> None:
        """Set the gradients of all parameters to zero."""
        for param in self.core.params.learnable:
            param.blob.diff[...] = 0

    # -- weights -----------------------------------------------------------------------------

    def copy_from(self, path: str) -> None:
        """Load weights by layer name; as in Caffe, also where no layer has its name in the file."""
        loading.load_weights(self.core, path, strict=False)

    load_hdf5 = copy_from

    def save(self, path: str) -> None:
        """Write the weights as a .caffemodel."""
        loading.save_weights(self.core, path)

    def save_hdf5(self, path: str) -> None:
        """Write the weights as a .caffemodel.h5."""
        loading.save_weights_hdf5(self.core, path)

    def share_with(self, other: Net) -> None:
        """Use the parameters of ``other``, by layer name, as our own."""
        loading.share_weights(self.core, other.core)

    def set_input_arrays(self, data: Any, labels: Any) -> None:
        """Give a MemoryData layer in front its arrays."""
        layer = self.core.layers[0]
        if layer.type != "MemoryData":
            raise NetError("set_input_arrays: the first layer is not a MemoryData layer")
        layer.set_arrays(data, labels)  # type: ignore[attr-defined]

    _set_input_arrays = set_input_arrays


def _built(path: str, state: NetState) -> CoreNet:
    """The net of a file, in a state, where pycaffe's settings say that it computes."""
    if not Path(path).is_file():
        raise FileError(f"Could not open file {path}")
    begin_log()
    file = read_net(path)
    file.net.state.MergeFrom(state)
    context = Context(engine=engines.current(), rank=SETTINGS.rank, ranks=SETTINGS.ranks)
    return CoreNet(file, context)

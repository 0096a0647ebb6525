"""Whether ONNX Runtime computes what our net computes: mistakes are told from rounding."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pycaffe_dist import caffe_log as log
from pycaffe_dist.aliases import Array
from pycaffe_dist.engines.base import NUMPY
from pycaffe_dist.layer import Context, Layer
from pycaffe_dist.layers.argmax import ArgMax
from pycaffe_dist.layers.flatten import Reshaped
from pycaffe_dist.layers.ssd.detection_output import DetectionOutput
from pycaffe_dist.layers.yolo.detection_output import YoloOutput
from pycaffe_dist.net import Net
from pycaffe_dist.onnx.check import difference
from pycaffe_dist.onnx.export import is_left_out
from pycaffe_dist.onnx.exporters import brings_data

FAIR = 3  # how many times as much as our layers ONNX Runtime may round
# Of half precision one pass says little: a score's last bit is a chance, and moves a probability.
FAIR_HALF = 10
MOST_ROUNDED = 100  # tolerances; where rounding changes more, a difference tells nothing
TIE = 1e-4  # scores of boxes that are no further apart


@dataclass(frozen=True)
class Comparison:
    """How far an output of ONNX Runtime is from ours, by its largest value.

    In a net with large differences of large numbers, two right answers may be further apart than
    the tolerance.  So a difference beyond it is judged by a pass in float64: rounding takes both
    about as far from its values, a mistake takes ONNX Runtime further.

    Attributes:
        apart: from our engine's values.
        ours, theirs: of both from the values in float64, if these were needed.  Ours are those of
            our engine, or in half precision those of our layers with all values rounded.
        fair: how many times as far as ours theirs may be.
    """

    apart: float
    ours: float = 0.0
    theirs: float = 0.0
    fair: int = FAIR

    def within(self, limit: float) -> bool:
        return self.apart <= limit or self.is_rounding(limit)

    def is_rounding(self, limit: float) -> bool:
        """Whether, beyond the limit, the values in float64 speak for ONNX Runtime's."""
        told = 0 < self.ours <= MOST_ROUNDED * limit
        return self.apart > limit and told and self.theirs <= max(limit, self.fair * self.ours)


def compare(
    net: Net,
    inputs: Mapping[str, Array],
    theirs: Mapping[str, Array],
    limit: float,
    half: bool = False,
) -> dict[str, Comparison]:
    """Compute what ONNX Runtime has computed, and compare all of it that are blobs here."""
    outputs = [_Output(net, name) for name in sorted(theirs.keys() & net.blob_ids.keys())]
    names = [name for output in outputs for name in output.reads]
    ours = _forward(net, inputs, names)
    found = {o.name: Comparison(o.apart(ours, theirs)) for o in outputs}
    if all(made.within(limit) for made in found.values()):
        return found
    double = _in_float64(net)
    exact = _forward(double, inputs, names)
    with np.errstate(all="ignore"):  # what is too large for half precision is infinite
        ours = _forward(_rounding(double), inputs, names) if half else ours
    fair = FAIR_HALF if half else FAIR
    for output in outputs:
        apart = found[output.name].apart
        made = Comparison(apart, output.apart(exact, ours), output.apart(exact, theirs), fair)
        found[output.name] = made
        if made.is_rounding(limit):
            said = "%s differs by %.2g of its largest value. This is rounding: from the values in "
            said += "float64 our own are %.2g away, those of ONNX Runtime %.2g"
            log.warning("comparing.py", said, output.name, apart, made.ours, made.theirs)
    return found


class _Output:
    """A blob that is compared, and what is needed of the net for that.

    Of two values that are nearly the same either may be the largest.  So of places of largest
    values the values there are compared, and boxes with nearly equal scores may be in any order.
    """

    def __init__(self, net: Net, name: str) -> None:
        self.name, self.reads = name, [name]
        self.layer, bottom = _maker(net, net.blob_ids[name])
        if isinstance(self.layer, ArgMax):
            self.reads += [net.blob_names[bottom]]

    def apart(self, right: Mapping[str, Array], other: Mapping[str, Array]) -> float:
        a, b = right[self.name], other[self.name]
        layer = self.layer
        if a.shape != b.shape:
            return difference(a, b)
        if isinstance(layer, (DetectionOutput, YoloOutput)):
            return difference(_in_order(a, a), _in_order(b, a))
        if isinstance(layer, ArgMax) and not layer.values and _are_places(b, layer.size):
            scores = right[self.reads[1]].reshape(layer.outer, layer.size, layer.inner)
            places = [p.reshape(layer.outer, layer.top_k, layer.inner).astype(int) for p in (a, b)]
            return difference(*(np.take_along_axis(scores, p, axis=1) for p in places))
        return difference(a, b)


def _maker(net: Net, blob: int) -> tuple[Layer | None, int]:
    """The layer that computes a blob, and what it reads; layers that only reshape do not count."""
    while makers := [i for i, tops in enumerate(net.top_ids) if blob in tops]:
        layer, bottoms = net.layers[makers[-1]], net.bottom_ids[makers[-1]]
        if not isinstance(layer, Reshaped) or bottoms[0] == blob:
            return layer, bottoms[0] if bottoms else blob
        blob = bottoms[0]
    return None, blob


def _are_places(values: Array, size: int) -> bool:
    return bool(((values >= 0) & (values < size)).all())


def _in_order(boxes: Array, like: Array) -> Array:
    """Rows of image, label, score and corners; where the scores of ``like`` tie, by corners."""
    rows, keys = (a.reshape(-1, a.shape[-1]) for a in (boxes, like))
    new = (np.abs(np.diff(keys[:, :3], axis=0)) > TIE).any(axis=1)
    groups = np.concatenate([[0], np.cumsum(new)])
    corners = np.round(rows[:, 3:] / (10 * TIE))
    return rows[np.lexsort((*corners.T, groups))]


def _forward(net: Net, inputs: Mapping[str, Array], names: Sequence[str]) -> dict[str, Array]:
    for name, values in inputs.items():
        net.blobs[net.blob_ids[name]].data[...] = values
    # Sources would put their own data there, and scores want labels that nobody has.
    count = len(net.layers)
    apart = (i for i, la in enumerate(net.layers) if brings_data(net, i) or is_left_out(la))
    for before, behind in itertools.pairwise([-1, *apart, count]):
        if before + 1 < behind:
            net.forward(before + 1, behind - 1)
    return {name: net.blobs[net.blob_ids[name]].data.copy() for name in names}


def _in_float64(net: Net) -> Net:
    """The same net, with the same weights and shapes, computed by NumPy."""
    with log.silenced():
        exact = Net(net.written, Context(engine=NUMPY, dtype=np.float64, writes=False))
    for a, b in zip(net.layers, exact.layers, strict=True):
        for blob, other in zip(a.blobs, b.blobs, strict=True):
            other.data[...] = blob.data
    for i in net.input_ids:
        exact.blobs[i].reshape(*net.blobs[i].shape)
    exact.reshape()
    return exact


def _rounding(net: Net) -> Net:
    """The net from now on with all weights and all that layers make in half precision."""
    for layer in net.layers:
        for blob in layer.blobs:
            blob.data[...] = blob.data.astype(np.float16)

    def round_tops(i: int) -> None:
        for t in net.top_ids[i]:
            net.blobs[t].data[...] = net.blobs[t].data.astype(np.float16)

    net.after_forward(round_tops)
    return net

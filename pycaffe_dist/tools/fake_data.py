"""What ``--fake-data`` does: made-up batches in place of every data source of a net.

Shapes come from the data where they can be read, from the layer's settings where those tell, else
from a list of usual ones: the first with which the net can be built.  What a top is good for, and
so its values, is found by following it through the net: to a loss, to an Embed, to an LSTM.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pycaffe_dist import caffe_log
from pycaffe_dist.errors import NetError, PcdError
from pycaffe_dist.proto.caffe_pb2 import (
    TEST,
    TRAIN,
    BlobShape,
    FillerParameter,
    LayerParameter,
    NetParameter,
    NetState,
)
from pycaffe_dist.proto.state import filter_net, merge_state
from pycaffe_dist.sketch import Sketch

Shape = tuple[int, ...]

MAKE_THEIR_OWN = ("Input", "DummyData", "FakeData", "Parameter")
CLASS_LABELS = (
    "SoftmaxWithLoss",
    "InfogainLoss",
    "MultinomialLogisticLoss",
    "HingeLoss",
    "Accuracy",
    "FocalLoss",
    "GeneralContrastiveLoss",
    "GeneralTripletLoss",
    "LabelSpecificAdd",
    "LabelSpecificMargin",
    "LabelSpecificRescale",
)
# Those that say themselves how many classes there are, where.
CLASS_COUNTS = {
    "CenterLoss": "center_loss_param",
    "LargeMarginInnerProduct": "largemargin_inner_product_param",
    "MarginInnerProduct": "margin_inner_product_param",
}
LABEL_SEQUENCES = ("CtcLoss", "CTCGreedyDecoder", "WarpCTCLoss")  # of scores (T, N, C)
TARGETS = ("EuclideanLoss", "SigmoidCrossEntropyLoss", "DiceCoefLoss", "WeightedEuclideanLoss")
UNIT_TARGETS = ("SigmoidCrossEntropyLoss", "DiceCoefLoss")
MARKED = ("LSTM", "RNN", "Lstm")  # whose second bottom says where sequences begin
OPEN_OUTPUTS = {"InnerProduct": "inner_product_param", "Convolution": "convolution_param"}
CLASSES = 10
# What a label goes through on its way to the loss and is a label still.
LETS_LABELS_PASS = ("Split", "Slice", "Concat", "Reshape", "Flatten", "Silence")
IMAGE_USERS = ("Convolution", "Deconvolution", "Pooling", "LRN", "Im2col", "SPP", "Crop", "Slice")
# Shapes of one item, by a word in the names of source, layer or net.
KNOWN = {"siamese": (2, 28, 28), "mnist": (1, 28, 28), "lenet": (1, 28, 28), "cifar": (3, 32, 32)}
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
SEQUENCES = ((4, 16), (8, 4, 16), (16,))  # with the batch in front as steps, or as whole batches
WORDS = ((4,), ())
VECTORS = ((16,), (784,), (4096,), (32, 1, 1))


def fake_data(
    net: NetParameter, batch_size: int | None = None, python: bool = True
) -> NetParameter:
    """A copy of ``net`` that needs no data: its sources are FakeData layers, its rules the same.

    Args:
        net: the net, already upgraded, with the layers of all phases.
        batch_size: of every source, instead of those that are written.
        python: whether Python layers may run.

    Raises:
        NetError: with none of the usual shapes can the net be built.
    """
    if batch_size is not None and batch_size < 1:
        raise NetError(f"a batch of {batch_size}: give 1 or more")
    fake = NetParameter()
    fake.CopyFrom(net)
    _choose_open_outputs(fake)
    failures: list[NetError] = []
    worked = False
    with caffe_log.silenced():
        for state in _states(fake):
            trial = _Trial(fake, state, batch_size, python)
            if trial.sources:
                try:
                    trial.replace_sources()
                    worked = True
                except NetError as e:
                    failures.append(e)
    # A net that is broken in one phase only is good for the other.
    if failures and not worked:
        raise failures[0]
    return fake


def _choose_open_outputs(net: NetParameter) -> None:
    """Templates, DIGITS' for one, leave the number of classes open; without data any will do."""
    for layer in net.layer:
        name = OPEN_OUTPUTS.get(layer.type)
        if name and not getattr(layer, name).num_output:
            getattr(layer, name).num_output = CLASSES


def _is_source(layer: LayerParameter) -> bool:
    return not layer.bottom and bool(layer.top) and layer.type not in MAKE_THEIR_OWN


def _states(net: NetParameter) -> Iterator[NetState]:
    """Both phases; then, for sources that those do not reach, what their own rules ask for."""
    own = NetState()
    own.CopyFrom(net.state)
    own.ClearField("phase")
    for phase in (TRAIN, TEST):
        yield merge_state(phase, own)
    for layer in net.layer:
        for rule in layer.include if _is_source(layer) else ():
            phase = rule.phase if rule.HasField("phase") else TRAIN
            yield NetState(phase=phase, stage=rule.stage, level=rule.min_level)


def _is_in(layer: LayerParameter, state: NetState) -> bool:
    return bool(filter_net(NetParameter(layer=[layer]), state).layer)


# -- one source ------------------------------------------------------------------------------------


class _Source:
    """A layer that is to be replaced, and the shapes its tops may have."""

    def __init__(
        self, layer: LayerParameter, net_name: str, batch_size: int | None, python: bool
    ) -> None:
        self.layer, self.python = layer, python
        self.tops = list(layer.top)
        settings = str(layer).lower()
        found = re.search(r"batch_size\W+(\d+)", settings)  # in whichever message; or param_str
        self.batch = batch_size or (int(found[1]) if found else 1)
        self.batch = max(1, self.batch)
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

    def item_shapes(self, users: set[str]) -> list[Shape]:
        """What its first top may hold, likeliest first."""
        shapes = [self.read[0]] if self.read else []
        crop = self.layer.transform_param.crop_size
        if crop:
            shapes += [(channels, crop, crop) for channels in (3, 1, 2, 4, 6)]
        shapes += [shape for word, shape in KNOWN.items() if word in self.words]
        if "Embed" in users:
            shapes += WORDS
        if users & set(MARKED):
            shapes += SEQUENCES
        if not users & set(IMAGE_USERS) and self.layer.type == "HDF5Data":
            shapes += VECTORS
        return list(dict.fromkeys([*shapes, *IMAGES, *VECTORS, *SEQUENCES]))

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


# -- what tops are good for ------------------------------------------------------------------------


@dataclass
class _Use:
    """What the net does with a blob from a source."""

    classes: int = 0  # whole numbers below this
    unit: bool = False  # from 0 to 1
    target: bool = False  # any number
    shape: Shape | None = None

    def merged(self, other: _Use) -> _Use:
        limits = [n for n in (self.classes, other.classes) if n]
        return _Use(
            min(limits, default=0),
            self.unit or other.unit,
            self.target or other.target,
            self.shape or other.shape,
        )

    def filler(self, pixels: FillerParameter) -> FillerParameter:
        if self.classes:
            return FillerParameter(type="integer", min=0, max=self.classes)
        if self.unit:
            return FillerParameter(type="uniform", min=0, max=1)
        if self.target:
            return FillerParameter(type="gaussian", mean=0, std=1)
        return pixels


class _Trial:
    """The net of one state, and the search for shapes with which it can be built."""

    def __init__(
        self, net: NetParameter, state: NetState, batch_size: int | None, python: bool
    ) -> None:
        here = [layer for layer in net.layer if _is_in(layer, state)]
        self.sources = [_Source(la, net.name, batch_size, python) for la in here if _is_source(la)]
        self.python = python
        self.layers = [layer for layer in here if not _is_source(layer)]
        self.state = state
        self.problems: list[str] = []

    def replace_sources(self) -> None:
        """Give each source the first shapes that work; if none does, the likeliest, and say so."""
        labels = {top for source in self.sources for top in source.tops[1:] if self._unused(top)}
        labels |= {top for source in self.sources for top in source.tops if self._only_label(top)}
        choices = [source.item_shapes(self._users(source.tops)) for source in self.sources]
        likeliest: list[LayerParameter] = []
        for attempt in range(max(map(len, choices))):
            # Sources are mostly alike: they go through their lists together.
            items = [shapes[min(attempt, len(shapes) - 1)] for shapes in choices]
            made, works = self._attempt(items, labels)
            if works:
                self._put(made)
                return
            likeliest = likeliest or made
        self._put(likeliest)
        names = ", ".join(f'"{source.layer.name}"' for source in self.sources)
        raise NetError(
            f"no fake data for {names}: the net can be built with none of the usual shapes. "
            f"With the first, {choices[0][0]}: {self.problems[0]}",
            "If the net itself is right, give transform_param.crop_size, or put a DummyData layer "
            "there by hand",
        )

    def _put(self, made: list[LayerParameter]) -> None:
        for source, layer in zip(self.sources, made, strict=True):
            layer.include.extend(source.layer.include)
            layer.exclude.extend(source.layer.exclude)
            source.layer.CopyFrom(layer)

    def _attempt(
        self, items: Sequence[Shape], labels: set[str]
    ) -> tuple[list[LayerParameter], bool]:
        """Layers whose first tops hold such items, and whether the net can be built with them."""
        shapes: dict[str, Shape] = {}
        for source, item in zip(self.sources, items, strict=True):
            read = source.read if source.read and source.read[0] == item else None
            # Of the layers that can be asked, only HDF5Data has labels of any other shape than (n).
            sure = read if source.layer.type == "HDF5Data" else None
            for j, top in enumerate(source.tops):
                if sure or top not in labels:
                    shapes[top] = (source.batch, *(read[j] if read else item))
        while True:
            known = self._build(self._fakes(shapes, {}), self._downstream(set(shapes)))
            if known is None:
                uses = {}
                break
            uses = {top: self._use(top, known) for source in self.sources for top in source.tops}
            # A label may be needed on the way to another: an LSTM's marks before its loss.
            new = {
                top: _label_shape(shape, source.batch)
                for source in self.sources
                for top in source.tops
                if top not in shapes and (shape := uses[top].shape)
            }
            if not new:
                break
            shapes |= new
        for source in self.sources:
            for top in source.tops:
                shapes.setdefault(top, (source.batch,))
        made = self._fakes(shapes, uses)
        works = known is not None and self._build(made, self.layers) is not None
        return made, works

    def _fakes(self, shapes: dict[str, Shape], uses: dict[str, _Use]) -> list[LayerParameter]:
        """A FakeData layer for each source, with those of its tops that have a shape."""
        made = []
        for source in self.sources:
            layer = LayerParameter(name=source.layer.name, type="FakeData")
            for top in source.tops:
                if top in shapes:
                    layer.top.append(top)
                    layer.dummy_data_param.shape.append(BlobShape(dim=shapes[top]))
                    filler = uses.get(top, _Use()).filler(source.pixels())
                    layer.dummy_data_param.data_filler.append(filler)
            made.append(layer)
        return made

    def _build(
        self, sources: list[LayerParameter], layers: Iterable[LayerParameter]
    ) -> dict[str, Shape] | None:
        """The shapes of the blobs, as far as known, or None if the net cannot be built."""
        param = NetParameter(layer=[*(s for s in sources if s.top), *layers], state=self.state)
        try:
            net = Sketch(param, self.python)
            net.refuse_problems()
        except PcdError as e:
            self.problems.append(str(e).splitlines()[0])
            return None
        return {name: net.blobs[i].shape for name, i in net.blob_ids.items() if net.knows(i)}

    # -- following blobs -----------------------------------------------------------------------

    def _takers(self, blob: str) -> Iterator[tuple[LayerParameter, int]]:
        for layer in self.layers:
            for i, name in enumerate(layer.bottom):
                if name == blob:
                    yield layer, i

    def _users(self, tops: Sequence[str]) -> set[str]:
        """The types of the layers that take a source's tops, reshaping not counted."""
        found, ahead, seen = set(), list(tops), set(tops)
        while ahead:
            for layer, _ in self._takers(ahead.pop()):
                found.add(layer.type)
                if layer.type in LETS_LABELS_PASS or list(layer.bottom) == list(layer.top):
                    new = set(layer.top) - seen
                    seen |= new
                    ahead += new
        return found

    def _unused(self, blob: str) -> bool:
        return not any(True for _ in self._takers(blob))

    def _only_label(self, blob: str) -> bool:
        """True if all that becomes of a blob is a label, a target, or the marks of an LSTM."""
        takers = [taker for taker in self._takers(blob) if taker[0].type != "Silence"]
        return bool(takers) and all(
            _is_label_bottom(layer, i)
            or (
                layer.type in LETS_LABELS_PASS
                and layer.type != "Concat"
                and blob not in layer.top
                and all(self._only_label(top) for top in layer.top)
            )
            for layer, i in takers
        )

    def _downstream(self, blobs: set[str]) -> list[LayerParameter]:
        """The layers that can run on these blobs alone."""
        have, found = set(blobs), []
        for layer in self.layers:
            if have.issuperset(layer.bottom):
                have.update(layer.top)
                found.append(layer)
        return found

    def _use(self, blob: str, known: dict[str, Shape]) -> _Use:
        """What a blob is for, when the shapes of the others are known."""
        use = _Use()
        for layer, i in self._takers(blob):
            if _is_label_bottom(layer, i) or layer.type in (*TARGETS, "Embed"):
                use = use.merged(_use_in(layer, i, known))
            elif layer.type in LETS_LABELS_PASS and blob not in layer.top:
                behind = [self._use(top, known) for top in layer.top]
                use = use.merged(_before(layer, behind))
        return use


def _label_shape(shape: Shape, batch: int) -> Shape:
    """(steps, n) came out of (batch, steps / batch, n) if a batch is whole sequences."""
    if len(shape) > 1 and shape[0] > batch and shape[0] % batch == 0:
        return batch, shape[0] // batch, *shape[1:]
    return shape


def _is_label_bottom(layer: LayerParameter, i: int) -> bool:
    if layer.type in (*CLASS_LABELS, *CLASS_COUNTS, *MARKED):
        return i == 1
    if layer.type in TARGETS:
        return i >= 1
    if layer.type in LABEL_SEQUENCES:
        return len(layer.bottom) == 2 and i == 1
    return layer.type == "ContrastiveLoss" and i == 2


def _use_in(layer: LayerParameter, i: int, known: dict[str, Shape]) -> _Use:
    """What a layer asks of the label (or index, or target) that is its bottom i."""
    if layer.type == "Embed":
        return _Use(classes=layer.embed_param.input_dim)
    first = known.get(layer.bottom[0])
    if layer.type in TARGETS:
        other = known.get(layer.bottom[0 if i else 1])
        return _Use(
            unit=layer.type in UNIT_TARGETS,
            target=layer.type not in UNIT_TARGETS,
            shape=other,
        )
    if layer.type == "ContrastiveLoss":
        return _Use(classes=2, shape=first[:1] if first else None)
    if layer.type in MARKED:
        return _Use(classes=2, shape=first[:2] if first else None)
    if not first:
        return _Use()
    if layer.type in CLASS_COUNTS:
        count: int = getattr(layer, CLASS_COUNTS[layer.type]).num_output
        return _Use(classes=max(1, count), shape=first[:1])
    if layer.type in LABEL_SEQUENCES and len(first) > 2:
        return _Use(classes=first[2], shape=(first[1], max(1, first[0] // 4)))
    axis = _class_axis(layer) % len(first)
    return _Use(classes=max(1, first[axis]), shape=first[:axis] + first[axis + 1 :])


def _class_axis(layer: LayerParameter) -> int:
    axes: dict[str, Any] = {
        "SoftmaxWithLoss": layer.softmax_param,
        "Accuracy": layer.accuracy_param,
        "InfogainLoss": layer.infogain_loss_param,
    }
    return axes[layer.type].axis if layer.type in axes else 1


def _before(layer: LayerParameter, behind: list[_Use]) -> _Use:
    """The use of a bottom, given those of the layer's tops."""
    use = _Use()
    for one in behind:
        use = use.merged(one)
    if layer.type == "Slice" and use.shape:
        use.shape = _joined(layer, [one.shape for one in behind])
    return use


def _joined(layer: LayerParameter, shapes: list[Shape | None]) -> Shape | None:
    """What was sliced, from the slices: (n) and (n) were columns of (n, 2)."""
    axis = layer.slice_param.axis
    whole = [list(shape) for shape in shapes if shape]
    for shape in whole:
        shape += [1] * (axis + 1 - len(shape))
    if len(whole) < len(shapes) or not whole:
        return None
    points = list(layer.slice_param.slice_point)
    ends = [b - a for a, b in zip([0, *points], points, strict=False)]
    last = whole[-1][axis]
    whole[0][axis] = sum(ends) + last if points else sum(shape[axis] for shape in whole)
    return tuple(whole[0])

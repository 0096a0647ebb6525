"""What ``--fake-data`` does: made-up batches in place of every data source of a net.

Shapes come from the data where they can be read, from the layer's settings where those tell, else
from a list of usual ones: the first with which the net can be built.  What a top is good for, and
so its values, is found by following it through the net: to a loss, to an Embed, to an LSTM
(``fake_uses``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import prod

from pycaffe_dist import caffe_log
from pycaffe_dist.aliases import Shape
from pycaffe_dist.errors import NetError, PcdError
from pycaffe_dist.proto.caffe_pb2 import (
    TEST,
    TRAIN,
    BlobShape,
    LayerParameter,
    NetParameter,
    NetState,
)
from pycaffe_dist.proto.state import filter_net, merge_state
from pycaffe_dist.sketch import Sketch
from pycaffe_dist.tools.fake_sources import Source
from pycaffe_dist.tools.fake_uses import (
    COUNTS_LABELS,
    LETS_LABELS_PASS,
    MARKED,
    NAMED,
    RESIZES_LABELS,
    TARGETS,
    Use,
    before,
    is_label_bottom,
    label_shape,
    named_use,
    use_in,
)

MAKE_THEIR_OWN = ("ContinuationIndicator", "DummyData", "FakeData", "Input", "Parameter")
OPEN_OUTPUTS = {"InnerProduct": "inner_product_param", "Convolution": "convolution_param"}
CLASSES = 10


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
        if name and not getattr(layer, name).HasField("num_output"):
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
    ruled = layer.include or layer.exclude
    return not ruled or bool(filter_net(NetParameter(layer=[layer]), state).layer)


class _Trial:
    """The net of one state, and the search for shapes with which it can be built."""

    def __init__(
        self, net: NetParameter, state: NetState, batch_size: int | None, python: bool
    ) -> None:
        here = [layer for layer in net.layer if _is_in(layer, state)]
        self.sources = [Source(la, net.name, batch_size, python) for la in here if _is_source(la)]
        self.python = python
        self.layers = [layer for layer in here if not _is_source(layer)]
        for source in self.sources:
            if not source.says_batch:
                source.batch = max([source.batch, *self._reshaped_labels(source.tops[1:])])
        self.recurrent = any(layer.type in MARKED for layer in self.layers)
        self.state = state
        self.problems: list[str] = []

    def replace_sources(self) -> None:
        """Give each source the first shapes that work; if none does, the likeliest, and say so."""
        labels = {top for source in self.sources for top in source.tops[1:] if self._unused(top)}
        labels |= {top for source in self.sources for top in source.tops if self._only_label(top)}
        labels |= {top for source in self.sources for top in source.tops if top in NAMED}
        marks = [layer for layer in self.layers if layer.type == "ContinuationIndicator"]
        steps = max((layer.continuation_indicator_param.time_step for layer in marks), default=0)
        choices = [source.item_shapes(self._users(source.tops), steps) for source in self.sources]
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
                elif j and (pixels := source.label_item(item)):
                    shapes[top] = (source.batch, *pixels)
        while True:
            known = self._build(self._fakes(shapes, {}), self._downstream(set(shapes)))
            if known is None:
                uses = {}
                break
            uses = {
                top: self._use(top, known, source.batch)
                for source in self.sources
                for top in source.tops
            }
            # A label may be needed on the way to another: an LSTM's marks before its loss.
            new = {
                top: label_shape(shape, source.batch) if self.recurrent else shape
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

    def _fakes(self, shapes: dict[str, Shape], uses: dict[str, Use]) -> list[LayerParameter]:
        """A FakeData layer for each source, with those of its tops that have a shape."""
        made = []
        for source in self.sources:
            layer = LayerParameter(name=source.layer.name, type="FakeData")
            for top in source.tops:
                if top in shapes:
                    layer.top.append(top)
                    layer.dummy_data_param.shape.append(BlobShape(dim=shapes[top]))
                    filler = uses.get(top, Use()).filler(source.pixels())
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

    def _reshaped_labels(self, tops: Sequence[str]) -> Iterator[int]:
        """How many labels there are where a Reshape says it: (16, 24) of sequences are 384."""
        for layer, _ in (taker for top in tops for taker in self._takers(top)):
            sizes = layer.reshape_param.shape.dim
            if layer.type == "Reshape" and sizes and min(sizes) > 0:
                yield prod(sizes)

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
            is_label_bottom(layer, i)
            or (
                layer.type in (*LETS_LABELS_PASS, *COUNTS_LABELS)
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

    def _use(self, blob: str, known: dict[str, Shape], batch: int) -> Use:
        """What a blob is for, when the shapes of the others are known."""
        use = Use()
        for layer, i in self._takers(blob):
            if is_label_bottom(layer, i) or layer.type in (*TARGETS, "Embed"):
                use = use.merged(use_in(layer, i, known, batch))
            elif layer.type in (*LETS_LABELS_PASS, *RESIZES_LABELS) and blob not in layer.top:
                behind = [self._use(top, known, batch) for top in layer.top]
                use = use.merged(before(layer, behind))
        return use.merged(named_use(blob, batch))

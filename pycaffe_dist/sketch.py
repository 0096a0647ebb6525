"""Sketch: a net for those who only look at it, whole also where parts of it cannot be built."""

from __future__ import annotations

from functools import cached_property

from pycaffe_dist.blob import View, Views
from pycaffe_dist.errors import FileError, NetError, visible, visible_lines
from pycaffe_dist.layer import Context, Layer
from pycaffe_dist.net import Net
from pycaffe_dist.proto.caffe_pb2 import LayerParameter, NetParameter
from pycaffe_dist.proto.nets import NetFile
from pycaffe_dist.proto.wiring import wiring_problems
from pycaffe_dist.registry import UNBUILT, is_known, unknown_types
from pycaffe_dist.user_modules import in_one_line

NOT_RUN = "not run"
UNKNOWN = "unknown"


class Unbuilt(Layer):
    """Stands for a layer that was not built; ``note`` is what a table shows for its shapes."""

    bottoms = tops = (0, None)
    changes_batch = True  # for all that is known

    def __init__(self, param: LayerParameter, context: Context, note: str) -> None:
        super().__init__(param, context)
        self.type, self.note = param.type, note
        self.layer_param.ClearField("param")

    def reshape(self, bottom: Views, top: Views) -> None:
        """Nothing is known of its tops."""

    def flops(self, bottom: Views, top: Views) -> int:
        return 0

    def set_loss_weights(self, top: Views) -> None:
        """As in its file; a loss's own is 1, so that layers below it have gradients."""
        weights = list(self.layer_param.loss_weight)
        is_loss = self.type.endswith("Loss")
        default = [float(is_loss and j == 0) for j in range(len(top))]
        # Tops that a layer makes by itself may have weights, and are not made here.
        self.loss = weights if len(weights) == len(top) else default


class Sketch(Net):
    """A net without values.

    What cannot be built is told together.  The tops of such a layer have no shape that is known,
    and layers that need it are not built either.  Python layers run only if the context lets them.

    Attributes:
        needs: the layer types that are not known, in one line; empty if all are.
        problems: what else is wrong, each with its place.
        data_problems: why layers that bring data in have no shape.
        not_run: the Python layers that were not run.
        guess: why the shapes of the data are a guess; empty if they are not.
        asks_phase: whether it may be another net in another phase.
    """

    def __init__(self, source: NetParameter | NetFile, python: bool = False) -> None:
        self.needs = ""
        self.problems: list[str] = []
        self.data_problems: list[str] = []
        self.not_run: list[str] = []
        self.guess = ""
        self._index = 0
        self._unknown: set[int] = set()  # blobs
        before = Layer.phase_reads
        super().__init__(source, Context(dry=True, python=python))
        rules = any(layer.include or layer.exclude for layer in self._file.net.layer)
        self.asks_phase = rules or Layer.phase_reads > before

    def refuse_problems(self) -> None:
        """Raise what is wrong, if anything is and no guess at the data helps."""
        if (found := self.all_problems()) and not self.guess:
            raise NetError(*"\n".join(found).split("\n"))

    def all_problems(self) -> list[str]:
        return [*[self.needs] * bool(self.needs), *self.problems, *self.data_problems]

    def knows(self, blob: int) -> bool:
        """Whether the shape of a blob is known."""
        return blob not in self._unknown

    @property
    def sources_not_run(self) -> list[str]:
        """The Python layers that bring data in and were not run."""
        return [
            layer.name
            for layer, bottoms in zip(self.layers, self.bottom_ids, strict=True)
            if isinstance(layer, Unbuilt) and layer.note == NOT_RUN and not bottoms
        ]

    @property
    def broken(self) -> bool:
        """Whether there is a layer that cannot be built, whatever the data are."""
        return any(
            layer.type == UNBUILT or (bool(bottoms) and not is_known(layer.type))
            for layer, bottoms in zip(self.layers, self.bottom_ids, strict=True)
        )

    # -- building ------------------------------------------------------------------------------

    @cached_property
    def _lines(self) -> list[int | None]:
        return self._file.lines_of(self.net_param)

    def _sound(self, net: NetParameter) -> NetParameter:
        """The net with broken layers as sources of whatever else they would have made."""
        wrong, unknown = wiring_problems(net), unknown_types(net.layer)
        if not wrong and not unknown:
            return net
        lines = self._file.lines_of(net)
        self.problems += [visible(self._place(lines[i]) + text) for i, text in wrong]
        self.needs = "".join(visible(self._place(lines[i]) + text) for i, text in unknown)
        broken = {i for i, _ in wrong}
        made: set[str] = set()
        for i, layer in enumerate(net.layer):
            if i in broken:
                tops = [top for top in dict.fromkeys(layer.top) if top not in made]
                layer.CopyFrom(LayerParameter(name=layer.name, type=UNBUILT, top=tops))
            made.update(layer.top)
        return net

    def _add_layer(self, index: int, param: LayerParameter, available: dict[str, int]) -> None:
        self._index = index
        super()._add_layer(index, param, available)
        if isinstance(self.layers[-1], Unbuilt):
            self._unknown.update(self.top_ids[-1])

    def _create(self, param: LayerParameter) -> Layer:
        if param.type == "Python" and not self.context.python:
            p = param.python_param
            words = f'layer "{param.name}" (Python, {p.layer} of module {p.module})'
            self.not_run.append(visible(words))
            return Unbuilt(param, self.context, NOT_RUN)
        unknown = self._unknown and any(self.blob_ids[b] in self._unknown for b in param.bottom)
        if unknown or not is_known(param.type):
            return Unbuilt(param, self.context, UNKNOWN)
        try:
            return super()._create(param)
        except Exception as e:
            return self._failed(param, e)

    def _set_up(self, layer: Layer, bottom: list[View], top: list[View]) -> Layer:
        try:
            return super()._set_up(layer, bottom, top)
        except Exception as e:
            return super()._set_up(self._failed(layer.layer_param, e), bottom, top)

    def _failed(self, param: LayerParameter, error: Exception) -> Unbuilt:
        """Keep what is wrong with a layer; a Python layer's own exceptions are its author's."""
        text = str(error)
        if not isinstance(error, (NetError, FileError)):
            if param.type != "Python":
                raise error
            text = f'layer "{param.name}" (Python): {in_one_line(error)}'
        line = self._lines[self._index]
        where = self.problems if param.bottom or param.type == "Input" else self.data_problems
        where.append(visible_lines(self._place(line) + text))
        return Unbuilt(param, self.context, UNKNOWN)

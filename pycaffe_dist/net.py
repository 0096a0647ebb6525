"""Net: layers connected by blobs, built from a NetParameter, run forward and backward."""

from __future__ import annotations

from dataclasses import replace
from types import TracebackType

import numpy as np

from pycaffe_dist import caffe_log as log
from pycaffe_dist import debug_info
from pycaffe_dist.blob import Blob, View
from pycaffe_dist.engines.base import Engine, Loss
from pycaffe_dist.errors import FileError, NetError
from pycaffe_dist.hooks import Hook, Substitute
from pycaffe_dist.layer import Context, Layer
from pycaffe_dist.learnable import Params
from pycaffe_dist.memory import Value
from pycaffe_dist.proto.caffe_pb2 import LayerParameter, NetParameter
from pycaffe_dist.proto.nets import NetFile
from pycaffe_dist.proto.splits import insert_splits
from pycaffe_dist.proto.state import filter_net, rule_problems
from pycaffe_dist.proto.wiring import wiring_problems
from pycaffe_dist.recycling import Recycling
from pycaffe_dist.registry import create_layer, unknown_types
from pycaffe_dist.threads import flush_denormals

AUTOMATIC = "(automatic)"  # the name of a top that nobody named


class Net:
    """A net in the state that its NetParameter names.

    Args:
        source: the net, already upgraded, or a file that was read.
        context: number type and home of its values; ``dry`` for shapes only.
    """

    def __init__(self, source: NetParameter | NetFile, context: Context | None = None) -> None:
        self._file = source if isinstance(source, NetFile) else NetFile(source, "", [])
        self.context = context or Context()
        self._refuse(self._file.net, rule_problems(self._file.net))
        filtered = self._sound(filter_net(self._file.net))
        if log.enabled():
            text = str(filtered).rstrip()
            log.info("net.cpp:53", f"Initializing net from parameters: \n{text}")
        self.written = filtered  # without splits, which nobody wrote
        self.net_param = insert_splits(filtered)
        self.name = self.net_param.name
        self.phase = self.net_param.state.phase
        self.debug_info = self.net_param.debug_info

        self.layers: list[Layer] = []
        self.layer_names: list[str] = []
        self.blobs: list[Blob] = []
        self.blob_names: list[str] = []
        self.blob_ids: dict[str, int] = {}
        self.blob_loss_weights: list[float] = []
        self.bottom_ids: list[list[int]] = []
        self.top_ids: list[list[int]] = []
        self.bottoms: list[list[View]] = []
        self.tops: list[list[View]] = []
        self.input_ids: list[int] = []
        self.output_ids: list[int] = []
        self.params = Params()
        self._memory_used = 0

        self.blob_need_backward: list[bool] = []
        self.bottom_need_backward: list[list[bool]] = []
        self.layer_need_backward: list[bool] = []

        self.recycling: Recycling | None = None
        self.substitute: Substitute | None = None
        self.before_forward, self.after_forward = Hook(), Hook()
        self.before_backward, self.after_backward = Hook(), Hook()
        self._build()

    # -- building ----------------------------------------------------------------------------

    def _refuse(self, net: NetParameter, problems: list[tuple[int, str]]) -> None:
        if problems:
            lines = self._file.lines_of(net)
            raise NetError(*(self._place(lines[i]) + text for i, text in problems))

    def _sound(self, net: NetParameter) -> NetParameter:
        """The net, whose layers are known and fit together."""
        self._refuse(net, [*wiring_problems(net), *unknown_types(net.layer)])
        return net

    def _place(self, line: int | None) -> str:
        if not self._file.path:
            return ""
        return f"{self._file.path}:{line}: " if line else f"{self._file.path}: "

    def _build(self) -> None:
        available: dict[str, int] = {}
        for index, param in enumerate(self.net_param.layer):
            if not param.HasField("phase"):
                param.phase = self.phase
            try:
                self._add_layer(index, param, available)
            except (NetError, FileError) as e:
                line = self._file.lines_of(self.net_param)[index]
                raise type(e)(self._place(line) + str(e)) from e
        self._find_what_needs_backward()
        # Byte-wise order, as a C++ set of strings has it.
        self.output_ids = [available[name] for name in sorted(available, key=str.encode)]
        for i in self.output_ids:
            log.info("net.cpp:244", "This network produces output %s", self.blob_names[i])
        self.fusions = self.context.engine.finish(self)
        log.info("net.cpp:257", "Network initialization done.")

    def _add_layer(self, index: int, param: LayerParameter, available: dict[str, int]) -> None:
        log.info("layer_factory.hpp:77", "Creating layer %s", param.name)
        layer = self._create(param)
        log.info("net.cpp:86", "Creating Layer %s", param.name)
        home = layer.context.home
        bottom_ids = [self._bottom(param, name, available) for name in param.bottom]
        top_ids = [self._top(param, j, available) for j in range(len(param.top))]
        while layer.auto_tops and len(top_ids) < _least(layer.tops):
            top_ids.append(self._new_blob(AUTOMATIC))
        if param.type == "Input":
            self.input_ids += top_ids
        bottom = [View(self.blobs[i], home, "diff") for i in bottom_ids]
        top = [View(self.blobs[i], home, "data") for i in top_ids]

        layer = self._set_up(layer, bottom, top)
        log.info("net.cpp:124", "Setting up %s", param.name)
        for i, view, weight in zip(top_ids, top, layer.loss, strict=True):
            self.blob_loss_weights[i] = weight
            if log.enabled():
                shape = "".join(f"{d} " for d in view.shape)
                log.info("net.cpp:131", "Top shape: %s(%d)", shape, view.count)
            if weight:
                log.info("net.cpp:134", "    with loss weight %g", weight)
            self._memory_used += view.count * layer.dtype.itemsize
        log.info("net.cpp:139", "Memory required for data: %d", self._memory_used)

        self.layers.append(layer)
        self.layer_names.append(param.name)
        self.bottom_ids.append(bottom_ids)
        self.top_ids.append(top_ids)
        self.bottoms.append(bottom)
        self.tops.append(top)
        self._mark_needs(layer, param)
        self.params.add_layer(index, layer)

    def _create(self, param: LayerParameter) -> Layer:
        engine = self.context.engine.of_layer(self.net_param, param)
        same = engine is self.context.engine  # a context for each layer costs more than most layers
        return create_layer(param, self.context if same else replace(self.context, engine=engine))

    def _set_up(self, layer: Layer, bottom: list[View], top: list[View]) -> Layer:
        layer.set_up(bottom, top)
        given = len(layer.layer_param.param)
        layer.check(given <= len(layer.blobs), f"{given} `param` for {len(layer.blobs)} parameters")
        return layer

    def _bottom(self, param: LayerParameter, name: str, available: dict[str, int]) -> int:
        log.info("net.cpp:408", "%s <- %s", param.name, name)
        available.pop(name, None)
        return self.blob_ids[name]

    def _top(self, param: LayerParameter, j: int, available: dict[str, int]) -> int:
        name = param.top[j]
        if j < len(param.bottom) and param.bottom[j] == name:
            log.info("net.cpp:369", "%s -> %s (in-place)", param.name, name)
            available[name] = self.blob_ids[name]
        elif name in self.blob_ids:
            raise NetError(
                f'layer "{param.name}": its top "{name}" replaces a blob that another layer reads '
                "too, or that has a loss_weight; such a layer cannot work in place: rename the top"
            )
        else:
            log.info("net.cpp:382", "%s -> %s", param.name, name)
            available[name] = self._new_blob(name)
        return available[name]

    def _new_blob(self, name: str) -> int:
        self.blobs.append(Blob(dtype=self.context.dtype))
        self.blob_names.append(name)
        self.blob_ids[name] = len(self.blobs) - 1
        self.blob_need_backward.append(False)
        self.blob_loss_weights.append(0.0)
        return len(self.blobs) - 1

    def _mark_needs(self, layer: Layer, param: LayerParameter) -> None:
        """A layer needs backward if a bottom does or a parameter of its own learns."""
        from_below = [self.blob_need_backward[i] for i in self.bottom_ids[-1]]
        needs = any(from_below)
        self.bottom_need_backward.append(list(param.propagate_down) or from_below)
        # What the file says counts here, not what the layer adds to it: as in Caffe.
        for i in range(len(layer.blobs)):
            learns = i >= len(param.param) or param.param[i].lr_mult != 0
            layer.param_propagate_down[i] = learns
            needs |= learns
        self.layer_need_backward.append(needs)
        if needs:
            for i in self.top_ids[-1]:
                self.blob_need_backward[i] = True

    def _find_what_needs_backward(self) -> None:
        """From the losses down: switch off what no loss depends on; then ``force_backward``.

        By name, so that a chain of in-place layers counts as one blob.
        """
        under_loss: set[str] = set()
        skipped: set[str] = set()
        for i in reversed(range(len(self.layers))):
            tops = [self.blob_names[t] for t in self.top_ids[i]]
            contributes = any(self.layers[i].loss) or not under_loss.isdisjoint(tops)
            flags = self.bottom_need_backward[i]
            if self.layer_need_backward[i] and skipped.issuperset(tops):
                self.layer_need_backward[i] = False
                flags[:] = [False] * len(flags)
            if not contributes:
                self.layer_need_backward[i] = False
            if self.layer_need_backward[i]:
                log.info("net.cpp:200", "%s needs backward computation.", self.layer_names[i])
            else:
                log.info(
                    "net.cpp:202", "%s does not need backward computation.", self.layer_names[i]
                )
            for j, b in enumerate(self.bottom_ids[i]):
                if contributes:
                    under_loss.add(self.blob_names[b])
                else:
                    flags[j] = False
                if not flags[j]:
                    skipped.add(self.blob_names[b])
        if self.net_param.force_backward:
            self._force_backward()

    def _force_backward(self) -> None:
        for i, layer in enumerate(self.layers):
            self.layer_need_backward[i] = True
            flags = self.bottom_need_backward[i]
            for j, b in enumerate(self.bottom_ids[i]):
                flags[j] = flags[j] or layer.force_backward_allowed(j)
                self.blob_need_backward[b] = self.blob_need_backward[b] or flags[j]
            layer.param_propagate_down = [True] * len(layer.blobs)

    # -- running -----------------------------------------------------------------------------

    def forward(self, start: int = 0, end: int | None = None) -> Loss:
        """Run the layers from ``start`` to ``end``, both included; the sum of their losses."""
        last = len(self.layers) - 1 if end is None else end
        self._check_range(start, last)
        if self.substitute is not None and (start, last) == (0, len(self.layers) - 1):
            return self.substitute.forward()
        return self.forward_here(start, last)

    def forward_here(self, start: int = 0, end: int | None = None) -> Loss:
        """As ``forward``, by the net's own layers, whoever else could compute it."""
        last = len(self.layers) - 1 if end is None else end
        self.context.engine.enter()
        if self.recycling:
            self.recycling.begin()
        loss: Loss = 0.0
        watched = self.debug_info or bool(self.after_forward)
        one_by_one = watched or self.before_forward
        with _quiet(), self.fusions.during(start, last, watched):
            for i in range(start, last + 1) if one_by_one else self.fusions.layers(start, last):
                self.before_forward.fire(i)
                loss += self.layers[i].run_forward(self.bottoms[i], self.tops[i])
                if self.debug_info:
                    debug_info.tell_forward(self, i)
                self.after_forward.fire(i)
                if self.recycling:
                    self.recycling.after_forward(i)
        return loss

    def feed(self) -> None:
        """Pass over a batch: run what brings data in, and all up to the last that remembers."""
        behind = max((i + 1 for i, layer in enumerate(self.layers) if layer.remembers), default=0)
        if behind:
            self.forward(end=behind - 1)
        for i in range(behind, len(self.layers)):
            if not self.bottoms[i]:
                self.layers[i].run_forward(self.bottoms[i], self.tops[i])

    def backward(self, start: int | None = None, end: int = 0) -> None:
        """Run the layers' backward from ``start`` down to ``end``, both included."""
        first = len(self.layers) - 1 if start is None else start
        self._check_range(end, first)
        if self.substitute is not None:
            self.substitute.settle()
        self.context.engine.enter()
        with _quiet(), self.fusions.during(end, first, self.debug_info):
            for i in range(first, end - 1, -1):
                self.before_backward.fire(i)
                if self.layer_need_backward[i]:
                    flags = self.bottom_need_backward[i]
                    self.layers[i].run_backward(self.tops[i], flags, self.bottoms[i])
                    if self.debug_info:
                        debug_info.tell_backward(self, i)
                self.after_backward.fire(i)
                if self.recycling:
                    self.recycling.after_backward(i)
        if self.debug_info:
            debug_info.tell_params(self)

    def _check_range(self, lowest: int, highest: int) -> None:
        if lowest < 0 or highest >= len(self.layers):
            known = f"the net has layers 0 to {len(self.layers) - 1}"
            raise NetError(f"layers {lowest} to {highest} are asked for; {known}")

    def reshape(self) -> None:
        """Let the shapes of the inputs spread through the net."""
        for layer, bottom, top in zip(self.layers, self.bottoms, self.tops, strict=True):
            layer.reshape(bottom, top)

    def clear_param_diffs(self) -> None:
        values: dict[Engine, list[Value]] = {}
        for param in self.params.learnable:
            engine = self.layers[param.owner[0]].context.engine
            values.setdefault(engine, []).append(param.blob.diff_value)
        for engine, own in values.items():
            engine.clear(own)

    def update(self) -> None:
        """data −= diff for every learnable parameter."""
        for param in self.params.learnable:
            np.subtract(param.blob.data, param.blob.diff, out=param.blob.data)


class _quiet:
    """How nets compute: denormals are zero, and overflows are left to the guard on the loss."""

    def __enter__(self) -> None:
        self._errors, self._denormals = np.errstate(all="ignore"), flush_denormals()
        self._errors.__enter__()
        self._denormals.__enter__()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._denormals.__exit__(kind, error, trace)
        self._errors.__exit__(kind, error, trace)


def _least(arity: int | tuple[int, int | None]) -> int:
    return arity if isinstance(arity, int) else arity[0]

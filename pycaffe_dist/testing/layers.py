"""One layer on its own: values against a reference, gradients against differences, in float64."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from pycaffe_dist.aliases import Array, DeviceArray
from pycaffe_dist.blob import Blob, View
from pycaffe_dist.layer import Context
from pycaffe_dist.proto.caffe_pb2 import LayerParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.registry import create_layer
from pycaffe_dist.rng import set_random_seed

EXHAUSTIVE = 150  # values of a blob that are all tried; of a larger one so many, spread evenly


@dataclass
class LayerCase:
    """A layer, what goes in, and what is known of what comes out.

    Attributes:
        layer: the layer's prototxt, without name, bottoms and tops.
        inputs: a shape, to be filled with numbers around 0, or an array, for each bottom.
        tops: how many.
        phase: TRAIN or TEST.
        reference: from the input arrays, the first top's values (or a tuple for several tops).
        bottoms: which get a gradient; by default all but the layer's labels.
        params: False leaves the gradients of parameters unchecked.
        kink: where the function has no derivative: inputs within ``kink_range`` of it are moved.
        ignores_propagate_down: the layer writes a bottom's gradient even when told not to.
        in_place: also checked with the first top in the first bottom's place.
        fill: values for the parameters, instead of the layer's fillers.
        step, tolerance: of the differences, for float64.
    """

    layer: str
    inputs: Sequence[tuple[int, ...] | Array]
    tops: int = 1
    phase: str = "TRAIN"
    reference: Callable[..., Any] | None = None
    bottoms: Sequence[int] | None = None
    params: bool = True
    kink: float | None = None
    kink_range: float = 0.01
    ignores_propagate_down: bool = False
    in_place: bool = False
    fill: Sequence[Array] = field(default_factory=tuple)
    step: float = 1e-5
    tolerance: float = 1e-6
    seed: int = 1701


class LayerRun:
    """A layer with blobs of its own, outside of any net."""

    def __init__(
        self, case: LayerCase, dtype: DTypeLike = np.float64, in_place: bool = False
    ) -> None:
        self.case = case
        set_random_seed(case.seed)
        rng = np.random.default_rng(case.seed)
        self.inputs = [_array(given, rng, case).astype(dtype) for given in case.inputs]
        bottoms = [Blob(x.shape, dtype) for x in self.inputs]
        tops = [Blob((), dtype) for _ in range(case.tops)]
        if in_place:
            tops[0] = bottoms[0]
        param = parse_text(f'name: "case" phase: {case.phase} {case.layer}', LayerParameter())
        context = Context(dtype=dtype)
        self.layer = create_layer(param.message, context)
        home = self.layer.context.home
        self.bottom = [View(b, home, "diff") for b in bottoms]
        self.top = [View(t, home, "data") for t in tops]
        self.load()
        self.layer.set_up(self.bottom, self.top)
        for blob, values in zip(self.layer.blobs, case.fill, strict=False):
            blob.data[...] = values

    def load(self) -> None:
        for view, x in zip(self.bottom, self.inputs, strict=True):
            view.blob.data[...] = x

    def forward(self) -> list[Array]:
        """Random layers draw the same numbers every time."""
        set_random_seed(self.case.seed)
        self.load()
        self.layer.run_forward(self.bottom, self.top)
        return [view.blob.data.copy() for view in self.top]

    def backward(self, weights: Sequence[Array], propagate_down: Sequence[bool]) -> None:
        for view, weight in zip(self.top, weights, strict=True):
            view.blob.diff[...] = weight
        self.layer.backward(self.top, propagate_down, self.bottom)


def as_host(array: DeviceArray) -> Array:
    """An array of any engine's as a plain one."""
    plain: Array = array if isinstance(array, np.ndarray) else array.get()
    return plain


def check_layer(case: LayerCase) -> None:
    """Check values, gradients, accumulation and propagate_down of a layer.

    Raises:
        AssertionError: with the blob, the index, both values and the tolerance.
    """
    run = LayerRun(case)
    outputs = run.forward()
    if case.reference is not None:
        expected = case.reference(*run.inputs)
        expected = expected if isinstance(expected, tuple) else (expected,)
        for i, (got, want) in enumerate(zip(outputs, expected, strict=False)):
            assert got.shape == np.shape(want), f"top {i}: shape {got.shape}, want {np.shape(want)}"
            np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9, err_msg=f"top {i}")
    checked = _checked_bottoms(case, run)
    if checked or (case.params and run.layer.blobs):
        _check_gradients(case, run, checked)
        _check_accumulation(case, run, checked)
    if case.in_place:
        _check_in_place(case, outputs, checked)


def _checked_bottoms(case: LayerCase, run: LayerRun) -> list[int]:
    if case.bottoms is not None:
        return list(case.bottoms)
    return [i for i in range(len(run.bottom)) if run.layer.force_backward_allowed(i)]


def _array(given: tuple[int, ...] | Array, rng: np.random.Generator, case: LayerCase) -> Array:
    if isinstance(given, np.ndarray):
        return given
    x = rng.standard_normal(given)
    if case.kink is not None:
        near = np.abs(x - case.kink) < case.kink_range
        x = np.where(near, case.kink + case.kink_range * np.where(x < case.kink, -2, 2), x)
    return x


def _weights(run: LayerRun) -> list[Array]:
    """A random direction in the space of the tops: its projection is what is differentiated."""
    rng = np.random.default_rng(run.case.seed + 1)
    tops = zip(run.top, [*run.layer.loss, *[0.0] * len(run.top)], strict=False)
    return [np.full(t.shape, w) if w else rng.standard_normal(t.shape) for t, w in tops]


def _analytic(run: LayerRun, weights: list[Array], checked: list[int]) -> list[Array]:
    for blob in run.layer.blobs:
        blob.diff[...] = 0
    run.forward()
    flags = [i in checked for i in range(len(run.bottom))]
    run.backward(weights, flags)
    grads = [run.bottom[i].blob.diff.copy() for i in checked]
    return grads + [blob.diff.copy() for blob in run.layer.blobs]


def _check_gradients(case: LayerCase, run: LayerRun, checked: list[int]) -> None:
    weights = _weights(run)
    grads = _analytic(run, weights, checked)
    targets: list[tuple[str, Callable[[], Array]]]
    targets = [(f"bottom {i}", lambda i=i: run.inputs[i]) for i in checked]  # type: ignore[misc]
    if case.params:
        for i, blob in enumerate(run.layer.blobs):
            targets.append((f"param {i}", lambda blob=blob: blob.data))  # type: ignore[misc]

    def objective() -> float:
        return sum(float(np.vdot(w, y)) for w, y in zip(weights, run.forward(), strict=True))

    for (name, values), grad in zip(targets, grads, strict=False):
        shape, size = values().shape, values().size
        tried = np.unique(np.linspace(0, size - 1, EXHAUSTIVE).astype(int))
        for i in tried[:size]:
            # Asked for anew each time: to write to a blob is to ask for its data.
            kept = values().reshape(-1)[i]
            values().reshape(-1)[i] = kept + case.step
            above = objective()
            values().reshape(-1)[i] = kept - case.step
            below = objective()
            values().reshape(-1)[i] = kept
            numeric, analytic = (above - below) / (2 * case.step), grad.reshape(-1)[i]
            allowed = case.tolerance * max(abs(numeric), abs(analytic), 1.0)
            assert abs(numeric - analytic) <= allowed, (
                f"{case.layer}: gradient of {name}{list(np.unravel_index(i, shape))}: "
                f"{analytic:.9g}, by differences {numeric:.9g} (value {kept:g}, step {case.step:g},"
                f" allowed {allowed:.3g})"
            )


def _check_accumulation(case: LayerCase, run: LayerRun, checked: list[int]) -> None:
    """Parameters' gradients add up, bottoms' are overwritten or, if not asked for, left alone."""
    weights = _weights(run)
    once = _analytic(run, weights, checked)
    flags = [i in checked for i in range(len(run.bottom))]
    run.forward()
    run.backward(weights, flags)
    for k, i in enumerate(checked):
        np.testing.assert_allclose(run.bottom[i].blob.diff, once[k], err_msg=f"bottom {i} twice")
    if case.params:
        for blob, first in zip(run.layer.blobs, once[len(checked) :], strict=True):
            np.testing.assert_allclose(blob.diff, 2 * first, err_msg="parameters do not add up")
    if not case.ignores_propagate_down:
        run.forward()
        for view in run.bottom:
            view.blob.diff[...] = 7
        run.backward(weights, [False] * len(run.bottom))
        for i, view in enumerate(run.bottom):
            assert (view.blob.diff == 7).all(), f"bottom {i}: a gradient nobody asked for"


def _check_in_place(case: LayerCase, outputs: list[Array], checked: list[int]) -> None:
    apart, inside = LayerRun(case), LayerRun(case, in_place=True)
    np.testing.assert_allclose(inside.forward()[0], outputs[0], err_msg="in place")
    weights = _weights(apart)
    want = _analytic(apart, weights, checked)
    got = _analytic(inside, weights, checked)
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12, err_msg="in place, backward")

"""How coordinates of one top of a net_spec map to another's, and the Crop that aligns them.

A map is (axis, scale, shift): from ``axis`` + 1 on, x ↦ scale · x + shift.  The identity of layers
that work point by point is (None, 1, 0): it has no axis.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from pycaffe_dist.pycaffe.net_spec import Function, Top, layers

L = layers  # as scripts call it

# fmt: off
PASS_THROUGH_LAYERS = [
    "AbsVal", "BatchNorm", "Bias", "BNLL", "Dropout", "Eltwise", "ELU", "Log", "LRN", "Exp", "MVN",
    "Power", "ReLU", "PReLU", "Scale", "Sigmoid", "Split", "TanH", "Threshold",
]
# fmt: on

Map = tuple[int | None, Any, Any]
IDENTITY: Map = (None, 1, 0)
_ONE_SIDED = {f"{what}_{side}" for what in ("pad", "kernel", "stride") for side in "hw"}


class UndefinedMapException(Exception):
    """A layer whose outputs have no place among its inputs."""


class AxisMismatchException(Exception):
    """Two maps that begin at different axes."""


def conv_params(fn: Function) -> tuple[int, Any, Any, Any]:
    """Axis, stride, dilated kernel size and padding of a layer with a kernel."""
    params = fn.params.get("convolution_param", fn.params)
    _check(not _ONE_SIDED & set(params), "cropping does not support legacy _h/_w params")
    kernel = np.array(params["kernel_size"], ndmin=1)
    dilation = np.array(params.get("dilation", 1), ndmin=1)
    return (
        params.get("axis", 1),
        np.array(params.get("stride", 1), ndmin=1),
        (kernel - 1) * dilation + 1,
        np.array(params.get("pad", 0), ndmin=1),
    )


def crop_params(fn: Function) -> tuple[int, Any]:
    """First cropped axis and offsets of a Crop."""
    params = fn.params.get("crop_param", fn.params)
    return params.get("axis", 2), np.array(params.get("offset", 0), ndmin=1)


def coord_map(fn: Function) -> Map:
    """The map from a layer's bottoms to its tops.

    Raises:
        UndefinedMapException: the layer has none, like an InnerProduct.
    """
    if fn.type_name in ("Convolution", "Pooling", "Im2col"):
        axis, stride, kernel, pad = conv_params(fn)
        return axis, 1 / stride, (pad - (kernel - 1) / 2) / stride
    if fn.type_name == "Deconvolution":
        axis, stride, kernel, pad = conv_params(fn)
        return axis, stride, (kernel - 1) / 2 - pad
    if fn.type_name in PASS_THROUGH_LAYERS:
        return IDENTITY
    if fn.type_name == "Crop":
        axis, offset = crop_params(fn)
        return axis - 1, 1, -offset
    raise UndefinedMapException(f"{fn.type_name} has no coordinate map")


def compose(base_map: Map, next_map: Map) -> Map:
    """The map that applies ``next_map``, then ``base_map``."""
    ax1, a1, b1 = base_map
    ax2, a2, b2 = next_map
    if ax1 is not None and ax2 is not None and ax1 != ax2:
        raise AxisMismatchException(f"one map begins at axis {ax1}, the other at {ax2}")
    return ax2 if ax1 is None else ax1, a1 * a2, a1 * b2 + b1


def inverse(coord_map: Map) -> Map:
    """The map back."""
    ax, a, b = coord_map
    return ax, 1 / a, -b / a


def coord_map_from_to(top_from: Top, top_to: Top) -> Map:
    """The map from coordinates of ``top_from`` to those of ``top_to``, over a common ancestor.

    Raises:
        RuntimeError: they have none that is reached through layers with maps.
    """
    from_maps = dict(_maps_below(top_from))
    for top, to_map in _maps_below(top_to):
        if top in from_maps:
            return compose(to_map, inverse(from_maps[top]))
    raise RuntimeError("Could not compute map between tops; are they connected by spatial layers?")


def _maps_below(top: Top) -> Iterator[tuple[Top, Map]]:
    """``top`` and all it is computed from, each with the map from there to ``top``."""
    maps = {top: IDENTITY}
    todo = [top]
    while todo:
        top = todo.pop()
        yield top, maps[top]
        try:
            step = coord_map(top.fn)
        except UndefinedMapException:
            continue
        # The second bottom of a Crop gives a size, not coordinates.
        for bottom in top.fn.inputs[:1] if top.fn.type_name == "Crop" else top.fn.inputs:
            if bottom not in maps:
                maps[bottom] = compose(maps[top], step)
                todo.append(bottom)


def crop(top_from: Top, top_to: Top) -> Any:
    """A Crop layer that cuts ``top_from`` to where and how large ``top_to`` is."""
    ax, a, b = coord_map_from_to(top_from, top_to)
    _check(bool(np.all(a == 1)), f"scale mismatch on crop (a = {a})")
    _check(bool(np.all(b <= 0)), f"cannot crop negative offset (b = {b})")
    _check(bool(np.all(np.round(b) == b)), f"cannot crop noninteger offset (b = {b})")
    offset = (-np.round(np.atleast_1d(b))).astype(int).tolist()
    axis = 2 if ax is None else ax + 1
    return layers.Crop(top_from, top_to, crop_param={"axis": axis, "offset": offset})


def _check(condition: bool, message: str) -> None:
    if not condition:
        raise AssertionError(message)  # what pycaffe's own raise, also under python -O

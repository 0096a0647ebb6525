"""What parameters are filled with before training."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pycaffe_dist.aliases import Array, Shape
from pycaffe_dist.errors import NetError
from pycaffe_dist.proto.caffe_pb2 import FillerParameter
from pycaffe_dist.proto.suggest import did_you_mean
from pycaffe_dist.rng import generator

PIECE = 1 << 20  # values that are drawn at a time

Filler = Callable[[FillerParameter, Array], None]
Fault = Callable[[FillerParameter, Shape], str]  # why a shape cannot be filled so; "" if it can
FILLERS: dict[str, Filler] = {}
FAULTS: dict[str, Fault] = {}


def fill(filler: FillerParameter, array: Array) -> None:
    """Fill ``array`` as the FillerParameter ``filler`` says.

    Raises:
        NetError: an unknown type, or values its type cannot use.
    """
    check_filler(filler, array.shape)
    FILLERS[filler.type](filler, array)


def check_filler(filler: FillerParameter, shape: Shape) -> None:
    """Raise what :func:`fill` raises for an array of this shape."""
    if filler.type not in FILLERS:
        known = ", ".join(sorted(FILLERS))
        raise NetError(
            f'there is no filler "{filler.type}"{did_you_mean(filler.type, FILLERS)} Known: {known}'
        )
    if filler.sparse != -1 and filler.type != "gaussian":
        raise NetError(f'"sparse" is for the gaussian filler, not for "{filler.type}"')
    if 0 in shape:
        raise NetError(f'nothing to fill with "{filler.type}": the shape is {shape}')
    if (fault := FAULTS.get(filler.type)) and (why := fault(filler, shape)):
        raise NetError(f"{filler.type} filler: {why}")


def filler(name: str, fault: Fault | None = None) -> Callable[[Filler], Filler]:
    """Register a filler under the name that prototxts use."""

    def register(function: Filler) -> Filler:
        FILLERS[name] = function
        if fault is not None:
            FAULTS[name] = fault
        return function

    return register


def _uniform_fault(f: FillerParameter, shape: Shape) -> str:
    return f"min {f.min:g} is above max {f.max:g}" if f.min > f.max else ""


def _gaussian_fault(f: FillerParameter, shape: Shape) -> str:
    if f.std <= 0:
        return f"std {f.std:g} must be above 0"
    outputs = shape[0] if shape else 1
    if not -1 <= f.sparse <= outputs:
        return f"sparse {f.sparse} is not -1 (off) or 0 to {outputs}"
    return ""


def _bilinear_fault(f: FillerParameter, shape: Shape) -> str:
    if len(shape) == 4 and shape[2] == shape[3]:
        return ""
    return f"needs 4 axes and a square kernel, not {shape}"


@filler("constant")
def constant(f: FillerParameter, array: Array) -> None:
    array[...] = f.value


@filler("uniform", _uniform_fault)
def uniform(f: FillerParameter, array: Array) -> None:
    """U(min, max)"""
    _draw(array, lambda count: generator().uniform(f.min, f.max, count))


@filler("gaussian", _gaussian_fault)
def gaussian(f: FillerParameter, array: Array) -> None:
    """N(mean, std); with ``sparse`` each value is kept with probability sparse / shape[0]."""
    _draw(array, lambda count: generator().normal(f.mean, f.std, count))
    if f.sparse >= 0:
        outputs = array.shape[0] if array.ndim else 1
        array *= generator().random_sample(array.shape) < f.sparse / outputs


@filler("positive_unitball")
def positive_unitball(f: FillerParameter, array: Array) -> None:
    """U(0, 1), each slice along the first axis then scaled to the sum 1."""
    _draw(array, generator().random_sample)
    rows = array.reshape(array.shape[0] if array.ndim else 1, -1)
    rows /= rows.sum(axis=1, keepdims=True)


@filler("xavier")
def xavier(f: FillerParameter, array: Array) -> None:
    """U(−a, a), a = √(3 / n)"""
    limit = np.sqrt(3.0 / _fan(f, array))
    _draw(array, lambda count: generator().uniform(-limit, limit, count))


@filler("msra")
def msra(f: FillerParameter, array: Array) -> None:
    """N(0, √(2 / n / (1 + alpha²))), alpha the slope of leaky ReLUs behind (happynear's fork)."""
    std = np.sqrt(2.0 / _fan(f, array) / (1 + f.alpha * f.alpha))
    _draw(array, lambda count: generator().normal(0.0, std, count))


@filler("bilinear", _bilinear_fault)
def bilinear(f: FillerParameter, array: Array) -> None:
    """(1 − |x/f − c|)(1 − |y/f − c|), f = ⌈K/2⌉, c = (K − 1)/(2f): upsampling by deconvolution."""
    size = array.shape[3]
    factor = -(-size // 2)
    centre = (size - 1) / (2.0 * factor)
    line = 1 - np.abs(np.arange(size) / factor - centre)
    array[...] = line[:, None] * line


@filler("gaussian_unitball", _gaussian_fault)
def gaussian_unitball(f: FillerParameter, array: Array) -> None:
    """N(mean, std), each slice along the first axis then scaled to the length 1 (happynear's)."""
    gaussian(f, array)
    rows = array.reshape(array.shape[0] if array.ndim else 1, -1)
    rows /= np.sqrt((rows * rows).sum(axis=1, keepdims=True))


def _draw(array: Array, numbers: Callable[[int], Array]) -> None:
    """Fill an array piece by piece: NumPy draws doubles, and all at once take twice its room."""
    flat = array.reshape(-1)
    for begin in range(0, flat.size, PIECE):
        piece = flat[begin : begin + PIECE]
        piece[...] = numbers(piece.size)


def _fan(f: FillerParameter, array: Array) -> float:
    """The n of xavier and msra: values per output, per input, or their mean."""
    fan_in = array.size / (array.shape[0] if array.ndim else 1)
    fan_out = array.size / array.shape[1] if array.ndim > 1 else float(array.size)
    return float((fan_in, fan_out, (fan_in + fan_out) / 2)[f.variance_norm])

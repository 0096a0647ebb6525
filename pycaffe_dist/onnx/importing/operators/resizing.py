"""Images of another size: Resize, and Upsample, which it was called before opset 10."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.onnx.importing.build import Builder, imports
from pycaffe_dist.onnx.importing.model import Operator

HALF = np.float32(0.5)
MOST = 1 << 16  # pixels along an axis of which each is picked by its number
OLD = 11  # the opset from which on Resize says which pixels it means


@dataclass(frozen=True)
class Axis:
    """``new`` pixels of ``old``, by a factor that may be another than new / old."""

    old: int
    new: int
    factor: np.float32

    @property
    def is_whole(self) -> bool:
        """Whether the factor brings exactly the old size to the new one."""
        return abs(float(self.factor) * self.old - self.new) < 1e-3


# Where pixels of the new image are in the old one.
Places = Callable[[Axis, Array], Any]
PLACES: dict[str, Places] = {
    "asymmetric": lambda a, i: i / a.factor,
    "half_pixel": lambda a, i: (i + HALF) / a.factor - HALF,
    "pytorch_half_pixel": lambda a, i: (i + HALF) / a.factor - HALF if a.new > 1 else 0 * i,
    "align_corners": lambda a, i: i * np.float32(a.old - 1) / np.float32(max(1, a.new - 1)),
    "tf_half_pixel_for_nn": lambda a, i: (i + HALF) / a.factor,
    "half_pixel_symmetric": lambda a, i: (
        np.float32(a.old / 2) * (1 - a.new / (a.factor * a.old)) + (i + HALF) / a.factor - HALF
    ),
}
NEAREST: dict[str, Callable[[Array], Array]] = {
    "round_prefer_floor": lambda x: np.ceil(x - HALF),
    "round_prefer_ceil": lambda x: np.floor(x + HALF),
    "floor": np.floor,
    "ceil": np.ceil,
}


@imports("Resize", "Upsample")
def resize(b: Builder, op: Operator) -> None:
    old, new = b.shape(op, op.inputs[0]), b.shape(op, op.outputs[0])
    b.refuse(op, len(old) != 4 or old[:2] != new[:2], "changes other axes than height and width")
    early = op.kind == "Upsample" or b.model.opset < OLD
    mode = op.a.get("mode", "nearest")
    where = "asymmetric" if early else op.a.get("coordinate_transformation_mode", "half_pixel")
    b.refuse(op, where not in PLACES, f"has {where}")
    kept = op.a.get("keep_aspect_ratio_policy", "stretch")
    b.refuse(op, kept != "stretch", f"has the policy {kept}")
    axes = [Axis(old[i], new[i], _factor(b, op, old, new, i)) for i in (2, 3)]
    if all(a.old == a.new and a.is_whole for a in axes):
        b.alias(op.outputs[0], op.inputs[0])
    elif mode == "nearest":
        _nearest(b, op, axes, where, early)
    else:
        _linear(b, op, axes, mode, where)


def _factor(
    b: Builder, op: Operator, old: tuple[int, ...], new: tuple[int, ...], axis: int
) -> np.float32:
    """The scale that the model says, or that of the sizes it says."""
    first = 2 if op.kind == "Resize" and b.model.opset >= OLD else 1
    given = b.constant(op, first)
    scales = op.a.get("scales") if given is None or not given.size else given
    axes = [a % len(old) for a in op.a.get("axes", range(len(old)))]
    if scales is None or axis not in axes:
        return np.float32(new[axis]) / np.float32(old[axis])
    return np.float32(np.asarray(scales).reshape(-1)[axes.index(axis)])


def _nearest(b: Builder, op: Operator, axes: list[Axis], where: str, early: bool) -> None:
    """An Upsample, or rows and columns picked by a Gather each."""
    b.refuse(op, max(axis.new for axis in axes) > MOST, f"makes more than {MOST} pixels in a row")
    rounding = "floor" if early else op.a.get("nearest_mode", "round_prefer_floor")
    picked = []
    for axis in axes:
        of_axis = "ceil" if early and axis.factor < 1 else rounding  # as ONNX Runtime has it
        places = PLACES[where](axis, np.arange(axis.new, dtype=np.float32))
        picked.append(np.clip(NEAREST[of_axis](places), 0, axis.old - 1).astype(int))
    scale = axes[0].new // axes[0].old
    if all(_is_repeated(axis, places, scale) for axis, places in zip(axes, picked, strict=True)):
        b.simple("Upsample", op).upsample_param.scale = scale
        return
    source, shape = op.inputs[0], b.shape(op, op.inputs[0])
    moved = [i for i in (0, 1) if not _is_repeated(axes[i], picked[i], 1)]
    for i in moved:
        last = i == moved[-1]
        shape = (*shape[: i + 2], axes[i].new, *shape[i + 3 :])
        target = op.outputs[0] if last else b.between(op, "rows", shape)
        name = b.named(op) if last else f"{b.named(op)}/rows"
        p = b.layer("Gather", name, [source], [target]).gather_param
        p.axis, p.indices[:], p.shape[:] = i + 2, picked[i].tolist(), [axes[i].new]
        source = target


def _is_repeated(axis: Axis, places: Array, scale: int) -> bool:
    """Whether every pixel is there ``scale`` times."""
    return axis.new == scale * axis.old and np.array_equal(places, np.arange(axis.new) // scale)


def _linear(b: Builder, op: Operator, axes: list[Axis], mode: str, where: str) -> None:
    b.refuse(op, mode not in ("linear", "bilinear"), f"has the mode {mode} with {where}")
    shrinks = any(axis.new < axis.old for axis in axes)
    b.refuse(op, shrinks and bool(op.a.get("antialias", 0)), "has antialias")
    if where == "align_corners":
        p = b.simple("Interp", op).interp_param
        p.height, p.width = (axis.new for axis in axes)
        return
    known = where in ("asymmetric", "half_pixel", "pytorch_half_pixel")
    known = known or (where == "half_pixel_symmetric" and all(axis.is_whole for axis in axes))
    b.refuse(op, not known, f"has {where}")
    sizes = ", ".join(f"{axis.old} * {axis.factor:g} to {axis.new}" for axis in axes)
    b.refuse(op, not all(axis.is_whole for axis in axes), f"has scales that are rounded: {sizes}")
    r = b.simple("ResizeBilinear", op).resize_bilinear_param
    r.output_height, r.output_width = (axis.new for axis in axes)
    r.data_format = "NCHW"
    r.half_pixel_centers = where.startswith("half_pixel")
    r.pytorch_half_pixel = where == "pytorch_half_pixel"

"""SSD's batch samplers: random parts of an image that show its objects in a wanted way."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.boxes import areas, intersections
from pycaffe_dist.data.annotations import CORNERS, Boxes, Window
from pycaffe_dist.errors import NetError
from pycaffe_dist.proto.caffe_pb2 import BatchSampler, SampleConstraint, Sampler


def sample(
    samplers: Sequence[BatchSampler], boxes: Boxes, rng: np.random.Generator
) -> Window | None:
    """A window drawn from all that the samplers accept; None where they accept none."""
    found = [window for sampler in samplers for window in windows(sampler, boxes, rng)]
    return found[rng.integers(len(found))] if found else None


def windows(sampler: BatchSampler, boxes: Boxes, rng: np.random.Generator) -> list[Window]:
    """Of ``max_trials`` random windows the first ``max_sample`` that meet the constraint."""
    if not sampler.use_original_image:
        return []
    drawn = draw_windows(sampler.sampler, sampler.max_trials, rng)
    good = drawn[satisfies(sampler.sample_constraint, drawn, boxes[:, CORNERS])]
    return list(good[: sampler.max_sample] if sampler.HasField("max_sample") else good)


def draw_windows(sampler: Sampler, count: int, rng: np.random.Generator) -> Array:
    """(count, 4): of scale s and aspect ratio r, s·√r wide and s/√r high, anywhere in the image.

    s and r are uniform in what the sampler says; r is held between s² and 1/s².
    """
    for name, low, high in (
        ("scale", sampler.min_scale, sampler.max_scale),
        ("aspect_ratio", sampler.min_aspect_ratio, sampler.max_aspect_ratio),
    ):
        if not 0 < low <= high:
            raise NetError(f"a sampler has min_{name} {low:g} and max_{name} {high:g}")
    if sampler.max_scale > 1:
        raise NetError(f"a sampler has max_scale {sampler.max_scale:g}; the whole image is 1")
    scale = rng.uniform(sampler.min_scale, sampler.max_scale, count)
    ratio = rng.uniform(sampler.min_aspect_ratio, sampler.max_aspect_ratio, count)
    ratio = np.clip(ratio, scale**2, 1 / scale**2)
    size = np.minimum(np.stack([scale * np.sqrt(ratio), scale / np.sqrt(ratio)], axis=1), 1)
    begin = rng.random((count, 2)) * (1 - size)
    return np.concatenate([begin, begin + size], axis=1).astype(np.float32)


def satisfies(constraint: SampleConstraint, windows: Array, corners: Array) -> Array:
    """Which windows (T, 4) have an object (G, 4) for which all given bounds hold.

    jaccard_overlap: shared area / area of both together; sample_coverage: the part of the window
    that the object fills; object_coverage: the part of the object that is in the window.
    """
    both = intersections(windows, corners)
    own, objects = areas(windows)[:, None], areas(corners)[None]
    tiny = np.finfo(np.float32).tiny
    fine, bounded = np.ones(both.shape, bool), False
    for name, value in (
        ("jaccard_overlap", both / np.maximum(own + objects - both, tiny)),
        ("sample_coverage", both / np.maximum(own, tiny)),
        ("object_coverage", both / np.maximum(objects, tiny)),
    ):
        if constraint.HasField(f"min_{name}"):
            fine, bounded = fine & (value >= getattr(constraint, f"min_{name}")), True
        if constraint.HasField(f"max_{name}"):
            fine, bounded = fine & (value <= getattr(constraint, f"max_{name}")), True
    return np.any(fine, axis=1) if bounded else np.ones(len(windows), bool)

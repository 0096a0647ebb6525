"""AnnotatedData's samplers and policies against the same done box by box, in plain numbers."""

import math

import numpy as np
import pytest

from pycaffe_dist.data import annotations, augment, samplers
from pycaffe_dist.data.annotated import Pipeline
from pycaffe_dist.proto.caffe_pb2 import (
    BatchSampler,
    EmitConstraint,
    ExpansionParameter,
    ResizeParameter,
    SampleConstraint,
    Sampler,
    TransformationParameter,
)
from pycaffe_dist.proto.text import parse_text

KINDS = ("jaccard_overlap", "sample_coverage", "object_coverage")


def parsed(text, message):
    return parse_text(text, message).message


def area(box):
    return max(box[2] - box[0], 0) * max(box[3] - box[1], 0)


def common(a, b):
    return area([max(a[0], b[0]), max(a[1], b[1]), min(a[2], b[2]), min(a[3], b[3])])


def measures(window, box):
    both = common(window, box)
    if not both:
        return dict.fromkeys(KINDS, 0.0)
    union = area(window) + area(box) - both
    return dict(zip(KINDS, (both / union, both / area(window), both / area(box)), strict=True))


def fits(bounds, window, boxes):
    """Whether for some object all given bounds hold; none at all hold always."""
    if not bounds:
        return True
    for box in boxes:
        found = measures(window, box)
        if all(
            found[name[4:]] >= limit if name.startswith("min") else found[name[4:]] <= limit
            for name, limit in bounds.items()
        ):
            return True
    return False


def some_boxes(rng, count, largest=0.6):
    size = rng.uniform(0.05, largest, (count, 2))
    first = rng.random((count, 2)) * (1 - size)
    return np.concatenate([first, first + size], axis=1).astype(np.float32)


def labelled(corners):
    rows = np.zeros((len(corners), 7), np.float32)
    rows[:, 0], rows[:, 1], rows[:, 2:6] = 1, np.arange(len(corners)), corners
    return rows


NAMES = [f"{end}_{kind}" for kind in KINDS for end in ("min", "max")]


@pytest.mark.parametrize("names", [[n] for n in NAMES] + [NAMES[:2], NAMES[::2], NAMES, []])
def test_constraints(names):
    rng = np.random.default_rng(len(names))
    verdicts = []
    for count in (0, 1, 1, 3, 3, 3, 5):
        boxes, windows = some_boxes(rng, count), some_boxes(rng, 20, 1)
        bounds = {name: rng.uniform(0.02, 0.4) for name in names}
        for name in names:
            if name.startswith("max") and f"min{name[3:]}" in bounds:
                bounds[name] += bounds[f"min{name[3:]}"]
        text = " ".join(f"{name}: {limit:.9g}" for name, limit in bounds.items())
        found = samplers.satisfies(parsed(text, SampleConstraint()), windows, boxes)
        want = [fits(bounds, window, boxes) for window in windows.astype(float)]
        assert found.tolist() == want
        verdicts += want
    assert any(verdicts)
    assert not names or not all(verdicts)


def drawn_by_hand(rng, s, r):
    scale = rng.uniform(*s)
    ratio = min(max(rng.uniform(*r), scale**2), 1 / scale**2)
    w, h = scale * math.sqrt(ratio), scale / math.sqrt(ratio)
    x, y = rng.random() * (1 - w), rng.random() * (1 - h)
    return x, y, x + w, y + h


@pytest.mark.parametrize(
    ("scale", "ratio"), [((0.3, 1), (0.5, 2)), ((0.6, 0.9), (0.2, 5)), ((1, 1), (1, 1))]
)
def test_windows_are_drawn_alike(scale, ratio):
    """The same shares below each tenth of what was drawn by hand."""
    settings = f"""min_scale: {scale[0]} max_scale: {scale[1]}
        min_aspect_ratio: {ratio[0]} max_aspect_ratio: {ratio[1]}"""
    rng = np.random.default_rng(5)
    want = np.array([drawn_by_hand(rng, scale, ratio) for _ in range(4000)])
    found = samplers.draw_windows(parsed(settings, Sampler()), 4000, rng).astype(float)
    assert (found >= 0).all() and (found <= 1 + 1e-6).all()
    for of in (found, want):
        sizes = of[:, 2:] - of[:, :2]
        of[:, 2], of[:, 3] = sizes.prod(1), sizes[:, 0] / sizes[:, 1]
    for column in range(4):
        for limit in np.quantile(want[:, column], np.arange(0.1, 1, 0.1)) + 1e-5:
            shares = [(of[:, column] < limit).mean() for of in (found, want)]
            assert abs(shares[0] - shares[1]) < 0.045


@pytest.mark.parametrize("most", [None, 0, 1, 3, 50])
@pytest.mark.parametrize("trials", [0, 1, 10, 40])
def test_trials_end_with_enough_samples(most, trials, monkeypatch):
    rng = np.random.default_rng(2)
    sequence, boxes = some_boxes(rng, 40, 1), some_boxes(rng, 2)
    monkeypatch.setattr(samplers, "draw_windows", lambda sampler, count, _: sequence[:count])
    limit = "" if most is None else f"max_sample: {most}"
    text = f"sample_constraint {{ min_object_coverage: 0.4 }} max_trials: {trials} {limit}"
    want = []
    for i in range(trials):
        if most is not None and len(want) >= most:
            break
        if fits({"min_object_coverage": 0.4}, sequence[i].astype(float), boxes.astype(float)):
            want.append(sequence[i].tolist())
    found = samplers.windows(parsed(text, BatchSampler()), labelled(boxes), rng)
    assert [window.tolist() for window in found] == want
    off = parsed(text + " use_original_image: false", BatchSampler())
    assert not samplers.windows(off, labelled(boxes), rng)


def test_each_window_of_all_samplers_is_taken_as_often():
    """Two of one sampler, one of another, none of a third that accepts none."""
    texts = [
        "sampler { min_scale: 0.5 max_scale: 0.5 } max_sample: 2",
        "max_sample: 1",
        "sample_constraint { min_jaccard_overlap: 1.5 }",
    ]
    given = [parsed(text, BatchSampler()) for text in texts]
    rng, boxes = np.random.default_rng(0), labelled(some_boxes(np.random.default_rng(1), 2))
    whole = [np.ptp(samplers.sample(given, boxes, rng)[[0, 2]]) > 0.9 for _ in range(900)]
    assert abs(np.mean(whole) - 1 / 3) < 0.06
    assert samplers.sample(given[2:], boxes, rng) is None


def projected_by_hand(box, window, emit):
    """The box in the window, or None."""
    if emit is not None and emit.emit_type == EmitConstraint.CENTER:
        cx, cy = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
        if not (window[0] <= cx <= window[2] and window[1] <= cy <= window[3]):
            return None
    elif emit is not None and not common(box, window) / area(box) > emit.emit_overlap:
        return None
    if box[0] >= window[2] or box[2] <= window[0] or box[1] >= window[3] or box[3] <= window[1]:
        return None
    w, h = window[2] - window[0], window[3] - window[1]
    placed = [(box[i] - window[i % 2]) / (w, h)[i % 2] for i in range(4)]
    placed = [min(max(v, 0), 1) for v in placed]
    return placed if area(placed) > 0 else None


@pytest.mark.parametrize(
    "emit",
    [None, "emit_type: CENTER", "emit_type: MIN_OVERLAP emit_overlap: 0.3", "emit_overlap: 0"],
)
def test_projections(emit):
    rng, kept = np.random.default_rng(3), 0
    constraint = None if emit is None else parsed(emit, EmitConstraint())
    for _ in range(30):
        boxes, (window,) = some_boxes(rng, 6), some_boxes(rng, 1, 1)
        if rng.random() < 0.3:
            window = window + np.float32(rng.uniform(-0.5, 0.5))  # as that of expand_param
        want = []
        for i, box in enumerate(boxes.astype(float)):
            placed = projected_by_hand(box, window.astype(float), constraint)
            want += [] if placed is None else [[1, i, *placed, 0]]
        found = annotations.projected(labelled(boxes), window, constraint)
        np.testing.assert_allclose(found, np.array(want).reshape(-1, 7), atol=2e-5)
        kept += len(want)
    assert 0 < kept < 180


@pytest.mark.parametrize("mode", ["WARP", "FIT_SMALL_SIZE", "FIT_LARGE_SIZE_AND_PAD"])
def test_boxes_of_resized_images(mode):
    """Of an image that fits into the new one; in the others parts stay what they are."""
    rng = np.random.default_rng(4)
    for height, width, tall, wide in rng.integers(20, 90, (20, 4)).tolist():
        resize = parsed(f"resize_mode: {mode} height: {tall} width: {wide}", ResizeParameter())
        boxes = some_boxes(rng, 3)
        want = boxes.astype(float)
        if mode == "FIT_LARGE_SIZE_AND_PAD":
            scale = min(wide / width, tall / height)
            seen = np.array([width * scale, height * scale] * 2)
            pad = (np.array([wide, tall] * 2) - seen) / 2
            want = (want * seen + pad) / np.array([wide, tall] * 2)
        found = annotations.resized(labelled(boxes), resize, height, width)
        np.testing.assert_allclose(found[:, 2:6], want, atol=1e-5)
        fitted = annotations.fitted_size(resize, height, width)
        by_hand = {"WARP": (tall, wide)}.get(mode)
        if by_hand is None:
            choose = min if mode == "FIT_LARGE_SIZE_AND_PAD" else max
            scale = choose(wide / width, tall / height)
            by_hand = height * scale, width * scale
        assert all(
            -1e-4 < exact - size < 1.001 for exact, size in zip(by_hand, fitted, strict=True)
        )


def test_an_image_may_stand_anywhere_in_a_larger_one():
    """Offsets are whole and as often in each quarter; the ratio is uniform from 1 to the most."""
    image = np.zeros((20, 30, 1), np.uint8)
    param = parsed("prob: 0.8 max_expand_ratio: 3", ExpansionParameter())
    rng, ratios, places, none = np.random.default_rng(6), [], [], 0
    for _ in range(3000):
        found = augment.expand(image, param, None, rng)
        if found is None:
            none += 1
            continue
        (tall, wide), window = found[0].shape[:2], found[1].astype(float)
        left, top = -window[0] * 30, -window[1] * 20
        assert abs(left - round(left)) < 1e-3 and abs(top - round(top)) < 1e-3
        assert abs(window[2] * 30 - (wide - round(left))) < 1e-3
        assert 0 <= round(top) <= tall - 20
        assert int(tall / 20 * 30) - 3 <= wide <= int((tall + 1) / 20 * 30) + 1
        ratios.append(wide / 30)
        if wide > 45:
            places.append((left / (wide - 30), top / max(1, tall - 20)))
    assert abs(none / 3000 - 0.2) < 0.03
    for limit in (1.5, 2, 2.5):
        assert abs((np.array(ratios) < limit).mean() - (limit - 1) / 2) < 0.04
    for quarter in (0.25, 0.5, 0.75):
        assert (abs((np.array(places) < quarter).mean(0) - quarter) < 0.07).all()


def test_policies_are_drawn_by_their_probabilities():
    ways = ["0.1", "0.6", "0.3"]
    text = " ".join(
        f"resize_param {{ prob: {p} height: 3 width: {i}3 }}" for i, p in enumerate(ways)
    )
    pipeline = Pipeline(parsed(text, TransformationParameter()), [])
    found = np.array([pipeline.policy(seed).width // 10 for seed in range(2000)])
    for i, share in enumerate(ways):
        assert abs((found == i).mean() - float(share)) < 0.04

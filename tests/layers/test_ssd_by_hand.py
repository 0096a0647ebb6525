"""MultiBoxLoss and DetectionOutput with settings drawn at random, against the same box by box."""

import math

import numpy as np
import pytest

from pycaffe_dist.testing import LayerCase, LayerRun

SMALLEST = 1.17549435e-38


def size(box):
    return max(box[2] - box[0], 0) * max(box[3] - box[1], 0)


def overlap(a, b):
    both = size([max(a[0], b[0]), max(a[1], b[1]), min(a[2], b[2]), min(a[3], b[3])])
    return both / (size(a) + size(b) - both) if both else 0.0


def decoded(code, prior, variance, offset):
    w, h = prior[2] - prior[0], prior[3] - prior[1]
    o = [v * x for v, x in zip(variance, offset, strict=True)]
    if code == "CORNER":
        return [p + x for p, x in zip(prior, o, strict=True)]
    if code == "CORNER_SIZE":
        return [p + x * side for p, x, side in zip(prior, o, (w, h, w, h), strict=True)]
    cx, cy = o[0] * w + (prior[0] + prior[2]) / 2, o[1] * h + (prior[1] + prior[3]) / 2
    half = math.exp(o[2]) * w / 2, math.exp(o[3]) * h / 2
    return [cx - half[0], cy - half[1], cx + half[0], cy + half[1]]


def encoded(code, prior, box):
    w, h = prior[2] - prior[0], prior[3] - prior[1]
    if code == "CORNER":
        return [b - p for b, p in zip(box, prior, strict=True)]
    if code == "CORNER_SIZE":
        return [(b - p) / side for b, p, side in zip(box, prior, (w, h, w, h), strict=True)]
    middles = [((box[k] + box[k + 2]) - (prior[k] + prior[k + 2])) / 2 for k in (0, 1)]
    sides = [(box[k + 2] - box[k]) / (w, h)[k] for k in (0, 1)]
    return [middles[0] / w, middles[1] / h, math.log(sides[0]), math.log(sides[1])]


def match(s, truth, boxes, label):
    """The match of each box, −1 for none and −2 if it is left out, and its overlap."""
    found, best = [-1] * len(boxes), [0.0] * len(boxes)
    pool = [j for j, (own, _, _) in enumerate(truth) if label is None or own == label]
    if not pool:
        return found, best
    near = {}
    for i, box in enumerate(boxes):
        if s["ignore_cross_boundary_bbox"] and any(c < 0 or c > 1 for c in box):
            found[i] = -2
            continue
        for j in pool:
            if (value := overlap(box, truth[j][1])) > 1e-6:
                near[i, j] = value
                best[i] = max(best[i], value)
    left = list(pool)
    while left:
        free = [
            (v, -i, -left.index(j)) for (i, j), v in near.items() if found[i] == -1 and j in left
        ]
        if not free:
            break
        value, i, j = max(free)
        i, j = -i, left[-j]
        found[i], best[i] = j, value
        left.remove(j)
    if s["match_type"] == "PER_PREDICTION":
        for i in range(len(boxes)):
            values = [near.get((i, j), 0) for j in pool]
            if found[i] == -1 and max(values) >= s["overlap_threshold"]:
                found[i] = pool[values.index(max(values))]
                best[i] = max(values)
    return found, best


def suppressed(boxes, losses, threshold, top_k):
    order = sorted(range(len(boxes)), key=lambda i: -losses[i])
    order = order[:top_k] if top_k > -1 else order
    order = [i for i in order if size(boxes[i]) >= 1e-5]
    kept = []
    for i in order:
        if all(overlap(boxes[i], boxes[k]) <= threshold for k in kept):
            kept.append(i)
    return kept


def class_loss(s, row, target):
    """The loss of a row of scores and its gradient; the target is a class, or a number for each."""
    if s["conf_loss_type"] == "SOFTMAX":
        powers = [math.exp(x - max(row)) for x in row]
        shares = [p / sum(powers) for p in powers]
        gradient = [share - (k == target) for k, share in enumerate(shares)]
        return -math.log(max(shares[target], SMALLEST)), gradient
    pairs = list(zip(row, target, strict=True))
    loss = sum(max(x, 0) - x * t + math.log1p(math.exp(-abs(x))) for x, t in pairs)
    return loss, [1 / (1 + math.exp(-x)) - t for x, t in pairs]


class ByHand:
    """One MultiBoxLoss."""

    def __init__(self, s, offsets, scores, priors, variances, truth):
        self.s, self.offsets, self.scores = s, offsets.tolist(), scores.tolist()
        self.priors, self.variances = priors.tolist(), variances.tolist()
        self.num, self.count, self.classes = scores.shape
        self.truth = {}
        for row in truth.tolist():
            if row[0] != -1 and (s["use_difficult_gt"] or not row[7]):
                box = int(row[1]), row[3:7], row[7]
                self.truth.setdefault(int(row[0]), []).append(box)

    def placed(self, image, location):
        inside = self.s["encode_variance_in_target"]
        return [
            decoded(
                self.s["code_type"],
                prior,
                [1] * 4 if inside else variance,
                self.offsets[image][p][location],
            )
            for p, (prior, variance) in enumerate(zip(self.priors, self.variances, strict=True))
        ]

    def matches(self, image):
        """By location the matches and overlaps of all priors."""
        s, truth = self.s, self.truth.get(image)
        if not truth:
            return {}
        background, shared = s["background_label_id"], s["share_location"]
        locations = [0] if shared else [c for c in range(self.classes) if c != background]
        if not s["use_prior_for_matching"]:
            return {
                c: match(s, truth, self.placed(image, c), None if shared else c) for c in locations
            }
        found, best = match(s, truth, self.priors, None)
        if shared:
            return {0: (found, best)}
        own = {c: [g if g > -1 and truth[g][0] == c else -1 for g in found] for c in locations}
        return {c: (own[c], list(best)) for c in locations}

    def errors(self, image, location, prior, g):
        s, near, spread = self.s, self.priors[prior], self.variances[prior]
        target = encoded(s["code_type"], near, self.truth[image][g][1])
        if not s["encode_variance_in_target"]:
            target = [t / v for t, v in zip(target, spread, strict=True)]
        d = [o - t for o, t in zip(self.offsets[image][prior][location], target, strict=True)]
        if s["bp_inside"]:
            own = near if s["use_prior_for_matching"] else self.placed(image, location)[prior]
            d = [0 if b < 0 or b > 1 else x for b, x in zip(own, d, strict=True)]
        if s["encode_variance_in_target"]:
            d = [x / v for x, v in zip(d, spread, strict=True)]
        return d

    def distance(self, d):
        squared = self.s["loc_loss_type"] == "L2"
        return sum(x * x / 2 if squared or abs(x) < 1 else abs(x) - 0.5 for x in d)

    def one_hot(self, label):
        if self.s["conf_loss_type"] == "SOFTMAX":
            return label
        return [int(k == label) for k in range(self.classes)]

    def mine(self, image, found, best):
        """The background's priors; matches that are not among the examples are taken back."""
        s, truth = self.s, self.truth[image]
        hard = s["mining_type"] == "HARD_EXAMPLE"
        losses = []
        for p in range(self.count):
            label = truth[found[p]][0] if found[p] > -1 else s["background_label_id"]
            loss = class_loss(s, self.scores[image][p], self.one_hot(label))[0]
            if hard and found[p] > -1:
                loss += self.distance(self.errors(image, 0, p, found[p]))
            losses.append(loss)
        eligible = [
            p for p in range(self.count) if hard or (found[p] == -1 and best[p] < s["neg_overlap"])
        ]
        most = s["sample_size"] if hard else int(sum(g > -1 for g in found) * s["neg_pos_ratio"])
        if s["nms"] and s["nms"][0] > 0:
            boxes = self.priors if s["use_prior_for_nms"] else self.placed(image, 0)
            lists = [boxes[p] for p in eligible], [losses[p] for p in eligible]
            order = [eligible[i] for i in suppressed(*lists, *s["nms"])]
        else:
            order = sorted(eligible, key=lambda p: -losses[p])
        chosen = set(order[:most])
        negatives = [p for p in range(self.count) if found[p] == -1 and p in chosen]
        if hard:
            found[:] = [g if g < 0 or p in chosen else -1 for p, g in enumerate(found)]
        return negatives

    def __call__(self):
        """The loss, the gradients of the offsets and of the scores."""
        s, background = self.s, self.s["background_label_id"]
        mines, rows, pairs = s["mining_type"] != "NONE", [], []
        for i in range(self.num):
            for location, (found, best) in self.matches(i).items():
                negatives = self.mine(i, found, best) if mines else []
                for p, g in enumerate(found):
                    if g > -1:
                        pairs.append((i, p, location, g))
                        label = (
                            background + 1 if s["map_object_to_agnostic"] else self.truth[i][g][0]
                        )
                        rows.append((i, p, label))
                rows += [(i, p, background) for p in negatives]
        divisors = {"VALID": max(1, len(pairs)), "FULL": self.num * self.count}
        divisor = (divisors | {"BATCH_SIZE": self.num, "NONE": 1})[s["normalization"]]
        loss, to_offsets = 0.0, np.zeros(np.shape(self.offsets))
        for i, p, location, g in pairs:
            d = self.errors(i, location, p, g)
            loss += s["loc_weight"] * self.distance(d)
            cut = d if s["loc_loss_type"] == "L2" else np.clip(d, -1, 1)
            to_offsets[i, p, location] = np.array(cut) * s["loc_weight"] / divisor
        to_scores = np.zeros(np.shape(self.scores))
        for i, p, target in self.targets(rows, mines):
            own, gradient = class_loss(s, self.scores[i][p], target)
            loss += own
            to_scores[i, p] = np.array(gradient) / divisor
        return loss / divisor, to_offsets, to_scores

    def targets(self, rows, mines):
        """What the scores of priors are to be, of all priors if nothing is mined."""
        background, shape = self.s["background_label_id"], (self.num, self.count, self.classes)
        softmax = self.s["conf_loss_type"] == "SOFTMAX"
        if mines:
            # SSD fills logistic targets with the number of the background.
            full = [[1 if k == la else background for k in range(self.classes)] for *_, la in rows]
            own = [label for *_, label in rows] if softmax else full
            return [(i, p, target) for (i, p, _), target in zip(rows, own, strict=True)]
        labels, hot = np.full(shape[:2], background), np.full(np.prod(shape), background)
        for i, p, label in rows:
            labels[i, p] = label
            hot[i * self.count + p * self.classes + label] = 1  # SSD's pointer, which is too slow
        hot = hot.reshape(shape).tolist()
        places = np.ndindex(*shape[:2])
        return [(i, p, int(labels[i, p]) if softmax else hot[i][p]) for i, p in places]


def flag(value):
    return str(value).lower() if isinstance(value, bool) else value


def drawn(rng, classes):
    """Settings of a MultiBoxLoss."""

    def one(*values):
        return values[rng.integers(len(values))]

    shared = one(True, True, False)
    agnostic = classes == 2 and one(True, False)
    return {
        "code_type": one("CORNER", "CENTER_SIZE", "CORNER_SIZE"),
        "share_location": shared,
        "background_label_id": 0 if agnostic else one(0, 0, classes - 1),
        "match_type": one("BIPARTITE", "PER_PREDICTION"),
        "overlap_threshold": one(0.25, 0.5),
        "use_prior_for_matching": one(True, True, False),
        "use_difficult_gt": one(True, False),
        "ignore_cross_boundary_bbox": one(True, False, False),
        "bp_inside": one(True, False, False),
        "encode_variance_in_target": one(True, False, False),
        "loc_loss_type": one("L2", "SMOOTH_L1"),
        "conf_loss_type": one("SOFTMAX", "LOGISTIC"),
        "mining_type": one("NONE", "MAX_NEGATIVE", "HARD_EXAMPLE") if shared else "NONE",
        "neg_pos_ratio": one(0.5, 1.5, 3.0),
        "neg_overlap": one(0.25, 0.5),
        "sample_size": one(1, 3, 8),
        "use_prior_for_nms": one(True, False),
        "map_object_to_agnostic": agnostic,
        "loc_weight": one(1.0, 0.5),
        "normalization": one("VALID", "FULL", "BATCH_SIZE", "NONE"),
        "nms": one(None, None, (0.25, -1), (0.5, 3), (0.5, 0)),
    }


def inputs(rng, classes, locations, background):
    """Offsets, scores, priors, variances and truth, all of float32's precision."""
    num, count, boxes = rng.integers(1, 4), rng.integers(3, 24), rng.integers(1, 6)
    middle, half = rng.random((count, 2)), rng.uniform(0.05, 0.3, (count, 2))
    priors = np.concatenate([middle - half, middle + half], 1)
    truth = np.zeros((boxes, 8))
    truth[:, 0] = np.sort(rng.integers(0, num, boxes))
    truth[:, 1] = rng.choice([c for c in range(classes) if c != background], boxes)
    middle, half = rng.uniform(0.2, 0.8, (boxes, 2)), rng.uniform(0.05, 0.2, (boxes, 2))
    truth[:, 3:7] = np.concatenate([middle - half, middle + half], 1)
    truth[:, 7] = rng.random(boxes) < 0.3
    if rng.random() < 0.1:
        truth[:] = -1
    values = [
        rng.standard_normal((num, count, locations, 4)) * 0.5,
        rng.standard_normal((num, count, classes)) * 2,
        priors.clip(0, 1) if rng.random() < 0.5 else priors,
        rng.uniform(0.1, 0.3, (count, 4)),
        truth,
    ]
    return [value.astype(np.float32).astype(float) for value in values]


def bottoms(offsets, scores, priors, variances):
    num = len(offsets)
    both = np.stack([priors.ravel(), variances.ravel()])[None]
    return [offsets.reshape(num, -1), scores.reshape(num, -1), both]


@pytest.mark.parametrize("seed", range(80))
def test_multibox_loss(seed):
    rng = np.random.default_rng(seed)
    classes = int(rng.integers(2, 5))
    s = drawn(rng, classes)
    locations = 1 if s["share_location"] else classes
    given = inputs(rng, classes, locations, s["background_label_id"])
    want, *gradients = ByHand(s, *given)()
    more = [f"{name}: {flag(v)}" for name, v in s.items() if name not in ("normalization", "nms")]
    if s["nms"]:
        more.append(f"nms_param {{ nms_threshold: {s['nms'][0]} top_k: {s['nms'][1]} }}")
    layer = f"""type: "MultiBoxLoss" loss_param {{ normalization: {s["normalization"]} }}
        multibox_loss_param {{ num_classes: {classes} {" ".join(more)} }}"""
    run = LayerRun(LayerCase(layer, [*bottoms(*given[:4]), given[4][None, None]]))
    assert run.forward()[0] == pytest.approx(want, rel=1e-5, abs=1e-6)
    run.backward([np.ones(())], [True, True, False, False])
    for view, gradient in zip(run.bottom, gradients, strict=False):
        found = view.blob.diff.reshape(gradient.shape)
        np.testing.assert_allclose(found, gradient, atol=1e-6)


def detections(s, offsets, scores, priors, variances):
    rows = []
    for i, own in enumerate(scores):
        found = []
        for c in range(scores.shape[2]):
            if c == s["background_label_id"]:
                continue
            spread = np.ones_like(variances) if s["variance_encoded_in_target"] else variances
            location = 0 if s["share_location"] else c
            boxes = [
                decoded(s["code_type"], *three)
                for three in zip(priors, spread, offsets[i, :, location], strict=True)
            ]
            likely = [p for p in range(len(priors)) if own[p, c] > s["confidence_threshold"]]
            likely.sort(key=lambda p, c=c: -own[p, c])
            limit, kept = s["nms_threshold"], []
            for p in likely[: s["top_k"]] if s["top_k"] > -1 else likely:
                if all(overlap(boxes[p], boxes[k]) <= limit for k in kept):
                    kept.append(p)
                    limit *= s["eta"] if limit > 0.5 else 1
            found += [[i, c, own[p, c], *boxes[p]] for p in kept]
        if -1 < s["keep_top_k"] < len(found):
            best = sorted(range(len(found)), key=lambda k: -found[k][2])[: s["keep_top_k"]]
            found = [found[k] for k in sorted(best)]
        rows += found
    return rows or [[i, *[-1] * 6] for i in range(len(scores))]


@pytest.mark.parametrize("seed", range(80))
def test_detection_output(seed):
    """Scores are rounded to tenths at times, so that some are equal."""
    rng = np.random.default_rng(seed)
    classes = int(rng.integers(2, 5))
    s = {name: drawn(rng, classes)[name] for name in ("code_type", "share_location")}
    s |= {
        "background_label_id": int(rng.choice([0, classes - 1, 0 if s["share_location"] else -1])),
        "variance_encoded_in_target": bool(rng.random() < 0.3),
        "keep_top_k": int(rng.choice([-1, 0, 3, 6])),
        "confidence_threshold": float(rng.choice([-1, 0.3, 0.8])),
    }
    offsets, scores, priors, variances, _ = inputs(
        rng, classes, 1 if s["share_location"] else classes, s["background_label_id"]
    )
    shares = np.exp(scores) / np.exp(scores).sum(2, keepdims=True)
    shares = np.round(shares, 1 if rng.random() < 0.3 else 6)
    nms = {
        "nms_threshold": float(rng.choice([0.2, 0.6, 0.8])),
        "eta": float(rng.choice([1, 0.7])),
        "top_k": int(rng.choice([-1, 2, 5])),
    }
    want = np.array(detections(s | nms, offsets, shares, priors, variances))
    own, inner = (" ".join(f"{name}: {flag(v)}" for name, v in d.items()) for d in (s, nms))
    layer = f"""type: "DetectionOutput" detection_output_param {{ num_classes: {classes} {own}
        nms_param {{ {inner} }} }}"""
    (found,) = LayerRun(LayerCase(layer, bottoms(offsets, shares, priors, variances))).forward()
    np.testing.assert_allclose(found[0, 0], want, atol=1e-6)

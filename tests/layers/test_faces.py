"""Layers of nets that recognise faces."""

import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.testing import LayerCase, LayerRun, check_layer

RNG = np.random.default_rng(11)
LABELS = np.array([2.0, 0.0, 4.0, 2.0, 1.0, 0.0])
AT = np.arange(6), LABELS.astype(int)


# -- margins of angles -----------------------------------------------------------------------------


def psi(theta, m):
    """(−1)ᵏ cos mθ − 2k in the k-th part of the half circle."""
    k = np.floor(theta * m / np.pi)
    return (-1) ** k * np.cos(m * theta) - 2 * k


def margins(x, w, m, mix):
    """x Wᵀ with the label's own score by its definition."""
    y = x @ w.T
    norms = np.linalg.norm(x, axis=1) * np.linalg.norm(w[AT[1]], axis=1)
    theta = np.arccos(np.clip(y[AT] / norms, -1, 1))
    y[AT] = (norms * psi(theta, m) + mix * y[AT]) / (1 + mix)
    return y


TYPES = {"SINGLE": 1, "DOUBLE": 2, "TRIPLE": 3, "QUADRUPLE": 4}


def product(name, kind, more="base: 2"):
    field = {"Margin": "margin", "LargeMargin": "largemargin"}[name]
    return f"""type: "{name}InnerProduct" {field}_inner_product_param {{
        num_output: 5 type: {kind} weight_filler {{ type: "gaussian" }} {more} }}"""


@pytest.mark.parametrize("kind", TYPES)
def test_large_margin_inner_product(kind):
    x, w = RNG.standard_normal((6, 4)), RNG.standard_normal((5, 4))
    case = LayerCase(
        product("LargeMargin", kind),
        [x, LABELS],
        reference=lambda x, _: margins(x, w, TYPES[kind], 2),
        fill=[w],
        tolerance=1e-5,
    )
    run = LayerRun(case)
    np.testing.assert_allclose(run.forward()[0], case.reference(x, LABELS), atol=1e-7)
    check_layer(LayerCase(case.layer, case.inputs, fill=[w], tolerance=1e-5))


@pytest.mark.parametrize("kind", TYPES)
def test_margin_inner_product(kind):
    x, w = RNG.standard_normal((6, 4)), RNG.standard_normal((5, 4))
    run = LayerRun(LayerCase(product("Margin", kind), [x, LABELS], tops=2, fill=[w]))
    y, mix = run.forward()
    unit = w / np.linalg.norm(w, axis=1, keepdims=True)
    np.testing.assert_allclose(run.layer.blobs[0].data, unit)
    np.testing.assert_allclose(y, margins(x, unit, TYPES[kind], 2), atol=1e-7)
    np.testing.assert_array_equal(mix, [2])
    run.backward([np.ones((6, 5)), np.zeros(1)], [True, False])
    np.testing.assert_allclose(run.layer.blobs[0].diff, np.ones((5, 6)) @ x)


def test_the_mix_decays_down_to_a_least_and_is_part_of_the_state():
    more = "base: 8 gamma: 1 power: 1 lambda_min: 1.5 iteration: 1"
    run = LayerRun(LayerCase(product("Margin", "DOUBLE", more), [(6, 4), LABELS], tops=2))
    found = [float(run.forward()[1][0]) for _ in range(4)]
    np.testing.assert_allclose(found, [8 / 3, 2, 1.6, 1.5])
    assert run.layer.get_state() == {"iteration": 5}
    run.layer.set_state({"iteration": 1})
    np.testing.assert_allclose(run.forward()[1], 8 / 3)


def test_margins_refuse_labels_that_are_no_class():
    run = LayerRun(LayerCase(product("Margin", "DOUBLE"), [(6, 4), LABELS + 1]))
    with pytest.raises(NetError, match=r"label 5 .* none of the 5 classes"):
        run.forward()


# -- centres and distances -------------------------------------------------------------------------


def test_center_loss():
    x, centres = RNG.standard_normal((6, 4)), RNG.standard_normal((5, 4))
    layer = 'type: "CenterLoss" center_loss_param { num_output: 5 } loss_weight: 0.5'
    case = LayerCase(
        layer,
        [x, LABELS],
        reference=lambda x, _: np.array(((x - centres[AT[1]]) ** 2).sum() / 12),
        fill=[centres],
        params=False,
    )
    check_layer(case)
    run = LayerRun(case)
    run.forward()
    run.backward([np.array(0.5)], [True, False])
    expected = np.zeros((5, 4))
    for c in range(5):
        own = AT[1] == c
        expected[c] = (centres[c] - x[own]).sum(0) / (1 + own.sum())
    np.testing.assert_allclose(run.layer.blobs[0].diff, expected)


def test_center_loss_has_no_weight_unless_given():
    layer = 'type: "CenterLoss" center_loss_param { num_output: 5 }'
    assert LayerRun(LayerCase(layer, [(6, 4), LABELS])).layer.loss == [0]


@pytest.mark.parametrize("kind", ["L2", "L1"])
@pytest.mark.parametrize("given", [False, True])
def test_inner_distance(kind, given):
    def reference(x, w=None):
        w = weights if w is None else w
        d = x[:, None] - w
        y = (d**2 if kind == "L2" else abs(d)).sum(2)
        return y if given else y + bias

    weights, bias = RNG.standard_normal((5, 3)), RNG.standard_normal(5)
    param = f'num_output: 5 distance_type: "{kind}"'
    check_layer(
        LayerCase(
            f'type: "InnerDistance" inner_distance_param {{ {param} }}',
            [(4, 3), (5, 3)] if given else [(4, 3)],
            reference=reference,
            fill=() if given else (weights, bias),
        )
    )


def test_inner_distance_may_update_the_own_centre_only():
    layer = """type: "InnerDistance" inner_distance_param { num_output: 5 bias_term: false
        update_center_only: true normalize: true weight_filler { type: "gaussian" } }"""
    run = LayerRun(LayerCase(layer, [(6, 4), LABELS]))
    run.forward()
    w = run.layer.blobs[0].data
    np.testing.assert_allclose((w**2).sum(1), 1, atol=1e-5)
    gy = RNG.standard_normal((6, 5))
    run.backward([gy, 0] if len(run.top) > 1 else [gy], [True, False])
    own = np.zeros((6, 5))
    own[AT] = gy[AT]
    x = run.inputs[0]
    np.testing.assert_allclose(run.layer.blobs[0].diff, 2 * (own.sum(0)[:, None] * w - own.T @ x))


DISTANCES = RNG.uniform(0.1, 2, (6, 5))


@pytest.mark.parametrize("more", ["", "exp_negative_weight: true", "max_negative_only: true"])
def test_general_contrastive_loss(more):
    def reference(d, _):
        others = np.delete(d.ravel(), AT[0] * 5 + AT[1]).reshape(6, 4)
        if "max" in more:
            others = others.min(1, keepdims=True)
        far = np.exp(-others) if "exp" in more else 1.5 - others
        near = np.minimum(np.maximum(d[AT] - 0.25, 0), 4)
        return np.array((near.sum() * 2 + (far * (others < 1.5)).sum() * 0.5) / 6)

    param = "positive_margin: 0.25 negative_margin: 1.5"
    layer = f"""type: "GeneralContrastiveLoss" general_contrastive_loss_param {{
        {param} positive_weight: 2 negative_weight: 0.5 {more} }}"""
    check_layer(LayerCase(layer, [DISTANCES, LABELS], reference=reference))


def contrastive(param, tops=1, more=()):
    layer = f'type: "GeneralContrastiveLoss" general_contrastive_loss_param {{ {param} }}'
    run = LayerRun(LayerCase(layer, [DISTANCES, LABELS, *more], tops=tops))
    found = run.forward()
    run.backward([np.array(6.0), np.zeros(2)][:tops], [True, False, False][: 2 + len(more)])
    return found, run.bottom[0].blob.diff


def test_general_contrastive_loss_tells_means_and_what_it_cannot_do():
    found, _ = contrastive("positive_margin: 0.5 positive_outlier_thresh: 1", tops=2)
    near = np.clip(DISTANCES[AT] - 0.5, 0, 1).mean()
    others = np.maximum(1 - DISTANCES, 0)
    others[AT] = 0
    np.testing.assert_allclose(found[1], [near, others.sum() / 6 / 4])
    with pytest.raises(NetError, match="add_intra_mae is not supported"):
        contrastive("add_intra_mae: true")


def test_general_contrastive_loss_of_outliers_and_of_items_that_are_far_from_their_own():
    """The limit of outliers is one of d in gradients; with positive_first the own comes first."""
    own = DISTANCES[AT]
    _, g = contrastive("positive_margin: 0.5 positive_outlier_thresh: 1")
    np.testing.assert_array_equal(g[AT] != 0, (own > 0.5) & (own < 1))
    limit = np.sort(own)[2]
    _, g = contrastive(f"positive_first: true positive_upper_bound: {limit} positive_margin: 9")
    np.testing.assert_array_equal(g[AT], own > np.float32(limit))
    rest = np.delete(g.ravel(), AT[0] * 5 + AT[1]).reshape(6, 4)
    assert not rest[own > limit].any()
    assert rest[own <= limit].any()


def test_general_contrastive_loss_may_limit_the_sum_of_others_and_look_at_other_distances():
    _, g = contrastive("normalize_negative: 0.5 positive_weight: 0.1")
    g = np.where(np.eye(5)[LABELS.astype(int)] > 0, 0, g)
    assert g.sum() == pytest.approx(-0.5 * 6)
    _, moved = contrastive("negative_margin: 9", more=[DISTANCES + 20])
    assert not np.delete(moved.ravel(), AT[0] * 5 + AT[1]).any()


# -- triplets --------------------------------------------------------------------------------------


def test_triplet_loss():
    def reference(a, p, n):
        terms = np.maximum(0, 1 + ((a - p) ** 2).sum(1) - ((a - n) ** 2).sum(1))
        return np.array(terms.sum() / 10)

    check_layer(LayerCase('type: "TripletLoss"', [(5, 4)] * 3, reference=reference))
    with pytest.raises(NetError, match="must have one shape"):
        LayerRun(LayerCase('type: "TripletLoss"', [(5, 4), (5, 4), (5, 3)]))


@pytest.mark.parametrize("hardest", [False, True])
def test_general_triplet_loss(hardest):
    param = f"""margin: 0.5 positive_weight: 3 negative_weight: 2 add_center_loss: false
        hardest_only: {str(hardest).lower()}"""
    layer = f'type: "GeneralTripletLoss" general_triplet_loss_param {{ {param} }}'
    weights = RNG.uniform(1, 2, 6)
    run = LayerRun(LayerCase(layer, [DISTANCES, LABELS, weights]))
    terms = 2 * np.maximum(0, DISTANCES[AT][:, None] + 0.5 - DISTANCES)
    terms[AT] = 0
    if hardest:
        terms *= terms == terms.max(1, keepdims=True)
    np.testing.assert_allclose(run.forward()[0], terms.sum() / 6)
    run.backward([np.array(1.0)], [True, False, False])
    expected = -2.0 * (terms > 0)
    expected[AT] = 3 * (terms > 0).any(1)
    np.testing.assert_allclose(run.bottom[0].blob.diff, expected * weights[:, None] / 6)


@pytest.mark.parametrize("given", ["", "negative_weight: 0"])
def test_general_triplet_loss_may_have_items_learn_the_own_distance_first(given):
    own = DISTANCES[AT]
    limit = float(np.float32(np.sort(own)[2]))
    param = f"positive_first: true positive_upper_bound: {limit} add_center_loss: false {given}"
    layer = f'type: "GeneralTripletLoss" general_triplet_loss_param {{ {param} }}'
    run = LayerRun(LayerCase(layer, [DISTANCES, LABELS]))
    terms = np.maximum(0, own[:, None] + 0.2 - DISTANCES)  # the margin's default
    terms[AT] = 0
    terms[own > limit] = 0
    weight = 0 if given else 1
    np.testing.assert_allclose(run.forward()[0], terms.sum() * weight / 6, rtol=1e-6)
    run.backward([np.array(6.0)], [True, False])
    want = -weight * (terms > 0.0)
    want[AT] = (own > limit) | (terms > 0).any(1)
    np.testing.assert_allclose(run.bottom[0].blob.diff, want)


# -- what happens to the label's score -------------------------------------------------------------


@pytest.mark.parametrize("phase", ["TRAIN", "TEST"])
def test_label_specific_add(phase):
    x = RNG.standard_normal((6, 5))
    layer = 'type: "LabelSpecificAdd" label_specific_add_param { bias: -0.25 transform_test: true }'

    def reference(x, _):
        y = x.copy()
        if phase == "TRAIN":
            y[AT] -= 0.25 * (x[AT] > 0.25)
        return y

    check_layer(LayerCase(layer, [x, LABELS], phase=phase, reference=reference, in_place=True))


def test_label_specific_add_by_a_schedule():
    layer = """type: "LabelSpecificAdd" label_specific_add_param {
        bias_base: -0.25 bias_gamma: 1 bias_power: -1 bias_min: -1 bias_max: -0.5 iteration: 1 }"""
    x = RNG.uniform(1, 2, (6, 5))
    run = LayerRun(LayerCase(layer, [x, LABELS], tops=2))
    for bias in (-0.75, -1 + 1 / 3 - 0.25, -1.0):
        y, told = run.forward()
        np.testing.assert_allclose(told, [bias])
        np.testing.assert_allclose(y[AT], x[AT] + bias * (x[AT] > -bias))
    assert run.layer.get_state() == {"iteration": 4}


@pytest.mark.parametrize(
    ("more", "change"),
    [
        ("", lambda s: 1.5 * s),
        ("for_ip: true", lambda s: np.where(s > 0, 1.5 * s, s)),
        ("bias_fix: true", lambda s: 1.5 * s - 0.5),
        ("power_on_positive: true", lambda s: np.sign(s) * abs(s) ** 1.5),
    ],
)
def test_label_specific_rescale(more, change):
    layer = f"""type: "LabelSpecificRescale" label_specific_rescale_param {{
        positive_weight: 1.5 negative_weight: 0.5 {more} }}"""

    def reference(x, _):
        y = 0.5 * x
        y[AT] = change(x[AT])
        return y

    check_layer(LayerCase(layer, [(6, 5), LABELS], reference=reference, in_place=True))


def test_label_specific_rescale_by_a_schedule():
    layer = """type: "LabelSpecificRescale" label_specific_rescale_param {
        positive_weight_base: 4 gamma: 1 positive_weight_min: 1.5 }"""
    run = LayerRun(LayerCase(layer, [(6, 5), LABELS], tops=2))
    found = [float(run.forward()[1][0]) for _ in range(4)]
    np.testing.assert_allclose(found, [2, 1.5, 1.5, 1.5])  # the first pass is number 1
    assert run.layer.get_state() == {"iteration": 4}


def test_label_specific_margin():
    x = RNG.uniform(-0.9, 0.9, (6, 5))
    layer = 'type: "LabelSpecificMargin" label_specific_margin_param { margin_base: 10 gamma: 0 }'

    def reference(x, _):
        y = x.copy()
        y[AT] = np.cos(np.arccos(x[AT]) + np.radians(10))
        return y

    check_layer(LayerCase(layer, [x, LABELS], reference=reference, params=False, in_place=True))
    run = LayerRun(LayerCase(layer, [x, LABELS]))
    assert run.layer.layer_param.param[0].lr_mult == 0
    test = LayerRun(LayerCase(layer, [x, LABELS], phase="TEST"))
    np.testing.assert_array_equal(test.forward()[0], x)


@pytest.mark.parametrize(
    ("most", "margins"), [("", [12, 13, 14]), ("margin_max: 13", [12, 13, 13])]
)
def test_a_margin_grows_up_to_its_limit_if_there_is_one(most, margins):
    words = f"margin_base: 12 gamma: 1 {most}"
    layer = f'type: "LabelSpecificMargin" label_specific_margin_param {{ {words} }}'
    run = LayerRun(LayerCase(layer, [RNG.uniform(-0.9, 0.9, (6, 5)), LABELS], tops=2))
    np.testing.assert_allclose([float(run.forward()[1][0]) for _ in range(3)], margins)


# -- products of features --------------------------------------------------------------------------


def test_channel_scale():
    check_layer(
        LayerCase('type: "ChannelScale"', [(2, 4, 3, 2), (2, 1, 3, 2)], reference=np.multiply)
    )


def test_channel_scale_may_leave_parts_out():
    param = "do_forward: false do_backward_feature: false do_backward_scale: false"
    layer = f'type: "ChannelScale" channel_scale_param {{ {param} }}'
    run = LayerRun(LayerCase(layer, [(2, 4, 3), (2, 1, 3)]))
    np.testing.assert_array_equal(run.forward()[0], run.inputs[0])
    gy = RNG.standard_normal((2, 4, 3))
    run.backward([gy], [True, True])
    np.testing.assert_array_equal(run.bottom[0].blob.diff, gy)
    assert (run.bottom[1].blob.diff == 0).all()


def test_gram():
    def reference(x):
        rows = x.reshape(2, 3, 20)
        return (rows @ rows.swapaxes(1, 2) / 60)[..., None]

    check_layer(LayerCase('type: "Gram"', [(2, 3, 4, 5)], reference=reference))


@pytest.mark.parametrize(
    ("param", "reference"),
    [
        ("operation: SUM", np.add),
        ("operation: SUM coeff: 2 coeff: -1", lambda a, b: 2 * a - b),
        ("operation: PROD", np.multiply),
        ("operation: MAX", np.maximum),
    ],
)
def test_pairwise(param, reference):
    check_layer(
        LayerCase(
            f'type: "Pairwise" pairwise_param {{ {param} }}',
            [(3, 4), (2, 4)],
            reference=lambda a, b: reference(a[:, None], b[None]),
        )
    )


@pytest.mark.parametrize(
    ("param", "index"),
    [
        ("", np.s_[:, :, :, ::-1]),
        ("flip_width: false flip_height: true", np.s_[:, :, ::-1]),
        ("flip_height: true", np.s_[:, :, ::-1, ::-1]),
    ],
)
def test_flip(param, index):
    layer = f'type: "Flip" flip_param {{ {param} }}'
    check_layer(LayerCase(layer, [(2, 3, 5, 4)], reference=lambda x: x[index]))


# -- tables of features ----------------------------------------------------------------------------


def test_labeled_matching():
    x, w = RNG.standard_normal((4, 3)), RNG.standard_normal((5, 3))
    labels = np.array([2.0, -1.0, 2.0, 7.0])
    layer = 'type: "LabeledMatching" labeled_matching_param { num_classes: 5 momentum: 0.25 }'
    run = LayerRun(LayerCase(layer, [x, labels], tops=2, fill=[w]))
    y, known = run.forward()
    np.testing.assert_allclose(y, x @ w.T)
    np.testing.assert_array_equal(known, [2, -1, 2, -1])
    gy = RNG.standard_normal((4, 5))
    run.backward([gy, np.zeros(4)], [True, False])
    np.testing.assert_allclose(run.bottom[0].blob.diff, gy @ w)
    w[2] = 0.25 * (0.25 * w[2] + 0.75 * x[0]) + 0.75 * x[2]
    np.testing.assert_allclose(run.layer.blobs[0].data, w)
    np.testing.assert_array_equal(run.layer.blobs[1].data, [2, 2, 0, 2, 2])
    assert (run.layer.blobs[0].diff == 0).all()


def test_unlabeled_matching():
    x = RNG.standard_normal((4, 3))
    layer = 'type: "UnlabeledMatching" unlabeled_matching_param { queue_size: 2 }'
    run = LayerRun(LayerCase(layer, [x, np.array([-1.0, 3.0, -1.0, -1.0])]))
    assert (run.forward()[0] == 0).all()
    run.backward([np.ones((4, 2))], [True, False])
    np.testing.assert_array_equal(run.layer.blobs[0].data, x[[3, 2]])
    assert run.layer.get_state() == {"next": 1}
    np.testing.assert_allclose(run.forward()[0], x @ x[[3, 2]].T)


@pytest.mark.parametrize("name", ["L2Normalize", "Normalization"])
def test_l2_normalize(name):
    def reference(x):
        return x / np.sqrt((x**2).sum((1, 2), keepdims=True))

    check_layer(LayerCase(f'type: "{name}"', [(4, 3, 2)], reference=reference))


@pytest.mark.parametrize(
    "param",
    ["height: 3 width: 5", "is_pyramid_test: true out_height_scale: 0.75 out_width_scale: 1.7"],
)
def test_resize(param):
    def along(x, out):
        """Beyond the last pixel there is nothing."""
        size = x.shape[-1]
        longer = np.concatenate([x, np.zeros((*x.shape[:-1], 1))], axis=-1)
        p = np.arange(out) * size / out
        low = np.floor(p).astype(int)
        return longer[..., low] * (1 - p + low) + longer[..., low + 1] * (p - low)

    def reference(x):
        return along(along(x, 5).swapaxes(2, 3), 3).swapaxes(2, 3)

    layer = f'type: "Resize" resize_param {{ {param} }}'
    x = RNG.standard_normal((2, 2, 4, 3))
    y = LayerRun(LayerCase(layer, [x])).forward()[0]
    np.testing.assert_allclose(y, reference(x), atol=1e-6)
    check_layer(LayerCase(layer, [x]))

"""SSD's layers: gradients by differences, values by hand, and what is refused."""

import json

import numpy as np
import pytest

from pycaffe_dist import boxes
from pycaffe_dist.errors import FileError, NetError
from pycaffe_dist.layers.ssd.image_sizes import ImageSizes
from pycaffe_dist.layers.ssd.matching import _pair_off
from pycaffe_dist.proto.caffe_pb2 import LayerParameter, ResizeParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.registry import readings
from pycaffe_dist.testing import LayerCase, LayerRun, check_layer

# -- Permute ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [[0, 2, 3, 1], [1], [3, 0], [0, 1, 2, 3]])
def test_permute(order):
    axes = order + [i for i in range(4) if i not in order]
    layer = f'type: "Permute" permute_param {{ order: {order} }}'
    case = LayerCase(layer, [(2, 3, 4, 2)], reference=lambda x: x.transpose(axes))
    case.ignores_propagate_down = axes == sorted(axes)  # it shares its memory then
    check_layer(case)


@pytest.mark.parametrize("order", ["[0, 0]", "[4]"])
def test_permute_with_a_wrong_order(order):
    with pytest.raises(NetError, match="order must have different axes below 3"):
        LayerRun(LayerCase(f'type: "Permute" permute_param {{ order: {order} }}', [(2, 3, 4)]))


# -- Normalize -------------------------------------------------------------------------------------


def normalized(x, axes, scale, eps):
    return scale * x / np.sqrt((x * x).sum(axes, keepdims=True) + np.float32(eps))


@pytest.mark.parametrize("across", [True, False])
@pytest.mark.parametrize("shared", [True, False])
def test_normalize_with_equal_scales(across, shared):
    flags = f"across_spatial: {str(across).lower()} channel_shared: {str(shared).lower()}"
    layer = f'type: "Normalize" norm_param {{ {flags} eps: 0.1 scale_filler {{ value: 3 }} }}'
    axes = (1, 2, 3) if across else 1
    check_layer(LayerCase(layer, [(2, 3, 4, 2)], reference=lambda x: normalized(x, axes, 3, 0.1)))


def test_normalize_with_unequal_scales_as_ssd_has_it():
    layer = 'type: "Normalize" norm_param { across_spatial: false channel_shared: false }'
    run = LayerRun(LayerCase(layer, [(1, 2, 1, 1)], fill=[np.array([1.0, 2.0])]))
    run.forward()
    x, dy = run.inputs[0].ravel(), np.array([0.5, -1.0])
    run.backward([dy.reshape(1, 2, 1, 1)], [True])
    n = np.sqrt((x * x).sum())
    want = np.array([1, 2]) * (dy - x * (x * dy).sum() / n**2) / n
    np.testing.assert_allclose(run.bottom[0].blob.diff.ravel(), want, rtol=1e-6)


@pytest.mark.parametrize("shape", [(3, 4), (2, 3, 2), (2, 3, 2, 4)])
def test_normalize_of_faces(shape):
    layer = 'type: "Normalize" normalize_param { bp_norm: true }'

    def reference(x):
        x = x.reshape(*shape, *[1] * (4 - len(shape)))
        norm = np.sqrt((x * x).sum(1, keepdims=True) + np.float32(1e-6))
        return x / norm, norm

    check_layer(LayerCase(layer, [shape], tops=2, reference=reference))


def test_normalize_of_faces_by_l1():
    layer = 'type: "Normalize" normalize_param { normalize_type: "L1" }'
    check_layer(
        LayerCase(
            layer,
            [(2, 3, 2, 1)],
            kink=0,
            reference=lambda x: x / (np.abs(x).sum(1, keepdims=True) + np.float32(1e-6)),
        )
    )


def test_normalize_with_nothing_to_learn(monkeypatch):
    monkeypatch.setenv("PCD_DIALECT", "mpi")
    case = LayerCase('type: "Normalize"', [(2, 3, 4)])
    case.reference = lambda x: normalized(x, (1, 2), 1, 0)
    check_layer(case)


def test_the_file_says_whose_normalize_it_is(monkeypatch):
    texts = ["norm_param { }", "normalize_param { }", "top: 'y' top: 'n'", ""]
    layers = [parse_text(f'type: "Normalize" {t}', LayerParameter()).message for t in texts]
    ssd, face = "the SSD fork (weiliu89/caffe)", "happynear's fork (happynear/caffe-windows)"
    assert readings(layers) == [
        f"2 Normalize read as that of {ssd}: norm_param or nothing is given",
        f"2 Normalize read as that of {face}: it has normalize_param or two tops",
    ]
    monkeypatch.setenv("PCD_DIALECT", "happynear")
    assert readings(layers) == [f"4 Normalize read as that of {face}: the dialect is happynear"]


# -- SmoothL1Loss ----------------------------------------------------------------------------------


def test_smooth_l1_loss():
    def reference(a, b):
        d = np.abs(a - b)
        return np.where(d < 1, d * d / 2, d - 0.5).sum() / 3

    a = np.random.default_rng(0).standard_normal((3, 4))
    b = np.zeros((3, 4))
    a[np.abs(np.abs(a) - 1) < 0.01] = 0.5
    check_layer(LayerCase('type: "SmoothL1Loss"', [a, b], reference=reference))


def test_smooth_l1_loss_with_weights():
    """d = w·(a − b); the gradient is that of the loss by d, without w."""
    a, b = np.array([[1.0, 4.0], [0.5, -3.0]]), np.array([[0.0, 0.0], [0.0, 0.0]])
    w = np.array([[0.5, 1.0], [0.0, 2.0]])
    run = LayerRun(LayerCase('type: "SmoothL1Loss"', [a, b, w]))
    (loss,) = run.forward()
    assert loss == pytest.approx((0.125 + 3.5 + 0 + 5.5) / 2)
    run.backward([np.ones(())], [True, True, False])
    gradient, other = (view.blob.diff for view in run.bottom[:2])
    np.testing.assert_allclose(gradient, [[0.25, 0.5], [0, -0.5]])
    np.testing.assert_allclose(other, -gradient)
    with pytest.raises(NetError, match="weights must be like the rest"):
        LayerRun(LayerCase('type: "SmoothL1Loss"', [a, b, w[:1]])).forward()


# -- PriorBox --------------------------------------------------------------------------------------


def priors(settings, kind="PriorBox", cells=(1, 1), image=(10, 20)):
    layer = f'type: "{kind}" prior_box_param {{ {settings} }}'
    run = LayerRun(LayerCase(layer, [(1, 1, *cells), (1, 3, *image)]), np.float32)
    return run.forward()[0].reshape(2, -1, 4)


def test_prior_boxes_by_hand():
    got, variances = priors("min_size: 4.7 max_size: 9.9 aspect_ratio: 4 aspect_ratio: 1")
    # A centre of (10, 5); 4 x 4, 6 x 6, then 8 x 2 and 2 x 8, over 20 x 10.
    want = [[8, 3, 12, 7], [7, 2, 13, 8], [6, 4, 14, 6], [9, 1, 11, 9]]
    np.testing.assert_allclose(got, np.array(want) / [20, 10, 20, 10], atol=1e-6)
    np.testing.assert_allclose(variances, np.full((4, 4), 0.1))


def test_clustered_prior_boxes():
    got, _ = priors(
        "width: 4.5 height: 2 width: 1 height: 1 step: 2 clip: true", "PriorBoxClustered"
    )
    want = np.array([[-1.25, 0, 3.25, 2], [0.5, 0.5, 1.5, 1.5]]) / [20, 10, 20, 10]
    np.testing.assert_allclose(got, want.clip(0, 1), atol=1e-6)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("", "needs a min_size"),
        ("min_size: 0", "min_size must be above 0"),
        ("min_size: 3 max_size: 2", "that is larger"),
        ("min_size: [1, nan]", "min_size must be above 0 and below 2"),
        ("min_size: 3 max_size: 1e20", "max_size must be above 0 and below 2"),
        ("min_size: 3 aspect_ratio: [2, 0]", "aspect_ratio must be above 0 and finite"),
        ("min_size: 3 variance: [1, 2]", "1 or 4 variances"),
        ("min_size: 3 img_size: 5 img_h: 5 img_w: 5", "not all of them"),
        ("min_size: 3 step_h: 0 step_w: 1", "must be above 0"),
    ],
)
def test_wrong_prior_boxes(settings, message):
    with pytest.raises(NetError, match=message):
        priors(settings)


# -- DetectionOutput -------------------------------------------------------------------------------

PRIORS = np.array([[0.1, 0.1, 0.3, 0.3], [0.1, 0.1, 0.3, 0.31], [0.6, 0.6, 0.9, 0.9]])
BOTH = np.concatenate([PRIORS.ravel(), np.full(12, 0.1)]).reshape(1, 2, 12)


def detections(settings, scores, more=(), inputs=None):
    layer = f'type: "DetectionOutput" detection_output_param {{ num_classes: 2 {settings} }}'
    scores = np.asarray(scores, float)
    inputs = inputs or [np.zeros((len(scores), 12)), scores, BOTH, *more]
    return LayerRun(LayerCase(layer, inputs), np.float32).forward()[0][0, 0]


def test_the_best_of_boxes_that_overlap():
    got = detections("nms_param { nms_threshold: 0.5 }", [[0.6, 0.4, 0.3, 0.7, 0.9, 0.1]])
    np.testing.assert_allclose(got[:, :3], [[0, 1, 0.7], [0, 1, 0.1]])
    np.testing.assert_allclose(got[:, 3:], PRIORS[[1, 2]], rtol=1e-6)


def test_an_image_without_a_box_has_no_row():
    got = detections("confidence_threshold: 0.5", [[1, 0] * 3, [1, 0, 1, 0, 0, 1]])
    np.testing.assert_allclose(got[:, :3], [[1, 1, 1]])


def test_scores_that_are_no_numbers_do_not_hide_the_others():
    got = detections("nms_param { top_k: 1 }", [[0.9, np.nan, 0.2, 0.8, np.nan, 0.7]])
    np.testing.assert_allclose(got[:, 2], [0.8], rtol=1e-6)


@pytest.mark.parametrize("shared", ["true", "false"])
def test_boxes_in_pixels_that_include_the_last(shared):
    """OpenCV's Faster R-CNN: widths are one more, in the overlap too; no variances are needed."""
    pixels = np.array([[10, 20, 19, 39], [18, 20, 27, 39], [60, 60, 90, 90]], float)
    offsets = np.zeros((1, 3, 1 if shared == "true" else 2, 4))
    offsets[0, 2, -1] = [0.5, 0, np.log(2), 0]
    inputs = [
        offsets.reshape(1, -1),
        np.array([[0.1, 0.9, 0.2, 0.8, 0.3, 0.7]]),
        pixels.reshape(1, 1, 12, 1),
    ]
    # The first two are columns 10 to 20 and 18 to 28 then: 3 of 19, and 2 of 18 without the last.
    settings = (
        f"normalized_bbox: false variance_encoded_in_target: true share_location: {shared} "
        "code_type: CENTER_SIZE nms_param { nms_threshold: %s }"
    )
    for threshold, kept in (("0.16", 3), ("0.15", 2)):
        got = detections(settings % threshold, [[0]], inputs=inputs)
        assert len(got) == kept
    np.testing.assert_allclose(got[0, 3:], [10, 20, 20, 40], rtol=1e-6)
    np.testing.assert_allclose(got[1, 3:], [60, 60, 122, 91], rtol=1e-6)


def test_no_box_at_all():
    got = detections("confidence_threshold: 0.5", [[1, 0] * 3, [1, 0] * 3])
    np.testing.assert_array_equal(got, [[0] + [-1] * 6, [1] + [-1] * 6])


def test_refinedet_moves_priors_and_drops_those_without_an_object():
    objects = np.array([[0.999, 0.001, 0.5, 0.5, 0.5, 0.5]])
    moves = np.tile([1.0, 0, 1, 0], (1, 3))
    got = detections("confidence_threshold: 0.1", [[0, 1] * 3], [objects, moves])
    np.testing.assert_allclose(got[:, 2], [1, 1])
    np.testing.assert_allclose(got[:, 3:], PRIORS[[1, 2]] + [0.1, 0, 0.1, 0], atol=1e-6)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("background_label_id: -1", "needs a background_label_id"),
        ("nms_param { eta: 0 }", "eta must be above 0"),
        ("share_location: false", r"take offsets of the shape \(1, 24\)"),
    ],
)
def test_wrong_detection_outputs(settings, message):
    with pytest.raises(NetError, match=message):
        detections(settings, [[0, 1] * 3])


LABELS = 'item { name: "none" label: 0 } item { name: "7" label: 1 }'


@pytest.mark.parametrize("kind", ["VOC", "COCO", "ILSVRC"])
def test_detections_are_saved(kind, tmp_path):
    (tmp_path / "map").write_text(LABELS)
    (tmp_path / "sizes").write_text("a 100 200\n13 100 100\n")
    files = f'label_map_file: "{tmp_path}/map" name_size_file: "{tmp_path}/sizes"'
    where = f'output_directory: "{tmp_path}/out" output_name_prefix: "det_" output_format: "{kind}"'
    settings = f"confidence_threshold: 0.5 save_output_param {{ {where} {files} }}"
    detections(settings, [[1, 0, 1, 0, 0, 1], [0.25, 0.75, 1, 0, 1, 0]])
    out = {f.name: f.read_text() for f in (tmp_path / "out").iterdir()}
    if kind == "VOC":
        assert out == {"det_7.txt": "a 1 120 60 180 90\n13 0.75 10 10 30 30\n"}
    elif kind == "ILSVRC":
        assert out == {"det_.txt": "a 1 1 120 60 180 90\n13 1 0.75 10 10 30 30\n"}
    else:
        assert json.loads(out["det_.json"])[1] == {
            "image_id": 13,
            "category_id": 7,
            "bbox": [10.0, 10.0, 20.0, 20.0],
            "score": 0.75,
        }


def test_saved_boxes_are_as_wide_as_they_were(tmp_path):
    """Corners and sizes are rounded, and for VOC cut off, each by itself."""
    (tmp_path / "map").write_text(LABELS)
    (tmp_path / "sizes").write_text("a 33 37\n")
    box = PRIORS[2]  # 22.2, 19.8, 33.3, 29.7
    for kind in ("VOC", "COCO"):
        files = f'label_map_file: "{tmp_path}/map" name_size_file: "{tmp_path}/sizes"'
        where = f'output_directory: "{tmp_path}/{kind}" output_format: "{kind}"'
        settings = f"confidence_threshold: 0.5 save_output_param {{ {where} {files} }}"
        np.testing.assert_allclose(
            detections(settings, [[1, 0, 1, 0, 0, 1]])[0, 3:], box, rtol=1e-6
        )
    assert (tmp_path / "VOC" / "7.txt").read_text() == "a 1 22 19 33 28\n"
    entry = json.loads((tmp_path / "COCO" / ".json").read_text())[0]
    assert entry["bbox"] == [22.2, 19.8, 11.1, 9.9]


def test_boxes_in_an_image_that_was_padded(tmp_path):
    (tmp_path / "sizes").write_text("wide 100 200\nhigh 300 100\n")
    fit = ResizeParameter(resize_mode="FIT_LARGE_SIZE_AND_PAD", height=300, width=300)
    sizes = ImageSizes(str(tmp_path / "sizes"), fit)
    whole = np.array([[0, 0.25, 1, 0.75], [0.5, 0.5, 2, 2]])
    np.testing.assert_allclose(sizes.to_pixels(whole, 0), [[0, 0, 200, 100], [100, 50, 200, 100]])
    inner = np.array([[1 / 3, 0, 2 / 3, 1]])
    np.testing.assert_allclose(sizes.to_pixels(inner, 1), [[0, 0, 100, 300]], atol=1e-9)
    np.testing.assert_allclose(sizes.to_pixels(inner, 3), [[0, 0, 100, 300]], atol=1e-9)


def test_a_wrong_list_of_images(tmp_path):
    (tmp_path / "sizes").write_text("a 1 2\nb 1\n")
    with pytest.raises(FileError, match="sizes:2: expected \"name height width\", found 'b 1'"):
        ImageSizes(str(tmp_path / "sizes"))


# -- DetectionEvaluate -----------------------------------------------------------------------------


def test_right_and_wrong_detections():
    layer = 'type: "DetectionEvaluate" detection_evaluate_param { num_classes: 3 %s }'
    box, other = [0.1, 0.1, 0.5, 0.5], [0.6, 0.6, 0.9, 0.9]
    found = np.array(
        [[0, 1, 0.5, *box], [0, 1, 0.9, *box], [0, 2, 0.3, *other], [0, -1] + [-1] * 5]
    )
    truth = np.array([[0, 1, 0, *box, 0], [0, 2, 0, *other, 1]])
    rows = [x[None, None].astype(float) for x in (found, truth)]

    def run(settings):
        case = LayerCase(layer % settings, rows, bottoms=[])
        return LayerRun(case, np.float32).forward()[0][0, 0].round(3).tolist()

    first = [[-1, 1, 1, -1, -1], [-1, 2, 1, -1, -1]]
    hits = [[0, 1, 0.9, 1, 0], [0, 1, 0.5, 0, 1]]
    np.testing.assert_allclose(run(""), [*first, *hits, [0, 2, 0.3, 1, 0]], rtol=1e-6)
    first[1][2] = 0
    want = [*first, *hits, [0, 2, 0.3, 0, 0]]
    np.testing.assert_allclose(run("evaluate_difficult_gt: false"), want, rtol=1e-6)


def test_detections_of_a_class_that_is_not_in_the_truth_stay_in_their_order():
    layer = 'type: "DetectionEvaluate" detection_evaluate_param { num_classes: 3 }'
    box = [0.1, 0.1, 0.5, 0.5]
    found = [[0, 2, 0.2, *box], [0, 2, 0.8, *box], [1, 1, 0.1, *box], [1, 1, 0.3, *box]]
    truth = [[0, 1, 0, *box, 0], [-1] * 8, [1, 1, 0, *box, 0]]  # the third is behind the end
    rows = [np.array([[x]], float) for x in (found, truth)]
    got = LayerRun(LayerCase(layer, rows, bottoms=[]), np.float32).forward()[0][0, 0]
    np.testing.assert_allclose(got[:2, 2], [1, 0])
    np.testing.assert_allclose(got[2:], [[*row[:3], 0, 1] for row in found], rtol=1e-6)


def test_an_image_where_nothing_was_found_counts_among_the_images_of_a_list(tmp_path):
    """Boxes of pixels overlap more in a small image, as they include their last ones."""
    sizes = tmp_path / "sizes.txt"
    sizes.write_text("a 100 100\nb 10 10\n")
    layer = f"""type: "DetectionEvaluate" detection_evaluate_param {{ num_classes: 2
        overlap_threshold: 0.67 name_size_file: "{sizes}" }}"""
    found = np.array([[[[0, 1, 0.5, 0.1, 0.1, 0.5, 0.5]]]])
    truth = np.array([[[[0, 1, 0, 0.1, 0.1, 0.6, 0.6, 0]]]])
    run = LayerRun(LayerCase(layer, [found, truth], bottoms=[]), np.float32)
    verdicts = [run.forward()[0][0, 0, 1, 3].copy()]  # a: too little
    run.inputs[0][...] = [0] + [-1] * 6
    run.forward()  # b: nothing found, and so a again
    run.inputs[0][...] = found
    for _ in "ab":
        verdicts.append(run.forward()[0][0, 0, 1, 3].copy())
    assert verdicts == [0, 0, 1]


# -- MultiBoxLoss ----------------------------------------------------------------------------------


def multibox(settings, seed=0, shared=True, classes=3):
    """A case with two images, 12 priors and a few boxes."""
    rng = np.random.default_rng(seed)
    corner = rng.random((12, 2)) * 0.6
    near = np.concatenate([corner, corner + 0.1 + rng.random((12, 2)) * 0.3], 1)
    spread = np.tile([0.1, 0.1, 0.2, 0.2], 12)
    prior = np.concatenate([near.ravel(), spread]).reshape(1, 2, 48)
    truth = [[i, 1 + k % 2, 0, *near[4 * i + k] + 0.02, 0] for i in (0, 1) for k in (0, 1, 2)]
    loc = rng.standard_normal((2, 48 * (1 if shared else classes))) * 0.3
    conf = rng.standard_normal((2, 12 * classes))
    kind = f'type: "MultiBoxLoss" multibox_loss_param {{ num_classes: {classes} {settings} }}'
    return LayerCase(kind, [loc, conf, prior, np.array(truth)[None, None]], bottoms=[0, 1])


@pytest.mark.parametrize(
    "settings",
    [
        "",
        "mining_type: NONE",
        "mining_type: NONE conf_loss_type: LOGISTIC loc_loss_type: L2 loc_weight: 2",
        "conf_loss_type: LOGISTIC code_type: CENTER_SIZE",
        "match_type: BIPARTITE code_type: CORNER_SIZE",
        "use_prior_for_matching: false bp_inside: true mining_type: NONE",
        "ignore_cross_boundary_bbox: true",
        "mining_type: HARD_EXAMPLE sample_size: 5 nms_param { nms_threshold: 0.6 top_k: 9 }",
    ],
)
def test_multibox_loss_gradient(settings):
    check_layer(multibox(settings))


def test_multibox_loss_gradient_with_locations_of_each_class():
    case = multibox("mining_type: NONE share_location: false code_type: CENTER_SIZE", shared=False)
    check_layer(case)


@pytest.mark.parametrize("background", [0, 2])
def test_multibox_loss_of_all_priors_by_logistic_losses(background):
    settings = f"mining_type: NONE conf_loss_type: LOGISTIC background_label_id: {background}"
    case = multibox(settings + " loc_weight: 0 overlap_threshold: 0.99 match_type: BIPARTITE")
    case.inputs[3][..., 1] = 1
    conf = case.inputs[1]
    targets = np.full(conf.size, float(background))
    for image in (0, 1):  # each box has the prior that it is made of, and SSD's pointer is P ahead
        for prior in (4 * image + k for k in (0, 1, 2)):
            targets[image * 12 + prior * 3 + 1] = 1
    x = conf.reshape(-1)
    want = (np.log1p(np.exp(x)) - x * targets).sum() / 6
    np.testing.assert_allclose(LayerRun(case).forward()[0], want, rtol=1e-5)


def test_a_prior_may_have_boxes_of_two_classes():
    """Decoded boxes are matched for each class: logistic targets are then 1 for both."""
    case = multibox(
        "mining_type: NONE conf_loss_type: LOGISTIC share_location: false "
        "use_prior_for_matching: false loc_weight: 0",
        shared=False,
    )
    case.inputs[0][...] = 0
    rows = case.inputs[3][:, :, :2]
    rows[0, 0, 1] = [0, 2, *rows[0, 0, 0, 2:]]
    case.inputs = [a[:1] for a in case.inputs[:3]] + [rows]
    x, targets = case.inputs[1].reshape(12, 3), np.zeros((12, 3))
    targets[0, 1:] = 1
    want = (np.log1p(np.exp(x)) - x * targets).sum() / 2
    np.testing.assert_allclose(LayerRun(case).forward()[0], want, rtol=1e-5)


@pytest.mark.parametrize(("top_k", "negatives"), [("", 0), ("top_k: 0", 0), ("top_k: 2", 1)])
def test_suppression_of_negatives_looks_at_the_best_only(top_k, negatives):
    """Of 12 priors that cover each other in pairs, 6 of which are the boxes'."""
    case = multibox(f"neg_pos_ratio: 9 use_prior_for_nms: true nms_param {{ {top_k} }}")
    near, conf = case.inputs[2][0, 0].reshape(12, 4), case.inputs[1]
    near[:] = [[0.1 * k, 0.1 * k, 0.1 * k + 0.09, 0.1 * k + 0.09] for k in range(6) for _ in "ab"]
    case.inputs[3] = np.array([[[[0, 1, 0, *near[0], 0]]]])
    conf[0] = 0
    conf[0, 3 * 8 : 3 * 10] = [-5, 0, 0] * 2  # priors 8 and 9, of one place, are the worst
    run = LayerRun(case)
    run.forward()
    run.backward([np.array(1.0)], [True, True, False, False])
    learning = run.bottom[1].blob.diff[0].reshape(12, 3).any(1)
    assert learning.sum() == 2 + negatives  # priors 0 and 1 have the box
    assert learning[8] == (negatives > 0)


@pytest.mark.parametrize("settings", ["", "share_location: false mining_type: NONE"])
@pytest.mark.parametrize("matching", ["true", "false"])
def test_priors_over_the_edge_where_there_is_one_box(settings, matching):
    """Left out, they find no box."""
    settings += f" ignore_cross_boundary_bbox: true use_prior_for_matching: {matching}"
    case = multibox(settings, shared="share" not in settings)
    case.inputs[2][0, 0].reshape(12, 4)[11, 2] = 1.1
    case.inputs[3] = case.inputs[3][:, :, :1]
    run = LayerRun(case)
    run.forward()
    run.backward([np.array(1.0)], [True, True, False, False])
    moved = run.bottom[0].blob.diff[0].reshape(12, -1).any(1)
    assert moved.any()
    assert not moved[11]


def test_a_box_of_an_image_that_is_not_in_the_batch():
    case = multibox("")
    case.inputs[3][0, 0, 4, 0] = 2
    with pytest.raises(NetError, match=r"a box of image 2; the batch has 2, numbered from 0"):
        LayerRun(case).forward()


def test_an_image_without_boxes_has_nothing_to_learn():
    case = multibox("")
    case.inputs[3] = case.inputs[3][:, :, :3]
    run = LayerRun(case)
    run.forward()
    run.backward([np.array(1.0)], [True, True, False, False])
    assert run.bottom[1].blob.diff[0].any()
    assert not run.bottom[1].blob.diff[1].any()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("do_neg_mining: false", "contradict each other"),
        ("share_location: false", "mining needs share_location"),
        ("background_label_id: 3", "one of the 3 classes"),
        ("background_label_id: 1", "the truth has the class 1, which is the background"),
    ],
)
def test_wrong_multibox_losses(settings, message):
    with pytest.raises(NetError, match=message):
        LayerRun(multibox(settings)).forward()


def test_pairs_are_those_of_a_greedy_search():
    rng = np.random.default_rng(3)
    for _ in range(50):
        overlap = rng.integers(0, 6, (9, 5)) / 5.0  # with many that are equal
        found, best = np.full(9, -1), overlap.max(1)
        _pair_off(overlap, found, best)
        want, left = np.full(9, -1), overlap.copy()
        while left.max() > 0:
            prior, box = np.unravel_index(left.argmax(), left.shape)
            want[prior] = box
            left[prior], left[:, box] = 0, 0
        np.testing.assert_array_equal(found, want)


def test_nothing_loops_over_boxes(monkeypatch):
    """As many calls for 50 times the boxes of one class, but for blocks of suppression."""
    calls = []
    real = boxes.intersections
    monkeypatch.setattr(boxes, "intersections", lambda *a: calls.append(1) or real(*a))
    rng = np.random.default_rng(0)
    for count in (4, 200):
        corner = rng.random((count, 2)) * 0.9
        prior = np.concatenate(
            [np.concatenate([corner, corner + 0.1], 1).ravel(), np.ones(count * 4)]
        )
        score = rng.random((1, count * 2))
        inputs = [np.zeros((1, count * 4)), score, prior.reshape(1, 2, -1)]
        detections("", [], inputs=inputs)
    assert len(calls) == 1 + 3  # a block; two of them, the second also against the first

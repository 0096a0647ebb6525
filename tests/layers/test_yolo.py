"""Layers of YOLO nets: Darknet's order of pixels, and detections."""

import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.layers.yolo.overlap import slope
from pycaffe_dist.testing import LayerCase, LayerRun, check_layer


def darknet(x, stride):
    """Reorg as Darknet's loop has it."""
    n, c, h, w = x.shape
    flat, out = x.reshape(n, -1), np.empty((n, c * h * w))
    small = c // stride**2
    for k in range(c):
        for j in range(h):
            for i in range(w):
                offset = k // small
                column, row = i * stride + offset % stride, j * stride + offset // stride
                source = column + w * stride * (row + h * stride * (k % small))
                out[:, i + w * (j + h * k)] = flat[:, source]
    return out.reshape(n, c * stride**2, h // stride, w // stride)


def test_reorg():
    check_layer(
        LayerCase(
            'type: "Reorg" reorg_param { stride: 2 }',
            [(2, 8, 4, 6)],
            reference=lambda x: darknet(x, 2),
        )
    )


def test_reorg_backwards_undoes_it():
    """Of what was a stride's multiple of channels before."""
    x = np.random.default_rng(2).normal(size=(2, 8, 4, 6))
    layer = 'type: "Reorg" reorg_param { stride: 2 reverse: true }'
    run = LayerRun(LayerCase(layer, [darknet(x, 2).reshape(2, 8, 4, 6)]))
    np.testing.assert_array_equal(run.forward()[0].reshape(2, -1), x.reshape(2, -1))
    check_layer(LayerCase(layer, [(2, 8, 4, 6)]))


@pytest.mark.parametrize("shape", [(1, 6, 4, 4), (1, 4, 3, 4)])
def test_reorg_refuses_sizes_that_do_not_fit(shape):
    with pytest.raises(NetError, match="no multiple"):
        LayerRun(LayerCase('type: "Reorg" reorg_param { stride: 2 }', [shape]))


V3 = (
    'type: "Yolov3DetectionOutput" yolov3_detection_output_param { num_classes: 2 num_box: 1 '
    "biases: 16 biases: 32 mask: 0 anchors_scale: 32 mask_group_num: 1 confidence_threshold: %g "
    "nms_threshold: 0.5 %s }"
)


def v3(images=2, numbers=7):
    """Nothing anywhere, but in cell (1, 2) of each image a box of class 1."""
    x = np.full((images, numbers, 4, 4), -20.0)
    x[:, :4] = 0
    x[:, -3, 1, 2] = x[:, -1, 1, 2] = 20
    return x


def test_yolov3_tells_boxes_of_every_image():
    found = LayerRun(LayerCase(V3 % (0.5, ""), [v3()])).forward()[0][0, 0]
    box = [2.5 / 4 - 1 / 16, 1.5 / 4 - 1 / 8, 2.5 / 4 + 1 / 16, 1.5 / 4 + 1 / 8]
    np.testing.assert_allclose(found, [[0, 2, 1, *box], [1, 2, 1, *box]], rtol=1e-6)


def test_yolov3_with_deviations():
    """Their mean is taken off the confidence."""
    x = np.full((1, 11, 4, 4), -20.0)
    plain = v3(1)
    x[:, 0:8:2], x[:, 8:] = plain[:, :4], plain[:, 4:]
    x[:, 1:8:2] = 0
    found = LayerRun(LayerCase(V3 % (0.4, "gaussian_box: true"), [x])).forward()[0][0, 0]
    np.testing.assert_allclose(found[:, 2], [0.5], rtol=1e-6)


def test_nothing_found_is_a_row_for_each_image():
    found = LayerRun(LayerCase(V3 % (0.5, ""), [v3() * 0])).forward()[0][0, 0]
    np.testing.assert_array_equal(found, [[0] + [-1] * 6, [1] + [-1] * 6])


def test_yolov2_takes_the_best_class():
    x = np.full((1, 7, 2, 2), 0.0)
    x[0, 4] = -20
    x[0, 4:, 1, 0] = 20, 1, 1 + np.log(3)
    layer = (
        'type: "YoloDetectionOutput" yolo_detection_output_param { num_classes: 2 num_box: 1 '
        "biases: 1 biases: 0.5 confidence_threshold: 0.1 }"
    )
    found = LayerRun(LayerCase(layer, [x])).forward()[0][0, 0]
    np.testing.assert_allclose(found, [[0, 2, 0.75, 0, 0.625, 0.5, 0.875]], atol=1e-6)


@pytest.mark.parametrize(
    ("layer", "message"),
    [
        (V3 % (0.5, "mask: 1"), "needs 1 mask for each of 1 bottoms"),
        (
            V3.replace("mask: 0", "mask: 1") % (0.5, ""),
            r"one of the 1 pairs of biases; found \[1\]",
        ),
        (V3.replace("group_num: 1", "group_num: 2") % (0.5, ""), "as many bottoms"),
        (V3 % (0.5, "anchors_scale: 16"), "as many bottoms"),
        (V3 % (0.5, "") + "", r"needs bottoms \(N, 7, h, w\)"),
    ],
)
def test_what_does_not_fit_is_told(layer, message):
    with pytest.raises(NetError, match=message):
        LayerRun(LayerCase(layer, [(1, 8, 4, 4)]))


def test_bottoms_have_four_axes_and_one_length():
    for shape in ((1, 7), (1, 7, 4)):
        with pytest.raises(NetError, match=r"needs bottoms \(N, 7, h, w\)"):
            LayerRun(LayerCase(V3 % (0.5, ""), [shape]))
    two = V3.replace("mask_group_num: 1", "mask_group_num: 2 mask: 0 anchors_scale: 16")
    with pytest.raises(NetError, match="the bottoms differ in length"):
        LayerRun(LayerCase(two % (0.5, ""), [(1, 7, 4, 4), (2, 7, 4, 4)]))


def test_there_is_a_row_before_anything_is_found_and_no_gradient():
    run = LayerRun(LayerCase(V3 % (0.5, ""), [v3()]))
    assert run.top[0].shape == (1, 1, 1, 7)
    assert run.layer.flops(run.bottom, run.top) == 4 * 2 * 7 * 16
    run.layer.backward(run.top, [False], run.bottom)
    with pytest.raises(NetError, match="has no gradient"):
        run.layer.backward(run.top, [True], run.bottom)


def test_of_boxes_that_overlap_the_surest_is_kept():
    x = v3(1)
    x[0, 0, 1, 1] = 10  # its centre is at the end of its cell, half a cell from the other one
    x[0, -3, 1, 1], x[0, -1, 1, 1] = 20, 1
    x[0, 0, 1, 2] = -10
    found = LayerRun(LayerCase(V3 % (0.5, ""), [x])).forward()[0][0, 0]
    np.testing.assert_allclose(found[:, :3], [[0, 2, 1]], rtol=1e-6)
    x[0, -1, 1, 2], x[0, -1, 1, 1] = 1, 20
    found = LayerRun(LayerCase(V3 % (0.5, ""), [x])).forward()[0][0, 0]
    np.testing.assert_allclose(found[:, :3], [[0, 2, 1]], rtol=1e-6)
    apart = V3.replace("nms_threshold: 0.5", "nms_threshold: 1")
    found = LayerRun(LayerCase(apart % (0.5, ""), [x])).forward()[0][0, 0]
    np.testing.assert_allclose(found[:, 2], [1, sigma(1)], rtol=1e-6)


def test_two_scales_have_their_own_cells_and_sizes():
    two = V3.replace("mask: 0", "biases: 64 biases: 64 mask: 1 mask: 0")
    two = two.replace("mask_group_num: 1", "mask_group_num: 2 anchors_scale: 16")
    coarse, fine = v3(1), np.full((1, 7, 8, 8), -20.0)
    fine[:, :4] = 0
    fine[0, -3:, 7, 0] = 20, 20, -20
    found = LayerRun(LayerCase(two % (0.5, ""), [coarse, fine])).forward()[0][0, 0]
    box = [2.5 / 4 - 1 / 4, 1.5 / 4 - 1 / 4, 2.5 / 4 + 1 / 4, 1.5 / 4 + 1 / 4]
    low = [1 / 16 - 1 / 16, 15 / 16 - 1 / 8, 1 / 16 + 1 / 16, 15 / 16 + 1 / 8]
    np.testing.assert_allclose(found, [[0, 2, 1, *box], [0, 1, 1, *low]], atol=1e-6)


# -- losses ----------------------------------------------------------------------------------------


def labels(*rows, images=1):
    """(N, 1, 4, 5): the rows in the first image, nothing else."""
    made = np.zeros((images, 1, 4, 5))
    made[0, 0, : len(rows)] = np.reshape(rows, (-1, 5))
    return made


def sigma(x):
    return 1 / (1 + np.exp(-x))


def passes(layer, *bottoms):
    """y and ∂x of a loss."""
    run = LayerRun(LayerCase(layer, list(bottoms)))
    (y,) = run.forward()
    return float(y), gradient(run)


def gradient(run):
    run.backward([np.ones(())], [True, False])
    return run.bottom[0].blob.diff.copy()


V2_LOSS = (
    'type: "RegionLoss" loss_weight: 1 region_loss_param { num_class: 2 num: 2 biases: 1 biases: 1 '
    "biases: 2 biases: 3 object_scale: 5 noobject_scale: 0.5 class_scale: 2 coord_scale: 3 "
    "thresh: 0.6 %s }"
)
V3_LOSS = (
    'type: "Yolov3" loss_weight: 1 yolov3_param { num_class: 2 num: 2 biases: 32 biases: 32 '
    "biases: 64 biases: 96 biases: 128 biases: 128 mask: 0 mask: 1 anchors_scale: 32 "
    "object_scale: 5 class_scale: 2 coord_scale: 3 thresh: 0.6 %s }"
)
# Of class 1, its centre in row 1 and column 2 of 4 x 4 cells, as large as the second anchor.
TRUTH = [1, 0.6, 0.3, 0.5, 0.75]


@pytest.fixture
def scores():
    return np.random.default_rng(4).normal(size=(2, 14, 4, 4))


@pytest.mark.parametrize("rescore", [0, 1])
def test_region_loss(scores, rescore):
    y, dx = passes(V2_LOSS % f"rescore: {rescore}", scores, labels(TRUTH, images=2))
    v = scores.reshape(2, 2, 7, 4, 4)
    want = np.zeros_like(v)
    o = sigma(v[:, :, 4])
    want[:, :, 4] = 0.5 * o * o * (1 - o)
    s = sigma(v[:, :, :2])
    want[:, :, :2] = 0.01 * (s - 0.5) * s * (1 - s)
    want[:, :, 2:4] = 0.01 * v[:, :, 2:4]
    mine, scale = v[0, 1, :, 1, 2], 3 if rescore else 3 * (2 - 0.5 * 0.75)
    s, o, e = sigma(mine[:2]), sigma(mine[4]), np.exp(mine[5:])
    x, y_, w, h = (2 + s[0]) / 4, (1 + s[1]) / 4, 0.5 * np.exp(mine[2]), 0.75 * np.exp(mine[3])
    common = (min(x + w / 2, 0.85) - max(x - w / 2, 0.35)) * (
        min(y_ + h / 2, 0.675) - max(y_ - h / 2, -0.075)
    )
    target = common / (w * h + 0.375 - common) if rescore else 1
    want[0, 1, :, 1, 2] = [
        *(-scale * (np.array([0.4, 0.2]) - s) * s * (1 - s)),
        *(scale * mine[2:4]),
        -5 * (target - o) * o * (1 - o),
        *(2 * (e / e.sum() - [0, 1])),
    ]
    np.testing.assert_allclose(y, np.square(want).sum() / 2, rtol=1e-5)
    np.testing.assert_allclose(dx, want.reshape(scores.shape) / 2, rtol=1e-5, atol=1e-7)


def test_region_loss_draws_boxes_to_anchors_for_the_first_images_only(scores):
    run = LayerRun(LayerCase(V2_LOSS % "", [scores, labels(images=2)]))
    run.layer.passes = 6399
    run.forward()
    assert gradient(run).reshape(2, 2, 7, 4, 4)[:, :, :4].all()
    run.forward()
    assert not gradient(run).reshape(2, 2, 7, 4, 4)[:, :, :4].any()


def test_region_loss_counts_whole_batches_for_that(scores):
    """Of 12800 images there are 4266 batches of three."""
    run = LayerRun(LayerCase(V2_LOSS % "", [np.tile(scores[:1], (3, 1, 1, 1)), labels(images=3)]))
    run.layer.passes = 4265
    run.forward()
    assert gradient(run).reshape(3, 2, 7, 4, 4)[:, :, :4].all()
    run.forward()
    assert not gradient(run).reshape(3, 2, 7, 4, 4)[:, :, :4].any()


@pytest.mark.parametrize("logic", ["false", "true"])
def test_yolov3(scores, logic):
    more = f"use_logic_gradient: {logic} label_smooth_eps: 0.2"
    y, dx = passes(V3_LOSS % more, scores, labels(TRUTH, images=2))
    v = scores.reshape(2, 2, 7, 4, 4)
    want = np.zeros_like(v)
    want[:, :, 4] = sigma(v[:, :, 4])
    mine, scale = v[0, 1, :, 1, 2], 3 * (2 - 0.375)
    o = sigma(mine)
    want[0, 1, :, 1, 2] = [
        *(-scale * (np.array([0.4, 0.2]) - o[:2])),
        *(scale * mine[2:4]),
        (o[4] - 1) * (5 if logic == "true" else 1),
        *(2 * (o[5:] - [0.1, 0.9])),
    ]
    np.testing.assert_allclose(y, np.square(want).sum() / 2, rtol=1e-5)
    if logic == "true":
        steep = sigma(v) * (1 - sigma(v))
        steep[:, :, 2:4] = 1
        want *= steep
    np.testing.assert_allclose(dx, want.reshape(scores.shape) / 2, rtol=1e-5, atol=1e-7)


def test_yolov3_leaves_labels_to_the_scale_that_has_their_anchor(scores):
    """A box like the third anchor, which is none of the mask's; and one much like the second."""
    large = [1, 0.6, 0.3, 1, 1]
    _, dx = passes(V3_LOSS % "", scores, labels(large, images=2))
    assert not dx.reshape(2, 2, 7, 4, 4)[:, :, 5:].any()
    _, dx = passes(V3_LOSS % "iou_thresh: 0.3", scores, labels(large, images=2))
    assert dx.reshape(2, 2, 7, 4, 4)[0, 1, 5:, 1, 2].all()


def test_a_second_label_of_a_cell_adds_its_class(scores):
    _, dx = passes(V3_LOSS % "", scores, labels(TRUTH, [0, *TRUTH[1:]], images=2))
    mine = scores.reshape(2, 2, 7, 4, 4)[0, 1, :, 1, 2]
    want = [sigma(mine[5]) - 1, 2 * (sigma(mine[6]) - 0.95)]
    np.testing.assert_allclose(dx.reshape(2, 2, 7, 4, 4)[0, 1, 5:, 1, 2], np.array(want) / 2, 1e-5)


def test_boxes_that_overlap_a_label_are_not_told_that_they_are_nothing(scores):
    scores[...] = 0  # centres amid cells, sizes of the anchors
    _, dx = passes(V3_LOSS % "", scores, labels([1, 0.625, 0.375, 0.5, 0.75], images=2))
    o = dx.reshape(2, 2, 7, 4, 4)[0, :, 4] * 2
    assert o[1, 1, 2] == -0.5
    assert o[0, 1, 2] == 0.5
    # The next ones in its column: the overlap of two boxes 3 cells high, one cell apart, is 0.5.
    assert o[1, 2, 2] == 0.5
    low = V3_LOSS.replace("thresh: 0.6", "thresh: 0.45")
    _, dx = passes(low % "", scores, labels([1, 0.625, 0.375, 0.5, 0.75], images=2))
    assert dx.reshape(2, 2, 7, 4, 4)[0, 1, 4, 2, 2] == 0


def test_a_box_that_overlaps_a_label_just_so_much_is_told(scores):
    scores[...] = 0
    half = V3_LOSS.replace("thresh: 0.6", "thresh: 0.5")
    _, dx = passes(half % "", scores, labels([1, 0.625, 0.375, 0.5, 0.75], images=2))
    assert dx.reshape(2, 2, 7, 4, 4)[0, 1, 4, 2, 2] * 2 == 0.5


@pytest.mark.parametrize(
    ("layer", "shape", "message"),
    [
        (V3_LOSS % "mask: 2", (2, 14, 4, 4), r"needs 2 mask, .*; found \[0, 1, 2\]"),
        (V3_LOSS.replace("mask: 1", "mask: 3") % "", (2, 14, 4, 4), r"found \[0, 3\]"),
        (V3_LOSS % "iou_loss: CIOU", (2, 14, 4, 4), "knows iou_loss MSE, IOU and GIOU"),
        (V3_LOSS % "", (2, 13, 4, 4), r"needs a bottom \(N, 14, h, w\)"),
        (V3_LOSS % "", (2, 14, 4), r"needs a bottom \(N, 14, h, w\)"),
        (V2_LOSS % "", (2, 7, 4, 4), r"needs a bottom \(N, 14, h, w\)"),
    ],
)
def test_losses_say_what_does_not_fit(layer, shape, message):
    with pytest.raises(NetError, match=message):
        LayerRun(LayerCase(layer, [shape, labels(images=2)]))


@pytest.mark.parametrize("layer", [V2_LOSS, V3_LOSS])
def test_a_loss_gives_no_gradient_that_is_not_asked_for(scores, layer):
    run = LayerRun(LayerCase(layer % "", [scores, labels(TRUTH, images=2)]))
    run.forward()
    run.bottom[0].blob.diff[...] = 7
    run.backward([np.ones(())], [False, False])
    assert (run.bottom[0].blob.diff == 7).all()
    with pytest.raises(NetError, match="label"):
        run.backward([np.ones(())], [True, True])


@pytest.mark.parametrize("enclosed", [False, True])
@pytest.mark.parametrize("box", [(0.48, 0.4, 0.3, 0.5), (0.7, 0.2, 0.2, 0.2), (0.5, 0.5, 1.0, 1.0)])
def test_slope_of_the_overlap(box, enclosed):
    truth = np.array([0.55, 0.35, 0.4, 0.3])
    box, h = np.array(box), 1e-6
    _, steep = slope(box, truth, enclosed)
    want = [
        (slope(box + h * e, truth, enclosed)[0] - slope(box - h * e, truth, enclosed)[0]) / (2 * h)
        for e in np.eye(4)
    ]
    np.testing.assert_allclose(steep, want, rtol=1e-5, atol=1e-8)


def test_yolov3_by_overlap(scores):
    more = "iou_loss: GIOU iou_normalizer: 0.5 max_delta: 0.2 label_smooth_eps: 0"
    y, dx = passes(V3_LOSS % more, scores, labels(TRUTH, images=2))
    v = scores.reshape(2, 2, 7, 4, 4)
    mine = v[0, 1, :, 1, 2]
    found = np.array([2 + sigma(mine[0]), 1 + sigma(mine[1]), *(np.exp(mine[2:4]) * [2, 3])]) / 4
    overlap, steep = slope(found, np.array(TRUTH[1:]), True)
    step = (-0.5 * steep * [1, 1, *np.exp(mine[2:4])]).clip(-0.2, 0.2)
    got = dx.reshape(2, 2, 7, 4, 4)
    np.testing.assert_allclose(got[0, 1, :4, 1, 2], step / 2, rtol=1e-4)
    others = np.square(got[:, :, 4:] * 2).sum()
    np.testing.assert_allclose(y, (others + 0.5 * (1 - overlap)) / 2, rtol=1e-5)


def test_yolov3_with_focal_loss(scores):
    plain = passes(V3_LOSS % "", scores, labels(TRUTH, images=2))[1].reshape(2, 2, 7, 4, 4)
    focal = passes(V3_LOSS % "use_focal_loss: true", scores, labels(TRUTH, images=2))[1]
    p = sigma(scores.reshape(2, 2, 7, 4, 4)[0, 1, 6, 1, 2])
    factor = -0.5 * (1 - p) * (2 * p * np.log(p) + p - 1)
    got = focal.reshape(2, 2, 7, 4, 4)
    np.testing.assert_allclose(got[0, 1, 5:, 1, 2], factor * plain[0, 1, 5:, 1, 2], rtol=1e-5)


@pytest.mark.parametrize(
    ("label", "message"),
    [([2, 0.6, 0.3, 0.5, 0.5], "class 2 of a box"), ([1, 1.2, 0.3, 0.5, 0.5], "outside")],
)
@pytest.mark.parametrize("layer", [V2_LOSS, V3_LOSS])
def test_labels_that_cannot_be_are_refused(scores, layer, label, message):
    with pytest.raises(NetError, match=message):
        passes(layer % "", scores, labels(label, images=2))


def test_other_forms_of_labels_are_refused(scores):
    with pytest.raises(NetError, match="yolo_data_type: 1"):
        passes(V3_LOSS % "", scores, np.zeros((2, 1, 4, 8)))


# -- masks -----------------------------------------------------------------------------------------


def test_yolo_seg():
    x = np.random.default_rng(5).normal(size=(2, 3, 4, 4))
    truth = (x > 0.5).astype(float)
    y, dx = passes('type: "YoloSeg" yolo_seg_param { object_scale: 0.2 }', x, truth)
    delta = 0.2 * (sigma(x) - truth)
    np.testing.assert_allclose(y, np.square(delta).sum() / 2, rtol=1e-6)
    np.testing.assert_allclose(dx, delta / 2, rtol=1e-5)


def test_yolo_seg_says_what_does_not_fit_and_gives_what_is_asked_for():
    layer = 'type: "YoloSeg" yolo_seg_param { object_scale: 0.2 }'
    with pytest.raises(NetError, match="needs a label for each value"):
        LayerRun(LayerCase(layer, [(2, 3, 4, 4), (2, 3, 4, 5)]))
    run = LayerRun(LayerCase(layer, [(2, 3, 4, 4), (2, 48)]))
    run.forward()
    run.bottom[0].blob.diff[...] = 7
    run.backward([np.ones(())], [False, False])
    assert (run.bottom[0].blob.diff == 7).all()


def evaluated(masks, truth):
    layer = 'type: "SegmentationEvaluate" segmentation_evaluate_param { threshold: 0.3 }'
    return LayerRun(LayerCase(layer, [masks, truth])).forward()[0]


def test_segmentation_evaluate():
    masks, truth = np.zeros((1, 3, 2, 4)), np.zeros((1, 3, 2, 4))
    masks[0, 0, 0], truth[0, 0, :, :2] = 0.4, 1  # a row and half of both
    masks[0, 1] = 0.2
    truth[0, 1] = 1
    np.testing.assert_allclose(evaluated(masks, truth), [[[[2 / 6, 0, 0]]]])


def test_segmentation_evaluate_resizes_masks():
    masks, truth = np.zeros((1, 2, 2, 2)), np.zeros((1, 2, 4, 4))
    masks[0, :, :, 1] = 1
    truth[0, :, :, 2:] = 1
    np.testing.assert_allclose(evaluated(masks, truth), [[[[1, 1]]]])


def test_masks_are_drawn_wide_and_not_blurred():
    """By INTER_AREA."""
    masks, truth = np.zeros((1, 1, 3, 3)), np.zeros((1, 1, 9, 9))
    masks[0, 0, 1, 1] = truth[0, 0, 3:6, 3:6] = 1
    np.testing.assert_allclose(evaluated(masks, truth), [[[[1]]]])


def test_masks_that_are_resized_are_compared_as_bytes():
    masks, truth = np.zeros((2, 2, 2, 2)), np.zeros((2, 2, 4, 6))
    masks[0, 0], masks[1, 1] = 77 / 255, 76.9 / 255  # the threshold is 76
    masks[0, 1], masks[1, 0] = 1.5, -3  # beyond the range of bytes
    truth[0] = truth[1, 1] = 1
    np.testing.assert_allclose(evaluated(masks, truth), [[[[1, 0.5]]]])
    truth[1, 1] = 0
    truth[1, 0, 0] = 1
    np.testing.assert_allclose(evaluated(masks, truth), [[[[24 / 30, 1]]]])


def test_masks_and_truth_have_the_same_channels_and_no_gradient():
    layer = 'type: "SegmentationEvaluate"'
    for shapes in ([(1, 2, 4, 4), (1, 3, 4, 4)], [(2, 3, 4, 4), (1, 3, 4, 4)], [(1, 3, 4)] * 2):
        with pytest.raises(NetError, match="needs masks and a truth of the same channels"):
            LayerRun(LayerCase(layer, shapes))
    run = LayerRun(LayerCase(layer, [(1, 3, 2, 2), (1, 3, 4, 4)]))
    assert run.top[0].shape == (1, 1, 1, 3) and run.layer.flops(run.bottom, run.top) == 4 * 48
    run.layer.backward(run.top, [False, False], run.bottom)
    with pytest.raises(NetError, match="has no gradient"):
        run.layer.backward(run.top, [True, False], run.bottom)
    with pytest.raises(NetError, match="takes 2 bottom"):
        LayerRun(LayerCase(layer, [(1, 3, 2, 2)] * 3))


def test_overlaps_of_boxes():
    box, truth = np.array([0.5, 0.5, 0.4, 0.2]), np.array([0.6, 0.5, 0.4, 0.4])
    # In common 0.3 x 0.2, together 0.08 + 0.16 - 0.06; around both 0.5 x 0.4.
    assert slope(box, truth, False)[0] == pytest.approx(0.06 / 0.18)
    assert slope(box, truth, True)[0] == pytest.approx(0.06 / 0.18 - 0.02 / 0.2)
    assert slope(truth, box, True)[0] == pytest.approx(0.06 / 0.18 - 0.02 / 0.2)


def test_reorg_needs_a_stride():
    with pytest.raises(NetError, match="stride must be above 0, found 0"):
        LayerRun(LayerCase('type: "Reorg" reorg_param { stride: 0 }', [(1, 4, 4, 4)]))

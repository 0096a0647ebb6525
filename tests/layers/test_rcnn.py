"""Layers of R-CNN: bins by a plain loop, gradients by differences, and what is refused."""

import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.layers.rcnn.proposal import anchors
from pycaffe_dist.testing import LayerCase, LayerRun, check_layer

POOL = 'type: "ROIPooling" roi_pooling_param { pooled_h: 3 pooled_w: 2 spatial_scale: 0.25 %s }'
# image, x1, y1, x2, y2: inside, over the edges, upside down, outside, one pixel.
ROIS = np.array(
    [
        [0, 2, 3, 30, 25],
        [1, -10, -7, 60, 70],
        [0, 20, 20, 4, 4],
        [1, 90, 90, 99, 99],
        [1, 8, 8, 8, 8],
        [0, 0, 0, 27, 35],
    ],
    float,
)
SWAPPED = 2


def half_away(x):
    return int(np.sign(x) * np.floor(abs(x) + 0.5))


def pooled(x, rois, pad=0.0):
    """ROIPooling as its paper's code has it, a bin at a time."""
    out = np.zeros((len(rois), x.shape[1], 3, 2))
    for r, (image, x1, y1, x2, y2) in enumerate(rois):
        wide, high = (x2 - x1 + 1) * pad, (y2 - y1 + 1) * pad
        first = half_away((y1 - high) * 0.25), half_away((x1 - wide) * 0.25)
        last = half_away((y2 + high) * 0.25), half_away((x2 + wide) * 0.25)
        size = [max(b - a + 1, 1) / n for a, b, n in zip(first, last, (3, 2), strict=True)]
        for i in range(3):
            for j in range(2):
                begin = [int(np.floor(k * s)) + f for k, s, f in zip((i, j), size, first)]  # noqa: B905
                end = [int(np.ceil((k + 1) * s)) + f for k, s, f in zip((i, j), size, first)]  # noqa: B905
                begin = [min(max(b, 0), n) for b, n in zip(begin, x.shape[2:], strict=True)]
                end = [min(max(e, 0), n) for e, n in zip(end, x.shape[2:], strict=True)]
                seen = x[int(image), :, begin[0] : end[0], begin[1] : end[1]]
                if seen.size:
                    out[r, :, i, j] = seen.max(axis=(1, 2))
    return out


@pytest.mark.parametrize("pad", [0, 0.25])
def test_roi_pooling(pad):
    """The maximum of every bin, with gradients to where it was."""
    check_layer(
        LayerCase(
            POOL % f"pad_ratio: {pad}",
            [(2, 3, 9, 7), np.delete(ROIS, SWAPPED, axis=0)],
            reference=lambda x, rois: pooled(x, rois, pad),
        )
    )


def test_a_region_upside_down_has_values_and_gives_no_gradient():
    run = LayerRun(LayerCase(POOL % "", [(2, 3, 9, 7), ROIS[SWAPPED : SWAPPED + 1]]))
    x, y = run.inputs[0], run.forward()[0]
    np.testing.assert_allclose(y, pooled(x, ROIS[SWAPPED : SWAPPED + 1]))
    run.backward([np.ones(y.shape)], [True, False])
    assert y.all()
    assert not run.bottom[0].blob.diff.any()


def test_of_equal_values_the_first_gets_the_gradient():
    run = LayerRun(LayerCase(POOL % "", [np.ones((1, 1, 6, 6)), np.array([[0.0, 0, 0, 23, 23]])]))
    run.forward()
    run.backward([np.ones((1, 1, 3, 2))], [True, False])
    want = np.zeros((6, 6))
    want[::2, ::3] = 1
    np.testing.assert_array_equal(run.bottom[0].blob.diff[0, 0], want)


def test_regions_that_are_asked_for_a_gradient_get_0():
    """They are where the layer that makes them learns, as in Faster R-CNN trained end to end."""
    run = LayerRun(LayerCase(POOL % "", [(2, 3, 9, 7), ROIS]))
    run.forward()
    run.bottom[1].blob.diff[...] = 7
    run.backward([np.ones(run.top[0].shape)], [True, True])
    assert not run.bottom[1].blob.diff.any()


@pytest.mark.parametrize("kind", ["ROIPooling", "ROIAlign"])
def test_a_region_of_no_image_is_refused(kind):
    layer = f'type: "{kind}" roi_pooling_param {{ pooled_h: 2 pooled_w: 2 }}'
    run = LayerRun(LayerCase(layer, [(2, 1, 4, 4), np.array([[0.0, 0, 0, 1, 1], [2, 0, 0, 1, 1]])]))
    with pytest.raises(NetError, match="region 1 is of image 2; the batch has 2"):
        run.forward()


def test_regions_are_looked_at_when_they_are_there():
    """Nets for scripts declare them as they like, (1, 4), and the script reshapes them."""
    run = LayerRun(LayerCase(POOL % "", [(2, 3, 9, 7), (1, 4)]))
    with pytest.raises(NetError, match=r"needs regions \(R, 5\).*found \(1, 4\)"):
        run.forward()
    run.bottom[1].reshape(*ROIS.shape)
    run.inputs[1] = ROIS
    assert run.forward()[0].shape == (len(ROIS), 3, 3, 2)


def test_psroi_pooling():
    """Each bin from its own channel; the regions' bins overlap, so gradients add up."""

    def reference(x, rois):
        out = np.zeros((len(rois), 2, 2, 2))
        for r, (image, *corners) in enumerate(rois):
            x1, y1, x2, y2 = (half_away(c) for c in corners)
            begin = y1 * 0.25, x1 * 0.25
            size = [max((b + 1) * 0.25 - a, 0.1) / 2 for a, b in zip(begin, (y2, x2), strict=True)]
            for i in range(2):
                for j in range(2):
                    ends = [
                        (np.floor(k * s + b), np.ceil((k + 1) * s + b))
                        for k, s, b in zip((i, j), size, begin, strict=True)
                    ]
                    rows, columns = (
                        slice(*(int(min(max(e, 0), n)) for e in pair))
                        for pair, n in zip(ends, x.shape[2:], strict=True)
                    )
                    seen = x[int(image), :, rows, columns].reshape(8, -1)[
                        [2 * i + j, 4 + 2 * i + j]
                    ]
                    if seen.size:
                        out[r, :, i, j] = seen.mean(axis=1)
        return out

    check_layer(
        LayerCase(
            'type: "PSROIPooling" psroi_pooling_param { spatial_scale: 0.25 output_dim: 2 '
            "group_size: 2 }",
            [(2, 8, 9, 7), ROIS],
            reference=reference,
        )
    )


def test_roi_align_of_ms_cnn():
    """On a linear image what lies between its pixels is known."""
    y, x = np.mgrid[:9, :7]
    plane = (2.0 * y + x)[None, None]
    rois = np.array([[0, 8, 8, 20, 24.0]])  # 1.5 to 4.5, 1.5 to 5.5 of the features
    layer = 'type: "ROIAlign" roi_pooling_param { pooled_h: 2 pooled_w: 3 spatial_scale: 0.25 }'
    found = LayerRun(LayerCase(layer, [plane, rois])).forward()[0]
    rows, columns = np.linspace(1.5, 5.5, 3), np.linspace(1.5, 4.5, 4)
    np.testing.assert_allclose(found[0, 0], 2 * rows[:, None] + columns)
    check_layer(LayerCase(layer, [(2, 3, 9, 7), ROIS]))


def test_roi_align_of_mask_rcnn():
    inside = np.array([[0, 8.5, 9, 20, 30], [1, 2, 3, 22, 26]])
    layer = 'type: "ROIAlign" roi_align_param { pooled_h: 2 pooled_w: 2 spatial_scale: 0.25 }'
    run = LayerRun(LayerCase(layer, [(2, 3, 10, 9), inside]))
    assert run.forward()[0].shape == (2, 3, 2, 2)
    assert run.layer.__class__.__name__ == "MaskROIAlign"
    # Of bins four pixels wide and more, all that count lie in the region.
    large = np.array([[0, 1, 2, 60, 70], [1, 5, 3, 77, 66.0]])
    check_layer(LayerCase(layer, [(2, 1, 20, 21), large]))


def test_roi_align_of_a_region_without_width():
    """Its one bin has four pixels, at −1 and 1, half a side from the points: a quarter of one."""
    x = np.random.default_rng(5).standard_normal((1, 2, 6, 6))
    layer = 'type: "ROIAlign" roi_align_param { pooled_h: 1 pooled_w: 1 spatial_scale: 0.25 }'
    regions = np.array([[0, 8, 8, 8, 8]], float)
    got = LayerRun(LayerCase(layer, [x, regions])).forward()[0]
    np.testing.assert_allclose(got.reshape(2), x[0, :, 2:4, 2:4].max((1, 2)) / 4)


def smooth(d, sharpness):
    return np.where(abs(d) < 1 / sharpness, d * d * sharpness / 2, abs(d) - 0.5 / sharpness)


BOTTOMS = " ".join(f'bottom: "{name}"' for name in "abcd")
WEIGHTED = f'type: "SmoothL1Loss" {BOTTOMS} smooth_l1_loss_param {{ sigma: 2 }}'


def test_smooth_l1_loss_with_weights():
    """Inner weights in the difference, outer ones in the sum; both in the gradient."""
    rng = np.random.default_rng(4)
    weights = [rng.uniform(0.2, 2, (3, 4)) for _ in range(2)]
    check_layer(
        LayerCase(
            f"{WEIGHTED} loss_weight: 1.5",
            [(3, 4), (3, 4), *weights],
            reference=lambda a, b, inner, outer: (outer * smooth(inner * (a - b), 4)).sum() / 3,
            bottoms=[0, 1],
        )
    )
    two = 'type: "SmoothL1Loss" bottom: "a" bottom: "b" smooth_l1_loss_param { sigma: 3 }'
    check_layer(
        LayerCase(
            f"{two} loss_weight: 1",
            [(3, 4), (3, 4)],
            reference=lambda a, b: smooth(a - b, 9).sum() / 3,
        )
    )


def test_without_a_loss_weight_it_trains_nothing():
    """As in Fast R-CNN's Caffe, whose nets all give one."""
    run = LayerRun(LayerCase(WEIGHTED, [(3, 4)] * 4))
    assert run.layer.run_forward(run.bottom, run.top) == 0


@pytest.mark.parametrize(
    ("layer", "count"), [(f"{WEIGHTED} loss_weight: 1", 4), ('type: "SmoothL1LossOHEM"', 3)]
)
def test_weights_that_are_asked_for_a_gradient_get_0(layer, count):
    """They are where targets are made from what learns, in nets that do not say propagate_down."""
    run = LayerRun(LayerCase(layer, [(3, 4)] * count))
    run.forward()
    run.backward([np.ones(())], [True] * count)
    gradients = [view.blob.diff for view in run.bottom]
    assert gradients[0].any()
    np.testing.assert_array_equal(gradients[1], -gradients[0])
    assert not any(gradient.any() for gradient in gradients[2:])


def test_three_bottoms_are_neither_forks():
    layer = WEIGHTED.replace(' bottom: "d"', "")
    with pytest.raises(NetError, match="two bottoms, or four"):
        LayerRun(LayerCase(layer, [(3, 4)] * 3))


def test_smooth_l1_loss_ohem():
    """The gradient is that of the loss where weights are 0 or 1, as in its nets."""
    rng = np.random.default_rng(1)
    weights = rng.integers(0, 2, (3, 4, 2, 1)).astype(float)
    check_layer(
        LayerCase(
            'type: "SmoothL1LossOHEM" loss_weight: 1 loss_weight: 0',
            [(3, 4, 2, 1), (3, 4, 2, 1), weights],
            tops=2,
            reference=lambda a, b, w: (
                smooth(w * (a - b), 1).sum() / 6,
                smooth(w * (a - b), 1).sum(axis=1, keepdims=True),
            ),
            bottoms=[],
        )
    )
    run = LayerRun(
        LayerCase(
            'type: "SmoothL1LossOHEM" loss_weight: [1, 0] loss_param { normalization: PRE_FIXED '
            "pre_fixed_normalizer: 8 }",
            [(3, 4), (3, 4)],
            tops=2,
        )
    )
    a, b = run.inputs
    loss, own = run.forward()
    np.testing.assert_allclose(loss, smooth(a - b, 1).sum() / 8)
    np.testing.assert_allclose(own, smooth(a - b, 1).sum(axis=1).reshape(3, 1, 1, 1))
    check_layer(LayerCase('type: "SmoothL1LossOHEM" loss_weight: 1', [(3, 4), (3, 4)]))


def test_softmax_with_loss_ohem():
    labels = np.array([1.0, 4, 0, 2])
    layer = 'type: "SoftmaxWithLossOHEM" loss_param { ignore_label: 4 }'
    run = LayerRun(LayerCase(layer, [(4, 3), labels], tops=3))
    loss, prob, own = run.forward()
    want = -np.log(prob[[0, 1, 2, 3], [1, 0, 0, 2]]) * (labels != 4)
    np.testing.assert_allclose(own, want)
    np.testing.assert_allclose(loss, want.sum() / 3)
    check_layer(LayerCase(layer, [(4, 3), labels]))


def test_box_annotator_ohem():
    """Of each image the two with the largest losses keep their labels and weights."""
    rois = np.zeros((6, 5))
    rois[:, 0] = [1, 0, 1, 0, 1, 0]
    losses = np.array([3.0, 9, 1, 5, 2, 5])
    labels, weights = np.arange(1.0, 7), np.arange(12.0).reshape(6, 2) + 1
    run = LayerRun(
        LayerCase(
            'type: "BoxAnnotatorOHEM" box_annotator_ohem_param { roi_per_img: 2 ignore_label: -1 }',
            [rois, losses, labels, weights],
            tops=2,
        )
    )
    found, kept = run.forward()
    assert found.shape == (6, 1, 1, 1)
    np.testing.assert_array_equal(found.reshape(-1), [1, 2, -1, 4, 5, -1])
    want = weights * np.array([1, 1, 0, 1, 1, 0])[:, None]
    np.testing.assert_array_equal(kept, want[:, :, None, None])


def test_anchors_are_faster_rcnns():
    want = [
        [-83, -39, 100, 56],
        [-175, -87, 192, 104],
        [-359, -183, 376, 200],
        [-55, -55, 72, 72],
        [-119, -119, 136, 136],
        [-247, -247, 264, 264],
        [-35, -79, 52, 96],
        [-79, -167, 96, 184],
        [-167, -343, 184, 360],
    ]
    found = anchors(16, (0.5, 1, 2), (8, 16, 32))
    np.testing.assert_array_equal(found + 1, want)  # its table counts pixels from 1


def test_anchors_of_sizes_in_pixels():
    """happynear's: scales of 24 and 40 pixels at a base of 16; the width of ratio 2 is 24/√2."""
    layer = """type: "Proposal" proposal_param { ratio: [1, 2] scale: [24, 40] base_size: 16
        min_size: 1 }"""
    shapes = [(1, 8, 1, 1), (1, 16, 1, 1), np.array([[100.0, 100, 1, 1]])]
    run = LayerRun(LayerCase(layer, shapes, bottoms=[]))
    sides = run.layer.anchors[:, 2:] - run.layer.anchors[:, :2]
    want = [int(n - 1 + 0.5) for w in (24, 40, 24 / 2**0.5, 40 / 2**0.5) for n in (w, w)]
    want[5::2] = [int(side * 2**0.5 - 1 + 0.5) for side in (24, 40)]
    np.testing.assert_array_equal(sides.ravel(), want)
    np.testing.assert_array_equal(run.layer.anchors.sum(1), [30] * 4)
    mixed = layer.replace("[24, 40]", "[8, 40]")
    assert LayerRun(LayerCase(mixed, shapes, bottoms=[])).layer.anchors[0].tolist() == [
        *(-56, -56, 71, 71)
    ]


def test_proposals_of_several_images():
    rng = np.random.default_rng(3)
    scores, shifts = rng.random((2, 4, 3, 5)), rng.normal(size=(2, 8, 3, 5)) * 0.1
    info = np.array([[48.0, 80, 1], [40, 60, 2]])
    layer = (
        'type: "Proposal" proposal_param { feat_stride: 16 min_size: 4 ratio: 1 scale: 1 scale: 2 '
        "post_nms_topn: 5 }"
    )
    rois, found = LayerRun(LayerCase(layer, [scores, shifts, info], tops=2)).forward()
    assert rois.shape == (10, 5) and found.shape == (10,)
    np.testing.assert_array_equal(rois[:, 0], np.repeat([0, 1], 5))
    assert (np.diff(found.reshape(2, 5), axis=1) <= 0).all()
    for image, (height, width, _) in zip(rois.reshape(2, 5, 5), info, strict=True):
        assert (image[:, [1, 3]] <= width - 1).all() and (image[:, [2, 4]] <= height - 1).all()
    alone = LayerRun(LayerCase(layer, [scores[1:], shifts[1:], info[1:]], tops=2)).forward()[0]
    np.testing.assert_array_equal(rois[5:, 1:], alone[:, 1:])


@pytest.mark.parametrize("wrong", ["ratio: 0", "ratio: inf", "scale: -1", "base_size: 0"])
def test_anchors_of_no_size_are_refused(wrong):
    layer = f'type: "Proposal" proposal_param {{ {wrong} }}'
    with pytest.raises(NetError, match=f"{wrong.split(':')[0]} must be above 0"):
        LayerRun(LayerCase(layer, [(1, 2, 3, 5), (1, 4, 3, 5), (1, 3)]))


@pytest.mark.parametrize(
    ("shapes", "words"),
    [
        ([(2, 4), (2, 8, 3, 5), (2, 3)], r"probabilities \(N, 2A, h, w\), found \(2, 4\)"),
        ([(2, 6, 3, 5), (2, 8, 3, 5), (2, 3)], "2 anchors need probabilities"),
        ([(2, 4, 3, 5), (2, 8, 3, 4), (2, 3)], "2 anchors need probabilities"),
        ([(2, 4, 3, 5), (2, 8, 3, 5), (1, 3)], r"each of 2 images, found \(1, 3\)"),
        ([(2, 4, 3, 5), (2, 8, 3, 5), (2, 2)], r"each of 2 images, found \(2, 2\)"),
    ],
)
def test_bottoms_of_proposals_must_fit(shapes, words):
    layer = 'type: "Proposal" proposal_param { ratio: 1 scale: 1 scale: 2 }'
    with pytest.raises(NetError, match=words):
        LayerRun(LayerCase(layer, shapes))


BOXES = (
    'type: "BoxOutput" box_output_param { fg_thr: %g iou_thr: 0.5 min_size: 4 field_w: 16 '
    "field_h: 32 downsample_rate: 8 field_w: 40 field_h: 40 downsample_rate: 16 %s }"
)


def test_box_output():
    """A box of each scale; of two that overlap the better one; what is too small goes."""
    fine, coarse = np.zeros((2, 6, 6, 8)), np.zeros((2, 6, 3, 4))
    fine[:, 0], coarse[:, 0] = 9, 9
    fine[0, 1, 2, 3], fine[0, 1, 2, 4] = 12, 11  # 8 pixels apart, 16 wide
    fine[0, 2:4, 2, 3] = [0.25, -0.5]
    coarse[1, 1, 1, 2] = 10.5
    coarse[1, 4:, 1, 2] = np.log(0.5), 5  # at most twice the field
    rois, scored = LayerRun(LayerCase(BOXES % (1, ""), [fine, coarse], tops=2)).forward()
    want = [[0, 24, 0, 40, 32, 3], [0, 28, 4, 44, 36, 2], [1, 30, 0, 50, 48, 1.5]]
    np.testing.assert_allclose(scored[..., 0, 0], want)
    np.testing.assert_allclose(rois[..., 0, 0], np.array(want)[:, :5])
    few = LayerRun(LayerCase(BOXES % (1, "max_post_nms_num: 1"), [fine, coarse])).forward()[0]
    np.testing.assert_allclose(few[..., 0, 0], np.array(want)[[0, 2], :5])
    none = LayerRun(LayerCase(BOXES % (50, ""), [fine, coarse], tops=2)).forward()
    np.testing.assert_array_equal(none[0][..., 0, 0], [[0, 1, 1, 10, 10]])
    assert not none[1].any()


def test_box_output_takes_out_the_norm():
    """Shifts are multiplied by the deviation, and the mean added."""
    x = np.zeros((1, 6, 3, 4))
    x[0, 0], x[0, 1, 1, 1] = 9, 12
    layer = (
        'type: "BoxOutput" box_output_param { field_w: 16 field_h: 16 downsample_rate: 8 '
        "min_size: 1 } bbox_reg_param { bbox_mean: 0.25 bbox_mean: 0 bbox_mean: 0 bbox_mean: 0 "
        "bbox_std: 1 bbox_std: 1 bbox_std: 1 bbox_std: 1 }"
    )
    found = LayerRun(LayerCase(layer, [x])).forward()[0]
    np.testing.assert_allclose(found[..., 0, 0], [[0, 8, 4, 24, 20]])


POOLED = "pooled_h: 2 pooled_w: 2 spatial_scale: 0.5"


@pytest.mark.parametrize(
    ("layer", "shapes", "top"),
    [
        (f"ROIPooling' roi_pooling_param {{ {POOLED} }}", [(1, 8, 4, 4), (0, 5)], (0, 8, 2, 2)),
        (f"ROIAlign' roi_align_param {{ {POOLED} }}", [(1, 8, 4, 4), (0, 5)], (0, 8, 2, 2)),
        (f"ROIAlign' roi_pooling_param {{ {POOLED} }}", [(1, 8, 4, 4), (0, 5)], (0, 8, 3, 3)),
        (
            "PSROIPooling' psroi_pooling_param { output_dim: 2 group_size: 2 spatial_scale: 0.5 }",
            [(1, 8, 4, 4), (0, 5)],
            (0, 2, 2, 2),
        ),
        (
            "BoxAnnotatorOHEM' box_annotator_ohem_param { roi_per_img: 3 }",
            [(0, 5), (0, 1), (0, 1), (0, 8)],
            (0, 1, 1, 1),
        ),
        ("SmoothL1Loss' loss_weight: 1 smooth_l1_loss_param { }", [(0, 8)] * 4, ()),
        ("SmoothL1LossOHEM' loss_weight: 1", [(0, 8, 1, 1)] * 2, ()),
        ("SoftmaxWithLossOHEM'", [(0, 4), (0,)], ()),
    ],
)
def test_there_may_be_no_region_at_all(layer, shapes, top):
    tops = 2 if "Annotator" in layer else 1
    run = LayerRun(LayerCase(f"type: '{layer}", [np.ones(s) for s in shapes], tops=tops))
    found = run.forward()[0]
    assert found.shape == top and not found.any()
    if "Annotator" not in layer:
        run.backward([np.ones(top)], [True, *[False] * (len(shapes) - 1)])
        assert not run.bottom[0].blob.diff.any()

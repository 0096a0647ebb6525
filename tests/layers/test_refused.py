"""Settings and bottoms that a layer refuses: a row for each, with the sentence that says why."""

import re

import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.testing import LayerCase, LayerRun

pytestmark = pytest.mark.host  # refused before anything is computed

X = (2, 3, 4, 5)
LAB = "input: 0 output: 3"
ROWS = (6, 4)
ITEMS = (6,)
REQUIRED = {"BoxOutput": "field_w: 8 field_h: 8 downsample_rate: 8", "ColorConv": LAB}

# Type, settings, shapes of the bottoms, what is said; the number of tops where it is not 1.
REFUSED = [
    ("Accum", "accum_param { have_reference: true }", [X], "have_reference needs two bottoms"),
    (
        "BatchReduction",
        "batch_reduction_param { level: 1 level: 2 }",
        [(2, 4)],
        "levels [1, 2] need 5 on axis 0, found (2, 4)",
    ),
    ("BoxOutput", "box_output_param { %s nms_type: 'L' }", [X], 'knows only nms_type "IOU"'),
    (
        "BoxOutput",
        "box_output_param { %s } bbox_reg_param { bbox_mean: 0 bbox_std: 1 }",
        [X],
        "bbox_reg_param needs 4 bbox_mean and bbox_std",
    ),
    ("BN", "bn_param { bn_mode: INFERENCE }", [X], "INFERENCE has no statistics: give one top", 3),
    ("CTCGreedyDecoder", "", [(5, 2, 3), (2, 4)], "takes 1 top(s) with these bottoms, found 2", 2),
    (
        "CTCGreedyDecoder",
        "",
        [(5, 2, 3), (5, 3), (2, 4)],
        "bottom 1 must be (steps, sequences) = (5, 2), found (5, 3)",
    ),
    ("CenterLoss", "center_loss_param { num_output: 4 distance_type: 'L1' }", [ROWS, ITEMS], "L2"),
    (
        "ChannelScale",
        "channel_scale_param { global_scale: 1 }",
        [X, (2, 1, 4, 5)],
        "global_scale is not supported",
    ),
    (
        "ColorConv",
        "color_conv_param { input: 1 output: 3 }",
        [X],
        "converts from BGR (0) to Lab (3) only, found 1 to 3",
    ),
    (
        "ColorConv",
        "color_conv_param { %s }",
        [(2, 4, 5, 5)],
        "needs 3 channels on axis 1, found (2, 4, 5, 5)",
    ),
    ("ColorConv", "color_conv_param { %s }", [(3,)], "needs 3 channels on axis 1, found (3,)"),
    (
        "ContinuationIndicator",
        "continuation_indicator_param { time_step: 3 }",
        [],
        "needs time_step and batch_size, found 3 and 0",
    ),
    (
        "ContinuationIndicator",
        "continuation_indicator_param { batch_size: 3 }",
        [],
        "needs time_step and batch_size, found 0 and 3",
    ),
    (
        "Convolution",
        "convolution_param { num_output: 4 kernel_size: 1 group: 2 }",
        [X],
        "3 channels and num_output 4 must both be multiples of group 2",
    ),
    (
        "Convolution",
        "convolution_param { num_output: 4 kernel_size: 1 group: 3 }",
        [X],
        "3 channels and num_output 4 must both be multiples of group 3",
    ),
    (
        "Convolution",
        "convolution_param { num_output: 4 kernel_size: 1 group: 0 }",
        [X],
        "must both be multiples of group 0",
    ),
    (
        "Convolution",
        "convolution_param { num_output: 4 kernel_size: 1 }",
        [X, (2, 3, 5, 4)],
        "the bottoms differ: (2, 3, 4, 5) and (2, 3, 5, 4)",
        2,
    ),
    ("Convolution3D", "convolution3d_param { num_output: 4 kernel_size: 3 }", [X], "kernel_depth"),
    ("Convolution3D", "convolution3d_param { num_output: 4 kernel_depth: 3 }", [X], "kernel_size"),
    ("Correlation", "correlation_param { kernel_size: 1 stride_1: 0 }", [X, X], "must be above 0"),
    ("Correlation", "correlation_param { kernel_size: 1 stride_2: 0 }", [X, X], "must be above 0"),
    (
        "TransformLoss",
        "",
        [ROWS, (6, 5), ITEMS, ITEMS],
        "bottoms 0 and 1 differ: (6, 4) and (6, 5)",
    ),
    ("DepthToSpace", "depth_to_space_param { block_size: 1 data_format: 'X' }", [X], "found 'X'"),
    ("DetectionEvaluate", "", [(1, 1, 2, 7), (1, 1, 2, 8)], "needs num_classes"),
    ("DetectionOutput", "", [(1, 8), (1, 4), (1, 2, 8)], "needs num_classes"),
    ("FlowWarp", "", [(2, 3, 4), (2, 2, 4)], "needs an image (N, C, H, W), found (2, 3, 4)"),
    ("FlowWarp", "", [X, (2, 3, 4, 5)], "needs a flow (2, 2, 4, 5) for (2, 3, 4, 5)"),
    ("GuidedDropout", "guided_dropout_param { type: 'X' }", [X, X], "deterministic or stochastic"),
    (
        "Im2col",
        "convolution_param { kernel_size: 1 axis: 3 }",
        [X],
        "needs spatial axes after axis 3",
    ),
    (
        "InnerDistance",
        "inner_distance_param { num_output: 2 distance_type: 'L3' }",
        [ROWS],
        "distance_type must be L1 or L2, found 'L3'",
    ),
    (
        "InnerDistance",
        "inner_distance_param { num_output: 2 transpose: true }",
        [ROWS],
        "transpose is not supported",
    ),
    (
        "InnerDistance",
        "inner_distance_param { num_output: 2 update_center_only: true }",
        [ROWS, (5,)],
        "update_center_only needs 6 labels as its last bottom",
    ),
    (
        "InnerProduct",
        "inner_product_param { num_output: 2 normalize: true transpose: true }",
        [ROWS],
        "takes either normalize or transpose, and both are given",
    ),
    ("Insanity", "insanity_param { lb: 0 ub: 1 }", [X], "needs 0 < lb <= ub, found lb 0 and ub 1"),
    ("Insanity", "insanity_param { lb: 2 ub: 1 }", [X], "needs 0 < lb <= ub, found lb 2 and ub 1"),
    (
        "Interp",
        "interp_param { pad_beg: -2 pad_end: -2 }",
        [X],
        "pad_beg -2 and pad_end -2 leave nothing of (2, 3, 4, 5)",
    ),
    ("LabelSpecificMargin", "", [ITEMS, ITEMS], "needs scores (N, K), found (6,)"),
    ("Log", "log_param { base: 1 }", [X], "base is 1, whose logarithms are not defined"),
    ("MirrorPad", "mirror_pad_param { mode: 'X' }", [X], "found 'X'"),
    ("MultiBoxLoss", "", [(1, 8), (1, 4), (1, 2, 8), (1, 1, 1, 8)], "needs num_classes"),
    (
        "MultiBoxLoss",
        "multibox_loss_param { num_classes: 2 do_neg_mining: false }",
        [(1, 8), (1, 4), (1, 2, 8), (1, 1, 1, 8)],
        "do_neg_mining and mining_type contradict each other",
    ),
    (
        "MultiBoxLoss",
        "multibox_loss_param { num_classes: 2 mining_type: HARD_EXAMPLE sample_size: 0 }",
        [(1, 8), (1, 4), (1, 2, 8), (1, 1, 1, 8)],
        "needs a sample_size",
    ),
    ("Normalize", "normalize_param { normalize_type: 'L3' }", [X], '"L1" or "L2", found "L3"'),
    ("Normalize", "normalize_param { }", [(3,)], "takes two to four axes, found (3,)"),
    ("Normalize", "normalize_param { }", [(*X, 1)], "takes two to four axes"),
    ("Pairwise", "pairwise_param { coeff: 1 }", [ROWS, ROWS], "give no coeff or two, found 1"),
    ("Pairwise", "", [ROWS, (6, 5)], "vectors of one length, found (6, 4) and (6, 5)"),
    ("Pairwise", "", [(), (6,)], "vectors of one length, found () and (6,)"),
    ("Pooling3D", "pooling3d_param { kernel_size: 2 }", [(1, *X)], "kernel_depth, above 0"),
    (
        "Pooling3D",
        "pooling3d_param { pool: STOCHASTIC kernel_size: 2 kernel_depth: 2 }",
        [(1, *X)],
        "knows only MAX and AVE",
    ),
    (
        "Pooling3D",
        "pooling3d_param { kernel_size: 2 kernel_depth: 2 pad: 1 }",
        [(1, *X)],
        "pad is for AVE only",
    ),
    (
        "PriorBox",
        "prior_box_param { min_size: 1 }",
        [(1, 2, 3), X],
        "takes bottoms of 4 axes, found (1, 2, 3) and (2, 3, 4, 5)",
    ),
    (
        "PSROIPooling",
        "psroi_pooling_param { spatial_scale: 1 output_dim: 2 group_size: 2 }",
        [X, (1, 5)],
        "needs output_dim · group_size² = 8 channels, found (2, 3, 4, 5)",
    ),
    ("RcnnTruth", "", [X, (1, 1, 2, 8)], "takes one image, found (2, 3, 4, 5)", 2),
    (
        "ReduceSum",
        "reduce_sum_param { axis: 1 axis: -3 }",
        [X],
        "axis names one axis twice: [1, -3]",
    ),
    (
        "ResizeBilinear",
        "resize_bilinear_param { output_height: 2 output_width: 2 data_format: 'X' }",
        [X],
        "data_format must be one of NCHW, NHWC, found 'X'",
    ),
    (
        "ResizeBilinear",
        "resize_bilinear_param { align_corners: true half_pixel_centers: true }",
        [X],
        "takes either align_corners or half_pixel_centers, and both are given",
    ),
    (
        "SoftmaxCrossEntropyLoss",
        "",
        [ROWS, (6, 5)],
        "needs a target for each score, found (6, 4) and (6, 5)",
    ),
    ("SpatialTransformer", "st_param { transform_type: 'X' }", [X, (2, 6)], 'knows only "affine"'),
    ("SpatialTransformer", "st_param { sampler_type: 'X' }", [X, (2, 6)], 'knows only "bilinear"'),
    ("Tile", "", [X], "needs tiles, how often to repeat the bottom"),
    (
        "Upsample",
        "bottom: 'x' bottom: 'mask' upsample_param { scale_h: 2 }",
        [X, X],
        "give either scale or both of scale_h and scale_w",
    ),
    (
        "Upsample",
        "bottom: 'x' bottom: 'mask' upsample_param { scale: 3 pad_out_h: true }",
        [X, X],
        "pad_out_h and pad_out_w are for a scale of 2, found (3, 3)",
    ),
    (
        "RegionLoss",
        "region_loss_param { num_class: 2 num: 1 biases: 1 biases: 1 }",
        [(1, 7, 3, 3), (1, 1, 2, 6)],
        "needs labels (N, 1, T, 5)",
    ),
]


@pytest.mark.parametrize(
    ("kind", "settings", "shapes", "said", "tops"),
    [(*row[:4], row[4] if len(row) > 4 else 1) for row in REFUSED],
)
def test_refused(kind, settings, shapes, said, tops):
    layer = f'type: "{kind}" ' + settings.replace("%s", REQUIRED.get(kind, ""))
    with pytest.raises(NetError, match=rf'layer "case" \({kind}\): .*{re.escape(said)}'):
        LayerRun(LayerCase(layer, shapes, tops))


@pytest.mark.parametrize(
    ("layer", "shapes", "tops", "number", "said"),
    [
        ("RNN", [(3, 2, 4), (3, 2)], 1, 1, "the sequence indicators"),
        ("ReverseTime", [(3, 2, 4), (2,)], 1, 1, "the lengths"),
        ("LSTMUnit", [(1, 2, 3), (1, 2, 12), (1, 2)], 2, 2, "the sequence indicators"),
    ],
)
def test_bottoms_without_a_gradient(layer, shapes, tops, number, said):
    more = "recurrent_param { num_output: 3 }" if layer == "RNN" else ""
    run = LayerRun(LayerCase(f'type: "{layer}" {more}', [np.ones(s) for s in shapes], tops))
    run.forward()
    asked = [i == number for i in range(len(shapes))]
    with pytest.raises(NetError, match=f"cannot give {said} a gradient"):
        run.backward([view.blob.data for view in run.top], asked)


def test_a_colour_has_no_gradient():
    run = LayerRun(LayerCase(f'type: "ColorConv" color_conv_param {{ {LAB} }}', [X]))
    run.forward()
    with pytest.raises(NetError, match="has no gradient; give it propagate_down: false"):
        run.backward([np.ones(X)], [True])
    run.backward([np.ones(X)], [False])

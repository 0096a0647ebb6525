"""Every layer of a fork is differentiated by differences somewhere, or it says why not."""

import ast
from pathlib import Path

import numpy as np
import pytest

from pycaffe_dist.registry import LAYERS, READINGS, layer_types
from pycaffe_dist.testing import LayerCase, check_layer

HERE = Path(__file__).parent

# Classes by the test that compares their gradients with differences.
CHECKED = {
    "test_changed.py::test_a_mean_without_the_padding": "IntelPooling",
    "test_changed.py::test_a_scale_between_bounds": "BoundedScale",
    "test_changed.py::test_inner_product_with_weights_from_a_bottom": "GivenInnerProduct",
    "test_changed.py::test_nvidias_batch_norm_copies_the_first_two_batches": "NvBatchNorm",
    "test_deformable_convolution.py::test_forward_and_gradients": "DeformableConvolution",
    "test_eltwise.py::test_one_bottom_is_scaled_by_its_coeff": "ScaledBottom",
    "test_local.py::test_local": "Local",
    "test_faces.py::test_center_loss": "CenterLoss",
    "test_faces.py::test_channel_scale": "ChannelScale",
    "test_faces.py::test_flip": "Flip",
    "test_faces.py::test_general_contrastive_loss": "GeneralContrastiveLoss",
    "test_faces.py::test_gram": "Gram",
    "test_faces.py::test_inner_distance": "InnerDistance",
    "test_faces.py::test_l2_normalize": "L2Normalize",
    "test_faces.py::test_label_specific_add": "LabelSpecificAdd",
    "test_faces.py::test_label_specific_margin": "LabelSpecificMargin",
    "test_faces.py::test_label_specific_rescale": "LabelSpecificRescale",
    "test_faces.py::test_large_margin_inner_product": "LargeMarginInnerProduct",
    "test_faces.py::test_pairwise": "Pairwise",
    "test_faces.py::test_resize": "HappynearResize",
    "test_faces.py::test_triplet_loss": "TripletLoss",
    "test_flow.py::TestAccum::test_every_bottom_at_one_size": "Accum",
    "test_flow.py::TestCorrelation::test_by_a_loop": "Correlation",
    "test_flow.py::TestFlowWarp::test_gradients": "FlowWarp",
    "test_changed.py::test_softmax_loss_over_a_fixed_number": "FixedSoftmaxWithLoss",
    "test_flow.py::TestL1Loss::test_the_slope_of_no_difference": "DetectNetL1Loss",
    "test_flow.py::TestL1Loss::test_values_and_gradients": "L1Loss",
    "test_flow.py::TestSpatialTransformer::test_gradients": "SpatialTransformer",
    "test_flow.py::test_channel_norm": "ChannelNorm",
    "test_flow.py::test_neg_relu": "NegReLU",
    "test_fork_losses.py::test_a_label_that_is_ignored_does_not_count_in_a_focal_loss": "FocalLoss",
    "test_fork_losses.py::test_dice_coef_loss": "DiceCoefLoss",
    "test_fork_losses.py::test_grn": "GRN",
    "test_fork_losses.py::test_guided_dropout": "GuidedDropout",
    "test_fork_losses.py::test_happynears_focal_loss": "HappynearFocalLoss",
    "test_fork_losses.py::test_heds_loss_balances_edges_and_the_rest": (
        "BalancedSigmoidCrossEntropyLoss"
    ),
    "test_fork_losses.py::test_insanity": "Insanity",
    "test_fork_losses.py::test_softmax_cross_entropy_loss": "SoftmaxCrossEntropyLoss",
    "test_fork_losses.py::test_weighted_euclidean_loss": "WeightedEuclideanLoss",
    "test_mobile.py::test_axpy": "Axpy",
    "test_mobile.py::test_curves": (
        "Cosine HardSigmoid HardSwish Mish ReLU6 ScaledTanH SeLU Softplus Softsign"
    ),
    "test_mobile.py::test_depthwise_is_a_convolution_with_groups": (
        "ConvolutionDepthwise DepthwiseConvolution DeviceConvolutionDepthwise "
        "DeviceDepthwiseConvolution"
    ),
    "test_mobile.py::test_shuffle_channel": "ShuffleChannel",
    "test_mobile.py::test_spatial_dropout_drops_channels": "SpatialDropout",
    "test_ocr.py::test_dense_block": "DenseBlock",
    "test_ocr.py::test_lstm_gradient": "Lstm",
    "test_ocr.py::test_reverse": "Reverse",
    "test_ocr.py::test_reverse_time": "ReverseTime",
    "test_ocr.py::test_transpose": "Transpose",
    "test_rcnn.py::test_psroi_pooling": "PSROIPooling",
    "test_rcnn.py::test_roi_align_of_mask_rcnn": "MaskROIAlign",
    "test_rcnn.py::test_roi_align_of_ms_cnn": "GridROIAlign",
    "test_rcnn.py::test_roi_pooling": "ROIPooling",
    "test_rcnn.py::test_smooth_l1_loss_ohem": "SmoothL1LossOHEM",
    "test_rcnn.py::test_smooth_l1_loss_with_weights": "WeightedSmoothL1Loss",
    "test_rcnn.py::test_softmax_with_loss_ohem": "SoftmaxWithLossOHEM",
    "test_segmentation.py::TestBN::test_gradients": "RunningBN SegNetBN",
    "test_segmentation.py::TestUnpooling::test_max_with_a_mask": "Unpooling",
    "test_segmentation.py::TestUpsample::test_segnets_puts_values_where_the_mask_says": (
        "SegNetUpsample"
    ),
    "test_segmentation.py::TestUpsample::test_yolos_repeats_pixels": "NearestUpsample",
    "test_segmentation.py::test_interp": "Interp",
    "test_segmentation.py::test_softmax_loss_with_class_weights": "WeightedSoftmaxWithLoss",
    "test_ssd.py::test_multibox_loss_gradient": "MultiBoxLoss",
    "test_ssd.py::test_normalize_of_faces": "FaceNormalize",
    "test_ssd.py::test_normalize_with_equal_scales": "Normalize",
    "test_ssd.py::test_normalize_with_nothing_to_learn": "PlainNormalize",
    "test_ssd.py::test_permute": "Permute",
    "test_ssd.py::test_smooth_l1_loss": "SmoothL1Loss",
    "test_synopsys.py::test_axes_of_one": "ExpandDimsND Squeeze",
    "test_synopsys.py::test_blocks": "DepthToSpace SpaceToDepth",
    "test_synopsys.py::test_gather": "Gather",
    "test_synopsys.py::test_layer_norm": "LayerNorm",
    "test_synopsys.py::test_log_softmax": "LogSoftmax",
    "test_synopsys.py::test_matmul": "MatMul",
    "test_synopsys.py::test_mirror_pad": "MirrorPad",
    "test_mscnn.py::test_detection_loss_of_all_cells": "DetectionLoss",
    "test_fork_losses.py::test_softmax_over_the_classes_with_the_largest_scores": (
        "RandomSamplingSoftmaxLoss"
    ),
    "test_synopsys.py::test_pad": "Pad",
    "test_synopsys.py::test_reduce": "ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum",
    "test_synopsys.py::test_resize_bilinear": "ResizeBilinear",
    "test_synopsys.py::test_resize_nearest": "ResizeNearestNeighbor",
    "test_synopsys.py::test_shape": "Shape",
    "test_synopsys.py::test_stack": "Stack",
    "test_synopsys.py::test_strided_slice": "StridedSlice",
    "test_synopsys.py::test_unstack": "Unstack",
    "test_video.py::test_convolution_over_time": "Convolution3D",
    "test_video.py::test_pooling_over_time": "Pooling3D",
    "test_video.py::test_reduction_by_levels": "BatchReduction",
    "test_yolo.py::test_reorg": "Reorg",
    "test_ocr.py::test_ctc_loss": "CTCLoss",
    "test_ocr.py::test_warp_ctc": "CtcLoss WarpCTCLoss",
    "test_fork_gradients.py::test_those_that_have_no_other_place": (
        "Deconvolution3D NormalizedInnerProduct LabeledMatching"
    ),
}
BRINGS_DATA = "brings data in"
CHOOSES = "gives what was chosen or counted, which jumps from value to value"
OWN = "the fork's gradient is not the derivative of its loss: "
WITHOUT = {
    **dict.fromkeys(
        [
            "AnnotatedData",
            "DenseImageData",
            "ImageGtData",
            "ImageLabelmapData",
            "ImageSegData",
            "VideoData",
            "CameraData",
            "SegmentedVideoData",
            "RcnnTruth",
        ],
        BRINGS_DATA,
    ),
    **dict.fromkeys(
        [
            "AnchorTarget",
            "BboxAccuracy",
            "DetectionAccuracy",
            "ProposalTarget",
            "RegionTarget",
            "BoxAnnotatorOHEM",
            "BoxOutput",
            "CTCGreedyDecoder",
            "DetectionEvaluate",
            "DetectionOutput",
            "LabelsequenceAccuracy",
            "PixelProposal",
            "Proposal",
            "SegAccuracy",
            "SegmentationEvaluate",
            "YoloDetectionOutput",
            "Yolov3DetectionOutput",
        ],
        CHOOSES,
    ),
    **dict.fromkeys(
        ["PriorBox", "PriorBoxClustered", "ContinuationIndicator"],
        "depends on the shapes of its bottoms alone",
    ),
    **dict.fromkeys(
        ["ColorConv", "DataAugmentation", "Downsample", "Resample"],
        "has no backward, in the fork as well as here",
    ),
    **dict.fromkeys(
        ["EvenDistLoss", "MinQuantizeLoss"], OWN + "one number for all values of a batch"
    ),
    **dict.fromkeys(
        ["RegionLoss", "Yolov3", "YoloSeg"], OWN + "it is the error, the loss the errors' squares"
    ),
    "GradientScaler": OWN + "it is meant to be turned round",
    "MatWrite": "has no top",
    "TransformLoss": OWN + "it leaves out the weights",
    "GeneralTripletLoss": OWN + "the label's distance is pulled once, however many terms it has",
    "NormalizedWithLoss": OWN + "it is that of a softmax",
    "CaffeLstm": OWN + "W_h is changed as if each stream saw its own h, and it sees another",
    "MarginInnerProduct": OWN + "W is scaled to length 1 before, and the scaling is left out",
    "UnlabeledMatching": "its queue moves with every pass, so that no two passes are one function",
    "UpdatingBatchNorm": "stores statistics with every pass, and normalises with these",
}


def fork_classes():
    """The classes of all registered types of forks, by their names."""
    layer_types()
    found = {*LAYERS.values(), *(one.cls for known in READINGS.values() for one in known)}
    return {
        cls.__name__
        for cls in found
        if cls.__module__.startswith("pycaffe_dist.layers.") and cls.__module__.count(".") > 2
    }


def checked():
    return {name for names in CHECKED.values() for name in names.split()}


def test_every_class_has_a_check_or_a_reason():
    missing = fork_classes() - checked() - set(WITHOUT)
    assert not missing, "neither in CHECKED nor in WITHOUT: " + ", ".join(sorted(missing))


def test_what_is_listed_is_there():
    assert not checked() & set(WITHOUT)
    assert set(WITHOUT) <= fork_classes()
    calls_of = {}
    for where in CHECKED:
        file, *path = where.split("::")
        if file not in calls_of:
            calls_of[file] = functions(HERE / file)
        assert path[-1] in calls_of[file], f"{where} is not there"
        called = calls_of[file][path[-1]]
        own = {"check_layer", "gradient_of_the_sum", "gradient_of_the_first"}
        assert called & own or any(
            "check_layer" in calls_of[file].get(helper, ()) for helper in called
        ), f"{where} compares no gradients"


def functions(path):
    """What each function of a file calls, by name."""
    tree = ast.parse(path.read_text())
    return {
        node.name: {
            call.func.id
            for call in ast.walk(node)
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
        }
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
    }


@pytest.mark.parametrize(
    "case",
    [
        LayerCase(
            'type: "Deconvolution3D" convolution_param { num_output: 2 kernel_size: 2 '
            'kernel_depth: 2 stride: 2 weight_filler { type: "gaussian" } }',
            [(1, 2, 2, 2, 3)],
        ),
        LayerCase(
            'type: "InnerProduct" inner_product_param { num_output: 3 normalize: true '
            'weight_filler { type: "gaussian" } }',
            [(2, 4)],
            params=False,  # W is scaled before; its gradient is that of the plain product
        ),
        LayerCase(
            'type: "LabeledMatching" labeled_matching_param { num_classes: 5 momentum: 0.25 }',
            [(4, 3), np.array([-1.0, -1.0, -1.0, -1.0])],
            tops=2,
            bottoms=[0],
            params=False,  # W gets no gradient; without labels nothing is written into it
            fill=[np.random.default_rng(3).standard_normal((5, 3))],
        ),
    ],
    ids=lambda case: case.layer.split('"')[1],
)
def test_those_that_have_no_other_place(case):
    check_layer(case)

"""Fields and words of forks: which change nothing, and which would, but are not read.

A fork that adds a field to a layer of BVLC's changes what the layer computes, unless the field is
about speed.  What is neither known to be harmless nor read by the layer must not be passed over.
Nor must be what forks' own messages have and none of our layers reads.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from google.protobuf.message import Message

from pycaffe_dist.aliases import FieldDescriptor
from pycaffe_dist.proto import forks
from pycaffe_dist.proto.caffe_pb2 import LayerParameter, NetParameter, SolverParameter
from pycaffe_dist.proto.dialects import PRIVATE, PRIVATE_VALUE
from pycaffe_dist.proto.text import is_repeated

# About speed, memory, logs or devices; the results are the same.  (Of NVCaffe's types and scales
# GPUs make their precision: engines/cupy/precision.py.)
_HARMLESS = """
    LayerParameter: engine multinode forward_type backward_type forward_math backward_math debug
        cudnn_math_override reshape_every_iter
    ConvolutionParameter: engine cudnn_convolution_algo_seeker conv_algos_override conv_algorithm
        use_log
    AccuracyParameter: use_log
    BatchNormParameter: engine use_log
    ConcatParameter: engine per_fla_fuse use_log
    DataParameter: threads parser_threads cache precache disk_reader_threads verbose show_data
        huge_video_dataset
    DropoutParameter: engine random_seed
    EltwiseParameter: engine
    ImageDataParameter: threads cache precache show_data dataset_share_per_node
    InnerProductParameter: engine
    LRNParameter: engine
    NetParameter: engine compile_net_state multinode mem_param optimize_mem richness
        auto_insert_gathers default_forward_type default_backward_type default_forward_math
        default_backward_math global_grad_scale global_grad_scale_adaptive
        default_conv_algos_override reduce_buckets default_cudnn_math_override eltwise_mem_sharing
    PoolingParameter: engine torch_pooling
    ReLUParameter: engine use_log
    ScaleParameter: use_log
    SigmoidParameter: engine
    SoftmaxParameter: engine
    SolverParameter: engine solver_data_type store_blobs_in_old_format per_parameter_reduce richness
        group_id test_and_snapshot_last_epochs
    SPPParameter: engine
    TanHParameter: engine
    TransformationParameter: use_gpu_transform random_seed debug_params display forward_packing
"""

# Fields of forks' own messages of which the results do not depend: where to show pictures, how the
# same is computed, what the forks themselves never look at.
_IDLE = """
    AnnotatedDataParameter: anno_type
    AugmentationParameter: write_augmented max_multiplier write_mean mode bottomwidth bottomheight
        num chromatic_eigvec mirror translate rotate zoom squeeze translate_x translate_y lmult_pow
        lmult_mult lmult_add sat_pow sat_mult sat_add col_pow col_mult col_add ladd_pow ladd_mult
        ladd_add col_rotate gamma brightness contrast color fog_amount fog_size motion_blur_angle
        motion_blur_size shadow_angle shadow_distance shadow_strength noise
    ChannelScaleParameter: max_global_scale min_global_scale init_global_scale
    Convolution3DParameter: group filter_group
    CorrelationParameter: do_abs single_direction
    CTCLossParameter: loss_calculation_t
    DenseBlockParameter: initChannel gpuIdx workspace_MB BC_ultra_space_efficient
    DetectionOutputParameter: visualize_threshold save_file
    FaceNormalizeParameter: fix_gradient
    GeneralContrastiveLossParameter: square max_negative_margin
    LabelSpecificAddParameter: transform_test
    LabelSpecificMarginParameter: margin_on_test
    RandomGeneratorParameter: rand_type discretize apply_schedule multiplier
    RegionLossParameter: side jitter random
    ResampleParameter: factor
    SegAccuracyParameter: metric
    UnpoolingParameter: engine
    VideoDataParameter: show_data
    YoloDetectionOutputParameter: side label_map_file
    Yolov3Parameter: side
"""

# Fields of forks' own messages that our layers do not read, and should.
_UNREAD = """
    AnnotatedDataParameter: yolo_data_jitter train_diffcult single_class seg_scales
        seg_resize_width seg_resize_height difficult_label_warmup
    BBoxRegParameter: cls_aware
    BNParameter: icnet
    BatchReductionParameter: pos
    DetectionOutputParameter: clip
    DistortionParameter: exposure_lower exposure_upper
    LabelSpecificMarginParameter: auto_tune type
    LayerParameter: filter_param spatial_dropout_param
    MatMulParameter: blob_shape
    NormalizeParameter: add_eps_before_sqrt
    PriorBoxParameter: faceboxes box_width box_height tf yx_order offset_h offset_w
    ProposalParameter: anchor_base_size anchor_scale anchor_ratio max_rois
    ROIPoolingParameter: pooled_size
    RegionLossParameter: softmax absolute class_map
    ResizeParameter: jitter
    SmoothL1LossParameter: abssum
    VideoDataParameter: scale mean_file crop_size mirror use_temporal_jitter max_sampling_rate
        use_sampling_rate_jitter use_multiple_label num_of_labels encoded skip_frames
    YoloSegParameter: class_scale use_logic_gradient use_hardsigmoid enable_weighting
"""


# Read wherever they stand: what fillers know.
_EVERYWHERE = "FillerParameter: alpha"

# Of layers of any type: how a fork rounds or prunes their numbers, which is not done here.
_PASSED_OVER = ("quantization_param", "pruning_param", "fixed_param")
# The scale and shift that BatchNorm has within in two of Intel's engines, and not in its plain one;
# where a Scale is behind it, they are that Scale.
_WITHIN = "BatchNormParameter: filler use_weight_bias bias_term"


def _names(table: str) -> set[str]:
    found, message = set(), ""
    for line in table.splitlines():
        head, colon, fields = line.rpartition(":")
        message = head.strip() if colon else message
        found |= {f"{message}.{name}" for name in fields.split()}
    return found


HARMLESS = _names(_HARMLESS) | _names(_IDLE)
UNREAD = _names(_IDLE) | _names(_UNREAD)  # in forks' own messages
_NOT_TELLING = HARMLESS | _names(_EVERYWHERE) | _names(_WITHIN)


def telling(param: Message) -> list[str]:
    """The forks' fields that change results and not every layer reads.

    These are all that BVLC's messages have of forks, ``PoolingParameter.dilation``, and of forks'
    own messages what none of our layers reads.
    """
    return [where for where in dict.fromkeys(_strange(param)) if where not in _NOT_TELLING]


def origin(where: str) -> str:
    """The fork of such a field, for people."""
    return forks.of_field(*where.split(".")) or "a fork of Caffe"


def ignored(message: Message) -> list[str]:
    """The harmless fields of forks that a net or a layer has."""
    return [where for where in dict.fromkeys(_strange(message)) if where in HARMLESS]


@cache
def of_bvlc() -> frozenset[str]:
    """BVLC's messages: those that nets and solvers reach without a fork's field."""
    found, left = set(), [NetParameter.DESCRIPTOR, SolverParameter.DESCRIPTOR]
    while left:
        message = left.pop()
        if message.name not in found:
            found.add(message.name)
            fields = (f for f in message.fields if f.number < PRIVATE)
            left += [f.message_type for f in fields if f.message_type]
    return frozenset(found)


def passed_over(layer: LayerParameter) -> list[str]:
    """What a layer says and is not done: without it, results are near the fork's."""
    names = [name for name in _PASSED_OVER if layer.HasField(name)]
    if not layer.HasField("batch_norm_param"):
        return names
    found = _strange(layer.batch_norm_param)
    return [*names, *(where for where in dict.fromkeys(found) if where in _names(_WITHIN))]


class _Told(NamedTuple):
    """What there is to know of a field that may say something."""

    where: str
    repeated: bool
    enum: bool
    message: bool
    plain: bool  # says something by being there, unless it has its default
    default: object


@cache  # asking a descriptor takes longer than reading the field
def _told(field: FieldDescriptor) -> _Told | None:
    """None for a field that is BVLC's, and plain."""
    kind = field.containing_type.name
    of_fork = kind in of_bvlc() and field.number >= PRIVATE
    enum, message = field.enum_type is not None, field.message_type is not None
    where = f"{kind}.{field.name}"
    plain = where in UNREAD or (of_fork and not (message and kind == "LayerParameter"))
    if not (plain or enum or message):
        return None
    single = not is_repeated(field) and not message
    return _Told(
        where, is_repeated(field), enum, message, plain, field.default_value if single else None
    )


def _strange(message: Message) -> Iterator[str]:
    """Fields and values of forks that say something, unless it is for their own layers."""
    for field, value in message.ListFields():
        told = _told(field)
        if told is None:
            continue
        if told.plain:
            if told.default is None or value != told.default:
                yield told.where
        elif told.enum and any(v >= PRIVATE_VALUE for v in (value if told.repeated else [value])):
            yield told.where
        if told.message:
            for inner in value if told.repeated else [value]:
                yield from _strange(inner)

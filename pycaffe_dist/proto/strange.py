"""Fields and words of forks in parameters of BVLC's layers: which change nothing, and which would.

A fork that adds a field to a layer of BVLC's changes what the layer computes, unless the field is
about speed.  What is neither known to be harmless nor read by the layer must not be passed over.
"""

from __future__ import annotations

from collections.abc import Iterator

from google.protobuf.message import Message

from pycaffe_dist.proto import forks
from pycaffe_dist.proto.dialects import PRIVATE, PRIVATE_VALUE
from pycaffe_dist.proto.text import is_repeated

# About speed, memory, logs or devices; the results are the same.
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


def _names() -> set[str]:
    found, message = set(), ""
    for line in _HARMLESS.splitlines():
        head, colon, fields = line.rpartition(":")
        message = head.strip() if colon else message
        found |= {f"{message}.{name}" for name in fields.split()}
    return found


HARMLESS = _names()


def telling(param: Message) -> list[str]:
    """The forks' fields in BVLC's messages that change results: ``PoolingParameter.dilation``."""
    return [where for where in dict.fromkeys(_strange(param)) if where not in HARMLESS]


def origin(where: str) -> str:
    """The fork of such a field, for people."""
    return forks.of_field(*where.split(".")) or "a fork of Caffe"


def ignored(message: Message) -> list[str]:
    """The harmless fields of forks that a net or a layer has."""
    return [where for where in dict.fromkeys(_strange(message)) if where in HARMLESS]


def _strange(message: Message) -> Iterator[str]:
    """Fields and values of forks that say something, within BVLC's messages."""
    for field, value in message.ListFields():
        if field.number < PRIVATE and not field.message_type and not field.enum_type:
            continue
        values = value if is_repeated(field) else [value]
        where = f"{message.DESCRIPTOR.name}.{field.name}"
        if field.number >= PRIVATE:
            layers_own = field.message_type and message.DESCRIPTOR.name == "LayerParameter"
            default = not is_repeated(field) and not field.message_type
            if not layers_own and not (default and value == field.default_value):
                yield where
        elif field.message_type:
            for inner in values:
                yield from _strange(inner)
        elif field.enum_type and any(v >= PRIVATE_VALUE for v in values):
            yield where

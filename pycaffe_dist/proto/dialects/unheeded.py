"""Fields of forks in BVLC's messages that are read and then not obeyed: nobody may miss that.

A field is obeyed by those who say so (``heeds`` of a layer, of the solver).  Some need no obeying:
they choose how a fork computes, logs or stores, not what.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from pycaffe_dist.proto import forks
from pycaffe_dist.proto.dialects import PRIVATE
from pycaffe_dist.proto.text import is_repeated

# By message.
_HARMLESS = {
    "AccuracyParameter": "use_log",
    "BatchNormParameter": "engine use_log",
    "ConcatParameter": "engine per_fla_fuse use_log",
    "ConvolutionParameter": """conv_algorithm conv_algos_override cudnn_convolution_algo_seeker
        fuse_type use_log""",
    "DataParameter": """cache disk_reader_threads huge_video_dataset parser_threads precache
        show_data threads verbose""",
    "DropoutParameter": "engine",
    "EltwiseParameter": "engine",
    "ImageDataParameter": "cache dataset_share_per_node precache show_data threads",
    "InnerProductParameter": "engine",
    "LRNParameter": "fuse_type",
    "LayerParameter": """backward_math backward_type cudnn_math_override debug engine forward_math
        forward_type multinode""",
    "NetParameter": """auto_insert_gathers bn_stats_batch_size compile_net_state
        default_backward_math default_backward_type default_conv_algos_override
        default_cudnn_math_override default_forward_math default_forward_type eltwise_mem_sharing
        engine global_grad_scale global_grad_scale_adaptive mem_param multinode optimize_mem
        reduce_buckets richness""",
    "ReLUParameter": "fuse use_log",
    "ScaleParameter": "use_log",
    "SolverParameter": """ap_version engine eval_type group_id per_parameter_reduce richness
        show_per_class_result solver_data_type store_blobs_in_old_format
        test_and_snapshot_last_epochs""",
    "TransformationParameter": "debug_params display forward_packing use_gpu_transform",
}
HARMLESS = {f"{message}.{name}" for message, names in _HARMLESS.items() for name in names.split()}


def unheeded(message: Any, heeds: Collection[str]) -> list[str]:
    """What forks' fields in ``message`` ask for and does not happen, one phrase a field.

    Args:
        message: one of BVLC's.
        heeds: the fields that are obeyed, such as "PoolingParameter.ceil_mode".
    """
    found = dict.fromkeys(_added(message))
    return [
        f"{name} of {kind} has no effect here: it comes from {forks.of_field(kind, name)}"
        for kind, name in found
        if f"{kind}.{name}" not in HARMLESS and f"{kind}.{name}" not in heeds
    ]


def _added(message: Any) -> Iterator[tuple[str, str]]:
    """Message and name of each field of a fork that is given; what is inside it is the fork's."""
    for field, value in message.ListFields():
        if field.number >= PRIVATE:
            yield message.DESCRIPTOR.name, field.name
        elif field.message_type is not None:
            for inner in value if is_repeated(field) else [value]:
                yield from _added(inner)

"""Fields of forks in BVLC's layers: taken, passed over with a word, or refused by name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from google.protobuf.descriptor import Descriptor

import pycaffe_dist
from pycaffe_dist.errors import NetError
from pycaffe_dist.layer import Context, Layer
from pycaffe_dist.proto.aliases import in_bvlc_words
from pycaffe_dist.proto.caffe_pb2 import DESCRIPTOR, LayerParameter, NetParameter
from pycaffe_dist.proto.dialects import PRIVATE
from pycaffe_dist.proto.strange import (
    HARMLESS,
    UNREAD,
    ignored,
    of_bvlc,
    origin,
    passed_over,
    telling,
)
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.registry import create_layer, layer_types, messages_of

CONSTRAINTS = ("jaccard_overlap", "sample_coverage", "object_coverage")


def layer(text: str) -> LayerParameter:
    return parse_text(text, LayerParameter()).message


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("pooling_param { dilation: 2 }", ["PoolingParameter.dilation"]),
        ("pooling_param { dilation: 1 avg_include_pad: true }", []),  # the defaults
        ("pooling_param { pool: LOWRES }", ["PoolingParameter.pool"]),
        ("pooling_param { engine: MKL2017 torch_pooling: true }", []),
        ("convolution_param { weight_filler { alpha: 2 } }", []),  # the fillers read it
        ("convolution_param { weight_filler { diag_val: 2 } }", ["FillerParameter.diag_val"]),
        ("batch_norm_param { filler { value: 1 } use_weight_bias: false }", []),  # passed over
        ("permute_param { order: 1 }", []),  # a message of a fork's layer
        ("loss_param { class_weighting: 1 }", ["LossParameter.class_weighting"]),
    ],
)
def test_what_changes_results(text: str, fields: list[str]) -> None:
    assert telling(layer(text)) == fields


def test_the_scale_within_intels_engines_is_passed_over_with_a_word() -> None:
    given = layer("batch_norm_param { filler { value: 1 } } pruning_param { coeff: 0.5 }")
    assert passed_over(given) == ["pruning_param", "BatchNormParameter.filler"]
    assert ignored(given) == []
    assert passed_over(layer("pruning_param { coeff: 0.5 }")) == ["pruning_param"]


def test_what_changes_nothing() -> None:
    text = (
        "engine: 'a' layer { engine: 'b' data_param { threads: 5 } relu_param { engine: MKLDNN } }"
    )
    assert set(ignored(parse_text(text, NetParameter()).message)) == {
        "LayerParameter.engine",
        "DataParameter.threads",
        "NetParameter.engine",
        "ReLUParameter.engine",
    }


def test_fields_that_are_passed_over_are_named_by_their_messages():
    """Also those of a list that takes several lines."""
    some = {"ConvolutionParameter.engine", "NetParameter.reduce_buckets", "SPPParameter.engine"}
    some |= {"SolverParameter.test_and_snapshot_last_epochs", "ReLUParameter.use_log"}
    assert some <= HARMLESS


def test_harmless_fields_exist() -> None:
    for where in HARMLESS:
        message, name = where.split(".")
        field = DESCRIPTOR.message_types_by_name[message].fields_by_name[name]
        assert field.number >= PRIVATE or name == "engine" or where in UNREAD, where


def test_each_field_of_forks_own_messages_is_read_or_known_not_to_be() -> None:
    """A field whose name no source has cannot have an effect."""
    package = Path(pycaffe_dist.__file__).parent
    texts = [f.read_text() for part in ("layers", "data") for f in (package / part).rglob("*.py")]
    found = re.findall(r"\.(\w+)|[\"'](\w+)[\"']", "\n".join(texts))  # p.name, "name"
    words = {word for pair in found for word in pair}
    words |= {f"{pair}_{side}" for pair in ("img", "step") for side in "hw"}
    words |= {f"{end}_{what}" for what in CONSTRAINTS for end in ("min", "max")}
    words |= {f"{what}_{end}" for what in ("contrast", "saturation") for end in ("lower", "upper")}
    words |= {f"theta_{i}_{j}" for i in (1, 2) for j in (1, 2, 3)}
    silent = {
        f"{message.name}.{field.name}"
        for message in forks_messages()
        for field in message.fields
        if field.name not in words
    }
    assert silent - UNREAD == set()


def forks_messages() -> dict[Descriptor, None]:
    """Those of the forks' layers that we have, and what is inside of them."""
    left = [
        field.message_type
        for cls in layer_types().values()
        if cls.__module__.startswith("pycaffe_dist.layers.")
        for name in messages_of(cls)
        if (field := LayerParameter.DESCRIPTOR.fields_by_name[name]).number >= PRIVATE
        and f"LayerParameter.{name}" not in UNREAD
    ]
    found: dict[Descriptor, None] = {}
    while left:
        message = left.pop()
        if message not in found and message.name not in of_bvlc():
            found[message] = None
            left += [f.message_type for f in message.fields if f.message_type]
    return found


def test_what_a_class_reads_is_seen_in_its_methods_and_needs_no_source() -> None:
    given = {"Layer": Layer}
    source = """class Own(Layer):
    type = "Own"

    def setup(self, bottom, top):
        p = self.layer_param.pooling_param
        self.sizes = [self.layer_param.resize_param.height for _ in bottom]
        p.reduction_param, self.layer_param.param

    rate = property(lambda self: self.layer_param.dropout_param.dropout_ratio)
"""
    exec(source, given)
    assert {*messages_of(given["Own"])} == {"pooling_param", "resize_param", "dropout_param"}


def test_fields_that_layers_say_they_read_exist() -> None:
    for cls in layer_types().values():
        for where in cls.fork_fields:
            message, name = where.split(".")
            assert name in DESCRIPTOR.message_types_by_name[message].fields_by_name, where


def test_a_field_that_nobody_reads_is_refused() -> None:
    message = r'"p" \(Pooling\): PoolingParameter.dilation is not supported; it comes from the Open'
    with pytest.raises(NetError, match=message):
        create_layer(layer("name: 'p' type: 'Pooling' pooling_param { dilation: 2 }"), Context())
    assert "Intel" in origin("PoolingParameter.avg_include_pad")


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        (
            "type: 'AnnotatedData' transform_param { min_side: 30 }",
            "TransformationParameter.min_side",
        ),
        (
            "type: 'AnnotatedData' annotated_data_param { seg_scales: 4 }",
            "AnnotatedDataParameter.seg_scales",
        ),
        (
            "type: 'AnnotatedData' transform_param { resize_param { jitter: 1 } }",
            "ResizeParameter.jitter",
        ),
        (
            "type: 'ConvolutionDepthwise' convolution_param { relu: true }",
            "ConvolutionParameter.relu",
        ),
        ("type: 'ReLU6' relu6_param { fuse: true }", "ReLUParameter.fuse"),
        (
            "type: 'SoftmaxWithLossOHEM' loss_param { label_smoothing: 0.1 }",
            "LossParameter.label_smoothing",
        ),
        (
            "type: 'BatchNorm' batch_norm_param { scale_bias: true disable_mean: true }",
            "BatchNormParameter.disable_mean",
        ),
        ("type: 'MatMul' matmul_param { blob_shape: 3 }", "MatMulParameter.blob_shape"),
        (
            "type: 'SpatialDropout' spatial_dropout_param { dropout_ratio: 0.3 }",
            "LayerParameter.spatial_dropout_param",
        ),
        ("type: 'Filter' filter_param { num_output: 2 }", "LayerParameter.filter_param"),
        (
            "type: 'VideoData' image_data_param { use_temporal_jitter: true }",
            "ImageDataParameter.use_temporal_jitter",
        ),
    ],
)
def test_what_a_layer_of_a_fork_does_not_read_is_refused(text: str, fields: str) -> None:
    with pytest.raises(NetError, match=rf"\): {fields} is not supported; it comes from"):
        create_layer(layer(f"name: 'a' {text}"), Context())


@pytest.mark.parametrize(
    "text",
    [
        "type: 'Normalize' softmax_param { normalize_type: 'L2' }",  # left over from another type
        "type: 'AnnotatedData' transform_param { resize_param { prob: 1 } crop_h: 2 }",
        "type: 'Correlation' correlation_param { do_abs: true single_direction: 1 }",
        "type: 'VideoData' image_data_param { new_length: 16 use_image: true }",
        "type: 'BatchReduction' batch_reduction_param { reduction_param { operation: TOPK k: 2 } }",
        "type: 'SmoothL1LossOHEM' loss_param { normalization: PRE_FIXED pre_fixed_normalizer: 2 }",
        "type: 'PriorBoxClustered' prior_box_param { width: 2 height: 3 }",  # clashing numbers
    ],
)
def test_what_a_layer_of_a_fork_reads_or_may_pass_over_is_taken(text: str) -> None:
    create_layer(layer(f"name: 'a' {text}"), Context())


@pytest.mark.parametrize(
    ("given", "plain"),
    [
        ("pooling_param { ceil_mode: false }", "pooling_param { round_mode: FLOOR }"),
        ("pooling_param { ceil_mode: true }", "pooling_param { }"),
        ("convolution_param { hole: 4 }", "convolution_param { dilation: 4 }"),
        ("convolution_param { hole_h: 2 hole_w: 3 }", "convolution_param { dilation: [2, 3] }"),
        ("convolution_param { dilation_w: 3 }", "convolution_param { dilation: [1, 3] }"),
    ],
)
def test_other_words(given: str, plain: str) -> None:
    assert in_bvlc_words(layer(given)) == layer(plain)


def test_plain_words_stay() -> None:
    param = layer("pooling_param { round_mode: FLOOR } convolution_param { dilation: 2 }")
    assert in_bvlc_words(param) is param

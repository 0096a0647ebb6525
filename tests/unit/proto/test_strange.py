"""Fields of forks in BVLC's layers: taken, passed over with a word, or refused by name."""

from __future__ import annotations

import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.layer import Context
from pycaffe_dist.proto.aliases import in_bvlc_words
from pycaffe_dist.proto.caffe_pb2 import DESCRIPTOR, LayerParameter, NetParameter
from pycaffe_dist.proto.dialects import PRIVATE
from pycaffe_dist.proto.strange import HARMLESS, ignored, origin, telling
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.registry import create_layer, layer_types


def layer(text: str) -> LayerParameter:
    return parse_text(text, LayerParameter()).message


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("pooling_param { dilation: 2 }", ["PoolingParameter.dilation"]),
        ("pooling_param { dilation: 1 avg_include_pad: true }", []),  # the defaults
        ("pooling_param { pool: LOWRES }", ["PoolingParameter.pool"]),
        ("pooling_param { engine: MKL2017 torch_pooling: true }", []),
        ("convolution_param { weight_filler { alpha: 2 } }", ["FillerParameter.alpha"]),
        ("permute_param { order: 1 }", []),  # a message of a fork's layer
        ("loss_param { class_weighting: 1 }", ["LossParameter.class_weighting"]),
    ],
)
def test_what_changes_results(text: str, fields: list[str]) -> None:
    assert telling(layer(text)) == fields


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
        assert field.number >= PRIVATE or name == "engine", where


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

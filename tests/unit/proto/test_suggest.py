# ruff: noqa: E501
import pytest

from pycaffe_dist.proto import forks, suggest
from pycaffe_dist.proto.caffe_pb2 import (
    ConvolutionParameter,
    LayerParameter,
    NetParameter,
    PoolingParameter,
    V1LayerParameter,
)

LAYER = LayerParameter.DESCRIPTOR


@pytest.fixture
def one_fork(monkeypatch):
    """The only name that comes from a fork is odd_param of LayerParameter, or the type ODD."""
    field, value = ("LayerParameter", "odd_param"), ("LayerType", "ODD")
    monkeypatch.setattr(forks, "of_field", lambda *asked: "OddCaffe" if asked == field else None)
    monkeypatch.setattr(
        forks, "of_enum_value", lambda *asked: "OddCaffe" if asked == value else None
    )


@pytest.mark.parametrize(
    ("name", "known", "guess"),
    [
        ("convolution_parm", ["convolution_param", "concat_param"], "convolution_param"),
        ("convolutoin_param", ["convolution_param", "concat_param"], "convolution_param"),
        ("Name", ["name", "type"], "name"),
        ("kernelsize", ["kernel_size", "kernel_h"], "kernel_size"),
        ("zebra_param", ["relu_param", "tanh_param"], None),  # _param alone is no likeness
        ("relu", ["concat_param", "relu_param"], None),
        ("abc", ["xyz"], None),
        ("abc", [], None),
        ("", ["a"], None),
        ("x" * 100_000, ["name"], None),
    ],
)
def test_near(name, known, guess):
    assert suggest.near(name, known) == guess
    assert suggest.did_you_mean(name, known) == (f'; did you mean "{guess}"?' if guess else "")


@pytest.mark.parametrize(
    ("name", "rest"),
    [
        ("bottm", '; did you mean "bottom"?'),
        ("odd_param", "; it comes from OddCaffe"),
        ("blobs_lr", "; that is the old `layers` format, in `layer` write: param { lr_mult: ... }"),
        ("weight_decay", "; that is the old `layers` format, in `layer` write: param { decay_mult: ... }"),
        ("blob_share_mode", "; that is the old `layers` format, in `layer` write: param { share_mode: ... }"),
        ("dropout_ratio", "; it belongs inside dropout_param"),
        ("pyramid_height", "; it belongs inside spp_param"),
        ("num_output", "; it belongs inside convolution_param or inner_product_param or embed_param or recurrent_param"),
        ("bias_term", ""),  # five have it, which is too many
        ("qqqq", ""),
    ],
)  # fmt: skip
def test_unknown_field_of_a_layer(one_fork, name, rest):
    assert suggest.unknown_field(LAYER, name) == f'LayerParameter has no field "{name}"{rest}'


def test_old_names_mean_nothing_outside_layer(one_fork):
    text = suggest.unknown_field(ConvolutionParameter.DESCRIPTOR, "blobs_lr")
    assert text == 'ConvolutionParameter has no field "blobs_lr"'


@pytest.mark.parametrize(
    ("given", "rest"),
    [
        ("CONVOLUTON", '; did you mean "CONVOLUTION"?'),
        ("convolution", '; did you mean "CONVOLUTION"?'),
        ("ODD", "; that value comes from OddCaffe"),
        (
            '"Convolution"',
            ": in the old `layers` format types are bare words such as CONVOLUTION; "
            "with a quoted type write `layer`",
        ),
    ],
)
def test_unknown_v1_type(one_fork, given, rest):
    field = V1LayerParameter.DESCRIPTOR.fields_by_name["type"]
    assert suggest.unknown_enum(field, given) == f'"type" cannot be {given}{rest}'


@pytest.mark.parametrize(
    ("given", "rest"),
    [
        ("STOCASTIC", '; did you mean "STOCHASTIC"?'),
        ("ODD", "; expected one of AVE, MAX, STOCHASTIC"),  # a fork's type is no pooling method
        ("5", "; expected one of AVE, MAX, STOCHASTIC"),
    ],
)
def test_unknown_enum_value(one_fork, given, rest):
    field = PoolingParameter.DESCRIPTOR.fields_by_name["pool"]
    assert suggest.unknown_enum(field, given) == f'"pool" cannot be {given}{rest}'


def test_a_right_value_in_quotes_is_told_to_drop_them():
    field = PoolingParameter.DESCRIPTOR.fields_by_name["pool"]
    text = suggest.unknown_enum(field, '"MAX"')
    assert 'did you mean "MAX"' not in text
    assert "MAX" in text.removeprefix('"pool" cannot be "MAX"')


def test_the_name_is_not_looked_for_in_scalar_fields():
    assert suggest.unknown_field(NetParameter.DESCRIPTOR, "kernel_size") == (
        'NetParameter has no field "kernel_size"'
    )

"""Layers of forks in BVLC's words: the same numbers where the fork's layer is there to compare."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pycaffe_dist.cli import main
from pycaffe_dist.net import Net
from pycaffe_dist.proto.caffe_pb2 import LayerParameter, NetParameter
from pycaffe_dist.proto.nets import read_net
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.proto.weights import read_weights, write_weights
from pycaffe_dist.registry import layer_types
from pycaffe_dist.tools.to_bvlc import to_bvlc

INPUT = 'layer { name: "x" type: "Input" top: "x" input_param { shape { dim: [2, 3, 4, 5] } } }'


def net(layer: str) -> NetParameter:
    return parse_text(f"{INPUT} layer {{ name: 'l' top: 'y' {layer} }}", NetParameter()).message


def types(layer: str) -> list[str]:
    described = net(layer)
    _, left = to_bvlc(described)
    assert left == []
    assert described.layer[-1].top == ["y"]
    return [la.type for la in described.layer[1:]]


@pytest.mark.parametrize(
    ("layer", "want"),
    [
        ("type: 'ReLU6' bottom: 'x'", "Clip"),
        ("type: 'Softplus' bottom: 'x'", "BNLL"),
        ("type: 'HardSigmoid' bottom: 'x'", "Power Clip"),
        ("type: 'HardSwish' bottom: 'x'", "Power Clip Eltwise Power"),
        ("type: 'NegReLU' bottom: 'x'", "Power ReLU Power"),
        ("type: 'Eltwise' bottom: 'x' eltwise_param { coeff: 0.5 }", "Power"),
        ("type: 'Axpy' bottom: 'a' bottom: 'x' bottom: 'b'", "Flatten Scale Eltwise"),
        ("type: 'BatchNorm' bottom: 'x' batch_norm_param { scale_bias: true }", "BatchNorm Scale"),
        ("type: 'BatchNorm' bottom: 'x'", "BatchNorm"),
    ],
)
def test_types(layer: str, want: str) -> None:
    assert types(layer) == want.split()


@pytest.mark.parametrize(
    ("layer", "want"),
    [
        (
            "DepthwiseConvolution' convolution_param { num_output: 6 group: 3",
            "num_output: 6 group: 3",
        ),
        ("DepthwiseConvolution' convolution_param { num_output: 6", "num_output: 6"),
        ("ConvolutionDepthwise' convolution_param { num_output: 3", "num_output: 3 group: 3"),
        ("ConvolutionDepthwise' convolution_param {", "num_output: 3 group: 3"),
        # As in a net that works all the same, for what the file says does not count.
        (
            "ConvolutionDepthwise' convolution_param { num_output: 2 group: 2",
            "num_output: 3 group: 3",
        ),
    ],
)
def test_depthwise_convolution(layer: str, want: str) -> None:
    described = net(f"bottom: 'x' type: '{layer} kernel_size: 2 hole: 2 }}")
    to_bvlc(described)
    plain = parse_text(
        "name: 'l' top: 'y' type: 'Convolution' bottom: 'x' "
        f"convolution_param {{ kernel_size: 2 dilation: 2 {want} }}",
        LayerParameter(),
    ).message
    assert described.layer[1] == plain


def test_nvidias_batch_norm_begins_with_a_scale_of_1() -> None:
    text = "type: 'BatchNorm' bottom: 'x' batch_norm_param { scale_bias: true eps: 1e-7 }"
    described = net(text)
    to_bvlc(described)
    norm, scale = described.layer[1:]
    assert norm.batch_norm_param.eps == np.float32(1e-5)  # as NVCaffe has it at least
    assert scale.scale_param.filler.value == 1


@pytest.mark.parametrize(
    "layer",
    [
        "type: 'ReLU6' bottom: 'x' relu6_param { negative_slope: 0.1 }",
        "type: 'ConvolutionDepthwise' bottom: 'nowhere' convolution_param { kernel_size: 3 }",
    ],
)
def test_one_layer_of_a_type_may_have_no_equivalent(layer: str) -> None:
    _, left = to_bvlc(net(layer))
    assert left and left[0].endswith("has no equivalent")


VALUES = {
    "ReLU6": lambda x: np.clip(x, 0, 6),
    "Softplus": lambda x: np.log1p(np.exp(x)),
    "HardSigmoid": lambda x: np.clip(0.2 * x + 0.5, 0, 1),
    "HardSwish": lambda x: x * np.clip(x + 3, 0, 6) / 6,
    "NegReLU": lambda x: np.minimum(x, 0),
}


@pytest.mark.parametrize("kind", VALUES)
def test_values(kind: str) -> None:
    described = net(f"type: '{kind}' bottom: 'x'")
    to_bvlc(described)
    built = Net(described)
    x = np.random.default_rng(0).standard_normal((2, 3, 4, 5)) * 5
    built.blobs[0].data[...] = x
    built.forward()
    np.testing.assert_allclose(built.blobs[built.output_ids[0]].data, VALUES[kind](x), 1e-4, 1e-5)


IN_PLACE = [
    "ReLU6",
    "Softplus",
    "HardSigmoid",
    "HardSwish",
    "NegReLU",
    "BN' bn_param { slope_filler { value: 2 } momentum: 0.9 }",
    "BN' bn_param { scale_filler { value: 2 } }",
    "BatchNorm' batch_norm_param { scale_bias: true }",
]


@pytest.mark.parametrize("kind", IN_PLACE)
def test_layers_in_place_stay_there(kind: str) -> None:
    """Or as they are: HardSwish reads its bottom twice."""
    kind += "" if "'" in kind else "'"
    text = (
        f"{INPUT} layer {{ name: 'c' type: 'Power' bottom: 'x' top: 'y' }} "
        f"layer {{ name: 'l' type: '{kind} bottom: 'y' top: 'y' }}"
    )
    old = parse_text(text, NetParameter()).message
    new = parse_text(text, NetParameter()).message
    to_bvlc(new)
    x = np.random.default_rng(0).standard_normal((2, 3, 4, 5))
    outputs = []
    for described in (old, new):
        built = Net(described)
        built.blobs[0].data[...] = x
        built.forward()
        outputs.append(built.blobs[built.blob_ids["y"]].data.copy())
    np.testing.assert_allclose(outputs[1], outputs[0], rtol=1e-4, atol=1e-4)


def test_a_layer_without_an_equivalent_is_named() -> None:
    described = net("type: 'Permute' bottom: 'x' permute_param { order: 1 }")
    assert to_bvlc(described)[1] == ['layer "l": Permute has no equivalent']
    assert described.layer[1].permute_param.order == [1]


def test_weights_go_with_their_layers(tmp_path: Path) -> None:
    batch_norm = "type: 'BatchNorm' bottom: 'x' batch_norm_param { scale_bias: true }"
    (tmp_path / "old.prototxt").write_text(f"{INPUT} layer {{ name: 'l' top: 'y' {batch_norm} }}")
    stored = [np.full(3, i, np.float32) for i in (5, 4)]
    stored += [np.ones(1, np.float32), *(np.full(3, i, np.float32) for i in (2, 1))]
    write_weights(tmp_path / "old.caffemodel", net(batch_norm), [[], stored])
    paths = [str(tmp_path / name) for name in ("old.prototxt", "new.prototxt")]
    files = [str(tmp_path / name) for name in ("old.caffemodel", "new.caffemodel")]
    verb = ["upgrade_net_proto_text", "--to-bvlc", *paths]
    assert main([*verb, "--weights", *files]) == 0
    built = Net(read_net(paths[1]))
    found = {la.name: [b.data[0] for b in la.blobs] for la in read_weights(files[1]).layers}
    assert {k: v for k, v in found.items() if v} == {"l": [5, 4, 1], "l/1": [2, 1]}
    assert [la.type for la in built.layers] == ["Input", "BatchNorm", "Scale"]


def test_files_that_do_not_fit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a").write_text("layer { nmae: 'x' }")
    verb = ["upgrade_net_proto_text", str(tmp_path / "a"), str(tmp_path / "b")]
    assert main([*verb, "--to-bvlc"]) == 2
    with pytest.raises(SystemExit):
        main([*verb, "--weights", "x", "y"])
    assert "--weights goes with --to-bvlc" in capsys.readouterr().err


@pytest.mark.skipif("BN" not in layer_types(), reason="BN is not written yet")
@pytest.mark.parametrize("word", ["slope_filler { value: 2 }", "scale_filler { value: 2 }"])
def test_bn_of_two_forks(word: str) -> None:
    assert types(f"type: 'BN' bottom: 'x' bn_param {{ {word} }}") == ["BatchNorm", "Scale"]

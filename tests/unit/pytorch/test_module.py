"""The code of a PyTorch module, line by line; what it computes is compared by `pcd export`."""

import ast

import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.net import Net
from pycaffe_dist.proto.caffe_pb2 import NetParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.pytorch.module import as_state, class_name, write_module

DATA = 'layer { name: "data" type: "Input" top: "data" input_param { shape { dim: %s } } } '


def written(layers, shape=(2, 4, 9, 9), name="small"):
    text = (
        DATA % " dim: ".join(map(str, shape)) + f'name: "{name}" state {{ phase: TEST }} ' + layers
    )
    net = Net(parse_text(text, NetParameter()).message)
    for layer in net.layers:
        for blob in layer.blobs:
            blob.data[...] = np.arange(1, blob.count + 1).reshape(blob.shape)
    code, module = write_module(net, class_name(net.name), "small.prototxt")
    ast.parse(code)
    return code, module


def lines(layers, shape=(2, 4, 9, 9)):
    """Of __init__ and of forward."""
    _, module = written(layers, shape)
    return module.made, module.runs


def layer(kind, more="", name="x", bottom="data", top="y"):
    bottoms = " ".join(f'bottom: "{b}"' for b in bottom.split())
    tops = " ".join(f'top: "{t}"' for t in top.split())
    return f'layer {{ name: "{name}" type: "{kind}" {bottoms} {tops} {more} }} '


def test_a_whole_module():
    code, module = written(
        layer("Convolution", "convolution_param { num_output: 3 kernel_size: 3 }", "conv1/3x3")
        + layer("ReLU", name="relu", bottom="y", top="y")
        + layer("InnerProduct", "inner_product_param { num_output: 2 }", "class", "y", "class")
        + layer("Softmax", name="prob", bottom="class", top="prob")
    )
    body = code[code.index("class Small") :]
    assert (
        body
        == """class Small(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1_3x3 = nn.Conv2d(4, 3, 3)  # conv1/3x3
        self._class = nn.Linear(147, 2)  # class

    def forward(self, data: torch.Tensor) -> dict[str, torch.Tensor]:
        y = self.conv1_3x3(data)
        y = F.relu(y)
        _class = self._class(y.flatten(1))
        prob = F.softmax(_class, 1)
        return {"prob": prob}
"""
    )
    assert {k: v.shape for k, v in as_state(module).items()} == {
        "conv1_3x3.weight": (3, 4, 3, 3),
        "conv1_3x3.bias": (3,),
        "_class.weight": (2, 147),
        "_class.bias": (2,),
    }


POOL = "pooling_param { pool: %s kernel_size: 3 stride: 2 %s }"
CASES = {
    "max, whole windows": (
        layer("Pooling", POOL % ("MAX", "")),
        [],
        ["y = F.max_pool2d(data, 3, 2)"],
    ),
    "mean, rounded up": (
        layer("Pooling", POOL % ("AVE", "pad: 1"), bottom="data").replace("stride: 2", "stride: 3"),
        [],
        ["y = F.avg_pool2d(data, 3, 3, padding=1, ceil_mode=True)"],
    ),
    "global": (
        layer("Pooling", "pooling_param { pool: AVE global_pooling: true }"),
        [],
        ["y = data.mean((2, 3), keepdim=True)"],
    ),
    "grouped": (
        layer(
            "Convolution",
            "convolution_param { num_output: 4 kernel_h: 3 kernel_w: 1 group: 4 pad_h: 1 "
            "stride: 2 dilation: 2 bias_term: false }",
        ),
        [
            "self.x = nn.Conv2d(4, 4, (3, 1), stride=2, padding=(1, 0), dilation=2, groups=4, "
            "bias=False)"
        ],
        ["y = self.x(data)"],
    ),
    "transposed": (
        layer(
            "Deconvolution", "convolution_param { num_output: 2 kernel_size: 4 stride: 2 pad: 1 }"
        ),
        ["self.x = nn.ConvTranspose2d(4, 2, 4, stride=2, padding=1)"],
        ["y = self.x(data)"],
    ),
    "scale by a bottom": (
        layer("Pooling", "pooling_param { pool: AVE global_pooling: true }", "p", top="p")
        + layer("Flatten", name="f", bottom="p", top="f")
        + layer("Scale", "scale_param { axis: 0 }", bottom="data f"),
        ["self.x = Scale(axis=0, weight=False, bias=False)"],
        [
            "p = data.mean((2, 3), keepdim=True)",
            "f = p.reshape(-1, 4)",
            "y = self.x(data, f)",
        ],
    ),
    "sum": (
        layer("Power", "power_param { scale: 2 shift: 1 power: 2 }", "p", top="p")
        + layer("Eltwise", "eltwise_param { coeff: 1 coeff: -0.5 }", bottom="data p"),
        [],
        ["p = (2 * data + 1) ** 2", "y = data + -0.5 * p"],
    ),
    "slices": (
        layer("Slice", "slice_param { slice_point: 1 }", top="a b")
        + layer("Concat", bottom="b a", name="c"),
        [],
        ["a, b = torch.split(data, [1, 3], 1)", "y = torch.cat([b, a], 1)"],
    ),
    "best": (
        layer("ArgMax", "argmax_param { axis: 1 }"),
        [],
        ["y = data.argmax(1, keepdim=True).float()"],
    ),
    "dropout": (layer("Dropout"), [], ["y = F.dropout(data, 0.5, self.training)"]),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_lines_of_a_layer(case):
    layers, made, runs = case
    assert lines(layers) == (made, runs)


def test_statistics_are_divided_by_their_factor():
    _, module = written(
        layer("BatchNorm") + layer("Scale", "scale_param { bias_term: true }", "s", "y", "z")
    )
    assert module.made == [
        "self.x = nn.BatchNorm2d(4, eps=1e-05, momentum=0.001, affine=False)",
        "self.s = Scale(4)",
    ]
    state = as_state(module)
    np.testing.assert_array_equal(state["x.running_mean"], [1, 2, 3, 4])
    assert state["x.num_batches_tracked"].dtype == np.int64
    np.testing.assert_array_equal(state["s.bias"], [1, 2, 3, 4])
    assert "class Scale(nn.Module)" in written(layer("Scale"))[0]
    assert "class Scale" not in written(layer("ReLU"))[0]


def test_shared_weights_are_one_parameter():
    share = 'param { name: "w" } param { name: "b" } inner_product_param { num_output: 3 }'
    _, module = written(
        layer("InnerProduct", share, "a", top="a") + layer("InnerProduct", share, "b", top="b")
    )
    assert module.made == [
        "self.a = nn.Linear(324, 3)",
        "self.b = nn.Linear(324, 3)",
        "self.b.weight = self.a.weight  # shared",
        "self.b.bias = self.a.bias  # shared",
    ]
    assert set(module.grads) == {"a.weight", "a.bias"}


def test_losses_are_left_out_and_labels_with_them():
    code, module = written(
        DATA.replace('"data"', '"label"') % 2
        + layer("InnerProduct", "inner_product_param { num_output: 3 }", "ip", top="ip")
        + layer("SoftmaxWithLoss", name="loss", bottom="ip label", top="loss")
    )
    assert module.left_out == ["loss (SoftmaxWithLoss)"]
    assert "def forward(self, data: torch.Tensor)" in code
    assert 'return {"ip": ip}' in code


@pytest.mark.parametrize(
    ("layers", "message"),
    [
        (layer("SPP", "spp_param { pyramid_height: 2 }"), r'layer "x" \(SPP\): has no form'),
        (layer("Pooling", POOL % ("MAX", ""), top="y mask"), "with one top"),
        (layer("Dropout", "dropout_param { sample_weights_test: true }"), "in TEST too"),
        (layer("ArgMax"), "has no form in PyTorch here but with an axis"),
        (layer("ArgMax", "argmax_param { axis: 1 top_k: 2 }"), "for the best alone"),
        (layer("ArgMax", "argmax_param { axis: 1 out_max_val: true }"), "for the best alone"),
        (
            layer("InnerProduct", "inner_product_param { num_output: 3 transpose: true }"),
            "transpose",
        ),
    ],
)
def test_what_has_no_form_is_named(layers, message):
    with pytest.raises(NetError, match=message):
        written(layers)


@pytest.mark.parametrize(
    ("net", "name"), [("LeNet", "LeNet"), ("vgg 16-net", "Vgg16Net"), ("", "Net"), ("3d", "Net3d")]
)
def test_names_of_classes(net, name):
    assert class_name(net) == name

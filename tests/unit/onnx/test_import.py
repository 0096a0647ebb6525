"""ONNX models as nets: our own come back, and operators of others are read or refused by name."""

import resource
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

sys.path.insert(0, str(Path(__file__).parent))
from read_models import agrees, model_of, rand, read
from recorded import build, cases

from pycaffe_dist.errors import FileError, PcdError
from pycaffe_dist.onnx.export import export
from pycaffe_dist.onnx.writing import write_model

# Recorded nets and layers of which each operator has a layer of its own.
BACK = (
    "conv",
    "deconv",
    "ip",
    "relu",
    "prelu",
    "sigmoid",
    "tanh",
    "pool_max_0",
    "pool_ave_0",
    "lrn",
)
BACK += (
    "softmax",
    "concat",
    "slice_",
    "eltwise_sum",
    "eltwise_prod",
    "eltwise_max",
    "scale",
    "bias",
)
BACK += ("batchnorm", "flatten", "reshape", "elu", "clip", "power", "net_")


@pytest.mark.parametrize(
    "name", [n for f, n in cases() if f == "layers" and n.startswith(BACK) and "_ce" not in n]
)
def test_what_we_wrote_comes_back(tmp_path, name):
    net, _ = build("layers", name)
    made = export(net)
    with open(tmp_path / "m.onnx", "wb") as file:
        write_model(made, file)
    back, model = read(tmp_path / "m.onnx")
    agrees(tmp_path / "m.onnx", back, model)


def test_layers_that_map_one_to_one_have_the_same_text(tmp_path):
    from test_export import CONV, INPUT, PRODUCT, RELU
    from test_export import build as made_of

    pool = """layer { name: "p" type: "Pooling" bottom: "c" top: "p"
      pooling_param { pool: MAX kernel_size: 2 stride: 2 round_mode: FLOOR } }"""
    net = made_of(INPUT, CONV, RELU, pool, PRODUCT)
    with open(tmp_path / "m.onnx", "wb") as file:
        write_model(export(net), file)
    back, _ = read(tmp_path / "m.onnx")
    for ours, theirs in zip(net.net_param.layer, back.net_param.layer, strict=True):
        assert (ours.name, ours.type, ours.bottom, ours.top) == (
            *(theirs.name, theirs.type, theirs.bottom, theirs.top),
        )
    ours, theirs = net.layers[1].layer_param, back.layers[1].layer_param
    ours.convolution_param.ClearField("weight_filler")
    ours.convolution_param.ClearField("bias_filler")
    theirs.convolution_param.ClearField("group")
    theirs.convolution_param.ClearField("bias_term")
    assert ours.convolution_param == theirs.convolution_param


# -- models of others ------------------------------------------------------------------------------


node = helper.make_node
IMAGE = {"x": (2, 4, 9, 8)}
READ = {
    "a value joined with nothing, then changed": (
        [
            node("Sigmoid", ["x"], ["s"]),
            node("Concat", ["s"], ["one"], axis=1),
            node("Mul", ["one", "w"], ["m"]),
            node("Relu", ["m"], ["r"]),
            node("Concat", ["s", "r"], ["y"], axis=1),
        ],
        {"w": rand(4, 1, 1)},
    ),
    "asymmetric padding": (
        [node("Conv", ["x", "w"], ["y"], pads=[0, 1, 1, 0])],
        {"w": rand(3, 4, 3, 3)},
    ),
    "same upper": (
        [node("Conv", ["x", "w"], ["y"], auto_pad="SAME_UPPER", strides=[2, 2])],
        {"w": rand(3, 4, 3, 3)},
    ),
    "groups, dilations": (
        [node("Conv", ["x", "w", "b"], ["y"], group=2, dilations=[2, 1], pads=[2, 1, 2, 1])],
        {"w": rand(6, 2, 3, 3), "b": rand(6)},
    ),
    "transposed": (
        [node("ConvTranspose", ["x", "w"], ["y"], strides=[2, 2], pads=[1, 1, 1, 1], group=2)],
        {"w": rand(4, 3, 4, 4)},
    ),
    "floor": ([node("MaxPool", ["x"], ["y"], kernel_shape=[2, 2], strides=[2, 2])], {}),
    "ceil": (
        [
            node(
                "MaxPool",
                ["x"],
                ["y"],
                kernel_shape=[3, 3],
                strides=[2, 2],
                ceil_mode=1,
                pads=[1, 1, 1, 1],
            )
        ],
        {},
    ),
    "one-sided pool": (
        [node("MaxPool", ["x"], ["y"], kernel_shape=[3, 3], strides=[2, 2], pads=[0, 0, 1, 1])],
        {},
    ),
    "mean without padding": (
        [node("AveragePool", ["x"], ["y"], kernel_shape=[3, 3], pads=[1, 1, 1, 1])],
        {},
    ),
    "mean with padding": (
        [
            node(
                "AveragePool",
                ["x"],
                ["y"],
                kernel_shape=[3, 2],
                strides=[2, 1],
                pads=[1, 0, 1, 0],
                count_include_pad=1,
            )
        ],
        {},
    ),
    "global mean, flat": (
        [node("GlobalAveragePool", ["x"], ["g"]), node("Flatten", ["g"], ["y"])],
        {},
    ),
    "mean over pixels": ([node("ReduceMean", ["x"], ["y"], axes=[2, 3], keepdims=0)], {}),
    "norm": (
        [node("BatchNormalization", ["x", "g", "b", "m", "v"], ["y"])],
        {"g": rand(4), "b": rand(4), "m": rand(4), "v": rand(4) ** 2},
    ),
    "relu6": ([node("Clip", ["x", "lo", "hi"], ["y"])], {"lo": np.float32(0), "hi": np.float32(6)}),
    "clip above": ([node("Clip", ["x", "", "hi"], ["y"])], {"hi": np.float32(0.5)}),
    "swish": ([node("Sigmoid", ["x"], ["s"]), node("Mul", ["x", "s"], ["y"])], {}),
    "squeeze and excite": (
        [node("GlobalAveragePool", ["x"], ["g"]), node("Mul", ["x", "g"], ["y"])],
        {},
    ),
    "difference of a mean": (
        [node("GlobalAveragePool", ["x"], ["g"]), node("Sub", ["x", "g"], ["y"])],
        {},
    ),
    "quotient": ([node("Exp", ["x"], ["e"]), node("Div", ["x", "e"], ["y"])], {}),
    "constants": (
        [
            node("Mul", ["x", "a"], ["t"]),
            node("Add", ["t", "b"], ["u"]),
            node("Sub", ["c", "u"], ["y"]),
        ],
        {"a": rand(4, 1, 1), "b": np.float32(2), "c": np.float32(1)},
    ),
    "residual": (
        [
            node("Conv", ["x", "w"], ["c"]),
            node("Add", ["c", "x"], ["s"]),
            node("Relu", ["s"], ["y"]),
        ],
        {"w": rand(4, 4, 1, 1)},
    ),
    "shuffle": (
        [
            node("Reshape", ["x", "a"], ["r"]),
            node("Transpose", ["r"], ["t"], perm=[0, 2, 1, 3, 4]),
            node("Reshape", ["t", "b"], ["y"]),
        ],
        {"a": np.array([0, 2, 2, 9, 8]), "b": np.array([0, -1, 9, 8])},
    ),
    "computed shape": (
        [
            node("Shape", ["x"], ["s"]),
            node("Gather", ["s", "i"], ["n"]),
            node("Unsqueeze", ["n", "z"], ["u"]),
            node("Concat", ["u", "m"], ["d"], axis=0),
            node("Reshape", ["x", "d"], ["y"]),
        ],
        {"i": np.array(0), "z": np.array([0]), "m": np.array([-1])},
    ),
    "split": (
        [node("Split", ["x", "n"], ["a", "b"], axis=1), node("Concat", ["b", "a"], ["y"], axis=1)],
        {"n": np.array([1, 3])},
    ),
    "split, one unread": ([node("Split", ["x", "n"], ["a", "y"], axis=1)], {"n": np.array([1, 3])}),
    "slice backwards, not to the start": (
        [node("Slice", ["x", "b", "e", "a", "s"], ["y"])],
        {
            "b": np.array([7, -1]),
            "e": np.array([2, -6]),
            "a": np.array([2, 3]),
            "s": np.array([-2, -1]),
        },
    ),
    "slice": (
        [node("Slice", ["x", "b", "e", "a", "s"], ["y"])],
        {
            "b": np.array([1, 6]),
            "e": np.array([4, -100]),
            "a": np.array([1, 3]),
            "s": np.array([2, -1]),
        },
    ),
    "gather": ([node("Gather", ["x", "i"], ["y"], axis=1)], {"i": np.array([2, 0, -1])}),
    "product of 3 axes": (
        [node("Reshape", ["x", "a"], ["r"]), node("MatMul", ["r", "w"], ["y"])],
        {"a": np.array([2, 9, 32]), "w": rand(32, 5)},
    ),
    "gemm": (
        [
            node("Flatten", ["x"], ["f"]),
            node("Gemm", ["f", "w", "b"], ["y"], alpha=0.5, beta=2.0, transB=1),
        ],
        {"w": rand(3, 288), "b": rand(3)},
    ),
    "old softmax": ([node("Softmax", ["x"], ["y"], axis=1)], {}),
    "nearest": (
        [
            node(
                "Resize",
                ["x", "", "s"],
                ["y"],
                mode="nearest",
                coordinate_transformation_mode="asymmetric",
                nearest_mode="floor",
            )
        ],
        {"s": np.array([1, 1, 2, 2], np.float32)},
    ),
    "bilinear": (
        [node("Resize", ["x", "", "s"], ["y"], mode="linear")],
        {"s": np.array([1, 1, 2, 2], np.float32)},
    ),
    "aligned": (
        [
            node(
                "Resize",
                ["x", "", "", "s"],
                ["y"],
                mode="linear",
                coordinate_transformation_mode="align_corners",
            )
        ],
        {"s": np.array([2, 4, 12, 5])},
    ),
    "pad": (
        [node("Pad", ["x", "p", "v"], ["y"])],
        {"p": np.array([0, 0, 1, 2, 0, 1, 0, 0]), "v": np.float32(3)},
    ),
    "hard swish": ([node("HardSwish", ["x"], ["y"])], {}),
    "prelu": ([node("PRelu", ["x", "a"], ["y"])], {"a": rand(4, 1, 1)}),
}


@pytest.mark.parametrize("case", READ)
def test_operators_are_read(tmp_path, case):
    nodes, constants = READ[case]
    path = model_of(tmp_path, nodes, IMAGE, constants, opset=11 if case == "old softmax" else 17)
    net, model = read(path)
    agrees(path, net, model)


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
def test_lstm_is_read(tmp_path, direction):
    ways = 2 if direction == "bidirectional" else 1
    constants = {"w": rand(ways, 12, 5), "r": rand(ways, 12, 3), "b": rand(ways, 24)}
    nodes = [node("LSTM", ["x", "w", "r", "b"], ["y"], hidden_size=3, direction=direction)]
    path = model_of(tmp_path, nodes, {"x": (4, 2, 5)}, constants)
    net, model = read(path)
    agrees(path, net, model)


@pytest.mark.parametrize(
    ("inputs", "outputs", "attributes", "words"),
    [
        ([], ["h", "", "y"], {}, "has a last cell that is read"),
        ([], ["y"], {"layout": 1}, "has layout 1"),
        ([], ["y"], {"input_forget": 1}, "has input_forget"),
        ([], ["y"], {"clip": 1.0}, "has clip"),
        ([], ["y"], {"activations": ["Sigmoid", "Relu", "Tanh"]}, "has the activations .*Relu"),
        (["lengths"], ["y"], {}, "has sequence lengths"),
        (["", "ones"], ["y"], {}, "has a first state"),
        (["", "", "ones"], ["y"], {}, "has a first cell"),
        (["", "", "x"], ["y"], {}, "has a first cell"),
        (["", "", "", "peepholes"], ["y"], {}, "has peepholes"),
    ],
)
def test_an_lstm_that_recurrent_layers_cannot_be_is_refused(
    tmp_path, inputs, outputs, attributes, words
):
    constants = {"w": rand(1, 12, 5), "r": rand(1, 12, 3), "b": rand(1, 24)}
    constants |= {"lengths": np.array([4, 3], np.int32), "ones": np.ones((1, 2, 3), np.float32)}
    constants |= {"peepholes": np.zeros((1, 9), np.float32)}
    lstm = node("LSTM", ["x", "w", "r", "b", *inputs], outputs, hidden_size=3, **attributes)
    path = model_of(tmp_path, [lstm], {"x": (4, 2, 5)}, constants)
    with pytest.raises(PcdError, match=words):
        read(path)


def test_a_first_state_of_zeros_is_that_of_recurrent_layers(tmp_path):
    zeros = np.zeros((1, 2, 3), np.float32)
    constants = {"w": rand(1, 12, 5), "r": rand(1, 12, 3), "b": rand(1, 24), "0": zeros}
    lstm = node("LSTM", ["x", "w", "r", "b", "", "0", "0"], ["y"], hidden_size=3)
    path = model_of(tmp_path, [lstm], {"x": (4, 2, 5)}, constants)
    agrees(path, *read(path))


@pytest.mark.parametrize(
    ("nodes", "words"),
    [
        (
            [node("Einsum", ["x"], ["y"], name="odd", equation="abcd->ab")],
            r'"odd" \(Einsum\) has no form in Caffe; its inputs: x \(2, 4, 9, 8\)',
        ),
        ([node("MaxPool", ["x"], ["y"], kernel_shape=[2, 2], dilations=[2, 2])], "has dilations"),
        ([node("MaxPool", ["x"], ["y"], kernel_shape=[2])], "has 1 spatial axes; Pooling has 2"),
        ([node("Conv", ["x", "x"], ["y"])], "needs its input 1 to be a constant"),
        ([node("MaxPool", ["x"], ["y"])], "is not as it should be"),
        ([node("DepthToSpace", ["x"], ["y"], blocksize=0, mode="CRD")], "is not as it should be"),
    ],
)
def test_what_has_no_form_is_named_with_its_inputs(tmp_path, nodes, words):
    path = model_of(tmp_path, nodes, IMAGE, {})
    with pytest.raises(PcdError, match=words):
        read(path)


# -- strangers' files ------------------------------------------------------------------------------


def test_open_sizes_are_given_or_asked_for(tmp_path):
    path = model_of(tmp_path, [node("Relu", ["x"], ["y"])], {"x": ("N", 3, "H", 8)}, {})
    with pytest.raises(
        FileError, match=r'axis 2 of the input "x" may have any size.*--shape x=1,3,224,8'
    ):
        read(path)
    net, _ = read(path, x=(5, 3, 6, 8))
    assert net.blobs[0].shape == (5, 3, 6, 8)


@pytest.mark.parametrize("place", ["/etc/passwd", "../secret", "link"])
def test_weights_outside_of_the_models_folder_are_not_read(tmp_path, place):
    secret = tmp_path / "secret"
    secret.write_bytes(b"\0" * 400)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "link").symlink_to(secret)
    path = model_of(tmp_path / "in", [node("Mul", ["x", "w"], ["y"])], IMAGE, {"w": rand(4, 1, 1)})
    model = onnx.load(path)
    tensor = model.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=place)
    path.write_bytes(model.SerializeToString())
    with pytest.raises(FileError, match=r"folder|link"):
        read(path)


def test_weights_beside_the_model_are_read(tmp_path):
    values = rand(4, 1, 1)
    path = model_of(tmp_path, [node("Mul", ["x", "w"], ["y"])], IMAGE, {"w": values})
    onnx.save(onnx.load(path), path, save_as_external_data=True, location="w.bin", size_threshold=0)
    net, model = read(path)
    agrees(path, net, model)
    (tmp_path / "w.bin").write_bytes(b"\0\0")
    with pytest.raises(FileError, match="ends within the weights"):
        read(path)


def test_a_constant_that_would_be_huge_is_refused(tmp_path):
    nodes = [node("ConstantOfShape", ["s"], ["c"]), node("Mul", ["x", "c"], ["y"])]
    path = model_of(tmp_path, nodes, IMAGE, {"s": np.array([1 << 20, 1 << 20])})
    with pytest.raises(FileError, match="too many constants"):
        read(path)


def test_a_product_of_constants_is_computed_if_it_is_no_long_work(tmp_path):
    nodes = [node("MatMul", ["a", "b"], ["c"]), node("Add", ["x", "c"], ["y"])]
    first = {"a": rand(1, 512), "b": rand(512, 300)}
    path = model_of(tmp_path, nodes, {"x": (2, 300)}, first)
    agrees(path, *read(path), limit=1e-4)
    large = {name: np.zeros((1500, 1500), np.float32) for name in "ab"}
    path = model_of(tmp_path, nodes, {"x": (1500, 1500)}, large)
    with pytest.raises(FileError, match="more is computed from constants than the file holds"):
        read(path)


def test_memory_for_weights_that_a_shape_merely_asks_for_is_not_taken(tmp_path):
    nodes = [node("Flatten", ["x"], ["f"]), node("Gemm", ["f", "w"], ["y"], transB=1)]
    path = model_of(tmp_path, nodes, {"x": (1, 1 << 25)}, {"w": rand(5, 144)})
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(
        PcdError, match=r"takes \(5, 33554432\) parameters, the model has \(5, 144\)"
    ):
        read(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1 << 18, "256 MB"

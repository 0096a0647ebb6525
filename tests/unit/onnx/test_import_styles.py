"""Models in the style of other tools: what they compute is what ONNX Runtime computes."""

import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(Path(__file__).parent))
from read_models import agrees, model_of, rand, read
from recorded import OLD_RUNTIME

from pycaffe_dist.errors import FileError, NetError, PcdError
from pycaffe_dist.onnx.check import run_onnx
from pycaffe_dist.onnx.importing import constants as computed
from pycaffe_dist.tools import import_onnx
from pycaffe_dist.tools.import_onnx import import_model

node = helper.make_node
IMAGE = {"x": (2, 4, 9, 8)}
ZERO, SIX = np.float32(0), np.float32(6)
FILTERS = rand(4, 3, 3, 3)
CUT = {"strides": [2, 2], "pads": [1, 1, 1, 1]}
READ = {
    "channels last, padding behind, ReLU6": (
        [
            node("Transpose", ["x"], ["t"], perm=[0, 3, 1, 2]),
            node("Conv", ["t", "w", "b"], ["c"], pads=[0, 0, 1, 1], strides=[2, 2]),
            node("Clip", ["c", "lo", "hi"], ["r"]),
            node("Transpose", ["r"], ["y"], perm=[0, 2, 3, 1]),
        ],
        {"w": rand(6, 8, 3, 3), "b": rand(6), "lo": ZERO, "hi": SIX},
    ),
    "bounds by Max and Min": (
        [node("Max", ["x", "lo"], ["m"]), node("Min", ["hi", "m"], ["y"])],
        {"lo": ZERO, "hi": np.ones(1, np.float32)},
    ),
    "hard swish by hand": (
        [
            node("Add", ["x", "three"], ["a"]),
            node("Clip", ["a", "lo", "hi"], ["c"]),
            node("Mul", ["x", "c"], ["m"]),
            node("Div", ["m", "hi"], ["y"]),
        ],
        {"lo": ZERO, "hi": SIX, "three": np.float32(3)},
    ),
    "the least of two": ([node("Abs", ["x"], ["a"]), node("Min", ["x", "a"], ["y"])], {}),
    "the mean of two": ([node("Abs", ["x"], ["a"]), node("Mean", ["x", "a"], ["y"])], {}),
    "a mean over channels times each": (
        [
            node("ReduceMean", ["x"], ["m"], axes=[1]),
            node("Sigmoid", ["m"], ["s"]),
            node("Mul", ["x", "s"], ["y"]),
        ],
        {},
    ),
    "each grows to the other": (
        [
            node("ReduceMean", ["x"], ["m"], axes=[2, 3]),
            node("ReduceMax", ["x"], ["n"], axes=[1]),
            node("Add", ["m", "n"], ["y"]),
        ],
        {},
    ),
    "a small one less a large one": (
        [node("GlobalAveragePool", ["x"], ["g"]), node("Sub", ["g", "x"], ["y"])],
        {},
    ),
    "a small one by a large one": (
        [
            node("GlobalAveragePool", ["x"], ["g"]),
            node("Exp", ["x"], ["e"]),
            node("Div", ["g", "e"], ["y"]),
        ],
        {},
    ),
    "a constant with ones between": ([node("Mul", ["x", "w"], ["y"])], {"w": rand(4, 1, 8)}),
    "a constant that is larger": (
        [node("GlobalMaxPool", ["x"], ["g"]), node("Add", ["g", "w"], ["y"])],
        {"w": rand(1, 4, 3, 5)},
    ),
    "a constant of more axes": (
        [node("ReduceMean", ["x"], ["m"], axes=[2, 3], keepdims=0), node("Mul", ["m", "w"], ["y"])],
        {"w": rand(1, 1, 1)},
    ),
    "a vector less x": ([node("Sub", ["w", "x"], ["y"])], {"w": rand(4, 1, 1)}),
    "a vector by x": (
        [node("Exp", ["x"], ["e"]), node("Div", ["w", "e"], ["y"])],
        {"w": rand(4, 1, 1)},
    ),
    "copies": (
        [
            node("GlobalAveragePool", ["x"], ["g"]),
            node("Expand", ["g", "e"], ["h"]),
            node("Tile", ["h", "t"], ["y"]),
        ],
        {"e": np.array([2, 4, 3, 1]), "t": np.array([1, 2, 1, 3])},
    ),
    "pixel shuffle": ([node("DepthToSpace", ["x"], ["y"], blocksize=2, mode="CRD")], {}),
    "transposed, padding of the output": (
        [node("ConvTranspose", ["x", "w", "b"], ["y"], output_padding=[1, 1], **CUT)],
        {"w": FILTERS, "b": rand(3)},
    ),
    "transposed, cut at one side": (
        [node("ConvTranspose", ["x", "w"], ["y"], strides=[2, 2], pads=[0, 1, 1, 0])],
        {"w": FILTERS},
    ),
    "transposed, same upper": (
        [node("ConvTranspose", ["x", "w"], ["y"], strides=[2, 2], auto_pad="SAME_UPPER")],
        {"w": FILTERS},
    ),
    "transposed, same lower": (
        [node("ConvTranspose", ["x", "w"], ["y"], strides=[2, 2], auto_pad="SAME_LOWER")],
        {"w": FILTERS},
    ),
    "transposed, to a size": (
        [node("ConvTranspose", ["x", "w"], ["y"], strides=[2, 2], output_shape=[18, 16])],
        {"w": FILTERS},
    ),
    "padding that mirrors": (
        [node("Pad", ["x", "p"], ["y"], mode="reflect")],
        {"p": np.array([0, 0, 1, 2, 0, 0, 1, 0])},
    ),
    "padding that repeats": (
        [node("Pad", ["x", "p"], ["y"], mode="edge")],
        {"p": np.array([0, 0, 1, 2, 0, 0, 1, 0])},
    ),
    "padding that cuts off": (
        [node("Pad", ["x", "p", "v"], ["y"])],
        {"p": np.array([0, 0, -1, 2, 0, 0, 1, -3]), "v": np.float32(2)},
    ),
    "a product with a matrix in one more axis": (
        [node("ReduceMean", ["x"], ["m"], axes=[1], keepdims=0), node("MatMul", ["m", "w"], ["y"])],
        {"w": rand(1, 8, 5)},
    ),
    "a constant in the graph": (
        [
            node("Constant", [], ["c"], value=numpy_helper.from_array(rand(4, 1, 1))),
            node("Mul", ["x", "c"], ["y"]),
        ],
        {},
    ),
    "weights in half precision": (
        [node("Cast", ["w"], ["f"], to=1), node("Conv", ["x", "f"], ["y"])],
        {"w": rand(3, 4, 3, 3).astype(np.float16)},
    ),
}


@pytest.mark.parametrize("case", READ)
def test_operators_of_other_tools(tmp_path, case):
    nodes, constants = READ[case]
    path = model_of(tmp_path, nodes, IMAGE, constants)
    agrees(path, *read(path))


# Before axes and such were inputs.
OLD = {
    "padding": (9, [node("Pad", ["x"], ["y"], mode="reflect", pads=[0, 0, 1, 2, 0, 0, 1, 0])], {}),
    "padding of some axes": (
        18,
        [node("Pad", ["x", "p", "", "a"], ["y"])],
        {"p": np.array([1, 2, 3, 0]), "a": np.array([-1, 2])},
    ),
    "a split by an attribute": (
        11,
        [
            node("Split", ["x"], ["a", "b"], axis=1, split=[1, 3]),
            node("Concat", ["b", "a"], ["y"], axis=1),
        ],
        {},
    ),
    "a split by a number": (
        18,
        [
            node("Split", ["x"], ["a", "b"], axis=2, num_outputs=2),
            node("Concat", ["b", "a"], ["y"], axis=2),
        ],
        {},
    ),
    "no axes": (18, [node("ReduceMean", ["x"], ["y"], noop_with_empty_axes=1)], {}),
    "all axes": (18, [node("ReduceSum", ["x", "a"], ["y"])], {"a": np.array([], np.int64)}),
    "a size that is computed": (
        11,
        [
            node("Shape", ["x"], ["s"]),
            node("Slice", ["s", "two", "four"], ["hw"]),
            node("Cast", ["hw"], ["f"], to=1),
            node("Mul", ["f", "k"], ["g"]),
            node("Floor", ["g"], ["h"]),
            node("Cast", ["h"], ["n"], to=7),
            node("Slice", ["s", "zero", "two"], ["nc"]),
            node("Concat", ["nc", "n"], ["z"], axis=0),
            node("Resize", ["x", "e", "e", "z"], ["r"], mode="linear"),
            node("Shape", ["r"], ["t"]),
            node("Gather", ["t", "zero"], ["u"]),
            node("Concat", ["u", "all"], ["v"], axis=0),
            node("Reshape", ["r", "v"], ["y"]),
        ],
        {
            "zero": np.array([0]),
            "two": np.array([2]),
            "four": np.array([4]),
            "all": np.array([-1]),
            "k": np.array([2, 1.5], np.float32),
            "e": np.array([], np.float32),
        },
    ),
}


@pytest.mark.parametrize("case", OLD)
def test_operators_of_other_opsets(tmp_path, case):
    if OLD_RUNTIME and case == "no axes":
        pytest.skip(f"{OLD_RUNTIME} cannot compute it")
    opset, nodes, constants = OLD[case]
    path = model_of(tmp_path, nodes, IMAGE, constants, opset=opset)
    agrees(path, *read(path))


def test_constants_may_be_inputs_as_well(tmp_path):
    nodes, constants = [node("Conv", ["x", "w"], ["y"])], {"w": rand(3, 4, 3, 3)}
    path = model_of(tmp_path, nodes, {"x": ("N", 4, 9, 8)}, constants, opset=8, as_inputs=True)
    net, model = read(path)
    assert model.inputs == ["x"]
    agrees(path, net, model)


# -- sizes -----------------------------------------------------------------------------------------

WAYS = ("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel", "half_pixel_symmetric")
ROUNDINGS = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
SCALES = ([1, 1, 2, 2], [1, 1, 1.5, 2.3], [1, 1, 0.5, 0.4])


@pytest.mark.parametrize("way", [*WAYS, "tf_half_pixel_for_nn"])
@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_the_nearest_pixels_are_picked_whichever_they_are(tmp_path, way, rounding):
    old = way == "tf_half_pixel_for_nn"
    how = {"coordinate_transformation_mode": way, "nearest_mode": rounding, "mode": "nearest"}
    constants = {f"s{i}": np.array(s, np.float32) for i, s in enumerate(SCALES)} | {
        "e": np.array([], np.float32)
    }
    nodes = [node("Resize", ["x", "e", f"s{i}"], [f"y{i}"], **how) for i in range(3)]
    outputs = ("y0", "y1", "y2")
    path = model_of(tmp_path, nodes, IMAGE, constants, outputs, opset=11 if old else 19)
    agrees(path, *read(path))


@pytest.mark.parametrize("mode", ["nearest", "linear"])
@pytest.mark.parametrize("scales", SCALES[:2], ids=str)
def test_images_grew_by_another_operator_once(tmp_path, mode, scales):
    given = {"s": np.array(scales, np.float32)}
    olds = [
        (7, [node("Upsample", ["x"], ["y"], mode=mode, scales=[float(s) for s in scales])], {}),
        (9, [node("Upsample", ["x", "s"], ["y"], mode=mode)], given),
        (10, [node("Resize", ["x", "s"], ["y"], mode=mode)], given),
    ]
    for opset, nodes, constants in olds:
        path = model_of(tmp_path, nodes, IMAGE, constants, opset=opset)
        if mode == "linear" and scales != SCALES[0]:
            with pytest.raises(NetError, match=r"scales that are rounded: 9 \* 1.5 to 13"):
                read(path)
        else:
            agrees(path, *read(path))


# -- sequences -------------------------------------------------------------------------------------


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
def test_the_last_steps_of_an_lstm(tmp_path, direction):
    ways = 2 if direction == "bidirectional" else 1
    constants = {"w": rand(ways, 12, 5), "r": rand(ways, 12, 3), "b": rand(ways, 24)}
    for outputs in (["", "y"], ["z", "y"]):
        lstm = node("LSTM", ["x", "w", "r", "b"], outputs, hidden_size=3, direction=direction)
        names = tuple(filter(None, outputs))
        path = model_of(tmp_path, [lstm], {"x": (4, 2, 5)}, constants, names)
        agrees(path, *read(path))


def test_words_become_vectors(tmp_path):
    nodes = [node("Gather", ["w", "x"], ["g"]), node("ReduceMean", ["g"], ["y"], axes=[1])]
    types = {"x": TensorProto.INT64}
    path = model_of(tmp_path, nodes, {"x": (2, 3)}, {"w": rand(7, 5)}, types=types)
    net, _ = read(path)
    assert [layer.type for layer in net.layers][:2] == ["Input", "Embed"]
    compared(path, tmp_path, "y")


# -- types of numbers ------------------------------------------------------------------------------


def compared(path, folder, *outputs):
    """Import with the comparison, which takes the model's own types."""
    found = import_model(str(path), str(folder / "n.prototxt"), str(folder / "n.caffemodel"), {})
    assert set(found.differences) == set(outputs)
    return found.differences


@pytest.fixture(autouse=True)
def here(monkeypatch):
    """ONNX Runtime in this process, which saves starting another."""
    monkeypatch.setattr(import_onnx, "run_apart", lambda path, fed: run_onnx(Path(path), fed, 1))


def test_images_of_bytes_and_models_in_half_precision_are_compared(tmp_path):
    nodes = [node("Cast", ["x"], ["f"], to=1), node("Mul", ["f", "k"], ["y"])]
    types = {"x": TensorProto.UINT8}
    path = model_of(tmp_path, nodes, IMAGE, {"k": np.float32(1 / 255)}, types=types)
    assert compared(path, tmp_path, "y")["y"] < 1e-6
    types = {"x": TensorProto.FLOAT16, "y": TensorProto.FLOAT16}
    weights = {"w": rand(3, 4, 3, 3).astype(np.float16)}
    path = model_of(tmp_path, [node("Conv", ["x", "w"], ["y"])], IMAGE, weights, types=types)
    assert 1e-6 < compared(path, tmp_path, "y")["y"] < 1e-3


def test_the_largest_places_drop_their_axis(tmp_path):
    types = {"y": TensorProto.INT64}
    arg = [node("ArgMax", ["x"], ["y"], axis=-3, keepdims=0)]
    path = model_of(tmp_path, arg, IMAGE, {}, types=types)
    agrees(path, *read(path))
    # Of equal values Caffe takes the last, which is as good.
    relu = [node("Relu", ["x"], ["s"]), node("ArgMax", ["s"], ["y"], axis=1, keepdims=0)]
    path = model_of(tmp_path, relu, IMAGE, {}, types=types)
    assert compared(path, tmp_path, "y") == {"y": 0}


# -- what is refused by its name -------------------------------------------------------------------

NORM = {"g": rand(4), "b": rand(4), "m": rand(4), "v": rand(4) ** 2}
REFUSED = {
    "rounding": (
        17,
        [node("Cast", ["x"], ["i"], to=7), node("Cast", ["i"], ["y"], to=1)],
        {},
        r'"Cast_0" \(Cast\) rounds float32 to int64',
    ),
    "a norm that learns": (
        15,
        [node("BatchNormalization", ["x", *NORM], ["y", "p", "q"], training_mode=1)],
        NORM,
        "is in training mode",
    ),
    "a norm that learned once": (
        9,
        [node("BatchNormalization", ["x", *NORM], ["y", "p", "q", "r", "s"])],
        NORM,
        "is in training mode",
    ),
    "a norm of pixels": (
        7,
        [node("BatchNormalization", ["x", *NORM], ["y"], spatial=0)],
        {name: np.ones((4, 9, 8), np.float32) for name in NORM},
        r"has values for each pixel \(spatial 0\)",
    ),
    "a dropout that draws": (
        13,
        [node("Dropout", ["x", "r", "t"], ["y"])],
        {"r": np.float32(0.3), "t": np.array(True)},
        "is in training mode",
    ),
    "a bias for each row": (
        17,
        [node("Flatten", ["x"], ["f"]), node("Gemm", ["f", "w", "b"], ["y"])],
        {"w": rand(288, 3), "b": rand(2, 1)},
        r"has a bias \(2, 1\) that is not one for each of its 3 outputs",
    ),
    "several matrices for some of the others": (
        17,
        [node("MatMul", ["w", "x"], ["y"])],
        {"w": rand(4, 5, 9)},
        "has a constant that is neither one matrix nor one for each of the other's",
    ),
    "windows that do not reach": (
        17,
        [node("ConvTranspose", ["x", "w"], ["y"], strides=[2, 2], output_padding=[1, 1])],
        {"w": FILTERS},
        "makes more than its windows reach",
    ),
    "cubic": (
        17,
        [node("Resize", ["x", "", "s"], ["y"], mode="cubic")],
        {"s": np.array([1, 1, 2, 2], np.float32)},
        "has the mode cubic with half_pixel",
    ),
    "smoothed": (
        18,
        [node("Resize", ["x", "", "s"], ["y"], mode="linear", antialias=1)],
        {"s": np.array([1, 1, 0.5, 0.5], np.float32)},
        "has antialias",
    ),
    "padding around": (
        19,
        [node("Pad", ["x", "p"], ["y"], mode="wrap")],
        {"p": np.array([0, 0, 1, 2, 0, 0, 1, 0])},
        "has the mode wrap",
    ),
    "bounds that are computed": (
        17,
        [node("ReduceMax", ["x"], ["m"], keepdims=0), node("Clip", ["x", "", "m"], ["y"])],
        {},
        "has bounds that are computed",
    ),
    "a choice": (
        17,
        [
            node(
                "If",
                ["c"],
                ["y"],
                name="either",
                then_branch=helper.make_graph([node("Relu", ["x"], ["q"])], "t", [], []),
                else_branch=helper.make_graph([node("Neg", ["x"], ["q"])], "e", [], []),
            )
        ],
        {"c": np.array(True)},
        r'"either" \(If\) reads constants only, and is not computed beforehand',
    ),
    "chance": (
        17,
        [node("RandomNormal", [], ["r"], shape=[4, 1, 1]), node("Mul", ["x", "r"], ["y"])],
        {},
        r'"r" \(RandomNormal\) reads constants only, and is not computed beforehand',
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_would_be_something_else_is_refused(tmp_path, case):
    opset, nodes, constants, words = REFUSED[case]
    path = model_of(tmp_path, nodes, IMAGE, constants, opset=opset)
    with pytest.raises(PcdError, match=words):
        read(path)


def test_whole_numbers_are_not_divided(tmp_path):
    nodes = [node("Div", ["x", "w"], ["y"])]
    types = {"x": TensorProto.INT64, "y": TensorProto.INT64}
    path = model_of(tmp_path, nodes, {"x": (2, 3)}, {"w": np.array(2)}, types=types)
    with pytest.raises(NetError, match="divides numbers of the type int64, which drops fractions"):
        read(path)


# -- strangers' files ------------------------------------------------------------------------------


def external(tensor, place, **about):
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in ({"location": place} | about).items():
        tensor.external_data.add(key=key, value=str(value))
    return tensor


def test_values_of_operators_are_not_read_from_other_files(tmp_path, monkeypatch):
    """The library would look for them in the working directory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "beside").write_bytes(rand(4, 1, 1).tobytes())
    value = external(numpy_helper.from_array(rand(4, 1, 1), "v"), "beside")
    inner = helper.make_graph([node("Constant", [], ["q"], value=value)], "t", [], [])
    for made in (
        node("Constant", [], ["c"], value=value),
        node("If", ["x"], ["c"], then_branch=inner, else_branch=inner),
    ):
        path = model_of(tmp_path, [made, node("Mul", ["x", "c"], ["y"])], IMAGE, {})
        with pytest.raises(FileError, match="only initializers may have them there"):
            read(path)


def test_a_small_file_does_not_become_many_weights(tmp_path):
    (tmp_path / "w.bin").write_bytes(bytes(4000))
    path = model_of(tmp_path, [node("Mul", ["x", "w0"], ["y"])], IMAGE, {"w0": rand(1000)})
    model = onnx.load(path)
    for i in range(9):
        tensor = external(numpy_helper.from_array(rand(1000), f"w{i}"), "w.bin")
        (model.graph.initializer[0] if not i else model.graph.initializer.add()).CopyFrom(tensor)
    path.write_bytes(model.SerializeToString())
    with pytest.raises(FileError, match=r"many weights are in one place of .*w\.bin"):
        read(path)


def test_a_negative_size_does_not_stand_for_the_whole_file(tmp_path):
    (tmp_path / "w.bin").write_bytes(bytes(4000))
    path = model_of(tmp_path, [node("Mul", ["x", "w"], ["y"])], IMAGE, {"w": rand(4, 1, 1)})
    model = onnx.load(path)
    external(model.graph.initializer[0], "w.bin").dims[:] = [-1, 1, 1]
    path.write_bytes(model.SerializeToString())
    with pytest.raises(FileError, match=r'"w" have the shape \(-1, 1, 1\)'):
        read(path)


def test_constants_of_constants_are_not_many(tmp_path, monkeypatch):
    double = [node("Transpose", [f"c{i}"], [f"c{i + 1}"]) for i in range(99)]
    nodes = [*double, node("Mul", ["x", "c99"], ["y"])]
    path = model_of(tmp_path, nodes, {"x": (1, 512, 512)}, {"c0": rand(1, 512, 512)})
    monkeypatch.setattr(computed, "ROOM", 1 << 20)
    with pytest.raises(FileError, match="more is computed from constants than the file holds"):
        read(path)


def test_sizes_that_onnx_believes_take_little_memory(tmp_path):
    nodes = [
        node("ConstantOfShape", ["z"], ["k"]),
        node("Expand", ["k", "s"], ["e"]),
        node("Mul", ["x", "e"], ["m"]),
        node("Add", ["m", "k"], ["y"]),
    ]
    given = {"z": np.array([7278109983337221642]), "s": np.array([4, 9, 8])}
    path = model_of(tmp_path, nodes, {"x": (2, 4, 9, 8)}, given)
    with pytest.raises(FileError, match="inference takes too much memory"):
        read(path)


def test_what_onnx_does_not_survive_is_an_error(tmp_path):
    """Its shape inference asserts that sizes are not negative."""
    nodes = [
        node("Conv", ["x", "w"], ["c"]),
        node("Slice", ["c", "b", "e", "a", "s"], ["y"]),
    ]
    given = {"b": np.array([-1]), "e": np.array([-9]), "a": np.array([2]), "s": np.array([-1])}
    path = model_of(tmp_path, nodes, {"x": (2, 4, 2, 2)}, given | {"w": rand(3, 4, 9, 9)})
    with pytest.raises(FileError, match=r"cannot be read as an ONNX model: .*(SIGABRT|negative)"):
        read(path)

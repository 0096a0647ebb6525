import re
import sys

import numpy as np
import pytest

from pycaffe_dist import registry
from pycaffe_dist.errors import FileError, PcdError, PrototxtError
from pycaffe_dist.layer import Layer
from pycaffe_dist.loading import save_weights, save_weights_hdf5
from pycaffe_dist.net import Net
from pycaffe_dist.proto.blobs import BlobArray
from pycaffe_dist.proto.caffe_pb2 import TEST, TRAIN, NetState
from pycaffe_dist.proto.nets import read_net
from pycaffe_dist.proto.weights import State, write_state
from pycaffe_dist.tools import check
from pycaffe_dist.tools.check import check_file
from pycaffe_dist.tools.model import dry_net

NET = """name: "small"
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 4 dim: 3 } } }
layer { name: "ip" type: "InnerProduct" bottom: "data" top: "ip" SETTINGS }
layer { name: "a" type: "ReLU" bottom: "ip" top: "a" }
layer { name: "b" type: "ReLU" bottom: "ip" top: "b" include { phase: TEST } }
""".replace("SETTINGS", "inner_product_param { num_output: 2 }")
SOLVER = 'net: "net.prototxt" base_lr: 0.1 lr_policy: "fixed" max_iter: 10 '


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(text, name="net.prototxt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
        return name

    return write


# -- nets ------------------------------------------------------------------------------------------


def test_a_net_in_both_phases(write):
    report = check_file(write(NET))
    assert (report.errors, report.warnings) == ([], [])
    assert report.facts == [
        'net "small": 4 layers in the file',
        "  TRAIN: 3 layers, 0 splits, in: data; out: a",
        "  TEST: 4 layers, 1 splits, in: data; out: a, b",
    ]
    assert list(report.tables.values()) == [["TRAIN"], ["TEST"]]
    assert all("8 parameters" in text for text in report.tables)


def test_a_table_that_is_the_same_in_both_phases_comes_once(write):
    report = check_file(write(NET.replace("include { phase: TEST }", "")))
    assert list(report.tables.values()) == [["TRAIN", "TEST"]]


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ("num_output: 0", 'nothing to fill with "constant": the shape is (0, 3)'),
        ('num_output: 2 weight_filler { type: "xaviar" }', 'did you mean "xavier"'),
        ('num_output: 2 weight_filler { type: "gaussian" std: 0 }', "std 0 must be above 0"),
        ("num_output: 2 bias_filler { sparse: 1 }", '"sparse" is for the gaussian filler'),
    ],
)
def test_parameters_that_training_could_not_fill(write, settings, problem):
    report = check_file(write(NET.replace("num_output: 2", settings)))
    (error,) = report.errors
    assert error.startswith('net.prototxt:3: layer "ip" (InnerProduct): parameter ')
    assert problem in error


class ByPhase(Layer):
    """A layer with other tops in another phase."""

    type = "ByPhase"

    def reshape(self, bottom, top):
        top[0].reshape(7 if self.phase == TEST else 5)


PLAIN = NET.replace("include { phase: TEST }", "")


@pytest.mark.parametrize(
    ("text", "sketches"),
    [(PLAIN, 1), (NET, 2), (PLAIN.replace('"ReLU"', '"ByPhase"'), 2)],
    ids=["plain", "rules", "a layer that asks"],
)
def test_a_net_that_is_the_same_in_both_phases_is_built_once(write, monkeypatch, text, sketches):
    monkeypatch.setitem(registry.LAYERS, "ByPhase", ByPhase)
    built = []
    monkeypatch.setattr(check, "dry_net", lambda *args: built.append(dry_net(*args)) or built[-1])
    report = check_file(write(text))
    assert (report.errors, len(built)) == ([], sketches)
    assert len(report.tables) == sketches
    if "ByPhase" in text:
        assert [re.search(r"ByPhase +(\d)", table)[1] for table in report.tables] == ["5", "7"]


@pytest.mark.parametrize(
    ("state", "outputs"),
    [
        (NetState(phase=TRAIN), "out: a"),
        (NetState(phase=TEST), "out: a, b"),
        (NetState(phase=TRAIN, stage=["more"]), "out: a, c"),
        (NetState(phase=TEST, level=2), "out: a, b, d"),
    ],
)
def test_a_net_in_one_state(write, state, outputs):
    more = """
    layer { name: "c" type: "ReLU" bottom: "data" top: "c" include { stage: "more" } }
    layer { name: "d" type: "ReLU" bottom: "data" top: "d" include { min_level: 2 } }"""
    report = check_file(write(NET + more), state)
    assert report.errors == []
    assert len(report.facts) == len(report.tables) == 1
    assert report.facts[0].endswith(outputs)


BAD = {
    "unknown bottom": (
        'layer { name: "x" type: "ReLU" bottom: "ipp" top: "x" }',
        'did you mean "ip"',
    ),
    "top twice": ('layer { name: "x" type: "ReLU" bottom: "ip" top: "a" }', 'top "a" is made by'),
    "unknown type": (
        'layer { name: "x" type: "RELU" bottom: "ip" top: "x" }',
        'did you mean "ReLU"',
    ),
    "of a fork": ('layer { name: "x" type: "DenseCRF" bottom: "ip" top: "x" }', "it comes from"),
    "bad shape": (
        'layer { name: "x" type: "InnerProduct" bottom: "ip" top: "x" '
        "inner_product_param { num_output: 1 axis: 9 } }",
        "axis 9",
    ),
    "bad counts": (
        'layer { name: "x" type: "ReLU" bottom: "ip" top: "x" loss_weight: [1, 2] }',
        "2 loss",
    ),
}


@pytest.mark.parametrize(("text", "problem"), BAD.values(), ids=BAD)
def test_bad_nets(write, text, problem):
    report = check_file(write(NET + text))
    assert len(report.errors) == 1  # once for both phases
    assert report.errors[0].startswith("net.prototxt:6: ")
    assert '"x"' in report.errors[0]
    assert problem in report.errors[0]


def test_all_wiring_problems_come_at_once(write):
    text = "\n".join(
        f'layer {{ name: "{n}" type: "ReLU" bottom: "q{n}" top: "{n}" }}' for n in "xyz"
    )
    report = check_file(write(NET + text))
    assert [e.split(" ")[0] for e in report.errors] == [f"net.prototxt:{i}:" for i in (6, 7, 8)]


def test_a_net_for_one_phase_is_no_error_in_the_other(write):
    text = NET.replace('type: "Input"', 'type: "Input" include { phase: TRAIN }')
    report = check_file(write(text))
    assert report.errors == []
    assert report.warnings
    assert all(w.endswith("(as a TEST net)") for w in report.warnings)
    assert 'unknown bottom "data"' in report.warnings[0]
    alone = check_file("net.prototxt", NetState(phase=TEST))
    assert alone.errors


def test_nets_chosen_by_stage_say_so(write):
    text = NET.replace(
        'type: "Input"', 'type: "Input" include { stage: "val" } include { stage: "t" }'
    )
    report = check_file(write(text))
    assert report.errors
    assert "--stage t --stage val" in report.warnings[-1]


def test_layers_of_one_name(write):
    report = check_file(write(NET.replace('name: "b"', 'name: "a"')))
    assert report.errors == []
    assert report.warnings == [
        'net.prototxt: 2 layers are called "a" in phase TEST; '
        "weights are kept by name, so that only one of them can be loaded"
    ]


@pytest.mark.parametrize("text", ['name: "x"', "# nothing\n"])
def test_nothing_in_it(write, text):
    report = check_file(write(text))
    assert any("no layer is left in phase" in e for e in report.errors)


def test_both_kinds_of_rules(write):
    report = check_file(write(NET.replace("include {", "include { } exclude {")))
    assert len(report.errors) == 1
    assert 'layer "b": give either include rules or exclude rules' in report.errors[0]


def test_nothing_is_filled_and_no_memory_taken(write):
    huge = NET.replace("dim: 4 dim: 3", "dim: 30000 dim: 60000").replace(
        "num_output: 2", "num_output: 30000 weight_filler { type: 'gaussian' }"
    )
    report = check_file(write(huge))
    assert report.errors == []
    assert any("1,800,030,000 parameters" in text for text in report.tables)


def test_old_nets(write):
    report = check_file(
        write(
            'name: "old" input: "data" input_dim: 4 input_dim: 3 input_dim: 1 input_dim: 1 '
            'layers { name: "ip" type: INNER_PRODUCT bottom: "data" top: "ip" '
            "inner_product_param { num_output: 2 } }"
        )
    )
    assert report.errors == []
    assert report.facts[1].endswith("in: data; out: ip")


@pytest.mark.parametrize(
    ("text", "error", "problem"),
    [
        ("layer { nme: 'x' }", PrototxtError, 'did you mean "name"'),
        ("layer {", PrototxtError, "net.prototxt:1"),
    ],
)
def test_what_does_not_parse(write, text, error, problem):
    with pytest.raises(error, match=problem):
        check_file(write(text))


def test_what_is_not_there(tmp_path):
    with pytest.raises(FileError, match=r"none\.prototxt: cannot be read"):
        check_file(tmp_path / "none.prototxt")
    with pytest.raises(FileError, match="cannot be read"):
        check_file(tmp_path)


# -- solvers ---------------------------------------------------------------------------------------


def test_a_solver_and_its_nets(write):
    write(NET)
    report = check_file(write(SOLVER + "test_iter: 2 test_interval: 5", "solver.prototxt"))
    assert (report.errors, report.warnings) == ([], [])
    assert report.facts[0] == "solver: SGD, 10 iterations, lr 0.1 (fixed)"
    assert report.facts[1] == "train net: net.prototxt"
    assert report.facts[2].startswith("  TRAIN: 3 layers")
    assert report.facts[3] == "test net #0: net.prototxt"
    assert report.facts[4].startswith("  TEST: 4 layers")
    assert list(report.tables.values()) == [["train net"], ["test net #0"]]


def test_a_net_inside_its_solver(write):
    text = SOLVER.replace('net: "net.prototxt"', f"net_param {{ {NET} }}")
    report = check_file(write(text, "solver.prototxt"))
    assert report.errors == []
    assert report.facts[1] == "train net: inline"


def test_errors_of_a_solvers_net_have_its_name(write):
    write(NET + BAD["unknown bottom"][0])
    report = check_file(write(SOLVER, "solver.prototxt"))
    assert len(report.errors) == 1
    assert report.errors[0].startswith("net.prototxt:6: ")


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ("base_lr: 0.1 max_iter: 1", 'lr_policy "" is not known'),
        ('lr_policy: "fix" base_lr: 0.1 max_iter: 1', 'lr_policy "fix" is not known'),
        ('lr_policy: "fixed" max_iter: 1', "base_lr is missing"),
        ('lr_policy: "fixed" base_lr: 0.1', "max_iter is missing"),
        ('lr_policy: "step" gamma: 0.1 base_lr: 1 max_iter: 1', '"step" needs stepsize'),
        ('lr_policy: "multistep" gamma: 0.1 base_lr: 1 max_iter: 1', "needs stepvalue"),
        (
            'lr_policy: "fixed" base_lr: 1 max_iter: 1 type: "AdaGrad" momentum: 0.9',
            "momentum cannot",
        ),
        ('lr_policy: "fixed" base_lr: 1 max_iter: 1 test_iter: 1', "test_interval above 0"),
        ('lr_policy: "fixed" base_lr: 1 max_iter: 1 train_net: "x"', "found train_net and net"),
    ],
)
def test_bad_solvers(write, settings, problem):
    write(NET)
    report = check_file(write(f'net: "net.prototxt" {settings}', "solver.prototxt"))
    assert len(report.errors) == 1
    assert report.errors[0].startswith("solver.prototxt: ")
    assert problem in report.errors[0]


@pytest.mark.parametrize(
    "policy",
    [
        'lr_policy: "step" gamma: 0.1 stepsize: 10',
        'lr_policy: "exp" gamma: 0.9',
        'lr_policy: "inv" gamma: 0.1 power: 0.75',
        'lr_policy: "multistep" gamma: 0.1 stepvalue: 5',
        'lr_policy: "poly" power: 1',
        'lr_policy: "sigmoid" gamma: 0.1 stepsize: 10',
    ],
)
def test_policies(write, policy):
    write(NET)
    text = f'net: "net.prototxt" base_lr: 0.1 max_iter: 10 {policy}'
    assert check_file(write(text, "solver.prototxt")).errors == []


def test_a_solver_from_the_wrong_folder(write, tmp_path, monkeypatch):
    write(NET, "models/small/net.prototxt")
    text = SOLVER.replace("net.prototxt", "models/small/net.prototxt")
    solver = tmp_path / write(text, "models/small/solver.prototxt")
    assert check_file(solver).errors == []
    monkeypatch.chdir(tmp_path / "models")
    (error,) = check_file(solver).errors
    assert 'train net "models/small/net.prototxt" is not there' in error
    assert error.endswith(f"it is, seen from {tmp_path}: run from that folder")


def test_a_solver_whose_net_is_nowhere(write, tmp_path):
    (error,) = check_file(write(SOLVER, "solver.prototxt")).errors
    assert error == (
        f'solver.prototxt: train net "net.prototxt" is not there, seen from {tmp_path}'
    )


# -- weights and state -----------------------------------------------------------------------------


@pytest.mark.parametrize("save", [save_weights, save_weights_hdf5])
def test_weights(write, save):
    save(Net(read_net(write(NET))), "w.caffemodel")
    report = check_file("w.caffemodel")
    assert (report.errors, len(report.facts)) == ([], 1)
    assert report.facts[0].startswith("weights: net ")
    assert report.facts[0].endswith("2 blobs, 8 values")


def test_a_state(write, tmp_path):
    write_state(
        tmp_path / "s.solverstate", State(7, "w.caffemodel", [BlobArray(np.ones((3, 1000)))])
    )
    assert check_file(tmp_path / "s.solverstate").facts == [
        'solver state: iteration 7, weights "w.caffemodel", 1 history blobs, 3,000 values'
    ]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "empty"),
        (b"\x89PNG\r\n\x1a\n" + bytes(50), "a PNG image"),
        (b"<!DOCTYPE html><html>", "an HTML page"),
        (b"\x00\x01\x02\x03" * 100, "expected here"),
    ],
)
def test_other_files(tmp_path, content, problem):
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(PcdError, match=problem):
        check_file(tmp_path / "file")


# -- all that is wrong with a file, together -------------------------------------------------------

FORK = """layer {{ name: "{0}" type: "{0}" bottom: "ip" top: "{0}" {1} }}
"""


def test_an_unknown_data_layer_is_an_error(write):
    text = NET.replace('type: "Input"', 'type: "CPMData"').replace(
        "input_param { shape { dim: 4 dim: 3 } }", ""
    )
    (error,) = check_file(write(text)).errors
    assert error.startswith('net.prototxt:2: layer "data": type "CPMData" is not known; it ')


def test_unknown_types_of_both_phases_come_in_one_line(write):
    text = (
        NET
        + FORK.format("DomainTransform", "include { phase: TRAIN }")
        + FORK.format("DenseCRF", "")
    )
    report = check_file(write(text))
    assert report.errors == [
        "net.prototxt:6: this file needs layer types that are not known: DomainTransform, "
        "DenseCRF from DeepLab"
    ]
    one = check_file("net.prototxt", NetState(phase=TEST))
    assert [e.split("; ")[0] for e in one.errors] == [
        'net.prototxt:7: layer "DenseCRF": type "DenseCRF" is not known'
    ]


def test_what_is_computed_otherwise_than_in_its_fork_is_told(write, monkeypatch):
    quantized = "inner_product_param { num_output: 2 } quantization_param { bw_params: 8 }"
    text = NET.replace("inner_product_param { num_output: 2 }", quantized)
    assert check_file(write(text)).warnings == [
        'net.prototxt:3: layer "ip" (InnerProduct): quantization_param is passed over; the fork\'s '
        "own results differ a little"
    ]
    edges = """layer { name: "d" type: "ImageLabelmapData" top: "x" top: "t" transform_param {
crop_size: 8 } image_data_param { source: "nowhere" batch_size: 1 } }
layer { name: "c" type: "Convolution" bottom: "x" top: "c"
convolution_param { num_output: 1 kernel_size: 1 } }
layer { name: "l" type: "SigmoidCrossEntropyLoss" bottom: "c" bottom: "t" top: "l" }"""
    told = 'net.prototxt:5: layer "l" (SigmoidCrossEntropyLoss): is BVLC\'s; in HED,'
    assert any(w.startswith(told) for w in check_file(write(edges)).warnings)
    monkeypatch.setenv("PCD_DIALECT", "hed")
    assert not any(w.startswith(told) for w in check_file(write(edges)).warnings)


def test_fields_of_a_fork_and_its_types_together(write):
    """What does not parse is told as before, and what is beyond the syntax behind it."""
    text = (
        NET
        + FORK.format("DenseCRF", "hotspot_param { order: 0 }")
        + FORK.format("DomainTransform", "")
    )
    text += 'layer { name: "q" type: "ReLU" bottom: "nowhere" top: "q" }\n'
    text += 'layer { name: "r" type: "Concat" bottom: "ip" top: "r" concat_param { axis: 9 } }'
    with pytest.raises(PrototxtError) as e:
        check_file(write(text))
    lines = str(e.value).splitlines()
    assert 'no field "hotspot_param"' in lines[0]
    assert lines[-3:] == [
        "net.prototxt:6: this file needs layer types that are not known: DenseCRF, "
        "DomainTransform from DeepLab",
        'net.prototxt:8: layer "q": unknown bottom "nowhere"',
        'net.prototxt:9: layer "r" (Concat): axis 9 is out of range for a blob of shape (4, 2)',
    ]


def test_nothing_is_said_of_layers_behind_one_whose_place_is_in_doubt(write):
    text = (
        NET.replace('top: "ip"', 'tpo: "ip"')
        + FORK.format("DenseCRF", "")
        + FORK.format("CPMData", "")
    )
    with pytest.raises(PrototxtError) as e:
        check_file(write(text))
    assert 'no field "tpo"' in str(e.value)
    assert "unknown bottom" not in str(e.value)
    assert "needs layer types that are not known: DenseCRF" in str(e.value).splitlines()[-1]


def test_a_file_that_breaks_off(write):
    with pytest.raises(PrototxtError) as e:
        check_file(write(NET + "layer { name: 'x' type: 'ReLU' bottom: 'ip'"))
    assert "is never closed" in str(e.value)
    assert len(e.value.problems) == 1


def test_wiring_and_building(write):
    text = NET + 'layer { name: "q" type: "ReLU" bottom: "nowhere" top: "q" }\n'
    text += 'layer { name: "r" type: "Concat" bottom: "ip" top: "r" concat_param { axis: 9 } }'
    report = check_file(write(text))
    assert [e.split(" ")[0] for e in report.errors] == ["net.prototxt:6:", "net.prototxt:7:"]


# -- Python layers ---------------------------------------------------------------------------------

PYTHON = """
layer { name: "p" type: "Python" bottom: "ip" top: "p"
        python_param { module: "leaves_a_file" layer: "Mine" } }
layer { name: "q" type: "ReLU" bottom: "p" top: "q" }
"""
MODULE = """import caffe
open("ran", "w").close()
class Mine(caffe.Layer):
    def reshape(self, bottom, top):
        BODY
"""


@pytest.fixture
def module(write, monkeypatch):
    monkeypatch.setattr("sys.path", sys.path[:])

    def write_module(body):
        write(MODULE.replace("BODY", body), "leaves_a_file.py")
        write(NET + PYTHON)

    yield write_module
    sys.modules.pop("leaves_a_file", None)


def test_a_python_layer_is_not_run(module, tmp_path):
    module("top[0].reshape(7)")
    report = check_file("net.prototxt")
    assert not (tmp_path / "ran").exists()
    assert report.errors == []
    assert report.warnings == [
        'layer "p" (Python, Mine of module leaves_a_file) is not run; --allow-python runs it'
    ]
    (table, _) = report.tables
    assert re.search(r"^p +Python +not run\nq +ReLU +unknown$", table, re.M)


def test_a_python_layer_runs_where_it_may(module, tmp_path):
    module("top[0].reshape(7)")
    report = check_file("net.prototxt", python=True)
    assert (tmp_path / "ran").exists()
    assert (report.errors, report.warnings) == ([], [])
    assert re.search(r"^q +ReLU +7 ", next(iter(report.tables)), re.M)


def test_a_python_layer_that_raises(module, tmp_path):
    module("undefined_name")
    report = check_file("net.prototxt", python=True)
    assert report.errors == [
        f'net.prototxt:7: layer "p" (Python): {tmp_path}/leaves_a_file.py:5: NameError: '
        "name 'undefined_name' is not defined"
    ]


def test_a_python_data_layer_is_not_run_either(module, tmp_path):
    module("top[0].reshape(7, 3)")
    path = tmp_path / "net.prototxt"
    path.write_text(
        NET.replace('type: "Input"', 'type: "Python"').replace(
            "input_param { shape { dim: 4 dim: 3 } }",
            "python_param { module: 'leaves_a_file' layer: 'Mine' }",
        )
    )
    report = check_file("net.prototxt")
    assert not (tmp_path / "ran").exists()
    assert report.errors == []
    assert "data come from a Python layer" in report.warnings[0]
    assert '"data" (Python, Mine of module leaves_a_file) is not run' in report.warnings[1]
    assert re.search(r"^data +Python, not run ", next(iter(report.tables)), re.M)


# -- large nets ------------------------------------------------------------------------------------

DUMMY = """layer { name: "x" type: "DummyData" top: "x"
dummy_data_param { shape { dim: 4 dim: 3 } } }"""
MANY = {
    "in place": 'layer { name: "r%d" type: "ReLU" bottom: "x" top: "x" }',
    "side by side": 'layer { name: "r%d" type: "ReLU" bottom: "x" top: "y%d" }',
    "cannot be built": 'layer { name: "c%d" type: "Convolution" bottom: "x" top: "c%d" }',
    "read what nobody makes": 'layer { name: "r%d" type: "ReLU" bottom: "z%d" top: "y%d" }',
    "of unknown types": 'layer { name: "r%d" type: "Nope%d" bottom: "x" top: "x" }',
    "of one name": 'layer { name: "r" type: "ReLU" bottom: "x" top: "y%d" }',
    "by rules": 'layer { name: "r%d" type: "ReLU" bottom: "x" top: "x" include { stage: "s%d" } }',
}


def steps_of_check(name):
    """How many functions are called: what time a check takes, but for the machine."""
    count = 0

    def step(frame, event, argument):
        nonlocal count
        count += 1

    sys.setprofile(step)
    try:
        check_file(name)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("kind", MANY)
def test_time_grows_with_the_number_of_layers_and_not_faster(write, kind):
    steps = []
    for layers in (1, 100, 400):
        rows = [MANY[kind].replace("%d", str(i)) for i in range(layers)]
        steps.append(steps_of_check(write("\n".join([DUMMY, *rows]))))
    assert steps[2] - steps[0] < 4.3 * (steps[1] - steps[0])

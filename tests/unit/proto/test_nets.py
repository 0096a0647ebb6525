# ruff: noqa: E501
import pytest
from google.protobuf import text_format

from pycaffe_dist.errors import FileError, NetError, PrototxtError, UpgradeError
from pycaffe_dist.proto import nets
from pycaffe_dist.proto.caffe_pb2 import TEST, TRAIN, NetParameter, NetState, SolverParameter
from pycaffe_dist.proto.nets import is_solver, read_net, read_solver, train_net
from pycaffe_dist.proto.splits import insert_splits
from pycaffe_dist.proto.state import filter_net


def message(text, kind=NetParameter):
    return text_format.Parse(text, kind())


def solver(text):
    return message(text, SolverParameter)


@pytest.fixture
def written(tmp_path):
    def write(text, name="net.prototxt"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


# -- nets ------------------------------------------------------------------------------------------


def test_a_net_is_upgraded_when_it_is_read(written):
    path = written(
        "input: 'a'\ninput_shape { dim: 1 }\nlayers { name: 'r' type: RELU bottom: 'a' top: 'a' }\n"
    )
    file = read_net(path)
    assert file.path == str(path)
    assert file.net == message(
        """layer { name: 'input' type: 'Input' top: 'a' input_param { shape { dim: 1 } } }
           layer { name: 'r' type: 'ReLU' bottom: 'a' top: 'a' }"""
    )
    assert file.lines_of(file.net) == [None, 3]


@pytest.mark.parametrize(
    ("text", "error"),
    [("layr { }", PrototxtError), ("layer { } layers { }", UpgradeError), ("", FileError)],
)
def test_nets_that_cannot_be_read(written, text, error):
    path = written(text)
    with pytest.raises(error) as e:
        read_net(path)
    assert str(e.value).startswith(f"{path}:")


LENET = """\
name: 'n'
layer { name: 'data' top: 'data' top: 'label' include { phase: TRAIN } }
layer { name: 'data' top: 'data' top: 'label' include { phase: TEST } }
layer { name: 'ip' bottom: 'data' top: 'ip' }
layer {
  name: 'acc' bottom: 'ip' bottom: 'label' include { phase: TEST }
}
layer { name: 'loss' bottom: 'ip' bottom: 'label' }
"""


@pytest.mark.parametrize(
    ("phase", "expected"),
    [
        (TRAIN, {"data": 2, "ip": 4, "loss": 8}),
        (TEST, {"data": 3, "label_data_1_split": None, "ip": 4, "ip_ip_0_split": None, "acc": 5, "loss": 8}),
    ],
)  # fmt: skip
def test_lines_of_layers_of_the_same_name(written, phase, expected):
    file = read_net(written(LENET))
    net = insert_splits(filter_net(file.net, NetState(phase=phase)))
    assert dict(zip([la.name for la in net.layer], file.lines_of(net), strict=True)) == expected


@pytest.mark.parametrize(
    ("text", "stages", "expected"),
    [
        # three of one name, the middle one is in
        ("layer { name: 'x' top: 'x' include { stage: 'a' } }\nlayer { name: 'x' top: 'x' include { stage: 'b' } }\n"
         "layer { name: 'x' top: 'x' include { stage: 'c' } }\n", ["b"], [2]),
        ("layers { name: 'x' top: 'x' include { stage: 'a' } }\nlayers { name: 'x' top: 'x' exclude { stage: 'b' } }\n"
         "layers { name: 'x' top: 'x' include { stage: 'b' } }\n", ["b"], [3]),
        # without names
        ("layer { top: 'x' include { stage: 'a' } }\nlayer { top: 'x' include { stage: 'b' } }\n", ["b"], [2]),
        # a layer of the file with the name of the one that stands for the inputs
        ("input: 'x'\ninput_shape { dim: 1 }\nlayer { name: 'y' bottom: 'x' top: 'y' }\n"
         "layer { name: 'input' bottom: 'y' top: 'z' }\n", [], [None, 3, 4]),
        # old formats
        ("layers { layer { name: 'a' type: 'relu' } top: 'a' }\n\nlayers { layer { name: 'p' type: 'padding' pad: 1 } bottom: 'a' top: 'p' }\n"
         "layers { layer { name: 'c' type: 'conv' } bottom: 'p' top: 'c' }\n", [], [1, 4]),
    ],
)  # fmt: skip
def test_lines(written, text, stages, expected):
    file = read_net(written(text))
    net = filter_net(file.net, NetState(stage=stages))
    assert file.lines_of(net) == expected


# -- solvers ---------------------------------------------------------------------------------------


def test_a_solver_is_upgraded_when_it_is_read(written, tmp_path):
    path = written("net: 'n'\nsolver_type: ADAM\n", "my_solver.prototxt")
    read = read_solver(path)
    assert read.message == SolverParameter(
        net="n", type="Adam", snapshot_prefix=str(tmp_path / "my_solver")
    )
    assert read.places["solver_type",] == (2, 1)


def test_a_solver_that_cannot_be_read(written):
    with pytest.raises(PrototxtError) as e:
        read_solver(written("base_lr: 0.1\nmomentun: 0.9"))
    assert e.value.problems[0].message.endswith('did you mean "momentum"?')
    with pytest.raises(UpgradeError):
        read_solver(written("type: 'SGD' solver_type: SGD"))


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("net: 'a'", "a"),
        ("train_net: 'a'", "a"),
        ("net_param { name: 'a' }", NetParameter(name="a")),
        ("train_net_param { name: 'a' }", NetParameter(name="a")),
        ("train_net: 'a' test_net: 'b' test_net_param { }", "a"),
    ],
)
def test_training_net(text, source):
    given = train_net(solver(text + " train_state { level: 3 }"))
    assert (given.role, given.source, given.state) == ("train net", source, NetState(level=3))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", "none of them"),
        ("test_net: 'a'", "none of them"),
        ("net: 'a' train_net: 'b'", "train_net and net"),
        ("net: 'a' net_param { }", "net_param and net"),
        ("train_net: 'a' train_net_param { } net_param { }", "train_net_param and train_net and net_param"),
    ],
)  # fmt: skip
def test_not_exactly_one_training_net(text, found):
    with pytest.raises(NetError) as e:
        train_net(solver(text))
    assert str(e.value) == (
        "a solver names its training net in exactly one of net, net_param, train_net, "
        f"train_net_param; found {found}"
    )


A, B = NetParameter(name="a"), NetParameter(name="b")


@pytest.mark.parametrize(
    ("text", "sources", "iterations"),
    [
        ("net: 'n'", [], []),
        ("train_net: 'n'", [], []),
        ("net: 'n' test_iter: 5 test_interval: 1", ["n"], [5]),
        ("net: 'n' test_iter: 5 test_iter: 6 test_interval: 1", ["n", "n"], [5, 6]),
        ("net_param { name: 'a' } test_iter: 5 test_interval: 1", [A], [5]),
        ("train_net: 'n' test_net: 'x' test_net: 'y' test_iter: 5 test_iter: 6 test_interval: 1", ["x", "y"], [5, 6]),
        ("net: 'n' test_net: 'x' test_iter: 5 test_interval: 1", ["x"], [5]),
        ("net: 'n' test_net: 'x' test_net_param { name: 'a' } test_net: 'y' test_net_param { name: 'b' } "
         + "test_iter: 1 test_iter: 2 test_iter: 3 test_iter: 4 test_iter: 5 test_interval: 1", [A, B, "x", "y", "n"], [1, 2, 3, 4, 5]),
    ],
)  # fmt: skip
def test_test_nets(text, sources, iterations):
    given = nets.test_nets(solver(text))
    assert [n.source for n in given] == sources
    assert [n.iterations for n in given] == iterations
    assert [n.role for n in given] == [f"test net #{i}" for i in range(len(sources))]
    assert all(n.state == NetState() for n in given)


def test_states_of_test_nets():
    text = "net: 'n' test_iter: [1, 2] test_interval: 1 test_state { stage: 'a' } test_state { level: 2 }"
    assert [n.state for n in nets.test_nets(solver(text))] == [
        NetState(stage=["a"]),
        NetState(level=2),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("net: 'n' test_net: 'x' test_net: 'y' test_iter: 1", "test_iter must be given for each test net: 2 test nets, 1 test_iter"),
        ("train_net: 'n' test_net: 'x'", "test_iter must be given once for each test net: 1 test nets, 0 test_iter"),
        ("train_net: 'n' test_iter: 5", "test_iter must be given once for each test net: 0 test nets, 1 test_iter"),
        ("train_net: 'n' test_net: 'x' test_iter: [1, 2]", "test_iter must be given once for each test net: 1 test nets, 2 test_iter"),
        ("net: 'n' test_iter: [1, 2] test_interval: 1 test_state { }",
         "test_state must be given not at all or once for each test net: 2 test nets, 1 test_state"),
        ("net: 'n' test_interval: 1 test_state { }", "test_state must be given not at all or once for each test net: 0 test nets, 1 test_state"),
        ("net: 'n' test_iter: 1", "a solver with test nets needs test_interval above 0"),
        ("net: 'n' test_iter: 1 test_interval: -1", "a solver with test nets needs test_interval above 0"),
    ],
)  # fmt: skip
def test_test_nets_that_do_not_add_up(text, said):
    with pytest.raises(NetError) as e:
        nets.test_nets(solver(text))
    assert str(e.value) == said


@pytest.mark.parametrize(
    ("in_net", "in_solver", "train", "test"),
    [
        ("", "", "phase: TRAIN", "phase: TEST"),
        ("state { level: 1 stage: 'a' }", "", "phase: TRAIN level: 1 stage: 'a'", "phase: TEST level: 1 stage: 'a'"),
        ("", "level: 2 stage: 'b'", "phase: TRAIN level: 2 stage: 'b'", "phase: TEST level: 2 stage: 'b'"),
        ("state { level: 1 stage: 'a' }", "level: 2 stage: 'b'", "phase: TRAIN level: 2 stage: 'a' stage: 'b'",
         "phase: TEST level: 2 stage: 'a' stage: 'b'"),
        ("state { phase: TRAIN }", "", "phase: TRAIN", "phase: TRAIN"),
        ("state { phase: TRAIN }", "phase: TEST", "phase: TEST", "phase: TEST"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("inline", [False, True])
def test_state_is_the_roles_then_the_nets_then_the_solvers(
    written, inline, in_net, in_solver, train, test
):
    text = f"name: 'n' {in_net} layers {{ name: 'r' type: RELU }}"
    where = f"net_param {{ {text} }}" if inline else f"net: '{written(text)}'"
    states = f"train_state {{ {in_solver} }} test_state {{ {in_solver} }}"
    given = solver(f"{where} test_iter: 1 test_interval: 1 {states}")
    for net, expected in [(train_net(given), train), (nets.test_nets(given)[0], test)]:
        file = net.read()
        assert file.net.state == message(expected, NetState)
        assert [la.type for la in file.net.layer] == ["ReLU"]  # upgraded, wherever it stood
    assert given == solver(f"{where} test_iter: 1 test_interval: 1 {states}")


def test_an_inline_net_names_itself_in_errors():
    given = train_net(solver("train_net_param { layer { } layers { } }"))
    with pytest.raises(UpgradeError) as e:
        given.read()
    assert str(e.value).startswith("train net: both `layer` and `layers`")


@pytest.mark.parametrize("name", ["missing.prototxt", "a\\000b", ""])
def test_a_solver_that_names_no_net_file(name):
    with pytest.raises(FileError):
        train_net(solver(f"net: '{name}'")).read()


# -- one in place of the other ---------------------------------------------------------------------

SOLVER_TEXT = "base_lr: 0.1 lr_policy: 'fixed' max_iter: 10 type: 'SGD' display: 1\n"


@pytest.mark.parametrize(
    ("nets_of_it", "told"),
    [
        ("net: 'a/net.prototxt'", "its net is a/net.prototxt"),
        ("train_net: 't' test_net: ['u', 'v']", "its nets are t, u, v"),
        ("net_param { name: 'n' }", "its net is written inside it"),
        ("nett: 'x'", "a net is expected here"),
    ],
)
def test_a_solver_where_a_net_belongs(written, nets_of_it, told):
    path = written(SOLVER_TEXT + nets_of_it, "solver.prototxt")
    with pytest.raises(FileError) as e:
        read_net(path)
    assert str(e.value).startswith(f"{path}: this is a solver; ")
    assert told in str(e.value)


def test_a_net_where_a_solver_belongs(written):
    path = written(LENET)
    with pytest.raises(FileError) as e:
        read_solver(path)
    assert str(e.value).startswith(f"{path}: this is a net; a solver is expected here")
    assert f'net: "{path}"' in str(e.value)


def test_the_solver_beside_a_net_is_named(written):
    path = written(LENET)
    solver = written(SOLVER_TEXT + "net: 'models/net.prototxt'", "quick.prototxt")
    written(SOLVER_TEXT + "net: 'other.prototxt'", "other_solver.prototxt")
    with pytest.raises(FileError, match="this is a net; its solver is ") as e:
        read_solver(path)
    assert str(e.value).endswith(f"is {solver}")


@pytest.mark.parametrize("text", ["layr { }", "name: 'n' nmae: 'x'"])
def test_a_net_with_errors_is_still_a_net(written, text):
    with pytest.raises(PrototxtError):
        read_net(written(text))
    with pytest.raises(PrototxtError):
        read_solver(written("nett: 'x'"))


def test_only_the_outermost_names_tell_a_solver():
    net = "net_param { layer { } layer { } layer { } }"
    assert is_solver(f"{net} base_lr: 1")
    assert not is_solver("layer { } " + "x { base_lr: 1 lr_policy: 'fixed' max_iter: 1 }")

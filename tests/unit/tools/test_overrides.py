import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.proto.caffe_pb2 import NetParameter, SolverParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.tools.overrides import override_net, override_solver

NET = """
layer { name: "conv1" type: "Convolution" convolution_param { num_output: 20 kernel_size: 5 } }
layer { name: "a.b/c" type: "InnerProduct" inner_product_param { num_output: 3 } }
layer { name: "data" type: "Data" data_param { source: "x" batch_size: 8 } include { } }
layer { name: "data" type: "Data" data_param { source: "y" batch_size: 8 } include { phase: TEST } }
"""


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("base_lr=0.02", "base_lr: 0.02"),
        ("type=Adam", 'type: "Adam"'),
        ('type="Adam"', 'type: "Adam"'),
        ("stepvalue=[10, 20]", "stepvalue: 10 stepvalue: 20"),
        ("test_iter=7", "test_iter: 7"),
        ("solver_mode=CPU", "solver_mode: CPU"),
        ("train_state.level=2", "train_state { level: 2 }"),
        ("snapshot_prefix=a=b", 'snapshot_prefix: "a=b"'),
    ],
)
def test_solver(setting, expected):
    solver = parse_text("test_iter: 1 test_iter: 2", SolverParameter()).message
    if not setting.startswith("test_iter"):
        solver.ClearField("test_iter")
    override_solver(solver, setting)
    assert solver == parse_text(expected, SolverParameter()).message


def test_net():
    net = parse_text(NET, NetParameter()).message
    override_net(net, "conv1.num_output=32")
    override_net(net, "a.b/c.inner_product_param.num_output=5")
    override_net(net, "data.batch_size=2")
    override_net(net, "force_backward=true")
    override_net(net, "conv1.name=first")
    assert net.layer[0].convolution_param.num_output == 32
    assert net.layer[0].name == "first"
    assert net.layer[1].inner_product_param.num_output == 5
    assert [layer.data_param.batch_size for layer in net.layer[2:]] == [2, 2]
    assert net.force_backward


@pytest.mark.parametrize(
    ("function", "setting", "text"),
    [
        (override_solver, "base_lr", "expected NAME=VALUE"),
        (override_solver, "base_l=1", 'did you mean "base_lr"'),
        (override_solver, "base_lr=fast", "expected a number, found 'fast'"),
        (override_solver, "max_iter=1.5", "expected an integer"),
        (override_solver, "base_lr.x=1", 'no field "base_lr"|base_lr'),
        (override_net, "conv.num_output=1", 'no layer "conv"; did you mean "conv1"'),
        (override_net, "conv1.num_outputs=1", 'no field "num_outputs"'),
    ],
)
def test_what_cannot_be(function, setting, text):
    message = SolverParameter() if function is override_solver else NetParameter()
    if function is override_net:
        parse_text(NET, message)
    with pytest.raises(NetError, match=text):
        function(message, setting)

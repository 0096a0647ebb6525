"""What LSTM and RNN have in common."""

import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.layer import Context
from pycaffe_dist.net import Net
from pycaffe_dist.proto.caffe_pb2 import NetParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.testing import LayerCase, LayerRun

X, CONT = (3, 2, 4), np.ones((3, 2))
STATES = {"LSTM": 2, "RNN": 1}
types = pytest.mark.parametrize("kind", STATES)


def layer(kind, settings="num_output: 2"):
    return f'type: "{kind}" recurrent_param {{ {settings} }}'


@types
@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ([(3, 2), CONT], r"bottom 0 must be \(steps, streams, inputs ...\)"),
        ([X, np.ones((3, 3))], r"bottom 1 must be \(steps, streams\) = \(3, 2\), found \(3, 3\)"),
        ([X, np.ones((3, 2, 1))], "bottom 1 must be"),
        ([X, CONT, (3, 5)], r"bottom 2 must be .* for 2 streams, found \(3, 5\)"),
        ([X, CONT, (2,)], "bottom 2 must be"),
        ([X], r"takes 2 to 3 bottom blob\(s\), found 1"),
    ],
)
def test_refuses_bottoms(kind, inputs, message):
    with pytest.raises(NetError, match=message):
        LayerRun(LayerCase(layer(kind), inputs))


@types
def test_refuses_states_of_other_shapes(kind):
    exposed = layer(kind, "num_output: 2 expose_hidden: true")
    shapes = [(1, 2, 3)] * STATES[kind]
    with pytest.raises(NetError, match=r"bottom 2 is a state .* \(1, 2, 2\), not \(1, 2, 3\)"):
        LayerRun(LayerCase(exposed, [X, CONT, *shapes], tops=1 + STATES[kind]))
    with pytest.raises(NetError, match=r"takes .* bottom"):
        LayerRun(LayerCase(exposed, [X, CONT], tops=1 + STATES[kind]))
    with pytest.raises(NetError, match=r"takes .* top"):
        LayerRun(LayerCase(exposed, [X, CONT, *shapes], tops=1))


@types
def test_needs_outputs(kind):
    with pytest.raises(NetError, match="num_output must be positive"):
        LayerRun(LayerCase(layer(kind, ""), [X, CONT]))


@types
def test_steps_and_inputs_are_fixed(kind):
    run = LayerRun(LayerCase(layer(kind), [X, CONT]))
    run.bottom[0].reshape(4, 2, 4)
    run.bottom[1].reshape(4, 2)
    with pytest.raises(NetError, match="was set up for 3 steps"):
        run.layer.reshape(run.bottom, run.top)
    run.bottom[0].reshape(3, 2, 5)
    run.bottom[1].reshape(3, 2)
    with pytest.raises(NetError, match=r"weights are for \[4\] inputs, the bottoms have \[5\]"):
        run.layer.reshape(run.bottom, run.top)


@types
def test_refuses_a_gradient_for_cont(kind):
    run = LayerRun(LayerCase(layer(kind), [X, CONT]))
    run.forward()
    with pytest.raises(NetError, match="sequence indicators"):
        run.backward([np.ones((3, 2, 2))], [True, True])
    assert not run.layer.force_backward_allowed(1)


@types
def test_blobs_of_the_prototxt_are_ignored(kind):
    given = layer(kind, 'num_output: 2 weight_filler { type: "constant" value: 3 }')
    run = LayerRun(LayerCase(given + "blobs { shape { dim: 1 } data: 9 }", [X, CONT]))
    assert (run.layer.blobs[0].data == 3).all()


@types
def test_a_dry_net_holds_no_values(kind):
    text = f"""layer {{ name: "x" type: "Input" top: "x" top: "cont" input_param {{
                 shape {{ dim: 3 dim: 2 dim: 4 }} shape {{ dim: 3 dim: 2 }} }} }}
               layer {{ name: "r" bottom: "x" bottom: "cont" top: "y" {layer(kind)} }}"""
    net = Net(parse_text(text, NetParameter()).message, Context(dry=True))
    assert net.blobs[-1].shape == (3, 2, 2)
    values = [b.data_value for b in [*net.blobs, *net.layers[1].blobs]]
    values += [view.blob.data_value for view in net.layers[1].last]
    assert not any(value.current for value in values)

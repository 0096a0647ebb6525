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


@types
def test_a_state_goes_on_in_another_layer_and_on_other_ranks(kind):
    streams = np.random.default_rng(0).standard_normal((3, 4, 4))
    whole = LayerRun(LayerCase(layer(kind), [streams, np.ones((3, 4))]))
    whole.forward()
    halves = [whole.layer.deal_state([whole.layer.get_state()], rank, 2) for rank in range(2)]
    for name, values in whole.layer.get_state().items():
        for rank, half in enumerate(halves):
            np.testing.assert_array_equal(half[name], values[rank::2])
    again = LayerRun(LayerCase(layer(kind), [streams, np.ones((3, 4))]))
    again.layer.set_state(whole.layer.deal_state(halves, 0, 1))
    whole.forward()
    again.forward()
    np.testing.assert_array_equal(again.top[0].blob.data, whole.top[0].blob.data)


@types
def test_streams_that_a_snapshot_does_not_have_begin_with_zeros(kind, caplog):
    run = LayerRun(LayerCase(layer(kind), [X, CONT]))
    stored = {name: values[:1] + 1 for name, values in run.layer.get_state().items()}
    run.layer.set_state(stored)
    assert "the states of 1 streams; 1 others begin with zeros" in caplog.text
    for name, values in run.layer.get_state().items():
        np.testing.assert_array_equal(values, [stored[name][0], [0, 0]])
    with pytest.raises(NetError, match=r"has \(3,\) values for each stream, \(2,\) are needed"):
        run.layer.set_state({"state0": np.zeros((2, 3))})


@types
def test_states_that_come_from_bottoms_are_not_kept(kind):
    exposed = layer(kind, "num_output: 2 expose_hidden: true")
    shapes = [(1, 2, 2)] * STATES[kind]
    run = LayerRun(LayerCase(exposed, [X, CONT, *shapes], tops=1 + STATES[kind]))
    assert run.layer.get_state() == {}

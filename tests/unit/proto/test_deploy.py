"""The net that answers, made of the one that was trained."""

import pytest

from pycaffe_dist.proto.caffe_pb2 import NetParameter
from pycaffe_dist.proto.deploy import deployed
from pycaffe_dist.proto.text import parse_text

DATA = "layer { name: 'd' type: 'Data' top: 'data' top: 'label' }"
LOSS = "layer {{ name: '{0}' type: '{1}' bottom: '{2}' bottom: 'label' top: '{0}' {3} }}"


def product(name, bottom):
    return f"layer {{ name: '{name}' type: 'InnerProduct' bottom: '{bottom}' top: '{name}' }}"


def answers(*layers):
    net = parse_text("\n".join([DATA, *layers]), NetParameter()).message
    return list(deployed(net, net.layer[0], (1, 3, 4, 5)).layer)


@pytest.mark.parametrize(
    ("loss", "answer"), [("SoftmaxWithLoss", "Softmax"), ("SigmoidCrossEntropyLoss", "Sigmoid")]
)
def test_the_last_loss_over_classes_leaves_its_scores(loss, answer):
    """What leads to other losses goes, and so do losses of what needs labels."""
    layers = answers(
        product("low", "data"),
        product("aside", "low"),
        LOSS.format("first", loss, "aside", ""),
        product("scores", "low"),
        LOSS.format("last", loss, "scores", "softmax_param { axis: 0 }"),
        "layer { name: 's' type: 'Silence' bottom: 'label' top: 'of_labels' }",
        LOSS.format("lost", loss, "of_labels", ""),
    )
    assert [layer.name for layer in layers] == ["d", "low", "scores", "prob"]
    assert (layers[0].type, [*layers[0].top]) == ("Input", ["data"])
    assert [*layers[0].input_param.shape[0].dim] == [1, 3, 4, 5]
    assert (layers[-1].type, [*layers[-1].bottom]) == (answer, ["scores"])
    assert layers[-1].HasField("softmax_param") and layers[-1].softmax_param.axis == 0


def test_without_a_loss_over_classes_all_that_needs_no_labels_stays():
    layers = answers(product("low", "data"), LOSS.format("l", "EuclideanLoss", "low", ""))
    assert [layer.name for layer in layers] == ["d", "low"]

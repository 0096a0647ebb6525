import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.facts import layer_facts
from pycaffe_dist.proto.caffe_pb2 import NetParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.report.table import net_table
from pycaffe_dist.sketch import Sketch

DATA = 'layer { name: "d" type: "Input" top: "x" input_param { shape { dim: 2 dim: 3 } } } '
IP = """layer { name: "ip" type: "InnerProduct" bottom: "x" top: "ip"
inner_product_param { num_output: 2 } } """
PYTHON = """layer { name: "p" type: "Python" bottom: "ip" top: "y"
python_param { module: "m" layer: "L" } } """
AFTER = """layer { name: "ip2" type: "InnerProduct" bottom: "y" top: "z"
inner_product_param { num_output: 2 } }
layer { name: "loss" type: "EuclideanLoss" bottom: "z" bottom: "ip" top: "loss" } """


def sketch(*parts):
    return Sketch(parse_text("".join(parts), NetParameter()).message)


def facts(net):
    return {f.name: f for f in layer_facts(net) if f.type != "Split"}


def test_a_python_layer_stands_there_and_is_not_run():
    net = sketch(DATA, IP, PYTHON, AFTER)
    found = facts(net)
    assert net.not_run == ['layer "p" (Python, L of module m)']
    assert [found[name].note for name in ("d", "ip", "p", "ip2", "loss")] == [
        "",
        "",
        "not run",
        "unknown",
        "unknown",
    ]
    assert (found["p"].type, found["p"].top_shapes, found["ip2"].param_count) == ("Python", (), 0)
    assert found["ip"].top_shapes == ((2, 2),)
    net.refuse_problems()  # there are none


def test_a_loss_that_is_not_built_still_asks_for_gradients():
    net = sketch(DATA, IP, PYTHON, AFTER)
    needs = dict(zip(net.layer_names, net.layer_need_backward, strict=True))
    assert needs["ip"] and not needs["d"]


def test_weights_of_tops_that_are_not_named_are_no_fault_of_a_layer_that_is_not_built():
    net = sketch(DATA, IP, PYTHON, AFTER.replace('top: "loss"', "loss_weight: 2"))
    assert (net.layer_names[-1], net.layers[-1].loss, net.problems) == ("loss", [], [])


def test_the_table_says_what_is_unknown():
    lines = net_table(layer_facts(sketch(DATA, IP, PYTHON, AFTER)))
    assert [line.split()[1:] for line in lines[3:6]] == [
        ["Python", "not", "run"],
        ["InnerProduct", "unknown"],
        ["EuclideanLoss", "unknown"],
    ]
    assert lines[-2] == "3 layers of unknown shape; the sums are those of the others"
    assert lines[-1].startswith("8 parameters, ")
    assert not any("unknown" in line for line in net_table(layer_facts(sketch(DATA, IP))))


def test_what_cannot_be_built_is_told_together():
    bad_axis = IP.replace("num_output: 2", "num_output: 2 axis: 9")
    net = sketch(DATA, bad_axis.replace('"ip"', '"a"'), bad_axis.replace('"ip"', '"b"'), AFTER)
    assert [text.split(":")[0] for text in net.problems] == [
        'layer "ip2"',  # the wiring is looked at first
        'layer "loss"',
        'layer "a" (InnerProduct)',
        'layer "b" (InnerProduct)',
    ]
    with pytest.raises(NetError, match=r'layer "a".*\n.*layer "b"'):
        net.refuse_problems()


def test_unknown_types_come_in_one_line():
    types = ("DenseCRF", "DomainTransform", "DenseCRF", "Convolutoin", "Quux")
    parts = [
        f'layer {{ name: "{i}" type: "{t}" bottom: "x" top: "{i}" }}' for i, t in enumerate(types)
    ]
    net = sketch(DATA, *parts)
    assert net.problems == []
    assert net.needs == (
        "this file needs layer types that are not known: DenseCRF, DomainTransform from "
        'DeepLab; Convolutoin, did you mean "Convolution"?; Quux'
    )
    assert net.broken

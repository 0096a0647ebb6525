"""Fields of forks that nobody obeys are told."""

import inspect

import pytest

from pycaffe_dist import solver
from pycaffe_dist.layer import layer_types
from pycaffe_dist.net import Net
from pycaffe_dist.proto import caffe_pb2
from pycaffe_dist.proto.caffe_pb2 import LayerParameter, NetParameter, SolverParameter
from pycaffe_dist.proto.dialects import PRIVATE
from pycaffe_dist.proto.dialects.unheeded import HARMLESS, unheeded
from pycaffe_dist.proto.text import parse_text

RELU = "relu of ConvolutionParameter has no effect here: it comes from Intel Caffe (intel/caffe)"
LAYER = """
layer {{ name: "{name}" type: "Convolution" bottom: "x" top: "{name}"
  convolution_param {{ num_output: 1 kernel_size: 1 relu: true }} }}
"""
INPUT = """
layer { name: "x" type: "Input" top: "x"
  input_param { shape { dim: 1 dim: 1 dim: 2 dim: 2 } } }
"""


def is_of_a_fork(name: str) -> bool:
    message, field = name.split(".")
    return getattr(caffe_pb2, message).DESCRIPTOR.fields_by_name[field].number >= PRIVATE


def test_what_a_fork_asks_for_is_told_once():
    layer = parse_text(LAYER.format(name="a"), NetParameter()).message.layer[0]
    layer.convolution_param.fuse_type = 1  # of OpenCL's branch: how, not what
    assert unheeded(layer, ()) == [RELU]
    assert unheeded(layer, {"ConvolutionParameter.relu"}) == []


def test_fields_of_bvlc_and_what_is_inside_a_forks_message_are_no_matter():
    text = 'type: "Permute" top: "a" permute_param { order: 1 } pooling_param { kernel_size: 2 }'
    (told,) = unheeded(parse_text(text, LayerParameter()).message, ())
    assert told.startswith("permute_param of LayerParameter")


def test_a_net_names_the_first_of_the_layers(caplog):
    text = INPUT + LAYER.format(name="a") + LAYER.format(name="b")
    net = Net(parse_text(text, NetParameter()).message)
    told = f'layer "a" and 1 more: {RELU}'
    assert net.unheeded() == [told]
    assert told in [record.getMessage() for record in caplog.records]


def test_solvers_obey_what_they_say():
    names = [name.split(".")[1] for name in sorted(solver.HEEDED)]
    given = parse_text('larc: true min_lr: 0.1 clip_weights: 3 net: "n"', SolverParameter()).message
    assert {"larc", "min_lr"} < set(names)
    assert [text.split()[0] for text in unheeded(given, solver.HEEDED)] == ["clip_weights"]


@pytest.mark.parametrize("name", sorted(HARMLESS | solver.HEEDED))
def test_these_are_fields_of_forks(name):
    assert is_of_a_fork(name)


def test_layers_obey_only_fields_that_they_read():
    for cls in set(layer_types().values()):
        for name in cls.heeds:
            assert is_of_a_fork(name), (cls, name)
            source = "".join(inspect.getsource(base) for base in cls.__mro__[:-1])
            assert name.split(".")[1] in source, (cls, name)

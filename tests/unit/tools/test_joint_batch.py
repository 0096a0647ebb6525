"""The joint batch of some ranks, divided among others."""

import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.proto.caffe_pb2 import NetParameter, SolverParameter
from pycaffe_dist.proto.nets import train_net
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.tools.joint_batch import divided, divisors
from pycaffe_dist.tools.train import TrainOptions, resolve

NET = """
state { phase: TRAIN }
layer { name: "a" type: "Data" top: "a" data_param { source: "x" batch_size: 4 }
  include { phase: TRAIN } }
layer { name: "t" type: "Data" top: "a" data_param { source: "x" batch_size: 7 }
  include { phase: TEST } }
layer { name: "b" type: "DummyData" top: "b" top: "c"
  dummy_data_param { shape { dim: 4 dim: 3 } shape { dim: 8 } } }
layer { name: "d" type: "DummyData" top: "d"
  dummy_data_param { num: 2 channels: 1 height: 1 width: 1 } }
layer { name: "w" type: "Parameter" top: "w" parameter_param { shape { dim: 5 } } }
layer { name: "ip" type: "InnerProduct" bottom: "a" top: "ip"
  inner_product_param { num_output: 3 } }
"""


def net(text=NET):
    return parse_text(text, NetParameter()).message


def sizes(changed):
    layers = {layer.name: layer for layer in changed.layer}
    shapes = [shape.dim[0] for shape in layers["b"].dummy_data_param.shape]
    return [layers["a"].data_param.batch_size, *shapes, *layers["d"].dummy_data_param.num]


def test_every_source_of_training_has_its_share():
    original = net()
    assert sizes(divided(original, 2, 3)) == [6, 6, 12, 3]
    assert sizes(divided(original, 6, 3)) == [2, 2, 4, 1]
    assert sizes(original) == [4, 4, 8, 2]
    assert divided(original, 2, 3).layer[3].parameter_param.shape.dim == [5]


def test_what_cannot_be_divided_is_named():
    with pytest.raises(NetError, match=r'layer "a": the joint batch 12 of 3 ranks .* among 5'):
        divided(net(), 5, 3)
    python = 'layer { name: "p" type: "Python" top: "p" python_param { module: "m" } }'
    with pytest.raises(NetError, match=r'layer "p" \(Python\) does not say how large'):
        divided(net(python), 2, 3)


def test_the_numbers_of_ranks_that_divide_a_batch():
    assert divisors(net(), 4) == [1, 2, 4]
    assert divisors(net(), 3) == [1, 2, 3]


def test_the_rate_goes_with_the_number_of_ranks_where_the_batch_does(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.prototxt").write_text(NET)
    text = 'net: "net.prototxt" base_lr: 0.3 lr_policy: "fixed" max_iter: 1 snapshot_prefix: "r"'
    (tmp_path / "s.prototxt").write_text(text)
    options = TrainOptions("s.prototxt", as_ranks=3, elastic_batch="scale")
    assert resolve(options, 2).base_lr == pytest.approx(0.2)
    assert resolve(options, 3).base_lr == pytest.approx(0.3)
    kept = resolve(TrainOptions("s.prototxt", as_ranks=3), 2)
    assert kept.base_lr == pytest.approx(0.3)
    assert isinstance(kept, SolverParameter)
    assert sizes(train_net(kept).read().net) == [6, 6, 12, 3]

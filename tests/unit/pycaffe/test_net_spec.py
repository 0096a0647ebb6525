import copy
from collections import Counter

import numpy as np
import pytest

import pycaffe_dist as caffe
from pycaffe_dist.proto.caffe_pb2 import TEST, LayerParameter, NetParameter
from pycaffe_dist.pycaffe import net_spec
from pycaffe_dist.pycaffe.net_spec import NetSpec, Top, assign_proto, param_name_dict, to_proto
from pycaffe_dist.pycaffe.net_spec import layers as L
from pycaffe_dist.pycaffe.net_spec import params as P

XAVIER = {"type": "xavier"}


def build_lenet(n, batch):
    """LeNet into anything that takes items."""
    n["data"], n["label"] = L.DummyData(
        shape=[{"dim": [batch, 1, 28, 28]}, {"dim": [batch, 1, 1, 1]}],
        transform_param={"scale": 1 / 256},
        ntop=2,
    )
    n["conv1"] = L.Convolution(n["data"], kernel_size=5, num_output=20, weight_filler=XAVIER)
    n["pool1"] = L.Pooling(n["conv1"], kernel_size=2, stride=2, pool=P.Pooling.MAX)
    n["conv2"] = L.Convolution(n["pool1"], kernel_size=5, num_output=50, weight_filler=XAVIER)
    n["pool2"] = L.Pooling(n["conv2"], kernel_size=2, stride=2, pool=P.Pooling.MAX)
    n["ip1"] = L.InnerProduct(n["pool2"], num_output=500, weight_filler=XAVIER)
    n["relu1"] = L.ReLU(n["ip1"], in_place=True)
    n["ip2"] = L.InnerProduct(n["relu1"], num_output=10, weight_filler=XAVIER)
    n["loss"] = L.SoftmaxWithLoss(n["ip2"], n["label"])
    return n


def load(net_param, tmp_path):
    path = tmp_path / "net.prototxt"
    path.write_text(str(net_param))
    return caffe.Net(str(path), TEST)


LENET = [  # type, name in a NetSpec, name without
    ("DummyData", "data", "DummyData1"),
    ("Convolution", "conv1", "Convolution1"),
    ("Pooling", "pool1", "Pooling1"),
    ("Convolution", "conv2", "Convolution2"),
    ("Pooling", "pool2", "Pooling2"),
    ("InnerProduct", "ip1", "InnerProduct1"),
    ("ReLU", "relu1", "ReLU1"),
    ("InnerProduct", "ip2", "InnerProduct2"),
    ("SoftmaxWithLoss", "loss", "SoftmaxWithLoss1"),
]


@pytest.mark.parametrize("named", [True, False])
def test_lenet(named, tmp_path):
    if named:
        net_param = build_lenet(NetSpec(), 3).to_proto()
    else:
        net_param = build_lenet({}, 3)["loss"].to_proto()
    expected = [(type_, name if named else number) for type_, name, number in LENET]
    assert [(layer.type, layer.name) for layer in net_param.layer] == expected
    relu = net_param.layer[6]
    assert relu.bottom == relu.top == ["ip1" if named else "InnerProduct1"]
    assert net_param.layer[7].bottom == relu.top
    loss = net_param.layer[8]
    assert list(loss.bottom) == (["ip2", "label"] if named else ["InnerProduct2", "DummyData2"])
    assert net_param.layer[0].transform_param.scale == pytest.approx(1 / 256)
    assert [list(s.dim) for s in net_param.layer[0].dummy_data_param.shape] == [
        [3, 1, 28, 28],
        [3, 1, 1, 1],
    ]
    pool = net_param.layer[2].pooling_param
    assert (pool.pool, pool.kernel_size, pool.stride) == (pool.MAX, 2, 2)
    conv = net_param.layer[1].convolution_param
    assert (conv.num_output, list(conv.kernel_size)) == (20, [5])
    assert conv.weight_filler.type == "xavier"

    net = load(net_param, tmp_path)
    assert len(net.layers) == 9
    assert net.blobs[loss.bottom[0]].shape == (3, 10)


def test_layers_without_tops(tmp_path):
    n = NetSpec()
    n.data, n.data2 = L.DummyData(shape={"dim": 3}, ntop=2)
    n.silence_data = L.Silence(n.data, ntop=0)
    n.silence_data2 = L.Silence(n.data2, ntop=0)
    net_param = n.to_proto()
    assert [layer.name for layer in net_param.layer] == ["data", "silence_data", "silence_data2"]
    assert not net_param.layer[1].top
    assert load(net_param, tmp_path).forward() == {}


def test_layers_without_tops_or_names():
    data = L.Input(shape={"dim": 3})
    net = to_proto(data, L.Silence(data, ntop=0), L.Silence(data, ntop=0))
    assert [layer.name for layer in net.layer] == ["Input1", "Silence1", "Silence2"]


def test_inputs_are_tops():
    data = L.DummyData(ntop=2)
    with pytest.raises(TypeError) as e:
        L.Silence(data, ntop=0)
    assert str(e.value) == "Silence input 0 is not a Top (type is <class 'tuple'>)"
    with pytest.raises(TypeError) as e:
        L.Concat(data[0], "data")
    assert str(e.value) == "Concat input 1 is not a Top (type is <class 'str'>)"
    L.Silence(*data, ntop=0)


def test_each_layer_once_after_what_it_needs():
    a = L.Input(shape={"dim": 1})
    b = L.ReLU(a)
    c = L.Eltwise(b, a)
    d = L.Concat(c, b, c)
    net = to_proto(d, b, d)
    assert [layer.type for layer in net.layer] == ["Input", "ReLU", "Eltwise", "Concat"]
    assert list(net.layer[3].bottom) == ["Eltwise1", "ReLU1", "Eltwise1"]


def test_only_what_is_needed():
    n = build_lenet(NetSpec(), 1)
    assert [layer.name for layer in n.pool1.to_proto().layer] == [
        "DummyData1",
        "Convolution1",
        "Pooling1",
    ]


def test_deeper_than_pythons_stack():
    top = L.Input(shape={"dim": 1})
    for _ in range(3000):
        top = L.ReLU(top)
    assert top.to_proto().layer[-1].name == "ReLU3000"


def test_names_by_item_and_by_attribute():
    n = NetSpec()
    n["conv1/7x7"] = L.Input(shape={"dim": 1})
    n.relu = L.ReLU(n["conv1/7x7"])
    assert n["relu"] is n.relu
    assert [layer.name for layer in n.to_proto().layer] == ["conv1/7x7", "relu"]
    assert n.keys() == ["conv1/7x7", "relu"]
    assert n.vals() == [n["conv1/7x7"], n.relu]
    del n["relu"]
    assert [layer.name for layer in n.to_proto().layer] == ["conv1/7x7"]


def test_unnamed_layers_between_named_ones():
    n = NetSpec()
    n.data = L.Input(shape={"dim": 1})
    n.out = L.ReLU(L.Sigmoid(L.Sigmoid(n.data)))
    net = n.to_proto()
    assert [layer.name for layer in net.layer] == ["data", "Sigmoid1", "Sigmoid2", "out"]
    assert net.layer[3].top == ["out"]


def test_unknown_names():
    n = NetSpec()
    for missing in (KeyError, AttributeError):
        with pytest.raises(missing, match="nothing"):
            n.nothing  # noqa: B018
    with pytest.raises(KeyError):
        n["nothing"]
    assert not hasattr(n, "nothing")
    n.data = L.Input(shape={"dim": 1})
    assert copy.copy(n).data is n.data


def test_changing_parameters_later():
    n = NetSpec()
    n.data = L.Input(shape={"dim": 1})
    n.ip = L.InnerProduct(n.data, num_output=1)
    n.update("ip", {"num_output": 5})
    assert n.to_proto().layer[1].inner_product_param.num_output == 5
    assert n.to_proto() == n.to_proto()


def test_where_parameters_go():
    data = L.Input(shape={"dim": 1})
    top = L.InnerProduct(
        data,
        num_output=2,  # of InnerProductParameter
        name="mine",  # of LayerParameter
        param=[{"lr_mult": 1}, {"lr_mult": 2, "decay_mult": 0}],
        include={"phase": 1, "stage": ["a", "b"]},
        loss_weight=3,
        propagate_down=[True, False],
        inner_product_param={"axis": 2, "bias_filler": {"type": "constant", "value": 0.5}},
    )
    layer = top.to_proto().layer[1]
    assert layer.name == "mine"
    assert [(p.lr_mult, p.decay_mult) for p in layer.param] == [(1, 1), (2, 0)]
    assert layer.include[0].phase == TEST
    assert layer.include[0].stage == ["a", "b"]
    assert layer.loss_weight == [3]
    assert layer.propagate_down == [True, False]
    ip = layer.inner_product_param
    assert (ip.num_output, ip.axis, ip.bias_filler.value) == (2, 2, 0.5)


def test_python_layers():
    layers, names, autonames = {}, {}, Counter()
    function = L.Python(module="m", layer="C", param_str="{}", ntop=0)
    function._to_proto(layers, names, autonames)  # as scripts that extend net_spec call it
    layer = layers[function]
    assert (layer.name, names[function], autonames["Python"]) == ("Python1", "Python1", 1)
    assert layer.python_param.module == "m"
    assert layer.python_param.param_str == "{}"


def test_unknown_parameters():
    data = L.Input(shape={"dim": 1})
    with pytest.raises(AttributeError, match=r'"InnerProduct1" \(InnerProduct\), num_outptu: .*no'):
        L.InnerProduct(data, num_outptu=3).to_proto()
    with pytest.raises(AttributeError, match=r"belongs inside .*convolution_param"):
        L.Deconvolution(data, kernel_size=3).to_proto()
    with pytest.raises(AttributeError, match=r'FillerParameter has no field "typ"'):
        L.InnerProduct(data, num_output=3, weight_filler={"typ": "xavier"}).to_proto()
    with pytest.raises(TypeError, match=r"InnerProduct1.*num_output"):
        L.InnerProduct(data, num_output="many").to_proto()


def test_types_that_nobody_knows_yet():
    layer = L.MyOwn(name="x", ntop=2)[1].to_proto().layer[0]
    assert (layer.type, layer.name, list(layer.top)) == ("MyOwn", "x", ["MyOwn1", "MyOwn2"])


@pytest.mark.parametrize("dims", [[1, 2], (1, 2), np.array([1, 2])])
def test_lists_of_any_kind(dims):
    assert list(L.Input(shape={"dim": dims}).to_proto().layer[0].input_param.shape[0].dim) == [1, 2]


def test_assign_proto():
    layer = LayerParameter()
    assign_proto(layer, "bottom", "one")
    assign_proto(layer, "bottom", ["two", "three"])
    assign_proto(layer, "loss_weight", [])
    assign_proto(layer, "param", {"lr_mult": 2})
    assign_proto(layer, "pooling_param", {"kernel_size": np.int64(3)})
    assert layer.bottom == ["one", "two", "three"]
    assert not layer.loss_weight
    assert layer.param[0].lr_mult == 2
    assert layer.pooling_param.kernel_size == 3
    with pytest.raises(AttributeError, match='NetParameter has no field "lyer"; did you mean'):
        assign_proto(NetParameter(), "lyer", {})


def test_param_name_dict():
    names = param_name_dict()
    assert names["ReLU"] == "relu"
    assert names["InnerProduct"] == "inner_product"
    assert names["HDF5Data"] == "hdf5_data"
    assert names["Transformation"] == "transform"
    assert "Deconvolution" not in names
    fields = LayerParameter.DESCRIPTOR.fields_by_name
    assert all(f"{name}_param" in fields for name in names.values())


def test_enum_values():
    assert (P.Pooling.AVE, P.Eltwise.SUM, P.Data.LMDB, P.Loss.NONE) == (1, 1, 1, 3)
    with pytest.raises(AttributeError, match="no message NothingParameter"):
        P.Nothing.MAX  # noqa: B018
    with pytest.raises(AttributeError):
        P.Pooling.NOTHING  # noqa: B018


def test_tops_know_their_layer():
    a, b = L.Slice(L.Input(), ntop=2, axis=1)
    assert a.fn is b.fn
    assert (a.n, b.n, a.fn.ntop, a.fn.type_name) == (0, 1, 2, "Slice")
    assert a.fn.params == {"axis": 1}
    assert isinstance(a.fn.inputs[0], Top)


def test_the_package_of_layers_is_net_specs_layers_too():
    from pycaffe_dist import layers

    top = layers.InnerProduct(layers.Input(shape={"dim": [1, 2]}), num_output=3)
    assert isinstance(top, Top)
    assert [layer.type for layer in top.to_proto().layer] == ["Input", "InnerProduct"]
    from pycaffe_dist.layers import relu  # files are still files

    assert relu.ReLU.type == "ReLU"
    with pytest.raises(ImportError):
        from pycaffe_dist.layers import nothing  # noqa: F401
    assert not hasattr(layers, "__wrapped__")
    assert not hasattr(L, "__wrapped__")


def test_tops_add_what_they_depend_on_once():
    layers, names, autonames = {}, {}, Counter()
    data = L.Input(shape={"dim": 1})
    for top in (L.ReLU(data), L.Sigmoid(data)):
        top._to_proto(layers, names, autonames)
    assert [layer.type for layer in layers.values()] == ["Input", "ReLU", "Sigmoid"]


def test_protobuf_is_found_here():
    assert net_spec.protobuf.__name__ == "google.protobuf"

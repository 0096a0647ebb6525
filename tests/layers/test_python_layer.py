import sys
import textwrap
import traceback

import numpy as np
import pytest

import pycaffe_dist as caffe
from pycaffe_dist.errors import NetError
from pycaffe_dist.layer import Context
from pycaffe_dist.loading import load_weights, save_weights, share_weights
from pycaffe_dist.net import Net
from pycaffe_dist.proto.caffe_pb2 import TEST, TRAIN, NetParameter
from pycaffe_dist.proto.text import parse_text

USER = """
    import caffe

    class Times(caffe.Layer):
        def setup(self, bottom, top):
            self.factor = float(self.param_str or 10)

        def reshape(self, bottom, top):
            top[0].reshape(*bottom[0].data.shape)

        def forward(self, bottom, top):
            top[0].data[...] = self.factor * bottom[0].data

        def backward(self, top, propagate_down, bottom):
            self.asked = propagate_down
            bottom[0].diff[...] = self.factor * top[0].diff

    class Broken(caffe.Layer):
        def setup(self, bottom, top):
            raise RuntimeError("user's own")

    class OfPython2(caffe.Layer):
        def setup(self, bottom, top):
            for i in xrange(3):
                pass

    class Learns(caffe.Layer):
        def setup(self, bottom, top):
            self.blobs.add_blob(1)
            self.blobs[0].data[0] = 0

        def reshape(self, bottom, top):
            top[0].reshape(*bottom[0].data.shape)

        def forward(self, bottom, top):
            top[0].data[...] = bottom[0].data + self.blobs[0].data

        def backward(self, top, propagate_down, bottom):
            self.blobs[0].diff[0] = 1

    class Says(caffe.Layer):
        def setup(self, bottom, top):
            pass

        def reshape(self, bottom, top):
            top[0].reshape()

        def forward(self, bottom, top):
            top[0].data[()] = self.phase

    class Lazy(caffe.Layer):
        def reshape(self, bottom, top):
            top[0].reshape(1)

    class Stranger:
        pass
"""


@pytest.fixture(autouse=True)
def user_module(tmp_path, monkeypatch):
    """A module `mine` in the working directory, which is not on the search path."""
    monkeypatch.setattr(sys, "path", [p for p in sys.path if p not in ("", str(tmp_path))])
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    (tmp_path / "mine.py").write_text(textwrap.dedent(USER))
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    for name in [n for n in sys.modules if n in ("mine", "helper") or n.split(".")[0] == "caffe"]:
        del sys.modules[name]


def python(name, bottom, top, settings=""):
    return f"""layer {{ name: "{name}" type: "Python" bottom: "{bottom}" top: "{top}"
                        python_param {{ module: "mine" layer: {settings} }} }}"""


def build(*layers, phase=TEST, shape="dim: 10 dim: 9 dim: 8", **context):
    text = f"""force_backward: true
               layer {{ name: "data" type: "Input" top: "data"
                        input_param {{ shape {{ {shape} }} }} }} {" ".join(layers)}"""
    param = parse_text(text, NetParameter()).message
    param.state.phase = phase
    return Net(param, Context(**context))


def three():
    return build(
        python("one", "data", "one", '"Times"'),
        python("two", "one", "two", '"Times" param_str: "10"'),
        python("three", "two", "three", '"Times"'),
    )


def test_forward_and_backward_through_three():
    net = three()
    net.blobs[0].data[...] = 8
    net.forward()
    assert (net.blobs[-1].data == 8000).all()
    net.blobs[-1].diff[...] = 7
    net.backward()
    assert (net.blobs[0].diff == 7000).all()
    assert net.layers[1].asked == [True]


def test_reshape_spreads():
    net = three()
    net.blobs[0].reshape(4, 9, 8)
    net.forward()
    assert [blob.shape for blob in net.blobs] == [(4, 9, 8)] * 4


def test_a_layer_that_a_script_makes_by_itself():
    layer = caffe.Layer()
    assert (layer.param_str, layer.param_str_, layer.phase, len(layer.blobs)) == ("", "", 1, 0)


def test_settings_reach_the_object():
    layer = build(python("p", "data", "p", '"Times" param_str: "2.5"')).layers[1]
    assert layer.user_layer.param_str == layer.user_layer.param_str_ == "2.5"
    assert layer.factor == 2.5  # what the layer lacks is the object's
    assert layer.type == "Python"
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = layer.nonsense


@pytest.mark.parametrize("phase", [TRAIN, TEST])
def test_phase(phase):
    net = build(python("p", "data", "p", '"Says"'), phase=phase)
    net.forward()
    assert net.blobs[-1].shape == () and net.blobs[-1].data == phase


def test_blobs_learn_are_saved_loaded_and_shared(tmp_path):
    net = build(python("p", "data", "p", '"Learns"'))
    assert [p.blob for p in net.params.learnable] == net.layers[1].blobs
    net.forward()
    net.backward()
    layer = net.layers[1]
    assert layer.blobs[0].data[0] == 0 and layer.blobs[0].diff[0] == 1
    layer.blobs[0].data[0] += layer.blobs[0].diff[0]
    assert layer.user_layer.blobs[0].data[0] == 1
    save_weights(net, tmp_path / "p.caffemodel")
    other = build(python("p", "data", "p", '"Learns"'))
    load_weights(other, tmp_path / "p.caffemodel")
    assert other.layers[1].user_layer.blobs[0].data[0] == 1
    third = build(python("p", "data", "p", '"Learns"'))
    share_weights(third, net)
    layer.blobs[0].data[0] = 3
    assert third.layers[1].user_layer.blobs[0].data[0] == 3


def test_blobs_have_the_nets_number_type():
    net = build(python("p", "data", "p", '"Learns"'), dtype=np.float64)
    assert net.layers[1].blobs[0].data.dtype == np.float64


def test_exceptions_of_the_user_come_through():
    with pytest.raises(RuntimeError, match="user's own") as caught:
        build(python("p", "data", "p", '"Broken"'))
    assert type(caught.value) is RuntimeError


def test_a_word_of_python_2_gets_a_hint():
    with pytest.raises(NameError, match="xrange") as caught:
        build(python("p", "data", "p", '"OfPython2"'))
    assert "Python 3 has range" in "".join(traceback.format_exception(caught.value))


def test_missing_methods():
    net = build(python("p", "data", "p", '"Lazy"'))
    with pytest.raises(NotImplementedError, match=r"class Lazy needs a method forward\(self"):
        net.forward()


def test_a_missing_import_of_the_module_is_not_hidden(user_module):
    (user_module / "helper.py").write_text("import there_is_no_such_module")
    text = python("p", "data", "p", '"X"').replace('"mine"', '"helper"')
    with pytest.raises(ModuleNotFoundError, match="there_is_no_such_module"):
        build(text)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ('module: "not_there" layer: "X"', '"not_there" is neither on the search path nor in'),
        ('module: "mine" layer: "Nobody"', r"mine .*mine.py\) has no class Nobody"),
        ('module: "mine" layer: "Stranger"', "must be a class derived from .* it is mine.Stranger"),
        ('module: "mine" layer: "caffe"', "must be a class derived from"),
        ('layer: "Times"', "needs a module and a layer"),
    ],
)
def test_refuses(settings, message):
    text = f'layer {{ name: "p" type: "Python" top: "p" python_param {{ {settings} }} }}'
    with pytest.raises(NetError, match=f'layer "p" .Python.: .*{message}'):
        build(text)


def test_a_class_with_a_constructor_of_its_own(user_module):
    (user_module / "mine.py").write_text(
        textwrap.dedent("""
        import caffe
        class Own(caffe.Layer):
            def __init__(self, p_object, *args, **kwargs):
                super().__init__(p_object, *args, **kwargs)
                self.seen = p_object.name
            def reshape(self, bottom, top):
                top[0].reshape(1)
        """)
    )
    assert build(python("p", "data", "p", '"Own"')).layers[1].seen == "p"


def test_loss_weight_makes_a_loss():
    text = python("p", "data", "p", '"Times" param_str: "2"')[:-1] + "loss_weight: 1 }"
    net = build(text, shape="")
    net.blobs[0].data[...] = 3
    assert net.forward() == 6

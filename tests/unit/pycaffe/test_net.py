import gc
from collections import OrderedDict
from pathlib import Path

import numpy as np
import pytest

import pycaffe_dist as caffe
from pycaffe_dist.errors import FileError, NetError
from pycaffe_dist.pycaffe.net import Net

# Data, layers with weights, a loss: the shape of the net that pycaffe's own tests use.
SIMPLE = """
name: 'testnet' force_backward: true
layer { name: 'data' type: 'DummyData' top: 'data' top: 'label'
        dummy_data_param { shape { dim: 5 dim: 2 dim: 3 dim: 4 } shape { dim: 5 }
                           data_filler { type: 'gaussian' std: 1 }
                           data_filler { type: 'constant' value: 2 } } }
layer { name: 'conv' type: 'Convolution' bottom: 'data' top: 'conv'
        convolution_param { num_output: 11 kernel_size: 2 pad: 3
                            weight_filler { type: 'gaussian' std: 1 }
                            bias_filler { type: 'constant' value: 2 } }
        param { decay_mult: 1 } param { decay_mult: 0 } }
layer { name: 'ip' type: 'InnerProduct' bottom: 'conv' top: 'ip_blob'
        inner_product_param { num_output: 7 weight_filler { type: 'gaussian' std: 2.5 }
                              bias_filler { type: 'constant' value: -3 } } }
layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'ip_blob' bottom: 'label' top: 'loss' }
"""
DEPLOY = """
name: 'deploy' force_backward: true
layer { name: 'in' type: 'Input' top: 'data' top: 'scale'
        input_param { shape { dim: 4 dim: 3 } shape { dim: 4 dim: 2 } } }
layer { name: 'one' type: 'InnerProduct' bottom: 'data' top: 'one'
        inner_product_param { num_output: 2 weight_filler { type: 'gaussian' } } }
layer { name: 'relu' type: 'ReLU' bottom: 'one' top: 'hidden' }
layer { name: 'two' type: 'InnerProduct' bottom: 'hidden' top: 'two'
        inner_product_param { num_output: 2 weight_filler { type: 'gaussian' } } }
layer { name: 'pass' type: 'ReLU' bottom: 'scale' top: 'pass' relu_param { negative_slope: 1 } }
"""


@pytest.fixture
def write(tmp_path):
    def write(text, name="net.prototxt"):
        path = tmp_path / name
        path.write_text(text)
        return str(path)

    return write


@pytest.fixture
def simple(write):
    caffe.set_random_seed(1701)
    net = caffe.Net(write(SIMPLE), caffe.TRAIN)
    net.blobs["label"].data[...] = [0, 1, 6, 3, 2]
    return net


@pytest.fixture
def deploy(write):
    caffe.set_random_seed(1701)
    return caffe.Net(write(DEPLOY), caffe.TEST)


def rows(count, width, seed=0):
    return np.random.default_rng(seed).standard_normal((count, width)).astype(np.float32)


def predicted(net, x):
    """What `two` must be, by hand."""
    (w1, b1), (w2, b2) = ([b.data for b in net.params[name]] for name in ("one", "two"))
    return np.maximum(x @ w1.T + b1, 0) @ w2.T + b2


# -- making one ------------------------------------------------------------------------------------


RULES = """
layer { name: 'data' type: 'Input' top: 'data' input_param { shape { dim: 1 } } }
layer { name: 'none' type: 'ReLU' bottom: 'data' top: 'none' }
layer { name: 'train' type: 'ReLU' bottom: 'data' top: 'train' include { phase: TRAIN } }
layer { name: 'test' type: 'ReLU' bottom: 'data' top: 'test' include { phase: TEST } }
layer { name: 'level0' type: 'ReLU' bottom: 'data' top: 'l0' include { min_level: 0 max_level: 0 } }
layer { name: 'level1' type: 'ReLU' bottom: 'data' top: 'l1' include { min_level: 1 max_level: 1 } }
layer { name: 'from0' type: 'ReLU' bottom: 'data' top: 'f0' include { min_level: 0 } }
layer { name: 'from1' type: 'ReLU' bottom: 'data' top: 'f1' include { min_level: 1 } }
layer { name: 'A' type: 'ReLU' bottom: 'data' top: 'A' include { stage: 'A' } }
layer { name: 'B' type: 'ReLU' bottom: 'data' top: 'B' include { stage: 'B' } }
layer { name: 'AorB' type: 'ReLU' bottom: 'data' top: 'AorB'
        include { stage: 'A' } include { stage: 'B' } }
layer { name: 'AandB' type: 'ReLU' bottom: 'data' top: 'AandB' include { stage: 'A' stage: 'B' } }
layer { name: 'notA' type: 'ReLU' bottom: 'data' top: 'notA' include { not_stage: 'A' } }
"""


@pytest.mark.parametrize(
    ("args", "kwargs", "names"),
    [
        ((caffe.TRAIN,), {}, "none train level0 from0 notA"),
        ((caffe.TEST,), {}, "none test level0 from0 notA"),
        ((), {"phase": caffe.TEST}, "none test level0 from0 notA"),
        ((0,), {}, "none train level0 from0 notA"),
        ((caffe.TEST, 0), {}, "none test level0 from0 notA"),
        ((caffe.TEST, 1), {}, "none test level1 from0 from1 notA"),
        ((caffe.TEST,), {"level": 1}, "none test level1 from0 from1 notA"),
        ((caffe.TEST,), {"level": 2}, "none test from0 from1 notA"),
        ((caffe.TEST,), {"stages": ["A"]}, "none test level0 from0 A AorB"),
        ((caffe.TEST,), {"stages": ["B"]}, "none test level0 from0 B AorB notA"),
        ((caffe.TEST,), {"stages": ("A", "B")}, "none test level0 from0 A B AorB AandB"),
        ((caffe.TRAIN, 1, ["A"]), {}, "none train level1 from0 from1 A AorB"),
        ((caffe.TRAIN,), {"stages": None, "level": 0}, "none train level0 from0 notA"),
    ],
)
def test_phase_level_and_stages_choose_the_layers(write, args, kwargs, names):
    net = caffe.Net(write(RULES), *args, **kwargs)
    assert list(net.layer_dict) == ["data", "data_data_0_split", *names.split()]


def test_the_callers_state_goes_before_the_files(write):
    path = write("state { phase: TRAIN level: 1 stage: 'A' }" + RULES)
    net = caffe.Net(path, caffe.TEST, stages=["B"])
    wanted = ["none", "test", "level0", "from0", "A", "B", "AorB", "AandB"]  # stages add up
    assert list(net.layer_dict)[2:] == wanted


ALL_IN_ONE = """
layer { name: 'train_data' type: 'DummyData' top: 'data' top: 'label'
        dummy_data_param { shape { dim: 1 dim: 1 dim: 10 dim: 10 } shape { dim: 1 } }
        include { phase: TRAIN stage: 'train' } }
layer { name: 'val_data' type: 'DummyData' top: 'data' top: 'label'
        dummy_data_param { shape { dim: 1 dim: 1 dim: 10 dim: 10 } shape { dim: 1 } }
        include { phase: TEST stage: 'val' } }
layer { name: 'deploy_data' type: 'Input' top: 'data'
        input_param { shape { dim: 1 dim: 1 dim: 10 dim: 10 } }
        include { phase: TEST stage: 'deploy' } }
layer { name: 'ip' type: 'InnerProduct' bottom: 'data' top: 'ip'
        inner_product_param { num_output: 2 } }
layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'ip' bottom: 'label' top: 'loss'
        include { phase: TRAIN stage: 'train' } include { phase: TEST stage: 'val' } }
layer { name: 'pred' type: 'Softmax' bottom: 'ip' top: 'pred'
        include { phase: TEST stage: 'deploy' } }
"""


@pytest.mark.parametrize(
    ("phase", "stage", "layers", "inputs", "outputs"),
    [
        (caffe.TRAIN, "train", ["train_data", "ip", "loss"], [], ["loss"]),
        (caffe.TEST, "val", ["val_data", "ip", "loss"], [], ["loss"]),
        (caffe.TEST, "deploy", ["deploy_data", "ip", "pred"], ["data"], ["pred"]),
    ],
)
def test_training_validation_and_deployment_in_one_file(
    write, phase, stage, layers, inputs, outputs
):
    net = caffe.Net(write(ALL_IN_ONE), phase, stages=[stage])
    assert list(net.layer_dict) == layers
    assert net.inputs == inputs
    assert net.outputs == outputs
    net.forward()


def test_weights_at_birth_in_the_new_form_and_the_old(write, tmp_path, deploy):
    path = write(DEPLOY)
    weights = str(tmp_path / "w.caffemodel")
    deploy.save(weights)
    with pytest.warns(DeprecationWarning, match="old form"):
        old = caffe.Net(path, weights, caffe.TEST)
    made = [
        old,
        caffe.Net(path, caffe.TEST, weights=weights),
        caffe.Net(path, caffe.TEST, 0, None, weights),
        caffe.Net(network_file=path, phase=caffe.TEST, weights=weights),
        caffe.Net(Path(path), phase=caffe.TEST, weights=Path(weights)),
    ]
    for net in made:
        for name, blobs in deploy.params.items():
            for mine, theirs in zip(net.params[name], blobs, strict=True):
                np.testing.assert_array_equal(mine.data, theirs.data)


def test_a_file_that_is_not_there(tmp_path, write):
    with pytest.raises(FileError, match=r"Could not open file .*none\.prototxt"):
        caffe.Net(str(tmp_path / "none.prototxt"), caffe.TEST)
    with pytest.raises(FileError, match=r"none\.caffemodel"):
        caffe.Net(write(DEPLOY), caffe.TEST, weights=str(tmp_path / "none.caffemodel"))


@pytest.mark.parametrize("weights", [None, "none.caffemodel"])
def test_scripts_that_catch_pycaffes_runtime_error_go_on_working(write, tmp_path, weights):
    with pytest.raises(RuntimeError):
        if weights:
            caffe.Net(write(DEPLOY), caffe.TEST, weights=str(tmp_path / weights))
        else:
            caffe.Net(str(tmp_path / "none.prototxt"), caffe.TEST)


def test_a_phase_is_needed(write):
    with pytest.raises(TypeError, match="phase"):
        caffe.Net(write(DEPLOY))


# -- what is in it ---------------------------------------------------------------------------------


def test_names_of_a_net_with_data(simple):
    assert list(simple.layer_dict) == ["data", "conv", "ip", "loss"]
    assert list(simple._layer_names) == ["data", "conv", "ip", "loss"]
    types = ["DummyData", "Convolution", "InnerProduct", "SoftmaxWithLoss"]
    assert [la.type for la in simple.layers] == types
    assert all(
        simple.layer_dict[n] is la for n, la in zip(simple._layer_names, simple.layers, strict=True)
    )
    assert list(simple.blobs) == ["data", "label", "conv", "ip_blob", "loss"]
    assert list(simple.params) == ["conv", "ip"]
    assert simple.inputs == []
    assert simple.outputs == ["loss"]
    assert simple.top_names == OrderedDict(
        [("data", ["data", "label"]), ("conv", ["conv"]), ("ip", ["ip_blob"]), ("loss", ["loss"])]
    )
    assert simple.bottom_names == OrderedDict(
        [("data", []), ("conv", ["data"]), ("ip", ["conv"]), ("loss", ["ip_blob", "label"])]
    )
    assert simple.blob_loss_weights == {"data": 0, "label": 0, "conv": 0, "ip_blob": 0, "loss": 1}


def test_what_is_below_the_names(deploy):
    assert list(deploy._blob_names) == ["data", "scale", "one", "hidden", "two", "pass"]
    below = zip(deploy._blob_names, deploy._blobs, strict=True)
    assert all(blob is deploy.blobs[name] for name, blob in below)
    assert list(deploy._inputs) == [0, 1]
    assert list(deploy._outputs) == [5, 4]
    assert list(deploy._top_ids(0)) == [0, 1]
    assert list(deploy._bottom_ids(4)) == [1]
    assert list(deploy._blob_loss_weights) == [0] * 6
    assert deploy.inputs == ["data", "scale"]
    assert deploy.outputs == ["pass", "two"]


@pytest.mark.parametrize("name", ["blobs", "params", "layers", "layer_dict", "inputs"])
def test_what_a_net_has_cannot_be_replaced(deploy, name):
    with pytest.raises(AttributeError):
        setattr(deploy, name, {})


def test_splits_are_seen(write):
    net = caffe.Net(write(RULES), caffe.TEST)
    assert "data_data_0_split_0" in net.blobs
    assert net.top_names["data_data_0_split"][0] == "data_data_0_split_0"
    assert net.bottom_names["none"] == ["data_data_0_split_0"]


def test_tops_that_nobody_named_do_not_shift_the_names(write):
    loss = "layer { name: '%s' type: 'SoftmaxWithLoss' bottom: 'ip_blob' bottom: 'label' }"
    text = SIMPLE.replace(
        "layer { name: 'loss'", f"{loss % 'l1'} {loss % 'l2'} layer {{ name: 'loss'"
    )
    net = caffe.Net(write(text + "layer { name: 'in' type: 'Input' top: 'in' }"), caffe.TRAIN)
    assert net.outputs == ["in", "loss"]
    assert net.inputs == ["in"]
    assert net.top_names["loss"] == ["loss"]
    assert net.top_names["l2"] == ["(automatic)"]


def test_of_two_layers_with_one_name_the_last_is_in_layer_dict(write):
    net = caffe.Net(
        write(DEPLOY.replace("name: 'relu'", "name: 'one'").replace("name: 'pass'", "name: 'x'")),
        caffe.TEST,
    )
    assert net.layer_dict["one"].type == "ReLU"


def test_the_shape_of_a_blob_in_old_words(simple):
    blob = simple.blobs["data"]
    assert list(blob.shape) == [5, 2, 3, 4]
    assert (blob.num, blob.channels, blob.height, blob.width) == (5, 2, 3, 4)
    assert blob.count == 120
    loss = simple.blobs["loss"]
    assert loss.data.shape == ()
    assert (loss.num, loss.channels, loss.height, loss.width) == (1, 1, 1, 1)
    with pytest.raises(TypeError):
        blob.reshape(num=1)


def test_arrays_outlive_the_net(write):
    caffe.set_random_seed(5)
    net = caffe.Net(write(DEPLOY), caffe.TEST)
    weights = [(b, b.data.copy()) for blobs in net.params.values() for b in blobs]
    arrays = [(b.data, b.data.copy()) for blobs in net.params.values() for b in blobs]
    out = net.forward(data=rows(4, 3), scale=rows(4, 2))
    kept = {name: value.copy() for name, value in out.items()}
    del net
    gc.collect()
    for blob, value in weights:
        np.testing.assert_array_equal(blob.data, value)
    for array, value in arrays:
        np.testing.assert_array_equal(array, value)
    for name, value in kept.items():
        np.testing.assert_array_equal(out[name], value)


# -- forward ---------------------------------------------------------------------------------------


def test_forward_sets_inputs_and_returns_live_outputs(deploy):
    x, s = rows(4, 3), rows(4, 2, 1)
    out = deploy.forward(data=x, scale=s)
    assert sorted(out) == ["pass", "two"]
    np.testing.assert_allclose(out["two"], predicted(deploy, x), rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(out["pass"], s)
    assert np.shares_memory(out["two"], deploy.blobs["two"].data)
    x = rows(4, 3, 2)
    deploy.forward(data=x, scale=s)
    np.testing.assert_allclose(out["two"], predicted(deploy, x), rtol=1e-4, atol=1e-5)


def test_forward_without_arguments_uses_what_is_there(deploy):
    x = rows(4, 3)
    deploy.blobs["data"].data[...] = x
    np.testing.assert_allclose(deploy.forward()["two"], predicted(deploy, x), rtol=1e-4, atol=1e-5)


def test_inputs_are_broadcast(deploy):
    deploy.forward(data=[[1], [2], [3], [4]], scale=np.zeros((4, 1)))
    np.testing.assert_array_equal(deploy.blobs["data"].data, [[1] * 3, [2] * 3, [3] * 3, [4] * 3])


@pytest.mark.parametrize(
    ("inputs", "problem"),
    [
        ({"data": np.zeros((4, 3))}, "Input blob arguments do not match net inputs"),
        (
            {"data": np.zeros((4, 3)), "scale": np.zeros((4, 2)), "x": 1},
            "Input blob arguments do not match net inputs",
        ),
        ({"two": np.zeros((4, 2))}, "do not match net inputs"),
        ({"data": np.zeros((5, 3)), "scale": np.zeros((4, 2))}, "Input is not batch sized"),
        ({"data": np.zeros((1, 3)), "scale": np.zeros((4, 2))}, "Input is not batch sized"),
        ({"data": 0, "scale": np.zeros((4, 2))}, "Input is not batch sized"),
        ({"data": np.zeros((4, 4)), "scale": np.zeros((4, 2))}, "broadcast"),
    ],
)
def test_inputs_that_do_not_fit(deploy, inputs, problem):
    with pytest.raises(ValueError, match=problem):
        deploy.forward(**inputs)


@pytest.mark.parametrize(
    ("kwargs", "names"),
    [
        ({}, ["pass", "two"]),
        ({"blobs": ["one"]}, ["one", "pass", "two"]),
        ({"blobs": ["two", "one"]}, ["one", "pass", "two"]),
        ({"blobs": ("hidden",), "end": "one"}, ["hidden", "one"]),
        ({"end": "relu"}, ["hidden"]),
        ({"end": "in"}, ["data", "scale"]),
        ({"start": "two"}, ["pass", "two"]),
        ({"start": "one", "end": "two"}, ["two"]),
    ],
)
def test_which_blobs_come_back(deploy, kwargs, names):
    out = deploy.forward(**kwargs)
    assert sorted(out) == names
    assert all(np.shares_memory(value, deploy.blobs[name].data) for name, value in out.items())


def test_from_a_layer_to_another_by_hand(simple):
    weights, biases = (b.data for b in simple.params["ip"])
    conv = simple.blobs["conv"].data
    conv[...] = np.random.default_rng(1).standard_normal(conv.shape)
    by_hand = conv.reshape(5, -1) @ weights.T + biases
    simple.blobs["ip_blob"].data[...] = 0
    out = simple.forward(start="ip", end="ip")
    np.testing.assert_allclose(out["ip_blob"], by_hand, rtol=1e-3, atol=1e-5)
    ip_diff = simple.blobs["ip_blob"].diff
    ip_diff[...] = np.random.default_rng(2).standard_normal(ip_diff.shape)
    out = simple.backward(start="ip", end="ip")
    assert list(out) == ["conv"]
    np.testing.assert_allclose(out["conv"].reshape(5, -1), ip_diff @ weights, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("kwargs", [{"start": "x"}, {"end": "x"}])
@pytest.mark.parametrize("method", ["forward", "backward"])
def test_there_is_no_such_layer(deploy, method, kwargs):
    with pytest.raises(NetError, match='no layer "x" in net "deploy"'):
        getattr(deploy, method)(**kwargs)


def test_forward_by_numbers_returns_the_loss(simple):
    loss = simple._forward(0, 3)
    assert loss == pytest.approx(float(simple.blobs["loss"].data))
    assert loss > 0
    assert simple._forward(1, 2) == 0
    simple.clear_param_diffs()
    simple._backward(3, 2)
    assert simple.params["ip"][0].diff.any()
    assert not simple.params["conv"][0].diff.any()
    simple._backward(1, 0)
    assert simple.params["conv"][0].diff.any()


def test_forward_and_backward_of_a_net_with_data(simple):
    out = simple.forward()
    assert list(out) == ["loss"]
    assert out["loss"].shape == ()
    assert simple.backward() == {}
    assert simple.params["conv"][0].diff.any()


# -- backward --------------------------------------------------------------------------------------


def test_backward_sets_and_returns_live_gradients(deploy):
    deploy.forward(data=rows(4, 3), scale=rows(4, 2))
    top = rows(4, 2, 7)
    out = deploy.backward(**{"two": np.zeros((4, 2)), "pass": top})
    assert sorted(out) == ["data", "scale"]
    np.testing.assert_array_equal(out["scale"], top)
    assert not out["data"].any()
    deploy.backward(**{"two": top, "pass": top})
    w1, w2 = (deploy.params[name][0].data for name in ("one", "two"))
    by_hand = ((top @ w2) * (deploy.blobs["one"].data > 0)) @ w1
    np.testing.assert_allclose(out["data"], by_hand, rtol=1e-4, atol=1e-6)  # the view is live


@pytest.mark.parametrize(
    ("kwargs", "names"),
    [
        ({}, ["data", "scale"]),
        ({"diffs": ["hidden"]}, ["data", "hidden", "scale"]),
        ({"end": "two"}, ["hidden"]),
        ({"end": "two", "diffs": ["one"]}, ["hidden", "one"]),
        ({"start": "relu"}, ["data", "scale"]),
    ],
)
def test_which_gradients_come_back(deploy, kwargs, names):
    assert sorted(deploy.backward(**kwargs)) == names


@pytest.mark.parametrize(
    ("diffs", "problem"),
    [
        ({"two": np.zeros((4, 2))}, "Top diff arguments do not match net outputs"),
        ({"two": np.zeros((4, 2)), "pass": np.zeros((3, 2))}, "Diff is not batch sized"),
    ],
)
def test_gradients_that_do_not_fit(deploy, diffs, problem):
    with pytest.raises(ValueError, match=problem):
        deploy.backward(**diffs)


def test_clear_param_diffs(simple):
    simple.forward()
    simple.backward()
    kept = simple.params["conv"][0].diff
    assert kept.any()
    simple.clear_param_diffs()
    assert not any(b.diff.any() for blobs in simple.params.values() for b in blobs)
    assert not kept.any()  # the same memory


# -- any number of items ---------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 3, 4, 5, 8, 11])
def test_forward_all(deploy, count):
    x, s = rows(count, 3), rows(count, 2, 1)
    batches = []
    deploy.before_forward(
        lambda i: batches.append(deploy.blobs["data"].data.copy()) if i == 0 else 0
    )
    out = deploy.forward_all(blobs=["hidden"], data=x, scale=s)
    assert sorted(out) == ["hidden", "pass", "two"]
    assert all(len(value) == count for value in out.values())
    np.testing.assert_allclose(out["two"], predicted(deploy, x), rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(out["pass"], s)
    assert not any(np.shares_memory(v, deploy.blobs[n].data) for n, v in out.items())
    seen = np.concatenate(batches)
    assert len(seen) == -(-count // 4) * 4
    np.testing.assert_array_equal(seen[:count], x)
    assert not seen[count:].any()  # the last batch is filled up with zeros


def test_forward_all_takes_lists(deploy):
    x = rows(5, 3)
    out = deploy.forward_all(data=list(x), scale=[[0, 0]] * 5)
    np.testing.assert_allclose(out["two"], predicted(deploy, x), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("count", [2, 4, 7])
def test_forward_backward_all(deploy, count):
    x, s, top = rows(count, 3), rows(count, 2, 1), rows(count, 2, 2)
    outs, diffs = deploy.forward_backward_all(
        blobs=["one"], diffs=["hidden"], **{"data": x, "scale": s, "two": top, "pass": 2 * top}
    )
    assert sorted(outs) == ["one", "pass", "two"]
    assert sorted(diffs) == ["data", "hidden", "scale"]
    assert all(len(v) == count for v in [*outs.values(), *diffs.values()])
    np.testing.assert_allclose(outs["two"], predicted(deploy, x), rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(diffs["scale"], 2 * top)
    w2 = deploy.params["two"][0].data
    np.testing.assert_allclose(diffs["hidden"], top @ w2, rtol=1e-4, atol=1e-5)


# -- shapes ----------------------------------------------------------------------------------------


def test_another_batch_size(deploy):
    x = rows(9, 3)
    deploy.blobs["data"].reshape(9, 3)
    deploy.blobs["data"].data[...] = x
    deploy.reshape()
    assert deploy.blobs["two"].data.shape == (9, 2)
    np.testing.assert_allclose(deploy.forward()["two"], predicted(deploy, x), rtol=1e-4, atol=1e-5)


# -- weights ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("save", "load"),
    [("save", "copy_from"), ("save_hdf5", "load_hdf5"), ("save_hdf5", "copy_from")],
)
def test_weights_go_round(write, tmp_path, simple, save, load):
    path = str(tmp_path / "w")
    getattr(simple, save)(path)
    caffe.set_random_seed(2)
    other = Net(write(SIMPLE), caffe.TRAIN)
    assert not np.array_equal(other.params["ip"][0].data, simple.params["ip"][0].data)
    held = other.params["ip"][0].data
    assert getattr(other, load)(path) is None
    for name in simple.params:
        for mine, theirs in zip(other.params[name], simple.params[name], strict=True):
            np.testing.assert_array_equal(mine.data, theirs.data)
    np.testing.assert_array_equal(held, simple.params["ip"][0].data)


def test_share_with(write, deploy):
    other = caffe.Net(write(DEPLOY), caffe.TEST)
    other.share_with(deploy)
    deploy.params["one"][0].data[...] = 3
    assert (other.params["one"][0].data == 3).all()
    x, s = rows(4, 3), rows(4, 2)
    np.testing.assert_array_equal(
        other.forward(data=x, scale=s)["two"], deploy.forward(data=x, scale=s)["two"]
    )


# -- the rest --------------------------------------------------------------------------------------


def test_hooks(simple):
    events = []
    simple.before_forward(lambda i: events.append(("bf", i)))
    simple.after_forward(lambda i: events.append(("af", i)))
    simple.before_backward(lambda i: events.append(("bb", i)))
    simple.after_backward(lambda i: events.append(("ab", i)))
    simple.forward(end="conv")
    assert events == [("bf", 0), ("af", 0), ("bf", 1), ("af", 1)]
    events.clear()
    simple.backward()
    assert events == [(kind, i) for i in (3, 2, 1, 0) for kind in ("bb", "ab")]


def test_arrays_for_a_net_without_memory_data(simple):
    with pytest.raises(NetError, match="MemoryData"):
        simple.set_input_arrays(np.zeros((5, 2, 3, 4), np.float32), np.zeros(5, np.float32))


def test_the_face_of_a_net_that_exists(deploy):
    face = Net.of(deploy.core)
    assert face.blobs["data"] is deploy.blobs["data"]
    face.params["one"][0].data[...] = 2
    assert (deploy.params["one"][0].data == 2).all()


def test_weights_of_another_net(tmp_path):
    """Named with the net they must fit; a script's copy_from passes over them, as Caffe's does."""
    text = """layer {{ name: "x" type: "Input" top: "x"
                       input_param {{ shape {{ dim: 1 dim: 2 }} }} }}
              layer {{ name: "{0}" type: "InnerProduct" bottom: "x" top: "{0}"
                       inner_product_param {{ num_output: 3 }} }}"""
    for name in "ab":
        (tmp_path / f"{name}.prototxt").write_text(text.format(name))
    files = [str(tmp_path / name) for name in ("a.prototxt", "b.prototxt", "a.caffemodel")]
    caffe.Net(files[0], caffe.TEST).save(files[2])
    with pytest.raises(NetError, match="has no weights for this net"):
        caffe.Net(files[1], caffe.TEST, weights=files[2])
    caffe.Net(files[1], caffe.TEST).copy_from(files[2])


HELD = """
input: "data" input_shape { dim: 2 dim: 16 dim: 6 dim: 6 } force_backward: true
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv"
  convolution_param { num_output: 16 kernel_size: 3 weight_filler { type: "gaussian" std: 1 } } }
layer { name: "relu" type: "ReLU" bottom: "conv" top: "conv" }
"""


def test_arrays_that_a_script_holds_are_written_and_read_by_every_pass(write):
    """Also where layers keep blobs in blocks, or on a device."""
    net, again = (caffe.Net(write(HELD), caffe.TRAIN) for _ in range(2))
    data, out = net.blobs["data"].data, net.blobs["conv"].data
    weights, given = net.params["conv"][0].data, net.blobs["data"].diff
    rng = np.random.default_rng(0)
    for _ in range(3):
        data[...], weights[...] = (
            rng.standard_normal(data.shape),
            rng.standard_normal(weights.shape),
        )
        net.forward()
        net.blobs["conv"].diff[...] = 1
        net.backward()
        again.params["conv"][0].data[...] = weights
        want = again.forward(data=data)["conv"]
        np.testing.assert_allclose(out, want, rtol=1e-5, atol=1e-4)
        want = again.backward(conv=np.ones(out.shape))["data"]
        np.testing.assert_allclose(given, want, rtol=1e-5, atol=1e-4)

"""TEST nets that OpenVINO or ONNX Runtime compute: the same numbers, and pycaffe's promises."""

import gc
import logging
import signal

import h5py
import numpy as np
import pytest

import pycaffe_dist as caffe
from pycaffe_dist.cli import main
from pycaffe_dist.engines import runtime
from pycaffe_dist.engines.runtime import libraries, runner
from pycaffe_dist.errors import PcdError

NET = """
name: "small" force_backward: true
layer { name: "data" type: "Input" top: "data"
  input_param { shape { dim: 2 dim: 3 dim: 12 dim: 12 } } }
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv"
  convolution_param { num_output: 8 kernel_size: 3 pad: 1 weight_filler { type: "xavier" } } }
layer { name: "relu" type: "ReLU" bottom: "conv" top: "conv" }
layer { name: "pool" type: "Pooling" bottom: "conv" top: "pool"
  pooling_param { pool: MAX kernel_size: 3 stride: 2 } }
layer { name: "ip" type: "InnerProduct" bottom: "pool" top: "ip"
  inner_product_param { num_output: 5 weight_filler { type: "xavier" } } }
layer { name: "prob" type: "Softmax" bottom: "ip" top: "prob" }
"""
SCORED = (
    NET.replace("\n  input_param { shape { dim: 2 dim: 3 dim: 12 dim: 12 } }", "")
    .replace(
        'type: "Input" top: "data"',
        'type: "DummyData" top: "data" top: "label" '
        "dummy_data_param { shape { dim: 2 dim: 3 dim: 12 dim: 12 } shape { dim: 2 } "
        'data_filler { type: "constant" value: 0.5 } data_filler { type: "constant" value: 3 } }',
    )
    .replace(
        'layer { name: "prob" type: "Softmax" bottom: "ip" top: "prob" }',
        """
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label" top: "loss" }
layer { name: "acc" type: "Accuracy" bottom: "ip" bottom: "label" top: "acc" }""",
    )
)


@pytest.fixture(params=runtime.NAMES)
def library(request, monkeypatch):
    monkeypatch.setenv(runtime.VARIABLE, request.param)
    return request.param


@pytest.fixture
def build(tmp_path, monkeypatch):
    """A net with these weights, computed as PCD_RUNTIME says, or by our engine alone."""

    def build(text=NET, alone=False):
        path = tmp_path / "net.prototxt"
        path.write_text(text)
        with monkeypatch.context() as patch:
            if alone:
                patch.setenv(runtime.VARIABLE, "off")
            caffe.set_random_seed(3)
            return caffe.Net(str(path), caffe.TEST)

    return build


@pytest.fixture
def images():
    return np.random.default_rng(5).standard_normal((2, 3, 12, 12)).astype(np.float32)


def test_outputs_are_ours_and_the_library_makes_them(library, build, images):
    net, ours = build(), build(alone=True)
    assert ours.core.substitute is None
    for scale in (1, -2):
        found = net.forward(data=scale * images)["prob"].copy()
        assert found == pytest.approx(ours.forward(data=scale * images)["prob"], abs=1e-5)
    assert net.core.substitute.way.name == library


def test_every_blob_may_be_read_after_a_pass(library, build, images, caplog):
    net, ours = build(), build(alone=True)
    net.forward(data=images)
    ours.forward(data=images)
    caplog.set_level(logging.INFO)
    for name in ours.blobs:
        assert net.blobs[name].data == pytest.approx(ours.blobs[name].data, abs=1e-5), name
    assert caplog.text.count("our layers run for this pass, too") == 1
    # From now on it is an output of the library: no layer of ours runs.
    kept = net.blobs["pool"].data
    again = net.forward(data=2 * images, blobs=["pool"])["pool"]
    assert net.core.substitute.name == library
    ours.forward(data=2 * images)
    assert again == pytest.approx(ours.blobs["pool"].data, abs=1e-5)
    assert kept == pytest.approx(again, abs=1e-6)
    assert caplog.text.count("our layers run for this pass, too") == 1


def test_parts_of_the_net_and_a_backward_are_our_engines(library, build, images):
    net, ours = build(), build(alone=True)
    for n in (net, ours):
        n.forward(data=images)
        n.blobs["prob"].diff[...] = np.arange(10).reshape(2, 5)
        n.backward()
    assert np.abs(ours.blobs["data"].diff).max() > 0
    assert net.blobs["data"].diff == pytest.approx(ours.blobs["data"].diff, abs=1e-5)
    net.forward(data=images)
    assert net.forward(start="pool", end="ip")["ip"] == pytest.approx(
        ours.blobs["ip"].data, abs=1e-5
    )


def test_other_weights_are_noticed_and_looking_at_them_changes_nothing(library, build, images):
    net = build()
    before = net.forward(data=images)["prob"].copy()
    way = net.core.substitute.way
    float(net.params["ip"][0].data.sum())  # looked at, which might have changed them
    net.forward(data=images)
    assert net.core.substitute.way is way
    net.params["ip"][0].data[...] *= -1
    after = net.forward(data=images)["prob"]
    assert net.core.substitute.way is not way
    ours = build(alone=True)
    ours.params["ip"][0].data[...] *= -1
    assert after == pytest.approx(ours.forward(data=images)["prob"], abs=1e-5)
    assert np.abs(after - before).max() > 1e-3


def test_other_shapes_are_noticed(library, build, images):
    net, ours = build(), build(alone=True)
    net.forward(data=images)
    more = np.concatenate([images, images[:, :, ::-1]])
    for n in (net, ours):
        n.blobs["data"].reshape(*more.shape)
    assert net.forward(data=more)["prob"] == pytest.approx(
        ours.forward(data=more)["prob"], abs=1e-5
    )
    assert net.core.substitute.way.name == library


def test_losses_and_scores_are_computed_behind_it(library, build):
    net, ours = build(SCORED), build(SCORED, alone=True)
    found, expected = net.forward(), ours.forward()
    assert found.keys() == expected.keys() == {"loss", "acc"}
    for name, value in expected.items():
        assert float(found[name]) == pytest.approx(float(value), abs=1e-5)
    assert net.core.substitute.way.name == library
    assert float(net.core.forward()) == pytest.approx(float(ours.core.forward()), abs=1e-5)
    assert float(expected["loss"]) > 0.1


def test_a_net_that_is_watched_is_our_engine_s(library, build, images):
    """Each hook is called with every layer, which a library would leave out."""
    for hooks in ("before_forward", "after_forward"):
        net, seen = build(), []
        getattr(net.core, hooks).append(seen.append)
        net.forward(data=images)
        assert seen == list(range(len(net.core.layers))) and net.core.substitute.way is None


def test_onnx_runtime_gets_our_threads_and_computes_in_fp32_alone(monkeypatch):
    made = []

    class Options:
        def add_session_config_entry(self, *entry):
            self.entry = entry

    class Session:
        def __init__(self, model, options, providers):
            made.append((model, options, providers))

        def run(self, outputs, inputs):
            return outputs, inputs

    class Ort:
        SessionOptions, InferenceSession = Options, Session

    monkeypatch.setattr(libraries, "require", lambda *_: Ort)
    monkeypatch.setattr(libraries, "threads", lambda: 3)
    assert libraries.onnxruntime(b"m", ["y"], "fp32")("x") == (["y"], "x")
    ((model, options, providers),) = made
    assert (model, providers) == (b"m", ["CPUExecutionProvider"])
    assert (options.intra_op_num_threads, options.inter_op_num_threads) == (3, 1)
    assert options.entry == ("session.intra_op.allow_spinning", "0")
    with pytest.raises(libraries.RefusedError, match="onnxruntime does not compute with bf16 here"):
        libraries.onnxruntime(b"m", ["y"], "bf16")


def test_a_net_that_cannot_be_exported_is_refused_by_name(library, build, monkeypatch):
    lstm = """
layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 3 dim: 2 dim: 4 } } }
layer { name: "cont" type: "Input" top: "cont" input_param { shape { dim: 3 dim: 2 } } }
layer { name: "lstm" type: "LSTM" bottom: "x" bottom: "cont" top: "h"
  recurrent_param { num_output: 3 weight_filler { type: "xavier" } } }"""
    with pytest.raises(PcdError, match=f"{library} cannot compute this net: .*lstm.*remembers"):
        build(lstm).forward()
    monkeypatch.setattr(runner, "PATIENCE", 0.0)
    monkeypatch.setenv(runtime.VARIABLE, "auto")
    alone, tried = build(lstm), []
    cut = runner.cut
    monkeypatch.setattr(runner, "cut", lambda *words: tried.append(1) or cut(*words))
    alone.forward()  # our engine computes it
    alone.forward()
    assert alone.core.substitute.way is None and len(tried) == 1  # it is not tried again


def test_a_library_that_computes_something_else_is_left_out(build, images, monkeypatch):
    def wrong(model, outputs, precision):
        return lambda inputs: [np.full((2, 5), 0.2, np.float32)]

    monkeypatch.setattr(runner, "PATIENCE", 0.0)
    monkeypatch.setattr(libraries, "LIBRARIES", dict.fromkeys(runtime.NAMES, wrong))
    monkeypatch.setenv(runtime.VARIABLE, "auto")
    net, ours = build(), build(alone=True)
    net.forward(data=images)
    assert net.core.substitute.way.compiled is None
    assert (net.forward(data=images)["prob"] == ours.forward(data=images)["prob"]).all()
    monkeypatch.setenv(runtime.VARIABLE, "openvino")
    with pytest.raises(PcdError, match="prob differs by"):
        build().forward(data=images)


def test_each_may_be_what_the_choice_takes(build, images, monkeypatch):
    monkeypatch.setattr(runner, "PATIENCE", 0.0)
    monkeypatch.setenv(runtime.VARIABLE, "auto")
    for name in (*runtime.NAMES, "onednn"):
        net = build()
        with runner._choices(runner._path()).forced(name):
            net.forward(data=images)
        assert net.core.substitute.way.name == name


def test_passes_before_patience_is_over_are_our_engines(build, images, monkeypatch):
    monkeypatch.setenv(runtime.VARIABLE, "auto")
    net, ours = build(), build(alone=True)
    assert (net.forward(data=images)["prob"] == ours.forward(data=images)["prob"]).all()
    assert net.core.substitute.way is None


def test_pcd_test_says_who_computes(library, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.prototxt").write_text(SCORED)
    build = caffe.Net(str(tmp_path / "net.prototxt"), caffe.TEST)
    build.save("net.caffemodel")
    words = ["test", "-model", "net.prototxt", "-weights", "net.caffemodel", "-iterations", "2"]
    assert main([*words, "--engine", library, "-v"]) == 0
    text = capfd.readouterr().err
    assert f"{library} computes small" in text
    assert main([*words, "--engine", "onednn", "-v"]) == 0
    assert "computes small" not in capfd.readouterr().err


def test_a_blob_between_may_be_made_by_a_layer_that_reads_its_top_first(library, build, images):
    text = NET.replace('bottom: "pool" top: "ip"', 'bottom: "shuffled" top: "ip"').replace(
        'layer { name: "ip"',
        'layer { name: "shuffle" type: "ShuffleChannel" bottom: "pool" top: "shuffled" '
        'shuffle_channel_param { group: 2 } }\nlayer { name: "ip"',
    )
    net, ours = build(text), build(text, alone=True)
    for n in (net, ours):
        n.forward(data=images)
    assert net.core.substitute.name == library
    assert net.blobs["shuffled"].data == pytest.approx(ours.blobs["shuffled"].data, abs=1e-5)


def test_a_net_that_changes_its_input_in_place_is_our_engines(library, build):
    changed = 'layer { name: "d" type: "ReLU" bottom: "data" top: "data" }'
    with pytest.raises(PcdError, match="changes in place what the net is given"):
        build(NET.replace('layer { name: "conv"', changed + '\nlayer { name: "conv"')).forward()


def test_signals_are_heard_after_nets_have_gone(library, build, images, in_child):
    """Each Core of OpenVINO's puts a stack for signals below the last one's, and unmaps it."""
    nets = [build(), build()]
    for net in nets:
        net.forward(data=images)
        assert net.core.substitute is not None
    del net
    while nets:
        del nets[0]
        gc.collect()
    heard = []

    def hear():
        signal.signal(signal.SIGUSR1, lambda *_: heard.append(1))
        signal.raise_signal(signal.SIGUSR1)
        return heard == [1]

    in_child(hear)


RECORDS = """
layer { name: "d" type: "HDF5Data" top: "data" top: "label"
  hdf5_data_param { source: "list.txt" batch_size: 2 } }
layer { name: "c" type: "Convolution" bottom: "data" top: "c"
  convolution_param { num_output: 4 kernel_size: 3 weight_filler { type: "xavier" } } }
layer { name: "sum" type: "Reduction" bottom: "c" top: "sum" loss_weight: 0.5
  reduction_param { operation: SUMSQ } }
"""
KEPT = """
layer { name: "kept" type: "HDF5Output" bottom: "c" bottom: "label"
  hdf5_output_param { file_name: "out.h5" } }
"""


@pytest.mark.parametrize("way", [*runtime.NAMES, "auto"])
def test_a_choice_takes_no_records_and_losses_are_told(way, build, tmp_path, monkeypatch):
    """Each pass has the next batch and tells its loss; what is written out is written once."""
    monkeypatch.chdir(tmp_path)
    data = np.random.default_rng(4).standard_normal((6, 3, 8, 8)).astype(np.float32)
    with h5py.File("d.h5", "w") as file:
        file["data"], file["label"] = data, np.arange(6, dtype=np.float32)
    (tmp_path / "list.txt").write_text("d.h5\n")
    monkeypatch.setattr(runner, "PATIENCE", 0.0)
    ours = build(RECORDS, alone=True)
    expected = [float(ours.core.forward()) for _ in range(3)]
    monkeypatch.setenv(runtime.VARIABLE, way)
    net = build(RECORDS)
    with runner._choices(runner._path()).forced(runtime.NAMES[0]):
        found = [float(net.core.forward()) for _ in range(3)]
    assert net.core.substitute.name == (runtime.NAMES[0] if way == "auto" else way)
    assert found == pytest.approx(expected, rel=1e-4) and min(found) > 0
    net = build(RECORDS + KEPT)
    with runner._choices(runner._path()).forced(runtime.NAMES[0]):
        assert float(net.core.forward()) == pytest.approx(expected[0], rel=1e-4)
    with h5py.File("out.h5") as file:
        assert file["label"][...].reshape(-1).tolist() == [0, 1]


def test_what_a_library_raises_in_a_pass_is_told_and_our_engine_goes_on(
    build, images, monkeypatch, caplog
):
    calls = []

    def ill(model, outputs, precision):
        def run(inputs):
            calls.append(1)
            if len(calls) > 1:
                raise RuntimeError("out of handles")
            return [ours.forward(**inputs)["prob"]]

        return run

    ours = build(alone=True)
    monkeypatch.setattr(runner, "PATIENCE", 0.0)
    monkeypatch.setattr(libraries, "LIBRARIES", {"openvino": ill})
    monkeypatch.setenv(runtime.VARIABLE, "openvino")
    with pytest.raises(PcdError, match="openvino cannot compute this net: out of handles"):
        build().forward(data=images)
    net = build()
    net.core.substitute.forced = False
    calls.clear()
    for _ in range(2):
        with runner._choices(runner._path()).forced("openvino"):
            found = net.forward(data=images)["prob"]
        assert found == pytest.approx(ours.forward(data=images)["prob"], abs=1e-6)
    assert "Our engine computes this net from now on: out of handles" in caplog.text
    assert len(calls) == 2


def test_a_forked_process_has_our_engine(library, build, images, in_child):
    """A library's threads are not in it: compiling, and the end of a model, would wait for them."""
    net, ours = build(), build(alone=True)
    net.forward(data=images)
    expected = ours.forward(data=2 * images)["prob"].copy()

    def passes():
        for made in (net, build()):
            found = made.forward(data=2 * images)["prob"]
            assert np.allclose(found, expected, atol=1e-6) and made.core.substitute.name == ""
        return True

    in_child(passes)
    assert net.forward(data=2 * images)["prob"] == pytest.approx(expected, abs=1e-5)
    assert net.core.substitute.name == library


def test_other_parameters_of_the_same_age_are_noticed(library, build, images):
    net, other = build(), build(alone=True)
    net.forward(data=images)
    other.params["ip"][0].data[...] *= -1
    net.share_with(other)
    expected = other.forward(data=images)["prob"]
    assert net.forward(data=images)["prob"] == pytest.approx(expected, abs=1e-5)


def test_a_blob_between_that_is_read_too_late_is_told(library, build, images, caplog):
    net = build()
    net.forward(data=images)
    net.blobs["data"].data[...] = images  # as they were
    net.blobs["pool"].data.sum()
    assert "The inputs were written" not in caplog.text
    net = build()
    net.forward(data=images)
    net.blobs["data"].data[...] = 0
    net.blobs["pool"].data.sum()
    assert "The inputs were written after this pass" in caplog.text

"""Whole nets as ONNX models: names, outputs, sizes that change, folding, half precision, images."""

import io
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest

sys.path.insert(0, str(Path(__file__).parent))
import recorded
from recorded import forward

from pycaffe_dist.engines.base import NUMPY
from pycaffe_dist.errors import NetError
from pycaffe_dist.layer import Context
from pycaffe_dist.net import Net
from pycaffe_dist.onnx.check import difference, run_onnx
from pycaffe_dist.onnx.export import export, newest
from pycaffe_dist.onnx.folding import fold
from pycaffe_dist.onnx.halving import halve
from pycaffe_dist.onnx.preprocessing import Preprocess, preprocess
from pycaffe_dist.onnx.writing import as_bytes, write_model
from pycaffe_dist.proto.caffe_pb2 import NetParameter
from pycaffe_dist.proto.text import parse_text

INPUT = """layer { name: "data" type: "Input" top: "data"
  input_param { shape { dim: 2 dim: 3 dim: 9 dim: 8 } } }"""
FILL = """weight_filler { type: "gaussian" std: 0.3 } bias_filler { type: "gaussian" std: 0.3 }"""
CONV = f"""layer {{ name: "c" type: "Convolution" bottom: "data" top: "c"
  convolution_param {{ num_output: 4 kernel_size: 3 {FILL} }} }}"""
NORM = 'layer { name: "bn" type: "BatchNorm" bottom: "c" top: "c" }'
SCALE = """layer { name: "s" type: "Scale" bottom: "c" top: "c" scale_param { bias_term: true
  filler { type: "gaussian" std: 1 } bias_filler { value: 0.5 } } }"""
RELU = 'layer { name: "r" type: "ReLU" bottom: "c" top: "c" }'
POOL = """layer { name: "p" type: "Pooling" bottom: "c" top: "p"
  pooling_param { pool: AVE kernel_size: 3 stride: 2 } }"""
PRODUCT = f"""layer {{ name: "ip" type: "InnerProduct" bottom: "p" top: "ip"
  inner_product_param {{ num_output: 5 {FILL} }} }}"""
SMALL = (INPUT, CONV, NORM, SCALE, RELU, POOL, PRODUCT)


def build(*layers, phase=1):
    param = parse_text("\n".join(layers), NetParameter()).message
    param.state.phase = phase
    net = Net(param, Context(engine=NUMPY))
    rng = np.random.default_rng(3)
    for layer in net.layers:
        if layer.type == "BatchNorm":
            for i, blob in enumerate(layer.blobs):
                blob.data[...] = rng.random(blob.shape) + (i > 0)
    return net


def outputs(made, inputs):
    model = as_bytes(made)
    onnx.checker.check_model(model, full_check=True)
    return run_onnx(model, inputs, threads=1)


def noise(net, seed=0):
    shape = net.blobs[0].shape
    return {"data": np.random.default_rng(seed).standard_normal(shape).astype(np.float32)}


def agrees(net, made, limit=1e-5):
    inputs = noise(net)
    theirs = outputs(made, inputs)
    forward(net, inputs)
    assert theirs
    for name, values in theirs.items():
        assert difference(net.blobs[net.blob_ids[name]].data, values) <= limit


def test_values_have_the_names_of_their_blobs_and_in_place_layers_those_of_the_last():
    made = export(build(*SMALL))
    graph = made.model.graph
    assert [value.name for value in graph.input] == ["data"]
    assert [value.name for value in graph.output] == ["ip"]
    by_output = {node.output[0]: node.op_type for node in graph.node}
    assert by_output["c"] == "Relu" and by_output["p"] == "Mul"  # the windows at the edge
    assert made.operators["c"] == ["Conv"] and made.operators["s"] == ["Mul", "Add"]


def test_a_net_of_training_loses_its_labels_and_gives_probabilities():
    label = 'layer { name: "label" type: "Input" top: "label" input_param { shape { dim: 2 } } }'
    loss = 'layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label" top: "loss" }'
    score = 'layer { name: "acc" type: "Accuracy" bottom: "ip" bottom: "label" top: "acc" }'
    net = build(INPUT, label, *SMALL[1:], loss, score)
    made = export(net)
    assert [value.name for value in made.model.graph.input] == ["data"]
    assert [value.name for value in made.model.graph.output] == ["prob"]
    assert made.left_out == ["loss (SoftmaxWithLoss)", "acc (Accuracy)"]
    found = outputs(made, noise(net))["prob"]
    assert found.shape == (2, 5)
    assert found.sum(axis=1) == pytest.approx([1, 1])


def test_what_is_silenced_is_an_output_where_there_is_no_other():
    quiet = 'layer { name: "quiet" type: "Silence" bottom: "ip" }'
    made = export(build(*SMALL, quiet))
    assert [value.name for value in made.model.graph.output] == ["ip"]
    other = 'layer { name: "t" type: "TanH" bottom: "p" top: "t" }'
    made = export(build(*SMALL, quiet, other))
    assert [value.name for value in made.model.graph.output] == ["t"]


@pytest.mark.parametrize("bottleneck", ["true", "false"])
def test_a_block_of_a_densenet_is_written_stage_by_stage(bottleneck):
    block = f"""layer {{ name: "b" type: "DenseBlock" bottom: "data" top: "b" denseblock_param {{
      numTransition: 2 growthRate: 4 use_BC: {bottleneck} Filter_Filler {{ type: "msra" }}
      BN_Scaler_Filler {{ value: 1 }} BN_Bias_Filler {{ value: 0.1 }} }} }}"""
    net = build(INPUT, block)
    rng = np.random.default_rng(5)
    for blob in net.layers[1].blobs:
        blob.data[...] += rng.uniform(0.1, 0.3, blob.shape)
    agrees(net, export(net))


@pytest.mark.parametrize("least", [-5, 50])
def test_proposals_of_several_scales(least):
    inputs = "".join(
        f'layer {{ name: "{n}" type: "Input" top: "{n}" input_param {{ shape {{ dim: 2 dim: 7 '
        f"dim: {size} dim: {size} }} }} }}"
        for n, size in (("data", 8), ("half", 4))
    )
    layer = f"""layer {{ name: "o" type: "BoxOutput" bottom: "data" bottom: "half" top: "r" top: "s"
      bbox_reg_param {{ bbox_mean: [0, 0.1, 0, 0] bbox_std: [0.5, 1, 1, 0.7] }}
      box_output_param {{ fg_thr: {least} iou_thr: 0.4 field_w: [20, 40] field_h: [30, 50]
        downsample_rate: [8, 16] max_nms_num: 50 max_post_nms_num: 30 min_size: 12 }} }}"""
    net = build(inputs, layer)
    rng = np.random.default_rng(6)
    given = {
        n: rng.standard_normal((2, 7, s, s)).astype(np.float32)
        for n, s in (("data", 8), ("half", 4))
    }
    found = outputs(export(net), given)
    forward(net, given)
    assert len(found["r"]) == 1 if least > 0 else len(found["r"]) > 20
    for name, values in found.items():
        assert difference(net.blobs[net.blob_ids[name]].data, values) <= 1e-5


def test_colours_become_lab():
    layer = """layer { name: "lab" type: "ColorConv" bottom: "data" top: "lab"
      color_conv_param { input: 0 output: 3 } }"""
    net = build(INPUT, layer)
    images = np.random.default_rng(4).integers(0, 256, net.blobs[0].shape).astype(np.float32)
    images[0, :, 0] = np.arange(8)  # near black the curves are lines
    found = outputs(export(net), {"data": images})["lab"]
    forward(net, {"data": images})
    assert difference(net.blobs[1].data, found) <= 1e-5


def test_an_input_that_is_an_output_and_one_value_under_two_names_are_copied():
    twice = 'layer { name: "a" type: "Split" bottom: "data" top: "x" top: "y" }'
    made = export(build(INPUT, twice))
    inputs = noise(build(INPUT))
    found = outputs(made, inputs)
    assert set(found) == {"x", "y"}
    assert all(np.array_equal(values, inputs["data"]) for values in found.values())


def test_what_has_no_form_is_named():
    image = INPUT.replace("dim: 2", "dim: 1")
    truth = 'layer { name: "t" type: "Input" top: "t" input_param { shape { dim: [1, 1, 2, 8] } } }'
    layer = """layer { name: "odd" type: "RcnnTruth" bottom: "data" bottom: "t" top: "x" top: "y"
      rcnn_truth_param { num_classes: 2 } }"""
    with pytest.raises(NetError, match=r'layer "odd" \(RcnnTruth\): has no form in ONNX'):
        export(build(image, truth, layer))


def test_regions_of_other_than_five_numbers_are_refused():
    rois = 'layer { name: "rois" type: "Input" top: "r" input_param { shape { dim: 1 dim: 4 } } }'
    layer = """layer { name: "pool" type: "ROIPooling" bottom: "data" bottom: "r" top: "x"
      roi_pooling_param { pooled_w: 2 pooled_h: 2 } }"""
    with pytest.raises(NetError, match=r"needs regions of 5 numbers, the net gives it \(1, 4\)"):
        export(build(INPUT, rois, layer))


def test_dropout_that_draws_in_test_is_refused():
    layer = """layer { name: "d" type: "Dropout" bottom: "data" top: "x"
      dropout_param { sample_weights_test: true } }"""
    with pytest.raises(NetError, match="draws at random"):
        export(build(INPUT, layer))


def test_layers_that_share_weights_share_them_in_the_file():
    shared = CONV.replace(
        "convolution_param", 'param { name: "w" } param { name: "b" } convolution_param'
    )
    other = shared.replace('"c"', '"d"').replace("gaussian", "constant")
    made = export(build(INPUT, shared, other))
    weights = [node.input[1] for node in made.model.graph.node if node.op_type == "Conv"]
    assert len(weights) == 2 and len(set(weights)) == 1


@pytest.mark.parametrize("batch", [1, 2, 5])
def test_any_batch_fits_a_file_with_a_dynamic_one(batch):
    net = build(*SMALL)
    made = export(net, dynamic=True)
    assert made.model.graph.input[0].type.tensor_type.shape.dim[0].dim_param == "N"
    net.blobs[0].reshape(batch, *net.blobs[0].shape[1:])
    net.reshape()
    agrees(net, made)


def test_a_reshape_that_leaves_a_size_open_fits_any_batch():
    """Rows that are of several items have their number open, as the file has it."""
    net = build(
        INPUT,
        'layer { name: "r" type: "Reshape" bottom: "data" top: "r" reshape_param { '
        "shape { dim: -1 dim: 36 } } }",
    )
    made = export(net, dynamic=True)
    net.blobs[0].reshape(5, 3, 9, 8)
    net.reshape()
    agrees(net, made)


def test_any_size_of_image_fits_where_the_net_has_no_product():
    layers = (
        INPUT,
        CONV,
        RELU,
        POOL.replace("AVE kernel_size: 3 stride: 2", "MAX global_pooling: true"),
    )
    net = build(*layers)
    made = export(net, dynamic="image")
    net.blobs[0].reshape(3, 3, 17, 12)
    net.reshape()
    agrees(net, made)


def test_what_has_another_size_in_each_pass_may_be_flattened():
    select = """layer { name: "s" type: "Input" top: "s" input_param { shape { dim: 2 } } }"""
    layers = """layer { name: "f" type: "Filter" bottom: "data" bottom: "s" top: "kept" }
      layer { name: "flat" type: "Flatten" bottom: "kept" top: "flat"
        flatten_param { axis: 0 end_axis: 1 } }"""
    made = export(build(INPUT, select, layers))
    images = noise(build(INPUT))["data"]
    for chosen in ([1, 1], [0, 1]):
        chosen = np.array(chosen, np.float32)
        found = outputs(made, {"data": images, "s": chosen})["flat"]
        assert np.array_equal(found, images[chosen > 0].reshape(-1, 9, 8))


def test_folding_leaves_the_numbers_as_they_are_and_fewer_operators():
    net = build(*SMALL)
    made = export(net)
    before = [node.op_type for node in made.model.graph.node]
    assert fold(made) == 3
    after = [node.op_type for node in made.model.graph.node]
    assert len(after) == len(before) - 3
    assert "BatchNormalization" not in after
    assert after[:2] == ["Conv", "Relu"]
    agrees(net, made)
    used = {name for node in made.model.graph.node for name in node.input}
    assert set(made.constants) <= used


def test_what_somebody_else_reads_is_not_folded():
    other = 'layer { name: "t" type: "TanH" bottom: "c" top: "t" }'
    norm = NORM.replace('top: "c"', 'top: "n"')
    net = build(INPUT, CONV, norm, other)
    made = export(net)
    assert fold(made) == 0
    agrees(net, made)


def test_half_precision_has_half_the_weights_and_the_same_types_outside():
    net = build(*SMALL)
    made = export(net)
    whole = sum(a.nbytes for a in made.constants.values() if a.dtype == np.float32)
    halve(made)
    assert sum(a.nbytes for a in made.constants.values() if a.dtype == np.float16) == whole // 2
    for value in (*made.model.graph.input, *made.model.graph.output):
        assert value.type.tensor_type.elem_type == onnx.TensorProto.FLOAT
    agrees(net, made, limit=5e-3)


@pytest.mark.parametrize(
    "how",
    [
        Preprocess(),
        Preprocess(np.array([104.0, 117.0, 123.0], np.float32), scale=0.017),
        Preprocess(np.arange(3 * 11 * 10, dtype=np.float32).reshape(3, 11, 10), swap=False),
        Preprocess(raw_scale=1 / 255),
    ],
)
def test_images_are_prepared_in_the_file(how):
    net = build(*SMALL)
    made = export(net)
    preprocess(made, how, net.blobs[0].shape, 17)
    images = np.random.default_rng(0).integers(0, 256, (2, 9, 8, 3), np.uint8)
    theirs = outputs(made, {"image": images})
    forward(net, {"data": how.apply(images.astype(np.float32).transpose(0, 3, 1, 2))})
    assert difference(net.blobs[net.blob_ids["ip"]].data, theirs["ip"]) <= 1e-5


def test_images_of_another_size_are_brought_to_the_nets():
    net = build(*SMALL)
    made = export(net)
    preprocess(made, Preprocess(), net.blobs[0].shape, 17)
    grey = np.full((2, 40, 30, 3), 77, np.uint8)
    theirs = outputs(made, {"image": grey})
    forward(net, {"data": np.full(net.blobs[0].shape, 77, np.float32)})
    assert difference(net.blobs[net.blob_ids["ip"]].data, theirs["ip"]) <= 1e-5


def test_a_mean_that_does_not_fit_is_refused():
    made = export(build(*SMALL))
    for mean, words in ((np.zeros(2), "2 mean values"), (np.zeros((3, 4, 4)), "does not cover")):
        with pytest.raises(NetError, match=words):
            preprocess(made, Preprocess(mean), (2, 3, 9, 8), 17)


def test_the_file_is_what_onnx_itself_would_write():
    made = export(build(*SMALL))
    file = io.BytesIO()
    assert write_model(made, file).size == len(file.getvalue())
    read = onnx.load_from_string(file.getvalue())
    assert {t.name for t in read.graph.initializer} == set(made.constants)
    for tensor in read.graph.initializer:
        assert np.array_equal(onnx.numpy_helper.to_array(tensor), made.constants[tensor.name])
    del read.graph.initializer[:]
    assert read == made.model


@pytest.mark.parametrize("name", ["psroipool_7", "ctc_decoder"])
def test_running_sums_of_whole_and_of_long_numbers_stay_so_in_half_precision(name):
    net, inputs = recorded.build("forks", name)
    made = export(net)
    halve(made)
    found = outputs(made, inputs)
    forward(net, inputs)
    for output, values in found.items():
        assert difference(net.blobs[net.blob_ids[output]].data, values) <= 2e-3


CEIL = """layer { name: "p" type: "Pooling" bottom: "c" top: "p"
  pooling_param { pool: MAX kernel_size: 3 stride: 2 pad: 1 } }"""


@pytest.mark.parametrize("size", [(9, 8), (10, 9), (12, 11), (16, 13)])
def test_windows_reach_over_images_of_some_sizes_only(size):
    """Whatever the size was that the file was written for."""
    net = build(INPUT, CONV, CEIL)
    made = export(net, dynamic="image")
    net.blobs[0].reshape(2, 3, *size)
    net.reshape()
    agrees(net, made)


def test_a_mean_over_windows_at_the_edge_is_refused_for_images_of_any_size():
    with pytest.raises(
        NetError, match=r'"p" \(Pooling\): has no form in ONNX for images of any size'
    ):
        export(build(INPUT, CONV, POOL), dynamic="image")
    for pool in ("stride: 2 round_mode: FLOOR", "stride: 1 pad: 1"):
        net = build(INPUT, CONV, POOL.replace("stride: 2", pool))
        made = export(net, dynamic={"data": [0, 2, 3]})
        net.blobs[0].reshape(1, 3, 12, 13)
        net.reshape()
        agrees(net, made)


def test_half_precision_has_names_of_its_own_for_its_casts():
    """The last operator of an ArgMax, or of the layer behind it, may be a Cast."""
    best = 'layer { name: "am" type: "ArgMax" bottom: "ip" top: "am" argmax_param { axis: 1 } }'
    over = """layer { name: "t" type: "Threshold" bottom: "ip" top: "t" }"""
    net = build(*SMALL, best, over)
    made = export(net)
    halve(made)
    names = [node.name for node in made.model.graph.node]
    assert len(names) == len(set(names))
    assert set(outputs(made, noise(net))) == {"am", "t"}


@pytest.mark.parametrize("opset", range(newest() - 2, newest() + 1))
def test_the_newest_opsets_are_compared_in_words_that_onnx_runtime_knows(opset, tmp_path):
    threshold = """layer { name: "t" type: "Threshold" bottom: "ip" top: "t" }"""
    net = build(*SMALL, threshold)
    made = export(net, opset)
    assert made.model.opset_import[0].version == opset
    inputs = noise(net)
    usual = outputs(export(net), inputs)
    assert np.array_equal(outputs(made, inputs)["t"], usual["t"])
    path = tmp_path / "m.onnx"
    path.write_bytes(as_bytes(made))
    onnx.save(onnx.load(path), path, save_as_external_data=True, location="w", size_threshold=100)
    assert np.array_equal(run_onnx(path, inputs)["t"], usual["t"])


def test_what_onnx_runtime_does_not_know_in_any_words_is_its_error():
    made = export(build(*SMALL), newest())
    made.model.graph.node[0].op_type = "CausalConvWithState"
    with pytest.raises(Exception, match=r"opset|IR version"):
        run_onnx(as_bytes(made), noise(build(*SMALL)))

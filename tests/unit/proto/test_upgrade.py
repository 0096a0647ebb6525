# ruff: noqa: E501
import logging

import pytest
from google.protobuf import text_format

from pycaffe_dist.errors import UpgradeError
from pycaffe_dist.proto.caffe_pb2 import NetParameter, SolverParameter, V1LayerParameter
from pycaffe_dist.proto.upgrade import (
    V1_TYPE_NAMES,
    complete_snapshot_prefix,
    net_needs_upgrade,
    solver_needs_upgrade,
    upgrade_net,
    upgrade_solver,
)


def net(text):
    return text_format.Parse(text, NetParameter())


def upgraded(text):
    """The upgraded net; upgrading again must change nothing."""
    message = net(text)
    assert upgrade_net(message) is True
    again = NetParameter()
    again.CopyFrom(message)
    assert upgrade_net(again) is True
    assert again == message
    return message


# -- V1 layers -------------------------------------------------------------------------------------

TYPES = {
    "NONE": "",
    "ABSVAL": "AbsVal",
    "ACCURACY": "Accuracy",
    "ARGMAX": "ArgMax",
    "BNLL": "BNLL",
    "CONCAT": "Concat",
    "CONTRASTIVE_LOSS": "ContrastiveLoss",
    "CONVOLUTION": "Convolution",
    "DATA": "Data",
    "DECONVOLUTION": "Deconvolution",
    "DROPOUT": "Dropout",
    "DUMMY_DATA": "DummyData",
    "EUCLIDEAN_LOSS": "EuclideanLoss",
    "ELTWISE": "Eltwise",
    "EXP": "Exp",
    "FLATTEN": "Flatten",
    "HDF5_DATA": "HDF5Data",
    "HDF5_OUTPUT": "HDF5Output",
    "HINGE_LOSS": "HingeLoss",
    "IM2COL": "Im2col",
    "IMAGE_DATA": "ImageData",
    "INFOGAIN_LOSS": "InfogainLoss",
    "INNER_PRODUCT": "InnerProduct",
    "LRN": "LRN",
    "MEMORY_DATA": "MemoryData",
    "MULTINOMIAL_LOGISTIC_LOSS": "MultinomialLogisticLoss",
    "MVN": "MVN",
    "POOLING": "Pooling",
    "POWER": "Power",
    "RELU": "ReLU",
    "SIGMOID": "Sigmoid",
    "SIGMOID_CROSS_ENTROPY_LOSS": "SigmoidCrossEntropyLoss",
    "SILENCE": "Silence",
    "SLICE": "Slice",
    "SOFTMAX": "Softmax",
    "SOFTMAX_LOSS": "SoftmaxWithLoss",
    "SPLIT": "Split",
    "TANH": "TanH",
    "THRESHOLD": "Threshold",
    "WINDOW_DATA": "WindowData",
}
FORK_TYPES = {
    "BN": "BN",
    "CONVOLUTION3D": "Convolution3D",
    "CROP": "Crop",
    "DECONVOLUTION3D": "Deconvolution3D",
    "DENSE_IMAGE_DATA": "DenseImageData",
    "IMAGE_SEG_DATA": "ImageSegData",
    "INSANITY": "Insanity",
    "LOCAL": "Local",
    "MULTI_STAGE_MEANFIELD": "MultiStageMeanfield",
    "NORMALIZE": "Normalize",
    "POOLING3D": "Pooling3D",
    "TRIPLET_LOSS": "TripletLoss",
    "UNPOOLING": "Unpooling",
    "UPSAMPLE": "Upsample",
    "VIDEO_DATA": "VideoData",
    "VIDEO_WITH_VOXEL_TRUTH_DATA": "VideoWithVoxelTruthData",
}


def test_every_v1_type_has_its_name():
    assert len(TYPES) == 40
    assert {
        V1LayerParameter.LayerType.Value(old): new for old, new in (TYPES | FORK_TYPES).items()
    } == V1_TYPE_NAMES


@pytest.mark.parametrize(("old", "new"), TYPES.items())
def test_v1_type(old, new):
    assert upgraded(f'layers {{ name: "a" type: {old} }}') == net(
        f'layer {{ name: "a" type: "{new}" }}'
    )


def test_v1_layer_without_type_or_name():
    assert upgraded("layers { top: 'a' } layers { }") == net("layer { top: 'a' } layer { }")


V1_PARAMETERS = """
accuracy_param { top_k: 5 }
argmax_param { top_k: 2 }
concat_param { axis: 2 }
contrastive_loss_param { margin: 3 }
convolution_param { num_output: 3 kernel_size: 5 pad: 2 weight_filler { type: "xavier" } }
data_param { source: "x" batch_size: 64 backend: LMDB }
dropout_param { dropout_ratio: 0.3 }
dummy_data_param { num: 3 data_filler { value: 2 } }
eltwise_param { operation: PROD coeff: 1 coeff: -1 }
exp_param { base: 2 }
hdf5_data_param { source: "x" }
hdf5_output_param { file_name: "x" }
hinge_loss_param { norm: L2 }
image_data_param { source: "x" root_folder: "y" }
infogain_loss_param { source: "x" }
inner_product_param { num_output: 3 bias_term: false }
lrn_param { local_size: 3 }
memory_data_param { batch_size: 3 }
mvn_param { across_channels: true }
pooling_param { pool: AVE kernel_size: 3 }
power_param { power: 2 }
relu_param { negative_slope: 0.1 }
sigmoid_param { engine: CAFFE }
softmax_param { axis: 2 }
slice_param { slice_point: 3 }
tanh_param { engine: CUDNN }
threshold_param { threshold: 0.2 }
window_data_param { source: "x" }
transform_param { scale: 0.1 mirror: true }
loss_param { ignore_label: 255 }
bn_param { bn_mode: INFERENCE }
upsample_param { scale: 2 }
unpooling_param { unpool: TILE }
dense_image_data_param { source: "x" }
multi_stage_meanfield_param { num_iterations: 5 }
""".strip().split("\n")


@pytest.mark.parametrize("parameters", [*V1_PARAMETERS, "relu_param { }", "\n".join(V1_PARAMETERS)])
def test_v1_parameters_move_over_whole(parameters):
    body = 'name: "a" ' + parameters
    assert upgraded(f"layers {{ {body} }}") == net(f"layer {{ {body} }}")


def test_all_v1_parameters_are_in_the_table():
    names = {f.name for f in V1LayerParameter.DESCRIPTOR.fields if f.name.endswith("_param")}
    assert {line.split()[0] for line in V1_PARAMETERS} == names


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("blobs_lr: 1 blobs_lr: 2", "param { lr_mult: 1 } param { lr_mult: 2 }"),
        ("weight_decay: 1 weight_decay: 0", "param { decay_mult: 1 } param { decay_mult: 0 }"),
        ("blobs_lr: 1 blobs_lr: 2 weight_decay: 0", "param { lr_mult: 1 decay_mult: 0 } param { lr_mult: 2 }"),
        ("param: 'w' param: ''", "param { name: 'w' } param { name: '' }"),
        ("blob_share_mode: STRICT blob_share_mode: PERMISSIVE", "param { share_mode: STRICT } param { share_mode: PERMISSIVE }"),
        ("param: 'w' weight_decay: 1 weight_decay: 2 weight_decay: 3 blobs_lr: 5 blobs_lr: 6",
         "param { name: 'w' lr_mult: 5 decay_mult: 1 } param { lr_mult: 6 decay_mult: 2 } param { decay_mult: 3 }"),
        ("blobs { num: 1 data: 2 } blobs { }", "blobs { num: 1 data: 2 } blobs { }"),
        ("include { phase: TRAIN } include { min_level: 1 } exclude { stage: 'a' }",
         "include { phase: TRAIN } include { min_level: 1 } exclude { stage: 'a' }"),
        ("bottom: 'a' bottom: 'b' top: 'c' loss_weight: 0 loss_weight: 2", "bottom: 'a' bottom: 'b' top: 'c' loss_weight: 0 loss_weight: 2"),
    ],
)  # fmt: skip
def test_v1_fields(old, new):
    assert upgraded(f"layers {{ {old} }}") == net(f"layer {{ {new} }}")


def test_the_rest_of_a_v1_net_stays():
    rest = 'name: "n" force_backward: true debug_info: true state { phase: TRAIN level: 2 }'
    assert upgraded(rest + " layers { } layers { name: 'b' }") == net(
        rest + " layer { } layer { name: 'b' }"
    )


def test_v1_caffenet_beginning():
    old = """
        name: "CaffeNet"
        layers { name: "data" type: DATA top: "data" top: "label"
          data_param { source: "train_lmdb" mean_file: "mean" batch_size: 256 crop_size: 227 mirror: true backend: LMDB }
          include: { phase: TRAIN } }
        layers { name: "conv1" type: CONVOLUTION blobs_lr: 1 blobs_lr: 2 weight_decay: 1 weight_decay: 0
          convolution_param { num_output: 96 kernel_size: 11 stride: 4 } bottom: "data" top: "conv1" }
        layers { name: "relu1" type: RELU bottom: "conv1" top: "conv1" }
        layers { name: "loss" type: SOFTMAX_LOSS bottom: "conv1" bottom: "label" }
        """
    new = """
        name: "CaffeNet"
        layer { name: "data" type: "Data" top: "data" top: "label" include { phase: TRAIN }
          transform_param { mirror: true crop_size: 227 mean_file: "mean" }
          data_param { source: "train_lmdb" batch_size: 256 backend: LMDB } }
        layer { name: "conv1" type: "Convolution" bottom: "data" top: "conv1"
          param { lr_mult: 1 decay_mult: 1 } param { lr_mult: 2 decay_mult: 0 }
          convolution_param { num_output: 96 kernel_size: 11 stride: 4 } }
        layer { name: "relu1" type: "ReLU" bottom: "conv1" top: "conv1" }
        layer { name: "loss" type: "SoftmaxWithLoss" bottom: "conv1" bottom: "label" }
        """
    assert upgraded(old) == net(new)


@pytest.mark.parametrize("old", ["layers { }", "layers { layer { type: 'relu' } }"])
def test_layer_and_layers_do_not_mix(old):
    with pytest.raises(UpgradeError) as e:
        upgrade_net(net("layer { } " + old), "my.prototxt")
    assert str(e.value).startswith("my.prototxt: both `layer` and `layers` are used.")


# -- data transform --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("type", "name"),
    [("DATA", "data"), ("IMAGE_DATA", "image_data"), ("WINDOW_DATA", "window_data")],
)
@pytest.mark.parametrize(
    "setting",
    ["scale: 0.5", "mean_file: 'm'", "crop_size: 3", "mirror: true", "mirror: false scale: 1"],
)
def test_transform_settings_move(type, name, setting):
    old = f"layers {{ type: {type} {name}_param {{ source: 's' {setting} }} }}"
    new = f"layer {{ type: '{TYPES[type]}' {name}_param {{ source: 's' }} transform_param {{ {setting} }} }}"
    assert upgraded(old) == net(new)


def test_transform_settings_replace_those_there_are():
    old = "layers { type: DATA transform_param { scale: 1 mirror: true } data_param { scale: 2 crop_size: 3 } }"
    new = "layer { type: 'Data' transform_param { scale: 2 mirror: true crop_size: 3 } data_param { } }"
    assert upgraded(old) == net(new)


def test_once_one_layer_needs_it_all_data_layers_get_a_transform_param():
    old = "layers { type: DATA data_param { scale: 2 } } layers { type: IMAGE_DATA } layers { type: RELU }"
    new = """layer { type: 'Data' data_param { } transform_param { scale: 2 } }
             layer { type: 'ImageData' image_data_param { } transform_param { } } layer { type: 'ReLU' }"""
    assert upgraded(old) == net(new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # nothing to move: nothing appears
        ("layers { type: DATA data_param { source: 's' } }", "layer { type: 'Data' data_param { source: 's' } }"),
        # another type's settings stay
        ("layers { type: RELU data_param { scale: 2 } }", "layer { type: 'ReLU' data_param { scale: 2 } }"),
        ("layers { type: DATA image_data_param { scale: 2 } }", "layer { type: 'Data' image_data_param { scale: 2 } }"),
        # only V1
        ("layer { type: 'Data' data_param { scale: 2 } }", "layer { type: 'Data' data_param { scale: 2 } }"),
    ],
)  # fmt: skip
def test_transform_settings_that_stay(old, new):
    assert upgraded(old) == net(new)


# -- input fields ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("input: 'a' input_dim: 1 input_dim: 2 input_dim: 3 input_dim: 4",
         "top: 'a' input_param { shape { dim: 1 dim: 2 dim: 3 dim: 4 } }"),
        ("input: 'a' input_shape { dim: 5 dim: 6 }", "top: 'a' input_param { shape { dim: 5 dim: 6 } }"),
        ("input: 'a' input_shape { }", "top: 'a' input_param { shape { } }"),
        ("input: 'a' input: 'b'" + "".join(f" input_dim: {i}" for i in range(1, 9)),
         "top: 'a' top: 'b' input_param { shape { dim: 1 dim: 2 dim: 3 dim: 4 } shape { dim: 5 dim: 6 dim: 7 dim: 8 } }"),
        ("input: 'a' input: 'b' input_shape { dim: 1 } input_shape { dim: 2 }",
         "top: 'a' top: 'b' input_param { shape { dim: 1 } shape { dim: 2 } }"),
        # shapes go before dims, and what is too much is left out
        ("input: 'a' input_shape { dim: 1 } input_shape { dim: 2 } input_dim: 9", "top: 'a' input_param { shape { dim: 1 } }"),
        ("input: 'a'" + " input_dim: 1" * 6, "top: 'a' input_param { shape { dim: 1 dim: 1 dim: 1 dim: 1 } }"),
    ],
)  # fmt: skip
def test_inputs_become_a_layer_in_front(old, new):
    rest = " layer { name: 'x' bottom: 'a' } layer { name: 'y' }"
    assert upgraded(old + rest) == net(f"layer {{ name: 'input' type: 'Input' {new} }}" + rest)


def test_inputs_without_shapes_just_go():
    assert upgraded("input: 'a' input: 'b' layer { name: 'x' }") == net("layer { name: 'x' }")


def test_shapes_without_inputs_stay():
    text = "input_dim: 1 input_shape { dim: 1 } layer { }"
    assert not net_needs_upgrade(net(text))
    assert upgraded(text) == net(text)


def test_inputs_of_a_v1_net():
    old = "input: 'a' input_dim: 1 input_dim: 1 input_dim: 1 input_dim: 1 layers { type: RELU bottom: 'a' }"
    new = """layer { name: 'input' type: 'Input' top: 'a' input_param { shape { dim: 1 dim: 1 dim: 1 dim: 1 } } }
             layer { type: 'ReLU' bottom: 'a' }"""
    assert upgraded(old) == net(new)


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("input: 'a' input: 'b' input_shape { dim: 1 }", "2 `input` but shapes for 1"),
        ("input: 'a' input: 'b' input_dim: 1 input_dim: 1 input_dim: 1 input_dim: 1", "2 `input` but shapes for 1"),
        ("input: 'a' input_dim: 1 input_dim: 1 input_dim: 1", "1 `input` but shapes for 0"),
        ("input: 'a' input: 'b'" + " input_dim: 1" * 7, "2 `input` but shapes for 1"),
    ],
)  # fmt: skip
def test_too_few_shapes(text, shapes):
    with pytest.raises(UpgradeError) as e:
        upgrade_net(net(text), "my.prototxt")
    assert str(e.value).startswith(f"my.prototxt: {shapes}: give each input an `input_shape")


# -- batch norm ------------------------------------------------------------------------------------


def test_batch_norm_with_three_params_is_not_learned():
    old = "layer { type: 'BatchNorm' param { lr_mult: 1 } param { name: 'v' decay_mult: 2 } param { } }"
    new = """layer { type: 'BatchNorm' param { lr_mult: 0 decay_mult: 0 } param { name: 'v' lr_mult: 0 decay_mult: 0 }
             param { lr_mult: 0 decay_mult: 0 } }"""
    assert upgraded(old) == net(new)


@pytest.mark.parametrize(
    "text",
    [
        "layer { type: 'BatchNorm' }",
        "layer { type: 'BatchNorm' param { lr_mult: 1 } param { lr_mult: 1 } }",
        "layer { type: 'BatchNorm' param { } param { } param { } param { lr_mult: 1 } }",
        "layer { type: 'Scale' param { lr_mult: 1 } param { } param { } }",
    ],
)
def test_other_params_stay(text):
    assert not net_needs_upgrade(net(text))
    assert upgraded(text) == net(text)


# -- when it is needed, and what is told -----------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "needed"),
    [
        ("", False),
        ("name: 'a' layer { type: 'ReLU' }", False),
        ("layers { }", True),
        ("layers { layer { } }", True),
        ("input: 'a'", True),
        ("layer { type: 'BatchNorm' param { } param { } param { } }", True),
    ],
)
def test_need(text, needed):
    assert net_needs_upgrade(net(text)) is needed


def test_what_is_done_is_told(caplog):
    caplog.set_level(logging.INFO)
    text = "layers { type: DATA data_param { scale: 2 } } input: 'a' input_shape { }"
    upgrade_net(net(text), "my.prototxt")
    assert caplog.messages == [
        "Attempting to upgrade input file specified using deprecated transformation parameters: my.prototxt",
        "Successfully upgraded file specified using deprecated data transformation parameters.",
        "Attempting to upgrade input file specified using deprecated V1LayerParameter: my.prototxt",
        "Successfully upgraded file specified using deprecated V1LayerParameter",
        "Attempting to upgrade input file specified using deprecated input fields: my.prototxt",
        "Successfully upgraded file specified using deprecated input fields.",
    ]
    caplog.clear()
    upgrade_net(net("layer { }"))
    assert caplog.messages == []


# -- solvers ---------------------------------------------------------------------------------------


def solver(text):
    return text_format.Parse(text, SolverParameter())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("SGD", "SGD"),
        ("NESTEROV", "Nesterov"),
        ("ADAGRAD", "AdaGrad"),
        ("RMSPROP", "RMSProp"),
        ("ADADELTA", "AdaDelta"),
        ("ADAM", "Adam"),
    ],
)
def test_solver_type(old, new):
    message = solver(f"base_lr: 0.1 solver_type: {old}")
    assert solver_needs_upgrade(message)
    for _ in range(2):
        upgrade_solver(message)
        assert message == solver(f"base_lr: 0.1 type: '{new}'")
    assert not solver_needs_upgrade(message)


@pytest.mark.parametrize("text", ["", "type: 'Adam'", "base_lr: 1"])
def test_solvers_of_today_stay(text):
    message = solver(text)
    upgrade_solver(message)
    assert message == solver(text)


def test_solver_type_and_type_do_not_go_together():
    with pytest.raises(UpgradeError) as e:
        upgrade_solver(solver("solver_type: SGD type: 'SGD'"), "my.prototxt")
    assert str(e.value) == (
        "my.prototxt: both `solver_type` (old, an enum) and `type` (a string) are given; keep `type`."
    )


@pytest.mark.parametrize(
    ("given", "path", "expected"),
    [
        (None, "a/solver.prototxt", "a/solver"),
        (None, "solver.prototxt", "solver"),
        (None, "solver", "solver"),
        (None, "/x/a.b.prototxt", "/x/a.b"),
        ("snap/net", "a/solver.prototxt", "snap/net"),
        ("there", "a/solver.prototxt", "there/solver"),
        ("there/", "a/s.x.prototxt", "there/s.x"),
        ("file", "a/solver.prototxt", "file"),
        ("", "a/solver.prototxt", ""),
        ("n" * 300, "a/solver.prototxt", "n" * 300),
    ],
)
def test_snapshot_prefix(tmp_path, monkeypatch, given, path, expected):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there").mkdir()
    (tmp_path / "file").touch()
    message = SolverParameter(snapshot_prefix=given)
    complete_snapshot_prefix(message, path)
    assert message.snapshot_prefix == expected


def test_snapshot_prefix_stays_when_nothing_can_be_said_of_it(monkeypatch):
    """A folder that may not be looked into is no reason to stop here."""

    def stat(path, *arguments, **options):
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr("os.stat", stat)
    message = SolverParameter(snapshot_prefix="/private/net")
    complete_snapshot_prefix(message, "solver.prototxt")
    assert message.snapshot_prefix == "/private/net"

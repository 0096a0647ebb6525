# ruff: noqa: E501
import pytest
from google.protobuf import text_format

from pycaffe_dist.errors import UpgradeError
from pycaffe_dist.proto.caffe_pb2 import NetParameter
from pycaffe_dist.proto.upgrade import net_needs_upgrade, upgrade_net
from pycaffe_dist.proto.upgrade_v0 import needs_v0_upgrade, upgrade_v0


def net(text):
    return text_format.Parse(text, NetParameter())


def v1(text, complete=True):
    """The net in V1, which must not need this upgrade again."""
    message = net(text)
    assert upgrade_v0(message, "my.prototxt") is complete
    assert not needs_v0_upgrade(message)
    return message


def layer(type, settings=""):
    return f"layers {{ layer {{ name: 'x' type: '{type}' {settings} }} }}"


TYPES = {
    "accuracy": "ACCURACY",
    "bnll": "BNLL",
    "concat": "CONCAT",
    "conv": "CONVOLUTION",
    "data": "DATA",
    "dropout": "DROPOUT",
    "euclidean_loss": "EUCLIDEAN_LOSS",
    "flatten": "FLATTEN",
    "hdf5_data": "HDF5_DATA",
    "hdf5_output": "HDF5_OUTPUT",
    "im2col": "IM2COL",
    "images": "IMAGE_DATA",
    "infogain_loss": "INFOGAIN_LOSS",
    "innerproduct": "INNER_PRODUCT",
    "lrn": "LRN",
    "multinomial_logistic_loss": "MULTINOMIAL_LOGISTIC_LOSS",
    "pool": "POOLING",
    "relu": "RELU",
    "sigmoid": "SIGMOID",
    "softmax": "SOFTMAX",
    "softmax_loss": "SOFTMAX_LOSS",
    "split": "SPLIT",
    "tanh": "TANH",
    "window_data": "WINDOW_DATA",
}


def test_there_are_24_types():
    assert len(TYPES) == 24


@pytest.mark.parametrize(("old", "new"), TYPES.items())
def test_type(old, new):
    assert v1(layer(old)) == net(f"layers {{ name: 'x' type: {new} }}")


@pytest.mark.parametrize(
    ("type", "guess"), [("convolution", ""), ("con", '; did you mean "conv"?'), ("", ""), ("CONV", '; did you mean "conv"?')]
)  # fmt: skip
def test_types_that_v0_does_not_have(type, guess):
    with pytest.raises(UpgradeError) as e:
        upgrade_v0(net(layer(type)), "my.prototxt")
    assert str(e.value) == f'my.prototxt: layer "x": the V0 format has no type "{type}"{guess}'


def test_padding_that_feeds_nothing_goes():
    assert v1(layer("padding", "pad: 2") + layer("relu")) == net("layers { name: 'x' type: RELU }")


FILLER = "{ type: 'gaussian' std: 0.01 }"
SETTINGS = [
    ("conv", "num_output: 3", "convolution_param { num_output: 3 }"),
    ("innerproduct", "num_output: 3", "inner_product_param { num_output: 3 }"),
    ("conv", "biasterm: false", "convolution_param { bias_term: false }"),
    ("innerproduct", "biasterm: false", "inner_product_param { bias_term: false }"),
    ("conv", f"weight_filler {FILLER}", f"convolution_param {{ weight_filler {FILLER} }}"),
    ("innerproduct", f"weight_filler {FILLER}", f"inner_product_param {{ weight_filler {FILLER} }}"),
    ("conv", f"bias_filler {FILLER}", f"convolution_param {{ bias_filler {FILLER} }}"),
    ("innerproduct", "bias_filler { }", "inner_product_param { bias_filler { } }"),
    ("conv", "pad: 2", "convolution_param { pad: 2 }"),
    ("pool", "pad: 2", "pooling_param { pad: 2 }"),
    ("conv", "kernelsize: 5", "convolution_param { kernel_size: 5 }"),
    ("pool", "kernelsize: 5", "pooling_param { kernel_size: 5 }"),
    ("conv", "group: 2", "convolution_param { group: 2 }"),
    ("conv", "stride: 2", "convolution_param { stride: 2 }"),
    ("pool", "stride: 2", "pooling_param { stride: 2 }"),
    ("pool", "pool: MAX", "pooling_param { pool: MAX }"),
    ("pool", "pool: AVE", "pooling_param { pool: AVE }"),
    ("pool", "pool: STOCHASTIC", "pooling_param { pool: STOCHASTIC }"),
    ("dropout", "dropout_ratio: 0.2", "dropout_param { dropout_ratio: 0.2 }"),
    ("lrn", "local_size: 3", "lrn_param { local_size: 3 }"),
    ("lrn", "alpha: 2", "lrn_param { alpha: 2 }"),
    ("lrn", "beta: 2", "lrn_param { beta: 2 }"),
    ("lrn", "k: 2", "lrn_param { k: 2 }"),
    ("data", "source: 's'", "data_param { source: 's' }"),
    ("hdf5_data", "source: 's'", "hdf5_data_param { source: 's' }"),
    ("images", "source: 's'", "image_data_param { source: 's' }"),
    ("window_data", "source: 's'", "window_data_param { source: 's' }"),
    ("infogain_loss", "source: 's'", "infogain_loss_param { source: 's' }"),
    ("data", "batchsize: 7", "data_param { batch_size: 7 }"),
    ("hdf5_data", "batchsize: 7", "hdf5_data_param { batch_size: 7 }"),
    ("images", "batchsize: 7", "image_data_param { batch_size: 7 }"),
    ("window_data", "batchsize: 7", "window_data_param { batch_size: 7 }"),
    ("data", "rand_skip: 7", "data_param { rand_skip: 7 }"),
    ("images", "rand_skip: 7", "image_data_param { rand_skip: 7 }"),
    ("images", "shuffle_images: true", "image_data_param { shuffle: true }"),
    ("images", "new_height: 7 new_width: 8", "image_data_param { new_height: 7 new_width: 8 }"),
    ("concat", "concat_dim: 0", "concat_param { concat_dim: 0 }"),
    ("window_data", "det_fg_threshold: 0.1", "window_data_param { fg_threshold: 0.1 }"),
    ("window_data", "det_bg_threshold: 0.1", "window_data_param { bg_threshold: 0.1 }"),
    ("window_data", "det_fg_fraction: 0.1", "window_data_param { fg_fraction: 0.1 }"),
    ("window_data", "det_context_pad: 7", "window_data_param { context_pad: 7 }"),
    ("window_data", "det_crop_mode: 'square'", "window_data_param { crop_mode: 'square' }"),
    ("hdf5_output", "hdf5_output_param { file_name: 'f' }", "hdf5_output_param { file_name: 'f' }"),
    # these go to any layer
    ("data", "scale: 2", "transform_param { scale: 2 }"),
    ("images", "meanfile: 'm'", "transform_param { mean_file: 'm' }"),
    ("window_data", "cropsize: 7", "transform_param { crop_size: 7 }"),
    ("relu", "mirror: true", "transform_param { mirror: true }"),
    ("relu", "blobs { num: 1 } blobs { } blobs_lr: 1 blobs_lr: 2 weight_decay: 1 weight_decay: 0",
     "blobs { num: 1 } blobs { } blobs_lr: 1 blobs_lr: 2 weight_decay: 1 weight_decay: 0"),
    # and these are forgotten
    ("images", "new_num: 1 new_channels: 2", ""),
]  # fmt: skip


@pytest.mark.parametrize(("type", "old", "new"), SETTINGS)
def test_setting(type, old, new):
    assert v1(layer(type, old)) == net(f"layers {{ name: 'x' type: {TYPES[type]} {new} }}")


def field_of(setting):
    return setting.replace("{", ":").split(":")[0].strip()


ANYWHERE = {"scale", "meanfile", "cropsize", "mirror", "blobs", "new_num"}


@pytest.mark.parametrize(
    "setting", dict.fromkeys(old for _, old, _ in SETTINGS if field_of(old) not in ANYWHERE)
)
def test_setting_of_a_type_that_does_not_have_it(caplog, setting):
    """It is dropped and told, and the upgrade says that it is not complete."""
    assert v1(layer("flatten", setting), complete=False) == net(
        "layers { name: 'x' type: FLATTEN }"
    )
    assert caplog.messages[0] == f"Unknown parameter {field_of(setting)} for layer type flatten"


def test_settings_and_types_that_do_not_go_together():
    """Each field is known by just the types of the table above."""
    known = {}
    for type, old, _ in SETTINGS:
        known.setdefault(field_of(old), (old, set()))[1].add(type)
    for name, (setting, types) in known.items():
        if name in ANYWHERE:
            continue
        for type in TYPES:
            assert upgrade_v0(net(layer(type, setting)), "") is (type in types), (name, type)


def test_what_is_dropped_is_told_all_the_way(caplog):
    message = net(layer("relu", "kernelsize: 3"))
    assert upgrade_net(message, "my.prototxt") is False
    assert message == net("layer { name: 'x' type: 'ReLU' }")
    assert "Unknown parameter kernelsize for layer type relu" in caplog.messages
    assert caplog.messages[-1].startswith(
        "Warning: had one or more problems upgrading V0NetParameter"
    )


def test_only_some_fields_of_the_net_survive():
    old = """name: 'n' input: 'a' input_dim: 1 force_backward: true debug_info: true state { level: 1 }
             input_shape { dim: 1 } layers { bottom: 'a' layer { type: 'relu' } top: 'b' }"""
    new = """name: 'n' input: 'a' input_dim: 1 force_backward: true
             layers { bottom: 'a' top: 'b' type: RELU }"""
    assert v1(old) == net(new)


def test_v1_layers_among_v0_ones_keep_only_their_blobs_names():
    old = "layers { top: 'a' type: RELU name: 'r' } layers { layer { } }"
    assert v1(old) == net("layers { top: 'a' } layers { }")


# -- padding ---------------------------------------------------------------------------------------


def padded(follower, padding="bottom: 'a' top: 'p' layer { name: 'pad' type: 'padding' pad: 2 }"):
    return f"input: 'a' layers {{ {padding} }} layers {{ {follower} }}"


@pytest.mark.parametrize(
    ("type", "new"),
    [
        ("conv", "type: CONVOLUTION convolution_param { kernel_size: 5 pad: 2 }"),
        ("pool", "type: POOLING pooling_param { kernel_size: 5 pad: 2 }"),
    ],
)
@pytest.mark.parametrize("own", ["", "pad: 7"])
def test_padding_goes_into_what_it_feeds(type, new, own):
    old = padded(f"bottom: 'p' top: 'c' layer {{ name: 'c' type: '{type}' kernelsize: 5 {own} }}")
    assert v1(old) == net(f"input: 'a' layers {{ name: 'c' bottom: 'a' top: 'c' {new} }}")


def test_one_padding_for_two_layers_and_a_chain():
    old = padded("bottom: 'p' top: 'c' layer { name: 'c' type: 'conv' }")
    old += """
        layers { bottom: 'p' top: 'd' layer { name: 'd' type: 'pool' } }
        layers { bottom: 'c' top: 'c' layer { name: 'r' type: 'relu' } }
        layers { bottom: 'c' top: 'q' layer { name: 'pad2' type: 'padding' pad: 1 } }
        layers { bottom: 'q' top: 'e' layer { name: 'e' type: 'conv' } }
        """
    new = """input: 'a'
        layers { bottom: 'a' top: 'c' name: 'c' type: CONVOLUTION convolution_param { pad: 2 } }
        layers { bottom: 'a' top: 'd' name: 'd' type: POOLING pooling_param { pad: 2 } }
        layers { bottom: 'c' top: 'c' name: 'r' type: RELU }
        layers { bottom: 'c' top: 'e' name: 'e' type: CONVOLUTION convolution_param { pad: 1 } }
        """
    assert v1(old) == net(new)


@pytest.mark.parametrize(
    "text",
    [
        padded("bottom: 'p' top: 'r' layer { name: 'c' type: 'relu' }"),
        padded("bottom: 'p' bottom: 'a' layer { name: 'c' type: 'conv' }"),
        padded("bottom: 'p' layer { name: 'c' type: 'conv' }", "bottom: 'a' bottom: 'a' top: 'p' layer { name: 'pad' type: 'padding' }"),
        padded("bottom: 'p' layer { name: 'c' type: 'conv' }", "bottom: 'a' top: 'p' top: 'q' layer { name: 'pad' type: 'padding' }"),
        padded("bottom: 'p' top: 'q' layer { name: 'c' type: 'padding' }"),
    ],
)  # fmt: skip
def test_padding_that_cannot_go_anywhere(text):
    with pytest.raises(UpgradeError) as e:
        upgrade_v0(net(text), "my.prototxt")
    assert str(e.value).startswith('my.prototxt: padding layer "pad" feeds "c" of type "')


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("layers { bottom: 'a' layer { name: 'x' type: 'relu' } }", 'unknown bottom blob "a"'),
        (
            "input: 'image' layers { bottom: 'imgae' layer { name: 'x' type: 'relu' } }",
            'unknown bottom blob "imgae"; did you mean "image"?',
        ),
        ("layers { bottom: 'x' top: 'x' layer { name: 'x' type: 'relu' } }", 'unknown bottom blob "x"'),
    ],
)  # fmt: skip
def test_unknown_bottom(text, rest):
    with pytest.raises(UpgradeError) as e:
        upgrade_v0(net(text), "my.prototxt")
    assert str(e.value) == f'my.prototxt: layer "x": {rest}'


# -- all the way -----------------------------------------------------------------------------------


def test_v0_caffenet_beginning_to_today():
    old = """
        name: "CaffeNet"
        layers { layer { name: "data" type: "data" source: "train_db" meanfile: "mean" batchsize: 256 cropsize: 227
                         mirror: true rand_skip: 5 } top: "data" top: "label" }
        layers { layer { name: "conv1" type: "conv" num_output: 96 kernelsize: 11 stride: 4
                         weight_filler { type: "gaussian" std: 0.01 } bias_filler { value: 0. }
                         blobs_lr: 1. blobs_lr: 2. weight_decay: 1. weight_decay: 0. } bottom: "data" top: "conv1" }
        layers { layer { name: "relu1" type: "relu" } bottom: "conv1" top: "conv1" }
        layers { layer { name: "norm1" type: "lrn" local_size: 5 alpha: 0.0001 beta: 0.75 } bottom: "conv1" top: "norm1" }
        layers { layer { name: "pad2" type: "padding" pad: 2 } bottom: "norm1" top: "pad2" }
        layers { layer { name: "conv2" type: "conv" num_output: 256 group: 2 kernelsize: 5 } bottom: "pad2" top: "conv2" }
        layers { layer { name: "loss" type: "softmax_loss" } bottom: "conv2" bottom: "label" }
        """
    new = """
        name: "CaffeNet"
        layer { name: "data" type: "Data" top: "data" top: "label"
          data_param { source: "train_db" batch_size: 256 rand_skip: 5 }
          transform_param { mean_file: "mean" crop_size: 227 mirror: true } }
        layer { name: "conv1" type: "Convolution" bottom: "data" top: "conv1"
          param { lr_mult: 1 decay_mult: 1 } param { lr_mult: 2 decay_mult: 0 }
          convolution_param { num_output: 96 kernel_size: 11 stride: 4
            weight_filler { type: "gaussian" std: 0.01 } bias_filler { value: 0 } } }
        layer { name: "relu1" type: "ReLU" bottom: "conv1" top: "conv1" }
        layer { name: "norm1" type: "LRN" bottom: "conv1" top: "norm1" lrn_param { local_size: 5 alpha: 0.0001 beta: 0.75 } }
        layer { name: "conv2" type: "Convolution" bottom: "norm1" top: "conv2"
          convolution_param { num_output: 256 group: 2 kernel_size: 5 pad: 2 } }
        layer { name: "loss" type: "SoftmaxWithLoss" bottom: "conv2" bottom: "label" }
        """
    message = net(old)
    assert net_needs_upgrade(message)
    for _ in range(2):
        assert upgrade_net(message) is True
        assert message == net(new)
    assert not net_needs_upgrade(message)

"""Grey images and colour weights, and the reverse."""

import pytest

from pycaffe_dist.channels import in_words
from pycaffe_dist.errors import NetError
from pycaffe_dist.loading import load_weights, save_weights, share_weights
from pycaffe_dist.net import Net
from pycaffe_dist.proto.caffe_pb2 import NetParameter
from pycaffe_dist.proto.text import parse_text

CONV = 'type: "Convolution" convolution_param { num_output: 4 kernel_size: 3 }'
DENSE = 'type: "InnerProduct" inner_product_param { num_output: 4 }'


def build(channels, first=CONV, second=CONV):
    """Images, split and rectified on their way, into a layer; another is on top of it."""
    text = f"""
        layer {{ name: "pictures" type: "Input" top: "data"
                 input_param {{ shape {{ dim: 1 dim: {channels} dim: 8 dim: 8 }} }} }}
        layer {{ name: "relu" type: "ReLU" bottom: "data" top: "data" }}
        layer {{ name: "first" bottom: "data" top: "first" {first} }}
        layer {{ name: "silence" bottom: "data" type: "Silence" }}
        layer {{ name: "second" bottom: "first" top: "second" {second} }}
    """
    return Net(parse_text(text, NetParameter()).message)


def test_in_words():
    said = [in_words(n) for n in (1, 2, 3)]
    assert said == ["1 channel (grey)", "2 channels", "3 channels (colour)"]


@pytest.mark.parametrize("first", [CONV, DENSE])
@pytest.mark.parametrize(
    ("net", "file", "said"),
    [
        (1, 3, r'of "pictures" have 1 channel \(grey\), .* for 3 channels \(col.* without -gray'),
        (3, 1, r'of "pictures" have 3 channels \(colour\), .* 1 channel \(grey\).* -gray`'),
    ],
)
def test_weights_of_other_images(tmp_path, first, net, file, said):
    second = DENSE if first == DENSE else CONV
    save_weights(build(file, first, second), tmp_path / "w.caffemodel")
    with pytest.raises(NetError, match=f'layer "first", parameter 0: .*{said}'):
        load_weights(build(net, first, second), tmp_path / "w.caffemodel")


def test_nets_of_other_images_do_not_share():
    with pytest.raises(NetError, match=r"cannot be shared. The images of .* have 1 channel \(grey"):
        share_weights(build(1), build(3))


def test_other_differences_are_not_of_channels(tmp_path):
    wide = CONV.replace("num_output: 4", "num_output: 12")
    save_weights(build(1, wide), tmp_path / "w.caffemodel")
    with pytest.raises(NetError, match="rename the layer") as told:
        load_weights(build(1), tmp_path / "w.caffemodel")
    assert "channel" not in str(told.value)  # neither of its outputs nor of the second's inputs
    save_weights(build(5), tmp_path / "w.caffemodel")
    with pytest.raises(NetError, match=r"rename the layer\.$"):
        load_weights(build(1), tmp_path / "w.caffemodel")

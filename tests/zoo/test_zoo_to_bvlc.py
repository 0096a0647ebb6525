"""Nets of forks that people published, before and after --to-bvlc: the same outputs."""

from pathlib import Path

import numpy as np
import pytest

from pycaffe_dist.loading import load_weights
from pycaffe_dist.net import Net
from pycaffe_dist.proto.caffe_pb2 import TEST, NetParameter
from pycaffe_dist.proto.nets import read_net
from pycaffe_dist.proto.state import filter_net
from pycaffe_dist.proto.weights import write_weights
from pycaffe_dist.tools.to_bvlc import convert_weights, to_bvlc

NETS = Path(__file__).parents[3] / "shared" / "zoo" / "nets"
pytestmark = pytest.mark.skipif(not NETS.is_dir(), reason="no ../shared beside the repository")

# A net for each rule, small ones.
CASES = {
    "opencv+opencv_extra/testdata/dnn/axpy.prototxt": "Axpy",
    "SURFZJY+EAST-caffe/models/mbv3/deploy.prototxt": "ReLU6",
    "farmingyard+ShuffleNet/shufflenet_1x_g3_deploy.prototxt": "ConvolutionDepthwise",
    "imistyrain+ssd-models/MobileNetSSD/Face/MobileNetSSD_deploy_depth.prototxt": (
        "DepthwiseConvolution"
    ),
    "yjxiong+temporal-segment-networks/models/hmdb51/tsn_bn_inception_rgb_deploy.prototxt": "BN",
}
SIDE = 64  # pixels of an input, at most
LAYERS = 40  # of a net, from the first on: what follows them is more of the same


def small(path):
    """The beginning of a net as it is in TEST, with small inputs of one image."""
    net = read_net(NETS / path).net
    net.state.phase = TEST
    net = filter_net(net)
    del net.layer[LAYERS:]
    for layer in net.layer:
        for shape in layer.input_param.shape:
            if len(shape.dim) == 4:
                shape.dim[0] = 1
                shape.dim[2:] = [min(side, SIDE) for side in shape.dim[2:]]
    return net


def random_weights(net, rng):
    for layer in net.layers:
        for blob in layer.blobs:
            if len(blob.shape) > 1 and layer.type != "BN":
                fan = blob.count // blob.shape[0]
                blob.data[...] = rng.standard_normal(blob.shape) / np.sqrt(fan)
            else:
                blob.data[...] = rng.uniform(0.7, 1.1, blob.shape)


@pytest.mark.parametrize("path", CASES)
def test_outputs_agree(path, tmp_path):
    old_param = small(path)
    assert CASES[path] in {layer.type for layer in old_param.layer}
    new_param = NetParameter()
    new_param.CopyFrom(old_param)
    deals, _ = to_bvlc(new_param)
    assert CASES[path] not in {layer.type for layer in new_param.layer}
    rng = np.random.default_rng(0)
    old, new = Net(old_param), Net(new_param)
    random_weights(old, rng)
    if any(layer.blobs for layer in old.layers):
        blobs = {
            name: [blob.data for blob in layer.blobs]
            for name, layer in zip(old.layer_names, old.layers, strict=True)
        }
        files = [tmp_path / "old.caffemodel", tmp_path / "new.caffemodel"]
        write_weights(files[0], old_param, [blobs[layer.name] for layer in old_param.layer])
        convert_weights(files[0], str(files[1]), new_param, deals)
        load_weights(new, files[1])
    for i in old.input_ids:
        old.blobs[i].data[...] = rng.standard_normal(old.blobs[i].shape)
        new.blobs[new.blob_ids[old.blob_names[i]]].data[...] = old.blobs[i].data
    old.forward()
    new.forward()
    for i in old.output_ids:
        want = old.blobs[i].data
        got = new.blobs[new.blob_ids[old.blob_names[i]]].data
        assert np.isfinite(want).all() and np.ptp(want) > 0
        np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-4 * abs(want).max())

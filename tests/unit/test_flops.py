"""Multiplications and additions of a forward pass, for every layer type."""

from pathlib import Path

import numpy as np
import pytest

from pycaffe_dist.blob import Blob, View
from pycaffe_dist.layer import Context
from pycaffe_dist.proto.caffe_pb2 import LayerParameter
from pycaffe_dist.proto.nets import read_net
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.registry import create_layer, layer_types
from pycaffe_dist.sketch import Sketch

FORKS = sorted((Path(__file__).parents[1] / "golden" / "forks").glob("*.prototxt"))
X = (2, 3, 4, 5)
ALL = 120  # values of X
ROWS = (6, 4)  # items and classes
ITEMS = (6,)
SEQUENCE = (5, 2, 7), (5, 2)  # T, N, inputs; where sequences go on

# Type: settings, shapes of the bottoms, number of tops, operations.
TABLE = [
    ("AbsVal", "", [X], 1, ALL),
    ("Accuracy", "", [ROWS, ITEMS], 1, 24),
    ("ArgMax", "", [X], 1, ALL),
    ("BNLL", "", [X], 1, ALL),
    ("BatchNorm", "phase: TRAIN", [X], 1, 5 * ALL),
    ("BatchNorm", "phase: TEST", [X], 1, 2 * ALL),
    ("BatchReindex", "", [X, (7,)], 1, 0),
    ("Bias", "", [X], 1, ALL),
    ("Clip", "clip_param { min: 0 max: 1 }", [X], 1, ALL),
    ("Concat", "", [X, X], 1, 0),
    ("ContrastiveLoss", "", [ROWS, ROWS, ITEMS], 1, 3 * 24),
    # 2 · out · (channels · kernel)
    ("Convolution", "convolution_param { num_output: 6 kernel_size: 3 }", [X], 1, 2 * 72 * 27),
    ("Crop", "", [X, (2, 3, 2, 2)], 1, 0),
    ("Deconvolution", "convolution_param { num_output: 6 kernel_size: 3 }", [X], 1, 2 * ALL * 54),
    ("Dropout", "phase: TRAIN", [X], 1, ALL),
    ("Dropout", "phase: TEST", [X], 1, 0),
    ("DummyData", "dummy_data_param { shape { dim: 4 } }", [], 1, 0),
    ("ELU", "", [X], 1, ALL),
    ("Eltwise", "", [X, X, X], 1, 2 * ALL),
    ("Eltwise", "eltwise_param { coeff: 1 coeff: -1 }", [X, X], 1, 2 * ALL),
    ("Eltwise", "eltwise_param { operation: PROD }", [X, X], 1, ALL),
    ("Embed", "embed_param { input_dim: 9 num_output: 5 }", [(2, 3)], 1, 30),
    ("Embed", "embed_param { input_dim: 9 num_output: 5 bias_term: false }", [(2, 3)], 1, 0),
    ("EuclideanLoss", "", [ROWS, ROWS], 1, 3 * 24),
    ("Exp", "", [X], 1, ALL),
    ("FakeData", "dummy_data_param { shape { dim: 4 } data_filler { type: 'uniform' } }", [], 1, 0),
    ("Filter", "", [X, (2,)], 1, 0),
    ("Flatten", "", [X], 1, 0),
    ("HingeLoss", "", [ROWS, ITEMS], 1, 3 * 24),
    ("Im2col", "convolution_param { kernel_size: 3 }", [X], 1, 0),
    ("InfogainLoss", "", [ROWS, ITEMS, (1, 1, 4, 4)], 1, 7 * 24),
    ("InnerProduct", "inner_product_param { num_output: 8 }", [X], 1, 2 * 2 * 8 * 60),
    ("Input", "input_param { shape { dim: 4 } }", [], 1, 0),
    ("LRN", "lrn_param { local_size: 5 }", [X], 1, 10 * ALL),
    ("LRN", "lrn_param { local_size: 3 norm_region: WITHIN_CHANNEL }", [X], 1, 18 * ALL),
    # 2 · T · N · 4 gates · outputs · (inputs + outputs)
    ("LSTM", "recurrent_param { num_output: 3 }", SEQUENCE, 1, 2 * 5 * 2 * 4 * 3 * (7 + 3)),
    ("LSTMUnit", "", [(1, 2, 3), (1, 2, 12), (1, 2)], 2, 2 * 6),
    ("Log", "", [X], 1, ALL),
    ("MVN", "", [X], 1, 5 * ALL),
    ("MVN", "mvn_param { normalize_variance: false }", [X], 1, 2 * ALL),
    ("MemoryData", "memory_data_param { batch_size: 2 channels: 3 height: 4 width: 5 }", [], 2, 0),
    ("MultinomialLogisticLoss", "", [ROWS, ITEMS], 1, 2 * 6),
    ("PReLU", "", [X], 1, 2 * ALL),
    ("Parameter", "parameter_param { shape { dim: 4 } }", [], 1, 0),
    ("Pooling", "pooling_param { kernel_size: 2 stride: 2 }", [X], 1, 2 * 3 * 2 * 3 * 4),
    ("Power", "", [X], 1, ALL),
    # as an LSTM with one gate, and the outputs' own product
    ("RNN", "recurrent_param { num_output: 3 }", SEQUENCE, 1, 2 * 5 * 2 * 3 * (7 + 3 + 3)),
    ("ReLU", "", [X], 1, ALL),
    ("Reduction", "", [X], 1, ALL),
    ("Reduction", "reduction_param { operation: SUMSQ }", [X], 1, 2 * ALL),
    ("Reshape", "reshape_param { shape { dim: -1 } }", [X], 1, 0),
    # the whole image, then its quarters
    ("SPP", "spp_param { pyramid_height: 2 }", [(2, 3, 4, 4)], 1, 6 * 16 + 24 * 4),
    ("Scale", "", [X], 1, ALL),
    ("Scale", "scale_param { bias_term: true }", [X], 1, 2 * ALL),
    ("Sigmoid", "", [X], 1, ALL),
    ("SigmoidCrossEntropyLoss", "", [ROWS, ROWS], 1, 8 * 24),
    ("Silence", "", [X], 0, 0),
    ("Slice", "slice_param { slice_point: 1 }", [X], 2, 0),
    ("Softmax", "", [X], 1, 4 * ALL),
    ("SoftmaxWithLoss", "", [ROWS, ITEMS], 1, 4 * 24),
    ("Split", "", [X], 2, 0),
    ("Swish", "", [X], 1, ALL),
    ("TanH", "", [X], 1, ALL),
    ("Threshold", "", [X], 1, ALL),
    ("Tile", "tile_param { tiles: 3 }", [X], 1, 0),
]
# Data comes without computing, whatever its file: these share or repeat the method of the others.
FROM_FILES = {"Data", "HDF5Data", "HDF5Output", "ImageData", "WindowData"}
OF_USERS = {"Python"}


@pytest.mark.parametrize(
    ("kind", "settings", "shapes", "tops", "operations"), TABLE, ids=[row[0] for row in TABLE]
)
def test_operations_of_a_forward_pass(kind, settings, shapes, tops, operations):
    param = parse_text(f'name: "it" type: "{kind}" {settings}', LayerParameter()).message
    layer = create_layer(param, Context(dtype=np.float32, dry=True))
    bottom = [View(Blob(shape)) for shape in shapes]
    top = [View(Blob()) for _ in range(tops)]
    layer.set_up(bottom, top)
    assert layer.flops(bottom, top) == operations


@pytest.mark.parametrize("kind", sorted(FROM_FILES))
def test_files_are_read_without_computing(kind):
    layer = create_layer(LayerParameter(name="it", type=kind), Context(dry=True))
    assert layer.flops([View(Blob(X))], [View(Blob(X))]) == 0


def test_the_table_has_every_layer_type_of_bvlc():
    of_bvlc = {k for k, cls in layer_types().items() if cls.__module__.count(".") == 2}
    assert {row[0] for row in TABLE} | FROM_FILES | OF_USERS == of_bvlc


@pytest.mark.parametrize("path", FORKS, ids=lambda path: path.stem)
def test_layers_of_forks_count_too(path):
    """Whole numbers, for tables and plans, which a layer that computes nothing has as well."""
    net = Sketch(read_net(path))
    for layer, bottom, top in zip(net.layers, net.bottoms, net.tops, strict=True):
        operations = layer.flops(bottom, top)
        assert type(operations) is int and operations >= 0, layer.type

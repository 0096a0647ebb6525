"""Sound files of every kind, from which damaged ones are made; written by the project itself."""

from __future__ import annotations

import random
from pathlib import Path

import h5py
import numpy as np
from PIL import Image

from pycaffe_dist.data.database import write_database
from pycaffe_dist.proto import caffe_pb2

DUMMY = """
layer { name: "x" type: "DummyData" top: "x" top: "l"
  dummy_data_param { shape { dim: 4 dim: 3 dim: 8 dim: 8 } shape { dim: 4 }
    data_filler { type: "gaussian" std: 1 } data_filler { type: "constant" value: 1 } } }
"""
END = """
layer { name: "ip" type: "InnerProduct" bottom: "y" top: "ip"
  inner_product_param { num_output: 5 weight_filler { type: "xavier" } } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip" bottom: "l" top: "loss" }
layer { name: "accuracy" type: "Accuracy" bottom: "ip" bottom: "l" top: "accuracy"
  include { phase: TEST } }
"""
# One layer from x to y each: its type, and what it needs besides.
LAYERS = """
Convolution|convolution_param { num_output: 4 kernel_size: 3 pad: 1 weight_filler { type: "msra" } }
Convolution|convolution_param { num_output: 6 kernel_h: 3 kernel_w: 2 stride: 2 group: 3 }
Deconvolution|convolution_param { num_output: 4 kernel_size: 2 weight_filler { type: "bilinear" } }
Pooling|pooling_param { pool: MAX kernel_size: 3 stride: 2 pad: 1 }
Pooling|pooling_param { pool: AVE global_pooling: true }
Pooling|pooling_param { pool: STOCHASTIC kernel_size: 2 stride: 2 }
LRN|lrn_param { local_size: 3 alpha: 0.1 beta: 0.75 }
LRN|lrn_param { local_size: 3 norm_region: WITHIN_CHANNEL }
InnerProduct|inner_product_param { num_output: 7 axis: 1 transpose: true }
BatchNorm|batch_norm_param { use_global_stats: false eps: 0.001 }
Scale|scale_param { axis: 1 bias_term: true }
Bias|bias_param { axis: 1 num_axes: 2 }
Flatten|flatten_param { axis: 1 end_axis: -1 }
Reshape|reshape_param { shape { dim: 0 dim: -1 dim: 4 } axis: 0 num_axes: -1 }
Tile|tile_param { axis: 1 tiles: 3 }
Reduction|reduction_param { operation: SUMSQ axis: 2 coeff: 2 }
ArgMax|argmax_param { top_k: 2 axis: 1 out_max_val: true }
Softmax|softmax_param { axis: 1 }
MVN|mvn_param { across_channels: true }
Power|power_param { power: 2 scale: 0.5 shift: 1 }
Exp|exp_param { base: 2 scale: 0.1 }
Log|log_param { shift: 9 }
Dropout|dropout_param { dropout_ratio: 0.4 }
ELU|elu_param { alpha: 0.5 }
PReLU|prelu_param { channel_shared: false }
ReLU|relu_param { negative_slope: 0.1 }
Clip|clip_param { min: -1 max: 1 }
Threshold|threshold_param { threshold: 0.5 }
SPP|spp_param { pyramid_height: 2 pool: MAX }
Im2col|convolution_param { kernel_size: 3 stride: 2 pad: 1 }
Sigmoid|
TanH|
AbsVal|
BNLL|
Eltwise|bottom: "x" eltwise_param { operation: SUM coeff: 1 coeff: -1 }
Concat|bottom: "x" concat_param { axis: 1 }
Slice|top: "z" slice_param { axis: 1 slice_point: 1 }
Crop|bottom: "x" crop_param { axis: 2 offset: 0 }
BatchReindex|bottom: "l"
Filter|bottom: "l"
Embed|embed_param { num_output: 4 input_dim: 10 }
LSTM|bottom: "l" recurrent_param { num_output: 3 }
RNN|bottom: "l" recurrent_param { num_output: 3 }
Parameter|parameter_param { shape { dim: 3 dim: 2 } }
EuclideanLoss|bottom: "x" loss_weight: 0.1
SigmoidCrossEntropyLoss|bottom: "x" loss_weight: 0.1
HingeLoss|bottom: "l" hinge_loss_param { norm: L2 }
ContrastiveLoss|bottom: "x" bottom: "l" contrastive_loss_param { margin: 2 }
InfogainLoss|bottom: "l" infogain_loss_param { source: "mean.binaryproto" }
MultinomialLogisticLoss|bottom: "l"
""".strip().splitlines()
# The same, of forks.
LAYERS += """
Permute|permute_param { order: 0 order: 2 order: 3 order: 1 }
Normalize|norm_param { across_spatial: false scale_filler { type: "constant" value: 20 } }
PriorBox|bottom: "x" prior_box_param { min_size: 4 max_size: 6 aspect_ratio: 2 variance: 0.1 }
DepthwiseConvolution|convolution_param { num_output: 3 kernel_size: 3 group: 3 }
ShuffleChannel|shuffle_channel_param { group: 3 }
ReLU6|
Mish|
HardSwish|
HardSigmoid|
Swish|
SeLU|
Softplus|
LogSoftmax|
Interp|interp_param { zoom_factor: 2 }
Upsample|upsample_param { scale: 2 }
SmoothL1Loss|bottom: "x" loss_weight: 0.1
L1Loss|bottom: "x" loss_weight: 0.1
BN|
GRN|
Flip|
Gram|
LayerNorm|
L2Normalize|
SpatialDropout|
Correlation|bottom: "x" correlation_param { pad: 2 kernel_size: 1 max_displacement: 2 }
MatMul|bottom: "x"
DenseBlock|denseblock_param { numTransition: 2 growthRate: 2 }
MarginInnerProduct|bottom: "l" margin_inner_product_param { num_output: 5 }
Reverse|
Squeeze|
Transpose|transpose_param { dim: 0 dim: 2 dim: 3 dim: 1 }
StridedSlice|
""".strip().splitlines()
SOURCES = {
    "Data": 'data_param { source: "db" batch_size: 3 backend: LMDB prefetch: 2 } '
    'transform_param { mirror: true crop_size: 6 mean_file: "mean.binaryproto" scale: 0.1 }',
    "LevelDB": 'data_param { source: "ldb" batch_size: 3 backend: LEVELDB }',
    "ImageData": 'image_data_param { source: "list.txt" root_folder: "img/" batch_size: 2 '
    "new_height: 8 new_width: 8 shuffle: true } transform_param { mean_value: 100 }",
    "HDF5Data": 'hdf5_data_param { source: "h5.txt" batch_size: 3 shuffle: true }',
    "WindowData": 'window_data_param { source: "windows.txt" batch_size: 4 fg_threshold: 0.5 '
    'bg_threshold: 0.3 fg_fraction: 0.25 context_pad: 1 crop_mode: "warp" } '
    "transform_param { crop_size: 8 }",
    "MemoryData": "memory_data_param { batch_size: 2 channels: 3 height: 8 width: 8 }",
}
SOLVER = """net: "net.prototxt" base_lr: 0.01 momentum: 0.9 weight_decay: 0.001 lr_policy: "step"
gamma: 0.5 stepsize: 2 display: 1 max_iter: 1 test_iter: 1 test_interval: 1 snapshot: 1
snapshot_prefix: "snap" random_seed: 1 average_loss: 2 iter_size: 2 regularization_type: "L2"
clip_gradients: 3 type: "SGD" solver_mode: CPU
"""
DEPLOY = """name: "d"
layer { name: "data" type: "Input" top: "data"
  input_param { shape { dim: 2 dim: 3 dim: 8 dim: 8 } } }
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv"
  convolution_param { num_output: 4 kernel_size: 3 weight_filler { type: "xavier" } } }
layer { name: "bn" type: "BatchNorm" bottom: "conv" top: "conv" }
layer { name: "relu" type: "ReLU" bottom: "conv" top: "conv" }
layer { name: "fc" type: "InnerProduct" bottom: "conv" top: "fc"
  inner_product_param { num_output: 5 weight_filler { type: "xavier" } } }
layer { name: "prob" type: "Softmax" bottom: "fc" top: "prob" }
"""
V1 = """name: "old" input: "data" input_dim: 2 input_dim: 3 input_dim: 8 input_dim: 8
layers { name: "c" type: CONVOLUTION bottom: "data" top: "c" blobs_lr: 1 weight_decay: 1
  convolution_param { num_output: 4 kernel_size: 3 } }
layers { name: "r" type: RELU bottom: "c" top: "c" }
layers { name: "p" type: POOLING bottom: "c" top: "p" pooling_param { pool: MAX kernel_size: 2 } }
"""
V0 = """name: "older" input: "data" input_dim: 2 input_dim: 3 input_dim: 8 input_dim: 8
layers { layer { name: "pad" type: "padding" pad: 1 } bottom: "data" top: "pad" }
layers { layer { name: "c" type: "conv" num_output: 4 kernelsize: 3 blobs_lr: 1. }
  bottom: "pad" top: "c" }
layers { layer { name: "r" type: "relu" } bottom: "c" top: "c" }
"""
HOSTS = [
    "0 127.0.0.1 9999\n1 127.0.0.1 10000\n",
    "node1 slots=4\nnode2 slots=2 max_slots=4\n# x\n[::1]\n",
    "a:4\nb:2\n",
]
WINDOWS = "# 0\nimg/0.png\n3\n8\n8\n3\n1 0.9 0 0 7 7\n2 0.6 1 1 5 6\n0 0.1 2 2 4 4\n"
WINDOWS += "# 1\nimg/1.png\n3\n8\n8\n2\n1 0.8 0 0 6 6\n0 0.2 1 1 3 3\n"
TABLE = "filename,ymin,xmin,ymax,xmax\nimg/0.png,0,0,7,7\nimg/1.png,1,1,5,6\n"
SCRIPT = """import sys
print "%d" % (3 / 2), `1`, u"x".encode("hex")
for i in xrange(3):
    exec "y = %d" % i
try:
    raise ValueError, "x"
except ValueError, e:
    print >>sys.stderr, e, {}.has_key(1), 0777, 1L <> 2
"""


def layer(kind: str, more: str, name: str = "y", bottom: str = "x", top: str = "y") -> str:
    return f'layer {{ name: "{name}" type: "{kind}" bottom: "{bottom}" top: "{top}" {more} }}\n'


def net_with(source: str) -> str:
    """The net of the sound weights, on records from one of ``SOURCES``."""
    kind = "Data" if source == "LevelDB" else source
    data = f'layer {{ name: "x" type: "{kind}" top: "x" top: "l" {SOURCES[source]} }}\n'
    return data + layer(*LAYERS[0].split("|")) + END


def some_net(rng: random.Random) -> str:
    """A net of one to three layers of any kind, from any source."""
    data = DUMMY
    if rng.random() < 0.3:
        kind = rng.choice([kind for kind in SOURCES if kind != "LevelDB"])
        data = f'layer {{ name: "x" type: "{kind}" top: "x" top: "l" {SOURCES[kind]} }}\n'
    bottom = "x"
    for i in range(rng.choice((1, 1, 2, 3))):
        data += layer(*rng.choice(LAYERS).split("|"), f"y{i}", bottom, f"y{i}")
        bottom = f"y{i}"
    return data + END.replace('bottom: "y"', f'bottom: "{bottom}"')


def records() -> list[tuple[bytes, caffe_pb2.Datum]]:
    """Images as bytes, as numbers and encoded."""
    pixels = np.random.RandomState(0).randint(0, 255, (6, 8, 8, 3)).astype(np.uint8)
    found = []
    for i, image in enumerate(pixels):
        datum = caffe_pb2.Datum(channels=3, height=8, width=8, label=i % 5)
        if i % 3 == 2:
            datum.encoded, datum.data = True, Path(f"img/{i % 4}.png").read_bytes()
        elif i % 3 == 1:
            datum.float_data.extend(image.reshape(-1).tolist())
        else:
            datum.data = image.tobytes()
        found.append((b"%08d" % i, datum))
    return found


def make_here() -> None:
    """All files that need no training, into the working directory."""
    rng = np.random.RandomState(1)
    Path("img").mkdir()
    for i in range(4):
        image = Image.fromarray(rng.randint(0, 255, (8, 8, 3)).astype(np.uint8))
        image.save(f"img/{i}.png")
        image.save(f"img/{i}.jpg")
    texts = {
        "list.txt": "0.jpg 0\n1.png 1\n2.jpg 2\n3.png 3\n",
        "labels.txt": "zero\none\ntwo\nthree\nfour\n",
        "windows.txt": WINDOWS,
        "windows.csv": TABLE,
        "h5.txt": "data.h5\n",
        "net.prototxt": DUMMY + layer(*LAYERS[0].split("|")) + END,
        "solver.prototxt": SOLVER,
        "deploy.prototxt": DEPLOY,
        "hosts": HOSTS[0],
        "script.py": SCRIPT,
    }
    for name, text in texts.items():
        Path(name).write_text(text)
    stored = [(key, datum.SerializeToString()) for key, datum in records()]
    write_database("db", "lmdb", stored)
    write_database("ldb", "leveldb", stored)
    with h5py.File("data.h5", "w") as file:
        file["x"] = rng.rand(6, 3, 8, 8).astype(np.float32)
        file["l"] = np.arange(6, dtype=np.float32) % 5
    mean = caffe_pb2.BlobProto(num=1, channels=3, height=8, width=8, data=[1.0] * 192)
    Path("mean.binaryproto").write_bytes(mean.SerializeToString())
    np.save("mean.npy", np.zeros((3, 8, 8), np.float32))
    shape = bytes([0, 0, 0, 3, 0, 0, 0, 28, 0, 0, 0, 28])
    Path("images").write_bytes(b"\0\0\x08\x03" + shape + bytes(3 * 784))  # MNIST's
    Path("digits").write_bytes(b"\0\0\x08\x01" + bytes([0, 0, 0, 3, 1, 2, 3]))


def make_weights_here() -> None:
    import pycaffe_dist as caffe

    caffe.Net("deploy.prototxt", caffe.TEST).save("deploy.caffemodel")


# Weights, states and a log, made by training with the files above, and a model of ONNX.
HDF5 = ["--set", "snapshot_format=HDF5", "--set", "snapshot_prefix=hsnap"]
EXPORT = ["export", "deploy.prototxt", "deploy.caffemodel", "-o", "deploy.onnx"]
TRAININGS = [
    ["train", "-solver", "solver.prototxt", "-log_file", "train.log"],
    ["train", "-solver", "solver.prototxt", *HDF5],
]

"""Small nets that find bright red squares, in the forms in which detectors come."""

import numpy as np

from pycaffe_dist.loading import save_weights
from pycaffe_dist.net import Net
from pycaffe_dist.proto.caffe_pb2 import NetParameter
from pycaffe_dist.proto.text import parse_text

INPUT = """layer { name: "data" type: "Input" top: "data"
  input_param { shape { dim: 1 dim: 3 dim: 20 dim: 20 } } }"""
# Four cells of 10 x 10 pixels; the score of the only class is the cell's mean red.
HEAD = """
layer { name: "pool" type: "Pooling" bottom: "data" top: "pool"
  pooling_param { pool: AVE kernel_size: 10 stride: 10 } }
layer { name: "loc" type: "Convolution" bottom: "pool" top: "loc"
  convolution_param { num_output: 4 kernel_size: 1 } }
layer { name: "conf" type: "Convolution" bottom: "pool" top: "conf"
  convolution_param { num_output: 2 kernel_size: 1 } }
layer { name: "locp" type: "Permute" bottom: "loc" top: "locp"
  permute_param { order: 0 order: 2 order: 3 order: 1 } }
layer { name: "confp" type: "Permute" bottom: "conf" top: "confp"
  permute_param { order: 0 order: 2 order: 3 order: 1 } }
layer { name: "locf" type: "Flatten" bottom: "locp" top: "locf" }
layer { name: "conff" type: "Flatten" bottom: "confp" top: "conff" }
layer { name: "prior" type: "PriorBox" bottom: "pool" bottom: "data" top: "prior"
  prior_box_param { min_size: 10 } }
layer { name: "out" type: "DetectionOutput" bottom: "locf" bottom: "conff" bottom: "prior"
  top: "out" detection_output_param { num_classes: 2 nms_param { nms_threshold: 0.5 }
  code_type: CENTER_SIZE keep_top_k: 10 confidence_threshold: 0.01
  save_output_param { output_directory: "o" output_format: "VOC" label_map_file: "nowhere"
    name_size_file: "nowhere" } } }
"""
DATA = """layer { name: "data" type: "AnnotatedData" top: "data" top: "label"
  include { phase: TEST }
  transform_param { mean_value: 0 mean_value: 0 mean_value: 51 scale: 0.00392156862745098
    resize_param { prob: 1 resize_mode: WARP height: 20 width: 20 } }
  data_param { source: "db" batch_size: 1 backend: LMDB }
  annotated_data_param { anno_type: BBOX label_map_file: "nowhere" } }"""
EVALUATE = """layer { name: "eval" type: "DetectionEvaluate" bottom: "out" bottom: "label"
  top: "eval"
  include { phase: TEST } detection_evaluate_param { num_classes: 2 background_label_id: 0 } }
layer { name: "quiet" type: "Silence" bottom: "eval" }"""
YOLO = """
layer { name: "pool" type: "Pooling" bottom: "data" top: "pool"
  pooling_param { pool: AVE kernel_size: 10 stride: 10 } }
layer { name: "conf" type: "Convolution" bottom: "pool" top: "conf"
  convolution_param { num_output: 6 kernel_size: 1 } }
layer { name: "out" type: "Yolov3DetectionOutput" bottom: "conf" top: "out"
  yolov3_detection_output_param { num_classes: 1 num_box: 1 confidence_threshold: 0.5
    nms_threshold: 0.5 biases: 10 biases: 10 mask: 0 mask_group_num: 1 anchors_scale: 10 } }
"""


def write_ssd(folder, data=INPUT, end=""):
    """deploy.prototxt and net.caffemodel: the score of a cell is its mean red."""
    weights = {"conf": [[[[0]], [[0]], [[0]]], [[[0]], [[0]], [[1]]]]}
    _write(folder, data + HEAD + end, INPUT + HEAD, weights, {})


def write_yolo(folder):
    """The same with YOLO's head: sure above half of the full red."""
    weights = np.zeros((6, 3, 1, 1))
    weights[4, 2] = 40
    _write(folder, INPUT + YOLO, INPUT + YOLO, {"conf": weights}, {"conf": [0, 0, 0, 0, -20, 20]})


def _write(folder, text, built, weights, biases):
    (folder / "deploy.prototxt").write_text(text)
    param = parse_text(built, NetParameter()).message
    for layer in param.layer:
        layer.detection_output_param.ClearField("save_output_param")
        if layer.type != "DetectionOutput":
            layer.ClearField("detection_output_param")
    net = Net(param)
    for layer, name in zip(net.layers, net.layer_names, strict=True):
        for blob in layer.blobs:
            blob.data[...] = 0
        if name in weights:
            layer.blobs[0].data[...] = weights[name]
            layer.blobs[1].data[...] = biases.get(name, 0)
    save_weights(net, folder / "net.caffemodel")


def picture(*cells, value=255, height=40, width=60):
    """Black, blue first, with red in some of the four quarters: (row, column) from 0 to 1."""
    image = np.zeros((height, width, 3), np.uint8)
    for row, column in cells:
        rows = slice(row * height // 2, (row + 1) * height // 2)
        image[rows, column * width // 2 : (column + 1) * width // 2, 2] = value
    return image

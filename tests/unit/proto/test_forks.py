from __future__ import annotations

import re
from collections import Counter

import pytest
from google.protobuf.descriptor import Descriptor

from pycaffe_dist.proto import caffe_pb2, forks
from pycaffe_dist.proto.dialects import dialects

MESSAGES: dict[str, Descriptor] = dict(caffe_pb2.DESCRIPTOR.message_types_by_name)
TABLES = [forks._UNREAD_FIELDS, forks._UNREAD_V1_TYPES, forks._LAYER_TYPES]

BVLC = """
    AbsVal Accuracy ArgMax BNLL BatchNorm BatchReindex Bias Clip Concat ContrastiveLoss Convolution
    Crop Data Deconvolution Dropout DummyData ELU Eltwise Embed EuclideanLoss Exp Filter Flatten
    HDF5Data HDF5Output HingeLoss Im2col ImageData InfogainLoss InnerProduct Input LRN LSTM LSTMUnit
    Log MVN MemoryData MultinomialLogisticLoss PReLU Parameter Pooling Power Python RNN ReLU
    Reduction Reshape SPP Scale Sigmoid SigmoidCrossEntropyLoss Silence Slice Softmax
    SoftmaxWithLoss Split Swish TanH Threshold Tile WindowData
"""
BVLC_TYPES = set(BVLC.split())


@pytest.mark.parametrize(
    ("message", "field", "fork"),
    [
        ("LayerParameter", "prior_box_param", "the SSD fork (weiliu89/caffe)"),
        ("LayerParameter", "roi_pooling_param", "rbgirshick/caffe-fast-rcnn"),
        ("LayerParameter", "psroi_pooling_param", "R-FCN"),
        ("LayerParameter", "yolov3_param", "MobileNet-YOLO"),
        ("LayerParameter", "interp_param", "PSPNet"),
        ("LayerParameter", "correlation_param", "FlowNet 2"),
        ("LayerParameter", "detectnet_augmentation_param", "NVIDIA"),
        ("V1LayerParameter", "multi_stage_meanfield_param", "CRF-RNN"),
        ("V1LayerParameter", "unpooling_param", "DeconvNet"),
        ("NetParameter", "bn_stats_batch_size", "Intel"),
        ("SolverParameter", "eval_type", "SSD"),
        ("TransformationParameter", "emit_constraint", "SSD"),
        ("TransformationParameter", "is_flow", "yjxiong"),
        ("DropoutParameter", "sample_weights_test", "SegNet"),
        ("BatchNormParameter", "filler", "Intel"),
        ("PoolingParameter", "ceil_mode", "round_mode"),
        ("ConvolutionParameter", "kernel_depth", "C3D"),
    ],
)
def test_fields(message: str, field: str, fork: str) -> None:
    assert fork in (forks.of_field(message, field) or "")


@pytest.mark.parametrize(
    ("name", "fork"),
    [
        ("CONVOLUTION3D", "C3D"),
        ("POOLING3D", "C3D"),
        ("DECONVOLUTION3D", "C3D"),
        ("VIDEO_DATA", "C3D"),
        ("VIDEO_WITH_VOXEL_TRUTH_DATA", "C3D"),
        ("BN", "SegNet"),
        ("UPSAMPLE", "SegNet"),
        ("DENSE_IMAGE_DATA", "SegNet"),
        ("UNPOOLING", "DeconvNet"),
        ("IMAGE_SEG_DATA", "DeepLab"),
        ("MULTI_STAGE_MEANFIELD", "CRF-RNN"),
        ("INSANITY", "happynear"),
    ],
)
def test_v1_types(name: str, fork: str) -> None:
    assert fork in (forks.of_enum_value("LayerType", name) or "")


@pytest.mark.parametrize(
    ("enum", "value", "fork"),
    [
        ("Engine", "MKL2017", "Intel"),
        ("Engine", "MKLDNN", "Intel"),
        ("Engine", "LIBDNN", "OpenCL"),
        ("Engine", "INTEL_SPATIAL", "OpenCL"),
        ("NormalizationMode", "PRE_FIXED", "R-FCN"),
        ("EltwiseOp", "SORT", "happynear"),
        ("PoolMethod", "DEF_ALL", "happynear"),
        ("LayerType", "UPSAMPLE", "SegNet"),
    ],
)
def test_enum_values(enum: str, value: str, fork: str) -> None:
    assert fork in (forks.of_enum_value(enum, value) or "")


@pytest.mark.parametrize(
    ("name", "fork"),
    [
        ("Permute", "SSD"),
        ("SmoothL1Loss", "Fast R-CNN"),
        ("PSROIPooling", "R-FCN"),
        ("DepthwiseConvolution", "yonghenglh6"),
        ("RegionLoss", "MobileNet-YOLO"),
        ("Axpy", "SENet"),
        ("Interp", "DeepLab"),
        ("ShuffleChannel", "ShuffleNet"),
        ("CenterLoss", "caffe-face"),
        ("MarginInnerProduct", "SphereFace"),
        ("FlowWarp", "FlowNet 2"),
        ("SyncBN", "yjxiong"),
        ("Convolution3D", "C3D"),
        ("Lstm", "caffe-lstm"),
    ],
)
def test_layer_types(name: str, fork: str) -> None:
    assert fork in (forks.of_layer_type(name) or "")


def test_names_unknown_everywhere_have_no_fork() -> None:
    assert forks.of_field("LayerParameter", "convolutoin_param") is None
    assert forks.of_field("NoSuchParameter", "prior_box_param") is None
    assert forks.of_field("PoolingParameter", "prior_box_param") is None
    assert forks.of_enum_value("LayerType", "CONVOLUTION") is None
    assert forks.of_enum_value("NoSuchEnum", "MKLDNN") is None
    assert forks.of_layer_type("Convolution") is None


def test_the_fork_that_had_a_name_first_is_named_first() -> None:
    assert forks.of_field("LayerParameter", "center_loss_param") == (
        "caffe-face (ydwen/caffe-face), also in happynear's fork (happynear/caffe-windows)"
    )
    assert forks.of_layer_type("Upsample") == (
        "SegNet (alexgkendall/caffe-segnet), or from MobileNet-YOLO (eric612/MobileNet-YOLO)"
    )


def test_every_fork_is_defined_and_used() -> None:
    used = {
        fork
        for table in TABLES
        for text in forks.parse(table).values()
        for fork in text.replace("|", " ").split()
    }
    assert used | set(dialects()) == set(forks.FORKS)


def test_no_table_has_a_name_twice() -> None:
    for table in TABLES:
        names = re.sub(r"^.*:", "", table, flags=re.MULTILINE).split()
        assert [name for name, count in Counter(names).items() if count > 1] == []


def test_no_unread_field_is_one_of_the_schema() -> None:
    names = set(MESSAGES["LayerParameter"].fields_by_name)
    assert not set(forks.parse(forks._UNREAD_FIELDS)) & names


def test_no_unread_type_is_one_of_the_schema() -> None:
    types = caffe_pb2.V1LayerParameter.LayerType.keys()
    assert not set(forks.parse(forks._UNREAD_V1_TYPES)) & set(types)


def test_no_layer_type_is_one_of_bvlc() -> None:
    assert len(BVLC_TYPES) == 61
    assert not set(forks.parse(forks._LAYER_TYPES)) & BVLC_TYPES


def test_types_are_told_by_the_fork_that_has_most_of_them() -> None:
    types = ["Normalize", "PriorBox", "Normalize", "ReLU6", "Flip", "Quux"]
    assert forks.by_fork(types) == {
        forks.FORKS["ssd"]: ["Normalize", "PriorBox"],  # happynear's fork has a Normalize, too
        forks.FORKS["yolo"]: ["ReLU6"],
        forks.FORKS["happynear"]: ["Flip"],
        "": ["Quux"],
    }
    assert forks.by_fork([]) == {}

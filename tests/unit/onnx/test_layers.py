"""Every recorded layer that has a meaning in TEST, exported and run by ONNX Runtime."""

import sys
from pathlib import Path

import numpy as np
import onnx
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from recorded import OLD_RUNTIME, build, cases, forward

from pycaffe_dist.engines.base import NUMPY
from pycaffe_dist.errors import NetError
from pycaffe_dist.layer import Context
from pycaffe_dist.layers.base_data import BaseData
from pycaffe_dist.layers.softmax_loss import SoftmaxWithLoss
from pycaffe_dist.net import Net
from pycaffe_dist.onnx.check import difference, run_onnx
from pycaffe_dist.onnx.export import LEFT_OUT, export, newest
from pycaffe_dist.onnx.exporters import EXPORTERS, exporter
from pycaffe_dist.onnx.writing import as_bytes
from pycaffe_dist.proto.caffe_pb2 import TEST, NetParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.registry import LAYERS, layer_types

# What has no form in ONNX, and the words that say so.
REFUSED = {
    "detout_nms_eta": "eta",
    "lstm_junhyuk_clip": "second bottom",
    "lsoftmax_ip_quadruple": "labels",
    "margin_ip_single": "labels",
    "margin_ip_double": "labels",
    "margin_ip_quadruple": "labels",
    "margin_ip_late": "labels",
}


def checked(folder, name, opset):
    net, inputs = build(folder, name)
    made = export(net, opset)
    if not made.model.graph.output:  # a loss or a score alone
        assert name.startswith("mbox") or made.left_out
        return
    model = as_bytes(made)
    onnx.checker.check_model(model, full_check=True)
    theirs = run_onnx(model, inputs, threads=1)
    forward(net, inputs)
    for output, values in theirs.items():
        if output in net.blob_ids:
            assert difference(net.blobs[net.blob_ids[output]].data, values) <= 1e-4, output
        else:  # the probabilities of a loss that is left out
            assert output.startswith("prob")
            loss = next(one for one in net.layers if isinstance(one, SoftmaxWithLoss))
            sums = values.sum(axis=loss.layer_param.softmax_param.axis)
            assert sums == pytest.approx(np.ones_like(sums), rel=1e-5)
            assert values.min() >= 0


@pytest.mark.parametrize(("folder", "name"), list(cases()), ids=lambda value: value)
def test_a_layer_computes_the_same_in_onnx_runtime(folder, name):
    if name in REFUSED:
        with pytest.raises(NetError, match=REFUSED[name]):
            export(build(folder, name)[0])
        return
    checked(folder, name, 17)


WIDE = 'filler { type: "uniform" min: -2 max: 2 }'
# Layers that no recorded case has: type, settings, shapes of the inputs.
OTHERS = [
    (
        "DeformableConvolution",
        "deformable_convolution_param { num_output: 6 kernel_size: 3 group: 2 deformable_group: 2 "
        "dilation: 1 stride_h: 2 stride_w: 1 "
        'weight_filler { type: "gaussian" } bias_filler { type: "gaussian" } }',
        [(1, 4, 7, 5), (1, 36, 3, 3)],
    ),
    (
        "DataAugmentation",
        "augmentation_param { mean: 1 mean: 2 mean: 3 mean_per_pixel: false }",
        [(2, 3, 4, 4)],
    ),
    (
        "DetectionOutput",
        "detection_output_param { num_classes: 3 normalized_bbox: false keep_top_k: 5 "
        "variance_encoded_in_target: true share_location: false code_type: CENTER_SIZE "
        "nms_param { nms_threshold: 0.3 } }",
        [(1, 96), (1, 24), (1, 1, 32, 1)],
    ),
    ("GradientScaler", "", [(2, 3)]),
    ("Insanity", "insanity_param { lb: 2 ub: 5 }", [(2, 3)]),
    ("GuidedDropout", 'guided_dropout_param { type: "stochastic" }', [(2, 3, 4), (2, 3)]),
    (
        "GuidedDropout",
        'guided_dropout_param { type: "deterministic" guidance_threshold: 0.4 }',
        [(2, 6, 4, 3), (2, 6, 1, 1)],
    ),
    (
        "GuidedDropout",
        'guided_dropout_param { type: "deterministic" guidance_threshold: 1 }',
        [(2, 6), (2, 6)],
    ),
    (
        "Local",
        "local_param { num_output: 3 kernel_size: 2 stride: 2 pad: 1 "
        'weight_filler { type: "gaussian" } bias_filler { type: "gaussian" } }',
        [(2, 2, 5, 4)],
    ),
    ("Normalization", "", [(2, 3, 4)]),
    ("Eltwise", "eltwise_param { coeff: 0.25 }", [(2, 3)]),
    *(
        ("Scale", f"scale_param {{ {bound} {WIDE} }}", [(2, 30)])
        for bound in ("min_value: -1", "max_value: 0.5")
    ),
]


def same(layers, shapes):
    """Layers that read x0, x1, ... compute the same here and in ONNX Runtime."""
    rng = np.random.default_rng(2)
    inputs = {
        f"x{i}": rng.uniform(0, 1, shape).astype(np.float32) for i, shape in enumerate(shapes)
    }
    param = NetParameter()
    for name, values in inputs.items():
        layer = param.layer.add(name=name, type="Input", top=[name])
        layer.input_param.shape.add(dim=values.shape)
    param.layer.extend(parse_text(layers, NetParameter()).message.layer)
    param.state.phase = TEST
    net = Net(param, Context(engine=NUMPY))
    theirs = run_onnx(as_bytes(export(net, 17)), inputs, threads=1)
    forward(net, inputs)
    for name, values in theirs.items():
        ours = net.blobs[net.blob_ids[name]].data
        assert difference(ours, values) <= 1e-5
    return ours


@pytest.mark.parametrize(("kind", "settings", "shapes"), OTHERS, ids=[one[0] for one in OTHERS])
def test_layers_that_no_recorded_case_has(kind, settings, shapes):
    bottoms = " ".join(f'bottom: "x{i}"' for i in range(len(shapes)))
    same(f'layer {{ name: "y" type: "{kind}" {bottoms} top: "y" {settings} }}', shapes)


@pytest.mark.parametrize(
    ("kind", "settings", "labels"),
    [
        ("LabeledMatching", 'top: "z" labeled_matching_param { num_classes: 4 }', True),
        ("LabeledMatching", "labeled_matching_param { num_classes: 4 }", False),
        ("UnlabeledMatching", "unlabeled_matching_param { queue_size: 4 }", False),
    ],
)
def test_faces_against_a_table(kind, settings, labels):
    param = parse_text(
        'layer { name: "x0" type: "Input" top: "x0" input_param { shape { dim: [5, 3, 2] } } } '
        'layer { name: "x1" type: "Input" top: "x1" input_param { shape { dim: 5 } } } '
        f'layer {{ name: "m" type: "{kind}" bottom: "x0" bottom: "x1" top: "y" {settings} }}',
        NetParameter(),
    ).message
    param.state.phase = TEST
    net = Net(param, Context(engine=NUMPY))
    rng = np.random.default_rng(3)
    inputs = {"x0": rng.standard_normal((5, 3, 2)).astype(np.float32)}
    inputs["x1"] = np.array([-1, 0, 3, 4, 2], np.float32)
    net.layers[-1].blobs[0].data[...] = rng.standard_normal((4, 6))
    theirs = run_onnx(as_bytes(export(net)), inputs, threads=1)
    forward(net, inputs)
    assert set(theirs) == ({"y", "z"} if labels else {"y"})
    for name, values in theirs.items():
        assert difference(net.blobs[net.blob_ids[name]].data, values) <= 1e-5


def test_a_mean_that_is_not_complete_is_no_constant():
    text = 'type: "DataAugmentation" augmentation_param { recompute_mean: 3 }'
    with pytest.raises(NetError, match="its mean is not complete yet"):
        same(f'layer {{ name: "y" bottom: "x0" top: "y" {text} }}', [(2, 3, 4, 4)])


@pytest.mark.parametrize("shared", [True, False])
def test_polygons_of_textboxes(shared):
    values = 12 if shared else 24  # of each of the 8 priors
    found = same(
        'layer { name: "p" type: "PriorBox" bottom: "x2" bottom: "x3" top: "p" '
        "prior_box_param { min_size: 3 denser_prior_boxes: true } } "
        'layer { name: "d" type: "DetectionOutput" bottom: "x0" bottom: "x1" bottom: "p" top: "d" '
        "detection_output_param { num_classes: 2 use_polygon: true code_type: CENTER_SIZE "
        f"share_location: {str(shared).lower()} confidence_threshold: 0.5 "
        "nms_param { nms_threshold: 0.3 top_k: 6 } keep_top_k: 4 } }",
        [(2, 8 * values), (2, 16), (1, 1, 2, 2), (1, 3, 8, 8)],
    )
    assert found.shape[2] > 2 and found.shape[3] == 15


SOME = ("conv", "pool_max", "pool_ave", "reduction_mean", "argmax", "batchnorm", "softmax", "slice")


@pytest.mark.parametrize("opset", [13, 18, 23])
@pytest.mark.parametrize("name", [n for f, n in cases() if f == "layers" and n.startswith(SOME)])
def test_operators_have_the_form_of_their_opset(name, opset):
    if OLD_RUNTIME and opset == 23 and name.startswith("pool_ave"):
        pytest.skip(f"{OLD_RUNTIME} has another AveragePool there")
    checked("layers", name, opset)


def test_an_opset_that_is_not_known_is_refused():
    net, _ = build("layers", "softmax")
    for opset in (12, newest() + 1):
        with pytest.raises(NetError, match=f"opset {opset} is not supported"):
            export(net, opset)


def test_every_layer_type_is_exported_left_out_or_an_input():
    """A new layer is given a form in ONNX, or a reason for having none."""
    layer_types()
    exporter(build("layers", "softmax")[0].layers[0])  # loads them all
    sources = ("DummyData", "FakeData", "HDF5Data", "Input", "MemoryData", "Parameter", "Python")
    fixed = ("PriorBox", "PriorBoxClustered")
    without = set(WITHOUT)
    for name, cls in LAYERS.items():
        known = any(base in EXPORTERS for base in cls.__mro__)
        other = issubclass(cls, (*LEFT_OUT, BaseData)) or name in (*sources, *fixed)
        assert known or other or name in without, name
        assert not (known and name in without), name


WITHOUT = (
    "AnchorTarget",
    "ProposalTarget",
    "RcnnTruth",
    "RegionTarget",
)

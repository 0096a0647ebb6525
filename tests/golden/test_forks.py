"""Recorded answers of Caffe's forks, one test a case."""

import importlib.util
import json
import re
from pathlib import Path

import numpy as np
import pytest

import pycaffe_dist as caffe
from pycaffe_dist.layer import layer_types

HERE = Path(__file__).parent
FORKS = HERE / "forks"
CASES = json.loads((FORKS / "index.json").read_text())
spec = importlib.util.spec_from_file_location("replay", HERE / "replay.py")
replay = importlib.util.module_from_spec(spec)
spec.loader.exec_module(replay)

# Types that are not written yet, and cases of known types whose other reading is not.
MISSING = set(
    """
    Axpy CTCGreedyDecoder CTCLoss CenterLoss ChannelScale ContinuationIndicator
    ConvolutionDepthwise Cosine CtcLoss DepthToSpace DepthwiseConvolution Flip FocalLoss Gather
    GeneralTripletLoss Gram HardSigmoid HardSwish InnerDistance LabelSpecificAdd
    LabelsequenceAccuracy LargeMarginInnerProduct LayerNorm LogSoftmax Lstm MarginInnerProduct
    MatMul MirrorPad Mish Pad Pairwise ReLU6 ReduceMean ResizeBilinear ResizeNearestNeighbor
    Reverse ReverseTime ScaledTanH SeLU Shape ShuffleChannel Softplus SpatialDropout Squeeze
    Stack StridedSlice Transpose TripletLoss
    """.split()
)
MISSING_CASES: set[str] = set()


def types(name):
    return set(re.findall(r'\btype: "([A-Z]\w*)"', (FORKS / f"{name}.prototxt").read_text()))


def test_all_cases_are_there():
    assert len(CASES) == 180
    assert {f.stem for f in FORKS.glob("*.npz")} == {case["name"] for case in CASES}


def test_no_type_is_missing_that_exists():
    assert MISSING & set(layer_types()) == set()


def marked(case):
    """A case that fails for now, and must be told here once it does not."""
    missing = case["name"] in MISSING_CASES
    return pytest.param(case, id=case["name"], marks=[pytest.mark.xfail(strict=True)] * missing)


@pytest.mark.parametrize("case", [marked(case) for case in CASES])
def test_layer_of_a_fork(case):
    if types(case["name"]) & MISSING:
        pytest.skip("a type of this case is not written yet")
    stored = dict(np.load(FORKS / f"{case['name']}.npz"))
    given = {k: v for k, v in stored.items() if k.split("/")[0] in ("in", "set", "topdiff")}
    want = {k: v for k, v in stored.items() if k not in given}
    path = str(FORKS / f"{case['name']}.prototxt")
    _, got = replay.run(caffe, path, case["phase"], given, case["steps"], case["grad"])
    assert replay.compare(want, got) == []

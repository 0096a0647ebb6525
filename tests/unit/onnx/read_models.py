"""ONNX models as nets, compared with ONNX Runtime."""

from pathlib import Path

import numpy as np
from recorded import forward

from pycaffe_dist.onnx.check import difference, run_onnx
from pycaffe_dist.onnx.importing.build import Builder
from pycaffe_dist.onnx.importing.model import read_model
from pycaffe_dist.tools.import_onnx import filled


def read(path, **sizes):
    model = read_model(str(path), sizes)
    builder = Builder(model)
    return filled(builder.build(), builder.weights), model


def agrees(path, net, model, limit=1e-5, seed=0):
    rng = np.random.default_rng(seed)
    inputs = {n: rng.standard_normal(model.shapes[n]).astype(np.float32) for n in model.inputs}
    theirs = run_onnx(Path(path), inputs, threads=1)
    forward(net, inputs)
    assert theirs
    for name, values in theirs.items():
        assert difference(net.blobs[net.blob_ids[name]].data, values) <= limit, name

"""ONNX models as nets, compared with ONNX Runtime."""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper
from recorded import forward

from pycaffe_dist.onnx.check import difference, run_onnx
from pycaffe_dist.onnx.importing.build import Builder
from pycaffe_dist.onnx.importing.model import read_model
from pycaffe_dist.tools.import_onnx import filled


def model_of(
    tmp_path, nodes, inputs, constants, outputs=("y",), opset=17, types=None, as_inputs=False
):
    """A model's file; ``as_inputs`` as before IR version 4, when constants were inputs as well."""
    path, types = tmp_path / "m.onnx", types or {}
    weights = [onnx.numpy_helper.from_array(np.asarray(v), n) for n, v in constants.items()]
    sizes = [(n, types.get(n, TensorProto.FLOAT), s) for n, s in inputs.items()]
    sizes += [(t.name, t.data_type, t.dims) for t in weights if as_inputs]
    info = [helper.make_tensor_value_info(*value) for value in sizes]
    out = [helper.make_tensor_value_info(n, types.get(n, TensorProto.FLOAT), None) for n in outputs]
    graph = helper.make_graph(nodes, "g", info, out, weights)
    opsets = [helper.make_opsetid("", opset)]
    version = 3 if as_inputs else 8
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=version), path)
    return path


def rand(*shape):
    return np.random.default_rng(1).standard_normal(shape).astype(np.float32)


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

"""OpenVINO and ONNX Runtime behind one call: a model's bytes, compiled, run on arrays."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any, Protocol

from pycaffe_dist.aliases import Array
from pycaffe_dist.errors import NetError, PcdError
from pycaffe_dist.optional import require
from pycaffe_dist.threads import threads

NAMES = ("openvino", "onnxruntime")
PURPOSE = "Computing a net by {}"


def available() -> tuple[str, ...]:
    """The libraries that are installed, with what exports nets for them."""
    if find_spec("onnx") is None:
        return ()
    return tuple(name for name in NAMES if find_spec(name) is not None)


class Compiled(Protocol):
    """A compiled model."""

    def run(self, inputs: Mapping[str, Array]) -> Sequence[Array]:
        """The outputs, in the order that was asked for; the arrays are used again by the next."""


# What each can multiply, by our names.
PRECISIONS = {"openvino": {"fp32": "f32", "bf16": "bf16"}, "onnxruntime": {"fp32": ""}}


@cache
def _core(_process: int) -> Any:
    """OpenVINO's Core of this process, which is kept.

    Its first use of the CPU gives the thread a stack for signals.  Of two Cores the one that goes
    first leaves the other with its unmapped stack, and the next signal ends the process.
    """
    return require("openvino", "runtime", PURPOSE.format("OpenVINO")).Core()


class OpenVino:
    def __init__(self, model: bytes, outputs: Sequence[str], precision: str) -> None:
        core = _core(os.getpid())
        settings = {
            "INFERENCE_NUM_THREADS": threads(),
            "INFERENCE_PRECISION_HINT": precision,
            "PERFORMANCE_HINT": "LATENCY",
            "NUM_STREAMS": 1,
            "ENABLE_CPU_PINNING": False,  # several processes would take the same cores
        }
        self._request = core.compile_model(core.read_model(model), "CPU", settings)
        self._request = self._request.create_infer_request()
        self._names = outputs

    def run(self, inputs: Mapping[str, Array]) -> Sequence[Array]:
        self._request.infer(inputs, share_inputs=True, share_outputs=True)
        return [self._request.get_tensor(name).data for name in self._names]


class OnnxRuntime:
    def __init__(self, model: bytes, outputs: Sequence[str], _precision: str) -> None:
        ort = require("onnxruntime", "runtime", PURPOSE.format("ONNX Runtime"))
        options = ort.SessionOptions()
        options.intra_op_num_threads = threads()
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        # Threads that spin between passes would keep our own layers from the cores.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        self._names = list(outputs)

    def run(self, inputs: Mapping[str, Array]) -> Sequence[Array]:
        found: Sequence[Array] = self._session.run(self._names, dict(inputs))
        return found


LIBRARIES: Mapping[str, type[OpenVino] | type[OnnxRuntime]] = {
    "openvino": OpenVino,
    "onnxruntime": OnnxRuntime,
}


def compile_by(name: str, model: bytes, outputs: Sequence[str], precision: str) -> Compiled:
    """A model for a library.

    Raises:
        NetError: it does not take it; libraries raise what they like.
    """
    if precision not in PRECISIONS[name]:
        raise NetError(f"{name} does not compute with {precision} here")
    try:
        return LIBRARIES[name](model, outputs, PRECISIONS[name][precision])
    except PcdError:
        raise
    except Exception as e:
        raise NetError(f"{name} does not take the exported net: {' '.join(str(e).split())}") from e

"""OpenVINO and ONNX Runtime behind one call: the bytes of a model become a function of arrays."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any

from pycaffe_dist.aliases import Array
from pycaffe_dist.engines.choice import RefusedError
from pycaffe_dist.optional import require
from pycaffe_dist.threads import threads

# A compiled model: from inputs by name to the outputs, in the order that was asked for.  Their
# arrays are used again by the next call.
Run = Callable[[Mapping[str, Array]], Sequence[Array]]


@cache
def _core(_process: int) -> Any:
    """OpenVINO's Core of this process, which is kept.

    Its first use of the CPU gives the thread a stack for signals.  Of two Cores the one that goes
    first leaves the other with its unmapped stack, and the next signal ends the process.
    """
    return require("openvino", "runtime", "Computing a net by OpenVINO").Core()


def openvino(model: bytes, outputs: Sequence[str], precision: str) -> Run:
    core = _core(os.getpid())
    settings = {
        "INFERENCE_NUM_THREADS": threads(),
        "INFERENCE_PRECISION_HINT": {"fp32": "f32"}.get(precision, precision),
        "PERFORMANCE_HINT": "LATENCY",
        "NUM_STREAMS": 1,
        "ENABLE_CPU_PINNING": False,  # several processes would take the same cores
    }
    compiled = core.compile_model(core.read_model(model), "CPU", settings)
    request = compiled.create_infer_request()

    def run(inputs: Mapping[str, Array]) -> Sequence[Array]:
        request.infer(inputs, share_inputs=True, share_outputs=True)
        return [request.get_tensor(name).data for name in outputs]

    return run


def onnxruntime(model: bytes, outputs: Sequence[str], precision: str) -> Run:
    if precision != "fp32":
        raise RefusedError(f"onnxruntime does not compute with {precision} here")
    ort = require("onnxruntime", "runtime", "Computing a net by ONNX Runtime")
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads()
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # Threads that spin between passes would keep our own layers from the cores.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return lambda inputs: session.run(outputs, inputs)


LIBRARIES = {"openvino": openvino, "onnxruntime": onnxruntime}
NAMES = tuple(LIBRARIES)


def available() -> tuple[str, ...]:
    """The libraries that are installed, with what exports nets for them."""
    return tuple(name for name in NAMES if find_spec("onnx") and find_spec(name))


_compiled_in: set[int] = set()  # the processes in which a model was compiled


def inherited() -> bool:
    """Whether a fork has brought a library along, without its threads: it may wait for them."""
    return bool(_compiled_in) and os.getpid() not in _compiled_in


def compile_by(name: str, model: bytes, outputs: Sequence[str], precision: str) -> Run:
    """A model for a library.

    Raises:
        RefusedError: it does not take it; libraries raise what they like.
    """
    _compiled_in.add(os.getpid())
    try:
        return LIBRARIES[name](model, outputs, precision)
    except Exception as e:
        raise RefusedError(" ".join(str(e).split())) from e

"""A peer's side of `bench_cpu.py --peers`: an ONNX file run forward by the engine that is named."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from bench.wire import Side, serve


class Peer(Side):
    """An engine that runs ONNX files.

    Args:
        threads: that it may use.
        precision: ``f32``, or ``bf16`` where the engine has it.
    """

    def __init__(self, threads: int, precision: str) -> None:
        self.threads, self.precision = threads, precision
        self.result: Any = None

    def load(self, model: str, image: str) -> dict[str, Any]:
        """Read the model, and the batch that it is to be given."""
        self.image = np.load(image)
        self.read(model)
        return {}

    def read(self, model: str) -> None:
        raise NotImplementedError

    def output(self, path: str) -> dict[str, Any]:
        self.step()
        np.save(path, np.asarray(self.result, np.float32))
        return {}


class OpenVino(Peer):
    def __init__(self, threads: int, precision: str) -> None:
        super().__init__(threads, precision)
        import openvino

        self.library = openvino

    def about(self) -> dict[str, Any]:
        return {"name": "OpenVINO", "version": self.library.__version__.split("-")[0]}

    def read(self, model: str) -> None:
        core = self.library.Core()
        settings = {
            "PERFORMANCE_HINT": "LATENCY",
            "INFERENCE_NUM_THREADS": self.threads,
            "INFERENCE_PRECISION_HINT": self.precision,
        }
        self.request = core.compile_model(model, "CPU", settings).create_infer_request()

    def step(self) -> float:
        self.request.infer([self.image], share_inputs=True)
        self.result = self.request.get_output_tensor(0).data
        return 0.0


class OnnxRuntime(Peer):
    def __init__(self, threads: int, precision: str) -> None:
        super().__init__(threads, precision)
        import onnxruntime

        self.library = onnxruntime

    def about(self) -> dict[str, Any]:
        return {"name": "ONNX Runtime", "version": self.library.__version__}

    def read(self, model: str) -> None:
        settings = self.library.SessionOptions()
        settings.intra_op_num_threads = self.threads
        self.session = self.library.InferenceSession(model, settings, ["CPUExecutionProvider"])
        self.input = self.session.get_inputs()[0].name

    def step(self) -> float:
        (self.result, *_) = self.session.run(None, {self.input: self.image})
        return 0.0


class OpenCV(Peer):
    def __init__(self, threads: int, precision: str) -> None:
        super().__init__(threads, precision)
        import cv2

        self.library = cv2
        cv2.setNumThreads(threads)

    def about(self) -> dict[str, Any]:
        return {"name": "OpenCV", "version": self.library.__version__}

    def read(self, model: str) -> None:
        self.net = self.library.dnn.readNetFromONNX(model)

    def step(self) -> float:
        self.net.setInput(self.image)
        self.result = self.net.forward()
        return 0.0


PEERS = {"openvino": OpenVino, "onnxruntime": OnnxRuntime, "opencv": OpenCV}

if __name__ == "__main__":
    threads, name, precision = sys.argv[1:]
    serve(PEERS[name](int(threads), precision))

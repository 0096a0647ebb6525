"""OpenCV's side of bench_ssd.py: the same net and weights in its dnn module."""

from __future__ import annotations

import sys
from typing import Any

import cv2
import numpy as np

from bench.wire import Side, serve


class OpenCV(Side):
    def __init__(self, threads: int) -> None:
        cv2.setNumThreads(threads)

    def about(self) -> dict[str, Any]:
        return {"name": "OpenCV", "version": cv2.__version__}

    def load(self, model: str, weights: str, image: str) -> dict[str, Any]:
        self.net = cv2.dnn.readNetFromCaffe(model, weights)
        self.net.setPreferableBackend(cv2.dnn.DNN_BACKEND_OPENCV)
        self.net.setPreferableTarget(cv2.dnn.DNN_TARGET_CPU)
        self.image = np.load(image)
        return {}

    def step(self) -> float:
        self.net.setInput(self.image)
        self.rows = self.net.forward()
        return 0.0

    def boxes(self, path: str) -> dict[str, Any]:
        self.step()
        np.save(path, self.rows.reshape(-1, 7))
        return {}


if __name__ == "__main__":
    serve(OpenCV(int(sys.argv[1])))

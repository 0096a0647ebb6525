"""A script of a user, for `make type`: it passes mypy --strict, and types are not Any."""

import numpy as np
from numpy.typing import NDArray

import pycaffe_dist as caffe


def scores(image: NDArray[np.float32]) -> NDArray[np.float32]:
    caffe.set_mode_cpu()
    net = caffe.Net("deploy.prototxt", caffe.TEST, weights="net.caffemodel")
    net.blobs["data"].reshape(*image.shape)
    shape: tuple[int, ...] = net.blobs["data"].shape
    assert shape == image.shape
    found: NDArray[np.float32] = net.forward(data=image)["prob"]
    return found


def train(iterations: int) -> int:
    solver = caffe.SGDSolver("solver.prototxt")
    solver.step(iterations)
    solver.net.save("trained.caffemodel")
    done: str = solver.iter  # type: ignore[assignment]  # an int, which mypy has to know
    return int(done)

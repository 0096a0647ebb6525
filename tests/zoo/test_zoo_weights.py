"""Nets that people published, with the weights they published, doing what they were trained for."""

from pathlib import Path

import numpy as np
import pytest

import pycaffe_dist as caffe
from pycaffe_dist.loading import load_weights
from pycaffe_dist.tools.convert_mnist_data import read_images, read_labels

SHARED = Path(__file__).parents[3] / "shared"
ZOO, MNIST = SHARED / "zoo", SHARED / "datasets" / "mnist"
MTCNN = ZOO / "nets/kpzhang93+MTCNN_face_detection_alignment/code/codes/MTCNNv1/model"
LENET = ZOO / "nets/345ishaan+Digit-Recognizer"

pytestmark = pytest.mark.skipif(not ZOO.is_dir(), reason="no ../shared beside the repository")


@pytest.mark.parametrize("name", ["det1", "det2"])
def test_mtcnn_loads_every_parameter_and_gives_probabilities(name):
    net = caffe.Net(str(MTCNN / f"{name}.prototxt"), caffe.TEST)
    report = load_weights(net.core, MTCNN / f"{name}.caffemodel")
    assert set(report.copied) == set(net.params)
    assert report.missing == []
    net.blobs["data"].data[...] = np.random.default_rng(1).uniform(-1, 1, net.blobs["data"].shape)
    prob = net.forward()["prob1"]
    np.testing.assert_allclose(prob.sum(axis=1), 1, rtol=1e-5)
    assert 0 < prob[:, 1].mean() < 0.5  # noise is mostly no face


@pytest.mark.skipif(not MNIST.is_dir(), reason="no ../shared beside the repository")
def test_a_published_lenet_reads_mnist():
    """Trained by its author on most of MNIST's training images; 2,000 test images here."""
    net = caffe.Net(str(LENET / "deploy.prototxt"), caffe.TEST)
    net.copy_from(str(LENET / "_iter_10000.caffemodel"))
    images = np.asarray(read_images(MNIST / "t10k-images-idx3-ubyte.gz"))[:2000]
    labels = np.asarray(read_labels(MNIST / "t10k-labels-idx1-ubyte.gz"))[:2000]
    net.blobs["data"].reshape(len(images), 1, 28, 28)
    net.blobs["data"].data[:, 0] = images.reshape(-1, 28, 28) / 256
    out = net.forward()
    scores = next(iter(out.values())).reshape(len(images), -1)
    assert (scores.argmax(axis=1) == labels).mean() > 0.98

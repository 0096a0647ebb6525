import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.pycaffe import io
from pycaffe_dist.pycaffe.classifier import Classifier
from pycaffe_dist.pycaffe.net import Net

NET = """
layer {
  name: "data" type: "Input" top: "data"
  input_param { shape { dim: 4 dim: 3 dim: 5 dim: 6 } }
}
layer {
  name: "ip" type: "InnerProduct" bottom: "data" top: "ip"
  inner_product_param { num_output: 2 weight_filler { type: "gaussian" std: 1 } }
}
"""
RNG = np.random.default_rng(5)
IMAGES = [RNG.random(shape).astype(np.float32) for shape in ((9, 11, 3), (7, 8, 3), (20, 6, 3))]


@pytest.fixture
def files(tmp_path):
    (tmp_path / "deploy.prototxt").write_text(NET)
    net = Net(str(tmp_path / "deploy.prototxt"), 1)
    net.save(str(tmp_path / "net.caffemodel"))
    return str(tmp_path / "deploy.prototxt"), str(tmp_path / "net.caffemodel")


def scores(classifier, crop):
    """The net by hand, for one prepared crop (3 x 5 x 6)."""
    weights, bias = (blob.data for blob in classifier.params["ip"])
    return weights @ crop.reshape(-1) + bias


def test_centre_crop(files):
    mean = np.array([0.1, 0.2, 0.3])
    classifier = Classifier(
        *files,
        image_dims=(8, 9),
        mean=mean,
        input_scale=2,
        raw_scale=255,
        channel_swap=(2, 1, 0),
    )
    found = classifier.predict(IMAGES, oversample=False)
    assert found.shape == (3, 2)
    for image, row in zip(IMAGES, found, strict=True):
        crop = io.resize_image(image, (8, 9))[1:6, 1:7]
        crop = crop.transpose(2, 0, 1)[::-1] * 255 - mean[:, None, None]
        np.testing.assert_allclose(row, scores(classifier, crop * 2), rtol=1e-4, atol=1e-2)


def test_ten_crops(files):
    classifier = Classifier(*files, image_dims=[8, 9])
    found = classifier.predict(IMAGES)
    assert found.shape == (3, 2)
    for image, row in zip(IMAGES, found, strict=True):
        crops = io.oversample([io.resize_image(image, (8, 9))], (5, 6)).transpose(0, 3, 1, 2)
        expected = np.mean([scores(classifier, crop) for crop in crops], axis=0)
        np.testing.assert_allclose(row, expected, rtol=1e-4, atol=1e-4)


def test_image_dims_are_the_inputs_unless_given(files):
    classifier = Classifier(*files)
    assert list(classifier.image_dims) == list(classifier.crop_dims) == [5, 6]
    found = classifier.predict([IMAGES[0]], oversample=False)[0]
    crop = io.resize_image(IMAGES[0], (5, 6)).transpose(2, 0, 1)
    np.testing.assert_allclose(found, scores(classifier, crop), rtol=1e-4, atol=1e-4)


def test_it_is_a_net(files):
    classifier = Classifier(*files)
    assert isinstance(classifier, Net)
    assert classifier.inputs == ["data"]
    assert not any(
        (
            classifier.transformer.mean,
            classifier.transformer.raw_scale,
            classifier.transformer.input_scale,
            classifier.transformer.channel_swap,
        )
    )
    assert classifier.transformer.transpose == {"data": (2, 0, 1)}


def test_nets_without_inputs(tmp_path, files):
    path = tmp_path / "train_val.prototxt"
    path.write_text(
        'layer { name: "d" type: "DummyData" top: "d" dummy_data_param { shape { dim: 2 } } }'
    )
    with pytest.raises(NetError, match=r"Input layer.*deploy"):
        Classifier(str(path), files[1])

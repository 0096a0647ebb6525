"""DataAugmentation: the mean that is taken from images, where from, and what is refused."""

import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.layer import Context
from pycaffe_dist.loading import load_weights, save_weights
from pycaffe_dist.net import Net
from pycaffe_dist.proto.caffe_pb2 import NetParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.testing import LayerCase, LayerRun

IMAGES = (2, 3, 4, 5)


def run(settings, phase="TEST"):
    layer = f'type: "DataAugmentation" augmentation_param {{ {settings} }}'
    return LayerRun(LayerCase(layer, [IMAGES], phase=phase))


@pytest.mark.parametrize("per_pixel", [True, False])
def test_the_first_passes_make_the_mean(per_pixel):
    made = run(f"recompute_mean: 2 mean_per_pixel: {str(per_pixel).lower()}")
    rng = np.random.default_rng(1)
    batches = [rng.uniform(0, 1, IMAGES) for _ in range(3)]
    seen = []
    for number, batch in enumerate(batches, 1):
        made.inputs[0] = batch
        seen = [*seen, batch] if number < 3 else seen  # the third changes nothing
        mean = np.mean(seen, axis=(0, 1))
        mean = mean if per_pixel else mean.mean((1, 2), keepdims=True)
        np.testing.assert_allclose(made.forward()[0], batch - mean, atol=1e-12)
    assert made.layer.blobs[0].data.item() == 3


def test_the_mean_of_the_file():
    made = run("mean: 0.25 mean: 0.5 mean: 1 mean_per_pixel: false crop_width: 5 crop_height: 4")
    want = made.inputs[0] - np.array([0.25, 0.5, 1]).reshape(1, 3, 1, 1)
    np.testing.assert_allclose(made.forward()[0], want, atol=1e-12)
    assert [blob.shape for blob in made.layer.blobs] == [(1, 1, 1, 1)]


def test_images_get_no_gradient():
    made = run("recompute_mean: 1")
    made.forward()
    made.bottom[0].blob.diff[...] = 7
    made.backward([np.ones(IMAGES)], [True])
    assert not made.bottom[0].blob.diff.any()


def net(height, settings):
    text = (
        'layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 3 '
        f"dim: {height} dim: 2 }} }} }} "
        'layer { name: "a" type: "DataAugmentation" bottom: "x" top: "a" '
        f"augmentation_param {{ recompute_mean: 5 {settings} }} }}"
    )
    return Net(parse_text(text, NetParameter()).message, Context())


def test_a_mean_of_channels_goes_with_images_of_another_size(tmp_path):
    """FlowNet's deploy nets are made for the images at hand, whatever the net was trained on."""
    old, new = (net(height, "mean_per_pixel: false") for height in (4, 6))
    old.layers[1].blobs[0].data[...] = 9
    old.layers[1].blobs[2].data[...] = np.array([1, 2, 3]).reshape(1, 3, 1, 1)
    save_weights(old, tmp_path / "w.caffemodel")
    load_weights(new, tmp_path / "w.caffemodel")
    new.forward()
    np.testing.assert_array_equal(new.blobs[1].data[0, :, 5, 1], [-1, -2, -3])
    with pytest.raises(NetError, match="parameter 1: the shape is"):
        load_weights(net(6, ""), tmp_path / "w.caffemodel")


@pytest.mark.parametrize(
    ("settings", "phase", "message"),
    [
        ("mirror { prob: 0.5 }", "TRAIN", r"changes images at random \(mirror\)"),
        ("zoom { } augment_during_test: true", "TEST", r"at random \(zoom\)"),
        ("crop_width: 3", "TEST", r"crops \(4, 5\) to \(4, 3\), which is not supported"),
        ("mean: 1 mean_per_pixel: false", "TEST", "1 values of mean for 3 channels"),
    ],
)
def test_what_is_refused(settings, phase, message):
    with pytest.raises(NetError, match=message):
        run(settings, phase)


def test_random_changes_do_not_matter_in_test():
    made = run("mirror { prob: 0.5 } recompute_mean: 1")
    assert abs(made.forward()[0].mean(0)).max() < 1e-12

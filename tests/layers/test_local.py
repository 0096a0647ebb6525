"""Local: weights of its own for every window."""

import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.testing import LayerCase, LayerRun, check_layer


def layer(settings):
    return (
        'type: "Local" local_param { num_output: 3 weight_filler { type: "gaussian" } '
        f'bias_filler {{ type: "gaussian" }} {settings} }}'
    )


@pytest.mark.parametrize(
    ("settings", "kernel", "stride", "pad"),
    [("kernel_size: 3", 3, 1, 0), ("kernel_size: 2 stride: 2 pad: 1", 2, 2, 1)],
)
def test_local(settings, kernel, stride, pad):
    run = LayerRun(LayerCase(layer(settings), [(2, 2, 5, 4)]))
    weights, bias = (blob.data for blob in run.layer.blobs)
    x = np.pad(run.inputs[0], [(0, 0), (0, 0), (pad, pad), (pad, pad)])
    height, width = ((n + 2 * pad - kernel) // stride + 1 for n in (5, 4))
    assert weights.shape == (3, 1, 2 * kernel * kernel, height * width)
    assert bias.shape == (1, 1, 3, height * width)
    want = np.empty((2, 3, height, width))
    for i, j in np.ndindex(height, width):
        at = i * width + j
        window = x[:, :, i * stride :, j * stride :][:, :, :kernel, :kernel].reshape(2, -1)
        want[:, :, i, j] = window @ weights[:, 0, :, at].T + bias[0, 0, :, at]
    np.testing.assert_allclose(run.forward()[0], want, atol=1e-12)
    check_layer(LayerCase(layer(settings), [(2, 2, 5, 4)]))


def test_without_a_bias():
    run = LayerRun(LayerCase(layer("kernel_size: 2 bias_term: false"), [(1, 1, 3, 3)]))
    assert [blob.shape for blob in run.layer.blobs] == [(3, 1, 4, 4)]
    check_layer(run.case)


@pytest.mark.parametrize(
    ("settings", "shape", "message"),
    [
        ("", (1, 1, 3, 3), "kernel_size must be above 0"),
        ("kernel_size: 2 stride: 0", (1, 1, 3, 3), "stride must be above 0"),
        ("kernel_size: 4", (1, 1, 3, 5), r"the kernel 4 is larger than \(3, 5\)"),
        ("kernel_size: 2", (3, 3), r"needs an image \(N, C, H, W\), found \(3, 3\)"),
    ],
)
def test_what_is_refused(settings, shape, message):
    with pytest.raises(NetError, match=message):
        LayerRun(LayerCase(layer(settings), [shape]))


def test_another_size_of_image_is_refused():
    run = LayerRun(LayerCase(layer("kernel_size: 2"), [(1, 1, 3, 3)]))
    run.bottom[0].reshape(1, 1, 3, 4)
    with pytest.raises(NetError, match=r"its weights are for images \(1, 3, 3\)"):
        run.layer.reshape(run.bottom, run.top)

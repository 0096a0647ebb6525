"""Layers of YOLO nets: Darknet's order of pixels, and detections."""

import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.testing import LayerCase, LayerRun, check_layer


def darknet(x, stride):
    """Reorg as Darknet's loop has it."""
    n, c, h, w = x.shape
    flat, out = x.reshape(n, -1), np.empty((n, c * h * w))
    small = c // stride**2
    for k in range(c):
        for j in range(h):
            for i in range(w):
                offset = k // small
                column, row = i * stride + offset % stride, j * stride + offset // stride
                source = column + w * stride * (row + h * stride * (k % small))
                out[:, i + w * (j + h * k)] = flat[:, source]
    return out.reshape(n, c * stride**2, h // stride, w // stride)


def test_reorg():
    check_layer(
        LayerCase(
            'type: "Reorg" reorg_param { stride: 2 }',
            [(2, 8, 4, 6)],
            reference=lambda x: darknet(x, 2),
        )
    )


def test_reorg_backwards_undoes_it():
    """Of what was a stride's multiple of channels before."""
    x = np.random.default_rng(2).normal(size=(2, 8, 4, 6))
    layer = 'type: "Reorg" reorg_param { stride: 2 reverse: true }'
    run = LayerRun(LayerCase(layer, [darknet(x, 2).reshape(2, 8, 4, 6)]))
    np.testing.assert_array_equal(run.forward()[0].reshape(2, -1), x.reshape(2, -1))
    check_layer(LayerCase(layer, [(2, 8, 4, 6)]))


@pytest.mark.parametrize("shape", [(1, 6, 4, 4), (1, 4, 3, 4)])
def test_reorg_refuses_sizes_that_do_not_fit(shape):
    with pytest.raises(NetError, match="no multiple"):
        LayerRun(LayerCase('type: "Reorg" reorg_param { stride: 2 }', [shape]))


V3 = (
    'type: "Yolov3DetectionOutput" yolov3_detection_output_param { num_classes: 2 num_box: 1 '
    "biases: 16 biases: 32 mask: 0 anchors_scale: 32 mask_group_num: 1 confidence_threshold: %g "
    "nms_threshold: 0.5 %s }"
)


def v3(images=2, numbers=7):
    """Nothing anywhere, but in cell (1, 2) of each image a box of class 1."""
    x = np.full((images, numbers, 4, 4), -20.0)
    x[:, :4] = 0
    x[:, -3, 1, 2] = x[:, -1, 1, 2] = 20
    return x


def test_yolov3_tells_boxes_of_every_image():
    found = LayerRun(LayerCase(V3 % (0.5, ""), [v3()])).forward()[0][0, 0]
    box = [2.5 / 4 - 1 / 16, 1.5 / 4 - 1 / 8, 2.5 / 4 + 1 / 16, 1.5 / 4 + 1 / 8]
    np.testing.assert_allclose(found, [[0, 2, 1, *box], [1, 2, 1, *box]], rtol=1e-6)


def test_yolov3_with_deviations():
    """Their mean is taken off the confidence."""
    x = np.full((1, 11, 4, 4), -20.0)
    plain = v3(1)
    x[:, 0:8:2], x[:, 8:] = plain[:, :4], plain[:, 4:]
    x[:, 1:8:2] = 0
    found = LayerRun(LayerCase(V3 % (0.4, "gaussian_box: true"), [x])).forward()[0][0, 0]
    np.testing.assert_allclose(found[:, 2], [0.5], rtol=1e-6)


def test_nothing_found_is_a_row_for_each_image():
    found = LayerRun(LayerCase(V3 % (0.5, ""), [v3() * 0])).forward()[0][0, 0]
    np.testing.assert_array_equal(found, [[0] + [-1] * 6, [1] + [-1] * 6])


def test_yolov2_takes_the_best_class():
    x = np.full((1, 7, 2, 2), 0.0)
    x[0, 4] = -20
    x[0, 4:, 1, 0] = 20, 1, 1 + np.log(3)
    layer = (
        'type: "YoloDetectionOutput" yolo_detection_output_param { num_classes: 2 num_box: 1 '
        "biases: 1 biases: 0.5 confidence_threshold: 0.1 }"
    )
    found = LayerRun(LayerCase(layer, [x])).forward()[0][0, 0]
    np.testing.assert_allclose(found, [[0, 2, 0.75, 0, 0.625, 0.5, 0.875]], atol=1e-6)


@pytest.mark.parametrize(
    ("layer", "message"),
    [
        (V3 % (0.5, "mask: 1"), "needs 1 mask for each of 1 bottoms"),
        (V3 % (0.5, "anchors_scale: 16"), "as many bottoms"),
        (V3 % (0.5, "") + "", r"needs bottoms \(N, 7, h, w\)"),
    ],
)
def test_what_does_not_fit_is_told(layer, message):
    with pytest.raises(NetError, match=message):
        LayerRun(LayerCase(layer, [(1, 8, 4, 4)]))

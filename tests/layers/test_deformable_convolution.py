"""DeformableConvolution against sums written out, and gradients by differences."""

import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.testing import LayerCase, LayerRun, check_layer

RNG = np.random.default_rng(4)


def layer(settings):
    return (
        'type: "DeformableConvolution" deformable_convolution_param { num_output: 4 '
        f'weight_filler {{ type: "gaussian" }} bias_filler {{ type: "gaussian" }} {settings} }}'
    )


def seen(x, row, column):
    """A plane between its pixels: 0 outside, the last pixel up to its far edge."""
    h, w = x.shape
    if not (0 <= row < h and 0 <= column < w):
        return 0.0
    i, j = int(row), int(column)
    i2, j2 = min(i + 1, h - 1), min(j + 1, w - 1)
    a, b = row - i, column - j
    return (
        x[i, j] * (1 - a) * (1 - b)
        + x[i, j2] * (1 - a) * b
        + x[i2, j] * a * (1 - b)
        + x[i2, j2] * a * b
    )


def written_out(x, offsets, weights, bias, stride, pad, dilation, moved, group):
    n, c, _, _ = x.shape
    m, per_group, kh, kw = weights.shape
    h, w = offsets.shape[2:]
    y = np.zeros((n, m, h, w)) + bias[:, None, None]
    for at in np.ndindex(n, m, h, w):
        image, out, row, column = at
        for k in range(per_group):
            channel = out // (m // group) * per_group + k
            g = channel // (c // moved)
            for i, j in np.ndindex(kh, kw):
                t = (g * kh * kw + i * kw + j) * 2
                down, across = offsets[image, t : t + 2, row, column]
                value = seen(
                    x[image, channel],
                    row * stride - pad + i * dilation + down,
                    column * stride - pad + j * dilation + across,
                )
                y[at] += weights[out, k, i, j] * value
    return y


@pytest.mark.parametrize(
    ("stride", "pad", "dilation", "moved", "group"), [(1, 1, 1, 1, 1), (2, 2, 2, 2, 2)]
)
def test_forward_and_gradients(stride, pad, dilation, moved, group):
    size = (6 + 2 * pad - 2 * dilation - 1) // stride + 1
    # No tap within the step of a pixel, where there is no derivative, or of the edge.
    offsets = RNG.integers(-2, 2, (2, moved * 18, size, size)) + RNG.uniform(
        0.1, 0.9, (2, moved * 18, size, size)
    )
    settings = (
        f"kernel_size: 3 stride: {stride} pad: {pad} dilation: {dilation} group: {group} "
        f"deformable_group: {moved}"
    )
    inputs = [RNG.standard_normal((2, 4, 6, 6)), offsets]
    run = LayerRun(LayerCase(layer(settings), inputs))
    weights, bias = (blob.data for blob in run.layer.blobs)
    want = written_out(*inputs, weights, bias, stride, pad, dilation, moved, group)
    np.testing.assert_allclose(run.forward()[0], want, atol=1e-12)
    check_layer(LayerCase(layer(settings), inputs))


def test_without_offsets_it_is_a_convolution():
    x = RNG.standard_normal((1, 4, 5, 7))
    settings = "kernel_h: 3 kernel_w: 2 pad_h: 1 pad_w: 0 bias_term: false deformable_group: 4"
    run = LayerRun(LayerCase(layer(settings), [x, np.zeros((1, 48, 5, 6))]))
    plain = LayerRun(
        LayerCase(
            'type: "Convolution" convolution_param { num_output: 4 bias_term: false kernel_h: 3 '
            "kernel_w: 2 pad_h: 1 pad_w: 0 }",
            [x],
            fill=[run.layer.blobs[0].data],
        )
    )
    np.testing.assert_allclose(run.forward()[0], plain.forward()[0], atol=1e-12)


@pytest.mark.parametrize(
    ("settings", "offsets", "message"),
    [
        ("kernel_size: 3", (1, 18, 3, 3), r"must be a multiple of deformable_group 3"),
        ("kernel_size: 3 deformable_group: 1", (1, 16, 3, 3), r"needs offsets \(1, 18, 3, 3\)"),
        ("kernel_size: 9 deformable_group: 1", (1, 18, 3, 3), "leaves no output"),
        ("kernel_size: 3 group: 3 deformable_group: 1", (1, 18, 3, 3), "multiple of group 3"),
        ("kernel_size: 3 axis: 2 deformable_group: 1", (1, 18, 3, 3), "knows only axis 1"),
    ],
)
def test_what_is_refused(settings, offsets, message):
    settings = settings if "deformable_group" in settings else f"{settings} deformable_group: 3"
    with pytest.raises(NetError, match=message):
        LayerRun(LayerCase(layer(settings), [(1, 4, 5, 5), offsets]))

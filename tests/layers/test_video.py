"""Layers of video nets: C3D's, and the reduction over snippets."""

import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.testing import LayerCase, LayerRun, check_layer


def convolution(words, message="convolution3d_param"):
    return (
        f'type: "Convolution3D" {message} {{ num_output: 2 kernel_size: 3 kernel_depth: 2 '
        f'weight_filler {{ type: "gaussian" std: 0.5 }} bias_filler {{ value: 0.25 }} {words} }}'
    )


@pytest.mark.parametrize("message", ["convolution3d_param", "convolution_param"])
def test_convolution_over_time(message):
    """C3D's words, in both of its versions, mean BVLC's N-dimensional convolution."""
    layer = convolution("stride: 2 pad: 1 temporal_pad: 1 temporal_stride: 1", message)
    bvlc = (
        'type: "Convolution" convolution_param { num_output: 2 kernel_size: 2 kernel_size: 3 '
        "kernel_size: 3 stride: 1 stride: 2 stride: 2 pad: 1 pad: 1 pad: 1 bias_filler { value: "
        '0.25 } weight_filler { type: "gaussian" std: 0.5 } }'
    )
    own, same = (LayerRun(LayerCase(text, [(2, 3, 3, 4, 5)])) for text in (layer, bvlc))
    np.testing.assert_array_equal(own.forward()[0], same.forward()[0])
    assert own.layer.blobs[0].shape == (2, 3, 2, 3, 3)
    check_layer(LayerCase(layer, [(1, 2, 2, 3, 3)]))


def test_deconvolution_over_time():
    layer = convolution("stride: 2").replace("Convolution3D", "Deconvolution3D")
    assert LayerRun(LayerCase(layer, [(1, 3, 2, 3, 4)])).forward()[0].shape == (1, 2, 3, 7, 9)


@pytest.mark.parametrize(
    ("words", "shape"),
    [
        ("pool: MAX stride: 2 temporal_stride: 1", (2, 2, 3)),
        ("pool: AVE stride: 2 temporal_stride: 2 pad: 1", (2, 3, 4)),
    ],
)
def test_pooling_over_time(words, shape):
    """Windows reach over the end, but not over the padding."""
    average, pad = "AVE" in words, 1 if "pad" in words else 0

    def reference(x):
        out = np.empty((*x.shape[:2], *shape))
        steps = (2, 2, 2) if average else (1, 2, 2)
        for at in np.ndindex(*shape):
            begin = [a * s - p for a, s, p in zip(at, steps, (0, pad, pad), strict=True)]
            sizes = zip(begin, (2, 3, 3), x.shape[2:], (0, pad, pad), strict=True)
            end = [min(b + k, n + p) for b, k, n, p in sizes]
            area = np.prod(np.subtract(end, begin))
            seen = x[(..., *(slice(max(b, 0), e) for b, e in zip(begin, end, strict=True)))]
            value = seen.sum((2, 3, 4)) / area if average else seen.max((2, 3, 4))
            out[(..., *at)] = value
        return out

    layer = f'type: "Pooling3D" pooling3d_param {{ kernel_size: 3 kernel_depth: 2 {words} }}'
    check_layer(LayerCase(layer, [(2, 2, 3, 5, 6)], reference=reference))


def test_several_maxima_all_get_the_gradient():
    layer = 'type: "Pooling3D" pooling3d_param { kernel_size: 2 kernel_depth: 1 stride: 2 }'
    run = LayerRun(LayerCase(layer, [np.ones((1, 1, 1, 2, 2))]))
    run.forward()
    run.backward([np.full((1, 1, 1, 1, 1), 3.0)], [True])
    np.testing.assert_array_equal(run.bottom[0].blob.diff, np.full((1, 1, 1, 2, 2), 3.0))


REDUCTION = 'type: "BatchReduction" batch_reduction_param { %s reduction_param { %s } }'


@pytest.mark.parametrize(
    ("operation", "reference"),
    [
        ("SUM", lambda x: x.sum(1)),
        ("MEAN", lambda x: x.mean(1)),
        ("TOPK k: 2", lambda x: -np.sort(-x, 1)[:, :2].mean(1)),
    ],
)
def test_reduction_of_an_axis(operation, reference):
    layer = REDUCTION % ("", f"operation: {operation} axis: 1")
    check_layer(LayerCase(layer, [(2, 5, 3)], reference=reference))


def test_reduction_by_levels():
    """A pyramid: one snippet, then the four of the next level."""
    check_layer(
        LayerCase(
            REDUCTION % ("level: 1 level: 2", "operation: MEAN axis: 1"),
            [(2, 5, 3)],
            reference=lambda x: np.stack([x[:, 0], x[:, 1:].mean(1)], 1),
        )
    )


@pytest.mark.parametrize(
    ("level", "operation", "message"),
    [
        ("level: 2", "operation: SUM axis: 1", r"levels \[2\] need 4 on axis 1"),
        ("", "operation: TOPK k: 6 axis: 1", "k is 6, there are 5"),
        ("", "operation: ASUM axis: 1", "ASUM is none of SUM, MEAN and TOPK"),
    ],
)
def test_reduction_refuses(level, operation, message):
    with pytest.raises(NetError, match=message):
        LayerRun(LayerCase(REDUCTION % (level, operation), [(2, 5, 3)]))

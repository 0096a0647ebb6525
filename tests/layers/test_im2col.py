import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.testing import LayerCase, LayerRun, check_layer


def im2col(kernel, stride, pad, dilation):
    """A loop over the outputs."""

    def reference(x):
        padded = np.pad(x, [(0, 0), (0, 0), *[(p, p) for p in pad]])
        axes = range(len(kernel))
        out = [
            (padded.shape[2 + a] - dilation[a] * (kernel[a] - 1) - 1) // stride[a] + 1 for a in axes
        ]
        y = np.zeros((*x.shape[:2], *kernel, *out))
        for o in np.ndindex(*out):
            for k in np.ndindex(*kernel):
                pixel = tuple(o[a] * stride[a] + k[a] * dilation[a] for a in axes)
                y[(slice(None), slice(None), *k, *o)] = padded[(slice(None), slice(None), *pixel)]
        return y.reshape(len(x), -1, *out)

    return reference


@pytest.mark.parametrize(
    ("settings", "shape", "layout"),
    [
        ("kernel_size: 3", (2, 3, 5, 4), ((3, 3), (1, 1), (0, 0), (1, 1))),
        ("kernel_size: 3 stride: 2 pad: 1", (2, 3, 6, 5), ((3, 3), (2, 2), (1, 1), (1, 1))),
        ("kernel_h: 3 kernel_w: 2", (1, 2, 5, 4), ((3, 2), (1, 1), (0, 0), (1, 1))),
        ("kernel_size: 2 dilation: 2 pad: 1", (1, 2, 5, 4), ((2, 2), (1, 1), (1, 1), (2, 2))),
        (
            "kernel_size: 3 dilation: 3 pad: 1 force_nd_im2col: true",
            (1, 2, 7, 6),
            ((3, 3), (1, 1), (1, 1), (3, 3)),
        ),
        ("kernel_size: 3 stride: 2", (2, 3, 8), ((3,), (2,), (0,), (1,))),
        ("kernel_size: 2", (1, 2, 3, 4, 2), ((2, 2, 2), (1, 1, 1), (0, 0, 0), (1, 1, 1))),
        (
            "kernel_size: 2 kernel_size: 3 pad: 0 pad: 1",
            (1, 2, 3, 4),
            ((2, 3), (1, 1), (0, 1), (1, 1)),
        ),
    ],
)
def test_im2col(settings, shape, layout):
    layer = f'type: "Im2col" convolution_param {{ {settings} }}'
    check_layer(LayerCase(layer, [shape], reference=im2col(*layout), ignores_propagate_down=True))


def test_axes_before_the_channels_are_images():
    layer = 'type: "Im2col" convolution_param { kernel_size: 2 axis: 2 }'
    x = np.random.default_rng(0).standard_normal((2, 3, 4, 5, 3))
    y = LayerRun(LayerCase(layer, [x])).forward()[0]
    apart = im2col((2, 2), (1, 1), (0, 0), (1, 1))(x.reshape(6, 4, 5, 3))
    np.testing.assert_array_equal(y, apart.reshape(2, 3, 16, 4, 2))


def test_gradient_is_written_even_if_not_asked_for():
    run = LayerRun(LayerCase('type: "Im2col" convolution_param { kernel_size: 2 }', [(1, 1, 2, 2)]))
    run.forward()
    run.backward([np.ones((1, 4, 1, 1))], [False])
    assert (run.bottom[0].blob.diff == 1).all()


@pytest.mark.parametrize(
    ("settings", "shape", "message"),
    [
        ("kernel_size: 3", (2, 3), "spatial axes"),
        ("kernel_size: 6", (1, 1, 5, 5), "does not fit"),
        ("kernel_h: 3", (1, 1, 5, 5), "side of 0"),
    ],
)
def test_errors(settings, shape, message):
    with pytest.raises(NetError, match=message):
        LayerRun(LayerCase(f'type: "Im2col" convolution_param {{ {settings} }}', [shape]))

"""Which kernels convolutions launch, and that they give what the generic layers give."""

import numpy as np
import pytest
from passes import numbers

from pycaffe_dist.testing import emulation
from pycaffe_dist.testing.gpu import emulated

RNG = np.random.default_rng(4)
FILL = 'weight_filler { type: "gaussian" std: 1 }'
DIRECT = {"depthwise_forward", "depthwise_backward", "depthwise_weight_sums"}
IMPLICIT = {"convolve_small", "weigh_small"}
COLUMNS_ND = {"im2col_nd", "col2im_nd"}


@pytest.mark.parametrize(
    ("settings", "shape", "kernels"),
    [
        ("num_output: 4 group: 4 kernel_size: 3 pad: 1", (2, 4, 6, 5), DIRECT),
        ("num_output: 4 group: 4 kernel_size: 2 stride: 2 dilation: 2", (3, 4, 7, 7), DIRECT),
        ("num_output: 4 group: 2 kernel_size: 3", (2, 4, 6, 5), IMPLICIT),
        ("num_output: 5 group: 1 kernel_size: 3", (2, 1, 6, 5), IMPLICIT),
        ("num_output: 3 group: 3 kernel_size: 2", (2, 3, 4, 4, 3), COLUMNS_ND),
    ],
)
@pytest.mark.parametrize("kind", ["Convolution", "Deconvolution"])
def test_one_channel_a_group_needs_no_columns(kind, settings, shape, kernels):
    check(kind, settings, shape, kernels)


def test_more_outputs_than_channels_are_depthwise_too():
    check("Convolution", "num_output: 6 group: 3 kernel_size: 3", (2, 3, 5, 6), DIRECT)
    # Here it is the outputs that are the image.
    check("Deconvolution", "num_output: 6 group: 3 kernel_size: 3", (2, 3, 5, 6), IMPLICIT)
    check("Deconvolution", "num_output: 3 group: 3 kernel_size: 3", (2, 6, 5, 6), DIRECT)


def check(kind, settings, shape, kernels):
    """The same numbers as NumPy's, by these kernels."""
    layer = f'type: "{kind}" convolution_param {{ {settings} {FILL} }}'
    x = RNG.standard_normal(shape)
    with emulated():
        before = emulation.executed.copy()
        there = numbers(layer, x)
        launched = set(emulation.executed - before)
    assert launched & (DIRECT | IMPLICIT | COLUMNS_ND) == kernels
    for got, want in zip(there, numbers(layer, x), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)

"""Products that BLAS computes, with activations fused into them: as the layers one by one."""

import pytest

from pycaffe_dist.engines import create
from pycaffe_dist.engines.onednn.core.blocks import channels_last, resized
from pycaffe_dist.engines.onednn.core.primitives import plain, strided
from pycaffe_dist.engines.onednn.core.remembered import CHOICES
from pycaffe_dist.testing.twins import Twins

ENGINE = create("onednn")
DATA = """
    force_backward: true
    layer { name: "data" type: "Input" top: "data"
            input_param { shape { dim: 3 dim: 4 dim: 5 dim: 6 } } }"""
PRODUCTS = {
    "Convolution": "convolution_param { num_output: 7 kernel_size: 3 %s }",
    "InnerProduct": "inner_product_param { num_output: 7 %s }",
}
FILLERS = 'weight_filler { type: "gaussian" std: 0.3 } bias_filler { value: -0.2 }'


@pytest.mark.parametrize("slope", [0, 0.1])
@pytest.mark.parametrize("kind", PRODUCTS)
@pytest.mark.parametrize("train", [True, False])
def test_an_activation_is_fused_into_a_product_of_blas(kind, slope, train):
    text = f"""{DATA}
        layer {{ name: "y" type: "{kind}" bottom: "data" top: "y" {PRODUCTS[kind] % FILLERS} }}
        layer {{ name: "relu" type: "ReLU" bottom: "y" top: "y"
                 relu_param {{ negative_slope: {slope} }} }}
        layer {{ name: "z" type: "{kind}" bottom: "y" top: "z" {PRODUCTS[kind] % FILLERS} }}
    """
    with CHOICES.forced("blas"):
        twins = Twins(text, ENGINE, train=train)
        twins.fill_inputs()
        for _ in range(2):
            twins.step()
            twins.assert_same()
        (layer,) = (layer for layer in twins.net.layers if layer.name == "y")
        assert {product.product.name for product in layer.chosen()} == {"blas"}
        assert (twins.net.blobs[1].data < 0).any() == bool(slope)


def test_a_layout_with_channels_last_is_resized_along_any_axis():
    layout = channels_last((2, 8, 5, 6))
    assert layout is strided((2, 8, 5, 6), (240, 1, 48, 8))
    assert resized(layout, (2, 3, 5, 6), 1) is strided((2, 3, 5, 6), (90, 1, 18, 3))
    assert resized(layout, (4, 8, 5, 6), 0) is channels_last((4, 8, 5, 6))
    assert resized(plain((2, 8, 5, 6)), (2, 3, 5, 6), 1) is plain((2, 3, 5, 6))
    assert resized(strided((2, 8, 5, 6), (1, 60, 12, 2)), (2, 4, 5, 6), 1) is None

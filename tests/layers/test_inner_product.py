import numpy as np
import pytest

from pycaffe_dist.layer import OuterProduct
from pycaffe_dist.testing import LayerCase, LayerRun, as_host, check_layer

FILLERS = 'weight_filler { type: "gaussian" } bias_filler { type: "gaussian" }'


@pytest.mark.parametrize(
    ("settings", "shape"),
    [
        ("num_output: 4", (3, 5)),
        ("num_output: 4", (3, 2, 3, 2)),
        ("num_output: 4 bias_term: false", (3, 5)),
        ("num_output: 2 axis: 2", (2, 3, 4)),
        ("num_output: 2 axis: -1", (2, 3, 4)),
        ("num_output: 4 transpose: true", (3, 5)),
    ],
)
def test_gradient(settings, shape):
    layer = f'type: "InnerProduct" inner_product_param {{ {settings} {FILLERS} }}'
    check_layer(LayerCase(layer, [shape]))


def test_transpose_swaps_the_weights():
    x, w = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(4, 3)
    layer = 'type: "InnerProduct" inner_product_param { num_output: 4 %s bias_term: false }'
    plain = LayerRun(LayerCase(layer % "", [x], fill=[w])).forward()[0]
    swapped = LayerRun(LayerCase(layer % "transpose: true", [x], fill=[w.T])).forward()[0]
    np.testing.assert_array_equal(plain, x @ w.T)
    np.testing.assert_array_equal(swapped, plain)


@pytest.mark.parametrize("transpose", ["false", "true"])
def test_factors_make_the_gradient(transpose):
    settings = f"num_output: 4 transpose: {transpose} {FILLERS}"
    case = LayerCase(f'type: "InnerProduct" inner_product_param {{ {settings} }}', [(3, 5)])
    run = LayerRun(case)
    run.forward()
    run.backward([np.ones((3, 4))], [True])
    product = run.layer.outer_product(run.top, run.bottom)
    assert product == OuterProduct(3, 4, 5, transpose == "true")
    a, b = run.layer.factors(run.top, run.bottom)
    assert (a.shape, b.shape) == ((3, 4), (3, 5))
    left, right = product.sides(a, b)
    np.testing.assert_allclose(as_host(left.T @ right), run.layer.blobs[0].diff)

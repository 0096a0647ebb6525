"""A parameter that does not learn gets no gradient, and the others what they get anyhow."""

import numpy as np
import pytest

from pycaffe_dist.testing import LayerCase, LayerRun

X = (4, 3, 2, 5)
LABELLED = [(4, 6), np.array([1.0, 0, 2, 1])]
AFFINE = "scale_filler { value: 1.5 } shift_filler { value: 0.3 }"
CONVOLVED = "num_output: 2 kernel_size: 2 weight_filler { type: 'xavier' }"
PRODUCT = "num_output: 3 weight_filler { type: 'xavier' }"

# Type, settings, bottoms, parameters that can learn.
LEARNING = [
    ("BN", "bn_param { slope_filler { value: 1.5 } bias_filler { value: 0.3 } }", [X], (0, 1)),
    ("BN", f"bn_param {{ {AFFINE} }}", [X], (0, 1)),
    ("BatchNorm", "batch_norm_param { scale_bias: true }", [X], (3, 4)),
    ("Bias", "", [X], (0,)),
    ("CenterLoss", "center_loss_param { num_output: 3 }", LABELLED, (0,)),
    ("Convolution", f"convolution_param {{ {CONVOLVED} }}", [X], (0, 1)),
    ("Deconvolution", f"convolution_param {{ {CONVOLVED} }}", [X], (0, 1)),
    ("Embed", f"embed_param {{ input_dim: 4 {PRODUCT} }}", [LABELLED[1]], (0, 1)),
    ("InnerDistance", f"inner_distance_param {{ bias_term: true {PRODUCT} }}", [X], (0, 1)),
    ("InnerProduct", f"inner_product_param {{ {PRODUCT} }}", [X], (0, 1)),
    (
        "LargeMarginInnerProduct",
        f"largemargin_inner_product_param {{ type: DOUBLE {PRODUCT} }}",
        LABELLED,
        (0,),
    ),
    ("LayerNorm", "layer_norm_param { elementwise_affine: true }", [X], (0, 1)),
    (
        "MarginInnerProduct",
        f"margin_inner_product_param {{ type: DOUBLE {PRODUCT} }}",
        LABELLED,
        (0,),
    ),
    ("Normalize", "norm_param { across_spatial: false channel_shared: false }", [X], (0,)),
    ("PReLU", "", [X], (0,)),
    ("Scale", "scale_param { bias_term: true }", [X], (0, 1)),
]


def gradients(kind, settings, bottoms, learns):
    """Of all parameters, where those of some numbers learn."""
    run = LayerRun(LayerCase(f'type: "{kind}" loss_weight: 1 {settings}', bottoms))
    run.layer.param_propagate_down = [i in learns for i in range(len(run.layer.blobs))]
    weights = np.random.default_rng(3).standard_normal(run.forward()[0].shape)
    run.backward([weights], [i == 0 and kind != "Embed" for i in range(len(bottoms))])
    return [blob.diff.copy() for blob in run.layer.blobs]


@pytest.mark.parametrize(
    ("kind", "settings", "bottoms", "numbers"), LEARNING, ids=[row[0] for row in LEARNING]
)
def test_frozen(kind, settings, bottoms, numbers):
    everything = gradients(kind, settings, bottoms, numbers)
    assert [i for i, diff in enumerate(everything) if diff.any()] == [*numbers]
    for frozen in numbers:
        learns = [i for i in numbers if i != frozen]
        for i, diff in enumerate(gradients(kind, settings, bottoms, learns)):
            np.testing.assert_array_equal(diff, everything[i] * (i != frozen))

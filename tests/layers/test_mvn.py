import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.testing import LayerCase, LayerRun, check_layer


def layer(settings=""):
    return f'type: "MVN" mvn_param {{ {settings} }}'


def mvn(x, axes, variance=True, eps=1e-9):
    centred = x - x.mean(axes, keepdims=True)
    return centred / (x.std(axes, keepdims=True) + eps) if variance else centred


@pytest.mark.parametrize(
    ("settings", "options"),
    [
        ("", {"axes": (2, 3)}),
        ("across_channels: true", {"axes": (1, 2, 3)}),
        ("normalize_variance: false", {"axes": (2, 3), "variance": False}),
        ("normalize_variance: false across_channels: true", {"axes": (1, 2, 3), "variance": False}),
    ],
)
def test_values_and_gradient(settings, options):
    check_layer(
        LayerCase(
            layer(settings),
            [(2, 3, 4, 2)],
            reference=lambda x: mvn(x, **options),
            in_place=True,
            ignores_propagate_down=True,
        )
    )


def test_eps_is_outside_of_the_root_and_not_in_the_slope():
    run = LayerRun(LayerCase(layer("eps: 0.5"), [(2, 3, 4, 2)]))
    x, gy = run.inputs[0], np.random.default_rng(0).standard_normal((2, 3, 4, 2))
    y = run.forward()[0]
    np.testing.assert_allclose(y, mvn(x, (2, 3), eps=0.5))
    run.backward([gy], [True])
    means = (gy.mean((2, 3), keepdims=True), (gy * y).mean((2, 3), keepdims=True))
    want = (gy - means[0] - y * means[1]) / (x.std((2, 3), keepdims=True) + 0.5)
    np.testing.assert_allclose(run.bottom[0].blob.diff, want)


def test_the_top_has_four_axes():
    run = LayerRun(LayerCase(layer("across_channels: true"), [(2, 6)]))
    y = run.forward()[0]
    assert y.shape == (2, 6, 1, 1)
    np.testing.assert_allclose(y[:, :, 0, 0], mvn(run.inputs[0], (1,)))


def test_gradient_is_written_even_when_nobody_asks():
    run = LayerRun(LayerCase(layer(), [(2, 3, 4)]))
    run.forward()
    run.bottom[0].blob.diff[...] = 7
    run.backward([np.random.default_rng(0).standard_normal((2, 3, 4, 1))], [False])
    assert (run.bottom[0].blob.diff != 7).all()


def test_refuses_five_axes():
    with pytest.raises(NetError, match="a blob of 5 axes"):
        LayerRun(LayerCase(layer(), [(2, 1, 2, 1, 2)]))

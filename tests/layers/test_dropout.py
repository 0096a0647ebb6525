import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.testing import LayerCase, LayerRun, check_layer


def layer(ratio):
    return f'type: "Dropout" dropout_param {{ dropout_ratio: {ratio} }}'


@pytest.mark.parametrize("phase", ["TRAIN", "TEST"])
@pytest.mark.parametrize("ratio", [0.0, 0.5, 0.75])
def test_gradient(phase, ratio):
    check_layer(LayerCase(layer(ratio), [(2, 3, 4)], phase=phase, in_place=True))


@pytest.mark.parametrize("ratio", [0.25, 0.5, 0.9])
def test_keeps_its_share_and_scales_it(ratio):
    n = 20000
    run = LayerRun(LayerCase(layer(ratio), [np.full((n,), 3.0)]), np.float32)
    y = run.forward()[0]
    kept = y != 0
    np.testing.assert_allclose(y[kept], 3 / (1 - ratio), rtol=1e-6)
    assert abs(kept.mean() - (1 - ratio)) < 1.96 * np.sqrt(ratio * (1 - ratio) / n)
    run.backward([np.full(n, 5.0)], [True])
    np.testing.assert_allclose(
        run.bottom[0].blob.diff, np.where(kept, 5 / (1 - ratio), 0), rtol=1e-6
    )


def test_ratio_is_half_by_default():
    y = LayerRun(LayerCase('type: "Dropout"', [np.ones(1000)])).forward()[0]
    assert set(np.unique(y)) == {0, 2}


def test_ratio_zero_keeps_all():
    run = LayerRun(LayerCase(layer(0), [(50, 50)]))
    np.testing.assert_array_equal(run.forward()[0], run.inputs[0])


def test_every_forward_draws_anew():
    run = LayerRun(LayerCase(layer(0.5), [np.ones((4, 50))]))
    first = run.forward()[0]
    assert (first[0] != first[1]).any()
    np.testing.assert_array_equal(run.forward()[0], first)  # seeded again
    run.layer.run_forward(run.bottom, run.top)
    assert (run.top[0].blob.data != first).any()


def test_passes_everything_in_test_phase():
    run = LayerRun(LayerCase(layer(0.5), [(3, 4)], phase="TEST"))
    np.testing.assert_array_equal(run.forward()[0], run.inputs[0])
    gy = np.arange(12.0).reshape(3, 4)
    run.backward([gy], [True])
    np.testing.assert_array_equal(run.bottom[0].blob.diff, gy)
    assert run.layer.flops(run.bottom, run.top) == 0


@pytest.mark.parametrize("ratio", [-0.1, 1, 1.5])
def test_refuses_other_ratios(ratio):
    with pytest.raises(NetError, match=f"at least 0 and below 1, not {ratio:g}"):
        LayerRun(LayerCase(layer(ratio), [(2,)]))


# -- forks -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["sample_weights_test", "test_enabled"])
def test_drawing_in_test_too(word):
    layer = f'type: "Dropout" dropout_param {{ dropout_ratio: 0.5 {word}: true }}'
    run = LayerRun(LayerCase(layer, [np.ones((40, 50))], phase="TEST"))
    y = run.forward()[0]
    assert set(np.unique(y)) == {0, 2}
    run.backward([np.ones_like(y)], [True])
    np.testing.assert_array_equal(run.bottom[0].blob.diff, y)


@pytest.mark.parametrize(("phase", "values"), [("TRAIN", {0, 1}), ("TEST", {0.75})])
def test_scaling_in_test_only(phase, values):
    layer = 'type: "Dropout" dropout_param { dropout_ratio: 0.25 scale_train: false }'
    run = LayerRun(LayerCase(layer, [np.ones((40, 50))], phase=phase))
    y = run.forward()[0]
    assert set(np.unique(y)) == values
    run.backward([np.ones_like(y)], [True])
    np.testing.assert_array_equal(run.bottom[0].blob.diff, y)

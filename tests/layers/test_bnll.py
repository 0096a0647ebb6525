import numpy as np

from pycaffe_dist.testing import LayerCase, LayerRun, check_layer


def test_values_and_gradient():
    check_layer(LayerCase('type: "BNLL"', [(2, 3, 4)], reference=lambda x: np.log(1 + np.exp(x))))


def test_far_from_zero():
    x = np.array([-1000, -30, 30, 60, 1000], np.float32)
    run = LayerRun(LayerCase('type: "BNLL"', [x]), np.float32)
    y = run.forward()[0]
    np.testing.assert_allclose(y, [0, np.exp(-30), 30, 60, 1000], rtol=1e-6)
    run.backward([np.full(5, 3.0)], [True])
    np.testing.assert_allclose(run.bottom[0].blob.diff, [0, 3 * np.exp(-30), 3, 3, 3], rtol=1e-6)


def test_in_place_takes_the_top_for_the_bottom():
    run = LayerRun(LayerCase('type: "BNLL"', [(2, 3)]), in_place=True)
    y = run.forward()[0]
    run.backward([np.ones((2, 3))], [True])
    np.testing.assert_allclose(run.bottom[0].blob.diff, 1 / (1 + np.exp(-y)))

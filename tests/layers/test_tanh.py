import numpy as np

from pycaffe_dist.testing import LayerCase, LayerRun, check_layer


def test_values_and_gradient():
    check_layer(LayerCase('type: "TanH"', [(2, 3, 4)], reference=np.tanh, in_place=True))


def test_far_from_zero():
    run = LayerRun(LayerCase('type: "TanH"', [np.array([-1e4, 1e4])]), np.float32)
    np.testing.assert_array_equal(run.forward()[0], [-1, 1])
    run.backward([np.ones(2)], [True])
    np.testing.assert_array_equal(run.bottom[0].blob.diff, [0, 0])

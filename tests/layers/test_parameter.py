import numpy as np

from pycaffe_dist.testing import LayerCase, LayerRun

LAYER = 'type: "Parameter" parameter_param { shape { dim: 2 dim: 3 } }'


def test_the_top_is_the_parameter():
    run = LayerRun(LayerCase(LAYER, []))
    (y,) = run.forward()
    assert y.shape == (2, 3) and not y.any()
    run.layer.blobs[0].data[...] = np.arange(6).reshape(2, 3)
    np.testing.assert_array_equal(run.top[0].blob.data, [[0, 1, 2], [3, 4, 5]])


def test_the_gradient_is_what_the_consumer_writes():
    run = LayerRun(LayerCase(LAYER, []))
    for value in (3, 4):  # overwritten, not added up
        run.forward()
        run.backward([np.full((2, 3), value)], [])
        assert (run.layer.blobs[0].diff == value).all()


def test_values_of_the_prototxt():
    given = "blobs { shape { dim: 2 dim: 3 } data: [1, 2, 3, 4, 5, 6] }"
    run = LayerRun(LayerCase(LAYER + given, []))
    np.testing.assert_array_equal(run.forward()[0], [[1, 2, 3], [4, 5, 6]])


def test_a_filler_of_its_own():
    layer = 'type: "Parameter" parameter_param { shape { dim: 3 } blob_filler { value: 2 } }'
    run = LayerRun(LayerCase(layer, []))
    np.testing.assert_array_equal(run.layer.blobs[0].data, [2, 2, 2])

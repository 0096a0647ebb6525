"""What a layer makes of a batch, in both directions."""

import numpy as np

from pycaffe_dist.testing.layers import LayerCase, LayerRun


def numbers(layer, x):
    """Top, gradients of the bottom and of all parameters, for a gradient of the top."""
    run = LayerRun(LayerCase(layer, [x]))
    (y,) = run.forward()
    run.backward([np.cos(np.arange(y.size)).reshape(y.shape)], [True])
    return [y, run.bottom[0].blob.diff.copy(), *(blob.diff.copy() for blob in run.layer.blobs)]

"""The test kit, for our layers and for those of users.

check_layer(LayerCase('type: "ReLU"', inputs=[(2, 3, 4)], kink=0.0))
"""

from pycaffe_dist.testing.layers import LayerCase, LayerRun, as_host, check_layer

__all__ = ["LayerCase", "LayerRun", "as_host", "check_layer"]

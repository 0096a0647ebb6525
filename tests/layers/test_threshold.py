import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.testing import LayerCase, LayerRun


@pytest.mark.parametrize(
    ("settings", "want"), [("", [0, 0, 1, 1, 1]), ("threshold: 0.5", [0, 0, 0, 0, 1])]
)
def test_strictly_above(settings, want):
    x = np.array([-1, 0, 0.25, 0.5, 0.75])
    run = LayerRun(LayerCase(f'type: "Threshold" threshold_param {{ {settings} }}', [x]))
    np.testing.assert_array_equal(run.forward()[0], want)


def test_has_no_gradient():
    run = LayerRun(LayerCase('type: "Threshold"', [(2, 3)]))
    run.forward()
    with pytest.raises(NetError, match=r'layer "case" \(Threshold\): has no gradient'):
        run.backward([np.ones((2, 3))], [True])

import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.testing import LayerCase, LayerRun, check_layer


def test_values_and_gradient():
    check_layer(LayerCase('type: "AbsVal"', [(2, 3, 4)], reference=np.abs, kink=0.0))


def test_gradient_at_zero_is_zero():
    run = LayerRun(LayerCase('type: "AbsVal"', [np.array([-2.0, 0.0, 3.0])]))
    run.forward()
    run.backward([np.full(3, 5.0)], [True])
    np.testing.assert_array_equal(run.bottom[0].blob.diff, [-5, 0, 5])


def test_refuses_to_work_in_place():
    with pytest.raises(NetError, match=r'layer "case" \(AbsVal\): cannot work in place'):
        LayerRun(LayerCase('type: "AbsVal"', [(2, 3)]), in_place=True)

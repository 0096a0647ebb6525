import numpy as np
import pytest

from pycaffe_dist.blob import Blob
from pycaffe_dist.errors import NetError
from pycaffe_dist.learnable import Param
from pycaffe_dist.proto.caffe_pb2 import SolverParameter
from pycaffe_dist.solvers import update
from pycaffe_dist.solvers.rules import BLOCK, create_rule


def param(data, diff, lr_mult=1.0, decay_mult=1.0):
    blob = Blob(np.shape(data), np.float64)
    blob.data[...], blob.diff[...] = data, diff
    return Param(blob, "0", (0, 0), lr_mult, decay_mult, False, False)


def test_clip_scales_all_parameters_by_their_common_norm():
    params = [param([1.0], [3.0]), param([1.0], [4.0])]
    assert update.clip(params, 10.0) is None
    norm, scale = update.clip(params, 1.0)
    assert (norm, scale) == (5.0, 0.2)
    np.testing.assert_allclose([p.blob.diff[0] for p in params], [0.6, 0.8])


@pytest.mark.parametrize("kind", ["L1", "L2"])
def test_order_of_operations_over_block_borders(kind):
    """Normalise by iter_size, regularise, the rule; the diff then holds what was taken off."""
    rng = np.random.default_rng(1)
    size = BLOCK + 17
    w, g = rng.standard_normal(size), rng.standard_normal(size)
    w[3] = 0
    solver = SolverParameter(
        iter_size=4, weight_decay=0.25, regularization_type=kind, momentum=0.5, type="SGD"
    )
    p, history = param(w, g, lr_mult=2.0, decay_mult=3.0), Blob((size,), np.float64)
    history.data[...] = 1.0
    update.apply(p, [history], create_rule(solver), solver, 0.1)
    penalty = np.sign(w) if kind == "L1" else w
    v = 0.5 * 1.0 + 0.2 * (g / 4 + 0.75 * penalty)
    np.testing.assert_allclose(history.data, v, rtol=1e-6)
    np.testing.assert_allclose(p.blob.diff, v, rtol=1e-6)
    np.testing.assert_allclose(p.blob.data, w - v, rtol=1e-6)


def test_unknown_regularisation_counts_only_with_decay():
    solver = SolverParameter(regularization_type="L3", weight_decay=0.1, type="SGD")
    p, history = param([1.0], [1.0]), Blob((1,), np.float64)
    with pytest.raises(NetError, match='"L1" or "L2", not "L3"'):
        update.apply(p, [history], create_rule(solver), solver, 0.1)
    solver.weight_decay = 0
    update.apply(p, [history], create_rule(solver), solver, 0.1)
    assert p.blob.data[0] == pytest.approx(0.9)

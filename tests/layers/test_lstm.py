import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.testing import LayerCase, LayerRun, check_layer

T, N, K, S, D = 3, 2, 4, 3, 2
FILLERS = 'weight_filler { type: "gaussian" } bias_filler { type: "gaussian" }'
PLAIN = f'type: "LSTM" recurrent_param {{ num_output: {D} {FILLERS} }}'
EXPOSED = f'type: "LSTM" recurrent_param {{ num_output: {D} {FILLERS} expose_hidden: true }}'
CONT = np.array([[0, 0], [1, 1], [1, 0]])


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def unit(c, sums, cont):
    """One step for one stream, gate by gate."""
    i, f, o, g = sums.reshape(4, -1)
    c = cont * sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return c, sigmoid(o) * np.tanh(c)


def lstm(x, cont, params, h, c, static=None):
    """Loops over steps and streams; (T, N, D), and the last states."""
    w_x, b, *rest = params
    y = np.empty((*cont.shape, w_x.shape[0] // 4))
    h, c = h.copy(), c.copy()
    for t in range(len(x)):
        for n in range(x.shape[1]):
            sums = w_x @ x[t, n].ravel() + b + rest[-1] @ (cont[t, n] * h[n])
            if static is not None:
                sums = sums + rest[0] @ static[n].ravel()
            c[n], h[n] = unit(c[n], sums, cont[t, n])
            y[t, n] = h[n]
    return y, h, c


def values_of(run):
    return [blob.data for blob in run.layer.blobs]


@pytest.mark.parametrize("shape", [(T, N, K), (T, N, 2, 2)])
@pytest.mark.parametrize("static", [False, True])
def test_values(shape, static):
    inputs = [shape, CONT] + [(N, S)] * static
    run = LayerRun(LayerCase(PLAIN, inputs))
    (y,) = run.forward()
    zeros = np.zeros((N, D))
    want = lstm(run.inputs[0], CONT, values_of(run), zeros, zeros, *run.inputs[2:])[0]
    np.testing.assert_allclose(y, want, rtol=1e-12)


def test_parameters_in_caffes_order():
    run = LayerRun(LayerCase(PLAIN, [(T, N, K), CONT, (N, S)]))
    shapes = [blob.shape for blob in run.layer.blobs]
    assert shapes == [(4 * D, K), (4 * D,), (4 * D, S), (4 * D, D)]
    plain = LayerRun(LayerCase(PLAIN, [(T, N, K), CONT]))
    assert [blob.shape for blob in plain.layer.blobs] == [(4 * D, K), (4 * D,), (4 * D, D)]


@pytest.mark.parametrize("phase", ["TRAIN", "TEST"])
def test_gradient(phase):
    check_layer(
        LayerCase(PLAIN, [(T, N, K), CONT], phase=phase, bottoms=[0], ignores_propagate_down=True)
    )


def test_gradient_with_static_input():
    check_layer(
        LayerCase(PLAIN, [(T, N, 2, 2), CONT, (N, S)], bottoms=[0, 2], ignores_propagate_down=True)
    )


def test_exposed_states_come_in_and_go_out():
    cont = np.ones((T, N))
    run = LayerRun(LayerCase(EXPOSED, [(T, N, K), cont, (1, N, D), (1, N, D)], tops=3))
    y, h, c = run.forward()
    x, _, h0, c0 = run.inputs
    want = lstm(x, cont, values_of(run), h0[0], c0[0])
    np.testing.assert_allclose(y, want[0], rtol=1e-12)
    np.testing.assert_allclose(h, want[1][None], rtol=1e-12)
    np.testing.assert_allclose(c, want[2][None], rtol=1e-12)
    np.testing.assert_array_equal(run.forward()[0], y)  # nothing is kept


def test_exposed_states_with_static_input():
    inputs = [(T, N, K), CONT, (N, S), (1, N, D), (1, N, D)]
    run = LayerRun(LayerCase(EXPOSED, inputs, tops=3))
    y, h, _ = run.forward()
    x, _, static, h0, c0 = run.inputs
    want = lstm(x, CONT, values_of(run), h0[0], c0[0], static)
    np.testing.assert_allclose(y, want[0], rtol=1e-12)
    np.testing.assert_allclose(h[0], want[1], rtol=1e-12)


def test_no_gradient_flows_through_exposed_states():
    inputs = [(T, N, K), np.ones((T, N)), (1, N, D), (1, N, D)]
    run = LayerRun(LayerCase(EXPOSED, inputs, tops=3))
    run.forward()
    for view in run.bottom[2:]:
        view.blob.diff[...] = 7
    gy = np.ones((T, N, D))
    run.backward([gy, np.full((1, N, D), 100.0), np.full((1, N, D), 100.0)], [True, False] * 2)
    with_hidden = run.bottom[0].blob.diff.copy()
    run.backward([gy, np.zeros((1, N, D)), np.zeros((1, N, D))], [True, False] * 2)
    np.testing.assert_array_equal(run.bottom[0].blob.diff, with_hidden)
    assert all((view.blob.diff == 7).all() for view in run.bottom[2:])


def test_step_by_step_is_the_same_as_all_at_once():
    whole = LayerRun(LayerCase(PLAIN, [(T, N, K), CONT]))
    (want,) = whole.forward()
    steps = LayerRun(LayerCase(PLAIN, [(1, N, K), CONT[:1]], fill=values_of(whole)))
    for t in range(T):
        steps.inputs = [whole.inputs[0][t : t + 1], CONT[t : t + 1]]
        np.testing.assert_allclose(steps.forward()[0], want[t : t + 1], rtol=1e-12)


def test_goes_on_from_the_last_forward_until_reset():
    case = LayerCase(PLAIN, [(T, N, K), np.ones((T, N))])
    run = LayerRun(case)
    (first,) = run.forward()
    (second,) = run.forward()
    x = np.concatenate([run.inputs[0]] * 2)
    zeros = np.zeros((N, D))
    want = lstm(x, np.ones((2 * T, N)), values_of(run), zeros, zeros)[0]
    np.testing.assert_allclose(np.concatenate([first, second]), want, rtol=1e-12)
    run.layer.reset()
    np.testing.assert_array_equal(run.forward()[0], first)


def test_a_sequence_begins_without_what_was_before_even_nan():
    run = LayerRun(LayerCase(EXPOSED, [(T, N, K), CONT, (1, N, D), (1, N, D)], tops=3))
    clean = run.forward()
    run.inputs[2][...] = np.nan
    run.inputs[3][...] = np.inf
    for got, want in zip(run.forward(), clean, strict=True):
        np.testing.assert_array_equal(got, want)
    run.backward([np.ones(t.shape) for t in run.top], [True, False, False, False])
    assert np.isfinite(run.bottom[0].blob.diff).all()
    assert all(np.isfinite(blob.diff).all() for blob in run.layer.blobs)


def test_fractions_of_cont_scale_the_state():
    cont = np.full((T, N), 0.25)
    run = LayerRun(LayerCase(EXPOSED, [(T, N, K), cont, (1, N, D), (1, N, D)], tops=3))
    x, _, h0, c0 = run.inputs
    want = lstm(x, cont, values_of(run), h0[0], c0[0])[0]
    np.testing.assert_allclose(run.forward()[0], want, rtol=1e-12)


def test_states_when_the_number_of_streams_changes():
    run = LayerRun(LayerCase(PLAIN, [(1, 2, K), np.ones((1, 2))]))
    run.forward()
    kept = [view.blob.data.ravel().copy() for view in run.layer.last]
    run.bottom[0].reshape(1, 1, K)
    run.bottom[1].reshape(1, 1)
    run.layer.reshape(run.bottom, run.top)
    assert run.top[0].shape == (1, 1, D)
    for view, before in zip(run.layer.last, kept, strict=True):
        np.testing.assert_array_equal(view.blob.data.ravel(), before[:D])
    run.bottom[0].reshape(1, 5, K)
    run.bottom[1].reshape(1, 5)
    run.layer.reshape(run.bottom, run.top)
    assert all((view.blob.data == 0).all() for view in run.layer.last)


def test_a_change_of_the_top_in_place_does_not_reach_the_gradient():
    run = LayerRun(LayerCase(PLAIN, [(T, N, K), CONT]))
    grads = []
    for factor in (1, 0):
        run.forward()
        run.top[0].blob.data[...] *= factor
        run.backward([np.ones((T, N, D))], [True, False])
        grads.append(run.bottom[0].blob.diff.copy())
    np.testing.assert_array_equal(grads[0], grads[1])


def test_parameters_get_gradients_even_unasked():
    run = LayerRun(LayerCase(PLAIN, [(T, N, K), CONT]))
    run.layer.param_propagate_down = [False] * 3
    run.forward()
    run.backward([np.ones((T, N, D))], [False, False])
    assert all(blob.diff.any() for blob in run.layer.blobs)
    assert run.bottom[0].blob.diff.any()


def test_float32_stays_float32_and_large_sums_are_no_trouble():
    run = LayerRun(LayerCase(PLAIN, [np.full((T, N, K), -400.0), CONT]), dtype=np.float32)
    (y,) = run.forward()
    run.backward([np.ones((T, N, D))], [True, False])
    assert y.dtype == np.float32 and np.isfinite(y).all()
    assert np.isfinite(run.bottom[0].blob.diff).all()


def test_flops():
    run = LayerRun(LayerCase(PLAIN, [(T, N, K), CONT, (N, S)]))
    gemms = T * N * 4 * D * (K + D) + N * 4 * D * S
    assert run.layer.flops(run.bottom, run.top) == 2 * gemms


# -- LSTMUnit --------------------------------------------------------------------------------------

UNIT = 'type: "LSTMUnit"'


def unit_reference(c_prev, sums, cont):
    pairs = [unit(*row) for row in zip(c_prev[0], sums[0], cont[0], strict=True)]
    c, h = zip(*pairs, strict=True)
    return np.array([c]), np.array([h])


def test_unit():
    cont = np.array([[0, 1, 1]])
    check_layer(LayerCase(UNIT, [(1, 3, D), (1, 3, 4 * D), cont], tops=2, reference=unit_reference))


def test_unit_uses_caffes_slope_for_fractions_of_cont():
    c_prev, sums = np.full((1, 1, 1), 2.0), np.zeros((1, 1, 4))
    run = LayerRun(LayerCase(UNIT, [c_prev, sums, np.full((1, 1), 0.5)], tops=2))
    run.forward()
    run.backward([np.ones((1, 1, 1)), np.zeros((1, 1, 1))], [True, True, False])
    f = 0.5 * 0.5  # cont σ(0)
    assert run.bottom[1].blob.diff[0, 0, 1] == 2 * f * (1 - f)


def test_unit_gives_both_gradients_if_one_is_asked_for():
    run = LayerRun(LayerCase(UNIT, [(1, 3, D), (1, 3, 4 * D), np.ones((1, 3))], tops=2))
    run.forward()
    run.backward([np.ones((1, 3, D))] * 2, [False, True, False])
    assert run.bottom[0].blob.diff.all() and run.bottom[1].blob.diff.all()


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        ([(2, 3, 2), (2, 3, 8), (2, 3)], r"bottom 0 must be \(1, streams, cells\)"),
        ([(1, 3, 2), (1, 3, 6), (1, 3)], r"bottom 1 must have the shape \(1, 3, 8\)"),
        ([(1, 3, 2), (1, 3, 8), (1, 4)], r"bottom 2 must have the shape \(1, 3\)"),
    ],
)
def test_unit_refuses_shapes(shapes, message):
    with pytest.raises(NetError, match=message):
        LayerRun(LayerCase(UNIT, shapes, tops=2))


def test_unit_refuses_a_gradient_for_cont():
    run = LayerRun(LayerCase(UNIT, [(1, 3, D), (1, 3, 4 * D), np.ones((1, 3))], tops=2))
    run.forward()
    with pytest.raises(NetError, match="sequence indicators"):
        run.backward([np.ones((1, 3, D))] * 2, [True, True, True])

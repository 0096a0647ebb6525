import numpy as np
import pytest

from pycaffe_dist.testing import LayerCase, LayerRun, check_layer

T, N, K, S, D = 3, 2, 4, 3, 2
FILLERS = 'weight_filler { type: "gaussian" } bias_filler { type: "gaussian" }'
PLAIN = f'type: "RNN" recurrent_param {{ num_output: {D} {FILLERS} }}'
EXPOSED = f'type: "RNN" recurrent_param {{ num_output: {D} {FILLERS} expose_hidden: true }}'
CONT = np.array([[0, 0], [1, 1], [1, 0]])


def rnn(x, cont, params, h, static=None):
    """Loops over steps and streams; (T, N, D), and the last state."""
    w_xh, b_h, *w_static, w_hh, w_ho, b_o = params
    y = np.empty((*cont.shape, D))
    h = h.copy()
    for t in range(len(x)):
        for n in range(x.shape[1]):
            sums = w_xh @ x[t, n].ravel() + b_h + w_hh @ (cont[t, n] * h[n])
            if static is not None:
                sums = sums + w_static[0] @ static[n].ravel()
            h[n] = np.tanh(sums)
            y[t, n] = np.tanh(w_ho @ h[n] + b_o)
    return y, h


def values_of(run):
    return [blob.data for blob in run.layer.blobs]


@pytest.mark.parametrize("static", [False, True])
def test_values(static):
    run = LayerRun(LayerCase(PLAIN, [(T, N, 2, 2), CONT] + [(N, S)] * static))
    want = rnn(run.inputs[0], CONT, values_of(run), np.zeros((N, D)), *run.inputs[2:])[0]
    np.testing.assert_allclose(run.forward()[0], want, rtol=1e-12)


def test_parameters_in_caffes_order():
    run = LayerRun(LayerCase(PLAIN, [(T, N, K), CONT, (N, S)]))
    shapes = [blob.shape for blob in run.layer.blobs]
    assert shapes == [(D, K), (D,), (D, S), (D, D), (D, D), (D,)]


@pytest.mark.parametrize("static", [False, True])
def test_gradient(static):
    check_layer(
        LayerCase(
            PLAIN,
            [(T, N, K), CONT] + [(N, S)] * static,
            bottoms=[0, 2] if static else [0],
            ignores_propagate_down=True,
        )
    )


def test_exposed_state_comes_in_and_goes_out():
    cont = np.ones((T, N))
    run = LayerRun(LayerCase(EXPOSED, [(T, N, K), cont, (1, N, D)], tops=2))
    y, h = run.forward()
    want = rnn(run.inputs[0], cont, values_of(run), run.inputs[2][0])
    np.testing.assert_allclose(y, want[0], rtol=1e-12)
    np.testing.assert_allclose(h, want[1][None], rtol=1e-12)


def test_goes_on_from_the_last_forward():
    run = LayerRun(LayerCase(PLAIN, [(T, N, K), np.ones((T, N))]))
    got = np.concatenate([run.forward()[0], run.forward()[0]])
    x = np.concatenate([run.inputs[0]] * 2)
    want = rnn(x, np.ones((2 * T, N)), values_of(run), np.zeros((N, D)))[0]
    np.testing.assert_allclose(got, want, rtol=1e-12)


def test_a_sequence_begins_without_what_was_before_even_nan():
    run = LayerRun(LayerCase(EXPOSED, [(T, N, K), CONT, (1, N, D)], tops=2))
    clean = run.forward()
    run.inputs[2][...] = np.nan
    np.testing.assert_array_equal(run.forward()[0], clean[0])


def test_a_change_of_the_top_in_place_does_not_reach_the_gradient():
    run = LayerRun(LayerCase(PLAIN, [(T, N, K), CONT]))
    grads = []
    for factor in (1, 0):
        run.forward()
        run.top[0].blob.data[...] *= factor
        run.backward([np.ones((T, N, D))], [True, False])
        grads.append(run.bottom[0].blob.diff.copy())
    np.testing.assert_array_equal(grads[0], grads[1])


def test_flops():
    run = LayerRun(LayerCase(PLAIN, [(T, N, K), CONT]))
    assert run.layer.flops(run.bottom, run.top) == 2 * T * N * D * (K + D + D)

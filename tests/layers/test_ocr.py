"""Layers of nets that read text."""

import itertools

import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.testing import LayerCase, LayerRun, check_layer

RNG = np.random.default_rng(7)


# -- order -----------------------------------------------------------------------------------------


def test_transpose():
    layer = 'type: "Transpose" transpose_param { dim: 3 dim: 0 dim: 2 dim: 1 }'
    check_layer(LayerCase(layer, [(2, 3, 2, 4)], reference=lambda x: x.transpose(3, 0, 2, 1)))
    with pytest.raises(NetError, match="must name each of the 2 axes"):
        LayerRun(LayerCase('type: "Transpose" transpose_param { dim: 0 dim: 0 }', [(2, 3)]))


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_reverse(axis):
    layer = f'type: "Reverse" reverse_param {{ axis: {axis} }}'
    check_layer(LayerCase(layer, [(4, 3, 2)], reference=lambda x: np.flip(x, axis)))


@pytest.mark.parametrize("copy", [True, False])
def test_reverse_time(copy):
    lengths = np.array([5.0, 3.0, 0.0])

    def reference(x, lengths):
        y = x.copy() if copy else np.zeros_like(x)
        for n, length in enumerate(lengths.astype(int)):
            y[:length, n] = x[:length, n][::-1]
        return y

    layer = f'type: "ReverseTime" reverse_time_param {{ copy_remaining: {str(copy).lower()} }}'
    check_layer(LayerCase(layer, [(5, 3, 2), lengths], reference=reference))


# -- Lstm ------------------------------------------------------------------------------------------

LSTM = 'weight_filler { type: "gaussian" std: 0.5 } bias_filler { type: "gaussian" std: 0.5 }'


@pytest.mark.parametrize(
    ("param", "shapes"),
    [
        ("", [(5, 2, 3)]),
        ("", [(5, 2, 3), (5, 2)]),
        ("", [(5, 3)]),
        ("batch_size: 1", [(5, 3, 1, 1), (5, 1)]),
    ],
)
def test_lstm_gradient(param, shapes):
    x = RNG.standard_normal(shapes[0])
    inputs = [x]
    if len(shapes) > 1:
        cont = np.ones(shapes[1])
        cont[0] = 0
        cont.reshape(-1)[6 if cont.size > 6 else 3] = 0
        inputs.append(cont)
    layer = f'type: "Lstm" lstm_param {{ num_output: 4 {LSTM} {param} }}'
    check_layer(LayerCase(layer, inputs, bottoms=[0], ignores_propagate_down=True))


def test_lstm_is_bvlcs_with_its_parameters_in_another_order():
    x, cont = RNG.standard_normal((5, 2, 3)), np.ones((5, 2))
    cont[0] = cont[3, 1] = 0
    w_x, w_h, b = (RNG.standard_normal(shape) for shape in [(16, 3), (16, 4), (16,)])
    ours = LayerCase('type: "Lstm" lstm_param { num_output: 4 }', [x, cont], fill=[w_x, w_h, b])
    theirs = LayerCase(
        'type: "LSTM" recurrent_param { num_output: 4 }', [x, cont], fill=[w_x, b, w_h]
    )
    one, other = LayerRun(ours), LayerRun(theirs)
    np.testing.assert_allclose(one.forward()[0], other.forward()[0])
    gy = RNG.standard_normal((5, 2, 4))
    for run in (one, other):
        run.backward([gy], [True, False])
    np.testing.assert_allclose(one.bottom[0].blob.diff, other.bottom[0].blob.diff)
    for i, j in ((0, 0), (1, 2), (2, 1)):
        np.testing.assert_allclose(one.layer.blobs[i].diff, other.layer.blobs[j].diff)


def test_lstm_clips_the_gradients_of_its_sums():
    x = RNG.standard_normal((4, 1, 3))
    layer = f'type: "Lstm" lstm_param {{ num_output: 2 {LSTM} clipping_threshold: 0.01 }}'
    run = LayerRun(LayerCase(layer, [x]))
    run.forward()
    run.backward([np.full((4, 1, 2), 100.0)], [True])
    assert abs(run.layer.blobs[2].diff).max() <= 4 * np.float32(0.01) + 1e-12


def test_a_dialect_computes_each_stream_of_a_batch_by_itself(monkeypatch):
    """As the GPU code of caffe-lstm does; its CPU code shows every stream the first one's h."""
    layer = f'type: "Lstm" lstm_param {{ num_output: 2 batch_size: 2 {LSTM} }}'
    x = RNG.standard_normal((4, 2, 3))
    case = LayerCase(layer, [x.reshape(8, 3)])
    as_cpu = LayerRun(case).forward()[0]
    monkeypatch.setenv("PCD_DIALECT", "ocr")
    as_gpu = LayerRun(case).forward()[0]
    blobs = [blob.data.copy() for blob in LayerRun(case).layer.blobs]
    alone = 'type: "Lstm" lstm_param { num_output: 2 }'
    apart = [LayerRun(LayerCase(alone, [x[:, n]], fill=blobs)).forward()[0] for n in (0, 1)]
    np.testing.assert_allclose(as_gpu.reshape(4, 2, 2), np.stack(apart, 1))
    np.testing.assert_allclose(as_cpu.reshape(4, 2, 2)[:, 0], apart[0])
    assert abs(as_cpu.reshape(4, 2, 2)[1:, 1] - apart[1][1:]).max() > 1e-3


# -- CTC -------------------------------------------------------------------------------------------


def spelled(path, blank, merge):
    kept = [c for i, c in enumerate(path) if not (merge and i and path[i - 1] == c)]
    return tuple(c for c in kept if c != blank)


def brute_force(x, labels, blank, merge=True):
    """−log of the sum over all paths, one by one."""
    p = np.exp(x) / np.exp(x).sum(1, keepdims=True)
    steps, classes = x.shape
    total = sum(
        np.prod(p[np.arange(steps), path])
        for path in itertools.product(range(classes), repeat=steps)
        if spelled(path, blank, merge) == tuple(labels)
    )
    return -np.log(total) if total else np.inf


SEQUENCES = [[1, 2], [1, 1], [2], [2, 1, 2]]
STEPS = [5, 4, 2, 5]


def ctc_inputs(classes=4, shift=0):
    x = RNG.standard_normal((5, 4, classes))
    indicators, labels = np.ones((5, 4)), np.full((5, 4), -1.0)
    indicators[0] = 0
    for n, (steps, sequence) in enumerate(zip(STEPS, SEQUENCES, strict=True)):
        indicators[steps:, n] = 0
        labels[: len(sequence), n] = np.array(sequence) - shift
    return x, indicators, labels


@pytest.mark.parametrize(
    ("param", "blank", "shift", "merge"),
    [
        ("blank_index: 0", 0, 0, True),
        ("", 3, 1, True),
        ("ctc_merge_repeated: false", 3, 1, False),
        ("preprocess_collapse_repeated: true", 3, 1, True),
    ],
)
def test_ctc_loss(param, blank, shift, merge):
    x, indicators, labels = ctc_inputs(shift=shift)

    def reference(x, *_):
        wanted = [np.array(s) - shift for s in SEQUENCES]
        if "collapse" in param:
            wanted[1] = wanted[1][:1]
        terms = [
            brute_force(x[:steps, n], sequence, blank, merge)
            for n, (steps, sequence) in enumerate(zip(STEPS, wanted, strict=True))
        ]
        return np.array(sum(terms) / 4)

    layer = f'type: "CTCLoss" ctc_loss_param {{ {param} }}'
    case = LayerCase(layer, [x, indicators, labels], reference=reference, bottoms=[])
    check_layer(case)
    gradient_of_the_sum(case, reference, x)


def gradient_of_the_sum(case, reference, x, step=1e-5):
    """The forks' gradient is that of the sum over the sequences, the value their mean."""
    run = LayerRun(case)
    run.forward()
    run.backward([np.array(0.5)], [True] + [False] * (len(case.inputs) - 1))
    gradient = run.bottom[0].blob.diff
    for place in list(np.ndindex(x.shape))[::7]:
        moved = np.zeros_like(x)
        moved[place] = step
        numeric = (reference(x + moved) - reference(x - moved)) * x.shape[1] / (2 * step)
        assert gradient[place] == pytest.approx(0.5 * numeric, abs=1e-6), place


def test_ctc_loss_without_a_path_is_infinite_and_pushes_everything_down():
    x = np.zeros((2, 1, 3))
    indicators, labels = np.array([[0.0], [1.0]]), np.array([[1.0], [1.0]])
    run = LayerRun(LayerCase('type: "CTCLoss"', [x, indicators, labels]))
    assert run.forward()[0] == np.inf
    run.backward([np.array(1.0)], [True, False, False])
    np.testing.assert_allclose(run.bottom[0].blob.diff, 1 / 3)


def test_ctc_loss_delay():
    x, indicators, labels = ctc_inputs()
    layer = 'type: "CTCLoss" ctc_loss_param { blank_index: 0 output_delay: 1 }'
    labels[:, 3] = [2, -1, -1, -1, -1]
    run = LayerRun(LayerCase(layer, [x, indicators, labels]))
    wanted = [*SEQUENCES[:3], [2]]
    terms = [
        brute_force(x[1:s, n], q, 0) for n, (s, q) in enumerate(zip(STEPS, wanted, strict=True))
    ]
    np.testing.assert_allclose(run.forward()[0], np.mean(terms))
    run.backward([np.array(1.0)], [True, False, False])
    assert (run.bottom[0].blob.diff[0] == 0).all()


def test_ctc_loss_leaves_out_empty_sequences():
    x, indicators, labels = ctc_inputs()
    indicators[1:, 0], labels[:, 0] = 0, -1
    run = LayerRun(
        LayerCase('type: "CTCLoss" ctc_loss_param { blank_index: 0 }', [x, indicators, labels])
    )
    terms = [brute_force(x[: STEPS[n], n], SEQUENCES[n], 0) for n in (1, 2, 3)]
    np.testing.assert_allclose(run.forward()[0], sum(terms) / 4)
    run.backward([np.array(1.0)], [True, False, False])
    assert (run.bottom[0].blob.diff[:, 0] == 0).all()


@pytest.mark.parametrize("label", [4.0, 9.0])
def test_ctc_refuses_unknown_labels(label):
    x, indicators, labels = ctc_inputs()
    labels[0, 0] = label
    run = LayerRun(LayerCase('type: "CTCLoss"', [x, indicators, labels]))
    with pytest.raises(NetError, match=f"label {label:g} is none of the 4 classes"):
        run.forward()


def test_ctc_refuses_more_labels_than_steps():
    x, indicators, labels = ctc_inputs()
    indicators[1:, 0] = 0
    run = LayerRun(
        LayerCase('type: "CTCLoss" ctc_loss_param { blank_index: 0 }', [x, indicators, labels])
    )
    with pytest.raises(NetError, match="fewer steps than labels"):
        run.forward()


ROWS = np.array([[1, 2, 0], [0, 1, 1], [2, 0, 0], [2, 1, 2]], float)
WARP = {
    'type: "CtcLoss" ctc_loss_param { alphabet_size: 4 time_step: 5 }': 2,
    'type: "WarpCTCLoss"': 2,
    'type: "WarpCTCLoss" ctc_loss_param { blank_index: 0 }': 3,
    'type: "WarpCTCLoss" ctc_loss_param { blank_index: 0 } ': 4,
}


@pytest.mark.parametrize("layer", WARP)
def test_warp_ctc(layer):
    x, indicators, labels = ctc_inputs()
    steps = STEPS if WARP[layer] > 2 else [5] * 4
    inputs = {
        2: [x, ROWS],
        3: [x, indicators, labels],
        4: [x, np.array(STEPS, float), np.array([2.0, 2, 1, 3]), labels],
    }[WARP[layer]]

    def reference(x, *_):
        pairs = enumerate(zip(steps, SEQUENCES, strict=True))
        return np.array(np.mean([brute_force(x[:s, n], q, 0) for n, (s, q) in pairs]))

    case = LayerCase(layer, inputs, reference=reference, bottoms=[])
    check_layer(case)
    gradient_of_the_sum(case, reference, x)


def test_warp_ctc_passes_over_labels_that_do_not_fit():
    x = RNG.standard_normal((2, 2, 3))
    labels = np.array([[1.0, 1.0], [1.0, 2.0]])
    layer = 'type: "CtcLoss" ctc_loss_param { alphabet_size: 3 time_step: 2 }'
    run = LayerRun(LayerCase(layer, [x, labels]))
    np.testing.assert_allclose(run.forward()[0], brute_force(x[:, 1], [1, 2], 0) / 2)
    run.backward([np.array(1.0)], [True, False])
    assert (run.bottom[0].blob.diff[:, 0] == 0).all()
    with pytest.raises(NetError, match="time_step 3"):
        LayerRun(LayerCase(layer.replace("time_step: 2", "time_step: 3"), [x, labels]))


# -- reading ---------------------------------------------------------------------------------------


def scores_of(paths, classes=5):
    x = np.zeros((len(paths[0]), len(paths), classes))
    for n, path in enumerate(paths):
        x[np.arange(len(path)), n, path] = 0.5 + np.arange(len(path))
    return x


PATHS = [[1, 1, 0, 1, 2, 4], [0, 0, 3, 3, 3, 4]]


def test_greedy_decoder_alone_has_its_blank_first():
    run = LayerRun(LayerCase('type: "CTCGreedyDecoder"', [scores_of(PATHS)]))
    expected = [[1, 1, 2, 4, -1, -1], [3, 4, -1, -1, -1, -1]]
    np.testing.assert_array_equal(run.forward()[0][:, :, 0, 0], expected)


def test_greedy_decoder_with_indicators():
    indicators = np.ones((6, 2))
    indicators[0] = indicators[4:, 1] = 0
    targets = np.full((6, 2), -1.0)
    targets[:3, 0], targets[:2, 1] = [1, 1, 2], [0, 2]
    layer = 'type: "CTCGreedyDecoder"'
    run = LayerRun(LayerCase(layer, [scores_of(PATHS), indicators, targets], tops=3))
    sequences, scores, accuracy = run.forward()
    expected = [[1, 0, 1, 2, -1, -1], [0, 3, -1, -1, -1, -1]]
    np.testing.assert_array_equal(sequences[:, :, 0, 0], expected)
    np.testing.assert_array_equal(scores.ravel(), [-18, -8])
    np.testing.assert_allclose(accuracy.ravel(), 1 - (1 / 4 + 1 / 2) / 2)
    run = LayerRun(
        LayerCase(f"{layer} ctc_decoder_param {{ ctc_merge_repeated: false }}", run.inputs[:2])
    )
    np.testing.assert_array_equal(run.forward()[0][1, :, 0, 0], [0, 0, 3, 3, -1, -1])


def test_greedy_decoder_with_labels():
    labels = np.array([[1.0, 1, 2, 4], [3, 3, 0, 0]])
    run = LayerRun(LayerCase('type: "CTCGreedyDecoder"', [scores_of(PATHS), labels]))
    np.testing.assert_allclose(run.forward()[0].ravel(), [1 - (0 + 1 / 2) / 2, 0.5])


def test_label_sequence_accuracy():
    x = scores_of(PATHS).swapaxes(0, 1)
    layer = 'type: "LabelsequenceAccuracy"'
    labels = np.array([[1.0, 1, 2, 4], [3, 3, 0, 0]])
    assert LayerRun(LayerCase(layer, [x, labels])).forward()[0] == 0.5
    labels[1] = [0, 3, 0, 4]
    assert LayerRun(LayerCase(layer, [x, labels])).forward()[0] == 1


def test_continuation_indicator():
    layer = (
        'type: "ContinuationIndicator" continuation_indicator_param { time_step: 3 batch_size: 2 }'
    )
    run = LayerRun(LayerCase(layer, []))
    np.testing.assert_array_equal(run.forward()[0], [[0, 0], [1, 1], [1, 1]])


# -- DenseBlock ------------------------------------------------------------------------------------


def dense_block(more=""):
    gaussian = '{ type: "gaussian" std: 0.5 }'
    return f"""type: "DenseBlock" denseblock_param {{ numTransition: 2 initChannel: 3 growthRate: 2
        Filter_Filler {gaussian} BN_Scaler_Filler {gaussian} BN_Bias_Filler {gaussian} {more} }}"""


def unit(x, filters, scale, shift):
    """BatchNorm with the unbiased variance, ReLU, and a convolution that keeps the size."""
    mean, variance = x.mean((0, 2, 3), keepdims=True), x.var((0, 2, 3), keepdims=True, ddof=1)
    a = np.maximum(scale * (x - mean) / np.sqrt(variance + np.float32(1e-5)) + shift, 0)
    k = filters.shape[2]
    padded = np.pad(a, [(0, 0), (0, 0), (k // 2,) * 2, (k // 2,) * 2])
    windows = np.lib.stride_tricks.sliding_window_view(padded, (k, k), axis=(2, 3))
    return np.einsum("nchwij,mcij->nmhw", windows, filters)


@pytest.mark.parametrize("bottleneck", [False, True])
def test_dense_block(bottleneck):
    case = LayerCase(
        dense_block("use_BC: true" if bottleneck else ""), [(3, 3, 4, 3)], tolerance=1e-5
    )
    run = LayerRun(case)
    blobs = [blob.data.copy() for blob in run.layer.blobs]
    assert len(blobs) == (21 if bottleneck else 11)
    y = run.inputs[0]
    for t in range(2):
        first = (blobs[2 + t], blobs[4 + t])
        if bottleneck:
            out = unit(unit(y, blobs[10 + t], *first), blobs[t], blobs[12 + t], blobs[14 + t])
        else:
            out = unit(y, blobs[t], *first)
        y = np.concatenate([y, out], axis=1)
    np.testing.assert_allclose(run.forward()[0], y, atol=1e-9)
    learned = [i for i, spec in enumerate(run.layer.layer_param.param) if spec.lr_mult]
    assert learned == [*range(6), *(range(10, 16) if bottleneck else ())]
    check_layer(LayerCase(case.layer, case.inputs, tolerance=1e-4))


def test_dense_block_remembers_statistics_for_test():
    x = RNG.standard_normal((4, 3, 5, 5)) + 2
    run = LayerRun(LayerCase(dense_block("moving_average_fraction: 0"), [x]))
    trained = run.forward()[0]
    np.testing.assert_allclose(run.layer.blobs[6].data.ravel(), x.mean((0, 2, 3)))
    assert run.layer.blobs[10].data[0] == 1
    fill = [blob.data.copy() for blob in run.layer.blobs]
    case = LayerCase(dense_block(), [x], phase="TEST", fill=fill)
    np.testing.assert_allclose(LayerRun(case).forward()[0], trained)
    check_layer(LayerCase(dense_block(), [x[:2, :, :3, :3]], phase="TEST", fill=fill, params=False))


def test_dense_block_drops_out():
    run = LayerRun(LayerCase(dense_block("use_dropout: true dropout_amount: 0.5"), [(4, 3, 6, 6)]))
    y = run.forward()[0]
    assert 0.3 < (y[:, 3:] == 0).mean() < 0.7
    check_layer(
        LayerCase(
            dense_block("use_dropout: true dropout_amount: 0.5"),
            [(2, 3, 3, 3)],
            params=False,
            tolerance=1e-4,
        )
    )


def test_dense_block_refuses_other_sizes():
    with pytest.raises(NetError, match="must keep the size"):
        LayerRun(LayerCase(dense_block("pad_h: 0"), [(2, 3, 5, 5)]))
    run = LayerRun(LayerCase(dense_block(), [(2, 4, 5, 5)]))
    assert run.top[0].shape == (2, 8, 5, 5)  # the bottom's channels count, not initChannel
    run.bottom[0].blob.reshape(2, 3, 5, 5)
    with pytest.raises(NetError, match="its filters are for 4 channels"):
        run.layer.reshape(run.bottom, run.top)


@pytest.mark.parametrize(
    ("layer", "inputs"),
    [
        ('type: "WarpCTCLoss"', [(5, 4, 3), (3, 2)]),
        ('type: "CTCLoss"', [(5, 4, 3), (5, 4), (5, 3)]),
        ('type: "CTCGreedyDecoder"', [(5, 4, 3), (3, 2)]),
        ('type: "LabelsequenceAccuracy"', [(4, 5, 3), (3, 2)]),
    ],
)
def test_labels_of_other_sequences_are_refused_at_once(layer, inputs):
    with pytest.raises(NetError, match=r"labels must be .* for 4 sequences"):
        LayerRun(LayerCase(layer, inputs))

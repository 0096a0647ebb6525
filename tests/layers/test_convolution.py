import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.layers import convolution
from pycaffe_dist.testing import LayerCase, LayerRun, check_layer

FILLERS = 'weight_filler { type: "gaussian" } bias_filler { type: "gaussian" }'


def conv(settings, kind="Convolution"):
    return f'type: "{kind}" convolution_param {{ {settings} {FILLERS} }}'


def pairs(value, axes):
    return (value,) * axes if isinstance(value, int) else value


def correlate(x, w, b, stride=1, pad=0, dilation=1, group=1):
    """Convolution as a loop over outputs and groups."""
    axes = x.ndim - 2
    stride, pad, dilation = (pairs(v, axes) for v in (stride, pad, dilation))
    padded = np.pad(x, [(0, 0), (0, 0), *[(p, p) for p in pad]])
    extent = [d * (k - 1) + 1 for d, k in zip(dilation, w.shape[2:], strict=True)]
    out = [(n - e) // s + 1 for n, e, s in zip(padded.shape[2:], extent, stride, strict=True)]
    y = np.zeros((len(x), len(w), *out))
    ins, outs = x.shape[1] // group, len(w) // group
    for o in np.ndindex(*out):
        at = [
            slice(i * s, i * s + e, d)
            for i, s, e, d in zip(o, stride, extent, dilation, strict=True)
        ]
        for g in range(group):
            patch = padded[(slice(None), slice(g * ins, (g + 1) * ins), *at)]
            weights = w[g * outs : (g + 1) * outs]
            every = list(range(1, patch.ndim))
            y[(slice(None), slice(g * outs, (g + 1) * outs), *o)] = np.tensordot(
                patch, weights, (every, every)
            )
    return y + (0 if b is None else b.reshape(-1, *[1] * axes))


def transposed(x, w, b, stride=1, pad=0, dilation=1, group=1):
    """Deconvolution as a loop over inputs: each paints its kernel."""
    axes = x.ndim - 2
    stride, pad, dilation = (pairs(v, axes) for v in (stride, pad, dilation))
    extent = [d * (k - 1) + 1 for d, k in zip(dilation, w.shape[2:], strict=True)]
    size = [s * (n - 1) + e for s, n, e in zip(stride, x.shape[2:], extent, strict=True)]
    ins, outs = x.shape[1] // group, w.shape[1]
    y = np.zeros((len(x), outs * group, *size))
    for i in np.ndindex(*x.shape[2:]):
        at = [
            slice(j * s, j * s + e, d)
            for j, s, e, d in zip(i, stride, extent, dilation, strict=True)
        ]
        for g in range(group):
            values = x[(slice(None), slice(g * ins, (g + 1) * ins), *i)]
            painted = np.tensordot(values, w[g * ins : (g + 1) * ins], 1)
            y[(slice(None), slice(g * outs, (g + 1) * outs), *at)] += painted
    cut = [slice(p, n - p) for p, n in zip(pad, size, strict=True)]
    y = y[(slice(None), slice(None), *cut)]
    return y + (0 if b is None else b.reshape(-1, *[1] * axes))


def with_parameters(layer, shape, reference):
    """A case whose reference gets the layer's own weights and bias."""
    blobs = [blob.data.copy() for blob in LayerRun(LayerCase(layer, [shape])).layer.blobs]
    weights, bias = blobs[0], blobs[1] if len(blobs) > 1 else None
    return LayerCase(layer, [shape], reference=lambda x: reference(x, weights, bias), fill=blobs)


CASES = [
    ("num_output: 4 kernel_size: 3 stride: 2", (2, 3, 6, 4), {"stride": 2}),
    ("num_output: 3 kernel_size: 3 stride: 2 pad: 1", (2, 2, 5, 6), {"stride": 2, "pad": 1}),
    ("num_output: 6 kernel_size: 3 group: 3 pad: 1", (2, 3, 5, 4), {"pad": 1, "group": 3}),
    ("num_output: 4 kernel_size: 2 group: 4", (3, 4, 3, 4), {"group": 4}),
    ("num_output: 8 kernel_size: 2 group: 4", (2, 4, 3, 4), {"group": 4}),
    ("num_output: 3 kernel_size: 3 dilation: 2 pad: 1", (1, 2, 7, 6), {"dilation": 2, "pad": 1}),
    ("num_output: 4 kernel_size: 1", (3, 3, 4, 2), {}),
    ("num_output: 4 kernel_size: 1 stride: 2", (2, 3, 4, 5), {"stride": 2}),
    ("num_output: 4 kernel_size: 1 pad: 1", (2, 2, 3, 4), {"pad": 1}),
    ("num_output: 3 kernel_size: 3 bias_term: false", (2, 2, 4, 4), {}),
    (
        "num_output: 2 kernel_h: 3 kernel_w: 2 stride_h: 2 stride_w: 1 pad_h: 1 pad_w: 0",
        (2, 2, 5, 4),
        {"stride": (2, 1), "pad": (1, 0)},
    ),
    ("num_output: 2 kernel_size: 2 pad_w: 2", (1, 2, 4, 5), {"pad": (0, 2)}),
    (
        "num_output: 2 kernel_size: 3 kernel_size: 2 stride: 1 stride: 2 dilation: 1 dilation: 2",
        (1, 2, 5, 6),
        {"stride": (1, 2), "dilation": (1, 2)},
    ),
    ("num_output: 3 kernel_size: 3 stride: 2 pad: 1", (2, 2, 9), {"stride": 2, "pad": 1}),
    ("num_output: 2 kernel_size: 2 pad: 1", (1, 2, 2, 3, 2), {"pad": 1}),
    ("num_output: 2 kernel_size: 2 dilation: 2", (1, 2, 4, 3, 4), {"dilation": 2}),
]


@pytest.mark.parametrize(("settings", "shape", "layout"), CASES)
def test_convolution(settings, shape, layout):
    check_layer(
        with_parameters(conv(settings), shape, lambda x, w, b: correlate(x, w, b, **layout))
    )


@pytest.mark.parametrize(("settings", "shape", "layout"), CASES)
def test_deconvolution(settings, shape, layout):
    layer = conv(settings, "Deconvolution")
    check_layer(with_parameters(layer, shape, lambda x, w, b: transposed(x, w, b, **layout)))


@pytest.mark.parametrize("kind", ["Convolution", "Deconvolution"])
@pytest.mark.parametrize(
    ("workspace", "columns", "values"),
    [(1, 1, 1), (3000, 1, 1), (1 << 20, 40, 1), (2500, 1 << 20, 1), (1 << 20, 1, 400)],
)
@pytest.mark.parametrize("settings", ["kernel_size: 3 stride: 2 pad: 1 group: 2", "kernel_size: 1"])
def test_pieces_make_the_whole(monkeypatch, kind, workspace, columns, values, settings):
    case = LayerCase(conv(f"num_output: 4 {settings}", kind), [(5, 6, 7, 4)])

    def results():
        run = LayerRun(case)
        y = run.forward()[0]
        gy = np.random.default_rng(0).standard_normal(y.shape)
        run.backward([gy], [True])
        return [y, run.bottom[0].blob.diff, *[blob.diff for blob in run.layer.blobs]]

    whole = results()
    monkeypatch.setattr(convolution, "WORKSPACE", workspace)
    monkeypatch.setattr(convolution, "COLUMNS", columns)
    monkeypatch.setattr(convolution, "VALUES", values)
    for got, want in zip(results(), whole, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", ["Convolution", "Deconvolution"])
def test_no_spatial_axes_is_an_inner_product(kind):
    layer = conv("num_output: 4 kernel_size: 1 axis: 1", kind)
    swap = (lambda w: w.T) if kind == "Convolution" else (lambda w: w)
    case = with_parameters(layer, (3, 5), lambda x, w, b: x @ swap(w) + b)
    assert case.fill[0].shape == ((4, 5) if kind == "Convolution" else (5, 4))
    check_layer(case)


def test_no_kernel_size_is_needed_without_spatial_axes():
    run = LayerRun(LayerCase(conv("num_output: 4 axis: 3"), [(2, 3, 6, 5)]))
    assert run.forward()[0].shape == (2, 3, 6, 4)


def test_axes_before_the_channels_are_images():
    x = np.random.default_rng(0).standard_normal((2, 3, 4, 5, 4))
    run = LayerRun(LayerCase(conv("num_output: 2 kernel_size: 3 axis: -3"), [x]))
    w, b = (blob.data for blob in run.layer.blobs)
    want = correlate(x.reshape(6, 4, 5, 4), w, b).reshape(2, 3, 2, 3, 2)
    np.testing.assert_allclose(run.forward()[0], want, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", ["Convolution", "Deconvolution"])
def test_several_bottoms_share_the_weights(kind):
    settings = "num_output: 3 kernel_size: 2 stride: 2"
    check_layer(LayerCase(conv(settings, kind), [(2, 2, 4, 3), (2, 2, 4, 3)], tops=2))


def test_force_nd_im2col_changes_nothing():
    settings = "num_output: 12 kernel_size: 5 kernel_size: 3 group: 6 pad: 1"
    results = []
    for extra in ("", " force_nd_im2col: true"):
        run = LayerRun(LayerCase(conv(settings + extra), [(3, 12, 9, 8)]), np.float32)
        y = run.forward()[0]
        run.backward([y], [True])
        results.append([y, run.bottom[0].blob.diff, *[b.diff for b in run.layer.blobs]])
    for plain, nd in zip(*results, strict=True):
        np.testing.assert_array_equal(plain, nd)


def test_sobel_is_two_passes():
    x = np.random.default_rng(0).standard_normal((2, 1, 6, 5))
    layer = 'type: "Convolution" convolution_param { num_output: 1 bias_term: false %s }'

    def run(settings, values, given):
        values = np.array(values, float).reshape(1, 1, *np.shape(values))
        return LayerRun(LayerCase(layer % settings, [given], fill=[values])).forward()[0]

    whole = run("kernel_size: 3", [[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]], x)
    column = run("kernel_h: 3 kernel_w: 1", [[1], [2], [1]], x)
    both = run("kernel_h: 1 kernel_w: 3", [[-1, 0, 1]], column)
    np.testing.assert_allclose(both, whole, atol=1e-12)


def test_deconvolution_of_ones():
    """Ones everywhere: a pixel is the bias and the number of kernels over it, times channels."""
    layer = 'type: "Deconvolution" convolution_param { num_output: 4 kernel_size: 3 stride: 2 }'
    fill = [np.ones((3, 4, 3, 3)), np.full(4, 0.1)]
    y = LayerRun(LayerCase(layer, [np.ones((2, 3, 6, 4))], fill=fill)).forward()[0]
    assert y.shape == (2, 4, 13, 9)
    twice_h = (np.arange(13) % 2 == 0) & (np.arange(13) > 0) & (np.arange(13) < 12)
    twice_w = (np.arange(9) % 2 == 0) & (np.arange(9) > 0) & (np.arange(9) < 8)
    want = 0.1 + 3.0 * np.outer(1 + twice_h, 1 + twice_w)
    np.testing.assert_allclose(y, np.broadcast_to(want, y.shape))


def test_deconvolution_is_the_transpose_of_convolution():
    settings = "kernel_size: 3 stride: 2 pad: 1 group: 2 bias_term: false"
    down = LayerRun(LayerCase(conv(f"num_output: 4 {settings}"), [(2, 6, 7, 5)]))
    x, y = down.inputs[0], down.forward()[0]
    weights = down.layer.blobs[0].data
    z = np.random.default_rng(3).standard_normal(y.shape)
    up = LayerRun(
        LayerCase(conv(f"num_output: 6 {settings}", "Deconvolution"), [z], fill=[weights])
    )
    np.testing.assert_allclose(np.vdot(y, z), np.vdot(x, up.forward()[0]))


def test_no_filler_is_zeros():
    layer = 'type: "Convolution" convolution_param { num_output: 2 kernel_size: 1 }'
    assert not LayerRun(LayerCase(layer, [(1, 2, 3, 3)])).forward()[0].any()


def test_a_kernel_too_large_by_less_than_a_stride_still_has_one_window():
    run = LayerRun(LayerCase(conv("num_output: 1 kernel_size: 3 stride: 2"), [(1, 1, 2, 2)]))
    w, b = (blob.data for blob in run.layer.blobs)
    want = np.vdot(run.inputs[0][0, 0], w[0, 0, :2, :2]) + b[0]
    np.testing.assert_allclose(run.forward()[0], [[[[want]]]])
    check_layer(run.case)


def test_parameters_that_do_not_learn_get_no_gradient():
    run = LayerRun(LayerCase(conv("num_output: 2 kernel_size: 2"), [(1, 1, 3, 3)]))
    run.layer.param_propagate_down = [False, True]
    run.backward([run.forward()[0]], [False])
    assert not run.layer.blobs[0].diff.any()
    assert run.layer.blobs[1].diff.any()


def test_single_precision_stays_single():
    run = LayerRun(LayerCase(conv("num_output: 2 kernel_size: 2 pad: 1"), [(2, 2, 3, 3)]), "f4")
    y = run.forward()[0]
    run.backward([y], [True])
    w, b = (blob.data.astype("f8") for blob in run.layer.blobs)
    np.testing.assert_allclose(y, correlate(run.inputs[0].astype("f8"), w, b, pad=1), rtol=1e-5)
    assert {y.dtype, run.bottom[0].blob.diff.dtype, run.layer.blobs[0].diff.dtype} == {y.dtype}


def test_the_batch_may_change_and_be_empty():
    run = LayerRun(LayerCase(conv("num_output: 2 kernel_size: 2"), [(2, 3, 4, 4)]))
    for count in (3, 0, 1):
        run.bottom[0].blob.reshape(count, 3, 4, 4)
        run.layer.run_forward(run.bottom, run.top)
        run.layer.backward(run.top, [True], run.bottom)
        assert run.top[0].shape == (count, 2, 3, 3)


def test_flops_are_two_for_each_multiplication():
    down = LayerRun(LayerCase(conv("num_output: 4 kernel_size: 3 group: 2"), [(2, 6, 5, 4)]))
    assert down.layer.flops(down.bottom, down.top) == 2 * (2 * 4 * 3 * 2) * (3 * 9)
    up = LayerRun(LayerCase(conv("num_output: 4 kernel_size: 3", "Deconvolution"), [(2, 6, 5, 4)]))
    assert up.layer.flops(up.bottom, up.top) == 2 * (2 * 6 * 5 * 4) * (4 * 9)


@pytest.mark.parametrize(
    ("settings", "shape", "message"),
    [
        ("kernel_size: 3", (1, 3, 5, 5), "num_output must be above 0"),
        ("num_output: 3 group: 2 kernel_size: 3", (1, 4, 5, 5), "num_output 3 .* group 2"),
        ("num_output: 4 group: 2 kernel_size: 3", (1, 3, 5, 5), "3 channels .* group 2"),
        ("num_output: 4 group: 0 kernel_size: 3", (1, 3, 5, 5), "group 0"),
        ("num_output: 1", (1, 3, 5, 5), "kernel_size once.*2 spatial axes; found 0"),
        ("num_output: 1 kernel_size: [1, 2, 3]", (1, 3, 5, 5), "found 3"),
        ("num_output: 1 kernel_size: 1 stride: [1, 2, 3]", (1, 3, 5, 5), "stride once"),
        ("num_output: 1 kernel_size: 1 pad: [1, 2, 3]", (1, 3, 5, 5), "pad once"),
        ("num_output: 1 kernel_size: 1 dilation: [1, 2, 3]", (1, 3, 5, 5), "dilation once"),
        (
            "num_output: 1 kernel_size: 3 kernel_h: 3",
            (1, 3, 5, 5),
            "either kernel_size or kernel_h",
        ),
        ("num_output: 1 kernel_h: 3 kernel_w: 3", (1, 3, 5), "kernel_w are for 2 spatial axes"),
        ("num_output: 1 kernel_h: 3", (1, 3, 5, 5), "side of 0"),
        ("num_output: 1 kernel_size: 0", (1, 3, 5, 5), "side of 0"),
        ("num_output: 1 kernel_size: 3 stride_h: 2", (1, 3, 5, 5), "step of 0"),
        ("num_output: 1 kernel_size: 3 stride: 0", (1, 3, 5, 5), "step of 0"),
        ("num_output: 1 kernel_size: 1 stride: 2 stride_h: 2", (1, 3, 5, 5), "either stride or"),
        ("num_output: 1 kernel_size: 1 pad: 2 pad_w: 2", (1, 3, 5, 5), "either pad or pad_h"),
        ("num_output: 1 kernel_size: 6", (1, 3, 5, 5), "leaves no output .*5, 5"),
        ("num_output: 1 kernel_size: 1 axis: 4", (1, 3, 5, 5), "axis 4 is out of range"),
    ],
)
def test_bad_settings(settings, shape, message):
    with pytest.raises(NetError, match=message):
        LayerRun(LayerCase(conv(settings), [shape]))


def test_bad_shapes():
    with pytest.raises(NetError, match="takes as many tops as bottoms"):
        LayerRun(LayerCase(conv("num_output: 1 kernel_size: 1"), [(1, 1, 2, 2)] * 2))
    with pytest.raises(NetError, match="the bottoms differ"):
        LayerRun(
            LayerCase(conv("num_output: 1 kernel_size: 1"), [(1, 1, 2, 2), (1, 1, 3, 2)], tops=2)
        )
    run = LayerRun(LayerCase(conv("num_output: 1 kernel_size: 1"), [(1, 3, 2, 2)]))
    for shape, message in (((1, 4, 2, 2), "for 3 channels"), ((1, 3, 2), "set up for 4 axes")):
        run.bottom[0].blob.reshape(*shape)
        with pytest.raises(NetError, match=message):
            run.layer.run_forward(run.bottom, run.top)
    with pytest.raises(NetError, match="leaves no output"):
        LayerRun(
            LayerCase(conv("num_output: 1 kernel_size: 1 pad: 1", "Deconvolution"), [(1, 3, 2, 2)])
        )

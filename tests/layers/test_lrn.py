import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.layers import windows
from pycaffe_dist.testing import LayerCase, LayerRun, check_layer


def lrn(settings):
    return f'type: "LRN" lrn_param {{ {settings} }}'


def across(size, alpha=1.0, beta=0.75, k=1.0):
    def reference(x):
        y = np.empty_like(x)
        for c in range(x.shape[1]):
            near = x[:, max(0, c - size // 2) : c + size // 2 + 1]
            y[:, c] = x[:, c] * (k + alpha / size * (near**2).sum(axis=1)) ** -beta
        return y

    return reference


def within(size, alpha=1.0, beta=0.75):
    def reference(x):
        y = np.empty_like(x)
        r = size // 2
        for h, w in np.ndindex(*x.shape[2:]):
            near = x[:, :, max(0, h - r) : h + r + 1, max(0, w - r) : w + r + 1]
            total = (near**2).sum(axis=(2, 3))
            y[..., h, w] = x[..., h, w] * (1 + alpha / size**2 * total) ** -beta
        return y

    return reference


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ("", across(5)),
        ("local_size: 15", across(15)),
        ("local_size: 1 alpha: 2", across(1, alpha=2.0)),
        ("local_size: 3 alpha: 1.5 beta: 0.5 k: 2", across(3, 1.5, 0.5, 2.0)),
        ("local_size: 3 beta: 1", across(3, beta=1.0)),
        ("local_size: 3 beta: 0", across(3, beta=0.0)),
    ],
)
def test_across_channels(settings, expected):
    case = LayerCase(
        lrn(settings),
        [(2, 7, 3, 3)],
        reference=expected,
        ignores_propagate_down=True,
        in_place=True,
    )
    check_layer(case)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ("local_size: 3", within(3)),
        ("local_size: 3 k: 9", within(3)),  # k is not used
        ("local_size: 5 alpha: 2 beta: 0.5", within(5, 2.0, 0.5)),
        ("local_size: 15", within(15)),
        ("local_size: 1", within(1)),
    ],
)
def test_within_channel(settings, expected):
    layer = lrn(f"{settings} norm_region: WITHIN_CHANNEL")
    check_layer(LayerCase(layer, [(2, 2, 4, 3)], reference=expected, in_place=True))


@pytest.mark.parametrize(
    ("region", "written"), [("ACROSS_CHANNELS", True), ("WITHIN_CHANNEL", False)]
)
def test_across_writes_a_gradient_nobody_asked_for(region, written):
    run = LayerRun(LayerCase(lrn(f"norm_region: {region}"), [(1, 3, 2, 2)]))
    run.backward([run.forward()[0]], [False])
    assert run.bottom[0].blob.diff.any() == written


@pytest.mark.parametrize("region", ["ACROSS_CHANNELS", "WITHIN_CHANNEL"])
def test_images_in_batches_are_the_whole(monkeypatch, region):
    case = LayerCase(lrn(f"norm_region: {region}"), [(5, 3, 4, 4)])

    def results():
        run = LayerRun(case, np.float32)
        y = run.forward()[0]
        run.backward([y], [True])
        return y, run.bottom[0].blob.diff

    whole = results()
    monkeypatch.setattr(windows, "CACHED", 100)
    for got, want in zip(results(), whole, strict=True):
        assert got.dtype == np.float32
        np.testing.assert_array_equal(got, want)


def test_the_batch_may_change():
    run = LayerRun(LayerCase(lrn(""), [(2, 3, 4, 4)]))
    for count in (3, 0, 1):
        run.bottom[0].blob.reshape(count, 3, 4, 4)
        run.layer.run_forward(run.bottom, run.top)
        run.layer.backward(run.top, [True], run.bottom)
        assert run.top[0].shape == (count, 3, 4, 4)


def test_errors():
    with pytest.raises(NetError, match="local_size must be odd, found 4"):
        LayerRun(LayerCase(lrn("local_size: 4"), [(1, 3, 2, 2)]))
    with pytest.raises(NetError, match=r"needs a bottom \(N, C, H, W\), found \(1, 3, 2\)"):
        LayerRun(LayerCase(lrn(""), [(1, 3, 2)]))

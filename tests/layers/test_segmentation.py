"""Layers of segmentation nets: references, gradients by differences, and what is refused."""

import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.testing import LayerCase, LayerRun, check_layer


@pytest.mark.parametrize(
    ("setting", "size"),
    [
        ("height: 9 width: 3", (9, 3)),
        ("zoom_factor: 3", (13, 16)),
        ("shrink_factor: 2", (3, 3)),
        ("shrink_factor: 2 zoom_factor: 2", (5, 5)),
        ("zoom_factor: 2 height: 4 width: 4", (9, 11)),
        ("shrink_factor: 2 zoom_factor: 2 height: 4 width: 7", (4, 7)),
        ("full_zoom_factor: 2", (10, 12)),
        ("height: 4 width: 4 pad_beg: -1 pad_end: -2", (4, 4)),
        ("height: 1 width: 1", (1, 1)),
    ],
)
def test_interp(setting, size):
    """Each output stands on a line between the outermost pixels; gradients go the same way."""

    def reference(x):
        if "pad" in setting:
            x = x[:, :, 1:-2, 1:-2]
        h, w = x.shape[2:]
        rows, columns = (
            np.float32(n - 1) / np.float32(max(m - 1, 1)) * np.arange(m, dtype=np.float32)
            for n, m in zip((h, w), size, strict=True)
        )
        out = np.empty((*x.shape[:2], *size))
        for i, a in enumerate(rows):
            for j, b in enumerate(columns):
                y, x_ = int(a), int(b)
                y1, x1 = min(y + 1, h - 1), min(x_ + 1, w - 1)
                top = x[:, :, y, x_] * (1 - (b - x_)) + x[:, :, y, x1] * (b - x_)
                low = x[:, :, y1, x_] * (1 - (b - x_)) + x[:, :, y1, x1] * (b - x_)
                out[:, :, i, j] = top * (1 - (a - y)) + low * (a - y)
        return out

    run = LayerRun(LayerCase(f'type: "Interp" interp_param {{ {setting} }}', [(2, 3, 5, 6)]))
    np.testing.assert_allclose(run.forward()[0], reference(run.inputs[0]), atol=1e-6)
    check_layer(LayerCase(f'type: "Interp" interp_param {{ {setting} }}', [(2, 3, 5, 6)]))


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("", "give height and width, zoom_factor, shrink_factor or full_zoom_factor"),
        ("height: 3", "give height and width"),
        ("zoom_factor: 0", "zoom_factor must be above 0"),
        ("zoom_factor: 2 pad_beg: 1", "cut off"),
        ("zoom_factor: 2 pad_beg: -3 pad_end: -2", "leave nothing"),
    ],
)
def test_interp_refuses(setting, message):
    with pytest.raises(NetError, match=message):
        LayerRun(LayerCase(f'type: "Interp" interp_param {{ {setting} }}', [(1, 1, 5, 5)]))


PSP = 'type: "BN" bn_param { slope_filler { value: 1.5 } bias_filler { value: 0.3 } %s }'
SEGNET = 'type: "BN" bn_param { scale_filler { value: 1.5 } shift_filler { value: 0.3 } %s }'


class TestBN:
    @pytest.mark.parametrize("layer", [PSP % "", SEGNET % "", SEGNET % "bn_mode: INFERENCE"])
    def test_gradients(self, layer):
        """By differences, in place too; running statistics are not learned."""
        fill = [np.array([0.7, -1.2, 2]).reshape(1, 3, 1, 1), np.full((1, 3, 1, 1), 0.4)]
        check_layer(
            LayerCase(
                layer,
                [(4, 3, 2, 3)],
                fill=fill,
                in_place=True,
                params="slope" not in layer,
                tolerance=1e-5,
            )
        )

    def test_psp_parameters_learn(self):
        run = LayerRun(LayerCase(PSP % "", [(4, 3, 2, 3)]))
        y = run.forward()[0]
        gy = np.random.default_rng(0).normal(size=y.shape)
        run.backward([gy], [True])
        normal = (y - np.float32(0.3)) / 1.5
        slope, bias, mean, variance = (blob.diff.reshape(-1) for blob in run.layer.blobs)
        np.testing.assert_allclose(slope, (gy * normal).sum(axis=(0, 2, 3)), rtol=1e-6)
        np.testing.assert_allclose(bias, gy.sum(axis=(0, 2, 3)))
        assert not mean.any() and not variance.any()
        assert [spec.lr_mult for spec in run.layer.layer_param.param] == [1, 1, 0, 0]
        assert [run.layer.gives_gradient(i) for i in range(4)] == [True, True, False, False]

    def test_psp_keeps_the_biased_variance(self):
        run = LayerRun(LayerCase(PSP % "momentum: 0.5", [(4, 3, 2, 3)]))
        x = run.inputs[0]
        run.forward()
        np.testing.assert_allclose(run.layer.blobs[2].data[0, :, 0, 0], x.mean((0, 2, 3)) / 2)
        np.testing.assert_allclose(run.layer.blobs[3].data[0, :, 0, 0], x.var((0, 2, 3)) / 2)

    @pytest.mark.parametrize("case", ["TEST", "frozen"])
    def test_psp_uses_what_it_kept(self, case):
        """In TEST, and when frozen, in which case slope and bias do not learn either."""
        frozen = case == "frozen"
        layer = PSP % ("frozen: true" if frozen else "")
        phase = "TRAIN" if frozen else "TEST"
        run = LayerRun(LayerCase(layer, [(4, 3, 2, 3)], phase=phase))
        run.layer.blobs[2].data[...] = 0.25
        run.layer.blobs[3].data[...] = 4
        y = run.forward()[0]
        np.testing.assert_allclose(
            y, 1.5 * (run.inputs[0] - 0.25) / np.sqrt(4 + 1e-5) + 0.3, rtol=1e-6
        )
        run.backward([np.ones_like(y)], [True])
        np.testing.assert_allclose(run.bottom[0].blob.diff, 1.5 / np.sqrt(4 + 1e-5), rtol=1e-6)
        assert bool(run.layer.blobs[0].diff.any()) is not frozen

    def test_segnet_tells_its_statistics(self):
        run = LayerRun(LayerCase(SEGNET % "", [(4, 3, 2, 3)], tops=3, phase="TEST"))
        _, mean, variance = run.forward()
        x = run.inputs[0]
        np.testing.assert_allclose(mean, x.mean((0, 2, 3)).reshape(1, 3, 1, 1), atol=1e-12)
        np.testing.assert_allclose(variance, x.var((0, 2, 3)).reshape(1, 3, 1, 1))

    @pytest.mark.parametrize("mode", ["LEARN", "INFERENCE"])
    def test_segnets_top_has_four_axes(self, mode):
        run = LayerRun(LayerCase(SEGNET % f"bn_mode: {mode}", [(4, 3)]))
        x, y = run.inputs[0], run.forward()[0]
        assert y.shape == (4, 3, 1, 1)
        normal = x if mode == "INFERENCE" else (x - x.mean(0)) / np.sqrt(x.var(0) + 1e-9)
        np.testing.assert_allclose(y[..., 0, 0], normal * 1.5 + 0.3, rtol=1e-6)
        run.backward([np.ones(y.shape)], [True])
        assert run.bottom[0].blob.diff.shape == (4, 3)


MASK = np.array([[0, 3], [11, 14]]) + np.zeros((2, 3, 1, 1))


class TestUpsample:
    @pytest.mark.parametrize(
        ("setting", "shape"),
        [
            ("", (4, 4)),
            ("scale: 3", (6, 6)),
            ("upsample_h: 5 upsample_w: 3", (5, 3)),
            ("scale_h: 2 scale_w: 4", (4, 8)),
        ],
    )
    def test_segnets_puts_values_where_the_mask_says(self, setting, shape):
        def reference(x, mask):
            out = np.zeros((2, 3, shape[0] * shape[1]))
            np.put_along_axis(out, mask.reshape(2, 3, -1).astype(int), x.reshape(2, 3, -1), 2)
            return out.reshape(2, 3, *shape)

        layer = f'type: "Upsample" bottom: "x" bottom: "mask" upsample_param {{ {setting} }}'
        check_layer(LayerCase(layer, [(2, 3, 2, 2), MASK], reference=reference))

    def test_segnets_pads(self):
        setting = "scale: 2 pad_out_h: true"
        layer = f'type: "Upsample" bottom: "x" bottom: "mask" upsample_param {{ {setting} }}'
        run = LayerRun(LayerCase(layer, [(2, 3, 2, 2), np.zeros((2, 3, 2, 2))]))
        assert run.forward()[0].shape == (2, 3, 3, 4)

    def test_a_mask_of_another_size_is_told(self):
        layer = 'type: "Upsample" bottom: "x" bottom: "mask"'
        run = LayerRun(LayerCase(layer, [(2, 3, 2, 2), MASK + 2]))
        with pytest.raises(
            NetError, match=r"the mask 16 at \(0, 0, 1, 1\) is not a pixel of the 4"
        ):
            run.forward()

    def test_yolos_repeats_pixels(self):
        check_layer(
            LayerCase(
                'type: "Upsample" bottom: "x" upsample_param { scale: 3 }',
                [(2, 3, 2, 4)],
                reference=lambda x: x.repeat(3, axis=2).repeat(3, axis=3),
            )
        )


class TestUnpooling:
    def test_max_with_a_mask(self):
        layer = 'type: "Unpooling" unpooling_param { kernel_size: 2 stride: 2 unpool_size: 4 }'
        check_layer(LayerCase(layer, [(2, 3, 2, 2), MASK]))

    @pytest.mark.parametrize("method", ["MAX", "AVE"])
    def test_without_a_mask(self, method):
        layer = f'type: "Unpooling" unpooling_param {{ unpool: {method} kernel_size: 3 stride: 2 }}'

        def reference(x):
            out = np.zeros((*x.shape[:2], 7, 9))
            for i in range(3):
                for j in range(4):
                    value = x[:, :, i, j, None, None]
                    if method == "MAX":
                        out[:, :, 2 * i, 2 * j] = x[:, :, i, j]
                    else:
                        out[:, :, 2 * i : 2 * i + 3, 2 * j : 2 * j + 3] += value / 9
            return out

        check_layer(LayerCase(layer, [(2, 3, 3, 4)], reference=reference))

    def test_windows_that_begin_behind_the_image_are_at_its_last_pixel(self):
        layer = 'type: "Unpooling" unpooling_param { kernel_size: 2 stride: 2 unpool_size: 3 }'
        run = LayerRun(LayerCase(layer, [(1, 1, 3, 3)]))
        x, y = run.inputs[0][0, 0], run.forward()[0][0, 0]
        np.testing.assert_array_equal(y[[0, 0, 2, 2], [0, 2, 0, 2]], x[[0, 0, 2, 2], [0, 2, 0, 2]])
        assert np.count_nonzero(y) == 4

    def test_tile_gives_back_the_mean(self):
        """Not the derivative of its sum, but what it was trained with."""
        setting = "unpool: TILE kernel_size: 2 stride: 2 unpool_size: 4"
        layer = f'type: "Unpooling" unpooling_param {{ {setting} }}'
        run = LayerRun(LayerCase(layer, [(1, 1, 2, 2)]))
        np.testing.assert_array_equal(run.forward()[0], run.inputs[0].repeat(2, 2).repeat(2, 3))
        run.backward([np.arange(16.0).reshape(1, 1, 4, 4)], [True])
        np.testing.assert_allclose(run.bottom[0].blob.diff[0, 0], [[2.5, 4.5], [10.5, 12.5]])


class TestSegAccuracy:
    SCORES = np.zeros((1, 3, 2, 2))
    SCORES[0, [2, 0, 0, 1], [0, 0, 1, 1], [0, 1, 0, 1]] = 1
    LABELS = np.array([2.0, 0, 1, 255]).reshape(1, 1, 2, 2)

    def run(self, **more):
        setting = " ".join(f"{k}: {v}" for k, v in more.items())
        layer = f'type: "SegAccuracy" seg_accuracy_param {{ ignore_label: 255 {setting} }}'
        return LayerRun(LayerCase(layer, [self.SCORES, self.LABELS], phase="TEST"))

    def test_the_three_measures(self):
        found = self.run().forward()[0]
        np.testing.assert_allclose(found.reshape(-1), [2 / 3, 2 / 3, (1 / 2 + 0 + 1) / 3])

    def test_of_equal_scores_the_last_class_counts(self):
        run = self.run()
        run.inputs[0][...] = 1
        np.testing.assert_allclose(run.forward()[0][0, 0, 0, 0], 1 / 3)

    def test_without_reset_passes_add_up(self):
        run = self.run(reset="false")
        run.forward()
        run.inputs[0][...] = 1
        np.testing.assert_allclose(run.forward()[0][0, 0, 0, 0], 3 / 6)
        other = self.run(reset="false")
        other.layer.set_state(run.layer.get_state())
        np.testing.assert_allclose(other.forward()[0][0, 0, 0, 0], 5 / 9)

    def test_a_label_that_is_no_class(self):
        run = self.run()
        run.inputs[1][0, 0, 1, 0] = 3
        with pytest.raises(NetError, match=r"label 3 at \(0, 0, 1, 0\) is none of the 3 classes"):
            run.forward()


def test_softmax_loss_with_class_weights():
    """Weighted in the sum, but not in what it is divided by."""
    weights = np.array([0.5, 2, 1])
    labels = np.array([0.0, 1, 2, 1, 255, 0]).reshape(2, 3)
    given = " ".join(f"class_weighting: {w}" for w in weights)
    layer = (
        'type: "SoftmaxWithLoss" loss_param { weight_by_label_freqs: true ignore_label: 255 '
        f"{given} }}"
    )

    def reference(x, labels):
        p = np.exp(x) / np.exp(x).sum(1, keepdims=True)
        known = np.where(labels == 255, 0, labels).astype(int)
        own = np.take_along_axis(p, known[:, None], 1)[:, 0]
        return -(np.log(own) * weights[known] * (labels != 255)).sum() / 5

    check_layer(LayerCase(layer, [(2, 3, 3), labels], reference=reference))
    with pytest.raises(NetError, match="3 class_weighting for 4 classes"):
        LayerRun(LayerCase(layer, [(2, 4, 3), labels]))


def test_an_upsample_without_a_mask_takes_a_scale_alone():
    layer = 'type: "Upsample" upsample_param { scale_h: 2 scale_w: 2 }'
    with pytest.raises(NetError, match="scale_h is for one with a mask"):
        LayerRun(LayerCase(layer, [(1, 2, 3, 3)]))


def test_class_weights_count_only_where_the_file_says_so():
    """As in SegNet, which reads class_weighting with weight_by_label_freqs alone."""
    weighted = 'type: "SoftmaxWithLoss" loss_param { class_weighting: [5, 2, 1] }'
    x, labels = np.random.default_rng(0).standard_normal((2, 3, 3)), np.ones((2, 3))
    runs = [LayerRun(LayerCase(layer, [x, labels])) for layer in (weighted, weighted[:23])]
    losses = [run.forward()[0] for run in runs]
    assert losses[0] == losses[1] > 0

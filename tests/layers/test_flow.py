"""Layers of optical flow and spatial transformers."""

import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.testing import LayerCase, LayerRun, check_layer


class TestCorrelation:
    LAYER = (
        'type: "Correlation" correlation_param { pad: %d kernel_size: %d max_displacement: %d %s }'
    )

    @staticmethod
    def reference(pad, k, most, s1, s2, join):
        def compute(a, b):
            wide = [(0, 0), (0, 0), (pad, pad + s1), (pad, pad + s1)]
            n, c, h, w = a.shape
            a, b = np.pad(a, wide), np.pad(b, wide)
            border = most + k // 2
            size = [int(np.ceil((x + 2 * pad - 2 * border) / s1)) for x in (h, w)]
            r = most // s2
            out = np.zeros((n, (2 * r + 1) ** 2, *size))
            for d, (dy, dx) in enumerate(np.ndindex(2 * r + 1, 2 * r + 1)):
                for i, j in np.ndindex(*size):
                    y, x = i * s1 + most, j * s1 + most
                    ahead, aside = y + (dy - r) * s2, x + (dx - r) * s2
                    first = a[:, :, y : y + k, x : x + k]
                    second = b[:, :, ahead : ahead + k, aside : aside + k]
                    out[:, d, i, j] = join(first, second).sum(axis=(1, 2, 3)) / (k * k * c)
            return out

        return compute

    @pytest.mark.parametrize(
        ("pad", "kernel", "most", "s1", "s2"), [(2, 1, 2, 1, 1), (3, 3, 2, 2, 2), (0, 1, 1, 1, 1)]
    )
    @pytest.mark.parametrize("kind", ["MULTIPLY", "SUBTRACT"])
    def test_by_a_loop(self, kind, pad, kernel, most, s1, s2):
        """Values of every window and displacement, and the gradients of both bottoms."""
        join = np.multiply if kind == "MULTIPLY" else lambda a, b: abs(a - b)
        more = f"stride_1: {s1} stride_2: {s2} correlation_type: {kind}"
        check_layer(
            LayerCase(
                self.LAYER % (pad, kernel, most, more),
                [(2, 2, 4, 5), (2, 2, 4, 5)],
                reference=self.reference(pad, kernel, most, s1, s2, join),
            )
        )

    def test_too_large_a_displacement(self):
        with pytest.raises(NetError, match="max_displacement 3 leaves nothing"):
            LayerRun(LayerCase(self.LAYER % (0, 1, 3, ""), [(1, 1, 4, 4), (1, 1, 4, 4)]))

    def test_an_even_kernel(self):
        with pytest.raises(NetError, match="kernel_size must be odd, found 2"):
            LayerRun(LayerCase(self.LAYER % (0, 2, 1, ""), [(1, 1, 4, 4), (1, 1, 4, 4)]))


class TestFlowWarp:
    FLOW = np.random.default_rng(5).uniform(-2.5, 2.5, (2, 2, 4, 5))

    def test_a_flow_of_whole_pixels_moves_the_image(self):
        flow = np.zeros((1, 2, 4, 5))
        flow[:, 0], flow[:, 1] = 2, -1
        run = LayerRun(LayerCase('type: "FlowWarp"', [(1, 3, 4, 5), flow]))
        want = np.zeros((1, 3, 4, 5))
        want[:, :, 1:, :3] = run.inputs[0][:, :, :3, 2:]
        np.testing.assert_array_equal(run.forward()[0], want)

    def test_gradients(self):
        """Of the image and of the flow, some of which points outside."""
        check_layer(LayerCase('type: "FlowWarp"', [(2, 3, 4, 5), self.FLOW]))

    def test_outside_may_be_no_number(self):
        layer = 'type: "FlowWarp" flow_warp_param { fill_value: NOT_A_NUMBER }'
        flow = np.zeros((1, 2, 2, 2))
        flow[0, 0, 0, 0], flow[0, 1, 1, 1] = -1, np.nan
        found = LayerRun(LayerCase(layer, [(1, 1, 2, 2), flow])).forward()[0]
        np.testing.assert_array_equal(np.isnan(found[0, 0]), [[True, False], [False, True]])


class TestSpatialTransformer:
    def test_the_identity(self):
        theta = np.array([[1.0, 0, 0, 0, 1, 0]] * 2)
        run = LayerRun(LayerCase('type: "SpatialTransformer"', [(2, 3, 4, 6), theta]))
        np.testing.assert_allclose(run.forward()[0], run.inputs[0], atol=1e-12)

    def test_gradients(self):
        """Of the image and of θ, with points outside; another size, and some of θ given."""
        theta = np.array([[1.1, 0.2, 0.13, -0.3, 0.9, 0.07], [0.6, 0.1, -0.4, 0.2, 1.3, 0.31]])
        layer = 'type: "SpatialTransformer" st_param { output_H: 3 output_W: 5 %s }'
        check_layer(LayerCase(layer % "", [(2, 2, 4, 6), theta]))
        free = theta[:, [0, 2, 4]].copy(order="C")
        check_layer(
            LayerCase(
                layer % "theta_1_2: 0.1 theta_2_1: 0.2 theta_2_3: -0.15", [(2, 2, 4, 6), free]
            )
        )

    def test_the_image_may_go_without_a_gradient(self):
        layer = 'type: "SpatialTransformer" st_param { to_compute_dU: false }'
        theta = np.array([[1.1, 0.2, 0.1, -0.3, 0.9, 0.05]])
        run = LayerRun(LayerCase(layer, [(1, 2, 4, 6), theta]))
        run.forward()
        run.backward([np.ones((1, 2, 4, 6))], [True, True])
        assert not run.bottom[0].blob.diff.any() and run.bottom[1].blob.diff.any()

    def test_the_number_of_values(self):
        with pytest.raises(NetError, match="needs 5 values of θ for each image"):
            layer = 'type: "SpatialTransformer" st_param { theta_1_1: 1 }'
            LayerRun(LayerCase(layer, [(2, 1, 4, 4), (2, 6)]))


class TestResample:
    def test_a_second_bottom_gives_the_size(self):
        run = LayerRun(LayerCase('type: "Resample"', [np.ones((1, 2, 5, 7)), (1, 9, 3, 4)]))
        np.testing.assert_allclose(run.forward()[0], np.ones((1, 2, 3, 4)))

    @pytest.mark.parametrize("kind", ["LINEAR", "CUBIC"])
    def test_a_slope_stays_a_slope(self, kind):
        """Away from the edges, enlarged and made smaller."""
        slope = np.broadcast_to(np.arange(24.0), (1, 1, 24, 24)).copy()
        layer = 'type: "Resample" resample_param { height: %d width: %d type: %s }'
        twice = LayerRun(LayerCase(layer % (48, 48, kind), [slope])).forward()[0][0, 0, 20]
        np.testing.assert_allclose(twice[8:-8], (np.arange(48) * 0.5 - 0.25)[8:-8], rtol=1e-5)
        half = LayerRun(LayerCase(layer % (12, 12, kind), [slope])).forward()[0][0, 0, 5]
        np.testing.assert_allclose(half[4:-4], (np.arange(12) * 2 + 0.5)[4:-4], rtol=1e-5)

    def test_area_is_refused(self):
        with pytest.raises(NetError, match="AREA is none of NEAREST"):
            layer = 'type: "Resample" resample_param { height: 2 width: 2 type: AREA }'
            LayerRun(LayerCase(layer, [(1, 1, 4, 4)]))


def test_downsample_leaves_out_what_is_no_number():
    x = np.ones((1, 1, 9, 9))
    x[0, 0, 4, 3], x[0, 0, :3, :3] = np.nan, np.nan
    layer = 'type: "Downsample" downsample_param { top_height: 3 top_width: 3 }'
    found = LayerRun(LayerCase(layer, [x])).forward()[0][0, 0]
    want = np.ones((3, 3))
    want[0, 0] = np.nan
    np.testing.assert_allclose(found, want)


class TestL1Loss:
    @pytest.mark.parametrize(("dialect", "slope"), [("", -1), ("nvcaffe", 0)])
    def test_the_slope_of_no_difference(self, dialect, slope, monkeypatch):
        """DetectNet's L1Loss leaves equal values where they are, FlowNet's does not."""
        monkeypatch.setenv("PCD_DIALECT", dialect)
        a, b = np.array([[1.0, 2, 3, 4]]), np.array([[1.0, 5, 0, 4]])
        run = LayerRun(LayerCase('type: "L1Loss"', [a, b]))
        assert run.forward()[0] == 6
        run.backward([np.array(1.0)], [True, True])
        np.testing.assert_array_equal(run.bottom[0].blob.diff, [[slope, -1, 1, slope]])
        np.testing.assert_array_equal(run.bottom[1].blob.diff, [[-slope, 1, -1, -slope]])
        check_layer(LayerCase('type: "L1Loss"', [(2, 3), (2, 3)]))

    @pytest.mark.parametrize(
        ("setting", "reference"),
        [
            ("", lambda d: abs(d).sum() / 2),
            ("normalize_by_num_entries: true", lambda d: abs(d).sum() / 24),
            ("plateau: 0.5", lambda d: (abs(d) * (abs(d) >= 0.5)).sum() / 2),
            (
                "l2_per_location: true",
                lambda d: np.sqrt((d * d).sum(1) + np.float32(0.01)).sum() / 2,
            ),
            (
                "l2_per_location: true l2_prescale_by_channels: true epsilon: 0.25",
                lambda d: np.sqrt((d * d).sum(1) / 3 + 0.25).sum() / 2,
            ),
        ],
    )
    @pytest.mark.parametrize("bottoms", [1, 2])
    def test_values_and_gradients(self, setting, reference, bottoms):
        check_layer(
            LayerCase(
                f'type: "L1Loss" l1_loss_param {{ {setting} }}',
                [(2, 3, 3, 4)] * bottoms,
                reference=lambda a, b=0: reference(a - b),
                kink=0.0 if bottoms == 1 else None,
            )
        )

    def test_what_is_no_number_does_not_count(self):
        target = np.zeros((2, 1, 2, 1))
        target[0] = np.nan
        layer = 'type: "L1Loss" l1_loss_param { normalize_by_num_entries: true }'
        run = LayerRun(LayerCase(layer, [np.full((2, 1, 2, 1), 3.0), target]))
        assert run.forward()[0] == 3
        run.backward([np.array(1.0)], [True, False])
        np.testing.assert_array_equal(run.bottom[0].blob.diff.reshape(-1), [0, 0, 0.5, 0.5])


def test_channel_norm():
    check_layer(
        LayerCase(
            'type: "ChannelNorm"',
            [(2, 3, 2, 4)],
            reference=lambda x: np.sqrt((x * x).sum(1, keepdims=True)),
        )
    )


@pytest.mark.parametrize("slope", [0, 0.25])
def test_neg_relu(slope):
    check_layer(
        LayerCase(
            f'type: "NegReLU" relu_param {{ negative_slope: {slope} }}',
            [(2, 3, 4)],
            reference=lambda x: np.where(x < 0, x, slope * x),
            kink=0.0,
            in_place=not slope,
        )
    )


class TestAccum:
    LAYER = 'type: "Accum" accum_param { %s }'
    SHAPES = ((2, 1, 2, 3), (2, 2, 4, 5))

    @pytest.mark.parametrize(
        ("setting", "size"),
        [
            ("", (4, 5)),
            ("size_divisible_by: 3", (6, 6)),
            ("top_height: 3 top_width: 7", (3, 7)),
            ("have_reference: true", (4, 5)),
        ],
    )
    def test_every_bottom_at_one_size(self, setting, size):
        """As Interp would, each on its own; gradients too."""
        run = LayerRun(LayerCase(self.LAYER % setting, self.SHAPES))
        found = run.forward()[0]
        taken = run.inputs[:1] if "reference" in setting else run.inputs
        interp = f'type: "Interp" interp_param {{ height: {size[0]} width: {size[1]} }}'
        parts = [LayerRun(LayerCase(interp, [x])).forward()[0] for x in taken]
        np.testing.assert_allclose(found, np.concatenate(parts, axis=1))
        check_layer(LayerCase(self.LAYER % setting, self.SHAPES))

    def test_half_a_size_is_refused(self):
        with pytest.raises(NetError, match="give both of top_height and top_width"):
            LayerRun(LayerCase(self.LAYER % "top_height: 3", self.SHAPES))

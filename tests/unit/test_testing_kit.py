import numpy as np
import pytest

from pycaffe_dist.layer import Layer, register
from pycaffe_dist.registry import LAYERS
from pycaffe_dist.rng import generator
from pycaffe_dist.testing import LayerCase, LayerRun, check_layer


@pytest.fixture
def broken():
    """Registers a layer for one test: y = W x + x², right except for what is overridden."""
    made = []

    def make(**methods):
        class Broken(Layer):
            def setup(self, bottom, top):
                self.add_blob((3,))
                self.blobs[0].data[...] = [0.5, -1, 2]

            def reshape(self, bottom, top):
                top[0].reshape_like(bottom[0])

            def forward(self, bottom, top):
                x = bottom[0].data
                top[0].data[...] = self.params[0].data * x + x * x

            def backward(self, top, propagate_down, bottom):
                x, gy = bottom[0].data, top[0].diff
                self.params[0].diff[...] += (gy * x).sum(axis=0)
                if propagate_down[0]:
                    bottom[0].diff[...] = gy * (self.params[0].data + 2 * x)

        for name, method in methods.items():
            setattr(Broken, name, method)
        made.append("Broken")
        register("Broken")(Broken)
        return Broken

    yield make
    for name in made:
        LAYERS.pop(name, None)


def case(**settings):
    return LayerCase(
        'type: "Broken"',
        [(4, 3)],
        reference=lambda x: x * [0.5, -1, 2] + x**2,
        **settings,
    )


def test_a_layer_that_is_right(broken):
    broken()
    check_layer(case())


def wrong_values(self, bottom, top):
    x = bottom[0].data
    top[0].data[...] = self.params[0].data * x + x * x * (1 + 1e-6)


def wrong_shape(self, bottom, top):
    top[0].reshape(2, 6)


def flattening_forward(self, bottom, top):
    x = bottom[0].data
    top[0].data.reshape(-1)[...] = (self.params[0].data * x + x * x).reshape(-1)


def flattening_backward(self, top, propagate_down, bottom):
    x, gy = bottom[0].data, top[0].diff.reshape(4, 3)
    self.params[0].diff[...] += (gy * x).sum(axis=0)
    if propagate_down[0]:
        bottom[0].diff[...] = gy * (self.params[0].data + 2 * x)


def backward(bottom_factor=1.0, param_factor=1.0, only=None, **how):
    def backward(self, top, propagate_down, bottom):
        x, gy = bottom[0].data, top[0].diff
        gw = (gy * x).sum(axis=0) * param_factor
        if how.get("overwrites"):
            self.params[0].diff[...] = gw
        else:
            self.params[0].diff[...] += gw
        if propagate_down[0] or how.get("unasked"):
            gx = gy * (self.params[0].data + 2 * x)
            gx[only if only is not None else ...] *= bottom_factor
            if how.get("adds"):
                bottom[0].diff[...] += gx
            else:
                bottom[0].diff[...] = gx
        if how.get("spoils_weights"):
            self.params[0].change_data()[...] += 1e-3

    return backward


@pytest.mark.parametrize(
    ("methods", "problem"),
    [
        ({"forward": wrong_values}, "top 0"),
        (
            {
                "reshape": wrong_shape,
                "forward": flattening_forward,
                "backward": flattening_backward,
            },
            r"top 0: shape \(2, 6\), want \(4, 3\)",
        ),
        ({"backward": backward(bottom_factor=1.001)}, r"gradient of bottom 0\["),
        ({"backward": backward(bottom_factor=-1, only=(2, 1))}, r"gradient of bottom 0\[.*2.*1"),
        ({"backward": backward(param_factor=0.99)}, r"gradient of param 0\["),
        ({"backward": backward(param_factor=0)}, r"gradient of param 0\["),
        ({"backward": backward(overwrites=True)}, "parameters do not add up"),
        ({"backward": backward(adds=True)}, "bottom 0"),
        ({"backward": backward(unasked=True)}, "bottom 0: a gradient nobody asked for"),
    ],
)
def test_what_is_wrong_is_found(broken, methods, problem):
    broken(**methods)
    with pytest.raises(AssertionError, match=problem):
        check_layer(case())


def test_the_message_tells_both_values_and_the_place(broken):
    broken(backward=backward(bottom_factor=3))
    with pytest.raises(AssertionError) as caught:
        check_layer(case())
    text = str(caught.value)
    for part in (
        'type: "Broken"',
        "gradient of bottom 0",
        "by differences",
        "step 1e-05",
        "allowed",
    ):
        assert part in text


@pytest.mark.parametrize(
    ("methods", "settings"),
    [
        ({"backward": backward(param_factor=0.5)}, {"params": False}),
        ({"backward": backward(bottom_factor=0.5)}, {"bottoms": []}),
        ({"backward": backward(unasked=True)}, {"ignores_propagate_down": True}),
    ],
)
def test_what_a_case_leaves_out_is_not_checked(broken, methods, settings):
    broken(**methods)
    check_layer(case(**settings))


def test_a_layer_that_cannot_work_in_place_is_found(broken):
    broken()  # its backward needs the x that was overwritten
    with pytest.raises(AssertionError, match="in place"):
        check_layer(case(in_place=True))


def test_labels_get_no_gradient(broken):
    def refusing(self, top, propagate_down, bottom):
        assert not propagate_down[0]

    broken(
        label_bottoms=(0,),
        backward=refusing,
        setup=lambda self, bottom, top: None,
        forward=lambda self, bottom, top: None,
    )
    check_layer(LayerCase('type: "Broken"', [(4, 3)]))
    with pytest.raises(AssertionError):
        check_layer(LayerCase('type: "Broken"', [(4, 3)], bottoms=[0]))


def test_large_blobs_are_tried_everywhere_from_end_to_end(broken):
    """A gradient that is wrong in a part of a large blob is found, at both ends at least."""
    for wrong in (0, -1):
        broken(backward=backward(bottom_factor=0, only=wrong))
        with pytest.raises(AssertionError, match="gradient of bottom 0"):
            check_layer(LayerCase('type: "Broken"', [(400, 3)]))


def test_inputs_stay_away_from_kinks():
    layer = 'type: "ReLU"'
    for kink in (0.0, 0.5, -1.0):
        run = LayerRun(LayerCase(layer, [(50, 50)], kink=kink, kink_range=0.05))
        assert np.abs(run.inputs[0] - kink).min() >= 0.05
        assert (run.inputs[0] < kink).any()
        assert (run.inputs[0] > kink).any()


def test_runs_are_repeatable_and_follow_the_seed():
    def inputs(seed):
        return LayerRun(LayerCase('type: "ReLU"', [(3, 4)], seed=seed)).inputs[0]

    np.testing.assert_array_equal(inputs(1), inputs(1))
    assert not np.array_equal(inputs(1), inputs(2))


def test_random_layers_draw_the_same_every_time(broken):
    def forward(self, bottom, top):
        self.mask = self.xp.asarray(generator().binomial(1, 0.5, bottom[0].shape))
        top[0].data[...] = bottom[0].data * self.mask

    def backward(self, top, propagate_down, bottom):
        if propagate_down[0]:
            bottom[0].diff[...] = top[0].diff * self.mask

    broken(setup=lambda self, bottom, top: None, forward=forward, backward=backward)
    check_layer(LayerCase('type: "Broken"', [(4, 3)]))


def test_given_inputs_and_parameters_are_used():
    x, w = np.arange(6.0).reshape(2, 3), np.ones((1, 3))
    run = LayerRun(
        LayerCase(
            'type: "InnerProduct" inner_product_param { num_output: 1 }', [x], fill=[w, [10.0]]
        )
    )
    np.testing.assert_array_equal(run.forward()[0], [[13], [22]])
    assert run.forward()[0].dtype == np.float64
    run.backward([np.ones((2, 1))], [True])
    np.testing.assert_array_equal(run.bottom[0].blob.diff, np.ones((2, 3)))
    np.testing.assert_array_equal(run.layer.blobs[0].diff, [[3, 5, 7]])


@pytest.mark.parametrize(("phase", "number"), [("TRAIN", 0), ("TEST", 1)])
def test_phase(phase, number):
    assert LayerRun(LayerCase('type: "ReLU"', [(1,)], phase=phase)).layer.phase == number


def test_nothing_stays_registered(broken):
    broken()
    assert "Broken" in LAYERS

import numpy as np
import pytest

from pycaffe_dist.blob import Blob, View
from pycaffe_dist.errors import NetError
from pycaffe_dist.layer import Context
from pycaffe_dist.proto.caffe_pb2 import LayerParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.registry import create_layer


def run(settings, tops=1, **context):
    text = f'name: "d" type: "DummyData" dummy_data_param {{ {settings} }}'
    layer = create_layer(parse_text(text, LayerParameter()).message, Context(**context))
    top = [View(Blob(), writes="data") for _ in range(tops)]
    layer.set_up([], top)
    return layer, top


GAUSSIAN = 'data_filler { type: "gaussian" }'
FIVE = 'data_filler { type: "constant" value: 5 }'
SHAPE = "shape { dim: 2 dim: 3 }"


def test_without_a_filler_zeros():
    _, (top,) = run(SHAPE)
    assert top.shape == (2, 3) and not top.blob.data.any()


def test_constants_are_there_from_the_start_and_stay_as_they_are_changed():
    layer, (top,) = run(SHAPE + FIVE)
    assert (top.blob.data == 5).all()
    top.blob.data[...] = 7
    layer.run_forward([], [top])
    assert (top.blob.data == 7).all()


def test_random_numbers_are_drawn_before_every_forward():
    layer, (top,) = run(SHAPE + GAUSSIAN)
    assert not top.blob.data.any()
    layer.run_forward([], [top])
    first = top.blob.data.copy()
    layer.run_forward([], [top])
    assert first.all() and (first != top.blob.data).all()


def test_a_filler_and_a_shape_for_each_top():
    layer, tops = run(f"{SHAPE} shape {{ dim: 4 }} shape {{ }} {GAUSSIAN}{FIVE}{FIVE}", 3)
    layer.run_forward([], tops)
    assert [t.shape for t in tops] == [(2, 3), (4,), ()]
    assert tops[0].blob.data.std() > 0
    assert (tops[1].blob.data == 5).all() and tops[2].blob.data == 5


def test_one_filler_and_one_shape_for_all_tops():
    layer, tops = run(SHAPE + GAUSSIAN, 2)
    layer.run_forward([], tops)
    assert tops[1].shape == (2, 3)
    assert (tops[0].blob.data != tops[1].blob.data).all()


def test_old_dimensions():
    _, tops = run("num: 2 channels: 1 channels: 3 height: 4 width: 5 width: 6", 2)
    assert [t.shape for t in tops] == [(2, 1, 4, 5), (2, 3, 4, 6)]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (SHAPE + "num: 1 channels: 1 height: 1 width: 1", "both a shape and num"),
        ("num: 1 channels: 1 height: 1", "0 width for 3 tops"),
        ("num: 1 num: 2 channels: 1 height: 1 width: 1", "2 num for 3 tops"),
        (SHAPE * 2, "2 shape for 3 tops; give one, or one for each"),
        ("", "0 shape for 3 tops"),
        (SHAPE + FIVE * 2, "2 data_filler for 3 tops"),
        (SHAPE + 'data_filler { type: "gauss" }', 'no filler "gauss"'),
        ("shape { dim: 0 }" + FIVE, "nothing to fill"),
    ],
)
def test_refuses(settings, message):
    with pytest.raises(NetError, match=f'layer "d" .DummyData.: .*{message}'):
        run(settings, 3)


def test_a_dry_net_holds_no_values():
    _, (top,) = run(SHAPE + FIVE, dry=True)
    assert top.shape == (2, 3) and not top.blob.data_value.current


def test_has_no_gradient_to_give():
    layer, top = run(SHAPE)
    layer.backward(top, [], [])
    np.testing.assert_array_equal(top[0].blob.data, np.zeros((2, 3)))
    assert layer.flops([], top) == 0

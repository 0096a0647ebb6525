import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.testing import LayerCase, LayerRun, check_layer

LAYER = 'type: "Tile" tile_param { %s }'


@pytest.mark.parametrize("tiles", [1, 3])
@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_values_and_gradient(axis, tiles):
    times = [1, 1, 1]
    times[axis] = tiles
    check_layer(
        LayerCase(
            LAYER % f"axis: {axis} tiles: {tiles}",
            [(2, 3, 2)],
            reference=lambda x: np.tile(x, times),
        )
    )


def test_axis_is_1_by_default():
    run = LayerRun(LayerCase(LAYER % "tiles: 2", [(2, 3, 2)]))
    assert run.forward()[0].shape == (2, 6, 2)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("", "needs tiles"),
        ("tiles: 0", "above 0, found 0"),
        ("tiles: -1", "above 0, found -1"),
        ("tiles: 2 axis: 3", "axis 3 is out of range"),
    ],
)
def test_settings_refused(settings, message):
    with pytest.raises(NetError, match=message):
        LayerRun(LayerCase(LAYER % settings, [(2, 3, 2)]))

"""Every recorded net computes with oneDNN what it computes with NumPy."""

from pathlib import Path

import numpy as np
import pytest

from pycaffe_dist.engines import create
from pycaffe_dist.testing.twins import Twins

ENGINE = create("onednn")

RECORDED = Path(__file__).parents[1] / "golden" / "layers"


@pytest.mark.parametrize("path", sorted(RECORDED.glob("*.prototxt")), ids=lambda path: path.stem)
def test_every_recorded_net_computes_the_same(path):
    twins = Twins(path, ENGINE)
    twins.load(dict(np.load(path.with_suffix(".npz"))))
    twins.step()
    twins.assert_same()
    twins.step()  # gradients are added to those of the first pass
    twins.assert_same()

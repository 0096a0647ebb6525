"""Launches: prepared once, with whatever arrays; and what a launch may not be."""

from unittest import mock

import numpy as np
import pytest

from pycaffe_dist.engines.cupy import launch
from pycaffe_dist.engines.cupy.kernels import Kernel
from pycaffe_dist.testing import cupy_standin as xp
from pycaffe_dist.testing.gpu import emulated

F = np.dtype(np.float32)


@pytest.fixture
def engine():
    with emulated() as made:
        yield made


def test_a_launch_is_prepared_once_and_its_arrays_may_be_others(engine):
    a, b = xp.zeros(5, F), xp.zeros(5, F)
    engine.launch("fill", F, 5, 2.5, a)
    with mock.patch.object(Kernel, "arguments", side_effect=AssertionError("prepared again")):
        engine.launch("fill", F, 5, 2.5, b)
    engine.launch("fill", F, 3, 1.5, b)
    assert a.get().tolist() == [2.5] * 5 and b.get().tolist() == [1.5] * 3 + [2.5] * 2


def test_number_types_have_launches_of_their_own(engine):
    for dtype in (F, np.dtype(np.float64)):
        x = xp.zeros(4, dtype)
        engine.launch("fill", dtype, 4, 0.1, x)
        assert x.get()[0] == dtype.type(0.1)


def test_numbers_that_never_come_again_do_not_fill_memory(engine, monkeypatch):
    monkeypatch.setattr(launch, "MOST_PREPARED", 8)
    x = xp.zeros(1, F)
    for i in range(50):
        engine.launch("fill", F, 1, i, x)
        assert x.get()[0] == i and len(engine.launch._prepared) <= 8


def test_a_wrong_number_of_arguments_is_told(engine):
    x = xp.zeros(1, F)
    engine.launch("fill", F, 1, 0, x)
    for args in ((0,), (0, x, x)):
        with pytest.raises(TypeError, match="fill takes"):
            engine.launch("fill", F, 1, *args)

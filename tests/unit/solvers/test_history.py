import numpy as np

from pycaffe_dist.solvers.history import History


def history():
    return History(("means", "squares"), [(2, 3), (4,)], np.float64)


def test_the_order_is_that_of_state_files():
    shapes = [(2, 3), (4,), (2, 3), (4,)]
    assert [blob.shape for blob in history()] == shapes
    assert len(history()) == 4


def test_blobs_are_found_by_slot_and_by_parameter():
    h = history()
    h["squares"][1].data[...] = 7
    assert list(h.of(1)) == ["means", "squares"]
    assert h.of(1)["squares"] is h["squares"][1]
    assert (list(h)[3].data == 7).all()


def test_a_released_parameter_has_zeros_and_the_others_stay():
    h = history()
    for blob in h:
        blob.data[...] = 1
    h.release(1)
    assert [blob.data.sum() for blob in h] == [6, 0, 6, 0]
    assert h.of(1)["means"].dtype == np.float64

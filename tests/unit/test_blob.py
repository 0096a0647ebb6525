import gc
import weakref

import numpy as np
import pytest

from pycaffe_dist.blob import Blob, View
from pycaffe_dist.errors import NetError
from pycaffe_dist.memory import HOST


def numbered(*shape, dtype=np.float32):
    blob = Blob(shape, dtype)
    blob.data[...] = np.arange(blob.count).reshape(shape)
    return blob


# -- shape -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "count", "legacy"),
    [
        ((), 1, (1, 1, 1, 1)),
        ((7,), 7, (7, 1, 1, 1)),
        ((3, 2), 6, (3, 2, 1, 1)),
        ((4, 3, 2), 24, (4, 3, 2, 1)),
        ((2, 3, 4, 5), 120, (2, 3, 4, 5)),
        ((0, 5), 0, (0, 5, 1, 1)),
        ((2, 0, 4), 0, (2, 0, 4, 1)),
    ],
)
def test_shapes(shape, count, legacy):
    blob = Blob(shape)
    assert (blob.shape, blob.count) == (shape, count)
    assert blob.data.shape == blob.diff.shape == shape
    assert blob.legacy_shape() == legacy
    assert (blob.num, blob.channels, blob.height, blob.width) == legacy
    assert not blob.data.any()
    assert not blob.diff.any()


@pytest.mark.parametrize("name", ["num", "channels", "height", "width"])
def test_five_axes_have_no_old_names(name):
    with pytest.raises(NetError, match="5 axes"):
        getattr(Blob((1, 2, 3, 4, 5)), name)


@pytest.mark.parametrize(
    ("shape", "problem"),
    [
        ((-1,), "negative"),
        ((2, -3, -1), "negative"),
        ((1,) * 33, "at most 32 axes"),
        ((1 << 31,), "2,147,483,647 values"),
        ((1 << 16, 1 << 15), "2,147,483,647 values"),
    ],
)
def test_impossible_shapes_change_nothing(shape, problem):
    blob = numbered(2, 3)
    with pytest.raises(NetError, match=problem):
        blob.reshape(*shape)
    assert (blob.shape, blob.count) == ((2, 3), 6)
    np.testing.assert_array_equal(blob.data, [[0, 1, 2], [3, 4, 5]])


@pytest.mark.parametrize("shape", [(1,) * 32, ((1 << 31) - 1,), (0, 1 << 30, 1 << 30)])
def test_shapes_at_the_limits_cost_nothing_before_they_are_used(shape):
    assert Blob(shape).shape == shape


@pytest.mark.parametrize("wrong", [2.0, "2", None])
def test_dimensions_are_integers(wrong):
    with pytest.raises(TypeError):
        Blob().reshape(wrong)
    blob = Blob()
    blob.reshape(np.int64(2), np.uint8(3))
    assert blob.shape == (2, 3)
    assert all(type(d) is int for d in blob.shape)


@pytest.mark.parametrize(("index", "axis"), [(0, 0), (2, 2), (-1, 2), (-3, 0)])
def test_axes_count_from_both_ends(index, axis):
    assert Blob((2, 3, 4)).axis(index) == axis


@pytest.mark.parametrize(("shape", "index"), [((2, 3), 2), ((2, 3), -3), ((), 0), ((), -1)])
def test_axes_out_of_range(shape, index):
    with pytest.raises(NetError, match=f"axis {index} is out of range"):
        Blob(shape).axis(index)


@pytest.mark.parametrize(
    ("begin", "end", "count"), [(0, None, 24), (1, None, 12), (3, None, 1), (0, 2, 6), (1, 1, 1)]
)
def test_counts_of_axes(begin, end, count):
    assert Blob((2, 3, 4)).count_from(begin, end) == count


# -- values and room -------------------------------------------------------------------------------


@pytest.mark.parametrize("part", ["data", "diff"])
def test_smaller_shapes_keep_the_bytes_there_are(part):
    blob = Blob((2, 3))
    getattr(blob, part)[...] = [[0, 1, 2], [3, 4, 5]]
    blob.reshape(2, 2)
    np.testing.assert_array_equal(getattr(blob, part), [[0, 1], [2, 3]])
    blob.reshape(3, 2)
    np.testing.assert_array_equal(getattr(blob, part), [[0, 1], [2, 3], [4, 5]])
    blob.reshape(0)
    assert getattr(blob, part).size == 0
    blob.reshape(6)
    np.testing.assert_array_equal(getattr(blob, part), range(6))


@pytest.mark.parametrize("part", ["data", "diff"])
def test_a_larger_shape_is_zeros_again(part):
    blob = Blob((2, 3))
    getattr(blob, part)[...] = 7
    blob.reshape(7)
    assert not getattr(blob, part).any()


def test_reshape_like_a_blob_or_a_view():
    for other in (Blob((4, 5)), View(Blob((4, 5)))):
        blob = Blob()
        blob.reshape_like(other)
        assert blob.shape == (4, 5)


def test_data_and_diff_are_different_memory():
    blob = Blob((2,))
    blob.data[...] = 1
    blob.diff[...] = 2
    assert (blob.data.tolist(), blob.diff.tolist()) == ([1, 1], [2, 2])


def test_arrays_are_live_and_the_same_as_long_as_the_shape_is():
    blob = Blob((2, 3))
    data = blob.data
    assert blob.data is data
    data[1, 2] = 9
    assert blob.data[1, 2] == 9
    blob.reshape(3, 2)
    assert blob.data[2, 1] == 9
    blob.data[0, 0] = 4  # within the same room the old array still shows it
    assert data[0, 0] == 4


def test_arrays_outlive_their_blob():
    blob = numbered(2, 2)
    data, diff = blob.data, blob.diff
    del blob
    gc.collect()
    np.testing.assert_array_equal(data + diff, [[0, 1], [2, 3]])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_number_type(dtype):
    blob = Blob((2,), dtype)
    assert blob.data.dtype == blob.diff.dtype == dtype
    blob.reshape(100)
    assert blob.data.dtype == blob.diff.dtype == dtype


def test_scalars():
    blob = Blob()
    blob.data[...] = 3
    assert blob.data.shape == ()
    assert float(blob.data) == 3


# -- sharing ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("as_view", [False, True])
@pytest.mark.parametrize(("part", "other"), [("data", "diff"), ("diff", "data")])
def test_sharing_one_part_in_two_shapes(part, other, as_view):
    owner, sharer = Blob((2, 3)), Blob((6,))
    getattr(sharer, part)[...] = 5  # a room of its own, to be forgotten
    getattr(sharer, f"share_{part}")(View(owner) if as_view else owner)
    assert not getattr(sharer, part).any()
    getattr(owner, part)[1, 1] = 8
    getattr(sharer, part)[0] = 3
    assert getattr(sharer, part).tolist() == [3, 0, 0, 0, 8, 0]
    assert getattr(owner, part)[0, 0] == 3
    getattr(owner, other)[...] = 1
    assert not getattr(sharer, other).any()


@pytest.mark.parametrize("part", ["data", "diff"])
def test_sharing_needs_equal_counts(part):
    with pytest.raises(NetError, match=r"\(2, 3\).*\(7,\)"):
        getattr(Blob((7,)), f"share_{part}")(Blob((2, 3)))


def test_a_sharer_that_grows_goes_its_own_way():
    owner, sharer = numbered(2, 2), Blob((2, 2))
    sharer.share_data(owner)
    sharer.reshape(3, 3)
    sharer.data[...] = 7
    np.testing.assert_array_equal(owner.data, [[0, 1], [2, 3]])


# -- views -----------------------------------------------------------------------------------------


class Elsewhere:
    def allocate(self, count, dtype):
        return np.zeros(count, dtype).view(Room)

    def load(self, host, room):
        room[...] = host

    def store(self, room, host):
        host[...] = room


class Room(np.ndarray):
    """Memory that can be watched."""


def test_a_view_writes_one_part_and_reads_the_other():
    home = Elsewhere()
    for writes, reads in (("data", "diff"), ("diff", "data")):
        blob = Blob((2,))
        blob.data[...] = blob.diff[...] = 1
        view = View(blob, home, writes)
        getattr(view, writes)[0] = 2
        assert getattr(view, reads).tolist() == [1, 1]
        assert getattr(blob, f"{writes}_value").current == {home}
        assert getattr(blob, f"{reads}_value").current == {HOST, home}
        assert getattr(blob, writes).tolist() == [2, 1]
    view = View(blob, home, "diff")
    view.change_data()[1] = 5
    assert blob.data_value.current == {home}
    assert blob.data.tolist() == [1, 5]


@pytest.mark.parametrize("part", ["data", "diff"])
def test_who_asks_for_the_array_may_write_to_it(part):
    blob, home = Blob((2,)), Elsewhere()
    getattr(View(blob, home, part), part)[...] = 3
    held = getattr(blob, part)
    assert getattr(blob, f"{part}_value").current == {HOST}
    held[0] = 4
    assert getattr(View(blob, home, part), part).tolist() == [4, 3]


def test_memory_of_a_home_that_is_left_is_given_back():
    blob, home = Blob((2,)), Elsewhere()
    View(blob, home, "data").data[...] = 3
    room = weakref.ref(blob.data_value.read(home))
    blob.data_value.leave(home)
    gc.collect()
    assert room() is None
    assert blob.data.tolist() == [3, 3]


def test_memory_is_given_back_when_a_blob_grows_or_shares():
    blob = Blob((2,))
    View(blob, home := Elsewhere(), "data").data[...] = 3
    room = weakref.ref(blob.data_value.read(home))
    blob.reshape(5)
    gc.collect()
    assert room() is None
    View(blob, home, "data").data[...] = 3
    room = weakref.ref(blob.data_value.read(home))
    blob.share_data(Blob((5,)))
    gc.collect()
    assert room() is None


def test_a_view_follows_the_shape_of_its_blob():
    blob = numbered(2, 3)
    view = View(blob)
    blob.reshape(3, 2)
    assert (view.shape, view.count, view.num, view.axis(-1)) == ((3, 2), 6, 3, 1)
    np.testing.assert_array_equal(view.data, [[0, 1], [2, 3], [4, 5]])
    view.reshape(6)
    assert blob.shape == (6,)


def test_both_say_their_shape():
    assert repr(Blob((2, 3))) == "Blob(2, 3)"
    assert repr(View(Blob((2, 3)))) == "View of Blob(2, 3)"

import numpy as np

from pycaffe_dist.data.draws import raw, shuffle


def test_raw_numbers_are_the_generators_own():
    # Literals that Caffe's tests of its threads pin.
    assert raw(np.random.RandomState(2807902913)) == 4244559767
    assert raw(np.random.RandomState(2507970537)) == 1726478280


def test_the_order_that_a_seed_gives():
    items = list(range(12))
    shuffle(np.random.RandomState(1), items)
    assert items == [11, 2, 3, 6, 4, 1, 9, 0, 8, 7, 10, 5]


class Scripted:
    """A generator that gives what it is told to."""

    def __init__(self, numbers):
        self.numbers = iter(numbers)

    def randint(self, low, high, size=None, dtype=None):
        if size is None:
            return next(self.numbers)
        return np.array([next(self.numbers) for _ in range(size)], dtype)


def test_shuffle_cuts_the_range_into_buckets_and_draws_again_behind_the_last():
    third = 2**32 // 3
    items = ["a", "b", "c"]
    # 2^32 - 1 lies behind the third bucket of 2^32 // 3: the next draw takes its place.
    shuffle(Scripted([2**32 - 1, third, 0]), items)
    # c and b change places, then (the 0) the second and the first
    assert items == ["c", "a", "b"]


def test_every_bucket_is_a_place():
    # Of four: the middle of buckets 0 of 4, 2 of 3 and 1 of 2.
    items = ["a", "b", "c", "d"]
    shuffle(Scripted([2**29, 2 * (2**32 // 3) + 5, 3 * 2**30]), items)
    assert items == ["d", "b", "c", "a"]
    # The first number of a bucket belongs to it, the one before to the bucket before.
    for number, place in ((2**30 - 1, 0), (2**30, 1), (2**31 - 1, 1), (2**31, 2), (2**32 - 1, 3)):
        items = ["a", "b", "c", "d"]
        shuffle(Scripted([number, 2**32 // 3 * 2, 2**31]), items)
        assert items[3] == "abcd"[place]


def test_shuffle_of_little():
    for items in ([], ["only"]):
        before = list(items)
        shuffle(Scripted([]), items)
        assert items == before

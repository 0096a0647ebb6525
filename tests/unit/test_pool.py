import random

import numpy as np
import pytest

from pycaffe_dist import pool as pools
from pycaffe_dist.memory import LINE, aligned
from pycaffe_dist.pool import Pool, Span, Spans

F4 = np.dtype(np.float32)


def address(room):
    return room.__array_interface__["data"][0]


def test_the_lowest_place_that_fits_is_taken_and_a_room_there_is_known_again():
    pool = Pool()
    first, second, third = (pool.take(size, F4) for size in (4000, 2400, 640))
    assert [len(room) for room in (first, second, third)] == [1000, 600, 160]
    assert address(first) % LINE == 0
    assert address(second) - address(first) == 4032  # whole cache lines
    pool.give(second)
    pool.give(first)
    assert pool.take(4000, F4) is first
    pool.give(first)
    both = pool.take(6400, F4)  # the two are one piece now
    assert address(both) == address(first)
    pool.give(both)
    assert pool.take(4000, F4) is first and pool.take(2400, F4) is second
    assert pool.allocated == 4032 + 2432 + 640


def test_a_room_of_the_same_bytes_may_have_numbers_of_another_type():
    pool = Pool()
    room = pool.take(2400, F4)
    pool.give(room)
    other = pool.take(2400, np.dtype(np.float64))
    assert (other.dtype, other.size, address(other)) == (np.float64, 300, address(room))
    pool.give(other)
    assert pool.take(2400, F4) is room


def test_a_room_that_is_given_back_twice_is_an_error():
    pool = Pool()
    room = pool.take(640, F4)
    pool.give(room)
    with pytest.raises(AssertionError, match="given back twice"):
        pool.give(room)


def test_rooms_of_others_are_left_to_them():
    pool = Pool()
    other = aligned(100, F4)
    pool.give(other)
    assert pool.span(other) is None and pool.allocated == 0
    assert pool.take(400, F4) is not other


def test_where_memory_is_short_a_range_is_as_large_as_the_room(monkeypatch):
    def short(count, dtype):
        if count > 5000:
            raise MemoryError
        return aligned(count, dtype)

    monkeypatch.setattr(pools, "aligned", short)
    pool = Pool()
    assert len(pool.take(4000, F4)) == 1000
    assert len(pool.take(4000, F4)) == 1000
    with pytest.raises(MemoryError):
        pool.take(8000, F4)


def test_what_was_noted_is_taken_again():
    pool = Pool()
    room, later = pool.take(640, F4), pool.take(640, F4)
    pool.give(later)
    assert pool.has_free([pool.span(later)]) and not pool.has_free([pool.span(room)])
    pool.exchange([room], [later])
    assert pool.has_free([pool.span(room)]) and not pool.has_free([pool.span(later)])


@pytest.mark.parametrize("seed", range(5))
def test_rooms_in_use_never_overlap_and_everything_can_be_given_back(seed, monkeypatch):
    monkeypatch.setattr(pools, "SMALLEST", 1 << 12)  # so that there are many ranges
    draws, pool, used = random.Random(seed), Pool(), []
    for _ in range(400):
        if used and draws.random() < 0.5:
            room, value = used.pop(draws.randrange(len(used)))
            assert (room == value).all()
            pool.give(room)
        else:
            room = pool.take(4 * draws.choice((1, 16, 50, 300, 2000)), F4)
            room[...] = value = draws.random()
            used.append((room, np.float32(value)))
    for room, value in used:
        assert (room == value).all()
        pool.give(room)
    assert [end - begin for begin, end in pool.free()] == [
        len(values) for values in pool._ranges.values()
    ]


def test_spans_join_and_part():
    spans = Spans([Span(0, 10)])
    spans.remove(Span(4, 6))
    assert list(spans) == [(0, 4), (6, 10)]
    assert spans.covers(Span(6, 10)) and not spans.covers(Span(3, 7))
    assert spans.first(4) == (0, 4) and spans.first(5) is None
    spans.remove(Span(0, 4))
    assert not spans.covers(Span(0, 1)) and spans.first(4) == (6, 10)
    spans.add(Span(4, 6))
    assert list(spans) == [(4, 10)]
    spans.add(Span(0, 4))
    assert list(spans) == [(0, 10)]

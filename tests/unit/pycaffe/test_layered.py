import itertools

import pytest

from pycaffe_dist.pycaffe.layered import lay_out


def overlaps(layout):
    def apart(a, b):
        return (
            a.x + a.width / 2 <= b.x - b.width / 2
            or b.x + b.width / 2 <= a.x - a.width / 2
            or a.y + a.height <= b.y
            or b.y + b.height <= a.y
        )

    return [(a, b) for a, b in itertools.combinations(layout.boxes, 2) if not apart(a, b)]


def test_a_chain_is_straight():
    layout = lay_out([(60, 20), (100, 30), (40, 20)], [(0, 1, "a"), (1, 2, "b")])
    assert [box.x for box in layout.boxes] == [50, 50, 50]
    assert [box.y for box in layout.boxes] == [0, 54, 118]
    assert (layout.width, layout.height) == (100, 138)


def test_branches_lie_beside_each_other():
    edges = [(0, 1, "a"), (0, 2, "a"), (0, 3, "a"), (1, 4, "b"), (2, 4, "c"), (3, 4, "d")]
    layout = lay_out([(50, 20)] * 5, edges)
    assert not overlaps(layout)
    assert len({box.y for box in layout.boxes[1:4]}) == 1
    assert layout.boxes[0].x == layout.boxes[4].x == sorted(b.x for b in layout.boxes[1:4])[1]


def test_crossings_are_undone():
    edges = [(0, 3, "a"), (1, 2, "b"), (2, 4, "c"), (3, 5, "d")]
    boxes = lay_out([(50, 20)] * 6, edges).boxes
    assert (boxes[0].x < boxes[1].x) == (boxes[3].x < boxes[2].x) == (boxes[5].x < boxes[4].x)


def test_long_lines_go_around_boxes():
    layout = lay_out([(50, 20)] * 4, [(0, 1, "a"), (1, 2, "b"), (2, 3, "c"), (0, 3, "label")])
    long = layout.lines[-1]
    assert [spot.rank for spot in long.way] == [0, 1, 2, 3]
    for point, box in zip(long.way[1:-1], layout.boxes[1:3], strict=True):
        assert abs(point.x - box.x) > 25
        assert (point.y, point.floor) == (box.y, box.floor)


def test_lines_of_one_blob_share_their_way():
    edges = [(0, 1, "a"), (1, 2, "b"), (2, 3, "c"), (0, 3, "label"), (0, 2, "label")]
    layout = lay_out([(50, 20)] * 4, edges)
    assert layout.lines[3].way[1] is layout.lines[4].way[1]


def test_a_late_source_stands_near_what_needs_it():
    layout = lay_out([(50, 20)] * 4, [(0, 1, "a"), (1, 3, "b"), (2, 3, "c")])
    assert layout.boxes[2].y == layout.boxes[1].y


@pytest.mark.parametrize("sizes", [[], [(30, 10)], [(30, 10), (30, 10)]])
def test_without_edges(sizes):
    layout = lay_out(sizes, [])
    assert not overlaps(layout)
    assert layout.width == (30 * len(sizes) + 18 * (len(sizes) - 1) if sizes else 0)

from pycaffe_dist.tools.label_histogram import MOST_ROWS, label_histogram


def test_a_row_for_each_label():
    lines = label_histogram({2: 1500, 0: 500})
    assert lines[0] == "labels: 2, from 0 to 2 (1 between them have none)"
    assert [line.split() for line in lines[2:]] == [
        ["0", "500", "#" * 10],
        ["2", "1,500", "#" * 30],
    ]


def test_names():
    lines = label_histogram({0: 3, 1: 1}, {0: "cat", 1: "dog"})
    assert lines[1].split() == ["label", "name", "records"]
    assert lines[3].split()[:3] == ["1", "dog", "1"]


def test_many_labels_in_short():
    counts = {label: 10 + label for label in range(MOST_ROWS + 1)}
    lines = label_histogram(counts)
    assert lines == [
        "labels: 31, from 0 to 30",
        "  fewest records: 10 (label 0)",
        "  most records: 40 (label 30)",
    ]


def test_none():
    assert label_histogram({}) == []

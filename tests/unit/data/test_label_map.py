import pytest

from pycaffe_dist.data import label_map
from pycaffe_dist.errors import FileError, PrototxtError


@pytest.fixture
def parse(tmp_path):
    def parse(text, *args):
        (tmp_path / "names.txt").write_bytes(text.encode() if isinstance(text, str) else text)
        found = label_map.parse_names(str(tmp_path / "names.txt"), *args)
        return [(item.name, item.label, item.display_name) for item in found.item]

    return parse


def test_lines_of_one_two_and_three_fields(parse):
    assert parse("cat\ndog\n\n") == [("cat", 0, "cat"), ("dog", 1, "dog")]
    assert parse("cat 3\r\ndog 1\r\n") == [("cat", 3, "cat"), ("dog", 1, "dog")]
    assert parse("n02:7:a dog\n", ":") == [("n02", 7, "a dog")]
    assert parse("n02;7:Dog", ":;") == [("n02", 7, "Dog")]


def test_background_comes_first(parse):
    assert parse("cat", " ", True) == [
        ("none_of_the_above", 0, "background"),
        ("cat", 1, "cat"),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cat 1\ndog\n", r"names.txt:2: expected 2 fields .* found 1: 'dog'"),
        ("a b c d", "names.txt:1: expected 1 to 3 fields"),
        ("cat one", "names.txt:1: the label 'one' is no whole number"),
        ("cat 99999999999", "of 32 bits"),
        ("\n\n", "lists no classes"),
        (b"\xff\xfe", "is not UTF-8 text"),
    ],
)
def test_what_is_refused(parse, text, message):
    with pytest.raises(FileError, match=message):
        parse(text)


def test_a_file_by_name_and_by_number(tmp_path):
    path = tmp_path / "map.prototxt"
    path.write_text('item { name: "n1" label: 1 display_name: "cat" } item { name: "n2" label: 2 }')
    found = label_map.read_label_map(str(path))
    assert label_map.names(found) == {1: "n1", 2: "n2"}
    assert label_map.shown_names(found) == {1: "cat", 2: "n2"}
    assert label_map.labels(found) == {"n1": 1, "n2": 2}
    label_map.check_unique(found, "x")
    path.write_text('item { name: "a" label: 1 } item { name: "a" label: 2 }')
    with pytest.raises(FileError, match="the name 'a' comes 2 times"):
        label_map.check_unique(label_map.read_label_map(str(path)), "x")
    path.write_text('item { name: "a" label: 1 } item { name: "b" label: 1 }')
    with pytest.raises(FileError, match="the label 1 comes 2 times"):
        label_map.check_unique(label_map.read_label_map(str(path)), "x")


def test_files_that_are_no_label_maps(tmp_path):
    (tmp_path / "empty").write_text("# nothing")
    with pytest.raises(FileError, match="has no items"):
        label_map.read_label_map(str(tmp_path / "empty"))
    (tmp_path / "net").write_text('layer { name: "x" }')
    with pytest.raises(PrototxtError):
        label_map.read_label_map(str(tmp_path / "net"))

import pytest

from pycaffe_dist.data.image_list import read_image_list
from pycaffe_dist.errors import FileError


@pytest.mark.parametrize(
    ("line", "entry"),
    [
        ("a.jpg 3", ("a.jpg", 3)),
        ("with two spaces.jpg -1", ("with two spaces.jpg", -1)),
        ("a.jpg 3\r", ("a.jpg", 3)),
        ("a.jpg 3  ", ("a.jpg", 3)),
        ("a.jpg +3", ("a.jpg", 3)),
        ("a.jpg 3.0", ("a.jpg", 3)),
    ],
)
def test_lines(tmp_path, line, entry):
    path = tmp_path / "list"
    path.write_text(f"first.png 0\n\n{line}\n", newline="")
    assert read_image_list(str(path)) == [("first.png", 0), entry]


def test_without_labels_all_are_0(tmp_path):
    (tmp_path / "list").write_text("a.jpg\n7.jpg\r\n", newline="")
    assert read_image_list(str(tmp_path / "list")) == [("a.jpg", 0), ("7.jpg", 0)]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("a.jpg zero", "the label 'zero' of 'a.jpg' is no whole number"),
        ("a.jpg 3rd", "the label '3rd'"),
        ("a.jpg 0.7", "the label '0.7'"),
        ("my picture.jpg", "the label 'picture.jpg' of 'my' is no whole number"),
        ("a.jpg", "'a.jpg' has no label; every other line"),
        ("a.jpg 3000000000", "label 3000000000 of 'a.jpg' does not fit into 32 bits"),
    ],
)
def test_a_bad_label_is_named_with_its_line(tmp_path, line, message):
    (tmp_path / "list").write_text(f"first.png 0\n\n{line}\nlast.png 1\n")
    with pytest.raises(FileError, match=f"list:3: .*{message}"):
        read_image_list(str(tmp_path / "list"))


def test_refuses(tmp_path):
    (tmp_path / "list").write_text(" \n\n")
    with pytest.raises(FileError, match="list: lists no images"):
        read_image_list(str(tmp_path / "list"))
    with pytest.raises(FileError, match="cannot be read"):
        read_image_list(str(tmp_path / "gone"))

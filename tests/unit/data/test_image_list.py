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
        ("a.jpg 3rd", ("a.jpg", 3)),
        ("a.jpg x", ("a.jpg", 0)),
        ("a.jpg", ("a.jpg", 0)),
        ("7.jpg", ("7.jpg", 7)),
    ],
)
def test_lines(tmp_path, line, entry):
    path = tmp_path / "list"
    path.write_text(f"first.png 0\n\n{line}\n", newline="")
    assert read_image_list(str(path)) == [("first.png", 0), entry]


def test_refuses(tmp_path):
    (tmp_path / "list").write_text(" \n\n")
    with pytest.raises(FileError, match="list: lists no images"):
        read_image_list(str(tmp_path / "list"))
    with pytest.raises(FileError, match="cannot be read"):
        read_image_list(str(tmp_path / "gone"))

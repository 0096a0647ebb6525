import os

import pytest

from pycaffe_dist.data.new_folder import new_folder
from pycaffe_dist.errors import FileError


def test_folder_appears_when_the_block_ends(tmp_path):
    target = tmp_path / "a" / "db"
    with new_folder(target) as folder:
        (folder / "file").write_text("new")
        assert not target.exists()
    assert (target / "file").read_text() == "new"
    assert [p.name for p in target.parent.iterdir()] == ["db"]


def test_no_file_stays_open(tmp_path):
    before = len(os.listdir("/proc/self/fd"))
    for name in ("one", "two"):
        with new_folder(tmp_path / name) as folder:
            (folder / "file").write_text("new")
    assert len(os.listdir("/proc/self/fd")) == before


def test_nothing_is_left_when_the_block_raises(tmp_path):
    with pytest.raises(ZeroDivisionError), new_folder(tmp_path / "db") as folder:
        (folder / "file").write_text("half")
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


def test_a_name_taken_meanwhile_is_left_to_its_owner(tmp_path):
    target = tmp_path / "db"
    with pytest.raises(FileError, match="already exists"), new_folder(target) as folder:
        (folder / "file").write_text("ours")
        target.mkdir()
        (target / "file").write_text("theirs")
    assert (target / "file").read_text() == "theirs"
    assert [p.name for p in tmp_path.iterdir()] == ["db"]


def test_only_folders_with_replaceable_files_are_replaced(tmp_path):
    target = tmp_path / "db"
    target.mkdir()
    (target / "file").write_text("old")
    with pytest.raises(FileError, match="already exists"), new_folder(target):
        pass
    with pytest.raises(FileError, match="other alone"), new_folder(target, frozenset({"other"})):
        pass
    with new_folder(target, frozenset({"file", "other"})) as folder:
        (folder / "other").write_text("new")
    assert [p.name for p in target.iterdir()] == ["other"]
    assert [p.name for p in tmp_path.iterdir()] == ["db"]


def test_unwritable_place(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="cannot be written"), new_folder(tmp_path / "file" / "db"):
        pass

import h5py
import numpy as np
import pytest

from pycaffe_dist.data.hdf5_rows import new_rows
from pycaffe_dist.errors import FileError


def test_batches_become_one_dataset(tmp_path):
    path = tmp_path / "rows.h5"
    rows = np.arange(24, dtype=np.float32).reshape(6, 2, 2)
    with new_rows(str(path), "conv1/relu") as append:
        append(rows[:4])
        append(rows[4:])
        assert not path.exists()
    with h5py.File(path) as file:
        np.testing.assert_array_equal(file["conv1/relu"][()], rows)
        assert file["conv1/relu"].dtype == np.float32


def test_existing_file_is_kept(tmp_path):
    (tmp_path / "rows.h5").write_text("mine")
    with (
        pytest.raises(FileError, match="already exists"),
        new_rows(str(tmp_path / "rows.h5"), "data"),
    ):
        pass
    assert (tmp_path / "rows.h5").read_text() == "mine"


def test_nothing_is_left_when_the_block_raises(tmp_path):
    with pytest.raises(ZeroDivisionError), new_rows(str(tmp_path / "x"), "data") as append:
        append(np.zeros((1, 2), np.float32))
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []

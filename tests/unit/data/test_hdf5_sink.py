"""HDF5 files as a whole, and the lists that HDF5Data reads."""

import h5py
import numpy as np
import pytest

from pycaffe_dist.data.hdf5_sink import write_listed, write_whole
from pycaffe_dist.data.hdf5_source import HDF5Source

ROWS = np.arange(6, dtype=np.float32).reshape(3, 2)


def test_a_whole_file_takes_the_place_of_another(tmp_path):
    path = str(tmp_path / "a.h5")
    for rows in (ROWS, ROWS[:2]):
        write_whole(path, data=rows, label=rows[:, 0])
    with h5py.File(path) as file:
        assert {name: file[name][...].tolist() for name in file} == {
            "data": [[0, 1], [2, 3]],
            "label": [0, 2],
        }


@pytest.mark.parametrize(("root", "listed"), [("", "in/a.h5"), ("other", "{0}/in/a.h5")])
def test_a_list_counts_from_where_commands_are_run(tmp_path, monkeypatch, root, listed):
    (tmp_path / "in").mkdir()
    write_listed(tmp_path / "in", "a", {"data": ROWS}, tmp_path / root)
    assert (tmp_path / "in" / "a.txt").read_text() == listed.format(tmp_path) + "\n"
    monkeypatch.chdir(tmp_path)
    out = np.empty((3, 2), np.float32)
    HDF5Source("in/a.txt", ["data"]).read([out])
    np.testing.assert_array_equal(out, ROWS)

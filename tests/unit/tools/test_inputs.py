import pytest

from pycaffe_dist.errors import FileError
from pycaffe_dist.proto.nets import read_net
from pycaffe_dist.tools.inputs import check_sources, check_weights

NET = """
layer { name: "train" type: "Data" top: "a" data_param { source: "db/train" }
        include { phase: TRAIN } }
layer { name: "test" type: "ImageData" top: "a" image_data_param { source: "list.txt" }
        transform_param { mean_file: "mean.binaryproto" } include { phase: TEST } }
layer { name: "h5" type: "HDF5Data" top: "b" hdf5_data_param { source: "h5.txt" } }
layer { name: "w" type: "WindowData" top: "c" window_data_param { source: "w.txt" mean_file: "m" } }
layer { name: "other" type: "DummyData" top: "d" data_param { source: "not read" } }
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    (tmp_path / "nets").mkdir()
    (tmp_path / "nets" / "net.prototxt").write_text(NET)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def file(phase):
    found = read_net("nets/net.prototxt")
    found.net.state.phase = phase
    return found


def test_all_that_is_missing_is_told_at_once(here):
    (here / "h5.txt").touch()
    with pytest.raises(FileError) as e:
        check_sources([file(0), file(1), file(1)])
    assert str(e.value).splitlines() == [
        f'nets/net.prototxt:{line}: layer "{name}" ({kind}): its {field} "{path}" is not there, '
        f"seen from {here}"
        for line, name, kind, field, path in (
            (2, "train", "Data", "source", "db/train"),
            (7, "w", "WindowData", "source", "w.txt"),
            (7, "w", "WindowData", "mean_file", "m"),
            (4, "test", "ImageData", "source", "list.txt"),
            (4, "test", "ImageData", "mean_file", "mean.binaryproto"),
        )
    ] + ["Make what is missing, or try the net with --fake-data."]


def test_a_folder_from_which_it_would_be_there(here):
    (here / "nets" / "db").mkdir()
    (here / "nets" / "db" / "train").touch()
    with pytest.raises(FileError, match=f"it is, seen from {here}/nets: run from that folder"):
        check_sources([file(0)])


def test_what_is_there_passes(here):
    for name in ("h5.txt", "w.txt", "m", "list.txt", "mean.binaryproto"):
        (here / name).touch()
    check_sources([file(1)])


def test_weights(here):
    (here / "a.caffemodel").touch()
    check_weights([])
    check_weights(["", "a.caffemodel,a.caffemodel"])
    with pytest.raises(FileError, match=f'the weights file "b" is not there, seen from {here}'):
        check_weights(["a.caffemodel,b"])

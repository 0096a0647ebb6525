import importlib
import sys

import pytest

import pycaffe_dist
from pycaffe_dist.pycaffe import as_caffe


@pytest.fixture(autouse=True)
def clean(monkeypatch):
    def forget():
        for name in [n for n in sys.modules if n.split(".")[0] == "caffe"]:
            del sys.modules[name]

    monkeypatch.setattr(
        sys, "meta_path", [f for f in sys.meta_path if not isinstance(f, as_caffe._Finder)]
    )
    monkeypatch.setattr(sys, "path", list(sys.path))
    forget()
    yield
    forget()


def test_caffe_is_this_package():
    as_caffe.install_as_caffe()
    caffe = importlib.import_module("caffe")
    assert caffe is pycaffe_dist
    assert caffe.__name__ == "pycaffe_dist" and caffe.__spec__.name == "pycaffe_dist"


def test_modules_are_the_same_objects_not_copies():
    as_caffe.install_as_caffe()
    pb2 = importlib.import_module("caffe.proto.caffe_pb2")
    assert pb2 is importlib.import_module("pycaffe_dist.proto.caffe_pb2")
    assert pb2.__spec__.name == "pycaffe_dist.proto.caffe_pb2"
    assert sys.modules["caffe.proto"] is sys.modules["pycaffe_dist.proto"]


def test_statements_of_scripts():
    as_caffe.install_as_caffe()
    names = {}
    exec("import caffe.proto\nfrom caffe.proto import caffe_pb2\nfrom caffe import proto", names)
    assert names["caffe_pb2"].NetParameter is pycaffe_dist.proto.caffe_pb2.NetParameter
    assert names["proto"] is pycaffe_dist.proto


def test_what_is_not_there_is_not_found():
    as_caffe.install_as_caffe()
    with pytest.raises(ModuleNotFoundError, match=r"caffe\.nonsense"):
        importlib.import_module("caffe.nonsense")


def test_once_is_enough():
    as_caffe.install_as_caffe()
    as_caffe.install_as_caffe()
    assert sum(isinstance(f, as_caffe._Finder) for f in sys.meta_path) == 1


def test_another_caffe_goes_first(tmp_path):
    (tmp_path / "caffe").mkdir()
    (tmp_path / "caffe" / "__init__.py").write_text("real = True")
    (tmp_path / "caffe" / "io.py").write_text("also = 'real'")
    sys.path.insert(0, str(tmp_path))
    importlib.invalidate_caches()
    as_caffe.install_as_caffe()
    assert importlib.import_module("caffe").real
    assert importlib.import_module("caffe.io").also == "real"


def test_a_mere_folder_is_no_caffe(tmp_path):
    (tmp_path / "caffe").mkdir()
    sys.path.insert(0, str(tmp_path))
    importlib.invalidate_caches()
    as_caffe.install_as_caffe()
    assert importlib.import_module("caffe") is pycaffe_dist


def test_what_only_a_fork_has_is_taken_from_its_folder(tmp_path, monkeypatch):
    """SSD's scripts import caffe.model_libs, which lies beside its pycaffe."""
    (tmp_path / "caffe" / "more").mkdir(parents=True)
    (tmp_path / "caffe" / "__init__.py").write_text("raise ImportError('no _caffe.so')")
    (tmp_path / "caffe" / "io.py").write_text("other = True")
    (tmp_path / "caffe" / "model_libs.py").write_text("from caffe import layers as L\n")
    (tmp_path / "caffe" / "more" / "__init__.py").write_text("")
    (tmp_path / "caffe" / "more" / "heads.py").write_text("import caffe\nNet = caffe.Net\n")
    as_caffe.install_as_caffe()
    monkeypatch.setitem(sys.modules, "caffe", pycaffe_dist)  # as pcd run does
    sys.path.insert(0, str(tmp_path))
    importlib.invalidate_caches()
    try:
        assert importlib.import_module("caffe.model_libs").L is pycaffe_dist.layers
        assert importlib.import_module("caffe.more.heads").Net is pycaffe_dist.Net
        assert importlib.import_module("caffe.io") is pycaffe_dist.io
    finally:
        for name in ("model_libs", "more"):
            vars(pycaffe_dist).pop(name, None)

import json
import shlex
import subprocess
import sys
from types import SimpleNamespace

import pytest

from pycaffe_dist.engines import NAMES, current
from pycaffe_dist.engines.cupy.cudnn import library as cudnn
from pycaffe_dist.engines.onednn.core import library
from pycaffe_dist.errors import MissingPartError
from pycaffe_dist.report import info
from pycaffe_dist.report.info import Row, as_json, as_text
from pycaffe_dist.version import VERSION


def find(rows, section, name):
    return next(row for row in rows if (row.section, row.name) == (section, name))


@pytest.fixture(scope="module")
def rows():
    return info.gather()


def test_the_machine(rows):
    assert find(rows, "machine", "pycaffe_dist").text == VERSION
    assert find(rows, "machine", "Python").text[0].isdigit()
    assert "usable of" in find(rows, "machine", "cores").text
    assert find(rows, "engines", "numpy").there


@pytest.mark.parametrize("name", ["numpy", "protobuf", "lmdb", "pillow", "h5py", "cramjam"])
def test_required_packages(rows, name):
    row = find(rows, "packages", name)
    assert row.there
    assert row.text[0].isdigit()


def test_optional_packages_are_there_or_say_how_to_get_them(rows):
    packages = [row for row in rows if row.section == "packages"]
    assert {"mpi4py", "matplotlib", "cupy-cuda12x"} <= {row.name for row in packages}
    for row in packages:
        if row.there:
            assert not row.add
        else:
            assert row.text.startswith("not installed: ")
            assert row.add.startswith(f"{shlex.quote(sys.executable)} -m pip install '")
            assert row.name in row.add


def test_with_cupy_for_cuda_13_nobody_is_told_to_add_that_for_12(monkeypatch):
    there = {"cupy-cuda13x": "14.2.0"}
    monkeypatch.setattr(info, "_version", there.get)
    packages = {row.name: row for row in info._packages()}
    assert packages["cupy-cuda13x"].there and "cupy-cuda12x" not in packages
    assert "'nvidia-nccl-cu13" in packages["nvidia-nccl-cu13"].add
    assert "cupy" not in packages["nvidia-nccl-cu13"].add
    assert info._cupy().text.startswith("CuPy 14.2.0")


def test_there_is_always_a_word_on_mpi_and_gpus(rows):
    assert {"MPI", "GPUs"} <= {row.section for row in rows}
    find(rows, "MPI", "mpirun")


def test_missing_packages(monkeypatch):
    monkeypatch.setattr(info, "_version", lambda name: None if name == "matplotlib" else "1.2")
    row = find(info._packages(), "packages", "matplotlib")
    assert (row.there, row.text) == (False, "not installed: charts of training logs")
    assert "matplotlib" in row.add


def test_only_what_is_missing_of_an_extra_is_to_be_installed(monkeypatch):
    """With NCCL there and CuPy missing, an NCCL of our choice is not asked for."""
    monkeypatch.setattr(info, "_version", lambda name: None if "cupy" in name else "2.27")
    cupy = find(info._packages(), "packages", "cupy-cuda12x")
    assert "cupy-cuda12x" in cupy.add
    assert "nccl" not in cupy.add


def test_tools_of_developers_are_not_parts(rows):
    assert not {"pytest", "ruff", "mypy"} & {row.name for row in rows}


# -- engines ---------------------------------------------------------------------------------------


def test_all_engines_are_there(rows):
    engines = [row for row in rows if row.section == "engines"]
    assert {row.name for row in engines} == set(NAMES)
    default = [row.name for row in engines if "computes unless another is named" in row.text]
    assert default == [current().name]


@pytest.mark.parametrize("name", ["numpy", "quux"])
def test_the_engine_that_is_named(monkeypatch, name):
    monkeypatch.setenv("PCD_ENGINE", name)
    default = [row.name for row in info._engines() if "unless another is named" in row.text]
    assert default == (["numpy"] if name == "numpy" else [])


def test_no_onednn(monkeypatch):
    def load():
        raise MissingPartError("oneDNN is not there.\nInstall it with: this")

    monkeypatch.setattr(library, "load", load)
    monkeypatch.setattr(info, "_version", lambda name: None)
    row = info._onednn()
    assert (row.there, row.text) == (False, "oneDNN is not there.")
    assert "onednn" in row.add


@pytest.mark.parametrize(
    ("version", "gpu", "there", "text"),
    [
        ("14.2", True, True, "CuPy 14.2"),
        ("14.2", False, False, "CuPy 14.2, but there is no GPU"),
        (None, True, False, "CuPy is not installed"),
    ],
)
def test_cupy(monkeypatch, version, gpu, there, text):
    monkeypatch.setattr(info, "_version", lambda name: version)
    monkeypatch.setattr(info, "_gpus", lambda: [Row("GPUs", "GPU 0", gpu, "")])
    row = info._cupy()
    assert (row.there, row.text) == (there, text)
    assert bool(row.add) == (version is None)


# -- MPI and GPUs ----------------------------------------------------------------------------------


class Probe:
    def __init__(self, stdout="", stderr=""):
        self.stdout, self.stderr = stdout, stderr


@pytest.mark.parametrize(
    ("probe", "rows"),
    [
        (Probe('{"vendor": "Open MPI 5", "mpi4py": "4"}'), [("vendor", True), ("mpi4py", True)]),
        (Probe("", "noise\nno such symbol"), [("library", False)]),
        (Probe("not JSON"), [("library", False)]),
        (subprocess.TimeoutExpired("x", 1), [("library", False)]),
    ],
)
def test_mpi(monkeypatch, probe, rows):
    def run(*args, **kwargs):
        if isinstance(probe, Exception):
            raise probe
        return probe

    monkeypatch.setattr(info.subprocess, "run", run)
    monkeypatch.setattr(info.importlib.util, "find_spec", lambda name: object())
    got = info._mpi()[1:]
    assert [(row.name, row.there) for row in got] == rows
    for row in got:
        assert row.section == "MPI"
        assert row.there or "mpi4py" in row.add
    if isinstance(probe, Probe) and probe.stderr:
        assert got[0].text == "does not start: no such symbol"


def test_no_mpi_at_all(monkeypatch):
    monkeypatch.setattr(info.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(info.shutil, "which", lambda *args, **kwargs: None)
    mpirun, library = info._mpi()
    assert not mpirun.there
    assert not library.there
    assert "mpi4py" in mpirun.add
    assert mpirun.add == library.add


@pytest.mark.parametrize(
    ("tool", "probe", "rows"),
    [
        (None, None, [("driver", False, "no NVIDIA driver")]),
        (
            "/bin/nvidia-smi",
            Probe("GPU 0: Tesla V100 (UUID: GPU-1)\nGPU 1: Tesla P4 (UUID: GPU-2)\n"),
            [("GPU 0", True, "Tesla V100"), ("GPU 1", True, "Tesla P4")],
        ),
        ("/bin/nvidia-smi", Probe("", "driver mismatch\n"), [("driver", False, "driver mismatch")]),
        ("/bin/nvidia-smi", Probe(), [("driver", False, "no device")]),
    ],
)
def test_gpus(monkeypatch, tool, probe, rows):
    monkeypatch.setattr(info.shutil, "which", lambda name: tool)
    monkeypatch.setattr(info.subprocess, "run", lambda *args, **kwargs: probe)
    got = info._gpus()
    assert len(got) == len(rows)
    for row, (name, there, text) in zip(got, rows, strict=True):
        assert (row.name, row.there) == (name, there)
        assert row.text.startswith(text)


def test_nccl(monkeypatch):
    monkeypatch.setenv("PCD_CUPY", "emulated")
    assert info._nccl() == [Row("GPUs", "NCCL", True, "2.27.3")]
    monkeypatch.delenv("PCD_CUPY")
    monkeypatch.setitem(sys.modules, "cupy", None)
    (row,) = info._nccl()
    assert not row.there and "nvidia-nccl" in row.add


def test_cudnn(monkeypatch):
    monkeypatch.setattr(cudnn, "load", lambda: SimpleNamespace(release="9.12.0"))
    assert info._cudnn() == [Row("GPUs", "cuDNN", True, "9.12.0")]
    monkeypatch.undo()
    monkeypatch.setenv("PCD_CUDNN", "/none/libcudnn.so.9")
    cudnn.load.cache_clear()
    (row,) = info._cudnn()
    assert not row.there and "kernels of our own" in row.text and "nvidia-cudnn" in row.add
    cudnn.load.cache_clear()


ROWS = [
    Row("machine", "cores", True, "2"),
    Row("packages", "numpy", True, "2.0"),
    Row("packages", "mpi4py", False, "not installed: ranks", "pip install mpi4py"),
    Row("packages", "again", False, "not installed: ranks", "pip install mpi4py"),
]


def test_as_text():
    assert as_text(ROWS).splitlines() == [
        "machine",
        "    cores              2",
        "packages",
        "    numpy              2.0",
        "  - mpi4py             not installed: ranks",
        "  - again              not installed: ranks",
        "",
        "To add what is missing:",
        "  pip install mpi4py",
    ]
    assert "missing" not in as_text(ROWS[:2])


def test_as_json():
    rows = json.loads(as_json(ROWS))
    assert rows[2] == {
        "section": "packages",
        "name": "mpi4py",
        "there": False,
        "text": "not installed: ranks",
        "add": "pip install mpi4py",
    }
    assert len(rows) == 4

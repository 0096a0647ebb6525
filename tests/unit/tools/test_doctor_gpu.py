import json

import pytest

from pycaffe_dist.cli import doctor
from pycaffe_dist.engines.cupy import backend, kernels
from pycaffe_dist.testing.cupy_standin import runtime
from pycaffe_dist.tools import doctor_gpu

pytestmark = pytest.mark.timeout(300)  # where kernels have not been compiled before


@pytest.fixture(autouse=True)
def emulated(monkeypatch):
    monkeypatch.setenv(backend.VARIABLE, "emulated")


def test_everything_that_is_there_works(capsys):
    assert doctor.main(["--gpu", "--json"]) == 0
    found = {row["what"]: row for row in json.loads(capsys.readouterr().out)}
    assert found["devices"]["text"] == "2; driver for CUDA 12.9, runtime 12.9"
    for name in ("CuPy", "GPU 0", "GPU 1", "GPU 0: kernels", "GPU 1: product", "NCCL"):
        assert found[name]["fine"], found[name]
    assert found["GPU 0: kernels"]["text"] == f"{len(kernels.FILES)} files are compiled"
    assert found["GPU 1: peers"]["text"] == "a direct way to [0]"


def test_a_machine_without_a_gpu_says_what_is_missing(monkeypatch, capsys):
    monkeypatch.setattr(runtime, "DEVICES", 0)
    assert doctor.main(["--gpu"]) == 1
    said = capsys.readouterr().out
    assert "sees no device" in said and said.rstrip().endswith("devices is missing")
    assert "GPU 0" not in said


def test_a_kernel_that_does_not_compile_is_told(monkeypatch):
    def broken(self, name, dtype):
        raise RuntimeError("nvrtc: error: failed\nand more")

    monkeypatch.setattr("pycaffe_dist.engines.cupy.launch.Launcher.function", broken)
    found = {f.what: f for f in doctor_gpu.examine()}
    kernel = found["GPU 0: kernels"]
    assert not kernel.fine and kernel.text == "RuntimeError: nvrtc: error: failed"


def test_gpus_without_a_direct_way_between_them_train_all_the_same(monkeypatch, capsys):
    monkeypatch.setattr(runtime, "deviceCanAccessPeer", lambda a, b: 0)
    assert doctor.main(["--gpu"]) == 0
    assert "no direct way to [1]" in capsys.readouterr().out

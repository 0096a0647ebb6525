"""Every CUDA source compiles, without a word, for all the architectures that we say we support."""

import pytest

from pycaffe_dist.engines.cupy import kernels
from pycaffe_dist.testing import nvrtc

ARCHITECTURES = ("sm_70", "sm_80", "sm_90", "sm_120")
# What CuPy puts behind our own options (cupy/cuda/compiler.py).
CUPYS = ("-ftz=true", "--device-as-default-execution-space")
OLD = "Architectures prior to"  # said of sm_70, not of our source; no option turns it off


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("file", kernels.FILES)
def test_compiles_without_a_warning(file, architecture):
    oldest_or_newest = architecture in (ARCHITECTURES[0], ARCHITECTURES[-1])
    for dtype in ("float32", "float64") if oldest_or_newest else ("float32",):
        options = (*kernels.options(dtype), *CUPYS)
        log, code = nvrtc.compile(kernels.source(file), file, architecture, options)
        log = "\n".join(line for line in log.splitlines() if OLD not in line)
        assert log == "", f"{file} for {architecture}, {dtype}:\n{log}"
        for kernel in kernels.KERNELS.values():
            if kernel.file == file:
                assert f".text.{kernel.name}\0".encode() in code, (
                    f"{kernel.name} is not in the code"
                )


def test_a_mistake_is_told():
    log, code = nvrtc.compile("__global__ void f() { int unused; g(); }", "f.cu", "sm_80", ())
    assert '"g" is undefined' in log and code == b""


def test_a_warning_is_told():
    log, code = nvrtc.compile("__global__ void f() { int unused; }", "f.cu", "sm_80", ())
    assert "never referenced" in log and code

"""Every CUDA source compiles, without a word, for all the architectures that we say we support."""

import pytest

from pycaffe_dist.engines.cupy import kernels
from pycaffe_dist.testing import nvrtc

ARCHITECTURES = ("sm_70", "sm_80", "sm_90", "sm_120")
# What CuPy puts behind our own options (cupy/cuda/compiler.py).
CUPYS = ("-ftz=true", "--device-as-default-execution-space")
ON_THE_STACK = {"im2col_nd", "col2im_nd"}  # numbers for as many axes as there are
OLD = "Architectures prior to"  # said of sm_70, not of our source; no option turns it off


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("file", kernels.FILES)
def test_compiles_without_a_warning(file, architecture):
    oldest_or_newest = architecture in (ARCHITECTURES[0], ARCHITECTURES[-1])
    for dtype in ("float32", "float64") if oldest_or_newest else ("float32",):
        options = (*kernels.options(dtype), *CUPYS, nvrtc.TELL_NEEDS)
        log, code = nvrtc.compile(kernels.source(file), file, architecture, options)
        check_needs(nvrtc.needs(log), file, architecture, dtype)
        log = nvrtc.without_needs(log)
        log = "\n".join(line for line in log.splitlines() if OLD not in line)
        assert log == "", f"{file} for {architecture}, {dtype}:\n{log}"
        for kernel in kernels.KERNELS.values():
            if kernel.file == file:
                assert f".text.{kernel.name}\0".encode() in code, (
                    f"{kernel.name} is not in the code"
                )


def check_needs(needs, file, architecture, dtype):
    """Registers and shared memory are within the limits that kernels/README.md states."""
    declared = {name for name, kernel in kernels.KERNELS.items() if kernel.file == file}
    assert set(needs) == declared
    for name, taken in needs.items():
        blocks = taken.blocks(nvrtc.MULTIPROCESSORS[architecture], kernels.THREADS)
        said = f"{name} for {architecture}, {dtype}: {taken}, {blocks} blocks at a time"
        tiles = kernels.KERNELS[name].by_tiles
        assert blocks >= (2 if tiles or dtype == "float64" else 4), said
        assert taken.spilled == 0, said
        assert taken.stack == 0 or name in ON_THE_STACK, said


def test_what_a_kernel_needs_limits_how_many_blocks_run_at_a_time():
    source = """extern "C" __global__ void f(float *y) {
        __shared__ float room[10000];
        room[threadIdx.x] = y[threadIdx.x];
        __syncthreads();
        y[threadIdx.x] = room[9999 - threadIdx.x];
    }"""
    log, _ = nvrtc.compile(source, "f.cu", "sm_80", (nvrtc.TELL_NEEDS,))
    (taken,) = nvrtc.needs(log).values()
    assert taken.shared == 40000 and taken.registers > 0
    assert nvrtc.without_needs(log) == ""
    by_shared, by_registers = taken, nvrtc.Needs(0, 0, 129, 0)
    device = nvrtc.MULTIPROCESSORS["sm_80"]
    assert by_shared.blocks(device, 256) == (164 << 10) // 41024
    assert by_registers.blocks(device, 256) == 1
    assert nvrtc.Needs(0, 0, 16, 0).blocks(device, 256) == 8


def test_a_mistake_is_told():
    log, code = nvrtc.compile("__global__ void f() { int unused; g(); }", "f.cu", "sm_80", ())
    assert '"g" is undefined' in log and code == b""


def test_a_warning_is_told():
    log, code = nvrtc.compile("__global__ void f() { int unused; }", "f.cu", "sm_80", ())
    assert "never referenced" in log and code

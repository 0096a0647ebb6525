"""Kernels as a whole: all are tested and described, and the emulation is as strict as a GPU."""

import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from pycaffe_dist.engines.cupy import kernels
from pycaffe_dist.engines.cupy.kernels import KERNELS
from pycaffe_dist.testing import emulation
from pycaffe_dist.testing.emulation import compiler
from pycaffe_dist.testing.kernels import Runner, numbers_of

HERE = Path(__file__).parent


@cache
def function(name):
    """A kernel as the emulation has it, for float32."""
    file = KERNELS[name].file
    code, options = kernels.source(file), kernels.options("float32")
    return emulation.Module(code, options).get_function(name)


def watched():
    """The kernels that tests are about; ``numbers_of`` sees to it that they run them."""
    names = set()
    for path in HERE.glob("test_kernels_*.py"):
        for block in re.findall(r"@numbers_of\((.*?)\)\n(?:def|@)", path.read_text(), re.DOTALL):
            names |= set(re.findall(r'"(\w+)"', block))
    return names


def test_every_kernel_is_executed_by_a_test_of_its_numbers():
    missing = sorted(set(KERNELS) - watched())
    assert not missing, f"{len(missing)} of {len(KERNELS)} kernels are not: {missing}"


def test_a_test_that_does_not_run_its_kernel_fails():
    @numbers_of("fill", "add")
    def idle(run):
        run("fill", 1, 1, run.empty(1))

    with pytest.raises(AssertionError, match="never run: add"):
        idle(Runner("float32"))


def test_the_readme_lists_every_kernel_with_its_arguments():
    text = Path(kernels.__file__).with_name("README.md").read_text()
    listed = text.split("```c")[1]
    joined = re.sub(r"\n {4}(?=\S)", " ", listed)
    told = dict(re.findall(r"^(\w+)\(([^)]*)\)", joined, re.MULTILINE))
    for name, kernel in KERNELS.items():
        said = ", ".join(f"{a.type} {a.stars}{a.name}" for a in kernel.parameters)
        assert told.pop(name, "") == said, f"README.md on {name}"
    assert f"\n{len(KERNELS)} of them." in text
    assert not told, f"README.md lists kernels that are not there: {sorted(told)}"


def test_a_kernel_that_leaves_its_arrays_is_caught():
    run = Runner("float64")
    with pytest.raises(AssertionError, match="fill: y: written outside"):
        run("fill", 5, 1, run.empty(4))
    run = Runner("float32")  # in this type every access is looked at
    with pytest.raises(AssertionError, match=r"fill: y\[4\] of 4 is written .* outside of every"):
        run("fill", 5, 1, run.empty(4))


def relu(*args):
    function("relu_forward")((1,), (32,), args)


def test_arguments_must_have_the_types_that_the_kernel_declares():
    n, slope, x = np.int32(4), np.float32(0), np.ones(4, np.float32)
    relu(n, slope, x, x)
    for bad in (0.0, np.float64(0), 0):
        with pytest.raises(TypeError, match="relu_forward: slope is a float32"):
            relu(n, bad, x, x)
    with pytest.raises(TypeError, match="x is an array of float32, not float64"):
        relu(n, slope, np.ones(4), x)
    with pytest.raises(TypeError, match="contiguous"):
        relu(n, slope, np.ones(8, np.float32)[::2], x)
    fixed = x.copy()
    fixed.flags.writeable = False
    relu(n, slope, fixed, x)
    with pytest.raises(TypeError, match="not writeable"):
        relu(n, slope, x, fixed)


def test_numbers_are_made_of_the_declared_types():
    made = KERNELS["dropout"].arguments((3, 1 << 31, 2, 1 << 40, 1, 2, "x", "y"), "float64")
    kinds = [type(a) for a in made]
    assert kinds == [
        *(np.int32, np.uint32, np.float64, np.uint64, np.uint32, np.uint64, str, str),
    ]
    with pytest.raises(TypeError, match="fill takes \\(n, value, y\\), not 2 arguments"):
        KERNELS["fill"].arguments((1, 2), "float32")


PART_AT_A_BARRIER = """
KERNEL parted(int rows, float *y) {
  if (threadIdx.x < 3) __syncthreads();
  y[threadIdx.x] = 1;
}
KERNEL barrier(int n, float *y) { __syncthreads(); }
KERNEL turn(int rows, float *y) {
  __shared__ float room[256];
  room[threadIdx.x] = (float)(blockIdx.x * 1000 + threadIdx.x);
  __syncthreads();
  y[blockIdx.x * blockDim.x + threadIdx.x] = room[blockDim.x - 1 - threadIdx.x];
}
"""


def test_threads_wait_for_each_other_and_are_told_on_when_they_part():
    code = '#define KERNEL extern "C" __global__ void\n' + PART_AT_A_BARRIER
    made = emulation.Module(code)
    y = np.zeros(3 * 64, np.float32)
    made.get_function("turn")((3,), (64,), (np.int32(3), y))
    want = [1000 * b + 63 - t for b in range(3) for t in range(64)]
    np.testing.assert_array_equal(y, want)
    with pytest.raises(RuntimeError, match="parted: some threads of a block end while others wait"):
        made.get_function("parted")((1,), (8,), (np.int32(1), y))
    with pytest.raises(RuntimeError, match="launched by elements has a barrier"):
        made.get_function("barrier")((1,), (8,), (np.int32(1), y))
    with pytest.raises(ValueError, match="power of two"):
        made.get_function("turn")((1,), (100,), (np.int32(1), y))


@pytest.mark.parametrize("size", [1, 2, 32, 256])
def test_any_block_gives_the_same_sums(size):
    x, (partial, y) = np.arange(1000, dtype=np.float32), np.zeros((2, 3), np.float32)
    kernel, tickets = KERNELS["channel_sums"], np.zeros(1, np.uint32)
    given = kernel.arguments((3, 3, 1, 1, 1000, 1, 0, x, partial, tickets, y[:1]), "float32")
    function("channel_sums")((2,), (size,), given)
    assert y[0] == x.sum()
    assert partial.tolist() == [part.sum() for part in (x[:333], x[333:666], x[666:])]


@pytest.mark.parametrize("grid", [1, 3, 50])
def test_any_grid_reaches_every_element_once(grid):
    x, y = np.arange(5000, dtype=np.float32), np.zeros(5000, np.float32)
    kernel = KERNELS["axpy"]
    function("axpy")((grid,), (256,), kernel.arguments((5000, 1, x, y), "float32"))
    np.testing.assert_array_equal(y, x)


def test_a_missing_compiler_is_one_clear_line(monkeypatch):
    monkeypatch.setenv("CXX", "no-such-compiler")
    compiler.identity.cache_clear()
    try:
        with pytest.raises(ImportError, match="needs a C\\+\\+ compiler: install g\\+\\+"):
            emulation.Module("KERNEL f(int n) {}")
    finally:
        compiler.identity.cache_clear()


def test_what_the_compiler_says_is_told():
    with pytest.raises(RuntimeError, match="no_such_function"):
        emulation.Module('extern "C" void f() { no_such_function(); }')


def test_without_a_cache_that_can_be_written_kernels_are_compiled_all_the_same(
    tmp_path, monkeypatch
):
    (tmp_path / "file").touch()
    monkeypatch.setenv("PCD_CACHE", str(tmp_path / "file" / "below"))
    code, options = kernels.source(KERNELS["axpy"].file), kernels.options("float32")
    axpy = emulation.Module(code, options).get_function("axpy")
    x, y = np.arange(50, dtype=np.float32), np.zeros(50, np.float32)
    axpy((1,), (64,), KERNELS["axpy"].arguments((50, 2, x, y), "float32"))
    np.testing.assert_array_equal(y, 2 * x)
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]

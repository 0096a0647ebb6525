"""The emulation that looks at every access: what it finds, and what it says."""

import re

import numpy as np
import pytest

from pycaffe_dist.testing import emulation
from pycaffe_dist.testing.emulation import AccessError, Way, running

N = 64
CODE = """
#define KERNEL extern "C" __global__ void
KERNEL reverse(int rows, float *y) {
  __shared__ float room[64];
  room[threadIdx.x] = 1.f;
  __syncthreads();
  y[threadIdx.x] = room[63 - threadIdx.x];
}
KERNEL no_barrier(int rows, float *y) {
  __shared__ float room[64];
  room[threadIdx.x] = 1.f;
  y[threadIdx.x] = threadIdx.x == 5 ? room[4] + room[6] : 0.f;
}
KERNEL read_too_late(int rows, float *y) {
  __shared__ float room[64];
  room[threadIdx.x] = 1.f;
  __syncthreads();
  if (threadIdx.x) y[threadIdx.x] = room[0];
  if (threadIdx.x == 0) room[0] = 2.f;
}
KERNEL unwritten(int rows, float *y) {
  __shared__ float room[64];
  if (blockIdx.x == 0) room[threadIdx.x] = 1.f;
  y[blockIdx.x * blockDim.x + threadIdx.x] = room[threadIdx.x];
}
KERNEL beyond(int rows, float *y) {
  __shared__ float room[64];
  room[threadIdx.x + 1] = 1.f;
  __syncthreads();
  y[threadIdx.x] = room[1];
}
KERNEL same_element(int n, float *y) { y[threadIdx.x / 2] = 1.f; }
KERNEL other_block(int rows, float *y) {
  if (blockIdx.x == 0) y[threadIdx.x] = 1.f;
  __syncthreads();
  if (blockIdx.x == 1 && threadIdx.x == 3) y[32] = y[9];
}
KERNEL own_block(int rows, float *y) {
  y[threadIdx.x] = 1.f;
  __syncthreads();
  y[63 - threadIdx.x] += 1.f;
}
KERNEL before(int n, float *y) { y[(int)threadIdx.x - 1] = 1.f; }
KERNEL read_first(int n, float *y) { y[threadIdx.x] += 1.f; }
KERNEL most(int n, int *y) { atomicMax(y, (int)threadIdx.x); }
KERNEL most_and_read(int n, int *y) {
  atomicMax(y, (int)threadIdx.x);
  if (threadIdx.x == 60) y[1] = y[0];
}
KERNEL no_end(int n, float *y) { for (;;) y[threadIdx.x] = 1.f; }
KERNEL local(int n, float *y) {
  int digits[8];
  for (int k = 0; k < 8; ++k) digits[(k * n + threadIdx.x) % 8] = k;
  y[threadIdx.x] = (float)digits[threadIdx.x % 8];
}
"""
LAST_READS = """
KERNEL NAME(int rows, float *y) {
  __shared__ unsigned last;
  unsigned *ticket = (unsigned *)(y + 3);
  if (threadIdx.x == 0) {
    y[blockIdx.x] = 1.f;
    BEFORE;
    last = CHANGE;
    BEHIND;
  }
  __syncthreads();
  if (last == 1 && threadIdx.x == 5) y[2] = y[0] + y[1];
}
"""
FENCE, TICKET = "__threadfence()", "atomicInc(ticket, 1)"
for name, before, change, behind in (
    ("last_block", FENCE, TICKET, FENCE),
    ("no_fence_before", "", TICKET, FENCE),
    ("no_fence_behind", FENCE, TICKET, ""),
    ("no_atomic", FENCE, "ticket[0]++", FENCE),
):
    words = {"NAME": name, "BEFORE": before, "CHANGE": change, "BEHIND": behind}
    made = LAST_READS
    for word, text in words.items():
        made = made.replace(word, text)
    CODE += made


@pytest.fixture(scope="module")
def module():
    with running(Way(checked=True)):
        return emulation.Module(CODE)


def launch(module, name, y, blocks=1, **way):
    with running(Way(checked=True, **way)):
        module.get_function(name)((blocks,), (N,), (np.int32(3), y))


@pytest.mark.parametrize("backwards", [False, True])
def test_what_is_right_passes_in_both_orders(module, backwards):
    y = np.empty(N, np.float32)
    for name, want in (("reverse", 1), ("own_block", 2), ("local", None)):
        y.view(np.uint8)[...] = 0xFF
        launch(module, name, y, backwards=backwards)
        assert want is None or (y == want).all()
    sums = np.zeros(4, np.float32)
    launch(module, "last_block", sums, 2, backwards=backwards)
    assert sums.tolist() == [1, 1, 2, 0]
    whole = np.zeros(2, np.int32)
    launch(module, "most", whole, 2, backwards=backwards)
    assert whole.tolist() == [N - 1, 0]


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize(
    ("name", "blocks", "what"),
    [
        ("no_barrier", 1, r"shared room\[[46]\] is .* thread 5 .*(no barrier|nobody has written)"),
        ("read_too_late", 1, r"shared room\[0\] is .* thread 0 .*no barrier is between"),
        ("unwritten", 2, r"shared room\[\d+\] is read by .* block 1 .*nobody has written it"),
        ("beyond", 1, r"shared room\[64\] of 64 is written by thread 63 .*outside of every"),
        ("same_element", 1, r"y\[\d+\] is written by thread \d+ .* and written by thread \d+"),
        ("other_block", 2, r"y\[\d+\] is .* thread \d+ of block \d .* and (read|written) by"),
        ("no_fence_before", 2, r"y\[[01]\] is written by .* and read by thread 5 .*no barrier"),
        ("no_fence_behind", 2, r"y\[[01]\] is written by .* and read by thread 5 .*no barrier"),
        ("no_atomic", 2, r"y\[3\] is (read|written) by thread 0 of block \d .*no barrier"),
        ("before", 1, r"y\[-1\] of 128 is written by thread 0 of block 0 .*outside"),
    ],
)
def test_what_is_wrong_is_found_in_both_orders(module, name, blocks, what, backwards):
    y = np.zeros(2 * N, np.float32)
    with pytest.raises(AccessError) as raised:
        launch(module, name, y, blocks, backwards=backwards)
    said = str(raised.value)
    assert said.startswith(f"{name}: ") and re.search(what, said), said


def test_memory_that_nobody_wrote_is_not_read(module):
    y = np.zeros(N, np.float32)
    launch(module, "read_first", y)
    y[5:].view(np.uint8)[...] = 0xFF
    with pytest.raises(AccessError, match=r"y\[5\] is read by thread 5 .*nobody has written it"):
        launch(module, "read_first", y)


def test_atomic_operations_are_no_race_but_for_plain_accesses(module):
    with pytest.raises(AccessError, match=r"y\[0\] is changed by an atomic .*, and read by"):
        launch(module, "most_and_read", np.zeros(2, np.int32))


def test_a_kernel_that_does_not_end_is_ended(module, monkeypatch):
    monkeypatch.setattr(emulation.checking, "MOST_STEPS", 1000)
    with pytest.raises(AccessError, match="after 1000 accesses the kernel does not end"):
        launch(module, "no_end", np.zeros(N, np.float32))


def test_the_message_names_the_lines(module):
    with pytest.raises(AccessError, match=re.escape("(`KERNEL same_element(int n, float *y)")):
        launch(module, "same_element", np.zeros(N, np.float32))


def test_after_an_error_kernels_run_as_before(module):
    for _ in range(3):
        with pytest.raises(AccessError):
            launch(module, "no_barrier", np.zeros(N, np.float32))
        y = np.zeros(N, np.float32)
        launch(module, "reverse", y)
        assert (y == 1).all()


def test_shared_memory_begins_as_nan_in_every_block():
    made = emulation.Module(CODE).get_function("unwritten")
    y = np.zeros(2 * N, np.float32)
    made((2,), (N,), (np.int32(2), y))
    assert (y[:N] == 1).all() and np.isnan(y[N:]).all()


ROUNDING = """
#define KERNEL extern "C" __global__ void
KERNEL fused(int n, const float *a, const float *b, const float *c, float *y) {
  y[threadIdx.x] = a[threadIdx.x] * b[threadIdx.x] + c[threadIdx.x];
}
"""


def test_products_and_sums_are_rounded_once_and_subnormals_are_zeros():
    made = emulation.Module(ROUNDING)
    a = np.array([1 + 2**-12, 1e-30, 1, 0], np.float32)
    b = np.array([1 - 2**-12, 1e-9, 1e-39, 0], np.float32)
    c = np.array([-1, 0, 0, 0], np.float32)
    y = np.ones(4, np.float32)
    made.get_function("fused")((1,), (4,), (np.int32(3), a, b, c, y))
    once = "-mfma" in emulation.compiler.machine()  # twice where the CPU has no such instruction
    assert y.tolist() == [-(2.0**-24) if once else 0, 0, 0, 0]

"""The stand-in for CuPy: as strict as a device, and nothing in it that CuPy does not have."""

import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import pycaffe_dist.layers
from pycaffe_dist.testing import cupy_standin as xp
from pycaffe_dist.testing.cupy_standin import array as arrays
from pycaffe_dist.testing.cupy_standin import cuda, runtime
from pycaffe_dist.testing.cupy_standin.cuda import cublas

# What the stand-in is made of and looked at by.
OURS = {"COUNTS", "POOL", "RaceError", "FUNCTIONS", "UFUNCS", "WAITS", "lift", "own", "touch"}
OURS |= {"array", "kernels", "memory", "runtime", "np", "annotations", "SimpleNamespace"}
OURS |= {"Sequence", "Any", "Given", "given"}


# -- against the real package ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def cupy():
    return pytest.importorskip("cupy", reason="pip install cupy-cuda12x: no GPU is needed for it")


def test_every_name_is_in_cupy(cupy):
    for name in public(xp) - OURS:
        assert hasattr(cupy, name), name
    for name in public(cuda, cuda.__all__):
        assert hasattr(cupy.cuda, name), name
    for name in public(runtime) - {"DEVICES", "threading", "Facts", "Given", "annotations"}:
        assert hasattr(cupy.cuda.runtime, name), name
    for ours, theirs in ((cuda.Device, cupy.cuda.Device), (cuda.Event, cupy.cuda.Event)):
        for name in public(ours):
            assert hasattr(theirs, name), name
    assert hasattr(cupy.lib.stride_tricks, "as_strided")


def test_every_method_of_an_array_is_in_cupys(cupy):
    class Plain:
        """What Python itself gives each class, 3.13 more than others."""

    for name in {*vars(xp.ndarray), *arrays.METHODS} - {"_host", "_memory", *vars(Plain)}:
        assert hasattr(cupy.ndarray, name), name


def public(module, names=None):
    return {n for n in names or vars(module) if not n.startswith("_")}


TWINS = [
    "asarray",
    "empty",
    "zeros",
    "arange",
    "ndarray.get",
    "ndarray.set",
    "ndarray.fill",
    "add.at",
    "cuda.Stream",
    "cuda.Stream.record",
    "cuda.Stream.wait_event",
    "cuda.Stream.use",
    "cuda.Stream.synchronize",
    "cuda.Event",
    "cuda.Event.record",
    "cuda.Event.synchronize",
    "cuda.Device",
    "cuda.Device.use",
    "cuda.alloc_pinned_memory",
    "cuda.get_current_stream",
    "cuda.get_elapsed_time",
    "cuda.runtime.getDeviceProperties",
    "cuda.runtime.setDevice",
    "RawModule",
    "RawModule.get_function",
]


def parameters(found):
    """The names of a function's parameters; compiled ones have them in their documentation."""
    try:
        return [p for p in inspect.signature(found).parameters if p != "self"]
    except (TypeError, ValueError):
        first = (found.__doc__ or "").strip().split("\n")[0]
        inside = first[first.index("(") + 1 :].split(") ->")[0].rstrip(")")
        words = [part.split("=")[0].split()[-1] for part in inside.split(",") if part.strip()]
        return [word for word in words if word not in ("self", "*")]


@pytest.mark.parametrize("name", TWINS)
def test_signatures_are_cupys(cupy, name):
    def find(module):
        for part in name.split("."):
            module = getattr(module, part)
        return module

    ours, theirs = parameters(find(xp)), parameters(find(cupy))
    assert theirs[: len(ours)] == ours, (ours, theirs)


CUBLAS = ["setMathMode", "getMathMode", "sgemm", "dgemm"]
CUBLAS += ["sgemmStridedBatched", "dgemmStridedBatched", "gemmEx", "gemmStridedBatchedEx"]


@pytest.mark.parametrize("name", CUBLAS)
def test_products_are_told_as_cupy_wants_them(cupy, name):
    """Read, not imported: without cuBLAS, which a GPU's owner has, it cannot be."""
    folder = Path(cupy.__file__).parents[1] / "cupy_backends" / "cuda" / "libs"
    (library,) = folder.glob("cublas.*.so")
    (told,) = set(re.findall(rf"\0{name}\(([^)]+)\)".encode(), library.read_bytes()))
    theirs = [part.split()[-1] for part in told.decode().split(",")]
    assert theirs == parameters(getattr(cublas, name))


def test_what_generic_layers_ask_of_xp_is_in_cupy(cupy):
    """By reading them: every ``xp.name`` and ``self.xp.name``."""
    used = set()
    for path in Path(pycaffe_dist.layers.__file__).parent.glob("*.py"):
        used |= set(re.findall(r"\bxp\.([a-z_0-9.]+)", path.read_text()))
    assert {"matmul", "einsum", "add.at", "lib.stride_tricks.as_strided"} <= used
    for name in used:
        found = cupy
        for part in name.split("."):
            assert hasattr(found, part), name
            found = getattr(found, part)


def test_without_a_driver_cupy_says_so(cupy):
    """The message that the engine builds on; on a machine with a GPU there is nothing to say."""
    try:
        assert cupy.cuda.runtime.getDeviceCount() >= 0
    except cupy.cuda.runtime.CUDARuntimeError as e:
        assert str(e).startswith("cudaError")


# -- on its own ------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def counts():
    xp.COUNTS.clear()
    with cuda.Stream(non_blocking=True):
        yield xp.COUNTS


def device(*values):
    return xp.asarray(np.array(values, np.float32))


def test_host_and_device_do_not_mix():
    there, here = device(1, 2, 3), np.ones(3, np.float32)
    mixes = [
        lambda: there + here,
        lambda: here * there,
        lambda: np.add(here, there),
        lambda: xp.add(there, here),
        lambda: xp.add(there, there, out=here),
        lambda: there[here.astype(int)],
        lambda: np.asarray(there),
    ]
    for mix in mixes:
        with pytest.raises(TypeError):
            mix()
    with pytest.raises(ValueError, match="non-scalar"):
        there[...] = here
    with pytest.raises(TypeError):
        here[...] = there
    assert (there + 1).get().tolist() == [2, 3, 4]
    assert (np.float32(2) * there).get().tolist() == [2, 4, 6]


def test_whoever_looks_waits(counts):
    x = device(1, 2, 3)
    counts.clear()
    total = x.sum()
    assert total.shape == () and not counts["synchronise"]
    for look in (float, int, bool, lambda t: t.item(), lambda t: t.get(), lambda t: x[x > 1]):
        counts.clear()
        look(total)
        assert counts["synchronise"] == 1
    counts.clear()
    x[x > 1] = 0
    assert not counts["synchronise"]


def test_memory_is_given_back_and_used_again(counts):
    first = xp.empty(1000, np.float32)
    view = first[10:20].reshape(2, 5)
    asked = counts["malloc"]
    del first
    second = xp.empty(1000, np.float32)
    assert counts["malloc"] == asked + 1, "a view keeps its memory"
    del view, second
    xp.empty(1000, np.float32)
    assert counts["malloc"] == asked + 1
    assert np.isnan(xp.empty(3, np.float32).get()).all(), "nobody counts on what is in it"


def test_two_streams_that_nothing_orders_race():
    one, two = cuda.Stream(), cuda.Stream()
    with one:
        x = xp.zeros(3)
    with two, pytest.raises(xp.RaceError, match="reads what is being written"):
        x + 1
    two.wait_event(one.record())
    with two:
        y = x + 1
    with one, pytest.raises(xp.RaceError, match="writes what is being read"):
        x.fill(2)
    two.synchronize()
    with one:
        x.fill(2)
        assert x.get().tolist() == [2, 2, 2]
    assert y.get(stream=two).tolist() == [1, 1, 1]


def test_memory_freed_on_one_stream_and_read_on_another_races():
    """What a landing that is dropped too early would do."""
    copy, compute = cuda.Stream(), cuda.Stream()
    with copy:
        landing = xp.zeros(777)
    compute.wait_event(copy.record())
    with compute:
        landing + 1
    del landing
    with copy, pytest.raises(xp.RaceError):
        xp.zeros(777)


def test_a_copy_from_memory_that_is_not_pinned_makes_the_host_wait(counts):
    x = xp.zeros(4, np.float32)
    counts.clear()
    x.set(np.ones(4, np.float32), stream=cuda.get_current_stream())
    assert counts["synchronise"] == 1
    pinned = np.frombuffer(cuda.alloc_pinned_memory(16), np.float32)
    pinned[...] = 2
    counts.clear()
    x.set(pinned, stream=cuda.get_current_stream())
    assert counts["synchronise"] == 0
    assert x.get().tolist() == [2, 2, 2, 2]


# -- where CuPy is stricter than NumPy -------------------------------------------------------------


def test_a_sequence_fills_nothing():
    x = device(1, 2)
    with pytest.raises(ValueError, match="non-scalar"):
        x[...] = [3, 4]
    x[...] = np.float32(3)
    assert x.get().tolist() == [3, 3]


def test_copies_to_and_from_the_host_are_of_contiguous_arrays():
    x, host = xp.zeros((4, 6), np.float32), np.ones((4, 3), np.float32)
    with pytest.raises(RuntimeError, match="non-contiguous"):
        x[:, ::2].set(host)
    with pytest.raises(RuntimeError, match="non-contiguous"):
        x[:, :3].copy().get(out=np.ones((4, 6), np.float32)[:, ::2])


def test_an_index_out_of_range_is_no_index_error():
    """CuPy wraps it round: whoever waits for an IndexError waits for ever."""
    x, at = device(1, 2), xp.asarray(np.array([2]))
    for use in (lambda: x[at], lambda: x.__setitem__(at, 0)):
        with pytest.raises(AssertionError, match="CuPy does not raise this"):
            use()
    with pytest.raises(IndexError):  # of a plain number CuPy knows before it asks the device
        x[2]


def test_events_are_late_where_nobody_has_waited():
    stream = cuda.get_current_stream()
    with cuda.late():
        begin = stream.record()
        xp.zeros(3)
        end = stream.record()
        assert not end.done
        with pytest.raises(runtime.CUDARuntimeError, match="NotReady"):
            cuda.get_elapsed_time(begin, end)
        stream.synchronize()
        assert end.done and cuda.get_elapsed_time(begin, end) >= 0
    without = cuda.Event(disable_timing=True)
    without.record(stream)
    with pytest.raises(runtime.CUDARuntimeError, match="without time"):
        cuda.get_elapsed_time(without, end)


def test_a_stream_is_of_one_device():
    device = runtime.getDevice()
    here = cuda.Stream()
    cuda.Device(1 - device).use()
    try:
        with pytest.raises(runtime.CUDARuntimeError, match=f"of device {device}"):
            here.use()
        with cuda.Stream() as there:
            assert there.device == 1 - device
    finally:
        cuda.Device(device).use()


def test_products_of_many_axes_cost_what_they_do_in_cupy(counts):
    a, b, many = xp.zeros((2, 3)), xp.zeros((3, 2)), xp.zeros((4, 3, 2))
    counts.clear()
    xp.matmul(a, b.T.T)
    assert (counts["launch"], counts["copy"]) == (0, 0)
    xp.matmul(xp.zeros((4, 2, 3)), many)
    assert (counts["launch"], counts["copy"]) == (0, 0)
    xp.matmul(a, many)
    assert (counts["launch"], counts["copy"]) == (6, 0)
    xp.matmul(many.swapaxes(1, 2), many)
    assert (counts["launch"], counts["copy"]) == (6, 1)


def test_cublas_refuses_matrices_without_rows():
    x, one = xp.zeros(4, np.float32), np.ones(1, np.float32)
    number, where = one.ctypes.data, x.data.ptr
    with pytest.raises(cublas.CUBLASError, match="ld 0"):
        handle = cuda.get_cublas_handle()
        cublas.sgemm(handle, 0, 0, 2, 2, 0, number, where, 2, where, 0, number, where, 2)


def test_options_that_cupy_overrides_are_refused():
    for option in ("-ftz=false", "-arch=sm_90"):
        with pytest.raises(ValueError, match="puts its own behind"):
            xp.RawModule(code="", options=(option,))
    with pytest.raises(TypeError, match="tuple"):
        xp.RawModule(code="", options=["-DReal=float"])


def test_pinned_memory_needs_a_device(monkeypatch):
    monkeypatch.setattr(runtime, "DEVICES", 0)
    with pytest.raises(runtime.CUDARuntimeError, match="NoDevice"):
        cuda.alloc_pinned_memory(16)

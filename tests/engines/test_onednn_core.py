import os
import subprocess
import sys
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar

import numpy as np
import pytest

from pycaffe_dist import engines
from pycaffe_dist.engines.onednn.core import library, primitives, started
from pycaffe_dist.engines.onednn.core.library import F32, SRC, TRAINING, Arg, OneDnnError
from pycaffe_dist.engines.onednn.core.primitives import (
    METER,
    Layout,
    Primitive,
    anyhow,
    dims_array,
    plain,
    strided,
)
from pycaffe_dist.engines.onednn.core.started import runtime
from pycaffe_dist.memory import HOST, Value

DIMS = (2, 20, 5, 6)


def blocked():
    """The layout that a convolution likes."""
    pair = [dims_array(x) for x in ((1, 1), (0, 0), (1, 1), (1, 1))]
    weights, out = anyhow((16, 20, 3, 3)), anyhow((2, 16, 5, 6))
    args = (TRAINING, 1, anyhow(DIMS), weights, None, out, *pair)
    return Primitive("convolution_forward", *args).layout(SRC)


def test_caffes_own_order_is_the_plain_home_and_others_are_homes_of_their_own():
    assert plain(DIMS).home is HOST
    layout = blocked()
    assert layout.home is layout and not layout.is_plain
    assert blocked() is layout  # equal ones are the same object
    assert strided((4, 3), (1, 4)).home is not HOST


def test_threads_that_make_a_layout_at_once_have_the_same_one(monkeypatch):
    """Layouts are compared by identity: with two of a kind weights were read in a wrong order."""
    md = anyhow((7, 5, 3))  # any descriptor: what it describes is given below
    both = threading.Barrier(2)

    class Slow(Layout):
        _known: ClassVar = {}

        def __init__(self, md, key):
            both.wait(10)
            super().__init__(md, key)

    key = ((7, 5, 3), (1, 7, 35), (), F32)
    monkeypatch.setattr(primitives, "_describe", lambda _: key)
    with ThreadPoolExecutor(2) as threads:
        first, second = threads.map(Slow.of, [md, md])
    assert first is second is Slow.of(md)


def test_threads_that_start_the_library_at_once_have_the_same_engine(monkeypatch):
    both = threading.Barrier(2)

    def slow(lib):
        both.wait(10)
        return object()

    monkeypatch.setattr(started, "_RUNTIME", [])
    monkeypatch.setattr(started, "Runtime", slow)
    with ThreadPoolExecutor(2) as threads:
        first, second = threads.map(lambda _: runtime(), range(2))
    assert first is second is runtime()


def test_a_value_keeps_its_numbers_from_layout_to_layout():
    numbers = np.arange(np.prod(DIMS), dtype=np.float32)
    value, layout = Value(numbers.size, np.float32), blocked()
    channels_last = strided(DIMS, (600, 1, 120, 20))
    value.write()[...] = numbers
    before = METER.count
    room = value.write(layout)
    assert METER.count == before + 1
    assert room.size >= numbers.size
    last = value.read(channels_last)  # straight, not by way of the plain home
    assert METER.count == before + 2
    expected = numbers.reshape(DIMS).transpose(0, 2, 3, 1)
    np.testing.assert_array_equal(last.reshape(2, 5, 6, 20), expected)
    np.testing.assert_array_equal(value.read(), numbers)


def test_what_a_call_has_made_goes_with_it(monkeypatch):
    lib, made, gone = runtime().lib, [], []
    create = lib.create

    def counted(name, *args):
        made.append((name.removesuffix("_create"), create(name, *args)))
        return made[-1][1]

    monkeypatch.setattr(lib, "create", counted)
    for kind in ("memory", "primitive"):
        destroy = getattr(lib, f"{kind}_destroy")

        def count(handle, kind=kind, destroy=destroy):
            gone.append((kind, handle))
            return destroy(handle)

        monkeypatch.setattr(lib, f"{kind}_destroy", count)
    source, target, engine = blocked(), plain(DIMS), runtime().engine
    reorder = Primitive("reorder", source.md, engine, target.md, engine, engine=False)
    call = reorder.call((Arg.SRC, source), (Arg.DST, target))
    of_call = [entry for entry in made if entry[0] in ("memory", "primitive")]
    assert [kind for kind, _ in of_call] == ["primitive", "memory", "memory"]
    assert gone == []
    del call
    assert sorted(gone) == sorted(of_call)


def test_reorders_stay_and_what_they_were_called_with_does_not():
    source, target = blocked(), plain(DIMS)
    rooms = [layout.allocate(layout.count, np.dtype(np.float32)) for layout in (source, target)]
    primitives.reorder(source, rooms[0], target, rooms[1])
    assert (source, target) in primitives.REORDERS.calls
    seen = [weakref.ref(room) for room in rooms]
    del rooms
    assert all(room() is None for room in seen)


def test_rooms_begin_at_a_cache_line():
    for layout in (blocked(), HOST):
        room = layout.allocate(33, np.dtype(np.float32))
        assert room.__array_interface__["data"][0] % 64 == 0


def test_what_onednn_refuses_is_an_error_of_its_own():
    with pytest.raises(OneDnnError, match="convolution_forward_primitive_desc_create"):
        Primitive("convolution_forward", 0, 0, None, None, None, None, *[dims_array(())] * 4)


# -- the engine ------------------------------------------------------------------------------------


def test_it_is_the_default_where_it_loads_and_numpy_is_one_variable_away(monkeypatch):
    assert engines.create("auto").name == "onednn"
    monkeypatch.delenv("PCD_ENGINE", raising=False)
    assert engines.current().name == "onednn"
    monkeypatch.setenv("PCD_ENGINE", "numpy")
    assert engines.current().name == "numpy"


def test_a_library_that_does_not_load_is_named_and_auto_goes_on_with_numpy():
    code = (
        "from pycaffe_dist import engines\n"
        "print(engines.create('auto').name)\n"
        "try: engines.create('onednn')\n"
        "except Exception as e: print(type(e).__name__, e)\n"
    )
    command = [sys.executable, "-c", code]
    printed = subprocess.run(
        command, env={"PCD_ONEDNN": "/no/libdnnl.so.3"}, capture_output=True, timeout=150, text=True
    ).stdout
    assert printed.startswith("numpy\nMissingPartError")
    assert (
        "/no/libdnnl.so.3" in printed and "pip install" in printed and "--engine numpy" in printed
    )


def test_every_function_we_declare_is_in_the_library():
    lib = library.load()
    assert lib.release.startswith("3.")
    for name in library.SIGNATURES:
        assert callable(getattr(lib, name))


@pytest.mark.parametrize(("load", "spins"), [(0.5, library.SPINS), (99.0, library.CROWDED_SPINS)])
def test_idle_threads_spin_less_where_several_wait_for_every_core(load, spins, monkeypatch):
    monkeypatch.setattr("os.getloadavg", lambda: (load * (os.cpu_count() or 1), 0, 0))
    monkeypatch.delenv("GOMP_SPINCOUNT", raising=False)
    monkeypatch.setattr(library, "Library", lambda path: path)
    library.load.__wrapped__()
    assert os.environ["GOMP_SPINCOUNT"] == spins

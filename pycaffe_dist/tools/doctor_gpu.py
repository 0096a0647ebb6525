"""What ``pcd doctor --gpu`` does: is everything there that training on GPUs needs?"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from pycaffe_dist.engines.cupy import backend, kernels, nccl
from pycaffe_dist.engines.cupy.cudnn import library
from pycaffe_dist.engines.cupy.devices import properties
from pycaffe_dist.engines.cupy.engine import CupyEngine, create
from pycaffe_dist.errors import PcdError
from pycaffe_dist.report.table import table


@dataclass(frozen=True)
class Finding:
    """Of one thing: whether it works, what was found, and the seconds it took."""

    what: str
    fine: bool
    text: str
    seconds: float = 0.0
    needed: bool = True  # by training on one GPU


def examine() -> list[Finding]:
    """Everything in its order; behind what is missing there is nothing to be asked."""
    found = [_asked("CuPy", lambda: str(backend.cupy().__version__))]
    if found[-1].fine:
        found.append(_asked("devices", _devices))
    found += [_asked("NCCL", nccl.version, needed=False), _asked("cuDNN", _cudnn, needed=False)]
    if all(f.fine for f in found if f.needed):
        for device in range(backend.device_count(backend.cupy())):
            found += _of_device(device)
    return found


def as_text(found: list[Finding]) -> list[str]:
    rows = [[f.what, "works" if f.fine else "missing", f"{f.seconds:.1f}", f.text] for f in found]
    bad = [f for f in found if f.needed and not f.fine]
    said = f"{bad[0].what} is missing" if bad else "everything that one GPU needs works"
    return [*table(["", "", "seconds", ""], rows, left=4), said]


def as_json(found: list[Finding]) -> list[dict[str, Any]]:
    return [asdict(f) for f in found]


def _asked(what: str, ask: Callable[[], str], needed: bool = True) -> Finding:
    begin = time.monotonic()
    try:
        fine, text = True, ask()
    except PcdError as e:
        fine, text = False, " ".join(map(str, e.args))
    except Exception as e:  # of CuPy's many kinds
        fine, text = False, f"{type(e).__name__}: {str(e).splitlines()[0] if str(e) else ''}"
    return Finding(what, fine, text, round(time.monotonic() - begin, 2), needed)


def _devices() -> str:
    xp = backend.cupy()
    count = backend.device_count(xp)
    runtime = xp.cuda.runtime
    driver, own = (_version(v()) for v in (runtime.driverGetVersion, runtime.runtimeGetVersion))
    return f"{count}; driver for CUDA {driver}, runtime {own}"


def _version(number: int) -> str:
    return f"{number // 1000}.{number % 1000 // 10}"


def _cudnn() -> str:
    """Its version; without it our own kernels compute convolutions."""
    found = library.load()
    return f"{found.release}, {found.path}"


def _of_device(device: int) -> Iterator[Finding]:
    name = f"GPU {device}"
    made: list[CupyEngine] = []

    def start() -> str:
        made.append(create(device))
        p = properties(device)
        memory = int(p["totalGlobalMem"]) / 2**30
        return f"{p['name']}, compute capability {p['major']}.{p['minor']}, {memory:.1f} GiB"

    yield _asked(name, start)
    if made:
        yield _asked(f"{name}: kernels", lambda: _kernels(made[0]))
        yield _asked(f"{name}: product", lambda: _product(made[0]))
        yield _asked(f"{name}: peers", lambda: _peers(device), needed=False)


def _kernels(engine: CupyEngine) -> str:
    """Compile every file and launch a kernel that can be checked; all are of float32."""
    dtype = np.dtype(np.float32)
    for file in kernels.FILES:
        first = next(k.name for k in kernels.KERNELS.values() if k.file == file)
        engine.launch.function(first, dtype)
    x = engine.xp.zeros(1000, dtype)
    engine.launch("fill", dtype, x.size, 2.5, x)
    if not (x.get() == np.float32(2.5)).all():
        raise PcdError("a kernel that fills an array with 2.5 leaves other numbers there")
    return f"{len(kernels.FILES)} files are compiled"


def _product(engine: CupyEngine) -> str:
    a = np.arange(12, dtype=np.float32).reshape(3, 4)
    x, y = engine.xp.asarray(a), engine.xp.zeros((3, 3), np.float32)
    engine.multiply(x, x.T, y)
    if not np.array_equal(y.get(), a @ a.T):
        raise PcdError("cuBLAS gives a wrong product of two small matrices")
    return "cuBLAS multiplies"


def _peers(device: int) -> str:
    runtime = backend.cupy().cuda.runtime
    others = [d for d in range(int(runtime.getDeviceCount())) if d != device]
    reached = [d for d in others if runtime.deviceCanAccessPeer(device, d)]
    if reached != others:
        missing = [d for d in others if d not in reached]
        raise PcdError(f"no direct way to {missing}: exchange goes through host memory")
    return f"a direct way to {reached}" if others else "it is the only one"

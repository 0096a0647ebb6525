"""The devices of this machine: which are asked for, and what they are."""

from __future__ import annotations

from pycaffe_dist.aliases import Facts
from pycaffe_dist.engines.cupy import backend
from pycaffe_dist.errors import MissingPartError, PcdError


def device_ids(text: str) -> list[int]:
    """The devices that ``-gpu`` names: ``0``, ``0,1`` or ``all``.

    Raises:
        MissingPartError: CuPy, the driver or a device is missing.
        PcdError: the text names none.
    """
    count = backend.device_count(backend.cupy())
    if text == "all":
        return list(range(count))
    try:
        ids = [int(part) for part in text.split(",")]
    except ValueError:
        raise PcdError(f"-gpu {text}: write 0, or 0,1, or all") from None
    for device in ids:
        if not 0 <= device < count:
            raise MissingPartError(
                f"-gpu {text}: there is no GPU {device}; this machine has {count}, numbered from 0"
            )
    return ids


def of_process(number: int) -> int:
    """The device of process ``number`` on this machine: they take the devices in turn.

    What CUDA_VISIBLE_DEVICES leaves is counted; a launcher that gives each process a device of its
    own leaves one, which is device 0 to each.

    Raises:
        MissingPartError: CuPy, the driver or all devices are missing.
    """
    return number % backend.device_count(backend.cupy())


def properties(device: int) -> Facts:
    """What the CUDA runtime says of a device."""
    found: Facts = dict(backend.cupy().cuda.runtime.getDeviceProperties(device))
    name = found.get("name", b"?")
    found["name"] = name.decode() if isinstance(name, bytes) else name
    return found


def address(device: int) -> str:
    """Where on its machine a device is, however its numbers are handed out to processes."""
    return str(backend.cupy().cuda.Device(device).pci_bus_id)


def describe(device: int) -> list[tuple[str, str]]:
    """The lines of Caffe's device_query, as what and value."""
    p = properties(device)

    def value(name: str) -> str:
        found = p.get(name, "?")  # newer CUDA versions leave some out
        return ", ".join(map(str, found)) if isinstance(found, (tuple, list)) else str(found)

    def yes(name: str) -> str:
        return {None: "?", 0: "No"}.get(p.get(name), "Yes")

    return [
        ("Device id", str(device)),
        ("Major revision number", value("major")),
        ("Minor revision number", value("minor")),
        ("Name", value("name")),
        ("Total global memory", value("totalGlobalMem")),
        ("Total shared memory per block", value("sharedMemPerBlock")),
        ("Total registers per block", value("regsPerBlock")),
        ("Warp size", value("warpSize")),
        ("Maximum memory pitch", value("memPitch")),
        ("Maximum threads per block", value("maxThreadsPerBlock")),
        ("Maximum dimension of block", value("maxThreadsDim")),
        ("Maximum dimension of grid", value("maxGridSize")),
        ("Clock rate", value("clockRate")),
        ("Total constant memory", value("totalConstMem")),
        ("Texture alignment", value("textureAlignment")),
        ("Concurrent copy and execution", yes("deviceOverlap")),
        ("Number of multiprocessors", value("multiProcessorCount")),
        ("Kernel execution timeout", yes("kernelExecTimeoutEnabled")),
    ]

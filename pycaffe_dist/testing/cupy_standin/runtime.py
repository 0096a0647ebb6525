"""``cupy.cuda.runtime`` of the stand-in: how many devices there are, and what they can do."""

from __future__ import annotations

import threading

from pycaffe_dist.aliases import Facts

DEVICES = 2

_current = threading.local()


class CUDARuntimeError(RuntimeError):
    """What CuPy raises for an error of the CUDA runtime."""


def getDeviceCount() -> int:
    return DEVICES


def setDevice(device: int) -> None:
    if not 0 <= device < DEVICES:
        raise CUDARuntimeError("cudaErrorInvalidDevice: invalid device ordinal")
    _current.device = device


def getDevice() -> int:
    return getattr(_current, "device", 0)


def deviceCanAccessPeer(device: int, peerDevice: int) -> int:
    return int(device != peerDevice)


def driverGetVersion() -> int:
    return 12090


def runtimeGetVersion() -> int:
    return 12090


def memGetInfo() -> tuple[int, int]:
    return 8 << 30, 8 << 30


def getDeviceProperties(device: int) -> Facts:
    if not 0 <= device < DEVICES:
        raise CUDARuntimeError("cudaErrorInvalidDevice: invalid device ordinal")
    return {
        "name": b"emulated on the CPU",
        "major": 8,
        "minor": 0,
        "totalGlobalMem": 8 << 30,
        "sharedMemPerBlock": 48 << 10,
        "regsPerBlock": 65536,
        "warpSize": 32,
        "memPitch": (1 << 31) - 1,
        "maxThreadsPerBlock": 1024,
        "maxThreadsDim": (1024, 1024, 64),
        "maxGridSize": ((1 << 31) - 1, 65535, 65535),
        "clockRate": 1_000_000,
        "totalConstMem": 65536,
        "textureAlignment": 512,
        "deviceOverlap": 1,
        "multiProcessorCount": 1,
        "kernelExecTimeoutEnabled": 0,
        "memoryClockRate": 1_000_000,
        "memoryBusWidth": 64,
    }

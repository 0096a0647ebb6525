"""The array module of the engine: CuPy, or the stand-in that computes on the CPU."""

from __future__ import annotations

import importlib
import os
from typing import Any

from pycaffe_dist.aliases import ArrayModule
from pycaffe_dist.errors import MissingPartError
from pycaffe_dist.optional import install_command

STAND_IN = "pycaffe_dist.testing.cupy_standin"
VARIABLE = "PCD_CUPY"  # "emulated": take the stand-in

_installed: list[Any] = []


def cupy() -> Any:
    """CuPy, or what stands in for it.

    Raises:
        MissingPartError: CuPy cannot be imported.
    """
    if _installed:
        return _installed[-1]
    if os.environ.get(VARIABLE) == "emulated":
        return importlib.import_module(STAND_IN)
    try:
        return importlib.import_module("cupy")
    except ImportError as e:
        raise MissingPartError(
            f"a GPU was asked for, which needs CuPy, and that cannot be imported ({e}). "
            f"Install it with: {install_command('gpu')}"
        ) from e


def is_emulated() -> bool:
    """Whether the device is the CPU, behind the stand-in."""
    return bool(cupy().__name__ == STAND_IN)


def install(module: Any) -> None:
    """Take ``module`` for CuPy until ``remove``: for tests."""
    _installed.append(module)


def remove() -> None:
    _installed.pop()


def device_count(xp: ArrayModule) -> int:
    """How many devices there are.

    Raises:
        MissingPartError: there is no driver, or no device.
    """
    try:
        count = int(xp.cuda.runtime.getDeviceCount())
    except Exception as e:  # CuPy's error for it is a class of its own, which we cannot name
        reason = str(e).split(":")[0]
        raise MissingPartError(
            f"a GPU was asked for, but the CUDA driver does not answer ({reason}). Install "
            "NVIDIA's driver (nvidia-smi shows whether it works), or compute on the CPU."
        ) from e
    if count == 0:
        raise MissingPartError(
            "a GPU was asked for, but the CUDA driver sees no device (CUDA_VISIBLE_DEVICES is "
            f"{os.environ.get('CUDA_VISIBLE_DEVICES', 'not set')}). nvidia-smi lists what is there."
        )
    return count

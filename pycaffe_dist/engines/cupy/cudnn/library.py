"""The cuDNN shared library: found, loaded and its C functions declared."""

from __future__ import annotations

import ctypes
import importlib.util
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from pycaffe_dist.engines.c_library import CLibrary
from pycaffe_dist.engines.choice import RefusedError, UnsupportedError
from pycaffe_dist.errors import MissingPartError
from pycaffe_dist.optional import install_command

VARIABLE = "PCD_CUDNN"  # a path to take instead of what is found
MAJOR = 9

# Of the C API, version 9.
NUMBERS = {"f": 0, "d": 1}  # CUDNN_DATA_FLOAT, CUDNN_DATA_DOUBLE
NCHW = 0
CROSS_CORRELATION = 1
# CUDNN_DEFAULT_MATH lets tensor cores round fp32 to TF32, CUDNN_FMA_MATH does not.
DEFAULT_MATH, FMA_MATH = 0, 3

# Algorithms by direction and name.  Those that add in no fixed order are left out: backward data's
# and backward filter's number 0, and backward filter's number 3.
FORWARD = {
    "implicit gemm": 0,
    "implicit precomp gemm": 1,
    "gemm": 2,
    "fft": 4,
    "fft tiling": 5,
    "winograd": 6,
    "winograd nonfused": 7,
}
BACKWARD_DATA = {"1": 1, "fft": 2, "fft tiling": 3, "winograd": 4, "winograd nonfused": 5}
BACKWARD_FILTER = {"1": 1, "fft": 2, "winograd nonfused": 5, "fft tiling": 6}

# Arguments of each function: p pointer, i int or enum, s size_t.
SIGNATURES = {
    "GetVersion": "",
    "GetErrorString": "i",
    "Create": "p",
    "Destroy": "p",
    "SetStream": "pp",
    "CreateTensorDescriptor": "p",
    "SetTensorNdDescriptor": "piipp",
    "DestroyTensorDescriptor": "p",
    "CreateFilterDescriptor": "p",
    "SetFilterNdDescriptor": "piiip",
    "DestroyFilterDescriptor": "p",
    "CreateConvolutionDescriptor": "p",
    "SetConvolutionNdDescriptor": "pipppii",
    "SetConvolutionGroupCount": "pi",
    "SetConvolutionMathType": "pi",
    "DestroyConvolutionDescriptor": "p",
    "GetConvolutionNdForwardOutputDim": "pppip",
    "GetConvolutionForwardWorkspaceSize": "pppppip",
    "GetConvolutionBackwardDataWorkspaceSize": "pppppip",
    "GetConvolutionBackwardFilterWorkspaceSize": "pppppip",
    "ConvolutionForward": "ppppppp" + "ipsppp",
    "ConvolutionBackwardData": "ppppppp" + "ipsppp",
    "ConvolutionBackwardFilter": "ppppppp" + "ipsppp",
}
RESULTS: dict[str, type] = {"GetVersion": ctypes.c_size_t, "GetErrorString": ctypes.c_char_p}


class CudnnError(RefusedError):
    """A call that cuDNN refused: our own kernels compute."""


class Library(CLibrary):
    """The functions of libcudnn."""

    def __init__(self, path: str) -> None:
        super().__init__(path, "cudnn", SIGNATURES, RESULTS)
        version = int(self.GetVersion())
        # 90600 is 9.6.0; of version 8 and before, 8907 is 8.9.7.
        unit = 10_000 if version >= 10_000 * MAJOR else 1000
        major, minor, patch = version // unit, version % unit // 100, version % 100
        self.release = f"{major}.{minor}.{patch}"
        if major != MAJOR:
            raise OSError(f"{path} is cuDNN {self.release}, version {MAJOR} is needed")

    def call(self, name: str, *args: Any) -> None:
        """Call a function.

        Raises:
            UnsupportedError: it does not do that.
            CudnnError: it returns another error.
            MemoryError: it has no memory.
        """
        status = getattr(self, name)(*args)
        if status:
            said = self.GetErrorString(status).decode()
            if "ALLOC_FAILED" in said:
                raise MemoryError(f"cuDNN, for cudnn{name}")
            error = UnsupportedError if "NOT_SUPPORTED" in said else CudnnError
            raise error(f"cudnn{name} gives {said}")

    def create(self, name: str) -> int:
        """Call a function that makes an object; its handle."""
        handle = ctypes.c_void_p()
        self.call(name, ctypes.byref(handle))
        if not handle.value:
            raise CudnnError(f"cudnn{name} gives nothing")
        return handle.value


@cache
def load() -> Library:
    """The library, from the user's variable, the wheel or the system.

    Raises:
        MissingPartError: it is not there, or is another version.
    """
    problems = []
    for path in _candidates():
        try:
            return Library(path)
        except (OSError, AttributeError) as e:
            problems.append(str(e))
    raise MissingPartError(
        f"libcudnn.so.{MAJOR} was not found ({'; '.join(problems)}). Install it with: "
        f"{install_command('gpu', only=('nvidia-cudnn-cu12',))}"
    )


def _candidates() -> Iterator[str]:
    """A path that the user names; what pip installed; what the system has."""
    named, name = os.environ.get(VARIABLE), f"libcudnn.so.{MAJOR}"
    if named:
        yield named
        return
    try:
        wheel = importlib.util.find_spec("nvidia.cudnn")
    except ModuleNotFoundError:  # no wheel of NVIDIA's at all
        wheel = None
    for folder in wheel.submodule_search_locations or [] if wheel else []:
        path = Path(folder, "lib", name)
        if path.exists():
            yield str(path)
    yield name

"""The oneDNN shared library: found, loaded and its C functions declared."""

from __future__ import annotations

import ctypes
import os
import sys
import sysconfig
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from pycaffe_dist.engines.c_library import CLibrary
from pycaffe_dist.engines.choice import RefusedError
from pycaffe_dist.errors import MissingPartError
from pycaffe_dist.optional import install_command

# Of the C API, version 3.
BF16, F32 = 2, 3  # types of numbers
ANY = 1  # a layout that the primitive may choose
TRAINING, INFERENCE = 64, 96  # kinds of forward propagation
BACKWARD = 128
SRC, DIFF_SRC, WEIGHTS, DIFF_WEIGHTS, DST, DIFF_DST, WORKSPACE, SCRATCHPAD = range(129, 137)
MOST_AXES = 12
BF16_ISA = 0xE7  # bits of an instruction set that has avx512_bf16: that one and all above it


class Query:
    """What is asked of descriptors."""

    IMPLEMENTATION = 8  # its name
    STRIDES = 14
    AXES = 256  # how many
    DIMS = 257
    NUMBERS = 258  # their type
    BLOCKS = 263  # how many lie in each other
    BLOCK_SIZES, BLOCK_AXES = 264, 265


SPINS = "20000"  # some 50 µs: from one primitive to the next
CROWDED_SPINS = "1000"


class Arg:
    """Numbers under which a primitive takes its arguments."""

    SRC, SRC_1, DST = 1, 2, 17
    WEIGHTS, BIAS = 33, 41
    MEAN, VARIANCE, SCALE, SHIFT = 49, 50, 51, 52
    WORKSPACE, SCRATCHPAD = 64, 80
    DIFF_SRC, DIFF_DST = 129, 145
    DIFF_WEIGHTS, DIFF_BIAS = 161, 169
    DIFF_SCALE, DIFF_SHIFT = 255, 256
    MULTIPLE_SRC = 1024


# Arguments of each function: p pointer, i int, u unsigned, l int64, f float, c char.
SIGNATURES = {
    "version": "",
    "get_effective_cpu_isa": "",
    "engine_create": "pil",
    "stream_create": "ppu",
    "memory_desc_create_with_strides": "pipip",
    "memory_desc_create_with_tag": "pipii",
    "memory_desc_create_submemory": "pppp",
    "memory_desc_clone": "pp",
    "memory_desc_destroy": "p",
    "memory_desc_query": "pip",
    "memory_desc_get_size": "p",
    "memory_desc_equal": "pp",
    "memory_create": "pppp",
    "memory_set_data_handle": "pp",
    "memory_destroy": "p",
    "primitive_create": "pp",
    "primitive_destroy": "p",
    "primitive_execute": "ppip",
    "primitive_desc_destroy": "p",
    "primitive_desc_query": "piip",
    "primitive_desc_query_md": "pii",
    "primitive_desc_next_impl": "p",
    "primitive_attr_create": "p",
    "primitive_attr_destroy": "p",
    "primitive_attr_set_scratchpad_mode": "pi",
    "primitive_attr_set_post_ops": "pp",
    "post_ops_create": "p",
    "post_ops_destroy": "p",
    "post_ops_append_eltwise": "piff",
    "post_ops_append_sum": "pfii",
    "post_ops_append_binary": "pip",
    "reorder_primitive_desc_create": "pppppp",
    "concat_primitive_desc_create": "pppiipp",
    "sum_primitive_desc_create": "pppippp",
    "binary_primitive_desc_create": "ppipppp",
    "convolution_forward_primitive_desc_create": "ppiippppppppp",
    "convolution_backward_data_primitive_desc_create": "ppipppppppp" + "p",
    "convolution_backward_weights_primitive_desc_create": "ppipppppppppp",
    "deconvolution_forward_primitive_desc_create": "ppiippppppppp",
    "deconvolution_backward_data_primitive_desc_create": "ppipppppppp" + "p",
    "deconvolution_backward_weights_primitive_desc_create": "ppipppppppppp",
    "eltwise_forward_primitive_desc_create": "ppiippffp",
    "eltwise_backward_primitive_desc_create": "ppipppffpp",
    "softmax_forward_primitive_desc_create": "ppiippip",
    "softmax_backward_primitive_desc_create": "ppipppipp",
    "pooling_forward_primitive_desc_create": "ppiippppppp" + "p",
    "pooling_backward_primitive_desc_create": "ppippppppp" + "pp",
    "prelu_forward_primitive_desc_create": "ppipppp",
    "prelu_backward_primitive_desc_create": "ppppppppp",
    "lrn_forward_primitive_desc_create": "ppiipplfffp",
    "lrn_backward_primitive_desc_create": "ppippplfffpp",
    "batch_normalization_forward_primitive_desc_create": "ppippfup",
    "batch_normalization_backward_primitive_desc_create": "ppipppfupp",
    "inner_product_forward_primitive_desc_create": "ppippppp",
    "inner_product_backward_data_primitive_desc_create": "pppppp" + "p",
    "inner_product_backward_weights_primitive_desc_create": "pppppp" + "pp",
    "sgemm": "cclllfplplfpl",
}
RESULTS: dict[str, type] = {
    "version": ctypes.c_void_p,
    "memory_desc_get_size": ctypes.c_size_t,
    "primitive_desc_query_md": ctypes.c_void_p,
}


OUT_OF_MEMORY = 1  # a status


class OneDnnError(RefusedError):
    """A call that oneDNN refused: the layer is then computed by its generic implementation."""


class Version(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_int),
        ("minor", ctypes.c_int),
        ("patch", ctypes.c_int),
        ("hash", ctypes.c_char_p),
    ]


class Library(CLibrary):
    """The functions of libdnnl."""

    def __init__(self, path: str) -> None:
        super().__init__(path, "dnnl_", SIGNATURES, RESULTS)
        version = Version.from_address(self.version())
        self.release = f"{version.major}.{version.minor}.{version.patch}"
        if version.major != 3:
            raise OSError(f"{path} is oneDNN {self.release}, version 3 is needed")

    @property
    def has_bf16(self) -> bool:
        """Whether the processor multiplies bfloat16, by avx512_bf16 or AMX."""
        return bool(self.get_effective_cpu_isa() & BF16_ISA == BF16_ISA)

    def create(self, name: str, *args: Any) -> int:
        """Call a function that makes an object; its handle."""
        handle = ctypes.c_void_p()
        status = getattr(self, name)(ctypes.byref(handle), *args)
        if status == OUT_OF_MEMORY:
            raise MemoryError(f"oneDNN, for a {name}")
        if status or not handle.value:
            raise OneDnnError(f"{name} gives status {status}")
        return handle.value


@cache
def load() -> Library:
    """The library, from the environment's ``lib`` folder or the system.

    Raises:
        MissingPartError: it is not there, or this machine cannot run it.
    """
    # Idle threads of OpenMP would spin for milliseconds, on cores that other threads could use.
    os.environ.setdefault("GOMP_SPINCOUNT", CROWDED_SPINS if crowded() else SPINS)
    problems = []
    for path in _candidates():
        try:
            return Library(path)
        except (OSError, AttributeError) as e:
            problems.append(str(e))
    found = f" ({'; '.join(problems)})" if problems else ""
    raise MissingPartError(
        f"the oneDNN engine needs libdnnl.so.3, which was not found{found}. "
        f"Install it with: {install_command('cpu')}, or use --engine numpy"
    )


def crowded() -> bool:
    """Whether several others wait for every core.

    A thread that spins has then used up its time when it gets something to do, and all others wait
    for it; one that has slept is let in first.
    """
    return os.getloadavg()[0] > 2 * (os.cpu_count() or 1)


def _candidates() -> Iterator[str]:
    """A path that the user names; what pip installed; what the system has."""
    named = os.environ.get("PCD_ONEDNN")
    if named:
        yield named
        return
    for prefix in dict.fromkeys((sysconfig.get_path("data"), sys.prefix, sys.base_prefix)):
        path = Path(prefix) / "lib" / "libdnnl.so.3"
        if path.exists():
            yield str(path)
    from ctypes.util import find_library  # slow to import, and not needed before

    system = find_library("dnnl")
    if system:
        yield system

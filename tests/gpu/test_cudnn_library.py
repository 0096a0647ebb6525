"""Our declarations against cuDNN's headers, and its descriptors made by the library itself.

Neither needs a device.  ``make setup`` fetches these parts of cuDNN's wheel.
"""

import ctypes.util
import re
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from pycaffe_dist.engines.cupy import cudnn
from pycaffe_dist.engines.cupy.convolution.cudnn import CALLS, plane
from pycaffe_dist.engines.cupy.cudnn import library
from pycaffe_dist.layers.windows import Windows

PARTS = Path(sys.prefix) / "share" / "cudnn"
SCALARS = {"size_t": "s", "int": "i", "void": ""}
FLOAT = np.dtype("f")
ENUMS = {
    *("cudnnDataType_t", "cudnnTensorFormat_t", "cudnnConvolutionMode_t", "cudnnMathType_t"),
    *(f"cudnnConvolution{d}Algo_t" for d in ("Fwd", "BwdData", "BwdFilter")),
}


@cache
def headers():
    """Without comments and marks; where they are absent tests fail, and say what brings them."""
    found = sorted((PARTS / "include").glob("cudnn*_v9.h"))
    assert found, f"cuDNN's headers are not in {PARTS}: .venv/bin/python scripts/cudnn_parts.py"
    text = "\n".join(path.read_text() for path in found)
    return re.sub(r"/\*.*?\*/|//[^\n]*|CUDNN_DEPRECATED(_ENUM)?\b", " ", text, flags=re.DOTALL)


@cache
def constants():
    """The values of the enums that we use, by name."""
    values = {}
    for body, enum in re.findall(r"typedef\s+enum\s*\{([^}]*)\}\s*(\w+)\s*;", headers()):
        following = 0
        for item in filter(str.strip, body.split(",") if enum in ENUMS else ()):
            name, _, value = (part.strip() for part in item.partition("="))
            following = int(value, 0) if value else following
            values[name] = following
            following += 1
    return values


def kind(argument):
    """p, i or s, of an argument as C declares it."""
    words = argument.replace("const", " ")
    if "*" in words or "[" in words:
        return "p"
    name = words.split()[0]
    if name in SCALARS:
        return SCALARS[name]
    if re.search(rf"typedef\s+struct\s+\w+\s*\*\s*{name}\s*;", headers()) or name == "cudaStream_t":
        return "p"
    assert re.search(rf"typedef\s+enum[^;]*?\}}\s*{name}\s*;", headers(), re.DOTALL), name
    return "i"


@pytest.mark.parametrize("name", library.SIGNATURES)
def test_functions_are_declared_as_in_the_headers(name):
    pattern = rf"\b([\w \*]+?)\s*CUDNNWINAPI\s+cudnn{name}\s*\(([^)]*)\)\s*;"
    (found,) = set(re.findall(pattern, headers()))
    result, arguments = found
    assert "".join(kind(a.strip()) for a in arguments.split(",")) == library.SIGNATURES[name]
    expected = {"GetVersion": "size_t", "GetErrorString": "const char *"}
    assert result.split() == expected.get(name, "cudnnStatus_t").split()


def test_constants_are_those_of_the_headers():
    there = constants()
    assert {"f": there["CUDNN_DATA_FLOAT"], "d": there["CUDNN_DATA_DOUBLE"]} == library.NUMBERS
    assert there["CUDNN_TENSOR_NCHW"] == library.NCHW
    assert there["CUDNN_CROSS_CORRELATION"] == library.CROSS_CORRELATION
    maths = there["CUDNN_DEFAULT_MATH"], there["CUDNN_FMA_MATH"]
    assert maths == (library.DEFAULT_MATH, library.FMA_MATH)


@pytest.mark.parametrize(
    ("ours", "prefix", "left_out"),
    [
        (library.FORWARD, "CUDNN_CONVOLUTION_FWD_ALGO_", {"DIRECT"}),
        (library.BACKWARD_DATA, "CUDNN_CONVOLUTION_BWD_DATA_ALGO_", {"0"}),
        (library.BACKWARD_FILTER, "CUDNN_CONVOLUTION_BWD_FILTER_ALGO_", {"0", "3", "WINOGRAD"}),
    ],
)
def test_algorithms_have_the_numbers_of_the_headers(ours, prefix, left_out):
    names = {n.removeprefix(prefix): v for n, v in constants().items() if n.startswith(prefix)}
    names.pop("COUNT")
    assert {name.upper().replace(" ", "_"): n for name, n in ours.items()} == {
        name: value for name, value in names.items() if name not in left_out
    }


@pytest.fixture(scope="module")
def real():
    return library.Library(str(PARTS / "lib" / "libcudnn.so.9"))


SHAPES = {
    "plain": (Windows((3, 3), (1, 1), (0, 0), (1, 1), (9, 8)), 4, 6, 1),
    "strides and pads": (Windows((3, 2), (2, 3), (1, 0), (1, 1), (9, 8)), 4, 6, 1),
    "groups": (Windows((3, 3), (1, 1), (1, 1), (1, 1), (9, 8)), 4, 6, 2),
    "dilation": (Windows((3, 3), (1, 2), (2, 2), (2, 3), (9, 8)), 3, 5, 1),
    "one axis": (Windows((5,), (2,), (2,), (1,), (11,)), 3, 5, 1),
    "three axes": (Windows((3, 2, 1), (1, 2, 1), (1, 0, 0), (1, 2, 1), (4, 7, 5)), 4, 4, 4),
}


@pytest.mark.parametrize("dtype", ["f", "d"])
@pytest.mark.parametrize("name", SHAPES)
def test_the_library_has_outputs_of_our_sizes(real, name, dtype):
    windows, channels, outputs, group = SHAPES[name]
    w = plane(windows.over(windows.image, windows.fitting(windows.image)))
    dtype = np.dtype(dtype)
    x = cudnn.tensor(real, (2, channels, *w.image), dtype)
    weights = cudnn.filters(real, (outputs, channels // group, *w.kernel), dtype)
    sides = w.pad, w.stride, w.dilation
    c = cudnn.convolution(real, sides, group, dtype, library.FMA_MATH)
    found = cudnn.ints((0,) * (2 + len(w.image)))
    real.call(
        "GetConvolutionNdForwardOutputDim", c.value, x.value, weights.value, len(found), found
    )
    assert tuple(found) == (2, outputs, *w.out)


def test_the_library_says_what_is_wrong(real):
    with pytest.raises(library.CudnnError, match=r"SetTensorNdDescriptor gives CUDNN_STATUS_BAD_P"):
        cudnn.tensor(real, (2, -4, 9, 8), FLOAT)


def test_without_a_device_there_is_no_handle(real, monkeypatch, caplog):
    if ctypes.util.find_library("cuda"):
        pytest.skip("there is a driver here")
    caplog.set_level("INFO", "pycaffe_dist")
    monkeypatch.setattr(cudnn, "load", lambda: real)
    assert cudnn.Handle.on(0) is None
    assert "without cuDNN, by our own kernels: cudnnCreate gives CUDNN_STATUS_" in caplog.text


def test_all_that_is_called_is_declared():
    for call, *_ in CALLS.values():
        names = {f"Convolution{call}", f"GetConvolution{call}WorkspaceSize"}
        assert names <= set(library.SIGNATURES)

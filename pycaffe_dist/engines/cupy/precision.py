"""The number formats of products: what their factors are rounded to; sums are in fp32 always.

    fp32   24 bits of mantissa; CUPY_TF32=1 makes tf32 of it
    tf32   11 bits, the range of fp32, by the tensor cores as they read: nothing is stored in it
    bf16    8 bits, the range of fp32
    fp16   11 bits up to 65504: gradients need a loss scale (``solvers/loss_scale.py``)

A layer computes in what NVCaffe's words in the net's file ask for it, else in what was asked for by
``--precision``, else in what the words for the whole net ask for, else in fp32.
"""

from __future__ import annotations

from dataclasses import dataclass

from pycaffe_dist.errors import NetError
from pycaffe_dist.proto.caffe_pb2 import LayerParameter, NetParameter

# As CUDA's headers number them: CuPy has names for some only.
R_32F, R_16F, R_16BF = 0, 2, 14  # cudaDataType
COMPUTE_32F, COMPUTE_TF32 = 68, 77  # cublasComputeType_t
GEMM_DEFAULT = -1

WORDS = ("forward_type", "backward_type", "forward_math", "backward_math")
FLOAT16 = 2  # of NVType


@dataclass(frozen=True)
class Format:
    """How cuBLAS is given a product.

    Attributes:
        type: of both factors.
        compute: in what it multiplies and adds up.
        cast: the kernel that rounds a factor; "": it is given as it is.
        ending: of the names of kernels that write such factors.
        capability: of the first devices that have it, as 80 for 8.0.
    """

    type: int
    compute: int
    cast: str
    ending: str
    capability: int


FORMATS = {
    "fp32": Format(R_32F, COMPUTE_32F, "", "", 0),
    "tf32": Format(R_32F, COMPUTE_TF32, "", "", 80),
    "bf16": Format(R_16BF, COMPUTE_32F, "real_to_bfloat", "_bfloat", 80),
    "fp16": Format(R_16F, COMPUTE_32F, "factor_to_half", "_half", 53),
}


def check(precision: str, device: str, capability: str) -> None:
    """Refuse what a device has not got.

    Raises:
        NetError: it says what there is.
    """
    if precision not in FORMATS:
        raise NetError(
            f"--precision {precision}: on a GPU there are {', '.join(FORMATS)}; "
            f"{precision} is of the CPU engine"
        )
    least = FORMATS[precision].capability
    if int(capability) < least:
        raise NetError(
            f"--precision {precision}: {device} has compute capability {_dotted(int(capability))}, "
            f"and {precision} begins with {_dotted(least)}; use fp16 or fp32"
        )


def _dotted(capability: int) -> str:
    return f"{capability // 10}.{capability % 10}"


def of_layer(net: NetParameter, layer: LayerParameter, given: str | None) -> str:
    """In what a layer's products are; ``given`` is what was asked for by a flag, if anything."""
    own = [getattr(layer, word) for word in WORDS if layer.HasField(word)]
    names = [f"default_{word}" for word in WORDS]
    of_net = [getattr(net, name) for name in names if net.HasField(name)]
    said = own or ([] if given else of_net)
    if not said:
        return given or "fp32"
    return "fp16" if FLOAT16 in said else "fp32"

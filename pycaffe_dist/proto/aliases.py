"""Words of forks for what BVLC Caffe has under another name."""

from __future__ import annotations

from pycaffe_dist.proto.caffe_pb2 import ConvolutionParameter, LayerParameter, PoolingParameter


def in_bvlc_words(param: LayerParameter) -> LayerParameter:
    """The layer with BVLC's names where forks have others: itself, or a changed copy.

    * Pooling ``ceil_mode: false`` is ``round_mode: FLOOR``;
    * Convolution's ``hole``, ``hole_h``, ``hole_w`` (DeepLab) and ``dilation_h``, ``dilation_w``
      are ``dilation``.
    """
    if not (param.HasField("pooling_param") or param.HasField("convolution_param")):
        return param
    if not (_pooling(param.pooling_param) or _convolution(param.convolution_param)):
        return param
    changed = LayerParameter()
    changed.CopyFrom(param)
    if _pooling(param.pooling_param):
        _plain_pooling(changed.pooling_param)
    if _convolution(param.convolution_param):
        _plain_convolution(changed.convolution_param)
    return changed


def _pooling(p: PoolingParameter) -> bool:
    return p.HasField("ceil_mode")


def _plain_pooling(p: PoolingParameter) -> None:
    if not p.ceil_mode:
        p.round_mode = PoolingParameter.FLOOR
    p.ClearField("ceil_mode")


_PAIRS = ("hole_h", "hole_w"), ("dilation_h", "dilation_w")
_SIDES = (*_PAIRS[0], *_PAIRS[1])


def _convolution(p: ConvolutionParameter) -> bool:
    return len(p.hole) > 0 or any(map(p.HasField, _SIDES))


def _plain_convolution(p: ConvolutionParameter) -> None:
    p.dilation.extend(p.hole)
    for pair in _PAIRS:
        if any(p.HasField(name) for name in pair):
            del p.dilation[:]
            p.dilation.extend(max(1, getattr(p, name)) for name in pair)
    for name in ("hole", *_SIDES):
        p.ClearField(name)

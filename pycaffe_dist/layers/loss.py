"""What all loss layers have in common: a scalar top, its weight, and the normaliser."""

from __future__ import annotations

from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import Layer
from pycaffe_dist.proto.caffe_pb2 import LossParameter


class Loss(Layer):
    """Bottoms of equal length in, a scalar out; the weight of the loss is 1 if none is given."""

    bottoms = 2
    auto_tops = True
    label_bottoms = (1,)

    def setup(self, bottom: Views, top: Views) -> None:
        if not self.layer_param.loss_weight:
            self.layer_param.loss_weight.append(1)

    def reshape(self, bottom: Views, top: Views) -> None:
        self.check(
            bottom[0].shape[:1] == bottom[1].shape[:1],
            f"the bottoms have different lengths: {bottom[0].shape} and {bottom[1].shape}",
        )
        top[0].reshape()

    def refuse_label_gradient(self, propagate_down: Flags) -> None:
        self.check(
            not any(propagate_down[i] for i in self.label_bottoms if i < len(propagate_down)),
            "cannot give its labels a gradient",
        )

    def normalization(self) -> int:
        """The mode that loss_param asks for, the old ``normalize`` included."""
        p = self.layer_param.loss_param
        if not p.HasField("normalization") and p.HasField("normalize"):
            return LossParameter.VALID if p.normalize else LossParameter.BATCH_SIZE
        return p.normalization

    def normalizer(self, mode: int, outer: int, inner: int, valid: int) -> float:
        """What the sum over ``outer`` × ``inner`` positions is divided by, at least 1."""
        amounts: dict[int, int] = {
            LossParameter.FULL: outer * inner,
            LossParameter.VALID: valid,
            LossParameter.BATCH_SIZE: outer,
            LossParameter.NONE: 1,
        }
        return float(max(1, amounts[mode]))

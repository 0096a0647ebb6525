"""What layers ask of a blob that comes from a data source, and so what ``--fake-data`` puts there.

A label, a target, boxes, the marks of sequences: each layer that takes one is in a table here, with
the bottom that it is and the values that it may have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pycaffe_dist.aliases import Facts, Shape
from pycaffe_dist.proto.caffe_pb2 import FillerParameter, LayerParameter

CLASS_LABELS = (
    "SoftmaxWithLoss",
    "InfogainLoss",
    "MultinomialLogisticLoss",
    "HingeLoss",
    "Accuracy",
    "BoxAnnotatorOHEM",
    "FocalLoss",
    "GeneralContrastiveLoss",
    "GeneralTripletLoss",
    "LabelSpecificAdd",
    "LabelSpecificMargin",
    "LabelSpecificRescale",
    "LabeledMatching",
    "RandomSamplingSoftmaxLoss",
    "SegAccuracy",
    "SoftmaxWithLossOHEM",
    "UnlabeledMatching",
)
# Those that say themselves how many classes there are, where.
CLASS_COUNTS = {
    "CenterLoss": "center_loss_param",
    "LargeMarginInnerProduct": "largemargin_inner_product_param",
    "MarginInnerProduct": "margin_inner_product_param",
}
# Whose bottom, of this number, is boxes of so many classes, the background included or not.
BOXES = {
    "MultiBoxLoss": (3, "multibox_loss_param", "num_classes", 0),
    "DetectionEvaluate": (1, "detection_evaluate_param", "num_classes", 0),
    "RcnnTruth": (1, "rcnn_truth_param", "num_classes", 0),
    "RegionLoss": (1, "region_loss_param", "num_class", 1),
    "Yolov3": (1, "yolov3_param", "num_class", 1),
}
# Whose second bottom is a map of fields, as ImageGtData of MS-CNN makes it; classes by the message.
FIELDS = {
    "DetectionLoss": "detection_loss_param",
    "DetectionAccuracy": "detection_accuracy_param",
}
CTC = ("CTCLoss", "CtcLoss", "WarpCTCLoss", "CTCGreedyDecoder")  # of scores (T, N, C)
TARGETS = (
    "EuclideanLoss",
    "SigmoidCrossEntropyLoss",
    "DiceCoefLoss",
    "WeightedEuclideanLoss",
    "SmoothL1Loss",
    "SmoothL1LossOHEM",
    "SoftmaxCrossEntropyLoss",
    "L1Loss",
    "YoloSeg",
    "SegmentationEvaluate",
)
UNIT_TARGETS = (
    "SigmoidCrossEntropyLoss",
    "DiceCoefLoss",
    "SoftmaxCrossEntropyLoss",
    "YoloSeg",
    "SegmentationEvaluate",
)
MARKED = ("LSTM", "RNN", "Lstm")  # whose second bottom says where sequences begin
REGIONS = ("ROIPooling", "ROIAlign", "PSROIPooling")  # whose second bottom is regions of interest
BESIDE = (
    "GuidedDropout",
    "LabelsequenceAccuracy",
    "ProposalTarget",
)  # others whose second bottom is no image
# What is known by its name, where Python layers take it: R-CNN's.
NAMED = {"im_info": (1, 3), "gt_boxes": (4, 5)}
# What a label goes through on its way to the loss and is a label still.
LETS_LABELS_PASS = ("Split", "Slice", "Concat", "Reshape", "Flatten", "Silence")
RESIZES_LABELS = ("Interp",)
COUNTS_LABELS = ("Reduction",)  # of whose shape the label's cannot be told


@dataclass
class Use:
    """What the net does with a blob from a source.

    ``kind`` names values that FakeData knows; ``first`` ≤ whole numbers < ``classes``.
    """

    classes: int = 0
    first: int = 0
    unit: bool = False  # from 0 to 1
    target: bool = False  # any number
    shape: Shape | None = None
    kind: str = ""

    def merged(self, other: Use) -> Use:
        limits = [n for n in (self.classes, other.classes) if n]
        return Use(
            min(limits, default=0),
            max(self.first, other.first),
            self.unit or other.unit,
            self.target or other.target,
            self.shape or other.shape,
            self.kind or other.kind,
        )

    def filler(self, pixels: FillerParameter) -> FillerParameter:
        if self.kind or self.classes:
            kind = self.kind or "integer"
            return FillerParameter(type=kind, min=self.first, max=max(self.first + 1, self.classes))
        if self.unit:
            return FillerParameter(type="uniform", min=0, max=1)
        if self.target:
            return FillerParameter(type="gaussian", mean=0, std=1)
        return pixels


def is_label_bottom(layer: LayerParameter, i: int) -> bool:
    """Whether bottom i of a layer is a label, a target, boxes or marks."""
    if layer.type in (*CLASS_LABELS, *CLASS_COUNTS, *FIELDS, *MARKED, *REGIONS, *BESIDE):
        return i == 1
    if layer.type in (*TARGETS, *CTC):
        return i >= 1
    if layer.type in BOXES:
        return i == BOXES[layer.type][0]
    return (layer.type, i) in (("ContrastiveLoss", 2), ("Proposal", 2))


def named_use(blob: str, batch: int, classes: int = 2) -> Use:
    """Of a blob that is known by its name, or nothing."""
    if blob not in NAMED:
        return Use()
    rows, columns = NAMED[blob]
    if blob == "im_info":
        return Use(shape=(batch, columns), kind=blob)
    return Use(classes=classes, first=1, shape=(rows, columns), kind=blob)


def use_in(layer: LayerParameter, i: int, known: dict[str, Shape], batch: int) -> Use:
    """What a layer asks of the label (or index, or target) that is its bottom i."""
    if layer.type == "Embed":
        return Use(classes=layer.embed_param.input_dim)
    first = known.get(layer.bottom[0])
    if layer.type in TARGETS:
        other = known.get(layer.bottom[0 if i else 1])
        unit = layer.type in UNIT_TARGETS or i > 1
        return Use(unit=unit, target=not unit, shape=other)
    if layer.type == "ContrastiveLoss":
        return Use(classes=2, shape=first[:1] if first else None)
    if layer.type in MARKED:
        return Use(classes=2, shape=first[:2] if first else None)
    if layer.type in REGIONS:
        return Use(shape=(2 * batch, 5), kind="rois")
    if layer.type == "Proposal":
        return Use(shape=(batch, 3), kind="im_info")
    if layer.type in BOXES:
        return _boxes(layer, batch)
    if layer.type == "ProposalTarget":
        classes = layer.proposal_target_param.cls_num
        return Use(classes=classes, first=1, shape=(2 * batch, 7), kind="region_truth")
    if not first:
        return Use()
    if layer.type in FIELDS:
        classes = getattr(layer, FIELDS[layer.type]).cls_num
        return Use(classes=classes, shape=(first[0], 6, *first[2:]), kind="fields")
    if layer.type in CLASS_COUNTS:
        count: int = getattr(layer, CLASS_COUNTS[layer.type]).num_output
        return Use(classes=max(1, count), shape=first[:1])
    if layer.type == "GuidedDropout":
        return Use(target=True, shape=(*first[:2], 1, 1))
    if layer.type in CTC or layer.type == "LabelsequenceAccuracy":
        return _sequences(layer, i, first)
    axis = _class_axis(layer) % len(first)
    by_arg_max = first[axis] == 1 and layer.type in ("Accuracy", "SegAccuracy")
    return Use(
        classes=0 if by_arg_max else first[axis],
        shape=first[:axis] + first[axis + 1 :],
    )


def _boxes(layer: LayerParameter, batch: int) -> Use:
    """Two boxes for each image; the loss of YOLO takes them in its own form."""
    _, message, name, more = BOXES[layer.type]
    classes = getattr(getattr(layer, message), name) + more
    if more:
        return Use(classes=classes, first=1, shape=(batch, 1, 300, 5), kind="yolo_boxes")
    return Use(classes=classes, first=1, shape=(1, 1, 2 * batch, 8), kind="boxes")


def _sequences(layer: LayerParameter, i: int, scores: Shape) -> Use:
    """Labels of sequences, a quarter as long as those; or what says how long they are."""
    if len(scores) < 3:
        return Use()
    steps, num, classes = scores[:3]
    length = max(1, steps // 4)
    if layer.type == "LabelsequenceAccuracy":
        return Use(classes=classes, shape=(steps, max(1, num // 4)))  # there (N, T, C)
    last = len(layer.bottom) - 1
    if last == 1:
        return Use(classes=classes, shape=(num, length))
    if i == last:
        return Use(classes=max(1, classes - 1), shape=(length, num))
    if last == 2:
        return Use(shape=(steps, num), kind="marks")
    count = steps if i == 1 else length
    return Use(classes=count + 1, first=count, shape=(num,))


def _class_axis(layer: LayerParameter) -> int:
    axes: Facts = {
        "SoftmaxWithLoss": layer.softmax_param,
        "Accuracy": layer.accuracy_param,
        "InfogainLoss": layer.infogain_loss_param,
    }
    return axes[layer.type].axis if layer.type in axes else 1


def label_shape(shape: Shape, batch: int) -> Shape:
    """(steps, n) came out of (batch, steps / batch, n) if a batch is whole sequences."""
    if len(shape) > 1 and shape[0] > batch and shape[0] % batch == 0:
        return batch, shape[0] // batch, *shape[1:]
    return shape


def before(layer: LayerParameter, behind: Sequence[Use]) -> Use:
    """The use of a bottom, given those of the layer's tops."""
    use = Use()
    for one in behind:
        use = use.merged(one)
    if layer.type in RESIZES_LABELS:
        use.shape = None
    if layer.type == "Slice" and use.shape:
        use.shape = _joined(layer, [one.shape for one in behind])
    return use


def _joined(layer: LayerParameter, shapes: Sequence[Shape | None]) -> Shape | None:
    """What was sliced, from the slices: (n) and (n) were columns of (n, 2)."""
    axis = layer.slice_param.axis
    whole = [list(shape) for shape in shapes if shape]
    for shape in whole:
        shape += [1] * (axis + 1 - len(shape))
    if len(whole) < len(shapes) or not whole:
        return None
    points = list(layer.slice_param.slice_point)
    ends = [b - a for a, b in zip([0, *points], points, strict=False)]
    last = whole[-1][axis]
    whole[0][axis] = sum(ends) + last if points else sum(shape[axis] for shape in whole)
    return tuple(whole[0])

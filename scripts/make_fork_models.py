"""Write the nets of models/ that are built of layers which forks of Caffe added.

    python scripts/make_fork_models.py                # all of them
    python scripts/make_fork_models.py ssd300_vgg16   # some
    python scripts/make_fork_models.py --check        # fail if the committed files differ

Detection, segmentation and reading, as ``make_models.py`` has classification: a family is a
function, what comes before and after it is a source and an ending.  Layer names are those of the
published weights.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from make_models import (
    BIASED,
    LMDB,
    MAX,
    MEAN_COLOUR,
    MSRA,
    VGG_COLOUR,
    XAVIER,
    Model,
    Source,
    add,
    constant,
    conv,
    dropout,
    gaussian,
    inner,
    main,
    normalise,
    pool,
    relu,
)

from pycaffe_dist.net_spec import NetSpec, Top, params
from pycaffe_dist.net_spec import layers as L
from pycaffe_dist.proto.caffe_pb2 import (
    TEST,
    TRAIN,
    BNParameter,
    EmitConstraint,
    MultiBoxLossParameter,
    PriorBoxParameter,
    ResizeParameter,
)

SCRIPT = "scripts/make_fork_models.py"
AVE = params.Pooling.AVE
CLASSES = 21  # PASCAL VOC's 20 and the background


# -- SSD -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Scale:
    """A feature map of an SSD, and the boxes that start from its places."""

    blob: str
    min_size: float
    max_size: float | None
    ratios: Sequence[float]
    step: int = 0

    @property
    def priors(self) -> int:
        """At each place: a square, one more if there is a largest size, two for each ratio."""
        return 1 + bool(self.max_size) + 2 * len(self.ratios)


@dataclass(frozen=True)
class Heads:
    """What SSD puts on its feature maps: offsets, scores and priors of every scale, joined."""

    scales: Sequence[Scale]
    classes: int = CLASSES
    kernel: int = 3
    filler: Any = None

    def __call__(self, n: NetSpec) -> None:
        for kind, columns in ("loc", 4), ("conf", self.classes):
            for scale in self.scales:
                self._predictions(n, scale, kind, columns)
        for scale in self.scales:
            self._priors(n, scale)
        for kind, axis, suffix in ("loc", 1, "_flat"), ("conf", 1, "_flat"), ("priorbox", 2, ""):
            parts = [n[f"{scale.blob}_mbox_{kind}{suffix}"] for scale in self.scales]
            n[f"mbox_{kind}"] = L.Concat(*parts, axis=axis)

    def _predictions(self, n: NetSpec, scale: Scale, kind: str, columns: int) -> None:
        name = f"{scale.blob}_mbox_{kind}"
        x = conv(
            n, name, n[scale.blob], scale.priors * columns, self.kernel, pad=self.kernel // 2,
            param=BIASED, weight_filler=self.filler or XAVIER, bias_filler=constant(),
        )  # fmt: skip
        x = add(n, f"{name}_perm", L.Permute(x, permute_param={"order": [0, 2, 3, 1]}))
        add(n, f"{name}_flat", L.Flatten(x, axis=1))

    def _priors(self, n: NetSpec, scale: Scale) -> None:
        given: dict[str, Any] = {"min_size": [scale.min_size]}
        if scale.max_size:
            given["max_size"] = [scale.max_size]
        if scale.step:
            given["step"] = scale.step
        given |= {"aspect_ratio": list(scale.ratios), "flip": True, "clip": False}
        given |= {"variance": [0.1, 0.1, 0.2, 0.2], "offset": 0.5}
        n[f"{scale.blob}_mbox_priorbox"] = L.PriorBox(n[scale.blob], n.data, prior_box_param=given)

    def loss(self, n: NetSpec, scores: Top) -> None:
        """What is learned; and for testing, which detections are right."""
        self(n)
        n.mbox_loss = L.MultiBoxLoss(
            n.mbox_loc,
            n.mbox_conf,
            n.mbox_priorbox,
            n.label,
            include={"phase": TRAIN},
            propagate_down=[True, True, False, False],
            loss_param={"normalization": params.Loss.VALID},
            multibox_loss_param={
                "loc_loss_type": MultiBoxLossParameter.SMOOTH_L1,
                "conf_loss_type": MultiBoxLossParameter.SOFTMAX,
                "loc_weight": 1,
                "num_classes": self.classes,
                "share_location": True,
                "match_type": MultiBoxLossParameter.PER_PREDICTION,
                "overlap_threshold": 0.5,
                "use_prior_for_matching": True,
                "background_label_id": 0,
                "use_difficult_gt": True,
                "neg_pos_ratio": 3,
                "neg_overlap": 0.5,
                "code_type": PriorBoxParameter.CENTER_SIZE,
                "mining_type": MultiBoxLossParameter.MAX_NEGATIVE,
            },
        )
        self._detections(n, 0.01, include={"phase": TEST})
        n.detection_eval = L.DetectionEvaluate(
            n.detection_out,
            n.label,
            include={"phase": TEST},
            detection_evaluate_param={
                "num_classes": self.classes,
                "background_label_id": 0,
                "overlap_threshold": 0.5,
                "evaluate_difficult_gt": False,
            },
        )

    def detect(self, n: NetSpec, scores: Top) -> None:
        self(n)
        self._detections(n, 0.01)

    def _detections(self, n: NetSpec, threshold: float, **more: Any) -> None:
        shape = {"dim": [0, -1, self.classes]}
        n.mbox_conf_reshape = L.Reshape(n.mbox_conf, shape=shape, **more)
        n.mbox_conf_softmax = L.Softmax(n.mbox_conf_reshape, axis=2, **more)
        n.mbox_conf_flatten = L.Flatten(n.mbox_conf_softmax, axis=1, **more)
        n.detection_out = L.DetectionOutput(
            n.mbox_loc,
            n.mbox_conf_flatten,
            n.mbox_priorbox,
            detection_output_param={
                "num_classes": self.classes,
                "share_location": True,
                "background_label_id": 0,
                "nms_param": {"nms_threshold": 0.45, "top_k": 400},
                "code_type": PriorBoxParameter.CENTER_SIZE,
                "keep_top_k": 200,
                "confidence_threshold": threshold,
            },
            **more,
        )


DISTORT = {
    "brightness_prob": 0.5, "brightness_delta": 32,
    "contrast_prob": 0.5, "contrast_lower": 0.5, "contrast_upper": 1.5,
    "hue_prob": 0.5, "hue_delta": 18,
    "saturation_prob": 0.5, "saturation_lower": 0.5, "saturation_upper": 1.5,
    "random_order_prob": 0,
}  # fmt: skip
INTERPOLATIONS = [
    ResizeParameter.LINEAR,
    ResizeParameter.AREA,
    ResizeParameter.NEAREST,
    ResizeParameter.CUBIC,
    ResizeParameter.LANCZOS4,
]


def samplers() -> list[dict[str, Any]]:
    """The whole image, or a part that overlaps an object by so much, or any part."""
    part = {"min_scale": 0.3, "max_scale": 1, "min_aspect_ratio": 0.5, "max_aspect_ratio": 2}
    limits = [{"min_jaccard_overlap": share} for share in (0.1, 0.3, 0.5, 0.7, 0.9)]
    limits.append({"max_jaccard_overlap": 1})
    found: list[dict[str, Any]] = [{"max_sample": 1, "max_trials": 1}]
    for limit in limits:
        one = {"sampler": part, "sample_constraint": limit, "max_sample": 1, "max_trials": 50}
        found.append(one)
    return found


class Annotated(Source):
    """Images with boxes; in training cut, enlarged, mirrored and coloured as SSD does it."""

    def _tops(self, source: str, batch: int, **more: Any) -> Any:
        train = more["include"]["phase"] == TRAIN
        return L.AnnotatedData(
            data_param={"source": source, "batch_size": batch, "backend": LMDB},
            annotated_data_param={"batch_sampler": samplers()} if train else {},
            **more,
        )


class WholeImages(Annotated):
    """Images with boxes as they are, one in a batch, the shorter side 600 pixels."""

    def _tops(self, source: str, batch: int, **more: Any) -> Any:
        return L.AnnotatedData(
            data_param={"source": source, "batch_size": batch, "backend": LMDB}, **more
        )


def voc(size: int, batch: int, test_batch: int, transform: dict[str, Any]) -> Source:
    resized = {"prob": 1, "resize_mode": ResizeParameter.WARP, "height": size, "width": size}
    return Annotated(
        "data/VOC0712/VOC0712_trainval_lmdb",
        "data/VOC0712/VOC0712_test_lmdb",
        batch,
        test_batch,
        transform,
        train_transform={
            "mirror": True,
            "resize_param": {**resized, "interp_mode": INTERPOLATIONS},
            "emit_constraint": {"emit_type": EmitConstraint.CENTER},
            "distort_param": DISTORT,
            "expand_param": {"prob": 0.5, "max_expand_ratio": 4},
        },
        test_transform={"resize_param": {**resized, "interp_mode": [ResizeParameter.LINEAR]}},
    )


def ssd_vgg16(n: NetSpec, x: Top) -> Top:
    """VGG-16 whose inner products became convolutions, and four smaller maps behind it."""
    fill = {"param": BIASED, "weight_filler": XAVIER, "bias_filler": constant()}

    def step(name: str, x: Top, num_output: int, kernel: int, **more: Any) -> Top:
        suffix = f"relu{name[4:]}" if name < "conv6" else f"{name}_relu"
        return relu(n, suffix, conv(n, name, x, num_output, kernel, **more, **fill))

    depths = zip((2, 2, 3, 3, 3), (64, 128, 256, 512, 512), strict=True)
    for block, (depth, width) in enumerate(depths, 1):
        for i in range(1, depth + 1):
            x = step(f"conv{block}_{i}", x, width, 3, pad=1)
        last = {"kernel_size": 3, "stride": 1, "pad": 1} if block == 5 else {}
        size = {"kernel_size": 2, "stride": 2, **last}
        x = add(n, f"pool{block}", L.Pooling(x, pool=MAX, **size))
    x = relu(n, "relu6", conv(n, "fc6", x, 1024, 3, pad=6, dilation=6, **fill))
    x = relu(n, "relu7", conv(n, "fc7", x, 1024, 1, **fill))
    for block, width, stride in (6, 512, 2), (7, 256, 2), (8, 256, 1), (9, 256, 1):
        x = step(f"conv{block}_1", x, width // 2, 1)
        x = step(f"conv{block}_2", x, width, 3, stride=stride, pad=stride - 1)
    n.conv4_3_norm = L.Normalize(
        n["conv4_3"],
        norm_param={
            "across_spatial": False,
            "scale_filler": constant(20),
            "channel_shared": False,
        },
    )
    return x


VGG_HEADS = Heads(
    [
        Scale("conv4_3_norm", 30, 60, (2,), 8),
        Scale("fc7", 60, 111, (2, 3), 16),
        Scale("conv6_2", 111, 162, (2, 3), 32),
        Scale("conv7_2", 162, 213, (2, 3), 64),
        Scale("conv8_2", 213, 264, (2,), 100),
        Scale("conv9_2", 264, 315, (2,), 300),
    ]
)


def ssd_mobilenet(n: NetSpec, x: Top) -> Top:
    """MobileNet without its last layers, and four smaller maps behind it."""

    def step(name: str, x: Top, num_output: int, kernel: int, **more: Any) -> Top:
        x = conv(
            n, name, x, num_output, kernel, pad=kernel // 2, bias_term=False,
            param=BIASED[:1], weight_filler=MSRA, **more,
        )  # fmt: skip
        return relu(n, f"{name}/relu", normalise(n, f"{name}/bn", f"{name}/scale", x))

    x, width = step("conv0", x, 32, 3, stride=2), 32
    halved = (2, 4, 6, 12)
    for i in range(1, 14):
        more = {"stride": 2} if i in halved else {}
        x = step(f"conv{i}/dw", x, width, 3, group=width, **more)
        width *= 2 if i in (1, *halved) else 1
        x = step(f"conv{i}", x, width, 1)
    for i, width in zip(range(14, 18), (512, 256, 256, 128), strict=True):
        x = step(f"conv{i}_2", step(f"conv{i}_1", x, width // 2, 1), width, 3, stride=2)
    return x


MOBILE_HEADS = Heads(
    [
        Scale("conv11", 60, None, (2,)),
        Scale("conv13", 105, 150, (2, 3)),
        Scale("conv14_2", 150, 195, (2, 3)),
        Scale("conv15_2", 195, 240, (2, 3)),
        Scale("conv16_2", 240, 285, (2, 3)),
        Scale("conv17_2", 285, 300, (2, 3)),
    ],
    kernel=1,
    filler=MSRA,
)


# -- Faster R-CNN ----------------------------------------------------------------------------------

REGIONS = {"ratio": [0.5, 1, 2], "scale": [8, 16, 32]}
ANCHORS = 9


def zf(n: NetSpec, x: Top) -> Top:
    """Zeiler and Fergus's five convolutions."""
    fill = {"param": BIASED, "weight_filler": gaussian(0.01), "bias_filler": constant()}
    for i, (width, kernel, stride) in enumerate(
        ((96, 7, 2), (256, 5, 2), (384, 3, 1), (384, 3, 1), (256, 3, 1)), 1
    ):
        x = conv(n, f"conv{i}", x, width, kernel, stride=stride, pad=kernel // 2, **fill)
        x = relu(n, f"relu{i}", x)
        if i < 3:
            within = params.LRN.WITHIN_CHANNEL
            norm = L.LRN(x, local_size=3, alpha=0.00005, beta=0.75, norm_region=within)
            x = pool(n, f"pool{i}", add(n, f"norm{i}", norm), MAX, 3, 2, pad=1)
    return x


def proposals(n: NetSpec, x: Top) -> None:
    """The region proposal network: nine anchors at each place, object or not, and how far off."""
    fill = {"param": BIASED, "weight_filler": gaussian(0.01), "bias_filler": constant()}
    x = relu(n, "rpn_relu1", conv(n, "rpn_conv1", x, 256, 3, pad=1, **fill))
    conv(n, "rpn_cls_score", x, 2 * ANCHORS, 1, **fill)
    conv(n, "rpn_bbox_pred", x, 4 * ANCHORS, 1, **fill)
    pairs = L.Reshape(n.rpn_cls_score, shape={"dim": [0, 2, -1, 0]})
    n.rpn_cls_score_reshape = pairs


def regions(n: NetSpec, info: Top, before: int, after: int) -> None:
    n.rpn_cls_prob = L.Softmax(n.rpn_cls_score_reshape)
    n.rpn_cls_prob_reshape = L.Reshape(n.rpn_cls_prob, shape={"dim": [0, 2 * ANCHORS, -1, 0]})
    given = {**REGIONS, "feat_stride": 16, "pre_nms_topn": before, "post_nms_topn": after}
    n.rois = L.Proposal(
        n.rpn_cls_prob_reshape, n.rpn_bbox_pred, info, name="proposal", proposal_param=given
    )


def region_head(n: NetSpec, x: Top, rois: Top) -> None:
    """What a region shows, and for each class how far the object is from it."""
    size = {"pooled_h": 6, "pooled_w": 6, "spatial_scale": 0.0625}
    y = add(n, "roi_pool_conv5", L.ROIPooling(x, rois, roi_pooling_param=size))
    fill = {"param": BIASED, "bias_filler": constant()}
    for i in 6, 7:
        y = inner(n, f"fc{i}", y, 4096, weight_filler=gaussian(0.005), **fill)
        y = relu(n, f"relu{i}", y)
        ratio = {"dropout_ratio": 0.5, "scale_train": False}
        y = add(n, f"drop{i}", L.Dropout(y, in_place=True, dropout_param=ratio))
    inner(n, "cls_score", y, CLASSES, weight_filler=gaussian(0.01), **fill)
    inner(n, "bbox_pred", y, 4 * CLASSES, weight_filler=gaussian(0.001), **fill)


def rcnn_losses(n: NetSpec, x: Top) -> None:
    """Four losses at once: objects and offsets of anchors, classes and offsets of regions."""
    n.im_info, n.gt_boxes = L.RcnnTruth(
        n.data, n.label, name="truth", ntop=2, rcnn_truth_param={"num_classes": CLASSES}
    )
    proposals(n, x)
    targets = L.AnchorTarget(
        n.rpn_cls_score, n.gt_boxes, n.im_info, name="rpn-data", ntop=4, anchor_target_param=REGIONS
    )
    names = ("labels", "bbox_targets", "bbox_inside_weights", "bbox_outside_weights")
    for name, top in zip(names, targets, strict=True):
        n[f"rpn_{name}"] = top
    ignored = {"ignore_label": -1, "normalize": True}
    n.rpn_cls_loss = L.SoftmaxWithLoss(
        n.rpn_cls_score_reshape, n.rpn_labels, name="rpn_loss_cls", loss_weight=1,
        propagate_down=[True, False], loss_param=ignored,
    )  # fmt: skip
    n.rpn_loss_bbox = L.SmoothL1Loss(
        n.rpn_bbox_pred, n.rpn_bbox_targets, n.rpn_bbox_inside_weights, n.rpn_bbox_outside_weights,
        loss_weight=1, propagate_down=[True, False, False, False],
        smooth_l1_loss_param={"sigma": 3},
    )  # fmt: skip
    regions(n, n.im_info, 12000, 2000)


def rcnn_training(n: NetSpec, x: Top) -> None:
    rcnn_losses(n, x)
    tops = L.RegionTarget(
        n.rois, n.gt_boxes, name="roi-data", ntop=5, region_target_param={"num_classes": CLASSES}
    )
    names = ("sampled", "labels", "bbox_targets", "bbox_inside_weights", "bbox_outside_weights")
    for name, top in zip(names, tops, strict=True):
        n[name] = top
    region_head(n, x, n.sampled)
    n.loss_cls = L.SoftmaxWithLoss(
        n.cls_score, n.labels, loss_weight=1, propagate_down=[True, False]
    )
    n.loss_bbox = L.SmoothL1Loss(
        n.bbox_pred,
        n.bbox_targets,
        n.bbox_inside_weights,
        n.bbox_outside_weights,
        loss_weight=1,
        propagate_down=[True, False, False, False],
    )


def rcnn_detection(n: NetSpec, x: Top) -> None:
    n.im_info = L.Input(shape={"dim": [1, 3]})
    proposals(n, x)
    regions(n, n.im_info, 6000, 300)
    region_head(n, x, n.rois)
    n.cls_prob = L.Softmax(n.cls_score)


# -- segmentation ----------------------------------------------------------------------------------


def segnet_basic(n: NetSpec, x: Top, mode: int | None = None) -> Top:
    """Four convolutions and poolings, and the way back by where their maxima were."""
    more = {} if mode is None else {"bn_mode": mode}

    def step(name: str, x: Top) -> Top:
        fill = {"param": BIASED, "weight_filler": MSRA, "bias_filler": constant()}
        x = conv(n, name, x, 64, 7, pad=3, **fill)
        fillers = {"scale_filler": constant(1), "shift_filler": constant(0.001)}
        rates = [{"lr_mult": 1, "decay_mult": 1}, {"lr_mult": 1, "decay_mult": 0}]
        bn = L.BN(x, in_place=True, param=rates, bn_param={**fillers, **more})
        return add(n, f"{name}_bn", bn)

    x = add(n, "norm", L.LRN(x, local_size=5, alpha=0.0001, beta=0.75))
    for i in range(1, 5):
        x = relu(n, f"relu{i}", step(f"conv{i}", x))
        pooled, mask = L.Pooling(x, name=f"pool{i}", ntop=2, pool=MAX, kernel_size=2, stride=2)
        x = add(n, f"pool{i}", pooled)
        n[f"pool{i}_mask"] = mask
    for i in range(4, 0, -1):
        size = {"scale": 2, "pad_out_h": True} if i == 4 else {"scale": 2}
        back = L.Upsample(x, n[f"pool{i}_mask"], upsample_param=size)
        x = step(f"conv_decode{i}", add(n, f"upsample{i}", back))
    fill = {"param": BIASED, "weight_filler": MSRA, "bias_filler": constant()}
    return conv(n, "dense_softmax_inner_prod", x, 11, 1, **fill)


# How rare the classes of CamVid are: the median of their shares by each share.
CAMVID_WEIGHTS = [
    0.2595, 0.1826, 4.5640, 0.1417, 0.9051, 0.3826, 9.6446, 1.8418, 0.6823, 6.2478, 7.3614,
]  # fmt: skip


def segnet_loss(n: NetSpec, scores: Top) -> None:
    weighted = {
        "weight_by_label_freqs": True,
        "ignore_label": 11,
        "class_weighting": CAMVID_WEIGHTS,
    }
    n.loss = L.SoftmaxWithLoss(scores, n.label, loss_param=weighted)
    n.accuracy = L.Accuracy(scores, n.label, ignore_label=11)


def best_class(n: NetSpec, scores: Top) -> None:
    n.argmax = L.ArgMax(scores, axis=1)


class LabelledImages(Source):
    """Pairs of an image and a map of labels, in a list."""

    def _tops(self, source: str, batch: int, **more: Any) -> Any:
        more.pop("transform_param")
        given = {"source": source, "batch_size": batch}
        if more["include"]["phase"] == TRAIN:
            given["shuffle"] = True
        return L.DenseImageData(dense_image_data_param=given, **more)


class SegmentedImages(Source):
    """The same, in training resized by half to twice, cut and mirrored."""

    def _tops(self, source: str, batch: int, **more: Any) -> Any:
        given = {"source": source, "batch_size": batch, "root_folder": "data/ade20k/"}
        if more["include"]["phase"] == TRAIN:
            given["shuffle"] = True
        return L.ImageSegData(image_data_param={**given, "label_type": 2}, **more)


@dataclass(frozen=True)
class PSPNet:
    """A dilated ResNet with three first convolutions, and what pooling over 1, 2, 3 and 6 by as
    many parts of the image sees, joined with its features.

    Of a map of 60 by 60, an eighth of the input of 473.
    """

    depths: Sequence[int]
    classes: int
    auxiliary: bool  # a second loss on the way, in training
    side: int = 60

    def __call__(self, n: NetSpec, x: Top) -> Top:
        x = self._step(n, "conv1_1_3x3_s2", x, 64, 3, stride=2)
        x = self._step(n, "conv1_2_3x3", x, 64, 3)
        x = self._step(n, "conv1_3_3x3", x, 128, 3)
        x = pool(n, "pool1_3x3_s2", x, MAX, 3, 2, pad=1)
        for stage, depth in enumerate(self.depths, 2):
            for i in range(1, depth + 1):
                x = self._block(n, stage, i, x)
            if stage == 4 and self.auxiliary:
                self._auxiliary(n, x)
        parts = [self._pyramid(n, x, bins) for bins in (1, 2, 3, 6)]
        x = add(n, "conv5_3_concat", L.Concat(x, *reversed(parts)))
        x = dropout(n, "conv5_4/dropout", self._step(n, "conv5_4", x, 512, 3, rate=10), 0.1)
        scores = self._scores(n, "conv6", x)
        zoomed = L.Interp(scores, interp_param={"zoom_factor": 8})
        return add(n, "conv6_interp", zoomed)

    def _step(
        self,
        n: NetSpec,
        name: str,
        x: Top,
        width: int,
        kernel: int,
        rate: float = 1,
        active: bool = True,
        **more: Any,
    ) -> Top:
        more = {"pad": kernel // 2, **more}
        learned = {"lr_mult": rate, "decay_mult": 1}
        x = conv(
            n, name, x, width, kernel, bias_term=False, param=[learned], weight_filler=MSRA, **more
        )
        own, none = {"lr_mult": rate, "decay_mult": 0}, {"lr_mult": 0, "decay_mult": 0}
        fillers = {"slope_filler": constant(1), "bias_filler": constant(), "momentum": 0.95}
        bn = L.BN(x, in_place=True, param=[own, own, none, none], bn_param=fillers)
        x = add(n, f"{name}/bn", bn)
        return relu(n, f"{name}/relu", x) if active else x

    def _block(self, n: NetSpec, stage: int, i: int, x: Top) -> Top:
        name, width = f"conv{stage}_{i}", 2 ** (stage + 4)
        stride = 2 if (stage, i) == (3, 1) else 1
        dilation = {4: 2, 5: 4}.get(stage, 1)
        around = {"pad": dilation, **({"dilation": dilation} if dilation > 1 else {})}
        y = self._step(n, f"{name}_1x1_reduce", x, width, 1, stride=stride)
        y = self._step(n, f"{name}_3x3", y, width, 3, **around)
        y = self._step(n, f"{name}_1x1_increase", y, 4 * width, 1, active=False)
        if i == 1:
            x = self._step(n, f"{name}_1x1_proj", x, 4 * width, 1, active=False, stride=stride)
        return relu(n, f"{name}/relu", add(n, name, L.Eltwise(x, y)))

    def _pyramid(self, n: NetSpec, x: Top, bins: int) -> Top:
        name, size = f"conv5_3_pool{bins}", self.side // bins
        y = self._step(n, f"{name}_conv", pool(n, name, x, AVE, size, size), 512, 1, rate=10)
        back = {"height": self.side, "width": self.side}
        return add(n, f"{name}_interp", L.Interp(y, interp_param=back))

    def _auxiliary(self, n: NetSpec, x: Top) -> None:
        x = dropout(n, "conv4_aux/dropout", self._step(n, "conv4_aux", x, 256, 3, rate=10), 0.1)
        zoomed = L.Interp(self._scores(n, "conv6_aux", x), interp_param={"zoom_factor": 8})
        n.conv6_aux_interp = zoomed
        n.loss_aux = L.SoftmaxWithLoss(
            zoomed, n.label, loss_weight=0.4, loss_param={"ignore_label": 255}
        )

    def _scores(self, n: NetSpec, name: str, x: Top) -> Top:
        rates = [{"lr_mult": 10, "decay_mult": 1}, {"lr_mult": 20, "decay_mult": 1}]
        return conv(n, name, x, self.classes, 1, param=rates, weight_filler=MSRA)


def pixel_loss(n: NetSpec, scores: Top) -> None:
    n.loss = L.SoftmaxWithLoss(scores, n.label, loss_param={"ignore_label": 255})
    given = {"ignore_label": [255], "reset": False}
    n.accuracy = L.SegAccuracy(scores, n.label, include={"phase": TEST}, seg_accuracy_param=given)


def pixel_probabilities(n: NetSpec, scores: Top) -> None:
    n.prob = L.Softmax(scores)


# -- reading ---------------------------------------------------------------------------------------


def crnn(n: NetSpec, x: Top) -> Top:
    """Convolutions down to a height of 1, two bidirectional LSTMs, scores (T, N, 37)."""
    fill = {"weight_filler": MSRA, "bias_filler": constant()}

    def step(i: int, x: Top, width: int, kernel: int = 3, norm: bool = False) -> Top:
        x = conv(n, f"conv{i}", x, width, kernel, pad=(kernel - 1) // 2, param=BIASED, **fill)
        if norm:
            x = normalise(n, f"bn{i}", f"scale{i}", x)
        return relu(n, f"relu{i}", x)

    def flat(name: str, x: Top) -> Top:
        """Half the height; the width stays, but for the margin of one."""
        sizes = {"kernel_h": 2, "kernel_w": 2, "stride_h": 2, "stride_w": 1, "pad_h": 0, "pad_w": 1}
        return add(n, name, L.Pooling(x, pool=MAX, **sizes))

    x = pool(n, "pool1", step(1, x, 64), MAX, 2, 2)
    x = pool(n, "pool2", step(2, x, 128), MAX, 2, 2)
    x = flat("pool3", step(4, step(3, x, 256, norm=True), 256))
    x = flat("pool4", step(6, step(5, x, 512, norm=True), 512))
    x = step(7, x, 512, 2, norm=True)
    x = add(n, "steps", L.Permute(x, permute_param={"order": [3, 0, 1, 2]}))
    x = add(n, "sequence", L.Reshape(x, shape={"dim": [0, 0, -1]}))
    for i, width in (1, 256), (2, 37):
        x = both_ways(n, f"blstm{i}", x, 256)
        x = inner(n, f"embed{i}", x, width, axis=2, param=BIASED, weight_filler=XAVIER)
    return x


def both_ways(n: NetSpec, name: str, x: Top, size: int) -> Top:
    """An LSTM from the first step to the last, one from the last to the first, joined."""
    fill = {"weight_filler": {"type": "uniform", "min": -0.08, "max": 0.08}}
    given = {"num_output": size, "clipping_threshold": 0.1, **fill, "bias_filler": constant()}
    there = add(n, f"{name}_forward", L.Lstm(x, lstm_param=given))
    turned = add(n, f"{name}_reversed", L.Reverse(x, reverse_param={"axis": 0}))
    back = add(n, f"{name}_backward", L.Lstm(turned, lstm_param=given))
    again = add(n, f"{name}_restored", L.Reverse(back, reverse_param={"axis": 0}))
    return add(n, name, L.Concat(there, again, axis=2))


def ctc_loss(n: NetSpec, scores: Top) -> None:
    n.loss = L.WarpCTCLoss(scores, n.label, loss_weight=1)
    strings = L.Permute(scores, permute_param={"order": [1, 0, 2]}, include={"phase": TEST})
    n.strings = strings
    n.accuracy = L.LabelsequenceAccuracy(
        n.strings, n.label, include={"phase": TEST}, labelsequence_accuracy_param={"blank_label": 0}
    )


def read_out(n: NetSpec, scores: Top) -> None:
    n.read = L.CTCGreedyDecoder(scores, ctc_decoder_param={"blank_index": 0})


class Strings(Source):
    """HDF5 files of images and of labels (N, L), which 0 fills up."""

    def _tops(self, source: str, batch: int, **more: Any) -> Any:
        more.pop("transform_param")
        shuffle = {"shuffle": True} if more["include"]["phase"] == TRAIN else {}
        return L.HDF5Data(source=source, batch_size=batch, **shuffle, **more)


def digit_reader(n: NetSpec, x: Top) -> Top:
    """Two convolutions, a third over the whole height, scores of 24 places from left to right."""
    fill = {"weight_filler": MSRA, "bias_filler": constant()}
    for i, width in (1, 16), (2, 32):
        x = conv(n, f"conv{i}", x, width, 5, pad=2, param=BIASED, **fill)
        x = relu(n, f"relu{i}", normalise(n, f"bn{i}", f"scale{i}", x))
        x = pool(n, f"pool{i}", x, MAX, 2, 2)
    sizes = {"kernel_h": 7, "kernel_w": 5, "pad_h": 0, "pad_w": 2}
    x = add(n, "conv3", L.Convolution(x, num_output=96, param=BIASED, **sizes, **fill))
    x = dropout(n, "drop3", relu(n, "relu3", normalise(n, "bn3", "scale3", x)), 0.25)
    x = conv(n, "scores", x, 11, 1, param=BIASED, **fill)
    return add(n, "sequence", L.Permute(x, permute_param={"order": [3, 0, 1, 2]}))


def digits_loss(n: NetSpec, scores: Top) -> None:
    n.steps = L.Reshape(scores, shape={"dim": [0, 0, -1]})
    ctc_loss(n, n.steps)


# -- shapes ----------------------------------------------------------------------------------------


def shapes_net(n: NetSpec, x: Top) -> Top:
    """Five convolutions on images of 64; boxes start from a map of 8 by 8 and one of 4 by 4."""
    for i, width in enumerate((16, 32, 48, 64, 64), 1):
        x = conv(
            n, f"conv{i}", x, width, 3, pad=1, bias_term=False, param=BIASED[:1], weight_filler=MSRA
        )
        x = relu(n, f"relu{i}", normalise(n, f"bn{i}", f"scale{i}", x))
        if i < 4:
            x = pool(n, f"pool{i}", x, MAX, 2, 2)
    return add(n, "conv6", L.Pooling(x, pool=MAX, kernel_size=2, stride=2))


SHAPES = Heads([Scale("conv5", 14, 20, (2,), 8), Scale("conv6", 26, 34, (2,), 16)], classes=4)


def drawn_shapes() -> Source:
    resized = {"prob": 1, "resize_mode": ResizeParameter.WARP, "height": 64, "width": 64}
    return WholeImages(
        "data/ssd_shapes/ssd_shapes_train_lmdb",
        "data/ssd_shapes/ssd_shapes_test_lmdb",
        16,
        20,
        {"scale": 1 / 128, "mean_value": [128], "resize_param": resized},
        train_transform={"mirror": True},
    )


# -- the models ------------------------------------------------------------------------------------


def model(folder: str, name: str, about: str, *rest: Any, **more: Any) -> Model:
    return Model(folder, name, about, *rest, script=SCRIPT, **more)


SHORT_SIDE = {
    "prob": 1,
    "resize_mode": ResizeParameter.FIT_SMALL_SIZE,
    "height": 600,
    "width": 600,
    "interp_mode": [ResizeParameter.LINEAR],
}
BOXES = 'image, class, score and corners of each object in "detection_out"'

MODELS: list[Model] = [
    model(
        "ssd300_vgg16",
        "VGG_VOC0712_SSD_300x300",
        "SSD of 300x300 pixels on VGG-16, for the 20 classes of PASCAL VOC.",
        ssd_vgg16,
        (1, 3, 300, 300),
        voc(300, 32, 8, MEAN_COLOUR),
        VGG_HEADS.loss,
        VGG_HEADS.detect,
        output=BOXES,
    ),
    model(
        "mobilenet_ssd",
        "MobileNet-SSD",
        "SSD of 300x300 pixels on MobileNet, for the 20 classes of PASCAL VOC.",
        ssd_mobilenet,
        (1, 3, 300, 300),
        voc(300, 24, 8, {"scale": 0.007843, "mean_value": [127.5, 127.5, 127.5]}),
        MOBILE_HEADS.loss,
        MOBILE_HEADS.detect,
        output=BOXES,
    ),
    model(
        "faster_rcnn_zf",
        "ZF",
        "Faster R-CNN on Zeiler and Fergus's net, proposals and detector trained together.",
        zf,
        (1, 3, 600, 800),
        WholeImages(
            "data/VOC0712/VOC0712_trainval_lmdb",
            "data/VOC0712/VOC0712_test_lmdb",
            1,
            1,
            {"resize_param": SHORT_SIDE, "mean_value": [102.9801, 115.9465, 122.7717]},
            train_transform={"mirror": True},
        ),
        rcnn_training,
        rcnn_detection,
        output='regions in "rois", class probabilities in "cls_prob", offsets in "bbox_pred"',
    ),
    model(
        "segnet_basic",
        "VGG_Segnet_Basic",
        "SegNet-Basic for the 11 classes of CamVid, images of 360x480.",
        segnet_basic,
        (1, 3, 360, 480),
        LabelledImages("data/camvid/train.txt", "data/camvid/test.txt", 6, 1),
        segnet_loss,
        best_class,
        deploy_family=lambda n, x: segnet_basic(n, x, BNParameter.INFERENCE),
        output='the class of each pixel in "argmax"',
    ),
    model(
        "pspnet50",
        "pspnet50_ADE20K_473",
        "PSPNet on a dilated ResNet-50, for the 150 classes of ADE20K.",
        PSPNet((3, 4, 6, 3), 150, auxiliary=True),
        (1, 3, 473, 473),
        SegmentedImages(
            "data/ade20k/train.txt",
            "data/ade20k/val.txt",
            16,
            1,
            {"crop_height": 473, "crop_width": 473, **VGG_COLOUR},
            train_transform={"mirror": True, "scale_factors": [0.5, 0.75, 1, 1.25, 1.5, 1.75, 2]},
        ),
        pixel_loss,
        pixel_probabilities,
        deploy_family=PSPNet((3, 4, 6, 3), 150, auxiliary=False),
        output='the probabilities of each pixel\'s classes in "prob"',
    ),
    model(
        "crnn",
        "CRNN",
        "CRNN reads words of letters and digits in images of 32x100 pixels.",
        crnn,
        (1, 1, 32, 100),
        Strings("data/mjsynth/train.txt", "data/mjsynth/test.txt", 64, 64),
        ctc_loss,
        read_out,
        output='classes from left to right, then -1, in "read"; 1 to 10 are digits, then letters',
    ),
    model(
        "ctc_digits",
        "ctc_digits",
        "Reads strings of handwritten digits; what is where in an image, nobody says.",
        digit_reader,
        (1, 1, 28, 96),
        Strings("data/ctc_digits/train.txt", "data/ctc_digits/test.txt", 32, 50),
        digits_loss,
        read_out,
        output='digits plus 1 from left to right, then -1, in "read"',
    ),
    model(
        "ssd_shapes",
        "ssd_shapes",
        "A small SSD finds drawn circles, squares and triangles in images of 64x64 pixels.",
        shapes_net,
        (1, 3, 64, 64),
        drawn_shapes(),
        SHAPES.loss,
        SHAPES.detect,
        output=BOXES,
    ),
]


if __name__ == "__main__":
    sys.exit(main(MODELS, SCRIPT))

"""Forks of Caffe: what they are called, and which names come from them, known or not.

The fields that files are read with, and whose they are, stand in ``dialects/``.  Here are the layer
types, and names for which nobody wrote a schema: an error can at least say where they come from.

Each table is text: ``forks: name name ...``, the fork that had the names first before those that
took them over. A ``|`` stands between forks that use one name for different things.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cache

from pycaffe_dist.proto.dialects import Message, dialects

# By the names that `--dialect` takes; those that others copied from come first.
FORKS = {
    "pcd": "pycaffe_dist itself",
    "ssd": "the SSD fork (weiliu89/caffe)",
    "textboxes": "TextBoxes++ (MhLiao/TextBoxes_plusplus)",
    "refinedet": "RefineDet (sfzhang15/RefineDet)",
    "frcnn": "the Fast R-CNN fork (rbgirshick/caffe-fast-rcnn)",
    "rfcn": "R-FCN (daijifeng001/caffe-rfcn)",
    "mscnn": "MS-CNN (zhaoweicai/mscnn)",
    "yolo": "MobileNet-YOLO (eric612/MobileNet-YOLO)",
    "segnet": "SegNet (alexgkendall/caffe-segnet)",
    "deconvnet": "DeconvNet (HyeonwooNoh/caffe)",
    "deeplab": "DeepLab",
    "psp": "PSPNet (hszhao/PSPNet)",
    "mpi": "yjxiong's MPI fork (yjxiong/caffe)",
    "dgd": "the Caffe of Cysu/dgd_person_reid",
    "search": "the Caffe of ShuangLI59/person_search",
    "crfrnn": "CRF-RNN (torrvision/caffe)",
    "hed": "HED (s9xie/hed)",
    "c3d": "C3D (facebook/C3D)",
    "flownet": "FlowNet 2 (lmb-freiburg/flownet2)",
    "face": "caffe-face (ydwen/caffe-face)",
    "sphere": "SphereFace (wy1iu/sphereface)",
    "happynear": "happynear's fork (happynear/caffe-windows)",
    "lstm": "caffe-lstm (junhyukoh/caffe-lstm)",
    "ctc": "the CTC fork (ChWick/caffe)",
    "warpctc": "warpctc-caffe (xmfbit/warpctc-caffe)",
    "ocr": "caffe_ocr (senlinuc/caffe_ocr)",
    "densenet": "the DenseNet fork (Tongcheng/caffe)",
    "grl": "the gradient reversal fork (ddtm/caffe)",
    "stn": "the spatial transformer fork (christopher5106/last_caffe_with_stn)",
    "dw": "the depthwise convolution layer of yonghenglh6/DepthwiseConvolution",
    "shuffle": "ShuffleNet (farmingyard/ShuffleNet)",
    "senet": "SENet (hujie-frank/SENet)",
    "deformable": "Deformable-ConvNets (unsky/Deformable-ConvNets-caffe)",
    "augment": "caffe-augmentation (kostyaev/caffe-augmentation)",
    "nvcaffe": "NVIDIA Caffe (NVIDIA/caffe)",
    "intel": "Intel Caffe (intel/caffe)",
    "ristretto": "Ristretto (pmgysel/caffe)",
    "openvino": "the OpenVINO toolbox (openvinotoolkit/training_toolbox_caffe)",
    "opencl": "the OpenCL branch of BVLC Caffe",
    "opencv": "OpenCV's importer",
    "arc": "Synopsys Caffe (the repository synopsys-caffe)",
    "color": "the Caffe of richzhang/colorization",
    "east": "the Caffe of SURFZJY/EAST-caffe",
    "cpm": "the pose estimation fork (CMU-Perceptual-Computing-Lab/caffe_train)",
    "deepbit": "DeepBit (kevinlin311tw/cvpr16-deepbit)",
    "prune": "the Caffe of yihui-he/channel-pruning",
    "pushin": "the pruning fork jwcom79/caffe",
    "pr3057": "BVLC pull request 3057 (what was merged is round_mode)",
    "single": "the Caffe of a single repository",
    "several": "several forks",
}

# Fields of layers of which neither a schema nor a layer is known.
_UNREAD_FIELDS = """
    mscnn: bbox_accuracy_param detection_param window_ped_data_param
    happynear: batch_contrastive_loss_param confidence_penalty_loss_param fcn_data_param
        feature_decay_loss_param hotspot_param infimum_loss_param label_specific_affine_param
        label_specific_hard_margin_param mil_data_param mil_param nca_param
        ordinal_regression_loss_param predict_box_param smoothl1_param soft_contrastive_loss_param
        soft_truncation_param truncation_param
    lstm: im2windows_param
    pushin: crelu_param pushin_param
    cpm: cpm_transform_param
    c3d: down_sampling_param
    deconvnet: binary_accuracy_param eltwise_accuracy_param red_accuracy_param
        red_softmax_loss_param
    arc: attention_param count_nonzero_param embedding_lookup_param embedding_lookup_sparse_param
        gather_v2_param lp_normalization_param maskrcnn_detection_param maskrcnn_proposal_param
        nms_gather_param nms_param non_max_suppression_param not_equal_param one_hot_param
        point_net_param pyramid_roi_align_param reverse_sequence_param rnn_v2_param
        scatter_nd_param sparse_to_dense_param topk_gather_param where4_gathernd_crop_param
        where4_gathernd_param where4_param
"""

_UNREAD_V1_TYPES = """
    c3d: DOWN_SAMPLING VIDEO_SEGMENTATION_DATA VOLUME_DATA VOXEL_CUSTOM_LOSS VOXEL_SOFTMAX
        VOXEL_SOFTMAX_LOSS
    deconvnet: BIN_ACCURACY ELTWISE_ACCURACY RED_ACCURACY RED_SOFTMAX_LOSS WINDOW_CLS_DATA
        WINDOW_INST_SEG_DATA WINDOW_SEG_DATA
    happynear: BATCH_NORM ELTWISE_AFFINE ROIPOOLING
"""

_LAYER_TYPES = """
    ssd nvcaffe intel: AnnotatedData DetectionEvaluate DetectionOutput MultiBoxLoss Permute PriorBox
    pcd: AnchorTarget RcnnTruth RegionTarget
    ssd nvcaffe intel | happynear: Normalize
    mpi | c3d | ssd nvcaffe intel: VideoData
    openvino: PriorBoxClustered
    frcnn intel mscnn: ROIPooling
    frcnn ssd intel: SmoothL1Loss
    rfcn intel: BoxAnnotatorOHEM SmoothL1LossOHEM SoftmaxWithLossOHEM
    rfcn intel happynear: PSROIPooling
    yolo intel: RegionLoss Reorg
    yolo: ReLU6 SegmentationEvaluate YoloDetectionOutput YoloSeg Yolov3 Yolov3DetectionOutput
    dw yolo: DepthwiseConvolution
    shuffle: ConvolutionDepthwise
    shuffle arc: ShuffleChannel
    senet nvcaffe intel: Axpy
    intel: SpatialDropout
    nvcaffe: DetectNetTransformation
    nvcaffe | flownet: L1Loss
    segnet: DenseImageData
    segnet | yolo: Upsample
    mpi psp happynear | deconvnet segnet: BN
    mpi: BatchReduction Scatter SyncBN
    mpi | arc: Gather
    deconvnet: Unpooling
    deeplab psp: AdaptiveBiasChannel BiasChannel DenseCRF DomainTransform ImageSegData
        SpatialProduct
    deeplab psp arc: Interp MatRead MatWrite SegAccuracy UniqueLabel
    crfrnn: MultiStageMeanfield
    deformable: DeformableConvolution
    grl: GradientScaler
    flownet: ChannelNorm Correlation1D DataAugmentation FLOWriter FlowAugmentation ImgReader NegReLU
    flownet arc: Accum Correlation Downsample FlowWarp LpqLoss Mean Resample
    stn: SpatialTransformer
    c3d: Convolution3D Deconvolution3D L2Normalize Pooling3D
    several: Normalization
    mscnn: BboxAccuracy BoxOutput DetectionAccuracy DetectionLoss ImageGtData ProposalTarget
    dgd: GuidedDropout
    search: LabeledMatching RandomSamplingSoftmaxLoss UnlabeledMatching
    face happynear: CenterLoss
    sphere happynear: MarginInnerProduct
    happynear arc: Proposal
    happynear: ChannelScale Cosine Flip GeneralContrastiveLoss GeneralTripletLoss Gram InnerDistance
        Insanity LabelSpecificAdd LabelSpecificMargin LabelSpecificRescale LargeMarginInnerProduct
        Local Pairwise TripletLoss
    ssd | happynear: FocalLoss
    mscnn | arc single: ROIAlign
    arc: DepthToSpace ExpandDimsND HardSigmoid HardSwish LayerNorm LogSoftmax MatMul Mish MirrorPad
        Pad ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ResizeBilinear
        ResizeNearestNeighbor ScaledTanH SeLU SeLu Shape Softplus Softsign SpaceToDepth Squeeze
        Stack StridedSlice Unstack
    color | happynear: Resize
    color: ColorConv SoftmaxCrossEntropyLoss
    lstm ocr: Lstm
    ctc: CTCLoss ReverseTime
    warpctc: ContinuationIndicator CtcLoss LabelsequenceAccuracy
    ctc ocr: CTCGreedyDecoder Reverse
    densenet ocr: DenseBlock
    ocr: Transpose WarpCTCLoss
    ristretto: ConvolutionRistretto DeconvolutionRistretto FcRistretto LRNRistretto
    cpm: CPMData
    hed: ImageLabelmapData
    openvino: GRN
    east: DiceCoefLoss
    deepbit: EvenDistLoss MinQuantizeLoss TransformLoss
"""


_NOTHING = Message()


@cache
def parse(table: str) -> dict[str, str]:
    """The forks of each name in a table, as they are written before its colon."""
    found: dict[str, str] = {}
    forks = ""
    for line in table.splitlines():
        head, colon, names = line.rpartition(":")
        forks = head.strip() if colon else forks
        found.update(dict.fromkeys(names.split(), forks))
    return found


def _phrase(forks: str | None) -> str | None:
    """``ssd nvcaffe | c3d`` as "the SSD fork, also in NVIDIA Caffe, or from C3D"."""
    if not forks:
        return None
    origins = []
    for group in forks.split("|"):
        first, *others = (FORKS[fork] for fork in group.split())
        origins.append(f"{first}, also in {' and '.join(others)}" if others else first)
    return ", or from ".join(origins)


def of_field(message: str, field: str) -> str | None:
    """Where a field of one of BVLC's messages comes from: fits after "it comes from"."""
    if message == "V1LayerParameter":
        return of_field("LayerParameter", field)
    unread = parse(_UNREAD_FIELDS) if message == "LayerParameter" else {}
    return _phrase(unread.get(field) or " ".join(owners(message, field)))


def owners(message: str, field: str) -> list[str]:
    """The dialects whose schema has a field, those that others copied from first."""
    known = dialects()
    return [
        name
        for name in FORKS
        if name in known and field in known[name].messages.get(message, _NOTHING).fields
    ]


def of_enum_value(enum: str, value: str) -> str | None:
    """Where a value of one of BVLC's enums comes from."""
    unread = parse(_UNREAD_V1_TYPES) if enum == "LayerType" else {}
    known = dialects()
    found = [
        name
        for name in FORKS
        if name in known
        and any(value in m.enums.get(enum, ()) for m in known[name].messages.values())
    ]
    return _phrase(unread.get(value) or " ".join(found))


def of_layer_type(type: str) -> str | None:
    """Where a layer type such as "Permute" comes from."""
    return _phrase(parse(_LAYER_TYPES).get(type))


def by_fork(types: Iterable[str]) -> dict[str, list[str]]:
    """Layer types by the fork that has most of them; "" for those that no fork has."""
    known = parse(_LAYER_TYPES)
    left = list(dict.fromkeys(types))
    found: dict[str, list[str]] = {}
    while left:
        counts = Counter(f for t in left for f in known.get(t, "").split() if f != "|")
        if not counts:
            found[""] = left
            break
        fork = counts.most_common(1)[0][0]  # of equals the first, where the names began
        found[FORKS[fork]] = [t for t in left if fork in known.get(t, "").split()]
        left = [t for t in left if t not in found[FORKS[fork]]]
    return found

"""Names that forks of Caffe added to the schema, so that an error can say where a file comes from.

Each table is text: ``forks: name name ...``, the fork that had the names first before those that
took them over. A ``|`` stands between forks that use one name for different things.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cache

FORKS = {
    "arc": "Synopsys Caffe (the repository synopsys-caffe)",  # codespell:ignore
    "augment": "caffe-augmentation (kostyaev/caffe-augmentation)",
    "c3d": "C3D (facebook/C3D)",
    "color": "the Caffe of richzhang/colorization",
    "cpm": "the pose estimation fork (CMU-Perceptual-Computing-Lab/caffe_train)",
    "crfrnn": "CRF-RNN (torrvision/caffe)",
    "ctc": "the CTC fork (ChWick/caffe)",
    "deconvnet": "DeconvNet (HyeonwooNoh/caffe)",
    "deepbit": "DeepBit (kevinlin311tw/cvpr16-deepbit)",
    "deeplab": "DeepLab",
    "densenet": "the DenseNet fork (Tongcheng/caffe)",
    "dgd": "the Caffe of Cysu/dgd_person_reid",
    "dw": "the depthwise convolution layer of yonghenglh6/DepthwiseConvolution",
    "face": "caffe-face (ydwen/caffe-face)",
    "fcn": "the FCN branch (longjon/caffe)",
    "flownet": "FlowNet 2 (lmb-freiburg/flownet2)",
    "frcnn": "the Fast R-CNN fork (rbgirshick/caffe-fast-rcnn)",
    "happynear": "happynear's fork (happynear/caffe-windows)",
    "hed": "HED (s9xie/hed)",
    "intel": "Intel Caffe (intel/caffe)",
    "lstm": "caffe-lstm (junhyukoh/caffe-lstm)",
    "mpi": "yjxiong's MPI fork (yjxiong/caffe)",
    "mscnn": "MS-CNN (zhaoweicai/mscnn)",
    "nv": "NVIDIA Caffe (NVIDIA/caffe)",
    "ocr": "caffe_ocr (senlinuc/caffe_ocr)",
    "opencl": "the OpenCL branch of BVLC Caffe",
    "openvino": "the OpenVINO toolbox (openvinotoolkit/training_toolbox_caffe)",
    "pr3057": "BVLC pull request 3057 (what was merged is round_mode)",
    "prune": "the Caffe of yihui-he/channel-pruning",
    "psp": "PSPNet (hszhao/PSPNet)",
    "pushin": "the pruning fork jwcom79/caffe",
    "rfcn": "R-FCN (daijifeng001/caffe-rfcn)",
    "ristretto": "Ristretto (pmgysel/caffe)",
    "search": "the Caffe of ShuangLI59/person_search",
    "segnet": "SegNet (alexgkendall/caffe-segnet)",
    "senet": "SENet (hujie-frank/SENet)",
    "shuffle": "ShuffleNet (farmingyard/ShuffleNet)",
    "sphere": "SphereFace (wy1iu/sphereface)",
    "ssd": "the SSD fork (weiliu89/caffe)",
    "yolo": "MobileNet-YOLO (eric612/MobileNet-YOLO)",
}

_LAYER = """
    ssd nv intel: annotated_data_param detection_evaluate_param detection_output_param
        multibox_loss_param norm_param permute_param prior_box_param
    mpi | c3d | ssd nv intel: video_data_param
    frcnn intel mscnn: roi_pooling_param smooth_l1_loss_param
    rfcn intel: box_annotator_ohem_param
    rfcn intel happynear: psroi_pooling_param
    yolo intel: region_loss_param reorg_param
    yolo: relu6_param segmentation_evaluate_param yolo_detection_output_param yolo_seg_param
        yolov3_detection_output_param yolov3_param
    intel: continuation_indicator_param engine mn_activation_param mn_grad_compress_param multinode
        spatial_dropout_param split_param
    ristretto intel: quantization_param
    nv: backward_math backward_type cudnn_math_override debug detectnet_augmentation_param
        detectnet_groundtruth_param forward_math forward_type
    segnet: dense_image_data_param
    segnet | yolo: upsample_param
    mpi psp happynear | deconvnet segnet: bn_param
    mpi: batch_reduction_param
    deeplab psp: adaptive_bias_channel_param bias_channel_param dense_crf_param
        domain_transform_param
    deeplab psp arc: interp_param mat_read_param mat_write_param seg_accuracy_param
        unique_label_param
    crfrnn: multi_stage_meanfield_param
    flownet arc: accum_param augmentation_param black_augmentation_param coeff_schedule_param
        correlation_param downsample_param flow_warp_param l1_loss_param lpq_loss_param mean_param
        reader_param resample_param reshape_every_iter writer_param
    c3d arc: pooling3d_param
    c3d: convolution3d_param
    mscnn: bbox_accuracy_param bbox_reg_param box_output_param detection_accuracy_param
        detection_loss_param detection_param image_gt_data_param proposal_target_param
        window_ped_data_param
    dgd: guided_dropout_param
    search: labeled_matching_param rss_loss_param unlabeled_matching_param
    face happynear: center_loss_param
    sphere happynear: margin_inner_product_param
    shuffle arc: shuffle_channel_param
    happynear arc: proposal_param
    happynear: batch_contrastive_loss_param channel_scale_param confidence_penalty_loss_param
        eltwise_affine_param fcn_data_param feature_decay_loss_param flip_param focal_loss_param
        general_contrastive_loss_param general_triplet_loss_param hotspot_param infimum_loss_param
        inner_distance_param insanity_param label_specific_add_param label_specific_affine_param
        label_specific_hard_margin_param label_specific_margin_param label_specific_rescale_param
        largemargin_inner_product_param local_param mil_data_param mil_param nca_param noise_param
        normalize_param ordinal_regression_loss_param pairwise_param predict_box_param
        smoothl1_param soft_contrastive_loss_param soft_truncation_param sub_region_param
        triplet_loss_param truncation_param
    color | happynear: resize_param
    color: color_conv_param
    lstm ocr: lstm_param
    lstm: im2windows_param
    ctc: ctc_decoder_param ctc_loss_param reverse_time_param
    ctc ocr: reverse_param
    densenet ocr: denseblock_param
    ocr: transpose_param
    prune: filter_param
    pushin: crelu_param fixed_param pruning_param pushin_param
    cpm: cpm_transform_param
    arc: attention_param batch_to_space_nd_param broadcast_to_param count_nonzero_param
        crop_and_resize_param depth_to_space_param embedding_lookup_param
        embedding_lookup_sparse_param expand_dims_nd_param gather_nd_param gather_param
        gather_v2_param gemm_param hard_sigmoid_param layer_norm_param log_softmax_param
        lp_normalization_param maskrcnn_detection_param maskrcnn_proposal_param matmul_param
        mirror_pad_param nms_gather_param nms_param non_max_suppression_param not_equal_param
        one_hot_param pad_param piece_param point_net_param pyramid_roi_align_param range_param
        reduce_all_param reduce_any_param reduce_l1_param reduce_l2_param reduce_logsumexp_param
        reduce_max_param reduce_mean_param reduce_min_param reduce_prod_param reduce_sum_param
        resize_bilinear_param resize_nearest_neighbor_param reverse_sequence_param rnn_v2_param
        roi_align_param scaled_tanh_param scatter_nd_param selu_dropout_param selu_param
        space_to_batch_nd_param space_to_depth_param sparse_to_dense_param
        squeeze_convolution_param squeeze_inner_product_param squeeze_param stack_param
        strided_slice_param thresholded_relu_param tile_nd_param topk_gather_param unstack_param
        upsample_darknet_param where4_gathernd_crop_param where4_gathernd_param where4_param
        xlu_param yolo_v2_loss_param yolo_v3_loss_param
"""

_FIELDS = {
    "LayerParameter": _LAYER,
    "V1LayerParameter": _LAYER
    + """
    c3d: down_sampling_param
    deconvnet: binary_accuracy_param eltwise_accuracy_param red_accuracy_param
        red_softmax_loss_param unpooling_param
    """,
    "NetParameter": """
    intel: bn_stats_batch_size compile_net_state engine multinode
    nv: default_backward_math default_backward_type default_conv_algos_override
        default_cudnn_math_override default_forward_math default_forward_type global_grad_scale
        reduce_buckets
    mpi: mem_param optimize_mem
    dgd: auto_insert_gathers richness
    """,
    "SolverParameter": """
    ssd nv intel: ap_version eval_type plateau_winsize show_per_class_result
    nv: max_momentum momentum_policy momentum_power per_parameter_reduce rampup_interval rampup_lr
        solver_data_type store_blobs_in_old_format
    nv | dgd: min_lr
    nv intel: local_gw_ratio local_lr_auto
    intel: disabled_update engine warmup_iter warmup_start_lr
    mpi: richness
    yolo: stageiter stagelr
    """,
    "BlobProto": """
    nv: raw_data raw_data_type
    c3d: length
    """,
    "FillerParameter": """
    happynear: alpha
    intel: scale
    """,
    "TransformationParameter": """
    ssd nv intel: distort_param emit_constraint expand_param noise_param resize_param
    ssd nv intel | happynear: crop_h crop_w
    intel: flow random_aspect_ratio_param random_resize_param
    nv: display img_rand_resize_lower img_rand_resize_upper num_labels random_seed
        use_gpu_transform var_sz_img_enabled
    deeplab psp: scale_factors
    deeplab psp | dgd: crop_height crop_width
    dgd: multi_scale_levels
    mpi: fix_crop is_flow max_distort more_fix_crop multi_scale original_image scale_ratios
    happynear: aspect_max aspect_min center_crop erase_ratio scale_max scale_min
    augment: apply_probability contrast_brightness_adjustment debug_params max_brightness_shift
        max_color_shift max_contrast max_rotation_angle max_scaling_factor max_smooth
        min_contrast min_scaling_factor min_side smooth_filtering
    """,
    "LossParameter": """
    segnet: class_weighting weight_by_label_freqs
    rfcn intel: pre_fixed_normalizer
    nv intel: label_smoothing
    """,
    "AccuracyParameter": """
    happynear: min_is_better
    """,
    "BatchNormParameter": """
    nv intel happynear: bias_filler engine
    nv happynear: scale_filler
    nv: scale_bias
    intel: bias_term filler relu stats_batch_size use_weight_bias
    deeplab psp: update_global_stats
    happynear: disable_mean disable_variance
    """,
    "ConcatParameter": """
    intel: engine
    """,
    "ConvolutionParameter": """
    c3d: filter_group kernel_depth temporal_pad temporal_stride
    deeplab: hole hole_h hole_w
    nv happynear: cudnn_convolution_algo_seeker
    nv: conv_algos_override
    intel: conv_algorithm negative_slope relu
    opencl: fuse_type
    happynear: shape_offset
    """,
    "DataParameter": """
    nv intel | mpi: shuffle
    nv: cache parser_threads threads
    dgd: shuffle_pool_size
    c3d: show_data
    """,
    "DropoutParameter": """
    frcnn: scale_train
    segnet: sample_weights_test
    nv: engine random_seed
    happynear: sqrt_scale
    augment: test_enabled
    """,
    "EltwiseParameter": """
    intel: engine
    """,
    "ImageDataParameter": """
    c3d: clip_max clip_min is_flow mean_value new_length num_truth_channels sampling_rate show_data
        truth_scale use_byte_input use_image use_label use_temporal_jitter
    deeplab psp deconvnet: ignore_label label_type
    deconvnet: has_label max_labels other_object_label
    intel: min_height min_width
    prune: bicubic new_dim
    happynear: balance_by balance_class face_mirror face_point_num face_transform label_cut_end
        label_cut_start max_aspect_ratio max_random_scale max_random_shift max_rotate_angle
        max_shear_ratio min_random_scale
    """,
    "InnerProductParameter": """
    intel: engine
    happynear: normalize
    """,
    "LRNParameter": """
    opencl: fuse_type pooling_param
    """,
    "MemoryDataParameter": """
    opencl: dim
    happynear: transpose
    """,
    "ParameterParameter": """
    happynear: blob_filler
    """,
    "PoolingParameter": """
    c3d: kernel_depth temporal_stride
    pr3057: ceil_mode
    nv: torch_pooling
    intel: avg_include_pad
    intel | opencl: axis
    opencl: dilation
    happynear: blobs_a_min blobs_lr
    """,
    "ReLUParameter": """
    intel: fuse
    """,
    "ScaleParameter": """
    happynear: max_value min_value
    """,
    "SoftmaxParameter": """
    happynear: class_weight cutting_point hard_mining_label hard_ratio label_smooth_factor
        normalize_type
    """,
}

_ENUM_VALUES = {
    "LayerType": """
    c3d: CONVOLUTION3D DECONVOLUTION3D DOWN_SAMPLING POOLING3D VIDEO_DATA VIDEO_SEGMENTATION_DATA
        VIDEO_WITH_VOXEL_TRUTH_DATA VOLUME_DATA VOXEL_CUSTOM_LOSS VOXEL_SOFTMAX VOXEL_SOFTMAX_LOSS
    deconvnet: BIN_ACCURACY ELTWISE_ACCURACY RED_ACCURACY RED_SOFTMAX_LOSS UNPOOLING
        WINDOW_CLS_DATA WINDOW_INST_SEG_DATA WINDOW_SEG_DATA
    deconvnet segnet | happynear: BN
    segnet: DENSE_IMAGE_DATA UPSAMPLE
    fcn deconvnet: CROP
    deeplab deconvnet: IMAGE_SEG_DATA
    crfrnn: MULTI_STAGE_MEANFIELD
    happynear: BATCH_NORM ELTWISE_AFFINE INSANITY LOCAL NORMALIZE ROIPOOLING TRIPLET_LOSS
    """,
    "Engine": """
    intel: MKL2017 MKLDNN
    opencl: INTEL_SPATIAL LIBDNN
    """,
    "NormalizationMode": """
    rfcn intel: PRE_FIXED
    """,
    "EltwiseOp": """
    happynear: SORT
    """,
    "PoolMethod": """
    happynear: DEF DEF_ALL DEF_ALL2 DEF_ALL3 DEF_ALL4 LOWRES
    """,
}

_LAYER_TYPES = """
    ssd nv intel: AnnotatedData DetectionEvaluate DetectionOutput MultiBoxLoss Permute PriorBox
    ssd nv intel | happynear: Normalize
    mpi | c3d | ssd nv intel: VideoData
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
    senet nv intel: Axpy
    intel: SpatialDropout
    nv: DetectNetTransformation
    nv | flownet: L1Loss
    segnet: DenseImageData
    segnet | yolo: Upsample
    mpi psp happynear | deconvnet segnet: BN
    mpi: Gather Scatter SyncBN
    deeplab psp: AdaptiveBiasChannel BiasChannel DenseCRF DomainTransform ImageSegData
        SpatialProduct
    deeplab psp arc: Interp MatRead MatWrite SegAccuracy UniqueLabel
    crfrnn: MultiStageMeanfield
    flownet: ChannelNorm Correlation1D DataAugmentation FLOWriter FlowAugmentation ImgReader
    flownet arc: Accum Correlation Downsample FlowWarp LpqLoss Mean Resample
    c3d: Convolution3D Pooling3D
    mscnn: BboxAccuracy BoxOutput DetectionAccuracy DetectionLoss ImageGtData ProposalTarget
    dgd: GuidedDropout
    search: LabeledMatching RandomSamplingSoftmaxLoss UnlabeledMatching
    face happynear: CenterLoss
    sphere happynear: MarginInnerProduct
    happynear arc: Proposal
    happynear: ChannelScale Flip GeneralContrastiveLoss InnerDistance Insanity LabelSpecificAdd
        LabelSpecificMargin LabelSpecificRescale Local TripletLoss
    arc: ROIAlign
    color | happynear: Resize
    color: ColorConv SoftmaxCrossEntropyLoss
    lstm ocr: Lstm
    ctc: CTCLoss ReverseTime
    ctc ocr: CTCGreedyDecoder Reverse
    densenet ocr: DenseBlock
    ocr: Transpose WarpCTCLoss
    ristretto: ConvolutionRistretto DeconvolutionRistretto FcRistretto LRNRistretto
    cpm: CPMData
    hed: ImageLabelmapData
    deepbit: EvenDistLoss MinQuantizeLoss TransformLoss
"""


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
    """``ssd nv | c3d`` as "the SSD fork, also in NVIDIA Caffe, or from C3D"."""
    if not forks:
        return None
    origins = []
    for group in forks.split("|"):
        first, *others = (FORKS[fork] for fork in group.split())
        origins.append(f"{first}, also in {' and '.join(others)}" if others else first)
    return ", or from ".join(origins)


def of_field(message: str, field: str) -> str | None:
    """Where a field of one of BVLC's messages comes from: fits after "it comes from"."""
    return _phrase(parse(_FIELDS.get(message, "")).get(field))


def of_enum_value(enum: str, value: str) -> str | None:
    """Where a value of one of BVLC's enums comes from."""
    return _phrase(parse(_ENUM_VALUES.get(enum, "")).get(value))


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

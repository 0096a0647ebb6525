from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Phase(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TRAIN: _ClassVar[Phase]
    TEST: _ClassVar[Phase]

class NVType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DOUBLE: _ClassVar[NVType]
    FLOAT: _ClassVar[NVType]
    FLOAT16: _ClassVar[NVType]
    INT: _ClassVar[NVType]
    UINT: _ClassVar[NVType]
TRAIN: Phase
TEST: Phase
DOUBLE: NVType
FLOAT: NVType
FLOAT16: NVType
INT: NVType
UINT: NVType

class BlobShape(_message.Message):
    __slots__ = ("dim",)
    DIM_FIELD_NUMBER: _ClassVar[int]
    dim: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, dim: _Optional[_Iterable[int]] = ...) -> None: ...

class BlobProto(_message.Message):
    __slots__ = ("num", "channels", "height", "width", "data", "diff", "shape", "double_data", "double_diff", "blob_mode", "global_id", "length", "raw_data_type", "raw_diff_type", "raw_data", "raw_diff")
    class BlobMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        GLOBAL: _ClassVar[BlobProto.BlobMode]
        LOCAL: _ClassVar[BlobProto.BlobMode]
    GLOBAL: BlobProto.BlobMode
    LOCAL: BlobProto.BlobMode
    NUM_FIELD_NUMBER: _ClassVar[int]
    CHANNELS_FIELD_NUMBER: _ClassVar[int]
    HEIGHT_FIELD_NUMBER: _ClassVar[int]
    WIDTH_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    DIFF_FIELD_NUMBER: _ClassVar[int]
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    DOUBLE_DATA_FIELD_NUMBER: _ClassVar[int]
    DOUBLE_DIFF_FIELD_NUMBER: _ClassVar[int]
    BLOB_MODE_FIELD_NUMBER: _ClassVar[int]
    GLOBAL_ID_FIELD_NUMBER: _ClassVar[int]
    LENGTH_FIELD_NUMBER: _ClassVar[int]
    RAW_DATA_TYPE_FIELD_NUMBER: _ClassVar[int]
    RAW_DIFF_TYPE_FIELD_NUMBER: _ClassVar[int]
    RAW_DATA_FIELD_NUMBER: _ClassVar[int]
    RAW_DIFF_FIELD_NUMBER: _ClassVar[int]
    num: int
    channels: int
    height: int
    width: int
    data: _containers.RepeatedScalarFieldContainer[float]
    diff: _containers.RepeatedScalarFieldContainer[float]
    shape: BlobShape
    double_data: _containers.RepeatedScalarFieldContainer[float]
    double_diff: _containers.RepeatedScalarFieldContainer[float]
    blob_mode: BlobProto.BlobMode
    global_id: int
    length: int
    raw_data_type: NVType
    raw_diff_type: NVType
    raw_data: bytes
    raw_diff: bytes
    def __init__(self, num: _Optional[int] = ..., channels: _Optional[int] = ..., height: _Optional[int] = ..., width: _Optional[int] = ..., data: _Optional[_Iterable[float]] = ..., diff: _Optional[_Iterable[float]] = ..., shape: _Optional[_Union[BlobShape, _Mapping]] = ..., double_data: _Optional[_Iterable[float]] = ..., double_diff: _Optional[_Iterable[float]] = ..., blob_mode: _Optional[_Union[BlobProto.BlobMode, str]] = ..., global_id: _Optional[int] = ..., length: _Optional[int] = ..., raw_data_type: _Optional[_Union[NVType, str]] = ..., raw_diff_type: _Optional[_Union[NVType, str]] = ..., raw_data: _Optional[bytes] = ..., raw_diff: _Optional[bytes] = ...) -> None: ...

class BlobProtoVector(_message.Message):
    __slots__ = ("blobs",)
    BLOBS_FIELD_NUMBER: _ClassVar[int]
    blobs: _containers.RepeatedCompositeFieldContainer[BlobProto]
    def __init__(self, blobs: _Optional[_Iterable[_Union[BlobProto, _Mapping]]] = ...) -> None: ...

class Datum(_message.Message):
    __slots__ = ("channels", "height", "width", "data", "label", "float_data", "encoded", "record_id", "seg_label")
    CHANNELS_FIELD_NUMBER: _ClassVar[int]
    HEIGHT_FIELD_NUMBER: _ClassVar[int]
    WIDTH_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    LABEL_FIELD_NUMBER: _ClassVar[int]
    FLOAT_DATA_FIELD_NUMBER: _ClassVar[int]
    ENCODED_FIELD_NUMBER: _ClassVar[int]
    RECORD_ID_FIELD_NUMBER: _ClassVar[int]
    SEG_LABEL_FIELD_NUMBER: _ClassVar[int]
    channels: int
    height: int
    width: int
    data: bytes
    label: int
    float_data: _containers.RepeatedScalarFieldContainer[float]
    encoded: bool
    record_id: int
    seg_label: bytes
    def __init__(self, channels: _Optional[int] = ..., height: _Optional[int] = ..., width: _Optional[int] = ..., data: _Optional[bytes] = ..., label: _Optional[int] = ..., float_data: _Optional[_Iterable[float]] = ..., encoded: _Optional[bool] = ..., record_id: _Optional[int] = ..., seg_label: _Optional[bytes] = ...) -> None: ...

class FillerParameter(_message.Message):
    __slots__ = ("type", "value", "min", "max", "mean", "std", "sparse", "variance_norm", "diag_val", "alpha", "scale", "file")
    class VarianceNorm(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        FAN_IN: _ClassVar[FillerParameter.VarianceNorm]
        FAN_OUT: _ClassVar[FillerParameter.VarianceNorm]
        AVERAGE: _ClassVar[FillerParameter.VarianceNorm]
    FAN_IN: FillerParameter.VarianceNorm
    FAN_OUT: FillerParameter.VarianceNorm
    AVERAGE: FillerParameter.VarianceNorm
    TYPE_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    MIN_FIELD_NUMBER: _ClassVar[int]
    MAX_FIELD_NUMBER: _ClassVar[int]
    MEAN_FIELD_NUMBER: _ClassVar[int]
    STD_FIELD_NUMBER: _ClassVar[int]
    SPARSE_FIELD_NUMBER: _ClassVar[int]
    VARIANCE_NORM_FIELD_NUMBER: _ClassVar[int]
    DIAG_VAL_FIELD_NUMBER: _ClassVar[int]
    ALPHA_FIELD_NUMBER: _ClassVar[int]
    SCALE_FIELD_NUMBER: _ClassVar[int]
    FILE_FIELD_NUMBER: _ClassVar[int]
    type: str
    value: float
    min: float
    max: float
    mean: float
    std: float
    sparse: int
    variance_norm: FillerParameter.VarianceNorm
    diag_val: _containers.RepeatedScalarFieldContainer[float]
    alpha: float
    scale: float
    file: str
    def __init__(self, type: _Optional[str] = ..., value: _Optional[float] = ..., min: _Optional[float] = ..., max: _Optional[float] = ..., mean: _Optional[float] = ..., std: _Optional[float] = ..., sparse: _Optional[int] = ..., variance_norm: _Optional[_Union[FillerParameter.VarianceNorm, str]] = ..., diag_val: _Optional[_Iterable[float]] = ..., alpha: _Optional[float] = ..., scale: _Optional[float] = ..., file: _Optional[str] = ...) -> None: ...

class NetParameter(_message.Message):
    __slots__ = ("name", "layers", "input", "input_dim", "force_backward", "state", "debug_info", "input_shape", "layer", "richness", "auto_insert_gathers", "engine", "compile_net_state", "bn_stats_batch_size", "multinode", "mem_param", "optimize_mem", "default_forward_type", "default_backward_type", "default_forward_math", "default_backward_math", "global_grad_scale", "global_grad_scale_adaptive", "default_conv_algos_override", "reduce_buckets", "default_cudnn_math_override", "eltwise_mem_sharing")
    NAME_FIELD_NUMBER: _ClassVar[int]
    LAYERS_FIELD_NUMBER: _ClassVar[int]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    INPUT_DIM_FIELD_NUMBER: _ClassVar[int]
    FORCE_BACKWARD_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    DEBUG_INFO_FIELD_NUMBER: _ClassVar[int]
    INPUT_SHAPE_FIELD_NUMBER: _ClassVar[int]
    LAYER_FIELD_NUMBER: _ClassVar[int]
    RICHNESS_FIELD_NUMBER: _ClassVar[int]
    AUTO_INSERT_GATHERS_FIELD_NUMBER: _ClassVar[int]
    ENGINE_FIELD_NUMBER: _ClassVar[int]
    COMPILE_NET_STATE_FIELD_NUMBER: _ClassVar[int]
    BN_STATS_BATCH_SIZE_FIELD_NUMBER: _ClassVar[int]
    MULTINODE_FIELD_NUMBER: _ClassVar[int]
    MEM_PARAM_FIELD_NUMBER: _ClassVar[int]
    OPTIMIZE_MEM_FIELD_NUMBER: _ClassVar[int]
    DEFAULT_FORWARD_TYPE_FIELD_NUMBER: _ClassVar[int]
    DEFAULT_BACKWARD_TYPE_FIELD_NUMBER: _ClassVar[int]
    DEFAULT_FORWARD_MATH_FIELD_NUMBER: _ClassVar[int]
    DEFAULT_BACKWARD_MATH_FIELD_NUMBER: _ClassVar[int]
    GLOBAL_GRAD_SCALE_FIELD_NUMBER: _ClassVar[int]
    GLOBAL_GRAD_SCALE_ADAPTIVE_FIELD_NUMBER: _ClassVar[int]
    DEFAULT_CONV_ALGOS_OVERRIDE_FIELD_NUMBER: _ClassVar[int]
    REDUCE_BUCKETS_FIELD_NUMBER: _ClassVar[int]
    DEFAULT_CUDNN_MATH_OVERRIDE_FIELD_NUMBER: _ClassVar[int]
    ELTWISE_MEM_SHARING_FIELD_NUMBER: _ClassVar[int]
    name: str
    layers: _containers.RepeatedCompositeFieldContainer[V1LayerParameter]
    input: _containers.RepeatedScalarFieldContainer[str]
    input_dim: _containers.RepeatedScalarFieldContainer[int]
    force_backward: bool
    state: NetState
    debug_info: bool
    input_shape: _containers.RepeatedCompositeFieldContainer[BlobShape]
    layer: _containers.RepeatedCompositeFieldContainer[LayerParameter]
    richness: int
    auto_insert_gathers: bool
    engine: str
    compile_net_state: CompileNetState
    bn_stats_batch_size: int
    multinode: MultinodeParameter
    mem_param: MemoryOptimizationParameter
    optimize_mem: bool
    default_forward_type: NVType
    default_backward_type: NVType
    default_forward_math: NVType
    default_backward_math: NVType
    global_grad_scale: float
    global_grad_scale_adaptive: bool
    default_conv_algos_override: str
    reduce_buckets: int
    default_cudnn_math_override: int
    eltwise_mem_sharing: bool
    def __init__(self, name: _Optional[str] = ..., layers: _Optional[_Iterable[_Union[V1LayerParameter, _Mapping]]] = ..., input: _Optional[_Iterable[str]] = ..., input_dim: _Optional[_Iterable[int]] = ..., force_backward: _Optional[bool] = ..., state: _Optional[_Union[NetState, _Mapping]] = ..., debug_info: _Optional[bool] = ..., input_shape: _Optional[_Iterable[_Union[BlobShape, _Mapping]]] = ..., layer: _Optional[_Iterable[_Union[LayerParameter, _Mapping]]] = ..., richness: _Optional[int] = ..., auto_insert_gathers: _Optional[bool] = ..., engine: _Optional[str] = ..., compile_net_state: _Optional[_Union[CompileNetState, _Mapping]] = ..., bn_stats_batch_size: _Optional[int] = ..., multinode: _Optional[_Union[MultinodeParameter, _Mapping]] = ..., mem_param: _Optional[_Union[MemoryOptimizationParameter, _Mapping]] = ..., optimize_mem: _Optional[bool] = ..., default_forward_type: _Optional[_Union[NVType, str]] = ..., default_backward_type: _Optional[_Union[NVType, str]] = ..., default_forward_math: _Optional[_Union[NVType, str]] = ..., default_backward_math: _Optional[_Union[NVType, str]] = ..., global_grad_scale: _Optional[float] = ..., global_grad_scale_adaptive: _Optional[bool] = ..., default_conv_algos_override: _Optional[str] = ..., reduce_buckets: _Optional[int] = ..., default_cudnn_math_override: _Optional[int] = ..., eltwise_mem_sharing: _Optional[bool] = ...) -> None: ...

class SolverParameter(_message.Message):
    __slots__ = ("train_net", "test_net", "test_iter", "test_interval", "base_lr", "display", "max_iter", "lr_policy", "gamma", "power", "momentum", "weight_decay", "stepsize", "snapshot", "snapshot_prefix", "snapshot_diff", "solver_mode", "device_id", "test_compute_loss", "random_seed", "train_net_param", "test_net_param", "debug_info", "net", "net_param", "train_state", "test_state", "snapshot_after_train", "regularization_type", "solver_type", "delta", "test_initialization", "average_loss", "stepvalue", "clip_gradients", "iter_size", "snapshot_format", "rms_decay", "momentum2", "type", "layer_wise_reduce", "weights", "device_ids", "layer_blobs_global_idx", "eval_type", "ap_version", "plateau_winsize", "show_per_class_result", "min_lr", "clamp_weights_lower", "clamp_weights_upper", "clip_weights", "disabled_update", "engine", "warmup_iter", "warmup_start_lr", "local_lr_auto", "local_gw_ratio", "test_offset", "stagelr", "stageiter", "richness", "group_id", "rampup_interval", "rampup_lr", "solver_data_type", "store_blobs_in_old_format", "momentum_policy", "max_momentum", "momentum_power", "larc", "larc_policy", "larc_eta", "weight_decay_policy", "weight_decay_power", "test_and_snapshot_last_epochs", "larc_turbo", "max_weight_decay", "per_parameter_reduce", "ema_decay")
    class SnapshotFormat(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        HDF5: _ClassVar[SolverParameter.SnapshotFormat]
        BINARYPROTO: _ClassVar[SolverParameter.SnapshotFormat]
    HDF5: SolverParameter.SnapshotFormat
    BINARYPROTO: SolverParameter.SnapshotFormat
    class SolverMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        CPU: _ClassVar[SolverParameter.SolverMode]
        GPU: _ClassVar[SolverParameter.SolverMode]
    CPU: SolverParameter.SolverMode
    GPU: SolverParameter.SolverMode
    class SolverType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        SGD: _ClassVar[SolverParameter.SolverType]
        NESTEROV: _ClassVar[SolverParameter.SolverType]
        ADAGRAD: _ClassVar[SolverParameter.SolverType]
        RMSPROP: _ClassVar[SolverParameter.SolverType]
        ADADELTA: _ClassVar[SolverParameter.SolverType]
        ADAM: _ClassVar[SolverParameter.SolverType]
        SAG: _ClassVar[SolverParameter.SolverType]
    SGD: SolverParameter.SolverType
    NESTEROV: SolverParameter.SolverType
    ADAGRAD: SolverParameter.SolverType
    RMSPROP: SolverParameter.SolverType
    ADADELTA: SolverParameter.SolverType
    ADAM: SolverParameter.SolverType
    SAG: SolverParameter.SolverType
    TRAIN_NET_FIELD_NUMBER: _ClassVar[int]
    TEST_NET_FIELD_NUMBER: _ClassVar[int]
    TEST_ITER_FIELD_NUMBER: _ClassVar[int]
    TEST_INTERVAL_FIELD_NUMBER: _ClassVar[int]
    BASE_LR_FIELD_NUMBER: _ClassVar[int]
    DISPLAY_FIELD_NUMBER: _ClassVar[int]
    MAX_ITER_FIELD_NUMBER: _ClassVar[int]
    LR_POLICY_FIELD_NUMBER: _ClassVar[int]
    GAMMA_FIELD_NUMBER: _ClassVar[int]
    POWER_FIELD_NUMBER: _ClassVar[int]
    MOMENTUM_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_DECAY_FIELD_NUMBER: _ClassVar[int]
    STEPSIZE_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOT_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOT_PREFIX_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOT_DIFF_FIELD_NUMBER: _ClassVar[int]
    SOLVER_MODE_FIELD_NUMBER: _ClassVar[int]
    DEVICE_ID_FIELD_NUMBER: _ClassVar[int]
    TEST_COMPUTE_LOSS_FIELD_NUMBER: _ClassVar[int]
    RANDOM_SEED_FIELD_NUMBER: _ClassVar[int]
    TRAIN_NET_PARAM_FIELD_NUMBER: _ClassVar[int]
    TEST_NET_PARAM_FIELD_NUMBER: _ClassVar[int]
    DEBUG_INFO_FIELD_NUMBER: _ClassVar[int]
    NET_FIELD_NUMBER: _ClassVar[int]
    NET_PARAM_FIELD_NUMBER: _ClassVar[int]
    TRAIN_STATE_FIELD_NUMBER: _ClassVar[int]
    TEST_STATE_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOT_AFTER_TRAIN_FIELD_NUMBER: _ClassVar[int]
    REGULARIZATION_TYPE_FIELD_NUMBER: _ClassVar[int]
    SOLVER_TYPE_FIELD_NUMBER: _ClassVar[int]
    DELTA_FIELD_NUMBER: _ClassVar[int]
    TEST_INITIALIZATION_FIELD_NUMBER: _ClassVar[int]
    AVERAGE_LOSS_FIELD_NUMBER: _ClassVar[int]
    STEPVALUE_FIELD_NUMBER: _ClassVar[int]
    CLIP_GRADIENTS_FIELD_NUMBER: _ClassVar[int]
    ITER_SIZE_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOT_FORMAT_FIELD_NUMBER: _ClassVar[int]
    RMS_DECAY_FIELD_NUMBER: _ClassVar[int]
    MOMENTUM2_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    LAYER_WISE_REDUCE_FIELD_NUMBER: _ClassVar[int]
    WEIGHTS_FIELD_NUMBER: _ClassVar[int]
    DEVICE_IDS_FIELD_NUMBER: _ClassVar[int]
    LAYER_BLOBS_GLOBAL_IDX_FIELD_NUMBER: _ClassVar[int]
    EVAL_TYPE_FIELD_NUMBER: _ClassVar[int]
    AP_VERSION_FIELD_NUMBER: _ClassVar[int]
    PLATEAU_WINSIZE_FIELD_NUMBER: _ClassVar[int]
    SHOW_PER_CLASS_RESULT_FIELD_NUMBER: _ClassVar[int]
    MIN_LR_FIELD_NUMBER: _ClassVar[int]
    CLAMP_WEIGHTS_LOWER_FIELD_NUMBER: _ClassVar[int]
    CLAMP_WEIGHTS_UPPER_FIELD_NUMBER: _ClassVar[int]
    CLIP_WEIGHTS_FIELD_NUMBER: _ClassVar[int]
    DISABLED_UPDATE_FIELD_NUMBER: _ClassVar[int]
    ENGINE_FIELD_NUMBER: _ClassVar[int]
    WARMUP_ITER_FIELD_NUMBER: _ClassVar[int]
    WARMUP_START_LR_FIELD_NUMBER: _ClassVar[int]
    LOCAL_LR_AUTO_FIELD_NUMBER: _ClassVar[int]
    LOCAL_GW_RATIO_FIELD_NUMBER: _ClassVar[int]
    TEST_OFFSET_FIELD_NUMBER: _ClassVar[int]
    STAGELR_FIELD_NUMBER: _ClassVar[int]
    STAGEITER_FIELD_NUMBER: _ClassVar[int]
    RICHNESS_FIELD_NUMBER: _ClassVar[int]
    GROUP_ID_FIELD_NUMBER: _ClassVar[int]
    RAMPUP_INTERVAL_FIELD_NUMBER: _ClassVar[int]
    RAMPUP_LR_FIELD_NUMBER: _ClassVar[int]
    SOLVER_DATA_TYPE_FIELD_NUMBER: _ClassVar[int]
    STORE_BLOBS_IN_OLD_FORMAT_FIELD_NUMBER: _ClassVar[int]
    MOMENTUM_POLICY_FIELD_NUMBER: _ClassVar[int]
    MAX_MOMENTUM_FIELD_NUMBER: _ClassVar[int]
    MOMENTUM_POWER_FIELD_NUMBER: _ClassVar[int]
    LARC_FIELD_NUMBER: _ClassVar[int]
    LARC_POLICY_FIELD_NUMBER: _ClassVar[int]
    LARC_ETA_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_DECAY_POLICY_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_DECAY_POWER_FIELD_NUMBER: _ClassVar[int]
    TEST_AND_SNAPSHOT_LAST_EPOCHS_FIELD_NUMBER: _ClassVar[int]
    LARC_TURBO_FIELD_NUMBER: _ClassVar[int]
    MAX_WEIGHT_DECAY_FIELD_NUMBER: _ClassVar[int]
    PER_PARAMETER_REDUCE_FIELD_NUMBER: _ClassVar[int]
    EMA_DECAY_FIELD_NUMBER: _ClassVar[int]
    train_net: str
    test_net: _containers.RepeatedScalarFieldContainer[str]
    test_iter: _containers.RepeatedScalarFieldContainer[int]
    test_interval: int
    base_lr: float
    display: int
    max_iter: int
    lr_policy: str
    gamma: float
    power: float
    momentum: float
    weight_decay: float
    stepsize: int
    snapshot: int
    snapshot_prefix: str
    snapshot_diff: bool
    solver_mode: SolverParameter.SolverMode
    device_id: int
    test_compute_loss: bool
    random_seed: int
    train_net_param: NetParameter
    test_net_param: _containers.RepeatedCompositeFieldContainer[NetParameter]
    debug_info: bool
    net: str
    net_param: NetParameter
    train_state: NetState
    test_state: _containers.RepeatedCompositeFieldContainer[NetState]
    snapshot_after_train: bool
    regularization_type: str
    solver_type: SolverParameter.SolverType
    delta: float
    test_initialization: bool
    average_loss: int
    stepvalue: _containers.RepeatedScalarFieldContainer[int]
    clip_gradients: float
    iter_size: int
    snapshot_format: SolverParameter.SnapshotFormat
    rms_decay: float
    momentum2: float
    type: str
    layer_wise_reduce: bool
    weights: _containers.RepeatedScalarFieldContainer[str]
    device_ids: str
    layer_blobs_global_idx: _containers.RepeatedCompositeFieldContainer[LayerPSTablePair]
    eval_type: str
    ap_version: str
    plateau_winsize: _containers.RepeatedScalarFieldContainer[int]
    show_per_class_result: bool
    min_lr: float
    clamp_weights_lower: float
    clamp_weights_upper: float
    clip_weights: float
    disabled_update: bool
    engine: str
    warmup_iter: int
    warmup_start_lr: float
    local_lr_auto: bool
    local_gw_ratio: float
    test_offset: int
    stagelr: _containers.RepeatedScalarFieldContainer[float]
    stageiter: _containers.RepeatedScalarFieldContainer[int]
    richness: int
    group_id: _containers.RepeatedScalarFieldContainer[int]
    rampup_interval: int
    rampup_lr: float
    solver_data_type: NVType
    store_blobs_in_old_format: bool
    momentum_policy: str
    max_momentum: float
    momentum_power: float
    larc: bool
    larc_policy: str
    larc_eta: float
    weight_decay_policy: str
    weight_decay_power: float
    test_and_snapshot_last_epochs: int
    larc_turbo: bool
    max_weight_decay: float
    per_parameter_reduce: bool
    ema_decay: float
    def __init__(self, train_net: _Optional[str] = ..., test_net: _Optional[_Iterable[str]] = ..., test_iter: _Optional[_Iterable[int]] = ..., test_interval: _Optional[int] = ..., base_lr: _Optional[float] = ..., display: _Optional[int] = ..., max_iter: _Optional[int] = ..., lr_policy: _Optional[str] = ..., gamma: _Optional[float] = ..., power: _Optional[float] = ..., momentum: _Optional[float] = ..., weight_decay: _Optional[float] = ..., stepsize: _Optional[int] = ..., snapshot: _Optional[int] = ..., snapshot_prefix: _Optional[str] = ..., snapshot_diff: _Optional[bool] = ..., solver_mode: _Optional[_Union[SolverParameter.SolverMode, str]] = ..., device_id: _Optional[int] = ..., test_compute_loss: _Optional[bool] = ..., random_seed: _Optional[int] = ..., train_net_param: _Optional[_Union[NetParameter, _Mapping]] = ..., test_net_param: _Optional[_Iterable[_Union[NetParameter, _Mapping]]] = ..., debug_info: _Optional[bool] = ..., net: _Optional[str] = ..., net_param: _Optional[_Union[NetParameter, _Mapping]] = ..., train_state: _Optional[_Union[NetState, _Mapping]] = ..., test_state: _Optional[_Iterable[_Union[NetState, _Mapping]]] = ..., snapshot_after_train: _Optional[bool] = ..., regularization_type: _Optional[str] = ..., solver_type: _Optional[_Union[SolverParameter.SolverType, str]] = ..., delta: _Optional[float] = ..., test_initialization: _Optional[bool] = ..., average_loss: _Optional[int] = ..., stepvalue: _Optional[_Iterable[int]] = ..., clip_gradients: _Optional[float] = ..., iter_size: _Optional[int] = ..., snapshot_format: _Optional[_Union[SolverParameter.SnapshotFormat, str]] = ..., rms_decay: _Optional[float] = ..., momentum2: _Optional[float] = ..., type: _Optional[str] = ..., layer_wise_reduce: _Optional[bool] = ..., weights: _Optional[_Iterable[str]] = ..., device_ids: _Optional[str] = ..., layer_blobs_global_idx: _Optional[_Iterable[_Union[LayerPSTablePair, _Mapping]]] = ..., eval_type: _Optional[str] = ..., ap_version: _Optional[str] = ..., plateau_winsize: _Optional[_Iterable[int]] = ..., show_per_class_result: _Optional[bool] = ..., min_lr: _Optional[float] = ..., clamp_weights_lower: _Optional[float] = ..., clamp_weights_upper: _Optional[float] = ..., clip_weights: _Optional[float] = ..., disabled_update: _Optional[bool] = ..., engine: _Optional[str] = ..., warmup_iter: _Optional[int] = ..., warmup_start_lr: _Optional[float] = ..., local_lr_auto: _Optional[bool] = ..., local_gw_ratio: _Optional[float] = ..., test_offset: _Optional[int] = ..., stagelr: _Optional[_Iterable[float]] = ..., stageiter: _Optional[_Iterable[int]] = ..., richness: _Optional[int] = ..., group_id: _Optional[_Iterable[int]] = ..., rampup_interval: _Optional[int] = ..., rampup_lr: _Optional[float] = ..., solver_data_type: _Optional[_Union[NVType, str]] = ..., store_blobs_in_old_format: _Optional[bool] = ..., momentum_policy: _Optional[str] = ..., max_momentum: _Optional[float] = ..., momentum_power: _Optional[float] = ..., larc: _Optional[bool] = ..., larc_policy: _Optional[str] = ..., larc_eta: _Optional[float] = ..., weight_decay_policy: _Optional[str] = ..., weight_decay_power: _Optional[float] = ..., test_and_snapshot_last_epochs: _Optional[int] = ..., larc_turbo: _Optional[bool] = ..., max_weight_decay: _Optional[float] = ..., per_parameter_reduce: _Optional[bool] = ..., ema_decay: _Optional[float] = ...) -> None: ...

class SolverState(_message.Message):
    __slots__ = ("iter", "learned_net", "history", "current_step", "minimum_loss", "iter_last_event")
    ITER_FIELD_NUMBER: _ClassVar[int]
    LEARNED_NET_FIELD_NUMBER: _ClassVar[int]
    HISTORY_FIELD_NUMBER: _ClassVar[int]
    CURRENT_STEP_FIELD_NUMBER: _ClassVar[int]
    MINIMUM_LOSS_FIELD_NUMBER: _ClassVar[int]
    ITER_LAST_EVENT_FIELD_NUMBER: _ClassVar[int]
    iter: int
    learned_net: str
    history: _containers.RepeatedCompositeFieldContainer[BlobProto]
    current_step: int
    minimum_loss: float
    iter_last_event: int
    def __init__(self, iter: _Optional[int] = ..., learned_net: _Optional[str] = ..., history: _Optional[_Iterable[_Union[BlobProto, _Mapping]]] = ..., current_step: _Optional[int] = ..., minimum_loss: _Optional[float] = ..., iter_last_event: _Optional[int] = ...) -> None: ...

class NetState(_message.Message):
    __slots__ = ("phase", "level", "stage")
    PHASE_FIELD_NUMBER: _ClassVar[int]
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    STAGE_FIELD_NUMBER: _ClassVar[int]
    phase: Phase
    level: int
    stage: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, phase: _Optional[_Union[Phase, str]] = ..., level: _Optional[int] = ..., stage: _Optional[_Iterable[str]] = ...) -> None: ...

class NetStateRule(_message.Message):
    __slots__ = ("phase", "min_level", "max_level", "stage", "not_stage")
    PHASE_FIELD_NUMBER: _ClassVar[int]
    MIN_LEVEL_FIELD_NUMBER: _ClassVar[int]
    MAX_LEVEL_FIELD_NUMBER: _ClassVar[int]
    STAGE_FIELD_NUMBER: _ClassVar[int]
    NOT_STAGE_FIELD_NUMBER: _ClassVar[int]
    phase: Phase
    min_level: int
    max_level: int
    stage: _containers.RepeatedScalarFieldContainer[str]
    not_stage: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, phase: _Optional[_Union[Phase, str]] = ..., min_level: _Optional[int] = ..., max_level: _Optional[int] = ..., stage: _Optional[_Iterable[str]] = ..., not_stage: _Optional[_Iterable[str]] = ...) -> None: ...

class ParamSpec(_message.Message):
    __slots__ = ("name", "share_mode", "lr_mult", "decay_mult")
    class DimCheckMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        STRICT: _ClassVar[ParamSpec.DimCheckMode]
        PERMISSIVE: _ClassVar[ParamSpec.DimCheckMode]
    STRICT: ParamSpec.DimCheckMode
    PERMISSIVE: ParamSpec.DimCheckMode
    NAME_FIELD_NUMBER: _ClassVar[int]
    SHARE_MODE_FIELD_NUMBER: _ClassVar[int]
    LR_MULT_FIELD_NUMBER: _ClassVar[int]
    DECAY_MULT_FIELD_NUMBER: _ClassVar[int]
    name: str
    share_mode: ParamSpec.DimCheckMode
    lr_mult: float
    decay_mult: float
    def __init__(self, name: _Optional[str] = ..., share_mode: _Optional[_Union[ParamSpec.DimCheckMode, str]] = ..., lr_mult: _Optional[float] = ..., decay_mult: _Optional[float] = ...) -> None: ...

class LayerParameter(_message.Message):
    __slots__ = ("name", "type", "bottom", "top", "loss_weight", "param", "blobs", "include", "exclude", "phase", "propagate_down", "transform_param", "loss_param", "accuracy_param", "argmax_param", "concat_param", "contrastive_loss_param", "convolution_param", "data_param", "dropout_param", "dummy_data_param", "eltwise_param", "exp_param", "hdf5_data_param", "hdf5_output_param", "hinge_loss_param", "image_data_param", "infogain_loss_param", "inner_product_param", "lrn_param", "memory_data_param", "mvn_param", "pooling_param", "power_param", "relu_param", "sigmoid_param", "softmax_param", "slice_param", "tanh_param", "threshold_param", "window_data_param", "python_param", "prelu_param", "spp_param", "reshape_param", "log_param", "flatten_param", "reduction_param", "embed_param", "tile_param", "batch_norm_param", "elu_param", "bias_param", "scale_param", "input_param", "crop_param", "parameter_param", "recurrent_param", "swish_param", "clip_param", "annotated_data_param", "multibox_loss_param", "permute_param", "prior_box_param", "detection_output_param", "detection_evaluate_param", "norm_param", "video_data_param", "bn_param", "interp_param", "shuffle_channel_param", "squeeze_convolution_param", "squeeze_inner_product_param", "reorg_param", "yolo_v2_loss_param", "yolo_v3_loss_param", "depth_to_space_param", "upsample_darknet_param", "resize_nearest_neighbor_param", "gather_param", "proposal_param", "gather_nd_param", "crop_and_resize_param", "space_to_depth_param", "pad_param", "stack_param", "resize_bilinear_param", "reduce_sum_param", "reduce_max_param", "reduce_min_param", "reduce_prod_param", "reduce_mean_param", "selu_param", "selu_dropout_param", "unstack_param", "batch_to_space_nd_param", "space_to_batch_nd_param", "xlu_param", "mirror_pad_param", "tile_nd_param", "expand_dims_nd_param", "squeeze_param", "broadcast_to_param", "strided_slice_param", "piece_param", "range_param", "roi_align_param", "gemm_param", "reduce_l1_param", "reduce_l2_param", "reduce_logsumexp_param", "reduce_all_param", "reduce_any_param", "hard_sigmoid_param", "thresholded_relu_param", "layer_norm_param", "log_softmax_param", "scaled_tanh_param", "matmul_param", "pooling3d_param", "convolution3d_param", "color_conv_param", "multi_stage_meanfield_param", "reverse_param", "ctc_loss_param", "ctc_decoder_param", "reverse_time_param", "unpooling_param", "deformable_convolution_param", "denseblock_param", "guided_dropout_param", "center_loss_param", "coeff_schedule_param", "augmentation_param", "correlation_param", "l1_loss_param", "writer_param", "reader_param", "mean_param", "resample_param", "downsample_param", "reshape_every_iter", "lpq_loss_param", "flow_warp_param", "accum_param", "black_augmentation_param", "roi_pooling_param", "smooth_l1_loss_param", "gradient_scaler_param", "local_param", "insanity_param", "triplet_loss_param", "eltwise_affine_param", "sub_region_param", "noise_param", "flip_param", "inner_distance_param", "normalize_param", "general_contrastive_loss_param", "general_triplet_loss_param", "psroi_pooling_param", "pairwise_param", "largemargin_inner_product_param", "label_specific_rescale_param", "resize_param", "margin_inner_product_param", "focal_loss_param", "label_specific_margin_param", "channel_scale_param", "label_specific_add_param", "engine", "multinode", "mn_activation_param", "box_annotator_ohem_param", "spatial_dropout_param", "mn_grad_compress_param", "quantization_param", "split_param", "region_loss_param", "eval_detection_param", "lstm_param", "seg_data_param", "batch_reduction_param", "detection_loss_param", "detection_accuracy_param", "box_output_param", "proposal_target_param", "image_gt_data_param", "bbox_reg_param", "decode_bbox_param", "forward_type", "backward_type", "forward_math", "backward_math", "debug", "cudnn_math_override", "trt_param", "detectnet_groundtruth_param", "detectnet_augmentation_param", "transpose_param", "grn_param", "rcnn_truth_param", "anchor_target_param", "region_target_param", "filter_param", "seg_accuracy_param", "mat_write_param", "dense_crf_param", "domain_transform_param", "adaptive_bias_channel_param", "bias_channel_param", "unique_label_param", "mat_read_param", "pruning_param", "fixed_param", "rss_loss_param", "labeled_matching_param", "unlabeled_matching_param", "upsample_param", "dense_image_data_param", "binary_data_param", "st_loss_param", "power_file_param", "loc_loss_param", "st_param", "repeat_param", "continuation_indicator_param", "labelsequence_accuracy_param", "relu6_param", "yolo_detection_output_param", "yolov3_detection_output_param", "yolov3_param", "yolo_seg_param", "segmentation_evaluate_param")
    NAME_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    BOTTOM_FIELD_NUMBER: _ClassVar[int]
    TOP_FIELD_NUMBER: _ClassVar[int]
    LOSS_WEIGHT_FIELD_NUMBER: _ClassVar[int]
    PARAM_FIELD_NUMBER: _ClassVar[int]
    BLOBS_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_FIELD_NUMBER: _ClassVar[int]
    EXCLUDE_FIELD_NUMBER: _ClassVar[int]
    PHASE_FIELD_NUMBER: _ClassVar[int]
    PROPAGATE_DOWN_FIELD_NUMBER: _ClassVar[int]
    TRANSFORM_PARAM_FIELD_NUMBER: _ClassVar[int]
    LOSS_PARAM_FIELD_NUMBER: _ClassVar[int]
    ACCURACY_PARAM_FIELD_NUMBER: _ClassVar[int]
    ARGMAX_PARAM_FIELD_NUMBER: _ClassVar[int]
    CONCAT_PARAM_FIELD_NUMBER: _ClassVar[int]
    CONTRASTIVE_LOSS_PARAM_FIELD_NUMBER: _ClassVar[int]
    CONVOLUTION_PARAM_FIELD_NUMBER: _ClassVar[int]
    DATA_PARAM_FIELD_NUMBER: _ClassVar[int]
    DROPOUT_PARAM_FIELD_NUMBER: _ClassVar[int]
    DUMMY_DATA_PARAM_FIELD_NUMBER: _ClassVar[int]
    ELTWISE_PARAM_FIELD_NUMBER: _ClassVar[int]
    EXP_PARAM_FIELD_NUMBER: _ClassVar[int]
    HDF5_DATA_PARAM_FIELD_NUMBER: _ClassVar[int]
    HDF5_OUTPUT_PARAM_FIELD_NUMBER: _ClassVar[int]
    HINGE_LOSS_PARAM_FIELD_NUMBER: _ClassVar[int]
    IMAGE_DATA_PARAM_FIELD_NUMBER: _ClassVar[int]
    INFOGAIN_LOSS_PARAM_FIELD_NUMBER: _ClassVar[int]
    INNER_PRODUCT_PARAM_FIELD_NUMBER: _ClassVar[int]
    LRN_PARAM_FIELD_NUMBER: _ClassVar[int]
    MEMORY_DATA_PARAM_FIELD_NUMBER: _ClassVar[int]
    MVN_PARAM_FIELD_NUMBER: _ClassVar[int]
    POOLING_PARAM_FIELD_NUMBER: _ClassVar[int]
    POWER_PARAM_FIELD_NUMBER: _ClassVar[int]
    RELU_PARAM_FIELD_NUMBER: _ClassVar[int]
    SIGMOID_PARAM_FIELD_NUMBER: _ClassVar[int]
    SOFTMAX_PARAM_FIELD_NUMBER: _ClassVar[int]
    SLICE_PARAM_FIELD_NUMBER: _ClassVar[int]
    TANH_PARAM_FIELD_NUMBER: _ClassVar[int]
    THRESHOLD_PARAM_FIELD_NUMBER: _ClassVar[int]
    WINDOW_DATA_PARAM_FIELD_NUMBER: _ClassVar[int]
    PYTHON_PARAM_FIELD_NUMBER: _ClassVar[int]
    PRELU_PARAM_FIELD_NUMBER: _ClassVar[int]
    SPP_PARAM_FIELD_NUMBER: _ClassVar[int]
    RESHAPE_PARAM_FIELD_NUMBER: _ClassVar[int]
    LOG_PARAM_FIELD_NUMBER: _ClassVar[int]
    FLATTEN_PARAM_FIELD_NUMBER: _ClassVar[int]
    REDUCTION_PARAM_FIELD_NUMBER: _ClassVar[int]
    EMBED_PARAM_FIELD_NUMBER: _ClassVar[int]
    TILE_PARAM_FIELD_NUMBER: _ClassVar[int]
    BATCH_NORM_PARAM_FIELD_NUMBER: _ClassVar[int]
    ELU_PARAM_FIELD_NUMBER: _ClassVar[int]
    BIAS_PARAM_FIELD_NUMBER: _ClassVar[int]
    SCALE_PARAM_FIELD_NUMBER: _ClassVar[int]
    INPUT_PARAM_FIELD_NUMBER: _ClassVar[int]
    CROP_PARAM_FIELD_NUMBER: _ClassVar[int]
    PARAMETER_PARAM_FIELD_NUMBER: _ClassVar[int]
    RECURRENT_PARAM_FIELD_NUMBER: _ClassVar[int]
    SWISH_PARAM_FIELD_NUMBER: _ClassVar[int]
    CLIP_PARAM_FIELD_NUMBER: _ClassVar[int]
    ANNOTATED_DATA_PARAM_FIELD_NUMBER: _ClassVar[int]
    MULTIBOX_LOSS_PARAM_FIELD_NUMBER: _ClassVar[int]
    PERMUTE_PARAM_FIELD_NUMBER: _ClassVar[int]
    PRIOR_BOX_PARAM_FIELD_NUMBER: _ClassVar[int]
    DETECTION_OUTPUT_PARAM_FIELD_NUMBER: _ClassVar[int]
    DETECTION_EVALUATE_PARAM_FIELD_NUMBER: _ClassVar[int]
    NORM_PARAM_FIELD_NUMBER: _ClassVar[int]
    VIDEO_DATA_PARAM_FIELD_NUMBER: _ClassVar[int]
    BN_PARAM_FIELD_NUMBER: _ClassVar[int]
    INTERP_PARAM_FIELD_NUMBER: _ClassVar[int]
    SHUFFLE_CHANNEL_PARAM_FIELD_NUMBER: _ClassVar[int]
    SQUEEZE_CONVOLUTION_PARAM_FIELD_NUMBER: _ClassVar[int]
    SQUEEZE_INNER_PRODUCT_PARAM_FIELD_NUMBER: _ClassVar[int]
    REORG_PARAM_FIELD_NUMBER: _ClassVar[int]
    YOLO_V2_LOSS_PARAM_FIELD_NUMBER: _ClassVar[int]
    YOLO_V3_LOSS_PARAM_FIELD_NUMBER: _ClassVar[int]
    DEPTH_TO_SPACE_PARAM_FIELD_NUMBER: _ClassVar[int]
    UPSAMPLE_DARKNET_PARAM_FIELD_NUMBER: _ClassVar[int]
    RESIZE_NEAREST_NEIGHBOR_PARAM_FIELD_NUMBER: _ClassVar[int]
    GATHER_PARAM_FIELD_NUMBER: _ClassVar[int]
    PROPOSAL_PARAM_FIELD_NUMBER: _ClassVar[int]
    GATHER_ND_PARAM_FIELD_NUMBER: _ClassVar[int]
    CROP_AND_RESIZE_PARAM_FIELD_NUMBER: _ClassVar[int]
    SPACE_TO_DEPTH_PARAM_FIELD_NUMBER: _ClassVar[int]
    PAD_PARAM_FIELD_NUMBER: _ClassVar[int]
    STACK_PARAM_FIELD_NUMBER: _ClassVar[int]
    RESIZE_BILINEAR_PARAM_FIELD_NUMBER: _ClassVar[int]
    REDUCE_SUM_PARAM_FIELD_NUMBER: _ClassVar[int]
    REDUCE_MAX_PARAM_FIELD_NUMBER: _ClassVar[int]
    REDUCE_MIN_PARAM_FIELD_NUMBER: _ClassVar[int]
    REDUCE_PROD_PARAM_FIELD_NUMBER: _ClassVar[int]
    REDUCE_MEAN_PARAM_FIELD_NUMBER: _ClassVar[int]
    SELU_PARAM_FIELD_NUMBER: _ClassVar[int]
    SELU_DROPOUT_PARAM_FIELD_NUMBER: _ClassVar[int]
    UNSTACK_PARAM_FIELD_NUMBER: _ClassVar[int]
    BATCH_TO_SPACE_ND_PARAM_FIELD_NUMBER: _ClassVar[int]
    SPACE_TO_BATCH_ND_PARAM_FIELD_NUMBER: _ClassVar[int]
    XLU_PARAM_FIELD_NUMBER: _ClassVar[int]
    MIRROR_PAD_PARAM_FIELD_NUMBER: _ClassVar[int]
    TILE_ND_PARAM_FIELD_NUMBER: _ClassVar[int]
    EXPAND_DIMS_ND_PARAM_FIELD_NUMBER: _ClassVar[int]
    SQUEEZE_PARAM_FIELD_NUMBER: _ClassVar[int]
    BROADCAST_TO_PARAM_FIELD_NUMBER: _ClassVar[int]
    STRIDED_SLICE_PARAM_FIELD_NUMBER: _ClassVar[int]
    PIECE_PARAM_FIELD_NUMBER: _ClassVar[int]
    RANGE_PARAM_FIELD_NUMBER: _ClassVar[int]
    ROI_ALIGN_PARAM_FIELD_NUMBER: _ClassVar[int]
    GEMM_PARAM_FIELD_NUMBER: _ClassVar[int]
    REDUCE_L1_PARAM_FIELD_NUMBER: _ClassVar[int]
    REDUCE_L2_PARAM_FIELD_NUMBER: _ClassVar[int]
    REDUCE_LOGSUMEXP_PARAM_FIELD_NUMBER: _ClassVar[int]
    REDUCE_ALL_PARAM_FIELD_NUMBER: _ClassVar[int]
    REDUCE_ANY_PARAM_FIELD_NUMBER: _ClassVar[int]
    HARD_SIGMOID_PARAM_FIELD_NUMBER: _ClassVar[int]
    THRESHOLDED_RELU_PARAM_FIELD_NUMBER: _ClassVar[int]
    LAYER_NORM_PARAM_FIELD_NUMBER: _ClassVar[int]
    LOG_SOFTMAX_PARAM_FIELD_NUMBER: _ClassVar[int]
    SCALED_TANH_PARAM_FIELD_NUMBER: _ClassVar[int]
    MATMUL_PARAM_FIELD_NUMBER: _ClassVar[int]
    POOLING3D_PARAM_FIELD_NUMBER: _ClassVar[int]
    CONVOLUTION3D_PARAM_FIELD_NUMBER: _ClassVar[int]
    COLOR_CONV_PARAM_FIELD_NUMBER: _ClassVar[int]
    MULTI_STAGE_MEANFIELD_PARAM_FIELD_NUMBER: _ClassVar[int]
    REVERSE_PARAM_FIELD_NUMBER: _ClassVar[int]
    CTC_LOSS_PARAM_FIELD_NUMBER: _ClassVar[int]
    CTC_DECODER_PARAM_FIELD_NUMBER: _ClassVar[int]
    REVERSE_TIME_PARAM_FIELD_NUMBER: _ClassVar[int]
    UNPOOLING_PARAM_FIELD_NUMBER: _ClassVar[int]
    DEFORMABLE_CONVOLUTION_PARAM_FIELD_NUMBER: _ClassVar[int]
    DENSEBLOCK_PARAM_FIELD_NUMBER: _ClassVar[int]
    GUIDED_DROPOUT_PARAM_FIELD_NUMBER: _ClassVar[int]
    CENTER_LOSS_PARAM_FIELD_NUMBER: _ClassVar[int]
    COEFF_SCHEDULE_PARAM_FIELD_NUMBER: _ClassVar[int]
    AUGMENTATION_PARAM_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_PARAM_FIELD_NUMBER: _ClassVar[int]
    L1_LOSS_PARAM_FIELD_NUMBER: _ClassVar[int]
    WRITER_PARAM_FIELD_NUMBER: _ClassVar[int]
    READER_PARAM_FIELD_NUMBER: _ClassVar[int]
    MEAN_PARAM_FIELD_NUMBER: _ClassVar[int]
    RESAMPLE_PARAM_FIELD_NUMBER: _ClassVar[int]
    DOWNSAMPLE_PARAM_FIELD_NUMBER: _ClassVar[int]
    RESHAPE_EVERY_ITER_FIELD_NUMBER: _ClassVar[int]
    LPQ_LOSS_PARAM_FIELD_NUMBER: _ClassVar[int]
    FLOW_WARP_PARAM_FIELD_NUMBER: _ClassVar[int]
    ACCUM_PARAM_FIELD_NUMBER: _ClassVar[int]
    BLACK_AUGMENTATION_PARAM_FIELD_NUMBER: _ClassVar[int]
    ROI_POOLING_PARAM_FIELD_NUMBER: _ClassVar[int]
    SMOOTH_L1_LOSS_PARAM_FIELD_NUMBER: _ClassVar[int]
    GRADIENT_SCALER_PARAM_FIELD_NUMBER: _ClassVar[int]
    LOCAL_PARAM_FIELD_NUMBER: _ClassVar[int]
    INSANITY_PARAM_FIELD_NUMBER: _ClassVar[int]
    TRIPLET_LOSS_PARAM_FIELD_NUMBER: _ClassVar[int]
    ELTWISE_AFFINE_PARAM_FIELD_NUMBER: _ClassVar[int]
    SUB_REGION_PARAM_FIELD_NUMBER: _ClassVar[int]
    NOISE_PARAM_FIELD_NUMBER: _ClassVar[int]
    FLIP_PARAM_FIELD_NUMBER: _ClassVar[int]
    INNER_DISTANCE_PARAM_FIELD_NUMBER: _ClassVar[int]
    NORMALIZE_PARAM_FIELD_NUMBER: _ClassVar[int]
    GENERAL_CONTRASTIVE_LOSS_PARAM_FIELD_NUMBER: _ClassVar[int]
    GENERAL_TRIPLET_LOSS_PARAM_FIELD_NUMBER: _ClassVar[int]
    PSROI_POOLING_PARAM_FIELD_NUMBER: _ClassVar[int]
    PAIRWISE_PARAM_FIELD_NUMBER: _ClassVar[int]
    LARGEMARGIN_INNER_PRODUCT_PARAM_FIELD_NUMBER: _ClassVar[int]
    LABEL_SPECIFIC_RESCALE_PARAM_FIELD_NUMBER: _ClassVar[int]
    RESIZE_PARAM_FIELD_NUMBER: _ClassVar[int]
    MARGIN_INNER_PRODUCT_PARAM_FIELD_NUMBER: _ClassVar[int]
    FOCAL_LOSS_PARAM_FIELD_NUMBER: _ClassVar[int]
    LABEL_SPECIFIC_MARGIN_PARAM_FIELD_NUMBER: _ClassVar[int]
    CHANNEL_SCALE_PARAM_FIELD_NUMBER: _ClassVar[int]
    LABEL_SPECIFIC_ADD_PARAM_FIELD_NUMBER: _ClassVar[int]
    ENGINE_FIELD_NUMBER: _ClassVar[int]
    MULTINODE_FIELD_NUMBER: _ClassVar[int]
    MN_ACTIVATION_PARAM_FIELD_NUMBER: _ClassVar[int]
    BOX_ANNOTATOR_OHEM_PARAM_FIELD_NUMBER: _ClassVar[int]
    SPATIAL_DROPOUT_PARAM_FIELD_NUMBER: _ClassVar[int]
    MN_GRAD_COMPRESS_PARAM_FIELD_NUMBER: _ClassVar[int]
    QUANTIZATION_PARAM_FIELD_NUMBER: _ClassVar[int]
    SPLIT_PARAM_FIELD_NUMBER: _ClassVar[int]
    REGION_LOSS_PARAM_FIELD_NUMBER: _ClassVar[int]
    EVAL_DETECTION_PARAM_FIELD_NUMBER: _ClassVar[int]
    LSTM_PARAM_FIELD_NUMBER: _ClassVar[int]
    SEG_DATA_PARAM_FIELD_NUMBER: _ClassVar[int]
    BATCH_REDUCTION_PARAM_FIELD_NUMBER: _ClassVar[int]
    DETECTION_LOSS_PARAM_FIELD_NUMBER: _ClassVar[int]
    DETECTION_ACCURACY_PARAM_FIELD_NUMBER: _ClassVar[int]
    BOX_OUTPUT_PARAM_FIELD_NUMBER: _ClassVar[int]
    PROPOSAL_TARGET_PARAM_FIELD_NUMBER: _ClassVar[int]
    IMAGE_GT_DATA_PARAM_FIELD_NUMBER: _ClassVar[int]
    BBOX_REG_PARAM_FIELD_NUMBER: _ClassVar[int]
    DECODE_BBOX_PARAM_FIELD_NUMBER: _ClassVar[int]
    FORWARD_TYPE_FIELD_NUMBER: _ClassVar[int]
    BACKWARD_TYPE_FIELD_NUMBER: _ClassVar[int]
    FORWARD_MATH_FIELD_NUMBER: _ClassVar[int]
    BACKWARD_MATH_FIELD_NUMBER: _ClassVar[int]
    DEBUG_FIELD_NUMBER: _ClassVar[int]
    CUDNN_MATH_OVERRIDE_FIELD_NUMBER: _ClassVar[int]
    TRT_PARAM_FIELD_NUMBER: _ClassVar[int]
    DETECTNET_GROUNDTRUTH_PARAM_FIELD_NUMBER: _ClassVar[int]
    DETECTNET_AUGMENTATION_PARAM_FIELD_NUMBER: _ClassVar[int]
    TRANSPOSE_PARAM_FIELD_NUMBER: _ClassVar[int]
    GRN_PARAM_FIELD_NUMBER: _ClassVar[int]
    RCNN_TRUTH_PARAM_FIELD_NUMBER: _ClassVar[int]
    ANCHOR_TARGET_PARAM_FIELD_NUMBER: _ClassVar[int]
    REGION_TARGET_PARAM_FIELD_NUMBER: _ClassVar[int]
    FILTER_PARAM_FIELD_NUMBER: _ClassVar[int]
    SEG_ACCURACY_PARAM_FIELD_NUMBER: _ClassVar[int]
    MAT_WRITE_PARAM_FIELD_NUMBER: _ClassVar[int]
    DENSE_CRF_PARAM_FIELD_NUMBER: _ClassVar[int]
    DOMAIN_TRANSFORM_PARAM_FIELD_NUMBER: _ClassVar[int]
    ADAPTIVE_BIAS_CHANNEL_PARAM_FIELD_NUMBER: _ClassVar[int]
    BIAS_CHANNEL_PARAM_FIELD_NUMBER: _ClassVar[int]
    UNIQUE_LABEL_PARAM_FIELD_NUMBER: _ClassVar[int]
    MAT_READ_PARAM_FIELD_NUMBER: _ClassVar[int]
    PRUNING_PARAM_FIELD_NUMBER: _ClassVar[int]
    FIXED_PARAM_FIELD_NUMBER: _ClassVar[int]
    RSS_LOSS_PARAM_FIELD_NUMBER: _ClassVar[int]
    LABELED_MATCHING_PARAM_FIELD_NUMBER: _ClassVar[int]
    UNLABELED_MATCHING_PARAM_FIELD_NUMBER: _ClassVar[int]
    UPSAMPLE_PARAM_FIELD_NUMBER: _ClassVar[int]
    DENSE_IMAGE_DATA_PARAM_FIELD_NUMBER: _ClassVar[int]
    BINARY_DATA_PARAM_FIELD_NUMBER: _ClassVar[int]
    ST_LOSS_PARAM_FIELD_NUMBER: _ClassVar[int]
    POWER_FILE_PARAM_FIELD_NUMBER: _ClassVar[int]
    LOC_LOSS_PARAM_FIELD_NUMBER: _ClassVar[int]
    ST_PARAM_FIELD_NUMBER: _ClassVar[int]
    REPEAT_PARAM_FIELD_NUMBER: _ClassVar[int]
    CONTINUATION_INDICATOR_PARAM_FIELD_NUMBER: _ClassVar[int]
    LABELSEQUENCE_ACCURACY_PARAM_FIELD_NUMBER: _ClassVar[int]
    RELU6_PARAM_FIELD_NUMBER: _ClassVar[int]
    YOLO_DETECTION_OUTPUT_PARAM_FIELD_NUMBER: _ClassVar[int]
    YOLOV3_DETECTION_OUTPUT_PARAM_FIELD_NUMBER: _ClassVar[int]
    YOLOV3_PARAM_FIELD_NUMBER: _ClassVar[int]
    YOLO_SEG_PARAM_FIELD_NUMBER: _ClassVar[int]
    SEGMENTATION_EVALUATE_PARAM_FIELD_NUMBER: _ClassVar[int]
    name: str
    type: str
    bottom: _containers.RepeatedScalarFieldContainer[str]
    top: _containers.RepeatedScalarFieldContainer[str]
    loss_weight: _containers.RepeatedScalarFieldContainer[float]
    param: _containers.RepeatedCompositeFieldContainer[ParamSpec]
    blobs: _containers.RepeatedCompositeFieldContainer[BlobProto]
    include: _containers.RepeatedCompositeFieldContainer[NetStateRule]
    exclude: _containers.RepeatedCompositeFieldContainer[NetStateRule]
    phase: Phase
    propagate_down: _containers.RepeatedScalarFieldContainer[bool]
    transform_param: TransformationParameter
    loss_param: LossParameter
    accuracy_param: AccuracyParameter
    argmax_param: ArgMaxParameter
    concat_param: ConcatParameter
    contrastive_loss_param: ContrastiveLossParameter
    convolution_param: ConvolutionParameter
    data_param: DataParameter
    dropout_param: DropoutParameter
    dummy_data_param: DummyDataParameter
    eltwise_param: EltwiseParameter
    exp_param: ExpParameter
    hdf5_data_param: HDF5DataParameter
    hdf5_output_param: HDF5OutputParameter
    hinge_loss_param: HingeLossParameter
    image_data_param: ImageDataParameter
    infogain_loss_param: InfogainLossParameter
    inner_product_param: InnerProductParameter
    lrn_param: LRNParameter
    memory_data_param: MemoryDataParameter
    mvn_param: MVNParameter
    pooling_param: PoolingParameter
    power_param: PowerParameter
    relu_param: ReLUParameter
    sigmoid_param: SigmoidParameter
    softmax_param: SoftmaxParameter
    slice_param: SliceParameter
    tanh_param: TanHParameter
    threshold_param: ThresholdParameter
    window_data_param: WindowDataParameter
    python_param: PythonParameter
    prelu_param: PReLUParameter
    spp_param: SPPParameter
    reshape_param: ReshapeParameter
    log_param: LogParameter
    flatten_param: FlattenParameter
    reduction_param: ReductionParameter
    embed_param: EmbedParameter
    tile_param: TileParameter
    batch_norm_param: BatchNormParameter
    elu_param: ELUParameter
    bias_param: BiasParameter
    scale_param: ScaleParameter
    input_param: InputParameter
    crop_param: CropParameter
    parameter_param: ParameterParameter
    recurrent_param: RecurrentParameter
    swish_param: SwishParameter
    clip_param: ClipParameter
    annotated_data_param: AnnotatedDataParameter
    multibox_loss_param: MultiBoxLossParameter
    permute_param: PermuteParameter
    prior_box_param: PriorBoxParameter
    detection_output_param: DetectionOutputParameter
    detection_evaluate_param: DetectionEvaluateParameter
    norm_param: NormalizeParameter
    video_data_param: VideoDataParameter
    bn_param: BNParameter
    interp_param: InterpParameter
    shuffle_channel_param: ShuffleChannelParameter
    squeeze_convolution_param: SqueezeConvolutionParameter
    squeeze_inner_product_param: SqueezeInnerProductParameter
    reorg_param: ReorgParameter
    yolo_v2_loss_param: YoloV2LossParameter
    yolo_v3_loss_param: YoloV3LossParameter
    depth_to_space_param: DepthToSpaceParameter
    upsample_darknet_param: UpsampleDarknetParameter
    resize_nearest_neighbor_param: ResizeNearestNeighborParameter
    gather_param: GatherParameter
    proposal_param: ProposalParameter
    gather_nd_param: GatherNdParameter
    crop_and_resize_param: CropAndResizeParameter
    space_to_depth_param: SpaceToDepthParameter
    pad_param: PadParameter
    stack_param: StackParameter
    resize_bilinear_param: ResizeBilinearParameter
    reduce_sum_param: ReduceParameter
    reduce_max_param: ReduceParameter
    reduce_min_param: ReduceParameter
    reduce_prod_param: ReduceParameter
    reduce_mean_param: ReduceParameter
    selu_param: SeLuParameter
    selu_dropout_param: SeLuDropoutParameter
    unstack_param: UnstackParameter
    batch_to_space_nd_param: BatchToSpaceNDParameter
    space_to_batch_nd_param: SpaceToBatchNDParameter
    xlu_param: XLUParameter
    mirror_pad_param: MirrorPadParameter
    tile_nd_param: TileNDParameter
    expand_dims_nd_param: AxesParameter
    squeeze_param: AxesParameter
    broadcast_to_param: BroadcastToParameter
    strided_slice_param: StridedSliceParameter
    piece_param: PieceParameter
    range_param: RangeParameter
    roi_align_param: ROIAlignParameter
    gemm_param: GemmParameter
    reduce_l1_param: ReduceParameter
    reduce_l2_param: ReduceParameter
    reduce_logsumexp_param: ReduceParameter
    reduce_all_param: ReduceParameter
    reduce_any_param: ReduceParameter
    hard_sigmoid_param: HardSigmoidParameter
    thresholded_relu_param: ThresholdedReLUParameter
    layer_norm_param: LayerNormParameter
    log_softmax_param: LogSoftmaxParameter
    scaled_tanh_param: ScaledTanHParameter
    matmul_param: MatMulParameter
    pooling3d_param: Pooling3DParameter
    convolution3d_param: Convolution3DParameter
    color_conv_param: ColorConvParameter
    multi_stage_meanfield_param: MultiStageMeanfieldParameter
    reverse_param: ReverseParameter
    ctc_loss_param: CTCLossParameter
    ctc_decoder_param: CTCDecoderParameter
    reverse_time_param: ReverseTimeParameter
    unpooling_param: UnpoolingParameter
    deformable_convolution_param: DeformableConvolutionParameter
    denseblock_param: DenseBlockParameter
    guided_dropout_param: GuidedDropoutParameter
    center_loss_param: CenterLossParameter
    coeff_schedule_param: CoeffScheduleParameter
    augmentation_param: AugmentationParameter
    correlation_param: CorrelationParameter
    l1_loss_param: L1LossParameter
    writer_param: WriterParameter
    reader_param: ReaderParameter
    mean_param: MeanParameter
    resample_param: ResampleParameter
    downsample_param: DownsampleParameter
    reshape_every_iter: bool
    lpq_loss_param: LpqLossParameter
    flow_warp_param: FlowWarpParameter
    accum_param: AccumParameter
    black_augmentation_param: BlackAugmentationParameter
    roi_pooling_param: ROIPoolingParameter
    smooth_l1_loss_param: SmoothL1LossParameter
    gradient_scaler_param: GradientScalerParameter
    local_param: LocalParameter
    insanity_param: InsanityParameter
    triplet_loss_param: TripletLossParameter
    eltwise_affine_param: EltwiseAffineParameter
    sub_region_param: SubRegionParameter
    noise_param: AddNoiseParameter
    flip_param: FlipParameter
    inner_distance_param: InnerDistanceParameter
    normalize_param: FaceNormalizeParameter
    general_contrastive_loss_param: GeneralContrastiveLossParameter
    general_triplet_loss_param: GeneralTripletLossParameter
    psroi_pooling_param: PSROIPoolingParameter
    pairwise_param: PairwiseParameter
    largemargin_inner_product_param: LargeMarginInnerProductParameter
    label_specific_rescale_param: LabelSpecificRescaleParameter
    resize_param: LayerResizeParameter
    margin_inner_product_param: MarginInnerProductParameter
    focal_loss_param: FocalLossParameter
    label_specific_margin_param: LabelSpecificMarginParameter
    channel_scale_param: ChannelScaleParameter
    label_specific_add_param: LabelSpecificAddParameter
    engine: str
    multinode: MultinodeLayerParameter
    mn_activation_param: MnActivationParameter
    box_annotator_ohem_param: BoxAnnotatorOHEMParameter
    spatial_dropout_param: SpatialDropoutParameter
    mn_grad_compress_param: MnParamGradCompressParameter
    quantization_param: QuantizationParameter
    split_param: IntelSplitParameter
    region_loss_param: RegionLossParameter
    eval_detection_param: IntelEvalDetectionParameter
    lstm_param: LstmParameter
    seg_data_param: SegDataParameter
    batch_reduction_param: BatchReductionParameter
    detection_loss_param: DetectionLossParameter
    detection_accuracy_param: DetectionAccuracyParameter
    box_output_param: BoxOutputParameter
    proposal_target_param: ProposalTargetParameter
    image_gt_data_param: ImageGtDataParameter
    bbox_reg_param: BBoxRegParameter
    decode_bbox_param: DecodeBBoxParameter
    forward_type: NVType
    backward_type: NVType
    forward_math: NVType
    backward_math: NVType
    debug: bool
    cudnn_math_override: int
    trt_param: TensorRTParameter
    detectnet_groundtruth_param: DetectNetGroundTruthParameter
    detectnet_augmentation_param: DetectNetAugmentationParameter
    transpose_param: TransposeParameter
    grn_param: GRNParameter
    rcnn_truth_param: RcnnTruthParameter
    anchor_target_param: AnchorTargetParameter
    region_target_param: RegionTargetParameter
    filter_param: ChannelFilterParameter
    seg_accuracy_param: SegAccuracyParameter
    mat_write_param: MatWriteParameter
    dense_crf_param: DenseCRFParameter
    domain_transform_param: DomainTransformParameter
    adaptive_bias_channel_param: AdaptiveBiasChannelParameter
    bias_channel_param: BiasChannelParameter
    unique_label_param: UniqueLabelParameter
    mat_read_param: MatReadParameter
    pruning_param: PruningParameter
    fixed_param: FixedParameter
    rss_loss_param: RSSLossParameter
    labeled_matching_param: LabeledMatchingParameter
    unlabeled_matching_param: UnlabeledMatchingParameter
    upsample_param: UpsampleParameter
    dense_image_data_param: DenseImageDataParameter
    binary_data_param: BinaryDataParameter
    st_loss_param: STLossParameter
    power_file_param: PowerFileParameter
    loc_loss_param: LocLossParameter
    st_param: SpatialTransformerParameter
    repeat_param: RepeatParameter
    continuation_indicator_param: ContinuationIndicatorParameter
    labelsequence_accuracy_param: LabelsequenceAccuracyParameter
    relu6_param: ReLUParameter
    yolo_detection_output_param: YoloDetectionOutputParameter
    yolov3_detection_output_param: Yolov3DetectionOutputParameter
    yolov3_param: Yolov3Parameter
    yolo_seg_param: YoloSegParameter
    segmentation_evaluate_param: SegmentationEvaluateParameter
    def __init__(self, name: _Optional[str] = ..., type: _Optional[str] = ..., bottom: _Optional[_Iterable[str]] = ..., top: _Optional[_Iterable[str]] = ..., loss_weight: _Optional[_Iterable[float]] = ..., param: _Optional[_Iterable[_Union[ParamSpec, _Mapping]]] = ..., blobs: _Optional[_Iterable[_Union[BlobProto, _Mapping]]] = ..., include: _Optional[_Iterable[_Union[NetStateRule, _Mapping]]] = ..., exclude: _Optional[_Iterable[_Union[NetStateRule, _Mapping]]] = ..., phase: _Optional[_Union[Phase, str]] = ..., propagate_down: _Optional[_Iterable[bool]] = ..., transform_param: _Optional[_Union[TransformationParameter, _Mapping]] = ..., loss_param: _Optional[_Union[LossParameter, _Mapping]] = ..., accuracy_param: _Optional[_Union[AccuracyParameter, _Mapping]] = ..., argmax_param: _Optional[_Union[ArgMaxParameter, _Mapping]] = ..., concat_param: _Optional[_Union[ConcatParameter, _Mapping]] = ..., contrastive_loss_param: _Optional[_Union[ContrastiveLossParameter, _Mapping]] = ..., convolution_param: _Optional[_Union[ConvolutionParameter, _Mapping]] = ..., data_param: _Optional[_Union[DataParameter, _Mapping]] = ..., dropout_param: _Optional[_Union[DropoutParameter, _Mapping]] = ..., dummy_data_param: _Optional[_Union[DummyDataParameter, _Mapping]] = ..., eltwise_param: _Optional[_Union[EltwiseParameter, _Mapping]] = ..., exp_param: _Optional[_Union[ExpParameter, _Mapping]] = ..., hdf5_data_param: _Optional[_Union[HDF5DataParameter, _Mapping]] = ..., hdf5_output_param: _Optional[_Union[HDF5OutputParameter, _Mapping]] = ..., hinge_loss_param: _Optional[_Union[HingeLossParameter, _Mapping]] = ..., image_data_param: _Optional[_Union[ImageDataParameter, _Mapping]] = ..., infogain_loss_param: _Optional[_Union[InfogainLossParameter, _Mapping]] = ..., inner_product_param: _Optional[_Union[InnerProductParameter, _Mapping]] = ..., lrn_param: _Optional[_Union[LRNParameter, _Mapping]] = ..., memory_data_param: _Optional[_Union[MemoryDataParameter, _Mapping]] = ..., mvn_param: _Optional[_Union[MVNParameter, _Mapping]] = ..., pooling_param: _Optional[_Union[PoolingParameter, _Mapping]] = ..., power_param: _Optional[_Union[PowerParameter, _Mapping]] = ..., relu_param: _Optional[_Union[ReLUParameter, _Mapping]] = ..., sigmoid_param: _Optional[_Union[SigmoidParameter, _Mapping]] = ..., softmax_param: _Optional[_Union[SoftmaxParameter, _Mapping]] = ..., slice_param: _Optional[_Union[SliceParameter, _Mapping]] = ..., tanh_param: _Optional[_Union[TanHParameter, _Mapping]] = ..., threshold_param: _Optional[_Union[ThresholdParameter, _Mapping]] = ..., window_data_param: _Optional[_Union[WindowDataParameter, _Mapping]] = ..., python_param: _Optional[_Union[PythonParameter, _Mapping]] = ..., prelu_param: _Optional[_Union[PReLUParameter, _Mapping]] = ..., spp_param: _Optional[_Union[SPPParameter, _Mapping]] = ..., reshape_param: _Optional[_Union[ReshapeParameter, _Mapping]] = ..., log_param: _Optional[_Union[LogParameter, _Mapping]] = ..., flatten_param: _Optional[_Union[FlattenParameter, _Mapping]] = ..., reduction_param: _Optional[_Union[ReductionParameter, _Mapping]] = ..., embed_param: _Optional[_Union[EmbedParameter, _Mapping]] = ..., tile_param: _Optional[_Union[TileParameter, _Mapping]] = ..., batch_norm_param: _Optional[_Union[BatchNormParameter, _Mapping]] = ..., elu_param: _Optional[_Union[ELUParameter, _Mapping]] = ..., bias_param: _Optional[_Union[BiasParameter, _Mapping]] = ..., scale_param: _Optional[_Union[ScaleParameter, _Mapping]] = ..., input_param: _Optional[_Union[InputParameter, _Mapping]] = ..., crop_param: _Optional[_Union[CropParameter, _Mapping]] = ..., parameter_param: _Optional[_Union[ParameterParameter, _Mapping]] = ..., recurrent_param: _Optional[_Union[RecurrentParameter, _Mapping]] = ..., swish_param: _Optional[_Union[SwishParameter, _Mapping]] = ..., clip_param: _Optional[_Union[ClipParameter, _Mapping]] = ..., annotated_data_param: _Optional[_Union[AnnotatedDataParameter, _Mapping]] = ..., multibox_loss_param: _Optional[_Union[MultiBoxLossParameter, _Mapping]] = ..., permute_param: _Optional[_Union[PermuteParameter, _Mapping]] = ..., prior_box_param: _Optional[_Union[PriorBoxParameter, _Mapping]] = ..., detection_output_param: _Optional[_Union[DetectionOutputParameter, _Mapping]] = ..., detection_evaluate_param: _Optional[_Union[DetectionEvaluateParameter, _Mapping]] = ..., norm_param: _Optional[_Union[NormalizeParameter, _Mapping]] = ..., video_data_param: _Optional[_Union[VideoDataParameter, _Mapping]] = ..., bn_param: _Optional[_Union[BNParameter, _Mapping]] = ..., interp_param: _Optional[_Union[InterpParameter, _Mapping]] = ..., shuffle_channel_param: _Optional[_Union[ShuffleChannelParameter, _Mapping]] = ..., squeeze_convolution_param: _Optional[_Union[SqueezeConvolutionParameter, _Mapping]] = ..., squeeze_inner_product_param: _Optional[_Union[SqueezeInnerProductParameter, _Mapping]] = ..., reorg_param: _Optional[_Union[ReorgParameter, _Mapping]] = ..., yolo_v2_loss_param: _Optional[_Union[YoloV2LossParameter, _Mapping]] = ..., yolo_v3_loss_param: _Optional[_Union[YoloV3LossParameter, _Mapping]] = ..., depth_to_space_param: _Optional[_Union[DepthToSpaceParameter, _Mapping]] = ..., upsample_darknet_param: _Optional[_Union[UpsampleDarknetParameter, _Mapping]] = ..., resize_nearest_neighbor_param: _Optional[_Union[ResizeNearestNeighborParameter, _Mapping]] = ..., gather_param: _Optional[_Union[GatherParameter, _Mapping]] = ..., proposal_param: _Optional[_Union[ProposalParameter, _Mapping]] = ..., gather_nd_param: _Optional[_Union[GatherNdParameter, _Mapping]] = ..., crop_and_resize_param: _Optional[_Union[CropAndResizeParameter, _Mapping]] = ..., space_to_depth_param: _Optional[_Union[SpaceToDepthParameter, _Mapping]] = ..., pad_param: _Optional[_Union[PadParameter, _Mapping]] = ..., stack_param: _Optional[_Union[StackParameter, _Mapping]] = ..., resize_bilinear_param: _Optional[_Union[ResizeBilinearParameter, _Mapping]] = ..., reduce_sum_param: _Optional[_Union[ReduceParameter, _Mapping]] = ..., reduce_max_param: _Optional[_Union[ReduceParameter, _Mapping]] = ..., reduce_min_param: _Optional[_Union[ReduceParameter, _Mapping]] = ..., reduce_prod_param: _Optional[_Union[ReduceParameter, _Mapping]] = ..., reduce_mean_param: _Optional[_Union[ReduceParameter, _Mapping]] = ..., selu_param: _Optional[_Union[SeLuParameter, _Mapping]] = ..., selu_dropout_param: _Optional[_Union[SeLuDropoutParameter, _Mapping]] = ..., unstack_param: _Optional[_Union[UnstackParameter, _Mapping]] = ..., batch_to_space_nd_param: _Optional[_Union[BatchToSpaceNDParameter, _Mapping]] = ..., space_to_batch_nd_param: _Optional[_Union[SpaceToBatchNDParameter, _Mapping]] = ..., xlu_param: _Optional[_Union[XLUParameter, _Mapping]] = ..., mirror_pad_param: _Optional[_Union[MirrorPadParameter, _Mapping]] = ..., tile_nd_param: _Optional[_Union[TileNDParameter, _Mapping]] = ..., expand_dims_nd_param: _Optional[_Union[AxesParameter, _Mapping]] = ..., squeeze_param: _Optional[_Union[AxesParameter, _Mapping]] = ..., broadcast_to_param: _Optional[_Union[BroadcastToParameter, _Mapping]] = ..., strided_slice_param: _Optional[_Union[StridedSliceParameter, _Mapping]] = ..., piece_param: _Optional[_Union[PieceParameter, _Mapping]] = ..., range_param: _Optional[_Union[RangeParameter, _Mapping]] = ..., roi_align_param: _Optional[_Union[ROIAlignParameter, _Mapping]] = ..., gemm_param: _Optional[_Union[GemmParameter, _Mapping]] = ..., reduce_l1_param: _Optional[_Union[ReduceParameter, _Mapping]] = ..., reduce_l2_param: _Optional[_Union[ReduceParameter, _Mapping]] = ..., reduce_logsumexp_param: _Optional[_Union[ReduceParameter, _Mapping]] = ..., reduce_all_param: _Optional[_Union[ReduceParameter, _Mapping]] = ..., reduce_any_param: _Optional[_Union[ReduceParameter, _Mapping]] = ..., hard_sigmoid_param: _Optional[_Union[HardSigmoidParameter, _Mapping]] = ..., thresholded_relu_param: _Optional[_Union[ThresholdedReLUParameter, _Mapping]] = ..., layer_norm_param: _Optional[_Union[LayerNormParameter, _Mapping]] = ..., log_softmax_param: _Optional[_Union[LogSoftmaxParameter, _Mapping]] = ..., scaled_tanh_param: _Optional[_Union[ScaledTanHParameter, _Mapping]] = ..., matmul_param: _Optional[_Union[MatMulParameter, _Mapping]] = ..., pooling3d_param: _Optional[_Union[Pooling3DParameter, _Mapping]] = ..., convolution3d_param: _Optional[_Union[Convolution3DParameter, _Mapping]] = ..., color_conv_param: _Optional[_Union[ColorConvParameter, _Mapping]] = ..., multi_stage_meanfield_param: _Optional[_Union[MultiStageMeanfieldParameter, _Mapping]] = ..., reverse_param: _Optional[_Union[ReverseParameter, _Mapping]] = ..., ctc_loss_param: _Optional[_Union[CTCLossParameter, _Mapping]] = ..., ctc_decoder_param: _Optional[_Union[CTCDecoderParameter, _Mapping]] = ..., reverse_time_param: _Optional[_Union[ReverseTimeParameter, _Mapping]] = ..., unpooling_param: _Optional[_Union[UnpoolingParameter, _Mapping]] = ..., deformable_convolution_param: _Optional[_Union[DeformableConvolutionParameter, _Mapping]] = ..., denseblock_param: _Optional[_Union[DenseBlockParameter, _Mapping]] = ..., guided_dropout_param: _Optional[_Union[GuidedDropoutParameter, _Mapping]] = ..., center_loss_param: _Optional[_Union[CenterLossParameter, _Mapping]] = ..., coeff_schedule_param: _Optional[_Union[CoeffScheduleParameter, _Mapping]] = ..., augmentation_param: _Optional[_Union[AugmentationParameter, _Mapping]] = ..., correlation_param: _Optional[_Union[CorrelationParameter, _Mapping]] = ..., l1_loss_param: _Optional[_Union[L1LossParameter, _Mapping]] = ..., writer_param: _Optional[_Union[WriterParameter, _Mapping]] = ..., reader_param: _Optional[_Union[ReaderParameter, _Mapping]] = ..., mean_param: _Optional[_Union[MeanParameter, _Mapping]] = ..., resample_param: _Optional[_Union[ResampleParameter, _Mapping]] = ..., downsample_param: _Optional[_Union[DownsampleParameter, _Mapping]] = ..., reshape_every_iter: _Optional[bool] = ..., lpq_loss_param: _Optional[_Union[LpqLossParameter, _Mapping]] = ..., flow_warp_param: _Optional[_Union[FlowWarpParameter, _Mapping]] = ..., accum_param: _Optional[_Union[AccumParameter, _Mapping]] = ..., black_augmentation_param: _Optional[_Union[BlackAugmentationParameter, _Mapping]] = ..., roi_pooling_param: _Optional[_Union[ROIPoolingParameter, _Mapping]] = ..., smooth_l1_loss_param: _Optional[_Union[SmoothL1LossParameter, _Mapping]] = ..., gradient_scaler_param: _Optional[_Union[GradientScalerParameter, _Mapping]] = ..., local_param: _Optional[_Union[LocalParameter, _Mapping]] = ..., insanity_param: _Optional[_Union[InsanityParameter, _Mapping]] = ..., triplet_loss_param: _Optional[_Union[TripletLossParameter, _Mapping]] = ..., eltwise_affine_param: _Optional[_Union[EltwiseAffineParameter, _Mapping]] = ..., sub_region_param: _Optional[_Union[SubRegionParameter, _Mapping]] = ..., noise_param: _Optional[_Union[AddNoiseParameter, _Mapping]] = ..., flip_param: _Optional[_Union[FlipParameter, _Mapping]] = ..., inner_distance_param: _Optional[_Union[InnerDistanceParameter, _Mapping]] = ..., normalize_param: _Optional[_Union[FaceNormalizeParameter, _Mapping]] = ..., general_contrastive_loss_param: _Optional[_Union[GeneralContrastiveLossParameter, _Mapping]] = ..., general_triplet_loss_param: _Optional[_Union[GeneralTripletLossParameter, _Mapping]] = ..., psroi_pooling_param: _Optional[_Union[PSROIPoolingParameter, _Mapping]] = ..., pairwise_param: _Optional[_Union[PairwiseParameter, _Mapping]] = ..., largemargin_inner_product_param: _Optional[_Union[LargeMarginInnerProductParameter, _Mapping]] = ..., label_specific_rescale_param: _Optional[_Union[LabelSpecificRescaleParameter, _Mapping]] = ..., resize_param: _Optional[_Union[LayerResizeParameter, _Mapping]] = ..., margin_inner_product_param: _Optional[_Union[MarginInnerProductParameter, _Mapping]] = ..., focal_loss_param: _Optional[_Union[FocalLossParameter, _Mapping]] = ..., label_specific_margin_param: _Optional[_Union[LabelSpecificMarginParameter, _Mapping]] = ..., channel_scale_param: _Optional[_Union[ChannelScaleParameter, _Mapping]] = ..., label_specific_add_param: _Optional[_Union[LabelSpecificAddParameter, _Mapping]] = ..., engine: _Optional[str] = ..., multinode: _Optional[_Union[MultinodeLayerParameter, _Mapping]] = ..., mn_activation_param: _Optional[_Union[MnActivationParameter, _Mapping]] = ..., box_annotator_ohem_param: _Optional[_Union[BoxAnnotatorOHEMParameter, _Mapping]] = ..., spatial_dropout_param: _Optional[_Union[SpatialDropoutParameter, _Mapping]] = ..., mn_grad_compress_param: _Optional[_Union[MnParamGradCompressParameter, _Mapping]] = ..., quantization_param: _Optional[_Union[QuantizationParameter, _Mapping]] = ..., split_param: _Optional[_Union[IntelSplitParameter, _Mapping]] = ..., region_loss_param: _Optional[_Union[RegionLossParameter, _Mapping]] = ..., eval_detection_param: _Optional[_Union[IntelEvalDetectionParameter, _Mapping]] = ..., lstm_param: _Optional[_Union[LstmParameter, _Mapping]] = ..., seg_data_param: _Optional[_Union[SegDataParameter, _Mapping]] = ..., batch_reduction_param: _Optional[_Union[BatchReductionParameter, _Mapping]] = ..., detection_loss_param: _Optional[_Union[DetectionLossParameter, _Mapping]] = ..., detection_accuracy_param: _Optional[_Union[DetectionAccuracyParameter, _Mapping]] = ..., box_output_param: _Optional[_Union[BoxOutputParameter, _Mapping]] = ..., proposal_target_param: _Optional[_Union[ProposalTargetParameter, _Mapping]] = ..., image_gt_data_param: _Optional[_Union[ImageGtDataParameter, _Mapping]] = ..., bbox_reg_param: _Optional[_Union[BBoxRegParameter, _Mapping]] = ..., decode_bbox_param: _Optional[_Union[DecodeBBoxParameter, _Mapping]] = ..., forward_type: _Optional[_Union[NVType, str]] = ..., backward_type: _Optional[_Union[NVType, str]] = ..., forward_math: _Optional[_Union[NVType, str]] = ..., backward_math: _Optional[_Union[NVType, str]] = ..., debug: _Optional[bool] = ..., cudnn_math_override: _Optional[int] = ..., trt_param: _Optional[_Union[TensorRTParameter, _Mapping]] = ..., detectnet_groundtruth_param: _Optional[_Union[DetectNetGroundTruthParameter, _Mapping]] = ..., detectnet_augmentation_param: _Optional[_Union[DetectNetAugmentationParameter, _Mapping]] = ..., transpose_param: _Optional[_Union[TransposeParameter, _Mapping]] = ..., grn_param: _Optional[_Union[GRNParameter, _Mapping]] = ..., rcnn_truth_param: _Optional[_Union[RcnnTruthParameter, _Mapping]] = ..., anchor_target_param: _Optional[_Union[AnchorTargetParameter, _Mapping]] = ..., region_target_param: _Optional[_Union[RegionTargetParameter, _Mapping]] = ..., filter_param: _Optional[_Union[ChannelFilterParameter, _Mapping]] = ..., seg_accuracy_param: _Optional[_Union[SegAccuracyParameter, _Mapping]] = ..., mat_write_param: _Optional[_Union[MatWriteParameter, _Mapping]] = ..., dense_crf_param: _Optional[_Union[DenseCRFParameter, _Mapping]] = ..., domain_transform_param: _Optional[_Union[DomainTransformParameter, _Mapping]] = ..., adaptive_bias_channel_param: _Optional[_Union[AdaptiveBiasChannelParameter, _Mapping]] = ..., bias_channel_param: _Optional[_Union[BiasChannelParameter, _Mapping]] = ..., unique_label_param: _Optional[_Union[UniqueLabelParameter, _Mapping]] = ..., mat_read_param: _Optional[_Union[MatReadParameter, _Mapping]] = ..., pruning_param: _Optional[_Union[PruningParameter, _Mapping]] = ..., fixed_param: _Optional[_Union[FixedParameter, _Mapping]] = ..., rss_loss_param: _Optional[_Union[RSSLossParameter, _Mapping]] = ..., labeled_matching_param: _Optional[_Union[LabeledMatchingParameter, _Mapping]] = ..., unlabeled_matching_param: _Optional[_Union[UnlabeledMatchingParameter, _Mapping]] = ..., upsample_param: _Optional[_Union[UpsampleParameter, _Mapping]] = ..., dense_image_data_param: _Optional[_Union[DenseImageDataParameter, _Mapping]] = ..., binary_data_param: _Optional[_Union[BinaryDataParameter, _Mapping]] = ..., st_loss_param: _Optional[_Union[STLossParameter, _Mapping]] = ..., power_file_param: _Optional[_Union[PowerFileParameter, _Mapping]] = ..., loc_loss_param: _Optional[_Union[LocLossParameter, _Mapping]] = ..., st_param: _Optional[_Union[SpatialTransformerParameter, _Mapping]] = ..., repeat_param: _Optional[_Union[RepeatParameter, _Mapping]] = ..., continuation_indicator_param: _Optional[_Union[ContinuationIndicatorParameter, _Mapping]] = ..., labelsequence_accuracy_param: _Optional[_Union[LabelsequenceAccuracyParameter, _Mapping]] = ..., relu6_param: _Optional[_Union[ReLUParameter, _Mapping]] = ..., yolo_detection_output_param: _Optional[_Union[YoloDetectionOutputParameter, _Mapping]] = ..., yolov3_detection_output_param: _Optional[_Union[Yolov3DetectionOutputParameter, _Mapping]] = ..., yolov3_param: _Optional[_Union[Yolov3Parameter, _Mapping]] = ..., yolo_seg_param: _Optional[_Union[YoloSegParameter, _Mapping]] = ..., segmentation_evaluate_param: _Optional[_Union[SegmentationEvaluateParameter, _Mapping]] = ...) -> None: ...

class TransformationParameter(_message.Message):
    __slots__ = ("scale", "mirror", "crop_size", "mean_file", "mean_value", "force_color", "force_gray", "resize_param", "noise_param", "emit_constraint", "crop_h", "crop_w", "distort_param", "expand_param", "caffe_yolo", "min_scaling_factor", "max_scaling_factor", "max_rotation_angle", "contrast_brightness_adjustment", "smooth_filtering", "min_side", "min_contrast", "max_contrast", "max_brightness_shift", "max_smooth", "apply_probability", "debug_params", "max_color_shift", "crop_height", "crop_width", "multi_scale_levels", "center_crop", "erase_ratio", "scale_min", "scale_max", "aspect_min", "aspect_max", "random_resize_param", "random_aspect_ratio_param", "flow", "bgr2rgb", "pad", "fix_crop", "multi_scale", "scale_ratios", "max_distort", "is_flow", "more_fix_crop", "stride", "upper_size", "upper_height", "upper_width", "original_image", "use_gpu_transform", "random_seed", "img_rand_resize_lower", "img_rand_resize_upper", "rand_resize_ratio_lower", "rand_resize_ratio_upper", "vertical_stretch_lower", "vertical_stretch_upper", "horizontal_stretch_lower", "horizontal_stretch_upper", "interpolation_algo_down", "interpolation_algo_up", "allow_upscale", "forward_packing", "display", "num_labels", "var_sz_img_enabled", "add_noise", "noise_ratio", "scale_factors", "enable_classf_aug", "min_side_min", "min_side_max", "cvt_bgr2rgb")
    class InterpolationAlgo(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        INTER_NEAREST: _ClassVar[TransformationParameter.InterpolationAlgo]
        INTER_LINEAR: _ClassVar[TransformationParameter.InterpolationAlgo]
        INTER_CUBIC: _ClassVar[TransformationParameter.InterpolationAlgo]
        INTER_AREA: _ClassVar[TransformationParameter.InterpolationAlgo]
    INTER_NEAREST: TransformationParameter.InterpolationAlgo
    INTER_LINEAR: TransformationParameter.InterpolationAlgo
    INTER_CUBIC: TransformationParameter.InterpolationAlgo
    INTER_AREA: TransformationParameter.InterpolationAlgo
    class Packing(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        NCHW: _ClassVar[TransformationParameter.Packing]
        NHWC: _ClassVar[TransformationParameter.Packing]
    NCHW: TransformationParameter.Packing
    NHWC: TransformationParameter.Packing
    SCALE_FIELD_NUMBER: _ClassVar[int]
    MIRROR_FIELD_NUMBER: _ClassVar[int]
    CROP_SIZE_FIELD_NUMBER: _ClassVar[int]
    MEAN_FILE_FIELD_NUMBER: _ClassVar[int]
    MEAN_VALUE_FIELD_NUMBER: _ClassVar[int]
    FORCE_COLOR_FIELD_NUMBER: _ClassVar[int]
    FORCE_GRAY_FIELD_NUMBER: _ClassVar[int]
    RESIZE_PARAM_FIELD_NUMBER: _ClassVar[int]
    NOISE_PARAM_FIELD_NUMBER: _ClassVar[int]
    EMIT_CONSTRAINT_FIELD_NUMBER: _ClassVar[int]
    CROP_H_FIELD_NUMBER: _ClassVar[int]
    CROP_W_FIELD_NUMBER: _ClassVar[int]
    DISTORT_PARAM_FIELD_NUMBER: _ClassVar[int]
    EXPAND_PARAM_FIELD_NUMBER: _ClassVar[int]
    CAFFE_YOLO_FIELD_NUMBER: _ClassVar[int]
    MIN_SCALING_FACTOR_FIELD_NUMBER: _ClassVar[int]
    MAX_SCALING_FACTOR_FIELD_NUMBER: _ClassVar[int]
    MAX_ROTATION_ANGLE_FIELD_NUMBER: _ClassVar[int]
    CONTRAST_BRIGHTNESS_ADJUSTMENT_FIELD_NUMBER: _ClassVar[int]
    SMOOTH_FILTERING_FIELD_NUMBER: _ClassVar[int]
    MIN_SIDE_FIELD_NUMBER: _ClassVar[int]
    MIN_CONTRAST_FIELD_NUMBER: _ClassVar[int]
    MAX_CONTRAST_FIELD_NUMBER: _ClassVar[int]
    MAX_BRIGHTNESS_SHIFT_FIELD_NUMBER: _ClassVar[int]
    MAX_SMOOTH_FIELD_NUMBER: _ClassVar[int]
    APPLY_PROBABILITY_FIELD_NUMBER: _ClassVar[int]
    DEBUG_PARAMS_FIELD_NUMBER: _ClassVar[int]
    MAX_COLOR_SHIFT_FIELD_NUMBER: _ClassVar[int]
    CROP_HEIGHT_FIELD_NUMBER: _ClassVar[int]
    CROP_WIDTH_FIELD_NUMBER: _ClassVar[int]
    MULTI_SCALE_LEVELS_FIELD_NUMBER: _ClassVar[int]
    CENTER_CROP_FIELD_NUMBER: _ClassVar[int]
    ERASE_RATIO_FIELD_NUMBER: _ClassVar[int]
    SCALE_MIN_FIELD_NUMBER: _ClassVar[int]
    SCALE_MAX_FIELD_NUMBER: _ClassVar[int]
    ASPECT_MIN_FIELD_NUMBER: _ClassVar[int]
    ASPECT_MAX_FIELD_NUMBER: _ClassVar[int]
    RANDOM_RESIZE_PARAM_FIELD_NUMBER: _ClassVar[int]
    RANDOM_ASPECT_RATIO_PARAM_FIELD_NUMBER: _ClassVar[int]
    FLOW_FIELD_NUMBER: _ClassVar[int]
    BGR2RGB_FIELD_NUMBER: _ClassVar[int]
    PAD_FIELD_NUMBER: _ClassVar[int]
    FIX_CROP_FIELD_NUMBER: _ClassVar[int]
    MULTI_SCALE_FIELD_NUMBER: _ClassVar[int]
    SCALE_RATIOS_FIELD_NUMBER: _ClassVar[int]
    MAX_DISTORT_FIELD_NUMBER: _ClassVar[int]
    IS_FLOW_FIELD_NUMBER: _ClassVar[int]
    MORE_FIX_CROP_FIELD_NUMBER: _ClassVar[int]
    STRIDE_FIELD_NUMBER: _ClassVar[int]
    UPPER_SIZE_FIELD_NUMBER: _ClassVar[int]
    UPPER_HEIGHT_FIELD_NUMBER: _ClassVar[int]
    UPPER_WIDTH_FIELD_NUMBER: _ClassVar[int]
    ORIGINAL_IMAGE_FIELD_NUMBER: _ClassVar[int]
    USE_GPU_TRANSFORM_FIELD_NUMBER: _ClassVar[int]
    RANDOM_SEED_FIELD_NUMBER: _ClassVar[int]
    IMG_RAND_RESIZE_LOWER_FIELD_NUMBER: _ClassVar[int]
    IMG_RAND_RESIZE_UPPER_FIELD_NUMBER: _ClassVar[int]
    RAND_RESIZE_RATIO_LOWER_FIELD_NUMBER: _ClassVar[int]
    RAND_RESIZE_RATIO_UPPER_FIELD_NUMBER: _ClassVar[int]
    VERTICAL_STRETCH_LOWER_FIELD_NUMBER: _ClassVar[int]
    VERTICAL_STRETCH_UPPER_FIELD_NUMBER: _ClassVar[int]
    HORIZONTAL_STRETCH_LOWER_FIELD_NUMBER: _ClassVar[int]
    HORIZONTAL_STRETCH_UPPER_FIELD_NUMBER: _ClassVar[int]
    INTERPOLATION_ALGO_DOWN_FIELD_NUMBER: _ClassVar[int]
    INTERPOLATION_ALGO_UP_FIELD_NUMBER: _ClassVar[int]
    ALLOW_UPSCALE_FIELD_NUMBER: _ClassVar[int]
    FORWARD_PACKING_FIELD_NUMBER: _ClassVar[int]
    DISPLAY_FIELD_NUMBER: _ClassVar[int]
    NUM_LABELS_FIELD_NUMBER: _ClassVar[int]
    VAR_SZ_IMG_ENABLED_FIELD_NUMBER: _ClassVar[int]
    ADD_NOISE_FIELD_NUMBER: _ClassVar[int]
    NOISE_RATIO_FIELD_NUMBER: _ClassVar[int]
    SCALE_FACTORS_FIELD_NUMBER: _ClassVar[int]
    ENABLE_CLASSF_AUG_FIELD_NUMBER: _ClassVar[int]
    MIN_SIDE_MIN_FIELD_NUMBER: _ClassVar[int]
    MIN_SIDE_MAX_FIELD_NUMBER: _ClassVar[int]
    CVT_BGR2RGB_FIELD_NUMBER: _ClassVar[int]
    scale: float
    mirror: bool
    crop_size: int
    mean_file: str
    mean_value: _containers.RepeatedScalarFieldContainer[float]
    force_color: bool
    force_gray: bool
    resize_param: _containers.RepeatedCompositeFieldContainer[ResizeParameter]
    noise_param: NoiseParameter
    emit_constraint: EmitConstraint
    crop_h: int
    crop_w: int
    distort_param: DistortionParameter
    expand_param: ExpansionParameter
    caffe_yolo: bool
    min_scaling_factor: float
    max_scaling_factor: float
    max_rotation_angle: int
    contrast_brightness_adjustment: bool
    smooth_filtering: bool
    min_side: int
    min_contrast: float
    max_contrast: float
    max_brightness_shift: int
    max_smooth: float
    apply_probability: float
    debug_params: bool
    max_color_shift: int
    crop_height: int
    crop_width: int
    multi_scale_levels: _containers.RepeatedScalarFieldContainer[float]
    center_crop: bool
    erase_ratio: float
    scale_min: float
    scale_max: float
    aspect_min: float
    aspect_max: float
    random_resize_param: RandomResizeParameter
    random_aspect_ratio_param: RandomAspectRatioParameter
    flow: bool
    bgr2rgb: bool
    pad: int
    fix_crop: bool
    multi_scale: bool
    scale_ratios: _containers.RepeatedScalarFieldContainer[float]
    max_distort: int
    is_flow: bool
    more_fix_crop: bool
    stride: int
    upper_size: int
    upper_height: int
    upper_width: int
    original_image: bool
    use_gpu_transform: bool
    random_seed: int
    img_rand_resize_lower: int
    img_rand_resize_upper: int
    rand_resize_ratio_lower: float
    rand_resize_ratio_upper: float
    vertical_stretch_lower: float
    vertical_stretch_upper: float
    horizontal_stretch_lower: float
    horizontal_stretch_upper: float
    interpolation_algo_down: TransformationParameter.InterpolationAlgo
    interpolation_algo_up: TransformationParameter.InterpolationAlgo
    allow_upscale: bool
    forward_packing: TransformationParameter.Packing
    display: bool
    num_labels: int
    var_sz_img_enabled: bool
    add_noise: bool
    noise_ratio: float
    scale_factors: _containers.RepeatedScalarFieldContainer[float]
    enable_classf_aug: bool
    min_side_min: int
    min_side_max: int
    cvt_bgr2rgb: bool
    def __init__(self, scale: _Optional[float] = ..., mirror: _Optional[bool] = ..., crop_size: _Optional[int] = ..., mean_file: _Optional[str] = ..., mean_value: _Optional[_Iterable[float]] = ..., force_color: _Optional[bool] = ..., force_gray: _Optional[bool] = ..., resize_param: _Optional[_Iterable[_Union[ResizeParameter, _Mapping]]] = ..., noise_param: _Optional[_Union[NoiseParameter, _Mapping]] = ..., emit_constraint: _Optional[_Union[EmitConstraint, _Mapping]] = ..., crop_h: _Optional[int] = ..., crop_w: _Optional[int] = ..., distort_param: _Optional[_Union[DistortionParameter, _Mapping]] = ..., expand_param: _Optional[_Union[ExpansionParameter, _Mapping]] = ..., caffe_yolo: _Optional[bool] = ..., min_scaling_factor: _Optional[float] = ..., max_scaling_factor: _Optional[float] = ..., max_rotation_angle: _Optional[int] = ..., contrast_brightness_adjustment: _Optional[bool] = ..., smooth_filtering: _Optional[bool] = ..., min_side: _Optional[int] = ..., min_contrast: _Optional[float] = ..., max_contrast: _Optional[float] = ..., max_brightness_shift: _Optional[int] = ..., max_smooth: _Optional[float] = ..., apply_probability: _Optional[float] = ..., debug_params: _Optional[bool] = ..., max_color_shift: _Optional[int] = ..., crop_height: _Optional[int] = ..., crop_width: _Optional[int] = ..., multi_scale_levels: _Optional[_Iterable[float]] = ..., center_crop: _Optional[bool] = ..., erase_ratio: _Optional[float] = ..., scale_min: _Optional[float] = ..., scale_max: _Optional[float] = ..., aspect_min: _Optional[float] = ..., aspect_max: _Optional[float] = ..., random_resize_param: _Optional[_Union[RandomResizeParameter, _Mapping]] = ..., random_aspect_ratio_param: _Optional[_Union[RandomAspectRatioParameter, _Mapping]] = ..., flow: _Optional[bool] = ..., bgr2rgb: _Optional[bool] = ..., pad: _Optional[int] = ..., fix_crop: _Optional[bool] = ..., multi_scale: _Optional[bool] = ..., scale_ratios: _Optional[_Iterable[float]] = ..., max_distort: _Optional[int] = ..., is_flow: _Optional[bool] = ..., more_fix_crop: _Optional[bool] = ..., stride: _Optional[int] = ..., upper_size: _Optional[int] = ..., upper_height: _Optional[int] = ..., upper_width: _Optional[int] = ..., original_image: _Optional[bool] = ..., use_gpu_transform: _Optional[bool] = ..., random_seed: _Optional[int] = ..., img_rand_resize_lower: _Optional[int] = ..., img_rand_resize_upper: _Optional[int] = ..., rand_resize_ratio_lower: _Optional[float] = ..., rand_resize_ratio_upper: _Optional[float] = ..., vertical_stretch_lower: _Optional[float] = ..., vertical_stretch_upper: _Optional[float] = ..., horizontal_stretch_lower: _Optional[float] = ..., horizontal_stretch_upper: _Optional[float] = ..., interpolation_algo_down: _Optional[_Union[TransformationParameter.InterpolationAlgo, str]] = ..., interpolation_algo_up: _Optional[_Union[TransformationParameter.InterpolationAlgo, str]] = ..., allow_upscale: _Optional[bool] = ..., forward_packing: _Optional[_Union[TransformationParameter.Packing, str]] = ..., display: _Optional[bool] = ..., num_labels: _Optional[int] = ..., var_sz_img_enabled: _Optional[bool] = ..., add_noise: _Optional[bool] = ..., noise_ratio: _Optional[float] = ..., scale_factors: _Optional[_Iterable[float]] = ..., enable_classf_aug: _Optional[bool] = ..., min_side_min: _Optional[int] = ..., min_side_max: _Optional[int] = ..., cvt_bgr2rgb: _Optional[bool] = ...) -> None: ...

class LossParameter(_message.Message):
    __slots__ = ("ignore_label", "normalize", "normalization", "weight_by_label_freqs", "class_weighting", "pre_fixed_normalizer", "label_smoothing", "adaptive_weighting", "gamma", "scale", "min_weight", "max_weight", "max_entropy_weight")
    class NormalizationMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        FULL: _ClassVar[LossParameter.NormalizationMode]
        VALID: _ClassVar[LossParameter.NormalizationMode]
        BATCH_SIZE: _ClassVar[LossParameter.NormalizationMode]
        NONE: _ClassVar[LossParameter.NormalizationMode]
        PRE_FIXED: _ClassVar[LossParameter.NormalizationMode]
    FULL: LossParameter.NormalizationMode
    VALID: LossParameter.NormalizationMode
    BATCH_SIZE: LossParameter.NormalizationMode
    NONE: LossParameter.NormalizationMode
    PRE_FIXED: LossParameter.NormalizationMode
    IGNORE_LABEL_FIELD_NUMBER: _ClassVar[int]
    NORMALIZE_FIELD_NUMBER: _ClassVar[int]
    NORMALIZATION_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_BY_LABEL_FREQS_FIELD_NUMBER: _ClassVar[int]
    CLASS_WEIGHTING_FIELD_NUMBER: _ClassVar[int]
    PRE_FIXED_NORMALIZER_FIELD_NUMBER: _ClassVar[int]
    LABEL_SMOOTHING_FIELD_NUMBER: _ClassVar[int]
    ADAPTIVE_WEIGHTING_FIELD_NUMBER: _ClassVar[int]
    GAMMA_FIELD_NUMBER: _ClassVar[int]
    SCALE_FIELD_NUMBER: _ClassVar[int]
    MIN_WEIGHT_FIELD_NUMBER: _ClassVar[int]
    MAX_WEIGHT_FIELD_NUMBER: _ClassVar[int]
    MAX_ENTROPY_WEIGHT_FIELD_NUMBER: _ClassVar[int]
    ignore_label: int
    normalize: bool
    normalization: LossParameter.NormalizationMode
    weight_by_label_freqs: bool
    class_weighting: _containers.RepeatedScalarFieldContainer[float]
    pre_fixed_normalizer: float
    label_smoothing: float
    adaptive_weighting: bool
    gamma: float
    scale: float
    min_weight: float
    max_weight: float
    max_entropy_weight: float
    def __init__(self, ignore_label: _Optional[int] = ..., normalize: _Optional[bool] = ..., normalization: _Optional[_Union[LossParameter.NormalizationMode, str]] = ..., weight_by_label_freqs: _Optional[bool] = ..., class_weighting: _Optional[_Iterable[float]] = ..., pre_fixed_normalizer: _Optional[float] = ..., label_smoothing: _Optional[float] = ..., adaptive_weighting: _Optional[bool] = ..., gamma: _Optional[float] = ..., scale: _Optional[float] = ..., min_weight: _Optional[float] = ..., max_weight: _Optional[float] = ..., max_entropy_weight: _Optional[float] = ...) -> None: ...

class AccuracyParameter(_message.Message):
    __slots__ = ("top_k", "axis", "ignore_label", "use_log", "min_is_better")
    TOP_K_FIELD_NUMBER: _ClassVar[int]
    AXIS_FIELD_NUMBER: _ClassVar[int]
    IGNORE_LABEL_FIELD_NUMBER: _ClassVar[int]
    USE_LOG_FIELD_NUMBER: _ClassVar[int]
    MIN_IS_BETTER_FIELD_NUMBER: _ClassVar[int]
    top_k: int
    axis: int
    ignore_label: int
    use_log: bool
    min_is_better: bool
    def __init__(self, top_k: _Optional[int] = ..., axis: _Optional[int] = ..., ignore_label: _Optional[int] = ..., use_log: _Optional[bool] = ..., min_is_better: _Optional[bool] = ...) -> None: ...

class ArgMaxParameter(_message.Message):
    __slots__ = ("out_max_val", "top_k", "axis", "min_first", "use_ignore_ids", "ignore_id")
    OUT_MAX_VAL_FIELD_NUMBER: _ClassVar[int]
    TOP_K_FIELD_NUMBER: _ClassVar[int]
    AXIS_FIELD_NUMBER: _ClassVar[int]
    MIN_FIRST_FIELD_NUMBER: _ClassVar[int]
    USE_IGNORE_IDS_FIELD_NUMBER: _ClassVar[int]
    IGNORE_ID_FIELD_NUMBER: _ClassVar[int]
    out_max_val: bool
    top_k: int
    axis: int
    min_first: bool
    use_ignore_ids: bool
    ignore_id: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, out_max_val: _Optional[bool] = ..., top_k: _Optional[int] = ..., axis: _Optional[int] = ..., min_first: _Optional[bool] = ..., use_ignore_ids: _Optional[bool] = ..., ignore_id: _Optional[_Iterable[int]] = ...) -> None: ...

class ClipParameter(_message.Message):
    __slots__ = ("min", "max")
    MIN_FIELD_NUMBER: _ClassVar[int]
    MAX_FIELD_NUMBER: _ClassVar[int]
    min: float
    max: float
    def __init__(self, min: _Optional[float] = ..., max: _Optional[float] = ...) -> None: ...

class ConcatParameter(_message.Message):
    __slots__ = ("concat_dim", "axis", "use_log", "engine", "per_fla_fuse")
    class Engine(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        DEFAULT: _ClassVar[ConcatParameter.Engine]
        CAFFE: _ClassVar[ConcatParameter.Engine]
        CUDNN: _ClassVar[ConcatParameter.Engine]
        MKL2017: _ClassVar[ConcatParameter.Engine]
        MKLDNN: _ClassVar[ConcatParameter.Engine]
    DEFAULT: ConcatParameter.Engine
    CAFFE: ConcatParameter.Engine
    CUDNN: ConcatParameter.Engine
    MKL2017: ConcatParameter.Engine
    MKLDNN: ConcatParameter.Engine
    CONCAT_DIM_FIELD_NUMBER: _ClassVar[int]
    AXIS_FIELD_NUMBER: _ClassVar[int]
    USE_LOG_FIELD_NUMBER: _ClassVar[int]
    ENGINE_FIELD_NUMBER: _ClassVar[int]
    PER_FLA_FUSE_FIELD_NUMBER: _ClassVar[int]
    concat_dim: int
    axis: int
    use_log: bool
    engine: ConcatParameter.Engine
    per_fla_fuse: bool
    def __init__(self, concat_dim: _Optional[int] = ..., axis: _Optional[int] = ..., use_log: _Optional[bool] = ..., engine: _Optional[_Union[ConcatParameter.Engine, str]] = ..., per_fla_fuse: _Optional[bool] = ...) -> None: ...

class BatchNormParameter(_message.Message):
    __slots__ = ("use_global_stats", "moving_average_fraction", "eps", "add_eps_before_sqrt", "icnet", "use_log", "scale_filler", "bias_filler", "engine", "disable_mean", "disable_variance", "use_weight_bias", "bias_term", "filler", "stats_batch_size", "relu", "scale_bias", "update_global_stats")
    class Engine(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        DEFAULT: _ClassVar[BatchNormParameter.Engine]
        CAFFE: _ClassVar[BatchNormParameter.Engine]
        CUDNN: _ClassVar[BatchNormParameter.Engine]
        MKL2017: _ClassVar[BatchNormParameter.Engine]
        MKLDNN: _ClassVar[BatchNormParameter.Engine]
    DEFAULT: BatchNormParameter.Engine
    CAFFE: BatchNormParameter.Engine
    CUDNN: BatchNormParameter.Engine
    MKL2017: BatchNormParameter.Engine
    MKLDNN: BatchNormParameter.Engine
    USE_GLOBAL_STATS_FIELD_NUMBER: _ClassVar[int]
    MOVING_AVERAGE_FRACTION_FIELD_NUMBER: _ClassVar[int]
    EPS_FIELD_NUMBER: _ClassVar[int]
    ADD_EPS_BEFORE_SQRT_FIELD_NUMBER: _ClassVar[int]
    ICNET_FIELD_NUMBER: _ClassVar[int]
    USE_LOG_FIELD_NUMBER: _ClassVar[int]
    SCALE_FILLER_FIELD_NUMBER: _ClassVar[int]
    BIAS_FILLER_FIELD_NUMBER: _ClassVar[int]
    ENGINE_FIELD_NUMBER: _ClassVar[int]
    DISABLE_MEAN_FIELD_NUMBER: _ClassVar[int]
    DISABLE_VARIANCE_FIELD_NUMBER: _ClassVar[int]
    USE_WEIGHT_BIAS_FIELD_NUMBER: _ClassVar[int]
    BIAS_TERM_FIELD_NUMBER: _ClassVar[int]
    FILLER_FIELD_NUMBER: _ClassVar[int]
    STATS_BATCH_SIZE_FIELD_NUMBER: _ClassVar[int]
    RELU_FIELD_NUMBER: _ClassVar[int]
    SCALE_BIAS_FIELD_NUMBER: _ClassVar[int]
    UPDATE_GLOBAL_STATS_FIELD_NUMBER: _ClassVar[int]
    use_global_stats: bool
    moving_average_fraction: float
    eps: float
    add_eps_before_sqrt: bool
    icnet: bool
    use_log: bool
    scale_filler: FillerParameter
    bias_filler: FillerParameter
    engine: BatchNormParameter.Engine
    disable_mean: bool
    disable_variance: bool
    use_weight_bias: bool
    bias_term: bool
    filler: FillerParameter
    stats_batch_size: int
    relu: bool
    scale_bias: bool
    update_global_stats: bool
    def __init__(self, use_global_stats: _Optional[bool] = ..., moving_average_fraction: _Optional[float] = ..., eps: _Optional[float] = ..., add_eps_before_sqrt: _Optional[bool] = ..., icnet: _Optional[bool] = ..., use_log: _Optional[bool] = ..., scale_filler: _Optional[_Union[FillerParameter, _Mapping]] = ..., bias_filler: _Optional[_Union[FillerParameter, _Mapping]] = ..., engine: _Optional[_Union[BatchNormParameter.Engine, str]] = ..., disable_mean: _Optional[bool] = ..., disable_variance: _Optional[bool] = ..., use_weight_bias: _Optional[bool] = ..., bias_term: _Optional[bool] = ..., filler: _Optional[_Union[FillerParameter, _Mapping]] = ..., stats_batch_size: _Optional[int] = ..., relu: _Optional[bool] = ..., scale_bias: _Optional[bool] = ..., update_global_stats: _Optional[bool] = ...) -> None: ...

class BiasParameter(_message.Message):
    __slots__ = ("axis", "num_axes", "filler")
    AXIS_FIELD_NUMBER: _ClassVar[int]
    NUM_AXES_FIELD_NUMBER: _ClassVar[int]
    FILLER_FIELD_NUMBER: _ClassVar[int]
    axis: int
    num_axes: int
    filler: FillerParameter
    def __init__(self, axis: _Optional[int] = ..., num_axes: _Optional[int] = ..., filler: _Optional[_Union[FillerParameter, _Mapping]] = ...) -> None: ...

class ContrastiveLossParameter(_message.Message):
    __slots__ = ("margin", "legacy_version")
    MARGIN_FIELD_NUMBER: _ClassVar[int]
    LEGACY_VERSION_FIELD_NUMBER: _ClassVar[int]
    margin: float
    legacy_version: bool
    def __init__(self, margin: _Optional[float] = ..., legacy_version: _Optional[bool] = ...) -> None: ...

class ConvolutionParameter(_message.Message):
    __slots__ = ("num_output", "bias_term", "pad", "kernel_size", "group", "stride", "weight_filler", "bias_filler", "pad_h", "pad_w", "kernel_h", "kernel_w", "stride_h", "stride_w", "engine", "axis", "force_nd_im2col", "dilation", "pad_type", "shape_offset", "pad_l", "pad_r", "pad_t", "pad_b", "input_scale", "output_scale", "saturate", "kernel_depth", "temporal_stride", "filter_group", "temporal_pad", "hole", "hole_h", "hole_w", "use_log", "relu", "negative_slope", "conv_algorithm", "coeff", "fusion_type", "dilation_h", "dilation_w", "cudnn_convolution_algo_seeker", "conv_algos_override", "fuse_type")
    class Engine(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        DEFAULT: _ClassVar[ConvolutionParameter.Engine]
        CAFFE: _ClassVar[ConvolutionParameter.Engine]
        CUDNN: _ClassVar[ConvolutionParameter.Engine]
        INTEL_SPATIAL: _ClassVar[ConvolutionParameter.Engine]
        LIBDNN: _ClassVar[ConvolutionParameter.Engine]
        MKL2017: _ClassVar[ConvolutionParameter.Engine]
        MKLDNN: _ClassVar[ConvolutionParameter.Engine]
    DEFAULT: ConvolutionParameter.Engine
    CAFFE: ConvolutionParameter.Engine
    CUDNN: ConvolutionParameter.Engine
    INTEL_SPATIAL: ConvolutionParameter.Engine
    LIBDNN: ConvolutionParameter.Engine
    MKL2017: ConvolutionParameter.Engine
    MKLDNN: ConvolutionParameter.Engine
    class SaturateMethod(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        Signed: _ClassVar[ConvolutionParameter.SaturateMethod]
        Unsigned: _ClassVar[ConvolutionParameter.SaturateMethod]
        Signed_8bit: _ClassVar[ConvolutionParameter.SaturateMethod]
        Unsigned_8bit: _ClassVar[ConvolutionParameter.SaturateMethod]
    Signed: ConvolutionParameter.SaturateMethod
    Unsigned: ConvolutionParameter.SaturateMethod
    Signed_8bit: ConvolutionParameter.SaturateMethod
    Unsigned_8bit: ConvolutionParameter.SaturateMethod
    class FusionType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        NONE_FUSION: _ClassVar[ConvolutionParameter.FusionType]
        SUM_FUSION: _ClassVar[ConvolutionParameter.FusionType]
    NONE_FUSION: ConvolutionParameter.FusionType
    SUM_FUSION: ConvolutionParameter.FusionType
    class CuDNNConvolutionAlgorithmSeeker(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        GET: _ClassVar[ConvolutionParameter.CuDNNConvolutionAlgorithmSeeker]
        FINDEX: _ClassVar[ConvolutionParameter.CuDNNConvolutionAlgorithmSeeker]
    GET: ConvolutionParameter.CuDNNConvolutionAlgorithmSeeker
    FINDEX: ConvolutionParameter.CuDNNConvolutionAlgorithmSeeker
    class FuseType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        UNFUSED: _ClassVar[ConvolutionParameter.FuseType]
        FUSED_CONV_RELU: _ClassVar[ConvolutionParameter.FuseType]
        FUSED_CONV_MAX_POOLING_RELU: _ClassVar[ConvolutionParameter.FuseType]
        FUSED_CONV_ELTWISE: _ClassVar[ConvolutionParameter.FuseType]
        FUSED_CONV_ELTWISE_RELU: _ClassVar[ConvolutionParameter.FuseType]
        FUSED_CONV_PRELU: _ClassVar[ConvolutionParameter.FuseType]
    UNFUSED: ConvolutionParameter.FuseType
    FUSED_CONV_RELU: ConvolutionParameter.FuseType
    FUSED_CONV_MAX_POOLING_RELU: ConvolutionParameter.FuseType
    FUSED_CONV_ELTWISE: ConvolutionParameter.FuseType
    FUSED_CONV_ELTWISE_RELU: ConvolutionParameter.FuseType
    FUSED_CONV_PRELU: ConvolutionParameter.FuseType
    NUM_OUTPUT_FIELD_NUMBER: _ClassVar[int]
    BIAS_TERM_FIELD_NUMBER: _ClassVar[int]
    PAD_FIELD_NUMBER: _ClassVar[int]
    KERNEL_SIZE_FIELD_NUMBER: _ClassVar[int]
    GROUP_FIELD_NUMBER: _ClassVar[int]
    STRIDE_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_FILLER_FIELD_NUMBER: _ClassVar[int]
    BIAS_FILLER_FIELD_NUMBER: _ClassVar[int]
    PAD_H_FIELD_NUMBER: _ClassVar[int]
    PAD_W_FIELD_NUMBER: _ClassVar[int]
    KERNEL_H_FIELD_NUMBER: _ClassVar[int]
    KERNEL_W_FIELD_NUMBER: _ClassVar[int]
    STRIDE_H_FIELD_NUMBER: _ClassVar[int]
    STRIDE_W_FIELD_NUMBER: _ClassVar[int]
    ENGINE_FIELD_NUMBER: _ClassVar[int]
    AXIS_FIELD_NUMBER: _ClassVar[int]
    FORCE_ND_IM2COL_FIELD_NUMBER: _ClassVar[int]
    DILATION_FIELD_NUMBER: _ClassVar[int]
    PAD_TYPE_FIELD_NUMBER: _ClassVar[int]
    SHAPE_OFFSET_FIELD_NUMBER: _ClassVar[int]
    PAD_L_FIELD_NUMBER: _ClassVar[int]
    PAD_R_FIELD_NUMBER: _ClassVar[int]
    PAD_T_FIELD_NUMBER: _ClassVar[int]
    PAD_B_FIELD_NUMBER: _ClassVar[int]
    INPUT_SCALE_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_SCALE_FIELD_NUMBER: _ClassVar[int]
    SATURATE_FIELD_NUMBER: _ClassVar[int]
    KERNEL_DEPTH_FIELD_NUMBER: _ClassVar[int]
    TEMPORAL_STRIDE_FIELD_NUMBER: _ClassVar[int]
    FILTER_GROUP_FIELD_NUMBER: _ClassVar[int]
    TEMPORAL_PAD_FIELD_NUMBER: _ClassVar[int]
    HOLE_FIELD_NUMBER: _ClassVar[int]
    HOLE_H_FIELD_NUMBER: _ClassVar[int]
    HOLE_W_FIELD_NUMBER: _ClassVar[int]
    USE_LOG_FIELD_NUMBER: _ClassVar[int]
    RELU_FIELD_NUMBER: _ClassVar[int]
    NEGATIVE_SLOPE_FIELD_NUMBER: _ClassVar[int]
    CONV_ALGORITHM_FIELD_NUMBER: _ClassVar[int]
    COEFF_FIELD_NUMBER: _ClassVar[int]
    FUSION_TYPE_FIELD_NUMBER: _ClassVar[int]
    DILATION_H_FIELD_NUMBER: _ClassVar[int]
    DILATION_W_FIELD_NUMBER: _ClassVar[int]
    CUDNN_CONVOLUTION_ALGO_SEEKER_FIELD_NUMBER: _ClassVar[int]
    CONV_ALGOS_OVERRIDE_FIELD_NUMBER: _ClassVar[int]
    FUSE_TYPE_FIELD_NUMBER: _ClassVar[int]
    num_output: int
    bias_term: bool
    pad: _containers.RepeatedScalarFieldContainer[int]
    kernel_size: _containers.RepeatedScalarFieldContainer[int]
    group: int
    stride: _containers.RepeatedScalarFieldContainer[int]
    weight_filler: FillerParameter
    bias_filler: FillerParameter
    pad_h: int
    pad_w: int
    kernel_h: int
    kernel_w: int
    stride_h: int
    stride_w: int
    engine: ConvolutionParameter.Engine
    axis: int
    force_nd_im2col: bool
    dilation: _containers.RepeatedScalarFieldContainer[int]
    pad_type: int
    shape_offset: _containers.RepeatedScalarFieldContainer[int]
    pad_l: int
    pad_r: int
    pad_t: int
    pad_b: int
    input_scale: float
    output_scale: float
    saturate: ConvolutionParameter.SaturateMethod
    kernel_depth: int
    temporal_stride: int
    filter_group: int
    temporal_pad: int
    hole: _containers.RepeatedScalarFieldContainer[int]
    hole_h: int
    hole_w: int
    use_log: bool
    relu: bool
    negative_slope: float
    conv_algorithm: str
    coeff: _containers.RepeatedScalarFieldContainer[float]
    fusion_type: ConvolutionParameter.FusionType
    dilation_h: int
    dilation_w: int
    cudnn_convolution_algo_seeker: ConvolutionParameter.CuDNNConvolutionAlgorithmSeeker
    conv_algos_override: str
    fuse_type: ConvolutionParameter.FuseType
    def __init__(self, num_output: _Optional[int] = ..., bias_term: _Optional[bool] = ..., pad: _Optional[_Iterable[int]] = ..., kernel_size: _Optional[_Iterable[int]] = ..., group: _Optional[int] = ..., stride: _Optional[_Iterable[int]] = ..., weight_filler: _Optional[_Union[FillerParameter, _Mapping]] = ..., bias_filler: _Optional[_Union[FillerParameter, _Mapping]] = ..., pad_h: _Optional[int] = ..., pad_w: _Optional[int] = ..., kernel_h: _Optional[int] = ..., kernel_w: _Optional[int] = ..., stride_h: _Optional[int] = ..., stride_w: _Optional[int] = ..., engine: _Optional[_Union[ConvolutionParameter.Engine, str]] = ..., axis: _Optional[int] = ..., force_nd_im2col: _Optional[bool] = ..., dilation: _Optional[_Iterable[int]] = ..., pad_type: _Optional[int] = ..., shape_offset: _Optional[_Iterable[int]] = ..., pad_l: _Optional[int] = ..., pad_r: _Optional[int] = ..., pad_t: _Optional[int] = ..., pad_b: _Optional[int] = ..., input_scale: _Optional[float] = ..., output_scale: _Optional[float] = ..., saturate: _Optional[_Union[ConvolutionParameter.SaturateMethod, str]] = ..., kernel_depth: _Optional[int] = ..., temporal_stride: _Optional[int] = ..., filter_group: _Optional[int] = ..., temporal_pad: _Optional[int] = ..., hole: _Optional[_Iterable[int]] = ..., hole_h: _Optional[int] = ..., hole_w: _Optional[int] = ..., use_log: _Optional[bool] = ..., relu: _Optional[bool] = ..., negative_slope: _Optional[float] = ..., conv_algorithm: _Optional[str] = ..., coeff: _Optional[_Iterable[float]] = ..., fusion_type: _Optional[_Union[ConvolutionParameter.FusionType, str]] = ..., dilation_h: _Optional[int] = ..., dilation_w: _Optional[int] = ..., cudnn_convolution_algo_seeker: _Optional[_Union[ConvolutionParameter.CuDNNConvolutionAlgorithmSeeker, str]] = ..., conv_algos_override: _Optional[str] = ..., fuse_type: _Optional[_Union[ConvolutionParameter.FuseType, str]] = ...) -> None: ...

class CropParameter(_message.Message):
    __slots__ = ("axis", "offset")
    AXIS_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    axis: int
    offset: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, axis: _Optional[int] = ..., offset: _Optional[_Iterable[int]] = ...) -> None: ...

class DataParameter(_message.Message):
    __slots__ = ("source", "scale", "mean_file", "batch_size", "crop_size", "mirror", "rand_skip", "backend", "force_encoded_color", "prefetch", "shared_file_system", "show_data", "random_order", "init_seed", "shuffle_pool_size", "preselection_file", "preselection_label", "range_start", "range_end", "rand_permute", "rand_permute_order", "rand_permute_seed", "slice_point", "encoding", "verbose", "subtract", "permute_every_iter", "block_size", "disk_reader_threads", "huge_video_dataset", "limit_samples", "shuffle", "side", "threads", "parser_threads", "cache", "precache", "task_class_num")
    class DB(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        LEVELDB: _ClassVar[DataParameter.DB]
        LMDB: _ClassVar[DataParameter.DB]
    LEVELDB: DataParameter.DB
    LMDB: DataParameter.DB
    class CHANNELENCODING(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        UINT8: _ClassVar[DataParameter.CHANNELENCODING]
        UINT16FLOW: _ClassVar[DataParameter.CHANNELENCODING]
        BOOL1: _ClassVar[DataParameter.CHANNELENCODING]
    UINT8: DataParameter.CHANNELENCODING
    UINT16FLOW: DataParameter.CHANNELENCODING
    BOOL1: DataParameter.CHANNELENCODING
    class RANDPERMORDER(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        FIRST_PERMUTE_THEN_RANGE: _ClassVar[DataParameter.RANDPERMORDER]
        FIRST_RANGE_THEN_PERMUTE: _ClassVar[DataParameter.RANDPERMORDER]
    FIRST_PERMUTE_THEN_RANGE: DataParameter.RANDPERMORDER
    FIRST_RANGE_THEN_PERMUTE: DataParameter.RANDPERMORDER
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    SCALE_FIELD_NUMBER: _ClassVar[int]
    MEAN_FILE_FIELD_NUMBER: _ClassVar[int]
    BATCH_SIZE_FIELD_NUMBER: _ClassVar[int]
    CROP_SIZE_FIELD_NUMBER: _ClassVar[int]
    MIRROR_FIELD_NUMBER: _ClassVar[int]
    RAND_SKIP_FIELD_NUMBER: _ClassVar[int]
    BACKEND_FIELD_NUMBER: _ClassVar[int]
    FORCE_ENCODED_COLOR_FIELD_NUMBER: _ClassVar[int]
    PREFETCH_FIELD_NUMBER: _ClassVar[int]
    SHARED_FILE_SYSTEM_FIELD_NUMBER: _ClassVar[int]
    SHOW_DATA_FIELD_NUMBER: _ClassVar[int]
    RANDOM_ORDER_FIELD_NUMBER: _ClassVar[int]
    INIT_SEED_FIELD_NUMBER: _ClassVar[int]
    SHUFFLE_POOL_SIZE_FIELD_NUMBER: _ClassVar[int]
    PRESELECTION_FILE_FIELD_NUMBER: _ClassVar[int]
    PRESELECTION_LABEL_FIELD_NUMBER: _ClassVar[int]
    RANGE_START_FIELD_NUMBER: _ClassVar[int]
    RANGE_END_FIELD_NUMBER: _ClassVar[int]
    RAND_PERMUTE_FIELD_NUMBER: _ClassVar[int]
    RAND_PERMUTE_ORDER_FIELD_NUMBER: _ClassVar[int]
    RAND_PERMUTE_SEED_FIELD_NUMBER: _ClassVar[int]
    SLICE_POINT_FIELD_NUMBER: _ClassVar[int]
    ENCODING_FIELD_NUMBER: _ClassVar[int]
    VERBOSE_FIELD_NUMBER: _ClassVar[int]
    SUBTRACT_FIELD_NUMBER: _ClassVar[int]
    PERMUTE_EVERY_ITER_FIELD_NUMBER: _ClassVar[int]
    BLOCK_SIZE_FIELD_NUMBER: _ClassVar[int]
    DISK_READER_THREADS_FIELD_NUMBER: _ClassVar[int]
    HUGE_VIDEO_DATASET_FIELD_NUMBER: _ClassVar[int]
    LIMIT_SAMPLES_FIELD_NUMBER: _ClassVar[int]
    SHUFFLE_FIELD_NUMBER: _ClassVar[int]
    SIDE_FIELD_NUMBER: _ClassVar[int]
    THREADS_FIELD_NUMBER: _ClassVar[int]
    PARSER_THREADS_FIELD_NUMBER: _ClassVar[int]
    CACHE_FIELD_NUMBER: _ClassVar[int]
    PRECACHE_FIELD_NUMBER: _ClassVar[int]
    TASK_CLASS_NUM_FIELD_NUMBER: _ClassVar[int]
    source: str
    scale: float
    mean_file: str
    batch_size: int
    crop_size: int
    mirror: bool
    rand_skip: int
    backend: DataParameter.DB
    force_encoded_color: bool
    prefetch: int
    shared_file_system: bool
    show_data: int
    random_order: bool
    init_seed: int
    shuffle_pool_size: int
    preselection_file: str
    preselection_label: int
    range_start: int
    range_end: int
    rand_permute: bool
    rand_permute_order: DataParameter.RANDPERMORDER
    rand_permute_seed: int
    slice_point: _containers.RepeatedScalarFieldContainer[int]
    encoding: _containers.RepeatedScalarFieldContainer[DataParameter.CHANNELENCODING]
    verbose: bool
    subtract: _containers.RepeatedScalarFieldContainer[float]
    permute_every_iter: int
    block_size: int
    disk_reader_threads: int
    huge_video_dataset: bool
    limit_samples: int
    shuffle: bool
    side: _containers.RepeatedScalarFieldContainer[int]
    threads: int
    parser_threads: int
    cache: bool
    precache: bool
    task_class_num: int
    def __init__(self, source: _Optional[str] = ..., scale: _Optional[float] = ..., mean_file: _Optional[str] = ..., batch_size: _Optional[int] = ..., crop_size: _Optional[int] = ..., mirror: _Optional[bool] = ..., rand_skip: _Optional[int] = ..., backend: _Optional[_Union[DataParameter.DB, str]] = ..., force_encoded_color: _Optional[bool] = ..., prefetch: _Optional[int] = ..., shared_file_system: _Optional[bool] = ..., show_data: _Optional[int] = ..., random_order: _Optional[bool] = ..., init_seed: _Optional[int] = ..., shuffle_pool_size: _Optional[int] = ..., preselection_file: _Optional[str] = ..., preselection_label: _Optional[int] = ..., range_start: _Optional[int] = ..., range_end: _Optional[int] = ..., rand_permute: _Optional[bool] = ..., rand_permute_order: _Optional[_Union[DataParameter.RANDPERMORDER, str]] = ..., rand_permute_seed: _Optional[int] = ..., slice_point: _Optional[_Iterable[int]] = ..., encoding: _Optional[_Iterable[_Union[DataParameter.CHANNELENCODING, str]]] = ..., verbose: _Optional[bool] = ..., subtract: _Optional[_Iterable[float]] = ..., permute_every_iter: _Optional[int] = ..., block_size: _Optional[int] = ..., disk_reader_threads: _Optional[int] = ..., huge_video_dataset: _Optional[bool] = ..., limit_samples: _Optional[int] = ..., shuffle: _Optional[bool] = ..., side: _Optional[_Iterable[int]] = ..., threads: _Optional[int] = ..., parser_threads: _Optional[int] = ..., cache: _Optional[bool] = ..., precache: _Optional[bool] = ..., task_class_num: _Optional[int] = ...) -> None: ...

class DropoutParameter(_message.Message):
    __slots__ = ("dropout_ratio", "scale_train", "test_enabled", "sqrt_scale", "engine", "random_seed", "sample_weights_test")
    class Engine(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        DEFAULT: _ClassVar[DropoutParameter.Engine]
        CAFFE: _ClassVar[DropoutParameter.Engine]
        CUDNN: _ClassVar[DropoutParameter.Engine]
    DEFAULT: DropoutParameter.Engine
    CAFFE: DropoutParameter.Engine
    CUDNN: DropoutParameter.Engine
    DROPOUT_RATIO_FIELD_NUMBER: _ClassVar[int]
    SCALE_TRAIN_FIELD_NUMBER: _ClassVar[int]
    TEST_ENABLED_FIELD_NUMBER: _ClassVar[int]
    SQRT_SCALE_FIELD_NUMBER: _ClassVar[int]
    ENGINE_FIELD_NUMBER: _ClassVar[int]
    RANDOM_SEED_FIELD_NUMBER: _ClassVar[int]
    SAMPLE_WEIGHTS_TEST_FIELD_NUMBER: _ClassVar[int]
    dropout_ratio: float
    scale_train: bool
    test_enabled: bool
    sqrt_scale: bool
    engine: DropoutParameter.Engine
    random_seed: int
    sample_weights_test: bool
    def __init__(self, dropout_ratio: _Optional[float] = ..., scale_train: _Optional[bool] = ..., test_enabled: _Optional[bool] = ..., sqrt_scale: _Optional[bool] = ..., engine: _Optional[_Union[DropoutParameter.Engine, str]] = ..., random_seed: _Optional[int] = ..., sample_weights_test: _Optional[bool] = ...) -> None: ...

class DummyDataParameter(_message.Message):
    __slots__ = ("data_filler", "num", "channels", "height", "width", "shape")
    DATA_FILLER_FIELD_NUMBER: _ClassVar[int]
    NUM_FIELD_NUMBER: _ClassVar[int]
    CHANNELS_FIELD_NUMBER: _ClassVar[int]
    HEIGHT_FIELD_NUMBER: _ClassVar[int]
    WIDTH_FIELD_NUMBER: _ClassVar[int]
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    data_filler: _containers.RepeatedCompositeFieldContainer[FillerParameter]
    num: _containers.RepeatedScalarFieldContainer[int]
    channels: _containers.RepeatedScalarFieldContainer[int]
    height: _containers.RepeatedScalarFieldContainer[int]
    width: _containers.RepeatedScalarFieldContainer[int]
    shape: _containers.RepeatedCompositeFieldContainer[BlobShape]
    def __init__(self, data_filler: _Optional[_Iterable[_Union[FillerParameter, _Mapping]]] = ..., num: _Optional[_Iterable[int]] = ..., channels: _Optional[_Iterable[int]] = ..., height: _Optional[_Iterable[int]] = ..., width: _Optional[_Iterable[int]] = ..., shape: _Optional[_Iterable[_Union[BlobShape, _Mapping]]] = ...) -> None: ...

class EltwiseParameter(_message.Message):
    __slots__ = ("operation", "coeff", "stable_prod_grad", "output_scale", "saturate", "axis", "engine")
    class EltwiseOp(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        PROD: _ClassVar[EltwiseParameter.EltwiseOp]
        SUM: _ClassVar[EltwiseParameter.EltwiseOp]
        MAX: _ClassVar[EltwiseParameter.EltwiseOp]
        DIV: _ClassVar[EltwiseParameter.EltwiseOp]
        MIN: _ClassVar[EltwiseParameter.EltwiseOp]
        SORT: _ClassVar[EltwiseParameter.EltwiseOp]
        STOCHASTIC_SUM: _ClassVar[EltwiseParameter.EltwiseOp]
    PROD: EltwiseParameter.EltwiseOp
    SUM: EltwiseParameter.EltwiseOp
    MAX: EltwiseParameter.EltwiseOp
    DIV: EltwiseParameter.EltwiseOp
    MIN: EltwiseParameter.EltwiseOp
    SORT: EltwiseParameter.EltwiseOp
    STOCHASTIC_SUM: EltwiseParameter.EltwiseOp
    class SaturateMethod(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        Signed: _ClassVar[EltwiseParameter.SaturateMethod]
        Unsigned: _ClassVar[EltwiseParameter.SaturateMethod]
        Signed_8bit: _ClassVar[EltwiseParameter.SaturateMethod]
        Unsigned_8bit: _ClassVar[EltwiseParameter.SaturateMethod]
    Signed: EltwiseParameter.SaturateMethod
    Unsigned: EltwiseParameter.SaturateMethod
    Signed_8bit: EltwiseParameter.SaturateMethod
    Unsigned_8bit: EltwiseParameter.SaturateMethod
    class Engine(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        DEFAULT: _ClassVar[EltwiseParameter.Engine]
        CAFFE: _ClassVar[EltwiseParameter.Engine]
        CUDNN: _ClassVar[EltwiseParameter.Engine]
        MKL2017: _ClassVar[EltwiseParameter.Engine]
        MKLDNN: _ClassVar[EltwiseParameter.Engine]
    DEFAULT: EltwiseParameter.Engine
    CAFFE: EltwiseParameter.Engine
    CUDNN: EltwiseParameter.Engine
    MKL2017: EltwiseParameter.Engine
    MKLDNN: EltwiseParameter.Engine
    OPERATION_FIELD_NUMBER: _ClassVar[int]
    COEFF_FIELD_NUMBER: _ClassVar[int]
    STABLE_PROD_GRAD_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_SCALE_FIELD_NUMBER: _ClassVar[int]
    SATURATE_FIELD_NUMBER: _ClassVar[int]
    AXIS_FIELD_NUMBER: _ClassVar[int]
    ENGINE_FIELD_NUMBER: _ClassVar[int]
    operation: EltwiseParameter.EltwiseOp
    coeff: _containers.RepeatedScalarFieldContainer[float]
    stable_prod_grad: bool
    output_scale: float
    saturate: EltwiseParameter.SaturateMethod
    axis: int
    engine: EltwiseParameter.Engine
    def __init__(self, operation: _Optional[_Union[EltwiseParameter.EltwiseOp, str]] = ..., coeff: _Optional[_Iterable[float]] = ..., stable_prod_grad: _Optional[bool] = ..., output_scale: _Optional[float] = ..., saturate: _Optional[_Union[EltwiseParameter.SaturateMethod, str]] = ..., axis: _Optional[int] = ..., engine: _Optional[_Union[EltwiseParameter.Engine, str]] = ...) -> None: ...

class ELUParameter(_message.Message):
    __slots__ = ("alpha",)
    ALPHA_FIELD_NUMBER: _ClassVar[int]
    LAMBDA_FIELD_NUMBER: _ClassVar[int]
    alpha: float
    def __init__(self, alpha: _Optional[float] = ..., **kwargs: object) -> None: ...

class EmbedParameter(_message.Message):
    __slots__ = ("num_output", "input_dim", "bias_term", "weight_filler", "bias_filler")
    NUM_OUTPUT_FIELD_NUMBER: _ClassVar[int]
    INPUT_DIM_FIELD_NUMBER: _ClassVar[int]
    BIAS_TERM_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_FILLER_FIELD_NUMBER: _ClassVar[int]
    BIAS_FILLER_FIELD_NUMBER: _ClassVar[int]
    num_output: int
    input_dim: int
    bias_term: bool
    weight_filler: FillerParameter
    bias_filler: FillerParameter
    def __init__(self, num_output: _Optional[int] = ..., input_dim: _Optional[int] = ..., bias_term: _Optional[bool] = ..., weight_filler: _Optional[_Union[FillerParameter, _Mapping]] = ..., bias_filler: _Optional[_Union[FillerParameter, _Mapping]] = ...) -> None: ...

class ExpParameter(_message.Message):
    __slots__ = ("base", "scale", "shift")
    BASE_FIELD_NUMBER: _ClassVar[int]
    SCALE_FIELD_NUMBER: _ClassVar[int]
    SHIFT_FIELD_NUMBER: _ClassVar[int]
    base: float
    scale: float
    shift: float
    def __init__(self, base: _Optional[float] = ..., scale: _Optional[float] = ..., shift: _Optional[float] = ...) -> None: ...

class FlattenParameter(_message.Message):
    __slots__ = ("axis", "end_axis")
    AXIS_FIELD_NUMBER: _ClassVar[int]
    END_AXIS_FIELD_NUMBER: _ClassVar[int]
    axis: int
    end_axis: int
    def __init__(self, axis: _Optional[int] = ..., end_axis: _Optional[int] = ...) -> None: ...

class HDF5DataParameter(_message.Message):
    __slots__ = ("source", "batch_size", "shuffle")
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    BATCH_SIZE_FIELD_NUMBER: _ClassVar[int]
    SHUFFLE_FIELD_NUMBER: _ClassVar[int]
    source: str
    batch_size: int
    shuffle: bool
    def __init__(self, source: _Optional[str] = ..., batch_size: _Optional[int] = ..., shuffle: _Optional[bool] = ...) -> None: ...

class HDF5OutputParameter(_message.Message):
    __slots__ = ("file_name",)
    FILE_NAME_FIELD_NUMBER: _ClassVar[int]
    file_name: str
    def __init__(self, file_name: _Optional[str] = ...) -> None: ...

class HingeLossParameter(_message.Message):
    __slots__ = ("norm",)
    class Norm(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        L1: _ClassVar[HingeLossParameter.Norm]
        L2: _ClassVar[HingeLossParameter.Norm]
    L1: HingeLossParameter.Norm
    L2: HingeLossParameter.Norm
    NORM_FIELD_NUMBER: _ClassVar[int]
    norm: HingeLossParameter.Norm
    def __init__(self, norm: _Optional[_Union[HingeLossParameter.Norm, str]] = ...) -> None: ...

class ImageDataParameter(_message.Message):
    __slots__ = ("source", "scale", "mean_file", "batch_size", "crop_size", "mirror", "rand_skip", "shuffle", "new_height", "new_width", "is_color", "root_folder", "shared_file_system", "new_length", "show_data", "use_image", "sampling_rate", "use_label", "use_temporal_jitter", "mean_value", "num_truth_channels", "use_byte_input", "is_flow", "truth_scale", "clip_min", "clip_max", "ignore_label", "has_label", "max_labels", "other_object_label", "face_transform", "max_shear_ratio", "max_aspect_ratio", "max_rotate_angle", "min_random_scale", "max_random_scale", "max_random_shift", "face_mirror", "face_point_num", "balance_class", "balance_by", "label_cut_start", "label_cut_end", "min_height", "min_width", "short_side", "threads", "cache", "precache", "dataset_share_per_node", "task_class_num", "regression", "bicubic", "new_dim", "label_type", "normalize")
    class LabelType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        NONE: _ClassVar[ImageDataParameter.LabelType]
        IMAGE: _ClassVar[ImageDataParameter.LabelType]
        PIXEL: _ClassVar[ImageDataParameter.LabelType]
    NONE: ImageDataParameter.LabelType
    IMAGE: ImageDataParameter.LabelType
    PIXEL: ImageDataParameter.LabelType
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    SCALE_FIELD_NUMBER: _ClassVar[int]
    MEAN_FILE_FIELD_NUMBER: _ClassVar[int]
    BATCH_SIZE_FIELD_NUMBER: _ClassVar[int]
    CROP_SIZE_FIELD_NUMBER: _ClassVar[int]
    MIRROR_FIELD_NUMBER: _ClassVar[int]
    RAND_SKIP_FIELD_NUMBER: _ClassVar[int]
    SHUFFLE_FIELD_NUMBER: _ClassVar[int]
    NEW_HEIGHT_FIELD_NUMBER: _ClassVar[int]
    NEW_WIDTH_FIELD_NUMBER: _ClassVar[int]
    IS_COLOR_FIELD_NUMBER: _ClassVar[int]
    ROOT_FOLDER_FIELD_NUMBER: _ClassVar[int]
    SHARED_FILE_SYSTEM_FIELD_NUMBER: _ClassVar[int]
    NEW_LENGTH_FIELD_NUMBER: _ClassVar[int]
    SHOW_DATA_FIELD_NUMBER: _ClassVar[int]
    USE_IMAGE_FIELD_NUMBER: _ClassVar[int]
    SAMPLING_RATE_FIELD_NUMBER: _ClassVar[int]
    USE_LABEL_FIELD_NUMBER: _ClassVar[int]
    USE_TEMPORAL_JITTER_FIELD_NUMBER: _ClassVar[int]
    MEAN_VALUE_FIELD_NUMBER: _ClassVar[int]
    NUM_TRUTH_CHANNELS_FIELD_NUMBER: _ClassVar[int]
    USE_BYTE_INPUT_FIELD_NUMBER: _ClassVar[int]
    IS_FLOW_FIELD_NUMBER: _ClassVar[int]
    TRUTH_SCALE_FIELD_NUMBER: _ClassVar[int]
    CLIP_MIN_FIELD_NUMBER: _ClassVar[int]
    CLIP_MAX_FIELD_NUMBER: _ClassVar[int]
    IGNORE_LABEL_FIELD_NUMBER: _ClassVar[int]
    HAS_LABEL_FIELD_NUMBER: _ClassVar[int]
    MAX_LABELS_FIELD_NUMBER: _ClassVar[int]
    OTHER_OBJECT_LABEL_FIELD_NUMBER: _ClassVar[int]
    FACE_TRANSFORM_FIELD_NUMBER: _ClassVar[int]
    MAX_SHEAR_RATIO_FIELD_NUMBER: _ClassVar[int]
    MAX_ASPECT_RATIO_FIELD_NUMBER: _ClassVar[int]
    MAX_ROTATE_ANGLE_FIELD_NUMBER: _ClassVar[int]
    MIN_RANDOM_SCALE_FIELD_NUMBER: _ClassVar[int]
    MAX_RANDOM_SCALE_FIELD_NUMBER: _ClassVar[int]
    MAX_RANDOM_SHIFT_FIELD_NUMBER: _ClassVar[int]
    FACE_MIRROR_FIELD_NUMBER: _ClassVar[int]
    FACE_POINT_NUM_FIELD_NUMBER: _ClassVar[int]
    BALANCE_CLASS_FIELD_NUMBER: _ClassVar[int]
    BALANCE_BY_FIELD_NUMBER: _ClassVar[int]
    LABEL_CUT_START_FIELD_NUMBER: _ClassVar[int]
    LABEL_CUT_END_FIELD_NUMBER: _ClassVar[int]
    MIN_HEIGHT_FIELD_NUMBER: _ClassVar[int]
    MIN_WIDTH_FIELD_NUMBER: _ClassVar[int]
    SHORT_SIDE_FIELD_NUMBER: _ClassVar[int]
    THREADS_FIELD_NUMBER: _ClassVar[int]
    CACHE_FIELD_NUMBER: _ClassVar[int]
    PRECACHE_FIELD_NUMBER: _ClassVar[int]
    DATASET_SHARE_PER_NODE_FIELD_NUMBER: _ClassVar[int]
    TASK_CLASS_NUM_FIELD_NUMBER: _ClassVar[int]
    REGRESSION_FIELD_NUMBER: _ClassVar[int]
    BICUBIC_FIELD_NUMBER: _ClassVar[int]
    NEW_DIM_FIELD_NUMBER: _ClassVar[int]
    LABEL_TYPE_FIELD_NUMBER: _ClassVar[int]
    NORMALIZE_FIELD_NUMBER: _ClassVar[int]
    source: str
    scale: float
    mean_file: str
    batch_size: int
    crop_size: int
    mirror: bool
    rand_skip: int
    shuffle: bool
    new_height: int
    new_width: int
    is_color: bool
    root_folder: str
    shared_file_system: bool
    new_length: int
    show_data: int
    use_image: bool
    sampling_rate: int
    use_label: bool
    use_temporal_jitter: bool
    mean_value: float
    num_truth_channels: int
    use_byte_input: bool
    is_flow: bool
    truth_scale: float
    clip_min: float
    clip_max: float
    ignore_label: int
    has_label: bool
    max_labels: int
    other_object_label: int
    face_transform: bool
    max_shear_ratio: float
    max_aspect_ratio: float
    max_rotate_angle: float
    min_random_scale: float
    max_random_scale: float
    max_random_shift: float
    face_mirror: bool
    face_point_num: int
    balance_class: bool
    balance_by: int
    label_cut_start: int
    label_cut_end: int
    min_height: int
    min_width: int
    short_side: int
    threads: int
    cache: bool
    precache: bool
    dataset_share_per_node: float
    task_class_num: int
    regression: bool
    bicubic: bool
    new_dim: int
    label_type: ImageDataParameter.LabelType
    normalize: bool
    def __init__(self, source: _Optional[str] = ..., scale: _Optional[float] = ..., mean_file: _Optional[str] = ..., batch_size: _Optional[int] = ..., crop_size: _Optional[int] = ..., mirror: _Optional[bool] = ..., rand_skip: _Optional[int] = ..., shuffle: _Optional[bool] = ..., new_height: _Optional[int] = ..., new_width: _Optional[int] = ..., is_color: _Optional[bool] = ..., root_folder: _Optional[str] = ..., shared_file_system: _Optional[bool] = ..., new_length: _Optional[int] = ..., show_data: _Optional[int] = ..., use_image: _Optional[bool] = ..., sampling_rate: _Optional[int] = ..., use_label: _Optional[bool] = ..., use_temporal_jitter: _Optional[bool] = ..., mean_value: _Optional[float] = ..., num_truth_channels: _Optional[int] = ..., use_byte_input: _Optional[bool] = ..., is_flow: _Optional[bool] = ..., truth_scale: _Optional[float] = ..., clip_min: _Optional[float] = ..., clip_max: _Optional[float] = ..., ignore_label: _Optional[int] = ..., has_label: _Optional[bool] = ..., max_labels: _Optional[int] = ..., other_object_label: _Optional[int] = ..., face_transform: _Optional[bool] = ..., max_shear_ratio: _Optional[float] = ..., max_aspect_ratio: _Optional[float] = ..., max_rotate_angle: _Optional[float] = ..., min_random_scale: _Optional[float] = ..., max_random_scale: _Optional[float] = ..., max_random_shift: _Optional[float] = ..., face_mirror: _Optional[bool] = ..., face_point_num: _Optional[int] = ..., balance_class: _Optional[bool] = ..., balance_by: _Optional[int] = ..., label_cut_start: _Optional[int] = ..., label_cut_end: _Optional[int] = ..., min_height: _Optional[int] = ..., min_width: _Optional[int] = ..., short_side: _Optional[int] = ..., threads: _Optional[int] = ..., cache: _Optional[bool] = ..., precache: _Optional[bool] = ..., dataset_share_per_node: _Optional[float] = ..., task_class_num: _Optional[int] = ..., regression: _Optional[bool] = ..., bicubic: _Optional[bool] = ..., new_dim: _Optional[int] = ..., label_type: _Optional[_Union[ImageDataParameter.LabelType, str]] = ..., normalize: _Optional[bool] = ...) -> None: ...

class InfogainLossParameter(_message.Message):
    __slots__ = ("source", "axis")
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    AXIS_FIELD_NUMBER: _ClassVar[int]
    source: str
    axis: int
    def __init__(self, source: _Optional[str] = ..., axis: _Optional[int] = ...) -> None: ...

class InnerProductParameter(_message.Message):
    __slots__ = ("num_output", "bias_term", "weight_filler", "bias_filler", "axis", "transpose", "output_scale", "normalize", "engine", "relu", "negative_slope")
    class Engine(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        DEFAULT: _ClassVar[InnerProductParameter.Engine]
        CAFFE: _ClassVar[InnerProductParameter.Engine]
        CUDNN: _ClassVar[InnerProductParameter.Engine]
        MKL2017: _ClassVar[InnerProductParameter.Engine]
        MKLDNN: _ClassVar[InnerProductParameter.Engine]
    DEFAULT: InnerProductParameter.Engine
    CAFFE: InnerProductParameter.Engine
    CUDNN: InnerProductParameter.Engine
    MKL2017: InnerProductParameter.Engine
    MKLDNN: InnerProductParameter.Engine
    NUM_OUTPUT_FIELD_NUMBER: _ClassVar[int]
    BIAS_TERM_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_FILLER_FIELD_NUMBER: _ClassVar[int]
    BIAS_FILLER_FIELD_NUMBER: _ClassVar[int]
    AXIS_FIELD_NUMBER: _ClassVar[int]
    TRANSPOSE_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_SCALE_FIELD_NUMBER: _ClassVar[int]
    NORMALIZE_FIELD_NUMBER: _ClassVar[int]
    ENGINE_FIELD_NUMBER: _ClassVar[int]
    RELU_FIELD_NUMBER: _ClassVar[int]
    NEGATIVE_SLOPE_FIELD_NUMBER: _ClassVar[int]
    num_output: int
    bias_term: bool
    weight_filler: FillerParameter
    bias_filler: FillerParameter
    axis: int
    transpose: bool
    output_scale: float
    normalize: bool
    engine: InnerProductParameter.Engine
    relu: bool
    negative_slope: float
    def __init__(self, num_output: _Optional[int] = ..., bias_term: _Optional[bool] = ..., weight_filler: _Optional[_Union[FillerParameter, _Mapping]] = ..., bias_filler: _Optional[_Union[FillerParameter, _Mapping]] = ..., axis: _Optional[int] = ..., transpose: _Optional[bool] = ..., output_scale: _Optional[float] = ..., normalize: _Optional[bool] = ..., engine: _Optional[_Union[InnerProductParameter.Engine, str]] = ..., relu: _Optional[bool] = ..., negative_slope: _Optional[float] = ...) -> None: ...

class InputParameter(_message.Message):
    __slots__ = ("shape",)
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    shape: _containers.RepeatedCompositeFieldContainer[BlobShape]
    def __init__(self, shape: _Optional[_Iterable[_Union[BlobShape, _Mapping]]] = ...) -> None: ...

class LogParameter(_message.Message):
    __slots__ = ("base", "scale", "shift")
    BASE_FIELD_NUMBER: _ClassVar[int]
    SCALE_FIELD_NUMBER: _ClassVar[int]
    SHIFT_FIELD_NUMBER: _ClassVar[int]
    base: float
    scale: float
    shift: float
    def __init__(self, base: _Optional[float] = ..., scale: _Optional[float] = ..., shift: _Optional[float] = ...) -> None: ...

class LRNParameter(_message.Message):
    __slots__ = ("local_size", "alpha", "beta", "norm_region", "k", "engine", "fuse_type", "pooling_param")
    class NormRegion(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        ACROSS_CHANNELS: _ClassVar[LRNParameter.NormRegion]
        WITHIN_CHANNEL: _ClassVar[LRNParameter.NormRegion]
    ACROSS_CHANNELS: LRNParameter.NormRegion
    WITHIN_CHANNEL: LRNParameter.NormRegion
    class Engine(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        DEFAULT: _ClassVar[LRNParameter.Engine]
        CAFFE: _ClassVar[LRNParameter.Engine]
        CUDNN: _ClassVar[LRNParameter.Engine]
        MKL2017: _ClassVar[LRNParameter.Engine]
        MKLDNN: _ClassVar[LRNParameter.Engine]
    DEFAULT: LRNParameter.Engine
    CAFFE: LRNParameter.Engine
    CUDNN: LRNParameter.Engine
    MKL2017: LRNParameter.Engine
    MKLDNN: LRNParameter.Engine
    class FuseType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        UNFUSED: _ClassVar[LRNParameter.FuseType]
        FUSED_POOL_MAX: _ClassVar[LRNParameter.FuseType]
    UNFUSED: LRNParameter.FuseType
    FUSED_POOL_MAX: LRNParameter.FuseType
    LOCAL_SIZE_FIELD_NUMBER: _ClassVar[int]
    ALPHA_FIELD_NUMBER: _ClassVar[int]
    BETA_FIELD_NUMBER: _ClassVar[int]
    NORM_REGION_FIELD_NUMBER: _ClassVar[int]
    K_FIELD_NUMBER: _ClassVar[int]
    ENGINE_FIELD_NUMBER: _ClassVar[int]
    FUSE_TYPE_FIELD_NUMBER: _ClassVar[int]
    POOLING_PARAM_FIELD_NUMBER: _ClassVar[int]
    local_size: int
    alpha: float
    beta: float
    norm_region: LRNParameter.NormRegion
    k: float
    engine: LRNParameter.Engine
    fuse_type: LRNParameter.FuseType
    pooling_param: PoolingParameter
    def __init__(self, local_size: _Optional[int] = ..., alpha: _Optional[float] = ..., beta: _Optional[float] = ..., norm_region: _Optional[_Union[LRNParameter.NormRegion, str]] = ..., k: _Optional[float] = ..., engine: _Optional[_Union[LRNParameter.Engine, str]] = ..., fuse_type: _Optional[_Union[LRNParameter.FuseType, str]] = ..., pooling_param: _Optional[_Union[PoolingParameter, _Mapping]] = ...) -> None: ...

class MemoryDataParameter(_message.Message):
    __slots__ = ("batch_size", "channels", "height", "width", "transpose", "label_size", "dim")
    BATCH_SIZE_FIELD_NUMBER: _ClassVar[int]
    CHANNELS_FIELD_NUMBER: _ClassVar[int]
    HEIGHT_FIELD_NUMBER: _ClassVar[int]
    WIDTH_FIELD_NUMBER: _ClassVar[int]
    TRANSPOSE_FIELD_NUMBER: _ClassVar[int]
    LABEL_SIZE_FIELD_NUMBER: _ClassVar[int]
    DIM_FIELD_NUMBER: _ClassVar[int]
    batch_size: int
    channels: int
    height: int
    width: int
    transpose: bool
    label_size: int
    dim: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, batch_size: _Optional[int] = ..., channels: _Optional[int] = ..., height: _Optional[int] = ..., width: _Optional[int] = ..., transpose: _Optional[bool] = ..., label_size: _Optional[int] = ..., dim: _Optional[_Iterable[int]] = ...) -> None: ...

class MVNParameter(_message.Message):
    __slots__ = ("normalize_variance", "across_channels", "eps", "add_eps_before_sqrt")
    NORMALIZE_VARIANCE_FIELD_NUMBER: _ClassVar[int]
    ACROSS_CHANNELS_FIELD_NUMBER: _ClassVar[int]
    EPS_FIELD_NUMBER: _ClassVar[int]
    ADD_EPS_BEFORE_SQRT_FIELD_NUMBER: _ClassVar[int]
    normalize_variance: bool
    across_channels: bool
    eps: float
    add_eps_before_sqrt: bool
    def __init__(self, normalize_variance: _Optional[bool] = ..., across_channels: _Optional[bool] = ..., eps: _Optional[float] = ..., add_eps_before_sqrt: _Optional[bool] = ...) -> None: ...

class ParameterParameter(_message.Message):
    __slots__ = ("shape", "blob_filler", "filler", "norm_axis")
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    BLOB_FILLER_FIELD_NUMBER: _ClassVar[int]
    FILLER_FIELD_NUMBER: _ClassVar[int]
    NORM_AXIS_FIELD_NUMBER: _ClassVar[int]
    shape: BlobShape
    blob_filler: FillerParameter
    filler: FillerParameter
    norm_axis: int
    def __init__(self, shape: _Optional[_Union[BlobShape, _Mapping]] = ..., blob_filler: _Optional[_Union[FillerParameter, _Mapping]] = ..., filler: _Optional[_Union[FillerParameter, _Mapping]] = ..., norm_axis: _Optional[int] = ...) -> None: ...

class PoolingParameter(_message.Message):
    __slots__ = ("pool", "kernel_size", "stride", "pad", "kernel_h", "kernel_w", "stride_h", "stride_w", "pad_h", "pad_w", "engine", "global_pooling", "round_mode", "pad_type", "ceil_mode", "pad_l", "pad_r", "pad_t", "pad_b", "output_shift_instead_division", "saturate", "kernel_depth", "temporal_stride", "blobs_lr", "blobs_a_min", "avg_include_pad", "axis", "pad_3d", "kernel_size_3d", "stride_3d", "torch_pooling", "dilation")
    class PoolMethod(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        MAX: _ClassVar[PoolingParameter.PoolMethod]
        AVE: _ClassVar[PoolingParameter.PoolMethod]
        STOCHASTIC: _ClassVar[PoolingParameter.PoolMethod]
        AVE_EXC_PAD: _ClassVar[PoolingParameter.PoolMethod]
        AVE_TF: _ClassVar[PoolingParameter.PoolMethod]
        DEF: _ClassVar[PoolingParameter.PoolMethod]
        DEF_ALL: _ClassVar[PoolingParameter.PoolMethod]
        DEF_ALL2: _ClassVar[PoolingParameter.PoolMethod]
        DEF_ALL3: _ClassVar[PoolingParameter.PoolMethod]
        DEF_ALL4: _ClassVar[PoolingParameter.PoolMethod]
        LOWRES: _ClassVar[PoolingParameter.PoolMethod]
        MDS: _ClassVar[PoolingParameter.PoolMethod]
    MAX: PoolingParameter.PoolMethod
    AVE: PoolingParameter.PoolMethod
    STOCHASTIC: PoolingParameter.PoolMethod
    AVE_EXC_PAD: PoolingParameter.PoolMethod
    AVE_TF: PoolingParameter.PoolMethod
    DEF: PoolingParameter.PoolMethod
    DEF_ALL: PoolingParameter.PoolMethod
    DEF_ALL2: PoolingParameter.PoolMethod
    DEF_ALL3: PoolingParameter.PoolMethod
    DEF_ALL4: PoolingParameter.PoolMethod
    LOWRES: PoolingParameter.PoolMethod
    MDS: PoolingParameter.PoolMethod
    class Engine(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        DEFAULT: _ClassVar[PoolingParameter.Engine]
        CAFFE: _ClassVar[PoolingParameter.Engine]
        CUDNN: _ClassVar[PoolingParameter.Engine]
        INTEL_SPATIAL: _ClassVar[PoolingParameter.Engine]
        LIBDNN: _ClassVar[PoolingParameter.Engine]
        MKL2017: _ClassVar[PoolingParameter.Engine]
        MKLDNN: _ClassVar[PoolingParameter.Engine]
    DEFAULT: PoolingParameter.Engine
    CAFFE: PoolingParameter.Engine
    CUDNN: PoolingParameter.Engine
    INTEL_SPATIAL: PoolingParameter.Engine
    LIBDNN: PoolingParameter.Engine
    MKL2017: PoolingParameter.Engine
    MKLDNN: PoolingParameter.Engine
    class RoundMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        CEIL: _ClassVar[PoolingParameter.RoundMode]
        FLOOR: _ClassVar[PoolingParameter.RoundMode]
    CEIL: PoolingParameter.RoundMode
    FLOOR: PoolingParameter.RoundMode
    class SaturateMethod(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        Signed: _ClassVar[PoolingParameter.SaturateMethod]
        Unsigned: _ClassVar[PoolingParameter.SaturateMethod]
        Signed_8bit: _ClassVar[PoolingParameter.SaturateMethod]
        Unsigned_8bit: _ClassVar[PoolingParameter.SaturateMethod]
    Signed: PoolingParameter.SaturateMethod
    Unsigned: PoolingParameter.SaturateMethod
    Signed_8bit: PoolingParameter.SaturateMethod
    Unsigned_8bit: PoolingParameter.SaturateMethod
    POOL_FIELD_NUMBER: _ClassVar[int]
    KERNEL_SIZE_FIELD_NUMBER: _ClassVar[int]
    STRIDE_FIELD_NUMBER: _ClassVar[int]
    PAD_FIELD_NUMBER: _ClassVar[int]
    KERNEL_H_FIELD_NUMBER: _ClassVar[int]
    KERNEL_W_FIELD_NUMBER: _ClassVar[int]
    STRIDE_H_FIELD_NUMBER: _ClassVar[int]
    STRIDE_W_FIELD_NUMBER: _ClassVar[int]
    PAD_H_FIELD_NUMBER: _ClassVar[int]
    PAD_W_FIELD_NUMBER: _ClassVar[int]
    ENGINE_FIELD_NUMBER: _ClassVar[int]
    GLOBAL_POOLING_FIELD_NUMBER: _ClassVar[int]
    ROUND_MODE_FIELD_NUMBER: _ClassVar[int]
    PAD_TYPE_FIELD_NUMBER: _ClassVar[int]
    CEIL_MODE_FIELD_NUMBER: _ClassVar[int]
    PAD_L_FIELD_NUMBER: _ClassVar[int]
    PAD_R_FIELD_NUMBER: _ClassVar[int]
    PAD_T_FIELD_NUMBER: _ClassVar[int]
    PAD_B_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_SHIFT_INSTEAD_DIVISION_FIELD_NUMBER: _ClassVar[int]
    SATURATE_FIELD_NUMBER: _ClassVar[int]
    KERNEL_DEPTH_FIELD_NUMBER: _ClassVar[int]
    TEMPORAL_STRIDE_FIELD_NUMBER: _ClassVar[int]
    BLOBS_LR_FIELD_NUMBER: _ClassVar[int]
    BLOBS_A_MIN_FIELD_NUMBER: _ClassVar[int]
    AVG_INCLUDE_PAD_FIELD_NUMBER: _ClassVar[int]
    AXIS_FIELD_NUMBER: _ClassVar[int]
    PAD_3D_FIELD_NUMBER: _ClassVar[int]
    KERNEL_SIZE_3D_FIELD_NUMBER: _ClassVar[int]
    STRIDE_3D_FIELD_NUMBER: _ClassVar[int]
    TORCH_POOLING_FIELD_NUMBER: _ClassVar[int]
    DILATION_FIELD_NUMBER: _ClassVar[int]
    pool: PoolingParameter.PoolMethod
    kernel_size: int
    stride: int
    pad: int
    kernel_h: int
    kernel_w: int
    stride_h: int
    stride_w: int
    pad_h: int
    pad_w: int
    engine: PoolingParameter.Engine
    global_pooling: bool
    round_mode: PoolingParameter.RoundMode
    pad_type: int
    ceil_mode: bool
    pad_l: int
    pad_r: int
    pad_t: int
    pad_b: int
    output_shift_instead_division: int
    saturate: PoolingParameter.SaturateMethod
    kernel_depth: int
    temporal_stride: int
    blobs_lr: float
    blobs_a_min: float
    avg_include_pad: bool
    axis: int
    pad_3d: _containers.RepeatedScalarFieldContainer[int]
    kernel_size_3d: _containers.RepeatedScalarFieldContainer[int]
    stride_3d: _containers.RepeatedScalarFieldContainer[int]
    torch_pooling: bool
    dilation: int
    def __init__(self, pool: _Optional[_Union[PoolingParameter.PoolMethod, str]] = ..., kernel_size: _Optional[int] = ..., stride: _Optional[int] = ..., pad: _Optional[int] = ..., kernel_h: _Optional[int] = ..., kernel_w: _Optional[int] = ..., stride_h: _Optional[int] = ..., stride_w: _Optional[int] = ..., pad_h: _Optional[int] = ..., pad_w: _Optional[int] = ..., engine: _Optional[_Union[PoolingParameter.Engine, str]] = ..., global_pooling: _Optional[bool] = ..., round_mode: _Optional[_Union[PoolingParameter.RoundMode, str]] = ..., pad_type: _Optional[int] = ..., ceil_mode: _Optional[bool] = ..., pad_l: _Optional[int] = ..., pad_r: _Optional[int] = ..., pad_t: _Optional[int] = ..., pad_b: _Optional[int] = ..., output_shift_instead_division: _Optional[int] = ..., saturate: _Optional[_Union[PoolingParameter.SaturateMethod, str]] = ..., kernel_depth: _Optional[int] = ..., temporal_stride: _Optional[int] = ..., blobs_lr: _Optional[float] = ..., blobs_a_min: _Optional[float] = ..., avg_include_pad: _Optional[bool] = ..., axis: _Optional[int] = ..., pad_3d: _Optional[_Iterable[int]] = ..., kernel_size_3d: _Optional[_Iterable[int]] = ..., stride_3d: _Optional[_Iterable[int]] = ..., torch_pooling: _Optional[bool] = ..., dilation: _Optional[int] = ...) -> None: ...

class PowerParameter(_message.Message):
    __slots__ = ("power", "scale", "shift")
    POWER_FIELD_NUMBER: _ClassVar[int]
    SCALE_FIELD_NUMBER: _ClassVar[int]
    SHIFT_FIELD_NUMBER: _ClassVar[int]
    power: float
    scale: float
    shift: float
    def __init__(self, power: _Optional[float] = ..., scale: _Optional[float] = ..., shift: _Optional[float] = ...) -> None: ...

class PReLUParameter(_message.Message):
    __slots__ = ("filler", "channel_shared")
    FILLER_FIELD_NUMBER: _ClassVar[int]
    CHANNEL_SHARED_FIELD_NUMBER: _ClassVar[int]
    filler: FillerParameter
    channel_shared: bool
    def __init__(self, filler: _Optional[_Union[FillerParameter, _Mapping]] = ..., channel_shared: _Optional[bool] = ...) -> None: ...

class PythonParameter(_message.Message):
    __slots__ = ("module", "layer", "param_str", "share_in_parallel")
    MODULE_FIELD_NUMBER: _ClassVar[int]
    LAYER_FIELD_NUMBER: _ClassVar[int]
    PARAM_STR_FIELD_NUMBER: _ClassVar[int]
    SHARE_IN_PARALLEL_FIELD_NUMBER: _ClassVar[int]
    module: str
    layer: str
    param_str: str
    share_in_parallel: bool
    def __init__(self, module: _Optional[str] = ..., layer: _Optional[str] = ..., param_str: _Optional[str] = ..., share_in_parallel: _Optional[bool] = ...) -> None: ...

class RecurrentParameter(_message.Message):
    __slots__ = ("num_output", "weight_filler", "bias_filler", "debug_info", "expose_hidden", "forget_bias", "tf_rnn")
    NUM_OUTPUT_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_FILLER_FIELD_NUMBER: _ClassVar[int]
    BIAS_FILLER_FIELD_NUMBER: _ClassVar[int]
    DEBUG_INFO_FIELD_NUMBER: _ClassVar[int]
    EXPOSE_HIDDEN_FIELD_NUMBER: _ClassVar[int]
    FORGET_BIAS_FIELD_NUMBER: _ClassVar[int]
    TF_RNN_FIELD_NUMBER: _ClassVar[int]
    num_output: int
    weight_filler: FillerParameter
    bias_filler: FillerParameter
    debug_info: bool
    expose_hidden: bool
    forget_bias: float
    tf_rnn: bool
    def __init__(self, num_output: _Optional[int] = ..., weight_filler: _Optional[_Union[FillerParameter, _Mapping]] = ..., bias_filler: _Optional[_Union[FillerParameter, _Mapping]] = ..., debug_info: _Optional[bool] = ..., expose_hidden: _Optional[bool] = ..., forget_bias: _Optional[float] = ..., tf_rnn: _Optional[bool] = ...) -> None: ...

class ReductionParameter(_message.Message):
    __slots__ = ("operation", "axis", "coeff", "k")
    class ReductionOp(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        SUM: _ClassVar[ReductionParameter.ReductionOp]
        ASUM: _ClassVar[ReductionParameter.ReductionOp]
        SUMSQ: _ClassVar[ReductionParameter.ReductionOp]
        MEAN: _ClassVar[ReductionParameter.ReductionOp]
        TOPK: _ClassVar[ReductionParameter.ReductionOp]
    SUM: ReductionParameter.ReductionOp
    ASUM: ReductionParameter.ReductionOp
    SUMSQ: ReductionParameter.ReductionOp
    MEAN: ReductionParameter.ReductionOp
    TOPK: ReductionParameter.ReductionOp
    OPERATION_FIELD_NUMBER: _ClassVar[int]
    AXIS_FIELD_NUMBER: _ClassVar[int]
    COEFF_FIELD_NUMBER: _ClassVar[int]
    K_FIELD_NUMBER: _ClassVar[int]
    operation: ReductionParameter.ReductionOp
    axis: int
    coeff: float
    k: int
    def __init__(self, operation: _Optional[_Union[ReductionParameter.ReductionOp, str]] = ..., axis: _Optional[int] = ..., coeff: _Optional[float] = ..., k: _Optional[int] = ...) -> None: ...

class ReLUParameter(_message.Message):
    __slots__ = ("negative_slope", "engine", "relu6", "saturate", "maximum", "minimum", "use_log", "fuse")
    class Engine(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        DEFAULT: _ClassVar[ReLUParameter.Engine]
        CAFFE: _ClassVar[ReLUParameter.Engine]
        CUDNN: _ClassVar[ReLUParameter.Engine]
        MKL2017: _ClassVar[ReLUParameter.Engine]
        MKLDNN: _ClassVar[ReLUParameter.Engine]
    DEFAULT: ReLUParameter.Engine
    CAFFE: ReLUParameter.Engine
    CUDNN: ReLUParameter.Engine
    MKL2017: ReLUParameter.Engine
    MKLDNN: ReLUParameter.Engine
    class SaturateMethod(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        Signed: _ClassVar[ReLUParameter.SaturateMethod]
        Unsigned: _ClassVar[ReLUParameter.SaturateMethod]
        Signed_8bit: _ClassVar[ReLUParameter.SaturateMethod]
        Unsigned_8bit: _ClassVar[ReLUParameter.SaturateMethod]
    Signed: ReLUParameter.SaturateMethod
    Unsigned: ReLUParameter.SaturateMethod
    Signed_8bit: ReLUParameter.SaturateMethod
    Unsigned_8bit: ReLUParameter.SaturateMethod
    NEGATIVE_SLOPE_FIELD_NUMBER: _ClassVar[int]
    ENGINE_FIELD_NUMBER: _ClassVar[int]
    RELU6_FIELD_NUMBER: _ClassVar[int]
    SATURATE_FIELD_NUMBER: _ClassVar[int]
    MAXIMUM_FIELD_NUMBER: _ClassVar[int]
    MINIMUM_FIELD_NUMBER: _ClassVar[int]
    USE_LOG_FIELD_NUMBER: _ClassVar[int]
    FUSE_FIELD_NUMBER: _ClassVar[int]
    negative_slope: float
    engine: ReLUParameter.Engine
    relu6: bool
    saturate: ReLUParameter.SaturateMethod
    maximum: float
    minimum: float
    use_log: bool
    fuse: bool
    def __init__(self, negative_slope: _Optional[float] = ..., engine: _Optional[_Union[ReLUParameter.Engine, str]] = ..., relu6: _Optional[bool] = ..., saturate: _Optional[_Union[ReLUParameter.SaturateMethod, str]] = ..., maximum: _Optional[float] = ..., minimum: _Optional[float] = ..., use_log: _Optional[bool] = ..., fuse: _Optional[bool] = ...) -> None: ...

class ReshapeParameter(_message.Message):
    __slots__ = ("shape", "axis", "num_axes", "pixelshuffler")
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    AXIS_FIELD_NUMBER: _ClassVar[int]
    NUM_AXES_FIELD_NUMBER: _ClassVar[int]
    PIXELSHUFFLER_FIELD_NUMBER: _ClassVar[int]
    shape: BlobShape
    axis: int
    num_axes: int
    pixelshuffler: int
    def __init__(self, shape: _Optional[_Union[BlobShape, _Mapping]] = ..., axis: _Optional[int] = ..., num_axes: _Optional[int] = ..., pixelshuffler: _Optional[int] = ...) -> None: ...

class ScaleParameter(_message.Message):
    __slots__ = ("axis", "num_axes", "filler", "bias_term", "bias_filler", "use_log", "min_value", "max_value")
    AXIS_FIELD_NUMBER: _ClassVar[int]
    NUM_AXES_FIELD_NUMBER: _ClassVar[int]
    FILLER_FIELD_NUMBER: _ClassVar[int]
    BIAS_TERM_FIELD_NUMBER: _ClassVar[int]
    BIAS_FILLER_FIELD_NUMBER: _ClassVar[int]
    USE_LOG_FIELD_NUMBER: _ClassVar[int]
    MIN_VALUE_FIELD_NUMBER: _ClassVar[int]
    MAX_VALUE_FIELD_NUMBER: _ClassVar[int]
    axis: int
    num_axes: int
    filler: FillerParameter
    bias_term: bool
    bias_filler: FillerParameter
    use_log: bool
    min_value: float
    max_value: float
    def __init__(self, axis: _Optional[int] = ..., num_axes: _Optional[int] = ..., filler: _Optional[_Union[FillerParameter, _Mapping]] = ..., bias_term: _Optional[bool] = ..., bias_filler: _Optional[_Union[FillerParameter, _Mapping]] = ..., use_log: _Optional[bool] = ..., min_value: _Optional[float] = ..., max_value: _Optional[float] = ...) -> None: ...

class SigmoidParameter(_message.Message):
    __slots__ = ("engine",)
    class Engine(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        DEFAULT: _ClassVar[SigmoidParameter.Engine]
        CAFFE: _ClassVar[SigmoidParameter.Engine]
        CUDNN: _ClassVar[SigmoidParameter.Engine]
    DEFAULT: SigmoidParameter.Engine
    CAFFE: SigmoidParameter.Engine
    CUDNN: SigmoidParameter.Engine
    ENGINE_FIELD_NUMBER: _ClassVar[int]
    engine: SigmoidParameter.Engine
    def __init__(self, engine: _Optional[_Union[SigmoidParameter.Engine, str]] = ...) -> None: ...

class SliceParameter(_message.Message):
    __slots__ = ("slice_dim", "slice_point", "axis")
    SLICE_DIM_FIELD_NUMBER: _ClassVar[int]
    SLICE_POINT_FIELD_NUMBER: _ClassVar[int]
    AXIS_FIELD_NUMBER: _ClassVar[int]
    slice_dim: int
    slice_point: _containers.RepeatedScalarFieldContainer[int]
    axis: int
    def __init__(self, slice_dim: _Optional[int] = ..., slice_point: _Optional[_Iterable[int]] = ..., axis: _Optional[int] = ...) -> None: ...

class SoftmaxParameter(_message.Message):
    __slots__ = ("engine", "axis", "hard_ratio", "class_weight", "hard_mining_label", "cutting_point", "normalize_type", "label_smooth_factor")
    class Engine(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        DEFAULT: _ClassVar[SoftmaxParameter.Engine]
        CAFFE: _ClassVar[SoftmaxParameter.Engine]
        CUDNN: _ClassVar[SoftmaxParameter.Engine]
        MKL2017: _ClassVar[SoftmaxParameter.Engine]
        MKLDNN: _ClassVar[SoftmaxParameter.Engine]
    DEFAULT: SoftmaxParameter.Engine
    CAFFE: SoftmaxParameter.Engine
    CUDNN: SoftmaxParameter.Engine
    MKL2017: SoftmaxParameter.Engine
    MKLDNN: SoftmaxParameter.Engine
    ENGINE_FIELD_NUMBER: _ClassVar[int]
    AXIS_FIELD_NUMBER: _ClassVar[int]
    HARD_RATIO_FIELD_NUMBER: _ClassVar[int]
    CLASS_WEIGHT_FIELD_NUMBER: _ClassVar[int]
    HARD_MINING_LABEL_FIELD_NUMBER: _ClassVar[int]
    CUTTING_POINT_FIELD_NUMBER: _ClassVar[int]
    NORMALIZE_TYPE_FIELD_NUMBER: _ClassVar[int]
    LABEL_SMOOTH_FACTOR_FIELD_NUMBER: _ClassVar[int]
    engine: SoftmaxParameter.Engine
    axis: int
    hard_ratio: float
    class_weight: _containers.RepeatedScalarFieldContainer[float]
    hard_mining_label: int
    cutting_point: float
    normalize_type: str
    label_smooth_factor: float
    def __init__(self, engine: _Optional[_Union[SoftmaxParameter.Engine, str]] = ..., axis: _Optional[int] = ..., hard_ratio: _Optional[float] = ..., class_weight: _Optional[_Iterable[float]] = ..., hard_mining_label: _Optional[int] = ..., cutting_point: _Optional[float] = ..., normalize_type: _Optional[str] = ..., label_smooth_factor: _Optional[float] = ...) -> None: ...

class SPPParameter(_message.Message):
    __slots__ = ("pyramid_height", "pool", "engine")
    class PoolMethod(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        MAX: _ClassVar[SPPParameter.PoolMethod]
        AVE: _ClassVar[SPPParameter.PoolMethod]
        STOCHASTIC: _ClassVar[SPPParameter.PoolMethod]
    MAX: SPPParameter.PoolMethod
    AVE: SPPParameter.PoolMethod
    STOCHASTIC: SPPParameter.PoolMethod
    class Engine(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        DEFAULT: _ClassVar[SPPParameter.Engine]
        CAFFE: _ClassVar[SPPParameter.Engine]
        CUDNN: _ClassVar[SPPParameter.Engine]
    DEFAULT: SPPParameter.Engine
    CAFFE: SPPParameter.Engine
    CUDNN: SPPParameter.Engine
    PYRAMID_HEIGHT_FIELD_NUMBER: _ClassVar[int]
    POOL_FIELD_NUMBER: _ClassVar[int]
    ENGINE_FIELD_NUMBER: _ClassVar[int]
    pyramid_height: int
    pool: SPPParameter.PoolMethod
    engine: SPPParameter.Engine
    def __init__(self, pyramid_height: _Optional[int] = ..., pool: _Optional[_Union[SPPParameter.PoolMethod, str]] = ..., engine: _Optional[_Union[SPPParameter.Engine, str]] = ...) -> None: ...

class SwishParameter(_message.Message):
    __slots__ = ("beta",)
    BETA_FIELD_NUMBER: _ClassVar[int]
    beta: float
    def __init__(self, beta: _Optional[float] = ...) -> None: ...

class TanHParameter(_message.Message):
    __slots__ = ("engine",)
    class Engine(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        DEFAULT: _ClassVar[TanHParameter.Engine]
        CAFFE: _ClassVar[TanHParameter.Engine]
        CUDNN: _ClassVar[TanHParameter.Engine]
    DEFAULT: TanHParameter.Engine
    CAFFE: TanHParameter.Engine
    CUDNN: TanHParameter.Engine
    ENGINE_FIELD_NUMBER: _ClassVar[int]
    engine: TanHParameter.Engine
    def __init__(self, engine: _Optional[_Union[TanHParameter.Engine, str]] = ...) -> None: ...

class TileParameter(_message.Message):
    __slots__ = ("axis", "tiles")
    AXIS_FIELD_NUMBER: _ClassVar[int]
    TILES_FIELD_NUMBER: _ClassVar[int]
    axis: int
    tiles: int
    def __init__(self, axis: _Optional[int] = ..., tiles: _Optional[int] = ...) -> None: ...

class ThresholdParameter(_message.Message):
    __slots__ = ("threshold",)
    THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    threshold: float
    def __init__(self, threshold: _Optional[float] = ...) -> None: ...

class WindowDataParameter(_message.Message):
    __slots__ = ("source", "scale", "mean_file", "batch_size", "crop_size", "mirror", "fg_threshold", "bg_threshold", "fg_fraction", "context_pad", "crop_mode", "cache_images", "root_folder")
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    SCALE_FIELD_NUMBER: _ClassVar[int]
    MEAN_FILE_FIELD_NUMBER: _ClassVar[int]
    BATCH_SIZE_FIELD_NUMBER: _ClassVar[int]
    CROP_SIZE_FIELD_NUMBER: _ClassVar[int]
    MIRROR_FIELD_NUMBER: _ClassVar[int]
    FG_THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    BG_THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    FG_FRACTION_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_PAD_FIELD_NUMBER: _ClassVar[int]
    CROP_MODE_FIELD_NUMBER: _ClassVar[int]
    CACHE_IMAGES_FIELD_NUMBER: _ClassVar[int]
    ROOT_FOLDER_FIELD_NUMBER: _ClassVar[int]
    source: str
    scale: float
    mean_file: str
    batch_size: int
    crop_size: int
    mirror: bool
    fg_threshold: float
    bg_threshold: float
    fg_fraction: float
    context_pad: int
    crop_mode: str
    cache_images: bool
    root_folder: str
    def __init__(self, source: _Optional[str] = ..., scale: _Optional[float] = ..., mean_file: _Optional[str] = ..., batch_size: _Optional[int] = ..., crop_size: _Optional[int] = ..., mirror: _Optional[bool] = ..., fg_threshold: _Optional[float] = ..., bg_threshold: _Optional[float] = ..., fg_fraction: _Optional[float] = ..., context_pad: _Optional[int] = ..., crop_mode: _Optional[str] = ..., cache_images: _Optional[bool] = ..., root_folder: _Optional[str] = ...) -> None: ...

class V1LayerParameter(_message.Message):
    __slots__ = ("layer", "bottom", "top", "name", "type", "blobs", "blobs_lr", "weight_decay", "concat_param", "convolution_param", "data_param", "dropout_param", "hdf5_data_param", "hdf5_output_param", "image_data_param", "infogain_loss_param", "inner_product_param", "lrn_param", "pooling_param", "window_data_param", "power_param", "memory_data_param", "argmax_param", "eltwise_param", "threshold_param", "dummy_data_param", "accuracy_param", "hinge_loss_param", "relu_param", "slice_param", "include", "exclude", "mvn_param", "loss_weight", "transform_param", "tanh_param", "sigmoid_param", "softmax_param", "contrastive_loss_param", "exp_param", "loss_param", "param", "blob_share_mode", "multi_stage_meanfield_param", "bn_param", "unpooling_param", "upsample_param", "dense_image_data_param")
    class LayerType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        NONE: _ClassVar[V1LayerParameter.LayerType]
        ABSVAL: _ClassVar[V1LayerParameter.LayerType]
        ACCURACY: _ClassVar[V1LayerParameter.LayerType]
        ARGMAX: _ClassVar[V1LayerParameter.LayerType]
        BNLL: _ClassVar[V1LayerParameter.LayerType]
        CONCAT: _ClassVar[V1LayerParameter.LayerType]
        CONTRASTIVE_LOSS: _ClassVar[V1LayerParameter.LayerType]
        CONVOLUTION: _ClassVar[V1LayerParameter.LayerType]
        DATA: _ClassVar[V1LayerParameter.LayerType]
        DECONVOLUTION: _ClassVar[V1LayerParameter.LayerType]
        DROPOUT: _ClassVar[V1LayerParameter.LayerType]
        DUMMY_DATA: _ClassVar[V1LayerParameter.LayerType]
        EUCLIDEAN_LOSS: _ClassVar[V1LayerParameter.LayerType]
        ELTWISE: _ClassVar[V1LayerParameter.LayerType]
        EXP: _ClassVar[V1LayerParameter.LayerType]
        FLATTEN: _ClassVar[V1LayerParameter.LayerType]
        HDF5_DATA: _ClassVar[V1LayerParameter.LayerType]
        HDF5_OUTPUT: _ClassVar[V1LayerParameter.LayerType]
        HINGE_LOSS: _ClassVar[V1LayerParameter.LayerType]
        IM2COL: _ClassVar[V1LayerParameter.LayerType]
        IMAGE_DATA: _ClassVar[V1LayerParameter.LayerType]
        INFOGAIN_LOSS: _ClassVar[V1LayerParameter.LayerType]
        INNER_PRODUCT: _ClassVar[V1LayerParameter.LayerType]
        LRN: _ClassVar[V1LayerParameter.LayerType]
        MEMORY_DATA: _ClassVar[V1LayerParameter.LayerType]
        MULTINOMIAL_LOGISTIC_LOSS: _ClassVar[V1LayerParameter.LayerType]
        MVN: _ClassVar[V1LayerParameter.LayerType]
        POOLING: _ClassVar[V1LayerParameter.LayerType]
        POWER: _ClassVar[V1LayerParameter.LayerType]
        RELU: _ClassVar[V1LayerParameter.LayerType]
        SIGMOID: _ClassVar[V1LayerParameter.LayerType]
        SIGMOID_CROSS_ENTROPY_LOSS: _ClassVar[V1LayerParameter.LayerType]
        SILENCE: _ClassVar[V1LayerParameter.LayerType]
        SOFTMAX: _ClassVar[V1LayerParameter.LayerType]
        SOFTMAX_LOSS: _ClassVar[V1LayerParameter.LayerType]
        SPLIT: _ClassVar[V1LayerParameter.LayerType]
        SLICE: _ClassVar[V1LayerParameter.LayerType]
        TANH: _ClassVar[V1LayerParameter.LayerType]
        WINDOW_DATA: _ClassVar[V1LayerParameter.LayerType]
        THRESHOLD: _ClassVar[V1LayerParameter.LayerType]
        BN: _ClassVar[V1LayerParameter.LayerType]
        CONVOLUTION3D: _ClassVar[V1LayerParameter.LayerType]
        CROP: _ClassVar[V1LayerParameter.LayerType]
        DECONVOLUTION3D: _ClassVar[V1LayerParameter.LayerType]
        DENSE_IMAGE_DATA: _ClassVar[V1LayerParameter.LayerType]
        IMAGE_SEG_DATA: _ClassVar[V1LayerParameter.LayerType]
        INSANITY: _ClassVar[V1LayerParameter.LayerType]
        LOCAL: _ClassVar[V1LayerParameter.LayerType]
        MULTI_STAGE_MEANFIELD: _ClassVar[V1LayerParameter.LayerType]
        NORMALIZE: _ClassVar[V1LayerParameter.LayerType]
        POOLING3D: _ClassVar[V1LayerParameter.LayerType]
        TRIPLET_LOSS: _ClassVar[V1LayerParameter.LayerType]
        UNPOOLING: _ClassVar[V1LayerParameter.LayerType]
        UPSAMPLE: _ClassVar[V1LayerParameter.LayerType]
        VIDEO_DATA: _ClassVar[V1LayerParameter.LayerType]
        VIDEO_WITH_VOXEL_TRUTH_DATA: _ClassVar[V1LayerParameter.LayerType]
    NONE: V1LayerParameter.LayerType
    ABSVAL: V1LayerParameter.LayerType
    ACCURACY: V1LayerParameter.LayerType
    ARGMAX: V1LayerParameter.LayerType
    BNLL: V1LayerParameter.LayerType
    CONCAT: V1LayerParameter.LayerType
    CONTRASTIVE_LOSS: V1LayerParameter.LayerType
    CONVOLUTION: V1LayerParameter.LayerType
    DATA: V1LayerParameter.LayerType
    DECONVOLUTION: V1LayerParameter.LayerType
    DROPOUT: V1LayerParameter.LayerType
    DUMMY_DATA: V1LayerParameter.LayerType
    EUCLIDEAN_LOSS: V1LayerParameter.LayerType
    ELTWISE: V1LayerParameter.LayerType
    EXP: V1LayerParameter.LayerType
    FLATTEN: V1LayerParameter.LayerType
    HDF5_DATA: V1LayerParameter.LayerType
    HDF5_OUTPUT: V1LayerParameter.LayerType
    HINGE_LOSS: V1LayerParameter.LayerType
    IM2COL: V1LayerParameter.LayerType
    IMAGE_DATA: V1LayerParameter.LayerType
    INFOGAIN_LOSS: V1LayerParameter.LayerType
    INNER_PRODUCT: V1LayerParameter.LayerType
    LRN: V1LayerParameter.LayerType
    MEMORY_DATA: V1LayerParameter.LayerType
    MULTINOMIAL_LOGISTIC_LOSS: V1LayerParameter.LayerType
    MVN: V1LayerParameter.LayerType
    POOLING: V1LayerParameter.LayerType
    POWER: V1LayerParameter.LayerType
    RELU: V1LayerParameter.LayerType
    SIGMOID: V1LayerParameter.LayerType
    SIGMOID_CROSS_ENTROPY_LOSS: V1LayerParameter.LayerType
    SILENCE: V1LayerParameter.LayerType
    SOFTMAX: V1LayerParameter.LayerType
    SOFTMAX_LOSS: V1LayerParameter.LayerType
    SPLIT: V1LayerParameter.LayerType
    SLICE: V1LayerParameter.LayerType
    TANH: V1LayerParameter.LayerType
    WINDOW_DATA: V1LayerParameter.LayerType
    THRESHOLD: V1LayerParameter.LayerType
    BN: V1LayerParameter.LayerType
    CONVOLUTION3D: V1LayerParameter.LayerType
    CROP: V1LayerParameter.LayerType
    DECONVOLUTION3D: V1LayerParameter.LayerType
    DENSE_IMAGE_DATA: V1LayerParameter.LayerType
    IMAGE_SEG_DATA: V1LayerParameter.LayerType
    INSANITY: V1LayerParameter.LayerType
    LOCAL: V1LayerParameter.LayerType
    MULTI_STAGE_MEANFIELD: V1LayerParameter.LayerType
    NORMALIZE: V1LayerParameter.LayerType
    POOLING3D: V1LayerParameter.LayerType
    TRIPLET_LOSS: V1LayerParameter.LayerType
    UNPOOLING: V1LayerParameter.LayerType
    UPSAMPLE: V1LayerParameter.LayerType
    VIDEO_DATA: V1LayerParameter.LayerType
    VIDEO_WITH_VOXEL_TRUTH_DATA: V1LayerParameter.LayerType
    class DimCheckMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        STRICT: _ClassVar[V1LayerParameter.DimCheckMode]
        PERMISSIVE: _ClassVar[V1LayerParameter.DimCheckMode]
    STRICT: V1LayerParameter.DimCheckMode
    PERMISSIVE: V1LayerParameter.DimCheckMode
    LAYER_FIELD_NUMBER: _ClassVar[int]
    BOTTOM_FIELD_NUMBER: _ClassVar[int]
    TOP_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    BLOBS_FIELD_NUMBER: _ClassVar[int]
    BLOBS_LR_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_DECAY_FIELD_NUMBER: _ClassVar[int]
    CONCAT_PARAM_FIELD_NUMBER: _ClassVar[int]
    CONVOLUTION_PARAM_FIELD_NUMBER: _ClassVar[int]
    DATA_PARAM_FIELD_NUMBER: _ClassVar[int]
    DROPOUT_PARAM_FIELD_NUMBER: _ClassVar[int]
    HDF5_DATA_PARAM_FIELD_NUMBER: _ClassVar[int]
    HDF5_OUTPUT_PARAM_FIELD_NUMBER: _ClassVar[int]
    IMAGE_DATA_PARAM_FIELD_NUMBER: _ClassVar[int]
    INFOGAIN_LOSS_PARAM_FIELD_NUMBER: _ClassVar[int]
    INNER_PRODUCT_PARAM_FIELD_NUMBER: _ClassVar[int]
    LRN_PARAM_FIELD_NUMBER: _ClassVar[int]
    POOLING_PARAM_FIELD_NUMBER: _ClassVar[int]
    WINDOW_DATA_PARAM_FIELD_NUMBER: _ClassVar[int]
    POWER_PARAM_FIELD_NUMBER: _ClassVar[int]
    MEMORY_DATA_PARAM_FIELD_NUMBER: _ClassVar[int]
    ARGMAX_PARAM_FIELD_NUMBER: _ClassVar[int]
    ELTWISE_PARAM_FIELD_NUMBER: _ClassVar[int]
    THRESHOLD_PARAM_FIELD_NUMBER: _ClassVar[int]
    DUMMY_DATA_PARAM_FIELD_NUMBER: _ClassVar[int]
    ACCURACY_PARAM_FIELD_NUMBER: _ClassVar[int]
    HINGE_LOSS_PARAM_FIELD_NUMBER: _ClassVar[int]
    RELU_PARAM_FIELD_NUMBER: _ClassVar[int]
    SLICE_PARAM_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_FIELD_NUMBER: _ClassVar[int]
    EXCLUDE_FIELD_NUMBER: _ClassVar[int]
    MVN_PARAM_FIELD_NUMBER: _ClassVar[int]
    LOSS_WEIGHT_FIELD_NUMBER: _ClassVar[int]
    TRANSFORM_PARAM_FIELD_NUMBER: _ClassVar[int]
    TANH_PARAM_FIELD_NUMBER: _ClassVar[int]
    SIGMOID_PARAM_FIELD_NUMBER: _ClassVar[int]
    SOFTMAX_PARAM_FIELD_NUMBER: _ClassVar[int]
    CONTRASTIVE_LOSS_PARAM_FIELD_NUMBER: _ClassVar[int]
    EXP_PARAM_FIELD_NUMBER: _ClassVar[int]
    LOSS_PARAM_FIELD_NUMBER: _ClassVar[int]
    PARAM_FIELD_NUMBER: _ClassVar[int]
    BLOB_SHARE_MODE_FIELD_NUMBER: _ClassVar[int]
    MULTI_STAGE_MEANFIELD_PARAM_FIELD_NUMBER: _ClassVar[int]
    BN_PARAM_FIELD_NUMBER: _ClassVar[int]
    UNPOOLING_PARAM_FIELD_NUMBER: _ClassVar[int]
    UPSAMPLE_PARAM_FIELD_NUMBER: _ClassVar[int]
    DENSE_IMAGE_DATA_PARAM_FIELD_NUMBER: _ClassVar[int]
    layer: V0LayerParameter
    bottom: _containers.RepeatedScalarFieldContainer[str]
    top: _containers.RepeatedScalarFieldContainer[str]
    name: str
    type: V1LayerParameter.LayerType
    blobs: _containers.RepeatedCompositeFieldContainer[BlobProto]
    blobs_lr: _containers.RepeatedScalarFieldContainer[float]
    weight_decay: _containers.RepeatedScalarFieldContainer[float]
    concat_param: ConcatParameter
    convolution_param: ConvolutionParameter
    data_param: DataParameter
    dropout_param: DropoutParameter
    hdf5_data_param: HDF5DataParameter
    hdf5_output_param: HDF5OutputParameter
    image_data_param: ImageDataParameter
    infogain_loss_param: InfogainLossParameter
    inner_product_param: InnerProductParameter
    lrn_param: LRNParameter
    pooling_param: PoolingParameter
    window_data_param: WindowDataParameter
    power_param: PowerParameter
    memory_data_param: MemoryDataParameter
    argmax_param: ArgMaxParameter
    eltwise_param: EltwiseParameter
    threshold_param: ThresholdParameter
    dummy_data_param: DummyDataParameter
    accuracy_param: AccuracyParameter
    hinge_loss_param: HingeLossParameter
    relu_param: ReLUParameter
    slice_param: SliceParameter
    include: _containers.RepeatedCompositeFieldContainer[NetStateRule]
    exclude: _containers.RepeatedCompositeFieldContainer[NetStateRule]
    mvn_param: MVNParameter
    loss_weight: _containers.RepeatedScalarFieldContainer[float]
    transform_param: TransformationParameter
    tanh_param: TanHParameter
    sigmoid_param: SigmoidParameter
    softmax_param: SoftmaxParameter
    contrastive_loss_param: ContrastiveLossParameter
    exp_param: ExpParameter
    loss_param: LossParameter
    param: _containers.RepeatedScalarFieldContainer[str]
    blob_share_mode: _containers.RepeatedScalarFieldContainer[V1LayerParameter.DimCheckMode]
    multi_stage_meanfield_param: MultiStageMeanfieldParameter
    bn_param: BNParameter
    unpooling_param: UnpoolingParameter
    upsample_param: UpsampleParameter
    dense_image_data_param: DenseImageDataParameter
    def __init__(self, layer: _Optional[_Union[V0LayerParameter, _Mapping]] = ..., bottom: _Optional[_Iterable[str]] = ..., top: _Optional[_Iterable[str]] = ..., name: _Optional[str] = ..., type: _Optional[_Union[V1LayerParameter.LayerType, str]] = ..., blobs: _Optional[_Iterable[_Union[BlobProto, _Mapping]]] = ..., blobs_lr: _Optional[_Iterable[float]] = ..., weight_decay: _Optional[_Iterable[float]] = ..., concat_param: _Optional[_Union[ConcatParameter, _Mapping]] = ..., convolution_param: _Optional[_Union[ConvolutionParameter, _Mapping]] = ..., data_param: _Optional[_Union[DataParameter, _Mapping]] = ..., dropout_param: _Optional[_Union[DropoutParameter, _Mapping]] = ..., hdf5_data_param: _Optional[_Union[HDF5DataParameter, _Mapping]] = ..., hdf5_output_param: _Optional[_Union[HDF5OutputParameter, _Mapping]] = ..., image_data_param: _Optional[_Union[ImageDataParameter, _Mapping]] = ..., infogain_loss_param: _Optional[_Union[InfogainLossParameter, _Mapping]] = ..., inner_product_param: _Optional[_Union[InnerProductParameter, _Mapping]] = ..., lrn_param: _Optional[_Union[LRNParameter, _Mapping]] = ..., pooling_param: _Optional[_Union[PoolingParameter, _Mapping]] = ..., window_data_param: _Optional[_Union[WindowDataParameter, _Mapping]] = ..., power_param: _Optional[_Union[PowerParameter, _Mapping]] = ..., memory_data_param: _Optional[_Union[MemoryDataParameter, _Mapping]] = ..., argmax_param: _Optional[_Union[ArgMaxParameter, _Mapping]] = ..., eltwise_param: _Optional[_Union[EltwiseParameter, _Mapping]] = ..., threshold_param: _Optional[_Union[ThresholdParameter, _Mapping]] = ..., dummy_data_param: _Optional[_Union[DummyDataParameter, _Mapping]] = ..., accuracy_param: _Optional[_Union[AccuracyParameter, _Mapping]] = ..., hinge_loss_param: _Optional[_Union[HingeLossParameter, _Mapping]] = ..., relu_param: _Optional[_Union[ReLUParameter, _Mapping]] = ..., slice_param: _Optional[_Union[SliceParameter, _Mapping]] = ..., include: _Optional[_Iterable[_Union[NetStateRule, _Mapping]]] = ..., exclude: _Optional[_Iterable[_Union[NetStateRule, _Mapping]]] = ..., mvn_param: _Optional[_Union[MVNParameter, _Mapping]] = ..., loss_weight: _Optional[_Iterable[float]] = ..., transform_param: _Optional[_Union[TransformationParameter, _Mapping]] = ..., tanh_param: _Optional[_Union[TanHParameter, _Mapping]] = ..., sigmoid_param: _Optional[_Union[SigmoidParameter, _Mapping]] = ..., softmax_param: _Optional[_Union[SoftmaxParameter, _Mapping]] = ..., contrastive_loss_param: _Optional[_Union[ContrastiveLossParameter, _Mapping]] = ..., exp_param: _Optional[_Union[ExpParameter, _Mapping]] = ..., loss_param: _Optional[_Union[LossParameter, _Mapping]] = ..., param: _Optional[_Iterable[str]] = ..., blob_share_mode: _Optional[_Iterable[_Union[V1LayerParameter.DimCheckMode, str]]] = ..., multi_stage_meanfield_param: _Optional[_Union[MultiStageMeanfieldParameter, _Mapping]] = ..., bn_param: _Optional[_Union[BNParameter, _Mapping]] = ..., unpooling_param: _Optional[_Union[UnpoolingParameter, _Mapping]] = ..., upsample_param: _Optional[_Union[UpsampleParameter, _Mapping]] = ..., dense_image_data_param: _Optional[_Union[DenseImageDataParameter, _Mapping]] = ...) -> None: ...

class V0LayerParameter(_message.Message):
    __slots__ = ("name", "type", "num_output", "biasterm", "weight_filler", "bias_filler", "pad", "kernelsize", "group", "stride", "pool", "dropout_ratio", "local_size", "alpha", "beta", "source", "scale", "meanfile", "batchsize", "cropsize", "mirror", "k", "blobs", "blobs_lr", "weight_decay", "rand_skip", "det_fg_threshold", "det_bg_threshold", "det_fg_fraction", "det_context_pad", "det_crop_mode", "new_num", "new_channels", "new_height", "new_width", "shuffle_images", "concat_dim", "hdf5_output_param")
    class PoolMethod(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        MAX: _ClassVar[V0LayerParameter.PoolMethod]
        AVE: _ClassVar[V0LayerParameter.PoolMethod]
        STOCHASTIC: _ClassVar[V0LayerParameter.PoolMethod]
    MAX: V0LayerParameter.PoolMethod
    AVE: V0LayerParameter.PoolMethod
    STOCHASTIC: V0LayerParameter.PoolMethod
    NAME_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    NUM_OUTPUT_FIELD_NUMBER: _ClassVar[int]
    BIASTERM_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_FILLER_FIELD_NUMBER: _ClassVar[int]
    BIAS_FILLER_FIELD_NUMBER: _ClassVar[int]
    PAD_FIELD_NUMBER: _ClassVar[int]
    KERNELSIZE_FIELD_NUMBER: _ClassVar[int]
    GROUP_FIELD_NUMBER: _ClassVar[int]
    STRIDE_FIELD_NUMBER: _ClassVar[int]
    POOL_FIELD_NUMBER: _ClassVar[int]
    DROPOUT_RATIO_FIELD_NUMBER: _ClassVar[int]
    LOCAL_SIZE_FIELD_NUMBER: _ClassVar[int]
    ALPHA_FIELD_NUMBER: _ClassVar[int]
    BETA_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    SCALE_FIELD_NUMBER: _ClassVar[int]
    MEANFILE_FIELD_NUMBER: _ClassVar[int]
    BATCHSIZE_FIELD_NUMBER: _ClassVar[int]
    CROPSIZE_FIELD_NUMBER: _ClassVar[int]
    MIRROR_FIELD_NUMBER: _ClassVar[int]
    K_FIELD_NUMBER: _ClassVar[int]
    BLOBS_FIELD_NUMBER: _ClassVar[int]
    BLOBS_LR_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_DECAY_FIELD_NUMBER: _ClassVar[int]
    RAND_SKIP_FIELD_NUMBER: _ClassVar[int]
    DET_FG_THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    DET_BG_THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    DET_FG_FRACTION_FIELD_NUMBER: _ClassVar[int]
    DET_CONTEXT_PAD_FIELD_NUMBER: _ClassVar[int]
    DET_CROP_MODE_FIELD_NUMBER: _ClassVar[int]
    NEW_NUM_FIELD_NUMBER: _ClassVar[int]
    NEW_CHANNELS_FIELD_NUMBER: _ClassVar[int]
    NEW_HEIGHT_FIELD_NUMBER: _ClassVar[int]
    NEW_WIDTH_FIELD_NUMBER: _ClassVar[int]
    SHUFFLE_IMAGES_FIELD_NUMBER: _ClassVar[int]
    CONCAT_DIM_FIELD_NUMBER: _ClassVar[int]
    HDF5_OUTPUT_PARAM_FIELD_NUMBER: _ClassVar[int]
    name: str
    type: str
    num_output: int
    biasterm: bool
    weight_filler: FillerParameter
    bias_filler: FillerParameter
    pad: int
    kernelsize: int
    group: int
    stride: int
    pool: V0LayerParameter.PoolMethod
    dropout_ratio: float
    local_size: int
    alpha: float
    beta: float
    source: str
    scale: float
    meanfile: str
    batchsize: int
    cropsize: int
    mirror: bool
    k: float
    blobs: _containers.RepeatedCompositeFieldContainer[BlobProto]
    blobs_lr: _containers.RepeatedScalarFieldContainer[float]
    weight_decay: _containers.RepeatedScalarFieldContainer[float]
    rand_skip: int
    det_fg_threshold: float
    det_bg_threshold: float
    det_fg_fraction: float
    det_context_pad: int
    det_crop_mode: str
    new_num: int
    new_channels: int
    new_height: int
    new_width: int
    shuffle_images: bool
    concat_dim: int
    hdf5_output_param: HDF5OutputParameter
    def __init__(self, name: _Optional[str] = ..., type: _Optional[str] = ..., num_output: _Optional[int] = ..., biasterm: _Optional[bool] = ..., weight_filler: _Optional[_Union[FillerParameter, _Mapping]] = ..., bias_filler: _Optional[_Union[FillerParameter, _Mapping]] = ..., pad: _Optional[int] = ..., kernelsize: _Optional[int] = ..., group: _Optional[int] = ..., stride: _Optional[int] = ..., pool: _Optional[_Union[V0LayerParameter.PoolMethod, str]] = ..., dropout_ratio: _Optional[float] = ..., local_size: _Optional[int] = ..., alpha: _Optional[float] = ..., beta: _Optional[float] = ..., source: _Optional[str] = ..., scale: _Optional[float] = ..., meanfile: _Optional[str] = ..., batchsize: _Optional[int] = ..., cropsize: _Optional[int] = ..., mirror: _Optional[bool] = ..., k: _Optional[float] = ..., blobs: _Optional[_Iterable[_Union[BlobProto, _Mapping]]] = ..., blobs_lr: _Optional[_Iterable[float]] = ..., weight_decay: _Optional[_Iterable[float]] = ..., rand_skip: _Optional[int] = ..., det_fg_threshold: _Optional[float] = ..., det_bg_threshold: _Optional[float] = ..., det_fg_fraction: _Optional[float] = ..., det_context_pad: _Optional[int] = ..., det_crop_mode: _Optional[str] = ..., new_num: _Optional[int] = ..., new_channels: _Optional[int] = ..., new_height: _Optional[int] = ..., new_width: _Optional[int] = ..., shuffle_images: _Optional[bool] = ..., concat_dim: _Optional[int] = ..., hdf5_output_param: _Optional[_Union[HDF5OutputParameter, _Mapping]] = ...) -> None: ...

class LayerPSTablePair(_message.Message):
    __slots__ = ("layer_name", "table_id")
    LAYER_NAME_FIELD_NUMBER: _ClassVar[int]
    TABLE_ID_FIELD_NUMBER: _ClassVar[int]
    layer_name: str
    table_id: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, layer_name: _Optional[str] = ..., table_id: _Optional[_Iterable[int]] = ...) -> None: ...

class SVProto(_message.Message):
    __slots__ = ("layer_id", "a", "b")
    LAYER_ID_FIELD_NUMBER: _ClassVar[int]
    A_FIELD_NUMBER: _ClassVar[int]
    B_FIELD_NUMBER: _ClassVar[int]
    layer_id: int
    a: _containers.RepeatedScalarFieldContainer[float]
    b: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, layer_id: _Optional[int] = ..., a: _Optional[_Iterable[float]] = ..., b: _Optional[_Iterable[float]] = ...) -> None: ...

class PriorBoxParameter(_message.Message):
    __slots__ = ("min_size", "max_size", "aspect_ratio", "flip", "clip", "variance", "img_size", "img_h", "img_w", "step", "step_h", "step_w", "offset", "faceboxes", "box_width", "box_height", "tf", "yx_order", "offset_h", "offset_w", "width", "height", "denser_prior_boxes")
    class CodeType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        CORNER: _ClassVar[PriorBoxParameter.CodeType]
        CENTER_SIZE: _ClassVar[PriorBoxParameter.CodeType]
        CORNER_SIZE: _ClassVar[PriorBoxParameter.CodeType]
    CORNER: PriorBoxParameter.CodeType
    CENTER_SIZE: PriorBoxParameter.CodeType
    CORNER_SIZE: PriorBoxParameter.CodeType
    MIN_SIZE_FIELD_NUMBER: _ClassVar[int]
    MAX_SIZE_FIELD_NUMBER: _ClassVar[int]
    ASPECT_RATIO_FIELD_NUMBER: _ClassVar[int]
    FLIP_FIELD_NUMBER: _ClassVar[int]
    CLIP_FIELD_NUMBER: _ClassVar[int]
    VARIANCE_FIELD_NUMBER: _ClassVar[int]
    IMG_SIZE_FIELD_NUMBER: _ClassVar[int]
    IMG_H_FIELD_NUMBER: _ClassVar[int]
    IMG_W_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    STEP_H_FIELD_NUMBER: _ClassVar[int]
    STEP_W_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    FACEBOXES_FIELD_NUMBER: _ClassVar[int]
    BOX_WIDTH_FIELD_NUMBER: _ClassVar[int]
    BOX_HEIGHT_FIELD_NUMBER: _ClassVar[int]
    TF_FIELD_NUMBER: _ClassVar[int]
    YX_ORDER_FIELD_NUMBER: _ClassVar[int]
    OFFSET_H_FIELD_NUMBER: _ClassVar[int]
    OFFSET_W_FIELD_NUMBER: _ClassVar[int]
    WIDTH_FIELD_NUMBER: _ClassVar[int]
    HEIGHT_FIELD_NUMBER: _ClassVar[int]
    DENSER_PRIOR_BOXES_FIELD_NUMBER: _ClassVar[int]
    min_size: _containers.RepeatedScalarFieldContainer[float]
    max_size: _containers.RepeatedScalarFieldContainer[float]
    aspect_ratio: _containers.RepeatedScalarFieldContainer[float]
    flip: bool
    clip: bool
    variance: _containers.RepeatedScalarFieldContainer[float]
    img_size: int
    img_h: int
    img_w: int
    step: float
    step_h: float
    step_w: float
    offset: float
    faceboxes: bool
    box_width: _containers.RepeatedScalarFieldContainer[float]
    box_height: _containers.RepeatedScalarFieldContainer[float]
    tf: bool
    yx_order: bool
    offset_h: _containers.RepeatedScalarFieldContainer[float]
    offset_w: _containers.RepeatedScalarFieldContainer[float]
    width: _containers.RepeatedScalarFieldContainer[float]
    height: _containers.RepeatedScalarFieldContainer[float]
    denser_prior_boxes: bool
    def __init__(self, min_size: _Optional[_Iterable[float]] = ..., max_size: _Optional[_Iterable[float]] = ..., aspect_ratio: _Optional[_Iterable[float]] = ..., flip: _Optional[bool] = ..., clip: _Optional[bool] = ..., variance: _Optional[_Iterable[float]] = ..., img_size: _Optional[int] = ..., img_h: _Optional[int] = ..., img_w: _Optional[int] = ..., step: _Optional[float] = ..., step_h: _Optional[float] = ..., step_w: _Optional[float] = ..., offset: _Optional[float] = ..., faceboxes: _Optional[bool] = ..., box_width: _Optional[_Iterable[float]] = ..., box_height: _Optional[_Iterable[float]] = ..., tf: _Optional[bool] = ..., yx_order: _Optional[bool] = ..., offset_h: _Optional[_Iterable[float]] = ..., offset_w: _Optional[_Iterable[float]] = ..., width: _Optional[_Iterable[float]] = ..., height: _Optional[_Iterable[float]] = ..., denser_prior_boxes: _Optional[bool] = ...) -> None: ...

class PermuteParameter(_message.Message):
    __slots__ = ("order",)
    ORDER_FIELD_NUMBER: _ClassVar[int]
    order: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, order: _Optional[_Iterable[int]] = ...) -> None: ...

class NormalizeParameter(_message.Message):
    __slots__ = ("across_spatial", "scale_filler", "channel_shared", "eps", "add_eps_before_sqrt")
    ACROSS_SPATIAL_FIELD_NUMBER: _ClassVar[int]
    SCALE_FILLER_FIELD_NUMBER: _ClassVar[int]
    CHANNEL_SHARED_FIELD_NUMBER: _ClassVar[int]
    EPS_FIELD_NUMBER: _ClassVar[int]
    ADD_EPS_BEFORE_SQRT_FIELD_NUMBER: _ClassVar[int]
    across_spatial: bool
    scale_filler: FillerParameter
    channel_shared: bool
    eps: float
    add_eps_before_sqrt: bool
    def __init__(self, across_spatial: _Optional[bool] = ..., scale_filler: _Optional[_Union[FillerParameter, _Mapping]] = ..., channel_shared: _Optional[bool] = ..., eps: _Optional[float] = ..., add_eps_before_sqrt: _Optional[bool] = ...) -> None: ...

class NonMaximumSuppressionParameter(_message.Message):
    __slots__ = ("nms_threshold", "top_k", "eta")
    NMS_THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    TOP_K_FIELD_NUMBER: _ClassVar[int]
    ETA_FIELD_NUMBER: _ClassVar[int]
    nms_threshold: float
    top_k: int
    eta: float
    def __init__(self, nms_threshold: _Optional[float] = ..., top_k: _Optional[int] = ..., eta: _Optional[float] = ...) -> None: ...

class SaveOutputParameter(_message.Message):
    __slots__ = ("output_directory", "output_name_prefix", "output_format", "label_map_file", "name_size_file", "num_test_image", "resize_param")
    OUTPUT_DIRECTORY_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_NAME_PREFIX_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FORMAT_FIELD_NUMBER: _ClassVar[int]
    LABEL_MAP_FILE_FIELD_NUMBER: _ClassVar[int]
    NAME_SIZE_FILE_FIELD_NUMBER: _ClassVar[int]
    NUM_TEST_IMAGE_FIELD_NUMBER: _ClassVar[int]
    RESIZE_PARAM_FIELD_NUMBER: _ClassVar[int]
    output_directory: str
    output_name_prefix: str
    output_format: str
    label_map_file: str
    name_size_file: str
    num_test_image: int
    resize_param: ResizeParameter
    def __init__(self, output_directory: _Optional[str] = ..., output_name_prefix: _Optional[str] = ..., output_format: _Optional[str] = ..., label_map_file: _Optional[str] = ..., name_size_file: _Optional[str] = ..., num_test_image: _Optional[int] = ..., resize_param: _Optional[_Union[ResizeParameter, _Mapping]] = ...) -> None: ...

class DetectionOutputParameter(_message.Message):
    __slots__ = ("num_classes", "share_location", "background_label_id", "nms_param", "save_output_param", "code_type", "keep_top_k", "variance_encoded_in_target", "confidence_threshold", "visualize", "visualize_threshold", "save_file", "normalized_bbox", "clip", "objectness_score", "use_polygon")
    NUM_CLASSES_FIELD_NUMBER: _ClassVar[int]
    SHARE_LOCATION_FIELD_NUMBER: _ClassVar[int]
    BACKGROUND_LABEL_ID_FIELD_NUMBER: _ClassVar[int]
    NMS_PARAM_FIELD_NUMBER: _ClassVar[int]
    SAVE_OUTPUT_PARAM_FIELD_NUMBER: _ClassVar[int]
    CODE_TYPE_FIELD_NUMBER: _ClassVar[int]
    KEEP_TOP_K_FIELD_NUMBER: _ClassVar[int]
    VARIANCE_ENCODED_IN_TARGET_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    VISUALIZE_FIELD_NUMBER: _ClassVar[int]
    VISUALIZE_THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    SAVE_FILE_FIELD_NUMBER: _ClassVar[int]
    NORMALIZED_BBOX_FIELD_NUMBER: _ClassVar[int]
    CLIP_FIELD_NUMBER: _ClassVar[int]
    OBJECTNESS_SCORE_FIELD_NUMBER: _ClassVar[int]
    USE_POLYGON_FIELD_NUMBER: _ClassVar[int]
    num_classes: int
    share_location: bool
    background_label_id: int
    nms_param: NonMaximumSuppressionParameter
    save_output_param: SaveOutputParameter
    code_type: PriorBoxParameter.CodeType
    keep_top_k: int
    variance_encoded_in_target: bool
    confidence_threshold: float
    visualize: bool
    visualize_threshold: float
    save_file: str
    normalized_bbox: bool
    clip: bool
    objectness_score: float
    use_polygon: bool
    def __init__(self, num_classes: _Optional[int] = ..., share_location: _Optional[bool] = ..., background_label_id: _Optional[int] = ..., nms_param: _Optional[_Union[NonMaximumSuppressionParameter, _Mapping]] = ..., save_output_param: _Optional[_Union[SaveOutputParameter, _Mapping]] = ..., code_type: _Optional[_Union[PriorBoxParameter.CodeType, str]] = ..., keep_top_k: _Optional[int] = ..., variance_encoded_in_target: _Optional[bool] = ..., confidence_threshold: _Optional[float] = ..., visualize: _Optional[bool] = ..., visualize_threshold: _Optional[float] = ..., save_file: _Optional[str] = ..., normalized_bbox: _Optional[bool] = ..., clip: _Optional[bool] = ..., objectness_score: _Optional[float] = ..., use_polygon: _Optional[bool] = ...) -> None: ...

class DetectionEvaluateParameter(_message.Message):
    __slots__ = ("num_classes", "background_label_id", "overlap_threshold", "evaluate_difficult_gt", "name_size_file", "resize_param")
    NUM_CLASSES_FIELD_NUMBER: _ClassVar[int]
    BACKGROUND_LABEL_ID_FIELD_NUMBER: _ClassVar[int]
    OVERLAP_THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    EVALUATE_DIFFICULT_GT_FIELD_NUMBER: _ClassVar[int]
    NAME_SIZE_FILE_FIELD_NUMBER: _ClassVar[int]
    RESIZE_PARAM_FIELD_NUMBER: _ClassVar[int]
    num_classes: int
    background_label_id: int
    overlap_threshold: float
    evaluate_difficult_gt: bool
    name_size_file: str
    resize_param: ResizeParameter
    def __init__(self, num_classes: _Optional[int] = ..., background_label_id: _Optional[int] = ..., overlap_threshold: _Optional[float] = ..., evaluate_difficult_gt: _Optional[bool] = ..., name_size_file: _Optional[str] = ..., resize_param: _Optional[_Union[ResizeParameter, _Mapping]] = ...) -> None: ...

class MultiBoxLossParameter(_message.Message):
    __slots__ = ("loc_loss_type", "conf_loss_type", "loc_weight", "num_classes", "share_location", "match_type", "overlap_threshold", "use_prior_for_matching", "background_label_id", "use_difficult_gt", "do_neg_mining", "neg_pos_ratio", "neg_overlap", "code_type", "encode_variance_in_target", "map_object_to_agnostic", "ignore_cross_boundary_bbox", "bp_inside", "mining_type", "nms_param", "sample_size", "use_prior_for_nms", "objectness_score")
    class LocLossType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        L2: _ClassVar[MultiBoxLossParameter.LocLossType]
        SMOOTH_L1: _ClassVar[MultiBoxLossParameter.LocLossType]
    L2: MultiBoxLossParameter.LocLossType
    SMOOTH_L1: MultiBoxLossParameter.LocLossType
    class ConfLossType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        SOFTMAX: _ClassVar[MultiBoxLossParameter.ConfLossType]
        LOGISTIC: _ClassVar[MultiBoxLossParameter.ConfLossType]
    SOFTMAX: MultiBoxLossParameter.ConfLossType
    LOGISTIC: MultiBoxLossParameter.ConfLossType
    class MatchType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        BIPARTITE: _ClassVar[MultiBoxLossParameter.MatchType]
        PER_PREDICTION: _ClassVar[MultiBoxLossParameter.MatchType]
    BIPARTITE: MultiBoxLossParameter.MatchType
    PER_PREDICTION: MultiBoxLossParameter.MatchType
    class MiningType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        NONE: _ClassVar[MultiBoxLossParameter.MiningType]
        MAX_NEGATIVE: _ClassVar[MultiBoxLossParameter.MiningType]
        HARD_EXAMPLE: _ClassVar[MultiBoxLossParameter.MiningType]
    NONE: MultiBoxLossParameter.MiningType
    MAX_NEGATIVE: MultiBoxLossParameter.MiningType
    HARD_EXAMPLE: MultiBoxLossParameter.MiningType
    LOC_LOSS_TYPE_FIELD_NUMBER: _ClassVar[int]
    CONF_LOSS_TYPE_FIELD_NUMBER: _ClassVar[int]
    LOC_WEIGHT_FIELD_NUMBER: _ClassVar[int]
    NUM_CLASSES_FIELD_NUMBER: _ClassVar[int]
    SHARE_LOCATION_FIELD_NUMBER: _ClassVar[int]
    MATCH_TYPE_FIELD_NUMBER: _ClassVar[int]
    OVERLAP_THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    USE_PRIOR_FOR_MATCHING_FIELD_NUMBER: _ClassVar[int]
    BACKGROUND_LABEL_ID_FIELD_NUMBER: _ClassVar[int]
    USE_DIFFICULT_GT_FIELD_NUMBER: _ClassVar[int]
    DO_NEG_MINING_FIELD_NUMBER: _ClassVar[int]
    NEG_POS_RATIO_FIELD_NUMBER: _ClassVar[int]
    NEG_OVERLAP_FIELD_NUMBER: _ClassVar[int]
    CODE_TYPE_FIELD_NUMBER: _ClassVar[int]
    ENCODE_VARIANCE_IN_TARGET_FIELD_NUMBER: _ClassVar[int]
    MAP_OBJECT_TO_AGNOSTIC_FIELD_NUMBER: _ClassVar[int]
    IGNORE_CROSS_BOUNDARY_BBOX_FIELD_NUMBER: _ClassVar[int]
    BP_INSIDE_FIELD_NUMBER: _ClassVar[int]
    MINING_TYPE_FIELD_NUMBER: _ClassVar[int]
    NMS_PARAM_FIELD_NUMBER: _ClassVar[int]
    SAMPLE_SIZE_FIELD_NUMBER: _ClassVar[int]
    USE_PRIOR_FOR_NMS_FIELD_NUMBER: _ClassVar[int]
    OBJECTNESS_SCORE_FIELD_NUMBER: _ClassVar[int]
    loc_loss_type: MultiBoxLossParameter.LocLossType
    conf_loss_type: MultiBoxLossParameter.ConfLossType
    loc_weight: float
    num_classes: int
    share_location: bool
    match_type: MultiBoxLossParameter.MatchType
    overlap_threshold: float
    use_prior_for_matching: bool
    background_label_id: int
    use_difficult_gt: bool
    do_neg_mining: bool
    neg_pos_ratio: float
    neg_overlap: float
    code_type: PriorBoxParameter.CodeType
    encode_variance_in_target: bool
    map_object_to_agnostic: bool
    ignore_cross_boundary_bbox: bool
    bp_inside: bool
    mining_type: MultiBoxLossParameter.MiningType
    nms_param: NonMaximumSuppressionParameter
    sample_size: int
    use_prior_for_nms: bool
    objectness_score: float
    def __init__(self, loc_loss_type: _Optional[_Union[MultiBoxLossParameter.LocLossType, str]] = ..., conf_loss_type: _Optional[_Union[MultiBoxLossParameter.ConfLossType, str]] = ..., loc_weight: _Optional[float] = ..., num_classes: _Optional[int] = ..., share_location: _Optional[bool] = ..., match_type: _Optional[_Union[MultiBoxLossParameter.MatchType, str]] = ..., overlap_threshold: _Optional[float] = ..., use_prior_for_matching: _Optional[bool] = ..., background_label_id: _Optional[int] = ..., use_difficult_gt: _Optional[bool] = ..., do_neg_mining: _Optional[bool] = ..., neg_pos_ratio: _Optional[float] = ..., neg_overlap: _Optional[float] = ..., code_type: _Optional[_Union[PriorBoxParameter.CodeType, str]] = ..., encode_variance_in_target: _Optional[bool] = ..., map_object_to_agnostic: _Optional[bool] = ..., ignore_cross_boundary_bbox: _Optional[bool] = ..., bp_inside: _Optional[bool] = ..., mining_type: _Optional[_Union[MultiBoxLossParameter.MiningType, str]] = ..., nms_param: _Optional[_Union[NonMaximumSuppressionParameter, _Mapping]] = ..., sample_size: _Optional[int] = ..., use_prior_for_nms: _Optional[bool] = ..., objectness_score: _Optional[float] = ...) -> None: ...

class NormalizedBBox(_message.Message):
    __slots__ = ("xmin", "ymin", "xmax", "ymax", "label", "difficult", "score", "size")
    XMIN_FIELD_NUMBER: _ClassVar[int]
    YMIN_FIELD_NUMBER: _ClassVar[int]
    XMAX_FIELD_NUMBER: _ClassVar[int]
    YMAX_FIELD_NUMBER: _ClassVar[int]
    LABEL_FIELD_NUMBER: _ClassVar[int]
    DIFFICULT_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    xmin: float
    ymin: float
    xmax: float
    ymax: float
    label: int
    difficult: bool
    score: float
    size: float
    def __init__(self, xmin: _Optional[float] = ..., ymin: _Optional[float] = ..., xmax: _Optional[float] = ..., ymax: _Optional[float] = ..., label: _Optional[int] = ..., difficult: _Optional[bool] = ..., score: _Optional[float] = ..., size: _Optional[float] = ...) -> None: ...

class Annotation(_message.Message):
    __slots__ = ("instance_id", "bbox")
    INSTANCE_ID_FIELD_NUMBER: _ClassVar[int]
    BBOX_FIELD_NUMBER: _ClassVar[int]
    instance_id: int
    bbox: NormalizedBBox
    def __init__(self, instance_id: _Optional[int] = ..., bbox: _Optional[_Union[NormalizedBBox, _Mapping]] = ...) -> None: ...

class AnnotationGroup(_message.Message):
    __slots__ = ("group_label", "annotation")
    GROUP_LABEL_FIELD_NUMBER: _ClassVar[int]
    ANNOTATION_FIELD_NUMBER: _ClassVar[int]
    group_label: int
    annotation: _containers.RepeatedCompositeFieldContainer[Annotation]
    def __init__(self, group_label: _Optional[int] = ..., annotation: _Optional[_Iterable[_Union[Annotation, _Mapping]]] = ...) -> None: ...

class AnnotatedDatum(_message.Message):
    __slots__ = ("datum", "type", "annotation_group")
    class AnnotationType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        BBOX: _ClassVar[AnnotatedDatum.AnnotationType]
    BBOX: AnnotatedDatum.AnnotationType
    DATUM_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    ANNOTATION_GROUP_FIELD_NUMBER: _ClassVar[int]
    datum: Datum
    type: AnnotatedDatum.AnnotationType
    annotation_group: _containers.RepeatedCompositeFieldContainer[AnnotationGroup]
    def __init__(self, datum: _Optional[_Union[Datum, _Mapping]] = ..., type: _Optional[_Union[AnnotatedDatum.AnnotationType, str]] = ..., annotation_group: _Optional[_Iterable[_Union[AnnotationGroup, _Mapping]]] = ...) -> None: ...

class LabelMapItem(_message.Message):
    __slots__ = ("name", "label", "display_name")
    NAME_FIELD_NUMBER: _ClassVar[int]
    LABEL_FIELD_NUMBER: _ClassVar[int]
    DISPLAY_NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    label: int
    display_name: str
    def __init__(self, name: _Optional[str] = ..., label: _Optional[int] = ..., display_name: _Optional[str] = ...) -> None: ...

class LabelMap(_message.Message):
    __slots__ = ("item",)
    ITEM_FIELD_NUMBER: _ClassVar[int]
    item: _containers.RepeatedCompositeFieldContainer[LabelMapItem]
    def __init__(self, item: _Optional[_Iterable[_Union[LabelMapItem, _Mapping]]] = ...) -> None: ...

class AnnotatedDataParameter(_message.Message):
    __slots__ = ("batch_sampler", "label_map_file", "anno_type", "yolo_data_type", "yolo_data_jitter", "train_diffcult", "single_class", "seg_scales", "seg_resize_width", "seg_resize_height", "difficult_label_warmup")
    BATCH_SAMPLER_FIELD_NUMBER: _ClassVar[int]
    LABEL_MAP_FILE_FIELD_NUMBER: _ClassVar[int]
    ANNO_TYPE_FIELD_NUMBER: _ClassVar[int]
    YOLO_DATA_TYPE_FIELD_NUMBER: _ClassVar[int]
    YOLO_DATA_JITTER_FIELD_NUMBER: _ClassVar[int]
    TRAIN_DIFFCULT_FIELD_NUMBER: _ClassVar[int]
    SINGLE_CLASS_FIELD_NUMBER: _ClassVar[int]
    SEG_SCALES_FIELD_NUMBER: _ClassVar[int]
    SEG_RESIZE_WIDTH_FIELD_NUMBER: _ClassVar[int]
    SEG_RESIZE_HEIGHT_FIELD_NUMBER: _ClassVar[int]
    DIFFICULT_LABEL_WARMUP_FIELD_NUMBER: _ClassVar[int]
    batch_sampler: _containers.RepeatedCompositeFieldContainer[BatchSampler]
    label_map_file: str
    anno_type: AnnotatedDatum.AnnotationType
    yolo_data_type: int
    yolo_data_jitter: float
    train_diffcult: bool
    single_class: bool
    seg_scales: int
    seg_resize_width: int
    seg_resize_height: int
    difficult_label_warmup: int
    def __init__(self, batch_sampler: _Optional[_Iterable[_Union[BatchSampler, _Mapping]]] = ..., label_map_file: _Optional[str] = ..., anno_type: _Optional[_Union[AnnotatedDatum.AnnotationType, str]] = ..., yolo_data_type: _Optional[int] = ..., yolo_data_jitter: _Optional[float] = ..., train_diffcult: _Optional[bool] = ..., single_class: _Optional[bool] = ..., seg_scales: _Optional[int] = ..., seg_resize_width: _Optional[int] = ..., seg_resize_height: _Optional[int] = ..., difficult_label_warmup: _Optional[int] = ...) -> None: ...

class BatchSampler(_message.Message):
    __slots__ = ("use_original_image", "sampler", "sample_constraint", "max_sample", "max_trials")
    USE_ORIGINAL_IMAGE_FIELD_NUMBER: _ClassVar[int]
    SAMPLER_FIELD_NUMBER: _ClassVar[int]
    SAMPLE_CONSTRAINT_FIELD_NUMBER: _ClassVar[int]
    MAX_SAMPLE_FIELD_NUMBER: _ClassVar[int]
    MAX_TRIALS_FIELD_NUMBER: _ClassVar[int]
    use_original_image: bool
    sampler: Sampler
    sample_constraint: SampleConstraint
    max_sample: int
    max_trials: int
    def __init__(self, use_original_image: _Optional[bool] = ..., sampler: _Optional[_Union[Sampler, _Mapping]] = ..., sample_constraint: _Optional[_Union[SampleConstraint, _Mapping]] = ..., max_sample: _Optional[int] = ..., max_trials: _Optional[int] = ...) -> None: ...

class Sampler(_message.Message):
    __slots__ = ("min_scale", "max_scale", "min_aspect_ratio", "max_aspect_ratio")
    MIN_SCALE_FIELD_NUMBER: _ClassVar[int]
    MAX_SCALE_FIELD_NUMBER: _ClassVar[int]
    MIN_ASPECT_RATIO_FIELD_NUMBER: _ClassVar[int]
    MAX_ASPECT_RATIO_FIELD_NUMBER: _ClassVar[int]
    min_scale: float
    max_scale: float
    min_aspect_ratio: float
    max_aspect_ratio: float
    def __init__(self, min_scale: _Optional[float] = ..., max_scale: _Optional[float] = ..., min_aspect_ratio: _Optional[float] = ..., max_aspect_ratio: _Optional[float] = ...) -> None: ...

class SampleConstraint(_message.Message):
    __slots__ = ("min_jaccard_overlap", "max_jaccard_overlap", "min_sample_coverage", "max_sample_coverage", "min_object_coverage", "max_object_coverage")
    MIN_JACCARD_OVERLAP_FIELD_NUMBER: _ClassVar[int]
    MAX_JACCARD_OVERLAP_FIELD_NUMBER: _ClassVar[int]
    MIN_SAMPLE_COVERAGE_FIELD_NUMBER: _ClassVar[int]
    MAX_SAMPLE_COVERAGE_FIELD_NUMBER: _ClassVar[int]
    MIN_OBJECT_COVERAGE_FIELD_NUMBER: _ClassVar[int]
    MAX_OBJECT_COVERAGE_FIELD_NUMBER: _ClassVar[int]
    min_jaccard_overlap: float
    max_jaccard_overlap: float
    min_sample_coverage: float
    max_sample_coverage: float
    min_object_coverage: float
    max_object_coverage: float
    def __init__(self, min_jaccard_overlap: _Optional[float] = ..., max_jaccard_overlap: _Optional[float] = ..., min_sample_coverage: _Optional[float] = ..., max_sample_coverage: _Optional[float] = ..., min_object_coverage: _Optional[float] = ..., max_object_coverage: _Optional[float] = ...) -> None: ...

class VideoDataParameter(_message.Message):
    __slots__ = ("video_type", "device_id", "video_file", "skip_frames", "source", "scale", "mean_file", "batch_size", "crop_size", "mirror", "rand_skip", "shuffle", "new_height", "new_width", "is_color", "root_folder", "new_length", "show_data", "use_image", "use_temporal_jitter", "sampling_rate", "max_sampling_rate", "use_sampling_rate_jitter", "use_multiple_label", "num_of_labels", "num_segments", "modality", "name_pattern", "encoded", "grayscale")
    class VideoType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        WEBCAM: _ClassVar[VideoDataParameter.VideoType]
        VIDEO: _ClassVar[VideoDataParameter.VideoType]
    WEBCAM: VideoDataParameter.VideoType
    VIDEO: VideoDataParameter.VideoType
    class Modality(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        RGB: _ClassVar[VideoDataParameter.Modality]
        FLOW: _ClassVar[VideoDataParameter.Modality]
    RGB: VideoDataParameter.Modality
    FLOW: VideoDataParameter.Modality
    VIDEO_TYPE_FIELD_NUMBER: _ClassVar[int]
    DEVICE_ID_FIELD_NUMBER: _ClassVar[int]
    VIDEO_FILE_FIELD_NUMBER: _ClassVar[int]
    SKIP_FRAMES_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    SCALE_FIELD_NUMBER: _ClassVar[int]
    MEAN_FILE_FIELD_NUMBER: _ClassVar[int]
    BATCH_SIZE_FIELD_NUMBER: _ClassVar[int]
    CROP_SIZE_FIELD_NUMBER: _ClassVar[int]
    MIRROR_FIELD_NUMBER: _ClassVar[int]
    RAND_SKIP_FIELD_NUMBER: _ClassVar[int]
    SHUFFLE_FIELD_NUMBER: _ClassVar[int]
    NEW_HEIGHT_FIELD_NUMBER: _ClassVar[int]
    NEW_WIDTH_FIELD_NUMBER: _ClassVar[int]
    IS_COLOR_FIELD_NUMBER: _ClassVar[int]
    ROOT_FOLDER_FIELD_NUMBER: _ClassVar[int]
    NEW_LENGTH_FIELD_NUMBER: _ClassVar[int]
    SHOW_DATA_FIELD_NUMBER: _ClassVar[int]
    USE_IMAGE_FIELD_NUMBER: _ClassVar[int]
    USE_TEMPORAL_JITTER_FIELD_NUMBER: _ClassVar[int]
    SAMPLING_RATE_FIELD_NUMBER: _ClassVar[int]
    MAX_SAMPLING_RATE_FIELD_NUMBER: _ClassVar[int]
    USE_SAMPLING_RATE_JITTER_FIELD_NUMBER: _ClassVar[int]
    USE_MULTIPLE_LABEL_FIELD_NUMBER: _ClassVar[int]
    NUM_OF_LABELS_FIELD_NUMBER: _ClassVar[int]
    NUM_SEGMENTS_FIELD_NUMBER: _ClassVar[int]
    MODALITY_FIELD_NUMBER: _ClassVar[int]
    NAME_PATTERN_FIELD_NUMBER: _ClassVar[int]
    ENCODED_FIELD_NUMBER: _ClassVar[int]
    GRAYSCALE_FIELD_NUMBER: _ClassVar[int]
    video_type: VideoDataParameter.VideoType
    device_id: int
    video_file: str
    skip_frames: int
    source: str
    scale: float
    mean_file: str
    batch_size: int
    crop_size: int
    mirror: bool
    rand_skip: int
    shuffle: bool
    new_height: int
    new_width: int
    is_color: bool
    root_folder: str
    new_length: int
    show_data: bool
    use_image: bool
    use_temporal_jitter: bool
    sampling_rate: int
    max_sampling_rate: int
    use_sampling_rate_jitter: bool
    use_multiple_label: bool
    num_of_labels: int
    num_segments: int
    modality: VideoDataParameter.Modality
    name_pattern: str
    encoded: bool
    grayscale: bool
    def __init__(self, video_type: _Optional[_Union[VideoDataParameter.VideoType, str]] = ..., device_id: _Optional[int] = ..., video_file: _Optional[str] = ..., skip_frames: _Optional[int] = ..., source: _Optional[str] = ..., scale: _Optional[float] = ..., mean_file: _Optional[str] = ..., batch_size: _Optional[int] = ..., crop_size: _Optional[int] = ..., mirror: _Optional[bool] = ..., rand_skip: _Optional[int] = ..., shuffle: _Optional[bool] = ..., new_height: _Optional[int] = ..., new_width: _Optional[int] = ..., is_color: _Optional[bool] = ..., root_folder: _Optional[str] = ..., new_length: _Optional[int] = ..., show_data: _Optional[bool] = ..., use_image: _Optional[bool] = ..., use_temporal_jitter: _Optional[bool] = ..., sampling_rate: _Optional[int] = ..., max_sampling_rate: _Optional[int] = ..., use_sampling_rate_jitter: _Optional[bool] = ..., use_multiple_label: _Optional[bool] = ..., num_of_labels: _Optional[int] = ..., num_segments: _Optional[int] = ..., modality: _Optional[_Union[VideoDataParameter.Modality, str]] = ..., name_pattern: _Optional[str] = ..., encoded: _Optional[bool] = ..., grayscale: _Optional[bool] = ...) -> None: ...

class ResizeParameter(_message.Message):
    __slots__ = ("prob", "resize_mode", "height", "width", "pad_mode", "pad_value", "interp_mode", "height_scale", "width_scale", "jitter")
    class Resize_mode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        WARP: _ClassVar[ResizeParameter.Resize_mode]
        FIT_SMALL_SIZE: _ClassVar[ResizeParameter.Resize_mode]
        FIT_LARGE_SIZE_AND_PAD: _ClassVar[ResizeParameter.Resize_mode]
    WARP: ResizeParameter.Resize_mode
    FIT_SMALL_SIZE: ResizeParameter.Resize_mode
    FIT_LARGE_SIZE_AND_PAD: ResizeParameter.Resize_mode
    class Pad_mode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        CONSTANT: _ClassVar[ResizeParameter.Pad_mode]
        MIRRORED: _ClassVar[ResizeParameter.Pad_mode]
        REPEAT_NEAREST: _ClassVar[ResizeParameter.Pad_mode]
    CONSTANT: ResizeParameter.Pad_mode
    MIRRORED: ResizeParameter.Pad_mode
    REPEAT_NEAREST: ResizeParameter.Pad_mode
    class Interp_mode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        LINEAR: _ClassVar[ResizeParameter.Interp_mode]
        AREA: _ClassVar[ResizeParameter.Interp_mode]
        NEAREST: _ClassVar[ResizeParameter.Interp_mode]
        CUBIC: _ClassVar[ResizeParameter.Interp_mode]
        LANCZOS4: _ClassVar[ResizeParameter.Interp_mode]
    LINEAR: ResizeParameter.Interp_mode
    AREA: ResizeParameter.Interp_mode
    NEAREST: ResizeParameter.Interp_mode
    CUBIC: ResizeParameter.Interp_mode
    LANCZOS4: ResizeParameter.Interp_mode
    PROB_FIELD_NUMBER: _ClassVar[int]
    RESIZE_MODE_FIELD_NUMBER: _ClassVar[int]
    HEIGHT_FIELD_NUMBER: _ClassVar[int]
    WIDTH_FIELD_NUMBER: _ClassVar[int]
    PAD_MODE_FIELD_NUMBER: _ClassVar[int]
    PAD_VALUE_FIELD_NUMBER: _ClassVar[int]
    INTERP_MODE_FIELD_NUMBER: _ClassVar[int]
    HEIGHT_SCALE_FIELD_NUMBER: _ClassVar[int]
    WIDTH_SCALE_FIELD_NUMBER: _ClassVar[int]
    JITTER_FIELD_NUMBER: _ClassVar[int]
    prob: float
    resize_mode: ResizeParameter.Resize_mode
    height: int
    width: int
    pad_mode: ResizeParameter.Pad_mode
    pad_value: _containers.RepeatedScalarFieldContainer[float]
    interp_mode: _containers.RepeatedScalarFieldContainer[ResizeParameter.Interp_mode]
    height_scale: int
    width_scale: int
    jitter: float
    def __init__(self, prob: _Optional[float] = ..., resize_mode: _Optional[_Union[ResizeParameter.Resize_mode, str]] = ..., height: _Optional[int] = ..., width: _Optional[int] = ..., pad_mode: _Optional[_Union[ResizeParameter.Pad_mode, str]] = ..., pad_value: _Optional[_Iterable[float]] = ..., interp_mode: _Optional[_Iterable[_Union[ResizeParameter.Interp_mode, str]]] = ..., height_scale: _Optional[int] = ..., width_scale: _Optional[int] = ..., jitter: _Optional[float] = ...) -> None: ...

class SaltPepperParameter(_message.Message):
    __slots__ = ("fraction", "value")
    FRACTION_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    fraction: float
    value: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, fraction: _Optional[float] = ..., value: _Optional[_Iterable[float]] = ...) -> None: ...

class NoiseParameter(_message.Message):
    __slots__ = ("prob", "hist_eq", "inverse", "decolorize", "gauss_blur", "jpeg", "posterize", "erode", "saltpepper", "saltpepper_param", "clahe", "convert_to_hsv", "convert_to_lab")
    PROB_FIELD_NUMBER: _ClassVar[int]
    HIST_EQ_FIELD_NUMBER: _ClassVar[int]
    INVERSE_FIELD_NUMBER: _ClassVar[int]
    DECOLORIZE_FIELD_NUMBER: _ClassVar[int]
    GAUSS_BLUR_FIELD_NUMBER: _ClassVar[int]
    JPEG_FIELD_NUMBER: _ClassVar[int]
    POSTERIZE_FIELD_NUMBER: _ClassVar[int]
    ERODE_FIELD_NUMBER: _ClassVar[int]
    SALTPEPPER_FIELD_NUMBER: _ClassVar[int]
    SALTPEPPER_PARAM_FIELD_NUMBER: _ClassVar[int]
    CLAHE_FIELD_NUMBER: _ClassVar[int]
    CONVERT_TO_HSV_FIELD_NUMBER: _ClassVar[int]
    CONVERT_TO_LAB_FIELD_NUMBER: _ClassVar[int]
    prob: float
    hist_eq: bool
    inverse: bool
    decolorize: bool
    gauss_blur: bool
    jpeg: float
    posterize: bool
    erode: bool
    saltpepper: bool
    saltpepper_param: SaltPepperParameter
    clahe: bool
    convert_to_hsv: bool
    convert_to_lab: bool
    def __init__(self, prob: _Optional[float] = ..., hist_eq: _Optional[bool] = ..., inverse: _Optional[bool] = ..., decolorize: _Optional[bool] = ..., gauss_blur: _Optional[bool] = ..., jpeg: _Optional[float] = ..., posterize: _Optional[bool] = ..., erode: _Optional[bool] = ..., saltpepper: _Optional[bool] = ..., saltpepper_param: _Optional[_Union[SaltPepperParameter, _Mapping]] = ..., clahe: _Optional[bool] = ..., convert_to_hsv: _Optional[bool] = ..., convert_to_lab: _Optional[bool] = ...) -> None: ...

class DistortionParameter(_message.Message):
    __slots__ = ("brightness_prob", "brightness_delta", "contrast_prob", "contrast_lower", "contrast_upper", "hue_prob", "hue_delta", "saturation_prob", "saturation_lower", "saturation_upper", "random_order_prob", "exposure_lower", "exposure_upper")
    BRIGHTNESS_PROB_FIELD_NUMBER: _ClassVar[int]
    BRIGHTNESS_DELTA_FIELD_NUMBER: _ClassVar[int]
    CONTRAST_PROB_FIELD_NUMBER: _ClassVar[int]
    CONTRAST_LOWER_FIELD_NUMBER: _ClassVar[int]
    CONTRAST_UPPER_FIELD_NUMBER: _ClassVar[int]
    HUE_PROB_FIELD_NUMBER: _ClassVar[int]
    HUE_DELTA_FIELD_NUMBER: _ClassVar[int]
    SATURATION_PROB_FIELD_NUMBER: _ClassVar[int]
    SATURATION_LOWER_FIELD_NUMBER: _ClassVar[int]
    SATURATION_UPPER_FIELD_NUMBER: _ClassVar[int]
    RANDOM_ORDER_PROB_FIELD_NUMBER: _ClassVar[int]
    EXPOSURE_LOWER_FIELD_NUMBER: _ClassVar[int]
    EXPOSURE_UPPER_FIELD_NUMBER: _ClassVar[int]
    brightness_prob: float
    brightness_delta: float
    contrast_prob: float
    contrast_lower: float
    contrast_upper: float
    hue_prob: float
    hue_delta: float
    saturation_prob: float
    saturation_lower: float
    saturation_upper: float
    random_order_prob: float
    exposure_lower: float
    exposure_upper: float
    def __init__(self, brightness_prob: _Optional[float] = ..., brightness_delta: _Optional[float] = ..., contrast_prob: _Optional[float] = ..., contrast_lower: _Optional[float] = ..., contrast_upper: _Optional[float] = ..., hue_prob: _Optional[float] = ..., hue_delta: _Optional[float] = ..., saturation_prob: _Optional[float] = ..., saturation_lower: _Optional[float] = ..., saturation_upper: _Optional[float] = ..., random_order_prob: _Optional[float] = ..., exposure_lower: _Optional[float] = ..., exposure_upper: _Optional[float] = ...) -> None: ...

class ExpansionParameter(_message.Message):
    __slots__ = ("prob", "max_expand_ratio")
    PROB_FIELD_NUMBER: _ClassVar[int]
    MAX_EXPAND_RATIO_FIELD_NUMBER: _ClassVar[int]
    prob: float
    max_expand_ratio: float
    def __init__(self, prob: _Optional[float] = ..., max_expand_ratio: _Optional[float] = ...) -> None: ...

class EmitConstraint(_message.Message):
    __slots__ = ("emit_type", "emit_overlap")
    class EmitType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        CENTER: _ClassVar[EmitConstraint.EmitType]
        MIN_OVERLAP: _ClassVar[EmitConstraint.EmitType]
    CENTER: EmitConstraint.EmitType
    MIN_OVERLAP: EmitConstraint.EmitType
    EMIT_TYPE_FIELD_NUMBER: _ClassVar[int]
    EMIT_OVERLAP_FIELD_NUMBER: _ClassVar[int]
    emit_type: EmitConstraint.EmitType
    emit_overlap: float
    def __init__(self, emit_type: _Optional[_Union[EmitConstraint.EmitType, str]] = ..., emit_overlap: _Optional[float] = ...) -> None: ...

class DepthToSpaceParameter(_message.Message):
    __slots__ = ("block_size", "data_format")
    BLOCK_SIZE_FIELD_NUMBER: _ClassVar[int]
    DATA_FORMAT_FIELD_NUMBER: _ClassVar[int]
    block_size: int
    data_format: str
    def __init__(self, block_size: _Optional[int] = ..., data_format: _Optional[str] = ...) -> None: ...

class SpaceToDepthParameter(_message.Message):
    __slots__ = ("block_size", "data_format")
    BLOCK_SIZE_FIELD_NUMBER: _ClassVar[int]
    DATA_FORMAT_FIELD_NUMBER: _ClassVar[int]
    block_size: int
    data_format: str
    def __init__(self, block_size: _Optional[int] = ..., data_format: _Optional[str] = ...) -> None: ...

class ResizeNearestNeighborParameter(_message.Message):
    __slots__ = ("align_corners", "output_height", "output_width", "data_format", "scale_height", "scale_width", "half_pixel_centers")
    ALIGN_CORNERS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_HEIGHT_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_WIDTH_FIELD_NUMBER: _ClassVar[int]
    DATA_FORMAT_FIELD_NUMBER: _ClassVar[int]
    SCALE_HEIGHT_FIELD_NUMBER: _ClassVar[int]
    SCALE_WIDTH_FIELD_NUMBER: _ClassVar[int]
    HALF_PIXEL_CENTERS_FIELD_NUMBER: _ClassVar[int]
    align_corners: bool
    output_height: int
    output_width: int
    data_format: str
    scale_height: float
    scale_width: float
    half_pixel_centers: bool
    def __init__(self, align_corners: _Optional[bool] = ..., output_height: _Optional[int] = ..., output_width: _Optional[int] = ..., data_format: _Optional[str] = ..., scale_height: _Optional[float] = ..., scale_width: _Optional[float] = ..., half_pixel_centers: _Optional[bool] = ...) -> None: ...

class ResizeBilinearParameter(_message.Message):
    __slots__ = ("align_corners", "output_height", "output_width", "data_format", "scale_height", "scale_width", "half_pixel_centers", "pytorch_half_pixel")
    ALIGN_CORNERS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_HEIGHT_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_WIDTH_FIELD_NUMBER: _ClassVar[int]
    DATA_FORMAT_FIELD_NUMBER: _ClassVar[int]
    SCALE_HEIGHT_FIELD_NUMBER: _ClassVar[int]
    SCALE_WIDTH_FIELD_NUMBER: _ClassVar[int]
    HALF_PIXEL_CENTERS_FIELD_NUMBER: _ClassVar[int]
    PYTORCH_HALF_PIXEL_FIELD_NUMBER: _ClassVar[int]
    align_corners: bool
    output_height: int
    output_width: int
    data_format: str
    scale_height: float
    scale_width: float
    half_pixel_centers: bool
    pytorch_half_pixel: bool
    def __init__(self, align_corners: _Optional[bool] = ..., output_height: _Optional[int] = ..., output_width: _Optional[int] = ..., data_format: _Optional[str] = ..., scale_height: _Optional[float] = ..., scale_width: _Optional[float] = ..., half_pixel_centers: _Optional[bool] = ..., pytorch_half_pixel: _Optional[bool] = ...) -> None: ...

class UpsampleDarknetParameter(_message.Message):
    __slots__ = ("stride",)
    STRIDE_FIELD_NUMBER: _ClassVar[int]
    stride: int
    def __init__(self, stride: _Optional[int] = ...) -> None: ...

class GatherParameter(_message.Message):
    __slots__ = ("indices", "shape", "axis")
    INDICES_FIELD_NUMBER: _ClassVar[int]
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    AXIS_FIELD_NUMBER: _ClassVar[int]
    indices: _containers.RepeatedScalarFieldContainer[int]
    shape: _containers.RepeatedScalarFieldContainer[int]
    axis: int
    def __init__(self, indices: _Optional[_Iterable[int]] = ..., shape: _Optional[_Iterable[int]] = ..., axis: _Optional[int] = ...) -> None: ...

class GatherNdParameter(_message.Message):
    __slots__ = ("indices", "indices_shape")
    INDICES_FIELD_NUMBER: _ClassVar[int]
    INDICES_SHAPE_FIELD_NUMBER: _ClassVar[int]
    indices: _containers.RepeatedScalarFieldContainer[int]
    indices_shape: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, indices: _Optional[_Iterable[int]] = ..., indices_shape: _Optional[_Iterable[int]] = ...) -> None: ...

class CropAndResizeParameter(_message.Message):
    __slots__ = ("crop_h", "crop_w", "extrapolation_value")
    CROP_H_FIELD_NUMBER: _ClassVar[int]
    CROP_W_FIELD_NUMBER: _ClassVar[int]
    EXTRAPOLATION_VALUE_FIELD_NUMBER: _ClassVar[int]
    crop_h: int
    crop_w: int
    extrapolation_value: float
    def __init__(self, crop_h: _Optional[int] = ..., crop_w: _Optional[int] = ..., extrapolation_value: _Optional[float] = ...) -> None: ...

class PadParameter(_message.Message):
    __slots__ = ("paddings", "constant_values")
    PADDINGS_FIELD_NUMBER: _ClassVar[int]
    CONSTANT_VALUES_FIELD_NUMBER: _ClassVar[int]
    paddings: _containers.RepeatedScalarFieldContainer[int]
    constant_values: float
    def __init__(self, paddings: _Optional[_Iterable[int]] = ..., constant_values: _Optional[float] = ...) -> None: ...

class MirrorPadParameter(_message.Message):
    __slots__ = ("paddings", "constant_values", "mode")
    PADDINGS_FIELD_NUMBER: _ClassVar[int]
    CONSTANT_VALUES_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    paddings: _containers.RepeatedScalarFieldContainer[int]
    constant_values: float
    mode: str
    def __init__(self, paddings: _Optional[_Iterable[int]] = ..., constant_values: _Optional[float] = ..., mode: _Optional[str] = ...) -> None: ...

class StackParameter(_message.Message):
    __slots__ = ("axis",)
    AXIS_FIELD_NUMBER: _ClassVar[int]
    axis: int
    def __init__(self, axis: _Optional[int] = ...) -> None: ...

class UnstackParameter(_message.Message):
    __slots__ = ("num", "axis")
    NUM_FIELD_NUMBER: _ClassVar[int]
    AXIS_FIELD_NUMBER: _ClassVar[int]
    num: int
    axis: int
    def __init__(self, num: _Optional[int] = ..., axis: _Optional[int] = ...) -> None: ...

class ReduceParameter(_message.Message):
    __slots__ = ("axis", "keepdims")
    AXIS_FIELD_NUMBER: _ClassVar[int]
    KEEPDIMS_FIELD_NUMBER: _ClassVar[int]
    axis: _containers.RepeatedScalarFieldContainer[int]
    keepdims: bool
    def __init__(self, axis: _Optional[_Iterable[int]] = ..., keepdims: _Optional[bool] = ...) -> None: ...

class AxesParameter(_message.Message):
    __slots__ = ("axis",)
    AXIS_FIELD_NUMBER: _ClassVar[int]
    axis: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, axis: _Optional[_Iterable[int]] = ...) -> None: ...

class SeLuParameter(_message.Message):
    __slots__ = ("alpha",)
    LAMBDA_FIELD_NUMBER: _ClassVar[int]
    ALPHA_FIELD_NUMBER: _ClassVar[int]
    alpha: float
    def __init__(self, alpha: _Optional[float] = ..., **kwargs: object) -> None: ...

class SeLuDropoutParameter(_message.Message):
    __slots__ = ("dropout_ratio", "alpha")
    DROPOUT_RATIO_FIELD_NUMBER: _ClassVar[int]
    ALPHA_FIELD_NUMBER: _ClassVar[int]
    dropout_ratio: float
    alpha: float
    def __init__(self, dropout_ratio: _Optional[float] = ..., alpha: _Optional[float] = ...) -> None: ...

class HardSigmoidParameter(_message.Message):
    __slots__ = ("alpha", "beta")
    ALPHA_FIELD_NUMBER: _ClassVar[int]
    BETA_FIELD_NUMBER: _ClassVar[int]
    alpha: float
    beta: float
    def __init__(self, alpha: _Optional[float] = ..., beta: _Optional[float] = ...) -> None: ...

class ThresholdedReLUParameter(_message.Message):
    __slots__ = ("alpha",)
    ALPHA_FIELD_NUMBER: _ClassVar[int]
    alpha: float
    def __init__(self, alpha: _Optional[float] = ...) -> None: ...

class ScaledTanHParameter(_message.Message):
    __slots__ = ("alpha", "beta")
    ALPHA_FIELD_NUMBER: _ClassVar[int]
    BETA_FIELD_NUMBER: _ClassVar[int]
    alpha: float
    beta: float
    def __init__(self, alpha: _Optional[float] = ..., beta: _Optional[float] = ...) -> None: ...

class XLUParameter(_message.Message):
    __slots__ = ("negative_slope", "relu6", "maximum", "minimum")
    NEGATIVE_SLOPE_FIELD_NUMBER: _ClassVar[int]
    RELU6_FIELD_NUMBER: _ClassVar[int]
    MAXIMUM_FIELD_NUMBER: _ClassVar[int]
    MINIMUM_FIELD_NUMBER: _ClassVar[int]
    negative_slope: float
    relu6: bool
    maximum: float
    minimum: float
    def __init__(self, negative_slope: _Optional[float] = ..., relu6: _Optional[bool] = ..., maximum: _Optional[float] = ..., minimum: _Optional[float] = ...) -> None: ...

class BatchToSpaceNDParameter(_message.Message):
    __slots__ = ("block_shape", "crops")
    BLOCK_SHAPE_FIELD_NUMBER: _ClassVar[int]
    CROPS_FIELD_NUMBER: _ClassVar[int]
    block_shape: _containers.RepeatedScalarFieldContainer[int]
    crops: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, block_shape: _Optional[_Iterable[int]] = ..., crops: _Optional[_Iterable[int]] = ...) -> None: ...

class SpaceToBatchNDParameter(_message.Message):
    __slots__ = ("block_shape", "paddings")
    BLOCK_SHAPE_FIELD_NUMBER: _ClassVar[int]
    PADDINGS_FIELD_NUMBER: _ClassVar[int]
    block_shape: _containers.RepeatedScalarFieldContainer[int]
    paddings: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, block_shape: _Optional[_Iterable[int]] = ..., paddings: _Optional[_Iterable[int]] = ...) -> None: ...

class TileNDParameter(_message.Message):
    __slots__ = ("multiples",)
    MULTIPLES_FIELD_NUMBER: _ClassVar[int]
    multiples: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, multiples: _Optional[_Iterable[int]] = ...) -> None: ...

class BroadcastToParameter(_message.Message):
    __slots__ = ("shape",)
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    shape: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, shape: _Optional[_Iterable[int]] = ...) -> None: ...

class StridedSliceParameter(_message.Message):
    __slots__ = ("begin", "end", "strides", "axes", "begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")
    BEGIN_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    STRIDES_FIELD_NUMBER: _ClassVar[int]
    AXES_FIELD_NUMBER: _ClassVar[int]
    BEGIN_MASK_FIELD_NUMBER: _ClassVar[int]
    END_MASK_FIELD_NUMBER: _ClassVar[int]
    ELLIPSIS_MASK_FIELD_NUMBER: _ClassVar[int]
    NEW_AXIS_MASK_FIELD_NUMBER: _ClassVar[int]
    SHRINK_AXIS_MASK_FIELD_NUMBER: _ClassVar[int]
    begin: _containers.RepeatedScalarFieldContainer[int]
    end: _containers.RepeatedScalarFieldContainer[int]
    strides: _containers.RepeatedScalarFieldContainer[int]
    axes: _containers.RepeatedScalarFieldContainer[int]
    begin_mask: int
    end_mask: int
    ellipsis_mask: int
    new_axis_mask: int
    shrink_axis_mask: int
    def __init__(self, begin: _Optional[_Iterable[int]] = ..., end: _Optional[_Iterable[int]] = ..., strides: _Optional[_Iterable[int]] = ..., axes: _Optional[_Iterable[int]] = ..., begin_mask: _Optional[int] = ..., end_mask: _Optional[int] = ..., ellipsis_mask: _Optional[int] = ..., new_axis_mask: _Optional[int] = ..., shrink_axis_mask: _Optional[int] = ...) -> None: ...

class PieceParameter(_message.Message):
    __slots__ = ("begin", "size")
    BEGIN_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    begin: _containers.RepeatedScalarFieldContainer[int]
    size: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, begin: _Optional[_Iterable[int]] = ..., size: _Optional[_Iterable[int]] = ...) -> None: ...

class RangeParameter(_message.Message):
    __slots__ = ("start", "limit", "delta")
    START_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    DELTA_FIELD_NUMBER: _ClassVar[int]
    start: float
    limit: float
    delta: float
    def __init__(self, start: _Optional[float] = ..., limit: _Optional[float] = ..., delta: _Optional[float] = ...) -> None: ...

class ROIAlignParameter(_message.Message):
    __slots__ = ("pooled_h", "pooled_w", "spatial_scale")
    POOLED_H_FIELD_NUMBER: _ClassVar[int]
    POOLED_W_FIELD_NUMBER: _ClassVar[int]
    SPATIAL_SCALE_FIELD_NUMBER: _ClassVar[int]
    pooled_h: int
    pooled_w: int
    spatial_scale: float
    def __init__(self, pooled_h: _Optional[int] = ..., pooled_w: _Optional[int] = ..., spatial_scale: _Optional[float] = ...) -> None: ...

class GemmParameter(_message.Message):
    __slots__ = ("alpha", "beta", "transpose_a", "transpose_b")
    ALPHA_FIELD_NUMBER: _ClassVar[int]
    BETA_FIELD_NUMBER: _ClassVar[int]
    TRANSPOSE_A_FIELD_NUMBER: _ClassVar[int]
    TRANSPOSE_B_FIELD_NUMBER: _ClassVar[int]
    alpha: float
    beta: float
    transpose_a: bool
    transpose_b: bool
    def __init__(self, alpha: _Optional[float] = ..., beta: _Optional[float] = ..., transpose_a: _Optional[bool] = ..., transpose_b: _Optional[bool] = ...) -> None: ...

class LayerNormParameter(_message.Message):
    __slots__ = ("eps", "elementwise_affine")
    EPS_FIELD_NUMBER: _ClassVar[int]
    ELEMENTWISE_AFFINE_FIELD_NUMBER: _ClassVar[int]
    eps: float
    elementwise_affine: bool
    def __init__(self, eps: _Optional[float] = ..., elementwise_affine: _Optional[bool] = ...) -> None: ...

class LogSoftmaxParameter(_message.Message):
    __slots__ = ("axis",)
    AXIS_FIELD_NUMBER: _ClassVar[int]
    axis: int
    def __init__(self, axis: _Optional[int] = ...) -> None: ...

class MatMulParameter(_message.Message):
    __slots__ = ("transpose_a", "transpose_b", "blob_shape")
    TRANSPOSE_A_FIELD_NUMBER: _ClassVar[int]
    TRANSPOSE_B_FIELD_NUMBER: _ClassVar[int]
    BLOB_SHAPE_FIELD_NUMBER: _ClassVar[int]
    transpose_a: bool
    transpose_b: bool
    blob_shape: int
    def __init__(self, transpose_a: _Optional[bool] = ..., transpose_b: _Optional[bool] = ..., blob_shape: _Optional[int] = ...) -> None: ...

class ProposalParameter(_message.Message):
    __slots__ = ("anchor_base_size", "anchor_scale", "anchor_ratio", "max_rois", "feat_stride", "base_size", "min_size", "ratio", "scale", "pre_nms_topn", "post_nms_topn", "nms_thresh")
    ANCHOR_BASE_SIZE_FIELD_NUMBER: _ClassVar[int]
    ANCHOR_SCALE_FIELD_NUMBER: _ClassVar[int]
    ANCHOR_RATIO_FIELD_NUMBER: _ClassVar[int]
    MAX_ROIS_FIELD_NUMBER: _ClassVar[int]
    FEAT_STRIDE_FIELD_NUMBER: _ClassVar[int]
    BASE_SIZE_FIELD_NUMBER: _ClassVar[int]
    MIN_SIZE_FIELD_NUMBER: _ClassVar[int]
    RATIO_FIELD_NUMBER: _ClassVar[int]
    SCALE_FIELD_NUMBER: _ClassVar[int]
    PRE_NMS_TOPN_FIELD_NUMBER: _ClassVar[int]
    POST_NMS_TOPN_FIELD_NUMBER: _ClassVar[int]
    NMS_THRESH_FIELD_NUMBER: _ClassVar[int]
    anchor_base_size: int
    anchor_scale: int
    anchor_ratio: int
    max_rois: int
    feat_stride: int
    base_size: int
    min_size: int
    ratio: _containers.RepeatedScalarFieldContainer[float]
    scale: _containers.RepeatedScalarFieldContainer[float]
    pre_nms_topn: int
    post_nms_topn: int
    nms_thresh: float
    def __init__(self, anchor_base_size: _Optional[int] = ..., anchor_scale: _Optional[int] = ..., anchor_ratio: _Optional[int] = ..., max_rois: _Optional[int] = ..., feat_stride: _Optional[int] = ..., base_size: _Optional[int] = ..., min_size: _Optional[int] = ..., ratio: _Optional[_Iterable[float]] = ..., scale: _Optional[_Iterable[float]] = ..., pre_nms_topn: _Optional[int] = ..., post_nms_topn: _Optional[int] = ..., nms_thresh: _Optional[float] = ...) -> None: ...

class YoloV2LossParameter(_message.Message):
    __slots__ = ("anchors", "side", "num_classes", "num_object", "box_scale", "class_scale", "noobject_scale", "object_scale", "rescore", "constraint", "thresh")
    ANCHORS_FIELD_NUMBER: _ClassVar[int]
    SIDE_FIELD_NUMBER: _ClassVar[int]
    NUM_CLASSES_FIELD_NUMBER: _ClassVar[int]
    NUM_OBJECT_FIELD_NUMBER: _ClassVar[int]
    BOX_SCALE_FIELD_NUMBER: _ClassVar[int]
    CLASS_SCALE_FIELD_NUMBER: _ClassVar[int]
    NOOBJECT_SCALE_FIELD_NUMBER: _ClassVar[int]
    OBJECT_SCALE_FIELD_NUMBER: _ClassVar[int]
    RESCORE_FIELD_NUMBER: _ClassVar[int]
    CONSTRAINT_FIELD_NUMBER: _ClassVar[int]
    THRESH_FIELD_NUMBER: _ClassVar[int]
    anchors: _containers.RepeatedScalarFieldContainer[float]
    side: int
    num_classes: int
    num_object: int
    box_scale: float
    class_scale: float
    noobject_scale: float
    object_scale: float
    rescore: bool
    constraint: bool
    thresh: float
    def __init__(self, anchors: _Optional[_Iterable[float]] = ..., side: _Optional[int] = ..., num_classes: _Optional[int] = ..., num_object: _Optional[int] = ..., box_scale: _Optional[float] = ..., class_scale: _Optional[float] = ..., noobject_scale: _Optional[float] = ..., object_scale: _Optional[float] = ..., rescore: _Optional[bool] = ..., constraint: _Optional[bool] = ..., thresh: _Optional[float] = ...) -> None: ...

class YoloV3LossParameter(_message.Message):
    __slots__ = ("anchors", "mask", "side", "num_classes", "num_object", "total_object", "ignore_thresh", "truth_thresh", "net_w", "net_h")
    ANCHORS_FIELD_NUMBER: _ClassVar[int]
    MASK_FIELD_NUMBER: _ClassVar[int]
    SIDE_FIELD_NUMBER: _ClassVar[int]
    NUM_CLASSES_FIELD_NUMBER: _ClassVar[int]
    NUM_OBJECT_FIELD_NUMBER: _ClassVar[int]
    TOTAL_OBJECT_FIELD_NUMBER: _ClassVar[int]
    IGNORE_THRESH_FIELD_NUMBER: _ClassVar[int]
    TRUTH_THRESH_FIELD_NUMBER: _ClassVar[int]
    NET_W_FIELD_NUMBER: _ClassVar[int]
    NET_H_FIELD_NUMBER: _ClassVar[int]
    anchors: _containers.RepeatedScalarFieldContainer[int]
    mask: _containers.RepeatedScalarFieldContainer[int]
    side: int
    num_classes: int
    num_object: int
    total_object: int
    ignore_thresh: float
    truth_thresh: float
    net_w: int
    net_h: int
    def __init__(self, anchors: _Optional[_Iterable[int]] = ..., mask: _Optional[_Iterable[int]] = ..., side: _Optional[int] = ..., num_classes: _Optional[int] = ..., num_object: _Optional[int] = ..., total_object: _Optional[int] = ..., ignore_thresh: _Optional[float] = ..., truth_thresh: _Optional[float] = ..., net_w: _Optional[int] = ..., net_h: _Optional[int] = ...) -> None: ...

class SqueezeConvolutionParameter(_message.Message):
    __slots__ = ("num_output", "bias_term", "pad", "kernel_size", "group", "stride", "weight_filler", "bias_filler", "pad_h", "pad_w", "kernel_h", "kernel_w", "stride_h", "stride_w", "axis", "gamma", "power", "iter_stop", "c_rate", "weight_mask_filler", "bias_mask_filler", "dilation", "dynamicsplicing", "splicing_rate")
    NUM_OUTPUT_FIELD_NUMBER: _ClassVar[int]
    BIAS_TERM_FIELD_NUMBER: _ClassVar[int]
    PAD_FIELD_NUMBER: _ClassVar[int]
    KERNEL_SIZE_FIELD_NUMBER: _ClassVar[int]
    GROUP_FIELD_NUMBER: _ClassVar[int]
    STRIDE_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_FILLER_FIELD_NUMBER: _ClassVar[int]
    BIAS_FILLER_FIELD_NUMBER: _ClassVar[int]
    PAD_H_FIELD_NUMBER: _ClassVar[int]
    PAD_W_FIELD_NUMBER: _ClassVar[int]
    KERNEL_H_FIELD_NUMBER: _ClassVar[int]
    KERNEL_W_FIELD_NUMBER: _ClassVar[int]
    STRIDE_H_FIELD_NUMBER: _ClassVar[int]
    STRIDE_W_FIELD_NUMBER: _ClassVar[int]
    AXIS_FIELD_NUMBER: _ClassVar[int]
    GAMMA_FIELD_NUMBER: _ClassVar[int]
    POWER_FIELD_NUMBER: _ClassVar[int]
    ITER_STOP_FIELD_NUMBER: _ClassVar[int]
    C_RATE_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_MASK_FILLER_FIELD_NUMBER: _ClassVar[int]
    BIAS_MASK_FILLER_FIELD_NUMBER: _ClassVar[int]
    DILATION_FIELD_NUMBER: _ClassVar[int]
    DYNAMICSPLICING_FIELD_NUMBER: _ClassVar[int]
    SPLICING_RATE_FIELD_NUMBER: _ClassVar[int]
    num_output: int
    bias_term: bool
    pad: _containers.RepeatedScalarFieldContainer[int]
    kernel_size: _containers.RepeatedScalarFieldContainer[int]
    group: int
    stride: _containers.RepeatedScalarFieldContainer[int]
    weight_filler: FillerParameter
    bias_filler: FillerParameter
    pad_h: int
    pad_w: int
    kernel_h: int
    kernel_w: int
    stride_h: int
    stride_w: int
    axis: int
    gamma: float
    power: float
    iter_stop: float
    c_rate: float
    weight_mask_filler: FillerParameter
    bias_mask_filler: FillerParameter
    dilation: _containers.RepeatedScalarFieldContainer[int]
    dynamicsplicing: bool
    splicing_rate: float
    def __init__(self, num_output: _Optional[int] = ..., bias_term: _Optional[bool] = ..., pad: _Optional[_Iterable[int]] = ..., kernel_size: _Optional[_Iterable[int]] = ..., group: _Optional[int] = ..., stride: _Optional[_Iterable[int]] = ..., weight_filler: _Optional[_Union[FillerParameter, _Mapping]] = ..., bias_filler: _Optional[_Union[FillerParameter, _Mapping]] = ..., pad_h: _Optional[int] = ..., pad_w: _Optional[int] = ..., kernel_h: _Optional[int] = ..., kernel_w: _Optional[int] = ..., stride_h: _Optional[int] = ..., stride_w: _Optional[int] = ..., axis: _Optional[int] = ..., gamma: _Optional[float] = ..., power: _Optional[float] = ..., iter_stop: _Optional[float] = ..., c_rate: _Optional[float] = ..., weight_mask_filler: _Optional[_Union[FillerParameter, _Mapping]] = ..., bias_mask_filler: _Optional[_Union[FillerParameter, _Mapping]] = ..., dilation: _Optional[_Iterable[int]] = ..., dynamicsplicing: _Optional[bool] = ..., splicing_rate: _Optional[float] = ...) -> None: ...

class SqueezeInnerProductParameter(_message.Message):
    __slots__ = ("num_output", "bias_term", "weight_filler", "bias_filler", "axis", "transpose", "gamma", "power", "iter_stop", "c_rate", "weight_mask_filler", "bias_mask_filler", "dynamicsplicing", "splicing_rate")
    NUM_OUTPUT_FIELD_NUMBER: _ClassVar[int]
    BIAS_TERM_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_FILLER_FIELD_NUMBER: _ClassVar[int]
    BIAS_FILLER_FIELD_NUMBER: _ClassVar[int]
    AXIS_FIELD_NUMBER: _ClassVar[int]
    TRANSPOSE_FIELD_NUMBER: _ClassVar[int]
    GAMMA_FIELD_NUMBER: _ClassVar[int]
    POWER_FIELD_NUMBER: _ClassVar[int]
    ITER_STOP_FIELD_NUMBER: _ClassVar[int]
    C_RATE_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_MASK_FILLER_FIELD_NUMBER: _ClassVar[int]
    BIAS_MASK_FILLER_FIELD_NUMBER: _ClassVar[int]
    DYNAMICSPLICING_FIELD_NUMBER: _ClassVar[int]
    SPLICING_RATE_FIELD_NUMBER: _ClassVar[int]
    num_output: int
    bias_term: bool
    weight_filler: FillerParameter
    bias_filler: FillerParameter
    axis: int
    transpose: bool
    gamma: float
    power: float
    iter_stop: float
    c_rate: float
    weight_mask_filler: FillerParameter
    bias_mask_filler: FillerParameter
    dynamicsplicing: bool
    splicing_rate: float
    def __init__(self, num_output: _Optional[int] = ..., bias_term: _Optional[bool] = ..., weight_filler: _Optional[_Union[FillerParameter, _Mapping]] = ..., bias_filler: _Optional[_Union[FillerParameter, _Mapping]] = ..., axis: _Optional[int] = ..., transpose: _Optional[bool] = ..., gamma: _Optional[float] = ..., power: _Optional[float] = ..., iter_stop: _Optional[float] = ..., c_rate: _Optional[float] = ..., weight_mask_filler: _Optional[_Union[FillerParameter, _Mapping]] = ..., bias_mask_filler: _Optional[_Union[FillerParameter, _Mapping]] = ..., dynamicsplicing: _Optional[bool] = ..., splicing_rate: _Optional[float] = ...) -> None: ...

class SmoothL1LossParameter(_message.Message):
    __slots__ = ("abssum", "sigma")
    ABSSUM_FIELD_NUMBER: _ClassVar[int]
    SIGMA_FIELD_NUMBER: _ClassVar[int]
    abssum: bool
    sigma: float
    def __init__(self, abssum: _Optional[bool] = ..., sigma: _Optional[float] = ...) -> None: ...

class BNParameter(_message.Message):
    __slots__ = ("icnet", "slope_filler", "bias_filler", "momentum", "eps", "frozen", "engine", "scale_filler", "shift_filler", "bn_mode")
    class Engine(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        DEFAULT: _ClassVar[BNParameter.Engine]
        CAFFE: _ClassVar[BNParameter.Engine]
        CUDNN: _ClassVar[BNParameter.Engine]
    DEFAULT: BNParameter.Engine
    CAFFE: BNParameter.Engine
    CUDNN: BNParameter.Engine
    class BNMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        LEARN: _ClassVar[BNParameter.BNMode]
        INFERENCE: _ClassVar[BNParameter.BNMode]
    LEARN: BNParameter.BNMode
    INFERENCE: BNParameter.BNMode
    ICNET_FIELD_NUMBER: _ClassVar[int]
    SLOPE_FILLER_FIELD_NUMBER: _ClassVar[int]
    BIAS_FILLER_FIELD_NUMBER: _ClassVar[int]
    MOMENTUM_FIELD_NUMBER: _ClassVar[int]
    EPS_FIELD_NUMBER: _ClassVar[int]
    FROZEN_FIELD_NUMBER: _ClassVar[int]
    ENGINE_FIELD_NUMBER: _ClassVar[int]
    SCALE_FILLER_FIELD_NUMBER: _ClassVar[int]
    SHIFT_FILLER_FIELD_NUMBER: _ClassVar[int]
    BN_MODE_FIELD_NUMBER: _ClassVar[int]
    icnet: bool
    slope_filler: FillerParameter
    bias_filler: FillerParameter
    momentum: float
    eps: float
    frozen: bool
    engine: BNParameter.Engine
    scale_filler: FillerParameter
    shift_filler: FillerParameter
    bn_mode: BNParameter.BNMode
    def __init__(self, icnet: _Optional[bool] = ..., slope_filler: _Optional[_Union[FillerParameter, _Mapping]] = ..., bias_filler: _Optional[_Union[FillerParameter, _Mapping]] = ..., momentum: _Optional[float] = ..., eps: _Optional[float] = ..., frozen: _Optional[bool] = ..., engine: _Optional[_Union[BNParameter.Engine, str]] = ..., scale_filler: _Optional[_Union[FillerParameter, _Mapping]] = ..., shift_filler: _Optional[_Union[FillerParameter, _Mapping]] = ..., bn_mode: _Optional[_Union[BNParameter.BNMode, str]] = ...) -> None: ...

class InterpParameter(_message.Message):
    __slots__ = ("full_zoom_factor", "height", "width", "zoom_factor", "shrink_factor", "pad_beg", "pad_end")
    FULL_ZOOM_FACTOR_FIELD_NUMBER: _ClassVar[int]
    HEIGHT_FIELD_NUMBER: _ClassVar[int]
    WIDTH_FIELD_NUMBER: _ClassVar[int]
    ZOOM_FACTOR_FIELD_NUMBER: _ClassVar[int]
    SHRINK_FACTOR_FIELD_NUMBER: _ClassVar[int]
    PAD_BEG_FIELD_NUMBER: _ClassVar[int]
    PAD_END_FIELD_NUMBER: _ClassVar[int]
    full_zoom_factor: int
    height: int
    width: int
    zoom_factor: int
    shrink_factor: int
    pad_beg: int
    pad_end: int
    def __init__(self, full_zoom_factor: _Optional[int] = ..., height: _Optional[int] = ..., width: _Optional[int] = ..., zoom_factor: _Optional[int] = ..., shrink_factor: _Optional[int] = ..., pad_beg: _Optional[int] = ..., pad_end: _Optional[int] = ...) -> None: ...

class Convolution3DParameter(_message.Message):
    __slots__ = ("num_output", "bias_term", "pad", "kernel_size", "group", "kernel_depth", "stride", "temporal_stride", "weight_filler", "bias_filler", "filter_group", "temporal_pad")
    NUM_OUTPUT_FIELD_NUMBER: _ClassVar[int]
    BIAS_TERM_FIELD_NUMBER: _ClassVar[int]
    PAD_FIELD_NUMBER: _ClassVar[int]
    KERNEL_SIZE_FIELD_NUMBER: _ClassVar[int]
    GROUP_FIELD_NUMBER: _ClassVar[int]
    KERNEL_DEPTH_FIELD_NUMBER: _ClassVar[int]
    STRIDE_FIELD_NUMBER: _ClassVar[int]
    TEMPORAL_STRIDE_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_FILLER_FIELD_NUMBER: _ClassVar[int]
    BIAS_FILLER_FIELD_NUMBER: _ClassVar[int]
    FILTER_GROUP_FIELD_NUMBER: _ClassVar[int]
    TEMPORAL_PAD_FIELD_NUMBER: _ClassVar[int]
    num_output: int
    bias_term: bool
    pad: int
    kernel_size: int
    group: int
    kernel_depth: int
    stride: int
    temporal_stride: int
    weight_filler: FillerParameter
    bias_filler: FillerParameter
    filter_group: int
    temporal_pad: int
    def __init__(self, num_output: _Optional[int] = ..., bias_term: _Optional[bool] = ..., pad: _Optional[int] = ..., kernel_size: _Optional[int] = ..., group: _Optional[int] = ..., kernel_depth: _Optional[int] = ..., stride: _Optional[int] = ..., temporal_stride: _Optional[int] = ..., weight_filler: _Optional[_Union[FillerParameter, _Mapping]] = ..., bias_filler: _Optional[_Union[FillerParameter, _Mapping]] = ..., filter_group: _Optional[int] = ..., temporal_pad: _Optional[int] = ...) -> None: ...

class Pooling3DParameter(_message.Message):
    __slots__ = ("pool", "kernel_size", "stride", "pad", "kernel_depth", "temporal_stride")
    class PoolMethod(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        MAX: _ClassVar[Pooling3DParameter.PoolMethod]
        AVE: _ClassVar[Pooling3DParameter.PoolMethod]
        STOCHASTIC: _ClassVar[Pooling3DParameter.PoolMethod]
    MAX: Pooling3DParameter.PoolMethod
    AVE: Pooling3DParameter.PoolMethod
    STOCHASTIC: Pooling3DParameter.PoolMethod
    POOL_FIELD_NUMBER: _ClassVar[int]
    KERNEL_SIZE_FIELD_NUMBER: _ClassVar[int]
    STRIDE_FIELD_NUMBER: _ClassVar[int]
    PAD_FIELD_NUMBER: _ClassVar[int]
    KERNEL_DEPTH_FIELD_NUMBER: _ClassVar[int]
    TEMPORAL_STRIDE_FIELD_NUMBER: _ClassVar[int]
    pool: Pooling3DParameter.PoolMethod
    kernel_size: int
    stride: int
    pad: int
    kernel_depth: int
    temporal_stride: int
    def __init__(self, pool: _Optional[_Union[Pooling3DParameter.PoolMethod, str]] = ..., kernel_size: _Optional[int] = ..., stride: _Optional[int] = ..., pad: _Optional[int] = ..., kernel_depth: _Optional[int] = ..., temporal_stride: _Optional[int] = ...) -> None: ...

class ColorConvParameter(_message.Message):
    __slots__ = ("input", "output")
    INPUT_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    input: int
    output: int
    def __init__(self, input: _Optional[int] = ..., output: _Optional[int] = ...) -> None: ...

class MultiStageMeanfieldParameter(_message.Message):
    __slots__ = ("num_iterations", "compatibility_mode", "threshold", "theta_alpha", "theta_beta", "theta_gamma", "spatial_filter_weight", "bilateral_filter_weight", "forced_spatial_filter_weight", "spatial_filter_weights_str", "bilateral_filter_weights_str")
    class Mode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        POST: _ClassVar[MultiStageMeanfieldParameter.Mode]
        SOFT: _ClassVar[MultiStageMeanfieldParameter.Mode]
        POTTS: _ClassVar[MultiStageMeanfieldParameter.Mode]
    POST: MultiStageMeanfieldParameter.Mode
    SOFT: MultiStageMeanfieldParameter.Mode
    POTTS: MultiStageMeanfieldParameter.Mode
    NUM_ITERATIONS_FIELD_NUMBER: _ClassVar[int]
    COMPATIBILITY_MODE_FIELD_NUMBER: _ClassVar[int]
    THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    THETA_ALPHA_FIELD_NUMBER: _ClassVar[int]
    THETA_BETA_FIELD_NUMBER: _ClassVar[int]
    THETA_GAMMA_FIELD_NUMBER: _ClassVar[int]
    SPATIAL_FILTER_WEIGHT_FIELD_NUMBER: _ClassVar[int]
    BILATERAL_FILTER_WEIGHT_FIELD_NUMBER: _ClassVar[int]
    FORCED_SPATIAL_FILTER_WEIGHT_FIELD_NUMBER: _ClassVar[int]
    SPATIAL_FILTER_WEIGHTS_STR_FIELD_NUMBER: _ClassVar[int]
    BILATERAL_FILTER_WEIGHTS_STR_FIELD_NUMBER: _ClassVar[int]
    num_iterations: int
    compatibility_mode: MultiStageMeanfieldParameter.Mode
    threshold: float
    theta_alpha: float
    theta_beta: float
    theta_gamma: float
    spatial_filter_weight: float
    bilateral_filter_weight: float
    forced_spatial_filter_weight: float
    spatial_filter_weights_str: str
    bilateral_filter_weights_str: str
    def __init__(self, num_iterations: _Optional[int] = ..., compatibility_mode: _Optional[_Union[MultiStageMeanfieldParameter.Mode, str]] = ..., threshold: _Optional[float] = ..., theta_alpha: _Optional[float] = ..., theta_beta: _Optional[float] = ..., theta_gamma: _Optional[float] = ..., spatial_filter_weight: _Optional[float] = ..., bilateral_filter_weight: _Optional[float] = ..., forced_spatial_filter_weight: _Optional[float] = ..., spatial_filter_weights_str: _Optional[str] = ..., bilateral_filter_weights_str: _Optional[str] = ...) -> None: ...

class ReverseParameter(_message.Message):
    __slots__ = ("axis",)
    AXIS_FIELD_NUMBER: _ClassVar[int]
    axis: int
    def __init__(self, axis: _Optional[int] = ...) -> None: ...

class ReverseTimeParameter(_message.Message):
    __slots__ = ("copy_remaining",)
    COPY_REMAINING_FIELD_NUMBER: _ClassVar[int]
    copy_remaining: bool
    def __init__(self, copy_remaining: _Optional[bool] = ...) -> None: ...

class CTCLossParameter(_message.Message):
    __slots__ = ("output_delay", "blank_index", "preprocess_collapse_repeated", "ctc_merge_repeated", "loss_calculation_t", "alphabet_size", "time_step", "blank_label")
    OUTPUT_DELAY_FIELD_NUMBER: _ClassVar[int]
    BLANK_INDEX_FIELD_NUMBER: _ClassVar[int]
    PREPROCESS_COLLAPSE_REPEATED_FIELD_NUMBER: _ClassVar[int]
    CTC_MERGE_REPEATED_FIELD_NUMBER: _ClassVar[int]
    LOSS_CALCULATION_T_FIELD_NUMBER: _ClassVar[int]
    ALPHABET_SIZE_FIELD_NUMBER: _ClassVar[int]
    TIME_STEP_FIELD_NUMBER: _ClassVar[int]
    BLANK_LABEL_FIELD_NUMBER: _ClassVar[int]
    output_delay: int
    blank_index: int
    preprocess_collapse_repeated: bool
    ctc_merge_repeated: bool
    loss_calculation_t: int
    alphabet_size: int
    time_step: int
    blank_label: int
    def __init__(self, output_delay: _Optional[int] = ..., blank_index: _Optional[int] = ..., preprocess_collapse_repeated: _Optional[bool] = ..., ctc_merge_repeated: _Optional[bool] = ..., loss_calculation_t: _Optional[int] = ..., alphabet_size: _Optional[int] = ..., time_step: _Optional[int] = ..., blank_label: _Optional[int] = ...) -> None: ...

class CTCDecoderParameter(_message.Message):
    __slots__ = ("blank_index", "ctc_merge_repeated")
    BLANK_INDEX_FIELD_NUMBER: _ClassVar[int]
    CTC_MERGE_REPEATED_FIELD_NUMBER: _ClassVar[int]
    blank_index: int
    ctc_merge_repeated: bool
    def __init__(self, blank_index: _Optional[int] = ..., ctc_merge_repeated: _Optional[bool] = ...) -> None: ...

class UnpoolingParameter(_message.Message):
    __slots__ = ("unpool", "kernel_size", "stride", "pad", "kernel_h", "kernel_w", "stride_h", "stride_w", "pad_h", "pad_w", "engine", "unpool_size", "unpool_h", "unpool_w")
    class UnpoolMethod(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        MAX: _ClassVar[UnpoolingParameter.UnpoolMethod]
        AVE: _ClassVar[UnpoolingParameter.UnpoolMethod]
        TILE: _ClassVar[UnpoolingParameter.UnpoolMethod]
    MAX: UnpoolingParameter.UnpoolMethod
    AVE: UnpoolingParameter.UnpoolMethod
    TILE: UnpoolingParameter.UnpoolMethod
    class Engine(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        DEFAULT: _ClassVar[UnpoolingParameter.Engine]
        CAFFE: _ClassVar[UnpoolingParameter.Engine]
    DEFAULT: UnpoolingParameter.Engine
    CAFFE: UnpoolingParameter.Engine
    UNPOOL_FIELD_NUMBER: _ClassVar[int]
    KERNEL_SIZE_FIELD_NUMBER: _ClassVar[int]
    STRIDE_FIELD_NUMBER: _ClassVar[int]
    PAD_FIELD_NUMBER: _ClassVar[int]
    KERNEL_H_FIELD_NUMBER: _ClassVar[int]
    KERNEL_W_FIELD_NUMBER: _ClassVar[int]
    STRIDE_H_FIELD_NUMBER: _ClassVar[int]
    STRIDE_W_FIELD_NUMBER: _ClassVar[int]
    PAD_H_FIELD_NUMBER: _ClassVar[int]
    PAD_W_FIELD_NUMBER: _ClassVar[int]
    ENGINE_FIELD_NUMBER: _ClassVar[int]
    UNPOOL_SIZE_FIELD_NUMBER: _ClassVar[int]
    UNPOOL_H_FIELD_NUMBER: _ClassVar[int]
    UNPOOL_W_FIELD_NUMBER: _ClassVar[int]
    unpool: UnpoolingParameter.UnpoolMethod
    kernel_size: int
    stride: int
    pad: int
    kernel_h: int
    kernel_w: int
    stride_h: int
    stride_w: int
    pad_h: int
    pad_w: int
    engine: UnpoolingParameter.Engine
    unpool_size: int
    unpool_h: int
    unpool_w: int
    def __init__(self, unpool: _Optional[_Union[UnpoolingParameter.UnpoolMethod, str]] = ..., kernel_size: _Optional[int] = ..., stride: _Optional[int] = ..., pad: _Optional[int] = ..., kernel_h: _Optional[int] = ..., kernel_w: _Optional[int] = ..., stride_h: _Optional[int] = ..., stride_w: _Optional[int] = ..., pad_h: _Optional[int] = ..., pad_w: _Optional[int] = ..., engine: _Optional[_Union[UnpoolingParameter.Engine, str]] = ..., unpool_size: _Optional[int] = ..., unpool_h: _Optional[int] = ..., unpool_w: _Optional[int] = ...) -> None: ...

class DeformableConvolutionParameter(_message.Message):
    __slots__ = ("num_output", "bias_term", "pad", "kernel_size", "group", "stride", "weight_filler", "bias_filler", "pad_h", "pad_w", "kernel_h", "kernel_w", "stride_h", "stride_w", "engine", "axis", "dilation", "deformable_group")
    class Engine(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        DEFAULT: _ClassVar[DeformableConvolutionParameter.Engine]
        CAFFE: _ClassVar[DeformableConvolutionParameter.Engine]
        CUDNN: _ClassVar[DeformableConvolutionParameter.Engine]
    DEFAULT: DeformableConvolutionParameter.Engine
    CAFFE: DeformableConvolutionParameter.Engine
    CUDNN: DeformableConvolutionParameter.Engine
    NUM_OUTPUT_FIELD_NUMBER: _ClassVar[int]
    BIAS_TERM_FIELD_NUMBER: _ClassVar[int]
    PAD_FIELD_NUMBER: _ClassVar[int]
    KERNEL_SIZE_FIELD_NUMBER: _ClassVar[int]
    GROUP_FIELD_NUMBER: _ClassVar[int]
    STRIDE_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_FILLER_FIELD_NUMBER: _ClassVar[int]
    BIAS_FILLER_FIELD_NUMBER: _ClassVar[int]
    PAD_H_FIELD_NUMBER: _ClassVar[int]
    PAD_W_FIELD_NUMBER: _ClassVar[int]
    KERNEL_H_FIELD_NUMBER: _ClassVar[int]
    KERNEL_W_FIELD_NUMBER: _ClassVar[int]
    STRIDE_H_FIELD_NUMBER: _ClassVar[int]
    STRIDE_W_FIELD_NUMBER: _ClassVar[int]
    ENGINE_FIELD_NUMBER: _ClassVar[int]
    AXIS_FIELD_NUMBER: _ClassVar[int]
    DILATION_FIELD_NUMBER: _ClassVar[int]
    DEFORMABLE_GROUP_FIELD_NUMBER: _ClassVar[int]
    num_output: int
    bias_term: bool
    pad: _containers.RepeatedScalarFieldContainer[int]
    kernel_size: _containers.RepeatedScalarFieldContainer[int]
    group: int
    stride: _containers.RepeatedScalarFieldContainer[int]
    weight_filler: FillerParameter
    bias_filler: FillerParameter
    pad_h: int
    pad_w: int
    kernel_h: int
    kernel_w: int
    stride_h: int
    stride_w: int
    engine: DeformableConvolutionParameter.Engine
    axis: int
    dilation: _containers.RepeatedScalarFieldContainer[int]
    deformable_group: int
    def __init__(self, num_output: _Optional[int] = ..., bias_term: _Optional[bool] = ..., pad: _Optional[_Iterable[int]] = ..., kernel_size: _Optional[_Iterable[int]] = ..., group: _Optional[int] = ..., stride: _Optional[_Iterable[int]] = ..., weight_filler: _Optional[_Union[FillerParameter, _Mapping]] = ..., bias_filler: _Optional[_Union[FillerParameter, _Mapping]] = ..., pad_h: _Optional[int] = ..., pad_w: _Optional[int] = ..., kernel_h: _Optional[int] = ..., kernel_w: _Optional[int] = ..., stride_h: _Optional[int] = ..., stride_w: _Optional[int] = ..., engine: _Optional[_Union[DeformableConvolutionParameter.Engine, str]] = ..., axis: _Optional[int] = ..., dilation: _Optional[_Iterable[int]] = ..., deformable_group: _Optional[int] = ...) -> None: ...

class DenseBlockParameter(_message.Message):
    __slots__ = ("numTransition", "initChannel", "growthRate", "pad_h", "pad_w", "conv_verticalStride", "conv_horizentalStride", "filter_H", "filter_W", "Filter_Filler", "BN_Scaler_Filler", "BN_Bias_Filler", "gpuIdx", "use_dropout", "dropout_amount", "use_BC", "BC_ultra_space_efficient", "workspace_MB", "moving_average_fraction")
    NUMTRANSITION_FIELD_NUMBER: _ClassVar[int]
    INITCHANNEL_FIELD_NUMBER: _ClassVar[int]
    GROWTHRATE_FIELD_NUMBER: _ClassVar[int]
    PAD_H_FIELD_NUMBER: _ClassVar[int]
    PAD_W_FIELD_NUMBER: _ClassVar[int]
    CONV_VERTICALSTRIDE_FIELD_NUMBER: _ClassVar[int]
    CONV_HORIZENTALSTRIDE_FIELD_NUMBER: _ClassVar[int]
    FILTER_H_FIELD_NUMBER: _ClassVar[int]
    FILTER_W_FIELD_NUMBER: _ClassVar[int]
    FILTER_FILLER_FIELD_NUMBER: _ClassVar[int]
    BN_SCALER_FILLER_FIELD_NUMBER: _ClassVar[int]
    BN_BIAS_FILLER_FIELD_NUMBER: _ClassVar[int]
    GPUIDX_FIELD_NUMBER: _ClassVar[int]
    USE_DROPOUT_FIELD_NUMBER: _ClassVar[int]
    DROPOUT_AMOUNT_FIELD_NUMBER: _ClassVar[int]
    USE_BC_FIELD_NUMBER: _ClassVar[int]
    BC_ULTRA_SPACE_EFFICIENT_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_MB_FIELD_NUMBER: _ClassVar[int]
    MOVING_AVERAGE_FRACTION_FIELD_NUMBER: _ClassVar[int]
    numTransition: int
    initChannel: int
    growthRate: int
    pad_h: int
    pad_w: int
    conv_verticalStride: int
    conv_horizentalStride: int
    filter_H: int
    filter_W: int
    Filter_Filler: FillerParameter
    BN_Scaler_Filler: FillerParameter
    BN_Bias_Filler: FillerParameter
    gpuIdx: int
    use_dropout: bool
    dropout_amount: float
    use_BC: bool
    BC_ultra_space_efficient: bool
    workspace_MB: int
    moving_average_fraction: float
    def __init__(self, numTransition: _Optional[int] = ..., initChannel: _Optional[int] = ..., growthRate: _Optional[int] = ..., pad_h: _Optional[int] = ..., pad_w: _Optional[int] = ..., conv_verticalStride: _Optional[int] = ..., conv_horizentalStride: _Optional[int] = ..., filter_H: _Optional[int] = ..., filter_W: _Optional[int] = ..., Filter_Filler: _Optional[_Union[FillerParameter, _Mapping]] = ..., BN_Scaler_Filler: _Optional[_Union[FillerParameter, _Mapping]] = ..., BN_Bias_Filler: _Optional[_Union[FillerParameter, _Mapping]] = ..., gpuIdx: _Optional[int] = ..., use_dropout: _Optional[bool] = ..., dropout_amount: _Optional[float] = ..., use_BC: _Optional[bool] = ..., BC_ultra_space_efficient: _Optional[bool] = ..., workspace_MB: _Optional[int] = ..., moving_average_fraction: _Optional[float] = ...) -> None: ...

class GuidedDropoutParameter(_message.Message):
    __slots__ = ("type", "guidance_threshold", "sigmoid_scaler")
    TYPE_FIELD_NUMBER: _ClassVar[int]
    GUIDANCE_THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    SIGMOID_SCALER_FIELD_NUMBER: _ClassVar[int]
    type: str
    guidance_threshold: float
    sigmoid_scaler: float
    def __init__(self, type: _Optional[str] = ..., guidance_threshold: _Optional[float] = ..., sigmoid_scaler: _Optional[float] = ...) -> None: ...

class CenterLossParameter(_message.Message):
    __slots__ = ("num_output", "center_filler", "axis", "distance_type")
    NUM_OUTPUT_FIELD_NUMBER: _ClassVar[int]
    CENTER_FILLER_FIELD_NUMBER: _ClassVar[int]
    AXIS_FIELD_NUMBER: _ClassVar[int]
    DISTANCE_TYPE_FIELD_NUMBER: _ClassVar[int]
    num_output: int
    center_filler: FillerParameter
    axis: int
    distance_type: str
    def __init__(self, num_output: _Optional[int] = ..., center_filler: _Optional[_Union[FillerParameter, _Mapping]] = ..., axis: _Optional[int] = ..., distance_type: _Optional[str] = ...) -> None: ...

class CorrelationParameter(_message.Message):
    __slots__ = ("pad", "kernel_size", "max_displacement", "stride_1", "stride_2", "do_abs", "single_direction", "correlation_type")
    class CorrelationType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        MULTIPLY: _ClassVar[CorrelationParameter.CorrelationType]
        SUBTRACT: _ClassVar[CorrelationParameter.CorrelationType]
    MULTIPLY: CorrelationParameter.CorrelationType
    SUBTRACT: CorrelationParameter.CorrelationType
    PAD_FIELD_NUMBER: _ClassVar[int]
    KERNEL_SIZE_FIELD_NUMBER: _ClassVar[int]
    MAX_DISPLACEMENT_FIELD_NUMBER: _ClassVar[int]
    STRIDE_1_FIELD_NUMBER: _ClassVar[int]
    STRIDE_2_FIELD_NUMBER: _ClassVar[int]
    DO_ABS_FIELD_NUMBER: _ClassVar[int]
    SINGLE_DIRECTION_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_TYPE_FIELD_NUMBER: _ClassVar[int]
    pad: int
    kernel_size: int
    max_displacement: int
    stride_1: int
    stride_2: int
    do_abs: bool
    single_direction: int
    correlation_type: CorrelationParameter.CorrelationType
    def __init__(self, pad: _Optional[int] = ..., kernel_size: _Optional[int] = ..., max_displacement: _Optional[int] = ..., stride_1: _Optional[int] = ..., stride_2: _Optional[int] = ..., do_abs: _Optional[bool] = ..., single_direction: _Optional[int] = ..., correlation_type: _Optional[_Union[CorrelationParameter.CorrelationType, str]] = ...) -> None: ...

class FlowWarpParameter(_message.Message):
    __slots__ = ("fill_value",)
    class FillParameter(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        ZERO: _ClassVar[FlowWarpParameter.FillParameter]
        NOT_A_NUMBER: _ClassVar[FlowWarpParameter.FillParameter]
    ZERO: FlowWarpParameter.FillParameter
    NOT_A_NUMBER: FlowWarpParameter.FillParameter
    FILL_VALUE_FIELD_NUMBER: _ClassVar[int]
    fill_value: FlowWarpParameter.FillParameter
    def __init__(self, fill_value: _Optional[_Union[FlowWarpParameter.FillParameter, str]] = ...) -> None: ...

class ResampleParameter(_message.Message):
    __slots__ = ("width", "height", "type", "antialias", "factor")
    class ResampleType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        NEAREST: _ClassVar[ResampleParameter.ResampleType]
        LINEAR: _ClassVar[ResampleParameter.ResampleType]
        CUBIC: _ClassVar[ResampleParameter.ResampleType]
        AREA: _ClassVar[ResampleParameter.ResampleType]
    NEAREST: ResampleParameter.ResampleType
    LINEAR: ResampleParameter.ResampleType
    CUBIC: ResampleParameter.ResampleType
    AREA: ResampleParameter.ResampleType
    WIDTH_FIELD_NUMBER: _ClassVar[int]
    HEIGHT_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    ANTIALIAS_FIELD_NUMBER: _ClassVar[int]
    FACTOR_FIELD_NUMBER: _ClassVar[int]
    width: int
    height: int
    type: ResampleParameter.ResampleType
    antialias: bool
    factor: float
    def __init__(self, width: _Optional[int] = ..., height: _Optional[int] = ..., type: _Optional[_Union[ResampleParameter.ResampleType, str]] = ..., antialias: _Optional[bool] = ..., factor: _Optional[float] = ...) -> None: ...

class DownsampleParameter(_message.Message):
    __slots__ = ("top_height", "top_width")
    TOP_HEIGHT_FIELD_NUMBER: _ClassVar[int]
    TOP_WIDTH_FIELD_NUMBER: _ClassVar[int]
    top_height: int
    top_width: int
    def __init__(self, top_height: _Optional[int] = ..., top_width: _Optional[int] = ...) -> None: ...

class AccumParameter(_message.Message):
    __slots__ = ("top_height", "top_width", "size_divisible_by", "have_reference")
    TOP_HEIGHT_FIELD_NUMBER: _ClassVar[int]
    TOP_WIDTH_FIELD_NUMBER: _ClassVar[int]
    SIZE_DIVISIBLE_BY_FIELD_NUMBER: _ClassVar[int]
    HAVE_REFERENCE_FIELD_NUMBER: _ClassVar[int]
    top_height: int
    top_width: int
    size_divisible_by: int
    have_reference: bool
    def __init__(self, top_height: _Optional[int] = ..., top_width: _Optional[int] = ..., size_divisible_by: _Optional[int] = ..., have_reference: _Optional[bool] = ...) -> None: ...

class L1LossParameter(_message.Message):
    __slots__ = ("l2_per_location", "l2_prescale_by_channels", "normalize_by_num_entries", "epsilon", "plateau")
    L2_PER_LOCATION_FIELD_NUMBER: _ClassVar[int]
    L2_PRESCALE_BY_CHANNELS_FIELD_NUMBER: _ClassVar[int]
    NORMALIZE_BY_NUM_ENTRIES_FIELD_NUMBER: _ClassVar[int]
    EPSILON_FIELD_NUMBER: _ClassVar[int]
    PLATEAU_FIELD_NUMBER: _ClassVar[int]
    l2_per_location: bool
    l2_prescale_by_channels: bool
    normalize_by_num_entries: bool
    epsilon: float
    plateau: float
    def __init__(self, l2_per_location: _Optional[bool] = ..., l2_prescale_by_channels: _Optional[bool] = ..., normalize_by_num_entries: _Optional[bool] = ..., epsilon: _Optional[float] = ..., plateau: _Optional[float] = ...) -> None: ...

class LpqLossParameter(_message.Message):
    __slots__ = ("pq_episode_starts_at_iter", "p", "q", "p_epsilon", "q_epsilon", "l2_prescale_by_channels", "normalize_by_num_entries")
    PQ_EPISODE_STARTS_AT_ITER_FIELD_NUMBER: _ClassVar[int]
    P_FIELD_NUMBER: _ClassVar[int]
    Q_FIELD_NUMBER: _ClassVar[int]
    P_EPSILON_FIELD_NUMBER: _ClassVar[int]
    Q_EPSILON_FIELD_NUMBER: _ClassVar[int]
    L2_PRESCALE_BY_CHANNELS_FIELD_NUMBER: _ClassVar[int]
    NORMALIZE_BY_NUM_ENTRIES_FIELD_NUMBER: _ClassVar[int]
    pq_episode_starts_at_iter: _containers.RepeatedScalarFieldContainer[int]
    p: _containers.RepeatedScalarFieldContainer[float]
    q: _containers.RepeatedScalarFieldContainer[float]
    p_epsilon: float
    q_epsilon: float
    l2_prescale_by_channels: bool
    normalize_by_num_entries: bool
    def __init__(self, pq_episode_starts_at_iter: _Optional[_Iterable[int]] = ..., p: _Optional[_Iterable[float]] = ..., q: _Optional[_Iterable[float]] = ..., p_epsilon: _Optional[float] = ..., q_epsilon: _Optional[float] = ..., l2_prescale_by_channels: _Optional[bool] = ..., normalize_by_num_entries: _Optional[bool] = ...) -> None: ...

class MeanParameter(_message.Message):
    __slots__ = ("operation", "file", "value", "mean_scale", "input_scale", "output_scale")
    class MeanOperation(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        ADD: _ClassVar[MeanParameter.MeanOperation]
        SUBTRACT: _ClassVar[MeanParameter.MeanOperation]
    ADD: MeanParameter.MeanOperation
    SUBTRACT: MeanParameter.MeanOperation
    OPERATION_FIELD_NUMBER: _ClassVar[int]
    FILE_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    MEAN_SCALE_FIELD_NUMBER: _ClassVar[int]
    INPUT_SCALE_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_SCALE_FIELD_NUMBER: _ClassVar[int]
    operation: MeanParameter.MeanOperation
    file: str
    value: _containers.RepeatedScalarFieldContainer[float]
    mean_scale: float
    input_scale: float
    output_scale: float
    def __init__(self, operation: _Optional[_Union[MeanParameter.MeanOperation, str]] = ..., file: _Optional[str] = ..., value: _Optional[_Iterable[float]] = ..., mean_scale: _Optional[float] = ..., input_scale: _Optional[float] = ..., output_scale: _Optional[float] = ...) -> None: ...

class ReaderParameter(_message.Message):
    __slots__ = ("file", "num")
    FILE_FIELD_NUMBER: _ClassVar[int]
    NUM_FIELD_NUMBER: _ClassVar[int]
    file: str
    num: int
    def __init__(self, file: _Optional[str] = ..., num: _Optional[int] = ...) -> None: ...

class WriterParameter(_message.Message):
    __slots__ = ("file", "folder", "prefix", "suffix", "normalize", "scale")
    FILE_FIELD_NUMBER: _ClassVar[int]
    FOLDER_FIELD_NUMBER: _ClassVar[int]
    PREFIX_FIELD_NUMBER: _ClassVar[int]
    SUFFIX_FIELD_NUMBER: _ClassVar[int]
    NORMALIZE_FIELD_NUMBER: _ClassVar[int]
    SCALE_FIELD_NUMBER: _ClassVar[int]
    file: str
    folder: str
    prefix: str
    suffix: str
    normalize: bool
    scale: float
    def __init__(self, file: _Optional[str] = ..., folder: _Optional[str] = ..., prefix: _Optional[str] = ..., suffix: _Optional[str] = ..., normalize: _Optional[bool] = ..., scale: _Optional[float] = ...) -> None: ...

class CoeffScheduleParameter(_message.Message):
    __slots__ = ("half_life", "initial_coeff", "final_coeff")
    HALF_LIFE_FIELD_NUMBER: _ClassVar[int]
    INITIAL_COEFF_FIELD_NUMBER: _ClassVar[int]
    FINAL_COEFF_FIELD_NUMBER: _ClassVar[int]
    half_life: float
    initial_coeff: float
    final_coeff: float
    def __init__(self, half_life: _Optional[float] = ..., initial_coeff: _Optional[float] = ..., final_coeff: _Optional[float] = ...) -> None: ...

class RandomGeneratorParameter(_message.Message):
    __slots__ = ("rand_type", "exp", "mean", "spread", "prob", "apply_schedule", "discretize", "multiplier")
    RAND_TYPE_FIELD_NUMBER: _ClassVar[int]
    EXP_FIELD_NUMBER: _ClassVar[int]
    MEAN_FIELD_NUMBER: _ClassVar[int]
    SPREAD_FIELD_NUMBER: _ClassVar[int]
    PROB_FIELD_NUMBER: _ClassVar[int]
    APPLY_SCHEDULE_FIELD_NUMBER: _ClassVar[int]
    DISCRETIZE_FIELD_NUMBER: _ClassVar[int]
    MULTIPLIER_FIELD_NUMBER: _ClassVar[int]
    rand_type: str
    exp: bool
    mean: float
    spread: float
    prob: float
    apply_schedule: bool
    discretize: bool
    multiplier: float
    def __init__(self, rand_type: _Optional[str] = ..., exp: _Optional[bool] = ..., mean: _Optional[float] = ..., spread: _Optional[float] = ..., prob: _Optional[float] = ..., apply_schedule: _Optional[bool] = ..., discretize: _Optional[bool] = ..., multiplier: _Optional[float] = ...) -> None: ...

class BlackAugmentationParameter(_message.Message):
    __slots__ = ("black", "border")
    BLACK_FIELD_NUMBER: _ClassVar[int]
    BORDER_FIELD_NUMBER: _ClassVar[int]
    black: RandomGeneratorParameter
    border: RandomGeneratorParameter
    def __init__(self, black: _Optional[_Union[RandomGeneratorParameter, _Mapping]] = ..., border: _Optional[_Union[RandomGeneratorParameter, _Mapping]] = ...) -> None: ...

class AugmentationParameter(_message.Message):
    __slots__ = ("write_augmented", "max_multiplier", "augment_during_test", "recompute_mean", "write_mean", "mean_per_pixel", "mode", "mean", "crop_width", "crop_height", "bottomwidth", "bottomheight", "num", "chromatic_eigvec", "mirror", "translate", "rotate", "zoom", "squeeze", "translate_x", "translate_y", "lmult_pow", "lmult_mult", "lmult_add", "sat_pow", "sat_mult", "sat_add", "col_pow", "col_mult", "col_add", "ladd_pow", "ladd_mult", "ladd_add", "col_rotate", "gamma", "brightness", "contrast", "color", "fog_amount", "fog_size", "motion_blur_angle", "motion_blur_size", "shadow_angle", "shadow_distance", "shadow_strength", "noise")
    WRITE_AUGMENTED_FIELD_NUMBER: _ClassVar[int]
    MAX_MULTIPLIER_FIELD_NUMBER: _ClassVar[int]
    AUGMENT_DURING_TEST_FIELD_NUMBER: _ClassVar[int]
    RECOMPUTE_MEAN_FIELD_NUMBER: _ClassVar[int]
    WRITE_MEAN_FIELD_NUMBER: _ClassVar[int]
    MEAN_PER_PIXEL_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    MEAN_FIELD_NUMBER: _ClassVar[int]
    CROP_WIDTH_FIELD_NUMBER: _ClassVar[int]
    CROP_HEIGHT_FIELD_NUMBER: _ClassVar[int]
    BOTTOMWIDTH_FIELD_NUMBER: _ClassVar[int]
    BOTTOMHEIGHT_FIELD_NUMBER: _ClassVar[int]
    NUM_FIELD_NUMBER: _ClassVar[int]
    CHROMATIC_EIGVEC_FIELD_NUMBER: _ClassVar[int]
    MIRROR_FIELD_NUMBER: _ClassVar[int]
    TRANSLATE_FIELD_NUMBER: _ClassVar[int]
    ROTATE_FIELD_NUMBER: _ClassVar[int]
    ZOOM_FIELD_NUMBER: _ClassVar[int]
    SQUEEZE_FIELD_NUMBER: _ClassVar[int]
    TRANSLATE_X_FIELD_NUMBER: _ClassVar[int]
    TRANSLATE_Y_FIELD_NUMBER: _ClassVar[int]
    LMULT_POW_FIELD_NUMBER: _ClassVar[int]
    LMULT_MULT_FIELD_NUMBER: _ClassVar[int]
    LMULT_ADD_FIELD_NUMBER: _ClassVar[int]
    SAT_POW_FIELD_NUMBER: _ClassVar[int]
    SAT_MULT_FIELD_NUMBER: _ClassVar[int]
    SAT_ADD_FIELD_NUMBER: _ClassVar[int]
    COL_POW_FIELD_NUMBER: _ClassVar[int]
    COL_MULT_FIELD_NUMBER: _ClassVar[int]
    COL_ADD_FIELD_NUMBER: _ClassVar[int]
    LADD_POW_FIELD_NUMBER: _ClassVar[int]
    LADD_MULT_FIELD_NUMBER: _ClassVar[int]
    LADD_ADD_FIELD_NUMBER: _ClassVar[int]
    COL_ROTATE_FIELD_NUMBER: _ClassVar[int]
    GAMMA_FIELD_NUMBER: _ClassVar[int]
    BRIGHTNESS_FIELD_NUMBER: _ClassVar[int]
    CONTRAST_FIELD_NUMBER: _ClassVar[int]
    COLOR_FIELD_NUMBER: _ClassVar[int]
    FOG_AMOUNT_FIELD_NUMBER: _ClassVar[int]
    FOG_SIZE_FIELD_NUMBER: _ClassVar[int]
    MOTION_BLUR_ANGLE_FIELD_NUMBER: _ClassVar[int]
    MOTION_BLUR_SIZE_FIELD_NUMBER: _ClassVar[int]
    SHADOW_ANGLE_FIELD_NUMBER: _ClassVar[int]
    SHADOW_DISTANCE_FIELD_NUMBER: _ClassVar[int]
    SHADOW_STRENGTH_FIELD_NUMBER: _ClassVar[int]
    NOISE_FIELD_NUMBER: _ClassVar[int]
    write_augmented: str
    max_multiplier: float
    augment_during_test: bool
    recompute_mean: int
    write_mean: str
    mean_per_pixel: bool
    mode: str
    mean: _containers.RepeatedScalarFieldContainer[float]
    crop_width: int
    crop_height: int
    bottomwidth: int
    bottomheight: int
    num: int
    chromatic_eigvec: _containers.RepeatedScalarFieldContainer[float]
    mirror: RandomGeneratorParameter
    translate: RandomGeneratorParameter
    rotate: RandomGeneratorParameter
    zoom: RandomGeneratorParameter
    squeeze: RandomGeneratorParameter
    translate_x: RandomGeneratorParameter
    translate_y: RandomGeneratorParameter
    lmult_pow: RandomGeneratorParameter
    lmult_mult: RandomGeneratorParameter
    lmult_add: RandomGeneratorParameter
    sat_pow: RandomGeneratorParameter
    sat_mult: RandomGeneratorParameter
    sat_add: RandomGeneratorParameter
    col_pow: RandomGeneratorParameter
    col_mult: RandomGeneratorParameter
    col_add: RandomGeneratorParameter
    ladd_pow: RandomGeneratorParameter
    ladd_mult: RandomGeneratorParameter
    ladd_add: RandomGeneratorParameter
    col_rotate: RandomGeneratorParameter
    gamma: RandomGeneratorParameter
    brightness: RandomGeneratorParameter
    contrast: RandomGeneratorParameter
    color: RandomGeneratorParameter
    fog_amount: RandomGeneratorParameter
    fog_size: RandomGeneratorParameter
    motion_blur_angle: RandomGeneratorParameter
    motion_blur_size: RandomGeneratorParameter
    shadow_angle: RandomGeneratorParameter
    shadow_distance: RandomGeneratorParameter
    shadow_strength: RandomGeneratorParameter
    noise: RandomGeneratorParameter
    def __init__(self, write_augmented: _Optional[str] = ..., max_multiplier: _Optional[float] = ..., augment_during_test: _Optional[bool] = ..., recompute_mean: _Optional[int] = ..., write_mean: _Optional[str] = ..., mean_per_pixel: _Optional[bool] = ..., mode: _Optional[str] = ..., mean: _Optional[_Iterable[float]] = ..., crop_width: _Optional[int] = ..., crop_height: _Optional[int] = ..., bottomwidth: _Optional[int] = ..., bottomheight: _Optional[int] = ..., num: _Optional[int] = ..., chromatic_eigvec: _Optional[_Iterable[float]] = ..., mirror: _Optional[_Union[RandomGeneratorParameter, _Mapping]] = ..., translate: _Optional[_Union[RandomGeneratorParameter, _Mapping]] = ..., rotate: _Optional[_Union[RandomGeneratorParameter, _Mapping]] = ..., zoom: _Optional[_Union[RandomGeneratorParameter, _Mapping]] = ..., squeeze: _Optional[_Union[RandomGeneratorParameter, _Mapping]] = ..., translate_x: _Optional[_Union[RandomGeneratorParameter, _Mapping]] = ..., translate_y: _Optional[_Union[RandomGeneratorParameter, _Mapping]] = ..., lmult_pow: _Optional[_Union[RandomGeneratorParameter, _Mapping]] = ..., lmult_mult: _Optional[_Union[RandomGeneratorParameter, _Mapping]] = ..., lmult_add: _Optional[_Union[RandomGeneratorParameter, _Mapping]] = ..., sat_pow: _Optional[_Union[RandomGeneratorParameter, _Mapping]] = ..., sat_mult: _Optional[_Union[RandomGeneratorParameter, _Mapping]] = ..., sat_add: _Optional[_Union[RandomGeneratorParameter, _Mapping]] = ..., col_pow: _Optional[_Union[RandomGeneratorParameter, _Mapping]] = ..., col_mult: _Optional[_Union[RandomGeneratorParameter, _Mapping]] = ..., col_add: _Optional[_Union[RandomGeneratorParameter, _Mapping]] = ..., ladd_pow: _Optional[_Union[RandomGeneratorParameter, _Mapping]] = ..., ladd_mult: _Optional[_Union[RandomGeneratorParameter, _Mapping]] = ..., ladd_add: _Optional[_Union[RandomGeneratorParameter, _Mapping]] = ..., col_rotate: _Optional[_Union[RandomGeneratorParameter, _Mapping]] = ..., gamma: _Optional[_Union[RandomGeneratorParameter, _Mapping]] = ..., brightness: _Optional[_Union[RandomGeneratorParameter, _Mapping]] = ..., contrast: _Optional[_Union[RandomGeneratorParameter, _Mapping]] = ..., color: _Optional[_Union[RandomGeneratorParameter, _Mapping]] = ..., fog_amount: _Optional[_Union[RandomGeneratorParameter, _Mapping]] = ..., fog_size: _Optional[_Union[RandomGeneratorParameter, _Mapping]] = ..., motion_blur_angle: _Optional[_Union[RandomGeneratorParameter, _Mapping]] = ..., motion_blur_size: _Optional[_Union[RandomGeneratorParameter, _Mapping]] = ..., shadow_angle: _Optional[_Union[RandomGeneratorParameter, _Mapping]] = ..., shadow_distance: _Optional[_Union[RandomGeneratorParameter, _Mapping]] = ..., shadow_strength: _Optional[_Union[RandomGeneratorParameter, _Mapping]] = ..., noise: _Optional[_Union[RandomGeneratorParameter, _Mapping]] = ...) -> None: ...

class ROIPoolingParameter(_message.Message):
    __slots__ = ("pooled_h", "pooled_w", "spatial_scale", "pooled_size", "pad_ratio")
    POOLED_H_FIELD_NUMBER: _ClassVar[int]
    POOLED_W_FIELD_NUMBER: _ClassVar[int]
    SPATIAL_SCALE_FIELD_NUMBER: _ClassVar[int]
    POOLED_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAD_RATIO_FIELD_NUMBER: _ClassVar[int]
    pooled_h: int
    pooled_w: int
    spatial_scale: float
    pooled_size: _containers.RepeatedScalarFieldContainer[int]
    pad_ratio: float
    def __init__(self, pooled_h: _Optional[int] = ..., pooled_w: _Optional[int] = ..., spatial_scale: _Optional[float] = ..., pooled_size: _Optional[_Iterable[int]] = ..., pad_ratio: _Optional[float] = ...) -> None: ...

class GradientScalerParameter(_message.Message):
    __slots__ = ("lower_bound", "upper_bound", "alpha", "max_iter")
    LOWER_BOUND_FIELD_NUMBER: _ClassVar[int]
    UPPER_BOUND_FIELD_NUMBER: _ClassVar[int]
    ALPHA_FIELD_NUMBER: _ClassVar[int]
    MAX_ITER_FIELD_NUMBER: _ClassVar[int]
    lower_bound: float
    upper_bound: float
    alpha: float
    max_iter: float
    def __init__(self, lower_bound: _Optional[float] = ..., upper_bound: _Optional[float] = ..., alpha: _Optional[float] = ..., max_iter: _Optional[float] = ...) -> None: ...

class LocalParameter(_message.Message):
    __slots__ = ("num_output", "bias_term", "pad", "kernel_size", "stride", "weight_filler", "bias_filler")
    NUM_OUTPUT_FIELD_NUMBER: _ClassVar[int]
    BIAS_TERM_FIELD_NUMBER: _ClassVar[int]
    PAD_FIELD_NUMBER: _ClassVar[int]
    KERNEL_SIZE_FIELD_NUMBER: _ClassVar[int]
    STRIDE_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_FILLER_FIELD_NUMBER: _ClassVar[int]
    BIAS_FILLER_FIELD_NUMBER: _ClassVar[int]
    num_output: int
    bias_term: bool
    pad: int
    kernel_size: int
    stride: int
    weight_filler: FillerParameter
    bias_filler: FillerParameter
    def __init__(self, num_output: _Optional[int] = ..., bias_term: _Optional[bool] = ..., pad: _Optional[int] = ..., kernel_size: _Optional[int] = ..., stride: _Optional[int] = ..., weight_filler: _Optional[_Union[FillerParameter, _Mapping]] = ..., bias_filler: _Optional[_Union[FillerParameter, _Mapping]] = ...) -> None: ...

class InsanityParameter(_message.Message):
    __slots__ = ("lb", "ub")
    LB_FIELD_NUMBER: _ClassVar[int]
    UB_FIELD_NUMBER: _ClassVar[int]
    lb: float
    ub: float
    def __init__(self, lb: _Optional[float] = ..., ub: _Optional[float] = ...) -> None: ...

class TripletLossParameter(_message.Message):
    __slots__ = ("margin",)
    MARGIN_FIELD_NUMBER: _ClassVar[int]
    margin: float
    def __init__(self, margin: _Optional[float] = ...) -> None: ...

class EltwiseAffineParameter(_message.Message):
    __slots__ = ("slope_filler", "bias_filler", "channel_shared")
    SLOPE_FILLER_FIELD_NUMBER: _ClassVar[int]
    BIAS_FILLER_FIELD_NUMBER: _ClassVar[int]
    CHANNEL_SHARED_FIELD_NUMBER: _ClassVar[int]
    slope_filler: FillerParameter
    bias_filler: FillerParameter
    channel_shared: bool
    def __init__(self, slope_filler: _Optional[_Union[FillerParameter, _Mapping]] = ..., bias_filler: _Optional[_Union[FillerParameter, _Mapping]] = ..., channel_shared: _Optional[bool] = ...) -> None: ...

class SubRegionParameter(_message.Message):
    __slots__ = ("region_height", "region_width", "data_height", "data_width", "as_dim")
    REGION_HEIGHT_FIELD_NUMBER: _ClassVar[int]
    REGION_WIDTH_FIELD_NUMBER: _ClassVar[int]
    DATA_HEIGHT_FIELD_NUMBER: _ClassVar[int]
    DATA_WIDTH_FIELD_NUMBER: _ClassVar[int]
    AS_DIM_FIELD_NUMBER: _ClassVar[int]
    region_height: int
    region_width: int
    data_height: int
    data_width: int
    as_dim: int
    def __init__(self, region_height: _Optional[int] = ..., region_width: _Optional[int] = ..., data_height: _Optional[int] = ..., data_width: _Optional[int] = ..., as_dim: _Optional[int] = ...) -> None: ...

class AddNoiseParameter(_message.Message):
    __slots__ = ("gaussian_std", "uniform_range", "bias")
    GAUSSIAN_STD_FIELD_NUMBER: _ClassVar[int]
    UNIFORM_RANGE_FIELD_NUMBER: _ClassVar[int]
    BIAS_FIELD_NUMBER: _ClassVar[int]
    gaussian_std: float
    uniform_range: float
    bias: float
    def __init__(self, gaussian_std: _Optional[float] = ..., uniform_range: _Optional[float] = ..., bias: _Optional[float] = ...) -> None: ...

class FlipParameter(_message.Message):
    __slots__ = ("flip_width", "flip_height")
    FLIP_WIDTH_FIELD_NUMBER: _ClassVar[int]
    FLIP_HEIGHT_FIELD_NUMBER: _ClassVar[int]
    flip_width: bool
    flip_height: bool
    def __init__(self, flip_width: _Optional[bool] = ..., flip_height: _Optional[bool] = ...) -> None: ...

class InnerDistanceParameter(_message.Message):
    __slots__ = ("num_output", "bias_term", "weight_filler", "bias_filler", "axis", "transpose", "distance_type", "normalize", "update_center_only")
    NUM_OUTPUT_FIELD_NUMBER: _ClassVar[int]
    BIAS_TERM_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_FILLER_FIELD_NUMBER: _ClassVar[int]
    BIAS_FILLER_FIELD_NUMBER: _ClassVar[int]
    AXIS_FIELD_NUMBER: _ClassVar[int]
    TRANSPOSE_FIELD_NUMBER: _ClassVar[int]
    DISTANCE_TYPE_FIELD_NUMBER: _ClassVar[int]
    NORMALIZE_FIELD_NUMBER: _ClassVar[int]
    UPDATE_CENTER_ONLY_FIELD_NUMBER: _ClassVar[int]
    num_output: int
    bias_term: bool
    weight_filler: FillerParameter
    bias_filler: FillerParameter
    axis: int
    transpose: bool
    distance_type: str
    normalize: bool
    update_center_only: bool
    def __init__(self, num_output: _Optional[int] = ..., bias_term: _Optional[bool] = ..., weight_filler: _Optional[_Union[FillerParameter, _Mapping]] = ..., bias_filler: _Optional[_Union[FillerParameter, _Mapping]] = ..., axis: _Optional[int] = ..., transpose: _Optional[bool] = ..., distance_type: _Optional[str] = ..., normalize: _Optional[bool] = ..., update_center_only: _Optional[bool] = ...) -> None: ...

class FaceNormalizeParameter(_message.Message):
    __slots__ = ("normalize_type", "fix_gradient", "bp_norm")
    NORMALIZE_TYPE_FIELD_NUMBER: _ClassVar[int]
    FIX_GRADIENT_FIELD_NUMBER: _ClassVar[int]
    BP_NORM_FIELD_NUMBER: _ClassVar[int]
    normalize_type: str
    fix_gradient: bool
    bp_norm: bool
    def __init__(self, normalize_type: _Optional[str] = ..., fix_gradient: _Optional[bool] = ..., bp_norm: _Optional[bool] = ...) -> None: ...

class GeneralContrastiveLossParameter(_message.Message):
    __slots__ = ("positive_margin", "negative_margin", "positive_weight", "negative_weight", "normalize_negative", "positive_outlier_thresh", "square", "max_negative_only", "max_positive_only", "positive_first", "positive_upper_bound", "exp_negative_weight", "add_intra_mae", "max_negative_margin")
    POSITIVE_MARGIN_FIELD_NUMBER: _ClassVar[int]
    NEGATIVE_MARGIN_FIELD_NUMBER: _ClassVar[int]
    POSITIVE_WEIGHT_FIELD_NUMBER: _ClassVar[int]
    NEGATIVE_WEIGHT_FIELD_NUMBER: _ClassVar[int]
    NORMALIZE_NEGATIVE_FIELD_NUMBER: _ClassVar[int]
    POSITIVE_OUTLIER_THRESH_FIELD_NUMBER: _ClassVar[int]
    SQUARE_FIELD_NUMBER: _ClassVar[int]
    MAX_NEGATIVE_ONLY_FIELD_NUMBER: _ClassVar[int]
    MAX_POSITIVE_ONLY_FIELD_NUMBER: _ClassVar[int]
    POSITIVE_FIRST_FIELD_NUMBER: _ClassVar[int]
    POSITIVE_UPPER_BOUND_FIELD_NUMBER: _ClassVar[int]
    EXP_NEGATIVE_WEIGHT_FIELD_NUMBER: _ClassVar[int]
    ADD_INTRA_MAE_FIELD_NUMBER: _ClassVar[int]
    MAX_NEGATIVE_MARGIN_FIELD_NUMBER: _ClassVar[int]
    positive_margin: float
    negative_margin: float
    positive_weight: float
    negative_weight: float
    normalize_negative: float
    positive_outlier_thresh: float
    square: bool
    max_negative_only: bool
    max_positive_only: bool
    positive_first: bool
    positive_upper_bound: float
    exp_negative_weight: bool
    add_intra_mae: bool
    max_negative_margin: float
    def __init__(self, positive_margin: _Optional[float] = ..., negative_margin: _Optional[float] = ..., positive_weight: _Optional[float] = ..., negative_weight: _Optional[float] = ..., normalize_negative: _Optional[float] = ..., positive_outlier_thresh: _Optional[float] = ..., square: _Optional[bool] = ..., max_negative_only: _Optional[bool] = ..., max_positive_only: _Optional[bool] = ..., positive_first: _Optional[bool] = ..., positive_upper_bound: _Optional[float] = ..., exp_negative_weight: _Optional[bool] = ..., add_intra_mae: _Optional[bool] = ..., max_negative_margin: _Optional[float] = ...) -> None: ...

class GeneralTripletLossParameter(_message.Message):
    __slots__ = ("margin", "add_center_loss", "hardest_only", "positive_first", "positive_upper_bound", "positive_weight", "negative_weight")
    MARGIN_FIELD_NUMBER: _ClassVar[int]
    ADD_CENTER_LOSS_FIELD_NUMBER: _ClassVar[int]
    HARDEST_ONLY_FIELD_NUMBER: _ClassVar[int]
    POSITIVE_FIRST_FIELD_NUMBER: _ClassVar[int]
    POSITIVE_UPPER_BOUND_FIELD_NUMBER: _ClassVar[int]
    POSITIVE_WEIGHT_FIELD_NUMBER: _ClassVar[int]
    NEGATIVE_WEIGHT_FIELD_NUMBER: _ClassVar[int]
    margin: float
    add_center_loss: bool
    hardest_only: bool
    positive_first: bool
    positive_upper_bound: float
    positive_weight: float
    negative_weight: float
    def __init__(self, margin: _Optional[float] = ..., add_center_loss: _Optional[bool] = ..., hardest_only: _Optional[bool] = ..., positive_first: _Optional[bool] = ..., positive_upper_bound: _Optional[float] = ..., positive_weight: _Optional[float] = ..., negative_weight: _Optional[float] = ...) -> None: ...

class PairwiseParameter(_message.Message):
    __slots__ = ("operation", "coeff")
    class PairwiseOp(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        SUM: _ClassVar[PairwiseParameter.PairwiseOp]
        PROD: _ClassVar[PairwiseParameter.PairwiseOp]
        MAX: _ClassVar[PairwiseParameter.PairwiseOp]
    SUM: PairwiseParameter.PairwiseOp
    PROD: PairwiseParameter.PairwiseOp
    MAX: PairwiseParameter.PairwiseOp
    OPERATION_FIELD_NUMBER: _ClassVar[int]
    COEFF_FIELD_NUMBER: _ClassVar[int]
    operation: PairwiseParameter.PairwiseOp
    coeff: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, operation: _Optional[_Union[PairwiseParameter.PairwiseOp, str]] = ..., coeff: _Optional[_Iterable[float]] = ...) -> None: ...

class LargeMarginInnerProductParameter(_message.Message):
    __slots__ = ("num_output", "type", "weight_filler", "axis", "base", "gamma", "power", "iteration", "lambda_min")
    class LargeMarginType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        SINGLE: _ClassVar[LargeMarginInnerProductParameter.LargeMarginType]
        DOUBLE: _ClassVar[LargeMarginInnerProductParameter.LargeMarginType]
        TRIPLE: _ClassVar[LargeMarginInnerProductParameter.LargeMarginType]
        QUADRUPLE: _ClassVar[LargeMarginInnerProductParameter.LargeMarginType]
    SINGLE: LargeMarginInnerProductParameter.LargeMarginType
    DOUBLE: LargeMarginInnerProductParameter.LargeMarginType
    TRIPLE: LargeMarginInnerProductParameter.LargeMarginType
    QUADRUPLE: LargeMarginInnerProductParameter.LargeMarginType
    NUM_OUTPUT_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_FILLER_FIELD_NUMBER: _ClassVar[int]
    AXIS_FIELD_NUMBER: _ClassVar[int]
    BASE_FIELD_NUMBER: _ClassVar[int]
    GAMMA_FIELD_NUMBER: _ClassVar[int]
    POWER_FIELD_NUMBER: _ClassVar[int]
    ITERATION_FIELD_NUMBER: _ClassVar[int]
    LAMBDA_MIN_FIELD_NUMBER: _ClassVar[int]
    num_output: int
    type: LargeMarginInnerProductParameter.LargeMarginType
    weight_filler: FillerParameter
    axis: int
    base: float
    gamma: float
    power: float
    iteration: int
    lambda_min: float
    def __init__(self, num_output: _Optional[int] = ..., type: _Optional[_Union[LargeMarginInnerProductParameter.LargeMarginType, str]] = ..., weight_filler: _Optional[_Union[FillerParameter, _Mapping]] = ..., axis: _Optional[int] = ..., base: _Optional[float] = ..., gamma: _Optional[float] = ..., power: _Optional[float] = ..., iteration: _Optional[int] = ..., lambda_min: _Optional[float] = ...) -> None: ...

class LabelSpecificRescaleParameter(_message.Message):
    __slots__ = ("positive_weight", "negative_weight", "rescale_test", "for_ip", "positive_weight_base", "gamma", "power", "positive_weight_min", "positive_weight_max", "iteration", "bias_fix", "power_on_positive")
    POSITIVE_WEIGHT_FIELD_NUMBER: _ClassVar[int]
    NEGATIVE_WEIGHT_FIELD_NUMBER: _ClassVar[int]
    RESCALE_TEST_FIELD_NUMBER: _ClassVar[int]
    FOR_IP_FIELD_NUMBER: _ClassVar[int]
    POSITIVE_WEIGHT_BASE_FIELD_NUMBER: _ClassVar[int]
    GAMMA_FIELD_NUMBER: _ClassVar[int]
    POWER_FIELD_NUMBER: _ClassVar[int]
    POSITIVE_WEIGHT_MIN_FIELD_NUMBER: _ClassVar[int]
    POSITIVE_WEIGHT_MAX_FIELD_NUMBER: _ClassVar[int]
    ITERATION_FIELD_NUMBER: _ClassVar[int]
    BIAS_FIX_FIELD_NUMBER: _ClassVar[int]
    POWER_ON_POSITIVE_FIELD_NUMBER: _ClassVar[int]
    positive_weight: float
    negative_weight: float
    rescale_test: bool
    for_ip: bool
    positive_weight_base: float
    gamma: float
    power: float
    positive_weight_min: float
    positive_weight_max: float
    iteration: int
    bias_fix: bool
    power_on_positive: bool
    def __init__(self, positive_weight: _Optional[float] = ..., negative_weight: _Optional[float] = ..., rescale_test: _Optional[bool] = ..., for_ip: _Optional[bool] = ..., positive_weight_base: _Optional[float] = ..., gamma: _Optional[float] = ..., power: _Optional[float] = ..., positive_weight_min: _Optional[float] = ..., positive_weight_max: _Optional[float] = ..., iteration: _Optional[int] = ..., bias_fix: _Optional[bool] = ..., power_on_positive: _Optional[bool] = ...) -> None: ...

class LabelSpecificMarginParameter(_message.Message):
    __slots__ = ("margin_base", "margin_max", "power", "gamma", "iteration", "margin_on_test", "auto_tune", "type")
    MARGIN_BASE_FIELD_NUMBER: _ClassVar[int]
    MARGIN_MAX_FIELD_NUMBER: _ClassVar[int]
    POWER_FIELD_NUMBER: _ClassVar[int]
    GAMMA_FIELD_NUMBER: _ClassVar[int]
    ITERATION_FIELD_NUMBER: _ClassVar[int]
    MARGIN_ON_TEST_FIELD_NUMBER: _ClassVar[int]
    AUTO_TUNE_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    margin_base: float
    margin_max: float
    power: float
    gamma: float
    iteration: int
    margin_on_test: bool
    auto_tune: bool
    type: str
    def __init__(self, margin_base: _Optional[float] = ..., margin_max: _Optional[float] = ..., power: _Optional[float] = ..., gamma: _Optional[float] = ..., iteration: _Optional[int] = ..., margin_on_test: _Optional[bool] = ..., auto_tune: _Optional[bool] = ..., type: _Optional[str] = ...) -> None: ...

class LabelSpecificAddParameter(_message.Message):
    __slots__ = ("bias", "transform_test", "bias_base", "bias_gamma", "bias_power", "bias_min", "bias_max", "iteration")
    BIAS_FIELD_NUMBER: _ClassVar[int]
    TRANSFORM_TEST_FIELD_NUMBER: _ClassVar[int]
    BIAS_BASE_FIELD_NUMBER: _ClassVar[int]
    BIAS_GAMMA_FIELD_NUMBER: _ClassVar[int]
    BIAS_POWER_FIELD_NUMBER: _ClassVar[int]
    BIAS_MIN_FIELD_NUMBER: _ClassVar[int]
    BIAS_MAX_FIELD_NUMBER: _ClassVar[int]
    ITERATION_FIELD_NUMBER: _ClassVar[int]
    bias: float
    transform_test: bool
    bias_base: float
    bias_gamma: float
    bias_power: float
    bias_min: float
    bias_max: float
    iteration: int
    def __init__(self, bias: _Optional[float] = ..., transform_test: _Optional[bool] = ..., bias_base: _Optional[float] = ..., bias_gamma: _Optional[float] = ..., bias_power: _Optional[float] = ..., bias_min: _Optional[float] = ..., bias_max: _Optional[float] = ..., iteration: _Optional[int] = ...) -> None: ...

class LayerResizeParameter(_message.Message):
    __slots__ = ("height", "width", "is_pyramid_test", "out_height_scale", "out_width_scale")
    HEIGHT_FIELD_NUMBER: _ClassVar[int]
    WIDTH_FIELD_NUMBER: _ClassVar[int]
    IS_PYRAMID_TEST_FIELD_NUMBER: _ClassVar[int]
    OUT_HEIGHT_SCALE_FIELD_NUMBER: _ClassVar[int]
    OUT_WIDTH_SCALE_FIELD_NUMBER: _ClassVar[int]
    height: int
    width: int
    is_pyramid_test: bool
    out_height_scale: float
    out_width_scale: float
    def __init__(self, height: _Optional[int] = ..., width: _Optional[int] = ..., is_pyramid_test: _Optional[bool] = ..., out_height_scale: _Optional[float] = ..., out_width_scale: _Optional[float] = ...) -> None: ...

class FocalLossParameter(_message.Message):
    __slots__ = ("type", "gamma", "alpha", "beta")
    class Type(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        ORIGIN: _ClassVar[FocalLossParameter.Type]
        LINEAR: _ClassVar[FocalLossParameter.Type]
        ONEADDP: _ClassVar[FocalLossParameter.Type]
    ORIGIN: FocalLossParameter.Type
    LINEAR: FocalLossParameter.Type
    ONEADDP: FocalLossParameter.Type
    TYPE_FIELD_NUMBER: _ClassVar[int]
    GAMMA_FIELD_NUMBER: _ClassVar[int]
    ALPHA_FIELD_NUMBER: _ClassVar[int]
    BETA_FIELD_NUMBER: _ClassVar[int]
    type: FocalLossParameter.Type
    gamma: float
    alpha: float
    beta: float
    def __init__(self, type: _Optional[_Union[FocalLossParameter.Type, str]] = ..., gamma: _Optional[float] = ..., alpha: _Optional[float] = ..., beta: _Optional[float] = ...) -> None: ...

class ChannelScaleParameter(_message.Message):
    __slots__ = ("do_forward", "do_backward_feature", "do_backward_scale", "global_scale", "max_global_scale", "min_global_scale", "init_global_scale")
    DO_FORWARD_FIELD_NUMBER: _ClassVar[int]
    DO_BACKWARD_FEATURE_FIELD_NUMBER: _ClassVar[int]
    DO_BACKWARD_SCALE_FIELD_NUMBER: _ClassVar[int]
    GLOBAL_SCALE_FIELD_NUMBER: _ClassVar[int]
    MAX_GLOBAL_SCALE_FIELD_NUMBER: _ClassVar[int]
    MIN_GLOBAL_SCALE_FIELD_NUMBER: _ClassVar[int]
    INIT_GLOBAL_SCALE_FIELD_NUMBER: _ClassVar[int]
    do_forward: bool
    do_backward_feature: bool
    do_backward_scale: bool
    global_scale: bool
    max_global_scale: float
    min_global_scale: float
    init_global_scale: float
    def __init__(self, do_forward: _Optional[bool] = ..., do_backward_feature: _Optional[bool] = ..., do_backward_scale: _Optional[bool] = ..., global_scale: _Optional[bool] = ..., max_global_scale: _Optional[float] = ..., min_global_scale: _Optional[float] = ..., init_global_scale: _Optional[float] = ...) -> None: ...

class CompileNetState(_message.Message):
    __slots__ = ("is_init", "bn_scale_remove", "kept_bn_layers", "bn_scale_merge", "fusion")
    IS_INIT_FIELD_NUMBER: _ClassVar[int]
    BN_SCALE_REMOVE_FIELD_NUMBER: _ClassVar[int]
    KEPT_BN_LAYERS_FIELD_NUMBER: _ClassVar[int]
    BN_SCALE_MERGE_FIELD_NUMBER: _ClassVar[int]
    FUSION_FIELD_NUMBER: _ClassVar[int]
    is_init: bool
    bn_scale_remove: bool
    kept_bn_layers: _containers.RepeatedScalarFieldContainer[str]
    bn_scale_merge: bool
    fusion: bool
    def __init__(self, is_init: _Optional[bool] = ..., bn_scale_remove: _Optional[bool] = ..., kept_bn_layers: _Optional[_Iterable[str]] = ..., bn_scale_merge: _Optional[bool] = ..., fusion: _Optional[bool] = ...) -> None: ...

class MultinodeLayerParameter(_message.Message):
    __slots__ = ("num_nodes", "model_parts")
    NUM_NODES_FIELD_NUMBER: _ClassVar[int]
    MODEL_PARTS_FIELD_NUMBER: _ClassVar[int]
    num_nodes: int
    model_parts: int
    def __init__(self, num_nodes: _Optional[int] = ..., model_parts: _Optional[int] = ...) -> None: ...

class MultinodeParameter(_message.Message):
    __slots__ = ("model_parallel",)
    MODEL_PARALLEL_FIELD_NUMBER: _ClassVar[int]
    model_parallel: _containers.RepeatedCompositeFieldContainer[MnModelParallelParameter]
    def __init__(self, model_parallel: _Optional[_Iterable[_Union[MnModelParallelParameter, _Mapping]]] = ...) -> None: ...

class MnModelParallelParameter(_message.Message):
    __slots__ = ("layer_from", "layer_to", "num_nodes", "model_parts")
    LAYER_FROM_FIELD_NUMBER: _ClassVar[int]
    LAYER_TO_FIELD_NUMBER: _ClassVar[int]
    NUM_NODES_FIELD_NUMBER: _ClassVar[int]
    MODEL_PARTS_FIELD_NUMBER: _ClassVar[int]
    layer_from: str
    layer_to: str
    num_nodes: int
    model_parts: int
    def __init__(self, layer_from: _Optional[str] = ..., layer_to: _Optional[str] = ..., num_nodes: _Optional[int] = ..., model_parts: _Optional[int] = ...) -> None: ...

class MnActivationParameter(_message.Message):
    __slots__ = ("num_nodes_in", "num_nodes_out", "model_parts_in", "model_parts_out", "need_reduce")
    NUM_NODES_IN_FIELD_NUMBER: _ClassVar[int]
    NUM_NODES_OUT_FIELD_NUMBER: _ClassVar[int]
    MODEL_PARTS_IN_FIELD_NUMBER: _ClassVar[int]
    MODEL_PARTS_OUT_FIELD_NUMBER: _ClassVar[int]
    NEED_REDUCE_FIELD_NUMBER: _ClassVar[int]
    num_nodes_in: int
    num_nodes_out: int
    model_parts_in: int
    model_parts_out: int
    need_reduce: bool
    def __init__(self, num_nodes_in: _Optional[int] = ..., num_nodes_out: _Optional[int] = ..., model_parts_in: _Optional[int] = ..., model_parts_out: _Optional[int] = ..., need_reduce: _Optional[bool] = ...) -> None: ...

class MnParamGradCompressParameter(_message.Message):
    __slots__ = ("param_grad_compress_enable",)
    PARAM_GRAD_COMPRESS_ENABLE_FIELD_NUMBER: _ClassVar[int]
    param_grad_compress_enable: _containers.RepeatedScalarFieldContainer[bool]
    def __init__(self, param_grad_compress_enable: _Optional[_Iterable[bool]] = ...) -> None: ...

class QuantizationParameter(_message.Message):
    __slots__ = ("precision", "rounding_scheme", "bw_layer_in", "bw_layer_out", "bw_params", "fl_layer_in", "fl_layer_out", "fl_params", "scale_in", "scale_out", "scale_params", "is_negative_input", "force_u8_input", "mant_bits", "exp_bits", "exp_min", "exp_max")
    class Precision(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        DYNAMIC_FIXED_POINT: _ClassVar[QuantizationParameter.Precision]
        MINIFLOAT: _ClassVar[QuantizationParameter.Precision]
        INTEGER_POWER_OF_2_WEIGHTS: _ClassVar[QuantizationParameter.Precision]
    DYNAMIC_FIXED_POINT: QuantizationParameter.Precision
    MINIFLOAT: QuantizationParameter.Precision
    INTEGER_POWER_OF_2_WEIGHTS: QuantizationParameter.Precision
    class Rounding(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        NEAREST: _ClassVar[QuantizationParameter.Rounding]
        STOCHASTIC: _ClassVar[QuantizationParameter.Rounding]
    NEAREST: QuantizationParameter.Rounding
    STOCHASTIC: QuantizationParameter.Rounding
    PRECISION_FIELD_NUMBER: _ClassVar[int]
    ROUNDING_SCHEME_FIELD_NUMBER: _ClassVar[int]
    BW_LAYER_IN_FIELD_NUMBER: _ClassVar[int]
    BW_LAYER_OUT_FIELD_NUMBER: _ClassVar[int]
    BW_PARAMS_FIELD_NUMBER: _ClassVar[int]
    FL_LAYER_IN_FIELD_NUMBER: _ClassVar[int]
    FL_LAYER_OUT_FIELD_NUMBER: _ClassVar[int]
    FL_PARAMS_FIELD_NUMBER: _ClassVar[int]
    SCALE_IN_FIELD_NUMBER: _ClassVar[int]
    SCALE_OUT_FIELD_NUMBER: _ClassVar[int]
    SCALE_PARAMS_FIELD_NUMBER: _ClassVar[int]
    IS_NEGATIVE_INPUT_FIELD_NUMBER: _ClassVar[int]
    FORCE_U8_INPUT_FIELD_NUMBER: _ClassVar[int]
    MANT_BITS_FIELD_NUMBER: _ClassVar[int]
    EXP_BITS_FIELD_NUMBER: _ClassVar[int]
    EXP_MIN_FIELD_NUMBER: _ClassVar[int]
    EXP_MAX_FIELD_NUMBER: _ClassVar[int]
    precision: QuantizationParameter.Precision
    rounding_scheme: QuantizationParameter.Rounding
    bw_layer_in: int
    bw_layer_out: int
    bw_params: int
    fl_layer_in: _containers.RepeatedScalarFieldContainer[int]
    fl_layer_out: _containers.RepeatedScalarFieldContainer[int]
    fl_params: _containers.RepeatedScalarFieldContainer[int]
    scale_in: _containers.RepeatedScalarFieldContainer[float]
    scale_out: _containers.RepeatedScalarFieldContainer[float]
    scale_params: _containers.RepeatedScalarFieldContainer[float]
    is_negative_input: bool
    force_u8_input: bool
    mant_bits: int
    exp_bits: int
    exp_min: int
    exp_max: int
    def __init__(self, precision: _Optional[_Union[QuantizationParameter.Precision, str]] = ..., rounding_scheme: _Optional[_Union[QuantizationParameter.Rounding, str]] = ..., bw_layer_in: _Optional[int] = ..., bw_layer_out: _Optional[int] = ..., bw_params: _Optional[int] = ..., fl_layer_in: _Optional[_Iterable[int]] = ..., fl_layer_out: _Optional[_Iterable[int]] = ..., fl_params: _Optional[_Iterable[int]] = ..., scale_in: _Optional[_Iterable[float]] = ..., scale_out: _Optional[_Iterable[float]] = ..., scale_params: _Optional[_Iterable[float]] = ..., is_negative_input: _Optional[bool] = ..., force_u8_input: _Optional[bool] = ..., mant_bits: _Optional[int] = ..., exp_bits: _Optional[int] = ..., exp_min: _Optional[int] = ..., exp_max: _Optional[int] = ...) -> None: ...

class SpatialDropoutParameter(_message.Message):
    __slots__ = ("dropout_ratio",)
    DROPOUT_RATIO_FIELD_NUMBER: _ClassVar[int]
    dropout_ratio: float
    def __init__(self, dropout_ratio: _Optional[float] = ...) -> None: ...

class IntelSplitParameter(_message.Message):
    __slots__ = ("engine",)
    class Engine(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        DEFAULT: _ClassVar[IntelSplitParameter.Engine]
        CAFFE: _ClassVar[IntelSplitParameter.Engine]
        MKL2017: _ClassVar[IntelSplitParameter.Engine]
        MKLDNN: _ClassVar[IntelSplitParameter.Engine]
    DEFAULT: IntelSplitParameter.Engine
    CAFFE: IntelSplitParameter.Engine
    MKL2017: IntelSplitParameter.Engine
    MKLDNN: IntelSplitParameter.Engine
    ENGINE_FIELD_NUMBER: _ClassVar[int]
    engine: IntelSplitParameter.Engine
    def __init__(self, engine: _Optional[_Union[IntelSplitParameter.Engine, str]] = ...) -> None: ...

class IntelEvalDetectionParameter(_message.Message):
    __slots__ = ("side", "num_class", "num_object", "threshold", "sqrt", "constraint", "score_type", "nms", "biases")
    SIDE_FIELD_NUMBER: _ClassVar[int]
    NUM_CLASS_FIELD_NUMBER: _ClassVar[int]
    NUM_OBJECT_FIELD_NUMBER: _ClassVar[int]
    THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    SQRT_FIELD_NUMBER: _ClassVar[int]
    CONSTRAINT_FIELD_NUMBER: _ClassVar[int]
    SCORE_TYPE_FIELD_NUMBER: _ClassVar[int]
    NMS_FIELD_NUMBER: _ClassVar[int]
    BIASES_FIELD_NUMBER: _ClassVar[int]
    side: int
    num_class: int
    num_object: int
    threshold: float
    sqrt: bool
    constraint: bool
    score_type: int
    nms: float
    biases: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, side: _Optional[int] = ..., num_class: _Optional[int] = ..., num_object: _Optional[int] = ..., threshold: _Optional[float] = ..., sqrt: _Optional[bool] = ..., constraint: _Optional[bool] = ..., score_type: _Optional[int] = ..., nms: _Optional[float] = ..., biases: _Optional[_Iterable[float]] = ...) -> None: ...

class RandomResizeParameter(_message.Message):
    __slots__ = ("min_size", "max_size", "resize_param")
    MIN_SIZE_FIELD_NUMBER: _ClassVar[int]
    MAX_SIZE_FIELD_NUMBER: _ClassVar[int]
    RESIZE_PARAM_FIELD_NUMBER: _ClassVar[int]
    min_size: int
    max_size: int
    resize_param: ResizeParameter
    def __init__(self, min_size: _Optional[int] = ..., max_size: _Optional[int] = ..., resize_param: _Optional[_Union[ResizeParameter, _Mapping]] = ...) -> None: ...

class RandomAspectRatioParameter(_message.Message):
    __slots__ = ("min_area_ratio", "max_area_ratio", "aspect_ratio_change", "max_attempt", "resize_param")
    MIN_AREA_RATIO_FIELD_NUMBER: _ClassVar[int]
    MAX_AREA_RATIO_FIELD_NUMBER: _ClassVar[int]
    ASPECT_RATIO_CHANGE_FIELD_NUMBER: _ClassVar[int]
    MAX_ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    RESIZE_PARAM_FIELD_NUMBER: _ClassVar[int]
    min_area_ratio: float
    max_area_ratio: float
    aspect_ratio_change: float
    max_attempt: int
    resize_param: ResizeParameter
    def __init__(self, min_area_ratio: _Optional[float] = ..., max_area_ratio: _Optional[float] = ..., aspect_ratio_change: _Optional[float] = ..., max_attempt: _Optional[int] = ..., resize_param: _Optional[_Union[ResizeParameter, _Mapping]] = ...) -> None: ...

class LstmParameter(_message.Message):
    __slots__ = ("num_output", "clipping_threshold", "weight_filler", "bias_filler", "batch_size")
    NUM_OUTPUT_FIELD_NUMBER: _ClassVar[int]
    CLIPPING_THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_FILLER_FIELD_NUMBER: _ClassVar[int]
    BIAS_FILLER_FIELD_NUMBER: _ClassVar[int]
    BATCH_SIZE_FIELD_NUMBER: _ClassVar[int]
    num_output: int
    clipping_threshold: float
    weight_filler: FillerParameter
    bias_filler: FillerParameter
    batch_size: int
    def __init__(self, num_output: _Optional[int] = ..., clipping_threshold: _Optional[float] = ..., weight_filler: _Optional[_Union[FillerParameter, _Mapping]] = ..., bias_filler: _Optional[_Union[FillerParameter, _Mapping]] = ..., batch_size: _Optional[int] = ...) -> None: ...

class BatchReductionParameter(_message.Message):
    __slots__ = ("level", "reduction_param", "pos")
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    REDUCTION_PARAM_FIELD_NUMBER: _ClassVar[int]
    POS_FIELD_NUMBER: _ClassVar[int]
    level: _containers.RepeatedScalarFieldContainer[int]
    reduction_param: ReductionParameter
    pos: bool
    def __init__(self, level: _Optional[_Iterable[int]] = ..., reduction_param: _Optional[_Union[ReductionParameter, _Mapping]] = ..., pos: _Optional[bool] = ...) -> None: ...

class SegDataParameter(_message.Message):
    __slots__ = ("source", "batch_size", "shuffle", "root_folder")
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    BATCH_SIZE_FIELD_NUMBER: _ClassVar[int]
    SHUFFLE_FIELD_NUMBER: _ClassVar[int]
    ROOT_FOLDER_FIELD_NUMBER: _ClassVar[int]
    source: str
    batch_size: int
    shuffle: bool
    root_folder: str
    def __init__(self, source: _Optional[str] = ..., batch_size: _Optional[int] = ..., shuffle: _Optional[bool] = ..., root_folder: _Optional[str] = ...) -> None: ...

class MemoryOptimizationParameter(_message.Message):
    __slots__ = ("optimize_train", "optimize_test", "exclude_blob")
    OPTIMIZE_TRAIN_FIELD_NUMBER: _ClassVar[int]
    OPTIMIZE_TEST_FIELD_NUMBER: _ClassVar[int]
    EXCLUDE_BLOB_FIELD_NUMBER: _ClassVar[int]
    optimize_train: bool
    optimize_test: bool
    exclude_blob: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, optimize_train: _Optional[bool] = ..., optimize_test: _Optional[bool] = ..., exclude_blob: _Optional[_Iterable[str]] = ...) -> None: ...

class BBoxRegParameter(_message.Message):
    __slots__ = ("bbox_mean", "bbox_std", "cls_aware")
    BBOX_MEAN_FIELD_NUMBER: _ClassVar[int]
    BBOX_STD_FIELD_NUMBER: _ClassVar[int]
    CLS_AWARE_FIELD_NUMBER: _ClassVar[int]
    bbox_mean: _containers.RepeatedScalarFieldContainer[float]
    bbox_std: _containers.RepeatedScalarFieldContainer[float]
    cls_aware: bool
    def __init__(self, bbox_mean: _Optional[_Iterable[float]] = ..., bbox_std: _Optional[_Iterable[float]] = ..., cls_aware: _Optional[bool] = ...) -> None: ...

class DecodeBBoxParameter(_message.Message):
    __slots__ = ("bg_threshold", "fg_threshold")
    BG_THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    FG_THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    bg_threshold: float
    fg_threshold: float
    def __init__(self, bg_threshold: _Optional[float] = ..., fg_threshold: _Optional[float] = ...) -> None: ...

class DetectionLossParameter(_message.Message):
    __slots__ = ("cls_num", "coord_num", "field_h", "field_w", "downsample_rate", "bb_smooth", "field_whr", "field_xyr", "bg_threshold", "bg_multiple", "sample_mode", "objectness", "iou_weighted", "pos_neg_weighted")
    CLS_NUM_FIELD_NUMBER: _ClassVar[int]
    COORD_NUM_FIELD_NUMBER: _ClassVar[int]
    LAMBDA_FIELD_NUMBER: _ClassVar[int]
    FIELD_H_FIELD_NUMBER: _ClassVar[int]
    FIELD_W_FIELD_NUMBER: _ClassVar[int]
    DOWNSAMPLE_RATE_FIELD_NUMBER: _ClassVar[int]
    BB_SMOOTH_FIELD_NUMBER: _ClassVar[int]
    FIELD_WHR_FIELD_NUMBER: _ClassVar[int]
    FIELD_XYR_FIELD_NUMBER: _ClassVar[int]
    BG_THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    BG_MULTIPLE_FIELD_NUMBER: _ClassVar[int]
    SAMPLE_MODE_FIELD_NUMBER: _ClassVar[int]
    OBJECTNESS_FIELD_NUMBER: _ClassVar[int]
    IOU_WEIGHTED_FIELD_NUMBER: _ClassVar[int]
    POS_NEG_WEIGHTED_FIELD_NUMBER: _ClassVar[int]
    cls_num: int
    coord_num: int
    field_h: int
    field_w: int
    downsample_rate: int
    bb_smooth: bool
    field_whr: float
    field_xyr: float
    bg_threshold: float
    bg_multiple: int
    sample_mode: str
    objectness: bool
    iou_weighted: bool
    pos_neg_weighted: bool
    def __init__(self, cls_num: _Optional[int] = ..., coord_num: _Optional[int] = ..., field_h: _Optional[int] = ..., field_w: _Optional[int] = ..., downsample_rate: _Optional[int] = ..., bb_smooth: _Optional[bool] = ..., field_whr: _Optional[float] = ..., field_xyr: _Optional[float] = ..., bg_threshold: _Optional[float] = ..., bg_multiple: _Optional[int] = ..., sample_mode: _Optional[str] = ..., objectness: _Optional[bool] = ..., iou_weighted: _Optional[bool] = ..., pos_neg_weighted: _Optional[bool] = ..., **kwargs: object) -> None: ...

class DetectionAccuracyParameter(_message.Message):
    __slots__ = ("cls_num", "coord_num", "field_h", "field_w", "downsample_rate", "top_k", "field_whr", "field_xyr", "bg_threshold", "objectness")
    CLS_NUM_FIELD_NUMBER: _ClassVar[int]
    COORD_NUM_FIELD_NUMBER: _ClassVar[int]
    FIELD_H_FIELD_NUMBER: _ClassVar[int]
    FIELD_W_FIELD_NUMBER: _ClassVar[int]
    DOWNSAMPLE_RATE_FIELD_NUMBER: _ClassVar[int]
    TOP_K_FIELD_NUMBER: _ClassVar[int]
    FIELD_WHR_FIELD_NUMBER: _ClassVar[int]
    FIELD_XYR_FIELD_NUMBER: _ClassVar[int]
    BG_THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    OBJECTNESS_FIELD_NUMBER: _ClassVar[int]
    cls_num: int
    coord_num: int
    field_h: int
    field_w: int
    downsample_rate: int
    top_k: int
    field_whr: float
    field_xyr: float
    bg_threshold: float
    objectness: bool
    def __init__(self, cls_num: _Optional[int] = ..., coord_num: _Optional[int] = ..., field_h: _Optional[int] = ..., field_w: _Optional[int] = ..., downsample_rate: _Optional[int] = ..., top_k: _Optional[int] = ..., field_whr: _Optional[float] = ..., field_xyr: _Optional[float] = ..., bg_threshold: _Optional[float] = ..., objectness: _Optional[bool] = ...) -> None: ...

class BoxOutputParameter(_message.Message):
    __slots__ = ("fg_thr", "iou_thr", "nms_type", "field_h", "field_w", "downsample_rate", "field_whr", "field_xyr", "max_nms_num", "max_post_nms_num", "min_size")
    FG_THR_FIELD_NUMBER: _ClassVar[int]
    IOU_THR_FIELD_NUMBER: _ClassVar[int]
    NMS_TYPE_FIELD_NUMBER: _ClassVar[int]
    FIELD_H_FIELD_NUMBER: _ClassVar[int]
    FIELD_W_FIELD_NUMBER: _ClassVar[int]
    DOWNSAMPLE_RATE_FIELD_NUMBER: _ClassVar[int]
    FIELD_WHR_FIELD_NUMBER: _ClassVar[int]
    FIELD_XYR_FIELD_NUMBER: _ClassVar[int]
    MAX_NMS_NUM_FIELD_NUMBER: _ClassVar[int]
    MAX_POST_NMS_NUM_FIELD_NUMBER: _ClassVar[int]
    MIN_SIZE_FIELD_NUMBER: _ClassVar[int]
    fg_thr: float
    iou_thr: float
    nms_type: str
    field_h: _containers.RepeatedScalarFieldContainer[int]
    field_w: _containers.RepeatedScalarFieldContainer[int]
    downsample_rate: _containers.RepeatedScalarFieldContainer[int]
    field_whr: float
    field_xyr: float
    max_nms_num: int
    max_post_nms_num: int
    min_size: float
    def __init__(self, fg_thr: _Optional[float] = ..., iou_thr: _Optional[float] = ..., nms_type: _Optional[str] = ..., field_h: _Optional[_Iterable[int]] = ..., field_w: _Optional[_Iterable[int]] = ..., downsample_rate: _Optional[_Iterable[int]] = ..., field_whr: _Optional[float] = ..., field_xyr: _Optional[float] = ..., max_nms_num: _Optional[int] = ..., max_post_nms_num: _Optional[int] = ..., min_size: _Optional[float] = ...) -> None: ...

class ProposalTargetParameter(_message.Message):
    __slots__ = ("cls_num", "batch_size", "fg_fraction", "num_img_per_batch", "fg_thr", "bg_thr_hg", "bg_thr_lw", "img_width", "img_height", "iou_weighted")
    CLS_NUM_FIELD_NUMBER: _ClassVar[int]
    BATCH_SIZE_FIELD_NUMBER: _ClassVar[int]
    FG_FRACTION_FIELD_NUMBER: _ClassVar[int]
    NUM_IMG_PER_BATCH_FIELD_NUMBER: _ClassVar[int]
    FG_THR_FIELD_NUMBER: _ClassVar[int]
    BG_THR_HG_FIELD_NUMBER: _ClassVar[int]
    BG_THR_LW_FIELD_NUMBER: _ClassVar[int]
    IMG_WIDTH_FIELD_NUMBER: _ClassVar[int]
    IMG_HEIGHT_FIELD_NUMBER: _ClassVar[int]
    IOU_WEIGHTED_FIELD_NUMBER: _ClassVar[int]
    cls_num: int
    batch_size: int
    fg_fraction: float
    num_img_per_batch: int
    fg_thr: float
    bg_thr_hg: float
    bg_thr_lw: float
    img_width: int
    img_height: int
    iou_weighted: bool
    def __init__(self, cls_num: _Optional[int] = ..., batch_size: _Optional[int] = ..., fg_fraction: _Optional[float] = ..., num_img_per_batch: _Optional[int] = ..., fg_thr: _Optional[float] = ..., bg_thr_hg: _Optional[float] = ..., bg_thr_lw: _Optional[float] = ..., img_width: _Optional[int] = ..., img_height: _Optional[int] = ..., iou_weighted: _Optional[bool] = ...) -> None: ...

class ImageGtDataParameter(_message.Message):
    __slots__ = ("source", "scale", "mean_file", "batch_size", "mirror", "downsample_rate", "coord_num", "field_h", "field_w", "fg_threshold", "resize_width", "resize_height", "crop_width", "crop_height", "do_multiple_scale", "min_scale", "max_scale", "min_whaspect", "max_whaspect", "min_gt_width", "min_gt_height", "shuffle", "output_gt_boxes", "fg_img_multiple", "cache_images", "root_folder")
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    SCALE_FIELD_NUMBER: _ClassVar[int]
    MEAN_FILE_FIELD_NUMBER: _ClassVar[int]
    BATCH_SIZE_FIELD_NUMBER: _ClassVar[int]
    MIRROR_FIELD_NUMBER: _ClassVar[int]
    DOWNSAMPLE_RATE_FIELD_NUMBER: _ClassVar[int]
    COORD_NUM_FIELD_NUMBER: _ClassVar[int]
    FIELD_H_FIELD_NUMBER: _ClassVar[int]
    FIELD_W_FIELD_NUMBER: _ClassVar[int]
    FG_THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    RESIZE_WIDTH_FIELD_NUMBER: _ClassVar[int]
    RESIZE_HEIGHT_FIELD_NUMBER: _ClassVar[int]
    CROP_WIDTH_FIELD_NUMBER: _ClassVar[int]
    CROP_HEIGHT_FIELD_NUMBER: _ClassVar[int]
    DO_MULTIPLE_SCALE_FIELD_NUMBER: _ClassVar[int]
    MIN_SCALE_FIELD_NUMBER: _ClassVar[int]
    MAX_SCALE_FIELD_NUMBER: _ClassVar[int]
    MIN_WHASPECT_FIELD_NUMBER: _ClassVar[int]
    MAX_WHASPECT_FIELD_NUMBER: _ClassVar[int]
    MIN_GT_WIDTH_FIELD_NUMBER: _ClassVar[int]
    MIN_GT_HEIGHT_FIELD_NUMBER: _ClassVar[int]
    SHUFFLE_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_GT_BOXES_FIELD_NUMBER: _ClassVar[int]
    FG_IMG_MULTIPLE_FIELD_NUMBER: _ClassVar[int]
    CACHE_IMAGES_FIELD_NUMBER: _ClassVar[int]
    ROOT_FOLDER_FIELD_NUMBER: _ClassVar[int]
    source: str
    scale: float
    mean_file: str
    batch_size: int
    mirror: bool
    downsample_rate: _containers.RepeatedScalarFieldContainer[int]
    coord_num: int
    field_h: _containers.RepeatedScalarFieldContainer[int]
    field_w: _containers.RepeatedScalarFieldContainer[int]
    fg_threshold: float
    resize_width: int
    resize_height: int
    crop_width: int
    crop_height: int
    do_multiple_scale: bool
    min_scale: int
    max_scale: int
    min_whaspect: float
    max_whaspect: float
    min_gt_width: float
    min_gt_height: float
    shuffle: bool
    output_gt_boxes: bool
    fg_img_multiple: int
    cache_images: bool
    root_folder: str
    def __init__(self, source: _Optional[str] = ..., scale: _Optional[float] = ..., mean_file: _Optional[str] = ..., batch_size: _Optional[int] = ..., mirror: _Optional[bool] = ..., downsample_rate: _Optional[_Iterable[int]] = ..., coord_num: _Optional[int] = ..., field_h: _Optional[_Iterable[int]] = ..., field_w: _Optional[_Iterable[int]] = ..., fg_threshold: _Optional[float] = ..., resize_width: _Optional[int] = ..., resize_height: _Optional[int] = ..., crop_width: _Optional[int] = ..., crop_height: _Optional[int] = ..., do_multiple_scale: _Optional[bool] = ..., min_scale: _Optional[int] = ..., max_scale: _Optional[int] = ..., min_whaspect: _Optional[float] = ..., max_whaspect: _Optional[float] = ..., min_gt_width: _Optional[float] = ..., min_gt_height: _Optional[float] = ..., shuffle: _Optional[bool] = ..., output_gt_boxes: _Optional[bool] = ..., fg_img_multiple: _Optional[int] = ..., cache_images: _Optional[bool] = ..., root_folder: _Optional[str] = ...) -> None: ...

class TensorRTParameter(_message.Message):
    __slots__ = ("model_file", "max_batch_size", "workspace_mb")
    MODEL_FILE_FIELD_NUMBER: _ClassVar[int]
    MAX_BATCH_SIZE_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_MB_FIELD_NUMBER: _ClassVar[int]
    model_file: str
    max_batch_size: int
    workspace_mb: int
    def __init__(self, model_file: _Optional[str] = ..., max_batch_size: _Optional[int] = ..., workspace_mb: _Optional[int] = ...) -> None: ...

class DetectNetGroundTruthParameter(_message.Message):
    __slots__ = ("stride", "scale_cvg", "gridbox_type", "max_cvg_len", "min_cvg_len", "coverage_type", "image_size_x", "image_size_y", "obj_norm", "crop_bboxes", "object_class")
    class GridboxType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        GRIDBOX_MAX: _ClassVar[DetectNetGroundTruthParameter.GridboxType]
        GRIDBOX_MIN: _ClassVar[DetectNetGroundTruthParameter.GridboxType]
    GRIDBOX_MAX: DetectNetGroundTruthParameter.GridboxType
    GRIDBOX_MIN: DetectNetGroundTruthParameter.GridboxType
    class CoverageType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        RECTANGULAR: _ClassVar[DetectNetGroundTruthParameter.CoverageType]
    RECTANGULAR: DetectNetGroundTruthParameter.CoverageType
    STRIDE_FIELD_NUMBER: _ClassVar[int]
    SCALE_CVG_FIELD_NUMBER: _ClassVar[int]
    GRIDBOX_TYPE_FIELD_NUMBER: _ClassVar[int]
    MAX_CVG_LEN_FIELD_NUMBER: _ClassVar[int]
    MIN_CVG_LEN_FIELD_NUMBER: _ClassVar[int]
    COVERAGE_TYPE_FIELD_NUMBER: _ClassVar[int]
    IMAGE_SIZE_X_FIELD_NUMBER: _ClassVar[int]
    IMAGE_SIZE_Y_FIELD_NUMBER: _ClassVar[int]
    OBJ_NORM_FIELD_NUMBER: _ClassVar[int]
    CROP_BBOXES_FIELD_NUMBER: _ClassVar[int]
    OBJECT_CLASS_FIELD_NUMBER: _ClassVar[int]
    stride: int
    scale_cvg: float
    gridbox_type: DetectNetGroundTruthParameter.GridboxType
    max_cvg_len: int
    min_cvg_len: int
    coverage_type: DetectNetGroundTruthParameter.CoverageType
    image_size_x: int
    image_size_y: int
    obj_norm: bool
    crop_bboxes: bool
    object_class: _containers.RepeatedCompositeFieldContainer[DetectNetObjectClass]
    def __init__(self, stride: _Optional[int] = ..., scale_cvg: _Optional[float] = ..., gridbox_type: _Optional[_Union[DetectNetGroundTruthParameter.GridboxType, str]] = ..., max_cvg_len: _Optional[int] = ..., min_cvg_len: _Optional[int] = ..., coverage_type: _Optional[_Union[DetectNetGroundTruthParameter.CoverageType, str]] = ..., image_size_x: _Optional[int] = ..., image_size_y: _Optional[int] = ..., obj_norm: _Optional[bool] = ..., crop_bboxes: _Optional[bool] = ..., object_class: _Optional[_Iterable[_Union[DetectNetObjectClass, _Mapping]]] = ...) -> None: ...

class DetectNetObjectClass(_message.Message):
    __slots__ = ("src", "dst")
    SRC_FIELD_NUMBER: _ClassVar[int]
    DST_FIELD_NUMBER: _ClassVar[int]
    src: int
    dst: int
    def __init__(self, src: _Optional[int] = ..., dst: _Optional[int] = ...) -> None: ...

class DetectNetAugmentationParameter(_message.Message):
    __slots__ = ("crop_prob", "shift_x", "shift_y", "scale_prob", "scale_min", "scale_max", "flip_prob", "rotation_prob", "max_rotate_degree", "hue_rotation_prob", "hue_rotation", "desaturation_prob", "desaturation_max")
    CROP_PROB_FIELD_NUMBER: _ClassVar[int]
    SHIFT_X_FIELD_NUMBER: _ClassVar[int]
    SHIFT_Y_FIELD_NUMBER: _ClassVar[int]
    SCALE_PROB_FIELD_NUMBER: _ClassVar[int]
    SCALE_MIN_FIELD_NUMBER: _ClassVar[int]
    SCALE_MAX_FIELD_NUMBER: _ClassVar[int]
    FLIP_PROB_FIELD_NUMBER: _ClassVar[int]
    ROTATION_PROB_FIELD_NUMBER: _ClassVar[int]
    MAX_ROTATE_DEGREE_FIELD_NUMBER: _ClassVar[int]
    HUE_ROTATION_PROB_FIELD_NUMBER: _ClassVar[int]
    HUE_ROTATION_FIELD_NUMBER: _ClassVar[int]
    DESATURATION_PROB_FIELD_NUMBER: _ClassVar[int]
    DESATURATION_MAX_FIELD_NUMBER: _ClassVar[int]
    crop_prob: float
    shift_x: int
    shift_y: int
    scale_prob: float
    scale_min: float
    scale_max: float
    flip_prob: float
    rotation_prob: float
    max_rotate_degree: float
    hue_rotation_prob: float
    hue_rotation: float
    desaturation_prob: float
    desaturation_max: float
    def __init__(self, crop_prob: _Optional[float] = ..., shift_x: _Optional[int] = ..., shift_y: _Optional[int] = ..., scale_prob: _Optional[float] = ..., scale_min: _Optional[float] = ..., scale_max: _Optional[float] = ..., flip_prob: _Optional[float] = ..., rotation_prob: _Optional[float] = ..., max_rotate_degree: _Optional[float] = ..., hue_rotation_prob: _Optional[float] = ..., hue_rotation: _Optional[float] = ..., desaturation_prob: _Optional[float] = ..., desaturation_max: _Optional[float] = ...) -> None: ...

class TransposeParameter(_message.Message):
    __slots__ = ("dim",)
    DIM_FIELD_NUMBER: _ClassVar[int]
    dim: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, dim: _Optional[_Iterable[int]] = ...) -> None: ...

class GRNParameter(_message.Message):
    __slots__ = ("bias", "dummy_backward")
    BIAS_FIELD_NUMBER: _ClassVar[int]
    DUMMY_BACKWARD_FIELD_NUMBER: _ClassVar[int]
    bias: float
    dummy_backward: bool
    def __init__(self, bias: _Optional[float] = ..., dummy_backward: _Optional[bool] = ...) -> None: ...

class RcnnTruthParameter(_message.Message):
    __slots__ = ("num_classes",)
    NUM_CLASSES_FIELD_NUMBER: _ClassVar[int]
    num_classes: int
    def __init__(self, num_classes: _Optional[int] = ...) -> None: ...

class AnchorTargetParameter(_message.Message):
    __slots__ = ("feat_stride", "base_size", "ratio", "scale", "positive_overlap", "negative_overlap", "batch_size", "positive_fraction")
    FEAT_STRIDE_FIELD_NUMBER: _ClassVar[int]
    BASE_SIZE_FIELD_NUMBER: _ClassVar[int]
    RATIO_FIELD_NUMBER: _ClassVar[int]
    SCALE_FIELD_NUMBER: _ClassVar[int]
    POSITIVE_OVERLAP_FIELD_NUMBER: _ClassVar[int]
    NEGATIVE_OVERLAP_FIELD_NUMBER: _ClassVar[int]
    BATCH_SIZE_FIELD_NUMBER: _ClassVar[int]
    POSITIVE_FRACTION_FIELD_NUMBER: _ClassVar[int]
    feat_stride: int
    base_size: int
    ratio: _containers.RepeatedScalarFieldContainer[float]
    scale: _containers.RepeatedScalarFieldContainer[float]
    positive_overlap: float
    negative_overlap: float
    batch_size: int
    positive_fraction: float
    def __init__(self, feat_stride: _Optional[int] = ..., base_size: _Optional[int] = ..., ratio: _Optional[_Iterable[float]] = ..., scale: _Optional[_Iterable[float]] = ..., positive_overlap: _Optional[float] = ..., negative_overlap: _Optional[float] = ..., batch_size: _Optional[int] = ..., positive_fraction: _Optional[float] = ...) -> None: ...

class RegionTargetParameter(_message.Message):
    __slots__ = ("num_classes", "batch_size", "positive_fraction", "positive_overlap", "negative_overlap", "std")
    NUM_CLASSES_FIELD_NUMBER: _ClassVar[int]
    BATCH_SIZE_FIELD_NUMBER: _ClassVar[int]
    POSITIVE_FRACTION_FIELD_NUMBER: _ClassVar[int]
    POSITIVE_OVERLAP_FIELD_NUMBER: _ClassVar[int]
    NEGATIVE_OVERLAP_FIELD_NUMBER: _ClassVar[int]
    STD_FIELD_NUMBER: _ClassVar[int]
    num_classes: int
    batch_size: int
    positive_fraction: float
    positive_overlap: float
    negative_overlap: float
    std: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, num_classes: _Optional[int] = ..., batch_size: _Optional[int] = ..., positive_fraction: _Optional[float] = ..., positive_overlap: _Optional[float] = ..., negative_overlap: _Optional[float] = ..., std: _Optional[_Iterable[float]] = ...) -> None: ...

class ChannelFilterParameter(_message.Message):
    __slots__ = ("num_output",)
    NUM_OUTPUT_FIELD_NUMBER: _ClassVar[int]
    num_output: int
    def __init__(self, num_output: _Optional[int] = ...) -> None: ...

class SegAccuracyParameter(_message.Message):
    __slots__ = ("metric", "ignore_label", "reset")
    class AccuracyMetric(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        PixelAccuracy: _ClassVar[SegAccuracyParameter.AccuracyMetric]
        ClassAccuracy: _ClassVar[SegAccuracyParameter.AccuracyMetric]
        PixelIOU: _ClassVar[SegAccuracyParameter.AccuracyMetric]
    PixelAccuracy: SegAccuracyParameter.AccuracyMetric
    ClassAccuracy: SegAccuracyParameter.AccuracyMetric
    PixelIOU: SegAccuracyParameter.AccuracyMetric
    METRIC_FIELD_NUMBER: _ClassVar[int]
    IGNORE_LABEL_FIELD_NUMBER: _ClassVar[int]
    RESET_FIELD_NUMBER: _ClassVar[int]
    metric: SegAccuracyParameter.AccuracyMetric
    ignore_label: _containers.RepeatedScalarFieldContainer[int]
    reset: bool
    def __init__(self, metric: _Optional[_Union[SegAccuracyParameter.AccuracyMetric, str]] = ..., ignore_label: _Optional[_Iterable[int]] = ..., reset: _Optional[bool] = ...) -> None: ...

class MatWriteParameter(_message.Message):
    __slots__ = ("prefix", "source", "strip", "period")
    PREFIX_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    STRIP_FIELD_NUMBER: _ClassVar[int]
    PERIOD_FIELD_NUMBER: _ClassVar[int]
    prefix: str
    source: str
    strip: int
    period: int
    def __init__(self, prefix: _Optional[str] = ..., source: _Optional[str] = ..., strip: _Optional[int] = ..., period: _Optional[int] = ...) -> None: ...

class MatReadParameter(_message.Message):
    __slots__ = ("prefix", "source", "strip", "batch_size")
    PREFIX_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    STRIP_FIELD_NUMBER: _ClassVar[int]
    BATCH_SIZE_FIELD_NUMBER: _ClassVar[int]
    prefix: str
    source: str
    strip: int
    batch_size: int
    def __init__(self, prefix: _Optional[str] = ..., source: _Optional[str] = ..., strip: _Optional[int] = ..., batch_size: _Optional[int] = ...) -> None: ...

class DenseCRFParameter(_message.Message):
    __slots__ = ("max_iter", "pos_xy_std", "pos_w", "bi_xy_std", "bi_rgb_std", "bi_w", "output_probability")
    MAX_ITER_FIELD_NUMBER: _ClassVar[int]
    POS_XY_STD_FIELD_NUMBER: _ClassVar[int]
    POS_W_FIELD_NUMBER: _ClassVar[int]
    BI_XY_STD_FIELD_NUMBER: _ClassVar[int]
    BI_RGB_STD_FIELD_NUMBER: _ClassVar[int]
    BI_W_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_PROBABILITY_FIELD_NUMBER: _ClassVar[int]
    max_iter: int
    pos_xy_std: _containers.RepeatedScalarFieldContainer[float]
    pos_w: _containers.RepeatedScalarFieldContainer[float]
    bi_xy_std: _containers.RepeatedScalarFieldContainer[float]
    bi_rgb_std: _containers.RepeatedScalarFieldContainer[float]
    bi_w: _containers.RepeatedScalarFieldContainer[float]
    output_probability: bool
    def __init__(self, max_iter: _Optional[int] = ..., pos_xy_std: _Optional[_Iterable[float]] = ..., pos_w: _Optional[_Iterable[float]] = ..., bi_xy_std: _Optional[_Iterable[float]] = ..., bi_rgb_std: _Optional[_Iterable[float]] = ..., bi_w: _Optional[_Iterable[float]] = ..., output_probability: _Optional[bool] = ...) -> None: ...

class DomainTransformParameter(_message.Message):
    __slots__ = ("num_iter", "spatial_sigma", "range_sigma", "min_weight")
    NUM_ITER_FIELD_NUMBER: _ClassVar[int]
    SPATIAL_SIGMA_FIELD_NUMBER: _ClassVar[int]
    RANGE_SIGMA_FIELD_NUMBER: _ClassVar[int]
    MIN_WEIGHT_FIELD_NUMBER: _ClassVar[int]
    num_iter: int
    spatial_sigma: float
    range_sigma: float
    min_weight: float
    def __init__(self, num_iter: _Optional[int] = ..., spatial_sigma: _Optional[float] = ..., range_sigma: _Optional[float] = ..., min_weight: _Optional[float] = ...) -> None: ...

class AdaptiveBiasChannelParameter(_message.Message):
    __slots__ = ("num_iter", "bg_portion", "fg_portion", "suppress_others", "margin_others")
    NUM_ITER_FIELD_NUMBER: _ClassVar[int]
    BG_PORTION_FIELD_NUMBER: _ClassVar[int]
    FG_PORTION_FIELD_NUMBER: _ClassVar[int]
    SUPPRESS_OTHERS_FIELD_NUMBER: _ClassVar[int]
    MARGIN_OTHERS_FIELD_NUMBER: _ClassVar[int]
    num_iter: int
    bg_portion: float
    fg_portion: float
    suppress_others: bool
    margin_others: float
    def __init__(self, num_iter: _Optional[int] = ..., bg_portion: _Optional[float] = ..., fg_portion: _Optional[float] = ..., suppress_others: _Optional[bool] = ..., margin_others: _Optional[float] = ...) -> None: ...

class BiasChannelParameter(_message.Message):
    __slots__ = ("bg_bias", "fg_bias", "ignore_label", "label_type", "background_label")
    class LabelType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        IMAGE: _ClassVar[BiasChannelParameter.LabelType]
        PIXEL: _ClassVar[BiasChannelParameter.LabelType]
    IMAGE: BiasChannelParameter.LabelType
    PIXEL: BiasChannelParameter.LabelType
    BG_BIAS_FIELD_NUMBER: _ClassVar[int]
    FG_BIAS_FIELD_NUMBER: _ClassVar[int]
    IGNORE_LABEL_FIELD_NUMBER: _ClassVar[int]
    LABEL_TYPE_FIELD_NUMBER: _ClassVar[int]
    BACKGROUND_LABEL_FIELD_NUMBER: _ClassVar[int]
    bg_bias: float
    fg_bias: float
    ignore_label: _containers.RepeatedScalarFieldContainer[int]
    label_type: BiasChannelParameter.LabelType
    background_label: int
    def __init__(self, bg_bias: _Optional[float] = ..., fg_bias: _Optional[float] = ..., ignore_label: _Optional[_Iterable[int]] = ..., label_type: _Optional[_Union[BiasChannelParameter.LabelType, str]] = ..., background_label: _Optional[int] = ...) -> None: ...

class UniqueLabelParameter(_message.Message):
    __slots__ = ("max_labels", "ignore_label", "force_label")
    MAX_LABELS_FIELD_NUMBER: _ClassVar[int]
    IGNORE_LABEL_FIELD_NUMBER: _ClassVar[int]
    FORCE_LABEL_FIELD_NUMBER: _ClassVar[int]
    max_labels: int
    ignore_label: _containers.RepeatedScalarFieldContainer[int]
    force_label: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, max_labels: _Optional[int] = ..., ignore_label: _Optional[_Iterable[int]] = ..., force_label: _Optional[_Iterable[float]] = ...) -> None: ...

class PruningParameter(_message.Message):
    __slots__ = ("coeff",)
    COEFF_FIELD_NUMBER: _ClassVar[int]
    coeff: float
    def __init__(self, coeff: _Optional[float] = ...) -> None: ...

class FixedParameter(_message.Message):
    __slots__ = ("fixed",)
    FIXED_FIELD_NUMBER: _ClassVar[int]
    fixed: bool
    def __init__(self, fixed: _Optional[bool] = ...) -> None: ...

class BoxAnnotatorOHEMParameter(_message.Message):
    __slots__ = ("roi_per_img", "ignore_label")
    ROI_PER_IMG_FIELD_NUMBER: _ClassVar[int]
    IGNORE_LABEL_FIELD_NUMBER: _ClassVar[int]
    roi_per_img: int
    ignore_label: int
    def __init__(self, roi_per_img: _Optional[int] = ..., ignore_label: _Optional[int] = ...) -> None: ...

class PSROIPoolingParameter(_message.Message):
    __slots__ = ("spatial_scale", "output_dim", "group_size")
    SPATIAL_SCALE_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_DIM_FIELD_NUMBER: _ClassVar[int]
    GROUP_SIZE_FIELD_NUMBER: _ClassVar[int]
    spatial_scale: float
    output_dim: int
    group_size: int
    def __init__(self, spatial_scale: _Optional[float] = ..., output_dim: _Optional[int] = ..., group_size: _Optional[int] = ...) -> None: ...

class RSSLossParameter(_message.Message):
    __slots__ = ("random_sampling_num", "random_sampling_policy")
    RANDOM_SAMPLING_NUM_FIELD_NUMBER: _ClassVar[int]
    RANDOM_SAMPLING_POLICY_FIELD_NUMBER: _ClassVar[int]
    random_sampling_num: int
    random_sampling_policy: str
    def __init__(self, random_sampling_num: _Optional[int] = ..., random_sampling_policy: _Optional[str] = ...) -> None: ...

class LabeledMatchingParameter(_message.Message):
    __slots__ = ("num_classes", "momentum")
    NUM_CLASSES_FIELD_NUMBER: _ClassVar[int]
    MOMENTUM_FIELD_NUMBER: _ClassVar[int]
    num_classes: int
    momentum: float
    def __init__(self, num_classes: _Optional[int] = ..., momentum: _Optional[float] = ...) -> None: ...

class UnlabeledMatchingParameter(_message.Message):
    __slots__ = ("queue_size",)
    QUEUE_SIZE_FIELD_NUMBER: _ClassVar[int]
    queue_size: int
    def __init__(self, queue_size: _Optional[int] = ...) -> None: ...

class UpsampleParameter(_message.Message):
    __slots__ = ("scale", "scale_h", "scale_w", "pad_out_h", "pad_out_w", "upsample_h", "upsample_w")
    SCALE_FIELD_NUMBER: _ClassVar[int]
    SCALE_H_FIELD_NUMBER: _ClassVar[int]
    SCALE_W_FIELD_NUMBER: _ClassVar[int]
    PAD_OUT_H_FIELD_NUMBER: _ClassVar[int]
    PAD_OUT_W_FIELD_NUMBER: _ClassVar[int]
    UPSAMPLE_H_FIELD_NUMBER: _ClassVar[int]
    UPSAMPLE_W_FIELD_NUMBER: _ClassVar[int]
    scale: int
    scale_h: int
    scale_w: int
    pad_out_h: bool
    pad_out_w: bool
    upsample_h: int
    upsample_w: int
    def __init__(self, scale: _Optional[int] = ..., scale_h: _Optional[int] = ..., scale_w: _Optional[int] = ..., pad_out_h: _Optional[bool] = ..., pad_out_w: _Optional[bool] = ..., upsample_h: _Optional[int] = ..., upsample_w: _Optional[int] = ...) -> None: ...

class DenseImageDataParameter(_message.Message):
    __slots__ = ("source", "batch_size", "rand_skip", "shuffle", "new_height", "new_width", "is_color", "mean_file", "root_folder", "mirror", "crop_width", "crop_height")
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    BATCH_SIZE_FIELD_NUMBER: _ClassVar[int]
    RAND_SKIP_FIELD_NUMBER: _ClassVar[int]
    SHUFFLE_FIELD_NUMBER: _ClassVar[int]
    NEW_HEIGHT_FIELD_NUMBER: _ClassVar[int]
    NEW_WIDTH_FIELD_NUMBER: _ClassVar[int]
    IS_COLOR_FIELD_NUMBER: _ClassVar[int]
    MEAN_FILE_FIELD_NUMBER: _ClassVar[int]
    ROOT_FOLDER_FIELD_NUMBER: _ClassVar[int]
    MIRROR_FIELD_NUMBER: _ClassVar[int]
    CROP_WIDTH_FIELD_NUMBER: _ClassVar[int]
    CROP_HEIGHT_FIELD_NUMBER: _ClassVar[int]
    source: str
    batch_size: int
    rand_skip: int
    shuffle: bool
    new_height: int
    new_width: int
    is_color: bool
    mean_file: str
    root_folder: str
    mirror: bool
    crop_width: int
    crop_height: int
    def __init__(self, source: _Optional[str] = ..., batch_size: _Optional[int] = ..., rand_skip: _Optional[int] = ..., shuffle: _Optional[bool] = ..., new_height: _Optional[int] = ..., new_width: _Optional[int] = ..., is_color: _Optional[bool] = ..., mean_file: _Optional[str] = ..., root_folder: _Optional[str] = ..., mirror: _Optional[bool] = ..., crop_width: _Optional[int] = ..., crop_height: _Optional[int] = ...) -> None: ...

class ShuffleChannelParameter(_message.Message):
    __slots__ = ("group",)
    GROUP_FIELD_NUMBER: _ClassVar[int]
    group: int
    def __init__(self, group: _Optional[int] = ...) -> None: ...

class BinaryDataParameter(_message.Message):
    __slots__ = ("source", "batch_size")
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    BATCH_SIZE_FIELD_NUMBER: _ClassVar[int]
    source: str
    batch_size: int
    def __init__(self, source: _Optional[str] = ..., batch_size: _Optional[int] = ...) -> None: ...

class MarginInnerProductParameter(_message.Message):
    __slots__ = ("num_output", "type", "weight_filler", "axis", "base", "gamma", "power", "iteration", "lambda_min")
    class MarginType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        SINGLE: _ClassVar[MarginInnerProductParameter.MarginType]
        DOUBLE: _ClassVar[MarginInnerProductParameter.MarginType]
        TRIPLE: _ClassVar[MarginInnerProductParameter.MarginType]
        QUADRUPLE: _ClassVar[MarginInnerProductParameter.MarginType]
    SINGLE: MarginInnerProductParameter.MarginType
    DOUBLE: MarginInnerProductParameter.MarginType
    TRIPLE: MarginInnerProductParameter.MarginType
    QUADRUPLE: MarginInnerProductParameter.MarginType
    NUM_OUTPUT_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_FILLER_FIELD_NUMBER: _ClassVar[int]
    AXIS_FIELD_NUMBER: _ClassVar[int]
    BASE_FIELD_NUMBER: _ClassVar[int]
    GAMMA_FIELD_NUMBER: _ClassVar[int]
    POWER_FIELD_NUMBER: _ClassVar[int]
    ITERATION_FIELD_NUMBER: _ClassVar[int]
    LAMBDA_MIN_FIELD_NUMBER: _ClassVar[int]
    num_output: int
    type: MarginInnerProductParameter.MarginType
    weight_filler: FillerParameter
    axis: int
    base: float
    gamma: float
    power: float
    iteration: int
    lambda_min: float
    def __init__(self, num_output: _Optional[int] = ..., type: _Optional[_Union[MarginInnerProductParameter.MarginType, str]] = ..., weight_filler: _Optional[_Union[FillerParameter, _Mapping]] = ..., axis: _Optional[int] = ..., base: _Optional[float] = ..., gamma: _Optional[float] = ..., power: _Optional[float] = ..., iteration: _Optional[int] = ..., lambda_min: _Optional[float] = ...) -> None: ...

class SpatialTransformerParameter(_message.Message):
    __slots__ = ("transform_type", "sampler_type", "output_H", "output_W", "to_compute_dU", "theta_1_1", "theta_1_2", "theta_1_3", "theta_2_1", "theta_2_2", "theta_2_3")
    TRANSFORM_TYPE_FIELD_NUMBER: _ClassVar[int]
    SAMPLER_TYPE_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_H_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_W_FIELD_NUMBER: _ClassVar[int]
    TO_COMPUTE_DU_FIELD_NUMBER: _ClassVar[int]
    THETA_1_1_FIELD_NUMBER: _ClassVar[int]
    THETA_1_2_FIELD_NUMBER: _ClassVar[int]
    THETA_1_3_FIELD_NUMBER: _ClassVar[int]
    THETA_2_1_FIELD_NUMBER: _ClassVar[int]
    THETA_2_2_FIELD_NUMBER: _ClassVar[int]
    THETA_2_3_FIELD_NUMBER: _ClassVar[int]
    transform_type: str
    sampler_type: str
    output_H: int
    output_W: int
    to_compute_dU: bool
    theta_1_1: float
    theta_1_2: float
    theta_1_3: float
    theta_2_1: float
    theta_2_2: float
    theta_2_3: float
    def __init__(self, transform_type: _Optional[str] = ..., sampler_type: _Optional[str] = ..., output_H: _Optional[int] = ..., output_W: _Optional[int] = ..., to_compute_dU: _Optional[bool] = ..., theta_1_1: _Optional[float] = ..., theta_1_2: _Optional[float] = ..., theta_1_3: _Optional[float] = ..., theta_2_1: _Optional[float] = ..., theta_2_2: _Optional[float] = ..., theta_2_3: _Optional[float] = ...) -> None: ...

class STLossParameter(_message.Message):
    __slots__ = ("output_H", "output_W")
    OUTPUT_H_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_W_FIELD_NUMBER: _ClassVar[int]
    output_H: int
    output_W: int
    def __init__(self, output_H: _Optional[int] = ..., output_W: _Optional[int] = ...) -> None: ...

class PowerFileParameter(_message.Message):
    __slots__ = ("shift_file",)
    SHIFT_FILE_FIELD_NUMBER: _ClassVar[int]
    shift_file: str
    def __init__(self, shift_file: _Optional[str] = ...) -> None: ...

class LocLossParameter(_message.Message):
    __slots__ = ("threshold",)
    THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    threshold: float
    def __init__(self, threshold: _Optional[float] = ...) -> None: ...

class RepeatParameter(_message.Message):
    __slots__ = ("num_repeats",)
    NUM_REPEATS_FIELD_NUMBER: _ClassVar[int]
    num_repeats: int
    def __init__(self, num_repeats: _Optional[int] = ...) -> None: ...

class ContinuationIndicatorParameter(_message.Message):
    __slots__ = ("time_step", "batch_size")
    TIME_STEP_FIELD_NUMBER: _ClassVar[int]
    BATCH_SIZE_FIELD_NUMBER: _ClassVar[int]
    time_step: int
    batch_size: int
    def __init__(self, time_step: _Optional[int] = ..., batch_size: _Optional[int] = ...) -> None: ...

class LabelsequenceAccuracyParameter(_message.Message):
    __slots__ = ("blank_label",)
    BLANK_LABEL_FIELD_NUMBER: _ClassVar[int]
    blank_label: int
    def __init__(self, blank_label: _Optional[int] = ...) -> None: ...

class ReorgParameter(_message.Message):
    __slots__ = ("stride", "reverse")
    STRIDE_FIELD_NUMBER: _ClassVar[int]
    REVERSE_FIELD_NUMBER: _ClassVar[int]
    stride: int
    reverse: bool
    def __init__(self, stride: _Optional[int] = ..., reverse: _Optional[bool] = ...) -> None: ...

class RegionLossParameter(_message.Message):
    __slots__ = ("side", "num_class", "bias_match", "coords", "num", "softmax", "jitter", "rescore", "object_scale", "class_scale", "noobject_scale", "coord_scale", "absolute", "thresh", "random", "biases", "softmax_tree", "class_map")
    SIDE_FIELD_NUMBER: _ClassVar[int]
    NUM_CLASS_FIELD_NUMBER: _ClassVar[int]
    BIAS_MATCH_FIELD_NUMBER: _ClassVar[int]
    COORDS_FIELD_NUMBER: _ClassVar[int]
    NUM_FIELD_NUMBER: _ClassVar[int]
    SOFTMAX_FIELD_NUMBER: _ClassVar[int]
    JITTER_FIELD_NUMBER: _ClassVar[int]
    RESCORE_FIELD_NUMBER: _ClassVar[int]
    OBJECT_SCALE_FIELD_NUMBER: _ClassVar[int]
    CLASS_SCALE_FIELD_NUMBER: _ClassVar[int]
    NOOBJECT_SCALE_FIELD_NUMBER: _ClassVar[int]
    COORD_SCALE_FIELD_NUMBER: _ClassVar[int]
    ABSOLUTE_FIELD_NUMBER: _ClassVar[int]
    THRESH_FIELD_NUMBER: _ClassVar[int]
    RANDOM_FIELD_NUMBER: _ClassVar[int]
    BIASES_FIELD_NUMBER: _ClassVar[int]
    SOFTMAX_TREE_FIELD_NUMBER: _ClassVar[int]
    CLASS_MAP_FIELD_NUMBER: _ClassVar[int]
    side: int
    num_class: int
    bias_match: int
    coords: int
    num: int
    softmax: int
    jitter: float
    rescore: int
    object_scale: float
    class_scale: float
    noobject_scale: float
    coord_scale: float
    absolute: int
    thresh: float
    random: int
    biases: _containers.RepeatedScalarFieldContainer[float]
    softmax_tree: str
    class_map: str
    def __init__(self, side: _Optional[int] = ..., num_class: _Optional[int] = ..., bias_match: _Optional[int] = ..., coords: _Optional[int] = ..., num: _Optional[int] = ..., softmax: _Optional[int] = ..., jitter: _Optional[float] = ..., rescore: _Optional[int] = ..., object_scale: _Optional[float] = ..., class_scale: _Optional[float] = ..., noobject_scale: _Optional[float] = ..., coord_scale: _Optional[float] = ..., absolute: _Optional[int] = ..., thresh: _Optional[float] = ..., random: _Optional[int] = ..., biases: _Optional[_Iterable[float]] = ..., softmax_tree: _Optional[str] = ..., class_map: _Optional[str] = ...) -> None: ...

class YoloDetectionOutputParameter(_message.Message):
    __slots__ = ("side", "num_classes", "num_box", "coords", "confidence_threshold", "nms_threshold", "biases", "label_map_file")
    SIDE_FIELD_NUMBER: _ClassVar[int]
    NUM_CLASSES_FIELD_NUMBER: _ClassVar[int]
    NUM_BOX_FIELD_NUMBER: _ClassVar[int]
    COORDS_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    NMS_THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    BIASES_FIELD_NUMBER: _ClassVar[int]
    LABEL_MAP_FILE_FIELD_NUMBER: _ClassVar[int]
    side: int
    num_classes: int
    num_box: int
    coords: int
    confidence_threshold: float
    nms_threshold: float
    biases: _containers.RepeatedScalarFieldContainer[float]
    label_map_file: str
    def __init__(self, side: _Optional[int] = ..., num_classes: _Optional[int] = ..., num_box: _Optional[int] = ..., coords: _Optional[int] = ..., confidence_threshold: _Optional[float] = ..., nms_threshold: _Optional[float] = ..., biases: _Optional[_Iterable[float]] = ..., label_map_file: _Optional[str] = ...) -> None: ...

class Yolov3DetectionOutputParameter(_message.Message):
    __slots__ = ("num_classes", "num_box", "confidence_threshold", "nms_threshold", "biases", "anchors_scale", "mask_group_num", "mask", "gaussian_box")
    NUM_CLASSES_FIELD_NUMBER: _ClassVar[int]
    NUM_BOX_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    NMS_THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    BIASES_FIELD_NUMBER: _ClassVar[int]
    ANCHORS_SCALE_FIELD_NUMBER: _ClassVar[int]
    MASK_GROUP_NUM_FIELD_NUMBER: _ClassVar[int]
    MASK_FIELD_NUMBER: _ClassVar[int]
    GAUSSIAN_BOX_FIELD_NUMBER: _ClassVar[int]
    num_classes: int
    num_box: int
    confidence_threshold: float
    nms_threshold: float
    biases: _containers.RepeatedScalarFieldContainer[float]
    anchors_scale: _containers.RepeatedScalarFieldContainer[int]
    mask_group_num: int
    mask: _containers.RepeatedScalarFieldContainer[int]
    gaussian_box: bool
    def __init__(self, num_classes: _Optional[int] = ..., num_box: _Optional[int] = ..., confidence_threshold: _Optional[float] = ..., nms_threshold: _Optional[float] = ..., biases: _Optional[_Iterable[float]] = ..., anchors_scale: _Optional[_Iterable[int]] = ..., mask_group_num: _Optional[int] = ..., mask: _Optional[_Iterable[int]] = ..., gaussian_box: _Optional[bool] = ...) -> None: ...

class Yolov3Parameter(_message.Message):
    __slots__ = ("side", "num_class", "num", "object_scale", "class_scale", "noobject_scale", "coord_scale", "thresh", "anchors_scale", "biases", "mask", "use_logic_gradient", "use_focal_loss", "iou_loss", "iou_normalizer", "iou_thresh", "max_delta", "accumulate", "label_smooth_eps")
    class IOU_LOSS(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        IOU: _ClassVar[Yolov3Parameter.IOU_LOSS]
        GIOU: _ClassVar[Yolov3Parameter.IOU_LOSS]
        MSE: _ClassVar[Yolov3Parameter.IOU_LOSS]
        DIOU: _ClassVar[Yolov3Parameter.IOU_LOSS]
        CIOU: _ClassVar[Yolov3Parameter.IOU_LOSS]
    IOU: Yolov3Parameter.IOU_LOSS
    GIOU: Yolov3Parameter.IOU_LOSS
    MSE: Yolov3Parameter.IOU_LOSS
    DIOU: Yolov3Parameter.IOU_LOSS
    CIOU: Yolov3Parameter.IOU_LOSS
    SIDE_FIELD_NUMBER: _ClassVar[int]
    NUM_CLASS_FIELD_NUMBER: _ClassVar[int]
    NUM_FIELD_NUMBER: _ClassVar[int]
    OBJECT_SCALE_FIELD_NUMBER: _ClassVar[int]
    CLASS_SCALE_FIELD_NUMBER: _ClassVar[int]
    NOOBJECT_SCALE_FIELD_NUMBER: _ClassVar[int]
    COORD_SCALE_FIELD_NUMBER: _ClassVar[int]
    THRESH_FIELD_NUMBER: _ClassVar[int]
    ANCHORS_SCALE_FIELD_NUMBER: _ClassVar[int]
    BIASES_FIELD_NUMBER: _ClassVar[int]
    MASK_FIELD_NUMBER: _ClassVar[int]
    USE_LOGIC_GRADIENT_FIELD_NUMBER: _ClassVar[int]
    USE_FOCAL_LOSS_FIELD_NUMBER: _ClassVar[int]
    IOU_LOSS_FIELD_NUMBER: _ClassVar[int]
    IOU_NORMALIZER_FIELD_NUMBER: _ClassVar[int]
    IOU_THRESH_FIELD_NUMBER: _ClassVar[int]
    MAX_DELTA_FIELD_NUMBER: _ClassVar[int]
    ACCUMULATE_FIELD_NUMBER: _ClassVar[int]
    LABEL_SMOOTH_EPS_FIELD_NUMBER: _ClassVar[int]
    side: int
    num_class: int
    num: int
    object_scale: float
    class_scale: float
    noobject_scale: float
    coord_scale: float
    thresh: float
    anchors_scale: int
    biases: _containers.RepeatedScalarFieldContainer[float]
    mask: _containers.RepeatedScalarFieldContainer[int]
    use_logic_gradient: bool
    use_focal_loss: bool
    iou_loss: Yolov3Parameter.IOU_LOSS
    iou_normalizer: float
    iou_thresh: float
    max_delta: float
    accumulate: bool
    label_smooth_eps: float
    def __init__(self, side: _Optional[int] = ..., num_class: _Optional[int] = ..., num: _Optional[int] = ..., object_scale: _Optional[float] = ..., class_scale: _Optional[float] = ..., noobject_scale: _Optional[float] = ..., coord_scale: _Optional[float] = ..., thresh: _Optional[float] = ..., anchors_scale: _Optional[int] = ..., biases: _Optional[_Iterable[float]] = ..., mask: _Optional[_Iterable[int]] = ..., use_logic_gradient: _Optional[bool] = ..., use_focal_loss: _Optional[bool] = ..., iou_loss: _Optional[_Union[Yolov3Parameter.IOU_LOSS, str]] = ..., iou_normalizer: _Optional[float] = ..., iou_thresh: _Optional[float] = ..., max_delta: _Optional[float] = ..., accumulate: _Optional[bool] = ..., label_smooth_eps: _Optional[float] = ...) -> None: ...

class YoloSegParameter(_message.Message):
    __slots__ = ("num_class", "object_scale", "class_scale", "use_logic_gradient", "use_hardsigmoid", "enable_weighting")
    NUM_CLASS_FIELD_NUMBER: _ClassVar[int]
    OBJECT_SCALE_FIELD_NUMBER: _ClassVar[int]
    CLASS_SCALE_FIELD_NUMBER: _ClassVar[int]
    USE_LOGIC_GRADIENT_FIELD_NUMBER: _ClassVar[int]
    USE_HARDSIGMOID_FIELD_NUMBER: _ClassVar[int]
    ENABLE_WEIGHTING_FIELD_NUMBER: _ClassVar[int]
    num_class: int
    object_scale: float
    class_scale: float
    use_logic_gradient: bool
    use_hardsigmoid: bool
    enable_weighting: bool
    def __init__(self, num_class: _Optional[int] = ..., object_scale: _Optional[float] = ..., class_scale: _Optional[float] = ..., use_logic_gradient: _Optional[bool] = ..., use_hardsigmoid: _Optional[bool] = ..., enable_weighting: _Optional[bool] = ...) -> None: ...

class SegmentationEvaluateParameter(_message.Message):
    __slots__ = ("num_classes", "threshold")
    NUM_CLASSES_FIELD_NUMBER: _ClassVar[int]
    THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    num_classes: int
    threshold: float
    def __init__(self, num_classes: _Optional[int] = ..., threshold: _Optional[float] = ...) -> None: ...

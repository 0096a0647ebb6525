"""The first format, ``layers { layer { type: "conv" kernelsize: 5 } }``, into V1.

All settings stood in one flat message; here each goes to the parameter message of its layer's type.
Layers of type "padding" become the ``pad`` of the convolution or pooling they feed.
"""

from __future__ import annotations

from pycaffe_dist import caffe_log as log
from pycaffe_dist.errors import UpgradeError
from pycaffe_dist.proto.caffe_pb2 import NetParameter, V0LayerParameter, V1LayerParameter
from pycaffe_dist.proto.suggest import did_you_mean

# V0's type string -> V1's enum name and the parameter message that takes its settings.
V0_TYPES = {
    "accuracy": ("ACCURACY", ""),
    "bnll": ("BNLL", ""),
    "concat": ("CONCAT", "concat_param"),
    "conv": ("CONVOLUTION", "convolution_param"),
    "data": ("DATA", "data_param"),
    "dropout": ("DROPOUT", "dropout_param"),
    "euclidean_loss": ("EUCLIDEAN_LOSS", ""),
    "flatten": ("FLATTEN", ""),
    "hdf5_data": ("HDF5_DATA", "hdf5_data_param"),
    "hdf5_output": ("HDF5_OUTPUT", "hdf5_output_param"),
    "im2col": ("IM2COL", ""),
    "images": ("IMAGE_DATA", "image_data_param"),
    "infogain_loss": ("INFOGAIN_LOSS", "infogain_loss_param"),
    "innerproduct": ("INNER_PRODUCT", "inner_product_param"),
    "lrn": ("LRN", "lrn_param"),
    "multinomial_logistic_loss": ("MULTINOMIAL_LOGISTIC_LOSS", ""),
    "pool": ("POOLING", "pooling_param"),
    "relu": ("RELU", ""),
    "sigmoid": ("SIGMOID", ""),
    "softmax": ("SOFTMAX", ""),
    "softmax_loss": ("SOFTMAX_LOSS", ""),
    "split": ("SPLIT", ""),
    "tanh": ("TANH", ""),
    "window_data": ("WINDOW_DATA", "window_data_param"),
}

# V0's field -> its name in V1, and the types that have it.
_WEIGHTED = ("conv", "innerproduct")
_SOURCED = ("data", "hdf5_data", "images", "window_data")
_SETTINGS: dict[str, tuple[str, tuple[str, ...]]] = {
    "num_output": ("num_output", _WEIGHTED),
    "biasterm": ("bias_term", _WEIGHTED),
    "weight_filler": ("weight_filler", _WEIGHTED),
    "bias_filler": ("bias_filler", _WEIGHTED),
    "pad": ("pad", ("conv", "pool")),
    "kernelsize": ("kernel_size", ("conv", "pool")),
    "group": ("group", ("conv",)),
    "stride": ("stride", ("conv", "pool")),
    "pool": ("pool", ("pool",)),
    "dropout_ratio": ("dropout_ratio", ("dropout",)),
    "local_size": ("local_size", ("lrn",)),
    "alpha": ("alpha", ("lrn",)),
    "beta": ("beta", ("lrn",)),
    "k": ("k", ("lrn",)),
    "source": ("source", (*_SOURCED, "infogain_loss")),
    "batchsize": ("batch_size", _SOURCED),
    "rand_skip": ("rand_skip", ("data", "images")),
    "shuffle_images": ("shuffle", ("images",)),
    "new_height": ("new_height", ("images",)),
    "new_width": ("new_width", ("images",)),
    "concat_dim": ("concat_dim", ("concat",)),
    "det_fg_threshold": ("fg_threshold", ("window_data",)),
    "det_bg_threshold": ("bg_threshold", ("window_data",)),
    "det_fg_fraction": ("fg_fraction", ("window_data",)),
    "det_context_pad": ("context_pad", ("window_data",)),
    "det_crop_mode": ("crop_mode", ("window_data",)),
}
_TRANSFORMS = {
    "scale": "scale",
    "meanfile": "mean_file",
    "cropsize": "crop_size",
    "mirror": "mirror",
}


def needs_v0_upgrade(net: NetParameter) -> bool:
    return any(layer.HasField("layer") for layer in net.layers)


def upgrade_v0(net: NetParameter, path: str) -> bool:
    """Bring ``net`` to V1, in place; see :func:`upgrade.upgrade_net` for result and errors.

    As in Caffe only the name, layers, inputs and ``force_backward`` survive.
    """
    old = NetParameter()
    old.CopyFrom(net)
    net.Clear()
    if old.HasField("name"):
        net.name = old.name
    layers = _fold_padding(old, path)
    complete = [_upgrade_layer(layer, net.layers.add(), path) for layer in layers]
    net.input.extend(old.input)
    net.input_dim.extend(old.input_dim)
    if old.HasField("force_backward"):
        net.force_backward = old.force_backward
    return all(complete)


def _fold_padding(net: NetParameter, path: str) -> list[V1LayerParameter]:
    """The layers without the padding ones, whose pad has gone to the layers they fed."""
    maker: dict[str, V1LayerParameter | None] = dict.fromkeys(net.input)
    kept = []
    for layer in net.layers:
        folded = V1LayerParameter()
        folded.CopyFrom(layer)
        for j, blob in enumerate(layer.bottom):
            if blob not in maker:
                raise UpgradeError(
                    f'{path}: layer "{layer.layer.name}": unknown bottom blob "{blob}"'
                    + did_you_mean(blob, maker)
                )
            source = maker[blob]
            if source is None or source.layer.type != "padding":
                continue
            if (
                layer.layer.type not in ("conv", "pool")
                or len(layer.bottom) != 1
                or len(source.bottom) != 1
                or len(source.top) != 1
            ):
                raise UpgradeError(
                    f'{path}: padding layer "{source.layer.name}" feeds "{layer.layer.name}" of '
                    f'type "{layer.layer.type}": padding takes and gives one blob, and only a conv '
                    "or pool with one bottom may follow it."
                )
            folded.layer.pad = source.layer.pad
            folded.bottom[j] = source.bottom[0]
        if layer.layer.type != "padding":
            kept.append(folded)
        maker.update(dict.fromkeys(layer.top, layer))
    return kept


def _upgrade_layer(old: V1LayerParameter, new: V1LayerParameter, path: str) -> bool:
    new.bottom.extend(old.bottom)
    new.top.extend(old.top)
    if not old.HasField("layer"):
        return True
    v0 = old.layer
    if v0.HasField("name"):
        new.name = v0.name
    if v0.HasField("type"):
        if v0.type not in V0_TYPES:
            raise UpgradeError(
                f'{path}: layer "{v0.name}": the V0 format has no type "{v0.type}"'
                + did_you_mean(v0.type, V0_TYPES)
            )
        new.type = getattr(V1LayerParameter, V0_TYPES[v0.type][0])
    new.blobs.extend(v0.blobs)
    new.blobs_lr.extend(v0.blobs_lr)
    new.weight_decay.extend(v0.weight_decay)
    for name, target in _TRANSFORMS.items():
        if v0.HasField(name):
            setattr(new.transform_param, target, getattr(v0, name))
    complete = [_move_setting(v0, name, new) for name in _SETTINGS if v0.HasField(name)]
    if v0.HasField("hdf5_output_param"):
        complete.append(v0.type == "hdf5_output")
        if complete[-1]:
            new.hdf5_output_param.CopyFrom(v0.hdf5_output_param)
        else:
            log.error(
                "upgrade_proto.cpp:200",
                "Unknown parameter hdf5_output_param for layer type %s",
                v0.type,
            )
    return all(complete)


def _move_setting(v0: V0LayerParameter, name: str, new: V1LayerParameter) -> bool:
    target, types = _SETTINGS[name]
    if v0.type not in types:
        log.error("upgrade_proto.cpp:200", "Unknown parameter %s for layer type %s", name, v0.type)
        return False
    parameters = getattr(new, V0_TYPES[v0.type][1])
    value = getattr(v0, name)
    if name.endswith("_filler"):
        getattr(parameters, target).CopyFrom(value)
    elif v0.type == "conv" and target in ("pad", "kernel_size", "stride"):
        getattr(parameters, target).append(value)
    else:
        setattr(parameters, target, value)
    return True

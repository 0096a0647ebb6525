"""Old nets and solvers into today's form, by Caffe's rules and in Caffe's order.

V0 ``layers { layer { type: "conv" } }`` → V1 ``layers { type: CONVOLUTION }`` → data transform
fields → V2 ``layer { type: "Convolution" }`` → ``input`` fields as an Input layer → BatchNorm's
three ``param`` → ``solver_type``.  V0 has a file of its own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from pycaffe_dist import caffe_log as log
from pycaffe_dist.errors import UpgradeError
from pycaffe_dist.proto.caffe_pb2 import (
    LayerParameter,
    NetParameter,
    SolverParameter,
    V1LayerParameter,
)
from pycaffe_dist.proto.upgrade_v0 import V0_TYPES, needs_v0_upgrade, upgrade_v0

# V1's enum in words: CONTRASTIVE_LOSS is ContrastiveLoss, but for these.
_ODD_TYPE_NAMES = {
    "NONE": "",
    "ABSVAL": "AbsVal",
    "ARGMAX": "ArgMax",
    "BN": "BN",
    "BNLL": "BNLL",
    "HDF5_DATA": "HDF5Data",
    "HDF5_OUTPUT": "HDF5Output",
    "IM2COL": "Im2col",
    "LRN": "LRN",
    "MVN": "MVN",
    "RELU": "ReLU",
    "SOFTMAX_LOSS": "SoftmaxWithLoss",
    "TANH": "TanH",
}
V1_TYPE_NAMES = {
    number: _ODD_TYPE_NAMES.get(name, name.title().replace("_", ""))
    for name, number in V1LayerParameter.LayerType.items()
}
V0_TYPE_NAMES = {
    old: V1_TYPE_NAMES[V1LayerParameter.LayerType.Value(new)] for old, (new, _) in V0_TYPES.items()
}

_TRANSFORM_FIELDS = ("scale", "mean_file", "crop_size", "mirror")
_TRANSFORMING = {
    V1LayerParameter.DATA: "data_param",
    V1LayerParameter.IMAGE_DATA: "image_data_param",
    V1LayerParameter.WINDOW_DATA: "window_data_param",
}
# Everything else in V1 that has a field of the same name and type in LayerParameter.
_V1_COPIED = tuple(
    f.name
    for f in V1LayerParameter.DESCRIPTOR.fields
    if f.name.endswith("_param") and f.name in LayerParameter.DESCRIPTOR.fields_by_name
)

_SOLVER_TYPE_NAMES = {
    SolverParameter.SGD: "SGD",
    SolverParameter.NESTEROV: "Nesterov",
    SolverParameter.ADAGRAD: "AdaGrad",
    SolverParameter.RMSPROP: "RMSProp",
    SolverParameter.ADADELTA: "AdaDelta",
    SolverParameter.ADAM: "Adam",
}


# -- nets ------------------------------------------------------------------------------------------


class Step(NamedTuple):
    """One upgrade: when it applies, what it does, and what the log calls it."""

    needed: Callable[[NetParameter], bool]
    apply: Callable[[NetParameter, str], bool]
    attempt: str
    success: str
    line: int  # of Caffe's upgrade_proto.cpp
    trouble: str = ""


def net_needs_upgrade(net: NetParameter) -> bool:
    return any(step.needed(net) for step in _STEPS)


def upgrade_net(net: NetParameter, path: str = "<net>") -> bool:
    """Bring ``net`` to today's form, in place.

    Returns:
        False if something had to be dropped on the way (each thing is logged).

    Raises:
        UpgradeError: the net mixes ``layer`` and ``layers``, or breaks a rule of its old format.
    """
    if net.layer and net.layers:
        raise UpgradeError(
            f"{path}: both `layer` and `layers` are used. Today's form is "
            'layer { type: "Convolution" ... }, the old one layers { type: CONVOLUTION ... }; '
            "a file must keep to one. Rewrite the `layers` blocks as `layer`."
        )
    complete = True
    for step in _STEPS:
        if not step.needed(net):
            continue
        place = f"upgrade_proto.cpp:{step.line}"
        log.info(place, "Attempting to upgrade %s: %s", step.attempt, path)
        if step.apply(net, path):
            log.info(place, "Successfully upgraded %s", step.success)
        else:
            complete = False
            log.error(
                place,
                "Warning: had one or more problems upgrading %s (see above); continuing anyway.",
                step.trouble,
            )
    return complete


def _needs_data_upgrade(net: NetParameter) -> bool:
    return any(
        getattr(layer, _TRANSFORMING[layer.type]).HasField(name)
        for layer in net.layers
        if layer.type in _TRANSFORMING
        for name in _TRANSFORM_FIELDS
    )


def _upgrade_data_transform(net: NetParameter, path: str) -> bool:
    for layer in net.layers:
        if layer.type not in _TRANSFORMING:
            continue
        old = getattr(layer, _TRANSFORMING[layer.type])
        old.SetInParent()
        layer.transform_param.SetInParent()
        for name in _TRANSFORM_FIELDS:
            if old.HasField(name):
                setattr(layer.transform_param, name, getattr(old, name))
                old.ClearField(name)
    return True


def _upgrade_v1(net: NetParameter, path: str) -> bool:
    complete = True
    for index, old in enumerate(net.layers):
        if not _upgrade_v1_layer(old, net.layer.add()):
            log.error("upgrade_proto.cpp:663", "Upgrade of input layer %d failed.", index)
            complete = False
    net.ClearField("layers")
    return complete


def _upgrade_v1_layer(old: V1LayerParameter, new: LayerParameter) -> bool:
    new.bottom.extend(old.bottom)
    new.top.extend(old.top)
    if old.HasField("name"):
        new.name = old.name
    new.include.extend(old.include)
    new.exclude.extend(old.exclude)
    if old.HasField("type"):
        new.type = V1_TYPE_NAMES[old.type]
    new.blobs.extend(old.blobs)
    new.loss_weight.extend(old.loss_weight)
    settings: dict[str, Sequence[object]] = {
        "name": old.param,
        "share_mode": old.blob_share_mode,
        "lr_mult": old.blobs_lr,
        "decay_mult": old.weight_decay,
    }
    for _ in range(max(map(len, settings.values()))):
        new.param.add()
    for name, values in settings.items():
        for spec, value in zip(new.param, values, strict=False):
            setattr(spec, name, value)
    for name in _V1_COPIED:
        if old.HasField(name):
            getattr(new, name).CopyFrom(getattr(old, name))
    if old.HasField("layer"):
        log.error("upgrade_proto.cpp:940", "Input NetParameter has V0 layer -- ignoring.")
        return False
    return True


def _upgrade_input(net: NetParameter, path: str) -> bool:
    """``input`` and its shapes become one Input layer in front; without shapes they just go."""
    shapes = [list(shape.dim) for shape in net.input_shape]
    if not shapes:
        whole = len(net.input_dim) // 4 * 4
        shapes = [list(net.input_dim[i : i + 4]) for i in range(0, whole, 4)]
    if shapes or net.input_dim:
        if len(shapes) < len(net.input):
            raise UpgradeError(
                f"{path}: {len(net.input)} `input` but shapes for {len(shapes)}: give each input "
                "an `input_shape { dim: ... }`, or four `input_dim`."
            )
        old = list(net.layer)
        net.ClearField("layer")
        layer = net.layer.add(name="input", type="Input", top=net.input)
        for shape in shapes[: len(net.input)]:
            layer.input_param.shape.add(dim=shape)
        net.layer.extend(old)
    for name in ("input", "input_shape", "input_dim"):
        net.ClearField(name)
    return True


def _old_batch_norms(net: NetParameter) -> list[LayerParameter]:
    return [la for la in net.layer if la.type == "BatchNorm" and len(la.param) == 3]


def _upgrade_batch_norm(net: NetParameter, path: str) -> bool:
    for layer in _old_batch_norms(net):
        for spec in layer.param:
            spec.lr_mult = spec.decay_mult = 0
    return True


_FILE = "file specified using deprecated "
_STEPS = (
    Step(
        needs_v0_upgrade,
        upgrade_v0,
        f"input {_FILE}V0LayerParameter",
        f"{_FILE}V0LayerParameter",
        22,
        "V0NetParameter to NetParameter",
    ),
    Step(
        _needs_data_upgrade,
        _upgrade_data_transform,
        f"input {_FILE}transformation parameters",
        f"{_FILE}data transformation parameters.",
        44,
    ),
    Step(
        lambda net: len(net.layers) > 0,
        _upgrade_v1,
        f"input {_FILE}V1LayerParameter",
        f"{_FILE}V1LayerParameter",
        53,
        "V1LayerParameter",
    ),
    Step(
        lambda net: len(net.input) > 0,
        _upgrade_input,
        f"input {_FILE}input fields",
        f"{_FILE}input fields.",
        67,
    ),
    Step(
        lambda net: bool(_old_batch_norms(net)),
        _upgrade_batch_norm,
        "batch norm layers using deprecated params",
        "batch norm layers using deprecated params.",
        77,
    ),
)


# -- solvers ---------------------------------------------------------------------------------------


def solver_needs_upgrade(solver: SolverParameter) -> bool:
    return solver.HasField("solver_type")


def upgrade_solver(solver: SolverParameter, path: str = "<solver>") -> None:
    """``solver_type: ADAM`` becomes ``type: "Adam"``, in place."""
    if not solver_needs_upgrade(solver):
        return
    if solver.HasField("type"):
        raise UpgradeError(
            f"{path}: both `solver_type` (old, an enum) and `type` (a string) are given; "
            "keep `type`."
        )
    log.info(
        "upgrade_proto.cpp:1112",
        "Attempting to upgrade input file specified using deprecated 'solver_type' field: %s",
        path,
    )
    solver.type = _SOLVER_TYPE_NAMES[solver.solver_type]
    solver.ClearField("solver_type")
    log.info(
        "upgrade_proto.cpp:1120",
        "Successfully upgraded file specified using deprecated 'solver_type' field (enum).",
    )


def complete_snapshot_prefix(solver: SolverParameter, path: str | os.PathLike[str]) -> None:
    """No ``snapshot_prefix``: the solver's own name.  A folder: the solver's name within it."""
    file = Path(path)
    if not solver.HasField("snapshot_prefix"):
        solver.snapshot_prefix = str(file.with_suffix(""))
        log.info(
            "upgrade_proto.cpp:1120",
            "snapshot_prefix was not specified and is set to %s",
            solver.snapshot_prefix,
        )
    elif os.path.isdir(solver.snapshot_prefix):
        solver.snapshot_prefix = str(Path(solver.snapshot_prefix) / file.stem)
        log.info(
            "upgrade_proto.cpp:1120",
            "snapshot_prefix was a directory and is replaced to %s",
            solver.snapshot_prefix,
        )

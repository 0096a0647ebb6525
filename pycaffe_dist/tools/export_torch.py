"""What ``pcd export --torch`` does: a net as a PyTorch module that was checked."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from pycaffe_dist import engines
from pycaffe_dist.aliases import Facts
from pycaffe_dist.blob import Blob
from pycaffe_dist.errors import NetError, PcdError
from pycaffe_dist.files import atomic_write
from pycaffe_dist.layer import Context
from pycaffe_dist.loading import load_weights
from pycaffe_dist.memory import Array
from pycaffe_dist.net import Net
from pycaffe_dist.proto.caffe_pb2 import NetState
from pycaffe_dist.proto.nets import read_net
from pycaffe_dist.pytorch.module import Module, as_state, class_name, write_module
from pycaffe_dist.safetensors import write_safetensors

TOLERANCE = 1e-4  # of outputs, by the largest value
GRADIENT_TOLERANCE = 1e-2  # by the length of the vector: by rounding, some units switch at their 0
RUN = Path(__file__).parents[1] / "pytorch" / "run.py"


@dataclass(frozen=True)
class Report:
    """What was written, and how far it is from what our engine computes."""

    code: str
    state: str
    parameters: int
    left_out: list[str]
    differences: dict[str, float] = field(default_factory=dict)  # empty: not compared
    gradients: str = ""  # why they were not compared


def torch_here() -> str:
    """The interpreter to check with: ours, if it has PyTorch; or what PCD_TORCH_PYTHON names."""
    given = os.environ.get("PCD_TORCH_PYTHON", "")
    return given or (sys.executable if importlib.util.find_spec("torch") else "")


def export_torch(
    model: str, weights: str, target: str, level: int = 0, stages: tuple[str, ...] = ()
) -> Report:
    """Write ``target`` and the state_dict beside it, unless they compute something else."""
    file = read_net(model)
    file.net.state.MergeFrom(NetState(phase="TEST", level=level, stage=stages))
    file.net.force_backward = True
    engine = engines.current()
    engine.fix_choices()  # one pass is not worth a measurement
    net = Net(file, Context(engine=engine, writes=False))
    if weights:
        load_weights(net, weights)
    code, module = write_module(net, class_name(net.name), os.path.basename(model))
    state = str(Path(target).with_suffix(".safetensors"))
    values = as_state(module)
    python = torch_here()
    found: dict[str, float] = {}
    why = ""
    if python:
        found, why = _check(net, module, code, values, python)
        wrong = {name: apart for name, apart in found.items() if not apart <= _limit(name)}
        if wrong:
            parts = ", ".join(f"{name} by {apart:.2g}" for name, apart in wrong.items())
            raise NetError(f"the module computes something else than this net: {parts}")
    with atomic_write(target) as out:
        out.write(code.encode())
    write_safetensors(state, values, {"format": "pt"})
    count = sum(v.size for v in values.values())
    return Report(target, state, count, module.left_out, found, why)


def _check(
    net: Net, module: Module, code: str, state: dict[str, Array], python: str
) -> tuple[dict[str, float], str]:
    """The largest differences of outputs and gradients; why there are none of these."""
    rng = np.random.default_rng(1)
    names = list(module.inputs.values())
    for name in names:
        blob = net.blobs[net.blob_ids[name]]
        blob.data[...] = rng.standard_normal(blob.shape)
    net.forward()
    sums = {n: rng.standard_normal(_blob(net, n).shape).astype(np.float32) for n in module.outputs}
    ours = {f"out:{name}": _blob(net, name).data.copy() for name in module.outputs}
    why = _backward(net, module, sums, ours)
    given: Facts = {f"in:{name}": _blob(net, name).data for name in names}
    given |= {f"of:{name}": values for name, values in sums.items()}
    given |= {"inputs": np.array(names)} | ({} if why else {"gradients": np.array(1)})
    theirs = _run(code, state, given, python)
    return {name: _difference(name, x, theirs.get(name)) for name, x in ours.items()}, why


def _backward(net: Net, module: Module, sums: dict[str, Array], ours: dict[str, Array]) -> str:
    for name, values in sums.items():
        _blob(net, name).diff[...] = values
    net.clear_param_diffs()
    try:
        net.backward()
    except PcdError as e:
        return str(e).splitlines()[0]
    layers = dict(zip(net.layer_names, net.layers, strict=True))
    for name in module.inputs.values():
        ours[f"in:{name}"] = _blob(net, name).diff.copy()
    for key, (layer, number) in module.grads.items():
        ours[f"w:{key}"] = module.shaped(layers[layer].blobs[number].diff).copy()
    return ""


def _blob(net: Net, name: str) -> Blob:
    return net.blobs[net.blob_ids[name]]


def _run(code: str, state: dict[str, Array], given: Facts, python: str) -> dict[str, Array]:
    with tempfile.TemporaryDirectory(prefix="pcd-torch-") as folder:
        paths = [Path(folder, name) for name in ("net.py", "net.safetensors", "in.npz", "out.npz")]
        paths[0].write_text(code)
        write_safetensors(paths[1], state)
        np.savez(paths[2], **given)
        root = str(Path(__file__).parents[2])
        environment = {**os.environ, "PYTHONPATH": root}
        done = subprocess.run(
            [python, str(RUN), *map(str, paths)],
            capture_output=True,
            text=True,
            env=environment,
            check=False,
        )
        if done.returncode:
            last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
            raise NetError(f"PyTorch cannot run the module: {last}")
        with np.load(paths[3]) as values:
            return dict(values)


def _limit(name: str) -> float:
    return TOLERANCE if name.startswith("out:") else GRADIENT_TOLERANCE


def _difference(name: str, ours: Array, theirs: Array | None) -> float:
    if theirs is None or ours.shape != theirs.shape:
        return float("inf")
    apart = ours.astype(np.float64) - theirs
    if name.startswith("out:"):
        return float(np.abs(apart).max(initial=0)) / max(1e-6, float(np.abs(ours).max(initial=0)))
    return float(np.linalg.norm(apart)) / max(1e-6, float(np.linalg.norm(ours)))

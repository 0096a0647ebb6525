"""Does ONNX Runtime compute what our engine computes?"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pycaffe_dist import caffe_log as log
from pycaffe_dist.aliases import Array, Facts
from pycaffe_dist.engines.base import NUMPY
from pycaffe_dist.errors import NetError
from pycaffe_dist.layer import Context
from pycaffe_dist.net import Net

FAIR = 3  # how many times as much as our layers ONNX Runtime may round
MOST_ROUNDED = 100  # tolerances; where rounding changes more, a difference tells nothing


@dataclass(frozen=True)
class Comparison:
    """How far an output of ONNX Runtime is from ours, by its largest value.

    In a net with large differences of large numbers, two right answers may be further apart than
    the tolerance.  So a difference beyond it is judged by a pass in float64: rounding takes both
    about as far from its values, a mistake takes ONNX Runtime further.

    Attributes:
        apart: from our engine's values.
        ours, theirs: of both from the values in float64, if these were needed.  Ours are those of
            our engine, or in half precision those of our layers with all values rounded.
    """

    apart: float
    ours: float = 0.0
    theirs: float = 0.0

    def within(self, limit: float) -> bool:
        return self.apart <= limit or self.is_rounding(limit)

    def is_rounding(self, limit: float) -> bool:
        """Whether, beyond the limit, the values in float64 speak for ONNX Runtime's."""
        told = 0 < self.ours <= MOST_ROUNDED * limit
        return self.apart > limit and told and self.theirs <= max(limit, FAIR * self.ours)


def compare(
    net: Net,
    inputs: Mapping[str, Array],
    theirs: Mapping[str, Array],
    limit: float,
    half: bool = False,
) -> dict[str, Comparison]:
    """Compute what ONNX Runtime has computed, and compare all of it that are blobs here."""
    names = sorted(theirs.keys() & net.blob_ids.keys())
    ours = _forward(net, inputs, names)
    found = {name: Comparison(difference(ours[name], theirs[name])) for name in names}
    if all(made.within(limit) for made in found.values()):
        return found
    double = _in_float64(net)
    exact = _forward(double, inputs, names)
    ours = _forward(_rounding(double), inputs, names) if half else ours
    for name, made in found.items():
        off = [difference(exact[name], values[name]) for values in (ours, theirs)]
        found[name] = made = Comparison(made.apart, *off)
        if made.is_rounding(limit):
            said = "%s differs by %.2g of its largest value. This is rounding: from the values in "
            said += "float64 our own are %.2g away, those of ONNX Runtime %.2g"
            log.warning("check.py", said, name, made.apart, made.ours, made.theirs)
    return found


def _forward(net: Net, inputs: Mapping[str, Array], names: Sequence[str]) -> dict[str, Array]:
    for name, values in inputs.items():
        net.blobs[net.blob_ids[name]].data[...] = values
    net.forward()
    return {name: net.blobs[net.blob_ids[name]].data.copy() for name in names}


def _in_float64(net: Net) -> Net:
    """The same net, with the same weights and shapes, computed by NumPy."""
    with log.silenced():
        exact = Net(net.written, Context(engine=NUMPY, dtype=np.float64, writes=False))
    for a, b in zip(net.layers, exact.layers, strict=True):
        for blob, other in zip(a.blobs, b.blobs, strict=True):
            other.data[...] = blob.data
    for i in net.input_ids:
        exact.blobs[i].reshape(*net.blobs[i].shape)
    exact.reshape()
    return exact


def _rounding(net: Net) -> Net:
    """The net from now on with all weights and all that layers make in half precision."""
    for layer in net.layers:
        for blob in layer.blobs:
            blob.data[...] = blob.data.astype(np.float16)

    def round_tops(i: int) -> None:
        for t in net.top_ids[i]:
            net.blobs[t].data[...] = net.blobs[t].data.astype(np.float16)

    net.after_forward(round_tops)
    return net


def run_onnx(
    model: bytes | Path, inputs: Mapping[str, Array], threads: int = 0
) -> dict[str, Array]:
    """The outputs of a model, by name."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    # One pass is not worth copies of the weights in another order.
    options.add_session_config_entry("session.disable_prepacking", "1")
    source = model if isinstance(model, bytes) else str(model)
    session = onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    wanted = {value.name for value in session.get_inputs()}
    found = session.run(names, {name: inputs[name] for name in wanted})
    return dict(zip(names, found, strict=True))


def difference(ours: Array, theirs: Array) -> float:
    """∞ for another shape, or where one is NaN and the other is not."""
    if ours.shape != theirs.shape:
        return float("inf")
    if not ours.size:
        return 0.0
    a, b = ours.astype(np.float64), theirs.astype(np.float64)
    if not np.array_equal(np.isnan(a), np.isnan(b)):
        return float("inf")
    same = (a == b) | np.isnan(a)
    with np.errstate(invalid="ignore"):
        apart = np.where(same, 0.0, np.abs(a - b)).max()
    largest = np.abs(a[np.isfinite(a)]).max(initial=0.0)
    return float(apart / max(largest, 1e-6))


def run_apart(path: str | Path, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """As run_onnx, in a process of its own: ONNX Runtime has its copy of the weights there."""
    with tempfile.TemporaryDirectory(prefix="pcd-onnx-") as folder:
        given, found = Path(folder, "in.npz"), Path(folder, "out.npz")
        _save(given, inputs)
        code = "import sys; from pycaffe_dist.onnx.check import main; sys.exit(main(sys.argv[1:]))"
        command = [sys.executable, "-c", code, str(path), str(given), str(found)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
            raise NetError(f"ONNX Runtime cannot run the exported file: {last}")
        with np.load(found) as values:
            return _named(values)


def main(argv: Sequence[str]) -> int:
    """The process of run_apart: model, inputs, outputs."""
    model, given, found = map(Path, argv)
    with np.load(given) as values:
        inputs = _named(values)
    _save(found, run_onnx(model, inputs))
    return 0


def _save(path: Path, values: Mapping[str, Array]) -> None:
    """Names of blobs may have characters that names in a .npz may not."""
    arrays: Facts = {f"v{i}": array for i, array in enumerate(values.values())}
    np.savez(path, names=np.array(list(values)), **arrays)


def _named(saved: Mapping[str, Array]) -> dict[str, Array]:
    return {str(name): saved[f"v{i}"] for i, name in enumerate(saved["names"])}

"""What ONNX Runtime computes, and how far that is from other values."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from pycaffe_dist.aliases import Array, Facts
from pycaffe_dist.errors import NetError


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
            hint = "--no-check leaves the comparison out"
            raise NetError(f"ONNX Runtime cannot run the model ({hint}): {last}")
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

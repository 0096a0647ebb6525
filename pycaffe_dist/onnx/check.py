"""What ONNX Runtime computes, and how far that is from other values."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import onnx

from pycaffe_dist.aliases import Array, Facts
from pycaffe_dist.errors import NetError

if TYPE_CHECKING:
    import onnxruntime


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
    session = _session(model if isinstance(model, bytes) else str(model), options)
    names = [output.name for output in session.get_outputs()]
    wanted = {value.name for value in session.get_inputs()}
    found = session.run(names, {name: inputs[name] for name in wanted})
    return dict(zip(names, found, strict=True))


def _session(
    source: bytes | str, options: onnxruntime.SessionOptions
) -> onnxruntime.InferenceSession:
    """Of a model in newer words than ONNX Runtime knows, one that says the same in older ones."""
    import onnxruntime

    providers = ["CPUExecutionProvider"]
    if isinstance(source, str):  # where weights beside the model are
        entry = "session.model_external_initializers_file_folder_path"
        options.add_session_config_entry(entry, str(Path(source).resolve().parent))
    older = None
    while True:
        try:
            return onnxruntime.InferenceSession(source, options, providers=providers)
        except Exception as e:  # the library raises classes of its own
            too_new = "opset" in str(e) or "IR version" in str(e)
            older = older or _in_older_words(source)
            found = next(older, None) if too_new else None
            if found is None:
                raise
            source = found


def _in_older_words(source: bytes | str) -> Iterator[bytes]:
    """The model with each older opset in which its operators have the same form, newest first."""
    if isinstance(source, bytes):
        model = onnx.ModelProto.FromString(source)
    else:
        model = onnx.load(source, load_external_data=False)
    told: dict[str, set[str]] = {}
    for node in model.graph.node:
        if node.domain in ("", "ai.onnx"):
            told.setdefault(node.op_type, set()).update(a.name for a in node.attribute)
    opset = next(one for one in model.opset_import if one.domain in ("", "ai.onnx"))
    newest = opset.version
    for version in range(newest - 1, 0, -1):
        if not all(_same_form(kind, names, newest, version) for kind, names in told.items()):
            return
        opset.version = version
        model.ir_version = onnx.helper.find_min_ir_version_for(model.opset_import)
        yield model.SerializeToString()


def _same_form(kind: str, told: set[str], newer: int, older: int) -> bool:
    """Whether an operator reads, makes and is told the same; newer types alone do not count.

    A newer version may have more attributes, if they are not told here: their defaults say what
    was always done.
    """
    try:
        new, old = onnx.defs.get_schema(kind, newer), onnx.defs.get_schema(kind, older)
    except onnx.defs.SchemaError:
        return False
    return (
        [x.name for x in new.inputs] == [x.name for x in old.inputs]
        and [x.name for x in new.outputs] == [x.name for x in old.outputs]
        and told <= set(old.attributes)
        and all(
            name in new.attributes
            and (a.required, str(a.default_value))
            == (new.attributes[name].required, str(new.attributes[name].default_value))
            for name, a in old.attributes.items()
        )
    )


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

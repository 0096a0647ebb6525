"""What is kept of a wheel that is much larger than what tests need of it."""

import importlib.util
import subprocess
import zipfile
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts/cudnn_parts.py"
ROOM = "nvidia/cudnn"


@pytest.fixture
def script(monkeypatch, tmp_path):
    spec = importlib.util.spec_from_file_location("cudnn_parts", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "FOLDER", tmp_path / "kept")
    return module


def pip(code, stderr=""):
    """Stands in for pip, which puts a wheel into the folder that it is told."""

    def run(command, **_):
        folder = Path(command[command.index("--dest") + 1])
        if code == 0:
            with zipfile.ZipFile(folder / "cudnn-9.whl", "w") as made:
                made.writestr(f"{ROOM}/lib/libcudnn_engines.so.9", b"x" * 1_000_000)
                made.writestr(f"{ROOM}/lib/libcudnn_ops.so.9", b"operations" * 1000)
                made.writestr(f"{ROOM}/include/cudnn.h", "int cudnn;")
        return subprocess.CompletedProcess(command, code, "", stderr)

    return run


def test_what_is_needed_is_kept_and_the_rest_is_not(script, monkeypatch):
    monkeypatch.setattr(script.subprocess, "run", pip(0))
    assert script.main() == 0
    kept = {str(p.relative_to(script.FOLDER)): p.read_bytes() for p in script.FOLDER.rglob("*.*")}
    assert kept == {
        "include/cudnn.h": b"int cudnn;",
        "lib/libcudnn_ops.so.9": b"operations" * 1000,
    }


def test_what_pip_cannot_fetch_is_named_with_the_reason(script, monkeypatch, capsys):
    monkeypatch.setattr(script.subprocess, "run", pip(1, "looking\nERROR: No such version\n"))
    assert script.main() == 0
    said = capsys.readouterr().err
    assert said.startswith("left out: nvidia-cudnn-cu13==") and "ERROR: No such version" in said
    assert not script.FOLDER.exists()

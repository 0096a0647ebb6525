"""Fetch what tests look at of cuDNN: its headers, and the libraries that need no device.

    python scripts/cudnn_parts.py               # make setup does it

The wheel has 314 MB and wants cuBLAS, another 400 MB: kernels for a device that a developer's
machine may not have.  Its headers and four libraries, 40 MB, are taken out of it and put into
``share/cudnn`` of this Python's environment; the rest is not kept.  They are for tests alone; a GPU
gets the whole wheel by the extra `gpu`.  This version is taken because later wheels are larger, and
because those for CUDA 12 have libraries twice as large.
"""

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

WHEEL = "nvidia-cudnn-cu13==9.12.0.46"
FOLDER = Path(sys.prefix) / "share" / "cudnn"
LIBRARIES = tuple(f"libcudnn{part}.so.9" for part in ("", "_graph", "_ops", "_cnn"))


def download(folder: Path) -> Path:
    """The wheel, from wherever pip takes it, and not into pip's cache."""
    ask = ["download", "--quiet", "--no-deps", "--no-cache-dir", "--only-binary", ":all:"]
    command = [sys.executable, "-m", "pip", *ask, "--disable-pip-version-check", WHEEL]
    done = subprocess.run([*command, "--dest", str(folder)], capture_output=True, text=True)
    if done.returncode:
        raise OSError((done.stderr.strip() or "pip said nothing").splitlines()[-1])
    (wheel,) = folder.glob("*.whl")
    return wheel


def unpack(wheel: Path, folder: Path) -> None:
    """The headers into ``include``, the libraries into ``lib``."""
    with zipfile.ZipFile(wheel) as file:
        for member in map(Path, file.namelist()):
            if member.suffix == ".h" or member.name in LIBRARIES:
                target = folder / member.parent.name / member.name
                target.parent.mkdir(parents=True, exist_ok=True)
                made = target.with_name(f"{member.name}.part")
                made.write_bytes(file.read(str(member)))
                made.replace(target)


def main() -> int:
    try:
        with tempfile.TemporaryDirectory() as folder:
            unpack(download(Path(folder)), FOLDER)
    except (OSError, zipfile.BadZipFile) as e:
        reason = f"{WHEEL}, which tests/gpu/test_cudnn_library.py needs: {e}"
        print(f"left out: {reason}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())

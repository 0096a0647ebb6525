"""Environments of what we are compared with, made once, and what machine this is."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

TORCH = "2.13.0"
OPENCV = "4.14.0.94"  # 5 has no importer of Caffe's nets
PEERS = ("openvino==2026.4.1", "onnxruntime==1.31.1", f"opencv-python-headless=={OPENCV}")
CACHE = Path.home() / ".cache" / "pycaffe_dist"
FOLDER = CACHE / "bench-torch"


def torch_python(folder: Path) -> Path:
    """The interpreter of PyTorch's environment in ``folder``, which is made if it is not there."""
    return _python(folder, "torch", TORCH)


def opencv_python(folder: Path = CACHE / "bench-opencv") -> Path:
    """The same for OpenCV."""
    return _python(folder, "opencv-python-headless", OPENCV)


def peers_python(folder: Path = CACHE / "bench-peers") -> Path:
    """The same for all that `bench_cpu.py --peers` compares with, in one environment."""
    return _python(folder, "torch", TORCH, *PEERS)


def _python(folder: Path, package: str, version: str, *more: str) -> Path:
    python, stamp = folder / "bin" / "python", folder / f".{package}-{version}"
    if stamp.exists():
        return python
    if folder.exists():
        raise SystemExit(f"{folder} is there, but not finished: another run makes it, or remove it")
    print(f"installing {package} {version} into {folder}", flush=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    # pip from outside: Debian's venv may come without one.
    subprocess.run([sys.executable, "-m", "venv", "--clear", "--without-pip", folder], check=True)
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet"]
    wanted = [f"{package}=={version}", f"numpy=={np.__version__}", *more]
    subprocess.run([*pip, *wanted], check=True)
    stamp.touch()
    return python


def machine() -> dict[str, Any]:
    cpu = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    return {
        "cpu": cpu[1] if cpu else platform.processor(),
        "cores": len(os.sched_getaffinity(0)),
        "load": round(os.getloadavg()[0], 2),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "date": time.strftime("%Y-%m-%d"),
    }

"""What is on this machine and what is not, with the command that adds each missing part."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import platform
import shutil
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from pycaffe_dist import engines
from pycaffe_dist.errors import MissingPartError, PcdError
from pycaffe_dist.optional import install_command
from pycaffe_dist.version import VERSION

PROBE_SECONDS = 30  # an MPI that takes longer to say its name is as good as none

# extra -> the distributions it is known by, and what it is for
PARTS = {
    "cpu": (("onednn-cpu-gomp", "llvmlite"), "the fast CPU engine"),
    "mpi": (("mpi4py", "openmpi"), "training on several ranks and machines"),
    "gpu": (
        ("cupy-cuda12x", "nvidia-nccl-cu12", "nvidia-cudnn-cu12"),
        "layers on NVIDIA GPUs, and between several",
    ),
    "gpu13": (
        ("cupy-cuda13x", "nvidia-nccl-cu13", "nvidia-cudnn-cu13"),
        "the same, with CUDA 13",
    ),
    "plot": (("matplotlib",), "charts of training logs"),
    "runtime": (("openvino", "onnxruntime", "onnx"), "nets in TEST by the fastest library"),
}
REQUIRED = ("numpy", "protobuf", "lmdb", "pillow", "h5py", "cramjam", "crc32c")


@dataclass
class Row:
    """One thing: whether it is there, what it is, and how to get it if it is not."""

    section: str
    name: str
    there: bool
    text: str
    add: str = ""


def gather() -> list[Row]:
    return [*_machine(), *_packages(), *_engines(), *_mpi(), *_gpus(), *_nccl(), *_cudnn()]


def _version(distribution: str) -> str | None:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def _machine() -> list[Row]:
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    rows = {
        "pycaffe_dist": VERSION,
        "Python": f"{platform.python_version()} ({sys.executable})",
        "system": platform.platform(),
        "cores": f"{usable} usable of {os.cpu_count()}, {_cpu_name()}",
    }
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        size = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        rows["memory"] = f"{size / 2**30:.1f} GiB"
    return [Row("machine", name, True, text) for name, text in rows.items()]


def _cpu_name() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _packages() -> list[Row]:
    rows = [Row("packages", name, True, _version(name) or "?") for name in REQUIRED]
    for extra, (distributions, purpose) in PARTS.items():
        if extra.startswith("gpu") and extra != _gpu_extra():
            continue
        for name in distributions:
            version = _version(name)
            text = version or f"not installed: {purpose}"
            rows.append(Row("packages", name, bool(version), text, "" if version else _add(extra)))
    return rows


def _gpu_extra() -> str:
    """CuPy is one package for CUDA 12 and another for 13: the one that is there, or may be."""
    return "gpu13" if _version("cupy-cuda13x") else "gpu"


def _add(extra: str) -> str:
    """The command that installs what is missing of an extra, or all of it if nothing is."""
    return _missing(extra) or install_command(extra)


def _add_wheel(name: str) -> str:
    """The command that installs a library of NVIDIA's, for the CUDA that CuPy is for."""
    extra, cuda = ("gpu13", 13) if _version("cupy-cuda13x") else ("gpu", 12)
    return install_command(extra, [f"{name}-cu{cuda}"])


def _missing(extra: str) -> str:
    """The command that installs what is missing of an extra; nothing if nothing is."""
    missing = [name for name in PARTS[extra][0] if not _version(name)]
    return install_command(extra, missing) if missing else ""


def _engines() -> list[Row]:
    """Where nets can compute, the one that they do by default marked."""
    rows = [_onednn(), _numpy(), _cupy()]
    try:
        default = engines.current().name
    except PcdError:  # PCD_ENGINE names one that is not there
        default = ""
    for row in rows:
        row.text += " (computes unless another is named)" * (row.name == default)
    return rows


def _onednn() -> Row:
    from pycaffe_dist.engines.onednn import library  # not on every machine

    try:
        return Row("engines", "onednn", True, f"oneDNN {library.load().release}")
    except MissingPartError as e:
        return Row("engines", "onednn", False, str(e.args[0]).splitlines()[0], _missing("cpu"))


def _numpy() -> Row:
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    text = f"NumPy {np.__version__} with {blas.get('name', '?')} {blas.get('version', '')}"
    return Row("engines", "numpy", True, text.strip())


def _cupy() -> Row:
    """Told from what is installed: to ask the device would take memory on it."""
    extra = _gpu_extra()
    version = _version(PARTS[extra][0][0])
    if not version:
        return Row("engines", "cupy", False, "CuPy is not installed", _missing(extra))
    there = all(row.there for row in _gpus())
    return Row("engines", "cupy", there, f"CuPy {version}" + ", but there is no GPU" * (not there))


def _mpi() -> list[Row]:
    mpirun = shutil.which("mpirun") or shutil.which("mpirun", path=str(Path(sys.executable).parent))
    rows = [
        Row("MPI", "mpirun", bool(mpirun), mpirun or "not found", "" if mpirun else _add("mpi"))
    ]
    if importlib.util.find_spec("mpi4py") is None:
        return [*rows, Row("MPI", "library", False, "mpi4py is not installed", _add("mpi"))]
    command = [sys.executable, "-m", "pycaffe_dist.parallel.transport.mpi"]
    try:
        probe = subprocess.run(
            command, capture_output=True, text=True, timeout=PROBE_SECONDS, env=_alone()
        )
        facts = json.loads(probe.stdout)
    except subprocess.TimeoutExpired:
        text = f"MPI did not start within {PROBE_SECONDS} s"
        return [*rows, Row("MPI", "library", False, text, _add("mpi"))]
    except ValueError:
        reason = (probe.stderr.strip().splitlines() or ["no word"])[-1]
        return [*rows, Row("MPI", "library", False, f"does not start: {reason}", _add("mpi"))]
    return rows + [Row("MPI", name, True, text) for name, text in facts.items()]


def _alone() -> dict[str, str]:
    """Our variables without those of mpirun: the probe of a rank would wait to be a rank itself."""
    mpirun = ("OMPI_", "PMIX_", "PMI_", "PRTE_", "MPI_", "HYDI_")
    return {name: value for name, value in os.environ.items() if not name.startswith(mpirun)}


def _nccl() -> list[Row]:
    from pycaffe_dist.engines.cupy import nccl  # needed by few, and slow to import

    try:
        return [Row("GPUs", "NCCL", True, nccl.version())]
    except MissingPartError:
        return [Row("GPUs", "NCCL", False, "not found", _add_wheel("nvidia-nccl"))]


def _cudnn() -> list[Row]:
    from pycaffe_dist.engines.cupy.cudnn import library

    try:
        return [Row("GPUs", "cuDNN", True, library.load().release)]
    except MissingPartError:
        text = "not found; convolutions are computed by kernels of our own"
        return [Row("GPUs", "cuDNN", False, text, _add_wheel("nvidia-cudnn"))]


def _gpus() -> list[Row]:
    tool = shutil.which("nvidia-smi")
    if not tool:
        return [Row("GPUs", "driver", False, "no NVIDIA driver (nvidia-smi is not there)")]
    listing = subprocess.run([tool, "-L"], capture_output=True, text=True)
    devices = [line for line in listing.stdout.splitlines() if line.startswith("GPU")]
    if not devices:
        return [Row("GPUs", "driver", False, listing.stderr.strip() or "no device")]
    return [Row("GPUs", line.split(":")[0], True, line.split(": ", 1)[-1]) for line in devices]


def as_text(rows: list[Row]) -> str:
    lines = []
    section = ""
    for row in rows:
        if row.section != section:
            section = row.section
            lines.append(f"{section}")
        mark = " " if row.there else "-"
        lines.append(f"  {mark} {row.name:<18} {row.text}")
    missing = dict.fromkeys(row.add for row in rows if row.add)
    if missing:
        lines += ["", "To add what is missing:", *(f"  {command}" for command in missing)]
    return "\n".join(lines)


def as_json(rows: list[Row]) -> str:
    return json.dumps([asdict(row) for row in rows], indent=2)

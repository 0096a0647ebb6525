"""Cases without a process of their own: damaged files through the readers alone.

A forked process reads hundreds of them, a few milliseconds each; where it dies or does not come
back, the case it was at is the fault, and another process goes on behind it.  What a command does
with a file that could be read is left to :mod:`runner`.
"""

from __future__ import annotations

import os
import random
import select
import shutil
import signal
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import runner
from kinds import KINDS, SNAP

from pycaffe_dist.data.database import records_of
from pycaffe_dist.data.datum import parse_record
from pycaffe_dist.data.hdf5_source import HDF5Source
from pycaffe_dist.data.image import read_image
from pycaffe_dist.data.image_list import read_image_list
from pycaffe_dist.data.lmdb_source import LMDBSource
from pycaffe_dist.data.window_file import read_window_file
from pycaffe_dist.errors import PcdError
from pycaffe_dist.npy import read_npy
from pycaffe_dist.proto.weights import read_binaryproto, read_state, read_weights
from pycaffe_dist.sidecar import read as read_sidecar
from pycaffe_dist.tools.check import check_file
from pycaffe_dist.tools.convert_mnist_data import read_pair
from pycaffe_dist.tools.detect import read_windows
from pycaffe_dist.tools.parse_log import read_log
from pycaffe_dist.tools.preprocess import read_picture

SECONDS = 5  # of the processor, for one case
WAIT = 60  # seconds, for one case on a busy machine


def _each(*readers: Callable[[], object]) -> None:
    for read in readers:
        with suppress(PcdError):
            read()


def _records(path: str, backend: str) -> None:
    for _, value in records_of(path, backend):
        with suppress(ValueError):  # who reads records adds the key
            parse_record(value)


def _seek() -> None:
    with closing(LMDBSource("db")) as source:
        for index in (source.count - 1, 0, source.count // 2):
            source.seek(index)
            source.read()


def _images() -> None:
    for path in sorted(Path("img").iterdir()):
        _each(lambda path=path: read_image(str(path)), lambda path=path: read_picture(str(path)))


def _onnx() -> None:
    from pycaffe_dist.onnx.importing.build import Builder
    from pycaffe_dist.onnx.importing.model import read_model
    from pycaffe_dist.tools.import_onnx import filled

    builder = Builder(read_model("deploy.onnx", {}))
    filled(builder.build(), builder.weights)


# The files that a kind changes, and what reads them.
READERS: dict[str, tuple[str, Callable[[], object]]] = {
    "net": ("net.prototxt", lambda: check_file("net.prototxt")),
    "deploy": ("deploy.prototxt", lambda: check_file("deploy.prototxt")),
    "solver": ("solver.prototxt", lambda: check_file("solver.prototxt")),
    "caffemodel": (
        f"{SNAP} deploy.caffemodel",
        lambda: _each(lambda: read_weights(SNAP), lambda: read_weights("deploy.caffemodel")),
    ),
    "solverstate": ("snap_iter_1.solverstate", lambda: read_state("snap_iter_1.solverstate")),
    "sidecar": ("snap_iter_1.pcdstate", lambda: read_sidecar("snap_iter_1.pcdstate")),
    "hdf5_weights": (
        "hsnap_iter_1.caffemodel.h5 hsnap_iter_1.solverstate.h5",
        lambda: _each(
            lambda: read_weights("hsnap_iter_1.caffemodel.h5"),
            lambda: read_state("hsnap_iter_1.solverstate.h5"),
        ),
    ),
    "onnx": ("deploy.onnx", _onnx),
    "npy": ("mean.npy", lambda: read_npy("mean.npy")),
    "binaryproto": ("mean.binaryproto", lambda: read_binaryproto("mean.binaryproto")),
    "hdf5_data": ("data.h5 h5.txt", lambda: HDF5Source("h5.txt", ["x", "l"])),
    "lmdb": ("db", lambda: _each(lambda: _records("db", "lmdb"), _seek)),
    "leveldb": ("ldb", lambda: _records("ldb", "leveldb")),
    "image": ("img", _images),
    "lists": (
        "list.txt windows.txt windows.csv",
        lambda: _each(
            lambda: read_image_list("list.txt"),
            lambda: read_window_file("windows.txt", 0.5, 0.3),
            lambda: read_windows("windows.csv"),
        ),
    ),
    "digits": ("images digits", lambda: read_pair(Path("images"), Path("digits"))),
    "log": ("train.log", lambda: read_log("train.log")),
}


def faults(sound: Path, folder: Path, seed: int, kind: str, numbers: range) -> Iterator[str]:
    """What goes wrong with these cases; the number of each comes before it."""
    while numbers:
        folder.mkdir(parents=True, exist_ok=True)
        there, here = os.pipe()
        child = runner.fork()
        if not child:
            os.close(there)
            _work(sound, folder, seed, kind, numbers, here)
        os.close(here)
        at = numbers[0]
        with os.fdopen(there, "rb", 0) as said:
            while select.select([said], [], [], WAIT)[0] and (line := said.readline()):
                number, _, fault = line.decode(errors="replace").partition(" ")
                at = int(number)
                if fault.strip():
                    yield f"{at}: {fault.strip()}"
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code == 0:
            return
        yield f"{at}: ended by {signal.Signals(-code).name if code < 0 else code}"
        numbers = numbers[at - numbers[0] + 1 :]


def _work(sound: Path, folder: Path, seed: int, kind: str, numbers: range, out: int) -> None:
    """In the child: tell the number of each case before it begins, and its fault behind it."""
    try:
        shutil.copytree(sound, folder, dirs_exist_ok=True)
        os.chdir(folder)
        runner.redirect(Path(os.devnull))
        runner.limit_memory()
        signal.signal(signal.SIGVTALRM, _too_long)
        for number in numbers:
            os.write(out, f"{number} \n".encode())
            if fault := _fault(sound, seed, kind, number):
                os.write(out, f"{number} {fault}\n".encode())
        os._exit(0)
    finally:
        os._exit(1)


def _too_long(*_: object) -> None:
    raise TimeoutError(f"more than {SECONDS} s")


def _fault(sound: Path, seed: int, kind: str, number: int) -> str:
    files, read = READERS[kind]
    for name in files.split():
        if (sound / name).is_dir():
            shutil.rmtree(name, ignore_errors=True)
            shutil.copytree(sound / name, name)
        else:
            shutil.copyfile(sound / name, name)
    with suppress(Exception):  # damage that no library would write
        KINDS[kind](random.Random(f"{seed}/{kind}/{number}"))
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        read()
    except PcdError:
        pass
    except BaseException:
        frames = traceback.format_exc().strip().splitlines()
        return " | ".join(line.strip() for line in (frames[-1], *frames[-3:-1]))
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return ""

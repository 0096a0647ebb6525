"""What a case is: one damaged file in the working directory, and a command that reads it."""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from damage import damage_binary, damage_bytes, damage_prototxt, damage_text_or_bytes
from damage_files import damage_hdf5, damage_pages, damage_sidecar
from sound_files import DEPLOY, HOSTS, SOLVER, V0, V1, net_with, records, some_net

from pycaffe_dist.data.database import write_database
from pycaffe_dist.parallel.job.hostfile import read_hostfile
from pycaffe_dist.parallel.job.mpirun import HYDRA, OPEN_MPI, Mpirun
from pycaffe_dist.proto import caffe_pb2
from pycaffe_dist.py2.translate import translate

Command = list[str] | Callable[[], object]
Rng = random.Random
KINDS: dict[str, Callable[[Rng], Command]] = {}

SNAP = "snap_iter_1.caffemodel"
TRAIN = "train -solver solver.prototxt"
NET_COMMANDS = f"""
check net.prototxt
summary net.prototxt
summary --json net.prototxt
draw net.prototxt out.svg --own
draw net.prototxt out.svg --own -display_lrm -rankdir TB -phase TEST
upgrade_net_proto_text net.prototxt out.prototxt
{TRAIN} -max_iter 1
{TRAIN} -max_iter 1 -engine numpy
{TRAIN} -max_iter 1 -fake_data
time -model net.prototxt -iterations 1
test -model net.prototxt -weights {SNAP} -iterations 1
plan -solver solver.prototxt -ranks 4 -gflops 10
extract_features {SNAP} net.prototxt ip features 1 lmdb
"""
IMAGE_COMMANDS = """
classify img/0.png out.npy -model_def deploy.prototxt -pretrained_model deploy.caffemodel \
-mean_file mean.npy -images_dim 9,9
predict img -model deploy.prototxt -weights deploy.caffemodel -labels labels.txt \
-mean_file mean.binaryproto
detect windows.csv out.csv -context_pad 0 -model_def deploy.prototxt \
-pretrained_model deploy.caffemodel -mean_file mean.npy
detect windows.csv out.h5 -context_pad 1 -model_def deploy.prototxt \
-pretrained_model deploy.caffemodel
"""
SOURCE_COMMANDS = f"""
check net.prototxt
summary net.prototxt
{TRAIN} -max_iter 2
{TRAIN} -max_iter 2 -bad_records skip -shuffle
time -model net.prototxt -iterations 1
test -model net.prototxt -weights {SNAP} -iterations 3
"""
RESUME = f"""
check snap_iter_1.solverstate
{TRAIN} -snapshot snap_iter_1.solverstate -max_iter 2
{TRAIN} -resume auto -max_iter 2
"""


def kind(function: Callable[[Rng], Command]) -> Callable[[Rng], Command]:
    KINDS[function.__name__] = function
    return function


def lines(commands: str) -> list[list[str]]:
    return [line.split() for line in commands.strip().splitlines()]


def with_source(rng: Rng, source: str) -> Command:
    Path("net.prototxt").write_text(net_with(source))
    return rng.choice(lines(SOURCE_COMMANDS))


def damaged_bytes(rng: Rng, path: Path, head: int = 0) -> None:
    path.write_bytes(damage_bytes(rng, path.read_bytes(), head))


def damaged_text(rng: Rng, name: str) -> None:
    text = Path(name).read_bytes().decode(errors="surrogateescape")
    Path(name).write_bytes(damage_text_or_bytes(rng, text))


# -- nets and solvers ------------------------------------------------------------------------------


@kind
def net(rng: Rng) -> Command:
    text = rng.choice((some_net(rng), some_net(rng), some_net(rng), V1, V0, DEPLOY))
    text = damage_prototxt(rng, text, caffe_pb2.NetParameter())
    Path("net.prototxt").write_text(text, errors="surrogateescape")
    return rng.choice(lines(NET_COMMANDS))


@kind
def deploy(rng: Rng) -> Command:
    text = damage_prototxt(rng, DEPLOY, caffe_pb2.NetParameter())
    Path("deploy.prototxt").write_text(text)
    return rng.choice(lines(IMAGE_COMMANDS))


@kind
def solver(rng: Rng) -> Command:
    text = damage_prototxt(rng, SOLVER, caffe_pb2.SolverParameter())
    # More iterations, and larger ones, are work and no fault; nor is another place for snapshots.
    text = re.sub(r"\b(iter_size|max_iter|test_iter): *\d{3,}", r"\1: 2", text)
    text = text.replace('snapshot_prefix: "/"', 'snapshot_prefix: "p/"')
    Path("solver.prototxt").write_text(text)
    commands = lines(
        f"check solver.prototxt\n{TRAIN} -max_iter 1\n{TRAIN} -dry_run 1\n"
        f"{TRAIN} -max_iter 2 -resume auto\nplan -solver solver.prototxt -ranks 4 -gflops 10\n"
        "upgrade_solver_proto_text solver.prototxt out.prototxt"
    )
    return rng.choice(commands)


@kind
def script(rng: Rng) -> Command:
    """Python 2 to Python 3; the script itself is not run."""
    damaged_text(rng, "script.py")

    def read() -> None:
        with suppress(SyntaxError):  # as Python tells it
            translate(Path("script.py").read_bytes(), "script.py")

    return read


# -- weights and states ----------------------------------------------------------------------------


@kind
def caffemodel(rng: Rng) -> Command:
    name = rng.choice((SNAP, "deploy.caffemodel"))
    path = Path(name)
    path.write_bytes(damage_binary(rng, path.read_bytes(), caffe_pb2.NetParameter))
    if name == "deploy.caffemodel":
        return rng.choice(lines(IMAGE_COMMANDS))
    commands = lines(
        f"check {SNAP}\n{TRAIN} -weights {SNAP} -max_iter 1\n"
        f"test -model net.prototxt -weights {SNAP} -iterations 1\n"
        f"upgrade_net_proto_binary {SNAP} out.caffemodel\n"
        f"{TRAIN} -snapshot snap_iter_1.solverstate -max_iter 2\n"
        f"extract_features {SNAP} net.prototxt ip features 1 hdf5"
    )
    return rng.choice(commands)


@kind
def solverstate(rng: Rng) -> Command:
    path = Path("snap_iter_1.solverstate")
    path.write_bytes(damage_binary(rng, path.read_bytes(), caffe_pb2.SolverState))
    return rng.choice(lines(RESUME))


@kind
def sidecar(rng: Rng) -> Command:
    damage_sidecar(rng, Path("snap_iter_1.pcdstate"))
    return rng.choice(lines(RESUME)[1:])


@kind
def hdf5_weights(rng: Rng) -> Command:
    name = rng.choice(("hsnap_iter_1.caffemodel.h5", "hsnap_iter_1.solverstate.h5"))
    damage_hdf5(rng, Path(name))
    commands = lines(f"check {name}\n{TRAIN} -max_iter 2 -snapshot hsnap_iter_1.solverstate.h5")
    if "model" in name:
        commands += lines(
            f"test -model net.prototxt -weights {name} -iterations 1\n"
            f"{TRAIN} -weights {name} -max_iter 1"
        )
    return rng.choice(commands)


@kind
def onnx(rng: Rng) -> Command:
    """Models that are imported; some are compared, and so ONNX Runtime reads them too."""
    from onnx import ModelProto
    from onnx_models import twisted

    path = Path("deploy.onnx")
    if rng.random() < 0.6:
        path.write_bytes(twisted(rng).SerializeToString())
    if rng.random() < 0.5:
        path.write_bytes(damage_binary(rng, path.read_bytes(), ModelProto))
    command = ["import", "deploy.onnx", "-o", "new.prototxt", "--weights", "new.caffemodel"]
    return command if rng.random() < 0.2 else [*command, "--no-check"]


@kind
def npy(rng: Rng) -> Command:
    damaged_bytes(rng, Path("mean.npy"), 128)
    predict = ["predict", "mean.npy", "-model", "deploy.prototxt", "-weights", "deploy.caffemodel"]
    return rng.choice((lines(IMAGE_COMMANDS)[0], predict))


@kind
def binaryproto(rng: Rng) -> Command:
    path = Path("mean.binaryproto")
    path.write_bytes(damage_binary(rng, path.read_bytes(), caffe_pb2.BlobProto))
    predict = lines(IMAGE_COMMANDS)[1]
    return rng.choice((with_source(rng, "Data"), predict, ["check", path.name]))


# -- data ------------------------------------------------------------------------------------------


@kind
def hdf5_data(rng: Rng) -> Command:
    if rng.random() < 0.2:
        damaged_text(rng, "h5.txt")
    else:
        damage_hdf5(rng, Path("data.h5"))
    return with_source(rng, "HDF5Data")


@kind
def lmdb(rng: Rng) -> Command:
    """Damaged records in a sound database, or damaged pages."""
    if rng.random() < 0.5:
        _damage_records(rng, "db", "lmdb")
    else:
        path = Path("db/data.mdb")
        path.write_bytes(damage_pages(rng, path.read_bytes()))
    commands = lines(
        "db db -verify -sheet out.png\npartition_data -backend lmdb db\n"
        "compute_image_mean -backend lmdb db out.binaryproto"
    )
    return rng.choice((*commands, with_source(rng, "Data"), with_source(rng, "Data")))


@kind
def leveldb(rng: Rng) -> Command:
    if rng.random() < 0.2:
        _damage_records(rng, "ldb", "leveldb")
    else:
        files = [p for p in sorted(Path("ldb").iterdir()) if p.name not in ("LOCK", "LOG")]
        damaged_bytes(rng, rng.choice(files), 64)
    commands = lines("db ldb -verify\ncompute_image_mean -backend leveldb ldb out.binaryproto")
    return rng.choice((*commands, with_source(rng, "LevelDB")))


def _damage_records(rng: Rng, path: str, backend: str) -> None:
    changed = {}
    for i, (key, datum) in enumerate(records()):
        value = datum.SerializeToString()
        if rng.random() < 0.4:
            value = damage_binary(rng, value, caffe_pb2.Datum)
            key = rng.choice((key, b"%08d" % (10 + i), b"\xff\xfe%d" % i, b"%d" % i))
        changed[key] = value
    shutil.rmtree(path)
    write_database(path, backend, changed.items())


@kind
def image(rng: Rng) -> Command:
    damaged_bytes(rng, rng.choice(sorted(Path("img").iterdir())), 64)
    convert = lines(
        "convert_imageset -shuffle -encoded img/ list.txt newdb\n"
        "convert_imageset img/ list.txt newdb"
    )
    return rng.choice((with_source(rng, "ImageData"), *lines(IMAGE_COMMANDS), *convert))


@kind
def lists(rng: Rng) -> Command:
    """Lists of images, of windows, of labels."""
    name = rng.choice(("list.txt", "windows.txt", "windows.csv", "labels.txt"))
    damaged_text(rng, name)
    if name == "list.txt":
        convert = lines("convert_imageset -resize_height 8 -resize_width 8 img/ list.txt newdb")
        return rng.choice((with_source(rng, "ImageData"), *convert))
    if name == "windows.txt":
        return with_source(rng, "WindowData")
    return lines(IMAGE_COMMANDS)[1 if name == "labels.txt" else rng.choice((2, 3))]


@kind
def digits(rng: Rng) -> Command:
    """MNIST's files."""
    damaged_bytes(rng, Path(rng.choice(("images", "digits"))), 16)
    verb = rng.choice(("convert_mnist_data", "convert_mnist_siamese_data"))
    return [verb, "images", "digits", "newdb"]


# -- the rest --------------------------------------------------------------------------------------


@kind
def hostfile(rng: Rng) -> Command:
    """What mpirun is given has a line for each host, and none of them is a flag."""
    Path("hosts").write_bytes(damage_text_or_bytes(rng, rng.choice(HOSTS)))
    ranks = rng.choice((None, 1, 3, 100))

    def read() -> None:
        hosts = read_hostfile("hosts", ranks)
        for family in (OPEN_MPI, HYDRA):
            text = Mpirun("mpirun", family).hosts(hosts)
            assert len(text.splitlines()) == len(hosts), text
            assert not re.search(r"^-|[^\w.:\[\]=\s-]", text, re.MULTILINE), text

    return read


@kind
def log(rng: Rng) -> Command:
    damaged_text(rng, "train.log")
    commands = lines(
        "parse_log train.log tables\nplot train.log --terminal\nplot train.log -o out.svg"
    )
    return rng.choice(commands)

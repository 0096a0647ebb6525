# ruff: noqa: E501
"""Damaged and hostile files through every reader of pycaffe_dist/proto.

    python tests/fuzz/fuzz_proto.py --count 10000 --seed 1     # a summary; exit code 1 on failures
    python tests/fuzz/fuzz_proto.py --seed 1 --only 4711       # one case again, with its traceback
    python tests/fuzz/fuzz_proto.py --zoo ../shared/zoo/nets   # real files as seeds too

Each case is one file, made from a good one by a few mutations; case and mutations follow from the
seed and the case's number alone.  The first few cases are made by hand to be expensive.  A file must
be read or be refused with a PcdError, within SECONDS (of the CPU) and MEMORY.  Cases run in a child
process, which is started again if the HDF5 library brings it down.
"""

from __future__ import annotations

import argparse
import collections
import faulthandler
import functools
import io
import math
import os
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # its threads' stacks would count as memory

import h5py
import numpy as np

from pycaffe_dist.errors import PcdError
from pycaffe_dist.proto import nets
from pycaffe_dist.proto.caffe_pb2 import (
    TEST,
    TRAIN,
    BlobProto,
    NetParameter,
    NetState,
    SolverState,
)
from pycaffe_dist.proto.splits import insert_splits
from pycaffe_dist.proto.state import filter_net
from pycaffe_dist.proto.text import format_text, read_text
from pycaffe_dist.proto.weights import read_binaryproto, read_state, read_weights
from pycaffe_dist.proto.wire_format import head, varint

SECONDS = 5
MEMORY = 1 << 30  # on top of what the process has when it starts

# -- good files ------------------------------------------------------------------------------------

NETS = [
    """name: "LeNet"
layer { name: "mnist" type: "Data" top: "data" top: "label" include { phase: TRAIN }
  transform_param { scale: 0.00390625 mirror: true } data_param { source: "train" batch_size: 64 backend: LMDB } }
layer { name: "mnist" type: "Data" top: "data" top: "label" include { phase: TEST }
  transform_param { scale: 0.00390625 } data_param { source: "test" batch_size: 100 backend: LMDB } }
layer { name: "conv1" type: "Convolution" bottom: "data" top: "conv1" param { lr_mult: 1 } param { lr_mult: 2 }
  convolution_param { num_output: 20 kernel_size: 5 stride: 1 pad: [1, 2]
    weight_filler { type: "xavier" } bias_filler { type: "constant" value: -1e-3 } } }
layer { name: "relu1" type: "ReLU" bottom: "conv1" top: "conv1" }
layer { name: "clip" type: "Clip" bottom: "conv1" top: "clip" clip_param { min: 0 max: 6. } }
layer { name: "ip" type: "InnerProduct" bottom: "clip" top: "ip" inner_product_param { num_output: 10 } }
layer { name: "accuracy" type: "Accuracy" bottom: "ip" bottom: "label" top: "accuracy" include { phase: TEST } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label" top: "loss" loss_weight: 1 }
""",
    """name: 'old' input: "data" input_dim: 1 input_dim: 3 input_dim: 227 input_dim: 227
layers { name: "conv1" type: CONVOLUTION blobs_lr: 1 blobs_lr: 2 weight_decay: 1 weight_decay: 0 bottom: "data" top: "c"
  convolution_param { num_output: 96 kernel_size: 11 stride: 4 } param: "w" blob_share_mode: PERMISSIVE }
layers { name: "db" type: DATA top: "x" data_param { source: "db" scale: 0.5 mean_file: "m" crop_size: 3 mirror: 1 } }
layers { name: "sum" type: ELTWISE bottom: "c" bottom: "c" top: "s" eltwise_param { operation: MAX coeff: 1 } }
layers { name: "loss" type: SOFTMAX_LOSS bottom: "s" bottom: "x" exclude { stage: "a" not_stage: "b" } }
""",
    """layers { layer { name: "data" type: "data" source: "db" meanfile: "m" batchsize: 256 cropsize: 227 } top: "d" top: "l" }
layers { layer { name: "pad" type: "padding" pad: 2 } bottom: "d" top: "p" }
layers { layer { name: "conv" type: "conv" num_output: 9 kernelsize: 5 weight_filler { std: 0.01 } } bottom: "p" top: "c" }
layers { layer { name: "pool" type: "pool" pool: AVE kernelsize: 3 stride: 2 } bottom: "c" top: "q" }
layers { layer { name: "loss" type: "softmax_loss" } bottom: "q" bottom: "l" }
""",
    """# deploy\r
input: "data"\tinput_shape < dim: 1, dim: 3; dim: 0x20 dim: 040 >\r
layer { name: 'bn' type: 'BatchNorm' bottom: 'data' top: 'b' param { lr_mult: 0 } param { } param { }
  batch_norm_param { use_global_stats: true eps: 1.f } }
layer: { name: "a\\n\\x41\\303\\251" "b" type: "Slice" bottom: "b" bottom: "data" top: ["u", "v"] loss_weight: [inf, -nan]
  slice_param { slice_point: 3 axis: - 1 } include: { min_level: 1 max_level: 3 } phase: 1 propagate_down: [t, False] }
state { phase: TRAIN level: 2 stage: "x" stage: "y" } force_backward: true
""",
    format_text(NetParameter(name="blobs", layer=[{"blobs": [{"data": [0.5] * 20}]}])),
]  # fmt: skip
SOLVERS = [
    """net: "net.prototxt" test_iter: 100 test_interval: 500 base_lr: 0.01 momentum: 0.9 weight_decay: 0.0005
lr_policy: "multistep" gamma: 0.1 stepvalue: [100, 200] display: 100 max_iter: 10000 snapshot: 5000
snapshot_prefix: "examples/mnist/lenet" solver_mode: GPU solver_type: NESTEROV random_seed: -1 device_id: 1
train_state { stage: "a" } test_state: { stage: "b" level: 3 } snapshot_format: HDF5
""",
    'device_id: "0,1" type: "Adam" train_net_param { ' + NETS[0] + " } test_net_param { " + NETS[2]
    + " } test_iter: 3 test_interval: 1",
    "net_param { " + NETS[1] + " } test_iter: [1, 2] test_interval: 1 weights: 'a,b'",
]  # fmt: skip

BLOB = {"shape": {"dim": [2, 3]}, "data": [0.5, 1, 2, 3, -4, 5]}
OLD = {"num": 1, "channels": 1, "height": 2, "width": 3, "data": range(6), "diff": range(6)}
DOUBLE = {"shape": {"dim": [2]}, "double_data": [1, 2], "double_diff": [3, 4]}
UNPACKED = b"".join(b"\x2d" + np.float32(i).tobytes() for i in range(9))
RAW = b"\x3a\x03\x0a\x01\x04\x50\x02" + head(12, 8) + np.float16([1, 2, 3, 4]).tobytes()
PMLS = BlobProto(**OLD).SerializeToString() + b"\x38\x00\x40\x05"


def layer_of(*blobs: bytes) -> bytes:
    body = head(1, 1) + b"x" + b"".join(head(7, len(b)) + b for b in blobs)
    return head(100, len(body)) + body


CAFFEMODELS = [
    NetParameter(
        name="net",
        layer=[{"name": "data", "type": "Data"}, {"name": "ip", "type": "InnerProduct", "blobs": [BLOB, OLD]},
               {"name": "x", "blobs": [DOUBLE], "relu_param": {}}],
    ).SerializeToString(),
    NetParameter(layers=[{"name": "c", "type": "CONVOLUTION", "blobs": [OLD, BLOB]}] * 3).SerializeToString(),
    NetParameter(layers=[{"layer": {"name": "c", "type": "conv", "blobs": [OLD] * 2}}]).SerializeToString(),
    layer_of(UNPACKED, RAW, PMLS) + layer_of(),
]  # fmt: skip
STATES = [
    SolverState(iter=1000, learned_net="n", history=[BLOB, OLD], current_step=1).SerializeToString()
]
ARRAYS = [BlobProto(**b).SerializeToString() for b in (BLOB, OLD, DOUBLE)] + [UNPACKED, RAW, PMLS]


def hdf5_file(**sets: object) -> bytes:
    memory = io.BytesIO()
    with h5py.File(memory, "w") as file:
        for name, values in sets.items():
            file[name.replace("__", "/")] = values
    return memory.getvalue()


HDF5_WEIGHTS = [
    hdf5_file(data__conv__0=np.ones((2, 3), "f4"), data__conv__1=np.float32(1), data__a__b__0=[1.5]),
    hdf5_file(data__ip__0=np.ones(4, "f8"), diff__ip__0=np.ones(4, "f4")),
]  # fmt: skip
HDF5_STATES = [
    hdf5_file(iter=[5], current_step=[1], learned_net=b"net", history__0=np.ones(3, "f4"))
]

# -- mutations -------------------------------------------------------------------------------------


def truncate(r: random.Random, data: bytes, others: list[bytes]) -> bytes:
    return data[: r.randrange(len(data) + 1)]


def flip_bits(r: random.Random, data: bytes, others: list[bytes]) -> bytes:
    out = bytearray(data)
    for _ in range(r.choice((1, 1, 2, 8, 64)) if out else 0):
        out[r.randrange(len(out))] ^= 1 << r.randrange(8)
    return bytes(out)


def insert_bytes(r: random.Random, data: bytes, others: list[bytes]) -> bytes:
    at = r.randrange(len(data) + 1)
    return data[:at] + r.randbytes(r.choice((1, 2, 4, 100))) + data[at:]


def overwrite(r: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """Bytes that mean something: zeros, ones, small and very large lengths, in both orders."""
    special = r.choice((0, 1, 255, 2**31 - 1, 2**31, 2**32 - 1, 2**62, 2**63 - 1, 2**64 - 1))
    piece = special.to_bytes(8, r.choice(("little", "big")))[: r.choice((1, 4, 8))]
    at = r.randrange(len(data) + 1)
    return data[:at] + piece + data[at + len(piece) :]


def cut_out(r: random.Random, data: bytes, others: list[bytes]) -> bytes:
    a, b = sorted(r.randrange(len(data) + 1) for _ in range(2))
    return data[:a] + data[b:]


def repeat(r: random.Random, data: bytes, others: list[bytes]) -> bytes:
    a, b = sorted(r.randrange(len(data) + 1) for _ in range(2))
    return data[:b] + data[a:b] * r.choice((1, 2, 10)) + data[b:]


def splice(r: random.Random, data: bytes, others: list[bytes]) -> bytes:
    other = r.choice(others)
    return data[: r.randrange(len(data) + 1)] + other[r.randrange(len(other) + 1) :]


def swap_case(r: random.Random, data: bytes, others: list[bytes]) -> bytes:
    a, b = sorted(r.randrange(len(data) + 1) for _ in range(2))
    return data[:a] + data[a:b].swapcase() + data[b:]


WORDS = [
    *"{ } < > [ ] : ; , - # \" ' \\ @ \0 \xff . = ( ) $".encode("latin-1").split(b" "),
    b"layer {", b"layers {", b"layer: [{}, {}]", b"include {", b"param {", b"x: 1", b"unknown { a: [1, {b: 2}] }",
    b"{" * 1000, b"unknown " + b"{ a " * 1000, b"<" * 1000, b"[" * 1000, b"}" * 50, b"layer { " * 1000,
    b"unknown " + b"{" * 1000 + b"}" * 1000, b"input_dim: [" + b"1," * 1000 + b"]",
    b"9" * 5000, b"0x" + b"f" * 5000, b"0" + b"7" * 5000, b"1." + b"3" * 5000, b"1e" + b"9" * 5000, b"-" * 1000,
    b"1e999", b"-1e-999", b"nan", b"-inf", b"0x", b"08", b"1.f", b"18446744073709551616", b"-9223372036854775809",
    b'"' + b"a" * 100_000 + b'"', b"x" * 100_000, b"name: '\\UFFFFFFFF'", b"name: '\\ud800'", b"'\\q'", b"'\\777'", b"'\\x'",
    b"name: '\\000'", b"snapshot_prefix: '\\000'", b"snapshot_prefix: '" + b"a" * 300 + b"'", b"net: 'a\\000b'", b"net: ''",
    b"device_id: '0'", b"device_ids: '0'", b"device_id: 1", b"type: 1", b"type: 'SGD'", b"solver_type: 1", b"phase: -1",
    b"clip_param { }", b"convolution_param { kernel_size: 99999999999 }", b"blobs_lr: 1", b"loss_weight: 1",
    b"bottom: 'data'", b"top: 'data'", b"bottom: ''", b"top: ''", b"name: ''", b"input: 'z'", b"input_dim: -1",
    b"input_shape { dim: -9223372036854775808 }", b"layer { layer { } }", b"layers { layer { type: 'padding' } bottom: 'd' }",
    b"state { phase: TEST }", b"include { } exclude { }", b"test_state { }", b"test_iter: -1", b"[a.b] { }", b"\xef\xbb\xbf",
    "\u00a0\u2028\u0130".encode(), b"\r", b"\x0b", b"\x1b", b"#" + b"\xff" * 50 + b"\n", b"\n" * 1000,
]  # fmt: skip


def insert_words(r: random.Random, data: bytes, others: list[bytes]) -> bytes:
    for _ in range(r.choice((1, 1, 2, 5))):
        at = r.randrange(len(data) + 1)
        data = data[:at] + b" " + r.choice(WORDS) + b" " + data[at:]
    return data


def random_words(r: random.Random, data: bytes, others: list[bytes]) -> bytes:
    names = data.replace(b"{", b" ").replace(b":", b" ").split() or [b"a"]
    short = [w for w in WORDS if len(w) < 100]
    return b" ".join(
        r.choice(names if r.random() < 0.5 else short) for _ in range(r.randrange(300))
    )


def replace_a_number(r: random.Random, data: bytes, others: list[bytes]) -> bytes:
    words = data.split(b" ")
    at = [i for i, w in enumerate(words) if w[:1].isdigit()]
    if at:
        words[r.choice(at)] = r.choice(WORDS)
    return b" ".join(words)


def exchange_words(r: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """Words replaced by words of the same sort: the file stays text, and often a net."""
    words = [w for w in re.split(rb"(\s+|[{}<>:;,\[\]])", data) if w]
    for _ in range(r.choice((1, 2, 5, 20)) if words else 0):
        at = r.randrange(len(words))
        alike = [w for w in words if w[:1].isalpha() == words[at][:1].isalpha()]
        alike = [w for w in alike if w[:1].isdigit() == words[at][:1].isdigit()]
        words[at] = r.choice(alike)
    return b"".join(words)


def rewire(r: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """Strings in each other's place: names, types, bottoms and tops at random, all well-formed."""
    parts = re.split(rb'("[^"\n]*")', data)
    for _ in range(r.choice((1, 3, 10)) if len(parts) > 1 else 0):
        parts[r.randrange(1, len(parts), 2)] = parts[r.randrange(1, len(parts), 2)]
    return b"".join(parts)


def move_lines(r: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """Lines left out, doubled, or somewhere else."""
    lines = data.split(b"\n")
    for _ in range(r.choice((1, 2, 5))):
        line = lines.pop(r.randrange(len(lines))) if r.random() < 0.7 and lines else b""
        for _ in range(r.randrange(3)):
            lines.insert(
                r.randrange(len(lines) + 1), line or r.choice(r.choice(others).split(b"\n"))
            )
    return b"\n".join(lines)


def huge_length(r: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """A field whose length is far beyond the file's end."""
    size = r.choice((2**31 - 1, 2**31, 2**32, 2**63, 2**64 - 1, len(data) + 1))
    at = r.randrange(len(data) + 1)
    return data[:at] + head(r.choice((1, 2, 5, 7, 100)), size) + data[at:]


def huge_dims(r: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """A blob with a shape that no array can have."""
    values = (0, 1, 2**16, 2**31, 2**40, 2**62, 2**63 - 1, -1)
    dims = b"".join(varint(r.choice(values)) for _ in range(r.choice((1, 2, 3, 32, 33, 1000))))
    dims = head(1, len(dims)) + dims
    blob = head(7, len(dims)) + dims
    if r.random() < 0.5:
        blob += b"".join(bytes([n << 3]) + varint(r.choice(values)) for n in range(1, 5))
    choice = r.randrange(3)
    return data + (blob, layer_of(blob), head(3, len(blob)) + blob)[choice]


def nest(r: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """A thousand messages within each other."""
    number = r.choice((1, 2, 7, 100))
    for _ in range(1000):
        data = head(number, len(data)) + data
    return data


def wrong_wire_types(r: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """Fields with known numbers and any wire type."""
    fields = b""
    for _ in range(r.choice((1, 2, 3, 20))):
        number, kind = r.randrange(1, 14), r.choice((0, 1, 2, 5))
        piece = r.randbytes(r.randrange(12))
        value = {0: varint(r.randrange(300)), 1: r.randbytes(8), 5: r.randbytes(4)}
        fields += varint(number << 3 | kind) + value.get(kind, varint(len(piece)) + piece)
    return r.choice(
        (fields + data, data + fields, layer_of(fields), data + head(3, len(fields)) + fields)
    )


def alternate(r: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """Unpacked values of two fields in turn."""
    blob = (b"\x2d0000" + b"\x350000") * r.choice((1, 10, 3000))
    return r.choice((blob, data + layer_of(blob), data + head(3, len(blob)) + blob))


def random_blob(r: random.Random) -> bytes:
    """A blob that nearly makes sense: fields in any order, sometimes twice, sometimes with lies."""
    dims = [r.choice((0, 1, 2, 3, 5)) for _ in range(r.randrange(5))]
    count = math.prod(dims) + r.choice((0, 0, 0, 0, 1))
    packed = b"".join(map(varint, dims))
    packed = head(1, len(packed)) + packed
    pieces = [
        head(7, len(packed)) + packed,
        head(5, 4 * count) + r.randbytes(4 * count),
        b"".join(b"\x2d" + r.randbytes(4) for _ in range(count)),
        head(6, 4 * count) + r.randbytes(4 * count),
        head(8, 8 * count) + r.randbytes(8 * count),
        b"".join(b"\x41" + r.randbytes(8) for _ in range(count)),
        b"".join(bytes([n << 3, d]) for n, d in enumerate([1] * (4 - len(dims)) + dims, 1)),
        b"\x50" + varint(r.randrange(4)) + head(12, 2 * count) + r.randbytes(2 * count),
        b"\x38\x00\x40\x05",
    ]
    return b"".join(r.sample(pieces, r.randrange(1, 4)))


def random_message(r: random.Random, data: bytes, others: list[bytes]) -> bytes:
    blobs = [random_blob(r) for _ in range(r.randrange(1, 4))]
    histories = b"\x08\x05" + b"".join(head(3, len(b)) + b for b in blobs)
    return r.choice((blobs[0], layer_of(*blobs), data + layer_of(*blobs), histories))


def hdf5_values(r: random.Random) -> object:
    return r.choice(
        (
            np.ones(r.choice((0, 1, 3)), r.choice(("f2", "f4", "f8", ">f4", "i1", "i8", "u8", "?", "c8"))),
            np.float32(r.choice((1, np.inf, np.nan))), np.float64([np.inf]), 10**18, b"bytes", "text", "",
            np.array([b"ab", b"c"]), np.zeros(2, [("a", "f4"), ("b", "i4")]), h5py.Empty("f4"),
            h5py.SoftLink("/data"), h5py.SoftLink("/nowhere"), h5py.SoftLink("/"), h5py.ExternalLink("no.h5", "/"),
        )
    )  # fmt: skip


def random_tree(r: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """An HDF5 file of groups, datasets and links that have the right names and little else."""
    memory = io.BytesIO()
    names = (
        "data",
        "diff",
        "history",
        "iter",
        "learned_net",
        "current_step",
        "ip",
        "a",
        "0",
        "1",
        "00",
        "²",
        "é",
    )
    with h5py.File(memory, "w") as file:
        for _ in range(r.randrange(1, 12)):
            name = "/".join(r.sample(names, r.choice((1, 2, 3)))) if r.random() < 0.3 else ""
            root = r.choice(("data/ip/", "data/a/b/", "diff/ip/", "history/", ""))
            name = name or root + r.choice(names if r.random() < 0.4 or not root else "01234")
            try:
                choice = r.random()
                if choice < 0.1:
                    shape = r.choice(((2**40,), (2**31, 2**31), (2**28,), (0, 2**62)))
                    file.create_dataset(
                        name, shape, r.choice(("f4", "i1")), chunks=(1,) * len(shape)
                    )
                elif choice < 0.15:
                    file[name] = file["data"]
                else:
                    file[name] = hdf5_values(r)
            except (ValueError, TypeError, KeyError, RuntimeError, OSError):
                pass  # the name is taken
    return memory.getvalue()


ANY = [truncate, flip_bits, insert_bytes, overwrite, cut_out, repeat, splice]
TEXT = [*ANY, swap_case, random_words, replace_a_number]
TEXT += [insert_words] * 3 + [exchange_words] * 2 + [move_lines] * 4 + [rewire] * 6
BINARY = [*ANY, huge_length, huge_dims, nest, wrong_wire_types, alternate] + [random_message] * 4
HDF5 = [*ANY] + [flip_bits] * 2 + [random_tree] * 4

# -- readers ---------------------------------------------------------------------------------------


def use_net(path: Path) -> None:
    """All that happens to a net's file before layers are made."""
    file = nets.read_net(path)
    assert_whole(file.net)
    build(file)


def build(file: nets.NetFile) -> None:
    for phase in (TRAIN, TEST):
        for state in (NetState(phase=phase), NetState(phase=phase, level=2, stage=["a", "x"])):
            try:
                net = insert_splits(filter_net(file.net, state))
            except PcdError as e:
                assert str(e)
                continue
            assert_whole(net)
            assert len(file.lines_of(net)) == len(net.layer)


def use_solver(path: Path) -> None:
    solver = nets.read_solver(path).message
    assert_whole(solver)
    for find in (lambda s: [nets.train_net(s)], nets.test_nets):
        try:
            for net in find(solver)[:3]:
                build(net.read())
        except PcdError as e:
            assert str(e)


def use_text(path: Path) -> None:
    assert_whole(read_text(path, NetParameter()).message)


def assert_whole(message: object) -> None:
    assert message.IsInitialized()
    assert type(message).FromString(message.SerializeToString()).IsInitialized()


def use_weights(path: Path) -> None:
    for layer in read_weights(path).layers:
        assert isinstance(layer.name, str)
        assert_arrays(layer.blobs)


def use_state(path: Path) -> None:
    state = read_state(path)
    assert isinstance(state.iter, int)
    assert isinstance(state.learned_net, str)
    assert_arrays(state.history)


def use_array(path: Path) -> None:
    assert_arrays([read_binaryproto(path)])


def assert_arrays(blobs: list) -> None:
    for blob in blobs:
        if blob is None:  # a dataset that the file left out
            continue
        for values in (blob.data, blob.diff):
            assert values is None or values.dtype in ("f4", "f8")
            assert values is None or values.shape == blob.shape
        blob.fits(blob.shape)
        blob.data.sum()


def encoded(texts: list[str]) -> list[bytes]:
    return [t.encode() for t in texts]


# kind -> how often, good files, mutations, reader
KINDS = {
    "net": (30, encoded(NETS), TEXT, use_net),
    "text": (5, encoded(NETS), TEXT, use_text),
    "solver": (15, encoded(SOLVERS), TEXT, use_solver),
    "caffemodel": (20, CAFFEMODELS, BINARY, use_weights),
    "solverstate": (8, STATES, BINARY, use_state),
    "binaryproto": (8, ARRAYS, BINARY, use_array),
    "caffemodel.h5": (8, HDF5_WEIGHTS, HDF5, use_weights),
    "solverstate.h5": (4, HDF5_STATES, HDF5, use_state),
    "anything": (2, [*encoded(NETS), *CAFFEMODELS, *STATES, *ARRAYS, *HDF5_WEIGHTS], ANY, None),
}  # fmt: skip


@functools.cache
def zoo_files(folder: str, suffix: str) -> list[bytes]:
    found = [p for p in Path(folder).rglob(f"*{suffix}") if 0 < p.stat().st_size < 30_000]
    return [p.read_bytes() for p in sorted(found)]


def diamond() -> bytes:
    """HDF5 groups that are reached by two ways each: a million ways to the last of twenty."""
    memory = io.BytesIO()
    with h5py.File(memory, "w") as file:
        group = file.create_group("data")
        for _ in range(20):
            child = group.create_group("a")
            group["b"] = child
            group = child
    return memory.getvalue()


def many_layers() -> bytes:
    rows = (
        b"layer { name: 'a%d' top: 'b%d' } layer { bottom: 'b%d' bottom: 'b%d' }\n" % ((i,) * 4)
        for i in range(4000)
    )
    return b"".join(rows)


# cases that come before the random ones
HOSTILE = [
    ("binaryproto", lambda: (b"\x2d0000" + b"\x350000") * 45_000, use_array),
    ("caffemodel.h5", diamond, use_weights),
    ("net", many_layers, use_net),
    ("net", lambda: b"x: 1 " * 200 + b"name: 'a' " * 100_000, use_net),
    ("net", lambda: b"unknown " + b"{ a " * 100_000 + b"}" * 100_000, use_net),
    ("net", lambda: b"layer { blobs { data: [" + b"0.1," * 50_000 + b"1] } }", use_net),
    ("caffemodel", lambda: head(100, 2**31) + b"\0" * 1000, use_weights),
    ("caffemodel", lambda: layer_of(head(7, 400_002) + head(1, 400_000) + b"\1" * 400_000), use_weights),
]  # fmt: skip


def make_case(seed: int, index: int, zoo: str = "") -> tuple[str, bytes, object]:
    """The kind, the file and the reader of one case."""
    if index < len(HOSTILE):
        kind, make, reader = HOSTILE[index]
        return kind, make(), reader
    r = random.Random(f"{seed}/{index}")
    kind = r.choices(list(KINDS), [often for often, *_ in KINDS.values()])[0]
    _, seeds, mutations, reader = KINDS[kind]
    if zoo:
        suffixes = {"net": ".prototxt", "solver": "solver.prototxt", "caffemodel": ".caffemodel"}
        seeds = seeds + zoo_files(zoo, suffixes.get(kind, "none"))
    data = r.choice(seeds)
    for _ in range(r.choice((1, 1, 2, 3))):
        data = r.choice(mutations)(r, data, seeds)
    return (
        kind,
        data[: 4 << 20],
        reader or r.choice((use_net, use_solver, use_weights, use_state, use_array)),
    )


# -- running ---------------------------------------------------------------------------------------


class TooSlow(BaseException):
    pass


def too_slow(*_: object) -> None:
    raise TooSlow


def judge(reader: object, path: Path) -> tuple[bool, str]:
    """Whether reading the file ended as it should, and how."""
    signal.signal(signal.SIGPROF, too_slow)
    signal.setitimer(signal.ITIMER_PROF, SECONDS, 1)  # again if a callback of C code swallows it
    try:
        reader(path)
    except PcdError as e:
        if not str(e):
            return False, "an error without a message"
        return True, type(e).__name__
    except TooSlow:
        return False, f"more than {SECONDS} seconds"
    except BaseException as e:
        frame = traceback.extract_tb(e.__traceback__)[-1]
        return False, f"{type(e).__name__} in {Path(frame.filename).name}:{frame.lineno}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return True, "read"


def work(options: argparse.Namespace) -> None:
    """Cases from ``start`` on, a line each to stdout."""
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "case"
        for index in range(options.start, options.count):
            kind, data, reader = make_case(options.seed, index, options.zoo)
            path.write_bytes(data)
            # C code that hangs takes no signal: then this thread ends the process
            faulthandler.dump_traceback_later(12 * SECONDS, exit=True, file=sys.stderr)
            good, how = judge(reader, path)
            faulthandler.cancel_dump_traceback_later()
            print(index, kind, int(good), how, sep="\t", flush=True)


def run(options: argparse.Namespace) -> int:
    """All cases in child processes, and a summary; the number of failures."""
    began = time.monotonic()
    outcomes: collections.Counter[tuple[str, str]] = collections.Counter()
    failures: dict[tuple[str, str], list[int]] = {}
    index = 0

    def failed(kind: str, how: str) -> None:
        failures.setdefault((kind, how), []).append(index)

    while index < options.count:
        command = [sys.executable, __file__, "--work", "--start", str(index)]
        command += [
            "--count",
            str(options.count),
            "--seed",
            str(options.seed),
            "--zoo",
            options.zoo,
        ]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as child:
            lines, errors = child.communicate()
        for line in lines.splitlines():
            number, kind, good, how = line.split("\t")
            index = int(number)
            outcomes[kind, how if good == "1" else "FAILED"] += 1
            if good == "0":
                failed(kind, how)
            index += 1
        if child.returncode:
            kind = make_case(options.seed, index, options.zoo)[0]
            outcomes[kind, "CRASHED"] += 1
            failed(kind, f"the process ended with {child.returncode}: {errors.strip()[-300:]}")
            index += 1
    for kind in KINDS:
        row = {how: n for (k, how), n in sorted(outcomes.items()) if k == kind}
        print(
            f"{kind:15} {sum(row.values()):6} files:", ", ".join(f"{n} {h}" for h, n in row.items())
        )
    for (kind, how), cases in failures.items():
        print(f"FAILED {len(cases)}x {kind}: {how} (--only {' '.join(map(str, cases[:5]))})")
    bad = sum(map(len, failures.values()))
    print(f"{options.count} files, {bad} failures, {time.monotonic() - began:.1f} s")
    return bad


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--zoo", default="", help="a folder with real files, as further seeds")
    parser.add_argument("--only", type=int, nargs="*", help="run these cases here and show errors")
    parser.add_argument("--keep", help="with --only: write the last file here")
    parser.add_argument("--start", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(options)
        return 0
    if options.only:
        for index in options.only:
            kind, data, reader = make_case(options.seed, index, options.zoo)
            path = Path(options.keep or tempfile.mkstemp()[1])
            path.write_bytes(data)
            print(f"case {index}: {kind}, {len(data)} bytes, {data[:80]!r}")
            try:
                reader(path)
            except Exception:
                traceback.print_exc()
        return 0
    return int(run(options) > 0)


if __name__ == "__main__":
    sys.exit(main())

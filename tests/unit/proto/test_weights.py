# ruff: noqa: E501
import os
import resource
import signal
import struct

import numpy as np
import pytest

from pycaffe_dist.errors import FileError
from pycaffe_dist.proto import hdf5, weights, wire_format
from pycaffe_dist.proto.blobs import BlobArray
from pycaffe_dist.proto.caffe_pb2 import (
    BlobProto,
    BlobProtoVector,
    Datum,
    NetParameter,
    SolverState,
)
from pycaffe_dist.proto.seal import SIZE
from pycaffe_dist.proto.weights import (
    State,
    read_binaryproto,
    read_state,
    read_weights,
    write_binaryproto,
    write_state,
    write_weights,
)

READERS = {
    "weights (.caffemodel)": read_weights,
    "a solver state (.solverstate)": read_state,
    "one array (.binaryproto)": read_binaryproto,
}


@pytest.fixture
def file(tmp_path):
    """Writes a message or bytes to a file and gives its path."""

    def write(content, name="file"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.SerializeToString())
        return path

    return write


def contents(read):
    """Names, types and arrays of weights, as plain Python."""
    return [
        (la.name, la.type, [(b.shape, b.data.ravel().tolist()) for b in la.blobs])
        for la in read.layers
    ]


def message_of(error):
    return str(error.value)


# -- reading every age -----------------------------------------------------------------------------

OLD = {"num": 1, "channels": 1, "height": 2, "width": 3, "data": range(6)}
NEW = {"shape": {"dim": [2, 3]}, "data": range(6)}
EXPECTED_OLD = ((1, 1, 2, 3), [0, 1, 2, 3, 4, 5])
EXPECTED_NEW = ((2, 3), [0, 1, 2, 3, 4, 5])


def test_todays_file(file):
    net = NetParameter(
        name="net",
        layer=[
            {"name": "data", "type": "Data", "top": ["data"], "data_param": {"source": "x"}},
            {"name": "ip", "type": "InnerProduct", "blobs": [NEW, {"data": [7], "shape": {"dim": [1]}}]},
        ],
    )  # fmt: skip
    read = read_weights(file(net))
    assert read.name == "net"
    assert contents(read) == [
        ("data", "Data", []),
        ("ip", "InnerProduct", [EXPECTED_NEW, ((1,), [7])]),
    ]
    assert not read.layers[1].blobs[0].legacy


def test_v1_file(file):
    net = NetParameter(
        layers=[
            {"name": "conv", "type": "CONVOLUTION", "blobs": [OLD]},
            {"name": "loss", "type": "SOFTMAX_LOSS"},
            {"name": "none"},
        ]
    )
    read = read_weights(file(net))
    assert contents(read) == [
        ("conv", "Convolution", [EXPECTED_OLD]),
        ("loss", "SoftmaxWithLoss", []),
        ("none", "", []),
    ]
    assert read.layers[0].blobs[0].legacy


def test_v0_file(file):
    net = NetParameter(
        layers=[
            {"bottom": ["a"], "layer": {"name": "c", "type": "conv", "kernelsize": 3, "blobs": [OLD, OLD]}},
            {"layer": {"name": "r", "type": "relu"}},
        ]
    )  # fmt: skip
    read = read_weights(file(net))
    assert [(la.name, len(la.blobs)) for la in read.layers] == [("c", 2), ("r", 0)]
    assert read.layers[0].blobs[0].shape == (1, 1, 2, 3)


def test_v0_types_are_given_todays_names(file):
    net = NetParameter(layers=[{"layer": {"name": "c", "type": "conv"}}])
    assert read_weights(file(net)).layers[0].type == "Convolution"


def test_unpacked_floats(file):
    """What protobuf 2.0 to 2.2 wrote: a tag in front of every value."""
    blob = b"".join(b"\x2d" + struct.pack("<f", v) for v in range(6)) + b"\x3a\x04\x0a\x02\x02\x03"
    layer = wire_format.head(1, 2) + b"ip" + wire_format.head(7, len(blob)) + blob
    read = read_weights(file(wire_format.head(100, len(layer)) + layer))
    assert contents(read) == [("ip", "", [EXPECTED_NEW])]


def test_nvcaffe_half_floats(file):
    raw = np.float16(range(6)).tobytes()
    blob = b"\x3a\x04\x0a\x02\x02\x03" + b"\x50\x02" + wire_format.head(12, len(raw)) + raw
    layer = wire_format.head(1, 2) + b"ip" + wire_format.head(7, len(blob)) + blob
    read = read_weights(file(wire_format.head(100, len(layer)) + layer))
    assert contents(read) == [("ip", "", [EXPECTED_NEW])]
    assert read.layers[0].blobs[0].data.dtype == np.float32


def test_pmls_blobs(file):
    """PMLS-Caffe: V1 layers whose blobs have blob_mode on 7 and global_id on 8, as numbers."""
    blob = BlobProto(**OLD).SerializeToString() + b"\x38\x00\x40\x0c"
    layer = wire_format.head(4, 2) + b"ip" + b"\x28\x0e" + wire_format.head(6, len(blob)) + blob
    read = read_weights(file(wire_format.head(2, len(layer)) + layer))
    assert contents(read) == [("ip", "InnerProduct", [EXPECTED_OLD])]


@pytest.mark.parametrize(
    "extra",
    [
        b"\xaa\x08\x02ab",  # a message on 133 whose bytes are not what ours are
        b"\xf8\x08\x01",  # 143 as a number
        b"\x9d\x091234",  # 147 as 4 bytes
        b"\xa1\x0912345678",  # 148 as 8 bytes
        b"\xba\xcc\xc7\x1f\x00",  # roi_pooling_param, 8266711
        b"\x18\x05\x20\x06",  # bottom and top as numbers
        b"\x10\x63",  # a type that is a number, and none of V1's
        b"\x08\x05",  # the name as a number
        b"\x38\x05",  # blobs as a number
    ],
)
def test_what_forks_put_into_a_layer_does_not_matter(file, extra):
    layer = NetParameter(layer=[{"name": "ip", "blobs": [NEW]}]).layer[0].SerializeToString()
    for body in (extra + layer, layer + extra):
        read = read_weights(file(wire_format.head(100, len(body)) + body))
        assert contents(read) == [("ip", "", [EXPECTED_NEW])]


def test_what_forks_put_into_a_net_does_not_matter(file):
    net = NetParameter(name="n", layer=[{"name": "ip", "blobs": [NEW]}]).SerializeToString()
    for extra in (b"\x58\x01", b"\x62\x01x", b"\xa8\x06\x05", b"\xb5\x061234"):
        assert contents(read_weights(file(extra + net))) == [("ip", "", [EXPECTED_NEW])]


def test_the_last_name_counts_and_need_not_be_utf_8(file):
    net = b"\x0a\x01a" + b"\x0a\x02\xff\x08" + b"\xa2\x06\x00"
    read = read_weights(file(net))
    assert read.name == "\ufffd\x08"
    assert contents(read) == [("", "", [])]


def test_layer_and_layers_in_one_file(file):
    path = file(NetParameter(layer=[{"name": "a\1"}], layers=[{"name": "b"}]))
    with pytest.raises(FileError) as e:
        read_weights(path)
    assert message_of(e).startswith(
        f"{path}: mixes `layer` and `layers`: it is two files in one, which Caffe refuses too"
    )


@pytest.mark.parametrize("wrong", [{"iter": -1}, {"current_step": -7}])
@pytest.mark.parametrize("hdf5_file", [False, True])
def test_a_state_from_before_the_first_iteration_is_refused(tmp_path, wrong, hdf5_file):
    state, path = State(**wrong), tmp_path / "s.solverstate"
    if hdf5_file:
        hdf5.write_state(path, state.iter, "", [], state.current_step)
    else:
        write_state(path, state)
    with pytest.raises(FileError, match=f"damaged.*{next(iter(wrong.values()))}"):
        read_state(path)


def test_state(file):
    state = SolverState(
        iter=1000, learned_net="a.caffemodel", current_step=2, history=[NEW, OLD, {"data": [1]}]
    )
    read = read_state(file(state))
    assert (read.iter, read.learned_net, read.current_step) == (1000, "a.caffemodel", 2)
    assert [h.shape for h in read.history] == [(2, 3), (1, 1, 2, 3), ()]


def test_fields_of_a_state_are_told_by_their_numbers(tmp_path):
    path = tmp_path / "a.solverstate"
    # iter: 5, an empty history, current_step: 2, minimum_loss: 0.5, iter_last_event: 7
    path.write_bytes(b"\x08\x05\x1a\0\x20\x02\x2d\0\0\0\x3f\x30\x07")
    state = read_state(path)
    assert (state.iter, state.current_step) == (5, 2)
    assert (state.minimum_loss, state.iter_last_event) == (0.5, 7)


def test_mean_image(file):
    blob = read_binaryproto(file(BlobProto(num=1, channels=3, height=2, width=2, data=range(12))))
    assert blob.shape == (1, 3, 2, 2)
    assert blob.data.ravel().tolist() == list(range(12))


def test_blobs_of_a_file_are_views_of_one_buffer(file, monkeypatch):
    buffers = []
    load = weights.load

    def kept(*args):
        data, checksum = load(*args)
        buffers.append(data)
        return data, checksum

    monkeypatch.setattr(weights, "load", kept)
    net = NetParameter(
        layer=[{"name": n, "blobs": [NEW, {**NEW, "diff": range(6)}]} for n in "abc"]
    )
    blobs = [b for la in read_weights(file(net)).layers for b in la.blobs]
    state = read_state(file(SolverState(iter=300, history=[NEW])))
    mean = read_binaryproto(file(BlobProto(**OLD)))
    assert len(buffers) == 3
    assert len(blobs) == 6
    assert all(np.shares_memory(b.data, buffers[0]) for b in blobs)
    assert all(np.shares_memory(b.diff, buffers[0]) for b in blobs[1::2])
    assert np.shares_memory(state.history[0].data, buffers[1])
    assert np.shares_memory(mean.data, buffers[2])
    assert not any(b.data.flags.writeable for b in blobs)


# -- wrong files -----------------------------------------------------------------------------------

MODEL = NetParameter(name="net", layer=[{"name": "ip", "type": "InnerProduct", "blobs": [NEW]}])
STATE = SolverState(iter=300, learned_net="net.caffemodel", history=[NEW])
ARRAY = BlobProto(**OLD)
TEXT = b'name: "LeNet"\nlayer {\n  name: "data"\n  type: "Input"\n  top: "data"\n}\n'
IS_TEXT = "is a text file (a .prototxt, perhaps)"

WRONG = [
    (b"", "is empty"),
    (b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 1\n", "is a Git LFS pointer, not the file itself (run: git lfs pull)"),
    (b"<!DOCTYPE html>\n<html><body>Not found</body></html>", "is an HTML page (a failed download, perhaps)"),
    (b"PK\x03\x04\x14\0\0\0", "is a zip archive (unpack it first)"),
    (b"\x1f\x8b\x08\0", "is a gzip archive (unpack it first)"),
    (b"\x89PNG\r\n\x1a\n", "is a PNG image"),
    (TEXT, IS_TEXT),
    (b"\n" + TEXT, IS_TEXT),
    (b"\r\n\r\n" + TEXT, IS_TEXT),
    (b"  " + TEXT, IS_TEXT),
    (b"\t" + TEXT * 3, IS_TEXT),
    (b"input: 'data'\n" + TEXT, IS_TEXT),
    (b"# a comment\n" + TEXT, IS_TEXT),
    (b"\n# A net in a long comment that goes on and on\n" * 30 + TEXT, IS_TEXT),
    (Datum(channels=1, height=2, width=2, data=b"1234", label=1), "looks like one data record (Datum)"),
]  # fmt: skip
ALSO_WRONG = {
    "weights (.caffemodel)": [
        (STATE, "looks like a solver state (.solverstate)"),
        (ARRAY, "looks like one array (.binaryproto)"),
        (BlobProto(**NEW), "looks like one array (.binaryproto)"),
    ],
    "a solver state (.solverstate)": [
        (MODEL, "looks like weights (.caffemodel)"),
        (ARRAY, "looks like one array (.binaryproto)"),
    ],
    "one array (.binaryproto)": [
        (MODEL, "looks like weights (.caffemodel)"),
        (STATE, "looks like a solver state (.solverstate)"),
    ],
}


@pytest.mark.parametrize(
    ("wanted", "content", "said"),
    [(w, content, said) for w in READERS for content, said in (*WRONG, *ALSO_WRONG[w])],
)
def test_files_of_another_kind(file, wanted, content, said):
    path = file(content)
    with pytest.raises(FileError) as e:
        READERS[wanted](path)
    assert message_of(e) == f"{path}: {said}; {wanted} was expected here"


def test_hdf5_where_there_is_no_hdf5_form(file):
    path = file(b"\x89HDF\r\n\x1a\n" + b"\0" * 100)
    with pytest.raises(FileError) as e:
        read_binaryproto(path)
    assert message_of(e) == f"{path}: is an HDF5 file; one array (.binaryproto) was expected here"


@pytest.mark.parametrize("wanted", READERS)
def test_files_that_cannot_be_read(tmp_path, wanted):
    for name, why in [("missing", "No such file or directory"), (".", "Is a directory")]:
        with pytest.raises(FileError) as e:
            READERS[wanted](tmp_path / name)
        assert message_of(e) == f"{tmp_path / name}: cannot be read: {why}"
    with pytest.raises(FileError):
        READERS[wanted]("a\0b")


def test_list_of_arrays_is_not_a_net_without_layers(file):
    path = file(BlobProtoVector(blobs=[NEW, OLD]))
    with pytest.raises(FileError) as e:
        read_weights(path)
    assert message_of(e) == (
        f"{path}: looks like a list of arrays; weights (.caffemodel) was expected here"
    )


@pytest.mark.parametrize(
    ("wanted", "message", "borders"),
    [
        ("weights (.caffemodel)", NetParameter(name="net", layer=[{"name": "a", "type": "ReLU"}, MODEL.layer[0]]), 3),
        ("weights (.caffemodel)", NetParameter(layers=[{"name": "conv", "type": "CONVOLUTION", "blobs": [OLD]}]), 1),
        ("a solver state (.solverstate)", STATE, 3),
        ("one array (.binaryproto)", ARRAY, 3),
        ("one array (.binaryproto)", BlobProto(**NEW), 1),
    ],
)  # fmt: skip
def test_files_cut_short_anywhere(file, wanted, message, borders):
    """Between two top-level fields a cut cannot be seen; anywhere else it is."""
    whole = message.SerializeToString()
    view = memoryview(whole)
    ends = {f.end for f in wire_format.fields(view, 0, len(whole))} - {len(whole)}
    unseen = 0
    for size in range(1, len(whole)):
        path = file(whole[:size])
        try:
            READERS[wanted](path)
        except FileError as e:
            text = str(e)
            assert text.startswith(f"{path}: ")
            assert f"{wanted} was expected here" in text
            if size > 2 and size not in ends:
                assert "ends in the middle" in text
        else:
            unseen += 1
            assert size in ends
    assert unseen <= borders


def test_message_for_a_file_cut_short(file):
    path = file(MODEL.SerializeToString()[:-3])
    size = path.stat().st_size
    with pytest.raises(FileError) as e:
        read_weights(path)
    inside = MODEL.layer[0].ByteSize()
    assert message_of(e) == (
        f"{path}: after 0 whole layers ends in the middle of a value of {inside} bytes "
        f"({inside - 3} are there) (at byte {size} of {size}); weights (.caffemodel) was expected "
        "here. The file is cut short or damaged: fetch it again."
    )


@pytest.mark.parametrize(
    ("wanted", "content", "said"),
    [
        (
            "weights (.caffemodel)",
            NetParameter(name="n\1", layer=[{"name": "a"}, {"name": "b", "blobs": [NEW, {"data": [1], "shape": {"dim": [5]}}]}]),
            'after 1 whole layers layer "b", blob 1 has 1 values for a shape of 5 (5 values)',
        ),
        (
            "a solver state (.solverstate)",
            SolverState(iter=1, history=[NEW, {"data": [1, 2], "shape": {"dim": [3]}}]),
            "history blob 1 has 2 values for a shape of 3 (3 values)",
        ),
        (
            "one array (.binaryproto)",
            BlobProto(num=1, channels=1, height=1, width=1),
            "has 0 values for a shape of 1 x 1 x 1 x 1 (1 values)",
        ),
    ],
)  # fmt: skip
def test_damage_is_placed(file, wanted, content, said):
    path = file(content)
    with pytest.raises(FileError) as e:
        READERS[wanted](path)
    assert message_of(e).startswith(f"{path}: {said} (at byte ")
    assert message_of(e).endswith(f" of {path.stat().st_size}); {wanted} was expected here.")


def test_files_beyond_two_gib_are_refused_unread(file, monkeypatch):
    path = file(MODEL)
    size = path.stat().st_size
    monkeypatch.setattr(wire_format, "MOST_BYTES", size)
    read_weights(path)
    monkeypatch.setattr(wire_format, "MOST_BYTES", size - 1)
    for read in (read_weights, read_state, read_binaryproto):
        with pytest.raises(FileError) as e:
            read(path)
        assert message_of(e) == (
            f"{path}: {size:,} bytes; Caffe's binary format ends at 2 GiB. "
            "Larger weights are kept as .caffemodel.h5."
        )


def test_the_limit_is_protobufs():
    assert wire_format.MOST_BYTES == 2**31 - 1


# -- writing ---------------------------------------------------------------------------------------

RANDOM = np.random.default_rng(1)
ARRAYS = {
    "matrix": RANDOM.standard_normal((3, 4)).astype("f4"),
    "5-D": RANDOM.standard_normal((2, 1, 3, 2, 2)).astype("f4"),
    "scalar": np.float32(2.5).reshape(()),
    "empty": np.zeros((0, 3), "f4"),
    "double": RANDOM.standard_normal((2, 2)),
    "not finite": np.float32([np.nan, np.inf, -np.inf, -0.0, 1e-45]),
}


def net_of(count):
    """A net whose layers have fields on both sides of ``blobs``."""
    net = NetParameter(name="net", force_backward=True, state={"phase": "TRAIN", "stage": ["a"]})
    for i in range(count):
        net.layer.add(
            name=f"layer{i}", type="Convolution", bottom=["a"], top=[f"t{i}"], phase="TRAIN",
            param=[{"lr_mult": 2}], loss_weight=[1], include=[{"min_level": 1}],
            convolution_param={"num_output": 3}, propagate_down=[True],
        )  # fmt: skip
    return net


def with_blobs(net, blobs, diffs=None):
    """The message that ``write_weights`` should write."""
    full = NetParameter()
    full.CopyFrom(net)
    for i, layer in enumerate(full.layer):
        for j, data in enumerate(blobs[i]):
            double = data.dtype == np.float64
            blob = layer.blobs.add()
            blob.ParseFromString(
                BlobProto(**{"double_data" if double else "data": data.ravel()}).SerializeToString()
            )
            if diffs:
                (blob.double_diff if double else blob.diff).extend(diffs[i][j].ravel())
            if data.shape:
                blob.shape.dim.extend(data.shape)
    return full


@pytest.mark.parametrize("with_diffs", [False, True])
@pytest.mark.parametrize("name", ARRAYS)
def test_weights_round_trip_and_bytes(tmp_path, name, with_diffs):
    array = ARRAYS[name]
    net, blobs = net_of(3), [[array, array[..., None]], [], [array]]
    diffs = [[np.asarray(b * 3, b.dtype) for b in la] for la in blobs] if with_diffs else None
    path = tmp_path / "w.caffemodel"
    write_weights(path, net, blobs, diffs)
    assert path.read_bytes()[SIZE:] == with_blobs(net, blobs, diffs).SerializeToString()
    read = read_weights(path)
    assert read.name == "net"
    assert [(la.name, la.type) for la in read.layers] == [
        (f"layer{i}", "Convolution") for i in range(3)
    ]
    for i, layer in enumerate(read.layers):
        assert len(layer.blobs) == len(blobs[i])
        for j, blob in enumerate(layer.blobs):
            assert not blob.legacy
            assert blob.data.dtype == blobs[i][j].dtype
            np.testing.assert_array_equal(blob.data, blobs[i][j], strict=True)
            if with_diffs and blob.data.size:
                np.testing.assert_array_equal(blob.diff, diffs[i][j], strict=True)
            else:
                assert blob.diff is None


def test_writing_leaves_the_net_alone(tmp_path):
    net = net_of(2)
    before = net.SerializeToString()
    write_weights(tmp_path / "w", net, [[ARRAYS["matrix"]], []])
    assert net.SerializeToString() == before


def test_protobuf_reads_what_is_written_of_any_net(tmp_path):
    net = NetParameter(name="only a name")
    write_weights(tmp_path / "w", net, [])
    read = NetParameter.FromString((tmp_path / "w").read_bytes())
    read.DiscardUnknownFields()
    assert read == net
    bare = NetParameter(layer=[{}, {"clip_param": {"min": 0, "max": 1}}, {"phase": "TEST"}])
    arrays = [[ARRAYS["scalar"]], [ARRAYS["matrix"]], []]
    write_weights(tmp_path / "w", bare, arrays)
    assert (tmp_path / "w").read_bytes()[SIZE:] == with_blobs(bare, arrays).SerializeToString()


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("step", [0, 3])
def test_state_round_trip_and_bytes(tmp_path, name, step):
    array = ARRAYS[name]
    path = tmp_path / "s.solverstate"
    write_state(path, State(12345, "net_é.caffemodel", [BlobArray(array), BlobArray(array)], step))
    history = with_blobs(NetParameter(layer=[{}]), [[array, array]]).layer[0].blobs
    message = SolverState(iter=12345, learned_net="net_é.caffemodel", current_step=step)
    message.history.extend(history)
    assert path.read_bytes()[SIZE:] == message.SerializeToString()
    read = read_state(path)
    assert (read.iter, read.learned_net, read.current_step) == (12345, "net_é.caffemodel", step)
    for blob in read.history:
        np.testing.assert_array_equal(blob.data, array, strict=True)
    assert len(read.history) == 2


@pytest.mark.parametrize(
    ("array", "dims"),
    [
        (np.arange(12, dtype="f4").reshape(1, 3, 2, 2), (1, 3, 2, 2)),
        (np.arange(12, dtype="f4").reshape(3, 2, 2), (1, 3, 2, 2)),
        (np.arange(3, dtype="f8"), (1, 1, 1, 3)),
        (np.float32(5), (1, 1, 1, 1)),
        (np.arange(6, dtype="u1").reshape(2, 3), (1, 1, 2, 3)),
        (np.arange(6, dtype="f4").reshape(2, 3).T, (1, 1, 3, 2)),
        (np.zeros((2, 0), "f4"), (1, 1, 2, 0)),
    ],
)
def test_binaryproto_takes_the_old_dimensions(tmp_path, array, dims):
    path = tmp_path / "mean.binaryproto"
    write_binaryproto(path, array)
    num, channels, height, width = dims
    assert path.read_bytes() == BlobProto(
        num=num, channels=channels, height=height, width=width, data=array.ravel().tolist()
    ).SerializeToString()  # fmt: skip
    read = read_binaryproto(path)
    assert read.legacy
    assert read.fits(array.shape)
    np.testing.assert_array_equal(read.data, np.asarray(array, "f4").reshape(dims), strict=True)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_binaryproto_of_five_axes_has_a_shape(tmp_path, dtype):
    array = np.arange(12).astype(dtype).reshape(1, 1, 3, 2, 2)
    write_binaryproto(tmp_path / "b", array)
    read = read_binaryproto(tmp_path / "b")
    assert not read.legacy
    np.testing.assert_array_equal(read.data, array, strict=True)


def write_each(folder):
    """Each kind of file, with more bytes than a small disk has."""
    big = np.ones((100, 1000), "f4")
    yield folder / "w", lambda: write_weights(folder / "w", net_of(1), [[big]])
    yield folder / "s", lambda: write_state(folder / "s", State(1, "w", [BlobArray(big)]))
    yield folder / "b", lambda: write_binaryproto(folder / "b", big)


@pytest.fixture
def small_disk():
    """No file may grow beyond 100,000 bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    signal.signal(signal.SIGXFSZ, handler)


@pytest.fixture
def disk_error(monkeypatch):
    def fsync(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fsync)


@pytest.mark.parametrize(
    ("trouble", "why"),
    [("small_disk", "File too large"), ("disk_error", "No space left on device")],
)
def test_a_failed_write_leaves_the_old_file_and_nothing_else(request, tmp_path, trouble, why):
    for path, _ in write_each(tmp_path):
        path.write_bytes(b"old")
    request.getfixturevalue(trouble)
    for path, write in write_each(tmp_path):
        with pytest.raises(FileError) as e:
            write()
        assert message_of(e) == f"{path}: cannot be written: {why}"
        assert path.read_bytes() == b"old"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["b", "s", "w"]


def test_nothing_is_written_beyond_two_gib(tmp_path, monkeypatch):
    array = np.zeros(1000, "f4")
    write_binaryproto(tmp_path / "b", array)
    size = (tmp_path / "b").stat().st_size
    monkeypatch.setattr(wire_format, "MOST_BYTES", size)
    write_binaryproto(tmp_path / "b", array)
    monkeypatch.setattr(wire_format, "MOST_BYTES", size - 1)
    with pytest.raises(FileError) as e:
        write_binaryproto(tmp_path / "b", array)
    assert message_of(e) == (
        f"{tmp_path / 'b'}: {size:,} bytes would be written; Caffe's binary format ends at 2 GiB. "
        "Write HDF5 instead (snapshot_format: HDF5)."
    )
    assert [p.name for p in tmp_path.iterdir()] == ["b"]


# -- budgets ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("read", "part", "what"),
    [
        (read_weights, b"\xa2\x06\x00", "layers and blobs"),
        (read_weights, b"\xa2\x06\x02\x3a\x00", "layers and blobs"),
        (read_state, b"\x1a\x00", "blobs"),
    ],
)
def test_millions_of_empty_parts(file, monkeypatch, read, part, what):
    monkeypatch.setattr(weights, "MOST_PARTS", 100)
    read(file(part * 50))
    with pytest.raises(FileError, match=f"holds more than 100 {what}, which no net has"):
        read(file(part * 101))


def test_a_layer_of_millions_of_empty_blobs(file, monkeypatch):
    monkeypatch.setattr(weights, "MOST_PARTS", 100)
    blobs = b"\x3a\x00" * 101
    with pytest.raises(FileError, match="holds more than 100 blobs"):
        read_weights(file(wire_format.head(100, len(blobs)) + blobs))


@pytest.mark.parametrize("read", [read_weights, read_state, read_binaryproto])
def test_a_device_is_no_weights_file(read):
    with pytest.raises(FileError, match="/dev/zero: cannot be read: it is a device"):
        read("/dev/zero")

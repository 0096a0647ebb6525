"""Data layers with threads: the same batches, exact positions, bad records, ranks."""

import gc
import io
import os
import threading
from contextlib import ExitStack

import h5py
import numpy as np
import pytest
from PIL import Image

from pycaffe_dist.data.lmdb_writer import image_record, write_lmdb
from pycaffe_dist.errors import NetError
from pycaffe_dist.layer import Context, DataSettings
from pycaffe_dist.net import Net
from pycaffe_dist.proto.caffe_pb2 import TRAIN, Datum, NetParameter, SolverParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.proto.weights import write_binaryproto
from pycaffe_dist.rng import set_random_seed
from pycaffe_dist.solver import Solver
from pycaffe_dist.solvers import snapshots

COUNT = 23
FORKS = pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork")


@pytest.fixture
def files(tmp_path, monkeypatch):
    """The same images in an LMDB, in files that a list names, in a window file and in an HDF5."""
    monkeypatch.chdir(tmp_path)
    images = np.random.default_rng(3).integers(0, 256, (COUNT, 3, 12, 14), dtype=np.uint8)
    write_lmdb("db", [image_record(f"{i:08}", image, i) for i, image in enumerate(images)])
    for i, image in enumerate(images):
        Image.fromarray(image.transpose(1, 2, 0)).save(f"{i}.png")
    (tmp_path / "list.txt").write_text("".join(f"{i}.png {i}\n" for i in range(COUNT)))
    (tmp_path / "windows.txt").write_text(
        "".join(
            f"# {i}\n{i}.png\n3\n12\n14\n2\n{i + 1} 0.9 0 0 9 9\n0 0.1 2 2 {i % 8 + 4} 8\n"
            for i in range(COUNT)
        )
    )
    with h5py.File("rows.h5", "w") as file:
        file["data"] = images.astype(np.float32)[:, :, :8, :8] / 256
        file["label"] = np.arange(COUNT)
    (tmp_path / "h5.txt").write_text("rows.h5\nrows.h5\n")
    write_binaryproto("mean", np.full((1, 3, 12, 14), 100.5, np.float32))
    return tmp_path


TRANSFORM = 'transform_param { crop_size: 8 mirror: true scale: 0.01 mean_file: "mean" }'
LAYERS = {
    "Data": f'{TRANSFORM} data_param {{ source: "db" backend: LMDB batch_size: 5 }}',
    "ImageData": TRANSFORM + ' image_data_param { source: "list.txt" batch_size: 5 shuffle: true }',
    "WindowData": f'{TRANSFORM} window_data_param {{ source: "windows.txt" batch_size: 5 }}',
    "HDF5Data": 'hdf5_data_param { source: "h5.txt" batch_size: 5 shuffle: true }',
}


def layer(kind, settings=None):
    return (
        f"layer {{ name: 'd' type: '{kind}' top: 'data' top: 'label' {settings or LAYERS[kind]} }}"
    )


def build(kind, settings=None, rank=0, ranks=1, **data):
    param = parse_text(layer(kind, settings), NetParameter()).message
    param.state.phase = TRAIN
    return Net(param, Context(rank=rank, ranks=ranks, data=DataSettings(**data)))


def batches(net, count):
    found = []
    for _ in range(count):
        net.forward()
        found.append(np.concatenate([blob.data.ravel() for blob in net.blobs]))
    return found


def labels(net, count):
    found = []
    for _ in range(count):
        net.forward()
        found += net.blobs[1].data.astype(int).tolist()
    return found


@pytest.mark.parametrize("kind", ["Data", "ImageData", "WindowData"])
def test_batches_are_the_same_with_any_number_of_threads(files, kind):
    found = []
    for threads in (0, 1, 4):
        set_random_seed(5)
        found.append(batches(build(kind, threads=threads), 12))
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


@pytest.mark.parametrize("kind", LAYERS)
def test_training_goes_on_exactly_in_mid_epoch(files, kind):
    """2N iterations are N, a snapshot, and N more in a new solver: bit for bit."""
    (files / "net.prototxt").write_text(
        layer(kind)
        + """layer { name: "ip" type: "InnerProduct" bottom: "data" top: "ip" inner_product_param {
               num_output: 30 weight_filler { type: "gaussian" std: 0.1 } } }
             layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label" top: "l" }"""
    )

    def make(seed=1):
        text = f"""net: "net.prototxt" base_lr: 0.01 lr_policy: "fixed" max_iter: 30
                   random_seed: {seed} snapshot_prefix: "run" """
        return Solver(parse_text(text, SolverParameter()).message)

    def weights(solver):
        return np.concatenate([p.blob.data.ravel() for p in solver.net.params.learnable])

    whole = make()
    whole.step(14)
    half = make()
    half.step(7)
    half.snapshot()
    resumed = make(seed=99)
    resumed.step(3)  # whatever it did before
    (snapshot,) = snapshots.find("run")
    resumed.restore(snapshot.state)
    resumed.step(7)
    np.testing.assert_array_equal(weights(resumed), weights(whole))


def test_the_state_is_of_what_was_used_not_of_what_was_made_ahead(files):
    net = build("Data")
    net.forward()
    net.layers[0].prefetcher._full.get()  # wait until another one is there
    state = net.layers[0].get_state()
    assert state["records"] == 5
    again = build("Data")
    again.layers[0].set_state(state)
    assert labels(again, 1) == [5, 6, 7, 8, 9]


def test_memory_data_goes_on_before_or_after_its_arrays_are_given():
    settings = "memory_data_param { batch_size: 2 channels: 1 height: 1 width: 1 }"
    arrays = np.zeros((6, 1, 1, 1), np.float32), np.arange(6, dtype=np.float32)

    def make():
        return build("MemoryData", settings)

    def next_labels(net):
        net.forward()
        return net.blobs[1].data.ravel().tolist()

    net = make()
    net.layers[0].set_arrays(*arrays)
    net.forward()
    state = net.layers[0].get_state()
    before, after = make(), make()
    before.layers[0].set_state(state)
    before.layers[0].set_arrays(*arrays)
    after.layers[0].set_arrays(*arrays)
    after.layers[0].set_state(state)
    assert next_labels(before) == next_labels(after) == [2, 3]
    before.layers[0].set_arrays(*arrays)
    assert next_labels(before) == [0, 1]


# -- ranks -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("shuffle", [False, True])
def test_four_ranks_see_each_record_once_and_go_on_exactly(files, shuffle):
    settings = 'data_param { source: "db" backend: LMDB batch_size: 1 }'
    seeds = (11, 12) if shuffle else (None, None)
    nets = [build("Data", settings, r, 4, shuffle_seed=seeds[0]) for r in range(4)]
    parts = [labels(net, 3) for net in nets]
    states = [net.layers[0].get_state() for net in nets]
    assert {s["records"] for s in states} == {12}
    for r in range(4):
        resumed = build("Data", settings, r, 4, shuffle_seed=seeds[1])  # the snapshot's counts
        resumed.layers[0].set_state(states[0])
        parts[r] += labels(resumed, 20)
    dealt = [label for step in zip(*parts, strict=True) for label in step]
    for begin in range(0, 3 * COUNT, COUNT):
        assert sorted(dealt[begin : begin + COUNT]) == list(range(COUNT))
    assert (dealt[:COUNT] != list(range(COUNT))) == shuffle


def test_another_ranks_state_keeps_the_own_random_numbers(files):
    set_random_seed(1)
    zero = build("Data", rank=0, ranks=2)
    zero.forward()
    set_random_seed(2)
    one = build("Data", rank=1, ranks=2)
    own = one.layers[0].get_state()["transformer"]
    one.layers[0].set_state(zero.layers[0].get_state())
    state = one.layers[0].get_state()
    assert state["records"] == 10 and state["rank"] == 1
    np.testing.assert_array_equal(state["transformer"], own)


def test_a_shard_for_each_rank(files):
    for k in range(2):
        rows = [image_record(f"{i}", np.zeros((1, 2, 2), np.uint8), 10 * k + i) for i in range(3)]
        write_lmdb(f"part_{k}", rows)
    settings = """data_param {{ source: "{}" backend: LMDB batch_size: 4
                                shared_file_system: {} }}"""
    for k in range(2):
        net = build("Data", settings.format("part", "false"), rank=k, ranks=2)
        assert labels(net, 1) == [10 * k + i for i in (0, 1, 2, 0)]
        net = build("Data", settings.format("db", "true"), rank=k, ranks=2)
        assert labels(net, 1) == [k, k + 2, k + 4, k + 6]
        net = build("Data", settings.format("db", "false"), rank=k, ranks=2)  # there is no db_k
        assert labels(net, 1) == [k, k + 2, k + 4, k + 6]
    with pytest.raises(NetError, match="part: there is no such database"):
        build("Data", settings.format("part", "true"), rank=0, ranks=2)


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("asked", ["", "shared_file_system: true", "shuffle: true"])
def test_image_lists_are_dealt_or_in_shards(files, shuffle, asked):
    for k in range(2):
        (files / f"list.txt_{k}").write_text(f"{k}.png {k}\n")
    settings = 'image_data_param {{ source: "list.txt" {} }}'
    seed = 0 if shuffle else None
    dealt = []
    for k in range(2):
        net = build("ImageData", settings.format(asked), k, 2, shuffle_seed=seed)
        dealt.append(labels(net, 11))
        state = net.layers[0].get_state()
        dealt[-1] += labels(net, 12)
        again = build("ImageData", settings.format(asked), k, 2, shuffle_seed=seed)
        again.layers[0].set_state(state)
        assert labels(again, 12) == dealt[-1][11:]
        alone = settings.format("shared_file_system: false")
        net = build("ImageData", alone, k, 2, shuffle_seed=seed)
        assert labels(net, 3) == [k] * 3
    together = [label for step in zip(*dealt, strict=True) for label in step]
    assert sorted(together[:COUNT]) == sorted(together[COUNT:]) == list(range(COUNT))
    assert (together[:COUNT] != list(range(COUNT))) == (shuffle or "shuffle" in asked)


def test_an_image_list_goes_on_with_another_number_of_ranks(files):
    settings = 'image_data_param { source: "list.txt" }'
    two = [build("ImageData", settings, rank=k, ranks=2) for k in range(2)]
    for net in two:
        labels(net, 3)
    one = build("ImageData", settings)
    one.layers[0].set_state(two[0].layers[0].get_state())
    assert labels(one, 4) == [6, 7, 8, 9]
    for k, net in enumerate(two):
        net.layers[0].set_state(one.layers[0].get_state())
        assert labels(net, 2) == [10 + k, 12 + k]


# -- bad records -----------------------------------------------------------------------------------


@pytest.fixture
def damaged(tmp_path):
    """Encoded images; the first and some others are none."""
    rows = []
    for i in range(12):
        stored = io.BytesIO()
        Image.new("RGB", (4, 4), (i, i, i)).save(stored, "PNG")
        data = b"not an image" if i in (0, 4, 5, 9) else stored.getvalue()
        rows.append((b"%02d" % i, Datum(data=data, encoded=True, label=i).SerializeToString()))
    write_lmdb(tmp_path / "bad", rows)
    return f'data_param {{ source: "{tmp_path}/bad" backend: LMDB batch_size: 4 }}'


@pytest.mark.parametrize("threads", [0, 1, 4])
def test_bad_records_are_skipped_and_counted(damaged, threads, caplog):
    net = build("Data", damaged, threads=threads, bad_records="skip")
    # A bad record's place is taken by the next good one.
    assert labels(net, 2) == [6, 1, 2, 3, 7, 8, 11, 10]
    assert net.layers[0].bad_records == 4
    assert caplog.text.count("Skipping a bad record: ") == 4
    assert "bad: record 04: is not a readable image" in caplog.text
    np.testing.assert_array_equal(net.blobs[0].data[:, 0, 0, 0], net.blobs[1].data)


@pytest.mark.parametrize("threads", [0, 1, 4])
def test_a_bad_record_stops_training_by_name_each_time(tmp_path, threads):
    rows = [image_record(f"{i:02}", np.full((1, 2, 2), i, np.uint8), i) for i in range(9)]
    rows[5] = (b"05", b"\xff")
    rows[7] = (b"07", b"\xff")
    write_lmdb(tmp_path / "bad", rows)
    settings = f'data_param {{ source: "{tmp_path}/bad" backend: LMDB batch_size: 4 }}'
    net = build("Data", settings, threads=threads)
    assert labels(net, 1) == [0, 1, 2, 3]
    for _ in range(2):
        with pytest.raises(NetError, match=r'layer "d" \(Data\): .*bad: record 05: is not a Da'):
            net.forward()
        assert net.layers[0].get_state()["records"] == 4


def test_only_bad_records(tmp_path):
    write_lmdb(tmp_path / "bad", [(b"1", b"\xff"), (b"2", b"\xff")])
    with pytest.raises(NetError, match=r"record .: is not a Datum"):
        settings = f'data_param {{ source: "{tmp_path}/bad" backend: LMDB batch_size: 4 }}'
        build("Data", settings, bad_records="skip")


def test_files_that_are_no_images_are_skipped(files):
    (files / "0.png").write_text("no")
    (files / "2.png").unlink()
    settings = 'image_data_param { source: "list.txt" batch_size: 4 }'
    net = build("ImageData", settings, bad_records="skip")
    assert sorted(labels(net, 1)) == [1, 3, 4, 5]
    assert net.layers[0].bad_records == 2


# -- threads and memory ----------------------------------------------------------------------------


def test_threads_start_with_the_first_batch_and_end_with_the_net(files):
    def reading():
        return [t for t in threading.enumerate() if t.name == "pcd-data"]

    gc.collect()
    before = len(reading())
    net = build("Data")
    assert len(reading()) == before
    net.forward()
    assert len(reading()) == before + 1
    thread = net.layers[0].prefetcher._thread
    assert 0 <= net.layers[0].starvation() <= 1
    del net
    gc.collect()
    thread.join(50)
    assert not thread.is_alive()


@FORKS
@pytest.mark.parametrize("kind", ["Data", "ImageData", "WindowData"])
def test_a_forked_process_goes_on(files, kind, in_child):
    set_random_seed(4)
    net = build(kind)
    set_random_seed(4)
    alone = build(kind)
    expected = batches(alone, 12)
    for i in range(10):
        assert np.array_equal(batches(net, 1), expected[i : i + 1])
        # The thread is in the middle of the batches that come next.
        in_child(lambda i=i: np.array_equal(batches(net, 2), expected[i + 1 : i + 3]))


@FORKS
@pytest.mark.parametrize("kind", ["Data", "ImageData", "WindowData"])
def test_a_process_forked_while_the_thread_draws(files, kind, in_child):
    """The child has the lock of each generator as it was: taken, by a thread that it has not."""
    net = build(kind)
    batches(net, 1)
    layer = net.layers[0]
    state = layer.get_state()
    layer.prefetcher.close()
    generators = [rng for rng in (layer.transformer.rng, getattr(layer, "rng", None)) if rng]
    taken, done = threading.Event(), threading.Event()

    def hold():
        with ExitStack() as locks:
            for rng in generators:
                locks.enter_context(rng._bit_generator.lock)
            taken.set()
            done.wait()

    holder = threading.Thread(target=hold)
    holder.start()
    taken.wait()
    try:
        in_child(lambda: len(batches(net, 2)) == 2)
        in_child(lambda: layer.set_state(state) is None and len(batches(net, 2)) == 2)
    finally:
        done.set()
        holder.join()


@FORKS
def test_a_forked_process_that_went_elsewhere_reads_the_same_database(files, monkeypatch, in_child):
    net = build("Data")
    assert labels(net, 1) == [0, 1, 2, 3, 4]
    monkeypatch.chdir("/")
    in_child(lambda: labels(net, 1) == [5, 6, 7, 8, 9])
    assert labels(net, 1) == [5, 6, 7, 8, 9]


def test_memory_stays_flat(files):
    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    net = build("Data")
    for _ in range(300):
        net.forward()
    before = resident()
    for _ in range(3000):
        net.forward()
    assert resident() - before < 2 << 20

import io
import logging

import numpy as np
import pytest
from PIL import Image

from pycaffe_dist.data.database import write_database
from pycaffe_dist.data.lmdb_writer import image_record, write_lmdb
from pycaffe_dist.errors import NetError
from pycaffe_dist.layer import Context
from pycaffe_dist.net import Net
from pycaffe_dist.proto.caffe_pb2 import TEST, TRAIN, Datum, NetParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.proto.weights import write_binaryproto
from pycaffe_dist.rng import draw, set_random_seed

IMAGES = np.arange(5 * 24).reshape(5, 2, 3, 4).astype(np.uint8)


def records(images=IMAGES):
    return [image_record(f"{i:03}", image, 10 * i) for i, image in enumerate(images)]


@pytest.fixture(params=["LMDB", "LEVELDB"])
def database(request, tmp_path):
    path = tmp_path / "db"
    write_database(path, request.param.lower(), records())
    return path, request.param


@pytest.fixture
def lmdb_of(tmp_path):
    def make(rows, name="own"):
        write_lmdb(tmp_path / name, rows)
        return tmp_path / name, "LMDB"

    return make


def build(database, batch=5, transform="", tops="top: 'data' top: 'label'", phase=TEST, **context):
    path, backend = database
    text = f"""layer {{ name: "d" type: "Data" {tops} transform_param {{ {transform} }}
                 data_param {{ source: "{path}" backend: {backend} batch_size: {batch} }} }}"""
    param = parse_text(text, NetParameter()).message
    param.state.phase = phase
    return Net(param, Context(**context))


def batches(net, count):
    """Data and labels of so many forwards."""
    found = []
    for _ in range(count):
        net.forward()
        found.append([blob.data.copy() for blob in net.blobs])
    return found


def test_records_in_order_round_and_round(database, caplog):
    net = build(database, batch=3, transform="scale: 3")
    assert [blob.shape for blob in net.blobs] == [(3, 2, 3, 4), (3,)]
    with caplog.at_level(logging.INFO):
        found = batches(net, 10)
    assert caplog.text.count("Restarting data prefetching from start.") == 6
    for i, (data, labels) in enumerate(found):
        rows = np.arange(3 * i, 3 * i + 3) % 5
        np.testing.assert_array_equal(labels, 10 * rows)
        np.testing.assert_array_equal(data, 3.0 * IMAGES[rows])
        assert data.dtype == np.float32


def test_several_nets_read_the_same_database(database):
    one, two = build(database, batch=2), build(database, batch=2)
    assert batches(one, 2)[1][1].tolist() == [20, 30]
    assert batches(two, 1)[0][1].tolist() == [0, 10]
    del one
    assert batches(two, 1)[0][1].tolist() == [20, 30]


def test_one_top_has_no_labels(database):
    net = build(database, tops="top: 'data'")
    ((data,),) = batches(net, 1)
    np.testing.assert_array_equal(data, IMAGES)


def test_ranks_take_turns_in_training(database):
    for rank in range(8):
        net = build(database, 3, phase=TRAIN, rank=rank, ranks=8)
        labels = np.concatenate([labels for _, labels in batches(net, 3)])
        np.testing.assert_array_equal(labels, [10 * ((rank + 8 * i) % 5) for i in range(9)])


@pytest.mark.parametrize(
    "word",
    [
        "shuffle: true",
        "random_order: true init_seed: 3",
        "rand_permute: true",
        "shuffle_pool_size: 4",
    ],
)
def test_forks_words_for_shuffling(word, database):
    def epochs(phase):
        net = build(database, f"5 {word}", phase=phase)
        return [labels.tolist() for _, labels in batches(net, 4)]

    plain, seen = [0, 10, 20, 30, 40], epochs(TRAIN)
    assert seen == epochs(TRAIN)  # in every run alike
    assert all(sorted(epoch) == plain for epoch in seen) and len({*map(tuple, seen)}) > 2
    assert epochs(TEST) == [plain] * 4


def test_ranks_see_all_in_testing(database):
    net = build(database, 3, phase=TEST, rank=1, ranks=8)
    assert batches(net, 1)[0][1].tolist() == [0, 10, 20]


def test_shapes_may_change_from_batch_to_batch(lmdb_of):
    images = [np.full((2, i + 1, i + 2), i, np.uint8) for i in range(3)]
    net = build(lmdb_of(records(images)), batch=1)
    for image, (data, _) in zip(images, batches(net, 3), strict=True):
        np.testing.assert_array_equal(data[0], image)


def test_a_batch_takes_one_shape(lmdb_of):
    images = [np.zeros((1, 3, 3), np.uint8), np.zeros((1, 4, 3), np.uint8)]
    net = build(lmdb_of(records(images)), batch=2)
    with pytest.raises(NetError, match=r"record 001: an image of the shape \(1, 4, 3\) gives"):
        net.forward()


def test_the_middle_is_cropped_in_testing(database):
    ((data, _),) = batches(build(database, transform="crop_size: 1"), 1)
    assert data.shape == (5, 2, 1, 1)
    np.testing.assert_array_equal(data, IMAGES[:, :, 1:2, 1:2])
    assert data[0].ravel().tolist() == [5, 17]


def places(data, crop):
    """Where in the image each crop comes from, and whether it is mirrored."""
    found = []
    for image, part in zip(IMAGES, data, strict=True):
        where = [
            (m, h, w)
            for h in range(4 - crop)
            for w in range(5 - crop)
            for m in (0, 1)
            if (image[:, h : h + crop, w : w + crop][:, :, :: 1 - 2 * m] == part).all()
        ]
        found += where
    return found


@pytest.mark.parametrize("phase", [TRAIN, TEST])
def test_random_crops_and_mirrors_are_caffes(database, phase):
    set_random_seed(1701)
    net = build(database, transform="crop_size: 2 mirror: true", phase=phase)
    # The layer draws a seed twice for the transformer; the second counts.
    seeds = np.random.RandomState(1701).randint(0, 1 << 32, 3, dtype=np.uint32)
    rng = np.random.RandomState(seeds[1])

    def below(n):
        return int(rng.randint(0, 1 << 32, dtype=np.uint32)) % n

    for data, _ in batches(net, 3):
        want = []
        for _ in range(5):
            mirror = below(2)
            want.append((mirror, below(2), below(3)) if phase == TRAIN else (mirror, 0, 1))
        assert places(data, 2) == want


def test_the_global_generator_is_drawn_from_as_by_caffe(database):
    for transform, phase, draws in [
        ("", TRAIN, 1),  # the reading thread's seed
        ("crop_size: 2", TEST, 1),
        ("crop_size: 2", TRAIN, 3),
        ("mirror: true", TEST, 3),
    ]:
        set_random_seed(5)
        build(database, transform=transform, phase=phase)
        after = np.random.RandomState(5).randint(0, 1 << 32, draws + 1, dtype=np.uint32)[-1]
        assert draw() == after, (transform, phase)


def test_a_mean_image_is_cropped_with_the_image(database, tmp_path):
    mean = np.arange(24, dtype=np.float32).reshape(1, 2, 3, 4)
    write_binaryproto(tmp_path / "mean", mean)
    net = build(database, transform=f'mean_file: "{tmp_path / "mean"}" crop_size: 2 scale: 0.5')
    ((data, _),) = batches(net, 1)
    want = (IMAGES.astype("f4") - mean)[:, :, 0:2, 1:3] * 0.5
    np.testing.assert_array_equal(data, want)


def test_old_fields_of_data_param_are_ignored(database):
    path, backend = database
    text = f"""layer {{ name: "d" type: "Data" top: "data" data_param {{ source: "{path}"
        backend: {backend} batch_size: 5 scale: 9 crop_size: 1 mirror: true rand_skip: 3 }} }}"""
    net = Net(parse_text(text, NetParameter()).message)
    net.forward()
    np.testing.assert_array_equal(net.blobs[0].data, IMAGES)


def test_float_records(lmdb_of):
    values = np.linspace(-1, 1, 6, dtype=np.float32)
    datum = Datum(channels=1, height=2, width=3, float_data=values, label=-2)
    net = build(lmdb_of([(b"k", datum.SerializeToString())]), batch=1)
    ((data, labels),) = batches(net, 1)
    np.testing.assert_array_equal(data[0, 0], values.reshape(2, 3))
    assert labels.tolist() == [-2]


def encoded(*modes):
    for i, mode in enumerate(modes):
        stored = io.BytesIO()
        Image.new("RGB", (4, 3), (10, 20, 30)).convert(mode).save(stored, "PNG")
        yield (
            f"{i}".encode(),
            Datum(data=stored.getvalue(), encoded=True, label=i).SerializeToString(),
        )


def test_encoded_records(lmdb_of):
    database = lmdb_of(encoded("RGB", "L"))
    (data, _), (gray, _) = batches(build(database, batch=1), 2)
    assert data.shape == (1, 3, 3, 4) and gray.shape == (1, 1, 3, 4)
    assert data[0, :, 0, 0].tolist() == [30, 20, 10]  # blue first
    (color, _), (_, _) = batches(build(database, 1, "force_color: true"), 2)
    np.testing.assert_array_equal(color, data)
    ((both, _),) = batches(build(database, 2, "force_gray: true"), 1)
    assert both.shape == (2, 1, 3, 4) and set(both.ravel().tolist()) == {18.0}
    with pytest.raises(NetError, match="both force_color and force_gray"):
        build(database, 2, "force_gray: true force_color: true")


def test_forcing_a_colour_on_raw_records_is_told_once(database, caplog):
    with caplog.at_level(logging.ERROR):
        ((data, _), _) = batches(build(database, transform="force_gray: true"), 2)
    np.testing.assert_array_equal(data, IMAGES)
    assert caplog.text.count("only for encoded datum") == 1


def refuses(message, *args, **kwargs):
    with pytest.raises(NetError, match=f'layer "d" .Data.: .*{message}'):
        build(*args, **kwargs).forward()


def test_refuses(database, tmp_path, lmdb_of):
    path, backend = database
    other = {"LMDB": "LEVELDB", "LEVELDB": "LMDB"}[backend]
    refuses("write `backend: LMDB`" if backend == "LMDB" else "is a LevelDB", (path, other))
    refuses("there is no such database", (tmp_path / "gone", backend))
    refuses("data_param has no source", ("", backend))
    refuses("batch_size must be positive", database, batch=0)
    refuses("3 × 4 is smaller than crop_size 4", database, transform="crop_size: 4")
    refuses("3 mean_value for 2 channels", database, transform="mean_value: [1, 2, 3]")
    refuses("mean_file and a mean_value", database, transform='mean_value: 1 mean_file: "m"')
    refuses("m: cannot be read", database, transform='mean_file: "m"')
    (tmp_path / "empty").mkdir()
    refuses("is not a readable", (tmp_path / "empty", backend))


def test_refuses_records(lmdb_of):
    refuses("record k: is not a Datum", lmdb_of([(b"k", b"\xff")], "a"))
    short = Datum(channels=1, height=2, width=3, data=b"12345").SerializeToString()
    refuses("record k: has 5 values, .* 1 × 2 × 3", lmdb_of([(b"k", short)], "b"))
    bad = Datum(encoded=True, data=b"no image").SerializeToString()
    refuses("record k: is not a readable image", lmdb_of([(b"k", bad)], "c"))
    refuses("an image has 0 channels", lmdb_of([(b"k", b"")], "d"))
    refuses("the database is empty", lmdb_of([], "e"))


def test_a_mean_image_must_have_the_images_size(database, tmp_path):
    write_binaryproto(tmp_path / "mean", np.zeros((1, 2, 3, 5), np.float32))
    transform = f'mean_file: "{tmp_path / "mean"}"'
    refuses(r"has the shape \(2, 3, 5\), an image \(2, 3, 4\)", database, transform=transform)


def test_dry(database, tmp_path):
    assert build(database, dry=True).blobs[0].shape == (5, 2, 3, 4)
    assert build(database, transform="crop_size: 2", dry=True).blobs[0].shape == (5, 2, 2, 2)
    gone = (tmp_path / "gone", database[1])
    for transform, channels in [("", 3), ("force_gray: true", 1), ("mean_value: [1, 2]", 2)]:
        net = build(gone, transform=f"crop_size: 7 {transform}", dry=True)
        assert net.blobs[0].shape == (5, channels, 7, 7)
    with pytest.raises(NetError, match=r"gone cannot be read, .* no transform_param\.crop_size"):
        build(gone, dry=True)

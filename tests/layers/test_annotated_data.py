"""AnnotatedData: boxes stay on their objects, whatever is done to the image."""

import numpy as np
import pytest

from pycaffe_dist.data.annotations import parse_annotated, write_annotated
from pycaffe_dist.data.encoded import encode
from pycaffe_dist.data.lmdb_writer import write_lmdb
from pycaffe_dist.errors import NetError
from pycaffe_dist.layer import Context
from pycaffe_dist.net import Net
from pycaffe_dist.proto.caffe_pb2 import TEST, TRAIN, Datum, NetParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.rng import set_random_seed

HEIGHT, WIDTH = 40, 60
# label, instance, xmin, ymin, xmax, ymax, difficult: two whole objects and a third that is dark
BOXES = [(1, 0, 0.1, 0.2, 0.4, 0.6, 0), (1, 1, 0.7, 0.5, 0.9, 0.9, 1), (2, 0, 0.0, 0.7, 0.2, 1, 0)]


def drawing(boxes=BOXES):
    """Grey 100, with each box in a colour: blue for the first, green, red."""
    image = np.full((HEIGHT, WIDTH, 3), 100, np.uint8)
    for color, (*_, x1, y1, x2, y2, _d) in enumerate(boxes):
        rows, columns = (
            slice(int(y1 * HEIGHT), int(y2 * HEIGHT)),
            slice(int(x1 * WIDTH), int(x2 * WIDTH)),
        )
        image[rows, columns] = 0
        image[rows, columns, color] = 255
    return image


def record(image=None, boxes=BOXES, encoded=True, label=7):
    image = drawing() if image is None else image
    datum = Datum(label=label)
    if encoded:
        datum.encoded, datum.data = True, encode(image, "png")
    else:
        datum.channels, datum.height, datum.width = 3, *image.shape[:2]
        datum.data = image.transpose(2, 0, 1).tobytes()
    return write_annotated(datum.SerializeToString(), boxes)


@pytest.fixture
def database(tmp_path):
    def make(*records):
        path = tmp_path / f"db{len(list(tmp_path.iterdir()))}"
        write_lmdb(path, [(f"{i:03}".encode(), r) for i, r in enumerate(records)])
        return path

    return make


def build(path, transform="", own="", batch=1, phase=TEST, tops='top: "data" top: "label"'):
    text = f"""layer {{ name: "d" type: "AnnotatedData" {tops} transform_param {{ {transform} }}
                 data_param {{ source: "{path}" backend: LMDB batch_size: {batch} }}
                 annotated_data_param {{ {own} }} }}"""
    param = parse_text(text, NetParameter()).message
    param.state.phase = phase
    return Net(param, Context())


def forward(net):
    net.forward()
    return [blob.data.copy() for blob in net.blobs]


def boxes_seen(image):
    """By colour, the box of what is bright in a channel and dark in both others."""
    found = {}
    for color in range(3):
        others = [c for c in range(3) if c != color]
        there = (image[color] > 180) & (image[others] < 80).all(axis=0)
        if there.any():
            rows, columns = np.flatnonzero(there.any(1)), np.flatnonzero(there.any(0))
            h, w = there.shape
            corners = columns[0] / w, rows[0] / h, (columns[-1] + 1) / w, (rows[-1] + 1) / h
            found[color] = corners
    return found


def which(row):
    """The colour of a row's object."""
    return {(1, 0): 0, (1, 1): 1, (2, 0): 2}[int(row[1]), int(row[2])]


def test_a_record_is_what_was_written():
    datum, boxes = parse_annotated(record())
    assert Datum.FromString(bytes(datum)).label == 7
    np.testing.assert_allclose(boxes, np.array(BOXES))


def test_rows_of_a_batch(database):
    """All boxes of its items; a batch without any has a row of −1."""
    net = build(database(record(), record(boxes=[]), record(boxes=[]), record(boxes=[])), batch=2)
    _, labels = forward(net)
    np.testing.assert_allclose(labels[0, 0], [[0, *row] for row in BOXES], rtol=1e-6)
    np.testing.assert_array_equal(forward(net)[1], np.full((1, 1, 1, 8), -1))


RESIZE = "resize_param { resize_mode: %s height: 80 width: 80 %s }"
WAYS = {
    "plain": "",
    "mirror": "mirror: true",
    "crop": "crop_size: 30",
    "rectangle": "crop_h: 20 crop_w: 50",
    "warp": RESIZE % ("WARP", ""),
    "fit large": RESIZE % ("FIT_LARGE_SIZE_AND_PAD", "pad_value: 100"),
    "fit large, mirrored": RESIZE % ("FIT_LARGE_SIZE_AND_PAD", "pad_value: 100") + " mirror: true",
    "fit small": RESIZE % ("FIT_SMALL_SIZE", "interp_mode: AREA"),
    "expand": "expand_param { prob: 1 max_expand_ratio: 3 } mean_value: 0 " + RESIZE % ("WARP", ""),
    "several": RESIZE % ("WARP", "prob: 0.5") + RESIZE % ("FIT_SMALL_SIZE", "prob: 0.5"),
}
SAMPLERS = {
    "none": "",
    "some": """batch_sampler { max_sample: 1 max_trials: 1 }
        batch_sampler { sampler { min_scale: 0.5 min_aspect_ratio: 0.5 max_aspect_ratio: 2 }
                        sample_constraint { min_object_coverage: 0.3 } max_sample: 1 }""",
}


@pytest.mark.parametrize(
    ("transform", "own", "random"),
    [
        ("", "", False),
        (RESIZE % ("WARP", ""), "", False),
        (RESIZE % ("WARP", "interp_mode: AREA interp_mode: LINEAR"), "", True),
        (RESIZE % ("WARP", "prob: 0.5") + RESIZE % ("WARP", "prob: 0.5"), "", True),
        ("distort_param { }", "", True),
        ("expand_param { }", "", True),
        ("noise_param { }", "", True),
        ("", "batch_sampler { max_sample: 1 max_trials: 1 }", True),
    ],
)
def test_what_is_random_has_a_seed_for_each_image(database, transform, own, random):
    """Without one all images would be changed alike."""
    net = build(database(record()), transform, own, phase=TRAIN)
    seeds = net.layers[0].transformer.draws(3)[:, 0]
    assert len({*seeds.tolist()}) == (3 if random else 1)


RESIZED = [way for way in WAYS if "resize_param" in WAYS[way]]  # what parts of any size need


@pytest.mark.parametrize(
    ("way", "samplers"), [*((w, "none") for w in WAYS), *((w, "some") for w in RESIZED)]
)
def test_boxes_stay_on_their_objects(database, way, samplers):
    """Whatever is done to the image: where a label says an object is, it is."""
    set_random_seed(11)
    net = build(database(record()), WAYS[way], SAMPLERS[samplers], phase=TRAIN)
    seen = 0
    for _ in range(6):
        data, labels = forward(net)
        found = boxes_seen(data[0])
        for row in labels[0, 0]:
            if row[0] < 0 or min(row[5] - row[3], row[6] - row[4]) < 0.12:
                continue  # too little of it to be sure of its colour
            np.testing.assert_allclose(found[which(row)], row[3:7], atol=0.07)
            seen += 1
    assert seen > 3


def test_height_scale_counts_boxes_in_pixels(database):
    way = RESIZE % ("FIT_SMALL_SIZE", "height_scale: 40 width_scale: 60")
    _, labels = forward(build(database(record()), way))
    # The image is 80 × 120 then, in units of 40 and 60.
    np.testing.assert_allclose(labels[0, 0, :, 3:7], 2 * np.array(BOXES)[:, 2:6], rtol=1e-5)


def test_height_scale_counts_mirrored_boxes_in_pixels_too(database):
    way = RESIZE % ("FIT_SMALL_SIZE", "height_scale: 40 width_scale: 60")
    net = build(database(record()), way + " mirror: true", phase=TRAIN)
    x1, y1, x2, y2 = np.array(BOXES, np.float32)[:, 2:6].T
    plain, turned = (np.stack(a, 1) for a in ((x1, y1, x2, y2), (1 - x2, y1, 1 - x1, y2)))
    seen = []
    for _ in range(12):
        found = forward(net)[1][0, 0, :, 3:7]
        seen.append(np.allclose(found, 2 * turned, atol=1e-5))
        assert seen[-1] or np.allclose(found, 2 * plain, atol=1e-5)
    assert any(seen)
    assert not all(seen)


def test_emit_constraints(database):
    """A crop of the middle 30 × 34: the first box is in it by 0.61, the second by 0.39."""
    transform = "crop_h: 30 crop_w: 34 emit_constraint { %s }"
    kept = []
    for words in ("emit_type: CENTER", "emit_type: MIN_OVERLAP emit_overlap: 0.5"):
        _, labels = forward(build(database(record()), transform % words))
        kept.append([which(row) for row in labels[0, 0]])
    assert kept == [[0], [0]]
    _, labels = forward(build(database(record()), "crop_h: 30 crop_w: 34"))
    assert [which(row) for row in labels[0, 0]] == [0, 1]


def test_the_same_with_any_number_of_threads(database, monkeypatch):
    """And from a snapshot on."""
    path = database(*[record() for _ in range(5)])
    transform = (
        "mirror: true "
        + WAYS["expand"]
        + " distort_param { brightness_prob: 0.5 brightness_delta: 32 }"
    )
    runs = []
    for threads in (0, 3):
        monkeypatch.setenv("PCD_DATA_THREADS", str(threads))
        set_random_seed(3)
        net = build(path, transform, SAMPLERS["some"], batch=3, phase=TRAIN)
        first = forward(net)
        state = net.layers[0].get_state()
        runs.append([first, forward(net)])
    for one, other in zip(*runs, strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_array_equal(a, b)
    set_random_seed(99)
    later = build(path, transform, SAMPLERS["some"], batch=3, phase=TRAIN)
    later.layers[0].set_state(state)
    for a, b in zip(forward(later), runs[1][1], strict=True):
        np.testing.assert_array_equal(a, b)


def test_raw_pixels_too(database):
    """They are not put through a JPEG on the way."""
    path = database(record(encoded=False))
    data, _ = forward(build(path, "", "batch_sampler { max_sample: 1 max_trials: 1 }"))
    np.testing.assert_array_equal(data[0], drawing().transpose(2, 0, 1))


def test_a_record_without_annotations_has_its_label(database):
    datum = Datum(label=7, encoded=True, data=encode(drawing(), "png")).SerializeToString()
    plain = b"\x0a" + bytes([len(datum) & 0x7F | 0x80, len(datum) >> 7]) + datum
    data, labels = forward(build(database(plain), RESIZE % ("WARP", "")))
    assert data.shape == (1, 3, 80, 80)
    np.testing.assert_array_equal(labels, [7])
    with pytest.raises(NetError, match="some records of the batch have boxes, others have none"):
        forward(build(database(plain, record()), batch=2))


def test_boxes_in_yolos_form(database):
    _, labels = forward(build(database(record()), own="yolo_data_type: 1"))
    assert labels.shape == (1, 1, 300, 5)
    np.testing.assert_allclose(labels[0, 0, 0], [0, 0.25, 0.4, 0.3, 0.4], rtol=1e-5)
    assert not labels[0, 0, 3:].any()


def test_a_bad_record_is_told(database):
    with pytest.raises(NetError, match=r"record 000: is not an AnnotatedDatum"):
        build(database(b"no such thing"))


@pytest.mark.parametrize(
    ("transform", "own", "message"),
    [
        ("resize_param { height: 3 }", "", "needs a height and a width"),
        ("crop_h: 3", "", "both crop_h and crop_w"),
        ("crop_size: 2 crop_h: 3 crop_w: 3", "", "but not both"),
        ("crop_size: 50", "", "40 × 60 is smaller than crop_size 50"),
        ("", "batch_sampler { sampler { min_scale: 0 } }", "min_scale 0 and max_scale 1"),
        ("", "batch_sampler { sampler { max_scale: 2 } }", "the whole image is 1"),
        ("expand_param { max_expand_ratio: 0.5 }", "", "max_expand_ratio 0.5, below 1"),
    ],
)
def test_settings_that_make_no_sense(database, transform, own, message):
    with pytest.raises(NetError, match=message):
        forward(build(database(record()), transform, own))


def test_a_dry_net_knows_its_shapes_without_the_database():
    text = """layer { name: "d" type: "AnnotatedData" top: "data" top: "label"
        transform_param { resize_param { height: 30 width: 50 } }
        data_param { source: "nowhere" batch_size: 2 } }"""
    net = Net(parse_text(text, NetParameter()).message, Context(dry=True))
    assert [blob.shape for blob in net.blobs] == [(2, 3, 30, 50), (1, 1, 1, 8)]

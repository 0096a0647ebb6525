import itertools
from pathlib import Path
from xml.etree import ElementTree

import pytest

from pycaffe_dist.proto.caffe_pb2 import TEST, TRAIN, NetParameter
from pycaffe_dist.proto.nets import read_net
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.pycaffe.net_svg import net_svg

ROOT = Path(__file__).parents[3]
SVG = "{http://www.w3.org/2000/svg}"
NET = """name: "a < b"
layer { name: "train" type: "Data" top: "data" data_param { batch_size: 8 }
        include { phase: TRAIN } }
layer { name: "test" type: "Data" top: "data" data_param { batch_size: 9 }
        include { phase: TEST } }
layer { name: "c&c" type: "Convolution" bottom: "data" top: "c" param { lr_mult: 3 }
        convolution_param { num_output: 20 kernel_size: 5 } }
layer { name: "relu" type: "ReLU" bottom: "c" top: "c" }
layer { name: "pool" type: "Pooling" bottom: "c" top: "p" pooling_param { kernel_size: 2 } }
"""


def draw(net, *args, **settings):
    return ElementTree.fromstring(net_svg(net, *args, **settings))


def small():
    return parse_text(NET, NetParameter(), "net").message


def texts(picture):
    return [element.text for element in picture.iter(f"{SVG}text")]


def boxes(picture):
    """name -> (left, top, right, bottom) of all its rectangles together."""
    found = {}
    for group in picture.iter(f"{SVG}g"):
        rects = [
            {k: float(r.get(k)) for k in ("x", "y", "width", "height")}
            for r in group.iter(f"{SVG}rect")
        ]
        found[group.find(f"{SVG}title").text] = (
            min(r["x"] for r in rects),
            min(r["y"] for r in rects),
            max(r["x"] + r["width"] for r in rects),
            max(r["y"] + r["height"] for r in rects),
        )
    return found


def test_what_is_written():
    assert texts(draw(small(), display_lrm=True)) == [
        *("train", "Data Batch 8"),
        *("test", "Data Batch 9"),
        *("c&c", "Convolution 20", "kernel: 5, stride: 1, pad: 0, lr mult: 3.0, 1.0"),
        *("relu", "ReLU"),
        *("pool", "Pooling MAX", "kernel: 2, stride: 1, pad: 0"),
    ]
    assert "lr mult" not in str(texts(draw(small())))


def test_blobs_are_lines():
    picture = draw(small())
    assert picture.find(f"{SVG}title").text == "a < b"
    assert [p.find(f"{SVG}title").text for p in picture.findall(f"{SVG}path")] == [
        "data",
        "data",
        "c",
    ]


@pytest.mark.parametrize(("phase", "gone"), [(TRAIN, "test"), (TEST, "train")])
def test_phases(phase, gone):
    picture = draw(small(), phase=phase)
    assert gone not in texts(picture)
    assert len(picture.findall(f"{SVG}path")) == 2


@pytest.mark.parametrize(
    ("rankdir", "side", "sign"), [("LR", 0, 1), ("RL", 0, -1), ("TB", 1, 1), ("BT", 1, -1)]
)
def test_directions(rankdir, side, sign):
    found = boxes(draw(small(), rankdir, TRAIN))
    places = [found[name][side] for name in ("train", "c&c", "pool")]
    assert places == sorted(places, reverse=sign < 0)
    assert len(set(places)) == 3


@pytest.mark.parametrize("rankdir", ["TB", "RL"])
@pytest.mark.parametrize("model", ["lenet", "bvlc_googlenet", "resnet50"])
def test_boxes_and_text_have_room(model, rankdir):
    net = read_net(ROOT / "models" / model / "train_val.prototxt").net
    picture = draw(net, rankdir, TRAIN, display_lrm=True)
    found = list(boxes(picture).values())
    assert len(found) >= 8
    for a, b in itertools.combinations(found, 2):
        assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
    left, top, width, height = map(float, picture.get("viewBox").split())
    for a in found:
        assert left < a[0] and a[2] < left + width and top < a[1] and a[3] < top + height
    for group in picture.iter(f"{SVG}g"):
        room = float(group.find(f"{SVG}rect").get("width"))
        # An average letter of Helvetica is half as wide as high; bold names a little more.
        assert all(len(text.text) * 6.2 < room for text in group.iter(f"{SVG}text"))


def test_googlenet_is_not_wider_than_its_widest_module():
    net = read_net(ROOT / "models/bvlc_googlenet/train_val.prototxt").net
    picture = draw(net, "TB", TRAIN)
    assert float(picture.get("width")) < 1700
    middle = {name: (a[0] + a[2]) / 2 for name, a in boxes(picture).items()}
    trunk = [middle[name] for name in ("conv1/7x7_s2", "pool1/3x3_s2", "conv2/3x3", "pool2/3x3_s2")]
    assert max(trunk) - min(trunk) < 2

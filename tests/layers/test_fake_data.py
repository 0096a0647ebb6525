import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.layer import Context
from pycaffe_dist.net import Net
from pycaffe_dist.proto.caffe_pb2 import NetParameter
from pycaffe_dist.proto.text import parse_text

NET = """
layer {
  name: "NAME" type: "FakeData" top: "data" top: "label" top: "x"
  dummy_data_param {
    shape { dim: 50 dim: 3 dim: 4 } data_filler { type: "uniform" min: -2 max: 6 }
    shape { dim: 500 } data_filler { type: "integer" min: 0 max: 3 }
    shape { dim: 5000 } data_filler { type: "gaussian" mean: 7 std: 2 }
  }
}
"""


def net(text=NET, **context):
    return Net(parse_text(text, NetParameter(), "net").message, Context(**context))


def batch(net):
    net.forward()
    return [blob.data.copy() for blob in net.blobs]


def test_values():
    data, label, x = batch(net())
    assert data.shape == (50, 3, 4)
    assert -2 <= data.min() < -1.9
    assert 5.9 < data.max() < 6
    assert set(label) == {0, 1, 2}
    assert abs(x.mean() - 7) < 0.1
    assert abs(x.std() - 2) < 0.1


def test_the_same_in_every_run_and_another_in_every_batch():
    one, two = net(), net()
    first = batch(one)
    np.testing.assert_equal(first, batch(two))
    second = batch(one)
    assert all((a != b).any() for a, b in zip(first, second, strict=True))


@pytest.mark.parametrize("other", [{"rank": 1, "ranks": 2}, {"text": NET.replace("NAME", "b")}])
def test_others_get_others(other):
    assert (batch(net())[0] != batch(net(**other))[0]).any()


def test_phases_get_others():
    train, test = (batch(net(NET + f"state {{ phase: {p} }}")) for p in ("TRAIN", "TEST"))
    assert (train[0] != test[0]).any()


def test_double():
    assert batch(net(dtype=np.float64))[0].dtype == np.float64


def test_going_on():
    one, two = net(), net()
    batch(one)
    two.layers[0].set_state(one.layers[0].get_state())
    np.testing.assert_equal(batch(one), batch(two))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"uniform"', '"xavier"', 'there is no "xavier" here. Known: uniform, gaussian, integer'),
        ("max: 3", "max: 0", "no whole number is from 0 to below 0"),
        (' top: "x"', "", "3 shape for 2 tops; give one for each"),
    ],
)
def test_what_cannot_be(old, new, message):
    with pytest.raises(NetError, match=message):
        net(NET.replace(old, new))


BOXES = """
layer {
  name: "boxes" type: "FakeData" top: "data" top: "ssd" top: "yolo" top: "gt" top: "rois"
  top: "info" top: "marks"
  dummy_data_param {
    shape { dim: 3 dim: 1 dim: 40 dim: 60 } data_filler { type: "uniform" }
    shape { dim: 1 dim: 1 dim: 6 dim: 8 } data_filler { type: "boxes" min: 1 max: 4 }
    shape { dim: 3 dim: 1 dim: 9 dim: 5 } data_filler { type: "yolo_boxes" min: 1 max: 4 }
    shape { dim: 6 dim: 5 } data_filler { type: "gt_boxes" min: 1 max: 4 }
    shape { dim: 6 dim: 5 } data_filler { type: "rois" }
    shape { dim: 3 dim: 3 } data_filler { type: "im_info" }
    shape { dim: 4 dim: 2 } data_filler { type: "marks" }
  }
}
"""


def lie_within(boxes, width, height):
    first, last = boxes[:, :2], boxes[:, 2:]
    return (first >= 0).all() and (first < last).all() and (last <= (width, height)).all()


def test_boxes_in_the_forms_of_ssd_yolo_and_rcnn():
    _, ssd, yolo, gt, rois, info, marks = batch(net(BOXES))
    ssd = ssd[0, 0]
    assert list(ssd[:, 0]) == list(rois[:, 0]) == [0, 0, 1, 1, 2, 2]
    assert lie_within(ssd[:, 3:7], 1, 1)
    assert not ssd[:, 7].any()
    centre, size = yolo[:, 0, :2, 1:3], yolo[:, 0, :2, 3:]
    corners = np.concatenate([centre - size / 2, centre + size / 2], axis=2)
    assert lie_within(corners.reshape(-1, 4), 1, 1)
    assert not yolo[:, 0, 2:].any()
    assert lie_within(gt[:, :4], 60, 40)
    assert lie_within(rois[:, 1:], 60, 40)
    assert set(ssd[:, 1]) | set(gt[:, 4]) | set(yolo[:, 0, :2, 0].ravel() + 1) == {1, 2, 3}
    np.testing.assert_array_equal(info, [[40, 60, 1]] * 3)
    np.testing.assert_array_equal(marks, [[0, 0], [1, 1], [1, 1], [1, 1]])

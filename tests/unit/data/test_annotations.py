"""AnnotatedDatum as bytes: what is read of it, and what is passed over."""

import numpy as np
import pytest

from pycaffe_dist.data.annotations import parse_annotated
from pycaffe_dist.proto.caffe_pb2 import AnnotatedDatum, Datum
from pycaffe_dist.proto.wire_format import head

DATUM = Datum(channels=1, height=1, width=1, data=b"x", label=3).SerializeToString()


def annotated():
    box = {"xmin": 0.125, "ymin": 0.25, "xmax": 0.5, "ymax": 0.75, "difficult": True}
    group = {"group_label": 4, "annotation": [{"instance_id": 2, "bbox": box}]}
    whole = AnnotatedDatum(type=AnnotatedDatum.BBOX, annotation_group=[group])
    return head(1, len(DATUM)) + DATUM + whole.SerializeToString()


@pytest.mark.parametrize(
    "more",
    [
        b"",
        head(9, 3) + b"abc",  # a field of another fork
        b"\x08\x05",  # numbers under the numbers of the Datum and of a group
        b"\x18\x05",
    ],
    ids=["nothing", "a fork's", "1", "3"],
)
def test_fields_of_others_are_passed_over(more):
    for value in (annotated() + more, more + annotated()):
        datum, boxes = parse_annotated(value)
        assert bytes(datum) == DATUM
        np.testing.assert_array_equal(boxes, [[4, 2, 0.125, 0.25, 0.5, 0.75, 1]])


def test_a_corner_that_is_no_float_is_refused():
    box = b"\x08\x05"  # xmin as a varint
    one = head(2, len(box)) + box
    group = head(2, len(one)) + one
    with pytest.raises(ValueError, match="is not an AnnotatedDatum"):
        parse_annotated(annotated() + head(3, len(group)) + group)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (annotated() + b"\x10\x01", "annotations of the unknown type 1"),
        (b"\x10\x00", "there is no Datum in it"),
        (annotated()[:-1], "is not an AnnotatedDatum"),
    ],
)
def test_what_is_something_else_is_refused(value, words):
    with pytest.raises(ValueError, match=words):
        parse_annotated(value)

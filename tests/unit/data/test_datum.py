import numpy as np
import pytest

from pycaffe_dist.data.datum import datum_pixels, parse_datum
from pycaffe_dist.proto.caffe_pb2 import Datum


def test_bytes():
    datum = Datum(channels=2, height=1, width=3, data=bytes(range(250, 256)), label=7)
    again = parse_datum(datum.SerializeToString())
    pixels = datum_pixels(again)
    assert again.label == 7 and pixels.dtype == np.uint8
    np.testing.assert_array_equal(pixels, [[[250, 251, 252]], [[253, 254, 255]]])


def test_floats_count_only_without_bytes():
    floats = Datum(channels=1, height=1, width=2, float_data=[0.5, -3])
    np.testing.assert_array_equal(datum_pixels(floats), [[[0.5, -3]]])
    floats.data = b"ab"
    np.testing.assert_array_equal(datum_pixels(floats), [[[97, 98]]])


def test_refuses():
    with pytest.raises(ValueError, match="is not a Datum"):
        parse_datum(b"\xff\xff")
    with pytest.raises(ValueError, match=r"has 3 values, .* 1 × 2 × 2"):
        datum_pixels(Datum(channels=1, height=2, width=2, data=b"abc"))

import io

import numpy as np
import pytest
from PIL import Image

from pycaffe_dist.data.datum import datum_pixels, parse_datum, parse_record
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


@pytest.mark.parametrize("size", [4, 200])
def test_records_are_parsed_alike_large_and_small(size):
    pixels = np.random.default_rng(0).integers(0, 256, (3, size, size), dtype=np.uint8)
    plain = {"channels": 3, "height": size, "width": size, "label": -7}
    raw = Datum(data=pixels.tobytes(), **plain)
    for value in (raw.SerializeToString(), memoryview(raw.SerializeToString())):
        found, label, encoded = parse_record(value)
        np.testing.assert_array_equal(found, pixels)
        assert (label, encoded) == (-7, False)
    floats = Datum(float_data=pixels.ravel() / 4, **plain)
    found, label, _ = parse_record(floats.SerializeToString())
    np.testing.assert_array_equal(found, pixels / 4)
    stored = io.BytesIO()
    Image.fromarray(pixels.transpose(1, 2, 0)).save(stored, "PNG")
    image = Datum(data=stored.getvalue(), encoded=True, **plain)
    found, label, encoded = parse_record(image.SerializeToString())
    np.testing.assert_array_equal(found, pixels[::-1])
    assert (label, encoded) == (-7, True)
    if size == 200:  # pixels of a large record stay where they are
        record = raw.SerializeToString()
        assert np.shares_memory(parse_record(record)[0], np.frombuffer(record, np.uint8))
    raw.data = raw.data[:-1]
    with pytest.raises(ValueError, match="values, its channels"):
        parse_record(raw.SerializeToString())
    raw.data = b""
    with pytest.raises(ValueError, match="has 0 values"):
        parse_record(raw.SerializeToString())

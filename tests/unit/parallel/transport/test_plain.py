import json
import pickle
from dataclasses import dataclass

import numpy as np
import pytest

from pycaffe_dist.errors import PcdError
from pycaffe_dist.parallel.plan.plan import Entry, Plan
from pycaffe_dist.parallel.transport.plain import decode, encode

ENTRY = Entry((0, 1), 3, "dense", None, 12, 0.5, "why")
VALUES = [
    None, True, -5, 1 << 80, 0.1, float("inf"), "text \ud800 é", b"\0\xff", [], (), {},
    [1, (2, [3]), {"a": (None,), 7: [b""], (1, "x"): 2}], ["list", "tuple", "object"],
    np.float32(0.1), np.int64(-3), ENTRY, Plan((ENTRY,), 2, 1, "auto", "float32", 1.0, 2.0),
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=lambda value: repr(value)[:30])
def test_values_arrive_as_they_were(value):
    again = decode(encode(value))
    assert again == value
    assert type(again) is type(value)
    assert repr(again) == repr(value)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6, dtype="<f4").reshape(2, 3).T,
        np.zeros((0, 2), "u1"),
        np.array(3.0),
        np.array("a"),
    ],
)
def test_arrays_arrive_and_may_be_changed(array):
    again = decode(encode({"a": array}))["a"]
    np.testing.assert_array_equal(again, array, strict=True)
    assert again.flags.writeable


@dataclass
class Stranger:
    x: int


@pytest.mark.parametrize("value", [Stranger(1), print, {1, 2}, np.array([object()])])
def test_nothing_else_is_sent(value):
    with pytest.raises(PcdError, match="does not go from rank to rank"):
        encode([value])


@pytest.mark.parametrize(
    "data",
    [
        pickle.dumps(print), b"", b"[", b"[]", b'["object", "Stranger", 1]', b'["object", "Entry"]',
        b'["array", "O", [1], "AAAAAAAAAAA="]', b'["array", "<f4", [1000000000], ""]', b"[" * 9999,
        json.dumps(["call", "os.system", "true"]).encode(),
    ],
)  # fmt: skip
def test_what_no_rank_sends_is_refused(data):
    with pytest.raises(PcdError, match="no rank of this version sends"):
        decode(data)

"""What translated text calls, and what it is given."""

import io
import pickle
import threading
from xml.etree import ElementTree

import numpy as np
import pytest

from pycaffe_dist import py2
from pycaffe_dist.proto.caffe_pb2 import Datum
from pycaffe_dist.py2 import builtins, files, order
from pycaffe_dist.py2.shadows import (
    base64,
    hashlib,
    lmdb,
    numpy,
    struct,
    subprocess,
    tempfile,
    zlib,
)
from pycaffe_dist.py2.shadows import math as math2
from pycaffe_dist.py2.shadows import pickle as pickle2
from pycaffe_dist.py2.strings import ByteStr

# Scripts leave files to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


@pytest.mark.parametrize(
    ("a", "b", "quotient"),
    [
        (7, 2, 3),
        (-7, 2, -4),
        (True, 2, 0),
        (7, 2.0, 3.5),
        (7.0, 2, 3.5),
        (np.int64(7), 2, 3),
        (np.float32(7), 2, 3.5),
        (7, np.uint8(2), 3),
        (1 + 1j, 2, 0.5 + 0.5j),
    ],
)
def test_division(a, b, quotient):
    assert py2.div(a, b) == quotient


def test_everything_has_an_order():
    assert py2.less(None, -1e9) and py2.less_or_equal(None, 0) and not py2.greater(None, 0)
    assert py2.greater("a", 7) and py2.greater_or_equal([1], {})  # "list" comes after "dict"
    assert (py2.less(1, 2), py2.greater_or_equal(2.5, 2)) == (True, True)
    np.testing.assert_array_equal(py2.greater(np.array([1, 3]), 2), [False, True])
    with pytest.raises(TypeError):
        py2.less(1j, 2j)


def test_none_comes_before_numbers():
    assert builtins.sorted_([3, None, 1]) == [None, 1, 3]
    assert builtins.sorted_(["b", 2, None, "a"], reverse=True) == ["b", "a", 2, None]
    assert (builtins.max_(None, 2), builtins.max_([None, 2]), builtins.min_(None, 2)) == (
        2,
        2,
        None,
    )
    assert builtins.min_(["bb", "a"], key=len) == "a"
    assert order.cmp(None, 1) == -1


def test_methods_that_are_gone():
    tree = ElementTree.fromstring("<a><b>1</b><b>2</b></a>")
    assert [child.text for child in py2.children(tree)] == ["1", "2"]
    assert [element.tag for element in py2.iterated(tree)] == ["a", "b", "b"]
    assert len(py2.iterated(tree, "b")) == 2
    assert not py2.is_alive(threading.Thread())


def test_division_of_arrays():
    whole = np.array([5, -5])
    np.testing.assert_array_equal(py2.div(whole, 2), [2, -3])
    np.testing.assert_array_equal(py2.div(whole, 2.0), [2.5, -2.5])
    np.testing.assert_array_equal(py2.div(whole.astype(float), 2), [2.5, -2.5])


def test_division_in_place():
    kept = whole = np.array([5, 7])
    whole /= py2.by(2)
    assert whole is kept
    np.testing.assert_array_equal(whole, [2, 3])
    whole /= py2.by(0.5)  # the quotient is cut to the array's type
    np.testing.assert_array_equal(whole, [4, 6])
    floats = np.array([5.0])
    floats[:] /= py2.by(2)
    assert floats == [2.5]
    x = 7
    x /= py2.by(2)
    d = {"a": 9}
    d["a"] /= py2.by(2.0)
    assert (x, d) == (3, {"a": 4.5})


class Own:
    def keys(self):
        return "own keys"

    def iteritems(self):
        return "own items"

    def has_key(self, key):
        return key == 1

    def next(self):
        return "own next"


def test_dictionaries():
    d = {"a": 1}
    assert (py2.keys(d), py2.values(d), py2.items(d)) == (["a"], [1], [("a", 1)])
    assert list(py2.iteritems(d)) == [("a", 1)]
    assert py2.has_key(d, "a")
    assert (py2.keys(Own()), py2.iteritems(Own())) == ("own keys", "own items")
    assert py2.has_key(Own(), 1)
    assert py2.next_of(Own()) == "own next"
    assert py2.next_of(iter([3])) == 3


def test_sorting():
    down = [1, 3, 2]
    py2.sort(down, lambda a, b: b - a)
    assert down == [3, 2, 1]
    assert builtins.sorted_([1, -2], lambda a, b: a - b, abs) == [1, -2]
    array = np.array([[2, 1]])
    py2.sort(array, 1)
    assert array.tolist() == [[1, 2]]


def test_lists():
    assert builtins.range_(3) == [0, 1, 2]
    assert list(builtins.xrange(2.9)) == [0, 1]
    assert builtins.map_(None, [1, 2], [3]) == [(1, 3), (2, None)]
    assert builtins.map_(lambda x: x + 1, [1]) == [2]
    assert builtins.filter_(str.isalpha, "a1b") == "ab"
    assert builtins.filter_(None, (0, 1)) == (1,)
    assert builtins.zip_([1, 2], [3]) == [(1, 3)]


def test_rounding():
    for number, rounded in ((0.5, 1.0), (2.5, 3.0), (-2.5, -3.0), (2, 2.0)):
        found = builtins.round_(number)
        assert (found, type(found)) == (rounded, float)
    assert builtins.round_(2.345, 1) == 2.3
    assert builtins.round_(1250, -2) == 1300.0
    assert str(builtins.round_(float("inf"))) == "inf"
    assert type(math2.floor(2.5)) is type(math2.ceil(2.5)) is float


def test_print_shows_twelve_digits(capsys):
    loss = np.array(0.1, np.float32)
    builtins.print_(1 / 3, 2.0, 1e16, 1e10, float("nan"), [0.1 + 0.2], loss, end="")
    shown = "0.333333333333 2.0 1e+16 10000000000.0 nan [0.30000000000000004] 0.10000000149"
    assert capsys.readouterr().out == shown


def test_text_of_a_float_has_twelve_digits():
    third = 1 / 3
    assert str(py2.brief(third)) == builtins.unicode(third) == "0.333333333333"
    assert builtins.bytes_(2.0) == "2.0" and py2.brief([third]) == [third]
    assert builtins.map_(str, [third, 2.0, 3]) == ["0.333333333333", "2.0", "3"]
    assert py2.formatted("%s %r %.1f%%", (third, 0.1 + 0.2, 50.0)) == (
        "0.333333333333 0.30000000000000004 50.0%"
    )
    assert py2.formatted("%*d %s", (3, 5, 0.5)) == "  5 0.5"
    assert py2.shown("{} {:.2f} {!r} {a}", third, third, 0.1, a=np.float32(0.1)) == (
        "0.333333333333 0.33 0.1 0.10000000149"
    )
    loss = np.array(0.1, np.float32)  # what a blob without axes has
    assert py2.formatted("%s %f", (loss, loss)) == "0.10000000149 0.100000"
    assert py2.shown("{}", loss) == py2.brief(loss) == "0.10000000149"
    with pytest.raises(TypeError, match="not all arguments"):
        py2.formatted("%s", (0.5, 1))


def test_numpys_integers_were_pythons():
    number = np.arange(3)[2]
    kept = [int, (str, int), float, np.integer, str, bool]
    found = [builtins.isinstance_(number, kind) for kind in kept]
    assert found == [True, True, False, True, False, False]
    assert not builtins.isinstance_(np.int32(1), int)  # which never was
    data = ByteStr(b"ab")
    assert builtins.isinstance_(data, str) and builtins.isinstance_(data, (int, str))
    assert not builtins.isinstance_(data, int)


def test_names_of_types():
    assert isinstance("a", builtins.basestring)
    assert isinstance(b"a", builtins.basestring)
    assert not isinstance(1, builtins.basestring)
    assert isinstance("a", builtins.unicode)
    assert (builtins.unicode("a", "utf-8"), builtins.unicode(b"a", "utf-8")) == ("a", "a")


def test_arrays_of_one_value():
    assert py2.one(np.array([[3]])) == 3
    assert py2.one([3]) == [3]
    array, listed = np.zeros(2), [0]
    py2.put(array, 1, np.array([5.0]))
    py2.put(listed, 0, np.array([5.0]))
    assert array.tolist() == [0, 5]
    assert isinstance(listed[0], np.ndarray)
    with pytest.raises(ValueError, match="sequence"):
        py2.put(array, 0, np.array([1.0, 2.0]))
    assert py2.formatted("%d %.1f", (np.array([3]), np.array([0.5]))) == "3 0.5"
    with pytest.raises(TypeError):
        py2.formatted("%d", "a")


# -- strings ---------------------------------------------------------------------------------------


def test_bytes_that_are_text():
    key = ByteStr(b"0001_a")
    assert (str(key), f"{key:>8}", " ".join([str(key)]), repr(key)) == (
        "0001_a",
        "  0001_a",
        "0001_a",
        "'0001_a'",
    )
    assert key == "0001_a"
    assert {"0001_a": 1}[key] == {key: 1}["0001_a"] == 1
    assert key.split("_") == ["0001", "a"]
    assert key.startswith("00")
    assert "_" in key
    assert key + ".jpg" == "0001_a.jpg"
    assert "x" + key == "x0001_a"
    assert sorted([key, "0000"]) == ["0000", key]
    assert int(ByteStr(b"12")) == 12
    assert ByteStr(b"\xff\xd8") == "\xff\xd8"
    assert isinstance(pickle.loads(pickle.dumps(key)), ByteStr)


def test_a_character_or_a_number():
    data = ByteStr(b"ab")
    assert (data[0], list(data)) == (97, [97, 98])  # this module is not translated
    asked = {"_py2": py2, "data": data}
    exec("found = data[0], list(data), data[1:]", asked)
    assert asked["found"] == ("a", ["a", "b"], "b")


def test_codecs():
    assert py2.encode("abc", "hex") == "616263"
    assert py2.decode("616263", "hex") == "abc"
    assert py2.encode("é", "utf-8") == "é".encode()
    assert py2.decode("abc", "utf-8") == "abc"
    assert py2.decode(b"\xe9", "latin-1") == "é"
    assert py2.encode("é", "ascii", "ignore") == ""
    assert py2.join(",", [ByteStr(b"a"), "b"]) == "a,b"


# -- files -----------------------------------------------------------------------------------------


def test_any_bytes_go_through_text(tmp_path):
    path, data = str(tmp_path / "f"), bytes(range(256))
    with files.open(path, "w") as file:
        file.write("a")
        file.write(data)
    assert (tmp_path / "f").read_bytes() == b"a" + data
    text = files.open(path).read()
    assert isinstance(text, str)
    assert py2.as_bytes(text) == b"a" + data
    assert numpy.fromstring(text, dtype=np.uint8).tolist() == [97, *range(256)]


def test_text_goes_into_binary_files(tmp_path):
    path = str(tmp_path / "f")
    with files.open(path, "wb") as file:
        print("a", 1, file=file)
    with files.open(path, "rb") as file:
        assert [line.split(" ") for line in file] == [["a", "1\n"]]


@pytest.mark.parametrize("mode", ["r", "rb"])
def test_pickles_of_python_2(tmp_path, mode):
    # {'a': array([1, 2], dtype=uint8), 'b': '\xe9'}, by Python 2.7 and NumPy 1.16, protocol 2
    data = (
        b"\x80\x02}q\x01(U\x01acnumpy.core.multiarray\n_reconstruct\nq\x02cnumpy\nndarray\nq\x03K\x00"
        b"\x85U\x01b\x87Rq\x04(K\x01K\x02\x85cnumpy\ndtype\nq\x05U\x02u1K\x00K\x01\x87Rq\x06(K\x03U"
        b"\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89U\x02\x01\x02tbU\x01bU\x01\xe9u."
    )
    (tmp_path / "p").write_bytes(data)
    found = pickle2.load(files.open(str(tmp_path / "p"), mode))
    assert found["a"].tolist() == [1, 2]
    assert found["b"] == "é"


def test_pickles_go_round(tmp_path):
    path = str(tmp_path / "p")
    pickle2.dump([1, "é"], files.open(path, "w"), -1)
    assert pickle2.load(files.open(path)) == [1, "é"]
    assert pickle2.loads(pickle2.dumps({"a": np.ones(2)}))["a"].tolist() == [1, 1]
    assert files.StringIO("text").read() == "text"


def test_a_datum_takes_text():
    datum = Datum(data=py2.field(Datum(), "a\udcff"))
    assert datum.data == b"a\xff" and py2.field(np.zeros(1), "a") == "a"
    assert py2.decode("a\udcc3\udca9", "utf8") == py2.decode("aé", "utf-8") == "aé"
    with pytest.raises(UnicodeDecodeError):
        py2.decode("\udcff", "utf-8")


def test_an_lmdb_takes_text_and_is_opened_twice(tmp_path):
    path = str(tmp_path / "db")
    env = lmdb.open(path, map_size=1e7)
    with env.begin(write=True) as txn:
        txn.put("a", "1")
        txn.put(key=ByteStr(b"b"), value=b"2")
    again = lmdb.open(path, readonly=True)
    with again.begin() as txn:
        assert txn.get("a") == "1"
        assert list(txn.cursor()) == [("a", "1"), ("b", "2")]
        cursor = txn.cursor()
        assert py2.next_of(cursor)
        assert cursor.key() == "a"
    env.close()
    again.close()
    assert lmdb.open(path).stat()["entries"] == 2
    env = lmdb.open(path, map_size=1e7)
    with lmdb.Transaction(env=env, write=True) as txn:
        assert txn.get("x") is None and txn.put("x", "y")
    assert lmdb.Transaction(env).get("x") == "y"


def test_temporary_files_take_text(tmp_path):
    with tempfile.NamedTemporaryFile(dir=tmp_path, delete=False) as file:
        file.write("a net")
    assert files.open(file.name).read() == "a net"
    with tempfile.TemporaryFile(dir=tmp_path) as file:
        file.write("text")
        file.seek(0)
        assert file.read() == "text"


def test_bytes_by_their_numbers():
    text = "".join(map(builtins.chr_, range(256)))
    assert py2.as_bytes(text) == bytes(range(256))
    assert [builtins.ord_(c) for c in text] == list(range(256))
    assert hashlib.md5("abc").hexdigest() == "900150983cd24fb0d6963f7d28e17f72"
    assert zlib.decompress(zlib.compress(text)) == bytes(range(256))
    assert base64.b64encode("ab") == "YWI="


def test_other_modules():
    assert struct.unpack(">H", "ab") == (24930,)
    assert subprocess.check_output(["echo", "a b"]).split(" ") == ["a", "b\n"]
    out, _ = subprocess.Popen("cat", stdin=-1, stdout=-1).communicate("text")
    assert out == "text"
    assert isinstance(io.BytesIO(ByteStr(b"a")).read(), bytes)


def test_numpy_of_2015():
    assert (numpy.float, numpy.int, numpy.bool, numpy.object) == (float, int, bool, object)
    assert numpy.zeros((2.0, 3)).shape == (2, 3)
    assert numpy.array([[1], [1, 2]]).dtype == object
    assert numpy.array(np.ones(2), copy=False).shape == (2,)
    assert numpy.linspace is not np.linspace
    assert numpy.dot is np.dot
    names = {}
    exec("from pycaffe_dist.py2.shadows.numpy import *", names)
    assert "max" not in names
    assert names["zeros"] is numpy.zeros
    assert names["sum"](x for x in [1, 2]) == 3


def test_floats_are_indices_of_arrays_only():
    a = np.arange(12).reshape(3, 4)
    assert py2.item(a, (1.7, np.float32(2))) == 6
    np.testing.assert_array_equal(py2.item(a, 2.0), a[2])
    assert py2.item({0.5: "x"}, 0.5) == "x"
    assert (py2.place(a, 1.0, 2), py2.place(a, 2.5), py2.place({}, 0.5)) == ((1, 2), 2, 0.5)
    with pytest.raises(IndexError, match="out of bounds"):
        py2.item(a, 7)
    with pytest.raises(TypeError):
        py2.item([1, 2], 1.0)  # as in Python 2


def test_contours_have_an_image_in_front():
    assert py2.with_image(("contours", "hierarchy")) == (None, "contours", "hierarchy")
    assert py2.with_image(("image", "contours", "hierarchy"))[0] == "image"


def test_an_image_of_bytes_takes_what_is_subtracted_from_it():
    image = held = np.array([5, 3], np.uint8)
    image -= py2.less_by(np.array([1.5, 1.0]))
    assert image is held and image.tolist() == [3, 2]
    image -= py2.less_by(np.int64(2))
    assert image.tolist() == [1, 0]
    number = 5
    number -= py2.less_by(2)
    assert number == 3
    names = {"a", "b"}
    names -= py2.less_by({"a"})
    assert names == {"b"}


def test_numpy_stacks_what_a_generator_gives():
    assert numpy.vstack(x for x in ([1], [2])).tolist() == [[1], [2]]
    assert numpy.concatenate(iter(([1], [2]))).tolist() == [1, 2]
    assert numpy.hstack(([1], [2]), dtype=np.int8).dtype == np.int8
    assert numpy.cast["float32"]([1, 2]).dtype == np.float32


def test_classes_that_compare_by_cmp_have_an_order():
    class Box:
        def __init__(self, score):
            self.score = score

        def __cmp__(self, other):
            return builtins.NAMES["cmp"](self.score, other.score)

    low, high = Box(1), Box(2)
    assert py2.less(low, high) and not py2.greater_or_equal(low, high)
    assert builtins.sorted_([high, low]) == [low, high]
    assert builtins.max_([low, high]) is high


def test_an_array_is_not_nothing_and_says_so_once():
    boxes = np.zeros((3, 5))
    assert py2.equal(boxes, []) is False and py2.not_equal(boxes, []) is True
    assert py2.equal(boxes, None) is False and py2.not_equal(None, boxes) is True
    assert py2.equal([], []) is True and py2.not_equal(None, 0) is True
    np.testing.assert_array_equal(py2.equal(np.arange(2), [0, 5]), [True, False])
    np.testing.assert_array_equal(py2.not_equal(np.arange(2), [0, 5]), [False, True])


def test_sequences_have_the_order_of_what_differs_first():
    assert py2.less((None, 2), (1, None)) and py2.greater([1, "a"], [1, 2])
    assert builtins.sorted_([(1, "b"), (1, None), (None, 3)]) == [(None, 3), (1, None), (1, "b")]


def test_minus_of_truths_is_their_opposite():
    np.testing.assert_array_equal(py2.negative(np.array([True, False])), [False, True])
    np.testing.assert_array_equal(py2.negative(np.array([1, 2])), [-1, -2])
    assert py2.negative(3) == -3


def test_anything_has_a_form():
    assert py2.shown("{:>8}|{:4}", (1, 2), None) == "  (1, 2)|None"
    assert py2.shown("{a:.1f} {0}", [1], a=2) == "2.0 [1]"
    with pytest.raises(ValueError, match="Unknown format code"):
        py2.shown("{:d}", "text")


def test_bytes_are_text():
    assert builtins.NAMES["bytes"]("ab") == "ab" and isinstance("ab", builtins.NAMES["bytes"])
    assert str(builtins.NAMES["bytearray"]("ab")) == "ab"
    assert list(builtins.NAMES["bytearray"]([1, 2])) == [1, 2]


def test_methods_that_arrays_had():
    array = np.arange(6).reshape(2, 3)
    assert py2.ptp(array) == 5 and py2.ptp(array, axis=0).tolist() == [3, 3, 3]
    py2.itemset(array, 4, 9)
    py2.itemset(array, (0, 1), 8)
    py2.itemset(array, 0, 2, 7)
    assert array.tolist() == [[0, 8, 7], [3, 9, 5]]
    assert numpy.mat is np.asmatrix and numpy.alen([1, 2]) == 2

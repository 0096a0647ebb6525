"""Modules as Python 2 knew them, called directly."""

import json
import random
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from pycaffe_dist.py2.added import ADDED, add_names, opencv, pictures
from pycaffe_dist.py2.builtins import chr_, ord_
from pycaffe_dist.py2.compiled import bbox_overlaps
from pycaffe_dist.py2.shadows import (
    gzip,
    h5py,
    hashlib,
    lmdb,
    over,
    pickle,
    plyvel,
    struct,
    subprocess,
    yaml,
)
from pycaffe_dist.py2.strings import ByteStr

WRITES = [sys.executable, "-c", "import sys; sys.stdout.write('a\\nb\\n')"]


def test_programs_write_text():
    process = subprocess.Popen(WRITES, stdout=subprocess.PIPE)
    assert process.stdout.readline() == "a\n" and process.stdout.read() == "b\n"
    assert process.stderr is None and process.wait() == 0
    process.stdout.close()
    said, wrong = subprocess.Popen(WRITES, stdout=subprocess.PIPE).communicate()
    assert (said, wrong) == ("a\nb\n", None)
    assert subprocess.check_output(WRITES) == "a\nb\n"


def test_bytes_are_unpacked_from_a_place():
    packed = struct.pack("<2sHB", "ab", 513, 7)
    assert struct.unpack("<2sHB", packed) == ("ab", 513, 7)
    assert struct.unpack_from("<H", packed, 2) == (513,)
    assert struct.unpack_from("<2s", packed) == ("ab",)


def test_a_batch_is_written_once(tmp_path):
    database = plyvel.DB(str(tmp_path / "db"), create_if_missing=True)
    batch = database.write_batch()
    batch.put("a", "1")
    batch.put("b", "2")
    batch.write()
    assert batch.changes == []
    database.delete("a")
    batch.write()  # nothing is left in it
    database.put("c", "3")
    assert database.get("a", "gone") == "gone" and database.get("b") == "2"
    assert list(database.iterator(stop="c")) == [("b", "2")]
    assert list(database.iterator(reverse=True, include_value=False)) == ["c", "b"]
    assert list(database.iterator(start="c", include_key=False)) == ["3"]
    assert list(database.iterator(prefix="b")) == [("b", "2")]
    database.close()


def test_a_star_takes_the_real_names_and_ours():
    real = SimpleNamespace(there=1, _hidden=2)
    names = {"OURS": ("mine", "_not"), "mine": 1, "_not": 2, "helper": 3, "_import": 4}
    get = over(real, names)
    assert get("__all__") == ["mine", "there"] and get("there") == 1
    real.__all__ = ["there", "other"]
    assert get("__all__") == ["mine", "other", "there"]
    with pytest.raises(AttributeError):
        get("none")


def test_characters_are_bytes():
    assert [ord_(chr_(code)) for code in (0, 65, 127, 128, 200, 255)] == [0, 65, 127, 128, 200, 255]
    first = ord(chr_(255)) + 1  # behind the last that stands for a byte
    assert ord_(chr(first)) == first and ord_(7) == 7
    before = ord(chr_(128)) - 1
    assert ord_(chr(before)) == before


def test_a_shuffle_takes_a_source_of_its_own():
    names = ("sample", "shuffle", "randint", "randrange")
    module = SimpleNamespace(**{name: getattr(random, name) for name in names})
    assert ADDED["random"](module)["jumpahead"](3) is None
    items, given = list("abcd"), iter([0.0, 0.99, 0.5])
    module.shuffle(items, lambda: next(given))
    # d and a change places; then c stays; then, of b and d, b stays.
    assert items == list("dbca")
    assert sorted(module.sample({1, 2, 3}, 3.0)) == [1, 2, 3]


def test_any_seed_will_do():
    seeds: list[object] = []
    module = SimpleNamespace(sample=random.sample, shuffle=random.shuffle, seed=seeds.append)
    ADDED["random"](module)
    for seed in (np.int64(3), "a", (1, 2), None):
        module.seed(seed)
    assert seeds == [3, "a", hash((1, 2)), None]


def test_json_has_numpys_usual_integers():
    module = SimpleNamespace(**{n: getattr(json, n) for n in ("dump", "dumps", "load", "loads")})
    ADDED["json"](module)
    assert module.dumps({"id": np.arange(3)[2], "key": ByteStr(b"a")}) == '{"id": 2, "key": "a"}'
    with pytest.raises(TypeError, match="not JSON serializable"):
        module.dumps(np.float32(1))


def test_overlaps_are_of_corners_alone():
    rows = np.array([[0, 0, 9, 9, 0.5, 3], [5, 0, 14, 9, 0.1, 4]])
    np.testing.assert_allclose(
        bbox_overlaps(rows, rows[:, :5]), bbox_overlaps(rows[:, :4], rows[:, :4])
    )
    np.testing.assert_allclose(bbox_overlaps(rows, rows), [[1, 1 / 3], [1 / 3, 1]])


@pytest.mark.parametrize("headless", [True, False])
def test_windows_of_opencv_are_left_out_where_there_is_no_screen(monkeypatch, headless):
    kinds = {"IMREAD_UNCHANGED": -1, "IMREAD_GRAYSCALE": 0, "IMREAD_COLOR": 1, "LINE_AA": 16}
    module = SimpleNamespace(imshow=lambda *words: 7, waitKey=lambda delay: 8, **kinds)
    monkeypatch.setattr(opencv, "headless", lambda: headless)
    added = ADDED["cv2"](module)
    assert added["CV_LOAD_IMAGE_COLOR"] == 1
    assert (module.imshow("a", None), module.waitKey(5)) == ((None, -1) if headless else (7, 8))


@pytest.mark.parametrize(("kind", "words"), [("f4", {"data_range": 2.0}), ("u1", {})])
def test_likeness_of_floats_is_from_minus_one_to_one(monkeypatch, kind, words):
    asked = []

    def structural_similarity(*images, **words):
        asked.append(words)

    metrics = SimpleNamespace(structural_similarity=structural_similarity)
    monkeypatch.setattr(pictures.importlib, "import_module", lambda name: metrics)
    image = np.zeros((8, 8), kind)
    ADDED["skimage.measure"](SimpleNamespace())["compare_ssim"](image, image)
    assert {name: asked[0].get(name) for name in words} == words
    assert ("data_range" in asked[0]) == bool(words)


def test_names_are_added_and_none_is_replaced(monkeypatch):
    monkeypatch.setitem(ADDED, "thing", lambda module: {"there": 1, "gone": 2})
    module = SimpleNamespace(__name__="thing", there=0)
    add_names(module)
    assert (module.there, module.gone) == (0, 2)


def test_yaml_needs_no_loader():
    assert yaml.load("a: 1") == {"a": 1}
    assert [*yaml.load_all("a: 1\n---\nb: 2")] == [{"a": 1}, {"b": 2}]


@pytest.mark.parametrize(("asked", "used"), [(None, 2), (-1, 2), (5, 2), (2, 2), (1, 1), (0, 0)])
def test_pickles_are_such_as_python_2_reads(asked, used):
    made = pickle.dumps([1, "a"], asked).encode("latin-1")
    assert made.startswith(b"\x80\x02") == (used == 2) and made.startswith(b"(l") == (used == 0)
    assert pickle.loads(made) == [1, "a"]


def test_a_file_without_a_mode_is_made_or_changed(tmp_path):
    for name in ("a", "b"):
        with h5py.File(tmp_path / "file.h5") as file:
            file[name] = 1
    with h5py.File(tmp_path / "file.h5", "r") as file:
        assert (file.mode, [*file]) == ("r", ["a", "b"])


def test_sums_of_text():
    assert hashlib.new("sha1", "abc").hexdigest().startswith("a9993e36")
    assert hashlib.new("md5").hexdigest() == hashlib.md5("").hexdigest()


def test_a_database_takes_its_size_by_place(tmp_path):
    environment = lmdb.open(tmp_path / "db", 1 << 20)
    assert environment.info()["map_size"] == 1 << 20
    environment.close()


def test_gzip_reads_and_writes_text(tmp_path):
    path = str(tmp_path / "a.gz")
    with gzip.open(path, "w") as file:
        file.write("a,b\nc")
    with gzip.open(path) as file:
        assert [line.strip().split(",") for line in file] == [["a", "b"], ["c"]]
    with gzip.GzipFile(path, "rb") as file:
        assert file.read(1) + "x" == "ax"

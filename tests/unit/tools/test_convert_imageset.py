import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from pycaffe_dist.data.database import records_of
from pycaffe_dist.data.datum import datum_pixels, parse_datum
from pycaffe_dist.data.image_list import read_image_list
from pycaffe_dist.errors import FileError, PcdError
from pycaffe_dist.tools.convert_imageset import ImagesetOptions, class_folders, convert_imageset

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "data"
ROOT = f"{GOLDEN}/images/"
ENTRIES = read_image_list(str(GOLDEN / "list.txt"))


def convert(folder, entries=ENTRIES, root=ROOT, **options):
    path = str(folder / "db")
    converted = convert_imageset(root, entries, path, ImagesetOptions(**options))
    return converted, list(records_of(path, options.get("backend", "lmdb")))


def recorded(name):
    return list(records_of(str(GOLDEN / name), "lmdb"))


@pytest.fixture
def pictures(tmp_path):
    """a.png 4x6 in colour, b.PNG grey, c.jpeg, d.txt no image."""
    folder = tmp_path / "pictures"
    folder.mkdir()
    colors = np.random.RandomState(0).randint(0, 256, (4, 6, 3)).astype(np.uint8)
    Image.fromarray(colors).save(folder / "a.png")
    Image.fromarray(colors[:, :, 0]).save(folder / "b.PNG")
    Image.fromarray(colors).save(folder / "c.jpeg")
    (folder / "d.txt").write_text("no image")
    return f"{folder}/"


class TestRecordedDatabases:
    """Written by Caffe's own tool from the same images."""

    def test_color(self, tmp_path):
        _, records = convert(tmp_path, resize_height=40, resize_width=44)
        assert records == recorded("lmdb_color")

    def test_gray_leveldb(self, tmp_path):
        _, records = convert(
            tmp_path, resize_height=28, resize_width=28, gray=True, backend="leveldb"
        )
        assert records == list(records_of(str(GOLDEN / "leveldb_gray"), "leveldb"))

    def test_encoded_files_as_they_are(self, tmp_path):
        _, records = convert(tmp_path, encoded=True)
        assert records == recorded("lmdb_encoded_raw")

    def test_encoded_anew(self, tmp_path):
        _, records = convert(tmp_path, resize_height=40, resize_width=44, encode_type="png")
        expected = recorded("lmdb_encoded")
        assert [key for key, _ in records] == [key for key, _ in expected]
        for (_, ours), (_, theirs) in zip(records, expected, strict=True):
            a, b = parse_datum(ours), parse_datum(theirs)
            np.testing.assert_array_equal(datum_pixels(a), datum_pixels(b))
            a.data = b.data  # compressed by different libraries
            assert a == b


class TestEncoding:
    def data(self, tmp_path, root, name, **options):
        _, records = convert(tmp_path, [(name, 3)], root, **options)
        datum = parse_datum(records[0][1])
        assert (datum.encoded, datum.label, datum.HasField("channels")) == (True, 3, False)
        return datum.data, Path(root + name).read_bytes()

    @pytest.mark.parametrize(
        ("name", "options"),
        [
            ("a.png", {"encoded": True}),
            ("a.png", {"encoded": True, "gray": True}),  # as in Caffe
            ("b.PNG", {"encoded": True}),
            ("b.PNG", {"encode_type": "PNG"}),
            ("c.jpeg", {"encode_type": "jpg"}),
        ],
    )
    def test_matching_files_are_kept_as_they_are(self, tmp_path, pictures, name, options):
        stored, original = self.data(tmp_path, pictures, name, **options)
        assert stored == original

    @pytest.mark.parametrize(
        ("name", "options", "magic"),
        [
            ("a.png", {"encode_type": "jpg"}, b"\xff\xd8"),
            ("c.jpeg", {"encode_type": "png"}, b"\x89PNG"),
            ("a.png", {"encoded": True, "resize_height": 2, "resize_width": 2}, b"\x89PNG"),
            ("c.jpeg", {"encoded": True, "resize_height": 2}, b"\xff\xd8"),
        ],
    )
    def test_others_are_encoded_anew(self, tmp_path, pictures, name, options, magic):
        stored, original = self.data(tmp_path, pictures, name, **options)
        assert stored != original
        assert stored.startswith(magic)

    def test_kind_that_cannot_be_guessed_or_written(self, tmp_path, pictures):
        Path(pictures, "bare").write_bytes(Path(pictures, "a.png").read_bytes())
        with pytest.raises(PcdError, match="bare: has no extension"):
            convert(tmp_path, [("bare", 0)], pictures, encoded=True)
        with pytest.raises(PcdError, match=r"a\.png: images cannot be encoded as 'xyz'"):
            convert(tmp_path, [("a.png", 0)], pictures, encode_type="xyz")
        assert not (tmp_path / "db").exists()


def test_unreadable_files_are_named_and_leave_a_gap_in_the_keys(tmp_path, pictures):
    entries = [("a.png", 1), ("none.png", 1), ("d.txt", 2), ("b.PNG", 2)]
    converted, records = convert(tmp_path, entries, pictures, threads=2)
    assert [key for key, _ in records] == [b"00000000_a.png", b"00000003_b.PNG"]
    assert converted.labels == {1: 1, 2: 1}
    assert len(converted.unreadable) == 2
    assert converted.unreadable[0].startswith(f"{pictures}none.png: cannot be read")
    assert converted.unreadable[1].startswith(f"{pictures}d.txt: is not a readable image")


def test_when_nothing_can_be_read_nothing_is_made(tmp_path, pictures):
    with pytest.raises(FileError, match=r"none of the 1 images(.|\n)*end in a slash"):
        convert(tmp_path, [("a.png", 1)], pictures.rstrip("/"))
    assert [p.name for p in tmp_path.iterdir()] == ["pictures"]


def test_check_size(tmp_path, pictures):
    with pytest.raises(FileError, match=r"b\.PNG: has 72 values, .*small\.png has 12"):
        Image.new("RGB", (2, 2)).save(f"{pictures}small.png")
        convert(tmp_path, [("small.png", 0), ("b.PNG", 0)], pictures, check_size=True)
    assert not (tmp_path / "db").exists()
    _, records = convert(tmp_path, [("a.png", 0), ("b.PNG", 0)], pictures, check_size=True)
    assert len(records) == 2
    with pytest.raises(PcdError, match="Leave one of them out"):
        convert(tmp_path, check_size=True, encoded=True)


def test_shuffle_numbers_the_shuffled_lines(tmp_path):
    (tmp_path / "1").mkdir()
    (tmp_path / "2").mkdir()
    _, first = convert(tmp_path / "1", shuffle=True, seed=7)
    _, second = convert(tmp_path / "2", shuffle=True, seed=7, threads=1)
    assert first == second
    names = [key.decode()[9:] for key, _ in first]
    assert [int(key[:8]) for key, _ in first] == list(range(24))
    assert names != sorted(names) == [name for name, _ in ENTRIES]
    labels = dict(ENTRIES)
    assert [parse_datum(value).label for _, value in first] == [labels[name] for name in names]


def test_label_range_and_subsampling(tmp_path):
    converted, _ = convert(tmp_path, label_range=1, encoded=True)
    assert converted.labels == {0: 4, 1: 4}
    shutil.rmtree(tmp_path / "db")
    converted, records = convert(tmp_path, subsampling=0.5, seed=1, encoded=True)
    assert 4 <= converted.count <= 20
    assert [int(key[:8]) for key, _ in records] == list(range(converted.count))
    for options in ({"subsampling": 0.0}, {"subsampling": 1.5}):
        with pytest.raises(PcdError, match="above 0, up to 1"):
            convert(tmp_path, **options)
    with pytest.raises(PcdError, match="leave no image"):
        convert(tmp_path, [("a.png", 7)], label_range=3)


def test_names_that_are_no_utf8(tmp_path, pictures):
    name = b"gr\xfcn.png".decode(errors="surrogateescape")
    shutil.copyfile(f"{pictures}a.png", pictures + name)
    _, records = convert(tmp_path, [(name, 0)], pictures)
    assert records[0][0] == b"00000000_gr\xfcn.png"


def test_class_folders(tmp_path, pictures):
    for place in ("zebra/young", "ant", ".hidden"):
        Path(pictures, place).mkdir(parents=True)
    for file in ("zebra/2.png", "zebra/1.png", "zebra/young/3.png", "ant/9.png", ".hidden/x.png"):
        shutil.copyfile(f"{pictures}a.png", f"{pictures}{file}")
    Path(pictures, "ant", ".DS_Store").write_text("")
    entries, classes = class_folders(pictures)
    assert classes == ["ant", "zebra"]
    assert entries == [
        ("ant/9.png", 0),
        ("zebra/1.png", 1),
        ("zebra/2.png", 1),
        ("zebra/young/3.png", 1),
    ]


def test_folders_that_are_no_classes(tmp_path):
    with pytest.raises(FileError, match="cannot be read"):
        class_folders(str(tmp_path / "none"))
    with pytest.raises(FileError, match="a folder for each class"):
        class_folders(str(tmp_path))

"""Damaged pages, which LMDB itself would follow until the process is ended by a signal."""

import struct
from contextlib import closing

import lmdb
import pytest

from pycaffe_dist.data import lmdb_pages
from pycaffe_dist.data.lmdb_pages import check_pages
from pycaffe_dist.data.lmdb_source import LMDBSource
from pycaffe_dist.data.lmdb_writer import write_lmdb
from pycaffe_dist.errors import FileError

PAGE = 4096
# What a value of one to eight bytes is overwritten with.
WRONG = [b"\0" * 8, b"\xff" * 8, b"\x01\0\0\0\0\0\0\0", b"\0\x10", b"\xff\x7f", b"\x04\0"]


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    """Two levels of pages; values in leaves and, at the end, on pages of their own."""
    path = tmp_path_factory.mktemp("lmdb") / "db"
    records = [(b"%08d" % i, b"v" * (300 if i < 40 else 9000)) for i in range(50)]
    write_lmdb(path, records)
    return (path / "data.mdb").read_bytes()


@pytest.fixture
def database(tmp_path, content):
    def write(at=0, new=b"", size=None):
        changed = content[:at] + new + content[at + len(new) :]
        (tmp_path / "data.mdb").write_bytes(changed[:size])
        return str(tmp_path)

    return write


def read_all(path):
    with closing(LMDBSource(path)) as source:
        return [source.read() for _ in range(60)]


def pages_of(content, kind):
    heads = ((at, struct.unpack_from("<QHH", content, at)) for at in range(0, len(content), PAGE))
    return [at for at, (number, _, flags) in heads if flags == kind and number == at // PAGE]


def test_a_sound_file(database):
    assert len({key for key, _ in read_all(database())}) == 50


def test_all_kinds_of_databases(tmp_path):
    """One page, many pages, keys of all lengths, and what an older file leaves behind."""
    for count, size in ((1, 1), (3, 100_000), (5000, 20), (300, 2000)):
        path = tmp_path / f"{count}"
        write_lmdb(path, ((b"%d" % i + b"k" * (i % 400), bytes(size)) for i in range(count)))
        check_pages(str(path / "data.mdb"), "db")
    with lmdb.open(str(tmp_path / "old")) as environment:
        for turn in range(3):
            with environment.begin(write=True) as transaction:
                for i in range(turn, 500, 2):
                    transaction.delete(b"%d" % i)
                    transaction.put(b"%d" % i, bytes(i * turn))
    check_pages(str(tmp_path / "old" / "data.mdb"), "db")
    with lmdb.open(str(tmp_path / "none")):
        pass
    check_pages(str(tmp_path / "none" / "data.mdb"), "db")


@pytest.mark.parametrize("kind", [1, 2], ids=["branch", "leaf"])
@pytest.mark.parametrize("new", WRONG, ids=bytes.hex)
def test_damaged_pages_are_refused_or_read(database, content, kind, new, in_child):
    """In a process of its own: a signal would end it."""
    pages = pages_of(content, kind)
    assert pages

    def survive():
        for page in pages[:3]:
            for at in [*range(0, 32, 2), *range(PAGE - 64, PAGE, 4)]:
                path = database(page + at, new[: PAGE - at])
                try:
                    read_all(path)
                except FileError as e:
                    assert str(e).startswith(path)
        return True

    in_child(survive)


@pytest.mark.parametrize(
    ("at", "new", "said"),
    [
        (16, b"\0", "it begins with"),
        (40, b"\0\0\0\0", "a page size of 0"),
        (PAGE + 40, b"\1\0\0\0", "a page size of 1"),
        (PAGE + 92, b"\4\0", "flags 4"),
        (PAGE + 94, b"\xff\xff", "a tree of depth 65535"),
        (PAGE + 136, b"\xff\xff\xff", "is cut short"),
    ],
)
def test_damaged_meta_pages(database, at, new, said):
    # The transaction of the second counts as the later one.
    with pytest.raises(FileError, match=said):
        read_all(database(at, new))


@pytest.mark.parametrize("word", [b"\x08\0", b"\xfa\x0f", b"\x21\x0f"], ids=bytes.hex)
def test_a_node_outside_of_its_page(database, content, word):
    """Among the node offsets, behind the last place of one, odd."""
    path = database(pages_of(content, 2)[0] + 16, word)
    with pytest.raises(FileError, match=r"page \d+ has nodes outside of itself"):
        read_all(path)


@pytest.mark.parametrize("root", [0, 1, 100_000, 1 << 62])
def test_a_root_that_is_no_page(database, content, root):
    for meta in (0, PAGE):
        content = content[: meta + 128] + struct.pack("<Q", root) + content[meta + 136 :]
    path = database(0, content)
    with pytest.raises(FileError, match="is a damaged LMDB, make it again: "):
        read_all(path)


def test_more_records_than_there_are(database, content, monkeypatch):
    for meta in (0, PAGE):
        content = content[: meta + 120] + struct.pack("<Q", 999) + content[meta + 128 :]
    path = database(0, content)
    with pytest.raises(FileError, match="it has 50 records, and claims 999"):
        read_all(path)
    monkeypatch.setattr(lmdb_pages, "MOST_LEAVES", 1)  # as in a database too large to look at
    with closing(LMDBSource(path)) as source, pytest.raises(FileError, match="999 records it cl"):
        source.seek(998)


@pytest.mark.parametrize("size", [0, 10, 600, 5000, 9000])
def test_cut_short(database, size):
    with pytest.raises(FileError):
        read_all(database(size=size))


def test_a_device():
    with pytest.raises(FileError, match="it is a device"):
        LMDBSource("/dev/zero")

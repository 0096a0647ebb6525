"""Files with a checksum, read in pieces whose checksum a thread computes meanwhile."""

import threading

import numpy as np
import pytest

from pycaffe_dist.errors import FileError
from pycaffe_dist.proto import seal

PIECE = 16
MOST = 1 << 20


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    monkeypatch.setattr(seal, "_CHUNK", PIECE)


@pytest.fixture
def content():
    return np.random.default_rng(1).bytes(5 * PIECE + 3)


def sealed(path, content, end):
    first, _ = seal.seal([content])
    path.write_bytes(content + first if end else first + content)
    return path


def read(path, end):
    found, checksum = seal.load_end(path) if end else seal.load(path, MOST)
    return found.tobytes(), checksum


@pytest.mark.parametrize("end", [False, True], ids=["in front", "behind"])
def test_all_pieces_are_read_and_checked(tmp_path, content, end):
    for size in (0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE, len(content)):
        path = sealed(tmp_path / "file", content[:size], end)
        assert read(path, end) == (content[:size], seal.seal([content[:size]])[1])


@pytest.mark.parametrize("end", [False, True], ids=["in front", "behind"])
def test_every_flipped_bit_is_noticed(tmp_path, content, end):
    whole = bytearray(sealed(tmp_path / "file", content, end).read_bytes())
    for bit in range(8 * len(whole)):
        whole[bit // 8] ^= 1 << bit % 8
        (tmp_path / "file").write_bytes(whole)
        with pytest.raises(FileError, match="damaged"):
            read(tmp_path / "file", end)
        whole[bit // 8] ^= 1 << bit % 8
    (tmp_path / "file").write_bytes(whole)
    assert read(tmp_path / "file", end)[0] == content


def test_a_file_without_a_seal_needs_no_thread(tmp_path, content, monkeypatch):
    (tmp_path / "file").write_bytes(content)
    monkeypatch.setattr(seal, "_Checksum", None)
    assert read(tmp_path / "file", False) == (content, None)


class Fails:
    """A file whose second piece cannot be read."""

    def __init__(self):
        self.reads = 0

    def readinto(self, view):
        self.reads += 1
        if self.reads == 2:
            raise OSError("Input/output error")
        return len(view)


def test_the_thread_ends_where_reading_fails(content):
    before = threading.active_count()
    with pytest.raises(OSError, match="Input/output"):
        seal._fill(Fails(), memoryview(bytearray(content)), True)
    assert threading.active_count() == before

import json

import numpy as np
import pytest

from pycaffe_dist.errors import FileError
from pycaffe_dist.sidecar import read as read_sidecar

FACTS = {"files": {"a.caffemodel": [3, 4]}, "ranks": 1, "notes": {}, "layers": {}, "rng": []}


@pytest.fixture
def written(tmp_path):
    def write(facts, **arrays):
        path = tmp_path / "s.pcdstate"
        with path.open("wb") as file:
            np.savez(file, facts=np.frombuffer(json.dumps(facts).encode(), np.uint8), **arrays)
        return path

    return write


def test_what_we_write(written):
    arrays, facts = read_sidecar(written(FACTS, rng=np.arange(3)))
    assert facts == FACTS | {"checksums": [], "arrays": {}}
    assert arrays["rng"].tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    "change",
    [
        *(
            {name: value}
            for name in ("checksums", "files", "notes", "layers")
            for value in (None, "x")
        ),
        {"files": {"a": 3}},
        {"files": {"a": [1, 2, 3]}},
        {"files": {"a": ["x", 2]}},
        {"files": [1]},
    ],
    ids=str,
)
def test_facts_of_other_types(written, change):
    with pytest.raises(
        FileError, match=r"s.pcdstate: is damaged, .*remove it to continue without it"
    ):
        read_sidecar(written(FACTS | change))


@pytest.mark.parametrize("facts", [[], 3, None, "x"])
def test_facts_of_another_shape(written, facts):
    with pytest.raises(FileError, match="remove it to continue"):
        read_sidecar(written(facts))


def test_facts_nested_deeply(tmp_path):
    path = tmp_path / "s.pcdstate"
    with path.open("wb") as file:
        np.savez(file, facts=np.frombuffer(b"[" * 100_000, np.uint8))
    with pytest.raises(FileError, match="remove it to continue"):
        read_sidecar(path)

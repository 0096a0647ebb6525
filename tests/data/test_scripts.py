import hashlib
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import lmdb
import numpy as np
import pytest

from pycaffe_dist.proto import caffe_pb2
from pycaffe_dist.tools.convert_mnist_data import read_images, read_labels

REPOSITORY = Path(__file__).resolve().parents[2]
DATA = REPOSITORY / "data"
REAL_MNIST = REPOSITORY.parent / "shared" / "datasets" / "mnist"
CIFAR_BATCHES = [*(f"data_batch_{i}.bin" for i in range(1, 6)), "test_batch.bin"]


def run(script, *arguments, cwd):
    return subprocess.run(
        [sys.executable, DATA / script, *map(str, arguments)],
        cwd=cwd,
        capture_output=True,
        text=True,
        env={**os.environ, "no_proxy": "*"},
        timeout=150,
    )


def succeed(script, *arguments, cwd):
    done = run(script, *arguments, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout


def fail(script, *arguments, cwd):
    done = run(script, *arguments, cwd=cwd)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    return done.stderr


def read_all(path):
    with lmdb.open(str(path), readonly=True, lock=False) as env, env.begin() as transaction:
        return list(transaction.cursor())


def datums(path):
    return [caffe_pb2.Datum.FromString(value) for _, value in read_all(path)]


@pytest.fixture
def closed_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{s.getsockname()[1]}/"


DIGITS_LABELS = {
    "digits_train_lmdb": [136, 154, 151, 135, 143, 143, 151, 153, 138, 133],
    "digits_test_lmdb": [42, 28, 26, 48, 38, 39, 30, 26, 36, 47],
}
# of all keys and values: they are the same on every machine and with every version
DIGITS_SHA256 = {
    "digits_train_lmdb": "138b2ce74ac3460a27b7bba420e14102652273473693b74972b2138780b7eade",
    "digits_test_lmdb": "78082c00bae26750fd6c07a89e8cc4d97ffbf80ccdb80810dc9e8445f2f8ca3d",
}


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    folder = tmp_path_factory.mktemp("digits")
    succeed("digits/create_digits.py", "--out", folder, cwd=folder)
    return folder


class TestDigits:
    SCRIPT = "digits/create_digits.py"

    @pytest.mark.parametrize("name", DIGITS_LABELS)
    def test_counts_shapes_and_labels(self, digits, name):
        records = datums(digits / name)
        assert {(d.channels, d.height, d.width, len(d.data)) for d in records} == {(1, 28, 28, 784)}
        assert np.bincount([d.label for d in records]).tolist() == DIGITS_LABELS[name]

    @pytest.mark.parametrize("name", DIGITS_LABELS)
    def test_keys_and_values_never_change(self, digits, name):
        records = read_all(digits / name)
        assert [key for key, _ in records] == [b"%08d" % i for i in range(len(records))]
        content = b"".join(key + value for key, value in records)
        assert hashlib.sha256(content).hexdigest() == DIGITS_SHA256[name]

    def test_two_runs_give_equal_records(self, digits, tmp_path):
        succeed(self.SCRIPT, "--out", "again", cwd=tmp_path)
        for name in DIGITS_LABELS:
            assert read_all(tmp_path / "again" / name) == read_all(digits / name)

    def test_every_fifth_image_is_for_testing(self, digits):
        labels = np.load(DATA / "digits" / "digits.npz")["labels"]
        test = [d.label for d in datums(digits / "digits_test_lmdb")]
        train = [d.label for d in datums(digits / "digits_train_lmdb")]
        assert test == labels[::5].tolist()
        assert train == [label for i, label in enumerate(labels) if i % 5]

    def test_pixels_are_the_bilinear_enlargement_in_a_black_margin(self, digits):
        small = np.load(DATA / "digits" / "digits.npz")["images"][0] * (255 / 16)
        pixels = np.frombuffer(datums(digits / "digits_test_lmdb")[0].data, np.uint8).reshape(
            28, 28
        )
        centres = np.clip((np.arange(20) + 0.5) * 8 / 20 - 0.5, 0, 7)
        wide = np.array([np.interp(centres, np.arange(8), row) for row in small])
        large = np.array([np.interp(centres, np.arange(8), column) for column in wide.T]).T
        assert np.abs(pixels[4:24, 4:24] - large).max() <= 0.5 + 1e-9
        margin = pixels.copy()
        margin[4:24, 4:24] = 0
        assert not margin.any()
        assert pixels.max() > 200

    def test_complete_databases_are_left_alone(self, digits):
        before = [(digits / name).stat().st_ino for name in DIGITS_LABELS]
        said = succeed(self.SCRIPT, "--out", digits, cwd=digits)
        assert said.count("already complete") == 2
        assert [(digits / name).stat().st_ino for name in DIGITS_LABELS] == before

    def test_something_else_under_the_name_is_not_overwritten(self, tmp_path):
        (tmp_path / "digits_train_lmdb").mkdir()
        (tmp_path / "digits_train_lmdb" / "notes").write_text("mine")
        assert "--force" in fail(self.SCRIPT, "--out", tmp_path, cwd=tmp_path)
        said = fail(self.SCRIPT, "--out", tmp_path, "--force", cwd=tmp_path)
        assert "is not replaced" in said
        assert (tmp_path / "digits_train_lmdb" / "notes").read_text() == "mine"

    def test_force_replaces_a_database_with_missing_records(self, tmp_path):
        lmdb.open(str(tmp_path / "digits_test_lmdb")).close()
        said = fail(self.SCRIPT, "--out", tmp_path, cwd=tmp_path)
        assert "holds 0 records, expected 360" in said
        succeed(self.SCRIPT, "--out", tmp_path, "--force", cwd=tmp_path)
        assert len(read_all(tmp_path / "digits_test_lmdb")) == 360


class TestMnist:
    SCRIPT = "mnist/get_mnist.py"

    @pytest.mark.skipif(not REAL_MNIST.is_dir(), reason="no ../shared beside the repository")
    def test_real_files_become_caffes_databases(self, tmp_path):
        succeed(self.SCRIPT, "--from", REAL_MNIST, "--out", tmp_path, cwd=tmp_path)
        for name, part, count in (("train", "train", 60000), ("test", "t10k", 10000)):
            images = read_images(REAL_MNIST / f"{part}-images-idx3-ubyte.gz")
            labels = read_labels(REAL_MNIST / f"{part}-labels-idx1-ubyte.gz")
            records = read_all(tmp_path / f"mnist_{name}_lmdb")
            assert len(records) == count
            for index in (0, count - 1):
                key, value = records[index]
                assert key == b"%08d" % index
                datum = caffe_pb2.Datum.FromString(value)
                assert (datum.channels, datum.height, datum.width) == (1, 28, 28)
                assert datum.data == images[index].tobytes()
                assert datum.label == labels[index]

    def test_no_network(self, closed_port, tmp_path):
        said = fail(self.SCRIPT, "--mirror", closed_port, "--out", tmp_path, cwd=tmp_path)
        assert f"{closed_port}train-images-idx3-ubyte.gz: " in said
        assert "\n  t10k-labels-idx1-ubyte.gz\n" in said
        assert said.endswith(f"Then run: python {DATA / self.SCRIPT} --from DIR\n")
        assert list(tmp_path.glob("*_lmdb")) == []

    def test_folder_without_the_files(self, tmp_path):
        said = fail(self.SCRIPT, "--from", tmp_path, "--out", tmp_path, cwd=tmp_path)
        assert "neither train-images-idx3-ubyte nor train-images-idx3-ubyte.gz" in said

    def test_file_with_other_content(self, tmp_path):
        (tmp_path / "train-images-idx3-ubyte").write_bytes(b"zeros")
        said = fail(self.SCRIPT, "--from", tmp_path, "--out", tmp_path, cwd=tmp_path)
        assert "expected 6bbc9ace898e44ae57da46a324031adb, actual " in said
        assert hashlib.md5(b"zeros").hexdigest() in said


class TestCifar10:
    SCRIPT = "cifar10/get_cifar10.py"

    @pytest.fixture
    def originals(self, tmp_path):
        """Batch b: image i has label (b + i) % 10, and red, green and blue planes of its own."""
        folder = tmp_path / "originals" / "cifar-10-batches-bin"
        folder.mkdir(parents=True)
        rows = np.zeros((10000, 3, 1024), np.uint8)
        rows += np.array([10, 20, 30], np.uint8)[:, np.newaxis]
        for number, name in enumerate(CIFAR_BATCHES):
            labels = (number + np.arange(10000)) % 10
            batch = np.column_stack([labels.astype(np.uint8), rows.reshape(10000, -1)])
            batch.tofile(folder / name)
        yield folder.parent
        shutil.rmtree(tmp_path)  # half a gigabyte that pytest would keep for three runs

    def test_batches_become_caffes_databases(self, originals, tmp_path):
        succeed(self.SCRIPT, "--from", originals, "--out", tmp_path, cwd=tmp_path)
        train = read_all(tmp_path / "cifar10_train_lmdb")
        test = read_all(tmp_path / "cifar10_test_lmdb")
        assert [key for key, _ in train] == [b"%05d" % i for i in range(50000)]
        assert [key for key, _ in test] == [b"%05d" % i for i in range(10000)]
        datum = caffe_pb2.Datum.FromString(train[20003][1])
        assert (datum.channels, datum.height, datum.width, datum.label) == (3, 32, 32, 5)
        assert datum.data == bytes([10]) * 1024 + bytes([20]) * 1024 + bytes([30]) * 1024
        assert caffe_pb2.Datum.FromString(test[1][1]).label == 6

    def test_archive_with_a_wrong_checksum(self, tmp_path):
        (tmp_path / "cifar-10-binary.tar.gz").write_bytes(b"half an archive")
        said = fail(self.SCRIPT, "--from", tmp_path, "--out", tmp_path, cwd=tmp_path)
        assert "expected c32a1d4ab5d03f1284b67883e8d87530, actual " in said
        assert hashlib.md5(b"half an archive").hexdigest() in said

    def test_cut_batch(self, tmp_path):
        for name in CIFAR_BATCHES:
            (tmp_path / name).write_bytes(bytes(3073))
        said = fail(self.SCRIPT, "--from", tmp_path, "--out", tmp_path, cwd=tmp_path)
        assert "data_batch_1.bin: has 3073 bytes, expected 30730000" in said
        assert list(tmp_path.glob("*_lmdb")) == []

    def test_folder_without_the_files(self, tmp_path):
        said = fail(self.SCRIPT, "--from", tmp_path / "none", "--out", tmp_path, cwd=tmp_path)
        assert "holds neither cifar-10-binary.tar.gz nor data_batch_1.bin" in said

    def test_no_network(self, closed_port, tmp_path):
        said = fail(self.SCRIPT, "--mirror", closed_port, "--out", tmp_path, cwd=tmp_path)
        assert f"{closed_port}cifar-10-binary.tar.gz: " in said
        assert said.endswith(f"Then run: python {DATA / self.SCRIPT} --from DIR\n")
        assert list(tmp_path.glob("*_lmdb")) == []

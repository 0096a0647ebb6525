import os

import numpy as np
import pytest
import warm

from pycaffe_dist.data.database import records_of, write_database
from pycaffe_dist.data.datum import datum_pixels, parse_datum
from pycaffe_dist.data.lmdb_writer import image_record
from pycaffe_dist.loading import save_weights
from pycaffe_dist.net import Net
from pycaffe_dist.proto.nets import read_net

NET = """
layer { name: "data" type: "Data" top: "data" top: "label"
  data_param { source: "db" batch_size: 2 backend: LMDB } }
layer { name: "ip" type: "InnerProduct" bottom: "data" top: "ip"
  inner_product_param { num_output: 1 weight_filler { type: "constant" value: 1 } } }
"""


def run(folder, *args, **environment):
    return warm.pcd("extract_features", *args, cwd=folder, env={**os.environ, **environment})


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    images = [np.full((1, 1, 3), i, np.uint8) for i in range(6)]
    write_database("db", "lmdb", [image_record(f"{i}", x, i) for i, x in enumerate(images)])
    (tmp_path / "net.prototxt").write_text(NET)
    save_weights(Net(read_net("net.prototxt")), "net.caffemodel")
    return tmp_path


def values(path):
    return {int(k): datum_pixels(parse_datum(v)).item() for k, v in records_of(str(path), "lmdb")}


def test_features(folder):
    done = run(folder, "net.caffemodel", "net.prototxt", "ip,data", "a,b", 3, "lmdb", "CPU", 0)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "a: 6 records\nb: 6 records\n"
    assert "Extracted features of 6 query images for feature blob ip\n" in done.stderr
    assert values(folder / "a") == {i: 3 * i for i in range(6)}


@pytest.mark.parametrize("launcher", ["OMPI_COMM_WORLD", "PMI"])
def test_a_rank_of_mpirun_computes_its_share(folder, launcher):
    rank = {f"{launcher}_RANK": "1", f"{launcher}_SIZE": "2"}
    done = run(folder, "net.caffemodel", "net.prototxt", "ip", "a", 3, "lmdb", **rank)
    assert (done.returncode, done.stdout) == (0, "a_1: 2 records\n"), done.stderr
    assert values(folder / "a_1") == {2: 6, 3: 9}


def test_mistakes(folder):
    done = run(folder, "net.caffemodel", "net.prototxt", "ipp", "a", 3, "lmdb")
    assert done.returncode == 1
    assert "there is no blob 'ipp'; did you mean \"ip\"?" in done.stderr
    done = run(folder, "net.caffemodel", "net.prototxt", "ip", "a", 3, "GPU")
    assert done.returncode == 2
    assert "invalid choice: 'GPU'" in done.stderr
    assert not (folder / "a").exists()

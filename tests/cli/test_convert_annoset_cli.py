"""convert_annoset and create_label_map on the command line, up to a net that reads the database."""

import json

import numpy as np
from PIL import Image

from pycaffe_dist.net import Net
from pycaffe_dist.proto.nets import read_net

NET = """layer { name: "d" type: "AnnotatedData" top: "data" top: "label" include { phase: TEST }
  transform_param { resize_param { prob: 1 resize_mode: WARP height: 10 width: 10 } }
  data_param { source: "db" batch_size: 2 backend: LMDB } annotated_data_param { anno_type: BBOX } }
"""
VOC = """<annotation><size><width>20</width><height>10</height></size><object><name>dog</name>
<bndbox><xmin>5</xmin><ymin>-1</ymin><xmax>15</xmax><ymax>5</ymax></bndbox></object></annotation>"""


def test_from_names_to_a_net(call, tmp_path):
    (tmp_path / "classes.txt").write_text("cat\ndog\n")
    done = call("create_label_map", "classes.txt", "map.prototxt", "--include_background=true")
    assert (done.returncode, done.stdout) == (0, "map.prototxt: 3 classes\n")
    for name in ("a", "b"):
        Image.new("RGB", (20, 10), "#102030").save(tmp_path / f"{name}.png")
    (tmp_path / "a.xml").write_text(VOC)
    (tmp_path / "list.txt").write_text("a.png a.xml\nb.png b.xml\n")
    flags = ("-anno_type=detection", "--label_map_file", "map.prototxt", "--check_label")
    done = call("convert_annoset", *flags, "./", "list.txt", "db", "--encoded", "-redo")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("db: 2 records\nlabels: 1, from 2 to 2\n")
    assert "2      dog" in done.stdout and "boxes" in done.stdout
    assert (tmp_path / "db" / "labels.txt").read_text() == "background\ncat\ndog\n"
    assert "2 warnings:\n  ./a.xml: a box of 'dog' reaches out of the image\n" in done.stderr
    assert "./b.xml: is not there: no boxes" in done.stderr
    (tmp_path / "net.prototxt").write_text(NET)
    file = read_net("net.prototxt")
    file.net.state.phase = 1
    net = Net(file)
    net.forward()
    data, label = (blob.data for blob in net.blobs)
    assert data.shape == (2, 3, 10, 10) and data[0, :, 0, 0].tolist() == [0x30, 0x20, 0x10]
    np.testing.assert_allclose(label[0, 0], [[0, 2, 0, 0.25, 0, 0.75, 0.5, 0]], rtol=1e-6)


def test_wrong_use(call, tmp_path):
    assert "invalid choice: 'yaml'" in call("convert_annoset", "--label-type", "yaml").stderr
    done = call("create_label_map", "none.txt", "map.prototxt")
    assert done.returncode == 1
    assert done.stderr.startswith("pcd create_label_map: none.txt: cannot be read")
    (tmp_path / "coco.json").write_text(json.dumps({"categories": [{"id": "x", "name": "y"}]}))
    done = call("create_label_map", "coco.json", "map.prototxt")
    assert 'expected "categories" with an id and a name each' in done.stderr
    assert not (tmp_path / "map.prototxt").exists()

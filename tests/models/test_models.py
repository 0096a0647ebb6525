import os
import re
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import h5py
import numpy as np
import pytest

from pycaffe_dist.data.lmdb_writer import image_record, write_lmdb
from pycaffe_dist.tools.check import check_file

ROOT = Path(__file__).parents[2]
FOLDERS = sorted(path for path in (ROOT / "models").iterdir() if path.is_dir())
PROTOTXTS = sorted((ROOT / "models").rglob("*.prototxt"))


# What one record of each data set looks like: of these, stand-ins for the real data are made.
IMAGES = {
    "data/digits/": (1, 28, 28),
    "data/mnist/mnist_siamese_": (2, 28, 28),
    "data/mnist/": (1, 28, 28),
    "data/cifar10/cifar10_padded_": (3, 40, 40),
    "data/cifar10/": (3, 32, 32),
    "data/ilsvrc12/": (3, 256, 256),
}
ARRAYS = {
    "data/hdf5_classification/": {"data": (4,), "label": ()},
    "data/shapes/": {"data": (3, 48, 48), "label": (48, 48)},
    "data/lstm/": {"batch": (12, 8, 9), "batch_cont": (12, 8), "batch_label": (12, 8)},
}


def sources(path):
    return re.findall(r'source: "(data/[^"]+)"', path.read_text())


def known(table, source):
    return next((made for start, made in table.items() if source.startswith(start)), None)


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """The project's folder as it looks to a model, with data wherever we know their shape."""
    root = tmp_path_factory.mktemp("project")
    (root / "models").symlink_to(ROOT / "models")
    for source in sorted({source for path in PROTOTXTS for source in sources(path)}):
        if shape := known(IMAGES, source):
            write_lmdb(root / source, [image_record("0", np.zeros(shape, np.uint8), 0)])
        elif arrays := known(ARRAYS, source):
            (root / source).parent.mkdir(parents=True, exist_ok=True)
            with h5py.File(root / f"{source}.h5", "w") as file:
                for name, shape in arrays.items():
                    file[name] = np.zeros((10, *shape), "f4")
            (root / source).write_text(f"{source}.h5\n")
    return root


def name(path):
    return path.relative_to(ROOT / "models").as_posix()


def test_there_are_models():
    assert "digits" in [folder.name for folder in FOLDERS]
    assert PROTOTXTS


@pytest.mark.parametrize("folder", FOLDERS, ids=name)
def test_every_model_says_what_it_is(folder):
    text = (folder / "readme.md").read_text()
    assert text.startswith("# ")
    assert len(text.split()) > 20


@pytest.mark.parametrize("folder", FOLDERS, ids=name)
def test_every_model_has_nets(folder):
    assert list(folder.glob("*.prototxt"))


@contextmanager
def chdir(folder):  # contextlib has one from Python 3.11 on
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


@pytest.fixture(scope="module")
def report_of(project):
    """What `pcd check` finds, run from the project's folder: paths in the files count from it."""

    @cache
    def report(path):
        with chdir(project):
            return check_file(path.relative_to(ROOT))

    return report


@pytest.mark.parametrize("path", PROTOTXTS, ids=name)
def test_every_file_is_right(path, project, report_of):
    every = {source for prototxt in PROTOTXTS for source in sources(prototxt)}
    absent = [source for source in every if not (project / source).exists()]
    report = report_of(path)
    assert [e for e in report.errors if not any(source in e for source in absent)] == []
    assert report.facts


@pytest.mark.parametrize("path", [p for p in PROTOTXTS if "solver" in p.name], ids=name)
def test_every_solver_trains_the_net_beside_it(path, report_of):
    facts = report_of(path).facts
    assert facts[0].startswith("solver: ")
    nets = [fact.partition(": ")[2] for fact in facts if fact.startswith("train net: ")]
    assert nets
    assert all(net == "inline" or Path(net).parent == path.relative_to(ROOT).parent for net in nets)

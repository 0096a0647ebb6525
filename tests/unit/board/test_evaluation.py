"""A run's net on its test set."""

import threading
from types import SimpleNamespace

import numpy as np
import pytest
from made_runs import NET, line

from pycaffe_dist.board import evaluation as evaluation_module
from pycaffe_dist.board.evaluation import Evaluation
from pycaffe_dist.board.places import Places
from pycaffe_dist.board.runs import Runs
from pycaffe_dist.data.lmdb_writer import image_record, write_lmdb
from pycaffe_dist.errors import FileError, NetError
from pycaffe_dist.pictures import data_uri, tiles


class Guesses:
    """In the place of a predictor: the first pixel is the class, the second how sure it is."""

    kind, classes = "classes", 3
    input = SimpleNamespace(shape=(1, 3, 2, 4))

    def __init__(self):
        self.lock, self.seen = threading.Lock(), []

    def scaled(self, planes):
        return planes.astype(np.float32)

    def forward(self, batch):
        self.seen.append(len(batch))
        scores = np.zeros((len(batch), self.classes), np.float32)
        for row, image in zip(scores, batch, strict=True):
            row[:] = image[1, 0, 0] / 200
            row[int(image[0, 0, 0])] = 1 - image[1, 0, 0] / 100
        return scores

    def label(self, number):
        return "abc"[number]


def image(guess, doubt=0, channels=3):
    """(channels, 4, 8), of which the net sees the middle: rows 1 and 2, columns 2 to 5."""
    pixels = np.zeros((channels, 4, 8), np.uint8)
    pixels[0, 1, 2], pixels[1, 1, 2] = guess, doubt
    return pixels


@pytest.fixture
def run(tmp_path):
    folder = tmp_path / "runs" / "r"
    folder.mkdir(parents=True)
    (folder / "metrics.jsonl").write_text(line(0, 1))
    text = NET.replace("data/test_lmdb", str(tmp_path / "runs" / "test_lmdb"))
    (folder / "net.prototxt").write_text(text)
    runs = Runs(Places([str(tmp_path / "runs")]))
    runs.find()
    return runs.get("r")


def evaluated(run, images):
    """The result for images with their labels, and who was asked."""
    rows = [image_record(f"{i:04}", pixels, label) for i, (pixels, label) in enumerate(images)]
    write_lmdb(run.folder.parent / "test_lmdb", rows)
    guesses = Guesses()
    found = Evaluation(run, guesses, run.places)
    for thread in threading.enumerate():
        if "_run" in thread.name:
            assert thread.daemon
            thread.join()
    assert guesses.lock.acquire(blocking=False)
    return found.state(), guesses


def test_scores_by_class_and_the_worst_images(run, monkeypatch):
    monkeypatch.setattr(evaluation_module, "BATCH", 4)
    images = [(image(0), 0)] * 3 + [(image(1), 0), (image(1, 40), 0), (image(1), 1)]
    state, guesses = evaluated(run, images)
    assert (state["done"], state["failure"], guesses.seen) == (6, "", [4, 2])
    result = state["result"]
    assert result["confusion"] == [[3, 2, 0], [0, 1, 0], [0, 0, 0]]
    assert (result["count"], result["accuracy"]) == (6, pytest.approx(4 / 6))
    assert result["classes"] == [
        {"label": "a", "count": 5, "recall": pytest.approx(0.6), "precision": 1.0},
        {"label": "b", "count": 1, "recall": 1.0, "precision": pytest.approx(1 / 3)},
        {"label": "c", "count": 0, "recall": None, "precision": None},
    ]
    # The right class had a score of 0 in one, and of 0.2 in the other.
    assert [(w["truth"], w["guess"], w["score"]) for w in result["worst"]] == [
        ("a", "b", 1.0),
        ("a", "b", pytest.approx(0.6)),
    ]
    assert result["worst"][0]["image"] == data_uri(tiles(image(1)[None]))


def test_so_many_records_and_so_many_of_the_worst(run, monkeypatch):
    monkeypatch.setattr(evaluation_module, "MOST", 5)
    monkeypatch.setattr(evaluation_module, "WORST", 2)
    state, _ = evaluated(run, [(image(1), 0)] * 7)
    assert state["done"] == state["result"]["count"] == 5 and len(state["result"]["worst"]) == 2


def test_an_image_that_is_not_in_colour_shows_its_first_plane(run):
    state, _ = evaluated(run, [(image(1, channels=2), 0)])
    shown = state["result"]["worst"][0]["image"]
    assert shown == data_uri(tiles(image(1, channels=2)[:1]))


@pytest.mark.parametrize("label", [3, -1])
def test_a_label_that_the_net_does_not_know_is_told(run, label):
    state, _ = evaluated(run, [(image(0), 0), (image(0), label)])
    assert state["failure"] == f"label {label}, but the net knows 3 classes"
    assert state["result"] is None and state["done"] == 2


def test_what_cannot_be_evaluated(run, tmp_path):
    guesses = Guesses()
    guesses.kind = "boxes"
    with pytest.raises(NetError, match="r: a confusion matrix needs a net that tells classes"):
        Evaluation(run, guesses, run.places)
    (run.folder / "net.prototxt").write_text(NET)
    with pytest.raises(FileError, match="lies outside"):
        Evaluation(run, Guesses(), run.places)


def test_the_database_of_the_test_net(run, tmp_path, monkeypatch):
    assert evaluation_module.test_source(run) == tmp_path / "runs" / "test_lmdb"
    monkeypatch.chdir(tmp_path)
    (run.folder / "net.prototxt").write_text(NET)
    assert evaluation_module.test_source(run) == tmp_path / "data" / "test_lmdb"
    (run.folder / "net.prototxt").write_text(NET.replace("phase: TEST", "phase: TRAIN"))
    with pytest.raises(NetError, match="r: its test net reads no database"):
        evaluation_module.test_source(run)
    (run.folder / "net.prototxt").write_text('layer { name: "d" type: "Data" top: "x" }')
    with pytest.raises(NetError, match="r: its test net reads no database"):
        evaluation_module.test_source(run)

"""A run's net on its test set: the confusion matrix, scores by class, and the worst images."""

from __future__ import annotations

import heapq
import os
import threading
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pycaffe_dist.aliases import Facts
from pycaffe_dist.board.places import Places
from pycaffe_dist.board.predictor import Predictor
from pycaffe_dist.board.runs import Run
from pycaffe_dist.data.database import kind_of, records_of
from pycaffe_dist.data.datum import datum_pixels, parse_datum
from pycaffe_dist.errors import FileError, NetError
from pycaffe_dist.memory import Array
from pycaffe_dist.pictures import data_uri, tiles
from pycaffe_dist.proto.caffe_pb2 import TEST, NetState
from pycaffe_dist.proto.nets import read_net
from pycaffe_dist.proto.state import filter_net

BATCH, MOST, WORST = 50, 20_000, 24
Mistake = tuple[int, int, float, Array]  # the label, the guess, its score, the image


class Evaluation:
    """Runs in a thread of its own; the page asks how far it is."""

    def __init__(self, run: Run, predictor: Predictor, places: Places) -> None:
        if predictor.kind != "classes":
            raise NetError(f"{run.name}: a confusion matrix needs a net that tells classes")
        self.predictor = predictor
        self.source = places.inside(test_source(run))
        self.done, self.failure = 0, ""
        self.result: Facts | None = None
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        try:
            self.result = self.evaluate()
        except Exception as e:  # told in the page
            self.failure = str(e) or type(e).__name__

    def state(self) -> Facts:
        return {"done": self.done, "failure": self.failure, "result": self.result}

    def evaluate(self) -> Facts:
        confusion: NDArray[np.int64] | None = None
        worst: list[tuple[float, int, Mistake]] = []  # by how sure the net was of something else
        for images, labels in self._batches():
            with self.predictor.lock:
                scores = self.predictor.forward(self._prepared(images))
            scores = scores.reshape(len(labels), -1)
            if confusion is None:
                confusion = np.zeros((scores.shape[1],) * 2, np.int64)
            guesses = scores.argmax(1)
            for i, label in enumerate(labels):
                self.done += 1
                if not 0 <= label < len(confusion):
                    raise NetError(f"label {label}, but the net knows {len(confusion)} classes")
                confusion[label, guesses[i]] += 1
                if label != guesses[i]:
                    fact = label, int(guesses[i]), float(scores[i, guesses[i]]), images[i]
                    heapq.heappush(worst, (float(scores[i, label]) * -1, self.done, fact))
        if confusion is None:
            raise FileError(f"{self.source}: has no records")
        return self._told(confusion, [fact for _, _, fact in heapq.nlargest(WORST, worst)])

    def _batches(self) -> Iterator[tuple[list[Array], list[int]]]:
        records = islice(records_of(str(self.source), kind_of(str(self.source))), MOST)
        while batch := list(islice(records, BATCH)):
            datums = [parse_datum(value) for _, value in batch]
            yield [datum_pixels(d) for d in datums], [int(d.label) for d in datums]

    def _prepared(self, images: list[Array]) -> Array:
        height, width = self.predictor.input.shape[2:]
        top, left = ((images[0].shape[1] - height) // 2, (images[0].shape[2] - width) // 2)
        cut = np.s_[:, top : top + height, left : left + width]
        return np.stack([self.predictor.scaled(image[cut]) for image in images])

    def _told(self, confusion: NDArray[np.int64], worst: list[Mistake]) -> Facts:
        right, per_class = confusion.diagonal(), []
        for c in range(len(confusion)):
            truth, told = confusion[c].sum(), confusion[:, c].sum()
            per_class.append(
                {
                    "label": self.predictor.label(c),
                    "count": int(truth),
                    "recall": float(right[c] / truth) if truth else None,
                    "precision": float(right[c] / told) if told else None,
                }
            )
        return {
            "accuracy": float(right.sum() / max(confusion.sum(), 1)),
            "count": int(confusion.sum()),
            "confusion": confusion.tolist(),
            "classes": per_class,
            "worst": [
                {
                    "truth": self.predictor.label(truth),
                    "guess": self.predictor.label(guess),
                    "score": score,
                    "image": data_uri(tiles(_shown(image))),
                }
                for truth, guess, score, image in worst
            ],
        }


def _shown(image: Array) -> Array:
    """An image (channels, height, width) for :func:`tiles`, which takes blue last."""
    return image[None] if len(image) == 3 else image[:1]


def test_source(run: Run) -> Path:
    """The database of the run's test net, as its files name it."""
    net = filter_net(read_net(run.file("net.prototxt")).net, NetState(phase=TEST))
    for layer in net.layer:
        if layer.type == "Data" and layer.data_param.source:
            return Path(os.path.abspath(layer.data_param.source))
    raise NetError(f"{run.name}: its test net reads no database (a Data layer)")

"""What ``pcd detect`` does: the scores of windows of images, into a .csv or .h5 file."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.data import hdf5_sink
from pycaffe_dist.errors import FileError, NetError
from pycaffe_dist.files import atomic_write, read_bytes, reading
from pycaffe_dist.pycaffe.detector import Detector
from pycaffe_dist.tools.preprocess import Preprocess, as_net_error, read_picture

MOST_PIXELS = 1 << 31  # an image is high or wide at most
COORD_COLS = ["ymin", "xmin", "ymax", "xmax"]
Windows = dict[str, list[tuple[float, ...]]]  # by image, in the order of the file


@dataclass
class Detections:
    """A row for each window: its image, its corners, its scores."""

    filenames: list[str]
    windows: Array  # (n, 4)
    predictions: Array  # (n, classes)


def read_windows(path: str) -> Windows:
    """A .csv with the columns filename, ymin, xmin, ymax, xmax, in any order and among others."""
    reader = csv.DictReader(io.StringIO(_text(path)))
    missing = {"filename", *COORD_COLS} - set(reader.fieldnames or ())
    if missing:
        raise FileError(
            f"{path}: its first line must name the columns filename, {', '.join(COORD_COLS)}; "
            f"missing: {', '.join(sorted(missing))}"
        )
    with reading(path, "is not a table of comma-separated values"):
        rows = [(reader.line_num, row) for row in reader]
    windows: Windows = {}
    for line, row in rows:
        try:
            corners = tuple(float(row[name]) for name in COORD_COLS)
            if not all(abs(corner) < MOST_PIXELS for corner in corners):  # nor are NaNs below
                raise ValueError("a corner beyond every image")
        except (TypeError, ValueError) as e:
            raise FileError(f"{path}:{line}: a window needs four numbers: {row}") from e
        windows.setdefault(row["filename"], []).append(corners)
    if not windows:
        raise FileError(f"{path}: has no windows")
    return windows


def read_names(path: str) -> list[str]:
    """A .txt with an image on each line."""
    names = [line.strip() for line in _text(path).splitlines() if line.strip()]
    if not names:
        raise FileError(f"{path}: names no images")
    return names


def _text(path: str) -> str:
    try:
        return read_bytes(path).decode()
    except UnicodeDecodeError as e:
        raise FileError(f"{path}: is not UTF-8 text: {e}") from e


def detector(how: Preprocess, context_pad: int = 16) -> Detector:
    """R-CNN's way of preparing windows; of a mean image, the mean of each channel."""
    mean = how.mean()
    if mean is not None and mean.ndim == 3:
        mean = mean.mean(axis=(1, 2))
    with as_net_error(how.model_def):
        return Detector(
            how.model_def,
            how.pretrained_model,
            mean,
            how.input_scale,
            how.raw_scale,
            how.swap(how.channels()),
            context_pad,
        )


def detect_list(net: Detector, windows: Windows) -> Detections:
    """Score the windows of each image, one image after the other."""
    found = []
    for name, of_image in windows.items():
        read_picture(name)  # for an error that names the file
        with as_net_error(name):
            found += net.detect_windows([(name, of_image)])
    return _collected(found)


def detect_selective_search(net: Detector, names: Iterable[str]) -> Detections:
    return _collected(net.detect_selective_search(names))


def _collected(found: list[dict[str, object]]) -> Detections:
    return Detections(
        [str(one["filename"]) for one in found],
        np.array([one["window"] for one in found], np.float64).reshape(-1, 4),
        np.array([np.ravel(np.asarray(one["prediction"])) for one in found]),
    )


def write(path: str, found: Detections) -> None:
    """Write .csv (filename, corners, class0, class1, ...) or .h5 (filename, window, prediction)."""
    if path.endswith(".csv"):
        _write_csv(path, found)
    elif path.endswith((".h5", ".hdf5")):
        _write_hdf5(path, found)
    else:
        raise NetError(f"{path}: give a name that ends in .csv or .h5")


def _write_csv(path: str, found: Detections) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    classes = found.predictions.shape[1] if len(found.filenames) else 0
    writer.writerow(["filename", *COORD_COLS, *(f"class{i}" for i in range(classes))])
    for name, window, scores in zip(found.filenames, found.windows, found.predictions, strict=True):
        numbers = [f"{x:.9g}" for x in (*window, *scores)]
        writer.writerow([name, *numbers])
    with atomic_write(path) as file:
        file.write(text.getvalue().encode())


def _write_hdf5(path: str, found: Detections) -> None:
    hdf5_sink.write_whole(
        path,
        filename=np.array([name.encode() for name in found.filenames]),
        window=found.windows,
        prediction=found.predictions,
    )

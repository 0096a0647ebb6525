"""What ``pcd eval_detection`` does: a detector's average precision, from its net or its results."""

from __future__ import annotations

from collections.abc import Mapping

from pycaffe_dist.errors import FileError
from pycaffe_dist.report.table import table
from pycaffe_dist.tools.average_precision import MEASURES, ClassScore, mean
from pycaffe_dist.tools.counter import Counter
from pycaffe_dist.tools.detect_boxes import BoxDetector
from pycaffe_dist.tools.detection_files import Database, Objects


def run_detector(net: BoxDetector, source: str, most: int = 0) -> tuple[Objects, Objects]:
    """The truth of a database of AnnotatedDatum, and what a net finds in its images.

    Args:
        net: the net.
        source: the database; "" for the one that the net's own data layer names.
        most: how many images to look at; 0 for all.

    Raises:
        FileError: there is no database, or it is not one of boxes.
    """
    path = source or net.source.data_param.source
    if not path:
        raise FileError(f"{net.how.model_def}: names no database; give one by --source")
    truth: Objects = {}
    found: Objects = {}
    with Counter("images", most) as counter:
        database = Database(path)
        for number, (name, datum, rows) in enumerate(database):
            if most and number == most:
                break
            unique = name if name not in truth else f"{name} ({number})"
            truth[unique] = rows
            found[unique] = net.detect(database.pixels(datum, net.color)).rows
            counter.add()
    return truth, found


def score_table(scores: Mapping[int, ClassScore], names: Mapping[int, str]) -> list[str]:
    """A row for each class and one for their mean, in percent."""
    rows = [
        (
            names.get(label, str(label)),
            f"{score.boxes:,}",
            f"{score.found:,}",
            *(f"{100 * score.measures[m]:.2f}" if score.boxes else "-" for m in MEASURES),
        )
        for label, score in scores.items()
    ]
    boxes, found = (sum(getattr(s, what) for s in scores.values()) for what in ("boxes", "found"))
    means = [f"{100 * mean(scores, measure):.2f}" for measure in MEASURES]
    rows.append(("mean", f"{boxes:,}", f"{found:,}", *means))
    return table(("class", "boxes", "found", *MEASURES), rows)


def as_json(scores: Mapping[int, ClassScore], names: Mapping[int, str]) -> dict[str, object]:
    return {
        "classes": [
            {
                "class": label,
                "label": names.get(label),
                "boxes": score.boxes,
                "found": score.found,
                **({m: score.measures[m] for m in MEASURES} if score.boxes else {}),
            }
            for label, score in scores.items()
        ],
        "mean": {measure: mean(scores, measure) for measure in MEASURES},
    }


def unknown_images(truth: Objects, found: Objects) -> list[str]:
    """Images that only the results know."""
    return sorted(set(found) - set(truth))

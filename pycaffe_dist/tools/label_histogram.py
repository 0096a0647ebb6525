"""How many records each label has, for people."""

from __future__ import annotations

from collections.abc import Mapping

from pycaffe_dist.report.table import table

MOST_ROWS = 30


def label_histogram(
    counts: Mapping[int, int], names: Mapping[int, str] | None = None, what: str = "records"
) -> list[str]:
    """A row for each label, or where there are many, what they have in common."""
    if not counts:
        return []
    labels = sorted(counts)
    few = min(labels, key=lambda label: counts[label])
    many = max(labels, key=lambda label: counts[label])
    head = f"labels: {len(labels)}, from {labels[0]} to {labels[-1]}"
    missing = labels[-1] - labels[0] + 1 - len(labels)
    if missing:
        head += f" ({missing:,} between them have none)"
    if len(labels) > MOST_ROWS:
        return [
            head,
            f"  fewest {what}: {counts[few]:,} (label {few})",
            f"  most {what}: {counts[many]:,} (label {many})",
        ]
    known = names or {}
    rows = [
        (str(label), known.get(label, ""), f"{counts[label]:,}", _bar(counts, label, many))
        for label in labels
    ]
    lines = table(("label", "name", what, ""), rows, left=2)
    if not names:
        lines = table(("label", what, ""), [(a, c, d) for a, _, c, d in rows], left=1)
    return [head, *(f"  {line}" for line in lines)]


def _bar(counts: Mapping[int, int], label: int, many: int, width: int = 30) -> str:
    return ("#" * max(1, round(width * counts[label] / counts[many]))).ljust(width)

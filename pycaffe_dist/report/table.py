"""Plain tables for the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from pycaffe_dist.errors import visible
from pycaffe_dist.facts import LayerFacts, totals


def table(head: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> list[str]:
    """Lines with aligned columns: the first ``left`` to the left, the rest to the right."""
    rows = [[visible(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]

    def line(row: Sequence[str]) -> str:
        cells = (
            cell.ljust(width) if i < left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        return "  ".join(cells).rstrip()

    return [line(head), *(line(row) for row in rows)]


def amount(value: float, unit: str = "") -> str:
    """A number in three digits: 12.3 M."""
    for size, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= 0.9995 * size:  # what would round up to it
            return f"{value / size:.3g} {letter}{unit}"
    return f"{value:.3g} {unit}".rstrip()


def _shapes(shapes: Sequence[Sequence[int]]) -> str:
    """The first two, and whether there are more."""
    text = " ".join("x".join(map(str, shape)) or "1" for shape in shapes[:2])
    return text + (" ..." if len(shapes) > 2 else "")


def net_table(facts: Sequence[LayerFacts]) -> list[str]:
    """Layers with their outputs, parameters, work and memory, and the sums below."""
    head = ("layer", "type", "output", "params", "FLOPs", "memory")
    rows = [
        (
            f.name,
            f.type,
            f.note or _shapes(f.top_shapes),
            f"{f.param_count:,}" if f.param_count else "",
            amount(f.flops) if f.flops else "",
            amount(f.data_bytes, "B") if f.data_bytes else "",
        )
        for f in facts
        if f.type != "Split"
    ]
    sums = totals(list(facts))
    unknown = sum(bool(f.note) and f.type != "Split" for f in facts)
    layers = "1 layer" if unknown == 1 else f"{unknown} layers"
    return [
        *table(head, rows, left=3),
        *[f"{layers} of unknown shape; the sums are those of the others"] * bool(unknown),
        f"{sums.params:,} parameters, {amount(sums.flops)}FLOP forward, "
        f"{amount(sums.test_bytes, 'B')} to test, {amount(sums.train_bytes, 'B')} to train",
    ]

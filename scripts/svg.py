"""Pieces of drawings that are written as SVG: readable in light and dark, without any library."""

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

STYLE = """
  .card { fill: #ffffff } text { font: 13px sans-serif; fill: #1c2b3a }
  .title { font-weight: bold; font-size: 15px } .small { font-size: 11px; fill: #5a6b7b }
  .name { text-anchor: end } .middle { text-anchor: middle }
  .inside { fill: #ffffff; font-size: 11px }
  .ours { fill: #2b6cb0 } .peer { fill: #c2703a } .plain { fill: #b8bfc8 } .wait { fill: #d9534f }
  .link { fill: #2f855a } .line { fill: none; stroke: #5a6b7b }
  .mark { fill: none; stroke: #b03030 }
  .blue { fill: none; stroke: #2b6cb0; stroke-width: 2 }
  .brown { fill: none; stroke: #c2703a; stroke-width: 2 }
  @media (prefers-color-scheme: dark) {
    .card { fill: #0d1117 } text { fill: #e6edf3 } .small { fill: #9aa7b4 } .plain { fill: #5a6470 }
  }
"""


def text(x: float, y: float, words: str, kind: str = "") -> str:
    return f'<text{_class(kind)} x="{x:.1f}" y="{y:.1f}">{escape(words)}</text>'


def rect(x: float, y: float, width: float, height: float, kind: str) -> str:
    size = f'width="{width:.1f}" height="{height:.1f}"'
    return f'<rect{_class(kind)} x="{x:.1f}" y="{y:.1f}" {size}/>'


def path(points: Sequence[tuple[float, float]], kind: str) -> str:
    return f'<path{_class(kind)} d="M{" L".join(f"{x:.1f} {y:.1f}" for x, y in points)}"/>'


def document(width: int, height: int, title: str, parts: Iterable[str]) -> str:
    """A whole file; ``title`` is what readers hear who do not see it."""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">'
    card = rect(0, 0, width, height, "card")
    lines = [head, f"<title>{escape(title)}</title>", f"<style>{STYLE}</style>", card, *parts]
    return "\n".join([*lines, "</svg>"]) + "\n"


def write(pictures: dict[Path, str], check: bool, script: str) -> int:
    """Write them; or only say which are not what would be written, as an exit code."""
    old = [file for file, drawn in pictures.items() if not _is(file, drawn)]
    for file in old:
        if check:
            print(f"{file} is not what it would be drawn as today: python scripts/{script}")
        else:
            file.parent.mkdir(exist_ok=True)
            file.write_text(pictures[file])
    return 1 if old and check else 0


def _is(file: Path, drawn: str) -> bool:
    return file.exists() and file.read_text() == drawn


def _class(kind: str) -> str:
    return f' class="{kind}"' if kind else ""

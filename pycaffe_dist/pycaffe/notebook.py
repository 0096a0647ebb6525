"""What nets and solvers look like in a notebook, and how training shows there how far it is."""

from __future__ import annotations

import html
import math
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from pycaffe_dist import events as e
from pycaffe_dist.errors import visible
from pycaffe_dist.facts import layer_facts
from pycaffe_dist.files import atomic_write
from pycaffe_dist.net import Net as CoreNet
from pycaffe_dist.proto.caffe_pb2 import Phase
from pycaffe_dist.pycaffe.net_svg import net_svg
from pycaffe_dist.report.progress import Progress
from pycaffe_dist.report.table import net_table

WIDTH, HEIGHT, MARGIN = 560, 220, 46
COLOURS = ("#3b82d6", "#e07b39", "#2f9e6e", "#c05299", "#7a6ff0")
MOST_POINTS = 2000


def summary(core: CoreNet) -> str:
    """The layers of a net with their outputs, parameters, work and memory."""
    head = f"{visible(core.name) or 'net'}, {Phase.Name(core.phase)}"
    return "\n".join([head, *net_table(layer_facts(core))])


def drawn(core: CoreNet, rankdir: str = "LR") -> str:
    """A net as an SVG picture; without the Split layers, which nobody wrote."""
    return net_svg(core.written, rankdir)


def in_box(svg: str) -> str:
    """A large picture in a notebook: it scrolls."""
    return f'<div style="max-height: 480px; overflow: auto; background: white">{svg}</div>'


class Shown:
    """What a net shows of itself."""

    core: CoreNet

    def summary(self) -> str:
        """Its layers with their outputs, parameters, work and memory, as a table."""
        return summary(self.core)

    def draw(self, path: str | None = None, rankdir: str = "LR") -> str:
        """Its picture as SVG, which is also written to ``path`` if that is given."""
        picture = drawn(self.core, rankdir)
        if path is not None:
            with atomic_write(path) as file:
                file.write(picture.encode())
        return picture

    def __repr__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        return in_box(self.draw())


# -- the history of a solver -----------------------------------------------------------------------


class History:
    """Subscriber that keeps what was displayed and tested: (iteration, value) by name."""

    def __init__(self) -> None:
        self.curves: dict[str, list[tuple[int, float]]] = {}

    def __call__(self, event: e.Event) -> None:
        if isinstance(event, e.Displayed):
            self._add("train loss", event.iteration, event.loss)
        elif isinstance(event, e.Tested):
            where = f"test{event.net}" if event.net else "test"
            for output in event.outputs:
                self._add(f"{where} {output.name}", event.iteration, output.value)

    def _add(self, name: str, iteration: int, value: float) -> None:
        curve = self.curves.setdefault(name, [])
        curve.append((iteration, value))
        if len(curve) > 2 * MOST_POINTS:
            del curve[1::2]

    def as_svg(self) -> str:
        """The curves, each over its own range, whose ends the legend tells."""
        shown = {
            name: [(x, y) for x, y in curve if math.isfinite(y)]
            for name, curve in self.curves.items()
        }
        shown = {name: curve for name, curve in shown.items() if curve}
        last = max((curve[-1][0] for curve in shown.values()), default=0)
        rows = [
            f"<svg xmlns='http://www.w3.org/2000/svg' width='{WIDTH}' "
            f"height='{HEIGHT + 16 * len(shown)}' font-family='sans-serif' font-size='12'>",
            f"<rect x='{MARGIN}' y='8' width='{WIDTH - MARGIN - 8}' height='{HEIGHT - 30}' "
            "fill='none' stroke='#bbb'/>",
            f"<text x='{MARGIN}' y='{HEIGHT - 6}'>0</text><text x='{WIDTH - 8}' y='{HEIGHT - 6}' "
            f"text-anchor='end'>iteration {last}</text>",
        ]
        for i, (name, curve) in enumerate(shown.items()):
            rows += _curve(name, curve, last, COLOURS[i % len(COLOURS)], HEIGHT + 16 * i + 10)
        return "".join([*rows, "</svg>"])


def _curve(
    name: str, curve: Sequence[tuple[int, float]], last: int, colour: str, at: int
) -> Iterator[str]:
    low, high = min(y for _, y in curve), max(y for _, y in curve)
    width, height = WIDTH - MARGIN - 8, HEIGHT - 42
    points = " ".join(
        f"{MARGIN + width * x / max(last, 1):.1f},"
        f"{14 + height * (1 - (y - low) / ((high - low) or 1)):.1f}"
        for x, y in curve
    )
    yield f"<polyline points='{points}' fill='none' stroke='{colour}' stroke-width='1.6'/>"
    words = html.escape(visible(f"{name}: {low:.4g} to {high:.4g}, now {curve[-1][1]:.4g}"))
    yield f"<text x='{MARGIN}' y='{at}' fill='{colour}'>{words}</text>"


# -- how far training is ---------------------------------------------------------------------------


class _Bar(Progress):
    """The progress line as a bar below a notebook's cell."""

    def __init__(self, show: Any, make: Any) -> None:
        super().__init__(sys.stderr)
        self.live = True
        self._make = make
        self._handle = show(make("…"), display_id=True)

    def _put(self, text: str) -> None:
        share = self.iteration / self.max_iter if self.max_iter else 0.0
        bar = f'<progress value="{share:.4f}" style="width: 260px"></progress> '
        self._handle.update(self._make(bar + html.escape(self.line(160))))

    def on_SolveEnds(self, event: e.SolveEnds) -> None:
        self.iteration = event.iteration
        self._put("")
        self._shown = False


@contextmanager
def progress_shown(subscribers: list[e.Subscriber], max_iter: int) -> Iterator[None]:
    """While it lasts, a bar in a notebook or a line in a terminal follows the solver."""
    bar = _for_notebook() or Progress(sys.stderr)
    bar.max_iter = max_iter
    subscribers.append(bar)
    try:
        with bar:
            yield
    finally:
        subscribers.remove(bar)


def _for_notebook() -> Progress | None:
    """None outside of a notebook, where there is nobody to draw a bar."""
    with suppress(ImportError, KeyError):
        shell = sys.modules["IPython"].get_ipython()
        if shell is not None and hasattr(shell, "kernel"):
            from IPython.display import HTML, display

            return _Bar(display, HTML)
    return None

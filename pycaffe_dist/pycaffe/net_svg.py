"""A net as an SVG picture of our own, for machines without Graphviz.

A layer is a box in Caffe's colours, with the layers that work in place on its top below it in the
same box; lines are blobs, named when the pointer rests on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from pycaffe_dist.errors import visible
from pycaffe_dist.proto.caffe_pb2 import LayerParameter, NetParameter
from pycaffe_dist.pycaffe.draw import (
    NEURON_LAYER_STYLE,
    NO_LABEL,
    choose_color_by_layertype,
    get_edge_label,
    in_phase,
    layer_words,
)
from pycaffe_dist.pycaffe.layered import Layout, Line, Spot, lay_out

LETTER, ROW, MARGIN = 6.9, 15.0, 20.0
FONT = "font-family='Helvetica, Arial, sans-serif' font-size='11'"
GREEN = NEURON_LAYER_STYLE["fillcolor"]


@dataclass
class Part:
    """One layer's share of a box."""

    lines: list[str]
    color: str

    @property
    def height(self) -> float:
        return len(self.lines) * ROW + 8


def net_svg(
    net: NetParameter, rankdir: str = "LR", phase: int | None = None, display_lrm: bool = False
) -> str:
    """The picture of an upgraded net; arguments as those of ``draw.draw_net``."""
    layers = [layer for layer in net.layer if phase is None or in_phase(layer, phase)]
    boxes, edges = _graph(layers, display_lrm)
    sizes = [_size(parts) for parts in boxes]
    sideways = rankdir in ("LR", "RL")
    placed = lay_out([(h, w) if sideways else (w, h) for w, h in sizes], edges)
    turn = _Turn(rankdir, placed)
    drawn = [_line(line, turn) for line in placed.lines]
    drawn += [
        _box(parts, turn.corner(spot), size)
        for spot, parts, size in zip(placed.boxes, boxes, sizes, strict=True)
    ]
    width, height = turn.size
    width, height = width + 2 * MARGIN, height + 2 * MARGIN
    return "\n".join(
        [
            f"<svg xmlns='http://www.w3.org/2000/svg' width='{width:.0f}' height='{height:.0f}' "
            f"viewBox='{-MARGIN:.0f} {-MARGIN:.0f} {width:.0f} {height:.0f}' {FONT}>",
            f"<title>{escape(visible(net.name) or 'Net')}</title>",
            "<defs><marker id='tip' markerWidth='8' markerHeight='8' refX='7' refY='3' "
            "orient='auto'><path d='M0,0 L7,3 L0,6 z' fill='#555'/></marker></defs>",
            f"<rect x='{-MARGIN:.0f}' y='{-MARGIN:.0f}' width='100%' height='100%' fill='white'/>",
            *drawn,
            "</svg>\n",
        ]
    )


# -- what there is to draw -------------------------------------------------------------------------


def _graph(
    layers: Sequence[LayerParameter], display_lrm: bool
) -> tuple[list[list[Part]], list[tuple[int, int, str]]]:
    """The boxes, and the edges between them."""
    boxes: list[list[Part]] = []
    edges: dict[tuple[int, int, str], None] = {}
    makers: dict[str, list[int]] = {}  # of each blob; two phases may each have one
    for layer in layers:
        in_place = len(layer.bottom) == 1 and list(layer.bottom) == list(layer.top)
        part = Part(
            _words(layer, display_lrm), GREEN if in_place else choose_color_by_layertype(layer.type)
        )
        if in_place and len(makers.get(layer.bottom[0], [])) == 1:
            boxes[makers[layer.bottom[0]][0]].append(part)
            continue
        here = len(boxes)
        boxes.append([part])
        for blob in layer.bottom:
            edges |= {(maker, here, blob): None for maker in makers.get(blob, [])}
        for blob in layer.top:
            other_phase = blob in makers and not layer.bottom
            makers[blob] = [*makers[blob], here] if other_phase else [here]
    return boxes, list(edges)


def _words(layer: LayerParameter, display_lrm: bool) -> list[str]:
    """Name, type and outputs, and the rest of what Caffe writes into a box on one line."""
    name, kind, *rest = layer_words(layer, display_lrm)
    label = get_edge_label(layer)
    outputs = "" if label == NO_LABEL else f" {label}"
    words = [name, f"{kind.strip('()')}{outputs}"]
    return [*words, ", ".join(rest).replace("kernel size", "kernel")] if rest else words


def _size(parts: list[Part]) -> tuple[float, float]:
    longest = max(len(line) for part in parts for line in part.lines)
    return max(70.0, longest * LETTER + 16), sum(part.height for part in parts)


# -- drawing it ------------------------------------------------------------------------------------


class _Turn:
    """From the layout, whose ranks go down, to the direction that is wanted."""

    def __init__(self, rankdir: str, placed: Layout) -> None:
        self.sideways = rankdir in ("LR", "RL")
        self.backwards = rankdir in ("RL", "BT")
        self.length = placed.height
        self.size = (
            (placed.height, placed.width) if self.sideways else (placed.width, placed.height)
        )

    def point(self, x: float, y: float) -> tuple[float, float]:
        y = self.length - y if self.backwards else y
        return (y, x) if self.sideways else (x, y)

    def corner(self, spot: Spot) -> tuple[float, float]:
        """The upper left corner of a box."""
        y = spot.y + spot.height if self.backwards else spot.y
        return self.point(spot.x - spot.width / 2, y)


def _line(line: Line, turn: _Turn) -> str:
    def at(x: float, y: float) -> str:
        return "{:.1f},{:.1f}".format(*turn.point(x, y))

    return (
        f"<path d='{line.path(at)}' fill='none' stroke='#555' marker-end='url(#tip)'>"
        f"<title>{escape(visible(line.blob))}</title></path>"
    )


def _box(parts: list[Part], corner: tuple[float, float], size: tuple[float, float]) -> str:
    x, y = corner
    rows = [f"<g><title>{escape(parts[0].lines[0])}</title>"]
    for part in parts:
        rows.append(
            f"<rect x='{x:.1f}' y='{y:.1f}' width='{size[0]:.1f}' height='{part.height:.1f}' "
            f"rx='3' fill='{part.color}' stroke='#333'/>"
        )
        for i, text in enumerate(part.lines):
            weight = " font-weight='bold'" if i == 0 else ""
            rows.append(
                f"<text x='{x + size[0] / 2:.1f}' y='{y + 14 + i * ROW:.1f}' "
                f"text-anchor='middle'{weight}>{escape(text)}</text>"
            )
        y += part.height
    return "".join([*rows, "</g>"])

"""The picture of who may know whom: rooms in rows, arrows to those that no other arrow implies."""

from collections.abc import Mapping, Sequence

WIDTH, BOX, HEIGHT, ROW = 860, 110, 34, 84
STYLE = """
  rect { fill: #f4f7fb; stroke: #2b5c8a; rx: 5 }
  text { font: 14px sans-serif; text-anchor: middle; fill: #1c2b3a }
  path { fill: none; stroke: #7d94ab; marker-end: url(#tip) }
  .tip { fill: #7d94ab; stroke: none; marker-end: none }
  @media (prefers-color-scheme: dark) { rect { fill: #1f2d3b } text { fill: #e6edf3 } }
"""
TIP = (
    '<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" '
    'orient="auto"><path class="tip" d="M0 0 L8 4 L0 8 z"/></marker>'
)

Knows = Mapping[str, Sequence[str]]


def direct(knows: Knows) -> dict[str, list[str]]:
    """Of the rooms that each knows, those that none of the others knows."""
    return {
        room: [other for other in others if not any(other in knows[third] for third in others)]
        for room, others in knows.items()
    }


def heights(knows: Knows) -> dict[str, int]:
    """Rows, counted from below: one more than the highest room that is known."""
    found: dict[str, int] = {}

    def height(room: str) -> int:
        if room not in found:
            found[room] = 1 + max(map(height, knows[room]), default=-1)
        return found[room]

    for room in knows:
        height(room)
    return found


def drawn(knows: Knows) -> str:
    rows = heights(knows)
    top = max(rows.values())
    at: dict[str, tuple[float, float]] = {}
    for row in range(top + 1):
        inside = [room for room in knows if rows[room] == row]
        for i, room in enumerate(inside):
            # Rows with one room stand aside by turns, so that arrows past them are seen.
            x = WIDTH * (i + 1) / (len(inside) + 1)
            x += (row % 2 * 2 - 1) * WIDTH / 6 if len(inside) == 1 else 0
            at[room] = x, 20 + (top - row) * ROW
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {40 + top * ROW + HEIGHT}">',
        "<title>Who may import whom in pycaffe_dist; arrows that follow from others are left out"
        "</title>",
        f"<style>{STYLE}</style>",
        TIP,
    ]
    for room, others in direct(knows).items():
        x, y = at[room]
        for other in others:
            to_x, to_y = at[other]
            y0, y1 = y + HEIGHT, to_y
            bend = (y1 - y0) / 2
            curve = f"C{x:g} {y0 + bend:g} {to_x:g} {y1 - bend:g} {to_x:g} {y1:g}"
            lines.append(f'<path d="M{x:g} {y0:g} {curve}"/>')
    for room, (x, y) in at.items():
        lines.append(f'<rect x="{x - BOX / 2:g}" y="{y:g}" width="{BOX}" height="{HEIGHT}"/>')
        lines.append(f'<text x="{x:g}" y="{y + 22:g}">{room}</text>')
    return "\n".join([*lines, "</svg>", ""])

"""Draw docs/figures: DWBP, SFB, SACP and SSP, each as one picture for docs/poseidon.md.

    python scripts/make_method_figures.py            # write them
    python scripts/make_method_figures.py --check    # fail if they are not what would be written

Nothing here is measured.  The timelines are a made-up net of three layers; the curves of SACP are
the formulas of docs/sacp.md for two layers of AlexNet.
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import svg

FIGURES = Path(__file__).resolve().parent.parent / "docs" / "figures"
WIDTH, HEIGHT = 760, 30
# Layer, its backward and forward in ms, its exchange in ms.
LAYERS = (("fc", 1, 1, 5), ("conv2", 3, 2, 1), ("conv1", 4, 2, 0.5))
Span = tuple[float, float, str, str]  # from, to, words, kind


def row(name: str, y: int, spans: Sequence[Span], scale: float) -> Iterator[str]:
    yield svg.text(110, y + 19, name, "name")
    for begin, end, words, kind in spans:
        x, width = 120 + begin * scale, (end - begin) * scale - 1
        yield svg.rect(x, y, width, HEIGHT, kind)
        shown = words if width > 7 * len(words) else words.partition(" ")[0]
        if width > 6 * len(shown):
            yield svg.text(x + width / 2, y + 19, shown, "inside middle")


def step(overlap: bool) -> tuple[list[Span], list[Span]]:
    """Backward from above, the exchanges, then the next forward from below."""
    compute: list[Span] = []
    link: list[Span] = []
    now = free = 0.0
    ready: dict[str, float] = {}
    for name, backward, _, _ in LAYERS:
        compute.append((now, now + backward, f"{name} backward", "ours"))
        now += backward
        ready[name] = now
    for name, _, _, exchange in LAYERS:
        begin = max(free, ready[name] if overlap else now)
        free = begin + exchange
        link.append((begin, free, name, "link"))
        ready[name] = free if overlap else 0.0
    if not overlap:
        ready = dict.fromkeys(ready, free)
    for name, _, forward, _ in reversed(LAYERS):
        if ready[name] > now:
            compute.append((now, ready[name], "waits", "wait"))
            now = ready[name]
        compute.append((now, now + forward, f"{name} forward", "ours"))
        now += forward
    return compute, link


def dwbp() -> str:
    parts = []
    for overlap, y, title in (
        (False, 20, "Exchange after backward"),
        (True, 140, "DWBP: each layer's exchange starts when its gradient is there"),
    ):
        compute, link = step(overlap)
        parts += [svg.text(20, y, title, "title")]
        parts += [*row("processor", y + 12, compute, 30), *row("link", y + 46, link, 30)]
    return svg.document(
        WIDTH, 230, "DWBP hides exchanges behind backward and the next forward", parts
    )


def sfb() -> str:
    """The gradient of an inner product and its two factors, areas in proportion."""
    rows, columns, batch, scale = 4096, 9216, 256, 0.036
    high, wide, thin = rows * scale, columns * scale, batch * scale
    parts = [
        svg.text(20, 24, "AlexNet's fc6, batch 256: the gradient ...", "title"),
        svg.rect(20, 40, wide, high, "peer"),
        svg.text(20 + wide / 2, 40 + high / 2, "4096 x 9216: 37.7 million values", "middle inside"),
        svg.text(400, 24, "... is the product of two factors", "title"),
        svg.rect(400, 40, thin, high, "ours"),
        svg.text(420, 40 + high / 2, "x"),
        svg.rect(436, 40, 300, thin, "ours"),
        svg.text(436, 70, "top diff 4096 x 256, bottom data 256 x 9216:"),
        svg.text(436, 90, "3.4 million values to each other rank"),
        svg.text(
            20, 60 + high, "Each rank multiplies the factors of all ranks: one GEMM.", "small"
        ),
    ]
    return svg.document(WIDTH, round(76 + high), "A gradient and its sufficient factors", parts)


def sacp() -> str:
    """Values sent in a step over the number of nodes: 2(n-1)/n MN dense, (n-1)K(M+N) as factors."""
    parts = [
        svg.text(
            20, 24, "AlexNet, batch 256 a rank: million values sent by a node in a step", "title"
        )
    ]
    batch, most = 256, 32
    for left, name, m, n, top in ((60, "fc6", 9216, 4096, 120.0), (430, "fc8", 4096, 1000, 20.0)):

        def at(
            nodes: int, values: float, left: int = left, top: float = top
        ) -> tuple[float, float]:
            return left + 300 * nodes / most, 240 - 180 * values / 1e6 / top

        dense = [at(p, 2 * (p - 1) / p * m * n) for p in range(1, most + 1)]
        factors = [at(p, (p - 1) * batch * (m + n)) for p in range(1, most + 1)]
        cross = int(2 * m * n / (batch * (m + n)))
        parts += [
            svg.path([(left, 60), (left, 240), (left + 300, 240)], "line"),
            svg.path(dense, "brown"),
            svg.path([p for p in factors if p[1] >= 60], "blue"),
            svg.path([at(cross, 0), at(cross, top * 1e6)], "mark"),
            svg.text(left + 8, 56, f"{name}, {m} x {n}"),
            svg.text(left + 300 * cross / most - 4, 234, f"up to {cross}", "small name"),
            svg.text(left - 6, 66, f"{top:g}", "small name"),
            svg.text(left + 300, 255, f"{most} nodes", "small name"),
        ]
    parts.append(
        svg.text(
            60, 280, "brown: dense; blue: factors, which send less up to the red line", "small"
        )
    )
    return svg.document(
        WIDTH, 292, "Dense exchange against factors over the number of nodes", parts
    )


def ssp() -> str:
    """Four ranks with staleness 2: iteration c begins when all have finished c - 3."""
    clocks, bound = (6, 5, 3, 6), 2
    parts = [svg.text(20, 24, "Staleness 2: no rank is more than two iterations ahead", "title")]
    slowest = min(clocks)
    for rank, clock in enumerate(clocks):
        spans: list[Span] = [(i, i + 1, f"{i}", "ours") for i in range(clock)]
        late = clock > slowest + bound
        spans.append(
            (clock, clock + 1, "waits" if late else f"{clock} ...", "wait" if late else "plain")
        )
        parts += row(f"rank {rank}", 40 + 36 * rank, spans, 80)
    x = 120 + 80 * (slowest + bound + 1)
    parts.append(svg.path([(x, 34), (x, 190)], "mark"))
    note = f"The slowest rank is in iteration {slowest}; {slowest + bound + 1} waits for its end."
    parts.append(svg.text(120, 208, note, "small"))
    return svg.document(WIDTH, 222, "Ranks under bounded staleness", parts)


def main(argv: list[str]) -> int:
    drawn = {FIGURES / f"{draw.__name__}.svg": draw() for draw in (dwbp, sfb, sacp, ssp)}
    return svg.write(drawn, "--check" in argv, Path(__file__).name)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

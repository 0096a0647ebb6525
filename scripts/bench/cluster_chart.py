"""The cluster benchmark as a picture: a panel for each case, a bar for each way of training."""

from __future__ import annotations

from pathlib import Path
from typing import Any

OURS, PEER, IDEAL = "#3b6fb6", "#c0703a", "#b9bec6"


def draw(results: list[dict[str, Any]], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    heights = [0.8 + 0.32 * len(result["modes"]) for result in results]
    figure, panels = pyplot.subplots(
        len(results),
        1,
        figsize=(9, sum(heights)),
        height_ratios=heights,
        layout="constrained",
        squeeze=False,
    )
    for panel, result in zip(panels[:, 0], results, strict=True):
        _panel(panel, result)
    figure.savefig(path, dpi=130)
    pyplot.close(figure)


def _panel(panel: Any, result: dict[str, Any]) -> None:
    modes = list(result["modes"].items())[::-1]
    most = max(mode["high"] for _, mode in modes)
    for y, (name, mode) in enumerate(modes):
        rate = mode["images_per_s"]
        alone = mode["label"].endswith("no communication")
        colour = IDEAL if alone else PEER if name.startswith("ddp") else OURS
        spread = [[rate - mode["low"]], [mode["high"] - rate]]
        panel.barh(y, rate, color=colour, xerr=spread, error_kw={"lw": 0.8, "alpha": 0.6})
        text = f"{rate:.1f}" if alone else f"{rate:.1f}   {mode['mb']:.3g} MB a step"
        panel.text(mode["high"] + 0.01 * most, y, text, va="center", fontsize=8)
    panel.set_yticks(range(len(modes)), [mode["label"] for _, mode in modes], fontsize=8)
    panel.set_xlim(0, 1.25 * most)
    panel.set_title(f"{result['title']}: images/s of all ranks", fontsize=9, loc="left")
    panel.tick_params(axis="x", labelsize=8)
    panel.spines[["top", "right"]].set_visible(False)

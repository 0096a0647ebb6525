"""What was measured, for people: Markdown tables and a chart."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

TITLES = {"train": "training step", "test": "TEST forward"}
COLOURS = ("#1f5f8b", "#8fc1e3")


def heading(about: dict[str, Any]) -> str:
    m = about["machine"]
    options = ", ".join(about["torch"]["options"])
    torch = f"PyTorch {about['torch']['version']}" + (f" ({options})" if options else "")
    peaks = ", ".join(
        f"{n} thread{'s' * (n != '1')}: {p['best']:.0f}" for n, p in about["peak"].items()
    )
    lines = [
        f"{m['cores']} cores of {m['cpu']}, Python {m['python']}, NumPy {m['numpy']}; {m['date']}",
        f"engine {about['ours']['engine']} against {torch}; load at start {m['load']}",
    ]
    return "\n".join(lines + ([f"SGEMM peak, GFLOP/s: {peaks}"] if peaks else []))


def timing_table(results: Iterable[dict[str, Any]]) -> str:
    rows = [
        "| net (batch) | what | threads | ours, ms (quartiles) | PyTorch, ms (quartiles) "
        "| images/s | PyTorch's | ratio (rounds) | GFLOP/s | of peak |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    return "\n".join(rows + [timing_row(r) for r in results])


def timing_row(r: dict[str, Any]) -> str:
    ours, torch = r["ours"], r["torch"]
    cells = [
        f"{r['net']} ({r['batch']})",
        TITLES[r["phase"]],
        str(r["threads"]),
        *(f"{s['ms']:,.1f} ({s['ms_25']:,.1f} to {s['ms_75']:,.1f})" for s in (ours, torch)),
        *(f"{s['images_per_s']:,.0f}" for s in (ours, torch)),
        f"{r['ratio']:.2f} ({r['ratio_low']:.2f} to {r['ratio_high']:.2f})",
        f"{ours['gflops']:.1f}",
        f"{ours['of_peak']:.0%}",
    ]
    return f"| {' | '.join(cells)} |"


def memory_line(r: dict[str, Any]) -> str:
    parts = [
        f"{name} {r[side]['peak'] / 1e9:.2f} GB ({r[side]['before'] / 1e9:.2f} before the net)"
        for side, name in (("ours", "ours"), ("torch", "PyTorch"))
    ]
    what = f"peak memory of training {r['net']} at batch {r['batch']}, {r['threads']} threads"
    return f"{what}: {', '.join(parts)}; ratio {r['ratio']:.2f}"


def python_line(r: dict[str, Any]) -> str:
    parts = [
        f"{name} {r[side]['whole_ms']:.3f} ms, of which at most {r[side]['empty_ms']:.3f} in Python"
        for side, name in (("ours", "ours"), ("torch", "PyTorch"))
    ]
    return f"a training step of lenet at batch 1, 1 thread: {'; '.join(parts)}"


def denormals_line(r: dict[str, Any]) -> str:
    parts = [
        f"{name} {r[side]['new_ms']:.2f} ms on a new batch, {r[side]['learnt_ms']:.2f} ms "
        f"on a learnt one ({r[side]['slower']:.2f} x)"
        for side, name in (("ours", "ours"), ("torch", "PyTorch"))
    ]
    return f"denormals, {r['net']} ({r['batch']}), {r['threads']} threads: {'; '.join(parts)}"


def check_line(r: dict[str, Any]) -> str:
    train, test = r["train"], r["test"]
    return (
        f"{'ok  ' if r['good'] else 'FAIL'} {r['net']}: loss {train['output']:.0e}, "
        f"gradients {train['gradient']:.0e}, updates {train['update']:.0e}, "
        f"TEST {test['output']:.0e}; single precision: loss {train['single']:.0e}, "
        f"TEST {test['single']:.0e}"
    )


def chart(about: dict[str, Any], results: list[dict[str, Any]], path: Path) -> None:
    """How many times PyTorch's speed, for each net, phase and number of threads."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    nets = list(dict.fromkeys(r["net"] for r in results))
    threads = sorted({r["threads"] for r in results}, reverse=True)
    phases = [phase for phase in TITLES if any(r["phase"] == phase for r in results)]
    height = 0.8 / len(threads)
    size = (1 + 4.5 * len(phases), 1.8 + 0.5 * len(nets))
    figure, panels = pyplot.subplots(1, len(phases), sharey=True, squeeze=False, figsize=size)
    for panel, phase in zip(panels[0], phases, strict=True):
        for j, count in enumerate(threads):
            shown = [r for r in results if (r["phase"], r["threads"]) == (phase, count)]
            places = [nets.index(r["net"]) + (j - (len(threads) - 1) / 2) * height for r in shown]
            ratios = [r["ratio"] for r in shown]
            whiskers = [
                [max(0, r["ratio"] - r["ratio_low"]) for r in shown],
                [max(0, r["ratio_high"] - r["ratio"]) for r in shown],
            ]
            label = f"{count} thread{'s' * (count != 1)}"
            lines = {"ecolor": "#444444", "elinewidth": 1}
            style = {"color": COLOURS[j % 2], "label": label, "error_kw": lines}
            panel.barh(places, ratios, height, xerr=whiskers, **style)
            for place, r in zip(places, shown, strict=True):
                note = f" {r['ratio']:.2f} x | {r['ours']['of_peak']:.0%}"
                at = max(r["ratio"], r["ratio_high"])
                panel.text(at, place, note, va="center", fontsize=7)
        panel.axvline(1, color="#c0392b", linewidth=1, zorder=0)
        panel.set_title(TITLES[phase])
        panel.set_xlabel(f"speed, PyTorch {about['torch']['version']} = 1")
        panel.margins(x=0.2)
        panel.spines[["top", "right"]].set_visible(False)
    first = panels[0][0]
    batches = {r["net"]: r["batch"] for r in results}
    first.set_yticks(range(len(nets)), [f"{net} ({batches[net]})" for net in nets])
    first.invert_yaxis()
    figure.legend(*first.get_legend_handles_labels(), frameon=False, loc="upper right", fontsize=8)
    m = about["machine"]
    title = f"engine {about['ours']['engine']}, {m['cores']} cores of {m['cpu']}"
    figure.suptitle(f"{title}\nwhiskers: the rounds; %: share of the SGEMM peak", fontsize=9)
    figure.tight_layout()
    figure.savefig(path, dpi=150)

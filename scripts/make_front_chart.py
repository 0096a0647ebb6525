"""Draw docs/front.svg, the README's chart, from what the benchmarks have measured.

    python scripts/make_front_chart.py            # write it
    python scripts/make_front_chart.py --check    # fail if it is not what would be written

Left: training steps against PyTorch, of docs/cpu_bench.json (scripts/bench_cpu.py).  Right: AlexNet
on two nodes with 1 Gbit/s, of docs/cluster_bench.json (scripts/bench_cluster.py).
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import svg

DOCS = Path(__file__).resolve().parent.parent / "docs"
WIDTH, TOP, ROW, BAR = 1000, 62, 27, 18
MOST_RATIO, MOST_SPEED = 3.2, 56  # what fills the width of a panel
# Names of benchmark cases as readers know them.
NETS = {
    "lenet": "LeNet",
    "cifar10_quick": "cifar10_quick",
    "alexnet": "AlexNet",
    "alexnet_no_lrn": "AlexNet without LRN",
    "googlenet": "GoogLeNet",
    "vgg16": "VGG-16",
    "resnet50": "ResNet-50",
    "squeezenet": "SqueezeNet",
    "mobilenet": "MobileNet",
}
MODES = ("dense", "dwbp", "auto", "auto_fp16", "ddp", "ddp_fp16", "alone", "torch_alone")


class Bar(NamedTuple):
    """A row of a panel."""

    name: str
    value: float
    label: str
    kind: str


def cpu_bars(bench: dict[str, Any]) -> list[Bar]:
    steps = [t for t in bench["timings"] if t["phase"] == "train" and t["threads"] == 2]
    return [Bar(NETS[t["net"]], t["ratio"], f"{t['ratio']:.2f} x", "ours") for t in steps]


def cluster_bars(bench: dict[str, Any]) -> list[Bar]:
    (case,) = (r for r in bench["results"] if r["case"] == "alexnet")
    bars = []
    for key in MODES:
        mode = case["modes"][key]
        kind = "plain" if "alone" in key else "peer" if "ddp" in key else "ours"
        speed, mb = mode["images_per_s"], mode["mb"]
        label = f"{speed:.1f}, {mb:.3g} MB a step" if "alone" not in key else f"{speed:.1f}"
        bars.append(Bar(mode["label"], speed, label, kind))
    return bars


def panel(bars: list[Bar], x: int, width: int, most: float) -> Iterator[str]:
    """Horizontal bars from x on; ``most`` is the value that fills the width."""
    for i, bar in enumerate(bars):
        y = TOP + i * ROW
        length = width * bar.value / most
        yield svg.text(x - 8, y + 14, bar.name, "name")
        yield svg.rect(x, y, length, BAR, bar.kind)
        yield svg.text(x + length + 6, y + 14, bar.label)


def drawn(cpu: dict[str, Any], cluster: dict[str, Any]) -> str:
    left, right = cpu_bars(cpu), cluster_bars(cluster)
    bottom = TOP + ROW * max(len(left), len(right))
    torch = cpu["about"]["torch"]["version"].partition("+")[0]
    one = 150 + 200 / MOST_RATIO
    note, note2 = (
        "{cores} cores of an {cpu}, {date}".format(**machine)
        for machine in (cpu["about"]["machine"], cluster["machine"])
    )
    parts = [
        svg.text(20, 24, f"A training step on the CPU: PyTorch {torch} = 1", "title"),
        svg.text(20, 42, f"two threads, medians of rounds in turn; {note}", "small"),
        svg.text(470, 24, "AlexNet on two nodes, 1 Gbit/s: images/s", "title"),
        svg.text(470, 42, f"batch 32 a rank, emulated network; {note2}", "small"),
        *panel(left, 150, 200, MOST_RATIO),
        svg.path([(one, TOP - 6), (one, bottom)], "mark"),
        *panel(right, 690, 180, MOST_SPEED),
        svg.text(20, bottom + 20, "scripts/bench_cpu.py", "small"),
        svg.text(470, bottom + 20, "scripts/bench_cluster.py; grey: no communication", "small"),
    ]
    title = "Speed of training against PyTorch, on one machine and on two nodes"
    return svg.document(WIDTH, bottom + 32, title, parts)


def main(argv: list[str]) -> int:
    text = drawn(*(json.loads((DOCS / f"{n}_bench.json").read_text()) for n in ("cpu", "cluster")))
    return svg.write({DOCS / "front.svg": text}, "--check" in argv, Path(__file__).name)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""The figures and charts of docs/scaling.md, from `pcd simulate`'s own functions.

    python scripts/scaling.py             # writes docs/scaling.json and docs/scaling_*.png
    python scripts/scaling.py --check     # fails where docs/scaling.json has other figures

Everything is computed: no machine is measured, and the figures are the same everywhere.
"""

import json
import sys
from pathlib import Path

from pycaffe_dist.parallel.simulate.series import Point
from pycaffe_dist.tools.plan import Training
from pycaffe_dist.tools.simulate import SimulateOptions, simulated
from pycaffe_dist.tools.simulate_chart import draw

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
# Of Poseidon's cluster: the published step of one node, and three constants that were fitted
# to the series below.
POSEIDON = {
    "policy": "paper",
    "latency": 20,
    "device": "titanx",
    "alone": 925,
    "staging": 0.4,
    "spread": 1.5,
    "incast": 0.8,
}
PUBLISHED = {
    "SACP": {8: 7.63, 16: 15.03, 32: 29.45},
    "dense + DWBP": {8: 6.12, 16: 11.56, 32: 21.37},
    "parameter server": {8: 2.16, 16: 2.82, 32: 4.42},
}
OF_2015 = {"bvlc_alexnet": 4.5, "bvlc_googlenet": 4.0, "cifar10_quick": 4.0}


def points(model: str, batch: int | None = None, **options: object) -> list[Point]:
    training = Training(f"models/{model}/solver.prototxt", batch=batch)
    return simulated(SimulateOptions(training, **options)).points  # type: ignore[arg-type]


def poseidon() -> list[dict[str, object]]:
    """The published series beside ours, and the case of 10 gigabit."""
    names = list(PUBLISHED)
    nodes = [1, 2, 4, 8, 16, 32]
    found = points("vgg19_22k", 32, nodes=nodes, variants=names, bandwidth="40gbit", **POSEIDON)
    draw(found, str(DOCS / "scaling_poseidon.png"), "VGG19-22K, Titan X, 40 Gbit/s")
    rows: list[dict[str, object]] = [
        {
            "gbit": 40,
            "variant": p.variant,
            "nodes": p.nodes,
            "speedup": round(p.speedup, 2),
            "published": PUBLISHED[p.variant].get(p.nodes),
        }
        for p in found
    ]
    slow = points("vgg19_22k", 32, nodes=[16], variants=names[:2], bandwidth="10gbit", **POSEIDON)
    return rows + [
        {"gbit": 10, "variant": p.variant, "nodes": 16, "speedup": round(p.speedup, 2)}
        for p in slow
    ]


def eight_nodes() -> list[dict[str, object]]:
    """Nets of 2015 on 8 nodes with a K20 each, on links of 1 to 40 gigabit."""
    rows: list[dict[str, object]] = []
    for model, published in OF_2015.items():
        row: dict[str, object] = {"model": model, "published, 40 gbit": published}
        for gbit in (1, 2.5, 10, 40):
            (found,) = points(
                model, nodes=[8], variants=["SACP"], device="k20", bandwidth=f"{gbit}gbit"
            )
            row[f"{gbit:g} gbit"] = round(found.speedup, 2)
        rows.append(row)
    return rows


def thousand_nodes() -> list[dict[str, object]]:
    """AlexNet on up to 1,024 nodes."""
    nodes = [1 << i for i in range(11)]
    found = points("bvlc_alexnet", nodes=nodes, device="k20", bandwidth="10gbit", latency=20)
    draw(found, str(DOCS / "scaling_1024.png"), "AlexNet, K20, 10 Gbit/s")
    return [
        {"variant": p.variant, "nodes": p.nodes, "speedup": round(p.speedup, 1), "bound": p.bound}
        for p in found
    ]


def main(args: list[str]) -> int:
    kept = DOCS / "scaling.json"
    whole = {"poseidon": poseidon(), "8 nodes": eight_nodes(), "1,024 nodes": thousand_nodes()}
    text = json.dumps(whole, indent=1) + "\n"
    if "--check" in args:
        same = kept.is_file() and kept.read_text() == text
        print("" if same else f"{kept} is old: run scripts/scaling.py", end="")
        return 0 if same else 1
    kept.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

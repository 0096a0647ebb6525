"""Write the table of docs/onnx.md: each recorded layer, what it became, and how far it is off.

    python scripts/make_onnx_docs.py

Every recorded case of tests/golden is exported by itself, and run by ONNX Runtime and by NumPy.
"""

import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "unit" / "onnx"))

from recorded import build, cases, forward  # noqa: E402

from pycaffe_dist.errors import NetError  # noqa: E402
from pycaffe_dist.onnx.check import difference, run_onnx  # noqa: E402
from pycaffe_dist.onnx.export import USUAL, export  # noqa: E402
from pycaffe_dist.onnx.writing import as_bytes  # noqa: E402

PAGE = ROOT / "docs" / "onnx.md"
MARK = "<!-- written by scripts/make_onnx_docs.py -->"


def one(folder, name):
    """The layers of a case with their operators, and the largest difference of its outputs."""
    net, inputs = build(folder, name)
    made = export(net, USUAL)
    if not made.model.graph.output:
        return {}, 0.0
    theirs = run_onnx(as_bytes(made), inputs, threads=1)
    forward(net, inputs)
    known = {n: v for n, v in theirs.items() if n in net.blob_ids}
    worst = max(
        (difference(net.blobs[net.blob_ids[n]].data, v) for n, v in known.items()), default=0.0
    )
    types = {layer.name: layer.type for layer in net.layers}
    return {types[n]: operators for n, operators in made.operators.items()}, worst


def table():
    operators, worst, count, refused = defaultdict(set), defaultdict(float), defaultdict(int), {}
    for folder, name in cases():
        try:
            layers, apart = one(folder, name)
        except NetError as e:
            refused[name] = str(e)
            continue
        for kind, used in layers.items():
            operators[kind].update(used)
            worst[kind] = max(worst[kind], apart)
            count[kind] += 1
    rows = ["| layer | ONNX operators | cases | largest difference |", "|---|---|---|---|"]
    for kind in sorted(operators):
        used = (
            ", ".join(sorted(operators[kind])) or "none (a name for the same value, or a constant)"
        )
        rows.append(f"| {kind} | {used} | {count[kind]} | {worst[kind]:.0e} |")
    words = [f"- `{name}`: {why}" for name, why in sorted(refused.items())]
    return "\n".join([*rows, "", "Refused by name:", "", *words])


def main():
    head, _, _ = PAGE.read_text().partition(MARK)
    PAGE.write_text(f"{head}{MARK}\n\n{table()}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Write the table of docs/onnx.md: each recorded layer, what it became, and how far it is off.

    python scripts/make_onnx_docs.py

Every recorded case of tests/golden is exported by itself, and run by ONNX Runtime and by NumPy.
"""

import sys
from collections import defaultdict
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "unit" / "onnx"))

from recorded import build, cases, forward  # noqa: E402

from pycaffe_dist.errors import NetError  # noqa: E402
from pycaffe_dist.onnx.check import difference, run_onnx  # noqa: E402
from pycaffe_dist.onnx.export import OLDEST, USUAL, export, newest  # noqa: E402
from pycaffe_dist.onnx.writing import as_bytes  # noqa: E402

PAGE = ROOT / "docs" / "onnx.md"
SAME = 1e-4  # of the largest value
MARK = "<!-- written by scripts/make_onnx_docs.py -->"


def one(folder, name, opset):
    """The layers of a case with their operators, and the largest difference of its outputs."""
    net, inputs = build(folder, name)
    made = export(net, opset)
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


def last_opset(folder, name):
    """The newest opset with which ONNX Runtime computes a case as we do."""
    for opset in range(newest(), OLDEST, -1):
        with suppress(Exception):  # the library raises classes of its own
            if one(folder, name, opset)[1] <= SAME:
                return opset
    return OLDEST


def table():
    operators, worst, count, refused = defaultdict(set), defaultdict(float), defaultdict(int), {}
    last = defaultdict(newest)
    for folder, name in cases():
        try:
            found = [one(folder, name, opset) for opset in (OLDEST, USUAL)]
        except NetError as e:
            refused[name] = str(e)
            continue
        end = last_opset(folder, name)
        for layers, apart in found:
            for kind, used in layers.items():
                operators[kind].update(used)
                worst[kind] = max(worst[kind], apart)
        for kind in found[-1][0]:
            count[kind] += 1
            # A case of one layer tells of that layer; one of a whole net, of any of its layers.
            last[kind] = min(last[kind], end if len(found[-1][0]) == 1 else newest())
    rows = ["| layer | ONNX operators | opsets | cases | largest difference |"]
    rows.append("|---|---|---|---|---|")
    for kind in sorted(operators):
        used = (
            ", ".join(sorted(operators[kind])) or "none (a name for the same value, or a constant)"
        )
        opsets = f"{OLDEST}–{last[kind]}"
        rows.append(f"| {kind} | {used} | {opsets} | {count[kind]} | {worst[kind]:.0e} |")
    words = [f"- `{name}`: {why}" for name, why in sorted(refused.items())]
    return "\n".join([*rows, "", "Refused by name:", "", *words])


def main():
    head, _, _ = PAGE.read_text().partition(MARK)
    PAGE.write_text(f"{head}{MARK}\n\n{table()}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

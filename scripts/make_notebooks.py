"""Make examples/*.ipynb of examples/*.py, whose cells begin with ``# %%``.

    python scripts/make_notebooks.py            # write them
    python scripts/make_notebooks.py --check    # fail if one is old; `make lint` does this

Outputs are not kept: whoever opens a notebook runs it.
"""

import json
import re
import sys
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
MARK = re.compile(r"^# %%(.*)\n", re.M)


def notebook(script: str) -> str:
    parts = MARK.split(script)[1:]
    cells = []
    for i, (kind, body) in enumerate(zip(parts[::2], parts[1::2], strict=True)):
        text = body.strip("\n")
        cell = {"cell_type": "code", "id": f"cell-{i}", "metadata": {}}
        if "markdown" in kind:
            cell["cell_type"] = "markdown"
            text = "\n".join(row.removeprefix("#").removeprefix(" ") for row in text.split("\n"))
        else:
            cell |= {"execution_count": None, "outputs": []}
        cells.append(cell | {"source": text.splitlines(keepends=True)})
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    whole = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def main(arguments: list[str]) -> int:
    old = []
    for script in sorted(EXAMPLES.glob("*.py")):
        target, text = script.with_suffix(".ipynb"), notebook(script.read_text())
        if target.exists() and target.read_text() == text:
            continue
        old.append(target.name)
        if "--check" not in arguments:
            target.write_text(text)
    if old and "--check" in arguments:
        print(f"old: {', '.join(old)}; run scripts/make_notebooks.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

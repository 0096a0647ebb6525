"""Test files that are about a file of the sources, by their names and by what they mention."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from places import Change

# Their tests call much, and take long: documents, emulated GPUs, whole models.
LEFT_OUT = ("browser", "docs", "gpu", "models", "slurm", "zoo")


class Near:
    """What is known of the tests before any has run."""

    def __init__(self, root: Path) -> None:
        paths = [path.relative_to(root) for path in sorted((root / "tests").rglob("test_*.py"))]
        self._texts = {p: (root / p).read_text() for p in paths if p.parts[1] not in LEFT_OUT}
        lines = (root / "tests" / "tested_by.txt").read_text().splitlines()
        self._table = dict(line.split(": ") for line in lines if not line.startswith("#"))

    def files_of(self, file: str) -> list[str]:
        """Named after the file or its folder, or listed; else mention it; else all of its room."""
        inner = Path(file).with_suffix("").parts[1:]
        rooms = {"tools": ("tools", "cli"), "cli": ("cli", "tools")}.get(inner[0], inner[:1])
        texts = {p: t for p, t in self._texts.items() if set(rooms) & set(p.parts[1:-1])}
        if len(inner) == 1:
            texts = {p: t for p, t in self._texts.items() if p.parts[1:-1] == ("unit",)}
        if listed := self._table.get("/".join(inner) + ".py"):
            return [f"tests/{listed}"]
        found: list[Path] = []
        for name in [*inner[:0:-1], *inner[:1]][: max(len(inner) - 1, 1)]:
            about = re.compile(rf"test_(onednn_)?{re.escape(name)}(_cli)?\.py")
            found = found or [p for p in texts if about.fullmatch(p.name)]
        alone = [p for p in self._texts if p.parts[1:] == ("unit", f"test_{inner[-1]}.py")]
        return [str(p) for p in found or _mentioning(texts, inner) or alone or texts]

    def stages(self, change: Change, most: float) -> Iterator[tuple[Sequence[str], float]]:
        """One, of whole files, for so many seconds."""
        if files := self.files_of(change.file):
            yield files, most


def _mentioning(texts: dict[Path, str], inner: tuple[str, ...]) -> list[Path]:
    """Tests that import a module, or name a verb as a word of a command."""
    package, name = (re.escape(part) for part in (".".join(inner[:-1]), inner[-1]))
    imported = rf"\b{package}\.{name}\b|\b{package} import [^\n]*\b{name}\b"
    word = rf'|["\']{name}["\']' if inner[0] in ("tools", "cli") else ""
    return [path for path, text in texts.items() if re.search(imported + word, text)]

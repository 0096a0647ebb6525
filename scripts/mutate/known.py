"""What is known of the tests: how long each takes, and which blocks of statements it reaches."""

from __future__ import annotations

import base64
import json
import random
import re
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from blocks import blocks_of, innermost
from calls import KEYS
from places import Change

NEAR_SECONDS = 15.0  # of tests that are named after the file
SLOWEST = 5.0  # a test that takes longer is not run


class Known:
    """The notes of a run, by test."""

    def __init__(self, folder: Path, root: Path) -> None:
        self.root = root
        self.seconds: dict[str, float] = {}
        keys = json.loads((folder / KEYS).read_text())
        self._number = {key: number for number, key in enumerate(keys)}
        rows, self._ever = [], np.packbits(np.zeros(len(keys), bool))
        for path in sorted(folder.glob("*.jsonl")):
            for notes in map(json.loads, path.read_text().splitlines()):
                seen = zlib.decompress(base64.b85decode(notes["seen"]))
                row = np.packbits(np.frombuffer(seen, np.uint8))
                self._ever |= row
                there = (root / notes["test"].split("::")[0]).exists()  # it may have been renamed
                if there and notes["passed"] and notes["seconds"] <= SLOWEST:
                    self.seconds[notes["test"]] = notes["seconds"]
                    rows.append(row)
        self._tests, self._reached = list(self.seconds), np.stack(rows)

    def _reaching(self, numbers: Sequence[int]) -> list[str]:
        found = np.zeros(len(self._tests), bool)
        for number in numbers:
            found |= (self._reached[:, number // 8] & (128 >> number % 8)) != 0
        return sorted(self._tests[i] for i in np.flatnonzero(found))

    def tests_of(self, change: Change) -> list[str]:
        """Those that reach the changed block; for a default, the function or any method."""
        own = f"{change.file}:{change.function}"
        source = (self.root / change.file).read_bytes()
        blocks = [b for b in blocks_of(source, change.file) if b.key.startswith(f"{own}:")]
        block = innermost(blocks, change.line)
        if block and block.key in self._number:
            return self._reaching([self._number[block.key]])
        around = (f"{own}:", f"{own}.")
        return self._reaching([n for key, n in self._number.items() if key.startswith(around)])

    def unreached(self, file: str) -> Iterator[int]:
        """The first lines of the blocks of a file that no test reaches, or none that was noted."""
        source = (self.root / file).read_bytes()
        ever = np.unpackbits(self._ever)
        for block in blocks_of(source, file):
            number = self._number.get(block.key)
            first = source.splitlines()[block.line - 1].split()
            if (number is None or not ever[number]) and b"NotImplementedError" not in first:
                yield block.line

    def stages(self, change: Change, most: float) -> Iterator[tuple[Sequence[str], float]]:
        """Tests named after the file first, then others, cheap ones of each file in turn."""
        stem = re.escape(Path(change.file).stem)
        named = re.compile(rf"/test_(onednn_)?{stem}\w*\.py")
        tests = self.tests_of(change)
        # Code that runs while a module is imported is reached by none, and concerns all of them.
        near = [t for t in tests if named.search(t)] or [t for t in self._tests if named.search(t)]
        first = self._in_turn(near, NEAR_SECONDS, change.begin)
        rest = self._in_turn([t for t in tests if t not in set(first)], most, change.begin)
        for stage in (first, rest):
            if stage:
                yield stage, sum(self.seconds[test] for test in stage)

    def _in_turn(self, tests: list[str], most: float, seed: int) -> list[str]:
        rng = random.Random(seed)
        by_file: dict[str, list[tuple[float, str]]] = {}
        for test in tests:
            cost = self.seconds[test] * rng.uniform(0.5, 2)
            by_file.setdefault(test.split("::")[0], []).append((cost, test))
        queues = [sorted(queue, reverse=True) for _, queue in sorted(by_file.items())]
        taken: list[str] = []
        total = 0.0
        while queues := [queue for queue in queues if queue]:
            for queue in queues:
                test = queue.pop()[1]
                if not taken or total + self.seconds[test] <= most:
                    taken.append(test)
                    total += self.seconds[test]
        return taken

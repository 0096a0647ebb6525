"""What is known of the tests: how long each takes, and which functions it calls."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from places import Change

NEAR_SECONDS = 15.0  # of tests that are named after the file
SLOWEST = 5.0  # a test that takes longer is not run


class Known:
    """The notes of a run, by test."""

    def __init__(self, folder: Path) -> None:
        self.seconds: dict[str, float] = {}
        self.callers: dict[str, set[str]] = {}  # by function
        failed = set()
        for path in folder.glob("*.json"):
            for test, notes in json.loads(path.read_text()).items():
                if not notes.get("passed", True):
                    failed.add(test)
                if "seconds" in notes:
                    self.seconds[test] = notes["seconds"]
                for function in notes.get("calls", ()):
                    self.callers.setdefault(function, set()).add(test)
        for test in failed | {t for t, s in self.seconds.items() if s > SLOWEST}:
            self.seconds.pop(test, None)

    def tests_of(self, change: Change) -> list[str]:
        """Those that call the changed function; for a default of a class, any of its methods."""
        own = f"{change.file}:{change.function}"
        found = set(self.callers.get(own, ()))
        for function, tests in self.callers.items():
            if function.startswith(f"{own}."):
                found |= tests
        return sorted(test for test in found if test in self.seconds)

    def stages(self, change: Change, most: float) -> Iterator[tuple[Sequence[str], float]]:
        """Tests named after the file first, then others, cheap ones of each file in turn."""
        stem = re.escape(Path(change.file).stem)
        named = re.compile(rf"/test_(onednn_)?{stem}\w*\.py")
        tests = self.tests_of(change)
        near = [test for test in tests if named.search(test)]
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

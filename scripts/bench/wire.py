"""A side of the comparison: a process that is told over a pipe what to run, and idles else.

Requests and answers are lines of JSON: ``{"do": name, ...arguments}``, ``{...}``.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

SCRIPTS = Path(__file__).resolve().parent.parent
THREAD_SETTINGS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
SETTLE = 0.25  # seconds until the threads of the side that has just worked no longer spin
GEMM = 2048  # rows and columns of the product that measures the peak


class Side:
    """What a worker process can be asked; a subclass brings the framework."""

    def about(self) -> dict[str, Any]:
        """Which framework this is, in which version."""
        raise NotImplementedError

    def prepare(
        self,
        net: str,
        batch: int,
        phase: str,
        weights: str | None = None,
        dropout: bool = True,
        double: bool = False,
    ) -> dict[str, Any]:
        """Make a net ready to run; our side writes its parameters to ``weights``, PyTorch reads.

        In double precision our side is the NumPy engine's, whichever was asked for.
        """
        raise NotImplementedError

    def step(self) -> float:
        """A training step, or a TEST forward, whichever was prepared."""
        raise NotImplementedError

    def gemm(self) -> dict[str, Any]:
        """The best rate at which the framework multiplies matrices."""
        raise NotImplementedError

    def check(self, path: str, rate: float, steps: int) -> dict[str, Any]:
        """Write what the net gives, its gradients and what ``steps`` make of its parameters."""
        raise NotImplementedError

    def learn(self, known: bool) -> dict[str, Any]:
        """Make the batch one that the net knows by heart, or again one that is new to it."""
        raise NotImplementedError

    def steps(self, count: int) -> dict[str, Any]:
        seconds = []
        value = 0.0
        for _ in range(count):
            begin = time.perf_counter()
            value = self.step()
            seconds.append(time.perf_counter() - begin)
        return {"seconds": seconds, "value": value}

    def memory(self) -> dict[str, Any]:
        status = Path("/proc/self/status").read_text()
        found = {name: re.search(rf"{name}:\s+(\d+)", status) for name in ("VmRSS", "VmHWM")}
        return {name: int(match[1]) * 1024 for name, match in found.items() if match}


def gemm_rate(multiply: Any) -> dict[str, Any]:
    """GFLOP/s of a function that multiplies two GEMM x GEMM matrices: the best of ten."""
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal((GEMM, GEMM), np.float32) for _ in range(2))
    run = multiply(a, b)
    seconds = []
    for _ in range(12):
        begin = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - begin)
    return {"gflops": 2 * GEMM**3 / min(seconds[2:]) / 1e9}


def sample(values: np.ndarray) -> np.ndarray:
    """A copy of some 100,000 values, evenly chosen: enough to tell two gradients apart."""
    return values.ravel()[:: max(1, values.size // 100_000)].copy()


def log_of(probabilities: np.ndarray) -> np.ndarray:
    """Flat logarithms, in which small probabilities count as much as large ones.

    Down to 10⁻³⁰ (10⁻²⁴⁶ in double precision): those near the least number may be flushed to zero.
    """
    least = np.finfo(probabilities.dtype).tiny ** 0.8
    return np.log(np.maximum(probabilities.ravel(), least))


def serve(side: Side) -> None:
    """Answer requests until there are no more.  What libraries print goes to stderr."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        request = json.loads(line)
        answer = getattr(side, request.pop("do"))(**request)
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


class Worker:
    """The other end: a started side."""

    def __init__(
        self,
        python: Path,
        module: str,
        threads: int,
        *arguments: str,
        more: Mapping[str, str] | None = None,
    ) -> None:
        env = dict(os.environ, PYTHONPATH=str(SCRIPTS), **(more or {}))
        env |= dict.fromkeys(THREAD_SETTINGS, str(threads))
        self.name = module
        self._process = subprocess.Popen(
            [str(python), "-m", f"bench.{module}", str(threads), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=env,
        )

    def ask(self, do: str, **arguments: Any) -> dict[str, Any]:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps({"do": do, **arguments}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            code = self._process.wait()
            raise SystemExit(f"the worker {self.name} ended with code {code} at {do!r}; see above")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def run(self, steps: int) -> list[float]:
        """Seconds of each of ``steps``, after a pause in which the other side comes to rest."""
        time.sleep(SETTLE)
        seconds: list[float] = self.ask("steps", count=steps)["seconds"]
        return seconds

    def median(self, steps: int, warm_up: int = 2) -> float:
        self.run(warm_up)
        return statistics.median(self.run(steps))

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait()

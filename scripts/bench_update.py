"""How close solver updates come to the memory they must move.

    make bench
    python scripts/bench_update.py

For each rule, one update of AlexNet's 61 million parameters against the time that reading and
writing the arrays it has to touch takes by plain copies in the same run.
"""

import statistics
import sys
import time

import numpy as np

from pycaffe_dist.blob import Blob
from pycaffe_dist.engines import create
from pycaffe_dist.learnable import Param
from pycaffe_dist.proto.caffe_pb2 import SolverParameter
from pycaffe_dist.solvers import update
from pycaffe_dist.solvers.rules import RULES, create_rule

SIZES = (34848, 614400, 884736, 663552, 442368, 37748736, 16777216, 4096000)
REPEATS = 5
ENGINE = create("auto")


def seconds(work) -> float:
    times = []
    for _ in range(REPEATS):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def main() -> int:
    total = sum(SIZES)
    source, target = np.ones(total, np.float32), np.zeros(total, np.float32)
    per_array = seconds(lambda: np.copyto(target, source)) / 2  # a copy reads one and writes one
    print(f"{total:,} parameters; moving one array takes {per_array * 1e3:.1f} ms")
    print(f"{'rule':10} {'ms':>8} {'arrays moved':>13} {'x of the bytes':>15}")
    for name in RULES:
        solver = SolverParameter(type=name, weight_decay=5e-4, delta=1e-8, rms_decay=0.9)
        if name not in ("AdaGrad", "RMSProp"):
            solver.momentum = 0.9
        rule = create_rule(solver)
        params = [Param(Blob((n,)), "0", (0, 0), 1.0, 1.0, False, False) for n in SIZES]
        history = [{slot: Blob((n,)) for slot in rule.slots} for n in SIZES]
        for p, h in zip(params, history, strict=True):
            p.blob.data[...] = p.blob.diff[...] = 1e-3
            for blob in h.values():
                blob.data[...] = 1e-3
        made = update.step_of(solver, rule, 0, 1e-4)

        def step(params=params, history=history, rule=rule, made=made) -> None:
            update.apply(params, history, rule, made, ENGINE)

        step()
        spent = seconds(step)
        # data, diff and each history are read and written
        arrays = 2 * (2 + len(rule.slots))
        print(f"{name:10} {spent * 1e3:8.1f} {arrays:13d} {spent / (arrays * per_array):15.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Poseidon's published series (VGG19-22K, Titan X), described by three fitted constants."""

from pathlib import Path

import pytest

from pycaffe_dist.tools.plan import Training
from pycaffe_dist.tools.simulate import SimulateOptions, simulated

ROOT = Path(__file__).parents[4]

PUBLISHED = {
    "SACP": {8: 7.63, 16: 15.03, 32: 29.45},
    "dense + DWBP": {8: 6.12, 16: 11.56, 32: 21.37},
    "parameter server": {8: 2.16, 16: 2.82, 32: 4.42},
}


def speedups(nodes, bandwidth, variants):
    options = SimulateOptions(
        Training("models/vgg19_22k/solver.prototxt", batch=32),
        nodes,
        variants=variants,
        policy="paper",
        bandwidth=bandwidth,
        latency=20,
        device="titanx",
        alone=925,
        staging=0.4,
        spread=1.5,
        incast=0.8,
    )
    found = {name: {} for name in variants}
    for point in simulated(options).points:
        found[point.variant][point.nodes] = point.speedup
    return found


@pytest.fixture(autouse=True)
def _here(monkeypatch):
    monkeypatch.chdir(ROOT)


def test_the_published_speedups_at_40_gigabit():
    found = speedups([8, 16, 32], "40gbit", list(PUBLISHED))
    for name, by_nodes in PUBLISHED.items():
        assert found[name] == pytest.approx(by_nodes, rel=0.1), name


def test_at_10_gigabit_factors_keep_what_dense_exchanges_lose():
    found = speedups([16], "10gbit", ["SACP", "dense + DWBP"])
    assert found["SACP"][16] > 15
    assert found["dense + DWBP"][16] < 10.8

"""Several ranks that compute in bf16 agree to the bit, and with one rank up to rounding."""

import platform
import sys

import pytest
from cases import Case, build, distance, identical, trained, weights

from pycaffe_dist.engines import create
from pycaffe_dist.parallel.settings import ClusterSettings
from pycaffe_dist.testing.ranks import run_ranks

STEPS = 4
pytestmark = pytest.mark.skipif(
    (sys.platform, platform.machine()) != ("linux", "x86_64"), reason="oneDNN is for x86-64"
)


@pytest.mark.parametrize("comm", ["allreduce", "sfb"])
def test_ranks_agree(comm, monkeypatch):
    from pycaffe_dist.engines.onednn.core import library
    from pycaffe_dist.engines.onednn.core.remembered import CHOICES

    monkeypatch.setattr(CHOICES, "measuring", False)
    precision = "bf16" if library.load().has_bf16 else "bf16-emulated"
    engine = create("onednn").at(precision)
    case = Case("conv", "SGD", "", ClusterSettings(comm=comm))
    found = run_ranks(["a", "b"], lambda c: trained(case, c, STEPS, engine))
    assert identical(found)
    alone = build(case, range(2), 2, engine=engine)
    alone.step(STEPS)
    assert distance(found[0], weights(alone)) < 2e-3

"""The registry of schemes, and the table of docs/sacp.md."""

from pathlib import Path

import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.parallel.exchange.device import DeviceParcel
from pycaffe_dist.parallel.exchange.parcel import Parcel
from pycaffe_dist.parallel.schemes.scheme import Option, scheme_options, schemes, selectable
from pycaffe_dist.parallel.settings import COMM, ClusterSettings

DOCS = Path(__file__).parents[4] / "docs"


def test_schemes_are_found_dense_ones_first():
    assert list(schemes()) == ["allreduce", "topk", "updates", "sharded", "sfb", "sf-push"]
    assert [name for name, scheme in schemes().items() if scheme.updates] == ["sharded", "sf-push"]
    assert [name for name, scheme in schemes().items() if scheme.factored] == ["sfb", "sf-push"]
    assert set(COMM) == {"auto", "dense", *selectable()}


@pytest.mark.parametrize("scheme", schemes().values(), ids=list(schemes()))
def test_a_scheme_is_whole(scheme):
    assert (scheme.stale in schemes()) or not scheme.stale
    if scheme.synchronous:
        assert issubclass(scheme.host, Parcel)
        assert scheme.device is None or issubclass(scheme.device, DeviceParcel)
    row = f"| `{scheme.name}` | {scheme.travels} | {scheme.sent} | {scheme.work} |"
    assert row in (DOCS / "sacp.md").read_text().splitlines()


def test_options_have_flags_defaults_and_bounds():
    assert scheme_options()["topk-fraction"].default == 0.01
    assert ClusterSettings().scheme_options == {"topk-fraction": 0.01}
    given = ClusterSettings(options={"topk-fraction": 0.5})
    assert given.scheme_options == {"topk-fraction": 0.5}
    for value in (0, -1, 1.01, float("nan")):
        with pytest.raises(NetError, match="--topk-fraction must be more than 0 and at most 1"):
            ClusterSettings(options={"topk-fraction": value})
    with pytest.raises(NetError, match='there is no "topk-part"'):
        ClusterSettings(options={"topk-part": 0.1})
    Option("any", 3, "", above=2, most=3).check("any", 3)

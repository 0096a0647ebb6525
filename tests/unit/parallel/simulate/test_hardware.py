import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.parallel.plan.step import LayerTimes
from pycaffe_dist.parallel.simulate.hardware import DEVICES, Network, Topology, device_named

TIMES = LayerTimes((1.0,), (2.0,))


def test_a_rack_has_its_own_switch_and_shares_the_way_to_others():
    racks = Topology.named("two-tier:4:8")
    assert racks == Topology(4.0, 8)
    assert racks.slowdown(8) == 1
    assert racks.slowdown(16) == pytest.approx(4 * 8 / 15)
    assert racks.slowdown(1 << 20) == pytest.approx(4, rel=1e-4)
    # Two nodes in another rack are few: their bytes are not what takes longest.
    assert Topology(4.0, 16).slowdown(18) == 1
    assert Topology.named("flat").slowdown(1000) == 1


@pytest.mark.parametrize("text", ["fat", "two-tier", "two-tier:0.5", "two-tier:4:0", "two-tier:x"])
def test_a_topology_that_is_none_is_refused(text):
    with pytest.raises(NetError, match=r"--topology .*two-tier:4:32"):
        Topology.named(text)


def test_a_device_that_is_unknown_is_refused_with_those_there_are():
    with pytest.raises(NetError, match=r'"titanxx"; did you mean "titanx"\?; there are: cpu, k20'):
        device_named("titanxx")


def test_links_have_the_bandwidth_the_staging_and_the_incast():
    network = Network(8e9, 1e-5, Topology(), staging=1e-9, incast=0.5)
    links = network.links(DEVICES["k20"], TIMES, 16, many_to_one=False)
    assert links.between.alpha == 1e-5
    assert links.between.beta == pytest.approx(2e-9)
    assert (links.forward, links.backward) == ((1000.0,), (2000.0,))
    served = network.links(DEVICES["k20"], TIMES, 16, many_to_one=True)
    assert served.between.beta == pytest.approx(4e-9 + 1e-9)

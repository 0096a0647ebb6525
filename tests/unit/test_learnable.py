import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.layer import Context
from pycaffe_dist.net import Net
from pycaffe_dist.proto.caffe_pb2 import NetParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.rng import set_random_seed

FILLERS = "weight_filler { type: 'gaussian' } bias_filler { type: 'uniform' }"


def build(*layers, settings="", inputs=3, dtype=np.float64):
    """Inner products on one input: each given as `settings`, or as (outputs, settings)."""
    text = f"""{settings} layer {{ name: "data" type: "Input" top: "data"
               input_param {{ shape {{ dim: 4 dim: {inputs} }} }} }}\n"""
    for i, given in enumerate(layers):
        outputs, spec = given if isinstance(given, tuple) else (2, given)
        text += f"""layer {{ name: "ip{i}" type: "InnerProduct" bottom: "data" top: "ip{i}" {spec}
                    loss_weight: 1
                    inner_product_param {{ num_output: {outputs} {FILLERS} }} }}\n"""
    set_random_seed(1701)
    net = Net(parse_text(text, NetParameter()).message, Context(dtype=dtype))
    net.blobs[0].data[...] = np.random.default_rng(1).standard_normal((4, inputs))
    return net


def layer(net, name):
    return net.layers[net.layer_names.index(name)]


W, B = "param { name: 'w' }", "param { name: 'b' }"


# -- the list of what can be learned ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("specs", "names", "ids"),
    [
        (["", ""], "0 1 0 1", [[0, 1], [2, 3]]),
        ([f"{W} {B}"], "w b", [[0, 1]]),
        ([f"{W} {B}", f"{W} {B}"], "w b", [[0, 1], [0, 1]]),
        ([W, W], "w 1 1", [[0, 1], [0, 2]]),
        ([f"param {{ }} {B}", f"param {{ }} {B}"], "0 b 0", [[0, 1], [2, 1]]),
        (["", W, W, W], "0 1 w 1 1 1", [[0, 1], [2, 3], [2, 4], [2, 5]]),
        (["param { lr_mult: 0 } param { lr_mult: 0 }"], "0 1", [[0, 1]]),
        (["param { name: '' }", "param { name: '' }"], "0 1 0 1", [[0, 1], [2, 3]]),
    ],
)
def test_owners_in_order_of_appearance(specs, names, ids):
    net = build(*specs)
    ips = [i for i, name in enumerate(net.layer_names) if name.startswith("ip")]
    assert [p.name for p in net.params.learnable] == names.split()
    assert [net.params.ids[i] for i in ips] == ids
    for n, param in enumerate(net.params.learnable):
        at, j = param.owner
        assert net.layers[at].blobs[j] is param.blob
        assert net.params.ids[at][j] == n
        first = min(i for i, row in enumerate(net.params.ids) if n in row)
        assert at == first


@pytest.mark.parametrize(
    ("spec", "rates", "decays"),
    [
        ("", [1, 1], [1, 1]),
        ("param { lr_mult: 2 decay_mult: 0 }", [2, 1], [0, 1]),
        ("param { lr_mult: 0 } param { lr_mult: 0.5 decay_mult: 3 }", [0, 0.5], [1, 3]),
    ],
)
def test_multipliers(spec, rates, decays):
    params = build(spec).params.learnable
    assert [p.lr_mult for p in params] == rates
    assert [p.decay_mult for p in params] == decays


# -- sharing ---------------------------------------------------------------------------------------


def test_sharers_use_the_owners_values_and_gradients():
    net = build(f"{W} {B}", f"{W} {B}")
    one, two = layer(net, "ip0"), layer(net, "ip1")
    plain = build("", "")
    for i in range(2):  # the owner's filling wins; the sharer's is drawn all the same
        np.testing.assert_array_equal(one.blobs[i].data, layer(plain, "ip0").blobs[i].data)
        one.blobs[i].data[...] = 5 + i
        two.blobs[i].diff[...] = 7 + i
        assert (two.blobs[i].data == 5 + i).all()
        assert (one.blobs[i].diff == 7 + i).all()
    assert one.blobs[0] is not two.blobs[0]
    unshared = build("", "", "")
    after = build(f"{W} {B}", f"{W} {B}", "")
    np.testing.assert_array_equal(
        layer(after, "ip2").blobs[0].data, layer(unshared, "ip2").blobs[0].data
    )


def test_gradients_of_sharers_add_up_to_those_of_two_layers():
    shared, apart = build(W, W), build("", "")
    for mine, other in zip(layer(apart, "ip1").blobs, layer(apart, "ip0").blobs, strict=True):
        mine.data[...] = other.data
    for mine, other in zip(layer(shared, "ip1").blobs, layer(apart, "ip1").blobs, strict=True):
        mine.data[...] = other.data
    for net in (shared, apart):
        net.clear_param_diffs()
        net.forward()
        net.backward()
    both = layer(apart, "ip0").blobs[0].diff + layer(apart, "ip1").blobs[0].diff
    assert np.abs(both).max() > 0
    np.testing.assert_allclose(layer(shared, "ip0").blobs[0].diff, both)
    np.testing.assert_allclose(layer(shared, "ip1").blobs[0].diff, both)
    before = layer(shared, "ip0").blobs[0].data.copy()
    shared.update()
    np.testing.assert_allclose(layer(shared, "ip1").blobs[0].data, before - both)


@pytest.mark.parametrize("mode", ["", "share_mode: STRICT", "share_mode: PERMISSIVE"])
def test_equal_shapes_may_be_shared_different_counts_never(mode):
    share = f"param {{ name: 'w' {mode} }}"
    assert len(build((2, W), (2, share)).params.learnable) == 3
    with pytest.raises(NetError, match=r'layer "ip1": shared parameter "w".*\(4, 3\).*\(2, 3\)'):
        build((2, W), (4, share))


@pytest.mark.parametrize(
    ("owner_mode", "sharer_mode", "ok"),
    [
        ("", "", False),
        ("share_mode: PERMISSIVE", "", False),  # it is the sharer who is asked
        ("", "share_mode: PERMISSIVE", True),
        ("share_mode: PERMISSIVE", "share_mode: STRICT", False),
    ],
)
def test_permissive_sharing_needs_equal_counts_only(owner_mode, sharer_mode, ok):
    """(1, 3) and (3,): the weights of one output, and the biases of three."""
    rows = [
        (1, f"param {{ name: 'w' {owner_mode} }}"),
        (3, f"param {{ }} param {{ name: 'w' {sharer_mode} }}"),
    ]
    if not ok:
        with pytest.raises(NetError, match=r"\(3,\).*\(1, 3\).*the same shape.*PERMISSIVE"):
            build(*rows)
        return
    net = build(*rows)
    layer(net, "ip0").blobs[0].data[...] = [[1, 2, 3]]
    assert layer(net, "ip1").blobs[1].data.tolist() == [1, 2, 3]


@pytest.mark.parametrize("what", ["lr_mult", "decay_mult"])
@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([None, None], 1),
        ([2, None], 2),
        ([None, 2], 2),  # said aloud goes before the default
        ([2, 2], 2),
        ([2, 3], "3 here and 2 before"),
        ([1, 2], "2 here and 1 before"),
        ([0, 1], "1 here and 0 before"),
        ([None, 2, None, 2], 2),
        ([None, 2, 5], "5 here and 2 before"),
        ([None, None, 0], 0),
    ],
)
def test_sharers_agree_on_multipliers(what, given, expected):
    rows = [
        f"param {{ name: 'w' {'' if value is None else f'{what}: {value}'} }}" for value in given
    ]
    if isinstance(expected, str):
        with pytest.raises(
            NetError, match=f'layer "ip{len(given) - 1}".*"w" has {what} {expected}'
        ):
            build(*rows)
        return
    param = build(*rows).params.learnable[0]
    assert getattr(param, what) == expected
    assert (param.lr_mult if what == "decay_mult" else param.decay_mult) == 1


def test_a_layer_may_share_with_itself():
    """Weights (3, 1) and biases (3,) of one layer."""
    net = build((3, "param { name: 'x' } param { name: 'x' share_mode: PERMISSIVE }"), inputs=1)
    assert len(net.params.learnable) == 1
    assert net.params.ids[-1] == [0, 0]
    layer(net, "ip0").blobs[1].data[...] = [1, 2, 3]
    assert layer(net, "ip0").blobs[0].data.tolist() == [[1], [2], [3]]


@pytest.mark.parametrize("rates", [(1, 0), (0, 1)])
def test_each_sharer_has_its_own_say_about_running_backward(rates):
    """Caffe refuses different rates; without a spec for the second the first decides alone."""
    net = build(
        f"param {{ name: 'w' lr_mult: {rates[0]} }} param {{ lr_mult: 0 }}",
        "param { name: 'w' } param { lr_mult: 0 }",
    )
    assert layer(net, "ip0").param_propagate_down == [bool(rates[0]), False]
    assert layer(net, "ip1").param_propagate_down == [True, False]
    assert net.params.learnable[0].lr_mult == rates[0]

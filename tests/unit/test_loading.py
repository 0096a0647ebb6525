import logging
from dataclasses import replace

import h5py
import numpy as np
import pytest

from pycaffe_dist import loading
from pycaffe_dist.errors import FileError, NetError
from pycaffe_dist.layer import Context
from pycaffe_dist.loading import (
    copy_weights,
    load_weights,
    save_weights,
    save_weights_hdf5,
    share_weights,
)
from pycaffe_dist.net import Net
from pycaffe_dist.proto.blobs import BlobArray
from pycaffe_dist.proto.caffe_pb2 import NetParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.proto.weights import LayerWeights, Weights
from pycaffe_dist.rng import set_random_seed


def build(*layers, seed=1, dtype=np.float32, inputs=3):
    """Inner products, each on the data: `name`, `name outputs` or `name outputs settings`."""
    text = f"""name: "net" layer {{ name: "data" type: "Input" top: "data"
               input_param {{ shape {{ dim: 4 dim: {inputs} }} }} }}\n"""
    for i, row in enumerate(layers):
        name, outputs, settings = (*row.split(" ", 2), *["2", ""][len(row.split(" ", 2)) - 1 :])
        text += f"""layer {{ name: "{name}" type: "InnerProduct" bottom: "data" top: "top{i}"
                    {settings} inner_product_param {{ num_output: {outputs}
                    weight_filler {{ type: "gaussian" }} bias_filler {{ type: "uniform" }} }}
                    }}\n"""
    set_random_seed(seed)
    return Net(parse_text(text, NetParameter()).message, Context(dtype=dtype))


def layer(net, name):
    return net.layers[net.layer_names.index(name)]


def values(net):
    return {
        (name, i): blob.data.copy()
        for name, la in zip(net.layer_names, net.layers, strict=True)
        for i, blob in enumerate(la.blobs)
    }


def assert_equal(one, two):
    assert one.keys() == two.keys()
    for key in one:
        np.testing.assert_array_equal(one[key], two[key], err_msg=str(key))


def file_of(*layers, type="InnerProduct", legacy=False):
    """Weights as a file holds them: (name, array, array, ...)."""
    return Weights(
        "net",
        [
            LayerWeights(name, type, [BlobArray(np.asarray(a), None, legacy) for a in arrays])
            for name, *arrays in layers
        ],
    )


SAVERS = pytest.mark.parametrize("save", [save_weights, save_weights_hdf5], ids=["proto", "hdf5"])


# -- out and in again ------------------------------------------------------------------------------


@SAVERS
def test_what_is_saved_is_loaded(tmp_path, save):
    rows = ["a", "b 5", "c 1 param { lr_mult: 0 }"]
    one, two = build(*rows, seed=1), build(*rows, seed=2)
    save(one, tmp_path / "w")
    before = values(two)
    report = load_weights(two, tmp_path / "w")
    assert_equal(values(two), values(one))
    assert not np.array_equal(before["a", 0], values(two)["a", 0])
    assert sorted(report.copied) == ["a", "b", "c"]
    assert report.missing == report.ignored == []
    again = tmp_path / "again"
    save(two, again)
    if save is save_weights:
        assert again.read_bytes() == (tmp_path / "w").read_bytes()


@SAVERS
def test_gradients_are_saved_if_asked_for_and_loaded_if_there(tmp_path, save):
    one = build("a")
    for blob in layer(one, "a").blobs:
        blob.diff[...] = 3
    for diffs, expected in ((False, 7), (True, 3)):
        two = build("a", seed=2)
        for blob in layer(two, "a").blobs:
            blob.diff[...] = 7
        save(one, tmp_path / "w", diffs)
        load_weights(two, tmp_path / "w")
        assert all((blob.diff == expected).all() for blob in layer(two, "a").blobs)


@SAVERS
def test_double_values_into_a_single_net_and_back(tmp_path, save):
    double, single, again = (build("a", dtype=d) for d in (np.float64, np.float32, np.float64))
    layer(double, "a").blobs[0].data[...] = 1 + 1e-12
    layer(double, "a").blobs[1].data[...] = [1 / 3, 1e-300]
    save(double, tmp_path / "w")
    load_weights(single, tmp_path / "w")
    assert layer(single, "a").blobs[1].data.dtype == np.float32
    np.testing.assert_array_equal(layer(single, "a").blobs[1].data, np.float32([1 / 3, 0]))
    load_weights(again, tmp_path / "w")
    if save is save_weights:  # Caffe's HDF5 files hold single numbers
        assert_equal(values(again), values(double))


def test_a_shared_parameter_is_saved_with_each_of_its_layers(tmp_path):
    shared = "2 param { name: 'w' }"
    save_weights(build(f"a {shared}", f"b {shared}"), tmp_path / "w")
    apart = build("a", "b", seed=5)
    load_weights(apart, tmp_path / "w")
    np.testing.assert_array_equal(values(apart)["a", 0], values(apart)["b", 0])
    assert not np.array_equal(values(apart)["a", 1], values(apart)["b", 1])


def test_the_file_tells_the_whole_net(tmp_path):
    net = build("a", "b")
    save_weights(net, tmp_path / "w")
    stored = NetParameter.FromString((tmp_path / "w").read_bytes())
    assert stored.name == "net"
    assert [la.name for la in stored.layer] == ["data", "data_data_0_split", "a", "b"]
    assert [len(la.blobs) for la in stored.layer] == [0, 0, 2, 2]
    assert [la.phase for la in stored.layer] == [1] * 4
    assert list(stored.layer[2].blobs[0].shape.dim) == [2, 3]
    assert not stored.layer[2].blobs[0].diff


# -- HDF5 and shared parameters --------------------------------------------------------------------


SHARING = {
    "all": "param { name: 'w' } param { name: 'b' }",
    "first": "param { name: 'w' }",
    "second": "param { } param { name: 'b' }",
}


@pytest.mark.parametrize(
    ("shared", "kept"), [("all", set()), ("first", {"1"}), ("second", {"0"})], ids=list(SHARING)
)
def test_hdf5_keeps_shared_parameters_with_their_owner_under_their_own_numbers(
    tmp_path, shared, kept
):
    net = build(f"a 2 {SHARING[shared]}", f"b 2 {SHARING[shared]}")
    for i, blob in enumerate(layer(net, "a").blobs + layer(net, "b").blobs):
        blob.diff[...] = i
    save_weights_hdf5(net, tmp_path / "w.h5", diffs=True)
    with h5py.File(tmp_path / "w.h5") as file:
        assert set(file["data"]) == {"data", "data_data_0_split", "a", "b"}
        assert set(file["data/a"]) == {"0", "1"}
        assert set(file["data/b"]) == kept
        assert set(file["diff/b"]) == {"0", "1"}
        for key in kept:
            np.testing.assert_array_equal(
                file["data/b"][key][()], layer(net, "b").blobs[int(key)].data
            )


@pytest.mark.parametrize("shared", SHARING)
def test_hdf5_with_shared_parameters_goes_round(tmp_path, shared):
    rows = [f"a 2 {SHARING[shared]}", f"b 2 {SHARING[shared]}"]
    one, two = build(*rows, seed=1), build(*rows, seed=2)
    for i, blob in enumerate(layer(one, "a").blobs + layer(one, "b").blobs):
        blob.diff[...] = i
    save_weights_hdf5(one, tmp_path / "w.h5", diffs=True)
    report = load_weights(two, tmp_path / "w.h5")
    assert sorted(report.copied) == ["a", "b"]
    assert_equal(values(two), values(one))
    for mine, theirs in zip(layer(two, "b").blobs, layer(one, "b").blobs, strict=True):
        np.testing.assert_array_equal(mine.diff, theirs.diff)


def test_hdf5_of_a_sharing_net_does_not_fit_one_that_does_not_share(tmp_path):
    save_weights_hdf5(build(f"a 2 {SHARING['first']}", f"b 2 {SHARING['first']}"), tmp_path / "w")
    apart = build("a", "b", seed=2)
    before = values(apart)
    with pytest.raises(NetError, match='w: layer "b"'):
        load_weights(apart, tmp_path / "w")
    assert_equal(values(apart), before)


def test_hdf5_as_caffe_writes_it(tmp_path):
    """The second layer's own bias is number 1 though it stands alone."""
    shared = SHARING["first"]
    net = build(f"a 2 {shared}", f"b 2 {shared}")
    with h5py.File(tmp_path / "w.h5", "w") as file:
        file["data/a/0"] = np.full((2, 3), 1.0, "f4")
        file["data/a/1"] = np.full(2, 2.0, "f4")
        file["data/b/1"] = np.full(2, 3.0, "f4")
        file.create_group("data/data")
    load_weights(net, tmp_path / "w.h5")
    got = {key: value.reshape(-1)[0] for key, value in values(net).items()}
    assert got == {("a", 0): 1, ("a", 1): 2, ("b", 0): 1, ("b", 1): 3}


def test_hdf5_numbers_say_which_parameter(tmp_path):
    """A parameter that is missing in front must not be filled with the next one."""
    net = build("a 3 param { name: 'w' }", "b 1 param { } param { name: 'x' }", inputs=1)
    before = values(net)
    with h5py.File(tmp_path / "w.h5", "w") as file:
        file["data/a/1"] = np.zeros(3, "f4")
    with pytest.raises(NetError, match='layer "a"'):
        load_weights(net, tmp_path / "w.h5")
    assert_equal(values(net), before)


def test_hdf5_refuses_two_layers_of_one_name(tmp_path):
    with pytest.raises(NetError, match="used twice: a, b"):
        save_weights_hdf5(build("a", "b", "a", "b", "c"), tmp_path / "w.h5")
    assert not list(tmp_path.iterdir())


# -- by name ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("in_file", "in_net", "copied", "ignored", "missing"),
    [
        ("a b", "a b", "a b", "", ""),
        ("a b c", "b", "b", "a c", ""),
        ("a", "a b c", "a", "", "b c"),
        ("x y", "a b", "", "x y", "a b"),
        ("b a", "a b", "b a", "", ""),
    ],
)
def test_report(in_file, in_net, copied, ignored, missing):
    net = build(*in_net.split())
    before = values(net)
    stored = {name: (np.full((2, 3), i), np.full(2, -i)) for i, name in enumerate(in_file.split())}
    report = copy_weights(net, file_of(*((name, *arrays) for name, arrays in stored.items())))
    assert report.copied == copied.split()
    assert report.ignored == ignored.split()
    assert report.missing == missing.split()
    for (name, i), value in values(net).items():
        want = stored[name][i] if name in stored else before[name, i]
        np.testing.assert_array_equal(value, want)


def saved(path, *layers):
    save_weights(build(*layers), path)
    return path


@SAVERS
def test_a_file_of_another_net_is_refused(tmp_path, save):
    save(build("x", "y"), tmp_path / "w")
    net = build("a", "b")
    before = values(net)
    with pytest.raises(NetError, match=r"w: has no weights for this net.* net: a, b; .* file: .*y"):
        load_weights(net, tmp_path / "w")
    assert_equal(values(net), before)


@pytest.mark.parametrize("shape", [(1, 3), (1, 3, 1, 1), (3,)])
def test_axes_of_1_do_not_count_where_forks_disagree(shape):
    """BN has (1, C, 1, 1) in PSPNet's files, (1, C) in yjxiong's."""
    text = """layer { name: "data" type: "Input" top: "data"
        input_param { shape { dim: 2 dim: 3 dim: 4 dim: 4 } } }
        layer { name: "bn" type: "BN" bottom: "data" top: "y" bn_param { momentum: 0.5 } }"""
    net = Net(parse_text(text, NetParameter()).message, Context())
    stored = [np.full(shape, i + 1, np.float32) for i in range(4)]
    copy_weights(net, file_of(("bn", *stored), type="BN"))
    assert [float(blob.data[0, 2, 0, 0]) for blob in layer(net, "bn").blobs] == [1, 2, 3, 4]
    with pytest.raises(NetError, match=r"the shape is \(1, 3, 1, 1\) in the net and \(1, 4\)"):
        copy_weights(net, file_of(("bn", *[np.zeros((1, 4), np.float32)] * 4), type="BN"))


def test_a_net_without_parameters_takes_any_file(tmp_path):
    assert load_weights(build(), saved(tmp_path / "w", "x")).copied == []


def test_layers_that_get_no_weights_are_named(tmp_path, caplog):
    load_weights(build("a", "b", "c"), saved(tmp_path / "w", "a", "x"))
    (warning,) = [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING]
    assert "w: no weights for the layers b, c:" in warning
    caplog.clear()
    load_weights(build("a"), tmp_path / "w")
    assert [r for r in caplog.records if r.levelno >= logging.WARNING] == []


def test_of_many_layers_without_weights_some_are_named(tmp_path, caplog):
    load_weights(build("a", *(f"b{i}" for i in range(14))), saved(tmp_path / "w", "a"))
    assert "b9 and 4 more:" in caplog.text


def test_only_rank_0_warns(tmp_path, caplog):
    net = build("a", "b")
    net.context = replace(net.context, rank=1, ranks=2)
    assert load_weights(net, saved(tmp_path / "w", "a")).missing == ["b"]
    assert "no weights" not in caplog.text


def test_what_one_file_lacks_another_may_have(tmp_path, caplog):
    files = saved(tmp_path / "one", "a"), saved(tmp_path / "two", "b")
    assert load_weights(build("a", "b"), *files).missing == []
    assert "no weights" not in caplog.text
    assert load_weights(build("a", "b", "c"), *files).missing == ["c"]
    with pytest.raises(NetError, match="two: has no weights for this net"):
        load_weights(build("a"), *files)


def test_a_layer_that_shares_all_its_parameters_misses_none(tmp_path):
    save_weights(build("a"), tmp_path / "w")
    shared = build(f"a 2 {SHARING['all']}", f"b 2 {SHARING['all']}", f"c 2 {SHARING['first']}")
    assert load_weights(shared, tmp_path / "w").missing == ["c"]


def test_a_report_in_words():
    report = loading.CopyReport(["a", "b"], ["x", "y"], ["z"])
    assert str(report) == (
        "2 layers copied; not in the net: x, y; not in the file, left as they were: z"
    )
    assert str(loading.CopyReport()) == "0 layers copied"


def test_layers_without_parameters_are_in_no_list():
    report = copy_weights(build("a"), file_of(("data",), ("a", np.ones((2, 3)), np.ones(2))))
    assert (report.copied, report.ignored, report.missing) == (["a"], [], [])


def test_ignored_layers_are_logged(caplog):
    caplog.set_level(logging.INFO, "pycaffe_dist")
    copy_weights(build("a"), file_of(("x",), ("y", np.ones(2))))
    assert [r.getMessage() for r in caplog.records][-2:] == [
        "Ignoring source layer x",
        "Ignoring source layer y",
    ]


def test_of_two_layers_with_one_name_the_first_is_loaded():
    net = build("a", "b", "a")
    before = net.layers[-1].blobs[0].data.copy()
    copy_weights(net, file_of(("a", np.ones((2, 3)), np.ones(2))))
    assert (layer(net, "a").blobs[0].data == 1).all()
    np.testing.assert_array_equal(net.layers[-1].blobs[0].data, before)


def test_of_two_layers_with_one_name_hdf5_loads_the_last(tmp_path):
    """As Caffe does: its HDF5 reader looks names up in a table, its other reader in a list."""
    net = build("a", "b", "a")
    before = layer(net, "a").blobs[0].data.copy()
    with h5py.File(tmp_path / "w.h5", "w") as file:
        file["data/a/0"] = np.ones((2, 3), "f4")
        file["data/a/1"] = np.ones(2, "f4")
    load_weights(net, tmp_path / "w.h5")
    assert (net.layers[-1].blobs[0].data == 1).all()
    np.testing.assert_array_equal(layer(net, "a").blobs[0].data, before)


def test_of_two_layers_with_one_name_in_the_file_the_last_stays():
    net = build("a")
    weights = [("a", np.full((2, 3), i), np.full(2, i)) for i in (1, 2)]
    report = copy_weights(net, file_of(*weights))
    assert (layer(net, "a").blobs[0].data == 2).all()
    assert report.missing == []


# -- shapes ----------------------------------------------------------------------------------------


W, B = np.ones((2, 3)), np.ones(2)


@pytest.mark.parametrize(
    ("arrays", "legacy", "problem"),
    [
        ([W, B], False, None),
        ([W.reshape(1, 1, 2, 3), B.reshape(1, 1, 1, 2)], True, None),
        ([W.reshape(1, 1, 2, 3), B.reshape(1, 1, 1, 2)], False, r"\(2, 3\).*\(1, 1, 2, 3\)"),
        ([W.reshape(2, 3, 1, 1), B.reshape(1, 1, 1, 2)], True, r"parameter 0.*\(2, 3, 1, 1\)"),
        ([W.reshape(1, 1, 2, 3), B.reshape(2, 1, 1, 1)], True, r"parameter 1.*\(2, 1, 1, 1\)"),
        (
            [W.T, B],
            False,
            r"parameter 0: the shape is \(2, 3\) in the net and \(3, 2\) in the file",
        ),
        ([W.reshape(-1), B], False, r"\(2, 3\) in the net and \(6,\) in the file"),
        ([W, np.ones(3)], False, r"parameter 1: the shape is \(2,\) in the net and \(3,\)"),
        ([W, np.ones(())], False, "parameter 1"),
        ([W], False, "has 2 parameter blobs in the net and 1 in the file"),
        ([], False, "has 2 parameter blobs in the net and 0 in the file"),
        ([W, B, B], False, "has 2 parameter blobs in the net and 3 in the file"),
    ],
)
def test_all_of_a_file_fits_or_nothing_is_copied(arrays, legacy, problem):
    net = build("a", "b", "c")
    before = values(net)
    good = ("a", *([W, B] if not legacy else [W.reshape(1, 1, 2, 3), B.reshape(1, 1, 1, 2)]))
    weights = file_of(good, ("b", *arrays), ("c", *good[1:]), legacy=legacy)
    if problem is None:
        assert copy_weights(net, weights).copied == ["a", "b", "c"]
        assert all((value == 1).all() for value in values(net).values())
        return
    with pytest.raises(NetError, match=f'layer "b".*{problem}.*rename the layer'):
        copy_weights(net, weights)
    assert_equal(values(net), before)


def test_blobs_for_a_layer_that_has_none():
    with pytest.raises(NetError, match='layer "data" has 0 parameter blobs in the net and 1 in'):
        copy_weights(build("a"), file_of(("data", B)))


def test_a_layer_that_forks_have_under_one_name_says_so(tmp_path):
    """SegNet's weights of BN in a net whose file does not tell whose BN it has."""
    text = """layer { name: "x" type: "Input" top: "x" input_param { shape { dim: [1, 2, 3, 3] } } }
    layer { name: "b" type: "BN" bottom: "x" top: "y" %s }"""
    given, bare = (
        Net(parse_text(text % p, NetParameter()).message)
        for p in ("bn_param { bn_mode: LEARN }", "")
    )
    save_weights(given, tmp_path / "segnet.caffemodel")
    said = "read as BN of the dialect psp; there is also `--dialect segnet`"
    with pytest.raises(NetError, match=f"4 parameter blobs in the net and 2 in the file.*{said}"):
        load_weights(bare, tmp_path / "segnet.caffemodel")


def test_errors_name_the_file(tmp_path):
    save_weights(build("a 5"), tmp_path / "five.caffemodel")
    with pytest.raises(NetError, match=r'five\.caffemodel: layer "a", parameter 0'):
        load_weights(build("a 2"), tmp_path / "five.caffemodel")
    with pytest.raises(FileError, match=r"none\.caffemodel: cannot be read"):
        load_weights(build("a"), tmp_path / "none.caffemodel")


# -- between nets ----------------------------------------------------------------------------------


def test_sharing_between_nets():
    train, test = build("a", "b", "only_train", seed=1), build("a", "b", "only_test", seed=2)
    kept = values(test)["only_test", 0]
    share_weights(test, train)
    layer(train, "a").blobs[0].data[...] = 5
    layer(test, "b").blobs[1].data[...] = 6
    assert (layer(test, "a").blobs[0].data == 5).all()
    assert (layer(train, "b").blobs[1].data == 6).all()
    np.testing.assert_array_equal(values(test)["only_test", 0], kept)
    layer(train, "a").blobs[0].diff[...] = 7
    assert not layer(test, "a").blobs[0].diff.any()  # gradients stay apart


def test_nets_that_share_weights_keep_sharing_when_they_are_loaded_or_updated(tmp_path):
    train, test = build("a", seed=1), build("a", seed=2)
    share_weights(test, train)
    save_weights(build("a", seed=3), tmp_path / "w")
    load_weights(train, tmp_path / "w")
    assert_equal(values(test), values(train))
    for p in train.params.learnable:
        p.blob.diff[...] = 1
    train.update()
    assert_equal(values(test), values(train))
    assert_equal(values(train), {k: v - 1 for k, v in values(build("a", seed=3)).items()})


@pytest.mark.parametrize(
    ("other", "theirs"),
    [
        ("a 3", r"\[\(3, 3\), \(3,\)\]"),
        ("a 2,bias_term:false", r"\[\(2, 3\)\]"),
    ],
)
def test_nets_of_other_shapes_cannot_share(other, theirs):
    problem = rf'layer "a": parameters of shapes \[\(2, 3\), \(2,\)\] and {theirs}'
    with pytest.raises(NetError, match=problem):
        share_weights(build("a 2"), build(other))


def test_ignored_layers_of_the_other_net_are_logged(caplog):
    caplog.set_level(logging.INFO, "pycaffe_dist")
    one, two = build("a"), build("b")
    caplog.clear()
    share_weights(one, two)
    assert [r.getMessage() for r in caplog.records] == ["Ignoring source layer b"]

from collections import Counter
from contextlib import suppress
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from pycaffe_dist.engines import Engine
from pycaffe_dist.errors import NetError
from pycaffe_dist.layer import Context
from pycaffe_dist.memory import HOST, Value
from pycaffe_dist.net import Net
from pycaffe_dist.proto.caffe_pb2 import TRAIN, NetParameter
from pycaffe_dist.proto.nets import read_net
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.rng import set_random_seed

RECORDED = Path(__file__).parents[1] / "golden" / "layers"


class Abroad:
    """A home that keeps values back to front and shifted: forgetting to convert shows."""

    def __init__(self, shift=1):
        self.shift = shift
        self.calls = Counter()

    def allocate(self, count, dtype):
        self.calls["allocate"] += 1
        return [np.full(count, self.shift, dtype)]

    def clear(self, room):
        self.put(room, *[0] * len(room[0]))

    def fetch(self, source, there, room):
        return False

    def load(self, host, room):
        self.calls["load"] += 1
        room[0][...] = host[::-1] + self.shift

    def store(self, room, host):
        self.calls["store"] += 1
        host[...] = room[0][::-1] - self.shift

    def put(self, room, *values):
        """Write plain values into a room, the way a kernel of this home would."""
        room[0][...] = np.array(values)[::-1] + self.shift

    def get(self, room):
        return (room[0][::-1] - self.shift).tolist()


@pytest.fixture
def away():
    return Abroad()


# -- values ----------------------------------------------------------------------------------------


def test_a_new_value_is_zeros_in_every_home_and_nothing_is_converted(away):
    value = Value(3, np.float32)
    assert away.get(value.read(away)) == [0, 0, 0]
    assert value.current == {away}
    assert away.calls == {"allocate": 1}
    np.testing.assert_array_equal(Value(3, "f8").read(), np.zeros(3, np.float64))
    assert Value(3, "f8").read().dtype == np.float64


def test_nothing_is_allocated_before_somebody_asks(away):
    value = Value(1 << 60, np.float32)  # would not fit anywhere
    assert value.current == frozenset()
    value.leave(away)
    value.leave(HOST)
    assert value.current == frozenset()
    assert away.calls == {}


def test_zeroing_forgets_and_clears_only_for_those_who_read(away):
    value = Value(3, np.float32)
    value.write()[...] = 1, 2, 3
    value.read(away)
    value.zero()
    assert value.is_zero
    assert away.get(value.read(away)) == [0, 0, 0]
    assert not value.is_zero
    np.testing.assert_array_equal(value.read(), 0)
    value.zero()
    value.replace()[...] = 4
    assert away.get(value.read(away)) == [4, 4, 4]


def test_writing_at_home_and_reading_abroad(away):
    value = Value(3, np.float32)
    value.write()[...] = 1, 2, 3
    assert away.get(value.read(away)) == [1, 2, 3]
    assert value.current == {HOST, away}
    assert away.calls == {"allocate": 1, "load": 1}


def test_writing_abroad_and_reading_at_home(away):
    value = Value(3, np.float32)
    away.put(value.write(away), 1, 2, 3)
    assert value.read().tolist() == [1, 2, 3]
    assert value.current == {HOST, away}
    assert away.calls == {"allocate": 1, "store": 1}


def test_converted_once_and_remembered(away):
    value = Value(2, np.float32)
    value.write()[...] = 1, 2
    rooms = [value.read(away) for _ in range(5)] + [value.read(away)]
    assert all(room is rooms[0] for room in rooms)
    assert value.read() is value.read()
    assert away.calls == {"allocate": 1, "load": 1}


def test_rooms_are_allocated_once_though_they_go_out_of_date(away):
    value = Value(2, np.float32)
    first = value.write(away)
    for i in range(3):
        value.write()[...] = i, i + 1
        assert away.get(value.read(away)) == [i, i + 1]
        assert value.read(away) is first
    assert away.calls == {"allocate": 1, "store": 1, "load": 3}


def test_to_write_is_to_change_what_is_there(away):
    value = Value(3, np.float32)
    value.write()[...] = 1, 2, 3
    away.put(value.write(away), *(v * 10 for v in away.get(value.read(away))))
    assert value.current == {away}
    value.write()[1] = 7
    assert value.current == {HOST}
    assert value.read().tolist() == [10, 7, 30]
    assert away.get(value.read(away)) == [10, 7, 30]


def test_to_replace_brings_nothing_over(away):
    value = Value(2, np.float32)
    value.write()[...] = 1, 2
    away.put(value.replace(away), 5, 6)
    assert away.calls == {"allocate": 1}
    assert value.current == {away}
    assert value.read().tolist() == [5, 6]
    value.replace()[...] = 8, 9
    assert value.current == {HOST}
    assert away.get(value.read(away)) == [8, 9]


def test_two_homes_abroad_meet_at_home():
    one, two = Abroad(1), Abroad(2)
    value = Value(2, np.float32)
    one.put(value.write(one), 3, 4)
    assert two.get(value.read(two)) == [3, 4]
    assert value.current == {HOST, one, two}
    assert (one.calls, two.calls) == ({"allocate": 1, "store": 1}, {"allocate": 1, "load": 1})
    two.put(value.write(two), 5, 6)
    assert value.current == {two}
    assert one.get(value.read(one)) == [5, 6]
    assert value.read().tolist() == [5, 6]
    assert (one.calls["load"], two.calls["store"]) == (1, 1)


def test_what_nobody_reads_is_not_converted():
    one, two = Abroad(1), Abroad(2)
    value = Value(2, np.float32)
    for i in range(4):
        one.put(value.write(one), i, i)
    for i in range(4):
        two.put(value.replace(two), i, i)
    assert one.calls == {"allocate": 1}
    assert two.calls == {"allocate": 1}


@pytest.mark.parametrize(
    "write_there, also_read",
    [("away", []), ("away", ["home"]), ("home", []), ("home", ["away"])],
    ids=str,
)
@pytest.mark.parametrize("leaves", ["away", "home"])
def test_who_leaves_a_home_keeps_the_value(away, write_there, also_read, leaves):
    homes = {"away": away, "home": HOST}
    value = Value(2, np.float32)
    if write_there == "home":
        value.write()[...] = 1, 2
    else:
        away.put(value.write(away), 1, 2)
    for name in also_read:
        value.read(homes[name])
    value.leave(homes[leaves])
    assert value.read().tolist() == [1, 2]
    assert away.get(value.read(away)) == [1, 2]


def test_a_room_left_is_given_up(away):
    value = Value(2, np.float32)
    away.put(value.write(away), 1, 2)
    value.leave(away)
    assert value.current == {HOST}
    assert away.get(value.read(away)) == [1, 2]
    assert away.calls == {"allocate": 2, "store": 1, "load": 1}


# -- a whole net -----------------------------------------------------------------------------------


class Cell(np.ndarray):
    """Memory of another home: computes like NumPy's, but not together with plain arrays."""

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **kwargs):
        def plain(x):
            if type(x) is np.ndarray and x.ndim:
                raise TypeError(f"{ufunc.__name__} of memory in two homes")
            return x.view(np.ndarray) if isinstance(x, Cell) else x

        if out is not None:
            kwargs["out"] = tuple(plain(x) for x in out)
        result = getattr(ufunc, method)(*(plain(x) for x in inputs), **kwargs)
        return as_cell(out[0] if out is not None else result)

    def __array_function__(self, func, types, args, kwargs):
        return as_cell(super().__array_function__(func, types, args, kwargs))


def as_cell(x):
    return x.view(Cell) if isinstance(x, np.ndarray) and x.ndim else x


class CellModule:
    """NumPy for that home: whatever it makes lives there."""

    __name__ = "cells"

    def __init__(self, module=np):
        self._module = module

    def __getattr__(self, name):
        found = getattr(self._module, name)
        if isinstance(found, ModuleType):
            return CellModule(found)
        if not callable(found) or isinstance(found, (type, np.ufunc)):
            return found  # ufuncs ask their arguments
        return lambda *args, **kwargs: as_cell(found(*args, **kwargs))


class Cells:
    def __init__(self):
        self.calls = Counter()

    def allocate(self, count, dtype):
        return np.zeros(count, dtype).view(Cell)

    def clear(self, room):
        room[...] = 0

    def fetch(self, source, there, room):
        return False

    def load(self, host, room):
        self.calls["load"] += 1
        room.view(np.ndarray)[...] = host

    def store(self, room, host):
        self.calls["store"] += 1
        host[...] = room.view(np.ndarray)


TWO_HEADS = """
    force_backward: true
    layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 3 dim: 2 dim: 4 } } }
    layer { name: "ip1" type: "InnerProduct" bottom: "data" top: "ip1"
            inner_product_param { num_output: 6 weight_filler { type: "gaussian" }
                                  bias_filler { type: "uniform" } } }
    layer { name: "relu" type: "ReLU" bottom: "ip1" top: "ip1" }
    layer { name: "a" type: "InnerProduct" bottom: "ip1" top: "a" loss_weight: 2
            inner_product_param { num_output: 3 weight_filler { type: "gaussian" } } }
    layer { name: "b" type: "InnerProduct" bottom: "ip1" top: "b" loss_weight: -1
            inner_product_param { num_output: 2 weight_filler { type: "gaussian" } } }
    layer { name: "leaky" type: "ReLU" bottom: "b" top: "c" relu_param { negative_slope: 0.3 } }
"""
CONVOLUTIONS = """
    force_backward: true
    layer { name: "data" type: "Input" top: "data" top: "label"
            input_param { shape { dim: 3 dim: 2 dim: 9 dim: 9 } shape { dim: 3 } } }
    layer { name: "conv" type: "Convolution" bottom: "data" top: "conv"
            convolution_param { num_output: 4 kernel_size: 3 stride: 2 pad: 1 group: 2
                                weight_filler { type: "xavier" } } }
    layer { name: "relu" type: "ReLU" bottom: "conv" top: "conv" }
    layer { name: "pool" type: "Pooling" bottom: "conv" top: "pool"
            pooling_param { kernel_size: 3 stride: 2 } }
    layer { name: "ip" type: "InnerProduct" bottom: "pool" top: "ip"
            inner_product_param { num_output: 5 weight_filler { type: "gaussian" } } }
    layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label" top: "loss" }
    layer { name: "prob" type: "Softmax" bottom: "ip" top: "prob" }
"""


def engine(home):
    made = Engine()
    made.home, made.xp = home, CellModule()
    return made


def build(text, **context):
    set_random_seed(1701)
    net = Net(parse_text(text, NetParameter()).message, Context(**context))
    blob(net, "data").data[...] = np.random.default_rng(5).standard_normal(blob(net, "data").shape)
    return net


def blob(net, name):
    return net.blobs[net.blob_ids[name]]


def everything(net):
    for name, i in net.blob_ids.items():
        yield f"{name} data", net.blobs[i].data_value
        yield f"{name} diff", net.blobs[i].diff_value
    for i, param in enumerate(net.params.learnable):
        yield f"param {i} data", param.blob.data_value
        yield f"param {i} diff", param.blob.diff_value


def assert_same(net, other):
    for (name, one), (_, two) in zip(everything(net), everything(other), strict=True):
        np.testing.assert_allclose(one.read(), two.read(), rtol=1e-6, atol=1e-6, err_msg=name)


@pytest.mark.parametrize("text", [TWO_HEADS, CONVOLUTIONS], ids=["two heads", "convolutions"])
def test_a_net_computes_the_same_in_another_home(text):
    home = Cells()
    here, there = build(text), build(text, engine=engine(home))
    for _ in range(2):
        assert there.forward() == pytest.approx(here.forward())
        here.backward()
        there.backward()
    assert home.calls["store"] == 0
    assert np.abs(blob(here, "data").diff).max() > 0
    assert_same(there, here)


def test_memory_of_that_home_does_not_mix_with_plain_arrays():
    """So that the tests here notice a layer that computes with an array of the wrong home."""
    there, here = Cells().allocate(3, np.float32), np.ones(3, np.float32)
    for mix in (lambda: there + here, lambda: np.add(here, here, out=there), lambda: here * there):
        with pytest.raises(TypeError, match="two homes"):
            mix()
    assert type(there + 1) is type(np.where(there > 0, there, 1)) is Cell


def test_only_what_was_filled_at_home_is_brought_over_and_only_once():
    home = Cells()
    net = build(TWO_HEADS, engine=engine(home))
    filled = len(net.params.learnable) + len(["data"]) + len(["a diff", "b diff"])
    net.forward()
    net.backward()
    assert home.calls == {"load": filled}
    for _ in range(3):
        net.clear_param_diffs()
        net.forward()
        net.backward()
    assert home.calls == {"load": filled}
    for name in ("ip1", "c"):
        assert blob(net, name).data_value.current == {home}, name


def test_what_a_user_writes_between_two_passes_is_picked_up():
    home = Cells()
    here, there = build(TWO_HEADS), build(TWO_HEADS, engine=engine(home))
    there.forward()
    before = home.calls["load"]
    for net in (here, there):
        blob(net, "data").data[...] += 1
        net.params.learnable[1].blob.data[0] = 5
        net.forward()
    assert home.calls == {"load": before + 2}
    for net in (here, there):
        blob(net, "c").diff[...] = [[1, 2], [3, 4], [5, 6]]
        blob(net, "a").diff[...] *= 3  # a loss weight is a gradient like any other
        net.backward()
    assert_same(there, here)


def test_a_user_who_looks_sees_what_was_computed_and_costs_no_more_than_that():
    home = Cells()
    here, there = build(TWO_HEADS), build(TWO_HEADS, engine=engine(home))
    here.forward()
    there.forward()
    home.calls.clear()
    np.testing.assert_allclose(blob(there, "c").data, blob(here, "c").data, rtol=1e-6)
    np.testing.assert_allclose(blob(there, "c").data, blob(here, "c").data, rtol=1e-6)
    assert home.calls == {"store": 1}


def test_weights_shared_by_two_layers_are_one_value_there_too():
    text = """
        force_backward: true
        layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 2 dim: 3 } } }
        layer { name: "one" type: "InnerProduct" bottom: "data" top: "one" param { name: "w" }
                inner_product_param { num_output: 3 bias_term: false
                                      weight_filler { type: "gaussian" } } }
        layer { name: "two" type: "InnerProduct" bottom: "one" top: "two" param { name: "w" }
                loss_weight: 1 inner_product_param { num_output: 3 bias_term: false } }
    """
    home = Cells()
    here, there = build(text), build(text, engine=engine(home))
    for net in (here, there):
        net.forward()
        net.backward()
    assert home.calls == {"load": 3}
    assert_same(there, here)


@pytest.mark.parametrize("path", sorted(RECORDED.glob("*.prototxt")), ids=lambda path: path.stem)
def test_every_recorded_net_computes_the_same_in_another_home(path):
    given = np.load(path.with_suffix(".npz"))

    def run(**context):
        file = read_net(path)
        file.net.state.phase = TRAIN
        set_random_seed(1701)
        net = Net(file, Context(**context))
        for key in given.files:
            part, _, name = key.partition("/")
            if part == "in":
                blob(net, name).data[...] = given[key]
            elif part == "set" and name.rpartition("/")[0] in net.layer_names:
                layer, _, number = name.rpartition("/")
                blobs = net.layers[net.layer_names.index(layer)].blobs
                blobs[int(number)].data[...] = given[key]
        set_random_seed(1701)
        net.forward()
        for i in net.output_ids:
            if not net.blob_loss_weights[i]:
                net.blobs[i].diff[...] = 0.5
        with suppress(NetError):  # a layer without a gradient
            net.backward()
        return net

    assert_same(run(engine=engine(Cells())), run())

"""Which way computes a convolution on the device: chosen, checked, dropped, remembered."""

import time

import numpy as np
import pytest

from pycaffe_dist.engines.choice import Choices, RefusedError
from pycaffe_dist.engines.cupy.convolution import choice
from pycaffe_dist.engines.cupy.convolution.case import Case, Direction
from pycaffe_dist.engines.cupy.convolution.choice import Convolutions
from pycaffe_dist.engines.cupy.convolution.columns import Columns
from pycaffe_dist.engines.cupy.convolution.depthwise import Depthwise
from pycaffe_dist.layers.windows import Windows
from pycaffe_dist.testing import cupy_standin as xp
from pycaffe_dist.testing import emulation
from pycaffe_dist.testing.cupy_standin import cuda
from pycaffe_dist.testing.gpu import emulated
from pycaffe_dist.testing.layers import LayerCase, LayerRun
from pycaffe_dist.tools.tune import choices, tune

RNG = np.random.default_rng(6)
FLOAT = np.dtype(np.float32)
WINDOWS = Windows((3, 3), (1, 1), (1, 1), (1, 1), (6, 5), (6, 5))


def case(direction=Direction.FORWARD, group=1, precision="float32", dtype=FLOAT):
    return Case(direction, WINDOWS, 2, 4, 4, group, dtype, precision)


class Doubled(Columns):
    """Columns that are off by a factor, a value or a line, or that fail."""

    name = "doubled"

    def compute(self, image, weights, out):
        super().compute(image, weights, out)
        y = (image, weights, out)[self.case.direction.makes]
        self.spoil(y)

    def spoil(self, y):
        y *= 2


class OneOff(Doubled):
    name = "one off"

    def spoil(self, y):
        y[-1:, -1:, -1:, -1:] += 0.5


class Unwritten(Doubled):
    name = "unwritten"

    def spoil(self, y):
        y[:1] = float("nan")


class Fails(Columns):
    name = "fails"

    def compute(self, image, weights, out):
        raise RefusedError("error 9")


class Slow(Columns):
    name = "slow"
    seconds = 0.03

    def compute(self, image, weights, out):
        time.sleep(self.seconds)
        super().compute(image, weights, out)


@pytest.fixture
def room(monkeypatch, tmp_path):
    """Convolutions that check what they choose."""
    with emulated() as engine:
        made = Convolutions(engine)
        made.checking = True
        made.choices.path = tmp_path / "choices.json"
        monkeypatch.setattr(engine, "convolutions", made)
        yield made


def ways(monkeypatch, *kinds):
    monkeypatch.setattr(choice, "WAYS", kinds)


def arrays(of):
    return [xp.asarray(RNG.standard_normal(s).astype("f")) for s in (of.image, of.weights, of.out)]


def computed(room, of, given):
    """What the room makes of given arrays."""
    copies = [x.copy() for x in given]
    room.run(of, *copies)
    return copies[of.direction.makes].get()


@pytest.mark.parametrize("direction", list(Direction))
@pytest.mark.parametrize("kind", [Doubled, OneOff, Unwritten, Fails])
def test_what_computes_something_else_is_dropped_with_one_line(
    room, monkeypatch, caplog, direction, kind
):
    of = case(direction)
    given = arrays(of)
    ways(monkeypatch, Columns)
    want = computed(room, of, given)
    room._ways.clear()
    ways(monkeypatch, kind, Columns)
    for _ in range(2):
        np.testing.assert_array_equal(computed(room, of, given), want)
    (line,) = [r.getMessage() for r in caplog.records]
    assert line.startswith(f"{kind.name} does not compute {direction.value}, float32: 2x4x6x5 to")
    assert ("error 9" if kind is Fails else "off by") in line
    assert room.choices.used[str(of)] == "columns"


@pytest.mark.parametrize("direction", list(Direction))
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_what_is_right_passes(room, caplog, direction, dtype):
    of = case(direction, group=4, precision=dtype, dtype=np.dtype(dtype))
    before = emulation.executed.copy()
    room.run(of, *(xp.zeros(s, dtype) for s in (of.image, of.weights, of.out)))
    assert room.choices.used[str(of)] == "depthwise" and not caplog.records
    assert {"im2col", "col2im"} & set(emulation.executed - before), "it was compared with columns"


def test_rounded_factors_may_be_further_off(room, monkeypatch):
    class Rounded(Columns):
        name = "rounded"

        def compute(self, image, weights, out):
            few = weights.view(np.int32) & -(1 << 13)  # ten bits of mantissa
            super().compute(image, few.view(np.float32), out)

    ways(monkeypatch, Rounded, Columns)
    for precision, chosen in (("float32", "columns"), ("tf32", "rounded")):
        of = case(precision=precision)
        room.run(of, *arrays(of))
        assert room.choices.used[str(of)] == chosen


def test_a_way_that_fails_later_gives_way_to_the_reference(room, monkeypatch, caplog):
    of = case(Direction.FILTER)
    given = arrays(of)
    ways(monkeypatch, Columns)
    want = computed(room, of, given)
    room._ways.clear()
    ways(monkeypatch, Slow, Columns)
    monkeypatch.setattr(Slow, "seconds", 0)
    np.testing.assert_array_equal(computed(room, of, given), want)
    assert room.choices.used[str(of)] == "slow" and not caplog.records
    monkeypatch.setattr(Slow, "compute", Fails.compute)
    for _ in range(2):
        np.testing.assert_array_equal(computed(room, of, given), want)
    (line,) = [r.getMessage() for r in caplog.records]
    assert line.startswith("slow does not compute") and line.endswith("error 9")


def test_the_fastest_is_measured_by_events_and_remembered(room, monkeypatch):
    ways(monkeypatch, Slow, Columns)
    room.choices.measuring = True
    of = case()
    room.run(of, *arrays(of))
    assert room.choices.used[str(of)] == "columns"
    entry = room.choices.remembered()[str(of)]
    assert entry.ms["slow"] >= 4 * 30 > entry.ms["columns"]
    room.choices.save()
    again = Convolutions(room.engine)
    again.choices = Choices(room.choices.path)
    monkeypatch.setattr(choice.Sample, "trial", None)  # nothing is tried
    again.run(of, *arrays(of))
    assert again.choices.used[str(of)] == "columns"


def test_without_measuring_the_first_is_taken_and_nobody_waits(room, monkeypatch):
    ways(monkeypatch, Slow, Columns)
    room.engine.fix_choices()
    room.checking = False
    of = case()
    given = arrays(of)
    xp.COUNTS.clear()
    room.run(of, *given)
    assert room.choices.used[str(of)] == "slow"
    assert not xp.COUNTS["synchronise"]


def test_a_choice_is_given_back_where_training_resumes(room, monkeypatch):
    ways(monkeypatch, Columns, Slow)
    monkeypatch.setattr(Slow, "seconds", 0)
    of = case()
    room.choices.measuring = True
    room.engine.give_choices({"machine": room.engine.machine, str(of): "slow"})
    room.run(of, *arrays(of))
    assert room.engine.choices()[str(of)] == "slow"
    room.engine.give_choices({"machine": "another", str(of): "columns"})
    assert room.choices._given[str(of)] == "slow"


def test_a_way_can_be_forced(room):
    of = case(group=4)
    given = arrays(of)
    with room.forced("columns"):
        columns = computed(room, of, given)
        assert room.choices.used[str(of)] == "columns"
    depthwise = computed(room, of, given)
    assert room.choices.used[str(of)] == "depthwise"
    np.testing.assert_allclose(depthwise, columns, rtol=1e-5, atol=1e-5)


def test_no_memory_for_a_trial_leaves_the_reference(room, monkeypatch):
    ways(monkeypatch, Depthwise, Columns)
    of = case(group=4)
    given = arrays(of)
    room.choices.measuring = True

    def full(*_):
        raise MemoryError("Out of memory allocating 4 bytes")

    monkeypatch.setattr(choice.Sample, "_arrays", property(full))
    room.run(of, *given)
    assert type(room._ways[of]) is Columns


def test_people_are_told_what_computes(room, monkeypatch):
    ways(monkeypatch, Depthwise, Columns)

    def told(kind, settings):
        layer = f'type: "{kind}" convolution_param {{ num_output: 4 kernel_size: 3 {settings} }}'
        run = LayerRun(LayerCase(layer, [np.ones((2, 4, 6, 5))]))
        run.forward()
        before = room.engine.computed_by(run.layer)
        run.backward([np.ones(run.top[0].shape)], [True])
        return before, room.engine.computed_by(run.layer)

    for kind in ("Convolution", "Deconvolution"):
        assert told(kind, "") == (("columns", "cupy"), ("columns", "columns"))
        assert told(kind, "group: 4") == (("depthwise", "cupy"), ("depthwise", "depthwise"))
    relu = LayerRun(LayerCase('type: "ReLU"', [np.ones(3)]))
    assert room.engine.computed_by(relu.layer) == ("cupy", "cupy")


NET = """
name: "small"
layer { name: "data" type: "Input" top: "x" input_param { shape { dim: 2 dim: 4 dim: 6 dim: 5 } } }
layer { name: "c" type: "Convolution" bottom: "x" top: "c"
  convolution_param { num_output: 4 group: 4 kernel_size: 3 } }
"""


def test_a_net_can_be_measured_and_what_was_found_is_listed(room, monkeypatch, tmp_path):
    ways(monkeypatch, Depthwise, Columns)
    (tmp_path / "net.prototxt").write_text(NET)
    assert choices() is room.choices
    room.choices.measuring = True
    lines = tune(str(tmp_path / "net.prototxt"))
    (line,) = [line for line in lines if line.startswith("forward, float32: 2x4x6x5 to 2x4x4x3")]
    assert {"depthwise", "columns"} <= set(line.split()) or "not settled" in line
    assert room.choices.path.exists() == ("not settled" not in line)


def test_the_clock_tells_short_times_after_long_ones(room, monkeypatch):
    """CUDA's times have 24 bits, which tell an hour to a quarter of a millisecond."""
    told = iter([3_600_000, 0.01])
    monkeypatch.setattr(cuda, "get_elapsed_time", lambda *_: np.float32(next(told)))
    first, second, third = (room._clock() for _ in range(3))
    assert (first, second) == (0, 3600)
    assert third - second == pytest.approx(1e-5, rel=1e-3)

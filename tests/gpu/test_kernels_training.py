"""Random numbers, recurrent steps, the transformer, updates and casts: kernels against NumPy."""

import numpy as np
import pytest

from pycaffe_dist.data.transformer import Transformer
from pycaffe_dist.parallel.transport.wire import BFloat16, Float16
from pycaffe_dist.proto.caffe_pb2 import TRAIN, SolverParameter, TransformationParameter
from pycaffe_dist.solvers.rules import create_rule
from pycaffe_dist.testing.kernels import layer_numbers, numbers_of
from pycaffe_dist.update_step import UpdateStep

RNG = np.random.default_rng(6)


# -- random numbers ----------------------------------------------------------------------------


def philox(counter, key):
    """Philox4x32-10 by the paper, in Python's integers."""
    c, k = list(counter), list(key)
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        low = 0xFFFFFFFF
        c = [(b >> 32) ^ c[1] ^ k[0], b & low, (a >> 32) ^ c[3] ^ k[1], a & low]
        k = [(k[0] + 0x9E3779B9) & low, (k[1] + 0xBB67AE85) & low]
    return c


def draw(n, seed, stream, offset):
    """The 32-bit numbers of one draw."""
    words = (offset & 0xFFFFFFFF, offset >> 32)
    key = (seed & 0xFFFFFFFF, seed >> 32)
    groups = (philox((g, stream, *words), key) for g in range(-(-n // 4)))
    return np.array([v for four in groups for v in four][:n], np.uint64)


def test_the_reference_gives_the_published_numbers():
    def words(text):
        return [int(word, 16) for word in text.split()]

    assert philox([0] * 4, [0] * 2) == words("6627e8d5 e169c58d bc57ac4c 9b00dbd8")
    most = [0xFFFFFFFF] * 4
    assert philox(most, most[:2]) == words("408f276d 41c83b0e a20bc7c6 6d5451fd")
    pi = words("243f6a88 85a308d3 13198a2e 03707344"), words("a4093822 299f31d0")
    assert philox(*pi) == words("d16cfe09 94fdcceb 5001e420 24126ea1")


@pytest.mark.parametrize("n", [1, 4, 1027])
@numbers_of("uniform")
def test_uniform_numbers(run, n):
    seed, stream, offset = (3 << 32) + 17, 5, (9 << 32) + 1
    y = run.empty(n)
    run("uniform", n, seed, stream, offset, y)
    want = ((draw(n, seed, stream, offset) >> np.uint64(8)) + 1) / 2.0**24
    np.testing.assert_array_equal(y, want.astype(run.dtype))
    assert (y > 0).all() and (y <= 1).all()


@numbers_of("dropout")
def test_dropout_keeps_its_share_and_has_the_same_mask_backwards(run):
    n, ratio = 4099, 0.3
    x, y, gx = run.array(RNG.standard_normal(n)), run.empty(n), run.empty(n)
    numbers = (int(ratio * 2**32), 1 / (1 - ratio), 42, 1, 7)
    run("dropout", n, *numbers, x, y)
    mask = (draw(n, 42, 1, 7) >= int(ratio * 2**32)) / (1 - ratio)
    run.close(y, x * mask)
    assert abs((mask == 0).mean() - ratio) < 0.03
    run("dropout", n, *numbers, run.array(np.ones(n)), gx)
    run.close(gx, mask)


@pytest.mark.parametrize("change", [(43, 1, 7), (42, 2, 7), (42, 1, 8)])
def test_another_seed_layer_or_draw_gives_another_mask(run, change):
    x, first, second = run.array(np.ones(1000)), run.empty(1000), run.empty(1000)
    run("dropout", 1000, 1 << 31, 2, 42, 1, 7, x, first)
    run("dropout", 1000, 1 << 31, 2, *change, x, second)
    assert 400 < (first != second).sum() < 600


# -- recurrent ---------------------------------------------------------------------------------


@numbers_of("lstm_unit_forward", "lstm_unit_backward")
def test_lstm_unit(run):
    streams, cells = 4, 5
    c_prev = RNG.standard_normal((1, streams, cells))
    sums = RNG.standard_normal((1, streams, 4 * cells)) * 3
    cont = np.array([[0.0, 1, 0.5, 1]])
    c_prev[0, 0, 0] = np.nan  # forgotten, as its sequence begins
    want = layer_numbers('type: "LSTMUnit"', c_prev, sums, cont, tops=2)
    n, shape = streams * cells, c_prev.shape
    goes_on, before, gates = run.array(cont), run.array(c_prev), run.array(sums)
    c, h = run.empty(*shape), run.empty(*shape)
    run("lstm_unit_forward", n, cells, goes_on, before, gates, gates, c, h)
    run.close(c, want.tops[0])
    run.close(h, want.tops[1])
    gc, gh = map(run.array, want.top_diffs)
    g_sums, g_before = run.empty(*sums.shape), run.empty(*shape)
    run("lstm_unit_backward", n, cells, goes_on, before, gates, c, gc, gh, g_sums, g_before)
    run.close(g_before, want.bottom_diffs[0])
    run.close(g_sums, want.bottom_diffs[1])


@numbers_of("continue_state", "continue_gradient")
def test_states_go_on_or_begin_anew(run):
    cont = np.array([0, 1, 0.5])
    x, g, gy = RNG.standard_normal((3, 3, 4))
    x[0, 0] = np.nan
    y = run.empty(3, 4)
    run("continue_state", 12, 4, run.array(cont), run.array(x), y)
    run.close(y, np.where(cont[:, None] == 0, 0, x * cont[:, None]))
    run("continue_gradient", 12, 4, run.array(cont), run.array(g), run.array(gy), y)
    run.close(y, g * cont[:, None] + gy)


# -- transformer -------------------------------------------------------------------------------


@pytest.mark.parametrize("mean", [0, 1, 2, 3])
@pytest.mark.parametrize("crop", [0, 5])
@numbers_of("transform_bytes", "transform_reals")
def test_transformer(run, mean, crop):
    images = RNG.integers(0, 256, (4, 3, 7, 9), dtype=np.uint8)
    means = {0: [], 1: [100.0], 2: [90.0, 100.0, 110.0]}.get(mean, [])
    param = TransformationParameter(mirror=True, crop_size=crop, scale=0.125, mean_value=means)
    transformer = Transformer(param, TRAIN)
    level = np.array(means or [0], np.float32)
    if mean == 3:
        level = RNG.integers(0, 256, (3, 7, 9)).astype(np.float32)
        transformer.mean = level
        transformer.means = np.stack([level, level[:, :, ::-1]])
    transformer.init_rand()
    draws = transformer.draws(4)
    want = np.empty((4, 3, crop, crop) if crop else images.shape, np.float32)
    transformer.apply(list(images), draws, want)
    places = [transformer.place(images.shape[1:], own) for own in draws.tolist()]
    at = np.array(places, np.int32)
    numbers = (want.size, *images.shape[1:], *want.shape[2:], mean, 0.125, at, run.array(level))
    for kernel, x in (("transform_bytes", images), ("transform_reals", run.array(images))):
        y = run.empty(*want.shape)
        run(kernel, *numbers, x, y)
        run.close(y, want)


# -- updates -----------------------------------------------------------------------------------

# Powers of two and the like, which the solver's float32 fields hold exactly.
RULES = {
    "SGD": ("sgd", {"momentum": 0.875}, [0.875]),
    "Nesterov": ("nesterov", {"momentum": 0.875}, [0.875]),
    "AdaGrad": ("adagrad", {"delta": 2**-10}, [2**-10]),
    "RMSProp": ("rmsprop", {"delta": 2**-10, "rms_decay": 0.9375}, [2**-10, 0.9375, 0.0625]),
    "AdaDelta": ("adadelta", {"delta": 2**-10, "momentum": 0.875}, [2**-10, 0.875, 0.125]),
    "Adam": (
        "adam",
        {"delta": 2**-10, "momentum": 0.875, "momentum2": 0.96875},
        [2**-10, 0.875, 0.125, 0.96875, 0.03125],
    ),
}


RATE, SHARE, CLIP = 0.125, 0.5, 0.75


class Updated:
    """A parameter in a kernel's hands, and what it should be."""

    def __init__(self, run, rule, n, decay, rate=RATE):
        self.run, self.rule, self.decay, self.rate = run, rule, decay, rate
        self.data = RNG.standard_normal(n)
        self.data[:5] = 0
        self.history = {slot: np.zeros(n) for slot in rule.slots}
        self.arrays = [run.array(self.data), run.empty(n)]
        self.arrays += [run.array(h) for h in self.history.values()]

    def begin(self, iteration, l1):
        step = UpdateStep(iteration, self.rate, correction=self.rule.correction(iteration))
        g = RNG.standard_normal(self.data.size)
        self.arrays[1][...] = g
        self.g = g * CLIP * SHARE + self.decay * (np.sign(self.data) if l1 else self.data)
        self.rule.step(self.g, self.history, step, np.empty(g.size))
        self.data -= self.g
        return step.correction

    def check(self):
        wanted = self.data, self.g, *self.history.values()
        for got, want in zip(self.arrays, wanted, strict=True):
            self.run.close(got, want)


@pytest.mark.parametrize("l1", [False, True])
@numbers_of(
    *("sgd_update", "nesterov_update", "adagrad_update"),
    *("rmsprop_update", "adadelta_update", "adam_update"),
)
def test_update_rules(run, l1):
    for kind, (name, settings, numbers) in RULES.items():
        rule = create_rule(SolverParameter(type=kind, **settings))
        one = Updated(run, rule, 1000, decay=0.25)
        for iteration in range(3):
            rate = RATE * one.begin(iteration, l1)
            settled = 1000, rate, *numbers, SHARE, 0.25, l1, run.array([CLIP])
            run(f"{name}_update", *settled, *one.arrays)
            one.check()


@numbers_of(
    *(f"{name}_update" for name, *_ in RULES.values()),
    *(f"{name}_update_all" for name, *_ in RULES.values()),
)
def test_an_update_that_is_held_back_changes_nothing_and_takes_off_nothing(run):
    for kind, (name, _, numbers) in RULES.items():
        slots = create_rule(SolverParameter(type=kind)).slots
        mine, *past = (run.array(RNG.standard_normal(300)) for _ in range(1 + len(slots)))
        before, gate = [x.copy() for x in (mine, *past)], run.array([0])
        numbers = 0.5, *numbers, 1, 0.25, 0
        rows, chunks = chunks_of([300], 128)
        diffs = [run.array(np.full(300, np.nan)) for _ in range(2)]
        run(f"{name}_update", 300, *numbers, gate, mine, diffs[0], *past)
        columns = ([array] for array in (mine, diffs[1], *past))
        run(f"{name}_update_all", rows, *numbers, chunks, run.array([[1, 1]]), gate, *columns)
        for got, want in zip((mine, *past), before, strict=True):
            run.close(got, want)
        assert not np.any(diffs)


@numbers_of("see_losses")
def test_the_first_losses_that_are_no_numbers_are_kept_and_hold_back_from_then_on(run):
    gate, first = run.array([1]), np.zeros(4)
    seen = [[1.0, 2, 3], [1, np.nan, np.inf], [4, 5, 6], [np.nan] * 3]
    for iteration, losses in enumerate(seen):
        run("see_losses", 1, 3, iteration, np.array(losses, np.float64), gate, first)
        run.close(gate, [float(iteration == 0)])
        kept = [0, 0, 0, 0] if iteration == 0 else [1, 1, np.nan, np.inf]
        np.testing.assert_array_equal(first, kept)


def chunks_of(sizes, most):
    parts = [(i, b, min(b + most, n)) for i, n in enumerate(sizes) for b in range(0, n, most)]
    return len(parts), np.array(parts, np.int32)


@pytest.mark.parametrize("l1", [False, True])
@numbers_of(
    *("sgd_update_all", "nesterov_update_all", "adagrad_update_all"),
    *("rmsprop_update_all", "adadelta_update_all", "adam_update_all"),
)
def test_update_rules_of_all_parameters(run, l1):
    sizes, mults = (7, 300, 1), ((1, 1), (2, 0), (0.5, 2))
    rows, chunks = chunks_of(sizes, 128)
    for kind, (name, settings, numbers) in RULES.items():
        rule = create_rule(SolverParameter(type=kind, **settings))
        params = [
            Updated(run, rule, n, 0.25 * decay, RATE * rate)
            for n, (rate, decay) in zip(sizes, mults, strict=True)
        ]
        for iteration in range(3):
            corrections = {p.begin(iteration, l1) for p in params}
            rate = RATE * corrections.pop()
            settled = rows, rate, *numbers, SHARE, 0.25, l1, chunks, run.array(mults)
            columns = map(list, zip(*(p.arrays for p in params), strict=True))
            run(f"{name}_update_all", *settled, run.array([CLIP]), *columns)
            for p in params:
                p.check()


@numbers_of("gradient_norm", "scale_all")
def test_the_norm_of_all_gradients_and_the_scale_that_clips_it(run):
    sizes = 3, 700, 1000
    gradients = [run.array(RNG.standard_normal(n)) for n in sizes]
    rows, chunks = chunks_of(sizes, 256)
    want = np.sqrt(sum(float(np.vdot(g, g)) for g in gradients))
    for limit, scale in ((want * 2, 1.0), (want / 2, 0.5)):
        got, norm, tickets = run.empty(1), run.empty(1), run.tickets(1)
        sums = run.empty(rows), tickets, got, norm
        run("gradient_norm", rows, limit, chunks, gradients, *sums)
        run.close(norm, [want])
        run.close(got, [scale])
        assert tickets[0] == 0
        before = [g.copy() for g in gradients]
        run("scale_all", rows, chunks, got, gradients)
        for g, b in zip(gradients, before, strict=True):
            run.close(g, b * scale)


@numbers_of("clear_all")
def test_clearing_all(run):
    arrays = [run.empty(n) for n in (3, 700)]
    rows, chunks = chunks_of((3, 700), 256)
    run("clear_all", rows, chunks, arrays)
    assert not any(a.any() for a in arrays)


# -- the scale of the loss ---------------------------------------------------------------------


@numbers_of("unscale_all")
def test_gradients_are_brought_down_and_bad_ones_found(run):
    sizes = 3, 700
    rows, chunks = chunks_of(sizes, 256)
    for worst in (1.0, np.nan, np.inf, -np.inf):
        gradients = [run.array(RNG.standard_normal(n)) for n in sizes]
        gradients[1][::90] = worst  # which several threads find
        want, bad = [g / 1024 for g in gradients], np.zeros(1, np.int32)
        run("unscale_all", rows, chunks, run.array([1024]), gradients, bad)
        for g, right in zip(gradients, want, strict=True):
            run.close(g, right)
        assert bad[0] == (not np.isfinite(worst))


@numbers_of("settle_scale")
def test_the_scale_halves_after_a_bad_step_and_doubles_after_some_good_ones(run):
    """Written out: S, good steps, steps left out, and whether the step counts."""
    bad, good, skipped = (np.zeros(1, np.int32) for _ in range(3))
    scale, gate, one = run.array([4]), run.empty(1), run.array([1])
    steps = [(0, 4, 1, 0), (0, 8, 0, 0), (1, 4, 0, 1), (0, 4, 1, 1), (1, 2, 0, 2), (1, 1, 0, 3)]
    steps += [(1, 1, 0, 4), (0, 1, 1, 4), (0, 2, 0, 4), (0, 2, 1, 4), (0, 4, 0, 4)]
    steps += [(0, 4, 1, 4), (0, 8, 0, 4), (0, 8, 1, 4), (0, 8, 0, 4)]  # the most
    for number, (was_bad, *want) in enumerate(steps):
        bad[0] = was_bad
        run("settle_scale", 1, 2, 8, one, scale, gate, bad, good, skipped)
        assert [scale[0], good[0], skipped[0]] == want, number
        assert gate[0] == (not was_bad) and bad[0] == 0, number


@numbers_of("settle_scale")
def test_a_fixed_scale_stays_and_what_was_held_back_before_is_held_back(run):
    bad, good, skipped = (np.zeros(1, np.int32) for _ in range(3))
    scale, gate = run.array([6]), run.empty(1)
    for before, was_bad in ((1, 0), (0, 0), (1, 1)):
        bad[0] = was_bad
        run("settle_scale", 1, 0, 8, run.array([before]), scale, gate, bad, good, skipped)
        assert scale[0] == 6 and gate[0] == (before and not was_bad)
    assert skipped[0] == 1


# -- casts -------------------------------------------------------------------------------------


@np.errstate(all="ignore")
def hard_floats():
    """Every half's neighbourhood, ties included, and what does not fit."""
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16).astype(np.float32)
    halves = halves[np.isfinite(halves)]
    between = (halves + np.nextafter(halves.astype(np.float16), np.float16(np.inf))) / 2
    near = [np.nextafter(between, s * np.float32(np.inf)).astype(np.float32) for s in (-1, 1)]
    rest = np.array([65519.99, 65520, 1e5, -1e30, np.inf, -np.inf, np.nan, 0, -0.0, 1e-45], "f")
    return np.concatenate([halves, between, *near, rest]).astype(np.float32)


@numbers_of("real_to_half", "sum_halves")
def test_half_floats(run):
    x = hard_floats()
    want = Float16().pack(x)
    y = np.empty(x.size, np.uint16)
    run("real_to_half", x.size, run.array(x), y)
    numbers = ~np.isnan(want)
    np.testing.assert_array_equal(y[numbers], want.view(np.uint16)[numbers])
    assert np.isnan(y.view(np.float16)[~numbers]).all()
    every, back = np.arange(1 << 16, dtype=np.uint16), run.empty(1 << 16)
    run("sum_halves", back.size, 1, 1, every, back)
    np.testing.assert_array_equal(back, every.view(np.float16).astype(run.dtype))
    assert np.signbit(back[0x8000]) and not np.signbit(back[0])


@np.errstate(all="ignore")
@numbers_of("factor_to_half")
def test_factors_of_products_in_half_floats_become_infinite_where_they_are_too_large(run):
    x = hard_floats()
    want, y = x.astype(np.float16), np.empty(x.size, np.uint16)
    run("factor_to_half", x.size, run.array(x), y)
    numbers = ~np.isnan(want)
    assert np.isinf(want).any()
    np.testing.assert_array_equal(y[numbers], want.view(np.uint16)[numbers])
    assert np.isnan(y.view(np.float16)[~numbers]).all()


@numbers_of("sum_halves", "sum_bfloats")
def test_sums_of_packed_parts(run):
    parts = RNG.standard_normal((5, 333)).astype("f")
    for kernel, wire in (("sum_halves", Float16()), ("sum_bfloats", BFloat16())):
        packed, total = wire.pack(parts), run.empty(333)
        run(kernel, 333, 5, 0.2, packed.view(np.uint16), total)
        run.close(total, wire.unpack(packed).astype(run.dtype).mean(axis=0))


def flushed(x):
    """As a device has float32 numbers: subnormal ones are 0."""
    return np.where(np.abs(x) < np.finfo(np.float32).tiny, 0, x)


@numbers_of("real_to_bfloat", "sum_bfloats")
def test_bfloats(run):
    x = np.concatenate([hard_floats(), RNG.standard_normal(1000).astype("f")])
    y, back = np.empty(x.size, np.uint16), run.empty(x.size)
    run("real_to_bfloat", x.size, run.array(x), y)
    run("sum_bfloats", x.size, 1, 1, y, back)
    nan = np.isnan(x)
    assert np.isnan(back[nan]).all()
    bits = x[~nan].view(np.uint32).astype(np.uint64)
    want = (bits + 0x7FFF + (bits >> np.uint64(16) & np.uint64(1))) >> np.uint64(16)
    np.testing.assert_array_equal(y[~nan], want)
    every, back = np.arange(1 << 16, dtype=np.uint32), run.empty(1 << 16)
    run("sum_bfloats", back.size, 1, 1, every.astype(np.uint16), back)
    with np.errstate(all="ignore"):  # among them NaN of all kinds
        want = (every << 16).view(np.float32).astype(run.dtype)
    # CuPy compiles everything with -ftz=true.
    np.testing.assert_array_equal(back, flushed(want))

"""Kernels made by LLVM: what is written with ``Code`` computes what it says."""

import numpy as np
import pytest

from pycaffe_dist.engines.onednn.core.jit import FLOAT_BYTES, Code, address
from pycaffe_dist.threads import set_threads


@pytest.fixture(params=[1, 2, 3])
def threads(request):
    yield set_threads(request.param)
    set_threads()


def vectors(code, count, write):
    """Let ``write`` make a value of the addresses of this thread's vectors, one at a time."""
    begin, end = code.share(count)
    size = FLOAT_BYTES * code.vector.count
    with code.loop(begin, end) as i:
        write(code.mul(i, size))


@pytest.mark.parametrize("width", [8, 16])
def test_every_vector_is_done_once_by_some_thread(threads, width):
    code = Code(2, width)
    target, count = code.arguments

    def more(offset):
        place = code.add(target, offset)
        code.store(code.build.fadd(code.load(place), code.constant(1.0)), place)

    vectors(code, count, more)
    kernel = code.finish()
    room = np.zeros(7 * width + 3, np.float32)
    for _ in range(2):
        kernel(address(room), 7)
    assert (room[: 7 * width] == 2).all()
    assert (room[7 * width :] == 0).all()


def test_weighted_sums_and_slopes():
    code = Code(3, 8)
    a, b, out = code.arguments
    made = code.weighted([0.0, -2.5, 1.0], [code.constant(9.0), code.load(a), code.load(b)])
    code.store(code.leaky(made, 0.5), out)
    x, y, z = np.random.default_rng(0).standard_normal((3, 8)).astype(np.float32)
    x[0] = np.nan
    code.finish()(address(x), address(y), address(z))
    want = y - np.float32(2.5) * x
    np.testing.assert_allclose(z, np.where(want > 0, want, want / 2), rtol=1e-5)


@pytest.mark.parametrize("weights", [(2, 4), (-1, 2), (0, 2), (0, 0), (1, -1), (1, 1)], ids=str)
def test_weighted_sums_of_two(weights):
    code = Code(3, 8)
    a, b, out = code.arguments
    code.store(code.weighted(weights, [code.load(a), code.load(b)]), out)
    x, y, z = np.random.default_rng(0).standard_normal((3, 8)).astype(np.float32)
    code.finish()(address(x), address(y), address(z))
    np.testing.assert_allclose(z, weights[0] * x + weights[1] * y, rtol=1e-5, atol=1e-6)


def test_numbers_conditions_and_choices():
    code = Code(3, 8)
    a, b, out = code.arguments
    quotient, rest = code.divided(a, b)
    small = code.all((quotient, "<", 4), (rest, ">=", 1))
    value = code.choose(small, code.most(quotient, rest), code.least(quotient, code.sub(0, rest)))
    code.build.store(value, code.build.inttoptr(out, value.type.as_pointer()))
    kernel, found = code.finish(), np.zeros(1, np.int64)
    for x, y, want in ((17, 5, 3), (11, 4, 3), (20, 5, 0), (22, 5, -2)):
        kernel(x, y, address(found))
        assert found[0] == want, (x, y)

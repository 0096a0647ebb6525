import threading

import numpy as np
import pytest

from pycaffe_dist import rng


@pytest.mark.parametrize(
    ("seed", "first", "of_child"),
    # What Caffe's own tests pin for two threads of different seeds.
    [(9658361, 2807902913, 4244559767), (3435563, 2507970537, 1726478280)],
)
def test_the_raw_stream_is_caffes(seed, first, of_child):
    rng.set_random_seed(seed)
    assert rng.draw() == first
    rng.set_random_seed(first)
    assert rng.draw() == of_child
    rng.set_random_seed(seed)
    assert int(rng.child().randint(0, 1 << 32, dtype=np.uint32)) == of_child


def test_the_textbook_numbers_of_mersenne_twister():
    rng.set_random_seed(5489)
    assert rng.draw() == 3499211612
    for _ in range(9998):
        rng.draw()
    assert rng.draw() == 4123659995  # the 10000th, which the C++ standard prescribes


@pytest.mark.parametrize("seed", [0, 1, 1701, (1 << 32) - 1])
def test_the_same_seed_gives_the_same_numbers(seed):
    def numbers():
        rng.set_random_seed(seed)
        return [
            rng.draw(),
            rng.generator().uniform(),
            rng.generator().normal(),
            *rng.generator().binomial(1, 0.5, 10),
            rng.draw(),
        ]

    assert numbers() == numbers()


def test_different_seeds_give_different_numbers():
    firsts = set()
    for seed in range(20):
        rng.set_random_seed(seed)
        firsts.add(rng.draw())
    assert len(firsts) == 20


@pytest.mark.parametrize(("seed", "same"), [(-1, (1 << 32) - 1), ((1 << 32) + 5, 5)])
def test_seeds_are_taken_modulo_two_to_the_32(seed, same):
    rng.set_random_seed(seed)
    first = rng.draw()
    rng.set_random_seed(same)
    assert rng.draw() == first


def test_the_generator_stays_the_same_object():
    before = rng.generator()
    rng.set_random_seed(3)
    assert rng.generator() is before
    before.seed(4)
    first = rng.draw()
    rng.set_random_seed(4)
    assert rng.draw() == first


def test_a_child_takes_one_number_and_then_is_on_its_own():
    rng.set_random_seed(7)
    numbers = [rng.draw(), rng.draw()]
    rng.set_random_seed(7)
    child = rng.child()
    child.uniform(size=100)
    assert rng.draw() == numbers[1]


def test_draws_cover_all_32_bits():
    rng.set_random_seed(1)
    ones = zeros = 0
    for _ in range(200):
        value = rng.draw()
        assert 0 <= value < 1 << 32
        ones |= value
        zeros |= ~value & 0xFFFFFFFF
    assert ones == zeros == 0xFFFFFFFF


def test_threads_draw_from_one_stream():
    rng.set_random_seed(11)
    expected = sorted(rng.draw() for _ in range(40))
    rng.set_random_seed(11)
    drawn = []
    threads = [
        threading.Thread(target=lambda: drawn.extend(rng.draw() for _ in range(10)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(drawn) == expected


@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork")
def test_a_process_forks_between_two_draws(in_child):
    stop = threading.Event()

    def keep_drawing():
        while not stop.is_set():
            rng.generator().normal(size=100_000)

    others = [threading.Thread(target=keep_drawing) for _ in range(2)]
    for other in others:
        other.start()
    try:
        for _ in range(10):
            in_child(lambda: rng.draw() >= 0)
    finally:
        stop.set()
        for other in others:
            other.join()
    rng.set_random_seed(4)
    numbers = [rng.generator().normal(), rng.generator().normal(), rng.draw()]
    rng.set_random_seed(4)
    first = rng.generator().normal()
    in_child(lambda: [first, rng.generator().normal(), rng.draw()] == numbers)


@pytest.mark.parametrize("place", [-1, 625, 1 << 30])
def test_a_place_outside_of_the_generator_is_refused(place):
    random = rng.child()
    _, words, *_ = random.get_state()
    with pytest.raises(ValueError, match=f"at place {place} of 624"):
        rng.resume(random, words, place)


def test_a_generator_goes_on_where_another_stood():
    first, second = rng.child(), rng.child()
    first.normal(size=3)
    rng.resume(second, *first.get_state()[1:])
    assert first.normal(size=2000).tolist() == second.normal(size=2000).tolist()

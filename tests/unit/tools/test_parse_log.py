import math
from dataclasses import astuple
from pathlib import Path

import pytest

from pycaffe_dist.errors import FileError
from pycaffe_dist.tools.parse_log import number, parse_lines, read_log, table, write_tables

GOLDEN = Path(__file__).resolve().parents[4] / "shared/golden/lenet"

LOG = """\
Log file created at: 2026/11/16 00:23:41
I1116 00:23:41.000001  7 solver.cpp:45] Initializing solver from parameters:
base_lr: 0.01
I1116 00:23:42.000000  7 solver.cpp:289] Solving LeNet
I1116 00:23:42.100000  7 solver.cpp:347] Iteration 0, Testing net (#0)
I1116 00:23:42.150000  9 data_layer.cpp:73] Restarting data prefetching from start.
I1116 00:23:42.200000  7 solver.cpp:414]     Test net output #0: accuracy = 0.088
I1116 00:23:42.200100  7 solver.cpp:414]     Test net output #1: loss = 2.4 (* 1 = 2.4 loss)
I1116 00:23:43.000000  7 solver.cpp:239] Iteration 0 (-9e-43 iter/s, 0.1s/20 iters), loss = 2.41
I1116 00:23:43.000500  7 solver.cpp:258]     Train net output #0: loss = 2.5 (* 1 = 2.5 loss)
I1116 00:23:43.001000  7 sgd_solver.cpp:112] Iteration 0, lr = 0.01
I1116 00:23:44.000000  7 solver.cpp:239] Iteration 20 (20 iter/s, 1s/20 iters), loss = 0.7
I1116 00:23:44.000100  9 data_layer.cpp:73] Restarting data prefetching from start.
I1116 00:23:44.000500  7 solver.cpp:258]     Train net output #0: loss = 0.75 (* 1 = 0.75 loss)
I1116 00:23:44.001000  7 sgd_solver.cpp:112] Iteration 20, lr = 0.005
I1116 00:23:45.000000  7 solver.cpp:464] Snapshotting to binary proto file x.caffemodel
I1116 00:23:46.000000  7 solver.cpp:327] Iteration 40, loss = 0.5
I1116 00:23:46.100000  7 solver.cpp:347] Iteration 40, Testing net (#0)
I1116 00:23:47.000000  7 solver.cpp:414]     Test net output #0: accuracy = 0.9
I1116 00:23:47.000100  7 solver.cpp:414]     Test net output #1: loss = 0.4 (* 1 = 0.4 loss)
I1116 00:23:47.000200  7 solver.cpp:332] Optimization Done.
"""


def parse(text, **settings):
    return parse_lines(text.splitlines(), **settings)


def told(text):
    """What a log tells, comparable: a rate that is missing is nan, which does not equal itself."""
    return astuple(parse(text))


def stamped(*texts, day="I1116"):
    return "\n".join(
        f"{day} 00:00:{second:02d}.000000 1 a.cpp:1] {text}" for second, text in enumerate(texts)
    )


def test_a_plain_log():
    run = parse(LOG)
    assert [(r.iteration, r.seconds, r.rate, r.loss, r.outputs) for r in run.train] == [
        (0, 1.0005, 0.01, 2.41, {"loss": 2.5}),
        (20, 2.0005, 0.005, 0.7, {"loss": 0.75}),
        (40, 4.0, pytest.approx(math.nan, nan_ok=True), 0.5, {}),
    ]
    assert [(r.iteration, r.seconds, r.rate, r.outputs, r.losses) for r in run.test] == [
        (0, 0.2, 0.01, {"accuracy": 0.088, "loss": 2.4}, {"loss"}),
        (40, 5.0, 0.005, {"accuracy": 0.9, "loss": 0.4}, {"loss"}),
    ]


@pytest.mark.parametrize("prefix", ["I20261116", "[1,0]<stderr>:I1116", "W1116"])
def test_other_prefixes(prefix):
    assert told(LOG.replace("I1116", prefix)) == told(LOG)


def test_a_log_from_windows():
    assert told(LOG.replace("\n", "\r\n")) == told(LOG)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("nan", math.nan),
        ("-nan", math.nan),
        ("inf", math.inf),
        ("-inf", -math.inf),
        ("1.#INF", math.inf),
        ("-1.#INF", -math.inf),
        ("-1.#IND", math.nan),
        ("1.#QNAN", math.nan),
        ("1e-05", 1e-5),
        ("-2.5e+10", -2.5e10),
    ],
)
def test_numbers(text, value):
    same = pytest.approx(value, nan_ok=True)
    assert number(text) == same
    log = stamped(
        f"Iteration 5 (1 iter/s, 1s/5 iters), loss = {text}",
        f"    Train net output #0: loss = {text} (* 1 = {text} loss)",
    )
    (row,) = parse(log).train
    assert (row.loss, row.outputs["loss"]) == (same, same)


def test_new_year():
    log = LOG.replace("I1116", "I1231").replace("I1231 00:23:4", "I1231 23:59:5")
    head, tail = log.split("I1231 23:59:54.0005")
    run = parse(head + "I0101 00:00:00.0005" + tail.replace("I1231 23:59:5", "I0101 00:00:0"))
    assert [row.seconds for row in run.train] == [1.0005, 8.0005, 14.0]


def test_a_leap_day_in_a_year_that_has_none():
    (row,) = parse(stamped("Solving x", "Iteration 1, loss = 1", day="I0229"), year=2026).train
    assert row.seconds == 1.0


def test_a_month_end_in_and_out_of_leap_years():
    log = "I0228 00:00:00.0 1 a:1] Solving x\nI0301 00:00:00.0 1 a:1] Iteration 1, loss = 1"
    assert [parse(log, year=year).train[0].seconds for year in (2026, 2028)] == [86400, 172800]


def test_several_test_nets_stand_side_by_side():
    run = parse(
        stamped(
            "Iteration 0, Testing net (#0)",
            "    Test net output #0: accuracy = 0.1",
            "Iteration 0, Testing net (#1)",
            "    Test net output #0: accuracy = 0.2",
            "    Test net output #1: loss = 3 (* 1 = 3 loss)",
            "Iteration 5, Testing net (#0)",
            "    Test net output #0: accuracy = 0.3",
            "Iteration 5, Testing net (#1)",
            "    Test net output #0: accuracy = 0.4",
        )
    )
    assert [(row.iteration, row.net) for row in run.test] == [(0, 0), (0, 1), (5, 0), (5, 1)]
    assert [list(row.items())[3:] for row in table(run.test)] == [
        [("accuracy", 0.1), ("test1/accuracy", 0.2), ("test1/loss", 3.0)],
        [("accuracy", 0.3), ("test1/accuracy", 0.4)],
    ]


def test_elements_of_an_output_are_all_kept():
    run = parse(
        stamped(
            "Iteration 0, Testing net (#0)",
            "    Test net output #0: accuracy = 0.1",
            "    Test net output #1: class recall = 0.2",
            "    Test net output #2: class recall = 0.3",
        )
    )
    assert run.test[0].outputs == {"accuracy": 0.1, "class recall": 0.2, "class recall[1]": 0.3}


def test_test_compute_loss_and_an_interrupted_test():
    run = parse(
        stamped(
            "Iteration 0, Testing net (#0)",
            "Test loss: 0.25",
            "Iteration 5, Testing net (#0)",
            "Test interrupted.",
        )
    )
    assert [(row.iteration, row.loss) for row in run.test] == [(0, 0.25)]


def test_a_resumed_log_keeps_both_runs():
    again = LOG.replace("I1116 00:23", "I1117 00:23").replace("Iteration 0", "Iteration 20")
    run = parse(LOG + again)
    assert [row.iteration for row in run.train] == [0, 20, 40, 20, 20, 40]
    assert [row.iteration for row in run.test] == [0, 40, 20, 40]
    assert run.train[3].seconds == 86401.0005
    assert run.train[3].outputs == {"loss": 2.5}


def test_a_resume_at_the_iteration_of_the_last_test_is_another_row():
    texts = "Iteration 9, Testing net (#0)", "    Test net output #0: a = 1"
    run = parse(stamped(*texts, "Solving x", *texts))
    assert len(table(run.test)) == 2


def test_a_log_without_its_beginning():
    text = LOG.split("data prefetching from start.\n", 1)[1]
    run = parse(text)
    assert [row.iteration for row in run.train] == [0, 20, 40]
    assert run.train[0].seconds == 0.8005  # from the first line that is left
    assert [row.iteration for row in run.test] == [40]


def test_a_log_that_is_still_being_written():
    whole, rows = parse(LOG), -1
    for end in [*range(0, len(LOG), 7), len(LOG)]:
        run = parse(LOG[:end])
        counted = len(run.train) + len(run.test)
        assert counted >= rows  # a row that was there stays
        rows = counted
        numbers = [row.iteration for row in run.train[:-1]]
        assert numbers == [row.iteration for row in whole.train[: len(numbers)]]
    assert rows == len(whole.train) + len(whole.test)


def test_the_rate_told_before_the_loss():
    run = parse(
        stamped(
            "Iteration 20, lr = 0.1",
            "Iteration 20, loss = 1",
            "Iteration 40, lr = 0.2",
            "Iteration 40, loss = 1",
        )
    )
    assert [row.rate for row in run.train] == [0.1, 0.2]


def test_tables_are_parse_logs(tmp_path):
    written = write_tables(parse(LOG), "/some/where/caffe.INFO", tmp_path)
    assert written == [str(tmp_path / "caffe.INFO.train"), str(tmp_path / "caffe.INFO.test")]
    assert (tmp_path / "caffe.INFO.train").read_bytes() == (
        b"NumIters,Seconds,LearningRate,loss\r\n0.0,1.0005,0.01,2.5\r\n20.0,2.0005,0.005,0.75\r\n"
    )
    assert (tmp_path / "caffe.INFO.test").read_bytes() == (
        b"NumIters,Seconds,LearningRate,accuracy,loss\r\n"
        b"0.0,0.2,0.01,0.088,2.4\r\n40.0,5.0,0.005,0.9,0.4\r\n"
    )


def test_no_table_without_rows(tmp_path):
    run = parse(stamped("Iteration 0, Testing net (#0)", "    Test net output #0: a = 1"))
    assert write_tables(run, "l", tmp_path) == [str(tmp_path / "l.test")]


def test_files_that_tell_of_no_training(tmp_path):
    with pytest.raises(FileError, match="cannot be read"):
        read_log(tmp_path / "none")
    (tmp_path / "bytes").write_bytes(bytes(range(256)) * 10)
    with pytest.raises(FileError, match="tells of no training"):
        read_log(tmp_path / "bytes")


@pytest.mark.skipif(not GOLDEN.exists(), reason="no ../shared beside the repository")
def test_logs_of_caffe():
    train, resume = read_log(GOLDEN / "train.log"), read_log(GOLDEN / "resume.log")
    assert [row.iteration for row in train.train] == list(range(0, 301, 20))
    assert [row.iteration for row in resume.train] == list(range(100, 301, 20))
    assert [row.outputs["accuracy"] for row in train.test] == [0.088, 0.92, 0.938, 0.94]
    first = train.train[0]
    assert (first.seconds, first.rate, first.outputs) == (0.149049, 0.01, {"loss": 2.41579})
    assert train.train[-1].loss == 0.0667536

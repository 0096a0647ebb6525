import io
import logging
import re
import subprocess
import sys
import threading
from datetime import datetime

import pytest

from pycaffe_dist import caffe_log
from pycaffe_dist.report.glog import GlogFormatter, log_to_stderr

LINE = re.compile(
    r"(?P<letter>[IWEF])(?P<month>\d\d)(?P<day>\d\d) (?P<time>\d\d:\d\d:\d\d\.\d{6}) "
    r"(?P<thread> *\d+) (?P<place>[^ ]+)\] (?P<text>.*)"
)


@pytest.fixture
def logger():
    """Our logger without handlers, and as it was afterwards."""
    root = logging.getLogger("pycaffe_dist")
    kept = root.handlers[:], root.level
    root.handlers[:] = []
    yield root
    root.handlers[:] = kept[0]
    root.setLevel(kept[1])


def record(level=logging.INFO, text="text", *args, **extra):
    made = logging.LogRecord("n", level, "/a/b/solver.py", 239, text, args, None)
    made.__dict__.update(extra)
    return made


@pytest.mark.parametrize(
    ("level", "letter"),
    [
        (logging.INFO, "I"),
        (logging.WARNING, "W"),
        (logging.ERROR, "E"),
        (logging.CRITICAL, "F"),
    ],
)
def test_severities(level, letter):
    assert GlogFormatter().format(record(level))[0] == letter


def test_a_line_as_glog_writes_it():
    when = datetime(2016, 11, 16, 0, 23, 51, 503093)
    line = GlogFormatter().format(
        record(logging.INFO, "Iteration %d, lr = %g", 100, 0.01, created=when.timestamp())
    )
    thread = threading.get_native_id()
    assert line == f"I1116 00:23:51.503093 {thread:5d} solver.py:239] Iteration 100, lr = 0.01"
    assert LINE.fullmatch(line)


def test_the_place_may_be_one_of_caffes():
    line = GlogFormatter().format(record(place="net.cpp:131"))
    assert LINE.fullmatch(line)["place"] == "net.cpp:131"


def test_time_is_the_records_not_the_clocks():
    then = datetime(2001, 2, 3, 4, 5, 6, 7).timestamp()
    match = LINE.fullmatch(GlogFormatter().format(record(created=then)))
    assert (match["month"], match["day"], match["time"]) == ("02", "03", "04:05:06.000007")


def test_percent_signs_without_arguments_are_text():
    assert GlogFormatter().format(record(logging.INFO, "100% of %s")).endswith("] 100% of %s")


def test_each_thread_has_its_number():
    lines, meeting = [], threading.Barrier(2)

    def work():
        meeting.wait()
        lines.append(GlogFormatter().format(record()))
        meeting.wait()  # while both live their numbers differ

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({LINE.fullmatch(line)["thread"] for line in lines}) == 2


@pytest.mark.parametrize(
    ("write", "letter"),
    [(caffe_log.info, "I"), (caffe_log.warning, "W"), (caffe_log.error, "E")],
)
def test_lines_of_caffes_log(logger, capsys, write, letter):
    log_to_stderr()
    write("net.cpp:257", "%s done, %g", "x", 0.5)
    match = LINE.fullmatch(capsys.readouterr().err.rstrip("\n"))
    assert (match["letter"], match["place"], match["text"]) == (
        letter,
        "net.cpp:257",
        "x done, 0.5",
    )


def test_lines_come_once_and_from_the_level_asked_for(logger, capsys):
    log_to_stderr()
    log_to_stderr()
    log_to_stderr(logging.WARNING)
    logger.info("no")
    logger.getChild("net").warning("yes")
    logger.debug("no")
    lines = capsys.readouterr().err.splitlines()
    assert [LINE.fullmatch(line)["text"] for line in lines] == ["yes"]


def test_a_handler_of_the_users_own_does_not_keep_the_log_from_standard_error(logger, capsys):
    own = io.StringIO()
    logger.addHandler(logging.StreamHandler(own))
    log_to_stderr()
    logger.info("hello")
    assert own.getvalue() == "hello\n"
    assert capsys.readouterr().err.endswith("] hello\n")


def test_nothing_is_printed_by_a_program_that_did_not_ask():
    text = (
        "import pycaffe_dist as caffe, logging\n"
        "caffe.log('quiet')\n"
        "logging.getLogger('pycaffe_dist').info('quiet')\n"
    )
    run = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")

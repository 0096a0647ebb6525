import io
import logging
import re
import subprocess
import sys
import threading
from datetime import datetime

import pytest

from pycaffe_dist import caffe_log
from pycaffe_dist.report import glog
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
    for handler in root.handlers:
        handler.close()
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


# -- where it goes ---------------------------------------------------------------------------------


def say(logger, *words):
    for word in words:
        getattr(logger, word)("a word of %s", word)


def shown(capsys):
    lines = capsys.readouterr().err.splitlines()
    return [LINE.fullmatch(line)["text"].removeprefix("a word of ") for line in lines]


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({}, ["info", "warning", "error", "critical"]),
        ({"minloglevel": "1"}, ["warning", "error", "critical"]),
        ({"minloglevel": "2"}, ["error", "critical"]),
        ({"minloglevel": "3"}, ["critical"]),
        ({"minloglevel": "9"}, ["critical"]),
        ({"minloglevel": "no number"}, ["info", "warning", "error", "critical"]),
        ({"v": "1"}, ["debug", "info", "warning", "error", "critical"]),
        ({"v": "1", "minloglevel": "1"}, ["warning", "error", "critical"]),
        ({"logtostderr": "1"}, ["info", "warning", "error", "critical"]),
        ({"logtostderr": "0"}, ["error", "critical"]),
        ({"logtostderr": "0", "stderrthreshold": "1"}, ["warning", "error", "critical"]),
        ({"logtostderr": "0", "alsologtostderr": "1"}, ["info", "warning", "error", "critical"]),
        ({"alsologtostderr": "false"}, ["error", "critical"]),
        ({"stderrthreshold": "3"}, ["info", "warning", "error", "critical"]),
    ],
)
def test_the_environment_says_how_much(logger, monkeypatch, capsys, variables, words):
    for name, value in variables.items():
        monkeypatch.setenv(f"GLOG_{name}", value)
    log_to_stderr()
    say(logger, "debug", "info", "warning", "error", "critical")
    assert shown(capsys) == words


def test_the_environment_is_read_anew_each_time(logger, monkeypatch, capsys):
    log_to_stderr()
    monkeypatch.setenv("GLOG_minloglevel", "2")
    log_to_stderr()
    say(logger, "info", "error")
    monkeypatch.delenv("GLOG_minloglevel")
    log_to_stderr()
    say(logger, "info")
    assert shown(capsys) == ["error", "info"]


def test_what_was_asked_for_counts_more_than_the_environment(logger, monkeypatch, capsys):
    monkeypatch.setenv("GLOG_minloglevel", "2")
    monkeypatch.setattr(glog.ASKED, "level", logging.INFO)
    log_to_stderr()
    say(logger, "info")
    assert shown(capsys) == ["info"]


def test_a_file_in_a_folder(logger, monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("GLOG_log_dir", str(tmp_path))
    monkeypatch.setenv("GLOG_alsologtostderr", "0")
    monkeypatch.setattr(sys, "argv", ["/some/where/solve.py"])
    log_to_stderr()
    log_to_stderr()
    say(logger, "info", "error")
    assert shown(capsys) == ["error"]
    (file,) = tmp_path.glob("solve.py.*.log.INFO.*")
    lines = file.read_text().splitlines()
    texts = [LINE.fullmatch(line)["text"] for line in lines]
    assert texts == ["a word of info", "a word of error"]
    assert (tmp_path / "solve.py.INFO").resolve() == file


def test_to_standard_error_means_no_file(logger, monkeypatch, tmp_path):
    monkeypatch.setenv("GLOG_log_dir", str(tmp_path))
    monkeypatch.setenv("GLOG_logtostderr", "1")
    log_to_stderr()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_named(logger, monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("GLOG_log_dir", str(tmp_path / "none"))
    log_to_stderr()
    say(logger, "info")
    warning, text = shown(capsys)
    assert warning.startswith(f"GLOG_log_dir: {tmp_path / 'none'}")
    assert text == "info"


def test_a_root_handler_on_the_screen_does_not_repeat_lines(logger, monkeypatch, capsys):
    root = logging.getLogger()
    handler = logging.StreamHandler(sys.stderr)
    monkeypatch.setattr(root, "handlers", [handler])
    log_to_stderr()
    say(logger, "info")
    assert shown(capsys) == ["info"]
    seen = logging.StreamHandler(io.StringIO())
    monkeypatch.setattr(root, "handlers", [seen])
    say(logger, "info")
    assert seen.stream.getvalue() == "a word of info\n"


def test_the_stream_that_is_standard_error_now(logger, monkeypatch):
    log_to_stderr()
    cell = io.StringIO()
    monkeypatch.setattr(sys, "stderr", cell)
    say(logger, "info")
    assert cell.getvalue().endswith("] a word of info\n")


def test_nothing_is_printed_by_a_program_that_did_not_ask():
    text = "import pycaffe_dist, logging\nlogging.getLogger('pycaffe_dist').info('quiet')\n"
    run = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")

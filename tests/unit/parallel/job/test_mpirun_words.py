import signal

import pytest

from pycaffe_dist.parallel.job.mpirun_words import Words, by_signal

DASHES = "-" * 74 + "\n"
KILLED = """prterun noticed that process rank 1 with PID 1513 on node box exited on
signal 9 (Killed).
"""
GAVE_UP = """prterun detected that one or more processes exited with non-zero status,
thus causing the job to be terminated. The first process to do so was:

   Process name: [prterun-box-1530@1,1]
   Exit code:    3
"""
NO_DAEMON = """A daemon failed to report back after being spawned. This could
be due to several factors:

  Local host:    box
  Remote host:   10.255.255.1
  Daemon exit status: 255
"""
LOST = """PRTE has lost communication with a remote daemon.

  HNP daemon   : [prterun-box-1@0,0] on node box
  Remote daemon: [prterun-box-1@0,1] on node far
"""
EQUALS = "=" * 83 + "\n"
BY_HYDRA = f"""{EQUALS}=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES
=   PID 28995 RUNNING AT box
=   EXIT CODE: 9
=   CLEANING UP REMAINING PROCESSES
=   YOU CAN IGNORE THE BELOW CLEANUP MESSAGES
{EQUALS}YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Killed (signal 9)
This typically refers to a problem with your application.
Please see the FAQ page for debugging suggestions
"""
OTHERS = """There are not enough slots available in the system.
"""


def read(text):
    """The words of a text, and what is left of it."""
    words, shown = Words(), []
    words.ranks[28995] = "1"
    reader = words.reader(lambda line: shown.append(line.decode()))
    for line in text.splitlines(keepends=True):
        reader.line(line.encode())
    reader.end()
    return words, "".join(shown)


@pytest.mark.parametrize("block", [KILLED, GAVE_UP, NO_DAEMON, LOST])
def test_blocks_that_we_have_words_for_are_left_out(block):
    assert read(f"before\n{DASHES}{block}{DASHES}after\n")[1] == "before\nafter\n"


def test_what_they_tell():
    words, _ = read("".join(f"{DASHES}{block}{DASHES}" for block in (KILLED, NO_DAEMON, LOST)))
    assert words.killed == "rank 1 on box was killed by SIGKILL"
    assert words.not_reached == ["10.255.255.1"]
    assert words.lost == ["far"]


def test_mpich_tells_the_process():
    words, shown = read(f"before\n{BY_HYDRA}after\n{EQUALS}of a rank\n")
    assert words.killed == "rank 1 on box was killed by SIGKILL"
    assert shown == f"before\nafter\n{EQUALS}of a rank\n"


@pytest.mark.parametrize(
    "text",
    [
        f"{DASHES}{OTHERS}{DASHES}",
        DASHES,
        DASHES * 3,
        f"{DASHES}a table\n{DASHES}{DASHES}",
        f"{DASHES}{KILLED}",  # cut short
        "prterun noticed that process rank 1\n",
        "----\n",
        "no line feed",
    ],
)
def test_all_else_is_shown(text):
    words, shown = read(text)
    assert shown == text
    assert words.killed == ""


def test_a_block_after_a_line_of_dashes():
    words, shown = read(f"{DASHES}{DASHES}{KILLED}{DASHES}")
    assert (shown, bool(words.killed)) == (DASHES, True)


def test_a_warning_that_means_nothing_is_left_out():
    noise = "[vm:01700] plm:ssh: Warning: setpgid(1705,1705) failed in parent with errno=1\n"
    assert read(noise)[1] == ""


def test_names_of_signals():
    assert by_signal(signal.SIGSEGV) == "killed by SIGSEGV"
    assert by_signal(199) == "killed by signal 199"

"""Damaged files through every command: some of each kind, and all that ever did harm.

More of them: make fuzz SECONDS=3600.
"""

import shutil
import signal
from pathlib import Path

import kinds
import pytest
import quick
import runner

HERE = Path(__file__).parent
CASES = 10
READ = 60
SEED = 1
# Deploy nets and images go through the slowest commands, and a net has most ways to be damaged.
COUNTS = {"net": 30, "lmdb": 20, "caffemodel": 15, "hostfile": 30, "script": 20}


@pytest.fixture(scope="session")
def sound(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sound") / "files"
    runner.prepare(folder)
    return folder


@pytest.mark.parametrize("kind", kinds.KINDS)
def test_damaged_files_end_in_a_message(sound, tmp_path, kind):
    for number in range(COUNTS.get(kind, CASES)):
        command = runner.make(sound, tmp_path / "case", SEED, kind, number)
        if command is not None:
            outcome = runner.run(tmp_path / "case", command)
            assert not outcome.fault(), (number, runner.words(command), outcome.text)


@pytest.mark.parametrize("kind", quick.READERS)
def test_damaged_files_are_read_or_refused(sound, tmp_path, kind):
    assert not list(quick.faults(sound, tmp_path, SEED, kind, range(READ)))


CORPUS = sorted(path for path in (HERE / "corpus").iterdir() if path.is_dir())


@pytest.mark.parametrize("case", CORPUS, ids=lambda path: path.name)
def test_files_that_did_harm(sound, tmp_path, case):
    """Each has the damaged files, and in ``command`` what read them and what it says now."""
    command, said = (case / "command").read_text().splitlines()
    shutil.copytree(sound, tmp_path / "case")
    shutil.copytree(case, tmp_path / "case", dirs_exist_ok=True)
    outcome = runner.run(tmp_path / "case", command.split())
    assert not outcome.fault(), outcome.text
    assert outcome.code == runner.SAID
    assert said in outcome.text


# -- that it would notice --------------------------------------------------------------------------


def raises():
    {}["x"]


def ends_by_a_signal():
    signal.raise_signal(signal.SIGKILL)  # of others faulthandler writes


def never_ends():
    while True:
        pass


def takes_all_memory():
    return bytes(2 << 30)


@pytest.mark.parametrize(
    ("command", "fault"),
    [
        (raises, "traceback: KeyError"),
        (ends_by_a_signal, "signal: SIGKILL"),
        (never_ends, "hang"),
        (takes_all_memory, "traceback: MemoryError"),
        (["check", "no-such-file"], ""),
        (["check", "net.prototxt"], ""),
    ],
    ids=["raises", "signal", "hang", "memory", "missing", "sound"],
)
def test_faults_are_told(sound, monkeypatch, command, fault):
    monkeypatch.setattr(runner, "CPU_SECONDS", 1)
    found = runner.run(sound, command).fault()
    assert found.startswith(fault)
    assert bool(found) == bool(fault)


@pytest.mark.parametrize(
    ("reader", "fault"),
    [
        (raises, "KeyError: 'x'"),
        (ends_by_a_signal, "ended by SIGKILL"),
        (never_ends, "TimeoutError: more than 1 s"),
        (takes_all_memory, "MemoryError"),
    ],
    ids=["raises", "signal", "hang", "memory"],
)
def test_faults_of_readers_are_told(sound, tmp_path, monkeypatch, reader, fault):
    calls = iter(range(3))

    def read():
        if next(calls) == 1:
            reader()

    monkeypatch.setitem(quick.READERS, "npy", ("mean.npy", read))
    monkeypatch.setattr(quick, "SECONDS", 1)
    (found,) = quick.faults(sound, tmp_path, SEED, "npy", range(5, 8))
    number, _, said = found.partition(": ")
    assert number == "6"
    assert said.startswith(fault)


@pytest.mark.parametrize("commands", [kinds.IMAGE_COMMANDS, kinds.NET_COMMANDS, kinds.RESUME])
def test_sound_files_are_read(sound, tmp_path, commands):
    """A command that refuses even these would test nothing."""
    for command in kinds.lines(commands):
        shutil.rmtree(tmp_path / "case", ignore_errors=True)
        shutil.copytree(sound, tmp_path / "case")
        outcome = runner.run(tmp_path / "case", command)
        assert outcome.code == 0, (command, outcome.text)


def test_a_case_is_always_the_same(sound, tmp_path):
    for kind in kinds.KINDS:
        made = [runner.make(sound, tmp_path / f"{i}", 7, kind, 3) for i in range(2)]
        files = [
            {p.name: p.read_bytes() for p in (tmp_path / f"{i}").rglob("*") if p.is_file()}
            for i in range(2)
        ]
        changed = [name for name in files[0] if files[0][name] != files[1].get(name)]
        assert not [name for name in changed if kind != "sidecar"], kind
        assert isinstance(made[0], list) == isinstance(made[1], list)

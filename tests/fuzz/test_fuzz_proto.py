"""A small run of fuzz_proto.py, and that it would notice what it looks for."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("fuzz_proto.py")


@pytest.fixture(scope="module")
def fuzz():
    spec = importlib.util.spec_from_file_location("fuzz_proto", PROGRAM)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_no_file_brings_a_reader_down():
    done = subprocess.run(
        [sys.executable, PROGRAM, "--count", "1500", "--seed", "1"],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].startswith("1500 files, 0 failures")


def test_good_files_are_read(fuzz, tmp_path):
    for kind, (_, seeds, _, reader) in fuzz.KINDS.items():
        for i, data in enumerate(seeds if reader else ()):
            (tmp_path / "case").write_bytes(data)
            assert fuzz.judge(reader, tmp_path / "case") == (True, "read"), (kind, i)


@pytest.mark.parametrize(
    ("error", "how"),
    [
        (KeyError, "KeyError in"),
        (MemoryError, "MemoryError in"),
        (RecursionError, "RecursionError"),
    ],
)
def test_other_errors_are_failures(fuzz, error, how):
    def reader(path):
        raise error("x")

    good, said = fuzz.judge(reader, PROGRAM)
    assert not good
    assert said.startswith(how)


def test_a_reader_that_does_not_end_is_a_failure(fuzz, monkeypatch):
    def reader(path):
        while True:
            pass

    monkeypatch.setattr(fuzz, "SECONDS", 0.1)
    assert fuzz.judge(reader, PROGRAM) == (False, "more than 0.1 seconds")


def test_cases_follow_from_seed_and_number(fuzz):
    first = [fuzz.make_case(1, i) for i in range(40)]
    assert first == [fuzz.make_case(1, i) for i in range(40)]
    assert first != [fuzz.make_case(2, i) for i in range(40)]

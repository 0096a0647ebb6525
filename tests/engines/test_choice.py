"""Choosing, remembering and being told: with ways so far apart that no machine mixes them up."""

import json
import time
from types import SimpleNamespace

import pytest

from pycaffe_dist.engines.choice import Candidate, Choices
from pycaffe_dist.engines.onednn.core.library import OneDnnError
from pycaffe_dist.engines.race import Result


def candidates(seconds, log=None):
    def candidate(name, wait):
        def trial(_):
            return lambda: (log is None or log.append(name), time.sleep(wait))

        return Candidate(name, lambda: SimpleNamespace(name=name), trial)

    return [candidate(name, wait) for name, wait in seconds.items()]


WAYS = {"slow": 0.04, "fast": 0}


def pick(choices, case="a case", ways=WAYS, log=None):
    chosen = choices.pick(case, candidates(ways, log))
    return chosen.product.name, chosen.how


def test_the_fastest_is_chosen_and_remembered_with_all_times(tmp_path):
    file, log = tmp_path / "cache" / "choices.json", []
    choices = Choices(file)
    assert pick(choices, log=log) == ("fast", "measured")
    assert {"slow", "fast"} == set(log)
    choices.save()
    log.clear()
    again = Choices(file)
    assert pick(again, log=log) == ("fast", "remembered")
    assert log == []  # nothing was measured
    entry = again.remembered()["a case"]
    assert entry.name == "fast"
    assert entry.ms["slow"] >= 40 > entry.ms["fast"]


def test_what_is_named_is_what_is_built():
    wrong = Candidate("a", lambda: SimpleNamespace(name="b"), lambda _: lambda: None)
    with pytest.raises(AssertionError, match="'a' has built 'b'"):
        Choices(None).pick("a case", [wrong])


def test_noise_is_not_written_and_the_first_is_used(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(
        "pycaffe_dist.engines.choice.race",
        lambda runners, _: Result(runners[0].name, False, {r.name: 1.0 for r in runners}),
    )
    caplog.set_level("INFO", "pycaffe_dist")
    file = tmp_path / "choices.json"
    choices = Choices(file)
    assert pick(choices) == ("slow", "measured")
    choices.save()
    assert not file.exists()
    assert "The machine is busy" in caplog.text


def test_one_line_names_the_file(tmp_path, caplog):
    caplog.set_level("INFO", "pycaffe_dist")
    file = tmp_path / "choices.json"
    choices = Choices(file)
    pick(choices, "one")
    pick(choices, "two")
    choices.save()
    pick(Choices(file), "one")
    lines = [r.getMessage() for r in caplog.records if str(file) in r.getMessage()]
    assert [line.split()[0] for line in lines] == ["Measuring", "Implementations"]


def test_two_processes_do_not_lose_each_others_choices(tmp_path):
    file = tmp_path / "choices.json"
    one, two = Choices(file), Choices(file)
    pick(one, "one")
    pick(two, "two")
    one.save()
    two.save()
    assert set(Choices(file).remembered()) == {"one", "two"}


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[1]",
        '{"a case": "gone"}',
        '{"version": "another", "choices": {"a case": {"name": "slow", "ms": {"slow": 1}}}}',
        '{"version": "VERSION", "choices": {"a case": {"name": "gone", "ms": {"gone": 1}}}}',
        '{"version": "VERSION", "choices": {"a case": "slow"}}',
    ],
)
def test_a_broken_file_or_one_of_another_version_is_measured_anew(tmp_path, content):
    file = tmp_path / "choices.json"
    known = Choices(file)
    pick(known)
    known.save()
    version = json.loads(file.read_text())["version"]
    file.write_text(content.replace("VERSION", version))
    choices = Choices(file)
    assert pick(choices) == ("fast", "measured")
    choices.save()
    assert Choices(file).remembered()["a case"].name == "fast"


def test_without_measuring_the_first_that_can_be_built_is_taken():
    def refuse():
        raise OneDnnError("no")

    choices = Choices(None)
    choices.measuring = False
    broken = Candidate("broken", refuse, lambda _: lambda: None)
    chosen = choices.pick("a case", [broken, *candidates({"slow": 9, "fast": 0})])
    assert str(chosen) == "slow, given"
    with pytest.raises(OneDnnError):
        choices.pick("another", [broken, broken])


def test_who_refuses_in_its_trial_is_left_out():
    def refuse(_):
        raise OneDnnError("no")

    refusing = Candidate("refusing", lambda: SimpleNamespace(name="refusing"), refuse)
    assert Choices(None).pick("a case", [refusing, *candidates(WAYS)]).product.name == "fast"


@pytest.mark.parametrize("measuring", [True, False])
def test_without_memory_for_any_that_is_what_is_said(measuring):
    def build():
        raise MemoryError("oneDNN, for a primitive_create")

    def refuse():
        raise OneDnnError("no")

    choices = Choices(None)
    choices.measuring = measuring
    short, no = (Candidate(f.__name__, f, lambda _: lambda: None) for f in (build, refuse))
    with pytest.raises(MemoryError, match="for a primitive_create"):
        choices.pick("a case", [short, no])
    assert choices.pick("another", [short, *candidates({"slow": 0})]).product.name == "slow"


def test_force_goes_before_all_else():
    choices = Choices(None)
    with choices.forced("slow"):
        assert pick(choices) == ("slow", "given")
    with choices.forced("not offered"):
        assert pick(choices, "another") == ("slow", "given")
    assert pick(choices) == ("fast", "measured")


def test_what_a_snapshot_gives_goes_before_what_is_remembered(tmp_path):
    choices = Choices(tmp_path / "choices.json")
    pick(choices)
    choices.give({"a case": "slow", "another": "not offered"})
    assert pick(choices) == ("slow", "given")
    assert pick(choices, "another") == ("fast", "measured")


def test_measuring_anew_does_so_once(tmp_path):
    file = tmp_path / "choices.json"
    before = Choices(file)
    before._remember("a case", Result("slow", True, {"slow": 1.0, "fast": 2.0}))
    before.save()
    choices = Choices(file)
    assert pick(choices) == ("slow", "remembered")
    with choices.anew():
        assert pick(choices) == ("fast", "measured")
        assert pick(choices) == ("fast", "remembered")
    choices.save()
    assert Choices(file).remembered()["a case"].name == "fast"


def test_clearing_forgets_the_file_too(tmp_path):
    file = tmp_path / "choices.json"
    choices = Choices(file)
    pick(choices)
    choices.save()
    assert choices.clear() == 1
    assert not file.exists()
    assert pick(choices) == ("fast", "measured")


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path):
    (tmp_path / "file").touch()
    choices = Choices(tmp_path / "file" / "choices.json")
    pick(choices)
    choices.save()

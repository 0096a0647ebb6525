import hashlib
import json
import os
import re
from pathlib import Path

import pytest
from made_runs import EVIL, write_run

from pycaffe_dist.board.board import Board
from pycaffe_dist.board.places import Places
from pycaffe_dist.board.report import page, write_report
from pycaffe_dist.board.server import STATIC
from pycaffe_dist.cli import main

# Of uPlot 1.6.32 as the npm registry has it.
VENDORED = {
    "uplot.LICENSE": "8f989229699b4fe2f1a0432d0e9edc338a8a911e250e2d1b01ecd770a5f5b1bd",
    "uplot.css": "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",
    "uplot.js": "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f",
}


def test_what_is_vendored_is_what_was_published():
    for name, checksum in VENDORED.items():
        assert hashlib.sha256((STATIC / name).read_bytes()).hexdigest() == checksum
    assert "MIT" in (STATIC / "uplot.LICENSE").read_text()


def test_a_report_holds_the_numbers_and_no_markup_of_strangers(tmp_path, capsys):
    write_run(tmp_path / "run")
    text = (tmp_path / "run" / "metrics.jsonl").read_text()
    evil = "</script>" + EVIL
    (tmp_path / "run" / "metrics.jsonl").write_text(text.replace('"acc"', json.dumps(evil)))
    assert main(["report", str(tmp_path / "run"), "-o", str(tmp_path / "r.html")]) == 0
    assert capsys.readouterr().out == f"Wrote {tmp_path}/r.html: 1 run\n"
    whole = (tmp_path / "r.html").read_text()
    data = re.search(r'id="data">(.*?)</script>', whole, re.S)[1]
    assert "<" not in data and evil not in whole
    said = json.loads(data)
    curves = said["curves"]["runs"]["run"]["curves"]
    assert curves["train loss"]["y"][0] == 2.0 and f"test {evil}" in curves
    assert said["table"]["runs"][0]["settings"]["base_lr"] == "0.01"


def test_scripts_are_joined_without_modules():
    script = page({}).rpartition('<script type="module">')[2]
    assert not re.search(r"^(import|export) ", script, re.M)
    names = re.findall(r"^(?:async )?(?:function|class|const|let) (\w+)", script, re.M)
    assert len(names) == len(set(names)), "two modules of the report share a name"


def test_what_json_cannot_hold_is_refused():
    with pytest.raises(ValueError, match="not JSON compliant"):
        page({"loss": float("nan")})


def test_nets_of_the_first_runs_are_drawn(tmp_path):
    for i in range(6):
        folder = write_run(tmp_path / f"r{i}")
        os.utime(folder / "metrics.jsonl", (1e9 + i, 1e9 + i))
        if i != 4:
            (folder / "net.prototxt").write_text(f'name: "n{i}" layer {{ name: "l" type: "ReLU" }}')
    board = Board(Places([str(tmp_path)]))
    assert write_report(board, str(tmp_path / "r.html")) == 6
    text = (tmp_path / "r.html").read_text()
    said = json.loads(re.search(r'id="data">(.*?)</script>', text, re.S)[1])
    assert [(net["run"], net["name"]) for net in said["nets"]] == [
        *(("r5", "n5"), ("r3", "n3"), ("r2", "n2"))  # four, of which one has none
    ]
    assert "Made by pycaffe_dist" in said["made"]
    assert said["table"]["runs"][0]["settings"] == {}  # which are alike


def test_no_runs_is_an_error(tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    assert main(["report", str(tmp_path / "empty")]) == 1
    assert "there are no runs here" in capsys.readouterr().err
    assert not Path("report.html").exists()
    assert Board(Places([str(tmp_path)])).table()["runs"] == []

"""Recorded answers of Caffe's forks, one test a case."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

import pycaffe_dist as caffe

HERE = Path(__file__).parent
FORKS = HERE / "forks"
CASES = json.loads((FORKS / "index.json").read_text())
spec = importlib.util.spec_from_file_location("replay", HERE / "replay.py")
replay = importlib.util.module_from_spec(spec)
spec.loader.exec_module(replay)


def test_all_cases_are_there():
    assert len(CASES) == 180
    assert {f.stem for f in FORKS.glob("*.npz")} == {case["name"] for case in CASES}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_layer_of_a_fork(case):
    stored = dict(np.load(FORKS / f"{case['name']}.npz"))
    given = {k: v for k, v in stored.items() if k.split("/")[0] in ("in", "set", "topdiff")}
    want = {k: v for k, v in stored.items() if k not in given}
    path = str(FORKS / f"{case['name']}.prototxt")
    _, got = replay.run(caffe, path, case["phase"], given, case["steps"], case["grad"])
    assert replay.compare(want, got) == []

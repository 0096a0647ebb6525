"""Recorded answers of BVLC Caffe, one test a case, replayed by the scripts they came with."""

import importlib.util
import json
import shutil
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import pycaffe_dist as caffe
from pycaffe_dist.proto.seal import SIZE

HERE = Path(__file__).parent


def script(name):
    spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


replay, solvers, data = script("replay"), script("check_solvers"), script("check_data")
random = script("check_random")
LAYERS = json.loads((HERE / "layers" / "index.json").read_text())
SOLVERS = json.loads((HERE / "solvers" / "index.json").read_text())
DATA = sorted(p.stem for p in (HERE / "data").glob("*.prototxt"))


def test_all_cases_are_there():
    assert (len(LAYERS), len(SOLVERS), len(DATA)) == (148, 24, 15)


@pytest.mark.parametrize("case", LAYERS, ids=lambda case: case["name"])
def test_layer(case):
    stored = dict(np.load(HERE / "layers" / f"{case['name']}.npz"))
    given = {k: v for k, v in stored.items() if k.split("/")[0] in ("in", "set", "topdiff")}
    want = {k: v for k, v in stored.items() if k not in given}
    path = str(HERE / "layers" / f"{case['name']}.prototxt")
    _, got = replay.run(caffe, path, case["phase"], given, case["steps"], case["grad"])
    assert replay.compare(want, got) == []


@pytest.mark.parametrize("resumed", [False, True], ids=["train", "resume"])
@pytest.mark.parametrize("name", SOLVERS)
def test_solver(name, resumed, tmp_path, monkeypatch):
    for file in [*(HERE / "solvers").glob(f"{name}[._]*"), HERE / "solvers" / "net.prototxt"]:
        shutil.copy(file, tmp_path)
    monkeypatch.chdir(tmp_path)
    stored = dict(np.load(f"{name}.npz"))
    given = {k: v for k, v in stored.items() if k.split("/")[0] in ("in", "set")}
    state = next(tmp_path.glob(f"{name}_iter_{solvers.HALF}.solverstate*")) if resumed else None
    got = solvers.run(caffe, f"{name}.solver.prototxt", given, solvers.STEPS, state and str(state))
    first = solvers.HALF + 1 if resumed else 1
    assert min(int(k.split("/")[1]) for k in got) == first
    for key, values in got.items():
        np.testing.assert_allclose(values, stored[key], rtol=1e-3, atol=1e-5, err_msg=key)


@pytest.mark.parametrize("name", DATA)
def test_data(name, tmp_path, monkeypatch):
    folder = tmp_path / "data"
    shutil.copytree(HERE / "data", folder)
    monkeypatch.chdir(folder)
    # Pixels that OpenCV resized may be rounded otherwise; what is only decoded may not.
    tolerance = 2.01 if name.startswith("image_data") else 1.01 if "force_gray" in name else 1e-3
    got = data.run(caffe, name)
    for key, want in np.load(f"{name}.npz").items():
        np.testing.assert_allclose(got[key], want, rtol=0, atol=tolerance, err_msg=key)


CHUNKS = 24


@pytest.fixture(scope="module")
def random_answers():
    """By seed, what the blobs of its net are called in the file, and what reads one of them."""
    answers, cases = np.load(HERE / "random" / "answers.npz"), {}
    for key in answers.files:
        seed, name = key.split("|", 1)
        cases.setdefault(int(seed), {})[name.replace("~", "/")] = key
    assert len(cases) == 1117
    yield cases, cache(answers.__getitem__)  # each is wanted once by every engine
    answers.close()


# The generator leaves closing its files to Python.
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_random_nets(chunk, backend, random_answers, tmp_path):
    """All of them on the CPU's engines; on the emulated GPU every fourth, for it is slow."""
    cases, answer = random_answers
    seeds = list(cases)[chunk::CHUNKS]
    wrong = []
    for seed in seeds[::4] if backend == "cupy-emulated" else seeds:
        try:
            with np.errstate(all="ignore"):
                got = random.nets.run(caffe, seed, str(tmp_path))
        except Exception as e:
            wrong.append(f"{seed} [{random.nets.make(seed).family}] {type(e).__name__}: {e}")
            continue
        for name, key in cases[seed].items():
            why = random.off(answer(key), np.asarray(got[name])) if name in got else "missing"
            if why:
                wrong.append(f"{seed} [{random.nets.make(seed).family}] {name}: {why}")
    assert wrong == []


BINARY = [n for n in SOLVERS if (HERE / "solvers" / f"{n}_iter_6.solverstate").exists()]


@pytest.mark.parametrize("name", BINARY)
def test_a_snapshot_is_written_as_caffe_wrote_it(name, tmp_path, monkeypatch):
    """Restored from Caffe's snapshot and written again: the same bytes behind a seal, both files."""
    for file in [*(HERE / "solvers").glob(f"{name}[._]*"), HERE / "solvers" / "net.prototxt"]:
        shutil.copy(file, tmp_path)
    monkeypatch.chdir(tmp_path)
    solver = caffe.get_solver(f"{name}.solver.prototxt")
    solver.restore(f"{name}_iter_6.solverstate")
    for end in ("caffemodel", "solverstate"):
        Path(f"{name}_iter_6.{end}").unlink()
    solver.snapshot()
    for end in ("caffemodel", "solverstate"):
        file = f"{name}_iter_6.{end}"
        assert Path(file).read_bytes()[SIZE:] == (HERE / "solvers" / file).read_bytes(), end

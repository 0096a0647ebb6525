"""The wheel, the sdist, and the README's commands in an empty folder after installing."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# What `pip install .` does not bring.
EXTRAS = ("matplotlib", "mpi4py", "scipy", "onnx", "onnxruntime", "openvino", "cupy", "tensorboard")
pytestmark = pytest.mark.timeout(300)


def run(*words, cwd, **settings):
    done = subprocess.run(
        [sys.executable, *map(str, words)], cwd=cwd, capture_output=True, text=True, **settings
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


def tracked():
    """The repository's files, without what was built in it."""
    skipped = {".git", ".venv", "runs", "build", "dist", "tests", "docs", "__pycache__"}
    for top, folders, files in os.walk(ROOT):
        folders[:] = [
            f for f in folders if f not in skipped and not f.endswith((".egg-info", "_lmdb"))
        ]
        yield from (Path(top, file) for file in files)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The sdist and wheels that `python -m build` makes: one of the sdist, one of the tree."""
    here = tmp_path_factory.mktemp("dist")
    source = here / "a source"  # the repository is not written to
    for path in tracked():
        target = source / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    build = ["-m", "build", "--no-isolation", "--outdir"]
    run(*build, here / "whole", cwd=source)
    run(*build, here / "tree", "--wheel", cwd=source)
    return here


def names(wheel):
    with zipfile.ZipFile(wheel) as file:
        return {name: file.read(name) for name in file.namelist() if not name.endswith("RECORD")}


def test_the_wheel_carries_models_data_and_schema(built):
    (wheel,) = (built / "whole").glob("*.whl")
    found = names(wheel)
    for path in (
        "data/digits/digits.npz",
        "data/digits/create_digits.py",
        "proto/caffe.proto",
        *(f"models/{p.parent.name}/{p.name}" for p in (ROOT / "models").glob("*/*.prototxt")),
        *(f"models/{p.parent.name}/{p.name}" for p in (ROOT / "models").glob("*/*.md")),
    ):
        assert found[f"pycaffe_dist/share/{path}"] == (ROOT / path).read_bytes(), path
    assert "pycaffe_dist/engines/cupy/kernels/updates.cu" in found
    assert not [name for name in found if name.endswith((".caffemodel", ".mdb", ".pyc"))]


def test_the_sdist_makes_the_same_wheel(built):
    (whole,), (tree,) = (built / "whole").glob("*.whl"), (built / "tree").glob("*.whl")
    assert names(whole) == names(tree)
    (sdist,) = (built / "whole").glob("*.tar.gz")
    with tarfile.open(sdist) as file:
        listed = {name.partition("/")[2] for name in file.getnames()}
    assert {"LICENSE", "README.md", "setup.py", "pyproject.toml", "proto/caffe.proto"} <= listed


def test_twine_finds_nothing(built):
    said = run("-m", "twine", "check", "--strict", *(built / "whole").iterdir(), cwd=built)
    assert said.count("PASSED") == 2


def test_the_readme_s_commands_in_an_empty_folder(built, tmp_path):
    (wheel,) = (built / "whole").glob("*.whl")
    site = tmp_path / "site"
    run("-m", "pip", "install", "-q", "--no-deps", "--target", site, wheel, cwd=tmp_path)
    empty = tmp_path / "empty"
    empty.mkdir()
    blocked = f"import sys\nsys.modules |= dict.fromkeys({EXTRAS!r})\n"
    (site / "sitecustomize.py").write_text(blocked)
    env = {**os.environ, "PYTHONPATH": str(site), "PYTHONSAFEPATH": "1"}
    where = run("-c", "import pycaffe_dist as p; print(p.__file__)", cwd=empty, env=env)
    assert where.startswith(str(site))
    use = (ROOT / "README.md").read_text().split("## Use")[1]
    lines = re.search(r"```\n(.*?)```", use, re.S)[1].splitlines()
    short = ["--set", "max_iter=3", "--set", "test_iter=1"]
    for line in lines:
        words = shlex.split(line, comments=True)
        if "weights" in line:  # of a whole training
            words[words.index("-weights") + 1] = "runs/digits/digits_iter_3.caffemodel"
        if words[:2] == ["pcd", "train"]:
            words += short
        head = ["-m", "pycaffe_dist"] if words[0] == "pcd" else []
        run(*head, *words[1:], cwd=empty, env=env)
    assert b"accuracy" in (empty / "runs/digits/report.html").read_bytes()

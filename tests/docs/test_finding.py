"""A reader who knows Caffe finds the command for each of these tasks within two clicks.

Clicks are counted from the first page, README.md, over its links and the site's menu (mkdocs.yml).
"""

import importlib.util
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CLICKS = 2
# What somebody wants to do: the page and heading that tell it, and the command that they show.
TASKS = {
    "install": ("README.md#install", "pip install ."),
    "train a net": ("docs/first_steps.md#the-same-by-hand-with-handwritten-digits", "pcd train"),
    "what caffe train was": ("docs/getting_started.md#what-to-type-instead-of-what", "pcd train"),
    "resume a run": ("docs/training.md#snapshots", "--resume auto"),
    "stop at a score": ("docs/training.md#what-the-flags-add-to-caffes", "--stop-when"),
    "try many settings": ("docs/training.md#sweeps", "pcd sweep"),
    "fine-tune": ("docs/training.md#fine-tuning", "-weights"),
    "score a model": ("docs/getting_started.md#one-command-for-each-thing", "pcd test"),
    "time layers": ("docs/engines.md#the-cpu-engine", "pcd time"),
    "check a net": ("docs/files.md#pcd-check-file", "pcd check"),
    "shapes and parameters": ("docs/getting_started.md#one-command-for-each-thing", "pcd summary"),
    "draw a net": ("docs/getting_started.md#one-command-for-each-thing", "pcd draw"),
    "classify images": ("docs/getting_started.md#one-command-for-each-thing", "pcd predict"),
    "detect objects": ("docs/detection.md#boxes", "pcd detect --ssd"),
    "measure a detector": ("docs/detection.md#how-good-a-detector-is", "pcd eval_detection"),
    "label pixels": ("docs/detection.md#classes-of-pixels", "pcd segment"),
    "read text": ("models/ctc_digits/readme.md", "pcd train"),
    "make a database": ("docs/data.md#images", "pcd convert_imageset"),
    "make a mean image": ("docs/data.md#the-mean-image", "pcd compute_image_mean"),
    "look into a database": ("docs/data.md#looking-into-a-database", "pcd db"),
    "extract features": ("docs/data.md#features", "pcd extract_features"),
    "deploy to ONNX": ("docs/onnx.md", "pcd export"),
    "bring in ONNX": ("docs/onnx.md", "pcd import"),
    "train on two ranks": ("docs/distributed.md", "--ranks 2"),
    "train under Slurm": ("docs/distributed.md#under-slurm-and-other-schedulers", "srun"),
    "survive a failure": ("docs/distributed.md#elastic-runs", "pcd launch"),
    "what would travel": ("docs/sacp.md", "pcd plan"),
    "expect a speedup": ("docs/scaling.md", "pcd simulate"),
    "watch a run": ("docs/board.md", "pcd board"),
    "run a pycaffe script": ("docs/scripts.md", "pcd run"),
    "write a layer": ("docs/custom_layers.md", "--import"),
    "look into weights": ("docs/files.md#pcd-weights", "pcd weights stats"),
    "PMLS-Caffe's flags": ("docs/from_poseidon.md#flags-of-caffe_main", "--table_staleness"),
}


@pytest.fixture(scope="module")
def checks():
    """scripts/check_docs.py, which reads pages."""
    spec = importlib.util.spec_from_file_location("check_docs", ROOT / "scripts" / "check_docs.py")
    module = sys.modules["check_docs"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def clicks(checks):
    """How many clicks each page is away from the first."""
    nav = (ROOT / "mkdocs.yml").read_text().partition("\nnav:")[2]
    menu = {ROOT / name for name in re.findall(r": (\S+\.md)$", nav, re.M)}
    first = ROOT / "README.md"
    assert menu and first in menu
    found, front = {first: 0}, {first}
    for distance in range(1, CLICKS + 1):
        front = {page for source in front for page in links(checks, source)} | menu
        front -= found.keys()
        found |= dict.fromkeys(front, distance)
    return found


def links(checks, page):
    targets = [
        t for _, line in checks.split(page.read_text())[0] for t in checks.LINK.findall(line)
    ]
    files = {(page.parent / target.partition("#")[0]).resolve() for target in targets}
    return {file for file in files if file.suffix == ".md" and file.exists()}


def test_there_are_thirty_tasks():
    assert len(TASKS) >= 30


@pytest.mark.parametrize("task", TASKS)
def test_a_task_is_two_clicks_away(task, checks, clicks):
    place, command = TASKS[task]
    name, _, anchor = place.partition("#")
    page = ROOT / name
    assert clicks.get(page, 99) <= CLICKS, f"{name} is further away"
    assert not anchor or anchor in checks.anchors(page), f"{name} has no heading #{anchor}"
    assert command in page.read_text(), f"{name} does not show {command}"


def test_every_page_is_reached(clicks):
    pages = {*(ROOT / "docs").glob("*.md"), ROOT / "SECURITY.md", ROOT / "CHANGELOG.md"}
    assert pages - clicks.keys() == set()

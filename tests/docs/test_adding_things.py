"""The examples of docs/adding_things.md work, each in its file of a copy of the package."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "adding_things.md").read_text()
EXAMPLES = re.findall(r"```python\n# pycaffe_dist/(\S+)( \(at its end\))?\n(.*?)```", TEXT, re.S)

NET = """
layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 2 dim: 3 } } }
layer { name: "y" type: "ArcTan" bottom: "x" top: "y" }
"""

USES = {
    "layer": """
import numpy as np
from pycaffe_dist.net import Net
from pycaffe_dist.proto.caffe_pb2 import NetParameter
from google.protobuf import text_format
net = Net(text_format.Parse(open("net.prototxt").read(), NetParameter()))
net.blobs[0].data[...] = [[0, 1, -1], [2, -2, 3]]
net.forward()
np.testing.assert_allclose(net.blobs[1].data, np.arctan(net.blobs[0].data), rtol=1e-6)
net.blobs[1].diff[...] = 1
net.layers[1].backward(net.tops[1], [True], net.bottoms[1])
np.testing.assert_allclose(net.blobs[0].diff, 1 / (1 + net.blobs[0].data ** 2), rtol=1e-6)
""",
    "backend": """
from pycaffe_dist.data.database import kind_of, write_database
from pycaffe_dist.data.backends import backends
written = [(b"%04d" % i, bytes([i]) * 3) for i in range(5)]
assert write_database("made", "plainfiles", written) == 5
assert kind_of("made") == "plainfiles"
backend = backends()["plainfiles"]
assert list(backend.records("made")) == written
source = backend.open("made")
assert [source.read() for _ in range(6)] == [*written, written[0]] and source.restarts == 1
""",
    "rule": """
from types import SimpleNamespace
import numpy as np
from pycaffe_dist.solvers.rules import create_rule
from pycaffe_dist.proto.caffe_pb2 import SolverParameter
rule = create_rule(SolverParameter(type="SignSGD", base_lr=0.5))
g = np.float32([3, -2, 0])
rule.step(g, {}, SimpleNamespace(rate=np.float32(0.5), momentum=None), np.empty_like(g))
assert g.tolist() == [0.5, -0.5, 0]
""",
}


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A folder with the package and the examples in it."""
    folder = tmp_path_factory.mktemp("adding")
    skipped = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "pycaffe_dist", folder / "pycaffe_dist", ignore=skipped)
    for path, at_its_end, text in EXAMPLES:
        file = folder / "pycaffe_dist" / path
        assert file.exists() == bool(at_its_end), f"{path} is there already"
        file.write_text(file.read_text() + "\n\n" + text if at_its_end else text)
    (folder / "net.prototxt").write_text(NET)
    return folder


def run(folder, *args):
    done = subprocess.run([sys.executable, *args], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_page_counts_the_files():
    found = [path for path, _, _ in EXAMPLES]
    assert [path.split("/")[0] for path in found] == ["layers", "tools", "cli", "data", "solvers"]


@pytest.mark.parametrize("what", USES)
def test_an_example_does_what_it_says(copy, what):
    run(copy, "-c", USES[what])


def test_the_verb_is_listed_and_counts(copy):
    assert "count_layers" in run(copy, "-m", "pycaffe_dist", "--help")
    assert run(copy, "-m", "pycaffe_dist", "count_layers", "net.prototxt") == "1 ArcTan\n1 Input\n"

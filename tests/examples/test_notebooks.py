"""Every example is run from its first cell to its last, in an empty folder, by a real kernel."""

import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))


def test_notebooks_are_made_of_the_scripts():
    check = [sys.executable, ROOT / "scripts" / "make_notebooks.py", "--check"]
    assert subprocess.run(check).returncode == 0
    assert len(NOTEBOOKS) == len(list((ROOT / "examples").glob("*.py"))) == 8


@pytest.mark.timeout(400)
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs(path, tmp_path, monkeypatch):
    """A cell that fails, or an assertion of the example itself, fails the test."""
    monkeypatch.setenv("ITERATIONS", "12")
    monkeypatch.setenv("RANKS", "2")
    monkeypatch.setenv("GLOG_minloglevel", "2")
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    book = nbformat.read(path, as_version=4)
    nbformat.validate(book)
    where = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(book, timeout=300, kernel_name="python3", resources=where).execute()
    outputs = [out for cell in book.cells if cell.cell_type == "code" for out in cell.outputs]
    assert any(out.output_type == "stream" for out in outputs)
    assert not [out for out in outputs if out.output_type == "error"]
    shutil.rmtree(tmp_path, ignore_errors=True)

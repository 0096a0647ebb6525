"""Recorded answers of SSD's own AnnotatedData, over databases that its convert_annoset wrote."""

import importlib.util
import shutil
from pathlib import Path

import numpy as np
import pytest

import pycaffe_dist as caffe

HERE = Path(__file__).parent
CASES = sorted(p.stem for p in (HERE / "annotated").glob("*.prototxt"))


def script(name):
    spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


data = script("check_data")


def test_all_cases_are_there():
    assert len(CASES) == 10


@pytest.mark.parametrize("name", CASES)
def test_annotated_data(name, tmp_path, monkeypatch):
    folder = tmp_path / "annotated"
    shutil.copytree(HERE / "annotated", folder)
    monkeypatch.chdir(folder)
    # Pixels that OpenCV resized may be rounded otherwise; boxes and what is only decoded may not.
    resized = name.startswith("image_data")
    got = data.run(caffe, name)
    for key, want in np.load(f"{name}.npz").items():
        tolerance = 2.01 if resized and key.startswith("data") else 1e-3
        np.testing.assert_allclose(got[key], want, rtol=0, atol=tolerance, err_msg=key)

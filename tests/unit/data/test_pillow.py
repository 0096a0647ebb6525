"""Without Pillow: all that needs no image works, the rest says what to install."""

import subprocess
import sys

import pytest

from pycaffe_dist.data import encoded, image, pillow
from pycaffe_dist.errors import MissingPartError
from pycaffe_dist.pycaffe.io import load_image

WITHOUT = """
import sys
sys.modules["PIL"] = None
from pycaffe_dist.cli import main
codes = [main([]), main(["check", "net.prototxt"])]
codes.append(main(["convert_imageset", "./", "list.txt", "db"]))
sys.exit(str(codes))
"""


def test_commands(tmp_path):
    (tmp_path / "net.prototxt").write_text("input: 'x' input_shape { dim: 1 }")
    (tmp_path / "list.txt").write_text("a.png 0\n")
    (tmp_path / "a.png").touch()
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert done.stderr.splitlines()[-1] == "[0, 0, 1]"
    assert "Reading and writing images needs the Python module 'PIL.Image'" in done.stderr
    assert "-m pip install 'pillow" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "use",
    [
        lambda: image.decode(b"\x89PNG", image.Color.COLOR),
        lambda: encoded.encoded_shape(b"\x89PNG"),
        lambda: load_image("a.png"),
    ],
    ids=["decode", "encoded_shape", "load_image"],
)
def test_readers(monkeypatch, use):
    monkeypatch.setitem(sys.modules, "PIL", None)
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    pillow.pillow.cache_clear()
    try:
        with pytest.raises(MissingPartError, match="pip install 'pillow"):
            use()
    finally:
        pillow.pillow.cache_clear()

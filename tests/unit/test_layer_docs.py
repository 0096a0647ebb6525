import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "layers.md").read_text()


def run(*args):
    script = ROOT / "scripts" / "make_layer_docs.py"
    done = subprocess.run([sys.executable, script, *args], capture_output=True, text=True)
    return done.returncode, done.stdout


def section(name):
    return PAGE.split(f"\n## {name}\n")[1].split("\n## ")[0]


def test_the_page_is_what_would_be_written():
    assert run("--check") == (0, "")


def test_a_layer():
    text = section("Pooling")
    assert "| pool | `MAX`, `AVE`, `STOCHASTIC` | `MAX` |" in text
    assert "| stride | uint32 | `1` |" in text
    assert "Bottoms: 1. Tops: 1" in text


def test_parameters_of_a_base_class():
    assert "`recurrent_param`" in section("LSTM")
    assert "`convolution_param`" in section("Deconvolution")
    assert "(#transformationparameter)" in section("Data")

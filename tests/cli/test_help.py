"""What `pcd` says of itself: help, one spelling a flag, and suggestions."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from pycaffe_dist.cli import VERBS
from pycaffe_dist.cli._flags import flag, parser

SHIMS = Path(__file__).parents[2] / "scripts" / "caffe-bin"
PARSED = [verb for verb in VERBS if verb != "run" and not verb.startswith("upgrade_")]


def said(done):
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_in_three_spellings(call, verb):
    asked = [said(call(verb, word)) for word in ("-h", "-help", "--help")]
    assert asked[0] == asked[1] == asked[2] == said(call("help", verb))
    code, out, err = asked[0]
    assert (code, err) == (0, "")
    assert out.startswith(f"usage: pcd {verb}")


@pytest.mark.parametrize("verb", PARSED)
def test_a_flag_has_one_spelling_and_a_text(call, verb, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    out = call(verb, "--help").stdout
    rows = re.findall(r"^  (-\S.*?)(?:  +(.*))?$", out, re.M)
    assert ("-h, --help", "show this and end") in rows
    for names, text in rows:
        assert re.fullmatch(r"(-\w( \S+)?, )?--[a-z][a-z0-9-]*( .*)?", names), (
            names
        )  # no _, no second name
        assert text or f"{names}\n   " in out, f"{names} says nothing"


@pytest.mark.parametrize(
    ("verb", "texts"),
    [
        ("test", ["batches to run (default: 50)", "the net:\n", "where it computes:\n"]),
        ("train", ["what Ctrl-C does (default: stop)", "snapshots:\n", "communication:\n"]),
        ("plan", ["(default: 1gbit)", "in microseconds (default: 100)"]),
        ("classify", ["(default: 256,256)", "(default: 255)"]),
        ("convert_imageset", ["(default: lmdb)", "the database:\n"]),
        ("board", ["or their files (default: runs)\n"]),
    ],
)
def test_defaults_and_groups(call, monkeypatch, verb, texts):
    monkeypatch.setenv("COLUMNS", "200")
    out = call(verb, "--help").stdout
    assert all(text in out for text in texts)
    assert out.count("(default:") == len(re.findall(r"\(default: [^)]", out))


def test_all_of_gflags_spellings_are_accepted():
    p = parser("verb", "doc")
    flag(p, "run_dir", "folder", default="")
    for word in ("-run_dir", "--run_dir", "--run-dir", "-folder", "--folder"):
        assert p.parse_args([word, "x"]).run_dir == "x"
        assert p.parse_args([f"{word}=x"]).run_dir == "x"


@pytest.mark.parametrize(
    ("args", "hint"),
    [
        (["train", "--slover", "s"], "there is no flag --slover; did you mean --solver?"),
        (["train", "-solver", "s", "-maxiter=3"], "no flag -maxiter; did you mean --max-iter?"),
        (["check", "--phse", "TEST", "n"], "did you mean --phase?"),
        (["info", "--jsn"], "did you mean --json?"),
        (["plot", "--termnal", "log"], "did you mean --terminal?"),
        (["compute_image_mean", "db", "--bakend", "lmdb"], "did you mean --backend?"),
        (["convert_imageset", "--resize_widht=3", "a", "b", "c"], "did you mean --resize-width?"),
        (["time", "--quux"], "there is no flag --quux (pcd time --help shows all)"),
    ],
)
def test_a_wrong_flag(call, args, hint):
    code, out, err = said(call(*args))
    assert (code, out) == (2, "")
    assert err.startswith(f"usage: pcd {args[0]}")
    assert hint in err


@pytest.mark.parametrize("words", [["-3"], ["-.5"], ["-ofile"], ["--", "--no-flag"]])
def test_what_looks_like_a_flag_and_is_none(words):
    p = parser("verb", "doc")
    p.add_argument("-o")
    p.add_argument("rest", nargs="*")
    p.parse_args(words)


@pytest.mark.parametrize("tool", ["caffe", "caffe.bin", "compute_image_mean", "draw_net.py"])
def test_the_shims_have_caffes_help(tool, monkeypatch):
    monkeypatch.setenv("PCD_PYTHON", sys.executable)
    done = subprocess.run([SHIMS / tool, "-help"], capture_output=True, text=True, timeout=150)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("usage: pcd ")

"""Completions by the shells themselves, and manual pages by man's own formatter."""

import re
import shutil
import subprocess

import pytest
import warm

from pycaffe_dist.cli import VERBS
from pycaffe_dist.cli._parsers import first_line, flags_of


@pytest.fixture(scope="module")
def scripts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("completions")
    for shell in ("bash", "zsh", "fish"):
        done = warm.pcd("completion", shell)
        assert done.returncode == 0, done.stderr
        (folder / shell).write_text(done.stdout)
    return folder


def completed(scripts, *words):
    """What bash offers behind some words, the last of which is not finished."""
    line = " ".join(f"'{word}'" for word in words)
    script = f'source "{scripts}/bash"; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _pcd; '
    script += r'printf "%s\n" "${COMPREPLY[@]}"'
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_bash_completes_verbs_and_flags(scripts):
    assert set(completed(scripts, "pcd", "")) == set(VERBS)
    assert completed(scripts, "pcd", "convert_im") == ["convert_imageset"]
    assert completed(scripts, "pcd", "train", "--max-") == ["--max-iter", "--max-time"]
    assert completed(scripts, "pcd", "plot", "--max-") == []
    assert completed(scripts, "pcd", "train", "solv") == []  # files, by bash itself


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_zsh_and_fish_have_every_verb_and_flag_with_its_text(scripts, shell):
    text = (scripts / shell).read_text()
    for verb in VERBS:
        assert first_line(verb).split("'")[0] in text
    for flag in flags_of("train"):
        name = flag.names[-1]
        assert (f"{name}[" if shell == "zsh" else f"-l {name[2:]} ") in text
    if shutil.which(shell):
        subprocess.run([shell, "-n", str(scripts / shell)], check=True)


def test_fish_has_flags_of_one_letter_and_none_of_more_behind_one_dash(scripts):
    text = (scripts / "fish").read_text()
    assert "from train' -s h -l help -d" in text
    assert set(re.findall(r" -s (\S+)", text)) >= {"h", "q", "v"}
    assert not re.search(r" -s \S\S", text)


def test_manual_pages(tmp_path):
    done = warm.pcd("man", "man1", cwd=tmp_path)
    assert done.stdout == f"Wrote {len(VERBS) + 1} pages to man1\n"
    page = (tmp_path / "man1" / "pcd-train.1").read_text()
    assert page.startswith('.TH PCD-TRAIN 1 "" "pycaffe_dist ')
    assert "\\fB\\-\\-max\\-iter\\fR \\fIN\\fR\nstop after this iteration\n" in page
    assert not [row for row in page.splitlines() if row.startswith("'")]
    whole = (tmp_path / "man1" / "pcd.1").read_text()
    assert all(f"pcd\\-{verb} (1)" in whole for verb in VERBS)
    if groff := shutil.which("groff"):
        command = [groff, "-man", "-Tutf8", "-ww", "-z", *map(str, (tmp_path / "man1").iterdir())]
        done = subprocess.run(command, capture_output=True, text=True)
        wrong = [row for row in done.stderr.splitlines() if "cannot" not in row]  # long lines
        assert done.returncode == 0 and not wrong

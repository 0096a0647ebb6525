"""There is no Docker engine here: the file is read, and what it copies is looked for."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "Dockerfile").read_text()


def test_what_it_copies_is_there_and_makes_the_wheel():
    rows = re.findall(r"^COPY (?!--from)(.+) \S+$", TEXT, re.M)
    copied = {word for row in rows for word in row.split()}
    assert all((ROOT / word).exists() for word in copied)
    assert {"pyproject.toml", "setup.py", "MANIFEST.in", "models", "data", "proto"} <= copied
    ignored = (ROOT / ".dockerignore").read_text().split()
    assert not copied & set(ignored)


def test_it_ends_as_somebody_who_may_little():
    assert re.search(r"^USER 1000$", TEXT, re.M)
    assert TEXT.index("USER 1000") < TEXT.index("ENTRYPOINT")


def test_hadolint_finds_nothing():
    program = shutil.which("hadolint") or Path(sys.executable).parent / "hadolint"
    subprocess.run([program, str(ROOT / "Dockerfile")], check=True)

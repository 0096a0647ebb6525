"""Build the documentation as a site that loads nothing from elsewhere: `make docs`.

The pages are copied to build/pages as they lie in the repository, with every file that they link to
(sources, tests, notebooks), so that links work as they do on GitHub.  mkdocs.yml has the menu; any
warning of mkdocs, a dead link for one, is an error.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from check_docs import LINK, split

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "build" / "pages"
SOURCES = ("*.md", "docs/**/*", "models/*/readme.md", "data/*/readme.md", "examples/readme.md")


def linked(page: Path) -> Iterator[Path]:
    """The files of the repository that a page links to."""
    for _, text in split(page.read_text())[0]:
        for target in LINK.findall(text):
            file = (page.parent / target.partition("#")[0]).resolve()
            if not re.match(r"[a-z]+:", target) and file.is_file():
                yield file


def stage() -> int:
    shutil.rmtree(PAGES, ignore_errors=True)
    left = {file for glob in SOURCES for file in ROOT.glob(glob) if file.is_file()}
    done: set[Path] = set()
    while left:
        file = left.pop()
        done.add(file)
        copy = PAGES / file.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copy)
        if file.suffix == ".md":
            left |= set(linked(file)) - done
    return len(done)


def main() -> int:
    print(f"{stage()} files")
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "--clean"]
    env = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    code = subprocess.run(words, cwd=ROOT, env=env).returncode
    if not code:
        print("build/site/index.html; with search: python3 -m http.server -d build/site")
    return code


if __name__ == "__main__":
    sys.exit(main())

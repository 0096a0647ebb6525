"""Fail on words in README and docs that we do not use: one word for one thing, and no riddles.

    python scripts/check_prose.py              # README, CHANGELOG, CONTRIBUTING, docs/
    python scripts/check_prose.py FILE ...     # these

Code is not looked at.  docs/glossary.md has the words that we do use.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs/*.md")
# What catalogues are made of stands in docstrings and help texts.
GENERATED = {"layers.md", "forks.md", "commands.md", "python.md"}
# A discouraged phrase, as a regular expression, and what to write instead.
INSTEAD = {
    r"(go|goes|going|gone|went) on (from|with its|exactly|where)": "resumes, continues",
    r"check-?points?": "snapshot",
    r"(restore|restores|restoring) (a|the) (run|training)": "resume",
    r"(simply|obviously|of course|basically|needless to say)": "leave it out",
    r"in order to": "to",
    r"in thought": "simulated",
    r"what came of it": "what happened",
    r"(utilize|leverage)s?": "use",
    r"(blazing|lightning)(ly)?[- ]fast": "a figure",
    r"(state of the art|cutting[- ]edge|seamless(ly)?|powerful)": "what it does",
    r"under fire": "what was broken, and how",
    r"last words": "the last message",
    r"nobody'?s way": "what it does not disturb",
    r"who only looks": "commands that only read",
    r"(sits?|lives?) in the cache": "stays in the cache",
    r"the words of this project": "the commands",
    r"a user'?s chair": "for users of",
    r"next to nothing": "almost nothing",
    r"as of (a|the) database": "as with a database",
    r"so many (ranks|iterations|seconds)": "that many",
    r"workers? nodes?": "node, or rank",
    r"machines? of a cluster that train": "rank",
}


def problems(page: Path) -> Iterator[str]:
    fenced = False
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        if fenced or line.startswith("    "):
            continue
        prose = re.sub(r"`[^`]*`|\]\([^)]*\)", "", line)
        for phrase, instead in INSTEAD.items():
            if found := re.search(rf"\b(?:{phrase})\b", prose, re.I):
                yield f'{page}:{number}: "{found[0]}": {instead}'


def main(argv: list[str]) -> int:
    pages = [Path(name) for name in argv] or [p for glob in PAGES for p in sorted(ROOT.glob(glob))]
    found = [f for page in pages if page.name not in GENERATED for f in problems(page)]
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

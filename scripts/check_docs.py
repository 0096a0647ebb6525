"""Fail on dead links between the pages, commands that do not exist, and figures without a source.

    python scripts/check_docs.py              # all pages
    python scripts/check_docs.py FILE ...     # these

A command is a line of a fenced code block that runs `pcd`; its verb and its flags must exist, as
must the scripts and prototxts of the repository that it names.  A section with a picture or with
measured numbers has a line "Source: " with the script that made them, the date and the commit.
"""

import re
import shlex
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from pycaffe_dist.cli import VERBS
from pycaffe_dist.cli._parsers import parser_of

ROOT = Path(__file__).resolve().parent.parent
PAGES = ("*.md", "docs/**/*.md", "models/*/readme.md", "data/*/readme.md", "examples/readme.md")
LINK = re.compile(r"\[[^\]\n]*\]\(([^)\s]+)\)")
FLAG = re.compile(r"--?[A-Za-z][\w-]*")
# Files that commands read from the repository; all others are what a reader makes.
OURS = re.compile(r"(?:models|data|scripts|examples)/.*\.(?:py|prototxt)")
# Pages that prove something: their tables of numbers have a source.
PROVING = ("convergence.md", "performance.md", "reliability.md", "scaling.md")
NUMBER = re.compile(r"\| *\d[\d.,]*(?: of \d+)? *(?=\|)")
PICTURE = re.compile(r"!\[[^\]]*\]\(")
STAMP = re.compile(r"\d{4}-\d\d-\d\d, commits? [0-9a-f]{7}")
ENDS = {"|", "||", "&&", ";", "&", ">", ">>", "2>", "<"}


def main(argv: list[str]) -> int:
    pages = [Path(name) for name in argv] or [p for glob in PAGES for p in sorted(ROOT.glob(glob))]
    found = [problem for page in pages for problem in problems(page)]
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


def problems(page: Path) -> Iterator[str]:
    prose, code = split(page.read_text())
    for line, text in prose:
        for target in LINK.findall(re.sub(r"`[^`]*`", "", text)):
            if problem := dead(page, target):
                yield f"{page}:{line}: {problem}"
    for line, text in code:
        for words in commands(text):
            if problem := wrong(words):
                yield f"{page}:{line}: {problem}"
        for file in absent(text):
            yield f"{page}:{line}: {file} is not there"
    for line, problem in unproven(page):
        yield f"{page}:{line}: {problem}"


def split(text: str) -> tuple[list[tuple[int, str]], list[tuple[int, str]]]:
    """Numbered lines of prose, and those of fenced blocks, continued ones put together."""
    prose: list[tuple[int, str]] = []
    code: list[tuple[int, str]] = []
    fenced = False
    pending = ""
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced, pending = not fenced, ""
        elif not fenced:
            prose.append((number, line))
        elif line.endswith("\\"):
            pending += line[:-1] + " "
        else:
            code.append((number, pending + line))
            pending = ""
    return prose, code


# -- links -----------------------------------------------------------------------------------------


def dead(page: Path, target: str) -> str:
    """What is wrong with a link; nothing is said of the world outside."""
    if re.match(r"[a-z]+:", target):
        return ""
    name, _, anchor = target.partition("#")
    file = page.parent / name if name else page
    if not file.exists():
        return f"the link {target} leads nowhere"
    if anchor and file.suffix == ".md" and anchor not in anchors(file):
        return f"{file.name} has no heading #{anchor}"
    return ""


@cache
def anchors(page: Path) -> frozenset[str]:
    """The headings as links name them."""
    prose, _ = split(page.read_text())
    heads = [text.lstrip("#").strip() for _, text in prose if re.match(r"#+ ", text)]
    return frozenset(re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads)


# -- figures ---------------------------------------------------------------------------------------


def unproven(page: Path) -> Iterator[tuple[int, str]]:
    """Sections whose pictures or measured numbers have no source, or one that is gone."""
    if page.parent.name != "docs" and page.name != "README.md":
        return
    begin = 1
    for section in re.split(r"^(?=## )", page.read_text(), flags=re.M):
        sources = re.findall(r"Source: (.*(?:\n.+)*)", section)
        measured = page.name in PROVING and NUMBER.search(section)
        if (PICTURE.search(section) or measured) and not sources:
            yield begin, 'figures without a line "Source: `script`, date, commit HASH"'
        for source in sources:
            for name in re.findall(r"`((?:scripts|tests)/[^`]+)`", source):
                if not (ROOT / name).exists():
                    yield begin, f"the source {name} is gone"
            if page.name in PROVING and not STAMP.search(source):
                yield begin, f"no date and commit: Source: {source}"
        begin += section.count("\n")


# -- commands --------------------------------------------------------------------------------------


def commands(line: str) -> Iterator[list[str]]:
    """The words after `pcd` of each command in a line, up to its end."""
    text = line.strip().removeprefix("$ ")
    try:
        words = shlex.split(text, comments=True)
    except ValueError:  # no shell line: a piece of a log, say
        return
    for i, word in enumerate(words):
        begins = Path(word).name == "pcd" and (i == 0 or words[i - 1] != "cd")
        if word == "pycaffe_dist" and i and words[i - 1] == "-m":
            begins = True
        if begins:
            rest = words[i + 1 :]
            end = next((j for j, w in enumerate(rest) if w in ENDS), len(rest))
            yield rest[:end]


def wrong(words: list[str]) -> str:
    """What is wrong with the words of a command."""
    if not words or words[0].isupper() or words[0] in ("--help", "--version", "help"):
        return ""
    verb = words[0]
    if verb not in VERBS:
        return f"pcd has no verb {verb}"
    if verb == "run":  # the rest is the script's
        return ""
    if "--" in words:  # launch, and what it launches
        middle = words.index("--")
        return wrong(words[:middle]) or wrong(words[middle + 1 :])
    for word in words[1:]:
        word = word.strip("[]")
        name = FLAG.match(word)
        if name and name[0] not in flags(verb) and name[0] not in ("-h", "--help"):
            return f"pcd {verb} has no flag {name[0]}"
    return ""


def absent(line: str) -> list[str]:
    """Files of the repository that a line of code names and that are not there."""
    return [name for name in line.split() if OURS.fullmatch(name) and not (ROOT / name).exists()]


@cache
def flags(verb: str) -> frozenset[str]:
    """Every flag that a verb takes, in all its spellings."""
    return frozenset(parser_of(verb)._option_string_actions)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

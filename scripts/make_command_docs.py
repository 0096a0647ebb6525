"""Write docs/commands.md, every verb of `pcd` with its flags, from the parsers themselves.

python scripts/make_command_docs.py            # write it
python scripts/make_command_docs.py --check    # fail if it is not what would be written
"""

import sys
from pathlib import Path

from pycaffe_dist.cli import VERBS
from pycaffe_dist.cli._parsers import Flag, first_line, flags_of, parser_of

PAGE = Path(__file__).resolve().parent.parent / "docs" / "commands.md"
HEAD = """# Commands

Written by `scripts/make_command_docs.py` from the parsers: every verb of `pcd` and its flags. Flags
may be spelled as gflags allows: `-run_dir D`, `--run_dir=D`, `--run-dir D`. Every verb also has
`-h`, `-q` (results, warnings and errors only) and `-v` (everything).

"""
# Flags that every verb has.
SHARED = {"-h", "-q", "-v"}


def page() -> str:
    index = [f"| [{verb}](#{verb}) | {first_line(verb)} |" for verb in VERBS]
    table = "\n".join(["| verb | does |", "|---|---|", *index])
    return HEAD + "\n\n".join([table, *map(section, VERBS)]) + "\n"


def section(verb: str) -> str:
    parser = parser_of(verb)
    usage = " ".join(parser.format_usage().removeprefix("usage: ").split())
    parts = [f"## {verb}", f"{first_line(verb)}.", f"`{usage}`"]
    rows = [row(flag) for flag in flags_of(verb) if not SHARED & set(flag.names)]
    if rows:
        parts.append("\n".join(["| flag | meaning |", "|---|---|", *rows]))
    return "\n\n".join(parts)


def row(flag: Flag) -> str:
    names = ", ".join(f"`{' '.join([name, flag.value]).strip()}`" for name in flag.names)
    cells = [cell.replace("|", "\\|") for cell in (names, flag.text)]
    return f"| {cells[0]} | {cells[1]} |"


def main(argv: list[str]) -> int:
    text = page()
    if "--check" not in argv:
        PAGE.write_text(text)
    elif not PAGE.exists() or PAGE.read_text() != text:
        print("docs/commands.md is not what the parsers say: python scripts/make_command_docs.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

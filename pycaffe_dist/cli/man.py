"""Write manual pages, one for each verb and one for all of them: pcd man DIR.

pcd man ~/.local/share/man/man1     (then: man pcd, man pcd-train)
"""

from __future__ import annotations

import re
from pathlib import Path

from pycaffe_dist.cli import VERBS
from pycaffe_dist.cli._flags import parser
from pycaffe_dist.cli._parsers import first_line, flags_of, parser_of
from pycaffe_dist.files import atomic_write, make_folder
from pycaffe_dist.version import VERSION


def main(argv: list[str]) -> int:
    p = parser("man", __doc__)
    p.add_argument("folder", metavar="DIR", help="where to write pcd.1 and pcd-VERB.1")
    args = p.parse_args(argv)
    make_folder(args.folder)
    pages = {"pcd": _whole(), **{f"pcd-{verb}": _page(verb) for verb in VERBS}}
    for name, text in pages.items():
        with atomic_write(Path(args.folder) / f"{name}.1") as file:
            file.write(text.encode())
    print(f"Wrote {len(pages)} pages to {args.folder}")
    return 0


def _escaped(text: str) -> str:
    """Text as roff shows it: no line of it is an instruction."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.M)


def _head(name: str, text: str) -> str:
    return (
        f'.TH {name.upper()} 1 "" "pycaffe_dist {VERSION}"\n.SH NAME\n'
        f"{_escaped(name)} \\- {_escaped(text)}\n"
    )


def _page(verb: str) -> str:
    p = parser_of(verb)
    usage = " ".join(p.format_usage().removeprefix("usage: ").split())
    _, _, examples = (p.description or "").partition("\n")
    rows = [_head(f"pcd-{verb}", first_line(verb)), ".SH SYNOPSIS\n", f"{_escaped(usage)}\n"]
    if examples.strip():
        rows += [".SH DESCRIPTION\n.nf\n", f"{_escaped(examples.strip())}\n", ".fi\n"]
    rows.append(".SH OPTIONS\n")
    for flag in flags_of(verb):
        names = ", ".join(f"\\fB{_escaped(name)}\\fR" for name in flag.names)
        value = f" \\fI{_escaped(flag.value)}\\fR" if flag.value else ""
        rows.append(f".TP\n{names}{value}\n{_escaped(flag.text) or 'see pcd help'}\n")
    return "".join([*rows, ".SH SEE ALSO\n.BR pcd (1)\n"])


def _whole() -> str:
    rows = [_head("pcd", "Caffe's nets and solvers, on one machine or across a cluster")]
    rows.append(".SH SYNOPSIS\n.B pcd\n.I VERB\n[flags]\n.SH VERBS\n")
    for verb in VERBS:
        rows.append(f".TP\n.BR pcd\\-{_escaped(verb)} (1)\n{_escaped(first_line(verb))}\n")
    return "".join(rows)

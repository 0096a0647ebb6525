"""Print the completion of verbs and flags for a shell: pcd completion bash|zsh|fish.

eval "$(pcd completion bash)"                                   (in ~/.bashrc)
pcd completion zsh > "${fpath[1]}/_pcd"                         (then start a new zsh)
pcd completion fish > ~/.config/fish/completions/pcd.fish
"""

from __future__ import annotations

import shlex
from collections.abc import Callable

from pycaffe_dist.cli import VERBS
from pycaffe_dist.cli._flags import parser
from pycaffe_dist.cli._parsers import Flag, first_line, flags_of


def main(argv: list[str]) -> int:
    p = parser("completion", __doc__)
    p.add_argument("shell", choices=sorted(SHELLS), help="the shell")
    args = p.parse_args(argv)
    print(SHELLS[args.shell](), end="")
    return 0


def _bash() -> str:
    cases = "".join(
        f"    {verb}) words={shlex.quote(' '.join(n for f in flags_of(verb) for n in f.names))};;\n"
        for verb in VERBS
    )
    return f"""\
_pcd() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} words=
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W {shlex.quote(" ".join(VERBS))} -- "$word"))
    return
  fi
  [[ $word == -* ]] || return 0
  case ${{COMP_WORDS[1]}} in
{cases}  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _pcd pcd
"""


def _zsh() -> str:
    names = "\n".join("    " + shlex.quote(f"{v}:{first_line(v)}") for v in VERBS)
    cases = "".join(
        f"    {verb}) _arguments {' '.join(row for f in flags_of(verb) for row in _zsh_flag(f))} "
        "'*:file:_files';;\n"
        for verb in VERBS
    )
    return f"""\
#compdef pcd
_pcd() {{
  local -a verbs
  verbs=(
{names}
  )
  if (( CURRENT == 2 )); then
    _describe verb verbs
    return
  fi
  local verb=$words[2]
  shift words
  (( CURRENT-- ))
  case $verb in
{cases}    *) _files;;
  esac
}}
compdef _pcd pcd
"""


def _zsh_flag(flag: Flag) -> list[str]:
    """Its names, each with text and value in the words of zsh's _arguments."""

    def plain(text: str) -> str:
        return text.replace("\\", "").replace("[", "(").replace("]", ")").replace(":", "")

    value = ""
    if flag.value:
        given = f"({' '.join(flag.choices)})" if flag.choices else "_files"
        value = f":{plain(flag.value).lower()}:{given}"
    return [shlex.quote(f"*{name}[{plain(flag.text)}]{value}") for name in flag.names]


def _fish() -> str:
    def quoted(text: str) -> str:
        text = text.replace("\\", "\\\\").replace("'", "\\'")
        return f"'{text}'"

    rows = []
    for verb in VERBS:
        text = quoted(first_line(verb))
        rows.append(f"complete -c pcd -n __fish_use_subcommand -f -a {verb} -d {text}")
    for verb in VERBS:
        seen = quoted(f"__fish_seen_subcommand_from {verb}")
        for flag in flags_of(verb):
            names = " ".join(
                f"-l {n[2:]}" if n.startswith("--") else f"-s {n[1:]}"
                for n in flag.names
                if n.startswith("--") or len(n) == 2
            )
            takes = " -r" if flag.value else ""
            takes += f" -f -a {quoted(' '.join(flag.choices))}" if flag.choices else ""
            rows.append(f"complete -c pcd -n {seen} {names}{takes} -d {quoted(flag.text)}")
    return "\n".join(rows) + "\n"


SHELLS: dict[str, Callable[[], str]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}

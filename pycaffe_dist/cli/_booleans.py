"""Boolean flags in gflags' spellings: ``-f``, ``--f``, ``--nof``, ``--f=true``, ``--f=false``.

None takes a separate word as its value, so one may stand before an argument.
"""

from __future__ import annotations

from collections.abc import Sequence

from pycaffe_dist.cli._flags import Group, flag

VALUES = {"true": True, "t": True, "yes": True, "y": True, "1": True, "": True}
VALUES |= {"false": False, "f": False, "no": False, "n": False, "0": False}


def boolean(where: Group, name: str, help: str) -> None:
    """Add a flag that is off by default."""
    flag(where, name, action="store_true", help=help)


def plain(argv: Sequence[str], names: Sequence[str]) -> list[str]:
    """The arguments with boolean flags written as ``--f``, or left out where they are off."""
    on: dict[str, bool] = {}
    rest: list[str] = []
    for i, word in enumerate(argv):
        if word == "--":
            rest += argv[i:]
            break
        flag_, _, value = word.lstrip("-").partition("=")
        flag_ = flag_.replace("-", "_")
        if word.startswith("-") and flag_ in names and value.lower() in VALUES:
            on[flag_] = VALUES[value.lower()]
        elif word.startswith("-") and flag_.removeprefix("no") in names and flag_[:2] == "no":
            on[flag_.removeprefix("no")] = False
        else:
            rest.append(word)
    return [f"--{name}" for name, value in on.items() if value] + rest

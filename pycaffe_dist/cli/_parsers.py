"""The parser of each verb, for what is made of all of them: completions, manual pages, checks."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
from dataclasses import dataclass
from functools import cache
from unittest import mock


@dataclass(frozen=True)
class Flag:
    """A flag as help shows it: its names, what follows it, and its text."""

    names: tuple[str, ...]
    value: str
    text: str
    choices: tuple[str, ...]


@cache
def parser_of(verb: str) -> argparse.ArgumentParser:
    """The parser that a verb makes, caught when it is about to print its help."""
    found: list[argparse.ArgumentParser] = []

    def keep(parser: argparse.ArgumentParser) -> None:
        found.append(parser)

    with (
        mock.patch.object(argparse.ArgumentParser, "print_help", keep),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.suppress(SystemExit),
    ):
        importlib.import_module(f"pycaffe_dist.cli.{verb}").main(["--help"])
    return found[0] if found else argparse.ArgumentParser(prog=f"pcd {verb}", description="")


def flags_of(verb: str) -> list[Flag]:
    parser = parser_of(verb)
    formatter = parser._get_formatter()
    return [
        Flag(
            tuple(action.option_strings),
            "" if action.nargs == 0 else formatter._format_args(action, action.dest.upper()),
            formatter._expand_help(action) if action.help else "",
            tuple(map(str, action.choices or ())),
        )
        for action in parser._actions
        if action.option_strings and action.help != argparse.SUPPRESS
    ]


def first_line(verb: str) -> str:
    """What a verb does, in one sentence."""
    doc = importlib.import_module(f"pycaffe_dist.cli.{verb}").__doc__ or ""
    return doc.partition("\n")[0].partition(": pcd ")[0].rstrip(".")

"""Protobuf text as tokens, and places in it as line and column."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

_TOKEN = re.compile(
    r"""
    (?: [\s\ufeff]+ | \#[^\n]* )*  # never given back: one of these fits whatever follows
  (?: (?P<name>   [A-Za-z_]\w* )
  | (?P<number> 0[xX][0-9a-fA-F]+ | (?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[fF]? )
  | (?P<string> "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*' )
  | (?P<mark>   [{}<>\[\]:;,\-] )
  | (?P<other>  [^\s\ufeff\#] )
  | \Z )
    """,
    re.VERBOSE | re.ASCII,
)


class Token(NamedTuple):
    """A piece of text: its kind (name, number, string, mark, other, end), itself, its offset."""

    kind: str
    text: str
    at: int


_made = tuple.__new__  # as Token(...) does, in half the time: large nets have a million of them


def tokenize(text: str) -> list[Token]:
    """The tokens of ``text`` without blanks and comments, closed by one of kind ``end``."""
    return [*tokens(text), Token("end", "end of file", len(text.rstrip()))]


def tokens(text: str) -> Iterator[Token]:
    """The tokens of ``text``, one by one."""
    for m in _TOKEN.finditer(text):
        if kind := m.lastgroup:
            yield _made(Token, (kind, m.group(kind), m.start(kind)))


class Lines:
    """Line and column, both from 1, of an offset into a text; and the line itself."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = [0] + [m.end() for m in re.finditer("\n", text)]

    def place(self, at: int) -> tuple[int, int]:
        line = bisect_right(self._starts, at)
        return line, at - self._starts[line - 1] + 1

    def line(self, number: int) -> str:
        begin = self._starts[number - 1]
        end = self._text.find("\n", begin)
        line = self._text[begin : len(self._text) if end < 0 else end].rstrip("\r")
        # Bytes that are no UTF-8 came in as surrogates, which cannot be printed.
        return re.sub("[\ud800-\udfff]", "\ufffd", line)


_ESCAPE = re.compile(
    r"\\(x[0-9a-fA-F]{1,2}|[0-7]{1,3}|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)",
    re.S,
)
_PLAIN = {"a": 7, "b": 8, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_PLAIN |= {c: ord(c) for c in "\\'\"?"}


def _character(escape: str) -> str:
    r"""What \uXXXX, a pair of them, or \UXXXXXXXX stands for."""
    if len(escape) == 12:  # two halves of one character
        return bytes.fromhex(escape[2:6] + escape[8:]).decode("utf-16-be")
    code = int(escape[2:], 16)
    if code > 0x10FFFF or 0xD800 <= code < 0xE000:
        raise ValueError(f"escape sequence {escape} is no character")
    return chr(code)


def unescape(literal: str) -> bytes:
    """The bytes that a quoted literal stands for.

    Raises:
        ValueError: an escape that protobuf does not know, or a number too large for a byte.
    """
    body = literal[1:-1]

    def replace(match: re.Match[str]) -> str:
        code = match.group(1)
        if code in _PLAIN:
            byte = _PLAIN[code]
        elif code[0] in "uU" and len(code) > 1:
            return _character(match.group())
        elif code[0] == "x" and len(code) > 1:
            byte = int(code[1:], 16)
        elif code[0] in "01234567":
            byte = int(code, 8)
        else:
            raise ValueError(f"unknown escape sequence {match.group()}")
        if byte > 255:
            raise ValueError(f"escape sequence {match.group()} does not fit a byte")
        # Bytes above 127 travel as surrogates, as the file's own undecodable bytes do.
        return chr(byte) if byte < 128 else chr(0xDC00 + byte)

    if "\\" in body:
        body = _ESCAPE.sub(replace, body)
    return body.encode("utf-8", "surrogateescape")

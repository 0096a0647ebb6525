"""Going through the tokens of a text file: what comes next, what is wrong, what is passed over."""

from __future__ import annotations

import re

from pycaffe_dist.errors import Problem
from pycaffe_dist.proto.lexer import Lines, Token, tokenize

FieldPath = tuple[str | int, ...]  # ("layer", 3, "convolution_param"): names, and places in lists
MOST_PROBLEMS = 200  # then the file is something else altogether, and reading on helps nobody


class Unusable(Exception):
    """A value that cannot be taken: reported, skipped, and the parse goes on."""

    def __init__(self, token: Token, message: str) -> None:
        super().__init__(message)
        self.token = token


class GiveUp(Exception):
    """The rest of the file cannot be made sense of."""


class Cursor:
    """A place among the tokens, and the problems met on the way there."""

    def __init__(self, text: str, path: str) -> None:
        self.tokens = tokenize(text)
        self.i = 0
        self.text = text
        self.lines = Lines(text)
        self.path = path
        self.problems: list[Problem] = []
        self.places: dict[FieldPath, tuple[int, int]] = {}

    # -- what is wrong, and where ------------------------------------------------------------

    def problem(self, at: int, message: str) -> None:
        line, column = self.lines.place(at)
        self.problems.append(Problem(self.path, line, column, message, self.lines.line(line)))
        if len(self.problems) >= MOST_PROBLEMS:
            raise GiveUp

    def give_up(self, at: int, message: str) -> GiveUp:
        self.problem(at, message)
        return GiveUp()

    # -- tokens ------------------------------------------------------------------------------

    def accept(self, *marks: str) -> Token | None:
        token = self.tokens[self.i]
        if token.kind == "mark" and token.text in marks:
            self.i += 1
            return token
        return None

    def skip_value(self) -> None:
        """Pass over the value of a field that is not known, whatever its form."""
        self.accept(":")
        if not self.skip_block():
            self.accept("-")
            self.skip_scalar()
        self.accept(",", ";")

    def skip_block(self) -> bool:
        begin = self.accept("{", "<", "[")
        if begin is None:
            return False
        depth = 1
        while depth:
            token = self.tokens[self.i]
            if token.kind == "end":
                raise self.give_up(begin.at, f'"{begin.text}" is never closed')
            if token.kind == "mark":
                depth += (token.text in "{<[") - (token.text in "}>]")
            self.i += 1
        return True

    def skip_scalar(self) -> None:
        token = self.tokens[self.i]
        kind = token.kind
        if kind == "name" and self.starts_field(self.i):
            return  # the value is missing; this is the next field
        if kind == "other" or self.runs_on(token):
            self._skip_to_next_line() if token.text in "\"'" else self._skip_word()
            return
        while self.tokens[self.i].kind == kind and kind in ("name", "number", "string"):
            self.i += 1
            if kind != "string":  # strings side by side are one value
                return

    def string_follows(self) -> bool:
        return self.tokens[self.i].text == ":" and self.tokens[self.i + 1].kind == "string"

    def runs_on(self, token: Token) -> bool:
        """True if a number goes on as something else: 5abc."""
        after = token.at + len(token.text)
        return token.kind == "number" and bool(re.match(r"\w", self.text[after : after + 1]))

    def _skip_word(self) -> None:
        """A token and all that follow it without a blank, but for marks."""
        while True:
            token = self.tokens[self.i]
            self.i += 1
            after = self.tokens[self.i]
            if after.at > token.at + len(token.text) or after.kind in ("mark", "end"):
                return

    def _skip_to_next_line(self) -> None:
        line = self.lines.place(self.tokens[self.i].at)[0]
        while self.tokens[self.i].kind != "end":
            self.i += 1
            if self.lines.place(self.tokens[self.i].at)[0] > line:
                return

    def starts_field(self, i: int) -> bool:
        after = self.tokens[i + 1]
        return after.kind == "mark" and after.text in ":{<"

"""Text files (.prototxt) into messages: strict as Caffe's parser, but with every error at once.

The grammar is protobuf's text format as the C++ library reads it: names exact, one value for a
field that is not repeated, ``:`` optional before ``{`` only, ``[a, b]`` for repeated fields,
``# comments``, ``<`` ``>`` as braces, ``,`` or ``;`` between fields.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, Generic, TypeVar

from google.protobuf.descriptor import FieldDescriptor as F
from google.protobuf.message import Message

from pycaffe_dist.aliases import FieldDescriptor
from pycaffe_dist.errors import FileError, Problem, PrototxtError
from pycaffe_dist.files import read_bytes
from pycaffe_dist.proto import suggest
from pycaffe_dist.proto.lexer import Lines, Token, tokenize, unescape
from pycaffe_dist.proto.sniff import describe

M = TypeVar("M", bound=Message)
FieldPath = tuple[str | int, ...]  # ("layer", 3, "convolution_param"): names, and places in lists

MOST_PROBLEMS = 200  # then the file is something else altogether, and reading on helps nobody
Scalar = int | float | bool | str | bytes
_OPEN = {"{": "}", "<": ">"}
_INTEGER = re.compile(r"0[xX][0-9a-fA-F]+|\d+", re.ASCII)
_RANGE = {
    F.CPPTYPE_INT32: (-(1 << 31), (1 << 31) - 1),
    F.CPPTYPE_INT64: (-(1 << 63), (1 << 63) - 1),
    F.CPPTYPE_UINT32: (0, (1 << 32) - 1),
    F.CPPTYPE_UINT64: (0, (1 << 64) - 1),
}
_BOOLS = {"true": True, "True": True, "t": True, "1": True}
_BOOLS |= {"false": False, "False": False, "f": False, "0": False}


@dataclass
class Prototxt(Generic[M]):
    """A message and where its parts stand in the file.

    ``places`` maps the path of a field to its (line, column).
    """

    message: M
    path: str
    places: dict[FieldPath, tuple[int, int]] = field(default_factory=dict)


def read_text(path: str | os.PathLike[str], message: M) -> Prototxt[M]:
    """Read a text file into ``message``.

    Raises:
        FileError: the file cannot be read, or is not text.
        PrototxtError: all that is wrong with it.
    """
    raw = read_bytes(path)
    kind = describe(raw)
    if kind != "text":
        raise FileError(
            f"{path}: is {kind}; a text file ({message.DESCRIPTOR.name}) was expected here"
        )
    # Comments in any encoding pass; a string that is not UTF-8 is named where it stands.
    return parse_text(raw.decode("utf-8", "surrogateescape"), message, str(path))


def parse_text(text: str, message: M, path: str = "<string>") -> Prototxt[M]:
    """Parse ``text`` into ``message``; see :func:`read_text`."""
    parser = _Parser(text, path)
    parser.parse(message)
    parsed = Prototxt(message, path, parser.places)
    if parser.problems:
        raise PrototxtError(sorted(parser.problems, key=lambda p: (p.line, p.column)), parsed)
    return parsed


def format_text(message: Message) -> str:
    """The message as protobuf text."""
    from google.protobuf import text_format  # slow to import, and reading is our own

    return text_format.MessageToString(message)


class _Unusable(Exception):
    """A value that cannot be taken: reported, skipped, and the parse goes on."""

    def __init__(self, token: Token, message: str) -> None:
        super().__init__(message)
        self.token = token


class _GiveUp(Exception):
    """The rest of the file cannot be made sense of."""


if hasattr(F, "is_repeated"):  # from protobuf 6 on, which warns at `label`
    is_repeated: Callable[[FieldDescriptor], bool] = attrgetter("is_repeated")
else:

    def is_repeated(field: FieldDescriptor) -> bool:
        return bool(field.label == field.LABEL_REPEATED)


class _Parser:
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
            raise _GiveUp

    def give_up(self, at: int, message: str) -> _GiveUp:
        self.problem(at, message)
        return _GiveUp()

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
        if not self._skip_block():
            self.accept("-")
            self._skip_scalar()
        self.accept(",", ";")

    def _skip_block(self) -> bool:
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

    def _skip_scalar(self) -> None:
        token = self.tokens[self.i]
        kind = token.kind
        if kind == "name" and self._starts_field(self.i):
            return  # the value is missing; this is the next field
        if kind == "other" or self._runs_on(token):
            self._skip_to_next_line() if token.text in "\"'" else self._skip_word()
            return
        while self.tokens[self.i].kind == kind and kind in ("name", "number", "string"):
            self.i += 1
            if kind != "string":  # strings side by side are one value
                return

    def _string_follows(self) -> bool:
        return self.tokens[self.i].text == ":" and self.tokens[self.i + 1].kind == "string"

    def _runs_on(self, token: Token) -> bool:
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

    def _starts_field(self, i: int) -> bool:
        after = self.tokens[i + 1]
        return after.kind == "mark" and after.text in ":{<"

    # -- messages ----------------------------------------------------------------------------

    def parse(self, message: Message) -> None:
        try:
            self.fields(message, (), None)
            self.require_all(message)
        except _GiveUp:
            pass

    def fields(self, message: Message, path: FieldPath, begin: Token | None) -> None:
        """The fields of one message, up to the brace that closes ``begin`` or the file's end."""
        close = _OPEN[begin.text] if begin else None
        known = message.DESCRIPTOR.fields_by_name
        while True:
            token = self.tokens[self.i]
            if token.kind == "name":
                self.i += 1
                if (field := known.get(token.text)) is not None:
                    self.field(message, field, path, token)
                else:
                    self.problem(token.at, suggest.unknown_field(message.DESCRIPTOR, token.text))
                    self.skip_value()
            elif token.kind == "mark" and token.text == close:
                self.i += 1
                return
            elif token.kind == "end":
                if begin is None:
                    return
                name = path[-1] if isinstance(path[-1], str) else path[-2]
                raise self.give_up(begin.at, f'"{name} {begin.text}" is never closed')
            else:
                self.unexpected(token, close)

    def unexpected(self, token: Token, close: str | None) -> None:
        """A token where a field's name should be: say so, go on at the next field."""
        if token.kind == "mark" and token.text in "}>":
            what = f'expected "{close}"' if close else "nothing is open that it could close"
            raise self.give_up(token.at, f'unexpected "{token.text}": {what}')
        if token.kind == "mark" and token.text == "[":
            self.problem(token.at, "extensions are not part of Caffe's schema")
        elif token.kind == "other" and token.text in "\"'":
            self.problem(token.at, "this string does not end on its line")
        else:
            self.problem(token.at, f"expected a field name, found {token.text!r}")
        while True:
            self.i += 1
            after = self.tokens[self.i]
            if after.kind == "end" or (after.kind == "mark" and after.text in "}>"):
                return
            if after.kind == "name" and self._starts_field(self.i):
                return

    def field(self, message: Message, field: FieldDescriptor, path: FieldPath, name: Token) -> None:
        repeated = is_repeated(field)
        if field.name == "device_id" and self._string_follows():
            # PMLS-Caffe's device_id is a string of ids.
            field = message.DESCRIPTOR.fields_by_name["device_ids"]
        if not repeated:
            if message.HasField(field.name):
                first = self.places[(*path, field.name)][0]
                self.problem(
                    name.at,
                    f'"{field.name}" is given twice (first in line {first}); '
                    f"{message.DESCRIPTOR.name} takes one",
                )
            path = (*path, field.name)
            self.places[path] = self.lines.place(name.at)
        try:
            self.value(message, field, path, name, repeated)
        except _Unusable as e:
            self.problem(e.token.at, str(e))
            if not self._skip_block():
                self._skip_scalar()
        self.accept(",", ";")

    def value(
        self, message: Message, field: FieldDescriptor, path: FieldPath, name: Token, repeated: bool
    ) -> None:
        colon = self.accept(":")
        is_message = field.cpp_type == F.CPPTYPE_MESSAGE
        if colon is None and not is_message:
            raise _Unusable(self.tokens[self.i], f'expected ":" and a value after "{field.name}"')
        one = self.submessage if is_message else self.scalar
        if not repeated:
            one(message, field, path)
            return
        values = getattr(message, field.name)

        def another() -> None:
            where = (*path, field.name, len(values))
            self.places[where] = self.lines.place(name.at)
            one(message, field, where)

        begin = self.i
        if not self.accept("["):
            another()
        elif not self.accept("]"):
            try:
                another()
                while not self.accept("]"):
                    if not self.accept(","):
                        raise _Unusable(self.tokens[self.i], 'expected "," or "]" in this list')
                    another()
            except _Unusable:
                self.i = begin  # so that the whole list is what is skipped
                raise

    def submessage(self, message: Message, field: FieldDescriptor, path: FieldPath) -> None:
        begin = self.accept("{", "<")
        if begin is None:
            found = self.tokens[self.i]
            raise _Unusable(
                found,
                f'"{field.name}" is a {field.message_type.name}: expected "{{", '
                f"found {found.text!r}",
            )
        child = getattr(message, field.name)
        if isinstance(path[-1], int):
            child = child.add()
        else:
            child.SetInParent()
        self.fields(child, path, begin)

    # -- scalars -----------------------------------------------------------------------------

    def scalar(self, message: Message, field: FieldDescriptor, path: FieldPath) -> None:
        value = self.converted(field)
        if isinstance(path[-1], int):
            getattr(message, field.name).append(value)
        else:
            setattr(message, field.name, value)

    def converted(self, field: FieldDescriptor) -> Scalar:
        kind = field.cpp_type
        if kind == F.CPPTYPE_STRING:
            return self.string(field)
        minus = self.accept("-") is not None
        token = self.tokens[self.i]
        if self._runs_on(token):
            raise _Unusable(token, f"{token.text!r} runs into what follows it")
        if kind in _RANGE:
            value: Scalar = self.integer(token, minus, *_RANGE[kind])
        elif kind in (F.CPPTYPE_FLOAT, F.CPPTYPE_DOUBLE):
            value = self.real(token, minus)
        elif minus and kind == F.CPPTYPE_BOOL:
            raise _Unusable(token, "expected true or false")
        elif kind == F.CPPTYPE_BOOL:
            if token.kind not in ("name", "number") or token.text not in _BOOLS:
                raise _Unusable(token, f'"{field.name}" is true or false, not {token.text!r}')
            value = _BOOLS[token.text]
        else:
            value = self.enum(token, minus, field)
        self.i += 1
        return value

    def integer(self, token: Token, minus: bool, low: int, high: int) -> int:
        if token.kind != "number" or not _INTEGER.fullmatch(token.text):
            raise _Unusable(token, f"expected an integer, found {token.text!r}")
        digits = token.text
        if len(digits) > 100:
            raise _Unusable(token, f"a number of {len(digits):,} digits is out of range")
        octal = len(digits) > 1 and digits[0] == "0" and digits[1] not in "xX"
        try:
            value = int(digits, 8 if octal else 0)
        except ValueError:
            raise _Unusable(token, f"{digits[:40]!r} is not a number") from None
        value = -value if minus else value
        if not low <= value <= high:
            raise _Unusable(token, f"{value} is out of range: expected {low} to {high}")
        return value

    def real(self, token: Token, minus: bool) -> float:
        text = token.text.lower()
        # An integer with a zero in front is octal, which the C++ library takes for no float.
        if token.kind == "number" and not re.fullmatch("0x.*|0[0-9]+", text):
            value = float(text.rstrip("f"))
        elif token.kind == "name" and text in ("inf", "infinity", "nan"):
            value = float(text)
        else:
            raise _Unusable(token, f"expected a number, found {token.text!r}")
        return -value if minus else value

    def enum(self, token: Token, minus: bool, field: FieldDescriptor) -> int:
        values = field.enum_type.values_by_name
        if token.kind == "name" and not minus and token.text in values:
            return int(values[token.text].number)
        if token.kind == "number" and _INTEGER.fullmatch(token.text):
            number = self.integer(token, minus, *_RANGE[F.CPPTYPE_INT32])
            if number in field.enum_type.values_by_number:
                return number
        raise _Unusable(token, suggest.unknown_enum(field, "-" * minus + token.text))

    def string(self, field: FieldDescriptor) -> str | bytes:
        first = self.tokens[self.i]
        if first.kind != "string":
            if first.kind == "other" and first.text in "\"'":
                raise _Unusable(first, "this string does not end on its line")
            raise _Unusable(first, f"expected a quoted string, found {first.text!r}")
        parts = []
        while self.tokens[self.i].kind == "string":
            token = self.tokens[self.i]
            try:
                parts.append(unescape(token.text))
            except ValueError as e:
                raise _Unusable(token, str(e)) from None
            self.i += 1
        value = b"".join(parts)
        if field.type == F.TYPE_BYTES:
            return value
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError:
            self.i -= 1  # so that the string is what is skipped
            raise _Unusable(first, f'"{field.name}" is not valid UTF-8') from None

    # -- what must be there ------------------------------------------------------------------

    def require_all(self, message: Message) -> None:
        root: Any = message  # whose annotations leave this method out
        for missing in root.FindInitializationErrors():
            parts = re.findall(r"\w+|(?<=\[)\d+(?=\])", missing)
            owner = tuple(int(p) if p.isdigit() else p for p in parts[:-1])
            if (*owner, parts[-1]) in self.places:
                continue  # it was there, but wrong, which has been said
            line, column = self.places.get(owner, (1, 1))
            self.problems.append(
                Problem(
                    self.path,
                    line,
                    column,
                    f'required field "{parts[-1]}" is missing here',
                    self.lines.line(line),
                )
            )

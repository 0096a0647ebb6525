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
from pycaffe_dist.proto.cursor import FieldPath, GiveUp, Unusable
from pycaffe_dist.proto.lexer import Token
from pycaffe_dist.proto.scalars import Scalars
from pycaffe_dist.proto.sniff import describe

M = TypeVar("M", bound=Message)

_OPEN = {"{": "}", "<": ">"}


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


if hasattr(F, "is_repeated"):  # from protobuf 6 on, which warns at `label`
    is_repeated: Callable[[FieldDescriptor], bool] = attrgetter("is_repeated")
else:

    def is_repeated(field: FieldDescriptor) -> bool:
        return bool(field.label == field.LABEL_REPEATED)


class _Parser(Scalars):
    """Messages and their fields, from the first token to the last."""

    # -- messages ----------------------------------------------------------------------------

    def parse(self, message: Message) -> None:
        try:
            self.fields(message, (), None)
            self.require_all(message)
        except GiveUp:
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
            if after.kind == "name" and self.starts_field(self.i):
                return

    def field(self, message: Message, field: FieldDescriptor, path: FieldPath, name: Token) -> None:
        repeated = is_repeated(field)
        if field.name == "device_id" and self.string_follows():
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
        except Unusable as e:
            self.problem(e.token.at, str(e))
            if not self.skip_block():
                self.skip_scalar()
        self.accept(",", ";")

    def value(
        self, message: Message, field: FieldDescriptor, path: FieldPath, name: Token, repeated: bool
    ) -> None:
        colon = self.accept(":")
        is_message = field.cpp_type == F.CPPTYPE_MESSAGE
        if colon is None and not is_message:
            raise Unusable(self.tokens[self.i], f'expected ":" and a value after "{field.name}"')
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
                        raise Unusable(self.tokens[self.i], 'expected "," or "]" in this list')
                    another()
            except Unusable:
                self.i = begin  # so that the whole list is what is skipped
                raise

    def submessage(self, message: Message, field: FieldDescriptor, path: FieldPath) -> None:
        begin = self.accept("{", "<")
        if begin is None:
            found = self.tokens[self.i]
            raise Unusable(
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

"""Numbers, truth values, enums and strings, in the forms that the C++ library takes."""

from __future__ import annotations

import re

from google.protobuf.descriptor import FieldDescriptor as F

from pycaffe_dist.aliases import FieldDescriptor
from pycaffe_dist.proto import suggest
from pycaffe_dist.proto.cursor import Cursor, Unusable
from pycaffe_dist.proto.lexer import Token, unescape

Scalar = int | float | bool | str | bytes
_INTEGER = re.compile(r"0[xX][0-9a-fA-F]+|\d+", re.ASCII)
_RANGE = {
    F.CPPTYPE_INT32: (-(1 << 31), (1 << 31) - 1),
    F.CPPTYPE_INT64: (-(1 << 63), (1 << 63) - 1),
    F.CPPTYPE_UINT32: (0, (1 << 32) - 1),
    F.CPPTYPE_UINT64: (0, (1 << 64) - 1),
}
_BOOLS = {"true": True, "True": True, "t": True, "1": True}
_BOOLS |= {"false": False, "False": False, "f": False, "0": False}


class Scalars(Cursor):
    """A cursor that reads the value of a field."""

    def converted(self, field: FieldDescriptor) -> Scalar:
        kind = field.cpp_type
        if kind == F.CPPTYPE_STRING:
            return self.string(field)
        minus = self.accept("-") is not None
        token = self.tokens[self.i]
        if self.runs_on(token):
            raise Unusable(token, f"{token.text!r} runs into what follows it")
        if kind in _RANGE:
            value: Scalar = self.integer(token, minus, *_RANGE[kind])
        elif kind in (F.CPPTYPE_FLOAT, F.CPPTYPE_DOUBLE):
            value = self.real(token, minus)
        elif minus and kind == F.CPPTYPE_BOOL:
            raise Unusable(token, "expected true or false")
        elif kind == F.CPPTYPE_BOOL:
            if token.kind not in ("name", "number") or token.text not in _BOOLS:
                raise Unusable(token, f'"{field.name}" is true or false, not {token.text!r}')
            value = _BOOLS[token.text]
        else:
            value = self.enum(token, minus, field)
        self.i += 1
        return value

    def integer(self, token: Token, minus: bool, low: int, high: int) -> int:
        if token.kind != "number" or not _INTEGER.fullmatch(token.text):
            raise Unusable(token, f"expected an integer, found {token.text!r}")
        digits = token.text
        if len(digits) > 100:
            raise Unusable(token, f"a number of {len(digits):,} digits is out of range")
        octal = len(digits) > 1 and digits[0] == "0" and digits[1] not in "xX"
        try:
            value = int(digits, 8 if octal else 0)
        except ValueError:
            raise Unusable(token, f"{digits[:40]!r} is not a number") from None
        value = -value if minus else value
        if not low <= value <= high:
            raise Unusable(token, f"{value} is out of range: expected {low} to {high}")
        return value

    def real(self, token: Token, minus: bool) -> float:
        text = token.text.lower()
        # An integer with a zero in front is octal, which the C++ library takes for no float.
        if token.kind == "number" and not re.fullmatch("0x.*|0[0-9]+", text):
            value = float(text.rstrip("f"))
        elif token.kind == "name" and text in ("inf", "infinity", "nan"):
            value = float(text)
        else:
            raise Unusable(token, f"expected a number, found {token.text!r}")
        return -value if minus else value

    def enum(self, token: Token, minus: bool, field: FieldDescriptor) -> int:
        values = field.enum_type.values_by_name
        if token.kind == "name" and not minus and token.text in values:
            return int(values[token.text].number)
        if token.kind == "number" and _INTEGER.fullmatch(token.text):
            number = self.integer(token, minus, *_RANGE[F.CPPTYPE_INT32])
            if number in field.enum_type.values_by_number:
                return number
        raise Unusable(token, suggest.unknown_enum(field, "-" * minus + token.text))

    def string(self, field: FieldDescriptor) -> str | bytes:
        first = self.tokens[self.i]
        if first.kind != "string":
            if first.kind == "other" and first.text in "\"'":
                raise Unusable(first, "this string does not end on its line")
            raise Unusable(first, f"expected a quoted string, found {first.text!r}")
        parts = []
        while self.tokens[self.i].kind == "string":
            token = self.tokens[self.i]
            try:
                parts.append(unescape(token.text))
            except ValueError as e:
                raise Unusable(token, str(e)) from None
            self.i += 1
        value = b"".join(parts)
        if field.type == F.TYPE_BYTES:
            return value
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError:
            self.i -= 1  # so that the string is what is skipped
            raise Unusable(first, f'"{field.name}" is not valid UTF-8') from None

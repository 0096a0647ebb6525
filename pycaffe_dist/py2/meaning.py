"""The second step: what Python 3 takes for something else than Python 2 meant.

The text is parsed, and changed where the tree says so: ``a / b`` becomes ``_py2.div(a, b)``,
``d.keys()[0]`` becomes ``_py2.keys(d)[0]``.  Everything else, comments included, stays.
"""

from __future__ import annotations

import ast
import bisect
import io
import itertools
import tokenize
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from pycaffe_dist.py2.builtins import GONE
from pycaffe_dist.py2.imports import imported
from pycaffe_dist.py2.strings import OURS

# Methods without arguments, by the function that stands for each.
PLAIN = {
    **{name: name for name in ("keys", "values", "items", "iterkeys", "itervalues", "iteritems")},
    "viewkeys": "keys",
    "viewvalues": "values",
    "viewitems": "items",
    "next": "next_of",
    "getchildren": "children",
    "isAlive": "is_alive",
}
# Methods whose arguments follow.
WITH_ARGUMENTS = {
    "decode": "decode",
    "encode": "encode",
    "getiterator": "iterated",
    "has_key": "has_key",
    "tostring": "tostring",
    "SerializeToString": "serialized",
}
ORDERS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", "less"),
    ast.LtE: ("<=", "less_or_equal"),
    ast.Gt: (">", "greater"),
    ast.GtE: (">=", "greater_or_equal"),
}
TAKE_BYTES = {"ParseFromString", "MergeFromString", "FromString", "LoadFromString"}
NUMBERS = ("float", "int", "long")
LISTS = "lists from map, filter, zip and range"
REPORTED = {**dict.fromkeys(("map", "filter", "zip", "range"), LISTS), **{n: n for n in GONE}}
SPECIAL = {
    "__nonzero__": "__bool__",
    "__div__": "__truediv__",
    "__rdiv__": "__rtruediv__",
    "__idiv__": "__itruediv__",
    "next": "__next__",
}


def with_meaning(
    text: str, package: str, folder: str | None, changes: Counter[str], future: set[str]
) -> str:
    """The text of a module with Python 2's meaning.

    Args:
        text: in Python 3's syntax.
        package: the module's package, "" without one.
        folder: where its file is, for imports from beside it.
        changes: counts what is changed.
        future: the names imported from ``__future__``.
    """
    tree = ast.parse(text)
    edits = _Edits(text)
    _Walk(edits, package, folder, changes, future).visit(tree)
    return edits.applied()


@dataclass
class _Edits:
    """Changes of a text, by positions in it."""

    text: str
    _made: list[tuple[int, int, int, str]] = field(default_factory=list)  # at, order, up to, new

    def __post_init__(self) -> None:
        self._lines = [line + "\n" for line in self.text.split("\n")]
        self._starts = list(itertools.accumulate(map(len, self._lines), initial=0))
        kinds = (tokenize.OP, tokenize.NAME)
        tokens = tokenize.generate_tokens(io.StringIO(self.text).readline)
        self._tokens = [
            (self._starts[line - 1] + column, string)
            for kind, string, (line, column), *_ in tokens
            if kind in kinds
        ]

    def _at(self, line: int, column: int) -> int:
        """The position of what ast tells in lines and bytes of UTF-8."""
        return self._starts[line - 1] + len(self._lines[line - 1].encode()[:column].decode())

    def begin(self, node: Any) -> int:
        return self._at(node.lineno, node.col_offset)

    def end(self, node: Any) -> int:
        return self._at(node.end_lineno, node.end_col_offset)

    def open(self, node: Any, text: str) -> None:
        """Put text in front of a node; that of a node around it comes first."""
        at = self.begin(node)
        self._made.append((at, len(self._made), at, text))

    def close(self, node: Any, text: str = ")") -> None:
        """Put text behind a node; that of a node around it comes last."""
        at = self.end(node)
        self._made.append((at, -len(self._made) - 1, at, text))

    def wrap(self, node: Any, function: str) -> None:
        self.open(node, f"{OURS}.{function}(")
        self.close(node)

    def replace(self, begin: int, end: int, text: str) -> None:
        """Exchange a part of the text, whose line ends stay."""
        ends = "\n" * self.text.count("\n", begin, end)
        self._made.append((begin, len(self._made), end, ends + text))

    def token(self, text: str, begin: int, end: int, last: bool = False) -> int:
        """Where, between two positions, the first or the last token ``text`` is."""
        low, high = (bisect.bisect_left(self._tokens, (at, "")) for at in (begin, end))
        found = [at for at, string in self._tokens[low:high] if string == text]
        return found[-1 if last else 0]

    def applied(self) -> str:
        parts, here = [], 0
        for begin, _, end, new in sorted(self._made):
            parts += [self.text[here:begin], new]
            here = max(here, end)
        return "".join(parts) + self.text[here:]


class _Walk(ast.NodeVisitor):
    """Visits a tree from above, and notes the edits that each node needs."""

    def __init__(
        self,
        edits: _Edits,
        package: str,
        folder: str | None,
        changes: Counter[str],
        future: set[str],
    ) -> None:
        self.edits, self.changes = edits, changes
        self.package = "" if "absolute_import" in future else package
        self.folder = folder
        self.true_division = "division" in future
        self.caught: list[str] = []  # names of the exceptions whose handlers we are in

    # -- division ----------------------------------------------------------------------------

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if isinstance(node.op, ast.Div) and not self.true_division and not _has_float(node):
            begin, end = self.edits.end(node.left), self.edits.begin(node.right)
            slash = self.edits.token("/", begin, end)
            self.edits.wrap(node, "div")
            self.edits.replace(slash, slash + 1, ",")
            self.changes["/ that may be between integers"] += 1
        elif isinstance(node.op, ast.Mod) and _is_text(node.left):
            begin, end = self.edits.end(node.left), self.edits.begin(node.right)
            percent = self.edits.token("%", begin, end)
            self.edits.wrap(node, "formatted")
            self.edits.replace(percent, percent + 1, ",")
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.op, ast.Div) and not self.true_division:
            self.edits.wrap(node.value, "by")
            self.changes["/ that may be between integers"] += 1
        if isinstance(node.target, ast.Subscript):
            self.edits.wrap(node.value, "one")
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        """``a[i] = v``, for a value in an array of one."""
        target, value = node.targets[0], node.value
        if (
            len(node.targets) == 1
            and isinstance(target, ast.Subscript)
            and not any(isinstance(part, ast.Slice) for part in ast.walk(target.slice))
            and isinstance(value, (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.BinOp))
        ):
            bracket = self.edits.token("[", self.edits.end(target.value), self.edits.end(target))
            equals = self.edits.token("=", self.edits.end(target), self.edits.end(node))
            self.edits.open(node, f"{OURS}.put(")
            self.edits.replace(bracket, bracket + 1, ", (")
            self.edits.replace(self.edits.end(target) - 1, equals + 1, "),")
            self.edits.close(node)
        self.generic_visit(node)

    def visit_Slice(self, node: ast.Slice) -> None:
        for bound in (node.lower, node.upper):
            if bound is not None and not isinstance(bound, (ast.Constant, ast.UnaryOp)):
                self.edits.wrap(bound, "at")
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        """``a < b``, for a None that is less than everything; ``a < b < c`` stays."""
        order = ORDERS.get(type(node.ops[0]))
        if order and len(node.ops) == 1:
            sign, function = order
            begin, end = self.edits.end(node.left), self.edits.begin(node.comparators[0])
            at = self.edits.token(sign, begin, end)
            self.edits.wrap(node, function)
            self.edits.replace(at, at + len(sign), ",")
        self.generic_visit(node)

    # -- methods -----------------------------------------------------------------------------

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Attribute):
            self._method(node, node.func)
        elif isinstance(node.func, ast.Name) and node.func.id in NUMBERS and len(node.args) == 1:
            self.edits.wrap(node.args[0], "one")
        self.generic_visit(node)

    def _method(self, call: ast.Call, method: ast.Attribute) -> None:
        name, given = method.attr, bool(call.args or call.keywords)
        cmp = bool(call.args) or any(word.arg == "cmp" for word in call.keywords)
        if name in PLAIN and not given:
            self._instead(call, method, PLAIN[name], self.edits.end(call), ")")
        elif name in WITH_ARGUMENTS or (name in ("sort", "join") and cmp):
            self._first_argument(call, method, WITH_ARGUMENTS.get(name, name), given)
        elif name in TAKE_BYTES and len(call.args) == 1:
            self.edits.wrap(call.args[0], "as_bytes")
        else:
            return
        if name != "join":
            self.changes[f".{name}()"] += 1

    def _first_argument(
        self, call: ast.Call, method: ast.Attribute, function: str, given: bool
    ) -> None:
        """``function(what, arguments)`` instead of ``what.method(arguments)``."""
        paren = self.edits.token("(", self.edits.end(method), self.edits.end(call))
        alone = call.args[0] if len(call.args) == 1 and not call.keywords else None
        if isinstance(alone, ast.GeneratorExp) and self.edits.begin(alone) == paren:
            self._instead(call, method, function, paren, ", ")  # its parentheses are the call's
            self.edits.close(call)
        else:
            self._instead(call, method, function, paren + 1, ", " if given else "")

    def _instead(
        self, call: ast.Call, method: ast.Attribute, function: str, end: int, text: str
    ) -> None:
        """``function(`` in front; from the dot before the method's name to ``end``, ``text``."""
        behind = self.edits.end(method)
        dot = self.edits.token(".", self.edits.end(method.value), behind, last=True)
        self.edits.open(call, f"{OURS}.{function}(")
        self.edits.replace(dot, end, text)

    # -- definitions, names, imports ---------------------------------------------------------

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        methods = [child for child in node.body if isinstance(child, ast.FunctionDef)]
        iterator = any(method.name == "__iter__" for method in methods)
        for method in methods:
            if method.name in SPECIAL and (method.name != "next" or iterator):
                begin, end = self.edits.begin(method), self.edits.end(method)
                at = self.edits.token(method.name, begin, end)
                self.edits.replace(at, at + len(method.name), SPECIAL[method.name])
                self.changes[f"def {method.name}"] += 1
        self.generic_visit(node)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        self.caught.append(node.name or "")
        self.generic_visit(node)
        self.caught.pop()

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if (
            node.attr == "message"
            and isinstance(node.value, ast.Name)
            and node.value.id in self.caught
        ):
            new = f"{OURS}.message({node.value.id})"
            self.edits.replace(self.edits.begin(node), self.edits.end(node), new)
            self.changes["e.message"] += 1
        self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load) and node.id in REPORTED:
            self.changes[REPORTED[node.id]] += 1

    def visit_Import(self, node: ast.Import) -> None:
        self._import(node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        self._import(node)

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        new = imported(node, self.package, self.folder)
        if new is not None:
            self.edits.replace(self.edits.begin(node), self.edits.end(node), new)
            self.changes["import"] += 1


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _has_float(node: ast.BinOp) -> bool:
    """One side is a float for sure, and so both Pythons divide alike."""
    for side in (node.left, node.right):
        if isinstance(side, ast.Constant) and isinstance(side.value, float):
            return True
        called = side.func if isinstance(side, ast.Call) else None
        if isinstance(called, ast.Name) and called.id == "float":
            return True
    return False

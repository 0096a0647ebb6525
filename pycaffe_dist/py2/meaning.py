"""The second step: what Python 3 takes for something else than Python 2 meant.

The text is parsed, and changed where the tree says so: ``a / b`` becomes ``_py2.div(a, b)``,
``d.keys()[0]`` becomes ``_py2.keys(d)[0]``.  Everything else, comments included, stays.
"""

from __future__ import annotations

import ast
from collections import Counter

from pycaffe_dist.py2.builtins import GONE
from pycaffe_dist.py2.edits import Edits
from pycaffe_dist.py2.imports import imported
from pycaffe_dist.py2.leaks import leave_variables
from pycaffe_dist.py2.nodes import (
    VALUES,
    gives_contours,
    has_float,
    has_slice,
    is_dotted,
    is_large,
    is_nothing,
    is_text,
    may_be_float,
    one_is_large,
)
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
    "itemset": "itemset",
    "ptp": "ptp",
    "reshape": "reshape",
    "tostring": "tostring",
    "translate": "mapped",
    "SerializeToString": "serialized",
}
ORDERS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", "less"),
    ast.LtE: ("<=", "less_or_equal"),
    ast.Gt: (">", "greater"),
    ast.GtE: (">=", "greater_or_equal"),
}
EQUALITY: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Eq: ("==", "equal"),
    ast.NotEq: ("!=", "not_equal"),
}
SILENT = ("format", "join", "reshape", "translate")  # seldom anything else than they are today
WIDER: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "plus"),
    ast.Sub: ("-", "minus"),
    ast.Mult: ("*", "times"),
}
TAKE_BYTES = {"ParseFromString", "MergeFromString", "FromString", "LoadFromString"}
CONVERTING = {"float": "one", "int": "one", "long": "one", "str": "brief"}
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
    edits = Edits(text)
    _Walk(edits, package, folder, changes, future).visit(tree)
    if left := leave_variables(tree, edits):
        changes["variables that list comprehensions leave behind"] += left
    return edits.applied()


class _Walk(ast.NodeVisitor):
    """Visits a tree from above, and notes the edits that each node needs."""

    def __init__(
        self,
        edits: Edits,
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
        if isinstance(node.op, ast.Div) and not self.true_division and not has_float(node):
            self._function(node, node.left, node.right, "/", "div")
            self.changes["/ that may be between integers"] += 1
        elif isinstance(node.op, ast.Mod) and is_text(node.left):
            self._function(node, node.left, node.right, "%", "formatted")
        elif type(node.op) in WIDER and one_is_large(node):
            self._function(node, node.left, node.right, *WIDER[type(node.op)])
        self.generic_visit(node)

    def _function(
        self, node: ast.AST, left: ast.AST, right: ast.AST, sign: str, function: str
    ) -> None:
        """``function(left, right)`` instead of ``left sign right``."""
        at = self.edits.token(sign, self.edits.end(left), self.edits.begin(right))
        self.edits.wrap(node, function)
        self.edits.replace(at, at + len(sign), ",")

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.op, ast.Div) and not self.true_division:
            self.edits.wrap(node.value, "by")
            self.changes["/ that may be between integers"] += 1
        if isinstance(node.op, ast.Sub) and isinstance(node.value, VALUES):
            self.edits.wrap(node.value, "less_by")
        target = node.target
        if isinstance(target, ast.Subscript):
            self.edits.wrap(node.value, "one")
            if may_be_float(target.slice) and is_dotted(target.value):
                self.edits.open(target.slice, f"{OURS}.place({ast.unparse(target.value)}, ")
                self.edits.close(target.slice)
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        """``a[i] = v``, for a value in an array of one; ``datum.data = v``, for text."""
        target, value = node.targets[0], node.value
        if gives_contours(value) and isinstance(target, ast.Tuple) and len(target.elts) == 3:
            self.edits.wrap(value, "with_image")
            self.changes["findContours with three results"] += 1
        if isinstance(target, ast.Attribute) and target.attr == "data" and is_dotted(target.value):
            self.edits.open(value, f"{OURS}.field({ast.unparse(target.value)}, ")
            self.edits.close(value)
        if (
            len(node.targets) == 1
            and isinstance(target, ast.Subscript)
            and not has_slice(target.slice)
            and (isinstance(value, VALUES) or is_large(value))
        ):
            bracket = self.edits.token("[", self.edits.end(target.value), self.edits.end(target))
            equals = self.edits.token("=", self.edits.end(target), self.edits.end(node))
            self.edits.open(node, f"{OURS}.put(")
            self.edits.replace(bracket, bracket + 1, ", (")
            self.edits.replace(self.edits.end(target) - 1, equals + 1, "),")
            self.edits.close(node)
        self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        """``e[0]`` of an exception; ``a[i]`` and ``a[i, x:y]``, for an index that is a float."""
        if isinstance(node.slice, ast.Tuple) and has_slice(node.slice):
            for part in node.slice.elts:
                if isinstance(part, VALUES):
                    self.edits.wrap(part, "at")
        if isinstance(node.ctx, ast.Load):
            if isinstance(node.value, ast.Name) and node.value.id in self.caught:
                self.edits.close(node.value, ".args")
                self.changes["e[0] of an exception"] += 1
            elif may_be_float(node.slice):
                begin, end = self.edits.end(node.value), self.edits.end(node)
                bracket = self.edits.token("[", begin, end)
                self.edits.open(node, f"{OURS}.item(")
                self.edits.replace(bracket, bracket + 1, ", (")
                self.edits.replace(end - 1, end, "))")
        self.generic_visit(node)

    def visit_Slice(self, node: ast.Slice) -> None:
        for bound in (node.lower, node.upper):
            literal = isinstance(bound, ast.Constant) and not isinstance(bound.value, float)
            if bound is not None and not literal and not isinstance(bound, ast.UnaryOp):
                self.edits.wrap(bound, "at")
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        """``a < b``, for a None that is less than everything; ``a < b < c`` stays.

        ``a == None`` and ``a == []``, for an array.
        """
        sides = (node.left, node.comparators[0])
        kind = type(node.ops[0])
        order = ORDERS.get(kind) or (EQUALITY.get(kind) if any(map(is_nothing, sides)) else None)
        if order and len(node.ops) == 1:
            self._function(node, *sides, *order)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        """``-mask``, which was the opposite of an array of truths."""
        if isinstance(node.op, ast.USub) and isinstance(node.operand, (ast.Name, ast.Compare)):
            begin = self.edits.begin(node)
            self.edits.replace(begin, begin + 1, f"{OURS}.negative(")
            self.edits.close(node)
        self.generic_visit(node)

    # -- methods -----------------------------------------------------------------------------

    def visit_Call(self, node: ast.Call) -> None:
        for word in node.keywords:
            if word.arg == "data" and ast.unparse(node.func).endswith("Datum"):
                self.edits.wrap(word.value, "as_bytes")
        if isinstance(node.func, ast.Attribute):
            self._method(node, node.func)
        elif isinstance(node.func, ast.Name) and node.func.id in CONVERTING and len(node.args) == 1:
            self.edits.wrap(node.args[0], CONVERTING[node.func.id])
        self.generic_visit(node)

    def _method(self, call: ast.Call, method: ast.Attribute) -> None:
        name, given = method.attr, bool(call.args or call.keywords)
        cmp = bool(call.args) or any(word.arg == "cmp" for word in call.keywords)
        if name in PLAIN and not given:
            self._instead(call, method, PLAIN[name], self.edits.end(call), ")")
        elif name in WITH_ARGUMENTS or (name in ("sort", "join") and cmp):
            self._first_argument(call, method, WITH_ARGUMENTS.get(name, name), given)
        elif name == "format" and given and is_text(method.value):
            self._first_argument(call, method, "shown", given)
        elif name in TAKE_BYTES and len(call.args) == 1:
            self.edits.wrap(call.args[0], "as_bytes")
        else:
            return
        if name not in SILENT:
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

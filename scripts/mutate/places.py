"""Where one small change can be made inside the functions of a file.

Texts, errors, logs, type hints, decorators, ``__repr__`` and constants of modules are left alone:
a change there is not one of what is computed.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass

COMPARISONS = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
ARITHMETIC = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
TELLS = {"print", "warn", "warning", "info", "debug", "log", "note", "announce", "error"}
FIXED = {"isinstance", "cast", "getattr", "hasattr", "setattr", "max", "min", "super"}  # arguments
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Change:
    """A piece of a file, and what takes its place.

    Attributes:
        file: its path in the repository.
        function: the outermost function that it is in, or the class of a default.
        begin, end: in bytes of the file.
    """

    file: str
    function: str
    kind: str
    line: int
    begin: int
    end: int
    old: str
    new: str

    def applied_to(self, source: bytes) -> bytes:
        return source[: self.begin] + self.new.encode() + source[self.end :]

    def line_of(self, source: bytes) -> str:
        """The line that it begins in, as it is then."""
        changed = self.applied_to(source)
        first = changed.rfind(b"\n", 0, self.begin) + 1
        return changed[first:].split(b"\n", 1)[0].decode().strip()

    def is_program(self, source: bytes) -> bool:
        """Whether it leaves the file one."""
        try:
            compile(self.applied_to(source), self.file, "exec")
        except SyntaxError:
            return False
        return True

    def __str__(self) -> str:
        old, new = (" ".join(text.split())[:70] for text in (self.old, self.new))
        return f"{self.file}:{self.line} ({self.function}): {old}  ->  {new}"


def functions(tree: ast.AST, inside: str = "") -> Iterator[tuple[str, Function]]:
    """The outermost functions and the methods, with their names."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef):
            yield from functions(node, f"{inside}{node.name}.")
        elif isinstance(node, Function):
            yield f"{inside}{node.name}", node
        elif not inside and isinstance(node, ast.If | ast.Try):
            yield from functions(node)


class Finder:
    """Walks through a file and keeps what can be changed in it."""

    def __init__(self, source: bytes, name: str) -> None:
        self.source, self.name = source, name
        self.found: list[Change] = []
        self.starts = [0]
        for line in source.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.function = ""
        self._definitions(ast.parse(source).body, "")

    def _add(self, kind: str, node: ast.stmt | ast.expr, new: str) -> None:
        begin = self.starts[node.lineno - 1] + node.col_offset
        end = self.starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
        old = self.source[begin:end].decode()
        self.found.append(Change(self.name, self.function, kind, node.lineno, begin, end, old, new))

    # -- statements --------------------------------------------------------------------------

    def _definitions(self, body: list[ast.stmt], inside: str) -> None:
        """Of a module or a class."""
        for statement in body:
            if isinstance(statement, ast.ClassDef):
                if not any("Protocol" in ast.unparse(base) for base in statement.bases):
                    self._definitions(statement.body, f"{inside}{statement.name}.")
            elif isinstance(statement, Function):
                self.function = inside + statement.name
                self._function(statement)
            elif inside and isinstance(statement, ast.Assign | ast.AnnAssign):
                self.function = inside[:-1]
                self._constant(statement.value, "default")

    def _function(self, node: Function) -> None:
        if node.name in ("__repr__", "__str__"):
            return
        for default in [*node.args.defaults, *node.args.kw_defaults]:
            self._constant(default, "default")
        for statement in node.body[documented(node) :]:
            self._statement(statement)

    def _statement(self, s: ast.stmt) -> None:
        if isinstance(s, Function):
            self._function(s)
            return
        if isinstance(s, ast.Assert | ast.ClassDef) or _tells(s) or _for_types(s):
            return
        if isinstance(s, ast.Raise):
            self._add("remove", s, "pass")
            return
        self._as_a_whole(s)
        if isinstance(s, ast.If | ast.While):
            self._add("negate", s.test, f"not ({ast.unparse(s.test)})")
        for field, value in ast.iter_fields(s):
            if field != "annotation":
                for child in value if isinstance(value, list) else [value]:
                    self._part(child)

    def _part(self, child: object) -> None:
        if isinstance(child, ast.stmt):
            self._statement(child)
        elif isinstance(child, ast.ExceptHandler | ast.match_case):
            for statement in child.body:
                self._statement(statement)
        elif isinstance(child, ast.withitem):
            self._expression(child.context_expr)
        elif isinstance(child, ast.expr):
            self._expression(child)

    def _as_a_whole(self, s: ast.stmt) -> None:
        """What becomes of a statement that is left out, or returns something else."""
        called = isinstance(s, ast.Expr) and isinstance(s.value, ast.Call)
        stored = isinstance(s, ast.Assign) and any(
            isinstance(target, ast.Attribute | ast.Subscript) for target in s.targets
        )
        if called or stored or isinstance(s, ast.AugAssign | ast.Continue | ast.Break):
            self._add("remove", s, "pass")
        if isinstance(s, ast.AugAssign) and type(s.op) in ARITHMETIC and not _text(s.value):
            other = ARITHMETIC[type(s.op)]()
            self._add("arithmetic", s, ast.unparse(ast.AugAssign(s.target, other, s.value)))
        if isinstance(s, ast.Return):
            if s.value is None:
                self._add("remove", s, "pass")
            elif not isinstance(s.value, ast.Constant) and not _text(s.value):
                new = f"not ({ast.unparse(s.value)})" if _is_truth(s.value) else "None"
                self._add("return", s, f"return {new}")

    # -- expressions -------------------------------------------------------------------------

    def _constant(self, node: ast.AST | None, kind: str = "constant") -> None:
        if not isinstance(node, ast.Constant):
            return
        value = node.value
        if isinstance(value, bool):
            self._add(kind, node, repr(not value))
        elif isinstance(value, int):
            for other in {value + 1, max(value - 1, 0)} - {value}:
                self._add(kind, node, repr(other))
        elif isinstance(value, float):
            self._add(kind, node, repr(value * 2 or 1.0))

    def _expression(self, e: ast.expr) -> None:
        if isinstance(e, ast.JoinedStr):
            return
        self._constant(e)
        if isinstance(e, ast.Compare):
            for at, op in enumerate(e.ops):
                new = copy.deepcopy(e)
                new.ops[at] = COMPARISONS[type(op)]()
                self._add("compare", e, f"({ast.unparse(new)})")
        elif isinstance(e, ast.BoolOp):
            other = ast.Or() if isinstance(e.op, ast.And) else ast.And()
            self._add("logic", e, f"({ast.unparse(ast.BoolOp(other, e.values))})")
        elif isinstance(e, ast.BinOp):
            if type(e.op) in ARITHMETIC and not (_text(e) or _listed(e)):
                new_op = ARITHMETIC[type(e.op)]()
                self._add("arithmetic", e, f"({ast.unparse(ast.BinOp(e.left, new_op, e.right))})")
        elif isinstance(e, ast.UnaryOp) and isinstance(e.op, ast.USub | ast.Not):
            self._add("negate", e, f"({ast.unparse(e.operand)})")
        elif isinstance(e, ast.IfExp):
            self._add("negate", e.test, f"(not ({ast.unparse(e.test)}))")
        elif isinstance(e, ast.Call):
            name = _called(e)
            if name == "cast" or name.endswith(("Error", "Warning")):
                return
            self._swapped(e, name)
        self._inside(e)

    def _swapped(self, e: ast.Call, name: str) -> None:
        if len(e.args) < 2 or name in FIXED or any(map(_text, e.args[:2])):
            return
        one, two = e.args[:2]
        if ast.dump(one) != ast.dump(two) and not isinstance(one, ast.Starred):
            new = ast.Call(e.func, [two, one, *e.args[2:]], e.keywords)
            self._add("arguments", e, ast.unparse(new))

    def _inside(self, e: ast.expr) -> None:
        for child in ast.iter_child_nodes(e):
            if isinstance(child, ast.comprehension):
                self._expression(child.iter)
                for test in child.ifs:
                    self._add("negate", test, f"not ({ast.unparse(test)})")
                    self._expression(test)
            elif isinstance(child, ast.keyword):
                self._expression(child.value)
            elif isinstance(child, ast.expr):
                self._expression(child)


def documented(node: Function) -> int:
    """How many statements the docstring is."""
    first = node.body[0]
    return int(isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant))


def _called(e: ast.Call) -> str:
    return e.func.attr if isinstance(e.func, ast.Attribute) else getattr(e.func, "id", "")


def _tells(s: ast.stmt) -> bool:
    return isinstance(s, ast.Expr) and isinstance(s.value, ast.Call) and _called(s.value) in TELLS


def _for_types(s: ast.stmt) -> bool:
    return isinstance(s, ast.If) and "TYPE_CHECKING" in ast.unparse(s.test)


def _text(node: ast.AST) -> bool:
    return any(
        isinstance(n, ast.JoinedStr)
        or (isinstance(n, ast.Constant) and isinstance(n.value, str | bytes))
        for n in ast.walk(node)
    )


def _listed(e: ast.BinOp) -> bool:
    return any(isinstance(side, ast.List | ast.Tuple) for side in (e.left, e.right))


def _is_truth(e: ast.expr) -> bool:
    return isinstance(e, ast.Compare | ast.BoolOp) or (
        isinstance(e, ast.UnaryOp) and isinstance(e.op, ast.Not)
    )

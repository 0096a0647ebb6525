"""What a node of a tree is, for those who translate it."""

from __future__ import annotations

import ast

VALUES = (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.BinOp, ast.UnaryOp)


def is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def is_nothing(node: ast.AST) -> bool:
    """None, or an empty list."""
    return (isinstance(node, ast.List) and not node.elts) or ast.unparse(node) == "None"


def one_is_large(node: ast.BinOp) -> bool:
    sides = (node.left, node.right)
    return any(map(is_large, sides)) and not all(isinstance(s, ast.Constant) for s in sides)


def is_large(node: ast.AST) -> bool:
    """A whole number that no byte holds."""
    number = isinstance(node, ast.Constant) and type(node.value) is int and node.value > 255
    return number or is_negative(node)


def is_negative(node: ast.AST) -> bool:
    """-1, or another such number."""
    minus = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
    operand = node.operand if minus else None  # type: ignore[attr-defined]
    return isinstance(operand, ast.Constant) and type(operand.value) is int


def may_be_float(index: ast.AST) -> bool:
    """An index, or one of several, is computed; none is a slice."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    floats = [p for p in parts if isinstance(p, ast.Constant) and isinstance(p.value, float)]
    computed = [part for part in parts if isinstance(part, VALUES) and not is_negative(part)]
    return bool(floats or computed) and not has_slice(index)


def has_slice(index: ast.AST) -> bool:
    return any(isinstance(part, ast.Slice) for part in ast.walk(index))


def is_dotted(node: ast.AST) -> bool:
    """A name, with or without attributes: it may be evaluated twice."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def gives_contours(node: ast.AST) -> bool:
    called = node.func if isinstance(node, ast.Call) else None
    return (getattr(called, "attr", None) or getattr(called, "id", None)) == "findContours"


def has_float(node: ast.BinOp) -> bool:
    """One side is a float for sure, and so both Pythons divide alike."""
    for side in (node.left, node.right):
        if isinstance(side, ast.Constant) and isinstance(side.value, float):
            return True
        called = side.func if isinstance(side, ast.Call) else None
        if isinstance(called, ast.Name) and called.id == "float":
            return True
    return False

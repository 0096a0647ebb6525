"""Variables of list comprehensions, which Python 2 leaves behind: ``[x for x in xs]; print x``.

Where such a name is read elsewhere in the function, the comprehension gets a variable of another
name, and a condition that is always true and sets the one of old:
``[x for _py2_x in xs if [x := _py2_x]]``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from pycaffe_dist.py2.edits import Edits
from pycaffe_dist.py2.strings import OURS

COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
FUNCTIONS = (ast.FunctionDef, ast.Lambda)


def leave_variables(tree: ast.Module, edits: Edits) -> int:
    """Note the edits that list comprehensions need; how many of them do."""
    return sum(_leave(comprehension, edits) for comprehension in _leaking(tree))


class Leak:
    """A list comprehension, the scope that it is in, and the comprehensions around it."""

    def __init__(self, node: ast.ListComp, scope: ast.AST, around: tuple[ast.expr, ...]) -> None:
        self.node, self.scope, self.around = node, scope, around

    @cached_property
    def names(self) -> set[str]:
        """The variables that are read outside, and that Python 3 lets be set from here."""
        fixed = [c for c in self.around if not isinstance(c, ast.ListComp)]
        bound = {name for c in fixed for name in _variables(c)}
        return (set(_variables(self.node)) & set(_read(self.scope, self.node))) - bound


def _leaking(tree: ast.Module) -> Iterator[Leak]:
    for leak in _list_comprehensions(tree, tree, ()):
        if leak.names:
            yield leak


def _list_comprehensions(
    node: ast.AST, scope: ast.AST, around: tuple[ast.expr, ...]
) -> Iterator[Leak]:
    """All below a node; not those in a class's body or in what another iterates over."""
    if isinstance(node, ast.ListComp) and not isinstance(scope, ast.ClassDef):
        yield Leak(node, scope, around)
    if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
        scope = node
    if isinstance(node, COMPREHENSIONS):
        around = (*around, node)
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.comprehension):
            for condition in child.ifs:
                yield from _list_comprehensions(condition, scope, around)
        else:
            yield from _list_comprehensions(child, scope, around)


def _variables(comprehension: ast.expr) -> Iterator[str]:
    for generator in comprehension.generators:  # type: ignore[attr-defined]
        yield from (name.id for name in ast.walk(generator.target) if isinstance(name, ast.Name))


def _read(node: ast.AST, leak: ast.ListComp) -> Iterator[str]:
    """The names read below a node, and not by a comprehension's own variable."""
    if node is leak:
        return
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        yield node.id
    own = set(_variables(node)) if isinstance(node, COMPREHENSIONS) else ()
    for child in ast.iter_child_nodes(node):
        yield from (name for name in _read(child, leak) if name not in own)


def _leave(leak: Leak, edits: Edits) -> bool:
    for generator in leak.node.generators:
        targets = [n for n in ast.walk(generator.target) if isinstance(n, ast.Name)]
        left = [target for target in targets if target.id in leak.names]
        for target in left:
            new = f"{OURS}_{target.id}"
            edits.replace(edits.begin(target), edits.end(target), new)
        if left:
            sets = ", ".join(f"({target.id} := {OURS}_{target.id})" for target in left)
            edits.insert(edits.after_parentheses(generator.iter), f" if [{sets}] ")
    return True

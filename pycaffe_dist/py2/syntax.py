"""The first step: what Python 3 cannot parse, written as Python 3 writes it."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache

from fissix import pygram, pytree, refactor
from fissix.pgen2 import driver, token
from fissix.pgen2.parse import ParseError
from fissix.pgen2.tokenize import TokenError

from pycaffe_dist.py2.values import Value

# fissix's fixers that change syntax, and what to call what each of them changes.
FIXERS = {
    "except": "except X, e",
    "exec": "exec statement",
    "funcattrs": "func_name and the like",
    "metaclass": "__metaclass__",
    "methodattrs": "im_func and the like",
    "ne": "<>",
    "numliterals": "0777 and 10L",
    "paren": "lists without parentheses in comprehensions",
    "print": "print statement",
    "raise": "raise E, value",
    "repr": "backticks",
    "sys_exc": "sys.exc_type and the like",
    "throw": "throw(E, value)",
    "tuple_params": "tuples as parameters",
}
_IN_PLACE = ("metaclass", "print", "tuple_params")  # give no new node, and change the tree
TAB = 8  # columns
ESCAPES = "\n\\'\"abfnrtv01234567x"  # what a backslash may precede in a plain string


class Python2SyntaxError(SyntaxError):
    """It is no Python 2 either."""


def to_python3(text: str, path: str, changes: Counter[str]) -> str:
    """The text of a module in Python 3's syntax; lines keep their numbers.

    Raises:
        Python2SyntaxError: it cannot be parsed, neither with print as a statement nor without.
    """
    text = _even_indentation(text.replace("\r\n", "\n").rstrip() + "\n", changes)
    tree = _parse(text, path)
    _tool(changes).refactor_tree(tree, path)
    unicode = "unicode_literals" in tree.future_features
    for leaf in tree.leaves():
        if leaf.type == token.STRING:
            new = _literal(leaf.value, unicode)
            if new != leaf.value:
                changes["string literals"] += 1
                leaf.value = new
    return str(tree)


def _literal(text: str, unicode: bool) -> str:
    """A string literal: Python 3 has no ur'', and takes a plain string's backslash-u for more."""
    prefix = re.match(r"\w*", text)[0].lower()  # type: ignore[index]
    if prefix == "ur":
        return text[1:]
    if prefix or unicode:
        return text
    # A byte that is no ASCII becomes the character that stands for it in text that was read.
    return re.sub(r"(?s)\\(x[89a-fA-F][0-9a-fA-F]|.)", _escape, text)


def _escape(match: re.Match[str]) -> str:
    if match[1][0] not in ESCAPES:
        return "\\" + match[0]
    return f"\\udc{match[1][1:]}" if len(match[1]) == 3 else match[0]


def _parse(text: str, path: str) -> Value:
    features = refactor._detect_future_features(text)
    grammars = [pygram.python_grammar, pygram.python_grammar_no_print_statement]
    if "print_function" in features:
        grammars.reverse()
    problem: Exception | None = None
    for grammar in grammars:
        try:
            tree = driver.Driver(grammar, convert=pytree.convert).parse_string(text)
        except (ParseError, TokenError, IndentationError) as e:
            problem = problem or e
        except KeyError as e:  # what is no operator, nor anything else: a superscript, say
            problem = problem or _character(e.args[0], text)
        else:
            tree.future_features = features
            return tree
    assert problem is not None
    raise Python2SyntaxError(f"{problem}", (path, *_where(problem, text)))


def _character(character: str, text: str) -> SyntaxError:
    before = text[: text.find(character)]
    problem = SyntaxError(f"invalid character {character!r}")
    problem.lineno, problem.offset = before.count("\n") + 1, len(before) - before.rfind("\n") - 1
    return problem


def _where(problem: Exception, text: str) -> tuple[int, int, str]:
    """Line, column and the line itself."""
    line, column = 1, 0
    if isinstance(problem, ParseError):
        line, column = problem.context[1]
    elif isinstance(problem, TokenError):
        line, column = problem.args[1]
    elif isinstance(problem, SyntaxError):
        line, column = problem.lineno or 1, problem.offset or 0
    lines = text.splitlines()
    return line, column + 1, lines[min(line, len(lines)) - 1] if lines else ""


@cache
def _fixers() -> Value:
    names = [f"fissix.fixes.fix_{name}" for name in FIXERS]
    return refactor.RefactoringTool(names)


def _tool(changes: Counter[str]) -> Value:
    """Fissix's tool, which counts into ``changes`` what it changes."""
    tool = _fixers()
    for fixer in (*tool.pre_order, *tool.post_order):
        name = type(fixer).__module__.rpartition("fix_")[2]
        fixer.transform = _counting(type(fixer).transform.__get__(fixer), name, changes)
    return tool


def _counting(transform: Value, name: str, changes: Counter[str]) -> Value:
    def counted(node: Value, results: Value) -> Value:
        before = str(node)
        new = transform(node, results)
        if new is not None or (name in _IN_PLACE and str(node) != before):
            changes[FIXERS[name]] += 1
        if new is not None:
            _keep_lines(new, before.count("\n") - str(new).count("\n"))
        return new

    return counted


def _keep_lines(node: Value, lost: int) -> None:
    """Lines that were continued by a backslash, and are one now, get their number back."""
    *_, last = node.leaves()
    if lost > 0 and last.value == ")":
        last.prefix = "\n" * lost + last.prefix


def _even_indentation(text: str, changes: Counter[str]) -> str:
    """Tabs in front of a line as spaces, where a file has lines that begin with either."""
    fronts = re.findall(r"^[ \t]+(?=\S)", text, re.MULTILINE)
    if not (any("\t" in front for front in fronts) and any(" " in front for front in fronts)):
        return text
    changes["tabs among spaces"] += sum("\t" in front for front in fronts)
    return re.sub(r"^[ \t]+", lambda m: m[0].expandtabs(TAB), text, flags=re.MULTILINE)

"""Write docs/python.md: every name of the Python API, its annotations and what it is for.

python scripts/make_api_docs.py            # write it
python scripts/make_api_docs.py --check    # fail if it is not what would be written

Either way it fails where a name has no docstring, or an argument or a result no annotation.
"""

import inspect
import sys
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

import pycaffe_dist as caffe
from pycaffe_dist import coord_map, draw, io, pycaffe
from pycaffe_dist.blob import Blob
from pycaffe_dist.pycaffe.solver import Solver

PAGE = Path(__file__).resolve().parent.parent / "docs" / "python.md"
MODULES = (io, draw, coord_map)
HEAD = """# Python

Written by `scripts/make_api_docs.py` from the docstrings. `import pycaffe_dist as caffe` gives
pycaffe's names, and some of our own; each has a longer text in `help(caffe.NAME)`.
"""


@dataclass
class Reference:
    """The page, and what is missing for it."""

    parts: list[str] = field(default_factory=lambda: [HEAD])
    problems: list[str] = field(default_factory=list)
    shown: dict[type, str] = field(default_factory=dict)  # classes and their names, so far

    def add_class(self, name: str, kind: type) -> None:
        rows = [self.row(f"{name}.{m}", m, value) for m, value in members(kind, self.shown)]
        base = next((self.shown[each] for each in kind.__mro__ if each in self.shown), "")
        as_base = f" It has what [{base}](#{base.lower()}) has." if base else ""
        self.parts += [f"## {name}", self.first_line(name, kind) + as_base]
        self.shown[kind] = name
        if rows:
            self.parts.append("\n".join(["| name | what it is for |", "|---|---|", *rows]))

    def add_functions(self, title: str, found: dict[str, object]) -> None:
        rows = [self.row(f"{title}: {name}", name, value) for name, value in found.items()]
        self.parts += [f"## {title}", "\n".join(["| name | what it is for |", "|---|---|", *rows])]

    def row(self, where: str, name: str, value: object) -> str:
        call = getattr(value, "__func__", value)
        if isinstance(call, property):
            if inspect.signature(call.fget).return_annotation is inspect.Signature.empty:
                self.problems.append(f"{where}: its value has no annotation")
            shown = name
        else:
            shown = f"{name}({', '.join(self.arguments(where, call))})"
        return f"| `{shown}` | {self.first_line(where, call)} |".replace("\n", " ")

    def arguments(self, where: str, call: object) -> list[str]:
        signature, names = inspect.signature(call), []
        for p in signature.parameters.values():
            if p.name in ("self", "cls"):
                continue
            if p.annotation is p.empty:
                self.problems.append(f"{where}: its argument {p.name} has no annotation")
            stars = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
            names.append(stars + p.name)
        if signature.return_annotation is signature.empty:
            self.problems.append(f"{where}: its result has no annotation")
        return names

    def first_line(self, where: str, value: object) -> str:
        text = inspect.getdoc(value)
        if not text:
            self.problems.append(f"{where}: has no docstring")
            return ""
        first = " ".join(text.partition("\n\n")[0].split())
        return first.replace("``", "`").replace("|", "\\|")


def members(kind: type, shown: Container[type] = ()) -> Iterator[tuple[str, object]]:
    """Public methods and properties of a class and of our classes that it is made of, if these
    are not ``shown`` elsewhere.
    """
    found: dict[str, object] = {}
    for each in reversed(kind.__mro__):
        if each.__module__.startswith("pycaffe_dist") and each not in shown:
            found |= vars(each)
    for name, value in found.items():
        call = getattr(value, "__func__", value)
        if not name.startswith("_") and (inspect.isfunction(call) or isinstance(call, property)):
            yield name, value


def functions(module: ModuleType) -> dict[str, object]:
    """The public functions that a module has, wherever it has them from of ours."""
    return {
        name: value
        for name, value in sorted(vars(module).items())
        if inspect.isfunction(value)
        and not name.startswith("_")
        and value.__module__ == module.__name__.replace("pycaffe_dist.", "pycaffe_dist.pycaffe.")
    }


def reference() -> Reference:
    found = Reference()
    names = {name: getattr(caffe, name) for name in sorted(pycaffe.HOMES)}
    calls = {n: v for n, v in names.items() if inspect.isfunction(v)}
    found.add_functions("Functions", calls)
    for name, value in {"Blob": Blob, "Solver": Solver, **names}.items():
        if inspect.isclass(value):
            found.add_class(name, value)
    for module in MODULES:
        found.add_functions(module.__name__.replace("pycaffe_dist", "caffe"), functions(module))
    return found


def main(argv: list[str]) -> int:
    found = reference()
    text = "\n\n".join(part.strip() for part in found.parts) + "\n"
    for problem in found.problems:
        print(problem)
    if found.problems:
        return 1
    if "--check" not in argv:
        PAGE.write_text(text)
    elif not PAGE.exists() or PAGE.read_text() != text:
        print("docs/python.md is not what the docstrings say: python scripts/make_api_docs.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

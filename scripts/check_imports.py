"""Fail where a module imports what its room may not know, or where modules import in a circle.

    make lint                                  # runs this among others
    python scripts/check_imports.py            # alone
    python scripts/check_imports.py --write    # draws docs/imports.svg anew

The table below is the only one; docs/architecture.md shows it as a picture.
"""

import ast
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from imports_svg import drawn

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "pycaffe_dist"
PICTURE = ROOT / "docs" / "imports.svg"

# Modules outside, and the only places (paths below the package) that may import them.
OWNERS = {
    "mpi4py": ("parallel/transport/mpi.py",),
    "cupy": ("engines/cupy/",),
    "llvmlite": ("engines/onednn/core/jit.py",),
    "google.protobuf": ("proto/", "data/", "tools/", "cli/_upgrade.py"),
    "h5py": ("proto/hdf5", "data/", "py2/shadows/"),
    "lmdb": ("data/", "py2/shadows/"),
    "cramjam": ("data/leveldb/",),
    "crc32c": ("data/leveldb/", "proto/seal.py"),
    "PIL": ("data/", "pycaffe/io.py", "py2/scipy_misc.py"),
    "fissix": ("py2/syntax.py",),
    "onnx": ("onnx/", "tools/export.py", "engines/runtime/cut.py"),
    "onnxruntime": ("onnx/check.py", "engines/runtime/libraries.py"),
    "openvino": ("engines/runtime/libraries.py",),
}


@dataclass(frozen=True)
class Room:
    """Modules that belong together: folders end in a slash; the longest name that fits counts."""

    holds: str
    knows: str  # the rooms whose modules they may import, besides their own
    names: str = ""  # those whose types they may name, which is no import when the program runs


# Every module is in a room, and no room knows one that knows it.
ROOMS = {
    "errors": Room("errors.py version.py", ""),
    "helpers": Room(
        "aliases.py caffe_log.py events.py files.py npy.py optional.py pictures.py "
        "pycaffe/as_caffe.py python2.py rng.py safetensors.py threads.py user_modules.py",
        "errors",
    ),
    "proto": Room("proto/", "errors helpers"),
    "values": Room(
        "memory.py pool.py blob.py fillers.py boxes.py channels.py update_step.py engines/base.py",
        "errors helpers proto",
        names="layer net",
    ),
    "words": Room(
        "pycaffe/__init__.py pycaffe/net_spec.py pycaffe/python_base.py pycaffe/vectors.py",
        "errors helpers proto values",
        names="pycaffe tools",
    ),
    "layer": Room(
        "layer.py registry.py learnable.py", "errors helpers proto values", names="layer"
    ),
    "data": Room("data/", "errors helpers proto values"),
    "layers": Room("layers/", "errors helpers proto values words layer data"),
    "engines": Room("engines/", "errors helpers proto values layer data layers", names="net"),
    "net": Room(
        "net.py debug_info.py hooks.py recycling.py sketch.py facts.py loading.py sidecar.py",
        "errors helpers proto values layer",
    ),
    "solver": Room("solver.py solvers/", "errors helpers proto values layer engines net"),
    "parallel": Room("parallel/", "errors helpers proto values layer layers engines net solver"),
    "report": Room("report/", "errors helpers proto values engines net"),
    "onnx": Room("onnx/", "errors helpers proto values layer layers net"),
    "runtime": Room("engines/runtime/", "errors helpers proto values layer engines net onnx"),
    "pycaffe": Room(
        "pycaffe/",
        "errors helpers proto values words layer data engines net solver parallel report runtime",
    ),
    "py2": Room("py2/", "errors helpers proto values words data pycaffe"),
    "testing": Room(
        "testing/", "errors helpers proto values layer layers engines net solver parallel"
    ),
    "pytorch": Room("pytorch/", "errors helpers proto values layer layers net"),
    "tools": Room(
        "tools/",
        "errors helpers proto values layer data layers engines net solver parallel report words "
        "pycaffe onnx pytorch runtime",
    ),
    "board": Room("board/", "errors helpers proto values layer data engines net pycaffe tools"),
    "cli": Room(
        "cli/ __main__.py",
        "errors helpers proto values layer data engines net solver parallel report pycaffe py2 "
        "onnx tools board runtime",
    ),
    # The names under which scripts import pycaffe's modules.
    "names": Room(
        "__init__.py _caffe.py classifier.py coord_map.py detector.py draw.py io.py net_spec.py",
        "errors words pycaffe layers",
    ),
}


@dataclass(frozen=True)
class Import:
    line: int
    name: str  # dotted
    runs: bool  # False: for types alone


def imports(path: Path) -> Iterator[Import]:
    """Everything a file imports, also inside functions."""
    tree = ast.parse(path.read_text(), str(path))
    typed = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for statement in node.body
        for inner in ast.walk(statement)
    }
    for node in ast.walk(tree):
        runs = id(node) not in typed
        if isinstance(node, ast.Import):
            yield from (Import(node.lineno, alias.name, runs) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                yield Import(node.lineno, "." * node.level + (node.module or ""), runs)
            else:
                names = (f"{node.module}.{alias.name}" for alias in node.names)
                yield from (Import(node.lineno, name, runs) for name in names)


def below(name: str, module: str) -> bool:
    return name == module or name.startswith(module + ".")


@cache
def places() -> Mapping[str, str]:
    return {place: name for name, room in ROOMS.items() for place in room.holds.split()}


def room_of(path: str) -> str | None:
    """The room of a module, given by its path below the package."""
    fitting = [p for p in places() if path == p or (p.endswith("/") and path.startswith(p))]
    return places()[max(fitting, key=len)] if fitting else None


def path_of(name: str) -> str | None:
    """The path below the package of the module of ours that a dotted name is, or is in."""
    parts = name.split(".")[1:]
    longest_first = [Path(*parts[:n]) for n in range(len(parts), 0, -1)]
    paths = [f for p in longest_first for f in (p / "__init__.py", p.with_suffix(".py"))]
    there = (path for path in paths if (PACKAGE / path).is_file())
    # Of a module that is not there: its room.
    named = (path for path in paths if path.as_posix() in places())
    inside = (path for path in paths if room_of(path.as_posix()))
    found = next(there, None) or next(named, None) or next(inside, None)
    return found.as_posix() if found else None


def problems(path: Path) -> Iterator[str]:
    here = path.relative_to(PACKAGE).as_posix()
    room = room_of(here)
    if room is None:
        yield f"{path.relative_to(ROOT)}:1: is in no room; put it into the table in {__file__}"
        return
    for found in imports(path):
        where = f"{path.relative_to(ROOT)}:{found.line}"
        if found.name.startswith("."):
            yield f"{where}: relative import; write the whole name"
        for module, owners in OWNERS.items():
            if below(found.name, module) and not here.startswith(owners):
                yield f"{where}: only {', '.join(owners)} may import {module}"
        if below(found.name, "pycaffe_dist") and (other := path_of(found.name)) is not None:
            known = {room, *ROOMS[room].knows.split()}
            known |= set() if found.runs else set(ROOMS[room].names.split())
            if other != "__init__.py" and (name := room_of(other)) not in known:
                yield f"{where}: {room} must not know {name}"


def circles() -> Iterator[str]:
    """Modules that import each other, by however many steps, inside functions too."""
    files = {p.relative_to(PACKAGE).as_posix(): p for p in PACKAGE.rglob("*.py")}
    graph: dict[str, set[str]] = {}
    for here, path in files.items():
        named = {path_of(i.name) for i in imports(path) if i.runs and below(i.name, "pycaffe_dist")}
        graph[here] = {other for other in named if other in files} - {here, "__init__.py"}
    while ends := {here for here, others in graph.items() if not others & graph.keys()}:
        for here in ends:
            del graph[here]
    while ends := graph.keys() - {other for others in graph.values() for other in others}:
        for here in ends:
            del graph[here]
    if graph:
        yield f"pycaffe_dist: modules import each other: {', '.join(sorted(graph))}"


def main(args: tuple[str, ...] = ()) -> int:
    picture = drawn({name: room.knows.split() for name, room in ROOMS.items()})
    if "--write" in args:
        PICTURE.write_text(picture)
    found = sorted({p for path in PACKAGE.rglob("*.py") for p in problems(path)})
    found += circles()
    if not PICTURE.is_file() or PICTURE.read_text() != picture:
        found.append(f"{PICTURE.relative_to(ROOT)}: is old: run scripts/check_imports.py --write")
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(tuple(sys.argv[1:])))

"""Fail where a module imports what its room may not know.

    make lint                          # runs this among others
    python scripts/check_imports.py    # alone

The rooms and who may know whom are in docs/architecture.md; this is that table, enforced.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "pycaffe_dist"

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
}
# Rooms inside, and the rooms they must never import.
FORBIDDEN = {
    "layers/": ("parallel", "report", "cli", "net", "solver", "solvers"),
    "layer.py": ("parallel", "report", "cli", "net", "solver", "solvers"),
    "net.py": ("parallel", "report", "cli", "solver", "solvers"),
    "solver.py": ("parallel", "report", "cli"),
    "solvers/": ("parallel", "report", "cli"),
    "memory.py": ("layers", "net", "solver", "solvers", "parallel", "report", "cli"),
    "proto/": ("layers", "net", "solver", "solvers", "parallel", "report", "cli", "data", "tools"),
    "report/": ("cli", "parallel", "layers", "solver", "solvers"),
    "parallel/": ("cli", "report"),
    "engines/": ("cli", "report", "parallel", "net", "solver", "solvers"),
    "data/": ("cli", "report", "parallel", "solver", "solvers"),
    "tools/": ("cli",),
    "py2/": ("cli", "report", "parallel", "net", "solver", "solvers", "tools"),
}


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """(line, dotted name) of everything a file imports, also inside functions."""
    for node in ast.walk(ast.parse(path.read_text(), str(path))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                yield node.lineno, "." * node.level + (node.module or "")
            else:
                yield node.lineno, node.module or ""
                yield from ((node.lineno, f"{node.module}.{a.name}") for a in node.names)


def below(name: str, module: str) -> bool:
    return name == module or name.startswith(module + ".")


def problems(path: Path) -> Iterator[str]:
    here = path.relative_to(PACKAGE).as_posix()
    for line, name in imports(path):
        where = f"{path.relative_to(ROOT)}:{line}"
        if name.startswith("."):
            yield f"{where}: relative import; write the whole name"
        for module, owners in OWNERS.items():
            if below(name, module) and not here.startswith(owners):
                yield f"{where}: only {', '.join(owners)} may import {module}"
        for room, rooms in FORBIDDEN.items():
            if here.startswith(room):
                for other in rooms:
                    if below(name, f"pycaffe_dist.{other}"):
                        yield f"{where}: {room} must not know {other}"


def main() -> int:
    found = sorted({p for path in PACKAGE.rglob("*.py") for p in problems(path)})
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

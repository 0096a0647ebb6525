"""Both commands of the README with every supported Python, each in a fresh clone.

    make test-pythons
    python scripts/test_pythons.py 3.12 3.13    # these only
    python scripts/test_pythons.py --smoke      # the smoke tests of this tree with the newest one

Interpreters are looked for in PATH and among pyenv's.  For a version of which there is none, pip
must find a wheel of everything that is installed.  Clones (of the last commit) and logs are in
build/pythons; needs the network.
"""

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build" / "pythons"
SUPPORTED = ("3.10", "3.11", "3.12", "3.13", "3.14")
COMMANDS = ("train", "test")
# Printed by the newest interpreter: 3.10 cannot read TOML, and pip takes the markers of its own.
REQUIREMENTS = """
import tomllib
project = tomllib.load(open("pyproject.toml", "rb"))["project"]
extras = project["optional-dependencies"]
print(*project["dependencies"], *extras["plot"], *extras["mpi"], *extras["dev"], sep="\\n")
"""


def interpreters() -> dict[str, Path]:
    """The newest interpreter of each supported version that is on this machine."""
    found: dict[str, tuple[tuple[int, ...], Path]] = {}
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    for version in SUPPORTED:
        in_path = shutil.which(f"python{version}")
        places = [Path(in_path)] if in_path else []
        places += pyenv.glob(f"versions/{version}.*/bin/python{version}")
        for place in places:
            told = subprocess.run([place, "--version"], capture_output=True, text=True)
            exact = re.fullmatch(r"Python (\d+)\.(\d+)\.(\d+)\s*", told.stdout)
            if told.returncode == 0 and exact:
                found[version] = max(
                    found.get(version, ((), place)), (tuple(map(int, exact.groups())), place)
                )
    return {version: place for version, (_, place) in found.items()}


def fresh_clone(version: str) -> Path:
    folder = FOLDER / version
    shutil.rmtree(folder, ignore_errors=True)
    clone = folder / "main"
    subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
    if (ROOT.parent / "shared").exists():  # recorded answers that are not in the repository
        (folder / "shared").symlink_to(ROOT.parent / "shared")
    return clone


def make(clone: Path, command: str, python: Path) -> str:
    """Run a command of the Makefile; how it went."""
    log = clone.parent / f"{command}.log"
    begin = time.monotonic()
    with log.open("w") as file:
        done = subprocess.run(
            ["make", command, f"PYTHON={python}"], cwd=clone, stdout=file, stderr=file
        )
    word = "FAILED" if done.returncode else "passed"
    return f"{word}, {time.monotonic() - begin:.0f} s"


def wheels(version: str, python: Path) -> str:
    """Whether pip finds a wheel of everything for a Python that is not on this machine."""
    asked = subprocess.check_output([python, "-c", REQUIREMENTS], cwd=ROOT, text=True).splitlines()
    folder = FOLDER / version
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    pip = [python, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    only = ["--only-binary=:all:", "--python-version", version, "--dest", folder / "wheels"]
    done = subprocess.run([*pip, *only, *asked], capture_output=True, text=True)
    (folder / "wheels.log").write_text(done.stdout + done.stderr)
    count = len(list((folder / "wheels").glob("*.whl")))
    shutil.rmtree(folder / "wheels", ignore_errors=True)
    return "FAILED: not every wheel is there" if done.returncode else f"all {count} wheels found"


def smoke(version: str, python: Path) -> int:
    """The smoke tests of this tree, with the tests' own tools and nothing else of `dev`."""
    folder = FOLDER / f"smoke-{version}"
    subprocess.run([python, "-m", "venv", folder], check=True)
    asked = subprocess.check_output([python, "-c", REQUIREMENTS], cwd=ROOT, text=True).splitlines()
    tools = [row for row in asked if row.startswith(("pytest", "hypothesis"))]
    own = folder / "bin" / "python"
    pip = [own, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--editable", ROOT, *tools], check=True)
    print(f"smoke tests with Python {version} ({python})", flush=True)
    return subprocess.run([own, "-m", "pytest", "tests/smoke"], cwd=ROOT).returncode


def main(asked: list[str]) -> int:
    found = interpreters()
    newest = max(found, key=lambda version: int(version.split(".")[1]))
    if asked == ["--smoke"]:
        return smoke(newest, found[newest])
    failed = []
    line = "{:8} {:18} {}"
    print(line.format("Python", *(f"make {command}" for command in COMMANDS)), flush=True)
    for version in asked or SUPPORTED:
        if version in found:
            clone = fresh_clone(version)
            results = [make(clone, command, found[version]) for command in COMMANDS]
        else:
            results = ["no interpreter", wheels(version, found[newest])]
        print(line.format(version, *results), flush=True)
        if any("FAILED" in result for result in results):
            failed.append(FOLDER / version)
    if failed:
        print("logs:", *failed)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

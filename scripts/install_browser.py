"""See to it that Chromium and its driver are there, for `make test-browser`.

As root on a machine with apt-get they are installed; otherwise it says what to do.
"""

import os
import shutil
import subprocess
import sys

PACKAGES = ("chromium", "chromium-driver")
PROGRAMS = ("chromium", "chromedriver")


def missing() -> list[str]:
    return [name for name in PROGRAMS if shutil.which(name) is None]


def main() -> int:
    if not missing():
        return 0
    if os.geteuid() == 0 and shutil.which("apt-get"):
        quiet = {"env": {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}}
        subprocess.run(["apt-get", "update", "-qq"], check=False, **quiet)
        words = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *PACKAGES]
        subprocess.run(words, check=False, stdout=subprocess.DEVNULL, **quiet)
    if not (absent := missing()):
        return 0
    print(
        f"The board's tests need a browser, and {' and '.join(absent)} cannot be found. "
        f"On Debian: sudo apt-get install {' '.join(PACKAGES)}",
        file=sys.stderr,
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())

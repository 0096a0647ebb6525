"""How fast LevelDBs are read, against LevelDB itself (plyvel, Python 3.12 or older).

    make bench
    python scripts/bench_leveldb.py

Both read every record of one database, in turns, as bytes; the fastest of some rounds counts, in
seconds of the CPU, which other work on the machine does not lengthen.
Records are of 3 kB and 200 kB, of noise (which LevelDB stores as it is) or smooth (which Snappy
compresses).  `first` opens the database anew and reads it once; `again` is every later epoch, where
blocks that are remembered are not checked again.  plyvel's `checked` looks at checksums, as our
first epoch always does.  Bar: 0.8 times the speed of plyvel.
"""

import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import plyvel

from pycaffe_dist.data.leveldb_source import LevelDBSource

SIZES = {3_000: 5_000, 200_000: 100}
ROUNDS = 40
# Those of Caffe's converters.
SETTINGS = {"block_size": 64 << 10, "write_buffer_size": 256 << 20, "max_open_files": 100}


def make(path, size, count, smooth):
    rng = np.random.default_rng(0)
    with plyvel.DB(path, create_if_missing=True, **SETTINGS) as database:
        for i in range(count):
            pixels = rng.integers(0, 256, size // 8 if smooth else size, dtype=np.uint8)
            database.put(b"%08d" % i, pixels.repeat(8 if smooth else 1).tobytes())
        database.compact_range()  # out of the log, which LevelDB would empty when it is opened


def theirs(database, checked=False):
    for _ in database.iterator(verify_checksums=checked):
        pass


def theirs_anew(path, checked=False):
    with plyvel.DB(path, **SETTINGS) as database:
        theirs(database, checked)


def ours(source, count):
    for _ in range(count):
        source.read()


def minima(works):
    best = dict.fromkeys(works, float("inf"))
    for _ in range(ROUNDS):
        for name, work in works.items():
            begin = time.thread_time()
            work()
            best[name] = min(best[name], time.thread_time() - begin)
    return best


def compare(folder, size, count, smooth):
    path = str(folder / f"{size}_{smooth}")
    make(path, size, count, smooth)
    first = {
        "plyvel": lambda: theirs_anew(path),
        "checked": lambda: theirs_anew(path, True),
        "ours": lambda: ours(LevelDBSource(path), count),
    }
    kind = f"{size // 1000:3} kB, {'smooth' if smooth else 'noise'}"
    report(f"{kind}, first", minima(first), count)
    with plyvel.DB(path, **SETTINGS) as database:
        source = LevelDBSource(path)
        ours(source, count)
        again = {
            "plyvel": lambda: theirs(database),
            "checked": lambda: theirs(database, True),
            "ours": lambda: ours(source, count),
        }
        report(f"{kind}, again", minima(again), count)


def report(name, best, count):
    micros = {who: seconds / count * 1e6 for who, seconds in best.items()}
    print(
        f"{name:22} plyvel {micros['plyvel']:7.2f}, checked {micros['checked']:7.2f}, "
        f"ours {micros['ours']:7.2f} us a record: {micros['plyvel'] / micros['ours']:.2f} times "
        f"plyvel, {micros['checked'] / micros['ours']:.2f} times checked"
    )


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        for size, count in SIZES.items():
            for smooth in (False, True):
                compare(Path(folder), size, count, smooth)
    return 0


if __name__ == "__main__":
    sys.exit(main())

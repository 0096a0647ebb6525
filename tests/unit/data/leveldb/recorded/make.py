"""The databases in this folder: real LevelDB has written them, and here is what is in them.

    python tests/unit/data/leveldb/recorded/make.py    # needs plyvel: Python 3.12 or older

A case is a function that writes to a database.  The tests give it a ``Model`` instead, which
knows what LevelDB should have kept.
"""

import random
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).parent
SMALLEST = {"write_buffer_size": 1, "block_size": 1024}  # LevelDB takes 64 KiB for 1 byte
UNFINISHED = 700  # bytes that are missing at the end of the log of a stopped writer


class Model:
    """A dictionary with the methods of a database; remembers every state it was in."""

    def __init__(self):
        self.records = {}
        self.states = {self.state}

    def put(self, key, value):
        self.write([(key, value)])

    def delete(self, key):
        self.write([(key, None)])

    def write(self, batch):
        for key, value in batch:
            if value is None:
                self.records.pop(key, None)
            else:
                self.records[key] = value
        self.states.add(self.state)

    def compact(self):
        pass

    def reopen(self):
        pass

    @property
    def state(self):
        return state_of(self.records.items())


def state_of(records):
    """A number for what is in a database, in whatever order."""
    return sum(hash(record) for record in records)


class Real:
    """The same methods on LevelDB itself."""

    def __init__(self, path, settings):
        self.path, self.settings = str(path), settings
        self.open()

    def open(self):
        import plyvel

        self.database = plyvel.DB(self.path, create_if_missing=True, **self.settings)

    def put(self, key, value):
        self.database.put(key, value)

    def delete(self, key):
        self.database.delete(key)

    def write(self, batch):
        with self.database.write_batch() as updates:
            for key, value in batch:
                if value is None:
                    updates.delete(key)
                else:
                    updates.put(key, value)

    def compact(self):
        self.database.compact_range()

    def reopen(self):
        self.database.close()
        self.open()


def noise(rng, size):
    """Bytes of which Snappy saves about half."""
    return bytes(rng.choices(b"01234567", k=size))


def log(database):
    """All in the log: odd keys, overwritten and deleted ones, values of several log blocks."""
    rng = random.Random(1)
    for i in range(200):
        database.put(b"%08d" % rng.randrange(120), b"value %d" % i)
        if i % 5 == 0:
            database.delete(b"%08d" % rng.randrange(120))
    for key in (b"", b"\0", b"\xff\xff", bytes(range(256)) * 2):
        database.put(key, b"odd")
    database.put(b"large", noise(rng, 100_000))
    database.put(b"empty", b"")
    database.write([(b"%08d" % i, noise(rng, 300)) for i in range(100, 220)] + [(b"large", None)])
    database.put(b"larger", noise(rng, 40_000))
    for i in range(20):
        database.put(b"last %d" % i, b"x" * i)


def unfinished(database):
    """As after a kill: the last batch is not all there, so LevelDB has not got it."""
    for i in range(30):
        database.put(b"%08d" % i, b"%d" % i * 50)
    if not isinstance(database, Model):
        database.write([(b"%08d" % i, b"never there") for i in range(20, 60)])


def levels(database):
    """Tables on several levels that overlap, several versions of a key, and a log over them."""
    rng = random.Random(2)
    for turn in range(12):
        for i in rng.sample(range(400), 250):
            if rng.random() < 0.15:
                database.delete(b"%06d" % i)
            else:
                database.put(b"%06d" % i, b"%d " % turn + noise(rng, rng.randrange(20, 500)))
        if turn == 5:
            database.compact()
    for i in rng.sample(range(300, 450), 60):
        database.put(b"%06d" % i, b"in the log %d" % i)


def recovered(database):
    """Opened again and again: what was in the log becomes a table of level 0 each time."""
    rng = random.Random(3)
    for turn in range(5):
        rows = [(b"%05d" % rng.randrange(60), b"%d " % turn + noise(rng, 200)) for _ in range(40)]
        database.write([*rows, (b"%05d" % rng.randrange(60), None)])
        database.reopen()
    database.delete(b"00007")


def stored(database):
    """Without compression, in large blocks, all deleted at both ends."""
    rng = random.Random(4)
    keys = [b"%08d_%s" % (i, noise(rng, 150)) for i in range(100)]
    for key in keys:
        database.put(key, rng.randbytes(1500))
    for key in (*keys[:10], *keys[90:]):
        database.delete(key)
    database.compact()


CASES = {
    log: {"write_buffer_size": 4 << 20},
    unfinished: {},
    levels: {**SMALLEST, "bloom_filter_bits": 10},
    recovered: SMALLEST,
    stored: {"compression": None, "block_size": 64 << 10},
}


def main() -> int:
    for case, settings in CASES.items():
        folder = HERE / case.__name__
        shutil.rmtree(folder, ignore_errors=True)
        database = Real(folder, settings)
        case(database)
        database.database.close()
        for name in ("LOCK", "LOG", "LOG.old"):  # the times of day, and nothing that is read
            (folder / name).unlink(missing_ok=True)
        if case is unfinished:
            (path,) = folder.glob("*.log")
            path.write_bytes(path.read_bytes()[:-UNFINISHED])
        print(f"{case.__name__}: {sorted(p.name for p in folder.iterdir())}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""One database dealt to several, record by record: PMLS-Caffe's partition_data."""

from __future__ import annotations

from contextlib import ExitStack

from pycaffe_dist.data.database import kind_of, new_database, records_of, size_of
from pycaffe_dist.errors import PcdError
from pycaffe_dist.tools.counter import Counter


def partition_data(database: str, parts: int, backend: str | None = None) -> dict[str, int]:
    """Record i goes to ``<database>_<i mod parts>``, of the same kind; the records of each.

    Raises:
        FileError: the database cannot be read, or a part exists or cannot be written.
        PcdError: there are fewer records than parts.
    """
    if parts < 1:
        raise PcdError(f"-num_partitions must be 1 or more, not {parts}")
    database = database.rstrip("/")
    kind = kind_of(database, backend)
    names = [f"{database}_{part}" for part in range(parts)]
    count = 0
    with ExitStack() as stack:
        puts = [stack.enter_context(new_database(name, kind)) for name in names]
        counter = stack.enter_context(Counter("records", size_of(database, kind)))
        for key, value in records_of(database, kind):
            puts[count % parts](key, value)
            count += 1
            counter.add()
        if count < parts:
            raise PcdError(
                f"{database}: has {count} records, too few for {parts} parts, "
                "none of which may be empty"
            )
    return {name: len(range(part, count, parts)) for part, name in enumerate(names)}

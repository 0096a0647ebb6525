"""LMDB: one file of pages, mapped into memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

from pycaffe_dist.data.backends import Backend
from pycaffe_dist.data.lmdb_source import LMDBSource
from pycaffe_dist.data.lmdb_writer import Record, count_records, new_lmdb


def records(path: str) -> Iterator[Record]:
    with closing(LMDBSource(path)) as source:
        while not source.restarts:
            yield source.read()


BACKEND = Backend("lmdb", "an LMDB", "data.mdb", LMDBSource, new_lmdb, records, count_records)

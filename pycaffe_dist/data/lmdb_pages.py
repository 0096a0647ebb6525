"""The pages of an LMDB's file, looked at before LMDB itself follows what they say.

LMDB maps the file and trusts it: a damaged page number or offset would end the process by a signal.
A file is an array of pages.  Pages 0 and 1 are meta pages, of which the one with the later
transaction counts: it names the last page and the root of a B+ tree.

    page    its number u64, pad u16, flags u16, lower u16, upper u16, an offset u16 for each node
    branch  node: number of the child's page in 48 bits, size of the key u16, key
    leaf    node: size of the value u32, flags u16, size of the key u16, key, value or its page

All branch pages are looked at, and ``MOST_LEAVES`` of the leaves; of values only where they lie.
"""

from __future__ import annotations

import mmap
import os
import struct
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pycaffe_dist.aliases import Array
from pycaffe_dist.errors import FileError
from pycaffe_dist.files import check_is_file, reading

MAGIC, VERSION = 0xBEEFC0DE, 1
BRANCH, LEAF, META = 1, 2, 8
PAGE_SIZES = [1 << n for n in range(9, 17)]
HEAD = 16  # bytes of a page's head
NODE = 8  # and of a node's
BIG, DUPLICATES = 1, 4  # flags of a leaf's node: the value has pages of its own; is a tree
SORTED_DUPLICATES = 0x04 | 0x10 | 0x20  # flags of a tree, of which Caffe's have none
MOST_LEAVES = 1 << 14
MOST_DEPTH = 32
NOWHERE = (1 << 64) - 1  # where the root of an empty tree is

_PAGE = struct.Struct("<QHHHH")
# Magic number, version, address and size of the map; of the tree of free pages (48 bytes) the page
# size; of the tree of records flags, depth, number of records and root; last page, transaction.
_META = struct.Struct("<II8x8xI44x4xHH24xQQQQ")


@dataclass
class Meta:
    """A meta page."""

    page_size: int
    flags: int
    depth: int
    entries: int
    root: int
    last: int
    transaction: int


def check_pages(path: str, shown: str) -> None:
    """Raise if an LMDB's file is cut short, or its tree leads out of it.

    Args:
        path: the file, ``data.mdb`` most often.
        shown: what to call it in a message.

    Raises:
        FileError: it is damaged, or no LMDB.
    """
    if not os.path.exists(path):
        raise FileError(f"{shown}: is not a readable LMDB: it has no {os.path.basename(path)}")
    check_is_file(path)
    size = os.path.getsize(path)
    with reading(shown, "is not a readable LMDB"):
        if size < 2 * PAGE_SIZES[0]:
            raise ValueError(f"{os.path.basename(path)} has {size} bytes")
        with open(path, "rb") as file:
            pages = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        meta = max(_metas(pages), key=lambda meta: meta.transaction)
    needed = (meta.last + 1) * meta.page_size
    if size < needed:  # reading there would end the process
        raise FileError(
            f"{shown}: data.mdb is cut short: {size} bytes, expected {needed}. Make it again."
        )
    with reading(shown, "is a damaged LMDB, make it again"):
        _Tree(pages, meta).check()


def _metas(pages: mmap.mmap) -> list[Meta]:
    first = _meta(pages, 0)
    return [_meta(pages, first.page_size), first]  # of two equal ones LMDB takes the first


def _meta(pages: mmap.mmap, at: int) -> Meta:
    if len(pages) < at + HEAD + _META.size:
        raise ValueError("it ends in a meta page")
    magic, version, *facts = _META.unpack_from(pages, at + HEAD)
    if magic != MAGIC or version != VERSION:
        raise ValueError(f"it begins with {bytes(pages[at : at + 4])!r}, not as LMDB's files do")
    meta = Meta(*facts)
    flags = _PAGE.unpack_from(pages, at)[2]
    sound = flags & META and meta.page_size in PAGE_SIZES and meta.depth <= MOST_DEPTH
    if not sound or meta.flags & SORTED_DUPLICATES:
        raise ValueError(
            f"a meta page has flags {flags}, a page size of {meta.page_size}, a tree of depth "
            f"{meta.depth} and flags {meta.flags}"
        )
    return meta


class _Tree:
    """The tree of records."""

    def __init__(self, pages: mmap.mmap, meta: Meta) -> None:
        self.pages, self.meta, self.size = pages, meta, meta.page_size

    def check(self) -> None:
        if self.meta.root == NOWHERE:
            return
        level, seen = [self.meta.root], 0
        for _ in range(1, self.meta.depth):
            level = [child for number in level for child in self._children(number)]
            seen += len(level)
            if seen > self.meta.last:
                raise ValueError("its tree has more pages than the file")
        records = sum(self._check_leaf(number) for number in level[:MOST_LEAVES])
        if len(level) <= MOST_LEAVES and records != self.meta.entries:
            raise ValueError(f"it has {records} records, and claims {self.meta.entries}")

    def _children(self, number: int) -> list[int]:
        words, at = self._nodes(number, BRANCH)
        if len(at) < 2:
            raise ValueError(f"page {number} is a branch with {len(at)} children")
        self._check_ends(number, at, words[at + 3].astype(np.int64))
        low, middle, high = (words[at + i].astype(np.int64) for i in range(3))
        children: list[int] = (low | middle << 16 | high << 32).tolist()
        return children

    def _check_leaf(self, number: int) -> int:
        """How many records it has."""
        words, at = self._nodes(number, LEAF)
        low, middle, flags, keys = (words[at + i].astype(np.int64) for i in range(4))
        values = low | middle << 16
        if (flags & DUPLICATES).any():
            raise ValueError(f"page {number} has a key with several values")
        big = (flags & BIG) != 0
        self._check_ends(number, at, keys + np.where(big, 8, values))
        for node, key, value in zip(2 * at[big], keys[big], values[big], strict=True):
            begin = number * self.size + int(node) + NODE + int(key)
            (first,) = struct.unpack_from("<Q", self.pages, begin)
            self._check_number(first)
            self._check_number(first + (HEAD + int(value) - 1) // self.size)
        return len(at)

    def _nodes(self, number: int, kind: int) -> tuple[NDArray[np.uint16], NDArray[np.int64]]:
        """A page as 16-bit words, and at which of them its nodes begin."""
        self._check_number(number)
        begin = number * self.size
        own, _, flags, lower, upper = _PAGE.unpack_from(self.pages, begin)
        sound = own == number and flags == kind and HEAD <= lower <= upper <= self.size
        if not sound or lower % 2:
            raise ValueError(
                f"page {number} calls itself {own} and has flags {flags} and room from {lower} to "
                f"{upper}"
            )
        words = np.frombuffer(self.pages, "<u2", self.size // 2, begin)
        offsets = words[HEAD // 2 : lower // 2].astype(np.int64)
        outside = (offsets < upper) | (offsets > self.size - NODE) | (offsets % 2 == 1)
        if outside.any() or not len(offsets):
            raise ValueError(f"page {number} has nodes outside of itself")
        return words, offsets // 2

    def _check_ends(self, number: int, at: NDArray[np.int64], sizes: Array) -> None:
        if (2 * at + NODE + sizes > self.size).any():
            raise ValueError(f"page {number} has nodes that do not end in it")

    def _check_number(self, number: int) -> None:
        if not 2 <= number <= self.meta.last:
            raise ValueError(f"it names the page {number} of {self.meta.last + 1}")

"""The flags that convert_imageset and convert_annoset share, and what both say at the end."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Mapping, Sequence
from typing import TypeVar

from pycaffe_dist.cli._booleans import boolean
from pycaffe_dist.cli._flags import Group, flag
from pycaffe_dist.cli._show import complain, show
from pycaffe_dist.data.database import BACKENDS
from pycaffe_dist.tools.convert_imageset import Converted, ImagesetOptions
from pycaffe_dist.tools.label_histogram import label_histogram

BOOLEANS = ("gray", "shuffle", "check_size", "encoded", "redo")
MOST_NAMED = 20  # files that something is wrong with; the rest are counted

Options = TypeVar("Options", bound=ImagesetOptions)


def add_pixels(p: argparse.ArgumentParser) -> Group:
    """What is kept of the images; the group of flags."""
    how = p.add_argument_group("what is kept of them")
    boolean(how, "gray", "read images as grey")
    text = "bring them to this size, with --resize-height; 0: as they are"
    flag(how, "resize_width", type=int, default=0, metavar="N", help=text)
    flag(how, "resize_height", type=int, default=0, metavar="N", help="with --resize-width")
    boolean(how, "check_size", "stop if images have different sizes")
    boolean(how, "encoded", "keep the bytes of an image file, not its pixels")
    flag(how, "encode_type", default="", metavar="EXT", help="png, jpg, ...; implies --encoded")
    return how


def add_database(p: argparse.ArgumentParser) -> None:
    defaults = ImagesetOptions()
    out = p.add_argument_group("the database")
    flag(out, "backend", choices=BACKENDS, default=defaults.backend, help="kind of the database")
    boolean(out, "redo", "replace a database of that name")
    text = "threads that decode images"
    flag(out, "threads", type=int, default=defaults.threads, metavar="N", help=text)


def chosen(args: argparse.Namespace, kind: type[Options]) -> Options:
    names = {field.name for field in dataclasses.fields(kind)}
    return kind(**{name: value for name, value in vars(args).items() if name in names})


def tell(
    converted: Converted, database: str, names: Mapping[int, str], what: str = "records"
) -> None:
    print(f"{database}: {converted.count:,} records")
    show(*label_histogram(converted.labels, names, what))
    _complain_of("images could not be read", converted.unreadable)
    _complain_of("warnings", converted.notes)


def _complain_of(what: str, texts: Sequence[str]) -> None:
    if not texts:
        return
    complain(f"{len(texts):,} {what}:", *(f"  {text}" for text in texts[:MOST_NAMED]))
    if len(texts) > MOST_NAMED:
        complain(f"  ... and {len(texts) - MOST_NAMED:,} more")

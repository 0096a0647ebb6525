"""Python 2 in memory: scripts of 2014 to 2018 run as they were published.

A module is translated as text in two steps: its syntax (``syntax.py``, by fissix, a kept fork of
lib2to3) and its meaning (``meaning.py``: ``/`` between integers, lists where Python 3 has views).
The text calls the functions of this package as ``_py2``; Python 2's builtins are put beside it.
Modules whose meaning has changed have a shadow (``shadows/``), which only translated text imports;
what the standard library, NumPy and others merely dropped is put back (``added.py``).

``hook.py`` does this for a script and for the modules beside it.
"""

from pycaffe_dist.py2.operations import (
    at,
    by,
    children,
    div,
    field,
    has_key,
    is_alive,
    item,
    items,
    itemset,
    iterated,
    iteritems,
    iterkeys,
    itervalues,
    keys,
    less_by,
    mapped,
    message,
    minus,
    negative,
    next_of,
    one,
    place,
    plus,
    ptp,
    put,
    reshape,
    serialized,
    sort,
    times,
    tostring,
    values,
    with_image,
)
from pycaffe_dist.py2.order import (
    equal,
    greater,
    greater_or_equal,
    less,
    less_or_equal,
    not_equal,
)
from pycaffe_dist.py2.strings import ByteStr, as_bytes, decode, encode, join
from pycaffe_dist.py2.texts import brief, formatted, shown

__all__ = [
    "ByteStr",
    "as_bytes",
    "at",
    "begin",
    "brief",
    "by",
    "children",
    "decode",
    "div",
    "encode",
    "equal",
    "field",
    "formatted",
    "greater",
    "greater_or_equal",
    "has_key",
    "is_alive",
    "item",
    "items",
    "itemset",
    "iterated",
    "iteritems",
    "iterkeys",
    "itervalues",
    "join",
    "keys",
    "less",
    "less_by",
    "less_or_equal",
    "mapped",
    "message",
    "minus",
    "negative",
    "next_of",
    "not_equal",
    "one",
    "place",
    "plus",
    "ptp",
    "put",
    "reshape",
    "serialized",
    "shown",
    "sort",
    "times",
    "tostring",
    "values",
    "with_image",
]


def begin(module: dict[str, object]) -> None:
    """What a translation that was saved does first: it needs the names, and the old modules."""
    from pycaffe_dist.py2.hook import prepare  # which knows us

    prepare(module)

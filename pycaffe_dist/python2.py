"""Words of Python 2 in a user's script or layer: the error says what Python 3 has instead."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from pycaffe_dist.errors import PcdError

ADVICE = "bring it to Python 3 first"
NAMES = {
    "xrange": "range",
    "unicode": "str",
    "basestring": "str",
    "long": "int",
    "unichr": "chr",
    "raw_input": "input",
    "file": "open",
    "execfile": "exec(open(name).read())",
    "reduce": "functools.reduce",
    "reload": "importlib.reload",
}
ATTRIBUTES = {
    "iteritems": "items",
    "itervalues": "values",
    "iterkeys": "keys",
    "has_key": "the word in",
    "izip": "the built-in zip",
    "imap": "the built-in map",
    "maxint": "sys.maxsize",
    "getcwdu": "os.getcwd",
    "letters": "string.ascii_letters",
    "imread": "PIL.Image.open",
    "imresize": "PIL.Image.Image.resize",
    "urlretrieve": "urllib.request.urlretrieve",
    "urlopen": "urllib.request.urlopen",
    "urlencode": "urllib.parse.urlencode",
}
MODULES = {
    "cPickle": "pickle",
    "StringIO": "io",
    "cStringIO": "io",
    "Queue": "queue",
    "ConfigParser": "configparser",
    "urllib2": "urllib.request",
    "urlparse": "urllib.parse",
    "httplib": "http.client",
    "Tkinter": "tkinter",
    "__builtin__": "builtins",
}
_IMPORTED = re.compile(r"cannot import name '(\w+)'")


@contextmanager
def hints() -> Iterator[None]:
    """What is raised inside and comes of Python 2 leaves with a line that says so."""
    try:
        yield
    except Exception as e:
        add_hint(e)
        raise


def add_hint(e: BaseException) -> bool:
    """Add what Python 3 has instead to what a traceback shows of ``e``, once; whether there is."""
    words = hint(e)
    if words is None:
        return False
    if sys.version_info < (3, 11):  # has no notes
        if isinstance(e, (ImportError, SyntaxError)):
            e.msg = e.msg if words in e.msg else f"{e.msg}\n{words}"
        elif words not in str(e):
            e.args = (*e.args, words) if isinstance(e, PcdError) else (f"{e}\n{words}",)
    elif words not in getattr(e, "__notes__", ()):
        e.add_note(words)
    return True


def hint(e: BaseException) -> str | None:
    """What Python 3 has instead of the word that ``e`` is about; None if it is not Python 2's."""
    if isinstance(e, SyntaxError):
        return f"If this is Python 2, {ADVICE}."
    name: str | None = None
    known = NAMES
    if isinstance(e, NameError):
        name = e.name
    elif isinstance(e, AttributeError):
        name, known = e.name, ATTRIBUTES
    elif isinstance(e, ImportError):
        of_module = _IMPORTED.match(e.msg)
        name, known = (of_module[1], ATTRIBUTES) if of_module else (e.name, MODULES)
    if name not in known:
        return None
    return f"{name!r} is of Python 2; Python 3 has {known[name]}. If the whole file is, {ADVICE}."

"""The standard library."""

from __future__ import annotations

import collections.abc
import errno
import functools
import html
import inspect
import itertools
import math
import multiprocessing
import operator
import os
import string
import sys
import time
import urllib.parse
import urllib.request

import numpy as np

from pycaffe_dist.py2 import operations
from pycaffe_dist.py2.added.words import Adding, in_place, old_words
from pycaffe_dist.py2.operations import whole
from pycaffe_dist.py2.strings import ByteStr
from pycaffe_dist.py2.values import Names, Value


def _string(module: Value) -> Names:
    methods: tuple[str, ...] = ("capitalize", "count", "expandtabs", "find", "index", "lower")
    methods += ("lstrip", "replace")
    methods += ("rfind", "rindex", "rstrip", "split", "strip", "swapcase", "translate", "upper")
    methods += ("zfill", "ljust", "rjust", "center")
    found: Names = {
        name: (lambda s, *args, _name=name: getattr(s, _name)(*args)) for name in methods
    }
    return {
        **found,
        "atof": float,
        "atoi": int,
        "atol": int,
        "join": lambda words, sep=" ": sep.join(words),
        "joinfields": lambda words, sep=" ": sep.join(words),
        "letters": string.ascii_letters,
        "lowercase": string.ascii_lowercase,
        "maketrans": str.maketrans,
        "uppercase": string.ascii_uppercase,
    }


def _types(module: Value) -> Names:
    kinds = {"String": str, "Unicode": str, "Int": int, "Long": int, "Float": float, "List": list}
    kinds |= {"Tuple": tuple, "Dict": dict, "Boolean": bool, "None": type(None)}
    kinds |= {"Class": type, "Type": type, "Slice": slice, "Instance": object}
    return {f"{name}Type": kind for name, kind in kinds.items()} | {"StringTypes": (str, bytes)}


def _text_first(function: Value) -> Value:
    """A path that is bytes gives names that are text."""

    @functools.wraps(function)
    def call(path: Value = ".", *args: Value, **kwargs: Value) -> Value:
        return function(str(path) if isinstance(path, ByteStr) else path, *args, **kwargs)

    return call


def _glob(module: Value) -> Names:
    in_place(module, ("glob", "iglob"), _text_first)
    return {}


def _os(module: Value) -> Names:
    in_place(module, ("listdir", "walk"), _text_first)
    return {"errno": errno, "getcwdu": module.getcwd}


def _sys(module: Value) -> Names:
    return {
        "exc_clear": lambda: None,
        "maxint": sys.maxsize,
        "setdefaultencoding": lambda encoding: None,
    }


def _time(module: Value) -> Names:
    return {"clock": time.process_time}


def _itertools(module: Value) -> Names:
    return {
        "ifilter": filter,
        "ifilterfalse": itertools.filterfalse,
        "imap": lambda f, *rows: map(f, *rows) if f else zip(*rows, strict=False),
        "izip": zip,
        "izip_longest": itertools.zip_longest,
    }


def _fractions(module: Value) -> Names:
    return {"gcd": math.gcd}


def _platform(module: Value) -> Names:
    return {"linux_distribution": lambda *args: ("", "", ""), "dist": lambda *args: ("", "", "")}


def _collections(module: Value) -> Names:
    return {name: getattr(collections.abc, name) for name in collections.abc.__all__}


def _inspect(module: Value) -> Names:
    def getargspec(function: Value) -> Value:
        spec = inspect.getfullargspec(function)
        return ArgSpec(spec.args, spec.varargs, spec.varkw, spec.defaults)

    ArgSpec = collections.namedtuple("ArgSpec", "args varargs keywords defaults")
    return {"getargspec": getargspec}


def _urllib(module: Value) -> Names:
    request = ("urlopen", "urlretrieve", "urlcleanup")
    parse = ("quote", "quote_plus", "unquote", "unquote_plus", "urlencode")
    return {
        **{
            name: getattr(urllib.request, name) for name in request if hasattr(urllib.request, name)
        },
        **{name: getattr(urllib.parse, name) for name in parse},
    }


def _configparser(module: Value) -> Names:
    return {"SafeConfigParser": module.ConfigParser}


def _posixpath(module: Value) -> Names:
    def walk(top: str, visit: Value, arg: Value) -> None:
        """Calls ``visit(arg, folder, names)``, which may shorten ``names``, for every folder."""
        try:
            names = os.listdir(top)
        except OSError:
            return
        visit(arg, top, names)
        for path in (os.path.join(top, name) for name in names):
            if os.path.isdir(path) and not os.path.islink(path):
                walk(path, visit, arg)

    return {"walk": walk}


def _operator(module: Value) -> Names:
    return {
        "div": operations.div,
        "isCallable": callable,
        "isMappingType": lambda x: isinstance(x, collections.abc.Mapping),
        "isNumberType": lambda x: isinstance(x, (int, float, complex)),
        "isSequenceType": lambda x: isinstance(x, collections.abc.Sequence),
        "repeat": operator.mul,
        "sequenceIncludes": operator.contains,
    }


def _random(module: Value) -> Names:
    """Samples of sets, bounds that are floats, any seed, and an own source for ``shuffle``."""
    sample, shuffle = module.sample, module.shuffle

    def shuffled(x: Value, random: Value = None) -> None:
        if random is None:
            shuffle(x)
        else:
            for i in reversed(range(1, len(x))):
                j = int(random() * (i + 1))
                x[i], x[j] = x[j], x[i]

    def sampled(population: Value, k: Value) -> Value:
        return sample(list(population), whole(k))

    module.sample, module.shuffle = sampled, shuffled
    in_place(module, ("seed",), _of_anything)
    in_place(module, ("randint", "randrange"), lambda f: lambda *bounds: f(*map(whole, bounds)))
    return {"jumpahead": lambda n: None}


def _of_anything(seed: Value) -> Value:
    @functools.wraps(seed)
    def call(a: Value = None) -> None:
        known = isinstance(a, (type(None), int, float, str, bytes, bytearray))
        seed(a if known else hash(a))

    return call


def _json(module: Value) -> Names:
    """No encoding is asked for; text that is bytes, and NumPy's usual integers, are written."""

    def text(value: Value) -> Value:
        if isinstance(value, ByteStr):
            return str(value)
        if isinstance(value, np.int64):  # which was an int
            return int(value)
        raise TypeError(f"{value!r} is not JSON serializable")

    def writing(function: Value) -> Value:
        def call(*args: Value, **kwargs: Value) -> Value:
            if not {"cls", "default"} & kwargs.keys():  # else others know what to do
                kwargs["default"] = text
            return function(*args, **kwargs)

        return call

    in_place(module, ("dump", "dumps", "load", "loads"), lambda f: old_words(f, encoding=None))
    in_place(module, ("dump", "dumps"), writing)
    return {}


def _html_parser(module: Value) -> Names:
    if not hasattr(module.HTMLParser, "unescape"):
        module.HTMLParser.unescape = staticmethod(html.unescape)
    return {}


def _cgi(module: Value) -> Names:
    return {"escape": lambda text, quote=False: html.escape(text, quote)}


def _queues(module: Value) -> Names:
    """Queues without the context that today's ask for."""
    context = multiprocessing.get_context()
    for name in ("JoinableQueue", "Queue", "SimpleQueue"):
        queue = getattr(module, name)
        queue.__init__ = functools.partialmethod(queue.__init__, ctx=context)
    return {}


ADDED: dict[str, Adding] = {
    "cgi": _cgi,
    "collections": _collections,
    "configparser": _configparser,
    "fractions": _fractions,
    "glob": _glob,
    "html.parser": _html_parser,
    "inspect": _inspect,
    "itertools": _itertools,
    "json": _json,
    "multiprocessing.queues": _queues,
    "operator": _operator,
    "os": _os,
    "platform": _platform,
    "posixpath": _posixpath,
    "random": _random,
    "string": _string,
    "sys": _sys,
    "time": _time,
    "types": _types,
    "urllib": _urllib,
}

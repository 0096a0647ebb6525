"""The standard library."""

from __future__ import annotations

import collections.abc
import errno
import html
import inspect
import itertools
import math
import operator
import os
import string
import sys
import time
import urllib.parse
import urllib.request
from typing import Any

from pycaffe_dist.py2 import operations
from pycaffe_dist.py2.added.words import Adding, in_place, old_words
from pycaffe_dist.py2.operations import whole
from pycaffe_dist.py2.strings import ByteStr


def _string(module: Any) -> dict[str, Any]:
    methods: tuple[str, ...] = ("capitalize", "count", "expandtabs", "find", "index", "lower")
    methods += ("lstrip", "replace")
    methods += ("rfind", "rindex", "rstrip", "split", "strip", "swapcase", "translate", "upper")
    methods += ("zfill", "ljust", "rjust", "center")
    found: dict[str, Any] = {
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


def _types(module: Any) -> dict[str, Any]:
    kinds = {"String": str, "Unicode": str, "Int": int, "Long": int, "Float": float, "List": list}
    kinds |= {"Tuple": tuple, "Dict": dict, "Boolean": bool, "None": type(None)}
    kinds |= {"Class": type, "Type": type, "Slice": slice, "Instance": object}
    return {f"{name}Type": kind for name, kind in kinds.items()} | {"StringTypes": (str, bytes)}


def _os(module: Any) -> dict[str, Any]:
    return {"errno": errno, "getcwdu": module.getcwd}


def _sys(module: Any) -> dict[str, Any]:
    return {
        "exc_clear": lambda: None,
        "maxint": sys.maxsize,
        "setdefaultencoding": lambda encoding: None,
    }


def _time(module: Any) -> dict[str, Any]:
    return {"clock": time.process_time}


def _itertools(module: Any) -> dict[str, Any]:
    return {
        "ifilter": filter,
        "ifilterfalse": itertools.filterfalse,
        "imap": map,
        "izip": zip,
        "izip_longest": itertools.zip_longest,
    }


def _fractions(module: Any) -> dict[str, Any]:
    return {"gcd": math.gcd}


def _platform(module: Any) -> dict[str, Any]:
    return {"linux_distribution": lambda *args: ("", "", ""), "dist": lambda *args: ("", "", "")}


def _collections(module: Any) -> dict[str, Any]:
    return {name: getattr(collections.abc, name) for name in collections.abc.__all__}


def _inspect(module: Any) -> dict[str, Any]:
    def getargspec(function: Any) -> Any:
        spec = inspect.getfullargspec(function)
        return ArgSpec(spec.args, spec.varargs, spec.varkw, spec.defaults)

    ArgSpec = collections.namedtuple("ArgSpec", "args varargs keywords defaults")
    return {"getargspec": getargspec}


def _urllib(module: Any) -> dict[str, Any]:
    request = ("urlopen", "urlretrieve", "urlcleanup")
    parse = ("quote", "quote_plus", "unquote", "unquote_plus", "urlencode")
    return {
        **{
            name: getattr(urllib.request, name) for name in request if hasattr(urllib.request, name)
        },
        **{name: getattr(urllib.parse, name) for name in parse},
    }


def _configparser(module: Any) -> dict[str, Any]:
    return {"SafeConfigParser": module.ConfigParser}


def _posixpath(module: Any) -> dict[str, Any]:
    def walk(top: str, visit: Any, arg: Any) -> None:
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


def _operator(module: Any) -> dict[str, Any]:
    return {
        "div": operations.div,
        "isCallable": callable,
        "isMappingType": lambda x: isinstance(x, collections.abc.Mapping),
        "isNumberType": lambda x: isinstance(x, (int, float, complex)),
        "isSequenceType": lambda x: isinstance(x, collections.abc.Sequence),
        "repeat": operator.mul,
        "sequenceIncludes": operator.contains,
    }


def _random(module: Any) -> dict[str, Any]:
    """Samples of sets, bounds that are floats, and a source of one's own for ``shuffle``."""
    sample, shuffle = module.sample, module.shuffle

    def shuffled(x: Any, random: Any = None) -> None:
        if random is None:
            shuffle(x)
        else:
            for i in reversed(range(1, len(x))):
                j = int(random() * (i + 1))
                x[i], x[j] = x[j], x[i]

    def sampled(population: Any, k: Any) -> Any:
        return sample(list(population), whole(k))

    module.sample, module.shuffle = sampled, shuffled
    in_place(module, ("randint", "randrange"), lambda f: lambda *bounds: f(*map(whole, bounds)))
    return {"jumpahead": lambda n: None}


def _json(module: Any) -> dict[str, Any]:
    """No encoding is asked for, and bytes that are text are written as text."""

    def text(value: Any) -> str:
        if isinstance(value, ByteStr):
            return str(value)
        raise TypeError(f"{value!r} is not JSON serializable")

    def writing(function: Any) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            if not {"cls", "default"} & kwargs.keys():  # else others know what to do
                kwargs["default"] = text
            return function(*args, **kwargs)

        return call

    in_place(module, ("dump", "dumps", "load", "loads"), lambda f: old_words(f, encoding=None))
    in_place(module, ("dump", "dumps"), writing)
    return {}


def _html_parser(module: Any) -> dict[str, Any]:
    if not hasattr(module.HTMLParser, "unescape"):
        module.HTMLParser.unescape = staticmethod(html.unescape)
    return {}


def _cgi(module: Any) -> dict[str, Any]:
    return {"escape": lambda text, quote=False: html.escape(text, quote)}


ADDED: dict[str, Adding] = {
    "cgi": _cgi,
    "collections": _collections,
    "configparser": _configparser,
    "fractions": _fractions,
    "html.parser": _html_parser,
    "inspect": _inspect,
    "itertools": _itertools,
    "json": _json,
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

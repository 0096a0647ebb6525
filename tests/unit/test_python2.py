import sys
import traceback

import pytest

from pycaffe_dist.python2 import add_hint, hints

SCRIPTS = {
    "xrange(3)": "range",
    "unicode('a')": "str",
    "isinstance('a', basestring)": "str",
    "long(3)": "int",
    "unichr(3)": "chr",
    "raw_input()": "input",
    "file('a')": "open",
    "execfile('a')": "exec(open(name).read())",
    "reduce(max, [1])": "functools.reduce",
    "{}.iteritems()": "items",
    "{}.itervalues()": "values",
    "{}.iterkeys()": "keys",
    "{}.has_key(1)": "the word in",
    "import sys; sys.maxint": "sys.maxsize",
    "import cPickle": "pickle",
    "import urllib2": "urllib.request",
    "from StringIO import StringIO": "io",
    "import Queue": "queue",
    "import ConfigParser": "configparser",
    "from itertools import izip": "the built-in zip",
}


def shown(script):
    """The end of the traceback of a script, told twice."""
    try:
        with hints():
            exec(script, {})
    except Exception as e:
        add_hint(e)
        return "".join(traceback.format_exception(e))
    return pytest.fail("nothing was raised")


@pytest.mark.parametrize("script", SCRIPTS)
def test_the_word_of_python_3_is_told_once(script):
    told = shown(script)
    assert (
        told.count(f"is of Python 2; Python 3 has {SCRIPTS[script]}. If the whole file is, ") == 1
    )


def test_syntax():
    assert "If this is Python 2, bring it to Python 3 first." in shown("print 'hello'")


@pytest.mark.parametrize("script", ["no_word(3)", "{}.itemz()", "import nothing_here", "1 / 0"])
def test_other_errors_are_left_alone(script):
    assert "Python 2" not in shown(script)


@pytest.mark.parametrize("script", ["xrange(3)", "import cPickle", "print 'hello'"])
def test_pythons_without_notes(script, monkeypatch):
    monkeypatch.setattr(sys, "version_info", (3, 10))
    assert shown(script).count("Python 2") == 1

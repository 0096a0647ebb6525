"""The translation as text: what is changed, what stays, where lines are."""

import pytest

from pycaffe_dist import py2
from pycaffe_dist.py2.translate import decoded, translate


def text_of(source, **where):
    return translate(source.encode(), "script.py", **where).text.rstrip("\n")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("print 'a', b,", "print('a', b, end=' ')"),
        ("print", "print()"),
        ("print >>f, x", "print(x, file=f)"),
        ("print ('a', b)", "print(('a', b))"),
        ("raise E, 'bad'", "raise E('bad')"),
        ("try: f()\nexcept E, e: pass", "try: f()\nexcept E as e: pass"),
        ("x = `y`", "x = repr(y)"),
        ("a <> b", "a != b"),
        ("0777 + 10L", "0o777 + 10"),
        ("s = ur'a'", "s = r'a'"),
        (r"s = 'C:\users'", r"s = 'C:\\users'"),
        (r"s = '\d\n\'\\d'", r"s = '\\d\n\'\\d'"),
        (r"s = u'\u00e9'", r"s = u'\u00e9'"),
        (r"s = '\x89PNG\x0a'", r"s = '\udc89PNG\x0a'"),
        (r"s = u'\xe9', r'\xe9', '\\xe9'", r"s = u'\xe9', r'\xe9', '\\xe9'"),
        ("exec 'x' in d", "exec('x', d)"),
        ("a / b", "_py2.div(a , b)"),
        ("(a + b) / c / d", "_py2.div(_py2.div((a + b) , c) , d)"),
        ("a / 2.0 + float(b) / c", "a / 2.0 + float(_py2.one(b)) / c"),
        ("a / (b  # why\n)", "_py2.div(a , (b  # why\n))"),
        ("a.b /= c", "a.b /= _py2.by(c)"),
        ("a[1:n]", "a[1:_py2.at(n)]"),
        ("a[i] = b", "_py2.put(a, (i), b)"),
        ("a[:2.0]", "a[:_py2.at(2.0)]"),
        ("a[i, 1:2]", "a[_py2.at(i), 1:2]"),
        ("a[i], a[0], a['x'], a[-1]", "_py2.item(a, (i)), a[0], a['x'], a[-1]"),
        ("a[i, j] += b", "a[_py2.place(a, i, j)] += _py2.one(b)"),
        ("f()[i] += 1", "f()[i] += _py2.one(1)"),
        ("_, c, h = cv2.findContours(m)", "_, c, h = _py2.with_image(cv2.findContours(m))"),
        ("c, h = cv2.findContours(m)", "c, h = cv2.findContours(m)"),
        ("[x for x in y]", "[x for x in y]"),
        ("[x for x in (y)]; x", "[x for _py2_x in (y) if [(x := _py2_x)] ]; x"),
        ("a[:] = b", "a[:] = b"),
        ("a[i] = b = c", "a[i] = b = c"),
        ("if a > b: pass", "if _py2.greater(a , b): pass"),
        ("x if a + 1 <= b else y", "x if _py2.less_or_equal(a + 1 , b) else y"),
        ("a < b < c", "a < b < c"),
        ("a == b", "a == b"),
        ("if a == None: pass", "if _py2.equal(a , None): pass"),
        ("[] != a[0]", "_py2.not_equal([] , a[0])"),
        ("a == [1]", "a == [1]"),
        (
            "x[-mask], -(a == 1), -1, -f(x)",
            "_py2.item(x, (_py2.negative(mask))), _py2.negative((a == 1)), -1, -f(x)",
        ),
        ("('a {}' '{:>4}').format(b)", "_py2.shown(('a {}' '{:>4}'), b)"),
        ("'{}'.format(), s.format(b)", "'{}'.format(), s.format(b)"),
        ("a.ptp()", "_py2.ptp(a)"),
        ("t.getchildren()[0]", "_py2.children(t)[0]"),
        ("t.getiterator('a')", "_py2.iterated(t, 'a')"),
        ("d.keys()[0]", "_py2.keys(d)[0]"),
        ("(a or b).items()", "_py2.items((a or b))"),
        ("f(d.iteritems(), e.itervalues())", "f(_py2.iteritems(d), _py2.itervalues(e))"),
        ("d.keys(1)", "d.keys(1)"),
        ("d.has_key('a')", "_py2.has_key(d, 'a')"),
        ("it.next()", "_py2.next_of(it)"),
        ("x.sort()", "x.sort()"),
        ("x.sort(cmp=f)", "_py2.sort(x, cmp=f)"),
        ("x.decode('hex')", "_py2.decode(x, 'hex')"),
        ("d.ParseFromString(f.read())", "d.ParseFromString(_py2.as_bytes(f.read()))"),
        ("d.data = f.read()", "d.data = _py2.field(d, f.read())"),
        ("n[0].data = x", "n[0].data = x"),
        ("pb.Datum(data=s), f(data=s)", "pb.Datum(data=_py2.as_bytes(s)), f(data=s)"),
        ("d.SerializeToString()", "_py2.serialized(d)"),
        ("','.join(a)", "_py2.join(',', a)"),
        ("','.join(a for a in b)", "_py2.join(',', (a for a in b))"),
        ("','.join((a for a in b))", "_py2.join(',', (a for a in b))"),
        ("t.join()", "t.join()"),
        ("'%d' % x", "_py2.formatted('%d' , x)"),
        ("a % b", "a % b"),
        ("str(x), str(), str", "str(_py2.brief(x)), str(), str"),
        ("a + 300, 300 * a", "_py2.plus(a , 300), _py2.times(300 , a)"),
        ("a - 255, 'x' * 80, 2 * 500", "a - 255, 'x' * 80, 2 * 500"),
        ("a[round(x)]", "_py2.item(a, (round(x)))"),
        ("a[f(x), 1][b[floor(x)]:]", "_py2.item(a, (f(x), 1))[_py2.at(_py2.item(b, (floor(x)))):]"),
        ("a[0] = 256", "_py2.put(a, (0), 256)"),
        ("a[0] = 255", "a[0] = 255"),
        ("x.reshape(2, n)", "_py2.reshape(x, 2, n)"),
        ("try: f()\nexcept E, e: g(e[0])", "try: f()\nexcept E as e: g(e.args[0])"),
        ("import numpy as np", "from pycaffe_dist.py2.shadows import numpy as np"),
        ("import os, math", "import os; from pycaffe_dist.py2.shadows import math"),
        ("from math import floor", "from pycaffe_dist.py2.shadows.math import floor"),
        ("import numpy.random as npr", "import numpy.random as npr"),
        ("import cPickle", "import cPickle"),
    ],
)
def test_what_becomes_of(old, new):
    assert text_of(old) == new


def test_importing_part_of_a_module_with_a_shadow_gives_the_shadow():
    shadow = "from pycaffe_dist.py2.shadows import numpy"
    assert text_of("import numpy.random") == f"import numpy.random; {shadow}"


def test_the_future_is_obeyed():
    text = "from __future__ import division, print_function\nprint(a / b, end='')\na /= 2"
    assert text_of(text) == text


def test_print_as_a_function_without_saying_so():
    assert text_of("print('a', end='')") == "print('a', end='')"


def test_special_methods():
    text = "class A:\n    def __iter__(self): pass\n    def next(self): pass\n"
    assert "def __next__" in text_of(text)
    assert "def next" in text_of(text.replace("__iter__", "other"))
    text = "class A:\n    def __div__(self, b): pass\n    def __nonzero__(self): pass\n"
    assert "__truediv__" in text_of(text)
    assert "__bool__" in text_of(text)


def test_the_message_of_what_was_caught():
    text = "try: f()\nexcept E, e:\n    print e.message, other.message"
    assert "print(_py2.message(e), other.message)" in text_of(text)


def test_lines_keep_their_numbers_and_comments():
    text = (
        "# first\nraise E, \\\n  'bad' \\\n  'worse'\nprint 'a', \\\n  'b'  # second\n"
        "x = (d  # third\n  .keys())\ny = a / \\\n  b\nlast"
    )
    lines = text_of(text).split("\n")
    assert len(lines) == len(text.split("\n"))
    assert lines[-1] == "last"
    assert sum("#" in line for line in lines) >= 2


def test_tabs_are_eight_columns_wide():
    text = "if a:\n        x()\n\ty()\nelse:\n\tz()"
    assert compile(text_of(text), "s", "exec")


def test_modules_beside_a_module_of_a_package(tmp_path):
    (tmp_path / "config.py").touch()
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "__init__.py").touch()
    where = {"package": "pack.age", "folder": str(tmp_path)}
    assert text_of("import config", **where) == "from . import config"
    assert text_of("import config as c, os", **where) == "from . import config as c; import os"
    assert text_of("from config import a, b as c", **where) == "from .config import a, b as c"
    assert text_of("from sub.x import y", **where) == "from .sub.x import y"
    assert text_of("import sub.x as x", **where) == "import pack.age.sub.x as x"
    assert text_of("import elsewhere", **where) == "import elsewhere"
    absolute = "from __future__ import absolute_import\nimport config"
    assert text_of(absolute, **where) == absolute
    assert text_of("import config", folder=str(tmp_path)) == "import config"


def test_what_was_changed_is_counted():
    text = b"print 1/x\nprint 2\nfor i in xrange(3): d.keys(), d.keys(), s.translate(t), d.other()"
    assert translate(text, "s").changes == {
        "print statement": 2,
        "/ that may be between integers": 1,
        "xrange": 1,
        ".keys()": 2,
    }


def test_python_3_of_today_among_the_old_stays():
    text = "def f(x, /, *, y: int = 1): return f'{x!r:>{y}}'\nmatch x:\n    case [1, *_]: pass\n"
    found = translate(text.encode(), "s")
    assert (found.text, found.changes) == (text, {})


def test_what_is_neither_is_refused_with_its_place():
    with pytest.raises(SyntaxError) as e:
        translate(b"print 'a'\nif x\n  y", "script.py")
    assert (e.value.filename, e.value.lineno) == ("script.py", 2)


def test_bytes_of_no_text_are_refused_too():
    """Python's own compiler says UnicodeDecodeError of these."""
    with pytest.raises(SyntaxError):
        translate(b"for i in x:\ntry:\n    \xff\xffe V, 'x'\n", "script.py")


def test_a_character_of_no_syntax_is_refused_with_its_place():
    with pytest.raises(SyntaxError, match="invalid character '³'") as e:
        translate("print 'a'\nx ³".encode(), "script.py")
    assert (e.value.filename, e.value.lineno, e.value.offset) == ("script.py", 2, 3)


def test_encodings():
    assert decoded("# -*- coding: latin-1 -*-\ns = 'é'".encode("latin-1")).endswith("'é'")
    assert decoded("s = 'é'".encode()).endswith("'é'")
    assert decoded("s = 'é'".encode("latin-1")).endswith("'é'")
    assert translate("# coding: latin-1\ns = 'é'".encode("latin-1"), "s").to_save().split("\n")[
        0
    ] == ("# coding: utf-8")


def test_a_saved_translation_begins_behind_docstring_and_future():
    source = b"'''doc'''\nfrom __future__ import division\nprint 1"
    lines = translate(source, "s").to_save().splitlines()
    assert lines[:2] == ["'''doc'''", "from __future__ import division"]
    assert lines[2].endswith("_py2.begin(globals())")
    assert lines[3] == "print(1)"


LEFT = {
    "the last value": ("[i for i in range(5)]\nfound = i", 4),
    "in a function": (
        "def f(xs):\n    [0 for x, y in (zip(xs, xs))]\n    return x, y\nfound = f([1, 2])",
        (2, 2),
    ),
    "that a condition refused": ("[i for i in range(5) if i < 2]\nfound = i", 4),
    "of one within another": (
        "[[i for i in range(j)] for j in range(4)]\nfound = i, j",
        (2, 3),
    ),
    "of the same name": ("[[i for i in range(9)] for i in range(3)]\nfound = i", 8),
    "over several lines": ("[i\n for i in [1, 2]  # all\n if i]\nfound = i", 2),
    "not what it iterates over": (
        "def f():\n    i = 7\n    [j for j in [i for i in range(3)]]\n    return j\nfound = f()",
        2,
    ),
    "not of a dictionary": (
        "i = 7\n{i: [i for i in range(3)] for i in range(2)}\nfound = i",
        7,
    ),
    "not of a generator": ("i = 7\nlist(i for i in range(3))\nfound = i", 7),
    "nor of a class": ("class C:\n    a = [i for i in range(3)]\nfound = C.a", [0, 1, 2]),
}


@pytest.mark.parametrize(("source", "found"), LEFT.values(), ids=LEFT)
def test_variables_of_list_comprehensions_are_left_behind(source, found):
    names = {"_py2": py2}
    exec(text_of(source), names)
    assert names["found"] == found


@pytest.mark.parametrize(
    ("text", "mixed"),
    [
        (b"if 1:\n\tx = `1`\n", 0),
        (b"if 1:\n    x = `1`\n", 0),
        (b"if 1:\n        y = 1\n\tx = `1`\n", 1),
    ],
)
def test_tabs_are_told_where_there_are_spaces_too(text, mixed):
    made = translate(text, "it.py")
    assert made.changes["tabs among spaces"] == mixed
    assert ("tabs among spaces" in made.changes) == bool(mixed)

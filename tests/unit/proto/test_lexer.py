import pytest

from pycaffe_dist.proto.lexer import Lines, tokenize, unescape


def kinds(text):
    return [(t.kind, t.text) for t in tokenize(text)[:-1]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("a_1:B", [("name", "a_1"), ("mark", ":"), ("name", "B")]),
        ("a # b: {\nc", [("name", "a"), ("name", "c")]),
        ("a# last line", [("name", "a")]),
        ("\ufeffa\r\n\tb\x0b\x0c", [("name", "a"), ("name", "b")]),
        ("-1", [("mark", "-"), ("number", "1")]),
        ("0xg", [("number", "0"), ("name", "xg")]),
        (r'"a\"b" ' + r"'c\'d'", [("string", r'"a\"b"'), ("string", r"'c\'d'")]),
        ("\"it's\"'\"'", [("string", "\"it's\""), ("string", "'\"'")]),
        ('"#"', [("string", '"#"')]),
        ('"open\n', [("other", '"'), ("name", "open")]),
        ("{}<>[]:;,", [("mark", c) for c in "{}<>[]:;,"]),
        ("@é", [("other", "@"), ("other", "é")]),
        ("naïve", [("name", "na"), ("other", "ï"), ("name", "ve")]),
    ],
)  # fmt: skip
def test_tokens(text, expected):
    assert kinds(text) == expected


@pytest.mark.parametrize("number", ["12", "0x1F", "017", ".5", "5.", "1.5e-3f", "2E+4", "7F"])
def test_numbers(number):
    assert kinds(f"{number},{number}") == [("number", number), ("mark", ","), ("number", number)]


def test_offsets_point_at_the_tokens():
    text = "a : # x\n 'b' 12"
    tokens = tokenize(text)
    assert [text[t.at : t.at + len(t.text)] for t in tokens[:-1]] == ["a", ":", "'b'", "12"]


@pytest.mark.parametrize(("text", "at"), [("", 0), ("a \n\n", 1), ("a # c", 5)])
def test_the_end_stands_behind_the_last_thing_written(text, at):
    assert tokenize(text)[-1] == ("end", "end of file", at)


def test_a_long_string_is_one_token():
    literal = '"' + "x" * 1_000_000 + '"'
    assert kinds(literal) == [("string", literal)]


@pytest.mark.parametrize(
    ("at", "place", "line"),
    [
        (0, (1, 1), "ab"),
        (2, (1, 3), "ab"),
        (4, (2, 1), ""),
        (5, (3, 1), "c"),
        (6, (3, 2), "c"),
    ],
)
def test_places_count_from_one_and_lines_lose_their_ends(at, place, line):
    lines = Lines("ab\r\n\nc")
    assert lines.place(at) == place
    assert lines.line(place[0]) == line


@pytest.mark.parametrize(
    ("literal", "value"),
    [
        ("''", b""),
        (r"'\a\b\f\n\r\t\v\\\'\"\?'", b"\a\b\f\n\r\t\v\\'\"?"),
        (r"'\1\12\123\1234'", b"\1\nSS4"),
        (r"'\x4\x41\x414'", b"\x04AA4"),
        (r"'\377\xfF'", b"\xff\xff"),
        (r"'\303\251'", "é".encode()),
        (r"'\u00e9\U0001F600'", "é😀".encode()),
        (r"'\ud7ff\ue000\U0010ffff'", "\ud7ff\ue000\U0010ffff".encode()),
        ("'é'", "é".encode()),
        ("'\udcff'", b"\xff"),  # a byte of the file that is no UTF-8
        (r"'\\n'", b"\\n"),
    ],
)
def test_escapes(literal, value):
    assert unescape(literal) == value


def test_a_surrogate_pair_is_one_character():
    assert unescape(r"'\ud83d\ude00'") == "😀".encode()


@pytest.mark.parametrize(
    ("literal", "message"),
    [
        (r"'\q'", r"unknown escape sequence \q"),
        (r"'\8'", r"unknown escape sequence \8"),
        (r"'\x'", r"unknown escape sequence \x"),
        (r"'\u12'", r"unknown escape sequence \u"),
        (r"'\400'", r"escape sequence \400 does not fit a byte"),
    ],
)
def test_wrong_escapes(literal, message):
    with pytest.raises(ValueError) as e:
        unescape(literal)
    assert str(e.value) == message


@pytest.mark.parametrize("escape", [r"\U00110000", r"\UFFFFFFFF", r"\ud800", r"\udc80", r"\udfff"])
def test_an_escape_that_is_no_character_is_named(escape):
    with pytest.raises(ValueError) as e:
        unescape(f"'{escape}'")
    assert str(e.value) == f"escape sequence {escape} is no character"

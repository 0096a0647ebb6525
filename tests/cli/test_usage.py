"""Flags whose values cannot be meant: a usage error, exit code 2, before anything is read."""

import pytest

from pycaffe_dist import cli

CASES = [
    (["classify", "x", "y", "--images_dim", "256"], "--images_dim: give a height and a width"),
    (["classify", "x", "y", "--images_dim", "a,b"], "'a,b': numbers separated by commas"),
    (["predict", "x", "--images_dim", "1,2,3"], "--images_dim: give a height and a width"),
    (["predict", "x", "--top", "0"], "--top: give 1 or more"),
    (["detect", "windows.csv"], "the following arguments are required: OUTPUT"),
    (
        ["check", "net.prototxt", "--dialect", "sssd"],
        'there is no dialect sssd; did you mean "ssd"?',
    ),
    (["check", "net.prototxt", "--dialect", "qqqq"], "there is no dialect qqqq; known: "),
]


@pytest.mark.parametrize(("argv", "words"), CASES, ids=lambda value: " ".join(value)[:40])
def test_usage(argv, words, capsys):
    with pytest.raises(SystemExit) as ended:
        raise SystemExit(cli.main(argv))
    assert ended.value.code == 2
    assert words in capsys.readouterr().err

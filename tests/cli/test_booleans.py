import pytest

from pycaffe_dist.cli._booleans import plain

NAMES = ("gray", "check_size")


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["-gray", "a"], ["--gray", "a"]),
        (["--gray=true", "a"], ["--gray", "a"]),
        (["a", "--check-size", "b"], ["--check_size", "a", "b"]),
        (["--gray=false", "a"], ["a"]),
        (["--gray", "--nogray"], []),
        (["-nocheck_size", "--gray=1"], ["--gray"]),
        (["a", "--", "--gray"], ["a", "--", "--gray"]),
        (["--gray=perhaps"], ["--gray=perhaps"]),  # left to argparse, which refuses it
        (["-resize_width=3", "gray"], ["-resize_width=3", "gray"]),
    ],
)
def test_spellings(argv, expected):
    assert plain(argv, NAMES) == expected

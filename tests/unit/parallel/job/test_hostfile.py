import pytest

from pycaffe_dist.errors import FileError
from pycaffe_dist.parallel.job.hostfile import Host, read_hostfile


@pytest.fixture
def hostfile(tmp_path):
    def write(text):
        path = tmp_path / "hosts"
        path.write_text(text)
        return str(path)

    return write


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("0 10.0.0.1 9999\n1 10.0.0.2 9999", [("10.0.0.1", 1), ("10.0.0.2", 1)]),
        ("1 10.0.0.2 1\n\n0 10.0.0.1 1\n", [("10.0.0.1", 1), ("10.0.0.2", 1)]),
        ("0 127.0.0.1 10000\n1 127.0.0.1 20000\n", [("127.0.0.1", 2)]),
        ("# ours\nnode1 slots=4 max_slots=8\nnode2 slots=2 # slow", [("node1", 4), ("node2", 2)]),
        ("node1:4\nnode2:2\n", [("node1", 4), ("node2", 2)]),
        ("node1\nnode2\nnode1\n", [("node1", 2), ("node2", 1)]),
        ("a.b-c.example slots=1\n", [("a.b-c.example", 1)]),
    ],
)
def test_both_forms(hostfile, text, hosts):
    assert read_hostfile(hostfile(text)) == [Host(*host) for host in hosts]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("0 10.0.0.1 9999\n0 10.0.0.2 9999", 2, "client 0 was in line 1 already"),
        ("0 10.0.0.1 9999\n1 10.0.0.2", 2, 'expected "id ip port"'),
        ("0 10.0.0.1 9999\nx 10.0.0.2 9999", 2, 'expected "id ip port"'),
        ("0 10.0.0.1 70000", 1, "at most 65535"),
        ("0 10.0.0.1/8 7000", 1, '"10.0.0.1/8" is not a host'),
        ("0 a 1\n1 b 1\n2 a 1", 3, "the clients on a need numbers in one row"),
        ("node1 slots=0", 1, "from 1 on"),
        ("\nnode1 slots=two", 2, '"two"'),
        ("node1 cores=4", 1, '"cores=4" is not known'),
        (f"{'9' * 5000} 10.0.0.1 9999", 1, "more than 9 digits"),
        (f"0 10.0.0.1 {'9' * 5000}", 1, "more than 9 digits"),
        (f"node1 slots={'9' * 5000}", 1, "from 1 on"),
        (f"node1:{'9' * 5000}", 1, "from 1 on"),
        ("no;de", 1, '"no;de" is not a host'),
        ("no..de", 1, '"no..de" is not a host'),
        ("9" * 5000, 1, f'"{"9" * 80}" is not a host'),
        (f"node.{'a' * 64}.org", 1, "is not a host"),
        ("-oProxyCommand=touch", 1, "is not a host"),
        ("$(touch) slots=2", 1, "is not a host"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(hostfile, text, line, words):
    path = hostfile(text)
    with pytest.raises(FileError) as error:
        read_hostfile(path)
    assert str(error.value).startswith(f"{path}:{line}: ")
    assert words in str(error.value)


def test_numbers_without_gaps(hostfile):
    with pytest.raises(FileError, match="numbered 0 to 1; 1 is missing"):
        read_hostfile(hostfile("0 a 1\n2 b 1"))


def test_an_empty_file_and_a_missing_one(hostfile, tmp_path):
    with pytest.raises(FileError, match="names no host"):
        read_hostfile(hostfile("# nothing\n\n"))
    with pytest.raises(FileError, match="none: cannot be read"):
        read_hostfile(str(tmp_path / "none"))


def test_the_first_so_many(hostfile):
    path = hostfile("a slots=2\nb slots=2\nc slots=2")
    assert read_hostfile(path, 3) == [Host("a", 2), Host("b", 1)]
    with pytest.raises(FileError, match="has room for 6 ranks, 7 are asked for"):
        read_hostfile(path, 7)

import mmap
import os
import socket
import stat

import pytest

from pycaffe_dist.errors import FileError, NetError
from pycaffe_dist.files import atomic_write, mapped, open_regular, read_bytes, reading

# -- reading ---------------------------------------------------------------------------------------


def test_reading_all_or_the_beginning(tmp_path):
    (tmp_path / "f").write_bytes(b"0123456789")
    assert read_bytes(tmp_path / "f") == b"0123456789"
    assert read_bytes(str(tmp_path / "f"), 4) == b"0123"
    assert read_bytes(tmp_path / "f", 99) == b"0123456789"


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("missing", "No such file or directory"),
        (".", "Is a directory"),
        ("f/g", "Not a directory"),
        ("n" * 300, "File name too long"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path, path, why):
    (tmp_path / "f").touch()
    with pytest.raises(FileError) as e:
        read_bytes(tmp_path / path)
    assert str(e.value) == f"{tmp_path / path}: cannot be read: {why}"


def test_reading_a_name_that_no_file_can_have():
    with pytest.raises(FileError):
        read_bytes("a\0b")


# -- regular files alone ---------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["wb", "ab", "r+b"])
def test_a_regular_file_is_opened_as_open_would(tmp_path, mode):
    for name, there in (("new", None), ("old", b"before ")):
        if there is not None:
            (tmp_path / name).write_bytes(there)
        elif mode == "r+b":
            with pytest.raises(FileError, match="cannot be written: No such file"):
                open_regular(tmp_path / name, mode)
            continue
        with open_regular(tmp_path / name, mode) as file:
            file.write(b"now")
        expected = {"wb": b"now", "ab": (there or b"") + b"now", "r+b": b"nowore "}
        assert (tmp_path / name).read_bytes() == expected[mode]
    with open_regular(tmp_path / "old", "rb") as file:
        assert file.read() == (tmp_path / "old").read_bytes()


@pytest.fixture(params=["link", "dangling", "device", "pipe", "socket"])
def planted(request, tmp_path):
    """Something that is not a file under a file's name; what it is, and the name."""
    path = tmp_path / "planted"
    (tmp_path / "victim").write_bytes(b"precious")
    if request.param == "device":
        return "a device", "/dev/null"
    if request.param == "pipe":
        os.mkfifo(path)
    elif request.param == "socket":
        with socket.socket(socket.AF_UNIX) as listener:
            monkeypatch = pytest.MonkeyPatch()
            monkeypatch.chdir(tmp_path)  # the name of a socket is short
            listener.bind("planted")
            monkeypatch.undo()
    else:
        path.symlink_to("victim" if request.param == "link" else "nothing")
        return "a symbolic link", path
    return f"a {request.param}", path


@pytest.mark.parametrize("mode", ["rb", "wb", "ab", "r+b"])
def test_nothing_else_is_opened(tmp_path, planted, mode):
    kind, path = planted
    before = os.lstat(path)
    with pytest.raises(FileError) as e:
        open_regular(path, mode)
    verb = "read" if mode == "rb" else "written"
    assert str(e.value) == f"{path}: cannot be {verb}: it is {kind}, where a regular file belongs"
    assert os.lstat(path) == before
    assert (tmp_path / "victim").read_bytes() == b"precious"
    assert not (tmp_path / "nothing").exists()


def test_a_file_takes_the_place_of_links_alone(tmp_path, planted):
    kind, path = planted
    if kind == "a symbolic link":
        with atomic_write(path) as file:
            file.write(b"new")
        assert not path.is_symlink()
        assert path.read_bytes() == b"new"
    else:
        path = os.fspath(path)
        link = tmp_path / "link"
        link.symlink_to(path)
        for name in (path, link):
            before = os.lstat(name).st_ino
            with pytest.raises(FileError, match=f"it is {kind}"), atomic_write(name):
                pass
            assert os.lstat(name).st_ino == before
    assert (tmp_path / "victim").read_bytes() == b"precious"
    assert not (tmp_path / "nothing").exists()


def test_the_name_of_a_stream_stays(tmp_path):
    """Of standard output, say: /dev/stdout is such a link, and its owner may be us."""
    (tmp_path / "stdout").symlink_to("/proc/self/fd/1")
    with pytest.raises(FileError, match="it is a stream"), atomic_write(tmp_path / "stdout"):
        pass
    assert (tmp_path / "stdout").is_symlink()


# -- writing ---------------------------------------------------------------------------------------


def names(folder):
    return sorted(p.name for p in folder.iterdir())


@pytest.fixture
def umask():
    before = os.umask(0o027)
    yield
    os.umask(before)


def test_a_new_file(tmp_path):
    with atomic_write(tmp_path / "f") as file:
        file.write(b"new")
        assert names(tmp_path) != ["f"]  # not under its name yet
    assert (tmp_path / "f").read_bytes() == b"new"
    assert names(tmp_path) == ["f"]


def test_an_old_file_is_there_until_the_new_one_is_whole(tmp_path):
    target = tmp_path / "f"
    target.write_bytes(b"old")
    with atomic_write(str(target)) as file:
        file.write(b"ne")
        file.flush()
        assert target.read_bytes() == b"old"
        file.write(b"w")
    assert target.read_bytes() == b"new"
    assert names(tmp_path) == ["f"]


def test_the_file_can_be_sought_in(tmp_path):
    with atomic_write(tmp_path / "f") as file:
        file.write(b"....end")
        file.seek(0)
        file.write(b"head")
    assert (tmp_path / "f").read_bytes() == b"headend"


def test_a_name_in_the_current_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with atomic_write("f") as file:
        file.write(b"x")
    assert names(tmp_path) == ["f"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, FileError])
@pytest.mark.parametrize("old", [None, b"old"])
def test_when_the_block_fails_the_old_file_stays(tmp_path, error, old):
    if old:
        (tmp_path / "f").write_bytes(old)
    with pytest.raises(error), atomic_write(tmp_path / "f") as file:
        file.write(b"half")
        raise error
    assert names(tmp_path) == (["f"] if old else [])
    if old:
        assert (tmp_path / "f").read_bytes() == old


@pytest.mark.parametrize("call", ["fsync", "replace", "chmod"])
def test_when_the_disk_fails_the_old_file_stays(tmp_path, monkeypatch, call):
    (tmp_path / "f").write_bytes(b"old")

    def fail(*arguments):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, call, fail)
    with pytest.raises(FileError) as e, atomic_write(tmp_path / "f") as file:
        file.write(b"new")
    assert str(e.value) == f"{tmp_path / 'f'}: cannot be written: Input/output error"
    assert (tmp_path / "f").read_bytes() == b"old"
    assert names(tmp_path) == ["f"]


def test_bytes_are_on_disk_before_the_name_and_the_name_before_the_return(tmp_path, monkeypatch):
    done = []
    fsync, replace = os.fsync, os.replace

    def watched_fsync(handle):
        done.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file")
        fsync(handle)

    def watched_replace(source, target):
        done.append("name")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", watched_fsync)
    monkeypatch.setattr(os, "replace", watched_replace)
    with atomic_write(tmp_path / "f") as file:
        file.write(b"x")
    assert done == ["file", "name", "folder"]


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("missing/f", "No such file or directory"),
        ("file/f", "Not a directory"),
        ("folder", "Is a directory"),
        ("n" * 300, "File name too long"),
    ],
)
def test_places_where_no_file_can_be(tmp_path, path, why):
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    with pytest.raises(FileError) as e, atomic_write(tmp_path / path) as file:
        file.write(b"x")
    assert str(e.value) == f"{tmp_path / path}: cannot be written: {why}"
    assert names(tmp_path) == ["file", "folder"]


def test_a_name_that_no_file_can_have(tmp_path):
    with pytest.raises(FileError), atomic_write(str(tmp_path / "a\0b")) as file:
        file.write(b"x")
    assert names(tmp_path) == []


@pytest.mark.parametrize("name", ["n" * 255, "é" * 127])
def test_the_longest_names(tmp_path, name):
    with atomic_write(tmp_path / name) as file:
        file.write(b"x")
    assert names(tmp_path) == [name]


def test_permissions_are_those_of_an_ordinary_file(tmp_path, umask):
    with atomic_write(tmp_path / "new") as file:
        file.write(b"x")
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o755])
def test_permissions_of_a_replaced_file_stay(tmp_path, umask, mode):
    target = tmp_path / "f"
    target.touch()
    target.chmod(mode)
    with atomic_write(target) as file:
        file.write(b"x")
    assert stat.S_IMODE(target.stat().st_mode) == mode


def test_files_in_memory_are_told_by_their_whole_names(tmp_path):
    folder = tmp_path / "two words"
    folder.mkdir()
    kept, removed = folder / "a b.so.1", folder / "c.so"
    maps = []
    for path in (kept, removed):
        path.write_bytes(b"x" * 4096)
        with path.open("rb") as file:
            maps.append(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    removed.unlink()
    assert mapped(str(folder)) == [str(kept)]
    assert str(kept) in mapped()
    for one in maps:
        one.close()


# -- what is no file -------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/null", "pipe", "socket"])
def test_what_might_never_end_is_refused(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    with socket.socket(socket.AF_UNIX) as end:
        end.bind("socket")
    with pytest.raises(FileError, match=rf"^{path}: cannot be read: it is a \w+, and a file is"):
        read_bytes(path)


def test_the_pipe_of_a_shell_is_read():
    there, here = os.pipe()
    with os.fdopen(there), os.fdopen(here, "wb") as writer:
        writer.write(b"net")
        writer.close()
        assert read_bytes(f"/dev/fd/{there}") == b"net"


@pytest.mark.parametrize("error", [OSError(5, "x"), KeyError("x"), RecursionError(), MemoryError()])
def test_whatever_a_library_raises_becomes_our_error(error):
    with pytest.raises(FileError, match=r"^f: is no image: ") as e, reading("f", "is no image"):
        raise error
    assert e.value.__cause__ is error


def test_our_own_errors_and_an_interrupt_pass():
    for error in (NetError("mine"), KeyboardInterrupt()):
        with pytest.raises(type(error)) as e, reading("f"):
            raise error
        assert e.value is error

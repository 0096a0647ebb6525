import hashlib
import http.server
import socket
import threading

import pytest

from pycaffe_dist.data.download import check_md5, fetch_all
from pycaffe_dist.errors import FileError

CONTENT = b"the original bytes"
MD5 = hashlib.md5(CONTENT).hexdigest()


class Mirror(http.server.BaseHTTPRequestHandler):
    """Serves /good/, /damaged/, /short/ (ends early); everything else is 404."""

    def do_GET(self):
        self.server.asked.append(self.path)
        folder = self.path.split("/")[1]
        if folder not in {"good", "damaged", "short"}:
            self.send_error(404)
            return
        body = b"other bytes" if folder == "damaged" else CONTENT
        self.send_response(200)
        self.send_header("Content-Length", str(len(body) + (7 if folder == "short" else 0)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Mirror) as server:
        server.asked = []
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        server.url = f"http://127.0.0.1:{server.server_port}"
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def nobody_listens(monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{s.getsockname()[1]}/"


def fetch(folder, *mirrors, names=("set.gz",), timeout=5.0):
    lines = []
    fetch_all(
        dict.fromkeys(names, MD5),
        mirrors,
        folder,
        by_hand="python get_set.py --from DIR",
        say=lines.append,
        timeout=timeout,
    )
    return lines


def test_files_arrive_whole(server, tmp_path):
    lines = fetch(tmp_path / "new" / "folder", f"{server.url}/good/", names=("a", "b"))
    assert lines == [f"downloading {server.url}/good/{name}" for name in ("a", "b")]
    folder = tmp_path / "new" / "folder"
    assert {p.name: p.read_bytes() for p in folder.iterdir()} == {"a": CONTENT, "b": CONTENT}


def test_an_intact_file_is_not_fetched_again_and_a_damaged_one_is(server, tmp_path):
    (tmp_path / "intact").write_bytes(CONTENT)
    (tmp_path / "damaged").write_bytes(CONTENT[:-1])
    fetch(tmp_path, f"{server.url}/good", names=("intact", "damaged"))
    assert server.asked == ["/good/damaged"]
    assert (tmp_path / "damaged").read_bytes() == CONTENT


@pytest.mark.parametrize("bad", ["absent", "damaged", "short"])
def test_second_mirror_is_taken_when_the_first_is_no_good(server, tmp_path, bad):
    fetch(tmp_path, f"{server.url}/{bad}/", f"{server.url}/good/")
    assert server.asked == [f"/{bad}/set.gz", "/good/set.gz"]
    assert (tmp_path / "set.gz").read_bytes() == CONTENT


def test_first_mirror_that_is_down_is_passed_over(server, nobody_listens, tmp_path):
    fetch(tmp_path, nobody_listens, f"{server.url}/good/")
    assert (tmp_path / "set.gz").read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("mirror", "reason"),
    [
        ("absent", "the server answered 404"),
        ("damaged", f"expected {MD5}, actual {hashlib.md5(b'other bytes').hexdigest()}"),
        ("short", "7 more expected"),
    ],
)
def test_no_good_mirror_names_the_reason_and_writes_nothing(server, tmp_path, mirror, reason):
    with pytest.raises(FileError) as caught:
        fetch(tmp_path, f"{server.url}/{mirror}/")
    assert f"{server.url}/{mirror}/set.gz: " in str(caught.value)
    assert reason in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_no_network_says_which_files_from_where_and_what_to_run(nobody_listens, tmp_path):
    with pytest.raises(FileError) as caught:
        fetch(tmp_path, nobody_listens, "nonsense", names=("a.gz", "b.gz"))
    lines = str(caught.value).splitlines()
    assert lines[0] == "a.gz could not be downloaded:"
    assert lines[1].startswith(f"  {nobody_listens}a.gz: ") and "refused" in lines[1]
    assert lines[2] == "  nonsense/a.gz: unknown url type: 'nonsense/a.gz'"
    assert lines[4:6] == ["  a.gz", "  b.gz"]
    assert lines[6].endswith(f"{nobody_listens} and nonsense")
    assert lines[7] == "Then run: python get_set.py --from DIR"


def test_silent_mirror_times_out(tmp_path, monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        with pytest.raises(FileError, match="timed out"):
            fetch(tmp_path, url, timeout=0.1)


def test_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match=r"file/sub: cannot be made"):
        fetch(tmp_path / "file" / "sub", "http://127.0.0.1/")


def test_check_md5():
    check_md5(CONTENT, MD5, "here")
    with pytest.raises(FileError, match=f"here: wrong MD5: expected {MD5}, actual "):
        check_md5(CONTENT + b"!", MD5, "here")

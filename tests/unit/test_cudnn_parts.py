"""Parts of a wheel, read from a server without the rest of it."""

import importlib.util
import io
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts/cudnn_parts.py"
ROOM = "nvidia/cudnn"


@pytest.fixture
def script():
    spec = importlib.util.spec_from_file_location("cudnn_parts", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def server():
    """One file, of which it sends what is asked for; ``sent`` is how many bytes that were."""
    wheel = io.BytesIO()
    with zipfile.ZipFile(wheel, "w") as made:
        made.writestr(f"{ROOM}/lib/libcudnn_engines.so.9", b"x" * 1_000_000)
        made.writestr(f"{ROOM}/lib/libcudnn_ops.so.9", b"operations" * 1000)
        made.writestr(f"{ROOM}/include/cudnn.h", "int cudnn;")
    content = wheel.getvalue()

    class Server(BaseHTTPRequestHandler):
        def do_GET(self):
            first, last = map(int, self.headers["Range"].removeprefix("bytes=").split("-"))
            part = content[first : last + 1]
            served.sent += len(part)
            self.send_response(206 if served.ranges else 200)
            self.send_header("Content-Length", str(len(part)))
            self.send_header("Content-Range", f"bytes {first}-{last}/{len(content)}")
            self.end_headers()
            self.wfile.write(part)

        def log_message(self, *_):
            pass

    served = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    served.sent, served.ranges = 0, True
    served.url = f"http://127.0.0.1:{served.server_port}/cudnn.whl"
    thread = threading.Thread(target=served.serve_forever, daemon=True)
    thread.start()
    yield served
    served.shutdown()
    served.server_close()
    thread.join(10)


def test_what_is_needed_is_there_and_the_rest_is_not_sent(script, server, tmp_path, monkeypatch):
    monkeypatch.setattr(script, "PIECE", 10_000)
    script.fetch(server.url, tmp_path)
    files = {str(p.relative_to(tmp_path)): p.read_bytes() for p in tmp_path.rglob("*.*")}
    assert files == {
        "include/cudnn.h": b"int cudnn;",
        "lib/libcudnn_ops.so.9": b"operations" * 1000,
    }
    assert 10_000 < server.sent < 100_000


def test_a_server_that_sends_files_whole_is_named(script, server, monkeypatch, capsys, tmp_path):
    server.ranges = False
    monkeypatch.setattr(script, "where", lambda wheel: server.url)
    monkeypatch.setattr(script, "FOLDER", tmp_path)
    assert script.main() == 0
    said = capsys.readouterr().err
    assert said.startswith("left out: nvidia-cudnn-cu13==") and "cannot be read in parts" in said
    assert not list(tmp_path.iterdir())

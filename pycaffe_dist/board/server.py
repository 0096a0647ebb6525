"""The board's web server: the standard library's, a thread for each request.

Nothing that comes in is taken for a path: files of the page are looked up in a table, runs and
databases by the names under which they were found.
"""

from __future__ import annotations

import hmac
import json
import math
import secrets
import threading
from collections.abc import Callable
from http.cookies import CookieError, SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from pycaffe_dist.aliases import Facts
from pycaffe_dist.board.board import POINTS, Board
from pycaffe_dist.errors import PcdError

STATIC = Path(__file__).parent / "static"
KINDS = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
}
LARGEST_UPLOAD = 64 << 20
COOKIE = "pcd_board"
SAFE = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data: blob:; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; "
    "base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
LOOPBACK = ("127.0.0.1", "localhost", "::1")


class BoardServer(ThreadingHTTPServer):
    """Serves a board until it is shut down.

    A token is asked for wherever others could reach the page: on another address than this
    machine's own, and where the page may start and stop runs.
    """

    daemon_threads = True

    def __init__(self, board: Board, host: str = "127.0.0.1", port: int = 0) -> None:
        self.board = board
        self.local = host in LOOPBACK
        self.token = "" if self.local and not board.may_control else secrets.token_urlsafe(24)
        self.stopping = threading.Event()
        super().__init__((host, port), Handler)
        self.watcher = threading.Thread(target=board.watch, args=(self.stopping,), daemon=True)
        self.watcher.start()

    @property
    def address(self) -> str:
        host, port = self.server_address[:2]
        ask = f"/?token={self.token}" if self.token else "/"
        return f"http://{host!s}:{port}{ask}"

    def shutdown(self) -> None:
        self.stopping.set()
        super().shutdown()

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that goes away is no error."""


Query = dict[str, str]
Answer = Callable[["Handler", Query], object]


class Handler(BaseHTTPRequestHandler):
    """One request."""

    server: BoardServer
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "pcd-board", ""

    def do_GET(self) -> None:
        self._serve(GET)

    def do_POST(self) -> None:
        self._serve(POST)

    def log_message(self, *_: object) -> None:
        """What a browser asks for is not worth a line."""

    def _serve(self, table: dict[str, Answer]) -> None:
        url = urlsplit(self.path)
        query = {name: values[-1] for name, values in parse_qs(url.query).items()}
        try:
            if not self._host_is_ours():
                self._send(403, b"this board answers to its own address only")
            elif not self._is_allowed(query):
                self._send(
                    403, b"the token is missing or wrong: open the address that pcd board printed"
                )
            elif "token" in query and url.path == "/":
                self._redirect()
            elif table is GET and (name := url.path.removeprefix("/") or "index.html") in FILES:
                self._send(200, (STATIC / name).read_bytes(), KINDS[Path(name).suffix])
            elif url.path in table:
                self._answer(table[url.path], query)
            else:
                self._send(404, b"there is nothing under this address")
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def _answer(self, answer: Answer, query: Query) -> None:
        try:
            said = answer(self, query)
        except (PcdError, ValueError, KeyError, MemoryError) as e:
            words = str(e) if isinstance(e, PcdError) else f"this cannot be answered: {e!r}"
            self._json(400, {"error": words})
            return
        if said is not None:
            self._json(200, said)

    # -- who may ask -----------------------------------------------------------------------------

    def _host_is_ours(self) -> bool:
        """Another site's name that leads here (DNS rebinding) is not ours."""
        if not self.server.local:
            return True
        host = self.headers.get("Host", "").rsplit(":", 1)[0].strip("[]")
        return host in LOOPBACK

    def _is_allowed(self, query: Query) -> bool:
        token = self.server.token
        if not token:
            return True
        try:
            cookie = SimpleCookie(self.headers.get("Cookie", "")).get(self._cookie())
        except CookieError:
            cookie = None
        given = query.get("token", "") or (cookie.value if cookie else "")
        return hmac.compare_digest(given.encode(), token.encode())

    def _cookie(self) -> str:
        return f"{COOKIE}_{self.server.server_address[1]}"

    def _redirect(self) -> None:
        """The token leaves the address, and stays with the browser."""
        self.send_response(303)
        self.send_header("Location", "/")
        value = f"{self._cookie()}={self.server.token}; HttpOnly; SameSite=Strict; Path=/"
        self.send_header("Set-Cookie", value)
        self.send_header("Content-Length", "0")
        self.end_headers()

    # -- answers ---------------------------------------------------------------------------------

    def body(self) -> bytes:
        size = int(self.headers.get("Content-Length") or 0)
        if not 0 <= size <= LARGEST_UPLOAD:
            self.close_connection = True
            raise ValueError(f"{size} bytes are too many")
        return self.rfile.read(size)

    def form(self) -> Facts:
        """A JSON object; another site's page cannot send one without asking first."""
        if self.headers.get("Content-Type") != "application/json":
            raise ValueError("expected application/json")
        form = json.loads(self.body())
        if not isinstance(form, dict):
            raise ValueError("expected an object")
        return form

    def _json(self, code: int, value: object) -> None:
        text = json.dumps(value, allow_nan=False, separators=(",", ":"))
        self._send(code, text.encode(), "application/json")

    def _send(self, code: int, data: bytes, kind: str = "text/plain") -> None:
        self.send_response(code)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        for name, value in SAFE.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def events(self) -> None:
        """Server-sent events: the names of the runs that have changed."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        for name, value in SAFE.items():
            self.send_header(name, value)
        self.end_headers()
        self.close_connection = True
        board, seen = self.server.board, dict(self.server.board.changes)
        while not self.server.stopping.is_set():
            now = board.wait_for_change(seen)
            changed = [name for name in now if now[name] != seen.get(name)]
            seen = now
            self.wfile.write(f"data: {json.dumps(changed)}\n\n".encode())
            self.wfile.flush()


def _number(query: Query, name: str, otherwise: float) -> float:
    value = float(query.get(name) or otherwise)
    if math.isnan(value):
        raise ValueError(f"{name} is not a number")
    return value


def _curves(h: Handler, q: Query) -> object:
    names = json.loads(q.get("runs", "[]"))
    span = _number(q, "from", -math.inf), _number(q, "to", math.inf)
    points = min(max(int(_number(q, "points", POINTS)), 10), 5000)
    return h.server.board.curves([str(n) for n in names], *span, points, q.get("only", ""))


def _timeline(h: Handler, q: Query) -> object:
    span = [float(q[name]) if name in q else None for name in ("from", "to")]
    return h.server.board.timeline(q.get("run", ""), q["trace"], span[0], span[1])


def _activations(h: Handler, q: Query) -> object:
    return {"image": h.server.board.predictor(q["run"]).activations(h.body(), q["layer"])}


def _controlled(answer: Callable[[Board, Facts], object]) -> Answer:
    def guarded(h: Handler, q: Query) -> object:
        if not h.server.board.may_control:
            raise PcdError("this board only shows; start it with --control to start and stop runs")
        return answer(h.server.board, h.form())

    return guarded


FILES = frozenset(path.name for path in STATIC.iterdir() if path.suffix in KINDS)
GET: dict[str, Answer] = {
    "/api/runs": lambda h, q: h.server.board.table(),
    "/api/events": lambda h, q: h.events(),
    "/api/curves": _curves,
    "/api/net": lambda h, q: h.server.board.net(q["run"]),
    "/api/layer": lambda h, q: h.server.board.layer(q["run"], q["layer"]),
    "/api/traces": lambda h, q: h.server.board.traces(),
    "/api/timeline": _timeline,
    "/api/evaluation": lambda h, q: h.server.board.evaluation(q["run"], q.get("again") == "1"),
    "/api/databases": lambda h, q: h.server.board.databases(),
    "/api/database": lambda h, q: h.server.board.database(q["name"]),
    "/api/solvers": lambda h, q: h.server.board.solvers(),
}
POST: dict[str, Answer] = {
    "/api/predict": lambda h, q: h.server.board.predictor(q["run"]).predict(h.body()),
    "/api/activations": _activations,
    "/api/command": _controlled(lambda board, form: board.command(form)),
    "/api/start": _controlled(lambda board, form: board.start(form)),
    "/api/tell": _controlled(lambda board, form: board.tell(str(form["run"]), str(form["what"]))),
}

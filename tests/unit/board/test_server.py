"""The board's answers over HTTP, and who gets none."""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from urllib.parse import quote, urlencode

import numpy as np
import pytest
from made_runs import EVIL, NET, line, metrics_of, write_run, write_trace

from pycaffe_dist.board.board import Board
from pycaffe_dist.board.places import Places
from pycaffe_dist.board.server import BoardServer
from pycaffe_dist.errors import FileError


@contextmanager
def serving(roots, data=(), control=False, host="127.0.0.1"):
    board = Board(Places([str(r) for r in roots], [str(d) for d in data]), control)
    server = BoardServer(board, host)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def ask(server, path, method="GET", body=None, headers=(), **query):
    connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=30)
    connection.request(method, f"{path}?{urlencode(query)}", body, dict(headers))
    answer = connection.getresponse()
    data = answer.read()
    connection.close()
    kind = answer.getheader("Content-Type", "")
    return answer.status, json.loads(data) if "json" in kind else data, answer


def until(check, seconds=20):
    end = time.monotonic() + seconds
    while not (found := check()):
        assert time.monotonic() < end, "it has not come"
        time.sleep(0.02)
    return found


def read_all(server):
    until(lambda: all(not r.index.behind for r in server.board.runs.by_name.values()))


@pytest.fixture(scope="module")
def server(trained):
    write_run(trained / "runs" / "slow", rate="0.001")
    with serving([trained / "runs"], [trained / "data"]) as found:
        read_all(found)
        yield found


# -- what the pages are told -----------------------------------------------------------------------


def test_the_table_says_what_the_files_say(server, trained):
    _, said, _ = ask(server, "/api/runs")
    rows = {row["name"]: row for row in said["runs"]}
    tests = [r for r in metrics_of(trained / "runs" / "tiny") if r["kind"] == "test"]
    best = max(tests, key=lambda r: r["outputs"]["acc"])
    tiny = rows["tiny"]
    assert (tiny["state"], tiny["iteration"], tiny["max_iter"]) == ("done", 30, 30)
    assert tiny["best"]["name"] == "test acc"
    assert tiny["best"]["value"] == pytest.approx(best["outputs"]["acc"], rel=1e-6)
    assert tiny["best"]["iteration"] == best["iteration"]
    assert "base_lr" in said["differ"] and "momentum" not in said["differ"]
    assert rows["slow"]["settings"]["base_lr"] == "0.001"
    assert not said["control"]


def test_curves_are_the_numbers_of_the_file(server, trained):
    _, said, _ = ask(server, "/api/curves", runs=json.dumps(["tiny"]))
    told = said["runs"]["tiny"]
    rows = [r for r in metrics_of(trained / "runs" / "tiny") if r["kind"] == "train"]
    curve = told["curves"]["train loss"]
    assert curve["x"] == [r["iteration"] for r in rows]
    np.testing.assert_allclose(curve["y"], [r["loss"] for r in rows], rtol=1e-6)
    assert told["curves"]["lr"]["y"][0] == 0.05 and not told["preview"]
    _, part, _ = ask(server, "/api/curves", runs='["slow"]', **{"from": 10, "to": 20, "only": "lr"})
    assert list(part["runs"]["slow"]["curves"]) == ["lr"]
    assert part["runs"]["slow"]["curves"]["lr"]["x"] == [float(i) for i in range(9, 22)]


def test_many_runs_share_one_x(tmp_path):
    for i in range(12):
        write_run(tmp_path / f"r{i:02}", count=30 + i)
    with serving([tmp_path]) as server:
        read_all(server)
        names = json.dumps(sorted(server.board.runs.by_name))
        _, said, _ = ask(server, "/api/curves", runs=names, points=40)
    assert len(said["x"]) == 80 and len(said["runs"]) == 12
    for run in said["runs"].values():
        assert max(v for v in run["curves"]["train loss"]["y"] if v is not None) == 2.0


def test_a_line_is_told_at_once(tmp_path):
    folder = write_run(tmp_path / "live", end=False)
    with serving([tmp_path]) as server:
        read_all(server)
        connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=30)
        connection.request("GET", "/api/events")
        stream = connection.getresponse()
        assert stream.status == 200 and stream.getheader("Content-Type") == "text/event-stream"
        # A page that is left open does not keep the board from ending.
        assert all(t.daemon for t in threading.enumerate() if "process_request" in t.name)
        with open(folder / "metrics.jsonl", "a") as file:
            file.write(line(60, 0.125))
        while b"live" not in (row := stream.fp.readline()):
            assert row
        _, said, _ = ask(server, "/api/curves", runs='["live"]')
        curve = said["runs"]["live"]["curves"]["train loss"]
        assert (curve["x"][-1], curve["y"][-1]) == (60, 0.125)
        stream.close()
        connection.close()


def test_states(tmp_path):
    old = write_run(tmp_path / "died", end=False)
    (old / "train.log").write_text("E1118 10:00:00.000000     1 solver.cpp:1] the disk is full\n")
    os.utime(old / "metrics.jsonl", (1e9, 1e9))
    early = write_run(tmp_path / "early", end=False)
    with open(early / "metrics.jsonl", "a") as file:
        file.write(line(9, 0, "end", early=True))
    write_run(tmp_path / "now", end=False)
    with serving([tmp_path]) as server:
        read_all(server)
        found = {r["name"]: (r["state"], r["why"]) for r in ask(server, "/api/runs")[1]["runs"]}
    assert found["died"] == ("failed", "the disk is full")
    assert found["early"][0] == "stopped" and found["now"][0] == "running"


def test_a_log_of_caffe_s(tmp_path):
    head = "I1116 00:23:{:02}.5 12202 solver.cpp:239] "
    text = head.format(1) + "Iteration 0, loss = 2.5\n" + head.format(1) + "Iteration 0, lr = 0.1\n"
    text += head.format(3) + "Iteration 100, loss = 1.5\n"
    text += head.format(4) + "Iteration 100, Testing net (#0)\n"
    text += head.format(5) + "    Test net output #0: accuracy = 0.75\n"
    text += head.format(6) + "Optimization Done.\n"
    (tmp_path / "old.log").write_text(text)
    with serving([tmp_path]) as server:
        until(lambda: server.board.runs.by_name["old.log"].index.series)
        row = ask(server, "/api/runs")[1]["runs"][0]
        assert (row["state"], row["log"], row["iteration"]) == ("done", True, 100)
        assert row["best"] == {"name": "test accuracy", "iteration": 100, "value": 0.75}


def test_the_net_and_its_layers(server, trained):
    _, said, _ = ask(server, "/api/net", run="tiny")
    layers = {row["name"]: row for row in said["layers"]}
    assert layers["conv"]["shapes"] == ["8x4x10x10"] and layers["conv"]["params"] == 3 * 4 * 9 + 4
    assert said["params"] == 112 + 400 * 3 + 3
    assert layers["conv"]["forward_ms"] > 0 and "backward_ms" in layers["ip"]
    assert {(e["blob"], e["shape"]) for e in said["lines"]} >= {
        ("data", "8x3x12x12"),
        ("ip", "8x3"),
    }
    _, layer, _ = ask(server, "/api/layer", run="tiny", layer="conv")
    assert "num_output: 4" in layer["prototxt"]
    weights, bias = layer["blobs"]
    assert weights["shape"] == "4x3x3x3" and sum(weights["counts"]) == 108
    assert weights["filters"].startswith("data:image/png;base64,")
    assert "filters" not in bias
    image = (trained / "left.png").read_bytes()
    _, shown, _ = ask(server, "/api/activations", "POST", image, run="tiny", layer="conv")
    assert shown["image"].startswith("data:image/png;base64,")


def test_predictions_and_the_test_set(server, trained, monkeypatch):
    monkeypatch.chdir(trained)  # where it was trained: paths of its net count from there
    for name in ("left", "right", "below"):
        image = (trained / f"{name}.png").read_bytes()
        _, said, _ = ask(server, "/api/predict", "POST", image, run="tiny")
        assert said["kind"] == "classes" and said["top"][0]["label"] == name
        assert sum(guess["score"] for guess in said["top"]) == pytest.approx(1, abs=1e-5)
    state = until(lambda: (s := ask(server, "/api/evaluation", run="tiny")[1])["result"] and s)
    result = state["result"]
    tests = [r for r in metrics_of(trained / "runs" / "tiny") if r["kind"] == "test"]
    assert result["accuracy"] == pytest.approx(max(r["outputs"]["acc"] for r in tests))
    assert np.sum(result["confusion"]) == result["count"] == 24
    assert len(result["worst"]) == 24 - np.trace(result["confusion"])
    code, said, _ = ask(server, "/api/predict", "POST", b"no image", run="tiny")
    assert code == 400 and "no image" in said["error"]


def test_databases(server):
    names = ask(server, "/api/databases")[1]
    assert names == ["data/test_lmdb", "data/train_lmdb"]
    said = ask(server, "/api/database", name="data/train_lmdb")[1]
    assert said["count"] == 48 and said["shapes"] == ["3x14x14"]
    assert said["labels"][1] == {"label": 1, "name": "right", "count": 16}
    assert said["sheet"].startswith("data:image/png")


def test_a_timeline(tmp_path):
    write_trace(write_run(tmp_path / "two") / "trace.json")
    with serving([tmp_path]) as server:
        assert ask(server, "/api/traces")[1] == [{"run": "two", "trace": "trace.json"}]
        said = ask(server, "/api/timeline", run="two", trace="trace.json")[1]
        assert (said["begin"], said["end"]) == (10, 20)
        first, second = said["ranks"]
        assert (first["compute"], first["wait"], first["late"]) == (18, 6, True)
        assert (second["compute"], second["wait"], second["late"]) == (12, 12, False)
        assert first["overlap"] == pytest.approx((12 - 6) / 12) and second["overlap"] == 0
        assert first["bytes"] == 3000
        assert {s["kind"] for s in said["spans"]} == {"compute", "exchange", "wait"}
        code, said, _ = ask(server, "/api/timeline", run="two", trace="../two/trace.json")
        assert code == 400


# -- who gets nothing ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        "/../board.py",
        "/..%2fboard.py",
        "//etc/passwd",
        "/static/app.js",
        "/uplot.LICENSE",
        "/api/x",
    ],
)
def test_there_are_no_paths(server, path):
    status, data, _ = ask(server, path)
    assert status == 404 and b"nothing under this address" in data


@pytest.mark.parametrize("name", ["../tiny", "/etc", "tiny/../tiny", "%2e%2e"])
def test_a_run_is_a_name_and_no_path(server, name):
    for path in ("/api/net", "/api/curves", "/api/evaluation"):
        query = {"runs": json.dumps([name])} if "curves" in path else {"run": name}
        code, said, _ = ask(server, path, **query)
        assert code == 400 and "there is no run" in said["error"]
    assert ask(server, "/api/database", name=name)[0] == 400


def test_links_that_lead_out_are_refused(tmp_path):
    (tmp_path / "secret").write_text("password: 1234")
    run = write_run(tmp_path / "runs" / "r")
    (run / "net.prototxt").symlink_to(tmp_path / "secret")
    (run / "trace.json").symlink_to(tmp_path / "secret")
    with serving([tmp_path / "runs"]) as server:
        code, said, _ = ask(server, "/api/net", run="r")
        assert code == 400 and "lies outside" in said["error"] and "1234" not in said["error"]
        assert ask(server, "/api/traces")[1] == []
    with pytest.raises(FileError, match="lies outside"):
        Places([str(tmp_path / "runs")]).inside(tmp_path / "runs" / ".." / "secret")


def test_a_test_set_outside_is_refused(trained, monkeypatch):
    monkeypatch.chdir(trained)
    with serving([trained / "runs"]) as server:
        code, said, _ = ask(server, "/api/evaluation", run="tiny")
    assert code == 400 and "lies outside" in said["error"]


def test_nothing_of_a_prototxt_is_executed(tmp_path, trained):
    run = write_run(tmp_path / "runs" / "evil")
    (tmp_path / "mine.py").write_text(f"open({str(tmp_path / 'was-here')!r}, 'w')\n")
    python = (
        'layer { name: "p" type: "Python" bottom: "ip" top: "q" '
        'python_param { module: "mine" layer: "L" } }'
    )
    (run / "net.prototxt").write_text(NET.replace("tiny", EVIL) + python)
    (run / "deploy.prototxt").write_text(
        'layer { name: "d" type: "Input" top: "ip" input_param { shape { dim: 1 } } }' + python
    )
    (run / "transform.json").write_text('{"input": [3, 12, 12], "images_dim": [12, 12]}')
    (run / "x_iter_1.caffemodel").write_bytes(b"")
    with serving([tmp_path / "runs"]) as server:
        _, said, _ = ask(server, "/api/net", run="evil")
        notes = {row["name"]: row.get("note") for row in said["layers"]}
        assert notes["p"] == "not run" and said["name"].startswith(EVIL)
        code, told, _ = ask(server, "/api/predict", "POST", b"", run="evil")
        assert code == 400 and "plain layers only" in told["error"]
    assert "mine" not in sys.modules and not (tmp_path / "was-here").exists()


def test_the_token(tmp_path):
    write_run(tmp_path / "r")
    with serving([tmp_path], control=True) as server:
        assert ask(server, "/api/runs")[0] == 403
        assert ask(server, "/")[0] == 403
        assert ask(server, "/", token="wrong")[0] == 403
        status, _, answer = ask(server, "/", token=server.token)
        cookie = answer.getheader("Set-Cookie")
        assert status == 303 and "HttpOnly" in cookie and "SameSite=Strict" in cookie
        assert answer.getheader("Location") == "/"
        head = {"Cookie": cookie.partition(";")[0]}
        assert ask(server, "/api/runs", headers=head)[0] == 200
        assert server.token in server.address
    with serving([tmp_path], host="0.0.0.0") as server:
        assert ask(server, "/api/runs")[0] == 403
        assert ask(server, "/api/runs", token=server.token)[0] == 200
    with serving([tmp_path]) as server:
        assert not server.token and ask(server, "/api/runs")[0] == 200
        assert ask(server, "/api/runs", headers={"Host": "evil.example"})[0] == 403


def test_headers_forbid_scripts_of_others(server):
    _, data, answer = ask(server, "/")
    assert b"<title>pcd board</title>" in data
    policy = answer.getheader("Content-Security-Policy")
    assert "default-src 'none'" in policy and "unsafe" not in policy
    assert answer.getheader("X-Content-Type-Options") == "nosniff"


# -- control ---------------------------------------------------------------------------------------


def told(server, path, form, kind="application/json"):
    head = {"Content-Type": kind}
    return ask(server, path, "POST", json.dumps(form), head, token=server.token)[:2]


def test_nothing_is_started_without_control(server):
    for path in ("/api/start", "/api/tell", "/api/command"):
        code, said = told(server, path, {"run": "tiny", "what": "stop"})
        assert code == 400 and "--control" in said["error"]


def test_a_run_is_started_stopped_and_makes_snapshots(trained, tmp_path, monkeypatch):
    monkeypatch.chdir(trained)
    form = {"solver": "solver.prototxt", "name": "started", "max_iter": 10_000_000}
    form["settings"] = ["base_lr=0.001", "display=100000", "test_interval=100000000"]
    with serving([tmp_path], [trained], control=True) as server:
        code, said = told(server, "/api/command", form)
        assert code == 200
        words = "pcd train --solver solver.prototxt --run-dir .+/started --set base_lr=0.001 "
        assert re.match(words, said["command"])
        code, said = told(server, "/api/start", form)
        assert code == 200, said
        try:
            run = until(lambda: server.board.find() or server.board.runs.by_name.get("started"))
            until(lambda: run.process() == said["process"])
            until(lambda: run.index.facts.get("begin"))
            assert told(server, "/api/tell", {"run": "started", "what": "snapshot"})[0] == 200
            until(lambda: list((tmp_path / "started").glob("*_iter_*.caffemodel")))
            assert told(server, "/api/tell", {"run": "started", "what": "stop"})[0] == 200
            until(lambda: run.index.facts.get("end"))
            assert run.state()[0] == "stopped"
        finally:
            with suppress(ProcessLookupError):
                os.kill(said["process"], signal.SIGKILL)
            for process in server.board.started:
                process.wait()
        code, said = told(server, "/api/tell", {"run": "started", "what": "stop"})
        assert code == 400 and "not running" in said["error"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"solver": "/etc/passwd"}, "lies outside"),
        ({"name": "../x"}, "a run's name"),
        ({"name": "-x"}, "a run's name"),
        ({"settings": ["a=b; rm"]}, "FIELD=VALUE"),
        ({"ranks": "two"}, "cannot be answered"),
    ],
)
def test_forms_that_ask_for_more(trained, tmp_path, monkeypatch, change, words):
    monkeypatch.chdir(trained)
    form = {"solver": "solver.prototxt", "name": "x"} | change
    with serving([tmp_path], [trained], control=True) as server:
        code, said = told(server, "/api/command", form)
        assert code == 400 and words in said["error"]
        assert told(server, "/api/start", {}, "text/plain")[0] == 400  # another site's form
    assert not (tmp_path / "x").exists()


# -- the verb --------------------------------------------------------------------------------------


def test_the_verb_serves_until_it_is_interrupted(tmp_path):
    write_run(tmp_path / "runs" / "r")
    command = [sys.executable, "-m", "pycaffe_dist", "board", "--port", "0"]
    process = subprocess.Popen(
        command,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
        # Whoever runs the tests in the background may have it ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    try:
        said = process.stdout.readline()
        port = int(said.split("127.0.0.1:")[1].split("/")[0])
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("GET", f"/api/curves?runs={quote(json.dumps(['r']))}")
        assert json.loads(connection.getresponse().read())["runs"]["r"]
        connection.close()
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def test_what_the_verb_refuses(call_pcd, tmp_path):
    done = call_pcd("board", "nowhere")
    assert done[0] == 1 and "nowhere: there is no such file or folder" in done[1]
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, said = call_pcd("board", str(tmp_path), "--port", str(port))
    assert code == 1 and f"port {port}" in said and "--port 0" in said


@pytest.fixture
def call_pcd(capsys):
    from pycaffe_dist.cli import main

    return lambda *words: (main(list(words)), capsys.readouterr().err)

"""Headless Chromium, and a board over runs of which one was really trained."""

import json
import shutil
import tempfile
import threading
from urllib.parse import quote

import pytest
from made_runs import EVIL, make_project, write_run, write_trace
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from pycaffe_dist.board.board import Board
from pycaffe_dist.board.places import Places
from pycaffe_dist.board.server import BoardServer

FLAGS = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-sync "
FLAGS += "--disable-background-networking --disable-component-update --hide-scrollbars"
WAIT = 30  # seconds, on a busy machine


@pytest.fixture(scope="session")
def browser():
    options = Options()
    options.binary_location = shutil.which("chromium")
    with tempfile.TemporaryDirectory() as profile:
        for flag in (*FLAGS.split(), f"--user-data-dir={profile}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
        yield driver
        driver.quit()


@pytest.fixture(scope="session")
def project(tmp_path_factory):
    top = make_project(tmp_path_factory.mktemp("a project"))
    write_run(top / "runs" / "slow", rate="0.001")
    write_run(top / "runs" / "fast", rate="0.1", count=80)
    evil = write_run(top / "runs" / f"evil {EVIL.replace('/', '')}", end=False)
    text = (evil / "metrics.jsonl").read_text()
    (evil / "metrics.jsonl").write_text(text.replace('"acc"', json.dumps(EVIL)))
    name = EVIL.replace('"', "")
    (evil / "net.prototxt").write_text(
        f'name: "{name}" layer {{ name: "{name}" type: "Input" top: "x" '
        "input_param { shape { dim: 1 } } }"
    )
    two = write_run(top / "runs" / "two ranks", rate="0.01")
    write_trace(two / "trace.json")
    return top


@pytest.fixture(scope="session")
def gallery(project, tmp_path_factory):
    """What the pictures show: the trained run, and three others."""
    top = tmp_path_factory.mktemp("gallery")
    shutil.copytree(project / "runs" / "tiny", top / "runs" / "tiny", symlinks=True)
    shutil.copytree(project / "data", top / "data")
    write_run(top / "runs" / "lenet", 400, "0.01", noise=0.3)
    write_run(top / "runs" / "lenet faster", 330, "0.03", noise=0.5, end=False)
    write_trace(write_run(top / "runs" / "lenet two ranks", 400, "0.02", noise=0.2) / "trace.json")
    shutil.copy(project / "right.png", top)
    return top


@pytest.fixture
def serve(browser, monkeypatch):
    """Start a board over some folders; a page of it, by the browser."""
    begun = []

    def start(roots, data=(), control=False):
        board = Board(Places([str(r) for r in roots], [str(d) for d in data]), control)
        server = BoardServer(board)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        begun.append((server, thread))
        return Page(browser, server)

    yield start
    browser.get("about:blank")
    for server, thread in begun:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def page(serve, project, monkeypatch):
    monkeypatch.chdir(project)
    return serve([project / "runs"], [project / "data"])


class Page:
    """What tests do with a page."""

    def __init__(self, browser, server):
        self.browser, self.server = browser, server
        browser.set_window_size(1280, 860)
        browser.get("about:blank")
        browser.get_log("browser")
        browser.get(server.address)
        self.wait(lambda: browser.execute_script("return document.body.dataset.page"))

    def open(self, page, *runs):
        self.browser.execute_script("document.body.dataset.page = ''")
        query = "&".join(f"run={quote(name)}" for name in runs)
        self.browser.execute_script(f"location.hash = {json.dumps(f'#/{page}?{query}')}")
        self.wait(lambda: self.run("return document.body.dataset.page") == page)

    def run(self, script, *values):
        return self.browser.execute_script(script, *values)

    def wait(self, check, seconds=WAIT):
        return WebDriverWait(self.browser, seconds, 0.05).until(lambda _: check())

    def all(self, selector):
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector):
        return self.wait(lambda: (found := self.all(selector)) and found[0])

    def text(self):
        return self.one("main").text

    def read_all(self):
        runs = self.server.board.runs
        self.wait(lambda: all(not r.index.behind for r in runs.by_name.values()))

    def errors(self):
        """What the browser complains of, but for answers that the page shows itself."""
        rows = self.browser.get_log("browser")
        return [r["message"] for r in rows if "status of 400" not in r["message"]]

    def look(self, dark=False, width=1280, height=860):
        """By day or by night, on a screen or a phone."""
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": scheme})
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    def plain(self):
        self.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})

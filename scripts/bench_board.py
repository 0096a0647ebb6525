"""How fast the board is, in Chromium: first paint, frames while panning, live lines, memory.

    python scripts/bench_board.py --make runs/bench_board      # 4.5 GB of metrics
    python scripts/bench_board.py runs/bench_board

The bars: 200 runs of 100,000 points paint within 1.5 s and pan at 30 frames a second, the server
takes at most 300 MB, a run of 10 million lines opens within 3 s, and a new line is drawn within 2.
"""

import argparse
import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

RUNS, POINTS, LONG = 200, 100_000, 10_000_000
FLAGS = "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking "
FLAGS += "--disable-component-update --disable-sync --window-size=1280,860"
LINE = (
    '{"kind": "train", "iteration": %d, "seconds": %.3f, "loss": %.6f, "lr": 0.01, '
    '"outputs": {"loss": %.6f}, "loss_weights": {"loss": 1.0}}\n'
)
PAN = """
const done = arguments[arguments.length - 1];
const page = window.board, frames = [];
const [low, high] = (s => [s.min, s.max])(page.byTitle.get('loss').plot.scales.x);
let last = performance.now(), i = 0;
const step = (now) => {
  frames.push(now - last);
  last = now;
  if (++i > 60) { done(frames.slice(1)); return; }
  const by = (high - low) * 0.25 * Math.sin(i / 10);
  for (const chart of page.byTitle.values()) chart.setSpan([low + by, high * 0.75 + by]);
  requestAnimationFrame(step);
};
requestAnimationFrame(step);
"""


def make(top: Path) -> None:
    def write(path: Path, count: int) -> None:
        path.parent.mkdir(parents=True)
        with open(path, "w") as file:
            for begin in range(0, count, POINTS):
                values = (
                    (i, 2 / (1 + i / 5000) + i * 7919 % 1000 / 3000)
                    for i in range(begin, begin + POINTS)
                )
                file.write("".join(LINE % (i, i / 50, loss, loss) for i, loss in values))

    write(top / "many" / "run000" / "metrics.jsonl", POINTS)
    for r in range(1, RUNS):
        (top / "many" / f"run{r:03}").mkdir()
        shutil.copy(top / "many" / "run000" / "metrics.jsonl", top / "many" / f"run{r:03}")
    write(top / "long" / "run" / "metrics.jsonl", LONG)


@contextmanager
def board(folder: Path):
    """The server as people start it: its process and address."""
    command = [sys.executable, "-m", "pycaffe_dist", "board", str(folder), "--port", "0"]
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    address = re.search(r"http://\S+", process.stdout.readline())[0]
    print(f"  listening after {time.perf_counter() - begin:.2f} s")
    try:
        yield process, address
    finally:
        process.terminate()
        process.wait()


def memory(process) -> str:
    text = Path(f"/proc/{process.pid}/status").read_text()
    most = int(re.search(r"VmHWM:\s+(\d+)", text)[1])
    return f"{most / 1024:.0f} MB"


def opened(browser, address: str, ready: str) -> float:
    """Seconds from asking for a page until it shows what it is for."""
    browser.get("about:blank")
    begin = time.perf_counter()
    browser.get(address)
    while not browser.execute_script(f"return {ready}"):
        time.sleep(0.005)
    return time.perf_counter() - begin


def measure(browser, top: Path) -> None:
    drawn = "!!document.querySelector('.chart canvas')"
    rows = "document.querySelectorAll('tr[data-run]').length"
    with board(top / "many") as (process, address):
        print(f"  200 runs: table after {opened(browser, address, f'{rows} === {RUNS}'):.2f} s")
        names = "&".join(f"run=run{r:03}" for r in range(RUNS))
        print(f"  200 curves after {opened(browser, f'{address}#/curves?{names}', drawn):.2f} s")
        frames = browser.execute_async_script(PAN)
        print(f"  panning: {1000 / statistics.median(frames):.0f} frames/s (median of 60)")
        print(f"  memory of the server: {memory(process)}")
    with board(top / "long") as (process, address):
        print(f"  10 million lines: {opened(browser, f'{address}#/curves?run=run', drawn):.2f} s")
        print(f"  memory of the server: {memory(process)}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "live" / "metrics.jsonl"
        path.parent.mkdir()
        path.write_text("".join(LINE % (i, i, 1, 1) for i in range(100)))
        with board(Path(folder)) as (_, address):
            opened(browser, f"{address}#/curves?run=live", drawn)
            last = "board.byTitle.get('loss').plot.data[0].at(-1)"
            times = []
            for i in range(100, 106):
                time.sleep(0.3)
                begin = time.perf_counter()
                with open(path, "a") as file:
                    file.write(LINE % (i, i, 1, 1))
                while browser.execute_script(f"return {last}") != i:
                    time.sleep(0.005)
                times.append(time.perf_counter() - begin)
            print(f"  a new line is drawn after {json.dumps([round(t, 2) for t in times])} s")


def main() -> None:
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--make", action="store_true", help="write the runs first")
    args = parser.parse_args()
    if args.make:
        make(args.folder)
        return
    options = Options()
    options.binary_location = shutil.which("chromium")
    with tempfile.TemporaryDirectory() as profile:
        for flag in (*FLAGS.split(), f"--user-data-dir={profile}"):
            options.add_argument(flag)
        browser = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
        browser.set_script_timeout(60)
        try:
            measure(browser, args.folder)
        finally:
            browser.quit()


if __name__ == "__main__":
    main()

"""A stranger's first hour, by hand: `make first-hour`.

A wheel of this tree is installed into a clean environment; everything else happens in an empty
folder.  Every step's output is checked and its time printed; the bar for all of them is five
minutes on two quiet cores (`--limit SECONDS`).
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
import venv
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOLVER = "models/digits/solver.prototxt"
DIGIT = """
import lmdb
from PIL import Image
import pycaffe_dist as caffe
datum = caffe.proto.caffe_pb2.Datum()
with lmdb.open("data/digits/digits_test_lmdb", readonly=True, lock=False).begin() as records:
    datum.ParseFromString(next(iter(records.cursor()))[1])
Image.fromarray(caffe.io.datum_to_array(datum)[0]).save("digit.png")
print("label", datum.label)
"""
ONNX = """
import numpy as np, onnxruntime, pycaffe_dist as caffe
net = caffe.Net("models/digits/deploy.prototxt", caffe.TEST, weights="WEIGHTS")
x = np.random.default_rng(1).random(net.blobs["data"].shape, np.float32)
ours = net.forward(data=x)["prob"]
session = onnxruntime.InferenceSession("digits.onnx")
(theirs,) = session.run(None, {session.get_inputs()[0].name: x})
print("largest difference", abs(ours - theirs).max())
"""


class FirstHour:
    """The steps, in their order; each raises AssertionError where its output is not right."""

    def __init__(self, home: Path) -> None:
        self.home, self.bin = home, home / "venv" / "bin"
        self.folder = home / "empty"
        self.folder.mkdir()
        # Nothing of the tree or of another environment is seen.
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "PCD_"))}
        self.env |= {"PATH": f"{self.bin}:{os.environ['PATH']}", "PCD_CACHE": str(home / "cache")}

    def run(self, *words: str, code: int = 0) -> str:
        done = subprocess.run(
            [str(self.bin / words[0]), *words[1:]],
            cwd=self.folder,
            env=self.env,
            capture_output=True,
            text=True,
        )
        said = done.stdout + done.stderr
        assert done.returncode == code, f"{' '.join(words)}: {done.returncode}\n{said[-3000:]}"
        assert "Traceback" not in said, said[-3000:]
        return said

    def install(self) -> None:
        source, wheels = self.home / "source", self.home / "wheels"
        archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, capture_output=True)
        source.mkdir()
        subprocess.run(["tar", "x"], cwd=source, input=archive.stdout, check=True)
        build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", wheels]
        subprocess.run(build, cwd=source, check=True, capture_output=True)
        venv.create(self.home / "venv", with_pip=True)
        (wheel,) = wheels.iterdir()
        self.run("python", "-m", "pip", "install", "-q", f"{wheel}[mpi,plot,onnx]")

    def info(self) -> None:
        said = self.run("pcd", "info")
        assert "pycaffe_dist" in said and "onednn" in said.lower(), said

    def init(self) -> None:
        self.run("pcd", "init", "--from", "digits")
        self.run("python", "data/digits/create_digits.py")
        self.run("pcd", "check", SOLVER)
        assert (self.folder / "data/digits/digits_test_lmdb").is_dir()

    def train(self) -> None:
        said = self.run("pcd", "train", "-solver", SOLVER, "--run-dir", "runs/one")
        scores = re.findall(r"accuracy = ([\d.]+)", said)
        assert float(scores[-1]) > 0.97, scores

    def plot(self) -> None:
        self.run("pcd", "plot", "runs/one", "-o", "curves.png")
        assert (self.folder / "curves.png").read_bytes().startswith(b"\x89PNG")

    def board(self) -> None:
        words = [str(self.bin / "pcd"), "board", "runs", "--port", "0"]
        server = subprocess.Popen(words, cwd=self.folder, env=self.env, stdout=subprocess.PIPE)
        try:
            address = re.search(rb"http://\S+", server.stdout.readline())[0].decode()
            with urllib.request.urlopen(address, timeout=20) as page:
                assert b"pcd board" in page.read()
        finally:
            server.terminate()
            server.wait(20)

    def predict(self) -> None:
        label = re.search(r"label (\d)", self.run("python", "-c", DIGIT))[1]
        said = self.run("pcd", "predict", "digit.png", "--run", "runs/one", "--top", "1")
        assert re.search(rf"\b{label}\b", said), (label, said)

    def export(self) -> None:
        weights = "runs/one/digits_iter_600.caffemodel"
        self.run("pcd", "export", "models/digits/deploy.prototxt", weights, "-o", "digits.onnx")
        said = self.run("python", "-c", ONNX.replace("WEIGHTS", weights))
        assert float(re.search(r"largest difference (\S+)", said)[1]) < 1e-4, said

    def two_ranks(self) -> None:
        words = ["-solver", SOLVER, "--run-dir", "runs/two", "--max-iter", "100", "--ranks", "2"]
        said = self.run("pcd", "train", *words)
        assert "2 ranks" in said and "Optimization Done" in said, said[-2000:]

    def resume_after_kill(self) -> None:
        """Killed between two snapshots, a run ends with the weights of an undisturbed one."""
        words = ["train", "-solver", SOLVER, "--deterministic", "--set", "snapshot=20"]
        words += ["--max-iter", "300", "--run-dir"]
        self.run("pcd", *words, "runs/whole")
        killed = subprocess.Popen(
            [str(self.bin / "pcd"), *words, "runs/killed"],
            cwd=self.folder,
            env=self.env,
            stderr=subprocess.DEVNULL,
        )
        while not (self.folder / "runs/killed/digits_iter_40.pcdstate").exists():
            assert killed.poll() is None, "the run ended before it could be killed"
            time.sleep(0.01)
        killed.kill()
        assert killed.wait() < 0
        said = self.run("pcd", *words, "runs/killed", "--resume", "auto")
        assert re.search(r"iter_\d+\.solverstate", said), said[-2000:]
        a, b = (f"runs/{name}/digits_iter_300.caffemodel" for name in ("whole", "killed"))
        self.run("pcd", "weights", "diff", a, b)

    def fine_tune(self) -> None:
        self.run("pcd", "models", "get", "finetune_digits", "models/finetune_digits")
        self.run("python", "data/digits/create_digits.py", "--odd")
        words = ["-solver", "models/finetune_digits/solver.prototxt", "--run-dir", "runs/odd"]
        words += ["-weights", "runs/one/digits_iter_600.caffemodel"]
        said = self.run("pcd", "train", *words)
        assert float(re.findall(r"accuracy = ([\d.]+)", said)[-1]) > 0.97, said[-2000:]

    def read_a_caffe_model(self) -> None:
        """Weights that BVLC Caffe itself has written."""
        shutil.copy(ROOT / "tests/golden/solvers/adam_iter_6.caffemodel", self.folder)
        said = self.run("pcd", "weights", "stats", "adam_iter_6.caffemodel")
        assert re.search(r"\d+ layers, [\d,]+ values", said), said


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--limit", type=float, default=300, help="seconds of all steps")
    limit = options.parse_args().limit
    with tempfile.TemporaryDirectory(prefix="first-hour-") as home:
        hour = FirstHour(Path(home))
        steps: list[Callable[[], None]] = [
            *(hour.install, hour.info, hour.init, hour.train, hour.plot, hour.board, hour.predict),
            *(hour.export, hour.two_ranks, hour.resume_after_kill, hour.fine_tune),
            hour.read_a_caffe_model,
        ]
        total = 0.0
        for step in steps:
            begin = time.perf_counter()
            step()
            seconds = time.perf_counter() - begin
            total += seconds
            print(f"{step.__name__.replace('_', ' '):22}{seconds:7.1f} s", flush=True)
    print(f"{'all':22}{total:7.1f} s (bar: {limit:g})")
    return int(total > limit)


if __name__ == "__main__":
    sys.exit(main())

"""A detector's forward at batch 1 against OpenCV's dnn, in turn within one run, the same boxes.

    python scripts/bench_ssd.py                          # models/mobilenet_ssd, 300 x 300
    python scripts/bench_ssd.py --model deploy.prototxt --threads 1 --rounds 30
    python scripts/bench_ssd.py --check                  # the boxes only

Both sides have the net's file, the same random weights and the same image.  Each is a process that
runs while the other idles, turn by turn; the ratio is the median over the rounds of OpenCV's
median time over ours.  OpenCV lives in an environment of its own, which the first run makes.
"""

import argparse
import json
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from bench import environment
from bench.wire import Worker

ROOT = Path(__file__).resolve().parent.parent
SAME_SCORE, SAME_PLACE = 1e-3, 1e-3  # of two rows that are one box
LEAST_SAME = 0.99  # the part of our boxes that OpenCV has, too: at the threshold one may be missing


def arguments() -> argparse.Namespace:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = options.add_argument
    add("--model", type=Path, default=ROOT / "models" / "mobilenet_ssd" / "deploy.prototxt")
    add("--size", type=int, nargs=2, default=(300, 300), metavar=("H", "W"))
    add("--threads", type=int, default=2)
    add("--rounds", type=int, default=15)
    add("--steps", type=int, default=10, help="forwards of a turn")
    add("--check", action="store_true", help="compare the boxes and end")
    add("--output", type=Path, default=ROOT / "runs" / "ssd_bench.json")
    args = options.parse_args()
    if not args.model.exists():
        options.error(f"{args.model} is not there")
    return args


def main() -> int:
    args = arguments()
    python = environment.opencv_python()
    with (
        tempfile.TemporaryDirectory() as folder,
        Worker(Path(sys.executable), "ssd_ours", args.threads) as ours,
        Worker(python, "ssd_opencv", args.threads) as other,
    ):
        files = {
            "model": str(args.model.resolve()),
            "weights": f"{folder}/net.caffemodel",
            "image": f"{folder}/image.npy",
        }
        image = np.random.default_rng(1).standard_normal((1, 3, *args.size))
        np.save(files["image"], image.astype(np.float32))
        sides = ours, other
        for side in sides:
            side.ask("load", **files)
        same, count = compare(sides, folder)
        print(f"{same} of {count} boxes are the same")
        if same < LEAST_SAME * count or not count:
            return 1
        if not args.check:
            write(args, timings(sides, args), [side.ask("about") for side in sides])
    return 0


def compare(sides: tuple[Worker, Worker], folder: str) -> tuple[int, int]:
    """How many of our boxes the other side has, too, in any order; and how many we have."""
    tables = []
    for i, side in enumerate(sides):
        side.ask("boxes", path=f"{folder}/{i}.npy")
        tables.append(np.load(f"{folder}/{i}.npy"))
    own, theirs = tables
    near = (own[:, None, 1] == theirs[None, :, 1]) & (
        abs(own[:, None, 2] - theirs[None, :, 2]) < SAME_SCORE
    )
    # OpenCV cuts boxes to the image where it is told to; where they are is what counts.
    apart = abs(own[:, None, 3:].clip(0, 1) - theirs[None, :, 3:].clip(0, 1)).max(-1)
    return int((near & (apart < SAME_PLACE)).any(1).sum()), len(own)


def timings(sides: tuple[Worker, Worker], args: argparse.Namespace) -> dict[str, Any]:
    for side in sides:
        side.run(3)
    rounds = []
    for number in range(args.rounds):
        pair = sides if number % 2 else sides[::-1]
        times = {side.name: statistics.median(side.run(args.steps)) for side in pair}
        rounds.append([times[side.name] for side in sides])
    ratios = [theirs / own for own, theirs in rounds]
    low, middle, high = statistics.quantiles(ratios, n=4)
    own, theirs = (statistics.median(column) for column in zip(*rounds, strict=True))
    print(f"ours {1e3 * own:.1f} ms, OpenCV {1e3 * theirs:.1f} ms: {middle:.2f} x")
    print(f"half of the rounds are between {low:.2f} and {high:.2f} x")
    return {"ours": own, "opencv": theirs, "ratio": middle, "quartiles": [low, high]}


def write(args: argparse.Namespace, found: dict[str, Any], about: list[dict[str, Any]]) -> None:
    settings = {"model": str(args.model), "threads": args.threads, "rounds": args.rounds}
    args.output.parent.mkdir(parents=True, exist_ok=True)
    text = {"machine": environment.machine(), "sides": about, **settings, **found}
    args.output.write_text(json.dumps(text, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())

"""How close data layers come to the work that cannot be avoided.

    make bench
    python scripts/bench_data.py            # all
    python scripts/bench_data.py raw jpeg   # some of: raw jpeg open memory

Ratios are to bare loops timed in turns with ours in the same run, on one core:
raw:    3x256x256 records to 227x227 crops, mirrored, mean subtracted; against copying the same
        bytes and converting them to float32 (bar: 0.9 times its speed).
jpeg:   256x256 JPEG records, the same; against decoding them with Pillow to arrays (bar: 1.0).
open:   a million tiny records: opening, and starting at record 900,000 (bar: a second).
memory: what a process grows by over 10,000 batches.
"""

import io
import os
import sys
import tempfile
import time
from itertools import cycle
from pathlib import Path

import lmdb
import numpy as np
from PIL import Image

from pycaffe_dist.data.lmdb_writer import image_record, write_lmdb
from pycaffe_dist.engines import create
from pycaffe_dist.layer import Context
from pycaffe_dist.net import Net
from pycaffe_dist.proto.caffe_pb2 import TRAIN, Datum, NetParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.proto.weights import write_binaryproto

RECORDS, BATCH, SIZE, CROP = 256, 64, 256, 227
ROUNDS = 15
MILLION, FAR = 1_000_000, 900_000


def build(source, transform="", batch=BATCH):
    text = f"""layer {{ name: "d" type: "Data" top: "data" top: "label"
        transform_param {{ {transform} }}
        data_param {{ source: "{source}" backend: LMDB batch_size: {batch} }} }}"""
    param = parse_text(text, NetParameter()).message
    param.state.phase = TRAIN
    return Net(param, Context(engine=create("auto")))


def compare(name, bare, ours, images, bar):
    """The fastest of some rounds in turns; others may use the machine too."""
    best = [float("inf")] * 2
    for _ in range(ROUNDS):
        for i, work in enumerate((bare, ours)):
            begin = time.perf_counter()
            work()
            best[i] = min(best[i], time.perf_counter() - begin)
    ratio = best[0] / best[1]
    micros = [seconds / images * 1e6 for seconds in best]
    print(f"{name:22} {micros[0]:7.1f} bare, {micros[1]:7.1f} us an image: {ratio:.2f} (bar {bar})")


def pixels():
    rng = np.random.default_rng(0)
    smooth = Image.fromarray(rng.integers(0, 256, (16, 16, 3), dtype=np.uint8))
    wide = np.asarray(smooth.resize((SIZE, SIZE), Image.Resampling.BICUBIC)).astype(int)
    return (wide + rng.integers(-12, 12, wide.shape)).clip(0, 255).astype(np.uint8)


def batches(net, count):
    for _ in range(count):
        net.forward()


def means(folder):
    write_binaryproto(folder / "mean", np.full((1, 3, SIZE, SIZE), 117.5, np.float32))
    return {
        "mean_value": "mean_value: [104, 117, 123]",
        "mean_file": f'mean_file: "{folder}/mean"',
    }


def raw(folder):
    image = np.ascontiguousarray(pixels().transpose(2, 0, 1))
    rows = (image_record(f"{i:08}", np.roll(image, i), i) for i in range(RECORDS))
    write_lmdb(folder / "raw", rows)
    source = np.stack([np.roll(image, i) for i in range(RECORDS)])
    copied = np.empty_like(source[0])
    floats = np.empty((BATCH, *image.shape), np.float32)
    places = cycle(range(0, RECORDS, BATCH))

    def bare():
        begin = next(places)
        for image, target in zip(source[begin : begin + BATCH], floats, strict=True):
            copied[...] = image
            target[...] = copied

    for name, mean in means(folder).items():
        net = build(folder / "raw", f"crop_size: {CROP} mirror: true {mean}")
        compare(f"raw, {name}", bare, lambda net=net: batches(net, 1), BATCH, 0.9)


def jpeg(folder):
    stored = io.BytesIO()
    Image.fromarray(pixels()).save(stored, "JPEG", quality=90)
    value = Datum(data=stored.getvalue(), encoded=True).SerializeToString()
    write_lmdb(folder / "jpeg", ((f"{i:08}".encode(), value) for i in range(RECORDS)))

    def bare():
        for _ in range(BATCH):
            np.asarray(Image.open(io.BytesIO(stored.getvalue())))

    for name, mean in means(folder).items():
        net = build(folder / "jpeg", f"crop_size: {CROP} mirror: true {mean}")
        compare(f"jpeg, {name}", bare, lambda net=net: batches(net, 1), BATCH, 1.0)


def open_far(folder):
    value = image_record("", np.zeros((1, 1, 1), np.uint8), 0)[1]
    for name, key in (("numbered keys", "{:08}"), ("other keys", "k{:08}")):
        path = folder / name.replace(" ", "_")
        with (
            lmdb.open(str(path), map_size=1 << 28, sync=False) as env,
            env.begin(write=True) as txn,
        ):
            cursor = txn.cursor()
            rows = ((key.format(i).encode(), value) for i in range(MILLION))
            cursor.putmulti(rows, append=True)
        begin = time.perf_counter()
        net = build(path, batch=1)
        net.forward()
        opened = time.perf_counter()
        del net
        again = build(path, batch=1)
        begin_far = time.perf_counter()
        again.layers[0].set_state({"records": FAR})
        again.forward()
        far = time.perf_counter()
        print(
            f"a million, {name:14} open and first record {1e3 * (opened - begin):6.1f} ms, "
            f"record 900,000 {1e3 * (far - begin_far):6.1f} ms"
        )


def memory(folder):
    def resident():
        words = Path("/proc/self/statm").read_text().split()
        return int(words[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6

    images = np.random.default_rng(0).integers(0, 256, (500, 3, 32, 32), dtype=np.uint8)
    write_lmdb(folder / "small", (image_record(f"{i:08}", x, i) for i, x in enumerate(images)))
    net = build(folder / "small", "crop_size: 28 mirror: true mean_value: 100")
    batches(net, 500)
    before, begin = resident(), time.perf_counter()
    batches(net, 10_000)
    spent = time.perf_counter() - begin
    grown = resident() - before
    print(
        f"10,000 batches of 64 x 3x32x32: {grown:+.1f} MB, {spent / 640_000 * 1e6:.2f} us an image"
    )


PARTS = {"raw": raw, "jpeg": jpeg, "open": open_far, "memory": memory}


def main(asked) -> int:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    for part in asked or PARTS:
        # A thread would work ahead while the bare loop runs.
        os.environ["PCD_DATA_THREADS"] = "0" if part in ("raw", "jpeg") else "1"
        with tempfile.TemporaryDirectory() as folder:
            PARTS[part](Path(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""How fast files are read: a 244 MB caffemodel of AlexNet's shapes, a text net of 10,000 lines.

    make bench
    python scripts/bench_proto.py --json

The weights file is made in the system's temporary folder and removed.  Memory is the growth of the
peak of a fresh process that only reads.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from pycaffe_dist.proto.caffe_pb2 import NetParameter
from pycaffe_dist.proto.nets import read_net
from pycaffe_dist.proto.weights import read_weights, write_weights

ALEXNET = {
    "conv1": (96, 3, 11, 11),
    "conv2": (256, 48, 5, 5),
    "conv3": (384, 256, 3, 3),
    "conv4": (384, 192, 3, 3),
    "conv5": (256, 192, 3, 3),
    "fc6": (4096, 9216),
    "fc7": (4096, 4096),
    "fc8": (1000, 4096),
}
REPEATS = 5


def make_weights(path: Path) -> int:
    net = NetParameter(name="AlexNet")
    rng = np.random.default_rng(1)
    blobs = []
    for name, shape in ALEXNET.items():
        net.layer.add(name=name, type="Convolution" if len(shape) == 4 else "InnerProduct")
        blobs.append([rng.random(shape, np.float32), np.zeros(shape[0], np.float32)])
    write_weights(path, net, blobs)
    return path.stat().st_size


def peak_while_reading(path: Path) -> int:
    """Bytes by which reading raises the peak memory of a process."""
    # VmHWM and not getrusage: that one starts from the peak of the process that forked this one.
    code = (
        "import re, sys; from pycaffe_dist.proto.weights import read_weights\n"
        "peak = lambda: int(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1])\n"
        "before = peak(); w = read_weights(sys.argv[1])\n"
        "s = sum(float(b.data.sum()) for l in w.layers for b in l.blobs)\n"
        "print((peak() - before) * 1024)"
    )
    run = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True)
    return int(run.stdout)


def long_net(lines: int) -> str:
    block = """layer {
  name: "conv%d"
  type: "Convolution"
  bottom: "%s"
  top: "conv%d"
  param { lr_mult: 1 decay_mult: 1 }
  convolution_param {
    num_output: 64
    kernel_size: 3
    pad: 1
    weight_filler {
      type: "gaussian"
      std: 0.01
    }
  }
}
"""
    per = block.count("\n")
    text = 'name: "long"\ninput: "data"\ninput_shape { dim: 1 dim: 64 dim: 8 dim: 8 }\n'
    for i in range(lines // per + 1):
        text += block % (i, f"conv{i - 1}" if i else "data", i)
    return text


def median_seconds(work) -> float:
    times = []
    for _ in range(REPEATS):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--json", action="store_true")
    as_json = options.parse_args().json
    with tempfile.TemporaryDirectory() as folder:
        model, net = Path(folder) / "alexnet.caffemodel", Path(folder) / "long.prototxt"
        size = make_weights(model)
        read_weights(model)  # warm the page cache
        load = median_seconds(lambda: read_weights(model))
        copy = median_seconds(lambda: Path(model).read_bytes())
        extra = peak_while_reading(model)
        net.write_text(long_net(10_000))
        parse = median_seconds(lambda: read_net(net))
        lines = net.read_text().count("\n")
    result = {
        "weights MB": size / 1e6,
        "weights MB/s": size / 1e6 / load,
        "plain read MB/s": size / 1e6 / copy,
        "extra memory / size": extra / size,
        "net lines": lines,
        "parse and upgrade s": parse,
    }
    if as_json:
        print(json.dumps(result))
    else:
        for name, value in result.items():
            print(f"{name:22} {value:,.2f}")
    met = result["weights MB/s"] >= 500 and result["extra memory / size"] <= 1.3 and parse < 3
    print("bars: >= 500 MB/s, <= 1.3 x memory, < 3 s:", "met" if met else "MISSED", file=sys.stderr)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())

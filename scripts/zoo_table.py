"""What becomes of each net of a zoo: is it taken, does it train, can it leave for BVLC and ONNX?

    python scripts/zoo_table.py ../shared/zoo                          # its nets of forks
    python scripts/zoo_table.py ../shared/zoo --part deploy --steps check,export
    python scripts/zoo_table.py folder/*.prototxt --steps check,train -o table.md

A zoo is a folder with index.json and nets/.  Steps, each in a process of its own:

check     `pcd check` accepts the file in at least one phase
train     two iterations with `--fake-data`, for nets with a loss
to_bvlc   where `--to-bvlc` changes layers: the same outputs before and after, random weights
export    `pcd export` with random weights, compared with ONNX Runtime, for nets without a loss
half      the same with `--fp16`
torch     the same with `--torch`, compared with PyTorch, gradients too; PCD_TORCH_PYTHON names an
          interpreter that has it

Prints a line for each net and writes the table; the exit code is 1 if a step fails.
"""

import argparse
import json
import os
import resource
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from bench import two_iterations

from pycaffe_dist import caffe_log, engines
from pycaffe_dist.errors import PcdError
from pycaffe_dist.layer import Context
from pycaffe_dist.layers.loss import Loss
from pycaffe_dist.loading import load_weights, save_weights
from pycaffe_dist.net import Net
from pycaffe_dist.proto.caffe_pb2 import TEST, NetParameter, NetState
from pycaffe_dist.proto.nets import read_net
from pycaffe_dist.proto.state import filter_net
from pycaffe_dist.proto.text import format_text
from pycaffe_dist.registry import layer_types
from pycaffe_dist.rng import set_random_seed
from pycaffe_dist.tools.check import check_file
from pycaffe_dist.tools.export_torch import export_torch
from pycaffe_dist.tools.fake_data import fake_data
from pycaffe_dist.tools.to_bvlc import Deal, convert_weights, to_bvlc

SAME = 1e-4  # of the largest value
MEMORY = 12 << 30  # bytes that a step may have
BATCH = 2


class NotMeant(Exception):
    """The step has no meaning for this net; says why."""


# -- steps -----------------------------------------------------------------------------------------


def check(path: Path) -> str:
    report = check_file(path)
    if report.errors:
        raise PcdError(report.errors[0])
    return ""


def train(path: Path) -> str:
    net = read_net(path).net
    if not has_loss(net):
        raise NotMeant("no loss")
    return f"loss {two_iterations.train(net, BATCH):.4g}"


def compare_to_bvlc(path: Path) -> str:
    old_param = deployed(path)
    if not is_whole(old_param):
        raise NotMeant("no net in TEST")
    new_param = NetParameter()
    new_param.CopyFrom(old_param)
    deals, _ = to_bvlc(new_param)
    if not deals:
        raise NotMeant("nothing to rewrite")
    old, new = built(old_param), built(new_param)
    randomise(old)
    if any(len(layer.blobs) for layer in old.layers):
        give_weights(old, new, new_param, deals)
    for net in (old, new):
        feed(net)
        set_random_seed(1)  # Bayesian nets drop values in TEST, too
        net.forward()
    apart = 0.0
    for i in old.output_ids:
        want = old.blobs[i].data
        got = new.blobs[new.blob_ids[old.blob_names[i]]].data
        apart = max(
            apart, float(abs(got - want).max(initial=0) / max(1e-6, abs(want).max(initial=0)))
        )
    if not apart <= SAME:
        raise PcdError(f"outputs differ by {apart:.2g} of the largest value")
    return f"{len(deals)} layers, {apart:.1g}"


def give_weights(old: Net, new: Net, param: NetParameter, deals: dict[str, Deal]) -> None:
    """Load the weights of the old net into the new one by way of files, as people do."""
    with tempfile.TemporaryDirectory() as folder:
        files = f"{folder}/old.caffemodel", f"{folder}/new.caffemodel"
        save_weights(old, files[0])
        convert_weights(*files, param, deals)
        load_weights(new, files[1])


def export(path: Path, fp16: bool = False) -> str:
    from pycaffe_dist.tools.export import Wanted, export_model

    with tempfile.TemporaryDirectory() as folder:
        net, weights = with_random_weights(path, folder)
        report = export_model(net, weights, f"{folder}/net.onnx", Wanted(fp16=fp16))
    return f"{max(report.differences.values(), default=0.0):.1g}"


def export_module(path: Path) -> str:
    with tempfile.TemporaryDirectory() as folder:
        net, weights = with_random_weights(path, folder)
        report = export_torch(net, weights, f"{folder}/net.py")
    if not report.differences:
        raise NotMeant("no PyTorch here")
    return f"{max(report.differences.values()):.1g} {report.gradients}".strip()


def with_random_weights(path: Path, folder: str) -> tuple[str, str]:
    """Files of a net and its weights; a few images at a time, where the net lets us."""
    param = filter_net(in_test(path))
    if has_loss(param):
        raise NotMeant("has a loss")
    files = f"{folder}/net.prototxt", f"{folder}/net.caffemodel"
    try:
        few = without_sources(param, BATCH)
        batches(few, BATCH)
        net = built(few)
    except PcdError:
        net = built(without_sources(filter_net(in_test(path)), None))
    Path(files[0]).write_text(format_text(net.written))
    randomise(net)
    save_weights(net, files[1])
    return files


STEPS: dict[str, Callable[[Path], str]] = {
    "check": check,
    "train": train,
    "to_bvlc": compare_to_bvlc,
    "export": export,
    "half": partial(export, fp16=True),
    "torch": export_module,
}


# -- nets ------------------------------------------------------------------------------------------


def has_loss(net: NetParameter) -> bool:
    known = layer_types()
    losses = {name for name, cls in known.items() if issubclass(cls, Loss)}
    return any(layer.type in losses or any(layer.loss_weight) for layer in net.layer)


def in_test(path: Path) -> NetParameter:
    net = read_net(path).net
    net.state.MergeFrom(NetState(phase=TEST))
    return net


def deployed(path: Path) -> NetParameter:
    """A net in TEST without losses and scores, one image at a time; sources are made up.

    Nor with the best classes at its end, which turn with the last bit of what is below.
    """
    net = without_sources(filter_net(in_test(path)), 1)
    batches(net, 1)
    read = {bottom for layer in net.layer for bottom in layer.bottom}
    ends = [la for la in net.layer if la.type == "ArgMax" and not read & set(la.top)]
    for layer in ends:
        net.layer.remove(layer)
    return net


def is_whole(net: NetParameter) -> bool:
    """Whether each bottom is the top of a layer before it; nets for training alone are not."""
    tops: set[str] = set()
    for layer in net.layer:
        if not tops.issuperset(layer.bottom):
            return False
        tops.update(layer.top)
    return True


def without_sources(net: NetParameter, batch: int | None) -> NetParameter:
    """The net as it is, or with its data made up, if it reads any."""
    if any(not layer.bottom and layer.type != "Input" for layer in net.layer):
        return fake_data(net, batch_size=batch)
    return net


def batches(net: NetParameter, most: int) -> None:
    for layer in net.layer:
        for shape in layer.input_param.shape:
            if len(shape.dim) == 4:
                shape.dim[0] = min(shape.dim[0], most)


def built(net: NetParameter) -> Net:
    # Unpooling puts a value elsewhere if another of its window differs from it by the last bit.
    unpools = any(layer.type == "Upsample" and len(layer.bottom) > 1 for layer in net.layer)
    engine = engines.create("numpy") if unpools else engines.current()
    engine.fix_choices()  # one pass is not worth a measurement
    return Net(net, Context(engine=engine, writes=False))


def randomise(net: Net) -> None:
    """Weights with which values neither die out nor grow."""
    rng = np.random.default_rng(0)
    for layer in net.layers:
        for i, blob in enumerate(layer.blobs):
            statistics = layer.type == "DenseBlock" and blob.shape[0] == 1
            if layer.type in ("BN", "BatchNorm", "Scale") or len(blob.shape) < 2 or statistics:
                last = layer.type == "BatchNorm" and i == 2
                blob.data[...] = 1 if last else rng.uniform(0.5, 1.0, blob.shape)
            else:
                fan = max(1, blob.count // blob.shape[0])
                blob.data[...] = rng.standard_normal(blob.shape) * np.sqrt(2 / fan)


def feed(net: Net) -> None:
    rng = np.random.default_rng(1)
    for i in net.input_ids:
        net.blobs[i].data[...] = rng.standard_normal(net.blobs[i].shape)


# -- the table -------------------------------------------------------------------------------------


def apart(step: Callable[[Path], str], path: Path, seconds: int) -> str:
    """A step's cell: "ok ...", "- why it has no meaning", or "FAIL why"; in a forked process."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        os.setsid()
        signal.alarm(seconds)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        with os.fdopen(writer, "w") as out:
            out.write(cell(step, path))
            out.flush()
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as answer:
        text = answer.read()
    _, status = os.waitpid(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    if code == -signal.SIGALRM:
        return f"FAIL not done within {seconds} s"
    return text or f"FAIL ended by signal {-code}"


def cell(step: Callable[[Path], str], path: Path) -> str:
    try:
        with caffe_log.silenced():
            return f"ok {step(path)}".strip()
    except NotMeant as e:
        return f"- {e}"
    except PcdError as e:
        return "FAIL " + " ".join(str(e).replace(str(path), path.name).split())
    except BaseException as e:
        return f"FAIL TRACEBACK {type(e).__name__}: {' '.join(str(e).split())}"


def nets(given: list[Path], part: str) -> dict[str, Path]:
    found = {}
    for path in given:
        if (path / "index.json").exists():
            names = json.loads((path / "index.json").read_text())[part]
            found |= {name: path.resolve() / "nets" / name for name in names}
        else:
            found[str(path)] = path
    return found


def main() -> int:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("nets", nargs="+", type=Path, metavar="ZOO|NET")
    options.add_argument("--part", default="fork", help="which of the lists in index.json")
    options.add_argument(
        "--steps", default="check,train,to_bvlc,export", help="default: all but half and torch"
    )
    options.add_argument("--seconds", type=int, default=600, help="for each step")
    options.add_argument("-o", "--output", type=Path, default=Path("runs/zoo.md"))
    args = options.parse_args()
    steps = args.steps.split(",")
    counts: dict[str, Counter[str]] = {step: Counter() for step in steps}
    args.output.parent.mkdir(parents=True, exist_ok=True)
    with args.output.open("w") as out:
        print(f"| net | {' | '.join(steps)} |\n|{'---|' * (len(steps) + 1)}", file=out)
        for name, path in nets(args.nets, args.part).items():
            cells = [apart(STEPS[step], path, args.seconds) for step in steps]
            for step, text in zip(steps, cells, strict=True):
                counts[step][text.split()[0]] += 1
            print(
                f"| {name} | {' | '.join(text.replace('|', '/') for text in cells)} |",
                file=out,
                flush=True,
            )
            print(f"{name}: {'; '.join(text[:200] for text in cells)}", flush=True)
    for step, count in counts.items():
        print(f"{step}: {count['ok']} ok, {count['FAIL']} failed, {count['-']} not meant for it")
    return 1 if any(count["FAIL"] for count in counts.values()) else 0


if __name__ == "__main__":
    sys.exit(main())

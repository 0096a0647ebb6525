"""All that a seed says: net, solver, source of records, and how they are distributed."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field
from typing import Any

from cluster_fuzz.nets import NetMaker

KINDS = (*("exact",) * 29, *("single",) * 4, *("stale",) * 3, *("wire",) * 3, "cli")
SOURCES = ("HDF5Data", "HDF5Data", "Data", "ImageData", "ImageData", "MemoryData", "WindowData")
SHUFFLED = ("HDF5Data", "Data", "ImageData")  # by --shuffle
RATES = {"AdaDelta": 1.0, "Adam": 0.003, "RMSProp": 0.003, "AdaGrad": 0.02}
TYPES = ("SGD", "SGD", "Nesterov", "AdaGrad", "RMSProp", "AdaDelta", "Adam")
SIMPLE = ("SGD", "SGD", "Nesterov")  # of which an error in the gradient is one in the update
POLICIES = (
    'lr_policy: "fixed"',
    'lr_policy: "step" stepsize: 2 gamma: 0.5',
    'lr_policy: "exp" gamma: 0.9',
    'lr_policy: "inv" gamma: 0.1 power: 0.75',
    'lr_policy: "multistep" gamma: 0.3 stepvalue: 1 stepvalue: 3',
    'lr_policy: "sigmoid" gamma: 0.5 stepsize: 2',
)
SETTINGS = {
    "SGD": "momentum: @M",
    "Nesterov": "momentum: @M",
    "RMSProp": "rms_decay: 0.9 delta: 1e-5",
    "AdaDelta": "momentum: 0.9 delta: 1e-3",
    "Adam": "momentum: 0.9 momentum2: 0.99 delta: 1e-5",
    # A bias below a BatchNorm has a gradient of nothing but rounding.
    "AdaGrad": "delta: 1e-5",
}


@dataclass
class Case:
    """What is trained, and where.

    Attributes:
        kind: how it is judged, see ../fuzz_cluster.py.
        via: "threads" or "mpi".
        hosts: of each rank; ``hosts_resumed`` of those that go on from the snapshot.
        joint: records of all ranks in a pass.
        tests: batch and number of batches of each test net.
        settings: of the cluster; ``comm_layer`` may name what cannot be, which is then left out.
        bucket, sharded_from, chunk: small sizes, so that small nets take the ways of large ones.
        seconds_a_byte: of the link that the plan is made for.
        pieces: "": all steps at once; "step": one by one; "look": with passes in between.
        engine: of runs in single precision.
    """

    seed: int
    kind: str
    via: str
    hosts: list[str]
    hosts_resumed: list[str]
    joint: int
    steps: int
    snapshot: int
    source: str
    shape: tuple[int, int, int]
    records: int
    solver: str
    solver_type: str
    net: str
    tests: list[tuple[int, int]]
    settings: dict[str, Any]
    bucket: int
    sharded_from: int
    chunk: int
    seconds_a_byte: float
    pieces: str
    shuffle: bool
    engine: str
    products: list[str] = field(default_factory=list)
    features: list[str] = field(default_factory=list)

    @property
    def ranks(self) -> int:
        return len(self.hosts)

    @property
    def resumed(self) -> int:
        return len(self.hosts_resumed)

    @property
    def comparable(self) -> bool:
        """Whether ranks do what one rank with the joint batch does, and not only the same."""
        if "BatchNorm" in self.features and not self.settings["sync_bn"]:
            return False
        if "ignore_label" in self.features and self.kind == "stale":  # each rank counts its own
            return False
        # WindowData draws windows at random.
        return self.source != "WindowData" and "by batch" not in self.features


def draw(seed: int, kind: str = "", via: str = "") -> Case:
    """The case of a seed; ``kind`` and ``via`` go before what it draws."""
    r = random.Random(seed)
    kind = kind or KINDS[seed % len(KINDS)]
    source = draw_source(r, kind)
    clips, sums = r.random() < 0.2, kind in ("exact", "wire") and r.random() < 0.1
    ranks = r.choice([2, 3, 4, 5])
    resumed = r.choice([ranks, ranks, 1, 2, 3, 4])
    if sums or source == "MemoryData" or kind == "single":
        resumed = ranks  # sums are of so many ranks; arrays are the user's, and so is dealing them
    shape = draw_shape(r, source)
    maker = NetMaker(r)
    net = maker.make(shape, r.random() < 0.3)
    if r.random() < 0.1 and "Embed" not in maker.features:  # indices have no gradient
        net = "force_backward: true\n" + net
        maker.features.add("force_backward")
    settings = {**draw_settings(r, maker, kind, clips), "sum_updates": sums}
    solver, solver_type = draw_solver(r, kind, clips)
    tests = [] if source in ("MemoryData", "WindowData") else draw_tests(r)
    solver += test_settings(r, tests)
    steps = r.randint(3, 4)
    case = Case(
        seed, kind, via or ("mpi" if r.random() < 0.12 else "threads"),
        [f"h{r.randint(0, 2)}" for _ in range(ranks)],
        [f"h{r.randint(0, 2)}" for _ in range(resumed)],
        draw_joint(r, math.lcm(ranks, resumed)), steps, r.randint(1, steps - 1),
        source, shape, r.randint(14, 70), solver, solver_type, net, tests, settings,
        bucket=r.choice([0, 64, 1 << 12, 1 << 20]),
        sharded_from=r.choice([1, 1 << 10, 1 << 20]),
        chunk=r.choice([100 if "large fc" in maker.features else 7, 100, 1 << 16]),
        seconds_a_byte=r.choice([1e-11, 8e-9, 1e-6]),
        pieces=r.choice(["", "", "", "step", "look"]),
        shuffle=r.random() < 0.25 and source in SHUFFLED and kind != "cli",
        engine="onednn" if kind == "single" else r.choice(["numpy", "onednn"]),
        products=maker.products,
    )  # fmt: skip
    case.features = sorted(maker.features | features_of(case))
    return case


def draw_source(r: random.Random, kind: str) -> str:
    source = r.choice(SOURCES if kind in ("exact", "cli") else SOURCES[:-1])
    return "HDF5Data" if kind == "cli" and source == "MemoryData" else source  # a script's arrays


def draw_shape(r: random.Random, source: str) -> tuple[int, int, int]:
    c, h, w = r.randint(1, 4), r.randint(4, 7), r.randint(4, 7)
    if source == "WindowData":
        return 3, w, w
    return (3 if source == "ImageData" else c), h, w


def draw_joint(r: random.Random, whole: int) -> int:
    """A multiple of ``whole``, from 10 to 24 if there is one."""
    least = -(-10 // whole)
    return whole * r.randint(least, max(least, 24 // whole))


def draw_tests(r: random.Random) -> list[tuple[int, int]]:
    return [(r.randint(2, 4), r.randint(1, 5)) for _ in range(r.choice([0, 0, 1, 2]))]


def test_settings(r: random.Random, tests: list[tuple[int, int]]) -> str:
    if not tests:
        return ""
    first = str(r.random() < 0.5).lower()
    counts = "".join(f" test_iter: {count}" for _, count in tests)
    return f" test_interval: 2 test_initialization: {first}{counts}"


def features_of(case: Case) -> set[str]:
    """What a case has besides the layers of its net, for the table of results."""
    looked = ", looked at" if case.pieces == "look" else ""
    found = {
        "clip": "clip_gradients" in case.solver,
        "snapshot_diff": "snapshot_diff" in case.solver,
        "iter_size": "iter_size: 1" not in case.solver,
        "shuffle": case.shuffle,
        f"steps one by one{looked}": bool(case.pieces),
        f"{len(case.tests)} test nets": bool(case.tests),
        "bandwidth": "bandwidth" in case.settings,
        "--sum-updates": case.settings["sum_updates"],
        "--sync-bn": case.settings["sync_bn"] and "BatchNorm" in case.net,
    }
    return {name for name, there in found.items() if there}


def draw_settings(r: random.Random, maker: NetMaker, kind: str, clips: bool) -> dict[str, Any]:
    comms = ["auto", "dense", "allreduce", "sfb"] + ([] if clips else ["sharded", "sf-push"])
    found: dict[str, Any] = {"comm": r.choice(comms), "overlap": r.random() < 0.75}
    if r.random() < 0.35:
        some = r.sample(maker.products, min(2, len(maker.products)))
        found["comm_layer"] = {name: r.choice(comms) for name in some}
    found["policy"] = r.choice(["measured", "paper"])
    found["check_every"] = r.choice([0, 0, 1, 2])
    found["sync_bn"] = r.random() < 0.75
    if r.random() < 0.15:
        found["bandwidth"] = r.choice([2e6, 1e8])
    if kind == "stale":
        found |= {"staleness": r.randint(1, 3), "check_every": 0, "overlap": True}
    if kind == "wire":
        found["wire"] = r.choice(["fp16", "bf16"])
    return found


def draw_solver(r: random.Random, kind: str, clips: bool) -> tuple[str, str]:
    """The solver's text and type; small steps for stale runs: staleness is of the second order."""
    name = r.choice(SIMPLE if kind in ("stale", "wire", "single") else TYPES)
    rate = RATES.get(name, 0.05) * r.choice([1, 0.3]) * (1e-4 if kind == "stale" else 1)
    text = f'type: "{name}" base_lr: {rate} {r.choice(POLICIES)} iter_size: {r.choice([1, 1, 2])} '
    text += SETTINGS[name].replace("@M", str(r.choice([0, 0.5, 0.9])))
    text += f" weight_decay: {r.choice([0, 0.01, 0.1])}"
    text += f' regularization_type: "{r.choice(["L2", "L2", "L1"])}"'
    if clips:
        text += f" clip_gradients: {r.choice([0.05, 0.5, 5])}"
    if r.random() < 0.3:
        text += " snapshot_format: HDF5"
    if r.random() < 0.2:
        text += " snapshot_diff: true"
    return f"{text} random_seed: {r.randint(1, 99)} average_loss: {r.randint(1, 3)}", name

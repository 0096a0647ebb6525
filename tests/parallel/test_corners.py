"""Corners in which several ranks must do what one rank with the joint batch does."""

from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import h5py
import numpy as np
import pytest
from cases import LINKS, Case, build, distance, identical, plan_for, weights

from pycaffe_dist import events
from pycaffe_dist.engines.base import NUMPY
from pycaffe_dist.layer import Context
from pycaffe_dist.parallel.cluster import distribute
from pycaffe_dist.parallel.plan.plan import make_plan
from pycaffe_dist.parallel.settings import ClusterSettings
from pycaffe_dist.parallel.transport.communicator import Communicator
from pycaffe_dist.proto.caffe_pb2 import SolverParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.proto.weights import read_weights
from pycaffe_dist.solver import Solver
from pycaffe_dist.testing.ranks import run_ranks
from pycaffe_dist.tools.guards import LossGuard, TrainingError

CLOSE = 1e-5
STEPS = 5
JOINT = 12  # records of all ranks in a pass
Arrays = list[np.ndarray]


@dataclass
class Run:
    """Training on dealt records, in double precision; ``@B`` in the net is a rank's batch."""

    folder: Path
    layers: str
    settings: str = ""
    cluster: ClusterSettings = field(default_factory=ClusterSettings)
    labels: tuple[int, int] = (0, 3)

    def __post_init__(self) -> None:
        rng = np.random.default_rng(5)
        with h5py.File(self.folder / "records.h5", "w") as file:
            file["data"] = rng.standard_normal((50, 4)).astype(np.float32)
            file["label"] = rng.integers(*self.labels, 50).astype(np.float32)
        (self.folder / "list.txt").write_text(str(self.folder / "records.h5"))

    def solver(self, rank: int, ranks: int) -> Solver:
        text = (
            'base_lr: 0.1 lr_policy: "fixed" random_seed: 1 snapshot_after_train: false '
            f'snapshot_prefix: "{self.folder}/run" {self.settings} '
            f"train_net_param {{ {self._net(JOINT // ranks)} }}"
        )
        if "test_iter" in self.settings:
            text += f"test_net_param {{ {self._net(4)} }}"
        param = parse_text(text, SolverParameter()).message
        solver = Solver(param, Context(np.float64, NUMPY, rank=rank, ranks=ranks))
        rng = np.random.default_rng(9)
        for learnable in solver.net.params.learnable:
            learnable.blob.data[...] = 0.5 * rng.standard_normal(learnable.blob.shape)
        return solver

    def _net(self, batch: int) -> str:
        data = (
            'layer { name: "data" type: "HDF5Data" top: "data" top: "label" hdf5_data_param { '
            f'source: "{self.folder / "list.txt"}" batch_size: @B }} }}'
        )
        return f"{data} {self.layers}".replace("@B", str(batch))

    def train(
        self, steps: int, communicator: Communicator | None = None, state: str = ""
    ) -> tuple[Solver, list[events.Event]]:
        """Up to iteration ``steps``, on one rank if there is no communicator; what was told."""
        rank, ranks = (communicator.rank, communicator.size) if communicator else (0, 1)
        solver = self.solver(rank, ranks)
        told: list[events.Event] = []
        solver.subscribers.append(told.append)
        with ExitStack() as stack:
            if communicator:
                nodes = communicator.nodes.count
                plan = make_plan(solver.net, self.cluster, ranks, nodes, LINKS, solver.param)
                stack.enter_context(distribute(solver, self.cluster, communicator, plan))
            if state:
                solver.restore(state)
            solver.step(steps - solver.iter)
        return solver, told

    def weights(
        self, steps: int, communicator: Communicator | None = None, state: str = ""
    ) -> Arrays:
        return weights(self.train(steps, communicator, state)[0])


def ip(name: str, bottom: str, top: str, outputs: int) -> str:
    return (
        f'layer {{ name: "{name}" type: "InnerProduct" bottom: "{bottom}" top: "{top}" '
        f"inner_product_param {{ num_output: {outputs} }} }}"
    )


LOSS = 'layer { name: "loss" type: "SoftmaxWithLoss" bottom: "out" bottom: "label" top: "loss" }'
GOES_ON = f"""
layer {{ name: "x" type: "Reshape" bottom: "data" top: "x"
  reshape_param {{ shape {{ dim: 1 dim: -1 dim: 4 }} }} }}
layer {{ name: "cont" type: "DummyData" top: "cont"
  dummy_data_param {{ shape {{ dim: 1 dim: @B }} data_filler {{ value: 1 }} }} }}
layer {{ name: "memory" type: "@KIND" bottom: "x" bottom: "cont" top: "y"
  recurrent_param {{ num_output: 5 weight_filler {{ type: "gaussian" std: 1 }} }} }}
layer {{ name: "h" type: "Reshape" bottom: "y" top: "h"
  reshape_param {{ shape {{ dim: -1 dim: 5 }} }} }}
{ip("ip", "h", "out", 3)} {LOSS}
"""


# -- frozen parameters that get a gradient ---------------------------------------------------------


@pytest.mark.parametrize("net", ["forced", "frozen sharer", "frozen LSTM"])
@pytest.mark.parametrize(
    ("solver", "extra", "comm"),
    [
        ("SGD", "clip_gradients: 0.1", "allreduce"),
        ("SGD", "clip_gradients: 0.1", "sfb"),
        ("Adam", "", "sharded"),
        ("AdaGrad", "", "sf-push"),
    ],
)
def test_gradients_of_frozen_parameters_count_as_on_one_rank(
    net: str, solver: str, extra: str, comm: str
) -> None:
    """In the norm that is clipped, and in the histories of rules that remember gradients."""
    case = Case(net, solver, extra, ClusterSettings(comm=comm))

    def work(communicator: Communicator) -> tuple[Arrays, Arrays]:
        mine = build(case, [communicator.rank], communicator.size)
        plan = plan_for(case, mine, communicator)
        with distribute(mine, case.settings, communicator, plan):
            mine.step(STEPS)
        return weights(mine), [h.data.copy() for h in mine.history]

    everybody = run_ranks(["a", "b", "b"], work)
    joint = build(case, range(3), 3)
    joint.step(STEPS)
    assert identical([mine for mine, _ in everybody])
    mine, history = everybody[0]
    assert distance(mine, weights(joint)) < CLOSE
    assert distance(history, [h.data for h in joint.history]) < CLOSE


# -- layers that remember --------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["LSTM", "RNN"])
@pytest.mark.parametrize("resumed", [1, 2, 3])
def test_recurrent_layers_go_on_from_a_snapshot(kind: str, resumed: int, tmp_path: Path) -> None:
    """With another number of ranks, every stream finds its own state again."""
    run = Run(tmp_path, GOES_ON.replace("@KIND", kind), "snapshot: 3")
    whole = run.weights(6)
    halves = run_ranks(2, lambda c: run.weights(6, c))
    assert distance(halves[0], whole) < 1e-9
    state = f"{tmp_path}/run_iter_3.solverstate"
    again = run_ranks(resumed, lambda c: run.weights(6, c if resumed > 1 else None, state))
    assert distance(again[0], whole) < 1e-5  # a snapshot's weights are float32


@pytest.mark.parametrize("kind", ["LSTM", "RNN"])
def test_a_test_net_that_remembers_scores_as_on_one_rank(kind: str, tmp_path: Path) -> None:
    """Every rank runs the others' batches too, as far as the layer that remembers."""
    settings = "test_iter: 5 test_interval: 2"
    run = Run(tmp_path, GOES_ON.replace("@KIND", kind), settings)

    def scores(communicator: Communicator | None = None) -> list[float]:
        tests = (e for e in run.train(5, communicator)[1] if isinstance(e, events.Tested))
        return [output.value for test in tests for output in test.outputs]

    expected = scores()
    assert len(expected) == 3
    for seen in run_ranks(3, scores):
        np.testing.assert_allclose(seen, expected, rtol=1e-9)


SCALED = {
    "MarginInnerProduct": """layer { name: "m" type: "MarginInnerProduct" bottom: "data"
        bottom: "label" top: "out" margin_inner_product_param { num_output: 3 type: QUADRUPLE
        base: 5 gamma: 0.5 } }""",
    "InnerProduct": """layer { name: "m" type: "InnerProduct" bottom: "data" top: "out"
        inner_product_param { num_output: 3 normalize: true } }""",
    "Scale": f"""layer {{ name: "m" type: "Scale" bottom: "data" top: "h"
        scale_param {{ max_value: 0.1 }} }} {ip("ip", "h", "out", 3)}""",
}


@pytest.mark.parametrize("kind", SCALED)
def test_weights_that_every_pass_scales_are_the_same_after_a_test(
    kind: str, tmp_path: Path
) -> None:
    """A test of two batches: on the third rank, too."""
    case = Run(tmp_path, SCALED[kind] + LOSS, "test_interval: 2 test_iter: 2")
    case.cluster = ClusterSettings(check_every=1)
    everybody = run_ranks(3, lambda communicator: case.train(STEPS, communicator))
    joint = case.train(STEPS)
    assert identical([weights(solver) for solver, _ in everybody])
    assert distance(weights(everybody[0][0]), weights(joint[0])) < CLOSE
    scores = [
        [
            output.value
            for event in told
            if isinstance(event, events.Tested)
            for output in event.outputs
        ]
        for told in (everybody[0][1], joint[1])
    ]
    assert scores[0] == pytest.approx(scores[1])
    assert len(scores[0]) == 3


# -- what snapshots and tests see ------------------------------------------------------------------


@pytest.mark.parametrize("hosts", [["a", "b"], ["a", "a", "b"]], ids=str)
@pytest.mark.parametrize("comm", ["allreduce", "sharded", "sfb", "sf-push"])
def test_a_snapshot_with_diffs_has_the_update_whatever_the_scheme(
    comm: str, hosts: list[str], tmp_path: Path
) -> None:
    layers = ip("low", "data", "h", 5) + ip("ip", "h", "out", 3) + LOSS
    settings = ClusterSettings(comm=comm)
    run = Run(
        tmp_path, layers, 'type: "Adam" momentum: 0.9 snapshot: 3 snapshot_diff: true', settings
    )

    def diffs() -> Arrays:
        stored = read_weights(str(tmp_path / "run_iter_3.caffemodel"))
        return [np.array(blob.diff) for layer in stored.layers for blob in layer.blobs]

    run.train(3)
    expected = diffs()
    run_ranks(hosts, lambda c: run.weights(5, c))
    assert [diff.size for diff in expected] == [20, 5, 15, 3]
    assert distance(diffs(), expected) < CLOSE


NORM = (
    'layer { name: "norm" type: "BatchNorm" bottom: "data" top: "n" }'
    f"{ip('ip', 'n', 'out', 3)} {LOSS}"
)


@pytest.mark.parametrize("display", [0, 1])
def test_the_last_test_of_a_run_has_the_merged_statistics_of_batch_norm(
    display: int, tmp_path: Path
) -> None:
    """Though a loss that is displayed at the end takes a forward pass after the last update."""
    settings = f"display: {display} max_iter: 4 test_iter: 2 test_interval: 2"
    run = Run(tmp_path, NORM, settings)

    def work(communicator: Communicator) -> Arrays:
        solver = run.solver(communicator.rank, communicator.size)
        seen: Arrays = []

        def note(event: events.Event) -> None:
            if isinstance(event, events.Tested):
                seen.append(solver.net.layers[1].blobs[0].data.copy())

        solver.subscribers.append(note)
        with distribute(solver, run.cluster, communicator):
            solver.solve()
        return seen

    ranks = run_ranks(3, work)
    assert [len(seen) for seen in ranks] == [3, 3, 3]
    assert identical(ranks)


@pytest.mark.parametrize(("ranks", "staleness"), [(1, 0), (2, 0), (2, 1)])
def test_a_batch_that_is_no_numbers_is_not_in_the_statistics_of_the_snapshot(
    ranks: int, staleness: int, tmp_path: Path
) -> None:
    norm = 'layer { name: "bn" type: "BatchNorm" bottom: "data" top: "n" }'
    cluster = ClusterSettings(staleness=staleness, comm="dense")
    case = Run(tmp_path, f"{norm} {ip('ip', 'n', 'out', 3)} {LOSS}", cluster=cluster)
    with h5py.File(tmp_path / "records.h5", "r+") as file:
        file["data"][2 * JOINT + 1] = np.nan  # of iteration 2, and of rank 1

    def guarded(communicator: Communicator | None = None) -> None:
        place = (communicator.rank, communicator.size) if communicator else (0, 1)
        solver = case.solver(*place)
        LossGuard(solver, "snapshot", lambda text: None)
        with ExitStack() as stack:
            if communicator:
                stack.enter_context(distribute(solver, cluster, communicator))
            with pytest.raises(TrainingError, match="iteration 2: the loss"):
                solver.step(8)

    if ranks == 1:
        guarded()
    else:
        run_ranks(ranks, guarded)
    (written,) = tmp_path.glob("*.caffemodel")
    assert written.name == f"run_iter_{2 + (staleness + 1 if staleness else 0)}.caffemodel"
    stored = {layer.name: layer.blobs for layer in read_weights(str(written)).layers}
    assert all(np.isfinite(blob.data).all() for blobs in stored.values() for blob in blobs)
    assert stored["bn"][2].data.item() > 0


def test_statistics_are_merged_after_a_forward_pass_of_a_script(tmp_path: Path) -> None:
    run = Run(tmp_path, NORM)

    def work(communicator: Communicator) -> Arrays:
        solver = run.solver(communicator.rank, communicator.size)
        seen: Arrays = []
        with distribute(solver, run.cluster, communicator):
            solver.step(2)
            if communicator.rank == 1:
                solver.net.forward()
            solver.stepper.settle()
            seen.append(solver.net.layers[1].blobs[0].data.copy())
            solver.stepper.settle()
            seen.append(solver.net.layers[1].blobs[0].data.copy())
        return seen

    ranks = run_ranks(3, work)
    assert identical(ranks)
    assert identical([[seen] for seen in ranks[0]])


# -- batches that change ---------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [{}, {"policy": "paper"}, {"comm": "sfb"}], ids=str)
def test_above_a_filter_no_gradient_travels_as_factors_unasked(
    settings: dict[str, str], tmp_path: Path
) -> None:
    """How many rows there are is another number in every pass."""
    filtered = (
        'layer { name: "f" type: "Filter" bottom: "data" bottom: "label" bottom: "label" top: "x" '
        'top: "y" }'
    )
    loss = LOSS.replace('bottom: "label"', 'bottom: "y"')
    layers = filtered + ip("low", "x", "h", 90) + ip("ip", "h", "out", 3) + loss
    run = Run(tmp_path, layers, cluster=ClusterSettings(**settings))
    everybody = run_ranks(2, lambda c: run.weights(5, c))
    assert identical(everybody)
    low = make_plan(run.solver(0, 1).net, run.cluster, 2, 2, LINKS).entries[-2]
    assert (low.scheme, low.reason) == ("allreduce", "Filter f may change the batch")


# -- losses that do not divide by the batch --------------------------------------------------------


@pytest.mark.parametrize("mode", ["VALID", "NONE", "FULL", "BATCH_SIZE"])
@pytest.mark.parametrize("kind", ["SoftmaxWithLoss", "SigmoidCrossEntropyLoss"])
def test_a_loss_with_ignored_labels_is_that_of_the_joint_batch(
    kind: str, mode: str, tmp_path: Path
) -> None:
    settings = f"loss_param {{ ignore_label: 1 normalization: {mode} }}"
    outputs = 1 if kind == "SigmoidCrossEntropyLoss" else 3
    loss = LOSS.replace("SoftmaxWithLoss", kind).replace('top: "loss"', f'top: "loss" {settings}')
    run = Run(tmp_path, ip("ip", "data", "out", outputs) + loss, "iter_size: 2")

    def work(communicator: Communicator | None = None) -> tuple[Arrays, list[float]]:
        solver, told = run.train(4, communicator)
        losses = [float(event.loss) for event in told if isinstance(event, events.Updated)]
        return weights(solver), losses

    expected, losses = work()
    for mine, seen in run_ranks(3, work):
        assert distance(mine, expected) < 1e-9
        np.testing.assert_allclose(seen, losses, rtol=1e-9)


def test_a_pass_of_one_rank_alone_counts_its_own_labels(tmp_path: Path) -> None:
    loss = LOSS.replace('top: "loss"', 'top: "loss" loss_param { ignore_label: 1 }')
    run = Run(tmp_path, ip("ip", "data", "out", 3) + loss)

    def work(communicator: Communicator) -> None:
        solver = run.solver(communicator.rank, communicator.size)
        with distribute(solver, run.cluster, communicator):
            solver.step(1)
            if communicator.rank == 0:
                solver.net.forward()
            solver.step(1)

    run_ranks(2, work, 30)

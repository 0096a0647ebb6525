import platform

import h5py
import numpy as np
import pytest

from pycaffe_dist.data.lmdb_writer import image_record, write_lmdb
from pycaffe_dist.parallel import agreement
from pycaffe_dist.parallel.agreement import (
    Checksum,
    DisagreementError,
    agree,
    checksums,
    facts,
)
from pycaffe_dist.parallel.plan.plan import Plan
from pycaffe_dist.parallel.settings import ClusterSettings
from pycaffe_dist.parallel.transport.communicator import run
from pycaffe_dist.proto.caffe_pb2 import SolverParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.solver import Solver
from pycaffe_dist.testing.ranks import run_ranks

NO_PLAN = Plan((), 1, 1, "paper", "fp32", 1.0, 1.0)
SOLVER = """
base_lr: 0.01 lr_policy: "fixed" random_seed: 1
net_param {
  layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 2 dim: 3 } } }
  layer { name: "ip" type: "InnerProduct" bottom: "x" top: "ip"
    inner_product_param { num_output: 4 weight_filler { type: "xavier" } } }
}
"""


@pytest.fixture
def solver():
    return Solver(parse_text(SOLVER, SolverParameter()).message)


def compared(facts_of_ranks):
    """What the ranks say of each other, or nothing."""

    def work(communicator):
        try:
            run(agree(communicator, facts_of_ranks[communicator.rank], "Mend it."))
        except DisagreementError as e:
            return str(e)
        return ""

    (said,) = set(run_ranks(len(facts_of_ranks), work))
    return said


def test_ranks_that_are_the_same_go_on():
    assert compared([{"the iteration": 3}] * 3) == ""


@pytest.mark.parametrize("odd", [0, 1, 2])
def test_the_odd_one_out_is_named_even_if_it_is_rank_0(odd):
    ranks = [{"the engine": "numpy", "the plan": Checksum(1)}] * 3
    ranks[odd] = {"the engine": "onednn", "the plan": Checksum(2)}
    other = 1 if odd == 0 else 0
    assert compared(ranks).splitlines() == [
        f"rank {odd} on host{odd} differs from rank {other} in the engine: onednn, "
        f"rank {other} has numpy",
        f"rank {odd} on host{odd} differs from rank {other} in the plan",
        "Mend it.",
    ]


def test_of_two_rank_0_is_believed_and_many_differences_are_counted():
    names = [f"layer {i}" for i in range(12)]
    lines = compared([dict.fromkeys(names, 1), dict.fromkeys(names, 2)]).splitlines()
    assert lines[0] == "rank 1 on host1 differs from rank 0 in layer 0: 2, rank 0 has 1"
    assert lines[-2:] == ["... and 4 more", "Mend it."]


@pytest.mark.parametrize(
    ("count", "lines"), [(8, ["Mend it."]), (9, ["... and 1 more", "Mend it."])]
)
def test_eight_differences_are_shown(count, lines):
    names = [f"layer {i}" for i in range(count)]
    said = compared([dict.fromkeys(names, 1), dict.fromkeys(names, 2)]).splitlines()
    assert said[8:] == lines


def test_what_is_compared_before_the_first_step(solver, monkeypatch):
    before = facts(solver, ClusterSettings(), NO_PLAN)
    assert before["the engine"] == solver.context.engine.name
    assert before == facts(solver, ClusterSettings(trace="mine.json"), NO_PLAN)
    solver.net.layers[1].layer_param.inner_product_param.num_output = 5
    solver.param.base_lr = 0.5
    monkeypatch.setattr(agreement, "_code", lambda: 1)
    monkeypatch.setattr(agreement, "_blas", lambda: "another")
    after = facts(solver, ClusterSettings(staleness=1), NO_PLAN)
    assert {name for name in after if after[name] != before[name]} == {
        "the code of pycaffe_dist",
        "the BLAS of NumPy",
        "base_lr of the solver",
        "--staleness",
        'layer "ip"',
    }


def test_versions_of_python_are_told_apart_and_patches_are_not(solver, monkeypatch):
    plan = Plan((), 1, 1, "paper", "fp32", 1.0, 1.0)

    def version(*parts):
        monkeypatch.setattr(platform, "python_version_tuple", lambda: parts)
        return facts(solver, ClusterSettings(), plan)["the version of Python"]

    assert version("3", "10", "2") == version("3", "10", "9") == "3.10"
    assert version("3", "12", "2") == "3.12"


def test_test_nets_are_compared_too():
    text = SOLVER.replace("net_param {", "test_iter: 1 test_interval: 1 net_param {")
    ranks = []
    for size in (2, 5):
        solver = Solver(parse_text(text, SolverParameter()).message)
        solver.test_nets[0].layers[0].layer_param.input_param.shape[0].dim[0] = size
        ranks.append(facts(solver, ClusterSettings(), NO_PLAN))
    assert compared(ranks).splitlines() == [
        'rank 1 on host1 differs from rank 0 in input_param.shape.dim of layer "x" of test net #0: '
        "5, 3, rank 0 has 2, 3",
        "Mend it.",
    ]


@pytest.mark.parametrize("kind", ["Data", "ImageData", "HDF5Data"])
def test_another_number_of_records_is_noticed(kind, tmp_path):
    """Also where the folder is another one, but for shards of their own."""
    ranks = []
    for folder, count in (("a", 6), ("b", 5)):
        source = write_records(kind, tmp_path / folder, count)
        field = {"Data": "data", "ImageData": "image_data", "HDF5Data": "hdf5_data"}[kind]
        backend = "backend: LMDB" if kind == "Data" else ""
        text = (
            f'base_lr: 1 lr_policy: "fixed" net_param {{ layer {{ name: "d" type: "{kind}" '
            f'top: "data" top: "label" {field}_param {{ source: "{source}" batch_size: 2 '
            f"{backend} }} }} }}"
        )
        solver = Solver(parse_text(text, SolverParameter()).message)
        fields = facts(solver, ClusterSettings(), NO_PLAN)['layer "d"']
        ranks.append({'layer "d"': {k: v for k, v in fields.items() if "param." not in k}})
    what = "rows of the file in hand" if kind == "HDF5Data" else "number of records"
    assert compared(ranks).splitlines() == [
        f'rank 1 on host1 differs from rank 0 in {what} of layer "d": 5, rank 0 has 6',
        "Mend it.",
    ]


def write_records(kind, folder, count):
    """The source of so many records, for a data layer."""
    folder.mkdir()
    pixels = np.zeros((count, 3, 2, 2), np.uint8)
    if kind == "Data":
        write_lmdb(folder / "db", [image_record(f"{i:03}", x, 0) for i, x in enumerate(pixels)])
        return folder / "db"
    if kind == "HDF5Data":
        with h5py.File(folder / "d.h5", "w") as file:
            file["data"], file["label"] = pixels.astype(np.float32), np.zeros(count, np.float32)
        (folder / "list.txt").write_text(str(folder / "d.h5"))
        return folder / "list.txt"
    (folder / "x.ppm").write_bytes(b"P6 2 2 255\n" + bytes(12))
    (folder / "list.txt").write_text(f"{folder}/x.ppm 0\n" * count)
    return folder / "list.txt"


def test_a_layer_that_differs_is_told_with_its_fields(solver):
    before = facts(solver, ClusterSettings(), NO_PLAN)
    layer = solver.net.layers[1].layer_param
    layer.inner_product_param.num_output = 5
    layer.param.add(lr_mult=2)
    layer.param.add(lr_mult=0)
    after = facts(solver, ClusterSettings(), NO_PLAN)
    after['layer "new"'] = after.pop('layer "x"')
    assert compared([before, after]).splitlines() == [
        'rank 1 on host1 differs from rank 0 in layer "x": nothing, rank 0 has one',
        'rank 1 on host1 differs from rank 0 in inner_product_param.num_output of layer "ip": 5, '
        "rank 0 has 4",
        'rank 1 on host1 differs from rank 0 in param.lr_mult of layer "ip": 2.0, 0.0, rank 0 '
        "has nothing",
        'rank 1 on host1 differs from rank 0 in layer "new": one, rank 0 has nothing',
        "Mend it.",
    ]


def test_checksums_tell_one_bit(solver):
    before = checksums(solver)
    weights = solver.net.params.learnable[0].blob.data
    weights[0, 0] = np.nextafter(weights[0, 0], np.float32(9))
    after = checksums(solver)
    assert [name for name in after if after[name] != before[name]] == [
        'parameter 0 of layer "ip" at iteration 0'
    ]

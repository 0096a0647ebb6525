"""A rank of tests/parallel/test_netlab.py: what leaves its node in the steps of one inner product.

netlab_rank.py SCHEME STEPS: rank 0 prints, as JSON, the bytes of each rank in a step.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from pycaffe_dist.parallel.cluster import Cluster, connect, distribute
from pycaffe_dist.parallel.job.launcher import die_with_parent, tune_mpi
from pycaffe_dist.parallel.settings import ClusterSettings
from pycaffe_dist.proto.caffe_pb2 import SolverParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.solver import Solver

ROWS, INPUTS, OUTPUTS = 16, 1024, 768
SENT = Path("/sys/class/net/eth0/statistics/tx_bytes")
TEXT = f"""
base_lr: 0.01 lr_policy: "fixed" snapshot_after_train: false random_seed: 1
net_param {{
  layer {{ name: "data" type: "Input" top: "data" top: "label" input_param {{
    shape {{ dim: {ROWS} dim: {INPUTS} }} shape {{ dim: {ROWS} dim: {OUTPUTS} }} }} }}
  layer {{ name: "ip" type: "InnerProduct" bottom: "data" top: "ip"
    inner_product_param {{ num_output: {OUTPUTS} bias_term: false
      weight_filler {{ type: "gaussian" std: 0.01 }} }} }}
  layer {{ name: "loss" type: "EuclideanLoss" bottom: "ip" bottom: "label" top: "loss" }}
}}
"""


def sent(cluster: Cluster) -> int:
    """Bytes that have left this node, when all ranks have what was sent to them."""
    cluster.gather(None)
    cluster.share(None)
    return int(SENT.read_text())


def main(scheme: str, steps: int) -> None:
    die_with_parent()
    tune_mpi()
    communicator = connect()
    solver = Solver(parse_text(TEXT, SolverParameter()).message)
    data = solver.net.blobs[solver.net.blob_ids["data"]].data
    data[...] = np.random.default_rng(communicator.rank).standard_normal(data.shape)
    with distribute(solver, ClusterSettings(comm=scheme), communicator) as cluster:
        solver.step(2)
        before = sent(cluster)
        solver.step(steps)
        counted = cluster.gather((sent(cluster) - before) / steps)
    if communicator.rank == 0:
        print(json.dumps(counted), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))

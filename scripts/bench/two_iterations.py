"""Two iterations of training on made-up data."""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path

from pycaffe_dist.errors import NetError
from pycaffe_dist.proto.caffe_pb2 import NetParameter, NetState, SolverParameter
from pycaffe_dist.proto.nets import read_net
from pycaffe_dist.solver import Solver
from pycaffe_dist.tools.fake_data import fake_data


def train(net: NetParameter, batch: int) -> float:
    """The loss of the second iteration; the batch is as small as asked for, if the net allows."""
    try:
        net = fake_data(net, batch_size=batch)
    except NetError:  # its layers may be written for a batch of its own
        net = fake_data(net)
    # Nets that are one file for all uses choose their layers by stage.
    stages = {s for layer in net.layer for rule in layer.include for s in rule.stage} & {"train"}
    net.ClearField("state")
    solver = SolverParameter(base_lr=1e-8, lr_policy="fixed", max_iter=2, random_seed=1)
    solver.train_net_param.CopyFrom(net)
    solver.train_state.CopyFrom(NetState(stage=stages))
    made = Solver(solver)
    losses: list[float] = []
    made.on_gradients_ready.append(lambda: losses.append(made.last_loss))
    made.step(2)
    return losses[-1]


def main() -> None:
    """As a process of its own: the net's file and the batch; prints the loss and the cost."""
    begin = time.time()
    loss = train(read_net(sys.argv[1]).net, int(sys.argv[2]))
    status = Path("/proc/self/status").read_text()
    peak = re.search(r"VmHWM:\s+(\d+)", status)
    memory = int(peak[1]) / 1e6 if peak else 0.0
    print(f"loss {loss:.4g}, {time.time() - begin:.1f} s, {memory:.2f} GB")


if __name__ == "__main__":
    main()

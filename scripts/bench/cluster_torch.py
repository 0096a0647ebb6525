"""One of PyTorch's ranks: the module of bench/torch_side.py, alone or under DDP with gloo."""

from __future__ import annotations

import os
import sys
import time
from typing import Any

import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import bench.cluster_cases  # noqa: F401  (its nets)
from bench.cluster_wire import RANK, SIZE, obey, own_core, sent
from bench.torch_hooks import compress
from bench.torch_side import Torch

PORT = 29500


class TorchRank(Torch):
    def __init__(self, rank: int, address: str, options: list[str]) -> None:
        super().__init__(1, options)
        size = int(os.environ[SIZE])
        dist.init_process_group(
            "gloo", init_method=f"tcp://{address}:{PORT}", rank=rank, world_size=size
        )

    def turn(
        self, settings: dict[str, Any] | None, warm_up: int, steps: int, **_: Any
    ) -> dict[str, Any]:
        """Train for ``warm_up + steps`` iterations, of which the last ``steps`` are reported."""
        plain = self.module
        if settings is not None:
            self.module = DistributedDataParallel(plain)
            compress(self.module, settings.get("hook", ""))
        for _i in range(warm_up):
            self.step()
        seconds, before = [], sent()
        for _i in range(steps):
            begin = time.perf_counter()
            self.step()
            seconds.append(time.perf_counter() - begin)
        self.module = plain
        return {"seconds": seconds, "sent": sent() - before}


if __name__ == "__main__":
    rank = int(os.environ[RANK])
    own_core(rank)
    chosen = sys.argv[2].split(",") if sys.argv[2] else []
    obey(TorchRank(rank, sys.argv[1], chosen), rank)

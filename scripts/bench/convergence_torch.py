"""A rank of PyTorch DDP that trains cifar10_quick as our ranks do, for scripts/convergence.py.

python -m bench.convergence_torch RANK RANKS FOLDER ITERATIONS HOOK SEED

FOLDER has the data (``images.npy`` and ``labels.npy``, of the training set and then of the test
set, and the mean image, ``mean.npy``) and gets ``accuracy.json``.  Fillers, rates, decay and the
records of every step are those of models/cifar10_quick; the joint batch is kept.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional
from torch.nn.parallel import DistributedDataParallel

from bench.torch_hooks import compress
from bench.torch_nets import create

TRAINING, BATCH = 50_000, 100
STDS = (1e-4, 0.01, 0.01, 0.1, 0.1)  # of the fillers
RATE, DECAY, MOMENTUM = 0.001, 0.004, 0.9


def filled(seed: int) -> nn.Module:
    torch.manual_seed(seed)
    module = create("cifar10_quick", training=True)
    learning = [part for part in module.modules() if isinstance(part, (nn.Conv2d, nn.Linear))]
    for part, std in zip(learning, STDS, strict=True):
        nn.init.normal_(part.weight, std=std)
        nn.init.zeros_(part.bias)
    return module


def optimizer_of(module: nn.Module) -> torch.optim.Optimizer:
    """Biases learn twice as fast."""
    named = list(module.named_parameters())
    groups = [
        {"params": [p for n, p in named if n.endswith("bias") == bias], "lr": RATE * (1 + bias)}
        for bias in (False, True)
    ]
    return torch.optim.SGD(groups, lr=RATE, momentum=MOMENTUM, weight_decay=DECAY)


def train(
    module: nn.Module, batches: Iterator[tuple[torch.Tensor, torch.Tensor]], count: int
) -> None:
    """Take ``count`` steps, the last fifth of them at a tenth of the rate."""
    optimizer = optimizer_of(module)
    for step in range(count):
        if step == count * 4 // 5:
            for group in optimizer.param_groups:
                group["lr"] *= 0.1
        images, labels = next(batches)
        optimizer.zero_grad()
        functional.cross_entropy(module(images), labels).backward()
        optimizer.step()


def main(rank: int, ranks: int, folder: Path, iterations: int, hook: str, seed: int) -> None:
    torch.set_num_threads(1)
    store = f"file://{folder / 'store'}"
    dist.init_process_group("gloo", init_method=store, rank=rank, world_size=ranks)
    images = np.load(folder / "images.npy", mmap_mode="r")
    labels = torch.from_numpy(np.load(folder / "labels.npy")).long()
    mean = np.load(folder / "mean.npy")

    def some(which: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.from_numpy(images[which] - mean), labels[which]

    def batches() -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        first = 0
        while True:
            yield some(np.arange(first + rank, first + BATCH, ranks) % TRAINING)
            first += BATCH

    plain = filled(seed)
    module = DistributedDataParallel(plain)
    compress(module, hook, plain=iterations // 10)
    train(module, batches(), iterations)
    if rank == 0:
        right = 0
        with torch.inference_mode():
            for first in range(TRAINING, len(images), BATCH):
                inputs, expected = some(np.arange(first, first + BATCH))
                right += int((plain(inputs).argmax(1) == expected).sum())
        found = {"accuracy": 100 * right / (len(images) - TRAINING)}
        (folder / "accuracy.json").write_text(json.dumps(found))
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    own, size, place, steps, kind, start = sys.argv[1:]
    main(int(own), int(size), Path(place), int(steps), kind, int(start))

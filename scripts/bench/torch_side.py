"""PyTorch's side: the same net, batch and update, eager, as people write it."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from bench.cases import LEARNT, MOMENTUM, STILL, WEIGHT_DECAY, find, images_and_labels
from bench.torch_nets import create
from bench.wire import Side, gemm_rate, log_of, sample, serve

HEAD_WEIGHT = 0.3  # of GoogLeNet's auxiliary losses


class Torch(Side):
    """Options: ``fused`` (the update in one pass), ``channels_last`` (NHWC)."""

    def __init__(self, threads: int, options: list[str]) -> None:
        torch.set_num_threads(threads)
        self.options = options
        self.optimizer: torch.optim.Optimizer | None = None

    def about(self) -> dict[str, Any]:
        return {"name": "PyTorch", "version": torch.__version__, "options": self.options}

    def prepare(
        self,
        net: str,
        batch: int,
        phase: str,
        weights: str | None = None,
        dropout: bool = True,
        double: bool = False,
    ) -> dict[str, Any]:
        images, labels = images_and_labels(find(net, batch))
        how: dict[str, Any] = {"dtype": torch.float64 if double else torch.float32}
        if "channels_last" in self.options:
            how["memory_format"] = torch.channels_last
        self.module = create(net, training=phase == "train").to(**how).train(phase == "train")
        if weights:
            self.load(weights)
        self.images = torch.from_numpy(images).to(**how)
        self.labels = self.new_labels = torch.from_numpy(labels)
        for part in self.module.modules():
            if isinstance(part, nn.Dropout) and not dropout:
                part.p = 0.0
        self.optimizer = self._sgd(STILL) if phase == "train" else None
        return {"shapes": [list(p.shape) for p in self.module.parameters()]}

    def _sgd(self, rate: float) -> torch.optim.Optimizer:
        return torch.optim.SGD(
            self.module.parameters(),
            lr=rate,
            momentum=MOMENTUM,
            weight_decay=WEIGHT_DECAY,
            fused=True if "fused" in self.options else None,
        )

    def step(self) -> float:
        if self.optimizer is None:
            with torch.inference_mode():
                self.output = functional.softmax(self.module(self.images), 1)
            return 0.0
        self.optimizer.zero_grad()
        loss = self._loss()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def _loss(self) -> torch.Tensor:
        outputs = self.module(self.images)
        if not isinstance(outputs, tuple):
            return functional.cross_entropy(outputs, self.labels)
        last, *heads = (functional.cross_entropy(output, self.labels) for output in outputs)
        return last + HEAD_WEIGHT * sum(heads)

    def gemm(self) -> dict[str, Any]:
        def multiply(a: Any, b: Any) -> Any:
            ours, other = torch.from_numpy(a), torch.from_numpy(b)
            out = torch.empty_like(ours)
            return lambda: torch.mm(ours, other, out=out)

        return gemm_rate(multiply)

    def check(self, path: str, rate: float, steps: int) -> dict[str, Any]:
        if self.optimizer is None:
            self.step()
            np.savez(path, output=log_of(self.output.numpy()))
            return {}
        self.optimizer = self._sgd(rate)
        found: dict[str, Any] = {}
        for step in range(steps):
            loss = self.step()
            if step == 0:
                found["output"] = np.asarray(loss)
                for i, p in enumerate(self.module.parameters()):
                    found[f"gradient_{i}"] = sample(p.grad.numpy())
        for i, p in enumerate(self.module.parameters()):
            found[f"update_{i}"] = sample(p.detach().numpy())
        np.savez(path, **found)
        return {}

    def learn(self, known: bool) -> dict[str, Any]:
        self.labels = torch.zeros_like(self.new_labels) if known else self.new_labels
        with torch.no_grad():
            list(self.module.parameters())[-1][0] = LEARNT if known else 0
        return {}

    def load(self, path: str) -> None:
        """Take over our side's parameters, in order, and the statistics of its BatchNorms."""
        with np.load(path) as file, torch.no_grad():
            for i, parameter in enumerate(self.module.parameters()):
                parameter.copy_(torch.from_numpy(file[f"arr_{i}"]))
            norms = [m for m in self.module.modules() if isinstance(m, nn.BatchNorm2d)]
            for i, norm in enumerate(norms):
                norm.running_mean.copy_(torch.from_numpy(file[f"mean_{i}"]))
                norm.running_var.copy_(torch.from_numpy(file[f"variance_{i}"]))


if __name__ == "__main__":
    serve(Torch(int(sys.argv[1]), sys.argv[2].split(",") if len(sys.argv) > 2 else []))

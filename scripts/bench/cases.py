"""What is measured: the nets, their batches, and the settings both sides share."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

MOMENTUM, WEIGHT_DECAY = 0.9, 5e-4
# So small that a batch met a thousand times stays as it was: both sides keep their work.
STILL = 1e-7
# A bias that leaves all other classes about e⁻⁹⁰: nearly all gradients below are denormal.
LEARNT = 90.0


@dataclass(frozen=True)
class Case:
    """A net of models/, and the made-up batch it is given."""

    name: str
    folder: str
    batch: int
    image: tuple[int, int, int]
    classes: int = 1000
    without: tuple[str, ...] = ()  # layer types left out; they must work in place or one to one

    def with_batch(self, batch: int) -> Case:
        return replace(self, batch=batch)


CASES = {
    case.name: case
    for case in (
        Case("lenet", "lenet", 64, (1, 28, 28), 10),
        Case("cifar10_quick", "cifar10_quick", 100, (3, 32, 32), 10),
        Case("alexnet", "bvlc_alexnet", 32, (3, 227, 227)),
        Case("alexnet_no_lrn", "bvlc_alexnet", 32, (3, 227, 227), without=("LRN",)),
        Case("googlenet", "bvlc_googlenet", 16, (3, 224, 224)),
        Case("vgg16", "vgg16", 8, (3, 224, 224)),
        Case("resnet50", "resnet50", 16, (3, 224, 224)),
        Case("squeezenet", "squeezenet_v1.1", 32, (3, 227, 227)),
        Case("mobilenet", "mobilenet_v1", 16, (3, 224, 224)),
    )
}

# lenet with next to nothing to compute: the same layers, the same calls.
TINY = Case("tiny", "lenet", 1, (1, 16, 16), 2)
TINY_OUTPUTS = (1, 1, 1, 2)  # of conv1, conv2, ip1, ip2


def find(name: str, batch: int) -> Case:
    return TINY if name == TINY.name else CASES[name].with_batch(batch)


def images_and_labels(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """The batch, the same on both sides."""
    rng = np.random.default_rng(1)
    images = rng.standard_normal((case.batch, *case.image), np.float32)
    return images, rng.integers(0, case.classes, case.batch)

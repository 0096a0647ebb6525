"""The bottoms that DetectionOutput and MultiBoxLoss have in common: offsets, scores and priors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Views
from pycaffe_dist.layer import Layer


@dataclass
class Predictions:
    """Offsets (N, P·L·V), scores (N, P·K) and priors (1, 2, P·4), which must fit each other.

    Without variances priors may be (1, 1, P·4).
    """

    num: int
    priors: int
    classes: int
    locations: int  # L: 1, or one for each class
    values: int  # V of an offset: 4, for a box

    def __init__(
        self,
        layer: Layer,
        bottom: Views,
        classes: int,
        shared: bool,
        values: int = 4,
        with_variances: bool = True,
    ) -> None:
        loc, conf, prior = bottom[0].shape, bottom[1].shape, bottom[2].shape
        rows = (2,) if with_variances else (1, 2)
        layer.check(
            len(prior) >= 3 and prior[1] in rows and bottom[2].count_from(2) % 4 == 0,
            f"takes priors of the shape (1, 2, P·4), found {prior}",
        )
        self.num, self.priors = loc[0], bottom[2].count_from(2) // 4
        self.classes, self.locations = classes, 1 if shared else classes
        self.values = values
        wanted = self.priors * self.locations * values, self.priors * classes
        layer.check(
            conf[0] == self.num and (bottom[0].count_from(1), bottom[1].count_from(1)) == wanted,
            f"{self.priors} priors and {classes} classes take offsets of the shape "
            f"({self.num}, {wanted[0]}) and scores of ({self.num}, {wanted[1]}), "
            f"found {loc} and {conf}",
        )

    def offsets(self, values: Array) -> Array:
        return values.reshape(self.num, self.priors, self.locations, self.values)

    def scores(self, values: Array) -> Array:
        return values.reshape(self.num, self.priors, self.classes)


def read_priors(values: Array) -> tuple[Array, Array]:
    """(P, 4) boxes and their variances, 1 if there are none."""
    both = np.asarray(values)[0].reshape(values.shape[1], -1, 4)
    return both[0], both[1] if len(both) > 1 else np.ones_like(both[0])

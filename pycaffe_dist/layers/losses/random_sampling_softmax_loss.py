"""RandomSamplingSoftmaxLoss: a softmax over some of very many classes."""

from __future__ import annotations

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.softmax_loss import SoftmaxWithLoss
from pycaffe_dist.rng import generator


@register("RandomSamplingSoftmaxLoss")
class RandomSamplingSoftmaxLoss(SoftmaxWithLoss):
    """SoftmaxWithLoss over ``random_sampling_num`` of the classes, chosen anew at each position.

    They are the label, the last class (the background), and others: "random" draws them, "topk"
    takes those with the largest scores.  All else has no probability and no gradient.
    """

    tops = (1, 1)

    def setup(self, bottom: Views, top: Views) -> None:
        super().setup(bottom, top)
        p = self.layer_param.rss_loss_param
        self.most, self.policy = p.random_sampling_num, p.random_sampling_policy
        self.check(
            self.policy in ("random", "topk"),
            f'random_sampling_policy is "random" or "topk", found "{self.policy}"',
        )

    def reshape(self, bottom: Views, top: Views) -> None:
        super().reshape(bottom, top)
        classes = self.folded[1]
        self.check(
            2 <= self.most < classes,
            f"random_sampling_num is 2 to below the {classes} classes, found {self.most}",
        )

    def forward(self, bottom: Views, top: Views) -> None:
        self.chosen = self._choose(bottom)
        super().forward(bottom, top)

    def probabilities(self, x: Array, out: Array) -> None:
        super().probabilities(self.xp.where(self.chosen, x, -np.inf), out=out)

    def _choose(self, bottom: Views) -> Array:
        """(outer, classes, inner): which classes count."""
        xp, (outer, _, inner) = self.xp, self.folded
        if self.policy == "random":
            keys = xp.asarray(generator().random_sample(self.folded))
        else:
            keys = bottom[0].data.reshape(self.folded).copy()
        keys[:, -1] = np.inf
        rows, columns = xp.arange(outer)[:, None], xp.arange(inner)
        keys[rows, self.labels(bottom)[0], columns] = np.inf
        # Of equal scores the last class comes first, as in the fork.
        order = self.folded[1] - 1 - xp.argsort(-keys[:, ::-1], axis=1, kind="stable")
        chosen = xp.zeros(self.folded, bool)
        chosen[rows[:, None], order[:, : self.most], columns] = True
        return chosen

"""The base of users' own layers: ``class Mine(caffe.Layer)``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pycaffe_dist.aliases import Facts
from pycaffe_dist.blob import Blob, BlobVec, Flags

Blobs = Sequence[Blob]


class Layer:
    """pycaffe's Layer.  A subclass writes setup, reshape, forward and, to learn, backward.

    Attributes:
        blobs: its parameters; ``self.blobs.add_blob(*shape)`` in ``setup`` adds one.
        param_str: the text that the prototxt gives in python_param.
        param_str_: the same under its old name.
        phase: 0 in training, 1 in testing.
    """

    type = "Python"

    def __init__(self, param: object = None, *_: object) -> None:
        self.blobs = BlobVec(np.float32)
        self.param_str = self.param_str_ = ""
        self.phase = 1

    def setup(self, bottom: Blobs, top: Blobs) -> None:
        """Once: read the settings, check the bottoms, add the parameters."""

    def reshape(self, bottom: Blobs, top: Blobs) -> None:
        """Before every forward: give the tops their shapes."""
        raise self._missing("reshape(self, bottom, top)")

    def forward(self, bottom: Blobs, top: Blobs) -> None:
        """From the bottoms' data to the tops'."""
        raise self._missing("forward(self, bottom, top)")

    def backward(self, top: Blobs, propagate_down: Flags, bottom: Blobs) -> None:
        """From the tops' diffs to those of the bottoms, where asked for, and of the parameters."""
        raise self._missing("backward(self, top, propagate_down, bottom)")

    def get_state(self) -> Facts:
        """What a snapshot keeps besides the blobs: numbers, strings, lists, arrays, by name."""
        return {}

    def set_state(self, state: Facts) -> None:
        """Resume from what ``get_state`` gave; called before the first forward of a resumed run."""

    def _missing(self, method: str) -> NotImplementedError:
        return NotImplementedError(f"class {type(self).__name__} needs a method {method}")

"""What layers have in common that change from pass to pass, as training goes on."""

from __future__ import annotations

from pycaffe_dist.aliases import Facts
from pycaffe_dist.layer import Layer


class Counted(Layer):
    """Counts passes in ``iteration``, which snapshots keep."""

    remembers = True

    def start(self, iteration: int) -> None:
        self.iteration = iteration

    def get_state(self) -> Facts:
        return {"iteration": self.iteration}

    def set_state(self, state: Facts) -> None:
        self.iteration = int(state["iteration"])

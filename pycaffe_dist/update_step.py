"""An update as a value: what the update of an iteration depends on, and the arrays it works on.

It knows neither solvers nor engines: both are given these values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from pycaffe_dist.aliases import Array, DeviceArray
from pycaffe_dist.errors import NetError

Multipliers = tuple[float, float]  # lr_mult and decay_mult of a parameter


@dataclass(frozen=True)
class UpdateStep:
    """The update of one iteration, of all parameters or of one of them.

    Attributes:
        iteration: which, counted from 0.
        rate: the learning rate; of one parameter: times its lr_mult.
        iter_size: how many passes have added to the gradients.
        decay: weight_decay; of one parameter: times its decay_mult.
        regularization: the regularization_type of the solver.
        clip: the largest norm of all gradients together; below 0 for any.
        correction: by which the rule multiplies its rate in this iteration; 1 for most rules.
        momentum: where it has a policy of its own; None: that of the rule.
        gate: one number on a device, by which gradients are multiplied there; where it is 0,
            nothing is updated.  None: there is none.
    """

    iteration: int
    rate: float
    iter_size: int = 1
    decay: float = 0.0
    regularization: str = "L2"
    clip: float = -1.0
    correction: float = 1.0
    momentum: float | None = None
    gate: DeviceArray = None

    @property
    def share(self) -> float:
        """What gradients are multiplied by first."""
        return 1.0 / self.iter_size

    @property
    def l1(self) -> bool:
        """Whether the decay is that of L1; of no meaning where there is none.

        Raises:
            NetError: the solver names another type.
        """
        if self.decay and self.regularization not in ("L1", "L2"):
            raise NetError(f'regularization_type is "L1" or "L2", not "{self.regularization}"')
        return self.regularization == "L1"

    def times(self, lr_mult: float, decay_mult: float) -> UpdateStep:
        """As it is for a parameter with these factors."""
        return replace(self, rate=self.rate * lr_mult, decay=self.decay * decay_mult)

    def gated(self, gate: DeviceArray) -> UpdateStep:
        """As it is if ``gate`` does not forbid it."""
        return replace(self, gate=gate)


@dataclass(frozen=True)
class ParamValues:
    """Some values of a parameter with their gradients and history: flat arrays of one home.

    After an update ``diff`` holds what was taken off ``data``.

    Attributes:
        history: by slot, in the order of the rule's slots.
    """

    data: Array
    diff: Array
    history: Mapping[str, Array]

    def __getitem__(self, part: slice) -> ParamValues:
        history = {slot: values[part] for slot, values in self.history.items()}
        return ParamValues(self.data[part], self.diff[part], history)

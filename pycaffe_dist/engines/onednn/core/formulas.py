"""Expressions over equally long arrays, each computed in one pass over memory.

A formula begins with one operand; every step combines what there is with another operand or puts it
through a function.  oneDNN calls the first step a primitive and the others its post-operations.
"""

from __future__ import annotations

from operator import itemgetter
from typing import Any

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.engines.onednn.core.library import F32, Arg
from pycaffe_dist.engines.onednn.core.primitives import Call, Primitive, plain
from pycaffe_dist.memory import aligned

# Algorithms: of two operands (comparisons give 0 or 1), and of one with numbers α and β.
BINARY = {
    "add": 0x1FFF0,
    "mul": 0x1FFF1,
    "max": 0x1FFF2,
    "min": 0x1FFF3,
    "div": 0x1FFF4,
    "sub": 0x1FFF5,
    "ge": 0x1FFF6,
    "gt": 0x1FFF7,
    "le": 0x1FFF8,
    "lt": 0x1FFF9,
}
FUNCTIONS = {
    "relu": 0x20,
    "tanh": 0x21,
    "elu": 0x22,
    "square": 0x23,
    "abs": 0x24,
    "sqrt": 0x25,
    "linear": 0x26,
    "soft_relu": 0x27,
    "logistic": 0x29,
    "exp": 0x2A,
    "log": 0x2D,
    "clip": 0x2E,
    "pow": 0x30,
}
POST_OP = 32768  # of the first post-operation's arguments; the next are as far again
Step = tuple[Any, ...]


class Formula:
    """An operand and steps: ("mul", operand), or ("linear", α, β) for α·v + β, and so on.

    Operands are names of arrays, or numbers.  In "max" and "min", as in x86's instructions, a NaN
    of the second operand stays and one of the first gives way: x max 0 max x keeps NaN.
    """

    def __init__(self, first: str, *steps: Step) -> None:
        if steps and steps[0][0] in BINARY:
            self.steps = steps
        else:
            self.steps = (("mul", 1.0), *steps)
        self.first = first
        operands = [first, *(step[1] for step in self.steps if step[0] in BINARY)]
        self.names = list(dict.fromkeys(o for o in operands if isinstance(o, str)))

    def over(self, count: int, kind: int = F32) -> Pass:
        """Ready for arrays of this length and this type of numbers."""
        return Pass(self, count, kind)


class Pass:
    """A formula for one length; called with its arrays, in the order of ``names``, and out."""

    def __init__(self, formula: Formula, count: int, kind: int = F32) -> None:
        long, single = plain((count,), kind), plain((1,))
        self.names = formula.names
        self._numbers: tuple[Array, ...] = ()
        slots, args = [formula.names.index(formula.first)], [(Arg.SRC, long)]
        post_ops: list[Step] = []
        for i, (name, *rest) in enumerate(formula.steps):
            if name in FUNCTIONS:
                alpha, beta = rest or (0.0, 0.0)
                post_ops.append(("eltwise", FUNCTIONS[name], float(alpha), float(beta)))
                continue
            operand = rest[0]
            layout = long if isinstance(operand, str) else single
            slots.append(self._slot(operand))
            if i == 0:
                args.append((Arg.SRC_1, layout))
            else:
                args.append((POST_OP * (len(post_ops) + 1) | Arg.SRC_1, layout))
                post_ops.append(("binary", BINARY[name], layout.md))
        kind, second = BINARY[formula.steps[0][0]], args[1][1]
        primitive = Primitive("binary", kind, long.md, second.md, long.md, post_ops=post_ops)
        self._call: Call = primitive.call(*args, (Arg.DST, long))
        self._arranged = itemgetter(*slots, len(formula.names))

    def _slot(self, operand: str | float) -> int:
        """Where it is in (arrays, out, numbers)."""
        if isinstance(operand, str):
            return self.names.index(operand)
        number = aligned(1, np.dtype(np.float32))
        number[0] = operand
        self._numbers = (*self._numbers, number)
        return len(self.names) + len(self._numbers)

    def __call__(self, *rooms: Array) -> None:
        self._call(*self._arranged(rooms + self._numbers))

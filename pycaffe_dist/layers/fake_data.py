"""FakeData: made-up batches, for trying a net without its data."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import Layer, register
from pycaffe_dist.memory import Array


@register("FakeData")
class FakeData(Layer):
    """Random numbers, the same in every run, different in every batch and on every rank.

    dummy_data_param gives a shape and a data_filler for each top: "uniform" is min ≤ x < max,
    "gaussian" is N(mean, std), and "integer", made for labels, whole numbers min ≤ n < max.
    """

    bottoms = 0
    tops = (1, None)

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.dummy_data_param
        for name, given in (("shape", len(p.shape)), ("data_filler", len(p.data_filler))):
            self.check(given == len(top), f"{given} {name} for {len(top)} tops; give one for each")
        for view, shape, filler in zip(top, p.shape, p.data_filler, strict=True):
            self.check(
                filler.type in KINDS,
                f'there is no "{filler.type}" here. Known: {", ".join(KINDS)}',
            )
            self.check(
                filler.type != "integer" or filler.min < filler.max,
                f"no whole number is from {filler.min:g} to below {filler.max:g}",
            )
            view.reshape(*shape.dim)
        own = f"{self.name} {self.phase} {self.context.rank}"
        self.seed = zlib.crc32(own.encode())
        self.batch = 0

    def reshape(self, bottom: Views, top: Views) -> None:
        pass

    def forward(self, bottom: Views, top: Views) -> None:
        rng = np.random.default_rng([self.seed, self.batch])
        for view, filler in zip(top, self.layer_param.dummy_data_param.data_filler, strict=True):
            KINDS[filler.type](rng, filler, view.blob.data)
        self.batch += 1

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        pass

    def get_state(self) -> dict[str, Any]:
        return {"batch": self.batch}

    def set_state(self, state: dict[str, Any]) -> None:
        self.batch = int(state["batch"])

    def flops(self, bottom: Views, top: Views) -> int:
        return 0


def uniform(rng: np.random.Generator, f: Any, out: Array) -> None:
    out[...] = rng.random(out.shape, out.dtype)
    out *= f.max - f.min
    out += f.min


def gaussian(rng: np.random.Generator, f: Any, out: Array) -> None:
    out[...] = rng.standard_normal(out.shape, out.dtype)
    out *= f.std
    out += f.mean


def integer(rng: np.random.Generator, f: Any, out: Array) -> None:
    out[...] = rng.integers(int(f.min), int(f.max), out.shape)


KINDS = {"uniform": uniform, "gaussian": gaussian, "integer": integer}

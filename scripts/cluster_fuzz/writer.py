"""Writes the layers of a random net one by one, and keeps the shapes of what they put out."""

from __future__ import annotations

import math
import random
from typing import NamedTuple

CLASSES = 5


class Top(NamedTuple):
    """A blob and its shape without the batch: (C, H, W) or (F,)."""

    name: str
    shape: tuple[int, ...]


def boolean(value: bool) -> str:
    return str(bool(value)).lower()


class Writer:
    """What all kinds of layers need.  ``@B`` stands for the batch of a rank in the text.

    Attributes:
        features: what the net has, for the table of results.
        products: the names of inner products, for --comm-layer.
    """

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.lines: list[str] = []
        self.features: set[str] = set()
        self.products: list[str] = []
        self.read: set[str] = set()  # blobs that some layer reads
        self.count = 0  # of names given

    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    def fresh(self, kind: str) -> str:
        self.count += 1
        return f"{kind}{self.count}"

    def add(self, kind: str, bottoms: list[str], tops: list[str], body: str = "") -> str:
        name = self.fresh(kind.lower())
        self.read.update(bottoms)
        self.read.difference_update(tops)  # in place
        bottom = " ".join(f'bottom: "{b}"' for b in bottoms)
        top = " ".join(f'top: "{t}"' for t in tops)
        self.lines.append(f'layer {{ name: "{name}" type: "{kind}" {bottom} {top} {body} }}')
        return name

    def one(self, kind: str, x: Top, shape: tuple[int, ...], body: str = "") -> Top:
        """A layer of one bottom and one new top."""
        top = self.fresh(kind[0].lower())
        self.add(kind, [x.name], [top], body)
        return Top(top, shape)

    def params(self, count: int, names: tuple[str, ...] = ()) -> str:
        """`param` blocks of a layer with ``count`` parameters, some frozen, some shared by name."""
        shared = [f'name: "{n}" ' if n else "" for n in names] + [""] * (count - len(names))
        if any(shared):
            return " ".join(f"param {{ {text}}}" for text in shared)
        if self.chance(0.5):
            return ""
        frozen = self.rng.random()
        texts = []
        for i in range(count):
            lr, decay = self.rng.choice([1, 1, 2, 0.5]), self.rng.choice([1, 1, 0, 0.5])
            if frozen < 0.08 or (frozen < 0.14 and i == 0) or (0.14 < frozen < 0.2 and i == 1):
                lr = 0
                self.features.add("frozen")
            texts.append(f"param {{ lr_mult: {lr} decay_mult: {decay} }}")
        return " ".join(texts)

    # -- on blobs of any shape -----------------------------------------------------------------

    def join(self, a: Top, b: Top) -> Top:
        top = self.fresh("j")
        if self.chance(0.5):
            how = self.rng.choice(["SUM", "SUM", "PROD", "MAX"])
            coeff = "coeff: 0.7 coeff: -0.4" if how == "SUM" and self.chance(0.5) else ""
            self.features.add("eltwise")
            body = f"eltwise_param {{ operation: {how} {coeff} }}"
            self.add("Eltwise", [a.name, b.name], [top], body)
            return Top(top, a.shape)
        self.features.add("concat")
        self.add("Concat", [a.name, b.name], [top])
        return Top(top, (a.shape[0] + b.shape[0], *a.shape[1:]))

    def norm(self, x: Top) -> Top:
        self.features.add("BatchNorm")
        y = self.one("BatchNorm", x, x.shape)
        bias = boolean(self.chance(0.7))
        self.add("Scale", [y.name], [y.name], f"scale_param {{ bias_term: {bias} }}")
        return y

    def scale(self, x: Top) -> Top:
        kind = self.rng.randint(0, 3)
        if kind == 0:
            self.features.add("1 element")
            body = f"{self.params(1)} scale_param {{ axis: 0 num_axes: 0 }}"
            return self.one("Scale", x, x.shape, body)
        if kind == 1:
            body = f"{self.params(2)} scale_param {{ bias_term: true }}"
            return self.one("Scale", x, x.shape, body)
        if kind == 2:
            return self.one("Bias", x, x.shape, self.params(1))
        self.features.add("Parameter")
        values, top = self.fresh("v"), self.fresh("k")
        shape = " ".join(f"dim: {d}" for d in x.shape)
        body = f"{self.params(1)} parameter_param {{ shape {{ {shape} }} }}"
        self.add("Parameter", [], [values], body)
        self.add("Bias", [x.name, values], [top], "bias_param { axis: 1 }")
        return Top(top, x.shape)

    def act(self, x: Top) -> Top:
        kind = self.rng.choice(["ReLU", "TanH", "Sigmoid", "ELU", "PReLU", "PReLU"])
        in_place = self.chance(0.6) and x.name not in ("data", *self.read)
        body = ""
        if kind == "PReLU":
            self.features.add("PReLU")
            common = self.chance(0.4)
            if common:
                self.features.add("1 element")
            body = f"{self.params(1)} prelu_param {{ channel_shared: {boolean(common)} }}"
        if not in_place:
            return self.one(kind, x, x.shape, body)
        self.add(kind, [x.name], [x.name], body)
        return x

    def fading(self, x: Top) -> Top:
        """A Python layer that remembers."""
        self.features.add("Python")
        body = 'python_param { module: "cluster_fuzz.python_layer" layer: "Fading" }'
        return self.one("Python", x, x.shape, body)

    def flatten(self, x: Top) -> Top:
        return x if len(x.shape) == 1 else self.one("Flatten", x, (math.prod(x.shape),))

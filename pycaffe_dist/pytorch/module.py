"""A net in TEST as the code of an nn.Module and its state_dict."""

from __future__ import annotations

import ast
import json
import keyword
import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from pycaffe_dist.layer import Layer
from pycaffe_dist.layers.accuracy import Accuracy
from pycaffe_dist.layers.loss import Loss
from pycaffe_dist.layers.silence import Silence
from pycaffe_dist.memory import Array
from pycaffe_dist.net import Net
from pycaffe_dist.pytorch.forms import form
from pycaffe_dist.version import VERSION

LEFT_OUT: tuple[type[Layer], ...] = (Loss, Accuracy, Silence)
LINE = 100  # characters


@dataclass
class Module:
    """A module as it is being written.

    Attributes:
        state: the state_dict, by name.
        grads: of each parameter in it, the layer and the number of its blob.
        left_out: layers that have no meaning in TEST.
    """

    net: Net
    made: list[str] = field(default_factory=list)  # lines of __init__
    runs: list[str] = field(default_factory=list)  # lines of forward
    state: dict[str, Array] = field(default_factory=dict)
    grads: dict[str, tuple[str, int]] = field(default_factory=dict)
    parts: set[str] = field(default_factory=set)
    left_out: list[str] = field(default_factory=list)
    attributes: set[str] = field(default_factory=lambda: {"training", "forward"})
    variables: set[str] = field(default_factory=lambda: {"self", "torch", "nn", "F"})
    inputs: dict[str, str] = field(default_factory=dict)  # blobs by their names in the code
    outputs: list[str] = field(default_factory=list)
    owners: dict[int, str] = field(default_factory=dict)  # of weights, by their memory
    out: list[tuple[int, ...]] = field(default_factory=list)  # shapes of the layer's tops
    layer: Any = None

    # -- for the forms of layers -----------------------------------------------------------------

    def submodule(self, call: str, **blobs: int) -> str:
        """Make ``call`` an attribute with the layer's name; its parameters are these blobs."""
        attribute = unique(self.layer.name, self.attributes)
        note = f"  # {self.layer.name}" if attribute != self.layer.name else ""
        self.made.append(f"self.{attribute} = {call}{note}")
        for name, number in blobs.items():
            self._parameter(attribute, name, number)
        return f"self.{attribute}"

    def buffer(self, attribute: str, **values: Array) -> None:
        for name, value in values.items():
            self.state[f"{attribute.removeprefix('self.')}.{name}"] = value

    def part(self, name: str) -> str:
        self.parts.add(name)
        return name

    def _parameter(self, attribute: str, name: str, number: int) -> None:
        blob = self.layer.blobs[number]
        key, owner = f"{attribute}.{name}", self.owners.get(_memory(blob.data))
        if owner is not None:
            self.made.append(f"self.{key} = self.{owner}  # shared")
        else:
            self.owners[_memory(blob.data)] = key
            self.grads[key] = (self.layer.name, number)
        self.state[key] = self.shaped(blob.data)

    def shaped(self, values: Array) -> Array:
        """As PyTorch has them: biases and slopes are vectors."""
        return values.reshape(-1) if values.ndim > 1 and values.shape[0] == 1 else values


def write_module(net: Net, name: str, source: str) -> tuple[str, Module]:
    """The code of a class, and what goes with it.

    Raises:
        NetError: a layer has no form in PyTorch here; it is named.
    """
    m = Module(net)
    values: dict[int, str] = {}
    ends: list[int] = []
    for i, layer in enumerate(net.layers):
        m.layer, m.out = layer, [net.blobs[t].shape for t in net.top_ids[i]]
        bottoms = net.bottom_ids[i]
        if isinstance(layer, LEFT_OUT):
            m.left_out.append(f"{layer.name} ({layer.type})")
            ends += [] if isinstance(layer, Silence) else bottoms[:1]
        elif not bottoms:
            for t in net.top_ids[i]:
                values[t] = unique(net.blob_names[t], m.variables)
                m.inputs[values[t]] = net.blob_names[t]
        else:
            _run(m, i, [values[b] for b in bottoms], values)
    read = {b for i, layer in enumerate(net.layers) for b in net.bottom_ids[i]}
    outputs = [b for b in dict.fromkeys([*net.output_ids, *ends]) if b in values]
    outputs = [b for b in outputs if values[b] not in m.inputs and (b in ends or b not in read)]
    used = " ".join(m.runs)
    m.inputs = {x: blob for x, blob in m.inputs.items() if re.search(rf"\b{x}\b", used)}
    results = {net.blob_names[b]: values[b] for b in outputs}
    m.outputs = list(results)
    return _code(m, name, source, results), m


def _run(m: Module, i: int, x: list[str], values: dict[int, str]) -> None:
    """The lines of one layer; a Split has none."""
    tops = m.net.top_ids[i]
    write = form(m.layer)
    if write is None:
        raise m.layer.error("has no form in PyTorch here")
    made = write(m, m.layer, x)
    if isinstance(made, list) and all(y in x for y in made):
        values.update(zip(tops, made, strict=True))
        return
    names = [values.get(t) or unique(m.net.blob_names[t], m.variables) for t in tops]
    values.update(zip(tops, names, strict=True))
    m.runs.append(f"{', '.join(names)} = {', '.join(made) if isinstance(made, list) else made}")


def unique(name: str, taken: set[str]) -> str:
    """A word of Python like ``name``, and none of those that are taken."""
    plain = re.sub(r"\W", "_", name, flags=re.ASCII) or "_"
    if plain[0].isdigit() or keyword.iskeyword(plain):
        plain = f"_{plain}"
    number, found = 1, plain
    while found in taken:
        number += 1
        found = f"{plain}_{number}"
    taken.add(found)
    return found


def _memory(values: Array) -> int:
    address: int = values.__array_interface__["data"][0]
    return address


# -- the text --------------------------------------------------------------------------------------


def _code(m: Module, name: str, source: str, results: dict[str, str]) -> str:
    entries = ", ".join(f"{json.dumps(blob)}: {value}" for blob, value in results.items())
    body = "\n".join(f"        {line}" for line in m.made) or "        pass"
    takes = ", ".join(f"{x}: torch.Tensor" for x in m.inputs)
    runs = "\n".join(f"        {line}" for line in m.runs)
    blobs = {x: m.net.blobs[m.net.blob_ids[blob]] for x, blob in m.inputs.items()}
    shapes = ", ".join(f"{x} {blob.shape}" for x, blob in blobs.items())
    parts = "".join(f"{text}\n\n\n" for part, text in _parts().items() if part in m.parts)
    return f'''"""{name}, written by pycaffe_dist {VERSION} from {source}.

    net = {name}()
    net.load_state_dict(safetensors.torch.load_file("....safetensors"))
    net.eval()
    outputs = net({", ".join(m.inputs)})  # by name; inputs: {shapes}
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F


{parts}class {name}(nn.Module):
    def __init__(self) -> None:
        super().__init__()
{body}

    def forward(self, {takes}) -> dict[str, torch.Tensor]:
{runs}
        return {{{entries}}}
'''


@cache
def _parts() -> dict[str, str]:
    """The source of each class and function of parts.py."""
    text = Path(__file__).with_name("parts.py").read_text()
    tree = ast.parse(text)
    kinds = (ast.ClassDef, ast.FunctionDef)
    found = [node for node in tree.body if isinstance(node, kinds)]
    return {node.name: ast.get_source_segment(text, node) or "" for node in found}


def class_name(net: str, default: str = "Net") -> str:
    """A net's name as that of a class."""
    words = re.findall(r"[A-Za-z0-9]+", net)
    name = "".join(word[:1].upper() + word[1:] for word in words)
    return name if name and not name[0].isdigit() else f"{default}{name}"


def as_state(m: Module) -> dict[str, Array]:
    """The state_dict with values in their order, float32."""
    return {k: v if v.dtype == np.int64 else np.asarray(v, np.float32) for k, v in m.state.items()}

"""What computes each layer of a run, and how its parameters travel: ``layers.json`` in its folder.

    {"engine": "onednn",
     "layers": {"conv1": {"forward_by": "jit:avx512, measured", "backward_by": "...",
                          "schemes": {"0": "sfb", "1": "sfb"}}}}

It is known once every layer has computed, so it is written after the first iteration, and at the
end, when it may be otherwise.
"""

from __future__ import annotations

import json
import logging
from collections import defaultdict
from pathlib import Path

from pycaffe_dist.aliases import Facts
from pycaffe_dist.errors import FileError
from pycaffe_dist.events import Event, SolveEnds, Updated
from pycaffe_dist.files import atomic_write
from pycaffe_dist.parallel.cluster import Cluster
from pycaffe_dist.solver import Solver

LAYERS = "layers.json"
logger = logging.getLogger(__name__)


class LayersFile:
    """Subscriber of rank 0."""

    def __init__(self, folder: str, solver: Solver) -> None:
        self.path, self.solver = Path(folder) / LAYERS, solver
        self._written = False

    def __call__(self, event: Event) -> None:
        if isinstance(event, SolveEnds) or (isinstance(event, Updated) and not self._written):
            self._written = True
            try:
                with atomic_write(self.path) as file:
                    file.write(json.dumps(facts(self.solver), indent=1).encode())
            except FileError as e:  # costs a page its words, and not the training
                logger.warning("%s", e)


def facts(solver: Solver) -> Facts:
    net, engine = solver.net, solver.context.engine
    found: dict[str, Facts] = {}
    schemes = _schemes(solver)
    for name, layer in zip(net.layer_names, net.layers, strict=True):
        forward, backward = engine.computed_by(layer)
        found[name] = {"forward_by": forward, "backward_by": backward}
        if name in schemes:
            found[name]["schemes"] = schemes[name]
    return {"engine": engine.name, "layers": found}


def _schemes(solver: Solver) -> dict[str, dict[str, str]]:
    """By layer and number of the parameter; a parameter is its owner's."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    if isinstance(solver.ranks, Cluster):
        for entry in solver.ranks.plan.entries:
            for param in entry.params:
                layer, number = solver.net.params.learnable[param].owner
                found[solver.net.layer_names[layer]][str(number)] = entry.scheme
    return found

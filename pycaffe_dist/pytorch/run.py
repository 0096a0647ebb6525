"""Run a module that `pcd export --torch` wrote: python run.py MODULE STATE IN.npz OUT.npz.

IN has the inputs, and for each output the weights of its values in the sum whose gradients are
wanted; OUT the outputs and the gradients of inputs and parameters.
"""

from __future__ import annotations

import runpy
import sys

import numpy as np
import torch

from pycaffe_dist.safetensors import read_safetensors


def main(argv: list[str]) -> int:
    source, state, given, found = argv
    names = runpy.run_path(source)
    kinds = [v for v in names.values() if isinstance(v, type) and v.__module__ == "<run_path>"]
    net = kinds[-1]()  # the parts of our own come before it
    arrays = {k: torch.from_numpy(v.copy()) for k, v in read_safetensors(state)[0].items()}
    net.load_state_dict(arrays)
    net.eval()
    with np.load(given) as values:
        saved = dict(values)
    order = [str(n) for n in saved.pop("inputs")]
    tensors = [torch.from_numpy(saved[f"in:{name}"]).requires_grad_() for name in order]
    outputs = net(*tensors)
    answer = {f"out:{name}": y.detach().numpy() for name, y in outputs.items()}
    learned = [y for y in outputs.values() if y.requires_grad]
    if learned and "gradients" in saved:
        weights = [
            torch.from_numpy(saved[f"of:{n}"]) for n, y in outputs.items() if y.requires_grad
        ]
        torch.autograd.backward(learned, weights)
        inputs = zip(order, tensors, strict=True)
        answer |= {f"in:{n}": t.grad.numpy() for n, t in inputs if t.grad is not None}
        params = net.named_parameters()
        answer |= {f"w:{n}": p.grad.numpy() for n, p in params if p.grad is not None}
    np.savez(found, **answer)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

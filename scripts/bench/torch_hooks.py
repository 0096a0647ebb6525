"""How PyTorch DDP sends gradients in fewer bytes."""

from __future__ import annotations

from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import fp16_compress_hook
from torch.distributed.algorithms.ddp_comm_hooks.powerSGD_hook import PowerSGDState, powerSGD_hook
from torch.nn.parallel import DistributedDataParallel

FEWEST_PLAIN = 2  # steps before PowerSGD begins, at the least


def compress(module: DistributedDataParallel, hook: str, plain: int = FEWEST_PLAIN) -> None:
    """Register ``fp16`` or ``powersgd`` (of rank 1, after ``plain`` steps as they are)."""
    if hook == "fp16":
        module.register_comm_hook(None, fp16_compress_hook)
    elif hook == "powersgd":
        state = PowerSGDState(None, start_powerSGD_iter=max(plain, FEWEST_PLAIN))
        module.register_comm_hook(state, powerSGD_hook)
    elif hook:
        raise ValueError(f"no hook {hook}")

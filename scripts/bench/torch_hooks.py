"""How PyTorch DDP sends gradients in fewer bytes.

DDP looks at the annotations of a hook, which must be classes: no postponed ones here.
"""

import torch
import torch.distributed as dist
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
        module.register_comm_hook(state, _in_order)
    elif hook:
        raise ValueError(f"no hook {hook}")


def _in_order(state: PowerSGDState, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
    """PowerSGD of one bucket after another.

    It sends a second and a third time when the first has come; with several buckets under way gloo
    does so in another order on each rank, and ranks end with "connection reset by peer".
    """
    done: torch.futures.Future[torch.Tensor] = torch.futures.Future()
    done.set_result(powerSGD_hook(state, bucket).wait())
    return done

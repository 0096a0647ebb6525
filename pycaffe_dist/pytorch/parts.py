"""Caffe's layers that PyTorch lacks.  `pcd export --torch` copies into a module those it uses."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F


class Scale(nn.Module):
    """x * weight + bias, both with the axes of x from ``axis`` on."""

    def __init__(self, *shape: int, axis: int = 1, weight: bool = True, bias: bool = True) -> None:
        super().__init__()
        self.axis = axis
        self.weight = nn.Parameter(torch.ones(shape)) if weight else None
        self.bias = nn.Parameter(torch.zeros(shape)) if bias else None

    def forward(self, x: torch.Tensor, factor: torch.Tensor | None = None) -> torch.Tensor:
        weight = self.weight if factor is None else factor
        if weight is not None:
            x = x * self.spread(weight, x)
        return x if self.bias is None else x + self.spread(self.bias, x)

    def spread(self, values: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        axis = self.axis if values.dim() else x.dim()
        return values.reshape(*values.shape, *[1] * (x.dim() - axis - values.dim()))


class Normalize(nn.Module):
    """Vectors of length 1, along channels or of whole items, times a weight for each channel."""

    def __init__(self, *shape: int, whole: bool = False, eps: float = 1e-10) -> None:
        super().__init__()
        self.whole, self.eps = whole, eps
        self.weight = nn.Parameter(torch.ones(shape))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        axes = tuple(range(1, x.dim())) if self.whole else (1,)
        length = torch.sqrt((x * x).sum(axes, keepdim=True) + self.eps)
        return x / length * self.weight.reshape(-1, *[1] * (x.dim() - 2))


def local_response(x: torch.Tensor, size: int, alpha: float, beta: float) -> torch.Tensor:
    """x / (1 + alpha * the mean of the squares around it, within a channel) ** beta."""
    squares = F.avg_pool2d(x * x, size, 1, size // 2, count_include_pad=True)
    return x * (1 + alpha * squares) ** -beta


def shuffle_channels(x: torch.Tensor, groups: int) -> torch.Tensor:
    n, c, *sizes = x.shape
    return x.reshape(n, groups, c // groups, *sizes).transpose(1, 2).reshape(n, c, *sizes)


def mean_variance(x: torch.Tensor, across: bool, divide: bool, eps: float) -> torch.Tensor:
    """Less its mean and, if so wanted, over its deviation, of each item or of each channel."""
    axes = tuple(range(1, x.dim())) if across else tuple(range(2, x.dim()))
    x = x - x.mean(axes, keepdim=True)
    return x / (torch.sqrt((x * x).mean(axes, keepdim=True)) + eps) if divide else x

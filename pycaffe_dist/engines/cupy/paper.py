"""What a launch must take on a device, by its bytes and operations: computed, not measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

REACHED = 0.8  # of the peaks, by good kernels: what is usually measured
REACHED_BY_OURS = 0.6  # of the peak of arithmetic, by our own products of matrices
LAUNCH = 3e-6  # seconds that a kernel takes at least


@dataclass(frozen=True)
class Device:
    """Peaks by the maker's data sheet."""

    name: str
    bandwidth: float  # bytes a second
    flops: float  # fp32 a second, fused multiply-adds counted as two
    tensor: Mapping[str, float] = field(default_factory=dict, hash=False)  # by tensor cores


DEVICES = (
    Device("A100 40 GB", 1555e9, 19.5e12, {"tf32": 156e12, "bf16": 312e12, "fp16": 312e12}),
    Device("RTX 4090", 1008e9, 82.6e12, {"tf32": 82.6e12, "bf16": 165.2e12, "fp16": 165.2e12}),
)


@dataclass(frozen=True)
class Launch:
    """A kernel, product or copy.

    Attributes:
        reached: how much of the peak of arithmetic is usual.
        precision: of a product that tensor cores make; "": of others.
    """

    name: str
    bytes: float
    flops: float
    reached: float = REACHED
    precision: str = ""

    def least(self, device: Device) -> float:
        return max(self._ideal(device))

    def expected(self, device: Device) -> float:
        return max(LAUNCH, *self._times(device))

    def bound(self, device: Device) -> str:
        """By what."""
        by_memory, by_arithmetic = self._times(device)
        if max(by_memory, by_arithmetic) < LAUNCH:
            return "launches"
        return "memory" if by_memory >= by_arithmetic else "arithmetic"

    def _times(self, device: Device) -> tuple[float, float]:
        memory, arithmetic = self._ideal(device)
        return memory / REACHED, arithmetic / self.reached

    def _ideal(self, device: Device) -> tuple[float, float]:
        """At the peaks: for the bytes, and for the operations."""
        peak = device.tensor[self.precision] if self.precision else device.flops
        return self.bytes / device.bandwidth, self.flops / peak

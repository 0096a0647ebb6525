"""What a launch must take on a device, by its bytes and operations: computed, not measured."""

from __future__ import annotations

from dataclasses import dataclass

REACHED = 0.8  # of the peaks, by good kernels: what is usually measured
REACHED_BY_OURS = 0.6  # of the peak of arithmetic, by our own products of matrices
LAUNCH = 3e-6  # seconds that a kernel takes at least


@dataclass(frozen=True)
class Device:
    """Peaks by the maker's data sheet."""

    name: str
    bandwidth: float  # bytes a second
    flops: float  # fp32 a second, fused multiply-adds counted as two


A100 = Device("A100 40 GB", 1555e9, 19.5e12)
DEVICES = (A100, Device("RTX 4090", 1008e9, 82.6e12))


@dataclass(frozen=True)
class Launch:
    """A kernel, product or copy.

    Attributes:
        reached: how much of the peak of arithmetic is usual.
    """

    name: str
    bytes: float
    flops: float
    reached: float = REACHED

    def least(self, device: Device) -> float:
        return max(self.bytes / device.bandwidth, self.flops / device.flops)

    def expected(self, device: Device) -> float:
        return max(LAUNCH, *self._times(device))

    def bound(self, device: Device) -> str:
        """By what."""
        by_memory, by_arithmetic = self._times(device)
        if max(by_memory, by_arithmetic) < LAUNCH:
            return "launches"
        return "memory" if by_memory >= by_arithmetic else "arithmetic"

    def _times(self, device: Device) -> tuple[float, float]:
        memory, arithmetic = self.bytes / device.bandwidth, self.flops / device.flops
        return memory / REACHED, arithmetic / self.reached

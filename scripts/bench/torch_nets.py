"""The nets of models/ as PyTorch modules: the same sizes, groups, windows and heads.

Parameters are registered in the order in which the prototxts have them, so that the two lists can
be laid side by side.  Written as torchvision writes its models: ReLU in place, plain NCHW.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from bench.cases import TINY_OUTPUTS


def conv_relu(inputs: int, outputs: int, kernel: int, **options: int) -> nn.Sequential:
    return nn.Sequential(nn.Conv2d(inputs, outputs, kernel, **options), nn.ReLU(inplace=True))


def conv_bn(
    inputs: int, outputs: int, kernel: int, relu: bool = True, bias: bool = False, **options: int
) -> nn.Sequential:
    """Convolution, BatchNorm with Scale, ReLU."""
    conv = nn.Conv2d(inputs, outputs, kernel, bias=bias, **options)
    rest = [nn.ReLU(inplace=True)] if relu else []
    return nn.Sequential(conv, nn.BatchNorm2d(outputs), *rest)


def max_pool(kernel: int, stride: int, padding: int = 0) -> nn.MaxPool2d:
    """Caffe's: a window that hangs over the edge counts."""
    return nn.MaxPool2d(kernel, stride, padding, ceil_mode=True)


def average_pool(kernel: int, stride: int) -> nn.AvgPool2d:
    return nn.AvgPool2d(kernel, stride, ceil_mode=True)


def fc(inputs: int, outputs: int, dropout: float) -> list[nn.Module]:
    return [nn.Linear(inputs, outputs), nn.ReLU(inplace=True), nn.Dropout(dropout)]


def lenet(outputs: tuple[int, int, int, int] = (20, 50, 500, 10), flat: int = 16) -> nn.Module:
    conv1, conv2, ip1, ip2 = outputs
    return nn.Sequential(
        nn.Conv2d(1, conv1, 5),
        max_pool(2, 2),
        nn.Conv2d(conv1, conv2, 5),
        max_pool(2, 2),
        nn.Flatten(),
        nn.Linear(conv2 * flat, ip1),
        nn.ReLU(inplace=True),
        nn.Linear(ip1, ip2),
    )


def cifar10_quick() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 32, 5, padding=2),
        max_pool(3, 2),
        nn.ReLU(inplace=True),
        conv_relu(32, 32, 5, padding=2),
        average_pool(3, 2),
        conv_relu(32, 64, 5, padding=2),
        average_pool(3, 2),
        nn.Flatten(),
        nn.Linear(1024, 64),
        nn.Linear(64, 10),
    )


def alexnet(lrn: bool = True) -> nn.Module:
    def norm() -> list[nn.Module]:
        return [nn.LocalResponseNorm(5, alpha=1e-4, beta=0.75)] if lrn else []

    return nn.Sequential(
        conv_relu(3, 96, 11, stride=4),
        *norm(),
        max_pool(3, 2),
        conv_relu(96, 256, 5, padding=2, groups=2),
        *norm(),
        max_pool(3, 2),
        conv_relu(256, 384, 3, padding=1),
        conv_relu(384, 384, 3, padding=1, groups=2),
        conv_relu(384, 256, 3, padding=1, groups=2),
        max_pool(3, 2),
        nn.Flatten(),
        *fc(256 * 6 * 6, 4096, 0.5),
        *fc(4096, 4096, 0.5),
        nn.Linear(4096, 1000),
    )


def vgg(*counts: int) -> nn.Module:
    layers: list[nn.Module] = []
    inputs = 3
    for outputs, count in zip((64, 128, 256, 512, 512), counts, strict=True):
        for _ in range(count):
            layers.append(conv_relu(inputs, outputs, 3, padding=1))
            inputs = outputs
        layers.append(max_pool(2, 2))
    head = [nn.Flatten(), *fc(512 * 7 * 7, 4096, 0.5), *fc(4096, 4096, 0.5), nn.Linear(4096, 1000)]
    return nn.Sequential(*layers, *head)


class Inception(nn.Module):
    """1x1, 3x3 and 5x5 convolutions and a pool, side by side, the larger ones on fewer channels."""

    def __init__(self, inputs: int, one: int, *sizes: int) -> None:
        super().__init__()
        reduce3, three, reduce5, five, pooled = sizes
        self.one = conv_relu(inputs, one, 1)
        self.three = nn.Sequential(
            conv_relu(inputs, reduce3, 1), conv_relu(reduce3, three, 3, padding=1)
        )
        self.five = nn.Sequential(
            conv_relu(inputs, reduce5, 1), conv_relu(reduce5, five, 5, padding=2)
        )
        self.pooled = nn.Sequential(max_pool(3, 1, 1), conv_relu(inputs, pooled, 1))

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([self.one(x), self.three(x), self.five(x), self.pooled(x)], 1)


class GoogLeNet(nn.Module):
    """With the two auxiliary heads of its training, or without."""

    def __init__(self, heads: bool) -> None:
        super().__init__()

        def norm() -> nn.Module:
            return nn.LocalResponseNorm(5, alpha=1e-4, beta=0.75)

        def head(inputs: int) -> nn.Module:
            squeeze = [average_pool(5, 3), conv_relu(inputs, 128, 1), nn.Flatten()]
            return nn.Sequential(*squeeze, *fc(2048, 1024, 0.7), nn.Linear(1024, 1000))

        self.to_4a = nn.Sequential(
            conv_relu(3, 64, 7, stride=2, padding=3),
            max_pool(3, 2),
            norm(),
            conv_relu(64, 64, 1),
            conv_relu(64, 192, 3, padding=1),
            norm(),
            max_pool(3, 2),
            Inception(192, 64, 96, 128, 16, 32, 32),
            Inception(256, 128, 128, 192, 32, 96, 64),
            max_pool(3, 2),
            Inception(480, 192, 96, 208, 16, 48, 64),
        )
        if heads:
            self.head1 = head(512)
        self.to_4d = nn.Sequential(
            Inception(512, 160, 112, 224, 24, 64, 64),
            Inception(512, 128, 128, 256, 24, 64, 64),
            Inception(512, 112, 144, 288, 32, 64, 64),
        )
        if heads:
            self.head2 = head(528)
        self.to_end = nn.Sequential(
            Inception(528, 256, 160, 320, 32, 128, 128),
            max_pool(3, 2),
            Inception(832, 256, 160, 320, 32, 128, 128),
            Inception(832, 384, 192, 384, 48, 128, 128),
            average_pool(7, 1),
            nn.Flatten(),
            nn.Dropout(0.4),
            nn.Linear(1024, 1000),
        )

    def forward(self, x: Tensor) -> Tensor | tuple[Tensor, Tensor, Tensor]:
        a = self.to_4a(x)
        d = self.to_4d(a)
        if not self.training:
            return self.to_end(d)
        return self.to_end(d), self.head1(a), self.head2(d)


class Bottleneck(nn.Module):
    def __init__(self, inputs: int, narrow: int, stride: int, widens: bool) -> None:
        super().__init__()
        wide = 4 * narrow
        if widens:
            self.shortcut: nn.Module = conv_bn(inputs, wide, 1, relu=False, stride=stride)
        else:
            self.shortcut = nn.Identity()
        self.branch = nn.Sequential(
            conv_bn(inputs, narrow, 1, stride=stride),
            conv_bn(narrow, narrow, 3, padding=1),
            conv_bn(narrow, wide, 1, relu=False),
        )
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x: Tensor) -> Tensor:
        return self.relu(self.branch(x) + self.shortcut(x))


def resnet50() -> nn.Module:
    layers: list[nn.Module] = [conv_bn(3, 64, 7, bias=True, stride=2, padding=3), max_pool(3, 2)]
    inputs = 64
    for narrow, count in ((64, 3), (128, 4), (256, 6), (512, 3)):
        for i in range(count):
            stride = 2 if i == 0 and narrow > 64 else 1
            layers.append(Bottleneck(inputs, narrow, stride, widens=i == 0))
            inputs = 4 * narrow
    return nn.Sequential(*layers, average_pool(7, 1), nn.Flatten(), nn.Linear(2048, 1000))


class Fire(nn.Module):
    def __init__(self, inputs: int, squeeze: int, expand: int) -> None:
        super().__init__()
        self.squeeze = conv_relu(inputs, squeeze, 1)
        self.one = conv_relu(squeeze, expand, 1)
        self.three = conv_relu(squeeze, expand, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        x = self.squeeze(x)
        return torch.cat([self.one(x), self.three(x)], 1)


def squeezenet() -> nn.Module:
    return nn.Sequential(
        conv_relu(3, 64, 3, stride=2),
        max_pool(3, 2),
        Fire(64, 16, 64),
        Fire(128, 16, 64),
        max_pool(3, 2),
        Fire(128, 32, 128),
        Fire(256, 32, 128),
        max_pool(3, 2),
        Fire(256, 48, 192),
        Fire(384, 48, 192),
        Fire(384, 64, 256),
        Fire(512, 64, 256),
        nn.Dropout(0.5),
        conv_relu(512, 1000, 1),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
    )


def mobilenet() -> nn.Module:
    layers: list[nn.Module] = [conv_bn(3, 32, 3, stride=2, padding=1)]
    inputs = 32
    sizes = [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *[(512, 1)] * 5]
    for outputs, stride in [*sizes, (1024, 2), (1024, 1)]:
        layers.append(conv_bn(inputs, inputs, 3, stride=stride, padding=1, groups=inputs))
        layers.append(conv_bn(inputs, outputs, 1))
        inputs = outputs
    top = [nn.AdaptiveAvgPool2d(1), nn.Conv2d(1024, 1000, 1), nn.Flatten()]
    return nn.Sequential(*layers, *top)


MODULES: dict[str, Callable[[], nn.Module]] = {
    "lenet": lenet,
    "tiny": lambda: lenet(TINY_OUTPUTS, flat=1),
    "cifar10_quick": cifar10_quick,
    "alexnet": alexnet,
    "alexnet_no_lrn": lambda: alexnet(lrn=False),
    "googlenet": lambda: GoogLeNet(heads=True),
    "googlenet_deploy": lambda: GoogLeNet(heads=False),
    "vgg16": lambda: vgg(2, 2, 3, 3, 3),
    "vgg19": lambda: vgg(2, 2, 4, 4, 4),
    "resnet50": resnet50,
    "squeezenet": squeezenet,
    "mobilenet": mobilenet,
}


def create(name: str, training: bool) -> nn.Module:
    deployed = f"{name}_deploy"
    return MODULES[name if training or deployed not in MODULES else deployed]()

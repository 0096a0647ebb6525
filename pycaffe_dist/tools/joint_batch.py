"""``pcd train --as-ranks P``: the steps of P ranks, taken by another number of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from google.protobuf.message import Message

from pycaffe_dist.errors import NetError
from pycaffe_dist.proto.caffe_pb2 import LayerParameter, NetParameter
from pycaffe_dist.proto.state import filter_net


@dataclass(frozen=True)
class Count:
    """Where the size of a batch stands: a field of a message, or an element of a repeated one."""

    message: Message
    field: str
    index: int | None = None

    @property
    def size(self) -> int:
        value = getattr(self.message, self.field)
        return int(value if self.index is None else value[self.index])

    def change(self, size: int) -> None:
        if self.index is None:
            setattr(self.message, self.field, size)
        else:
            getattr(self.message, self.field)[self.index] = size


def divided(net: NetParameter, ranks: int, as_ranks: int) -> NetParameter:
    """The training net of one of ``ranks`` that divide the joint batch of ``as_ranks``.

    A source of batch K on P ranks has K' = P*K / P' on P' of them.

    Raises:
        NetError: that is no whole number, or a source does not say its K.
    """
    net = filter_net(net)
    for layer in _sources(net):
        for count in _counts(layer):
            size = count.size * as_ranks
            if size % ranks:
                raise NetError(
                    f'layer "{layer.name}": the joint batch {size} of {as_ranks} ranks cannot be '
                    f"divided among {ranks}; take a number that divides it, or --elastic-batch "
                    "scale"
                )
            count.change(size // ranks)
    return net


def divisors(net: NetParameter, most: int) -> list[int]:
    """The numbers of ranks, up to ``most``, that can divide the joint batch of so many."""
    counts = [count.size for layer in _sources(filter_net(net)) for count in _counts(layer)]
    return [n for n in range(1, most + 1) if all(size * most % n == 0 for size in counts)]


def _sources(net: NetParameter) -> list[LayerParameter]:
    """The layers that bring batches."""
    return [layer for layer in net.layer if not layer.bottom and layer.type != "Parameter"]


def _counts(layer: LayerParameter) -> Iterator[Count]:
    """Where a source says how many items it brings."""
    found = False
    for field, message in layer.ListFields():
        if not field.name.endswith("_param") or field.name == "transform_param":
            continue
        names = message.DESCRIPTOR.fields_by_name
        if "batch_size" in names:
            yield Count(message, "batch_size")
            found = True
        for shape in message.shape if "shape" in names else ():
            yield Count(shape, "dim", 0)
            found = True
        for i in range(len(message.num) if field.name == "dummy_data_param" else 0):
            yield Count(message, "num", i)
            found = True
    if not found:
        raise NetError(
            f'layer "{layer.name}" ({layer.type}) does not say how large its batch is, so that it '
            "cannot be divided among another number of ranks: use --elastic-batch scale"
        )

"""What is done when all layers are there: several become the one that people would write."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from pycaffe_dist.aliases import Array
from pycaffe_dist.proto.caffe_pb2 import EltwiseParameter, LayerParameter, NetParameter

# Layers that may write to the blob they read, gradients included.
IN_PLACE = frozenset(
    ("ReLU", "PReLU", "Sigmoid", "TanH", "ELU", "Dropout", "BatchNorm", "Scale", "Bias", "Power")
)
_WEIGHTED = ("Convolution", "Deconvolution", "InnerProduct", "Embed", "BatchNorm", "Scale", "Bias")
# Layers whose gradients do not depend on what they have made, which so may be written over.
FORGETFUL = frozenset(("Pooling", "Concat", "Interp", "Pad", "Permute", "Tile", *_WEIGHTED))
SHARING = ("Flatten", "Reshape", "Split")  # their tops are the memory of their bottoms


def join(net: NetParameter, weights: dict[str, list[Array]], given: Sequence[str]) -> None:
    """Make one layer of two, of which the second alone reads the first's; let layers work in place.

    Args:
        net: its layers, each of which makes blobs of new names.
        weights: the parameters of each layer by its name.
        given: the blobs that stay, inputs and outputs.
    """
    joining = _Joining(net, weights, given)
    joining.flattens()
    joining.biases()
    joining.powers()
    joining.sums()
    joining.finish()
    _work_in_place(net, given)


class _Joining:
    def __init__(
        self, net: NetParameter, weights: dict[str, list[Array]], given: Sequence[str]
    ) -> None:
        self.net, self.weights = net, weights
        self.makers = {top: layer for layer in net.layer for top in layer.top}
        self.readers = Counter(bottom for layer in net.layer for bottom in layer.bottom)
        self.readers.update(given)
        self.gone: set[str] = set()

    def _pairs(self, before: str, after: str) -> Iterator[tuple[LayerParameter, LayerParameter]]:
        """A layer, and one that it follows and whose top it alone reads."""
        for second in self.net.layer:
            if second.type != after:
                continue
            for bottom in list(second.bottom):
                first = self.makers.get(bottom)
                if first is not None and first.type == before and self.readers[bottom] == 1:
                    yield first, second

    def _goes(self, gone: LayerParameter, stays: LayerParameter) -> None:
        """One layer does what two did; of two operators of one layer of ours it has the name."""
        self.gone.add(gone.name)
        self.makers[stays.top[0]] = stays
        if not stays.name.startswith((f"{gone.name}_", f"{gone.name}/")):
            return
        gone.name, stays.name = stays.name, gone.name
        self.gone ^= {gone.name, stays.name}
        if gone.name in self.weights:
            self.weights[stays.name] = self.weights.pop(gone.name)

    def finish(self) -> None:
        for i in reversed(range(len(self.net.layer))):
            if self.net.layer[i].name in self.gone:
                del self.net.layer[i]

    def flattens(self) -> None:
        """An InnerProduct flattens by itself what a Flatten would bring it."""
        for flat, layer in self._pairs("Flatten", "InnerProduct"):
            if not flat.HasField("flatten_param") and layer.inner_product_param.axis == 1:
                layer.bottom[0] = flat.bottom[0]
                self._goes(flat, layer)

    def biases(self) -> None:
        """A Scale adds a bias by itself."""
        for scale, bias in self._pairs("Scale", "Bias"):
            values, more = (self.weights.get(layer.name) for layer in (scale, bias))
            p, q = scale.scale_param, bias.bias_param
            if values and more and (p.axis, p.num_axes) == (q.axis, q.num_axes):
                p.bias_term = True
                self.weights[scale.name] = [values[0], sum(values[1:], more[0])]
                del self.weights[bias.name]
                scale.top[0] = bias.top[0]
                self._goes(bias, scale)

    def powers(self) -> None:
        """shift + scale·x within another's brackets."""
        for first, second in self._pairs("Power", "Power"):
            p, q = first.power_param, second.power_param
            if p.power == 1:
                q.shift += q.scale * p.shift
                q.scale *= p.scale
                second.bottom[0] = first.bottom[0]
                self._goes(first, second)

    def sums(self) -> None:
        """An Eltwise takes any number of bottoms, and factors of what it adds."""
        for power, layer in self._pairs("Power", "Eltwise"):
            p = power.power_param
            if p.power == 1 and p.shift == 0 and _adds(layer):
                self._put(layer, power, [p.scale])
        for first, second in self._pairs("Eltwise", "Eltwise"):
            inner, outer = first.eltwise_param, second.eltwise_param
            if inner.operation == outer.operation:
                self._put(second, first, [*inner.coeff] or [1.0] * len(first.bottom))

    def _put(self, layer: LayerParameter, gone: LayerParameter, factors: Sequence[float]) -> None:
        """Let a layer read what another read, in the place of what that made."""
        p, i = layer.eltwise_param, list(layer.bottom).index(gone.top[0])
        if _adds(layer):
            old = [*p.coeff] or [1.0] * len(layer.bottom)
            new = [*old[:i], *(old[i] * factor for factor in factors), *old[i + 1 :]]
            p.coeff[:] = new if any(factor != 1 for factor in new) else []
        layer.bottom[:] = [*layer.bottom[:i], *gone.bottom, *layer.bottom[i + 1 :]]
        self._goes(gone, layer)


def _adds(layer: LayerParameter) -> bool:
    return layer.eltwise_param.operation == EltwiseParameter.SUM


def _work_in_place(net: NetParameter, given: Sequence[str]) -> None:
    """As people write nets: a ReLU that alone reads a blob writes to it.  Its name stays."""
    makers = {top: layer for layer in net.layer for top in layer.top}
    readers = Counter(bottom for layer in net.layer for bottom in layer.bottom)
    readers.update(given)
    new: dict[str, str] = {}
    for layer in reversed(net.layer):
        may = layer.type in IN_PLACE and len(layer.bottom) == 1
        may = may and (layer.type != "Power" or layer.power_param.power == 1)
        source = layer.bottom[0] if may else ""
        for names in (layer.bottom, layer.top):
            names[:] = [new.get(name, name) for name in names]
        if may and _is_free(source, layer, makers, readers):
            new[source] = layer.bottom[0] = layer.top[0]


def _is_free(
    blob: str, layer: LayerParameter, makers: dict[str, LayerParameter], readers: Counter[str]
) -> bool:
    """Whether nobody but a layer wants what is in a blob."""
    while readers[blob] == 1 and makers[blob].type in SHARING:
        blob = makers[blob].bottom[0]
    maker = makers[blob]
    forgets = maker.type in FORGETFUL or (maker.type == "ReLU" and layer.type == "Dropout")
    forgets = forgets or (maker.type == "Eltwise" and _adds(maker))
    return readers[blob] == 1 and forgets

"""The learnable parameters of a net: who owns them, who shares them, how fast they learn."""

from __future__ import annotations

from dataclasses import dataclass, field

from pycaffe_dist.blob import Blob
from pycaffe_dist.errors import NetError
from pycaffe_dist.layer import Layer
from pycaffe_dist.proto.caffe_pb2 import ParamSpec

_UNSAID = ParamSpec()  # what a parameter has of which its layer says nothing


@dataclass
class Param:
    """One learnable blob, with the settings that all its sharers agree on."""

    blob: Blob
    name: str  # what debug output calls it: its own name or its number in the layer
    owner: tuple[int, int]  # (layer index, blob index)
    lr_mult: float
    decay_mult: float
    lr_given: bool
    decay_given: bool


@dataclass
class Params:
    """The learnable parameters in order of appearance, and which of them each layer's blobs are."""

    learnable: list[Param] = field(default_factory=list)
    ids: list[list[int]] = field(default_factory=list)  # by layer and blob: index into learnable
    _by_name: dict[str, int] = field(default_factory=dict)

    def add_layer(self, index: int, layer: Layer) -> None:
        """Enter the blobs of a layer; a name seen before shares data and diff with its owner."""
        specs = layer.layer_param.param
        self.ids.append([])
        for i, blob in enumerate(layer.blobs):
            spec = specs[i] if i < len(specs) else _UNSAID
            known = self._by_name.get(spec.name) if spec.name else None
            if known is not None:
                self._share(self.learnable[known], layer, i, spec)
                self.ids[-1].append(known)
                continue
            if spec.name:
                self._by_name[spec.name] = len(self.learnable)
            self.ids[-1].append(len(self.learnable))
            self.learnable.append(
                Param(
                    blob,
                    spec.name or str(i),
                    (index, i),
                    spec.lr_mult,
                    spec.decay_mult,
                    spec.HasField("lr_mult"),
                    spec.HasField("decay_mult"),
                )
            )

    def _share(self, owner: Param, layer: Layer, index: int, spec: ParamSpec) -> None:
        blob = layer.blobs[index]
        permissive = spec.share_mode == ParamSpec.PERMISSIVE
        fits = blob.count == owner.blob.count if permissive else blob.shape == owner.blob.shape
        if not fits:
            rule = "the same number of values" if permissive else "the same shape"
            raise NetError(
                f'layer "{layer.name}": shared parameter "{spec.name}" has the shape {blob.shape}, '
                f"its owner {owner.blob.shape}; they need {rule}"
                + ("" if permissive else " (or share_mode: PERMISSIVE and equal counts)")
            )
        blob.share_data(owner.blob)
        blob.share_diff(owner.blob)
        for what in ("lr", "decay"):
            if not spec.HasField(f"{what}_mult"):
                continue
            value = getattr(spec, f"{what}_mult")
            if getattr(owner, f"{what}_given") and getattr(owner, f"{what}_mult") != value:
                raise NetError(
                    f'layer "{layer.name}": shared parameter "{spec.name}" has {what}_mult '
                    f"{value:g} here and {getattr(owner, f'{what}_mult'):g} before"
                )
            setattr(owner, f"{what}_mult", value)
            setattr(owner, f"{what}_given", True)

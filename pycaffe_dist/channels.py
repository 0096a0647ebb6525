"""Grey images where a net was made for colour ones, or the reverse: what to say of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pycaffe_dist.aliases import Shape

if TYPE_CHECKING:
    from pycaffe_dist.layer import Layer
    from pycaffe_dist.net import Net

GREY, COLOUR = 1, 3
REMEDY = {GREY: "`pcd convert_imageset -gray`", COLOUR: "`pcd convert_imageset` without -gray"}


def in_words(channels: int) -> str:
    kind = {GREY: " (grey)", COLOUR: " (colour)"}.get(channels, "")
    return f"{channels} channel{'' if channels == 1 else 's'}{kind}"


def other_images(net: Net, layer: Layer, mine: Shape, theirs: Shape) -> str:
    """What is wrong if a layer's weights, of the shape ``mine``, are ``theirs`` in a file.

    "" unless the layer takes images, and they have one channel where the file's had three, or the
    reverse.
    """
    source = source_of(net, layer)
    if source is None or len(mine) < 2 or len(theirs) < 2 or mine[0] != theirs[0]:
        return ""
    name, found = source
    expected = found * theirs[1] // mine[1]
    if {found, expected} != {GREY, COLOUR} or mine[2:] != theirs[2:]:
        return ""
    return (
        f' The images of "{name}" have {in_words(found)}, those that the weights are made for '
        f"{in_words(expected)}. For a database of such images: {REMEDY[expected]}."
    )


def source_of(net: Net, layer: Layer) -> tuple[str, int] | None:
    """The layer that images come from, if none with parameters lies between, and their channels."""
    at = net.layers.index(layer)
    if not net.bottoms[at] or len(net.bottoms[at][0].shape) != 4:
        return None
    channels = net.bottoms[at][0].shape[1]
    while net.bottoms[at]:
        blob = net.bottoms[at][0].blob
        before = [i for i in range(at) if any(view.blob is blob for view in net.tops[i])]
        if not before or net.layers[before[-1]].blobs:
            return None
        at = before[-1]
    return net.layer_names[at], channels

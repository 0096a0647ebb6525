"""What ``pcd draw`` does: a picture by Graphviz where it is there, else an SVG of our own."""

from __future__ import annotations

import os

from pycaffe_dist.errors import MissingPartError, NetError
from pycaffe_dist.files import atomic_write
from pycaffe_dist.proto.caffe_pb2 import Phase
from pycaffe_dist.proto.nets import read_net
from pycaffe_dist.pycaffe.draw import draw_net
from pycaffe_dist.pycaffe.net_svg import net_svg

ALL = "ALL"


def draw_file(
    model: str,
    picture: str,
    rankdir: str = "LR",
    phase: str = ALL,
    display_lrm: bool = False,
    own: bool = False,
) -> str:
    """Draw the net of a prototxt.

    Args:
        model: the net.
        picture: the file to write; its ending names the format.
        rankdir: the way the net runs: LR, RL, TB or BT.
        phase: TRAIN, TEST or ALL.
        display_lrm: whether boxes show learning rate multipliers.
        own: our own SVG also where Graphviz is there.

    Returns:
        Who drew it.
    """
    net = read_net(model).net
    which = None if phase == ALL else Phase.Value(phase)
    ext = os.path.splitext(picture)[1].lstrip(".").lower()
    if not ext:
        raise NetError(f"{picture}: give it an ending that names the format, such as .svg or .png")
    if own and ext != "svg":
        raise NetError(f"{picture}: our own pictures are SVG; give a name that ends in .svg")
    drawn, by = b"", "graphviz"
    try:
        if not own:
            drawn = draw_net(net, rankdir, ext, which, display_lrm)
    except MissingPartError as e:
        if ext != "svg":
            raise MissingPartError(*e.args, "A file that ends in .svg needs neither.") from e
        own = True
    except ValueError as e:
        raise NetError(f"{model}: {e}") from e
    if own:
        by = "pycaffe_dist"
        try:
            drawn = net_svg(net, rankdir, which, display_lrm).encode()
        except ValueError as e:
            raise NetError(f"{model}: {e}") from e
    with atomic_write(picture) as file:
        file.write(drawn)
    return by

"""Where the times of a simulated net's layers come from: files of ours, or a device's figures."""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping

from pycaffe_dist.aliases import Json
from pycaffe_dist.errors import FileError, NetError
from pycaffe_dist.files import read_bytes
from pycaffe_dist.net import Net
from pycaffe_dist.parallel.plan.links import AlphaBeta, Links
from pycaffe_dist.parallel.plan.step import LayerTimes
from pycaffe_dist.parallel.plan.step import layer_times as guessed
from pycaffe_dist.parallel.simulate.hardware import Device

NO_LINK = AlphaBeta(0.0, 0.0)


def of_device(net: Net, device: Device) -> LayerTimes:
    """Every layer is bound by the device's FLOPs or by its memory."""
    return guessed(net, Links(NO_LINK, NO_LINK, device.layer_flops, device.memory))


def of_times(net: Net, path: str) -> LayerTimes:
    """What ``pcd time --json`` has measured."""
    whole = _json(path)
    try:
        rows = {
            str(row["name"]): (float(row["forward_ms"]), float(row["backward_ms"]))
            for row in whole["layers"]
        }
    except (KeyError, TypeError, ValueError) as e:
        raise FileError(f"{path}: is not what `pcd time --json` writes: {e!r}") from e
    return _by_layer(net, path, rows)


def of_trace(net: Net, path: str) -> LayerTimes:
    """What ``pcd train --trace`` has noted: the median over steps and ranks.

    A layer without backward in the trace has none.
    """
    spans: dict[tuple[str, str], list[float]] = {}
    try:
        for event in _json(path)["traceEvents"]:
            if event.get("cat") == "compute":
                name, _, direction = event["name"].rpartition(" ")
                spans.setdefault((name, direction), []).append(float(event["dur"]) / 1e3)
    except (KeyError, TypeError, ValueError, AttributeError) as e:
        raise FileError(f"{path}: is not what `pcd train --trace` writes: {e!r}") from e
    rows = {
        name: (statistics.median(ms), statistics.median(spans.get((name, "backward"), [0.0])))
        for (name, direction), ms in spans.items()
        if direction == "forward"
    }
    return _by_layer(net, path, rows)


def _json(path: str) -> Json:
    try:
        return json.loads(read_bytes(path))
    except ValueError as e:
        raise FileError(f"{path}: is no JSON file: {e}") from e


def _by_layer(net: Net, path: str, rows: Mapping[str, tuple[float, float]]) -> LayerTimes:
    missing = [name for name in net.layer_names if name not in rows]
    if missing:
        raise NetError(
            f"{path}: has no times of {len(missing)} of the net's {len(net.layer_names)} layers, "
            f'the first is "{missing[0]}": was it measured with this net, in phase TRAIN?'
        )
    both = [rows[name] for name in net.layer_names]
    return LayerTimes(tuple(f / 1e3 for f, _ in both), tuple(b / 1e3 for _, b in both))

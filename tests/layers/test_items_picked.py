"""Embed, BatchReindex and Filter within nets that have a loss: gradients in closed form.

The loss is ½ Σ y², so that ∂y = y.
"""

import numpy as np
import pytest

from pycaffe_dist.net import Net
from pycaffe_dist.proto.caffe_pb2 import NetParameter
from pycaffe_dist.proto.text import parse_text

RNG = np.random.default_rng(15)


def net_of(inputs, layers, tops):
    """Inputs by name, the layers between, and a loss on each of the tops."""
    text = [layers]
    for name, values in inputs.items():
        dims = " ".join(f"dim: {d}" for d in np.shape(values))
        shape = f"input_param {{ shape {{ {dims} }} }}"
        text.insert(0, f'layer {{ name: "{name}" type: "Input" top: "{name}" {shape} }}')
    for top in tops:
        text.append(
            f'layer {{ name: "loss_{top}" type: "Reduction" bottom: "{top}" top: "loss_{top}" '
            "reduction_param { operation: SUMSQ } loss_weight: 0.5 }"
        )
    net = Net(parse_text("\n".join(text), NetParameter()).message)
    for layer in net.layers:
        for blob in layer.blobs:
            blob.data[...] = RNG.standard_normal(blob.shape)
    for name, values in inputs.items():
        blob_of(net, name).data[...] = values
    return net


def blob_of(net, name):
    return net.blobs[net.blob_ids[name]]


def params(net, layer):
    return net.layers[net.layer_names.index(layer)].blobs


def step(net):
    net.clear_param_diffs()
    net.forward()
    net.backward()


def close(got, want):
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


BIASED = 'layer { name: "pre_%s" type: "Bias" bottom: "%s" top: "%s_b" }\n'


def test_embed():
    indices = np.array([[3, 0, 3], [8, 3, 0], [1, 1, 1], [5, 7, 8]])  # 2, 4 and 6 are not there
    layer = """layer { name: "embed" type: "Embed" bottom: "x" top: "y"
                       embed_param { input_dim: 9 num_output: 5 bias_term: true } }"""
    net = net_of({"x": indices}, layer, ["y"])
    weights, bias = params(net, "embed")
    for _ in range(2):
        step(net)
        rows = weights.data + bias.data
        counts = np.bincount(indices.ravel(), minlength=9)[:, None]
        close(blob_of(net, "y").data, rows[indices])
        close(blob_of(net, "y").diff, rows[indices])
        close(weights.diff, counts * rows)
        close(bias.diff, (counts * rows).sum(0))
        close(blob_of(net, "loss_y").data, (counts * rows**2).sum())
        indices = indices[::-1] // 2
        blob_of(net, "x").data[...] = indices


def test_batch_reindex():
    x, order = RNG.standard_normal((5, 3, 2)), np.array([4, 0, 4, 0, 1, 2, 4])  # 3 is left out
    layer = 'layer { name: "pick" type: "BatchReindex" bottom: "x_b" bottom: "p" top: "y" }'
    net = net_of({"x": x, "p": order}, BIASED % ("x", "x", "x") + layer, ["y"])
    for _ in range(2):
        step(net)
        items = x + params(net, "pre_x")[0].data[:, None]
        down = np.bincount(order, minlength=5)[:, None, None] * items
        close(blob_of(net, "y").data, items[order])
        close(blob_of(net, "x_b").diff, down)
        close(params(net, "pre_x")[0].diff, down.sum((0, 2)))
        order = np.array([3, 3, 3, 2, 2, 1, 0])
        blob_of(net, "p").data[...] = order


@pytest.mark.parametrize("column", [(), (1,), (1, 1)], ids=len)
def test_filter(column):
    x, z = RNG.standard_normal((6, 3, 2)), RNG.standard_normal((6, 2))
    layer = """layer { name: "pick" type: "Filter" bottom: "x_b" bottom: "z_b" bottom: "s"
                       top: "y" top: "w" }"""
    before = BIASED % ("x", "x", "x") + BIASED % ("z", "z", "z")
    net = net_of({"x": x, "z": z, "s": np.ones((6, *column))}, before + layer, ["y", "w"])
    for kept in ([1, 0, 1, 1, 0, 0], [0, 0, 0, 0, 0, 1], [0] * 6, [1] * 6):
        blob_of(net, "s").data.reshape(-1)[:] = kept
        step(net)
        selected = np.flatnonzero(kept)
        for bottom, top, values in (("x", "y", x), ("z", "w", z)):
            bias = params(net, f"pre_{bottom}")[0]
            items = values + bias.data.reshape(-1, *[1] * (values.ndim - 2))
            close(blob_of(net, top).data, items[selected])
            down = np.zeros_like(items)
            down[selected] = items[selected]
            close(blob_of(net, f"{bottom}_b").diff, down)
            close(bias.diff, down.sum(tuple(i for i in range(values.ndim) if i != 1)))

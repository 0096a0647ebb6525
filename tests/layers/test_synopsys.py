"""Layers that converters of TensorFlow's and ONNX's nets write."""

import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.testing import LayerCase, LayerRun, check_layer


def one(layer, shape, reference=None, **options):
    check_layer(LayerCase(layer, [shape], reference=reference, **options))


@pytest.mark.parametrize(
    ("param", "reference"),
    [
        ("begin: 0 begin: 1 end: 2 end: 4 strides: 1 strides: 2", lambda x: x[0:2, 1:4:2]),
        ("begin: 1 end: 2", lambda x: x[1:2]),
        ("begin: -1 end: -3 strides: -1 axes: 2", lambda x: x[:, :, -1:-3:-1]),
        ("begin: 1 begin: 1 end: 9 end: 9 begin_mask: 1 end_mask: 2", lambda x: x[:9, 1:]),
        ("begin: 1 begin: 2 end: 0 end: 0 shrink_axis_mask: 3", lambda x: x[1, 2]),
        (
            "begin: 1 begin: 2 begin: 3 end: 0 end: 0 end: 0 shrink_axis_mask: 7",
            lambda x: np.array(x[1, 2, 3]),
        ),
        ("begin: 0 begin: 1 end: 0 end: 3 new_axis_mask: 1", lambda x: x[None, 1:3]),
        ("begin: 0 begin: 1 end: 0 end: 3 ellipsis_mask: 1", lambda x: x[..., 1:3]),
    ],
)
def test_strided_slice(param, reference):
    one(f'type: "StridedSlice" strided_slice_param {{ {param} }}', (2, 4, 5), reference)


@pytest.mark.parametrize(
    ("param", "message"),
    [
        ("begin: 0 end: 1 end: 2", "must be as many"),
        ("begin: 0 end: 1 strides: 0", "must not be 0"),
        ("begin: 1 end: 1", "nothing of the bottom"),
        ("begin: 9 end: 0 shrink_axis_mask: 1", "out of bounds"),
        ("begin: 0 end: 1 axes: 3", "axis 3 is out of range"),
    ],
)
def test_strided_slice_refuses(param, message):
    with pytest.raises(NetError, match=message):
        LayerRun(LayerCase(f'type: "StridedSlice" strided_slice_param {{ {param} }}', [(2, 4, 5)]))


PADDINGS = " ".join(f"paddings: {p}" for p in (0, 0, 1, 2, 3, 0))
MARGINS = [(0, 0), (1, 2), (3, 0)]


def test_pad():
    one(
        f'type: "Pad" pad_param {{ {PADDINGS} constant_values: 0.5 }}',
        (2, 3, 4),
        lambda x: np.pad(x, MARGINS, constant_values=0.5),
    )


@pytest.mark.parametrize("mode", ["REFLECT", "SYMMETRIC", "EDGE", "CONSTANT"])
def test_mirror_pad(mode):
    one(
        f'type: "MirrorPad" mirror_pad_param {{ {PADDINGS} mode: "{mode}" }}',
        (2, 3, 4),
        lambda x: np.pad(x, MARGINS, mode=mode.lower()),
    )


def test_a_mirror_needs_something_to_show():
    with pytest.raises(NetError, match=r"axis 1 of the bottom .* too short for REFLECT"):
        LayerRun(
            LayerCase(
                f'type: "MirrorPad" mirror_pad_param {{ {PADDINGS} mode: "REFLECT" }}',
                [(2, 2, 4)],
            )
        )
    with pytest.raises(NetError, match="needs 2 paddings"):
        LayerRun(LayerCase('type: "Pad" pad_param { paddings: 1 }', [(2,)]))


def to_space(x, b, crd=False):
    n, c, h, w = x.shape
    if crd:
        parts = x.reshape(n, c // b**2, b, b, h, w).transpose(0, 1, 4, 2, 5, 3)
    else:
        parts = x.reshape(n, b, b, c // b**2, h, w).transpose(0, 3, 4, 1, 5, 2)
    return parts.reshape(n, c // b**2, h * b, w * b)


@pytest.mark.parametrize("order", ["NCHW", "DCR", "CRD", "NHWC"])
def test_blocks(order):
    x = np.random.default_rng(1).standard_normal((2, 8, 2, 3))
    y = to_space(x, 2, order == "CRD")
    if order == "NHWC":
        x, y = np.moveaxis(x, 1, 3).copy(), np.moveaxis(y, 1, 3).copy()
    param = f'{{ block_size: 2 data_format: "{order}" }}'
    one(f'type: "DepthToSpace" depth_to_space_param {param}', x, lambda _: y)
    one(f'type: "SpaceToDepth" space_to_depth_param {param}', y, lambda _: x)


def test_blocks_must_fit():
    with pytest.raises(NetError, match="6 channels are no multiple"):
        LayerRun(
            LayerCase(
                'type: "DepthToSpace" depth_to_space_param { block_size: 2 data_format: "NCHW" }',
                [(1, 6, 2, 2)],
            )
        )


def resized(x, out, position):
    """By definition, a pixel at a time, along the last axis."""
    size = x.shape[-1]
    y = np.empty((*x.shape[:-1], out))
    for i in range(out):
        p = np.float32(position(i, size, out))
        low, high = int(np.floor(p)), int(np.ceil(p))
        w = float(p - np.floor(p))
        low, high = (min(max(k, 0), size - 1) for k in (low, high))
        y[..., i] = (1 - w) * x[..., low] + w * x[..., high]
    return y


POSITIONS = {
    "": lambda i, size, out: i * size / out,
    "align_corners: true": lambda i, size, out: i * (size - 1) / max(out - 1, 1),
    "half_pixel_centers: true": lambda i, size, out: (i + 0.5) * size / out - 0.5,
}


@pytest.mark.parametrize("mode", POSITIONS)
@pytest.mark.parametrize("size", [(7, 5), (2, 3), (1, 2)])
def test_resize_bilinear(mode, size):
    param = f'output_height: {size[0]} output_width: {size[1]} data_format: "NCHW" {mode}'

    def reference(x):
        high = resized(x.swapaxes(2, 3), size[0], POSITIONS[mode]).swapaxes(2, 3)
        return resized(high, size[1], POSITIONS[mode])

    x = np.random.default_rng(2).standard_normal((2, 2, 4, 3))
    layer = f'type: "ResizeBilinear" resize_bilinear_param {{ {param} }}'
    np.testing.assert_allclose(
        LayerRun(LayerCase(layer, [x])).forward()[0], reference(x), atol=1e-6
    )
    one(layer, x)


NEAREST = {
    "": [0, 0, 1, 1, 2],
    "align_corners: true": [0, 1, 1, 2, 2],
    "half_pixel_centers: true": [0, 0, 1, 2, 2],
}


@pytest.mark.parametrize("mode", NEAREST)
def test_resize_nearest(mode):
    layer = f"""type: "ResizeNearestNeighbor" resize_nearest_neighbor_param {{
        scale_height: 2 output_width: 5 {mode} }}"""

    def reference(x):
        return x[:, [0, 0, 1, 1]][:, :, NEAREST[mode]]

    one(layer, (2, 2, 3, 2), reference)


REDUCTIONS = {
    "Sum": np.sum,
    "Mean": np.mean,
    "Max": np.max,
    "Min": np.min,
    "Prod": np.prod,
}


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("axes", [(1, 2), (-1,), (0,), ()])
@pytest.mark.parametrize("keep", [False, True])
def test_reduce(name, axes, keep):
    given = " ".join(f"axis: {a}" for a in axes)
    field = f"reduce_{name.lower()}_param"
    layer = f'type: "Reduce{name}" {field} {{ {given} keepdims: {str(keep).lower()} }}'
    one(
        layer,
        (2, 3, 4, 2),
        lambda x: np.asarray(REDUCTIONS[name](x, axis=axes or None, keepdims=keep)),
        tolerance=1e-5,
    )


def test_reduce_prod_knows_zeros():
    x = np.array([[2.0, 0.0, 3.0], [0.0, 0.0, 5.0]])
    run = LayerRun(LayerCase('type: "ReduceProd" reduce_prod_param { axis: 1 }', [x]))
    np.testing.assert_array_equal(run.forward()[0], [0, 0])
    run.backward([np.array([1.0, 1.0])], [True])
    np.testing.assert_array_equal(run.bottom[0].blob.diff, [[0, 6, 0], [0, 0, 0]])


def test_reduce_max_shares_among_equals():
    x = np.array([[2.0, 2.0, 1.0]])
    run = LayerRun(LayerCase('type: "ReduceMax" reduce_max_param { axis: 1 }', [x]))
    run.forward()
    run.backward([np.array([4.0])], [True])
    np.testing.assert_array_equal(run.bottom[0].blob.diff, [[2, 2, 0]])


@pytest.mark.parametrize(
    ("layer", "shape", "expected"),
    [
        ('type: "Squeeze" squeeze_param { axis: 1 }', (2, 1, 4, 1), (2, 4, 1)),
        ('type: "Squeeze" squeeze_param { axis: -1 }', (2, 1, 4, 1), (2, 1, 4)),
        ('type: "Squeeze"', (2, 1, 4, 1), (2, 4)),
        ('type: "ExpandDimsND" expand_dims_nd_param { axis: 0 axis: -1 }', (2, 4), (1, 2, 4, 1)),
    ],
)
def test_axes_of_one(layer, shape, expected):
    one(layer, shape, lambda x: x.reshape(expected), ignores_propagate_down=True)


def test_squeeze_refuses_larger_axes():
    with pytest.raises(NetError, match=r"axis 0 .* is not of size 1"):
        LayerRun(LayerCase('type: "Squeeze" squeeze_param { axis: 0 }', [(2, 1)]))


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_stack(axis):
    check_layer(
        LayerCase(
            f'type: "Stack" stack_param {{ axis: {axis} }}',
            [(2, 3)] * 3,
            reference=lambda *x: np.stack(x, axis),
        )
    )


def test_unstack():
    check_layer(
        LayerCase(
            'type: "Unstack" unstack_param { axis: 1 }',
            [(2, 3, 4)],
            tops=3,
            reference=lambda x: tuple(x[:, i] for i in range(3)),
        )
    )
    with pytest.raises(NetError, match="needs as many tops"):
        LayerRun(LayerCase('type: "Unstack" unstack_param { axis: 1 }', [(2, 3)], tops=2))


@pytest.mark.parametrize(
    ("param", "indices"),
    [
        ("indices: 2 indices: 0 indices: 2 shape: 3 axis: 1", [2, 0, 2]),
        (
            "indices: 2 indices: 0 indices: 1 indices: 1 shape: 2 shape: 2 axis: 1",
            [[2, 0], [1, 1]],
        ),
        ("indices: 1 shape: 0 axis: -2", 1),
    ],
)
def test_gather(param, indices):
    one(
        f'type: "Gather" gather_param {{ {param} }}',
        (2, 3, 4),
        lambda x: np.take(x, indices, axis=1),
    )


def test_gather_refuses():
    with pytest.raises(NetError, match="reach beyond axis 0"):
        LayerRun(LayerCase('type: "Gather" gather_param { indices: 2 shape: 1 }', [(2,)]))
    with pytest.raises(NetError, match="do not fit the shape"):
        LayerRun(LayerCase('type: "Gather" gather_param { indices: 1 shape: 2 }', [(2,)]))


def test_shape():
    one('type: "Shape"', (2, 3, 4), lambda x: np.array([2.0, 3.0, 4.0]))


@pytest.mark.parametrize("a", [False, True])
@pytest.mark.parametrize("b", [False, True])
def test_matmul(a, b):
    def turned(x, flag):
        return x.swapaxes(-1, -2) if flag else x

    flags = f"transpose_a: {str(a).lower()} transpose_b: {str(b).lower()}"
    shapes = [(2, 4, 3) if a else (2, 3, 4), (2, 5, 4) if b else (2, 4, 5)]
    check_layer(
        LayerCase(
            f'type: "MatMul" matmul_param {{ {flags} }}',
            shapes,
            reference=lambda x, y: turned(x, a) @ turned(y, b),
        )
    )


def test_one_matrix_for_all():
    check_layer(LayerCase('type: "MatMul"', [(2, 4, 3), (3, 5)], reference=np.matmul))


def test_matmul_refuses():
    with pytest.raises(NetError, match="cannot be multiplied"):
        LayerRun(LayerCase('type: "MatMul"', [(2, 3), (2, 3)]))


@pytest.mark.parametrize("affine", [True, False])
def test_layer_norm(affine):
    def normal(x):
        rows = x.reshape(len(x), -1)
        centred = rows - rows.mean(1, keepdims=True)
        deviation = np.sqrt((centred**2).mean(1, keepdims=True) + np.float32(1e-5))
        return (centred / deviation).reshape(x.shape)

    layer = f'type: "LayerNorm" layer_norm_param {{ elementwise_affine: {str(affine).lower()} }}'
    rng = np.random.default_rng(5)
    scale, shift = rng.standard_normal((2, 3, 4))
    fill = (scale, shift) if affine else ()
    one(
        layer,
        (5, 3, 4),
        lambda x: normal(x) * scale + shift if affine else normal(x),
        fill=fill,
        in_place=not affine,
    )


@pytest.mark.parametrize("axis", [1, 2, -1])
def test_log_softmax(axis):
    def reference(x):
        return x - np.log(np.exp(x).sum(axis, keepdims=True))

    one(
        f'type: "LogSoftmax" log_softmax_param {{ axis: {axis} }}',
        (2, 3, 4),
        reference,
        in_place=True,
    )


def test_log_softmax_has_a_floor():
    run = LayerRun(LayerCase('type: "LogSoftmax"', [np.array([[0.0, 1000.0]])]))
    np.testing.assert_allclose(run.forward()[0], [[np.log(1e-20), 0]])

import logging

import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.layer import Context
from pycaffe_dist.net import Net
from pycaffe_dist.proto.caffe_pb2 import Datum, NetParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.pycaffe.net import Net as PycaffeNet

SIZES = "batch_size: 2 channels: 3 height: 4 width: 5"


def build(sizes=SIZES, transform="", **context):
    text = f"""layer {{ name: "m" type: "MemoryData" top: "data" top: "label"
                        memory_data_param {{ {sizes} }} {transform} }}"""
    return Net(parse_text(text, NetParameter()).message, Context(**context))


def arrays(count=6):
    data = np.arange(count * 60, dtype=np.float32).reshape(count, 3, 4, 5)
    return data, np.arange(count, dtype=np.float32)


def test_serves_slices_round_and_round():
    net = build()
    data, labels = arrays()
    net.layers[0].set_arrays(data, labels)
    for i in [0, 2, 4, 0]:
        net.forward()
        np.testing.assert_array_equal(net.blobs[0].data, data[i : i + 2])
        np.testing.assert_array_equal(net.blobs[1].data.ravel(), labels[i : i + 2])


def test_labels_get_four_axes_at_the_first_forward():
    net = build()
    assert net.blobs[1].shape == (2,)
    net.layers[0].set_arrays(*arrays())
    net.forward()
    assert net.blobs[1].shape == (2, 1, 1, 1)


def test_arrays_are_referenced():
    net = build()
    data, labels = arrays()
    net.layers[0].set_arrays(data, labels.reshape(-1, 1, 1, 1))
    data[...] = 9
    net.forward()
    assert (net.blobs[0].data == 9).all()


def test_through_pycaffe():
    net = PycaffeNet.of(build())
    data, labels = arrays()
    net.set_input_arrays(data, labels)
    np.testing.assert_array_equal(net.forward()["data"], data[:2])


def test_new_arrays_begin_at_the_start(caplog):
    net = build(transform="transform_param { scale: 2 }")
    data, labels = arrays()
    with caplog.at_level(logging.WARNING):
        net.layers[0].set_arrays(data, labels)
    assert "does not transform array data" in caplog.text
    net.forward()
    net.layers[0].set_arrays(data, labels)
    net.forward()
    np.testing.assert_array_equal(net.blobs[0].data, data[:2])  # not scaled


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d, y: (d.transpose(0, 1, 3, 2), y), "data array must be C contiguous"),
        (lambda d, y: (d.reshape(6, -1), y), "data array must be 4-d"),
        (lambda d, y: (d.astype("f8"), y), "data array must be float32"),
        (lambda d, y: (d.tolist(), y), "data array must be a NumPy array"),
        (lambda d, y: (d.reshape(6, 5, 4, 3), y), "data array has wrong number of channels: 5"),
        (lambda d, y: (d.reshape(6, 3, 5, 4), y), "data array has wrong height: 5, not 4"),
        (lambda d, y: (d[..., :4].copy(), y), "data array has wrong width"),
        (lambda d, y: (d, y.astype("i4")), "labels array must be float32"),
        (lambda d, y: (d, y.reshape(6, 1)), "labels array must be 4-d"),
        (lambda d, y: (d, y[:4]), "data and labels must have the same first dimension: 6, 4"),
        (lambda d, y: (d[:5].copy(), y[:5]), "must be a multiple of batch size: 5"),
        (lambda d, y: (d[:0], y[:0]), "must be a multiple of batch size: 0"),
    ],
)
def test_refuses_arrays_as_pycaffe_does(change, message):
    layer = build().layers[0]
    with pytest.raises(RuntimeError, match=message) as caught:
        layer.set_arrays(*change(*arrays()))
    assert isinstance(caught.value, NetError)


def test_needs_data():
    with pytest.raises(NetError, match=r"call net\.set_input_arrays"):
        build().forward()


def test_needs_sizes():
    with pytest.raises(NetError, match="positive batch_size, channels, height and width"):
        build("batch_size: 2 channels: 3 height: 4")


def datums(count=4):
    pixels = np.arange(count * 60).reshape(count, 3, 4, 5).astype(np.uint8)
    made = [
        Datum(channels=3, height=4, width=5, data=p.tobytes(), label=i)
        for i, p in enumerate(pixels)
    ]
    return made, pixels


def test_datums_are_transformed():
    net = build(transform="transform_param { scale: 0.5 mean_value: 10 }")
    made, pixels = datums()
    net.layers[0].add_datum_vector(made)
    for i in (0, 2):
        net.forward()
        np.testing.assert_array_equal(
            net.blobs[0].data, (pixels[i : i + 2].astype("f4") - 10) * 0.5
        )
        np.testing.assert_array_equal(net.blobs[1].data.ravel(), [i, i + 1])


def test_images_are_transformed():
    net = build(transform="transform_param { scale: 2 }")
    _, pixels = datums()
    net.layers[0].add_mat_vector(list(pixels.transpose(0, 2, 3, 1)), [5, 6, 7, 8])
    net.forward()
    np.testing.assert_array_equal(net.blobs[0].data, pixels[:2].astype("f4") * 2)
    np.testing.assert_array_equal(net.blobs[1].data.ravel(), [5, 6])


def test_added_data_must_be_used_up_first():
    net = build()
    made, _ = datums()
    layer = net.layers[0]
    layer.add_datum_vector(made)
    net.forward()
    with pytest.raises(NetError, match="Can't add data until"):
        layer.add_datum_vector(made)
    with pytest.raises(NetError, match="Can't change batch_size until"):
        layer.set_batch_size(4)
    net.forward()
    layer.set_batch_size(4)
    layer.add_datum_vector(made)
    net.forward()
    assert net.blobs[0].shape == (4, 3, 4, 5)


def test_added_data_must_fill_batches_and_the_shape():
    layer = build().layers[0]
    made, _ = datums()
    for some in (made[:3], []):
        with pytest.raises(NetError, match="must be a multiple of the batch size"):
            layer.add_datum_vector(some)
    cropped = build(transform="transform_param { crop_size: 3 }")
    assert cropped.blobs[0].shape == (2, 3, 3, 3)
    with pytest.raises(NetError, match=r"gives \(3, 3, 3\), the batch takes \(3, 4, 5\)"):
        cropped.layers[0].add_datum_vector(made)


def test_dry():
    net = build(transform='transform_param { mean_file: "is not opened" }', dry=True)
    assert [blob.shape for blob in net.blobs] == [(2, 3, 4, 5), (2,)]


@pytest.mark.host
def test_a_state_with_and_without_random_numbers_fits_any_transform():
    plain, mirrored = build(), build(transform="transform_param { mirror: true }")
    states = [net.layers[0].get_state() for net in (plain, mirrored)]
    assert [sorted(state) for state in states] == [["position"], ["position", "transformer"]]
    for net in (plain, mirrored):
        for state in states:
            net.layers[0].set_state({**state, "position": 4})
            assert net.layers[0].get_state()["position"] == 4
    assert plain.layers[0].transformer.rng is None

import numpy as np
import pytest
from PIL import Image

from pycaffe_dist.data.draws import shuffle
from pycaffe_dist.errors import NetError
from pycaffe_dist.layer import Context
from pycaffe_dist.net import Net
from pycaffe_dist.proto.caffe_pb2 import TEST, NetParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.rng import draw, set_random_seed


@pytest.fixture
def images(tmp_path):
    """Six images of two sizes, each of one colour; the last has spaces in its name."""
    names = [f"i{i}.png" for i in range(5)] + ["with two spaces.png"]
    for i, name in enumerate(names):
        size = (6, 4) if i % 2 else (8, 4)
        Image.new("RGB", size, (i, 50 + i, 100 + i)).save(tmp_path / name)
    (tmp_path / "list.txt").write_text("".join(f"{n} {i}\n" for i, n in enumerate(names)))
    return tmp_path


def build(folder, settings="", transform="", phase=TEST, **context):
    text = f"""layer {{ name: "i" type: "ImageData" top: "data" top: "label"
        transform_param {{ {transform} }} image_data_param {{
            source: "{folder}/list.txt" root_folder: "{folder}/" {settings} }} }}"""
    param = parse_text(text, NetParameter()).message
    param.state.phase = phase
    return Net(param, Context(**context))


def batches(net, count):
    found = []
    for _ in range(count):
        net.forward()
        found.append([blob.data.copy() for blob in net.blobs])
    return found


def test_images_in_order_round_and_round(images):
    net = build(images, "batch_size: 4 new_height: 5 new_width: 7")
    assert [blob.shape for blob in net.blobs] == [(4, 3, 5, 7), (4,)]
    for i, (data, labels) in enumerate(batches(net, 3)):
        rows = np.arange(4 * i, 4 * i + 4) % 6
        np.testing.assert_array_equal(labels, rows)
        np.testing.assert_array_equal(data[:, :, 2, 3], rows[:, None] + [100, 50, 0])


def test_batch_size_is_1_and_shapes_vary_without_resizing(images):
    shapes = [data.shape for data, _ in batches(build(images), 3)]
    assert shapes == [(1, 3, 4, 8), (1, 3, 4, 6), (1, 3, 4, 8)]
    with pytest.raises(NetError, match=r"i1.png: an image of the shape \(3, 4, 6\)"):
        build(images, "batch_size: 2").forward()


def test_gray(images):
    net = build(images, "is_color: false batch_size: 2", "crop_size: 3")
    assert net.blobs[0].shape == (2, 1, 3, 3)
    net.forward()
    np.testing.assert_array_equal(net.blobs[0].data[:, 0, 0, 0], [40, 41])


def test_shuffles_at_the_start_and_every_time_round(images):
    set_random_seed(1701)
    net = build(images, "batch_size: 6 shuffle: true new_height: 2 new_width: 2")
    rng = np.random.RandomState(np.random.RandomState(1701).randint(0, 1 << 32, dtype=np.uint32))
    order = list(range(6))
    for data, labels in batches(net, 3):
        shuffle(rng, order)
        assert labels.tolist() == order
        np.testing.assert_array_equal(data[:, 2, 0, 0], labels)


def test_the_global_generator_is_drawn_from_in_caffes_order(images):
    set_random_seed(3)
    build(images, "shuffle: true rand_skip: 2", "mirror: true")
    # transformer, list, skip, transformer again, reading thread
    after = np.random.RandomState(3).randint(0, 1 << 32, 6, dtype=np.uint32)[-1]
    assert draw() == after


def test_skips_at_the_start(images):
    firsts = set()
    for seed in range(8):
        set_random_seed(seed)
        net = build(images, "rand_skip: 3")
        firsts.add(batches(net, 1)[0][1].item())
        skip = np.random.RandomState(seed).randint(0, 1 << 32, dtype=np.uint32) % 3
        assert net.layers[0].get_state()["line"] == skip + 1
    assert firsts == {0, 1, 2}


def test_a_label_that_is_no_number(images):
    (images / "list.txt").write_text("i0.png 0\ni1.png one\n")
    with pytest.raises(NetError, match=r"list.txt:2: the label 'one' of 'i1.png' is no whole"):
        build(images)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("new_height: 3", "new_height and new_width must be given together"),
        ("batch_size: 0", "batch_size must be positive"),
        ("rand_skip: 100000", "of 6 images to be skipped"),
        ('source: "no.txt"', "no.txt: cannot be read"),
        ('root_folder: "no/"', "no/i0.png: cannot be read"),
    ],
)
def test_refuses(images, settings, message):
    folder = f"{images}/list.txt"
    text = f"""layer {{ name: "i" type: "ImageData" top: "data" top: "label" image_data_param {{
        {"" if "source" in settings else f'source: "{folder}"'}
        {"" if "root" in settings else f'root_folder: "{images}/"'} {settings} }} }}"""
    set_random_seed(1)
    with pytest.raises(NetError, match=f'layer "i" .ImageData.: .*{message}'):
        Net(parse_text(text, NetParameter()).message)


def test_refuses_what_is_no_image(images):
    (images / "i0.png").write_text("not one")
    with pytest.raises(NetError, match=r"i0\.png: is not a readable image"):
        build(images)
    (images / "list.txt").write_text("\n")
    with pytest.raises(NetError, match="lists no images"):
        build(images)


def test_dry(images, tmp_path):
    gone = tmp_path / "gone"
    resize = "new_height: 5 new_width: 7"
    assert build(gone, resize, dry=True).blobs[0].shape == (1, 3, 5, 7)
    assert build(gone, resize, "crop_size: 4", dry=True).blobs[0].shape == (1, 3, 4, 4)
    assert build(gone, resize + " is_color: false", dry=True).blobs[0].shape == (1, 1, 5, 7)
    assert build(images, dry=True).blobs[0].shape == (1, 3, 4, 8)
    with pytest.raises(NetError, match=r"neither image_data_param.new_height .* nor transform"):
        build(gone, dry=True)

"""MS-CNN's training layers, against the same done cell by cell."""

import re

import numpy as np
import pytest
from PIL import Image

from pycaffe_dist.errors import NetError
from pycaffe_dist.layer import Context
from pycaffe_dist.net import Net
from pycaffe_dist.proto.caffe_pb2 import TEST, TRAIN, NetParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.rng import set_random_seed
from pycaffe_dist.testing import LayerCase, LayerRun

HEIGHT, WIDTH = 64, 96
BOXES = [(1, 0, 10, 8, 34, 40), (2, 0, 50, 20, 82, 44), (1, 1, 60, 44, 90, 63)]
DULL = [(0, 50, 30, 63)]
FIELDS = [(8, 24, 32), (16, 32, 24)]  # rate, width, height


@pytest.fixture
def folder(tmp_path):
    """Black images with a white, a grey and a dark box; the file that lists them."""
    lines = []
    for i in range(3):
        image = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
        for shade, (*_, x1, y1, x2, y2) in zip((250, 150, 50), BOXES, strict=True):
            image[y1:y2, x1:x2] = shade
        Image.fromarray(image).save(tmp_path / f"{i}.png")
        lines += [f"# {i}", f"{i}.png", 3, HEIGHT, WIDTH, len(BOXES)]
        lines += [" ".join(map(str, box)) for box in BOXES]
        lines += [len(DULL), *(" ".join(map(str, box)) for box in DULL)]
    (tmp_path / "list.txt").write_text("\n".join(map(str, lines)) + "\n")
    return tmp_path


def build(folder, settings="", transform="", phase=TEST, dry=False):
    fields = " ".join(f"downsample_rate: {rate} field_w: {w} field_h: {h}" for rate, w, h in FIELDS)
    text = f"""layer {{ name: "d" type: "ImageGtData" top: "data" top: "a" top: "b" top: "boxes"
        transform_param {{ {transform} }} image_gt_data_param {{ source: "{folder}/list.txt"
        root_folder: "{folder}/" output_gt_boxes: true {fields} batch_size: 2 {settings} }} }}"""
    param = parse_text(text, NetParameter()).message
    param.state.phase = phase
    return Net(param, Context(dry=dry))


def forward(net):
    net.forward()
    return [blob.data.copy() for blob in net.blobs]


def overlap(a, b):
    w = min(a[2], b[2]) - max(a[0], b[0])
    h = min(a[3], b[3]) - max(a[1], b[1])
    both = max(w, 0) * max(h, 0)
    return both / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both)


def labels_by_cells(shape, fields, boxes, dull, threshold=0.5):
    """Maps (6, h, w) of one image that fills its place; boxes are label, ignored, corners."""
    maps, most, taken = [], [(0, None)] * len(boxes), set()
    for number, (rate, fw, fh) in enumerate(fields):
        found = np.zeros((6, shape[0] // rate, shape[1] // rate))
        for y, x in np.ndindex(found.shape[1:]):
            cx, cy = (x + 0.5) * rate, (y + 0.5) * rate
            field = [cx - fw / 2, cy - fh / 2, cx + fw / 2, cy + fh / 2]
            without = 0
            for d in dull:
                w, h = (min(field[k + 2], d[k + 2]) - max(field[k], d[k]) for k in (0, 1))
                without += max(w, 0) * max(h, 0) / (fw * fh)
            if without >= 0.4:
                found[5, y, x] = 1
                continue
            overlaps = [overlap(field, box[2:]) for box in boxes]
            for g, value in enumerate(overlaps):
                if value > most[g][0]:
                    most[g] = value, number
            best = int(np.argmax(overlaps))
            found[5, y, x] = overlaps[best]
            if overlaps[best] > threshold:
                taken.add(best)
                label, ignored, x1, y1, x2, y2 = boxes[best]
                found[0, y, x] = 0 if ignored else label
                found[1:5, y, x] = (x1 + x2) / 2, (y1 + y2) / 2, x2 - x1, y2 - y1
        maps.append(found)
    for g, (label, ignored, x1, y1, x2, y2) in enumerate(boxes):
        if ignored or g in taken or most[g][0] < 0.2:
            continue
        found, rate = maps[most[g][1]], fields[most[g][1]][0]
        at = int((y1 + y2) / 2 // rate), int((x1 + x2) / 2 // rate)
        if found[(0, *at)] == 0:
            found[(0, *at)] = label
            found[(slice(1, 5), *at)] = (x1 + x2) / 2, (y1 + y2) / 2, x2 - x1, y2 - y1
    return maps


@pytest.mark.parametrize("threshold", [0.5, 0.7, 0.95])
def test_maps_of_a_whole_image(folder, threshold):
    data, a, b, boxes = forward(build(folder, f"fg_threshold: {threshold}"))
    assert data.shape == (2, 3, HEIGHT, WIDTH)
    want = labels_by_cells((HEIGHT, WIDTH), FIELDS, BOXES, DULL, threshold)
    for found, own in zip((a, b), want, strict=True):
        np.testing.assert_allclose(found, np.stack([own] * 2), atol=1e-5)
    rows = [[i, *box[2:], *box[:2]] for i in (0, 1) for box in BOXES]
    np.testing.assert_array_equal(boxes[..., 0, 0], rows)
    assert (data[0, :, 8:40, 10:34] == 250).all()


@pytest.mark.parametrize(
    "settings",
    [
        "crop_width: 64 crop_height: 48",
        "crop_width: 64 crop_height: 48 resize_width: 128 resize_height: 64",
        "do_multiple_scale: true min_scale: 16 max_scale: 64 crop_width: 64 crop_height: 64",
        """do_multiple_scale: true min_scale: 16 max_scale: 64 min_whaspect: 0.5 max_whaspect: 2
           crop_width: 64 crop_height: 64""",
    ],
)
def test_boxes_stay_on_their_objects(folder, settings):
    """Whatever is done to the image; maps agree with the boxes that are told."""
    set_random_seed(5)
    net = build(folder, settings, "mirror: true", TRAIN)
    seen = 0
    for _ in range(8):
        data, *maps, boxes = forward(net)
        for i, x1, y1, x2, y2, label, ignored in boxes[..., 0, 0]:
            cx, cy = int((x1 + x2) / 2), int((y1 + y2) / 2)
            inside = 0 <= cx < data.shape[3] and 0 <= cy < data.shape[2]
            if ignored or not inside:
                continue
            assert data[int(i), 0, cy, cx] == pytest.approx({1: 250, 2: 150}[int(label)], abs=2)
            seen += 1
        for found in maps:
            at = found[:, 0] > 0
            told = {tuple(row[[1, 2, 3, 4]].round(2)) for row in boxes[..., 0, 0]}
            for cx, cy, w, h in found[:, 1:5].transpose(0, 2, 3, 1)[at]:
                corners = np.float32([cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2])
                assert any(np.allclose(corners, box, atol=0.02) for box in told)
    assert seen > 5


def test_where_there_is_no_image_no_label_counts(folder):
    """A box of 64 made as small as 16: the image is half as large, or less."""
    set_random_seed(1)
    settings = "do_multiple_scale: true min_scale: 4 max_scale: 8"
    net = build(folder, settings, "mean_value: 10", TRAIN)
    for _ in range(6):
        data, a, _, _ = forward(net)
        outside = (data[0] == 0).all(axis=0)
        if outside.any():
            whole = outside.reshape(HEIGHT // 8, 8, WIDTH // 8, 8).all(axis=(1, 3))
            assert (a[0, 5][whole] == 1).mean() > 0.8
            return
    raise AssertionError("no image was made smaller")


def test_objects_too_small_or_outside_are_ignored(folder):
    _, _, _, boxes = forward(build(folder, "min_gt_height: 30"))
    np.testing.assert_array_equal(boxes[:3, 6, 0, 0], [0, 1, 1])
    _, a, _, _ = forward(build(folder, "min_gt_height: 30"))
    assert set(a[:, 0].reshape(-1).tolist()) == {0, 1}


def test_an_image_without_boxes(folder):
    (folder / "list.txt").write_text(f"# 0\n0.png 3 {HEIGHT} {WIDTH} 0 0\n")
    _, a, _, boxes = forward(build(folder))
    np.testing.assert_array_equal(boxes[..., 0, 0], [[0, 1, 1, 2, 2, 1, 1]])
    assert not a.any()


def test_images_with_objects_come_several_times(folder):
    net = build(folder, "fg_img_multiple: 3")
    assert len(net.layers[0].lines) == 9


def test_a_dry_net_knows_its_shapes(folder):
    sizes = "crop_width: 64 crop_height: 48"
    shapes = [blob.shape for blob in build("nowhere", sizes, dry=True).blobs]
    assert shapes == [(2, 3, 48, 64), (2, 6, 6, 8), (2, 6, 3, 4), (1, 7, 1, 1)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0 0.png", 'list.txt:1: after the beginning: "# index" was expected'),
        (f"# 0 0.png 3 {HEIGHT} {WIDTH} 1 0 0 1 1 5 5 0", "a box has a label below 1"),
        (f"# 0 0.png 3 {HEIGHT} {WIDTH} 2 1 0 1 1 5 5", "must be a whole number|ends in the"),
        ("", "lists no images"),
    ],
)
def test_wrong_window_files(folder, text, message):
    (folder / "list.txt").write_text(text)
    with pytest.raises(NetError, match=message):
        build(folder)


def test_too_small_an_image_is_told(folder):
    with pytest.raises(NetError, match=r"0\.png: an image of 64 × 96 is smaller than 80 × 64"):
        forward(build(folder, "crop_width: 64 crop_height: 80"))


# -- DetectionLoss, DetectionAccuracy --------------------------------------------------------------


def maps(classes=3, seed=0, shape=(2, 4, 5)):
    """Predictions (N, classes + 4, h, w), and labels with some objects."""
    rng = np.random.default_rng(seed)
    n, h, w = shape
    x = rng.standard_normal((n, classes + 4, h, w)) * 0.3
    labels = np.zeros((n, 6, h, w))
    labels[:, 0] = rng.integers(0, classes, shape) * (rng.random(shape) < 0.4)
    labels[:, 1:3] = rng.uniform(0, 40, (n, 2, h, w))
    labels[:, 3:5] = rng.uniform(10, 40, (n, 2, h, w))
    labels[:, 5] = np.where(labels[:, 0] > 0, 0.7, rng.uniform(0, 0.9, shape))
    return x, labels


def loss(settings, classes=3):
    return f"""type: "DetectionLoss" detection_loss_param {{ cls_num: {classes} field_w: 20
        field_h: 30 downsample_rate: 8 {settings} }}"""


def loss_by_cells(x, labels, classes=3, smooth=True, factor=1.0, weight=lambda *_: 1.0):
    """With all cells of the background that no box overlaps by 0.5."""
    cells, boxes, used, objects = 0.0, 0.0, 0, 0
    for i, y, c in np.ndindex(x.shape[0], *x.shape[2:]):
        kind = int(labels[i, 0, y, c])
        if kind == 0 and labels[i, 5, y, c] >= 0.5:
            continue
        scores = x[i, :classes, y, c]
        share = np.exp(scores[kind]) / np.exp(scores).sum()
        cells -= np.log(share) * weight(kind, labels[i, 5, y, c])
        used += 1
        if kind:
            cx, cy, w, h = labels[i, 1:5, y, c]
            wanted = (cx - (c + 0.5) * 8) / 20, (cy - (y + 0.5) * 8) / 30
            wanted = [*wanted, np.log(max(w, 2) / 20), np.log(max(h, 2) / 30)]
            limits = [0.5, 0.5, np.log(2), np.log(2)]
            d = np.abs(np.clip(x[i, classes:, y, c], -np.array(limits), limits) - wanted)
            boxes += (np.where(d < 1, d * d / 2, d - 0.5) if smooth else d * d / 2).sum()
            objects += 4
    boxes *= factor / objects
    return np.array([cells / used + boxes, boxes]).reshape(1, 1, 1, 2)


def gradient_of_the_first(case, reference, x, labels, step=1e-5):
    """Of the loss's two numbers; the second is for people."""
    run = LayerRun(case, np.float64)
    np.testing.assert_allclose(run.forward()[0], reference(x, labels), rtol=1e-6)
    run.backward([np.array([1.0, 0]).reshape(1, 1, 1, 2)], [True, False])
    gradient = run.bottom[0].blob.diff.copy()
    for at in [*np.ndindex(x.shape)][::9]:
        moved = np.zeros_like(x)
        moved[at] = step
        difference = (reference(x + moved, labels) - reference(x - moved, labels))[..., 0]
        assert gradient[at] == pytest.approx(difference.item() / (2 * step), abs=1e-6), at


@pytest.mark.parametrize("smooth", [True, False])
def test_detection_loss_of_all_cells(smooth):
    x, labels = maps()
    x[:, 3:] *= 0.3  # not cut off, where the gradient is no derivative
    layer = loss(f'sample_mode: "all" lambda: 0.5 bb_smooth: {str(smooth).lower()}')
    case = LayerCase(layer, [x, labels], bottoms=[0])
    case.reference = lambda a, b: loss_by_cells(a, b, smooth=smooth, factor=0.5)
    gradient_of_the_first(case, case.reference, x, labels)


def test_weights_by_overlap():
    x, labels = maps()
    case = LayerCase(loss('sample_mode: "all" iou_weighted: true'), [x, labels])
    want = loss_by_cells(x, labels, weight=lambda kind, iou: iou if kind else 1)
    np.testing.assert_allclose(LayerRun(case, np.float64).forward()[0], want, rtol=1e-6)


def test_objects_and_background_weigh_as_one_to_bg_multiple():
    x, labels = maps()
    objects = (labels[:, 0] > 0).sum()
    rest = ((labels[:, 0] == 0) & (labels[:, 5] < 0.5)).sum()
    count = objects + rest

    def weight(kind, _):
        return 0.25 * count / objects if kind else 0.75 * count / rest

    layer = loss('sample_mode: "all" pos_neg_weighted: true bg_multiple: 3')
    got = LayerRun(LayerCase(layer, [x, labels]), np.float64).forward()[0]
    np.testing.assert_allclose(got, loss_by_cells(x, labels, weight=weight), rtol=1e-6)


def kept(mode, labels, x, multiple=1, passes=1):
    """The cells whose scores get a gradient in each pass."""
    layer = loss(f'sample_mode: "{mode}" bg_multiple: {multiple}')
    run = LayerRun(LayerCase(layer, [x, labels]), np.float64)
    for seed in range(passes):
        run.case.seed = seed
        run.forward()
        run.backward([np.ones((1, 1, 1, 2))], [True, False])
        yield (run.bottom[0].blob.diff[:, :3] != 0).any(axis=1)


def test_the_hardest_of_the_background():
    x, labels = maps(shape=(1, 6, 8))
    free = (labels[:, 0] == 0) & (labels[:, 5] < 0.5)
    want = labels[:, 0] > 0
    for k in (1, 2):
        count = max(4, int((labels[0, 0] == k).sum() * 2))
        best = np.argsort(np.where(free, -x[:, k], np.inf).reshape(-1))[:count]
        want.reshape(-1)[best] = True
    (found,) = kept("bootstrap", labels, x, 2)
    np.testing.assert_array_equal(found, want)


@pytest.mark.parametrize("mode", ["random", "mixture"])
def test_some_of_the_background(mode):
    x, labels = maps(shape=(1, 6, 8))
    free = (labels[:, 0] == 0) & (labels[:, 5] < 0.5)
    passes = [found & (labels[:, 0] == 0) for found in kept(mode, labels, x, passes=3)]
    for found in passes:
        assert not (found & ~free).any()
        assert 0 < found.sum() < free.sum()
    assert (passes[0] != passes[1]).any()


def test_a_map_without_objects_has_no_boxes_to_learn():
    x, labels = maps()
    labels[:, 0] = 0
    got = LayerRun(LayerCase(loss('sample_mode: "all"'), [x, labels])).forward()[0].ravel()
    assert got[0] > 0
    assert got[1] == 0


def given(layer, setting):
    """A layer with another value for a field that it has, or one more."""
    name, _ = setting.split(":")
    changed, count = re.subn(rf"\b{name}: [\d.]+", setting, layer, count=1)
    return changed if count else layer.replace("_param {", f"_param {{ {setting}", 1)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("field_w: 0", "field_w must be above 0"),
        ("coord_num: 3", "coord_num is 4, not 3"),
        ("objectness: true", "objectness takes 2 classes"),
        ("cls_num: 4", r"takes predictions \(N, 8, h, w\)"),
    ],
)
def test_wrong_detection_losses(settings, message):
    with pytest.raises(NetError, match=message):
        LayerRun(LayerCase(given(loss(""), settings), [*maps()]))


def test_detection_accuracy():
    x, labels = maps()
    layer = """type: "DetectionAccuracy" detection_accuracy_param { cls_num: 3 field_w: 20
        field_h: 30 downsample_rate: 8 top_k: %d }"""
    for top_k in (1, 2):
        right, overlaps = [], []
        for i, y, c in np.ndindex(2, 4, 5):
            kind = int(labels[i, 0, y, c])
            if kind == 0 and labels[i, 5, y, c] >= 0.5:
                continue
            right.append((kind, kind in np.argsort(-x[i, :3, y, c])[:top_k]))
            if kind:
                limits = np.array([0.25, 0.25, np.log(2), np.log(2)])
                t = np.clip(x[i, 3:, y, c], -limits, limits)
                cx, cy = t[0] * 20 + (c + 0.5) * 8, t[1] * 30 + (y + 0.5) * 8
                w, h = np.exp(t[2]) * 20, np.exp(t[3]) * 30
                gx, gy, gw, gh = labels[i, 1:5, y, c]
                box = [cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2]
                truth = [gx - gw / 2, gy - gh / 2, gx + gw / 2, gy + gh / 2]
                overlaps.append(overlap(box, truth))
        run = LayerRun(LayerCase(layer % top_k, [x, labels], tops=2, bottoms=[]))
        shares, mean = (top.ravel() for top in run.forward())
        want = [np.mean([hit for _, hit in right]), np.mean([hit for kind, hit in right if kind])]
        np.testing.assert_allclose(shares, want, rtol=1e-6)
        assert mean == pytest.approx(np.mean(overlaps), rel=1e-5)


def test_accuracies_of_nothing_are_minus_1():
    x, labels = maps()
    labels[:, 0], labels[:, 5] = 0, 1
    layer = """type: "DetectionAccuracy" detection_accuracy_param { cls_num: 3 field_w: 20
        field_h: 30 downsample_rate: 8 }"""
    tops = LayerRun(LayerCase(layer, [x, labels], tops=2, bottoms=[])).forward()
    assert [float(v) for top in tops for v in top.ravel()] == [-1, -1, -1]


# -- regions ---------------------------------------------------------------------------------------

LAST = np.array([0, 0, 1, 1])  # pixels are included there
TRUTH = np.array([[0, 10, 10, 49, 49, 1, 0], [0, 60, 10, 99, 49, 2, 1], [1, 5, 5, 44, 64, 2, 0.0]])


def target(settings=""):
    return f"""type: "ProposalTarget" proposal_target_param {{ cls_num: 3 fg_thr: 0.5 bg_thr_hg: 0.4
        bg_thr_lw: 0.1 num_img_per_batch: 2 img_width: 120 img_height: 80 {settings} }}
        bbox_reg_param {{ bbox_mean: [0, 0, 0, 0] bbox_std: [0.1, 0.1, 0.2, 0.2] }}"""


def targets(settings, regions, truth=TRUTH, tops=7):
    case = LayerCase(target(settings), [np.array(regions, float), truth], tops=tops, bottoms=[])
    return [top.reshape(len(top), -1) for top in LayerRun(case).forward()]


def test_proposal_targets():
    """Objects first: a region moved by 4 pixels, and boxes of the truth; the second is ignored."""
    regions = [[0, 14, 10, 53, 49], [0, 60, 12, 99, 49], [1, 30, 30, 69, 89], [0, 0, 60, 9, 69]]
    rois, labels, shifts, inner, outer, boxes, weights = targets(
        "batch_size: 5 fg_fraction: 0.6", regions
    )
    assert labels[:, 0].tolist() == [1, 1, 2, 0, 0]
    np.testing.assert_array_equal(rois[:3, :5], [regions[0], TRUTH[0, :5], TRUTH[2, :5]])
    np.testing.assert_array_equal(rois[3:, :5], regions[2:])  # background, then the first other
    np.testing.assert_allclose(shifts[0].reshape(3, 4)[1], [-1, 0, 0, 0], atol=1e-6)
    assert not shifts[1:].any()
    np.testing.assert_array_equal(inner[:, ::4], [[0, 1, 0]] * 2 + [[0, 0, 1]] + [[0] * 3] * 2)
    np.testing.assert_array_equal(inner, outer)
    np.testing.assert_allclose(boxes[0], [1, *TRUTH[0, 1:5], 36 / 44], rtol=1e-6)
    assert not boxes[3:].any()
    assert weights[:, 0] == pytest.approx([1] * 5)


def test_objects_of_proposals_weigh_as_much_as_they_overlap():
    regions = [[0, 14, 10, 53, 49]]
    *_, weights = targets("batch_size: 4 fg_fraction: 0.5 iou_weighted: true", regions)
    assert weights.sum() == pytest.approx(4)
    assert weights[:2].sum() == pytest.approx(2)


def test_regions_that_are_missing_are_drawn():
    set_random_seed(2)
    rois, labels, *_ = targets("batch_size: 40", [[0, 0, 60, 9, 69]], tops=6)
    assert (labels[:2, 0] > 0).all()
    assert not labels[2:].any()
    made = rois[3:]
    assert set(made[:, 0]) == {0, 1}
    assert (made[:, 1:] >= 0).all()
    assert (made[:, 3:] - made[:, 1:3] >= 31).all()
    for region in made:
        for box in TRUTH[TRUTH[:, 0] == region[0]]:
            assert overlap(region[1:] + LAST, box[1:5] + LAST) < 0.5


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("bg_thr_hg: 0.5", "fg_thr must be above bg_thr_hg"),
        ("fg_fraction: 2", "fg_fraction is 0 to 1"),
        ("img_width: 20", "regions too few: give img_width"),
        ("cls_num: 2", "of no class from 1 to 1"),
    ],
)
def test_wrong_proposal_targets(settings, message):
    with pytest.raises(NetError, match=message):
        LayerRun(
            LayerCase(given(target(), settings), [np.array([[0, 0, 60, 9, 69.0]]), TRUTH], tops=6)
        ).forward()


@pytest.mark.parametrize("aware", ["true", "false"])
def test_bbox_accuracy(aware):
    """The shift of a class brings the second region onto its box; the third is the box itself."""
    regions = np.array([[0, 0, 0, 19, 19], [0, 10, 10, 49, 49], [0, 10, 10, 49, 49.0]])
    boxes = np.array([[0, 0, 0, 0, 0, 0], [1, 14, 10, 53, 49, 0.8], [1, 10, 10, 49, 49, 1.0]])
    shifts = np.zeros((3, 8))
    shifts[1, 4] = 1
    layer = f"""type: "BboxAccuracy" bbox_reg_param {{ cls_aware: {aware}
        bbox_mean: [0, 0, 0, 0] bbox_std: [0.1, 0.1, 0.2, 0.2] }}"""
    run = LayerRun(LayerCase(layer, [shifts, regions, boxes], tops=2, bottoms=[]))
    behind, before = (float(top.ravel()[0]) for top in run.forward())
    assert behind == pytest.approx(1, abs=1e-6)
    assert before == pytest.approx(36 / 44)
    run.inputs[2][...] = 0
    assert [float(top.ravel()[0]) for top in run.forward()] == [-1, -1]

import logging
from pathlib import Path

import numpy as np
import pytest

from pycaffe_dist.data.lmdb_writer import image_record, write_lmdb
from pycaffe_dist.errors import NetError
from pycaffe_dist.layer import Context
from pycaffe_dist.net import Net
from pycaffe_dist.proto.caffe_pb2 import TEST, TRAIN, NetParameter, SolverParameter
from pycaffe_dist.proto.nets import read_net
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.solver import Solver
from pycaffe_dist.tools.fake_data import fake_data

ROOT = Path(__file__).parents[3]
MODELS = sorted(ROOT.glob("models/*/*train_val.prototxt"))
STAGES = {"mnist_autoencoder": "test-on-test"}
SMALL = 600_000  # parameters of the nets that are trained here; scripts train the others

DATA = """layer { name: "d" type: "Data" top: "data" top: "label"
  transform_param { crop_size: 8 scale: 0.5 mean_value: 100 }
  data_param { source: "nowhere" batch_size: 6 backend: LMDB } }
"""
IP = """layer { name: "ip" type: "InnerProduct" bottom: "data" top: "ip"
  inner_product_param { num_output: 7 weight_filler { type: "xavier" } } }
"""


def net(*layers):
    return parse_text("".join(layers), NetParameter(), "net").message


def tops(net):
    """(shape, kind, min, max) of each top of the fake layers."""
    return {
        top: (tuple(shape.dim), filler.type, filler.min, filler.max)
        for layer in net.layer
        if layer.type == "FakeData"
        for top, shape, filler in zip(
            layer.top,
            layer.dummy_data_param.shape,
            layer.dummy_data_param.data_filler,
            strict=True,
        )
    }


def loss(type, *bottoms, settings=""):
    named = " ".join(f'bottom: "{b}"' for b in bottoms)
    return f'layer {{ name: "loss" type: "{type}" {named} top: "loss" {settings} }}\n'


def test_images_and_classes():
    given = net(DATA, IP, loss("SoftmaxWithLoss", "ip", "label"))
    kept = given.SerializeToString()
    assert tops(fake_data(given)) == {
        "data": ((6, 3, 8, 8), "uniform", -50, 77.5),
        "label": ((6,), "integer", 0, 7),
    }
    assert given.SerializeToString() == kept


def test_batch_size():
    fake = fake_data(net(DATA, IP, loss("SoftmaxWithLoss", "ip", "label")), batch_size=2)
    assert [shape for shape, *_ in tops(fake).values()] == [(2, 3, 8, 8), (2,)]
    with pytest.raises(NetError, match="a batch of 0: give 1 or more"):
        fake_data(fake, batch_size=0)


def test_targets():
    fake = fake_data(net(DATA, IP, loss("EuclideanLoss", "ip", "label")))
    assert tops(fake)["label"][:2] == ((6, 7), "gaussian")
    fake = fake_data(net(DATA, IP, loss("SigmoidCrossEntropyLoss", "ip", "label")))
    assert tops(fake)["label"] == ((6, 7), "uniform", 0, 1)


@pytest.mark.parametrize(
    ("type", "settings", "classes"),
    [
        ("FocalLoss", "", 7),
        ("GeneralContrastiveLoss", "", 7),
        ("CenterLoss", "center_loss_param { num_output: 4 }", 4),
        ("MarginInnerProduct", "margin_inner_product_param { num_output: 5 }", 5),
    ],
)
def test_labels_of_forks(type, settings, classes):
    fake = fake_data(net(DATA, IP, loss(type, "ip", "label", settings=settings)))
    assert tops(fake)["label"] == ((6,), "integer", 0, classes)


@pytest.mark.parametrize("type", ["WarpCTCLoss", "CTCGreedyDecoder"])
def test_labels_that_are_sequences(type):
    conv = """layer { name: "c" type: "Convolution" bottom: "data" top: "c"
      convolution_param { num_output: 5 kernel_h: 8 kernel_w: 1 weight_filler { type: "xavier" } } }
    layer { name: "t" type: "Transpose" bottom: "c" top: "t"
      transpose_param { dim: 3 dim: 0 dim: 1 dim: 2 } }
    """
    fake = fake_data(net(DATA, conv, loss(type, "t", "label")))
    assert tops(fake)["label"] == ((6, 2), "integer", 0, 5)


def test_labels_with_what_says_how_long_sequences_are():
    """A source of scores (6, 3, 8), which are steps, sequences and classes."""
    source = DATA.replace('"Data"', '"HDF5Data"').replace('top: "label"', 'top: "m" top: "label"')
    flat = """layer { name: "r" type: "Reshape" bottom: "data" top: "s"
      reshape_param { shape { dim: 12 dim: 3 dim: -1 } } }
    """
    found = tops(fake_data(net(source, flat, loss("CTCLoss", "s", "m", "label"))))
    assert found["m"][:2] == ((12, 3), "marks")
    assert found["label"] == ((3, 3), "integer", 0, 31)  # the last of 32 classes is the blank
    source = source.replace('top: "m"', 'top: "m" top: "count"')
    found = tops(fake_data(net(source, flat, loss("WarpCTCLoss", "s", "m", "count", "label"))))
    assert (found["m"], found["count"]) == (((3,), "integer", 12, 13), ((3,), "integer", 3, 4))


SSD = """layer { name: "d" type: "AnnotatedData" top: "data" top: "label"
  transform_param { resize_param { prob: 1 resize_mode: WARP height: 16 width: 24 } }
  data_param { source: "nowhere" batch_size: 3 backend: LMDB } }
layer { name: "loc" type: "Convolution" bottom: "data" top: "loc"
  convolution_param { num_output: 12 kernel_size: 3 pad: 1 stride: 8 } }
layer { name: "conf" type: "Convolution" bottom: "data" top: "conf"
  convolution_param { num_output: 15 kernel_size: 3 pad: 1 stride: 8 } }
layer { name: "p" type: "Permute" bottom: "loc" top: "p" permute_param { order: [0, 2, 3, 1] } }
layer { name: "q" type: "Permute" bottom: "conf" top: "q" permute_param { order: [0, 2, 3, 1] } }
layer { name: "fp" type: "Flatten" bottom: "p" top: "fp" }
layer { name: "fq" type: "Flatten" bottom: "q" top: "fq" }
layer { name: "prior" type: "PriorBox" bottom: "loc" bottom: "data" top: "prior"
  prior_box_param { min_size: 8 aspect_ratio: 2 variance: 0.1 } }
"""


def test_boxes_of_ssd():
    settings = "multibox_loss_param { num_classes: 5 } propagate_down: [true, true, false, false]"
    ssd = net(SSD, loss("MultiBoxLoss", "fp", "fq", "prior", "label", settings=settings))
    fake = fake_data(ssd)
    assert tops(fake)["data"][0] == (3, 3, 16, 24)
    assert tops(fake)["label"] == ((1, 1, 6, 8), "boxes", 1, 5)
    train_two(fake, "")


def test_regions_and_their_targets():
    text = """layer { name: "d" type: "Python" top: "data" top: "rois" top: "labels" top: "targets"
      top: "inside" top: "outside" python_param { module: "nowhere" layer: "L" } }
    layer { name: "pool" type: "ROIPooling" bottom: "data" bottom: "rois" top: "pool"
      roi_pooling_param { pooled_h: 2 pooled_w: 2 spatial_scale: 1 } }
    """
    cls = IP.replace('"data"', '"pool"')
    box = cls.replace('"ip"', '"box"').replace("7", "28")
    second = loss("SmoothL1Loss", "box", "targets", "inside", "outside").replace('"loss"', '"l2"')
    found = tops(fake_data(net(text, cls, box, loss("SoftmaxWithLoss", "ip", "labels"), second)))
    assert found["rois"][:2] == ((2, 5), "rois")
    assert found["labels"] == ((2,), "integer", 0, 7)
    assert found["targets"][:2] == ((2, 28), "gaussian")
    assert found["inside"] == found["outside"] == ((2, 28), "uniform", 0, 1)


def test_a_label_for_each_pixel_of_the_image():
    source = """layer { name: "d" type: "ImageSegData" top: "data" top: "label"
      transform_param { crop_height: 9 crop_width: 17 } image_data_param { batch_size: 2 } }
    layer { name: "small" type: "Interp" bottom: "label" top: "small"
      interp_param { shrink_factor: 8 } }
    layer { name: "c" type: "Convolution" bottom: "data" top: "c"
      convolution_param { num_output: 5 kernel_size: 1 stride: 8 } }
    """
    found = tops(fake_data(net(source, loss("SoftmaxWithLoss", "c", "small"))))
    assert found["data"][0] == (2, 3, 9, 17)
    assert found["label"] == ((2, 1, 9, 17), "integer", 0, 5)


def test_targets_of_forks():
    fake = fake_data(net(DATA, IP, loss("DiceCoefLoss", "ip", "label")))
    assert tops(fake)["label"] == ((6, 7), "uniform", 0, 1)
    source = DATA.replace("Data", "HDF5Data").replace('top: "label"', 'top: "label" top: "w"')
    fake = fake_data(net(source, IP, loss("WeightedEuclideanLoss", "ip", "label", "w")))
    assert tops(fake)["label"][:2] == ((6, 7), "gaussian")
    assert tops(fake)["w"] == ((6, 7), "uniform", 0, 1)


def test_a_label_for_each_pixel():
    conv = """layer { name: "c" type: "Convolution" bottom: "data" top: "c"
      convolution_param { num_output: 5 kernel_size: 3 } }"""
    fake = fake_data(net(DATA, conv, loss("SoftmaxWithLoss", "c", "label")))
    assert tops(fake)["label"] == ((6, 6, 6), "integer", 0, 5)


def test_the_axis_of_the_classes():
    setting = "softmax_param { axis: 2 }"
    fake = fake_data(net(DATA, loss("SoftmaxWithLoss", "data", "label", settings=setting)))
    assert tops(fake)["label"] == ((6, 3, 8), "integer", 0, 8)


def test_the_fewest_classes_count():
    more = IP.replace('"ip"', '"ip2"').replace("7", "4")
    second = loss("SoftmaxWithLoss", "ip2", "label").replace('"loss"', '"loss2"')
    fake = fake_data(net(DATA, IP, more, loss("SoftmaxWithLoss", "ip", "label"), second))
    assert tops(fake)["label"] == ((6,), "integer", 0, 4)


def test_pairs():
    pair = """layer { name: "s" type: "Slice" bottom: "data" top: "a" top: "b"
      slice_param { axis: 2 } }
    layer { name: "fa" type: "Flatten" bottom: "a" top: "fa" }
    layer { name: "fb" type: "Flatten" bottom: "b" top: "fb" }
    """
    fake = fake_data(net(DATA, pair, loss("ContrastiveLoss", "fa", "fb", "label")))
    assert tops(fake)["label"] == ((6,), "integer", 0, 2)


def test_several_labels_in_one_blob():
    cut = """layer { name: "s" type: "Slice" bottom: "label" top: "l0" top: "l1"
      slice_param { axis: 1 slice_point: 1 } }
    """
    second = loss("SoftmaxWithLoss", "ip", "l1").replace('"loss"', '"loss2"')
    fake = fake_data(net(DATA, IP, cut, loss("SoftmaxWithLoss", "ip", "l0"), second))
    assert tops(fake)["label"] == ((6, 2), "integer", 0, 7)


def test_words_and_marks():
    text = """layer { name: "d" type: "HDF5Data" top: "words" top: "cont" top: "next"
      hdf5_data_param { source: "nowhere" batch_size: 4 } }
    layer { name: "e" type: "Embed" bottom: "words" top: "e"
      embed_param { num_output: 3 input_dim: 11 } }
    layer { name: "l" type: "LSTM" bottom: "e" bottom: "cont" top: "l"
      recurrent_param { num_output: 5 } }
    layer { name: "ip" type: "InnerProduct" bottom: "l" top: "ip"
      inner_product_param { num_output: 11 axis: 2 } }
    """ + loss("SoftmaxWithLoss", "ip", "next", settings="softmax_param { axis: 2 }")
    found = tops(fake_data(net(text)))
    assert found["words"][1:] == ("integer", 0, 11)
    assert found["cont"][1:] == ("integer", 0, 2)
    assert found["next"][1:] == ("integer", 0, 11)
    assert found["cont"][0] == found["next"][0] == found["words"][0] == (4, 4)


def test_what_nothing_takes_and_unknown_sources():
    text = DATA.replace('"Data"', '"SomethingElseData"').replace("data_param", "memory_data_param")
    text = text.replace('source: "nowhere"', "").replace("backend: LMDB", "")
    assert tops(fake_data(net(text, IP)))["label"][0] == (6,)


def test_images_whose_columns_are_the_steps_of_sequences():
    """ContinuationIndicator is no source: it says how many steps there are."""
    given = net(
        'layer { name: "d" type: "HDF5Data" top: "data" top: "label" '
        'hdf5_data_param { source: "nowhere" batch_size: 2 } }',
        'layer { name: "i" type: "ContinuationIndicator" top: "marks" '
        "continuation_indicator_param { time_step: 20 batch_size: 2 } }",
        'layer { name: "p" type: "Pooling" bottom: "data" top: "p" pooling_param { stride_w: 2 '
        "kernel_w: 2 kernel_h: 4 stride_h: 4 } }",
        'layer { name: "t" type: "Permute" bottom: "p" top: "t" '
        "permute_param { order: 3 order: 0 order: 1 order: 2 } }",
        'layer { name: "r" type: "LSTM" bottom: "t" bottom: "marks" top: "r" '
        "recurrent_param { num_output: 5 } }",
        loss(
            "CtcLoss",
            "r",
            "label",
            settings="ctc_loss_param { blank_label: 4 alphabet_size: 5 time_step: 20 }",
        ),
    )
    found = tops(fake_data(given))
    assert found["data"][0] == (2, 3, 32, 40)
    assert found["label"][:2] == ((2, 5), "integer") and "marks" not in found


def test_the_batch_of_a_source_that_does_not_say_it():
    """Python layers of LRCN's: what their labels become tells how many there are."""
    given = net(
        'layer { name: "d" type: "Python" top: "data" top: "label" top: "marks" '
        'python_param { module: "sequence_input_layer" layer: "videoReadTrain_RGB" } }',
        IP,
        *(
            f'layer {{ name: "{top}" type: "Reshape" bottom: "{bottom}" top: "{top}" '
            f"reshape_param {{ shape {{ {sizes} }} }} }}"
            for bottom, top, sizes in (
                ("ip", "steps", "dim: 4 dim: 3 dim: 7"),
                ("label", "labels", "dim: 4 dim: 3"),
                ("marks", "cont", "dim: 4 dim: 3"),
            )
        ),
        'layer { name: "r" type: "LSTM" bottom: "steps" bottom: "cont" top: "r" '
        "recurrent_param { num_output: 5 } }",
        loss("SoftmaxWithLoss", "r", "labels", settings="softmax_param { axis: 2 }"),
    )
    found = tops(fake_data(given))
    assert found["data"][0][0] == 12
    assert [np.prod(found[top][0]) for top in ("label", "marks")] == [12, 12]


def test_a_loss_with_a_single_class_gets_its_label():
    single = IP.replace("num_output: 7", "num_output: 1")
    given = net(DATA, single, loss("SoftmaxWithLoss", "ip", "label"))
    assert tops(fake_data(given))["label"] == ((6,), "integer", 0, 1)


@pytest.mark.parametrize(("settings", "frames"), [("new_length: 4", 4), ("", 16)])
def test_clips_of_a_source_that_nobody_knows(settings, frames):
    """C3D's forks have sources of their own; what reads them says that they give clips."""
    given = net(
        'layer { name: "d" type: "VideoOfSomebody" top: "data" top: "label" '
        f"image_data_param {{ batch_size: 2 {settings} }} transform_param {{ crop_size: 12 }} }}",
        'layer { name: "c" type: "Convolution3D" bottom: "data" top: "c" convolution_param { '
        "num_output: 2 kernel_size: 3 kernel_depth: 2 } }",
        loss("EuclideanLoss", "c", "label"),
    )
    assert {top: shape for top, (shape, *_) in tops(fake_data(given)).items()} == {
        "data": (2, 3, frames, 12, 12),
        "label": (2, 2, frames - 1, 10, 10),
    }


def test_rules_stay_and_phases_have_their_own():
    train = DATA.replace('"d"', '"d" include { phase: TRAIN }')
    test = DATA.replace('"d"', '"d" include { phase: TEST not_stage: "late" }').replace("6", "9")
    later = DATA.replace('"d"', '"e" include { phase: TEST stage: "late" }')
    fake = fake_data(net(train, test, later, IP, loss("SoftmaxWithLoss", "ip", "label")))
    assert [layer.type for layer in fake.layer[:3]] == ["FakeData"] * 3
    assert [layer.include[0].phase for layer in fake.layer[:3]] == [TRAIN, TEST, TEST]
    assert [layer.dummy_data_param.shape[1].dim[0] for layer in fake.layer[:3]] == [6, 9, 6]


def test_shapes_of_data_that_are_there(tmp_path):
    write_lmdb(tmp_path / "db", [image_record("0", np.zeros((2, 5, 9), np.uint8), 0)])
    here = DATA.replace("nowhere", str(tmp_path / "db"))
    here = here.replace("crop_size: 8 ", "").replace("mean_value: 100", "")
    fake = fake_data(net(here, IP, loss("SoftmaxWithLoss", "ip", "label")))
    assert tops(fake)["data"] == ((6, 2, 5, 9), "uniform", 0, 127.5)


def test_a_net_that_needs_a_certain_shape():
    # 784 values come back: only one of the usual shapes has as many.
    back = IP.replace("7 ", "784 ") + 'layer { name: "f" type: "Flatten" bottom: "data" top: "f" }'
    text = DATA.replace("crop_size: 8 ", "")
    fake = fake_data(net(text, back, loss("EuclideanLoss", "ip", "f")))
    assert tops(fake)["data"][0] == (6, 1, 28, 28)


def test_no_shape_will_do():
    broken = (
        IP
        + """layer { name: "r" type: "Reshape" bottom: "ip" top: "r"
      reshape_param { shape { dim: 0 dim: 5 } } }"""
    )
    with pytest.raises(NetError, match=r'no fake data for "d": .* With the first, \(3, 8, 8\): '):
        fake_data(net(DATA, broken))


def test_nothing_to_replace():
    text = 'layer { name: "i" type: "Input" top: "i" input_param { shape { dim: 2 dim: 3 } } }'
    assert fake_data(net(text)) == net(text)


def test_it_says_nothing(caplog):
    with caplog.at_level(logging.INFO):
        fake_data(net(DATA, IP, loss("SoftmaxWithLoss", "ip", "label")))
    assert not caplog.records


# -- our models ------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", MODELS, ids=lambda p: p.parent.name)
def test_models(path, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # away from any data
    fake = fake_data(read_net(path).net, batch_size=2)
    stage = STAGES.get(path.parent.name, "")
    for phase in (TRAIN, TEST):
        fake.state.phase = phase
        fake.state.stage[:] = [stage] if phase == TEST else []
        built = Net(fake, Context(dry=True))
        sources = [layer for layer in built.layers if layer.type == "FakeData"]
        assert sources
        batch = 1 if path.parent.name == "faster_rcnn_zf" else 2  # images of many sizes
        assert all(layer.layer_param.dummy_data_param.shape[0].dim[0] == batch for layer in sources)
    size = sum(blob.count for layer in built.layers for blob in layer.blobs)
    if size < SMALL and len(built.layers) < 80:
        fake.ClearField("state")
        train_two(fake, stage)


def train_two(fake, stage):
    settings = 'base_lr: 0.0001 lr_policy: "fixed" max_iter: 2 random_seed: 1 test_iter: 1 '
    settings += "test_interval: 2 test_initialization: false snapshot_after_train: false "
    solver = parse_text(settings, SolverParameter(), "solver").message
    solver.net_param.CopyFrom(fake)
    solver.test_state.add(stage=[stage] if stage else [])
    run = Solver(solver, Context())
    run.solve()
    assert np.isfinite(run.net.forward())


def test_a_template_without_its_number_of_classes_gets_one():
    net = parse_text(
        'layer { name: "d" type: "Data" top: "data" top: "label" data_param { batch_size: 2 } '
        "transform_param { crop_size: 8 } } "
        'layer { name: "ip" type: "InnerProduct" bottom: "data" top: "ip" } '
        'layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label" }',
        NetParameter(),
    ).message
    assert fake_data(net).layer[1].inner_product_param.num_output == 10
    assert not net.layer[1].inner_product_param.num_output

# ruff: noqa: E501
import json
import math
from pathlib import Path

import pytest
from google.protobuf import text_format

from pycaffe_dist.errors import FileError, PrototxtError
from pycaffe_dist.proto.caffe_pb2 import (
    TEST,
    BlobProto,
    Datum,
    LayerParameter,
    NetParameter,
    SolverParameter,
    V1LayerParameter,
)
from pycaffe_dist.proto.cursor import MOST_PROBLEMS
from pycaffe_dist.proto.text import format_text, parse_text, read_text

ROOT = Path(__file__).resolve().parents[3]
ZOO = ROOT.parent / "shared" / "zoo"


def parse(text, kind=LayerParameter):
    return parse_text(text, kind(), "net.prototxt").message


def problems(text, kind=LayerParameter):
    """(line, column, message) of everything that is wrong with ``text``."""
    with pytest.raises(PrototxtError) as e:
        parse_text(text, kind(), "net.prototxt")
    return [(p.line, p.column, p.message) for p in e.value.problems]


# -- grammar ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", LayerParameter()),
        ("name: 'a' type: \"b\"", LayerParameter(name="a", type="b")),
        ("name: 'a' \"b\"\n'c'", LayerParameter(name="abc")),
        (r'name: "\303\251\x41\n\"\u00e9"', LayerParameter(name='éA\n"é')),
        ("name:'a',type:'b';top:'c'", LayerParameter(name="a", type="b", top=["c"])),
        ("top: ['a', 'b' 'c'] top: 'd' bottom: []", LayerParameter(top=["a", "bc", "d"])),
        ("param { name: 'a' } param: { name: 'b' }", LayerParameter(param=[{"name": "a"}, {"name": "b"}])),
        ("param < name: 'a' >", LayerParameter(param=[{"name": "a"}])),
        ("param [{ name: 'a' }, < name: 'b' >] param: []", LayerParameter(param=[{"name": "a"}, {"name": "b"}])),
        ("relu_param {}", LayerParameter(relu_param={})),
        ("# only\nname: 'a' # said: 'b'\n# name: 'c'", LayerParameter(name="a")),
        ("\ufeffname: 'a'", LayerParameter(name="a")),
        ("name: 'a'\r\ntype: 'b'\r\n", LayerParameter(name="a", type="b")),
        ("phase: TEST", LayerParameter(phase="TEST")),
        ("phase: 1", LayerParameter(phase=TEST)),
        ("loss_weight: [- 5, -\n5, -0]", LayerParameter(loss_weight=[-5, -5, -0.0])),
        ("loss_weight: [1.f, 1F, 1.e3f, .5, 5., 1e-2, 2E+1]", LayerParameter(loss_weight=[1, 1, 1000, 0.5, 5, 1e-2, 20])),
        ("loss_weight: [inf, -inf, Infinity, 1e999]", LayerParameter(loss_weight=[math.inf, -math.inf, math.inf, math.inf])),
        ("propagate_down: [true, True, t, 1, false, False, f, 0]", LayerParameter(propagate_down=[True] * 4 + [False] * 4)),
        ("slice_param { axis: -0x10 slice_point: [0x1F, 017, 0] }", LayerParameter(slice_param={"axis": -16, "slice_point": [31, 15, 0]})),
        ("slice_param { axis: -2147483648 slice_point: 4294967295 }", LayerParameter(slice_param={"axis": -(2**31), "slice_point": [2**32 - 1]})),
        ("accuracy_param{top_k:5}name:'a'", LayerParameter(accuracy_param={"top_k": 5}, name="a")),
        ("clip_param { min: -1 max: 6 }", LayerParameter(clip_param={"min": -1, "max": 6})),
    ],
)  # fmt: skip
def test_grammar(text, expected):
    assert parse(text) == expected


def test_nan():
    values = parse("loss_weight: nan loss_weight: -NaN").loss_weight
    assert all(map(math.isnan, values))
    assert len(values) == 2


def test_bytes_need_not_be_utf_8():
    assert parse(r'data: "\377\000a"', Datum).data == b"\xff\0a"


def test_64_bit_numbers():
    assert parse("random_seed: -9223372036854775808", SolverParameter).random_seed == -(2**63)
    assert list(parse("shape { dim: 9223372036854775807 }", BlobProto).shape.dim) == [2**63 - 1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('device_id: "0,1,2"', SolverParameter(device_ids="0,1,2")),
        ("device_id: 3", SolverParameter(device_id=3)),
        ('device_ids: "0"', SolverParameter(device_ids="0")),
    ],
)
def test_quoted_device_id_is_a_list_of_devices(text, expected):
    assert parse(text, SolverParameter) == expected


@pytest.mark.parametrize(
    "text",
    [
        'device_id: "0"\ndevice_ids: "1"',
        'device_ids: "0"\ndevice_id: "1"',
        'device_id: "0"\ndevice_id: "1"',
    ],
)
def test_devices_given_twice_are_refused(text):
    (problem,) = problems(text, SolverParameter)
    assert problem[:2] == (2, 1)
    assert "is given twice (first in line 1); SolverParameter takes one" in problem[2]


def test_an_optional_message_that_is_there_but_empty_is_present():
    assert parse("relu_param {}").HasField("relu_param")
    assert not parse("").HasField("relu_param")


def test_format_and_parse_are_inverse():
    layer = LayerParameter(
        name='a"\n\\é', loss_weight=[0.1, 1e-30], phase="TEST", blobs=[BlobProto(data=[1, 2])]
    )
    assert parse(format_text(layer)) == layer  # fmt: skip


# -- what is wrong, and where ----------------------------------------------------------------------

INT32 = "expected -2147483648 to 2147483647"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("name: 'a'\n  nmae: 'b'", (2, 3, 'LayerParameter has no field "nmae"; did you mean "name"?')),
        ("relu_param {\n\n negative: 1 }", (3, 2, 'ReLUParameter has no field "negative"')),
        ("phase: TRIAN", (1, 8, '"phase" cannot be TRIAN; did you mean "TRAIN"?')),
        ("phase: VALID", (1, 8, '"phase" cannot be VALID; expected one of TEST, TRAIN')),
        ("phase: 2", (1, 8, '"phase" cannot be 2; expected one of TEST, TRAIN')),
        ("phase: 2147483648", (1, 8, f"2147483648 is out of range: {INT32}")),
        ("slice_param { axis: -2147483649 }", (1, 22, f"-2147483649 is out of range: {INT32}")),
        ("slice_param { slice_point: -1 }", (1, 29, "-1 is out of range: expected 0 to 4294967295")),
        ("slice_param { slice_point: 4294967296 }", (1, 28, "4294967296 is out of range: expected 0 to 4294967295")),
        ("slice_param { axis: 1.5 }", (1, 21, "expected an integer, found '1.5'")),
        ("slice_param { axis: 'x' }", (1, 21, "expected an integer, found \"'x'\"")),
        ("slice_param { axis: 08 }", (1, 21, "'08' is not a number")),
        ("loss_weight: abc", (1, 14, "expected a number, found 'abc'")),
        ("loss_weight: 0x10", (1, 14, "expected a number, found '0x10'")),
        ("loss_weight: 'x'", (1, 14, "expected a number, found \"'x'\"")),
        ("propagate_down: 2", (1, 17, "\"propagate_down\" is true or false, not '2'")),
        ("propagate_down: yes", (1, 17, "\"propagate_down\" is true or false, not 'yes'")),
        ("propagate_down: 'true'", (1, 17, "\"propagate_down\" is true or false, not \"'true'\"")),
        ("propagate_down: -1", (1, 18, "expected true or false")),
        ("name: a", (1, 7, "expected a quoted string, found 'a'")),
        ("name: 5", (1, 7, "expected a quoted string, found '5'")),
        (r"name: 'a' '\q'", (1, 11, r"unknown escape sequence \q")),
        (r"name: '\400'", (1, 7, r"escape sequence \400 does not fit a byte")),
        (r"name: '\377'", (1, 7, '"name" is not valid UTF-8')),
        ("name 'a'", (1, 6, 'expected ":" and a value after "name"')),
        ("name { a: 1 }", (1, 6, 'expected ":" and a value after "name"')),
        ("name:", (1, 6, "expected a quoted string, found 'end of file'")),
        ("name:\ntype: 'b'", (2, 1, "expected a quoted string, found 'type'")),
        ("relu_param: 5", (1, 13, '"relu_param" is a ReLUParameter: expected "{", found \'5\'')),
        ("param: 'w'", (1, 8, '"param" is a ParamSpec: expected "{", found "\'w\'"')),
        ("relu_param [{}]", (1, 12, '"relu_param" is a ReLUParameter: expected "{", found \'[\'')),
        ("\nrelu_param {\n negative_slope: 1\n", (2, 12, '"relu_param {" is never closed')),
        ("param <\n name: 'a'\n", (1, 7, '"param <" is never closed')),
        ("name: 'a'\n}", (2, 1, 'unexpected "}": nothing is open that it could close')),
        ("param { name: 'a' >", (1, 19, 'unexpected ">": expected "}"')),
        ("param < name: 'a' }", (1, 19, 'unexpected "}": expected ">"')),
        ("name: 'a' 'b', ,", (1, 16, "expected a field name, found ','")),
        ("name: 'a' 5", (1, 11, "expected a field name, found '5'")),
        ("name: 'a' @", (1, 11, "expected a field name, found '@'")),
        ("name: 'a' 'b' : 'c'", (1, 15, "expected a field name, found ':'")),
        ("name: 'a'\n\n name: 'b'", (3, 2, '"name" is given twice (first in line 1); LayerParameter takes one')),
        ("relu_param {}\nrelu_param {}", (2, 1, '"relu_param" is given twice (first in line 1); LayerParameter takes one')),
        ("name: 'a'\nclip_param { max: 1 }", (2, 1, 'required field "min" is missing here')),
        ("[other.extension]: 5\nname: 'a'", (1, 1, "extensions are not part of Caffe's schema")),
        ("blobs_lr: 1", (1, 1, 'LayerParameter has no field "blobs_lr"; that is the old `layers` format, in `layer` write: param { lr_mult: ... }')),
        ("kernel_size: 1", (1, 1, 'LayerParameter has no field "kernel_size"; it belongs inside convolution_param or pooling_param')),
    ],
)  # fmt: skip
def test_one_thing_wrong(text, expected):
    assert problems(text) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("phase: -1", (1, 9, '"phase" cannot be -1; expected one of TEST, TRAIN')),
        ("name: 'a\ntype: 'b'", (1, 7, "this string does not end on its line")),
        ("slice_param { axis: +5 }\nname: 'a'", (1, 21, "expected an integer, found '+'")),
        ("slice_param { slice_point: [1 2, 3] }", (1, 31, 'expected "," or "]" in this list')),
        ("slice_param { slice_point: ['a', 3] }", (1, 29, "expected an integer, found \"'a'\"")),
        ("slice_param { axis: 5abc }", (1, 21, "'5' runs into what follows it")),
        ("clip_param { min: abc max: 1 }", (1, 19, "expected a number, found 'abc'")),
        (r"name: '\U00110000'", (1, 7, r"escape sequence \U00110000 is no character")),
    ],
)  # fmt: skip
def test_one_mistake_is_one_problem_and_says_what_is_there(text, expected):
    assert problems(text) == [expected]


@pytest.mark.parametrize(
    "text", ["top: ['a',]", "top: [,]", "top: ['a' 'b' ; 'c']", "param: [{},]"]
)
def test_lists_have_commas_between_and_nowhere_else(text):
    assert len(problems(text)) >= 1


def test_what_follows_a_value_that_is_none_is_still_read():
    found = problems("name: ~\nbogus: 1\nloss_weight: 5abc.d\nwrong: 2")
    assert [p[:2] for p in found] == [(1, 7), (2, 1), (3, 14), (4, 1)]
    assert found[1][2] == 'LayerParameter has no field "bogus"'


def test_an_octal_number_is_no_float():
    # The C++ library says "Expect a decimal number"; older ones read 8, never 10.
    assert [p[:2] for p in problems("loss_weight: 010")] == [(1, 14)]


@pytest.mark.parametrize(
    "digits", ["7" * 6000, "0x" + "f" * 6000, "0" + "7" * 6000, "0x" + "f" * 1_000_000]
)
def test_a_number_of_thousands_of_digits_is_out_of_range(digits):
    ((line, column, message),) = problems(f"slice_param {{ axis: {digits} }}")
    assert (line, column) == (1, 21)
    assert len(message) < 200


def test_quoted_type_in_old_layers():
    ((_, column, message),) = problems('type: "Convolution"', V1LayerParameter)
    assert column == 7
    assert message.endswith("with a quoted type write `layer`")


def test_all_problems_in_the_order_of_lines():
    text = """\
name: "net"
layer {
  nmae: "a"
  convolution_param { num_output: many kernel_size: -1 }
  clip_param { max: 1 }
}
layer { name: "b" unknown { x: [1, { y: 2 }] } more: - 5 top: "t" last: "a" "b" }
layer { name: 5 top: "ok" }
state { phase: TSET
"""
    assert problems(text, NetParameter) == [
        (3, 3, 'LayerParameter has no field "nmae"; did you mean "name"?'),
        (4, 35, "expected an integer, found 'many'"),
        (4, 54, "-1 is out of range: expected 0 to 4294967295"),
        (7, 19, 'LayerParameter has no field "unknown"'),
        (7, 48, 'LayerParameter has no field "more"'),
        (7, 67, 'LayerParameter has no field "last"'),
        (8, 15, "expected a quoted string, found '5'"),
        (9, 7, '"state {" is never closed'),
        (9, 16, '"phase" cannot be TSET; did you mean "TEST"?'),
    ]


def test_required_fields_are_asked_for_besides_other_problems():
    text = "nmae: 'a'\nclip_param { max: 1 }\nphase: TSET"
    assert [p[:2] for p in problems(text)] == [(1, 1), (2, 1), (3, 8)]


def test_the_message_as_people_see_it():
    text = "layer {\n" * 1 + "\n" * 39 + "        convolution_parm { pad: 1 }\n}\n"
    with pytest.raises(PrototxtError) as e:
        parse_text(text, NetParameter(), "path/net.prototxt")
    assert str(e.value) == (
        'path/net.prototxt:41:9: LayerParameter has no field "convolution_parm"; '
        'did you mean "convolution_param"?\n'
        "            convolution_parm { pad: 1 }\n"
        "            ^"
    )


def test_the_caret_stands_under_the_column_also_behind_tabs():
    with pytest.raises(PrototxtError) as e:
        parse("\tname:\t'a'\t\tnmae: 'b'\r\n")
    head, source, caret = str(e.value).split("\n")
    assert head.startswith("net.prototxt:1:13: ")
    assert source[caret.index("^") :] == "nmae: 'b'"
    assert "\t" not in source


def test_many_problems_are_counted_and_reading_ends_somewhere():
    text = "".join(f"x{i}: 1\n" for i in range(30))
    with pytest.raises(PrototxtError) as e:
        parse(text)
    assert len(e.value.problems) == 30
    assert str(e.value).endswith("... and 5 more problems")
    assert len(problems("x: 1\n" * 10_000)) == MOST_PROBLEMS


def test_a_problem_in_a_very_long_line_shows_a_piece_of_it():
    with pytest.raises(PrototxtError) as e:
        parse("top: 'a' " * 10_000 + "nmae: 'b'")
    assert len(str(e.value)) < 10_000
    assert "nmae" in str(e.value).split("\n")[1]


def test_nesting_of_a_thousand_in_what_is_unknown():
    text = "unknown " + "{ a " * 1000 + "}" * 1000 + " nmae: 'x'"
    assert [p[1] for p in problems(text)] == [1, len(text) - 8]
    assert problems("{" * 1000)[0] == (1, 1, "expected a field name, found '{'")
    assert problems("unknown: " + "[" * 1000)[-1] == (1, 10, '"[" is never closed')


# -- places ----------------------------------------------------------------------------------------


def test_places_of_parts():
    text = """\
name: "n" layer { name: "a" top: ["x",
   "y"] }
  layer: {
    convolution_param {
      num_output: 1 pad: 2 pad: 3 }
  }
"""
    places = parse_text(text, NetParameter()).places
    assert places == {
        ("name",): (1, 1),
        ("layer", 0): (1, 11),
        ("layer", 0, "name"): (1, 19),
        ("layer", 0, "top", 0): (1, 29),
        ("layer", 0, "top", 1): (1, 29),
        ("layer", 1): (3, 3),
        ("layer", 1, "convolution_param"): (4, 5),
        ("layer", 1, "convolution_param", "num_output"): (5, 7),
        ("layer", 1, "convolution_param", "pad", 0): (5, 21),
        ("layer", 1, "convolution_param", "pad", 1): (5, 28),
    }


# -- files -----------------------------------------------------------------------------------------


def written(folder, content):
    path = folder / "net.prototxt"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    "content",
    [
        "# café\nname: 'a'".encode("latin-1"),
        "# 网络\nname: 'a'".encode("gb18030"),
        "# 网络\nname: 'a'".encode(),
        b"\xef\xbb\xbfname: 'a'",
        b"name: 'a' # \xff\xfe",
        b"name: 'a'\r\n",
    ],
)
def test_comments_may_be_in_any_encoding(tmp_path, content):
    read = read_text(written(tmp_path, content), LayerParameter())
    assert read.message == LayerParameter(name="a")
    assert read.path == str(tmp_path / "net.prototxt")


def test_a_string_in_another_encoding_is_named_where_it_stands(tmp_path):
    path = written(tmp_path, b"# \xff\ntop: 'ok'\nname: 'caf\xe9'\n")
    with pytest.raises(PrototxtError) as e:
        read_text(path, LayerParameter())
    (problem,) = e.value.problems
    assert str(problem).startswith(f'{path}:3:7: "name" is not valid UTF-8\n')
    str(e.value).encode()  # can be printed


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"", "empty"),
        (b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
        (NetParameter(name="net", layer=[{"name": "a"}]).SerializeToString(), "binary"),
        ("name: 'a'".encode("utf-16"), "binary"),
        (b"<!DOCTYPE html>\n<html>", "an HTML page (a failed download, perhaps)"),
    ],
)
def test_files_that_are_no_text(tmp_path, content, kind):
    path = written(tmp_path, content)
    with pytest.raises(FileError) as e:
        read_text(path, NetParameter())
    assert str(e.value) == f"{path}: is {kind}; a text file (NetParameter) was expected here"


@pytest.mark.parametrize(
    ("name", "why"),
    [("missing", "No such file or directory"), (".", "Is a directory"), ("a" * 300, "File name too long")],
)  # fmt: skip
def test_files_that_cannot_be_read(tmp_path, name, why):
    with pytest.raises(FileError) as e:
        read_text(tmp_path / name, NetParameter())
    assert str(e.value) == f"{tmp_path / name}: cannot be read: {why}"


def test_a_name_that_no_file_can_have():
    with pytest.raises(FileError):
        read_text("a\0b", NetParameter())


# -- as protobuf reads -----------------------------------------------------------------------------

NETS = {
    "v2": """
        name: "LeNet"
        layer {
          name: "data" type: "Data" top: "data" top: "label"
          include: { phase: TRAIN } transform_param { scale: 0.00390625 mirror: true mean_value: 104 }
          data_param < source: "examples/mnist/mnist_train_lmdb" batch_size: 64, backend: LMDB >
        }
        layer { name: 'conv1' type: 'Convolution' bottom: 'data' top: 'conv1'
          param { lr_mult: 1; decay_mult: 0 } param { lr_mult: 2e0 }
          convolution_param { num_output: 20 kernel_size: [5, 3] pad_h: 0x2 stride: 01
            weight_filler { type: "gauss" "ian" std: 1.e-2 } bias_filler { value: -1 } engine: CAFFE } }
        # the end
        layer { name: "loss\\t\\303\\251" type: "SoftmaxWithLoss" loss_weight: 1 loss_weight: .5
                loss_param { ignore_label: 255 normalization: BATCH_SIZE } propagate_down: [1, false] }
        """,
    "v1": """
        input: "data" input_dim: 1 input_dim: 3 input_dim: 227 input_dim: 227
        layers { name: "fc" type: INNER_PRODUCT bottom: "data" top: "fc" blobs_lr: 1 blobs_lr: 2
                 weight_decay: 1 weight_decay: 0 param: "w" blob_share_mode: PERMISSIVE
                 inner_product_param { num_output: 10 } }
        """,
    "v0": 'layers { layer { name: "c" type: "conv" num_output: 96 kernelsize: 11 } bottom: "d" top: "c" }',
    "empty": "",
}  # fmt: skip
SOLVER = """
    net: "train_val.prototxt" test_iter: 1000 test_iter: 5 test_interval: 1000 base_lr: 1e-2 momentum: .9
    stepvalue: [100, 200] solver_mode: GPU random_seed: -1 solver_type: NESTEROV test_state: { stage: "a" }
    """


@pytest.mark.parametrize(
    ("text", "kind"),
    [*((text, NetParameter) for text in NETS.values()), (SOLVER, SolverParameter)],
    ids=[*NETS, "solver"],
)
def test_protobuf_reads_the_same(text, kind):
    message = parse(text, kind)
    assert message == text_format.Parse(text, kind())
    # and what protobuf prints
    for line in (False, True):
        assert parse(text_format.MessageToString(message, as_one_line=line), kind) == message


@pytest.mark.skipif(not ZOO.exists(), reason="no ../shared beside the repository")
@pytest.mark.parametrize(
    ("kind", "message"), [("deploy", NetParameter), ("solver", SolverParameter)]
)
def test_protobuf_reads_the_same_zoo_files(kind, message):
    for name in json.loads((ZOO / "index.json").read_text())[kind][::3]:
        path = ZOO / "nets" / name
        theirs = text_format.Parse(path.read_bytes().decode("utf-8", "replace"), message())
        assert read_text(path, message()).message == theirs, name


GOLDEN = sorted((ROOT / "tests" / "golden").rglob("*.prototxt"))


def test_protobuf_reads_the_same_golden_files():
    assert GOLDEN
    for path in GOLDEN:
        kind = SolverParameter if "solver" in path.name else NetParameter
        theirs = text_format.Parse(path.read_bytes().decode("utf-8", "replace"), kind())
        assert read_text(path, kind()).message == theirs, path

"""The schemas of forks, joined with BVLC's; what is written has nothing of theirs."""

from __future__ import annotations

from pathlib import Path

import pytest

from pycaffe_dist.proto import caffe_pb2, dialects, wire_format
from pycaffe_dist.proto.bvlc import without_dialects, written
from pycaffe_dist.proto.caffe_pb2 import LayerParameter, NetParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.proto.weights import read_weights, write_weights

ROOT = Path(__file__).resolve().parents[3]
MESSAGES = caffe_pb2.DESCRIPTOR.message_types_by_name


def test_every_field_of_every_fork_is_read() -> None:
    for fork, schema in dialects.dialects().items():
        for name, message in schema.messages.items():
            missing = set(message.fields) - set(MESSAGES[name].fields_by_name)
            assert not missing, (fork, name)
            for enum, values in message.enums.items():
                known = MESSAGES[name].enum_types_by_name[enum].values_by_name
                assert set(values) <= set(known), (fork, name, enum)


def test_bvlc_keeps_its_fields_and_numbers() -> None:
    core = dialects.parse((ROOT / "proto" / "caffe.proto").read_text())
    for name, message in core.messages.items():
        ours = MESSAGES[name].fields_by_name
        assert {f: v.number for f, v in message.fields.items()} == {
            f: ours[f].number for f in message.fields
        }
        private = [f.name for f in ours.values() if f.name not in message.fields]
        assert all(ours[f].number >= dialects.PRIVATE for f in private)
        for enum, values in message.enums.items():
            known = MESSAGES[name].enum_types_by_name[enum].values_by_name
            assert values.items() <= {v: known[v].number for v in known}.items()


CORE = """
syntax = "proto2";
package caffe;
message A { enum E { X = 0; } optional int32 kept = 1 [default = 3]; }
"""


def joined(monkeypatch: pytest.MonkeyPatch, *forks: str) -> dialects.Message:
    named = {str(i): dialects.parse(fork) for i, fork in enumerate(forks)}
    monkeypatch.setattr(dialects, "dialects", lambda: named)
    return dialects.parse(dialects.join(CORE))


def test_one_message_for_the_fields_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    schema = joined(
        monkeypatch,
        "message B { optional uint32 scale = 1 [default = 2]; required int32 n = 2; }",
        "message B { optional float scale = 7 [default = 1]; optional int32 n = 1;"
        " repeated string n2 = 2; } message A { repeated float kept = 9; optional bool more = 1; }",
    )
    b = schema.messages["B"].fields
    assert (b["scale"].type, b["scale"].options) == ("float", ())
    assert (b["n"].label, b["n2"].label) == ("optional", "repeated")
    a = schema.messages["A"].fields
    assert str(a["kept"]) == "optional int32 kept = 1 [default = 3];"
    assert a["more"].number >= dialects.PRIVATE


def test_a_field_of_two_kinds_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="disagree on the type of x: string and float"):
        joined(
            monkeypatch,
            "message B { optional string x = 1; }",
            "message B { optional float x = 1; }",
        )


def test_values_added_to_an_enum_are_private(monkeypatch: pytest.MonkeyPatch) -> None:
    schema = joined(monkeypatch, "message A { enum E { Y = 0; } enum F { Z = 0; } }")
    enums = schema.messages["A"].enums
    assert enums["E"]["X"] == 0
    assert enums["E"]["Y"] >= dialects.PRIVATE_VALUE
    assert enums["F"] == {"Z": 0}


NET = """
name: "n" mem_param { optimize_train: true }
layer { name: "a" type: "Permute" top: "a" permute_param { order: 1 order: 0 }
        convolution_param { engine: MKLDNN num_output: 3 } loss_param { normalization: NONE } }
layer { name: "b" type: "Pooling" pooling_param { pool: MAX ceil_mode: false } }
"""


def test_nothing_of_forks_is_left_for_writing() -> None:
    net = parse_text(NET, NetParameter()).message
    assert sorted(without_dialects(net)) == [
        "ConvolutionParameter.engine",
        "LayerParameter.permute_param",
        "NetParameter.mem_param",
        "PoolingParameter.ceil_mode",
    ]
    plain = 'name: "n" layer { name: "a" type: "Permute" top: "a" convolution_param '
    plain += "{ num_output: 3 } loss_param { normalization: NONE } }"
    plain += 'layer { name: "b" type: "Pooling" pooling_param { pool: MAX } }'
    assert net == parse_text(plain, NetParameter()).message


def test_weights_are_written_without_private_numbers(tmp_path: Path) -> None:
    net = parse_text(NET, NetParameter()).message
    write_weights(tmp_path / "w.caffemodel", net, [[], []])
    assert [layer.type for layer in read_weights(tmp_path / "w.caffemodel").layers] == [
        "Permute",
        "Pooling",
    ]
    raw = NetParameter.FromString((tmp_path / "w.caffemodel").read_bytes())
    assert without_dialects(raw) == []
    assert net.layer[0].HasField("permute_param")


def test_layers_read_forks_fields_as_any_other() -> None:
    param = parse_text("permute_param { order: [0, 2, 3, 1] }", LayerParameter()).message
    assert list(param.permute_param.order) == [0, 2, 3, 1]


# -- written for a fork ----------------------------------------------------------------------------


def unread(raw: bytes) -> set[int]:
    """The numbers of a message's fields."""
    return {f.number for f in wire_format.fields(memoryview(raw), 0, len(raw))}


def test_a_chosen_fork_finds_its_own_numbers() -> None:
    text = "name: 'a' permute_param { order: 1 order: 0 } bn_param { frozen: true }"
    param = parse_text(text, LayerParameter()).message
    assert unread(written(param)) == {1}
    assert unread(written(param, "ssd")) == {1, 202}
    assert unread(written(param, "psp")) == {1, 152}
    assert unread(written(param, "happynear")) == {1, 200, 224}
    assert written(param, "ssd") == b"\n\x01a" + bytes.fromhex("d20c0408010800")


def test_words_of_a_chosen_fork() -> None:
    text = "loss_param { normalization: PRE_FIXED } convolution_param { engine: MKLDNN pad: 1 }"
    param = parse_text(text, LayerParameter()).message
    plain = LayerParameter.FromString(written(param))
    assert not plain.loss_param.HasField("normalization")
    assert plain.convolution_param.pad == [1]
    theirs = LayerParameter.FromString(written(param, "intel"))
    assert theirs.loss_param.normalization == 3  # BVLC's NONE: the forks shifted the enum
    assert b"\x78\x04" in written(param, "intel")  # engine = 4


def test_bvlc_messages_are_written_byte_for_byte() -> None:
    net = parse_text(
        "name: 'n' input_dim: [1, 2] layer { name: 'a' loss_weight: 0.5 "
        "convolution_param { num_output: 3 kernel_size: [3, 5] weight_filler { std: 0.1 } } "
        "blobs { shape { dim: [2, 300] } data: [1, 2] double_data: 3 } }",
        NetParameter(),
    ).message
    assert written(net) == written(net, "ssd") == net.SerializeToString()


def test_the_flag_reaches_what_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    net = parse_text(NET, NetParameter()).message
    monkeypatch.setenv("PCD_DIALECT", "ssd")
    write_weights(tmp_path / "w", net, [[], []])
    assert bytes.fromhex("d20c0408010800") in (tmp_path / "w").read_bytes()

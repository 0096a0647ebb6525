"""Names for types that annotations use everywhere."""

from __future__ import annotations

from types import EllipsisType
from typing import Any

import numpy as np
from numpy.typing import NDArray

# An array of any number type.  Where a layer computes on a GPU it is CuPy's, which has the same
# methods and operators: annotations name NumPy's for both.
Array = NDArray[Any]

# ``xp``: the module numpy, or cupy, which has no annotations.
ArrayModule = Any

DType = np.dtype[Any]
Shape = tuple[int, ...]
Index = tuple[int | slice | EllipsisType | None, ...]  # what stands in the brackets of ``a[...]``
Number = float | np.number[Any] | Array  # what an array can be multiplied by

# Facts by name, as a JSON object has them: numbers, strings, lists and facts again.  What goes into
# a snapshot or over MPI may also be an array.
Facts = dict[str, Any]

# What json.loads gives: anything, to be looked at before it is believed.
Json = Any

# protobuf's descriptions of a message and of a field.  Those of its C and Python implementations
# have no base class in common.
Descriptor = Any
FieldDescriptor = Any

# CuPy's array, in a GPU's memory, or NumPy's where the same code serves both.
DeviceArray = Any

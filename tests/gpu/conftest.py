import os

import pytest

from pycaffe_dist.engines.cupy import backend
from pycaffe_dist.testing.kernels import Runner


@pytest.fixture(params=["float32", "float64"])
def run(request):
    """Runs one kernel, in both number types: on the CPU, with PCD_TEST_GPU=1 on a GPU."""
    if os.environ.get("PCD_TEST_GPU") == "1":
        return Runner(request.param, backend.cupy())
    return Runner(request.param)

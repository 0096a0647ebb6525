import pytest

from pycaffe_dist.engines.cupy import backend
from pycaffe_dist.errors import MissingPartError
from pycaffe_dist.parallel.job.launcher import LOCAL
from pycaffe_dist.proto.caffe_pb2 import SolverParameter
from pycaffe_dist.testing.cupy_standin import runtime
from pycaffe_dist.tools.train_engine import engine_of

ON_GPU = SolverParameter(solver_mode=SolverParameter.GPU, device_id=1)


@pytest.fixture(autouse=True)
def emulated(monkeypatch):
    monkeypatch.setenv(backend.VARIABLE, "emulated")
    for name in LOCAL:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("variable", LOCAL)
def test_several_ranks_take_the_gpus_of_their_host_in_turn(monkeypatch, variable):
    found = []
    for local in range(5):
        monkeypatch.setenv(variable, str(local))
        found.append(engine_of(ON_GPU, 8, None, None).device)
    assert found == [0, 1, 0, 1, 0], "a host of two devices"


def test_a_launcher_that_shows_each_rank_one_device_gives_it_that(monkeypatch):
    monkeypatch.setenv("SLURM_LOCALID", "3")
    monkeypatch.setattr(runtime, "DEVICES", 1)  # as with CUDA_VISIBLE_DEVICES
    assert engine_of(ON_GPU, 4, None, None).device == 0


def test_one_rank_takes_the_solvers_device_and_a_flag_is_stronger(monkeypatch):
    monkeypatch.setenv("SLURM_LOCALID", "1")
    assert engine_of(ON_GPU, 1, None, None).device == 1
    assert engine_of(ON_GPU, 1, "cupy", 0, "0").device == 0
    assert engine_of(ON_GPU, 2, None, 0, "0,1").device == 0
    assert engine_of(SolverParameter(), 2, "cupy", None).device == 1
    assert engine_of(ON_GPU, 2, "numpy", None).device is None


def test_several_ranks_without_a_gpu_are_told_and_auto_takes_the_cpu(monkeypatch):
    monkeypatch.setattr(runtime, "DEVICES", 0)
    with pytest.raises(MissingPartError, match="sees no device"):
        engine_of(ON_GPU, 2, None, None)
    assert engine_of(ON_GPU, 2, "auto", None).device is None

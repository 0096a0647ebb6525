"""Where a training computes: as the flags say, or else as the solver's file does."""

from __future__ import annotations

from pycaffe_dist import caffe_log as log
from pycaffe_dist import engines
from pycaffe_dist.errors import MissingPartError
from pycaffe_dist.parallel.job.launcher import local_rank
from pycaffe_dist.proto.caffe_pb2 import SolverParameter


def engine_of(
    param: SolverParameter, ranks: int, name: str | None, device: int | None, gpu: str = ""
) -> engines.Engine:
    """The engine of a rank.

    The solver's ``device_id`` is for one rank; several take the GPUs of their hosts in turn.

    Args:
        param: the solver's file.
        ranks: how many there are in all.
        name: what ``--engine`` says, if anything.
        device: which of the devices that ``-gpu`` names is this rank's.
        gpu: the words of ``-gpu``, for the log.

    Raises:
        MissingPartError: a GPU is asked for and missing.
    """
    wanted = param.HasField("solver_mode") and param.solver_mode == SolverParameter.GPU
    if device is None and (name == "cupy" or (wanted and name in (None, "auto"))):
        device = param.device_id if ranks == 1 else _device_in_turn()
    engine = engines.asked_for(name, device)
    if engine.device is None:
        log.info("caffe.cpp:197", "Use CPU.")
    else:
        log.info("caffe.cpp:204", "Using GPUs %s", gpu or engine.device)
        if ranks > 1 and not gpu:
            log.info("caffe.cpp:204", "Ranks take the GPUs of their hosts in turn.")
    if engine.precision != "fp32":
        log.info("caffe.cpp:197", "Products are computed in %s.", engine.precision)
    return engine


def _device_in_turn() -> int:
    from pycaffe_dist.engines.cupy import of_process  # needed by few, and slow to import

    try:
        return of_process(local_rank())
    except MissingPartError:
        return 0  # whoever asks for that is told what is missing

"""Where nets compute in the tests that are about layers, nets and solvers.

    pytest                                  on NumPy, again on an emulated GPU, some on oneDNN
    pytest --backend numpy                  on NumPy only
    pytest --backend cupy -m "not host"     on a real one (make test-gpu)

Tests that look into plain memory, and so hold there only, are marked ``host``.

Tests see nothing of the user who runs them: caches, HOME and the variables that change how nets
compute are those of a temporary folder, in this process and in all that it starts.  A test that
takes too long (``timeout`` in pyproject.toml, or its own mark, times the programs that share a
core) ends its process with the stacks of all threads; under xdist that is one failure, and the
others run on.  A run ends with a line that says how many tests did not run, and why.
"""

import contextlib
import faulthandler
import logging
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections import Counter
from contextlib import nullcontext
from functools import cache
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path.append(str(HERE / "helpers"))
MATRIX = ("layers", "golden", "unit/solvers", "unit/test_net.py", "unit/test_solver.py")
MATRIX += ("unit/pycaffe/test_net.py", "unit/test_testing_kit.py", "unit/test_custom_layers.py")
MATRIX += (
    "unit/test_loading.py",
    "unit/pycaffe/test_classifier.py",
    "unit/pycaffe/test_detector.py",
)
# The layers of oneDNN have tests of their own in engines/.
ONEDNN = ("golden", "unit/pycaffe/test_net.py", "layers/test_not_finite.py")
ONEDNN += ("layers/test_items_picked.py",)
TRIED = 20  # values of a blob whose gradients are checked on a GPU, on NumPy 150
# Variables, by their first letters: of threads, our own, Caffe's log, folders, an mpirun.
FOREIGN = ("PYTHONUNBUFFERED", "OMP_", "GOMP_", "OPENBLAS_", "MKL_", "PCD_", "GLOG_", "XDG_", "MPL")
FOREIGN += ("OMPI_", "PRTE_", "PMIX_", "PMI_", "MPI_")
# Without bytecode a program takes twice as long to start, and pytest to collect.
FOREIGN += ("PYTHONDONTWRITEBYTECODE",)
KEPT = ("PCD_TEST_GPU", "PCD_ONEDNN")  # where to compute
ASKED_FOR = ("browser", "slurm")  # folders of tests that a plain run leaves out
PROGRAMS = (
    "browser",
    "slurm",
    "cli",
    "data",
    "docs",
    "examples",
    "fuzz",
    "gpu",
    "models",
    "parallel",
)
PROGRAMS_SECONDS = 180
MOST_SHARED = 20
MARK = "TESTS_OF_PYCAFFE_DIST"  # the variable by which processes that a test has left are found
OWNER = "TESTS_OWNER"  # and the process that has made their folder
# Waits until the tests' process is gone, however it ended, then kills what it has left.
REAPER = """
import os, sys
from pathlib import Path
sys.stdin.read()
for entry in Path("/proc").glob("[0-9]*"):
    try:
        if sys.argv[1].encode() in (entry / "environ").read_bytes().split(b"\\0"):
            if int(entry.name) != os.getpid():
                os.kill(int(entry.name), 9)
    except OSError:
        pass
"""


def _leave_the_user():
    """An environment of the tests' own; a worker of xdist has it from its parent."""
    if "PYTEST_XDIST_WORKER" in os.environ and os.environ.get(OWNER) == str(os.getppid()):
        return None
    for name in [n for n in os.environ if n.startswith(FOREIGN) and n not in KEPT]:
        del os.environ[name]
    sys.dont_write_bytecode = False
    folder = Path(tempfile.mkdtemp(prefix="pcd-tests-"))
    for variable, part in {"HOME": "home", "PCD_CACHE": "cache", "MPLCONFIGDIR": "mpl"}.items():
        (folder / part).mkdir()
        os.environ[variable] = str(folder / part)
    os.environ["PCD_RUNTIME"] = "off"  # recorded answers are those of our own engines
    os.environ[OWNER] = str(os.getpid())
    return folder


def _share_the_cores():
    """Workers of xdist compute side by side: together they have as many threads as cores.

    With more, threads wait for one another most of the time, and use the cores for it.
    """
    workers = int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS") if workers > 1 else ():
        os.environ[name] = str(max((os.cpu_count() or 1) // workers, 1))


FOLDER = _leave_the_user()  # now: modules that are imported next keep copies of the environment
if FOLDER is None:
    _share_the_cores()


def pytest_addoption(parser):
    choices = ("all", "numpy", "onednn", "cupy-emulated", "cupy")
    parser.addoption("--backend", choices=choices, default="all", help="where nets compute")
    for name in ASKED_FOR:
        parser.addoption(f"--{name}", action="store_true", help=f"the tests in tests/{name}, too")
    parser.addoption("--pictures", action="store_true", help="tests/browser makes docs/board anew")
    parser.addoption("--skips", type=int, help="fail unless so many tests are skipped")


def pytest_configure(config):
    config.addinivalue_line("markers", "host: looks into plain memory, and so holds on NumPy only")
    if FOLDER:
        with contextlib.suppress(AttributeError, OSError):  # no cache, or a read-only clone
            # Kernels of the emulated GPU are compiled once for all runs.
            (FOLDER / "cache" / "emulation").symlink_to(config.cache.mkdir("emulation"))
    name = uuid.uuid4().hex
    os.environ[MARK] = name
    reaper = [sys.executable, "-ISc", REAPER, f"{MARK}={name}"]
    config.reaper = subprocess.Popen(reaper, stdin=subprocess.PIPE, start_new_session=True)


def pytest_unconfigure(config):
    config.reaper.stdin.close()
    config.reaper.wait()
    if FOLDER:
        shutil.rmtree(FOLDER, ignore_errors=True)


def pytest_ignore_collect(collection_path, config):
    """Tests that need more than pip installs are asked for: `make test-browser`, `test-slurm`."""
    name = collection_path.name
    if collection_path == HERE / name and name in ASKED_FOR and not config.getoption(f"--{name}"):
        return True
    return None


# -- tests that do not run -------------------------------------------------------------------------


def skipped(config):
    """By reason, how many tests (or files, where a whole one is left out) were skipped."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    reports = reporter.stats.get("skipped", []) if reporter else []
    reasons = (r.longrepr[2] if isinstance(r.longrepr, tuple) else str(r.longrepr) for r in reports)
    return Counter(reason.removeprefix("Skipped: ") for reason in reasons)


def pytest_sessionfinish(session):
    wanted = session.config.getoption("--skips")
    there = session.config.pluginmanager.has_plugin("terminalreporter")  # no worker of xdist's
    if there and wanted is not None and sum(skipped(session.config).values()) != wanted:
        session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter, config):
    why, wanted = skipped(config), config.getoption("--skips")
    count = sum(why.values())
    if why:
        reasons = ", ".join(f"{n} ({reason})" for reason, n in why.most_common())
        terminalreporter.write_line(f"{count} tests did not run: {reasons}")
    if wanted is not None and count != wanted:
        terminalreporter.write_line(f"{wanted} were expected not to run (--skips)", red=True)


@cache  # there are many tests in a file
def _is_in(path, parts):
    return any(path.is_relative_to(HERE / part) for part in parts)


# -- time limits -----------------------------------------------------------------------------------


def pytest_collection_modifyitems(items):
    """What starts programs, mpirun or g++, takes longest where others use the machine too."""
    for item in items:
        compiles = "cupy-emulated" in item.name  # the first who uses a kernel
        programs = compiles or _is_in(item.path, PROGRAMS)
        if programs and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(PROGRAMS_SECONDS))


def pytest_timeout_set_timer(item, settings):
    """A watchdog in C: it also ends a test that hangs in a library, with or without the GIL."""
    stderr = item.config.stash.get(_stderr_key(), 2)  # not the one that is captured
    faulthandler.dump_traceback_later(settings.timeout * _shared_by(), exit=True, file=stderr)
    return True


def _shared_by():
    """How many programs want each core now: as many times longer a test may take."""
    return min(max(os.getloadavg()[0] / (os.cpu_count() or 1), 1), MOST_SHARED)


def pytest_timeout_cancel_timer(item):
    faulthandler.cancel_dump_traceback_later()
    return True


def _stderr_key():
    from _pytest.faulthandler import fault_handler_stderr_fd_key

    return fault_handler_stderr_fd_key


@pytest.fixture
def in_child():
    """Does something in a forked process, which must end in time with a true answer."""

    def run(work, seconds=30):
        child = os.fork()
        if not child:
            try:
                os._exit(0 if work() else 1)
            except BaseException:
                sys.excepthook(*sys.exc_info())
            finally:
                os._exit(2)
        end = time.monotonic() + seconds
        while not (ended := os.waitpid(child, os.WNOHANG))[0]:
            if time.monotonic() > end:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                pytest.fail(f"the forked process has not ended within {seconds} s")
            time.sleep(0.005)
        assert ended[1] == 0, "in the forked process something else came of it"

    return run


# -- where nets compute ----------------------------------------------------------------------------


def pytest_generate_tests(metafunc):
    path = metafunc.definition.path
    if _is_in(path, MATRIX):
        asked = metafunc.config.getoption("--backend")
        backends = ["numpy", "cupy-emulated"] if asked == "all" else [asked]
        if asked == "all" and _is_in(path, ONEDNN):
            backends.append("onednn")
        if metafunc.definition.get_closest_marker("host"):
            backends = [name for name in backends if "cupy" not in name]
        metafunc.parametrize("backend", backends, indirect=True)


@pytest.fixture(autouse=True, scope="session")
def no_choice_by_the_clock():
    """Of oneDNN's implementations the first is taken; a test that wants another forces it."""
    from pycaffe_dist.engines import create
    from pycaffe_dist.errors import MissingPartError

    with contextlib.suppress(MissingPartError):
        create("onednn").fix_choices()


@pytest.fixture(autouse=True)
def log_as_it_was(monkeypatch):
    """Nets and solvers begin to log; each test begins without a log, and without its variables."""
    for name in [name for name in os.environ if name.startswith("GLOG_")]:
        monkeypatch.delenv(name)
    logger = logging.getLogger("pycaffe_dist")
    # What a fixture of a whole module has begun.
    logger.handlers[:] = [h for h in logger.handlers if not (h.name or "").startswith("glog")]
    logger.setLevel(logging.NOTSET)
    kept = logger.handlers[:], logger.level, logger.propagate
    yield
    for handler in set(logger.handlers) - set(kept[0]):
        handler.close()
    logger.handlers[:], logger.propagate = kept[0], kept[2]
    logger.setLevel(kept[1])
    glog = sys.modules.get("pycaffe_dist.report.glog")
    if glog is not None:
        glog.ASKED.level = glog.ASKED.to_stderr = None


@pytest.fixture(autouse=True)
def backend(request, monkeypatch):
    """What nets that name no engine compute with."""
    name = getattr(request, "param", None)
    if name is None:
        yield name
        return
    from pycaffe_dist.engines import choose
    from pycaffe_dist.engines.base import set_default_engine
    from pycaffe_dist.threads import set_threads

    if name in ("numpy", "onednn"):
        if name == "onednn":
            set_threads(2)  # whatever _share_the_cores has left
        choose(name)
        yield name
        set_default_engine(None)
        if name == "onednn":
            set_threads()
        return
    from pycaffe_dist.testing import layers
    from pycaffe_dist.testing.gpu import emulated

    monkeypatch.setattr(layers, "EXHAUSTIVE", TRIED)
    with emulated() if name == "cupy-emulated" else nullcontext():
        if name == "cupy":
            choose("cupy")
        yield name
    set_default_engine(None)

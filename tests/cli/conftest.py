import logging
import subprocess

import pytest

from pycaffe_dist.cli import main


@pytest.fixture
def call(tmp_path, monkeypatch, capsys):
    """Runs `pcd` in this process and a folder of its own, for what needs no other process."""
    logger = logging.getLogger("pycaffe_dist")
    kept = logger.handlers[:], logger.level
    logger.handlers[:] = []
    monkeypatch.chdir(tmp_path)

    def run(*args):
        try:
            code = main([str(arg) for arg in args])
        except SystemExit as e:
            code = e.code
        return subprocess.CompletedProcess(args, code, *capsys.readouterr())

    yield run
    logger.handlers[:] = kept[0]
    logger.setLevel(kept[1])

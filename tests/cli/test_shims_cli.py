import os
import subprocess
from pathlib import Path

import pytest

from pycaffe_dist.cli import VERBS
from pycaffe_dist.cli.shims import main
from pycaffe_dist.errors import FileError
from pycaffe_dist.tools import shims

BIN = Path(__file__).parents[2] / "scripts" / "caffe-bin"
NET = 'layer { name: "d" type: "Input" top: "d" input_param { shape { dim: 2 } } }'


def test_the_commands_are_those_of_caffe_bin():
    assert sorted(shims.VERBS) == sorted(path.name for path in BIN.iterdir())
    for name, verb in shims.VERBS.items():
        assert verb in ("", *VERBS)
        assert name == "pcd" or (BIN / name).read_text().split('/pcd"')[1].split()[0] in (
            verb,
            '"$@"',
        )


@pytest.mark.parametrize("installed", [True, False])
def test_they_work_from_outside_the_environment(tmp_path, capsys, monkeypatch, installed):
    folder = tmp_path / "with a space" / "bin"
    if not installed:
        monkeypatch.setattr(shims.sysconfig, "get_path", lambda name: str(tmp_path))
    assert main([str(folder)]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Wrote 32 commands into ") and f"export PATH='{folder}':$PATH" in out
    (tmp_path / "net.prototxt").write_text(NET)
    path = f"{folder}:/usr/bin:/bin"
    done = subprocess.run(
        "caffe --version && summarize.py net.prototxt && caffe.bin check net.prototxt",
        shell=True,
        cwd=tmp_path,
        env={"PATH": path, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=150,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("pcd ") and "Input" in done.stdout


def test_a_folder_on_path_needs_no_advice(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert main([str(tmp_path)]) == 0 == main([str(tmp_path)])  # ours may be written again
    assert "PATH" not in capsys.readouterr().out.replace(str(tmp_path), "")


def test_foreign_files_stay(tmp_path):
    (tmp_path / "caffe").write_text("#!/bin/sh\necho the real one\n")
    (tmp_path / "draw_net.py").symlink_to(tmp_path / "nowhere")
    with pytest.raises(FileError, match=r"did not write: caffe, draw_net\.py\. Nothing was"):
        main([str(tmp_path)])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["caffe", "draw_net.py"]


def test_no_folder(tmp_path):
    (tmp_path / "file").touch()
    for place in ("file", "file/bin"):
        with pytest.raises(FileError, match="cannot be written"):
            main([str(tmp_path / place)])

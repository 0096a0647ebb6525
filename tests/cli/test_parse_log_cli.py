import pytest

from pycaffe_dist.cli.parse_log import main
from pycaffe_dist.errors import FileError

LOG = """\
I1116 00:00:00.000000 1 solver.cpp:289] Solving LeNet
I1116 00:00:03.000000 1 solver.cpp:239] Iteration 0 (0 iter/s, 1s/100 iters), loss = 3
I1116 00:00:03.500000 1 solver.cpp:258]     Train net output #0: loss = nan (* 1 = nan loss)
I1116 00:00:04.000000 1 sgd_solver.cpp:112] Iteration 0, lr = 0.1
"""


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "train.log"
    path.write_text(LOG)
    return str(path)


def test_tables(tmp_path, log, capsys):
    assert main([log, str(tmp_path / "out")]) == 0
    written = list((tmp_path / "out").iterdir())
    assert [path.name for path in written] == ["train.log.train"]
    assert written[0].read_text() == "NumIters,Seconds,LearningRate,loss\n0.0,3.5,0.1,nan\n"
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("delimiter", [";", "\t", r"\t"])
def test_flags(tmp_path, log, capsys, delimiter):
    assert main([log, str(tmp_path), "--verbose", "--delimiter", delimiter]) == 0
    first = (tmp_path / "train.log.train").read_text().splitlines()[0]
    assert first.split(delimiter[-1] if delimiter == ";" else "\t")[0] == "NumIters"
    assert capsys.readouterr().out == f"Wrote {tmp_path}/train.log.train\n"


def test_wrong_flags_and_files(tmp_path, log, capsys):
    with pytest.raises(SystemExit):
        main([log, str(tmp_path), "--delimiter", "ab"])
    assert "give one character" in capsys.readouterr().err
    with pytest.raises(FileError, match="cannot be read"):
        main([str(tmp_path / "none"), str(tmp_path)])
    with pytest.raises(FileError, match="cannot be made"):
        main([log, log])

import pytest

from pycaffe_dist import events as e
from pycaffe_dist.errors import FileError
from pycaffe_dist.report.net_outputs import NetOutputs


def output(name, value, weight=0.0):
    return e.Output(0, name, value, weight)


def test_training_then_an_empty_line_then_each_test_net(tmp_path):
    prefix = str(tmp_path / "run")
    with NetOutputs(prefix) as table:
        table(e.Displayed(0, 2.5, 0.0, 0.1, 100, [output("loss", 2.25, 1.0)]))
        tested = [output("accuracy", 0.1), output("loss", 2.5, 2.0)]
        table(e.Tested(0, 0, tested))
        table(e.Tested(0, 1, [output("accuracy", 0.2)], 1.5))
        table(e.Displayed(100, 0.4210000001, 9.0, 10.0, 100, [output("loss", 0.4, 1.0)]))
        table(e.Updated(100, 0.4, 0.1))
    text = (tmp_path / "run.netoutputs").read_text()
    rows = [[line.split(",") for line in part.splitlines()] for part in text.split("\n\n")]
    for part in rows:
        for row in part[1:]:
            assert 0 <= float(row.pop(1)) < 60
    assert rows == [
        [["Iteration", "time", "loss", "loss[1]"], ["0", "2.5", "2.25"], ["100", "0.421", "0.4"]],
        [["Iteration", "time", "loss", "accuracy", "loss[1]"], ["0", "5", "0.1", "2.5"]],
        [["Iteration", "time", "loss", "accuracy"], ["0", "1.5", "0.2"]],
    ]


def test_it_is_up_to_date_after_every_test(tmp_path):
    table = NetOutputs(str(tmp_path / "run"))
    table(e.Displayed(0, 2.5, 0.0, 0.1, 100, []))
    assert (tmp_path / "run.netoutputs").read_text() == ""
    table(e.Tested(0, 0, [output("accuracy", 0.1)]))
    assert len((tmp_path / "run.netoutputs").read_text().splitlines()) == 5


def test_a_place_that_cannot_be_written_is_said_at_once(tmp_path):
    with pytest.raises(FileError, match="cannot be written"):
        NetOutputs(str(tmp_path / "none" / "run"))

"""How much the verbs say: -q, -v and glog's variables."""

import logging
import re

import pytest
import warm

from pycaffe_dist.cli import VERBS, main
from pycaffe_dist.loading import save_weights
from pycaffe_dist.net import Net
from pycaffe_dist.proto.nets import read_net

NET = """
name: 'small'
layer { name: 'data' type: 'DummyData' top: 'data' top: 'label'
        dummy_data_param { shape { dim: 5 dim: 3 } shape { dim: 5 } data_filler { value: 1 } } }
layer { name: 'ip' type: 'InnerProduct' bottom: 'data' top: 'ip'
        inner_product_param { num_output: 2 weight_filler { value: 1 } } }
layer { name: 'accuracy' type: 'Accuracy' bottom: 'ip' bottom: 'label' top: 'accuracy' }
layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'ip' bottom: 'label' top: 'loss' }
"""
SCORES = ["accuracy = 0", "loss = 0.693147 (* 1 = 0.693147 loss)"]


@pytest.fixture
def call(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.prototxt").write_text(NET)
    save_weights(Net(read_net("net.prototxt")), "w.caffemodel")

    def call(verb, *flags):
        model = ("-model", "net.prototxt", "-weights", "w.caffemodel", "-iterations", "2")
        assert main([verb, *model, *flags]) == 0
        shown = capsys.readouterr()
        texts = [re.sub(r"^\w+ \S+ +\d+ \S+\] ", "", line) for line in shown.err.splitlines()]
        return shown.out.splitlines(), texts

    return call


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_both_flags(verb, capsys):
    with pytest.raises(SystemExit) as e:
        main([verb, "--help"])
    assert e.value.code == 0
    shown = capsys.readouterr().out
    assert "-q, --quiet" in shown
    assert "-v, --verbose" in shown


def test_a_score_without_how_the_net_was_built(call):
    out, err = call("test")
    assert out == []
    batches = [f"Batch {i}, {text}" for i in (0, 1) for text in ("accuracy = 0", "loss = 0.693147")]
    assert err == ["Running for 2 iterations.", *batches, "Loss: 0.693147", *SCORES]


@pytest.mark.parametrize("flag", ["-q", "--quiet", "GLOG_minloglevel=1", "GLOG_minloglevel=2"])
def test_a_line_for_each_output(call, monkeypatch, flag):
    if "=" in flag:
        monkeypatch.setenv(*flag.split("="))
    assert call("test", *([flag] if "=" not in flag else [])) == (SCORES, [])


@pytest.mark.parametrize("flag", ["-v", "GLOG_v=1"])
def test_how_the_net_was_built(call, monkeypatch, flag):
    if "=" in flag:
        monkeypatch.setenv(*flag.split("="))
    _, err = call("test", *([flag] if "=" not in flag else []))
    assert "Creating Layer ip" in err
    assert err[-2:] == SCORES


def test_a_flag_counts_more_than_a_variable(call, monkeypatch):
    monkeypatch.setenv("GLOG_minloglevel", "3")
    assert "Creating Layer ip" in call("test", "-v")[1]
    assert logging.getLogger("pycaffe_dist").level == logging.DEBUG


def test_quiet_times(call):
    out, err = call("time", "-q")
    assert out
    assert err == []


def test_a_script_logs_and_its_log_can_be_parsed(tmp_path):
    solver = "net: 'net.prototxt' base_lr: 0.1 lr_policy: 'fixed' display: 2 max_iter: 4 "
    solver += "test_iter: 1 test_interval: 2 snapshot_prefix: 'x'"
    (tmp_path / "net.prototxt").write_text(NET)
    (tmp_path / "solver.prototxt").write_text(solver)
    script = "import os, caffe\n%s\ncaffe.SGDSolver('solver.prototxt').step(4)\n"

    def run(setting):
        (tmp_path / "solve.py").write_text(script % setting)
        done = warm.pcd("run", "solve.py", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return done

    done = run("")
    assert done.stdout == ""
    assert done.stderr.count("Iteration 2, lr = 0.1") == 1
    (tmp_path / "log").write_text(done.stderr)
    assert main(["parse_log", str(tmp_path / "log"), str(tmp_path)]) == 0
    lines = (tmp_path / "log.train").read_text().splitlines()
    assert [line.split(",")[0] for line in lines] == ["NumIters", "0.0", "2.0"]
    assert run("os.environ['GLOG_minloglevel'] = '2'").stderr == ""
    assert run("caffe.init_log(2)").stderr == ""
    once = run("import logging; logging.basicConfig(level=logging.INFO); caffe.init_log()")
    assert once.stderr.count("Iteration 2, lr = 0.1") == 1

import json
from pathlib import Path

import pytest

from pycaffe_dist.cli import main

ROOT = Path(__file__).parents[2]


@pytest.fixture
def plan(monkeypatch, capsys):
    """Run ``pcd plan`` on a model: (exit code, output, errors); the machine is not measured."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr("pycaffe_dist.tools.plan.measure_rank", lambda: (40e9, 10e9))

    def run(model, *flags):
        solver = f"models/{model}/solver.prototxt"
        code = main(["plan", "--solver", solver, "--gflops", "40", *map(str, flags)])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def as_json(plan, *args):
    code, out, _ = plan(*args, "--json")
    assert code == 0
    return json.loads(out)


def test_the_table_tells_scheme_bytes_time_and_reason_of_every_exchange(plan):
    code, out, _ = plan("bvlc_alexnet", "--ranks", 8, "--bandwidth", "1gbit", "--policy", "paper")
    assert code == 0
    lines = out.splitlines()
    assert lines[0].split() == ["parameter", "shape", "scheme", "sent", "ms", "why"]
    fc6 = next(line for line in lines if line.startswith("fc6"))
    assert fc6.startswith("fc6[0] fc6[1]") and "4096x9216 4096" in fc6
    assert " sfb " in fc6 and "95.4 MB" in fc6 and "47.7M <= 132M" in fc6
    fc8 = next(line for line in lines if line.startswith("fc8[0]"))
    assert " allreduce " in fc8 and "18.3M > 14.3M" in fc8
    assert any("7 together" in line for line in lines)
    assert "8 ranks on 8 nodes, policy paper, fp32 on the wire: 199 MB sent" in out
    assert "expected step" in out and "40 GFLOP/s (as stated)" in out


def test_no_data_are_needed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    net = ROOT / "models" / "lenet" / "train_val.prototxt"
    (tmp_path / "solver.prototxt").write_text(f'net: "{net}" base_lr: 0.1 lr_policy: "fixed"')
    assert main(["plan", "-solver", "solver.prototxt", "-ranks", "2", "-gflops", "40"]) == 0
    assert "the shape of a record is a guess" in capsys.readouterr().out


def test_json_has_the_same(plan):
    found = as_json(plan, "bvlc_alexnet", "--ranks", 8, "--policy", "paper")
    entries = {tuple(e["params"]): e for e in found["entries"]}
    fc7 = entries["fc7[0]", "fc7[1]"]
    assert (fc7["scheme"], fc7["bytes"], fc7["layer"]) == ("sfb", 4 * 256 * 7 * 8192, "fc7")
    assert fc7["shapes"] == [[4096, 4096], [4096]]
    assert found["ranks"] == found["nodes"] == 8
    assert found["bytes"] == sum(e["bytes"] for e in found["entries"])
    assert found["step_ms"] > found["alone_ms"] > 0
    buckets = [e["bucket"] for e in found["entries"] if e["bucket"] is not None]
    assert len(buckets) > 1


def test_batch_nodes_wire_and_schemes_are_taken_from_the_command_line(plan):
    flags = ("--ranks", 4, "--nodes", 2, "--wire", "bf16", "--batch", 8, "--comm", "allreduce")
    found = as_json(plan, "lenet", *flags, "-comm_layer=ip1=sfb,ip2=sf-push")
    schemes = {e["layer"]: e["scheme"] for e in found["entries"]}
    assert schemes == {"ip1": "sfb", "ip2": "sf-push", "conv1": "allreduce", "conv2": "allreduce"}
    ip1 = next(e for e in found["entries"] if e["layer"] == "ip1")
    assert ip1["bytes"] == 2 * 8 * (500 + 800) * 2
    assert (found["nodes"], found["wire"]) == (2, "bf16")


def test_a_faster_link_makes_a_shorter_step(plan):
    slow, fast = (
        as_json(plan, "bvlc_alexnet", "--ranks", 4, "--batch", 8, "--bandwidth", rate)["step_ms"]
        for rate in ("50mbit", "10gbit")
    )
    assert fast < slow / 1.5


def test_settings_of_the_solver_count(plan):
    """vgg19 makes a step of 8 passes: 8 times the rows, and fewer ranks that should send them."""
    flags = ("--ranks", 50, "--policy", "paper")
    as_it_is = as_json(plan, "vgg19", *flags)
    assert {e["scheme"] for e in as_it_is["entries"]} == {"allreduce"}
    one = as_json(plan, "vgg19", *flags, "--set", "iter_size=1")
    assert {e["layer"] for e in one["entries"] if e["scheme"] == "sfb"} == {"fc6", "fc7", "fc8"}


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--ranks", 0], "--ranks must be 1 or more, not 0"),
        (["--ranks", 2, "--nodes", 3], "2 ranks cannot be spread over 3 nodes"),
        (["--ranks", 2, "--bandwidth", "quick"], "'quick' is no bandwidth"),
        (["--ranks", 2, "--latency", -1], "--latency is 0 or more microseconds"),
        (["--ranks", 2, "--batch", -1], "--batch must be 1 or more"),
        (["--ranks", 2, "--gflops", 0], "--gflops must be more than 0"),
        (["--ranks", 2, "--staleness", -1], "--staleness"),
        (["--ranks", 2, "--comm-layer", "ip1"], "expected LAYER=SCHEME, for example fc6=sfb"),
        (["--ranks", 2, "--comm-layer", "ip1=sbf"], 'there is no "sbf"; there are: auto'),
        (["--ranks", 2, "--comm-layer", "conv1=sfb"], "conv1=sfb is not possible"),
    ],
)
def test_what_makes_no_sense_is_refused_in_a_line(plan, flags, message):
    code, out, errors = plan("lenet", *flags)
    assert code == 1 and not out
    assert errors.startswith("pcd plan: ") and message in errors
    assert len(errors.splitlines()) == 1

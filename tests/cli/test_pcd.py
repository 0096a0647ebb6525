import json
import os
import re
import shlex
import signal
import subprocess
import sys
from contextlib import suppress

import numpy as np
import pytest
import warm
from google.protobuf import text_format

from pycaffe_dist.cli import VERBS
from pycaffe_dist.loading import save_weights
from pycaffe_dist.net import Net
from pycaffe_dist.proto.blobs import BlobArray
from pycaffe_dist.proto.caffe_pb2 import NetParameter, SolverParameter
from pycaffe_dist.proto.nets import read_net
from pycaffe_dist.proto.weights import State, write_state
from pycaffe_dist.version import VERSION

PCD = [sys.executable, "-m", "pycaffe_dist"]
GOOD = """name: "small"
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 4 dim: 3 } } }
layer { name: "ip" type: "InnerProduct" bottom: "data" top: "ip"
        inner_product_param { num_output: 2 } }
layer { name: "extra" type: "ReLU" bottom: "ip" top: "extra" include { phase: TEST } }
"""
BAD = GOOD.replace('bottom: "data"', 'bottom: "dta"')
SOLVER = 'net: "nets/net.prototxt" base_lr: 0.1 lr_policy: "fixed" max_iter: 10'
# One file for training, validation and deployment, told apart by stage.
STAGED = """
layer { name: "train" type: "Input" top: "data" input_param { shape { dim: 4 dim: 3 } }
        include { phase: TRAIN stage: "fit" } }
layer { name: "deploy" type: "Input" top: "data" input_param { shape { dim: 1 dim: 3 } }
        include { phase: TEST stage: "deploy" } }
layer { name: "out" type: "ReLU" bottom: "data" top: "out" }
"""


@pytest.fixture
def pcd(tmp_path):
    def run(*args, **settings):
        done = warm.pcd(*args, **{"cwd": tmp_path, **settings})
        assert "Traceback" not in done.stderr, done.stderr
        assert "Exception ignored" not in done.stderr, done.stderr
        return done

    return run


@pytest.fixture
def write(tmp_path):
    def write(text, name="net.prototxt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
        return name

    return write


# -- verbs -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("args", [[], ["--help"]])
def test_usage(pcd, args):
    done = pcd(*args)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0].startswith("usage: pcd VERB")
    assert [line.split()[0] for line in lines[2:]] == list(VERBS)
    assert all(len(line.split()) > 3 for line in lines[2:])  # each says what it does
    assert max(map(len, lines)) <= 130


@pytest.mark.parametrize(
    ("verb", "hint"), [("checks", 'did you mean "check"?'), ("frobnicate", "'frobnicate'\n")]
)
def test_unknown_verbs(pcd, verb, hint):
    done = pcd(verb, "x")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"there is no verb '{verb}'" in done.stderr
    assert hint in done.stderr
    assert done.stderr.endswith("\npcd --help shows all verbs\n")


def test_version(pcd):
    done = pcd("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"pcd {VERSION}\n", "")


@pytest.mark.parametrize("args", [["check"], ["check", "x", "--phase", "FIT"], ["info", "--jsn"]])
def test_wrong_flags(call, args):
    done = call(*args)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"usage: pcd {args[0]}")


# -- check -----------------------------------------------------------------------------------------


def test_check_a_good_net(pcd, write):
    done = pcd("check", write(GOOD))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith('net.prototxt:\n  net "small": 3 layers in the file\n')
    assert re.search(r"ip +InnerProduct +4x2 +8 +48 +32 B", done.stdout)
    assert "TRAIN: 2 layers, 0 splits, in: data; out: ip\n" in done.stdout
    assert "TEST: 3 layers, 0 splits, in: data; out: extra\n" in done.stdout
    assert done.stdout.endswith("\n  ok\n")


def test_check_a_bad_net(pcd, write):
    done = pcd("check", write(BAD))
    assert done.returncode == 1
    assert done.stdout.endswith("  FAILED\n")
    assert (
        'error: net.prototxt:3: layer "ip": unknown bottom "dta"; did you mean "data"?'
        in done.stderr
    )


def test_check_several_files(pcd, write):
    files = [
        write(BAD, "bad.prototxt"),
        write("layer { names: 'x' }", "wrong.prototxt"),
        "none.prototxt",
        write(GOOD, "good.prototxt"),
    ]
    done = pcd("check", *files)
    assert done.returncode == 1
    assert [line for line in done.stdout.splitlines() if line in ("  ok", "  FAILED")] == [
        "  FAILED",
        "  ok",
    ]
    assert (
        'wrong.prototxt:1:9: LayerParameter has no field "names"; did you mean "name"?'
        in done.stderr
    )
    assert "none.prototxt: cannot be read: No such file or directory" in done.stderr
    for name in files[1:3]:
        assert f"{name}: FAILED" in done.stderr


def test_check_a_solver_here_and_in_the_wrong_folder(pcd, write, tmp_path):
    write(GOOD, "nets/net.prototxt")
    solver = write(SOLVER, "nets/solver.prototxt")
    done = pcd("check", solver)
    assert (done.returncode, done.stderr) == (0, "")
    assert "solver: SGD, 10 iterations, lr 0.1 (fixed)" in done.stdout
    assert "train net: nets/net.prototxt" in done.stdout
    lost = pcd("check", "solver.prototxt", cwd=tmp_path / "nets")
    assert lost.returncode == 1
    assert f"it is, seen from {tmp_path}: run from that folder" in lost.stderr


def test_check_weights_and_state(pcd, write, tmp_path):
    save_weights(Net(read_net(tmp_path / write(GOOD))), tmp_path / "w.caffemodel")
    write_state(tmp_path / "s.solverstate", State(7, "w.caffemodel", [BlobArray(np.ones(5))]))
    done = pcd("check", "w.caffemodel", "s.solverstate")
    assert (done.returncode, done.stderr) == (0, "")
    assert 'weights: net "small", 3 layers, 2 blobs, 8 values' in done.stdout
    assert 'solver state: iteration 7, weights "w.caffemodel", 1 history blobs' in done.stdout


@pytest.mark.parametrize(
    ("flags", "found"),
    [
        (["--phase", "TEST"], "TEST: 3 layers"),
        (["-phase=TRAIN"], "TRAIN: 2 layers"),
    ],
)
def test_check_one_phase(call, write, flags, found):
    done = call("check", *flags, write(GOOD))
    assert (done.returncode, done.stderr) == (0, "")
    assert found in done.stdout
    assert done.stdout.count("layers, ") == 1


def test_check_a_net_whose_layers_are_chosen_by_stage(pcd, write):
    done = pcd("check", write(STAGED))
    assert done.returncode == 1
    assert "check it with one of: --stage deploy --stage fit" in done.stderr


@pytest.mark.parametrize(
    ("flags", "found"),
    [
        (["--phase", "TEST", "-stage", "deploy"], "TEST: 2 layers"),
        (["--phase", "TRAIN", "--stage=fit,other"], "TRAIN: 2 layers"),
        (["--stage", "fit"], "TRAIN: 2 layers"),
        (["--stage", "deploy"], "TEST: 2 layers"),  # what its own advice says to do
    ],
)
def test_check_a_stage(pcd, write, flags, found):
    done = pcd("check", *flags, write(STAGED))
    assert done.returncode == 0, done.stderr
    assert found in done.stdout


def test_check_adds_its_stages_to_those_of_the_file(pcd, write):
    done = pcd("check", "--phase", "TEST", write('state { stage: "deploy" }' + STAGED))
    assert done.returncode == 0, done.stderr


# -- upgrades --------------------------------------------------------------------------------------


V0 = """name: "old" input: "data" input_dim: 1 input_dim: 1 input_dim: 4 input_dim: 4
layers { layer { name: "ip" type: "innerproduct" num_output: 2 blobs_lr: 3 }
         bottom: "data" top: "ip" }
"""
V1 = """name: "old" input: "data" input_dim: 1 input_dim: 1 input_dim: 4 input_dim: 4
layers { name: "ip" type: INNER_PRODUCT inner_product_param { num_output: 2 } blobs_lr: 3
         bottom: "data" top: "ip" }
"""


@pytest.mark.parametrize("kind", ["text", "binary"])
@pytest.mark.parametrize("text", [V0, V1], ids=["V0", "V1"])
def test_upgrade_old_nets(pcd, tmp_path, text, kind):
    old = text_format.Parse(text, NetParameter())
    source, target = tmp_path / "in", tmp_path / "out"
    if kind == "text":
        source.write_text(text)
    else:
        source.write_bytes(old.SerializeToString())
    done = pcd(f"upgrade_net_proto_{kind}", source, target)
    assert (done.returncode, done.stdout) == (0, "")
    assert f"Wrote upgraded NetParameter to {target}" in done.stderr
    if kind == "text":
        new = text_format.Parse(target.read_text(), NetParameter())
    else:
        new = NetParameter.FromString(target.read_bytes())
    assert [(la.name, la.type) for la in new.layer] == [("input", "Input"), ("ip", "InnerProduct")]
    assert new.layer[1].inner_product_param.num_output == 2
    assert new.layer[1].param[0].lr_mult == 3
    assert not new.layers
    assert not new.input


def test_a_net_of_today_is_written_all_the_same(pcd, write, tmp_path):
    done = pcd("upgrade_net_proto_text", write(GOOD), "out")
    assert done.returncode == 0
    assert re.search(
        r"^E.*\] File already in latest proto format: net.prototxt$", done.stderr, re.M
    )
    again = text_format.Parse((tmp_path / "out").read_text(), NetParameter())
    assert again == text_format.Parse(GOOD, NetParameter())


def test_upgrade_a_solver(pcd, write, tmp_path):
    done = pcd("upgrade_solver_proto_text", write(SOLVER + " solver_type: ADAM", "in"), "out")
    assert done.returncode == 0
    new = text_format.Parse((tmp_path / "out").read_text(), SolverParameter())
    assert new.type == "Adam"
    assert not new.HasField("solver_type")
    assert new.net == "nets/net.prototxt"


@pytest.mark.parametrize(
    ("tool", "text", "code", "said"),
    [
        ("net_proto_text", "layer { names: 1 }", 2, 'did you mean "name"'),
        ("net_proto_text", None, 2, "in: cannot be read"),
        ("net_proto_binary", "\x00\x01\x02 no protobuf", 2, "in"),
        ("solver_proto_text", "nett: 'x'", 2, 'did you mean "net"'),
        ("solver_proto_text", "type: 'SGD' solver_type: ADAM", 1, "solver_type"),
        ("net_proto_text", V1 + 'layer { name: "x" type: "ReLU" }', 1, "layer"),
        (
            "net_proto_text",
            V0.replace("innerproduct", "relu"),
            1,
            "Unknown parameter num_output for layer type relu",
        ),
    ],
)
def test_upgrades_that_fail(call, write, tmp_path, tool, text, code, said):
    if text is not None:
        write(text, "in")
    done = call(f"upgrade_{tool}", "in", "out")
    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr
    if code == 2:
        assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("args", [[], ["in"], ["in", "out", "more"]])
def test_upgrade_arguments(call, args):
    done = call("upgrade_net_proto_text", *args)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "usage: pcd upgrade_net_proto_text IN OUT\n"


def test_an_output_that_cannot_be_written(call, write):
    done = call("upgrade_net_proto_text", write(V1), "no/such/folder/out")
    assert done.returncode == 1
    assert "no/such/folder/out: cannot be written" in done.stderr


# -- info ------------------------------------------------------------------------------------------


def test_info(pcd):
    text, machine = pcd("info"), pcd("info", "--json")
    assert (text.returncode, text.stderr) == (0, "")
    assert re.search(rf"^    pycaffe_dist +{re.escape(VERSION)}$", text.stdout, re.M)
    assert re.search(r"^MPI\n  [ -] mpirun ", text.stdout, re.M)
    rows = json.loads(machine.stdout)
    assert {"machine", "packages", "engines", "MPI", "GPUs"} == {row["section"] for row in rows}
    assert all(set(row) == {"section", "name", "there", "text", "add"} for row in rows)
    for row in rows:
        assert row["name"] in text.stdout


# -- readers that go away, and other ends ----------------------------------------------------------


@pytest.mark.parametrize("args", [["check", "net.prototxt"], [], ["--version"]])
def test_a_reader_that_has_gone(pcd, write, args):
    write(GOOD)
    read, out = os.pipe()
    os.close(read)
    try:
        assert pcd(*args, stdout=out).stderr == ""
    finally:
        os.close(out)


def test_head(write, tmp_path):
    write(GOOD)
    python = shlex.quote(sys.executable)
    line = f"set -o pipefail; {python} -m pycaffe_dist check net.prototxt | head -1"
    done = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "net.prototxt:\n", "")


@pytest.mark.parametrize(("text", "code"), [(GOOD, 0), (BAD, 1)])
def test_a_closed_standard_output(write, tmp_path, text, code):
    write(text)
    line = f"{shlex.quote(sys.executable)} -m pycaffe_dist check net.prototxt >&-"
    done = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True)
    assert "Traceback" not in done.stderr
    assert done.returncode == code


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_a_full_disk(pcd, write):
    with open("/dev/full", "w") as full:
        done = pcd("check", write(GOOD), stdout=full.fileno())
    assert done.returncode == 1
    assert "No space left on device" in done.stderr


def test_control_c(tmp_path):
    """`pcd check <(command)` waits for a command that writes no more."""
    there, here = os.pipe()
    # A shell's background job, which these tests may be part of, ignores SIGINT, and so would pcd.
    process = subprocess.Popen(
        [*PCD, "check", f"/dev/fd/{there}"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        pass_fds=[there],
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    with process, os.fdopen(here, "wb", 0) as writer:
        writer.write(bytes(1 << 17))  # more than a pipe holds: until it is being read
        # Just before the system call that waits, Python notices a signal when that is over.
        for _ in range(5):
            process.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                process.wait(10)
                break
        errors = process.stderr.read()
    os.close(there)
    assert process.returncode == 130
    assert "Traceback" not in errors

"""Training under Slurm: srun, sbatch, and scancel, which asks for a snapshot."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests" / "parallel")]

from runs import ENDLESS, ENV, states, wait_for, write  # noqa: E402
from slurmlab import Lab, why_not  # noqa: E402

PCD = [sys.executable, "-m", "pycaffe_dist"]
TRAIN = [*PCD, "train", "-solver", "solver.prototxt"]
SECONDS = 120


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    refused = why_not()
    assert not refused, f"the tests were asked for, but there is no Slurm here: {refused}"
    with Lab(tmp_path_factory.mktemp("slurm")) as lab:
        lab.env = {**lab.env, **ENV, "SLURM_CONF": str(lab.conf), "PATH": lab.env["PATH"]}
        yield lab


def srun(lab, folder, *command):
    words = ["srun", "-N2", "-n2", "--mpi=pmix", *command]
    done = subprocess.run(
        words, cwd=folder, env=lab.env, capture_output=True, text=True, timeout=SECONDS
    )
    return done.returncode, done.stdout + done.stderr


def test_ranks_of_srun_train_one_net(lab, tmp_path):
    write(tmp_path, steps=20, every=10)
    code, said = srun(lab, tmp_path, *TRAIN)
    assert code == 0, said[-2000:]
    assert "2 ranks: cluster of" in said
    assert states(tmp_path) == ["run_iter_10.solverstate", "run_iter_20.solverstate"]


def test_a_script_joins_the_ranks_of_srun(lab, tmp_path):
    write(tmp_path)
    (tmp_path / "script.py").write_text(
        "import pycaffe_dist as caffe\n"
        "solver = caffe.SGDSolver('solver.prototxt')\n"
        "print('ranks', caffe.distribute(solver))\n"
        "solver.step(3)\n"
        "print('weights', solver.net.params['ip'][0].data.tobytes().hex())\n"
    )
    code, said = srun(lab, tmp_path, sys.executable, "script.py")
    assert code == 0, said[-2000:]
    lines = [line for line in said.splitlines() if line.startswith(("ranks", "weights"))]
    assert sorted(lines)[:2] == ["ranks 2", "ranks 2"]
    assert len(set(lines)) == 2  # one net: the same weights on both


BATCH = """#!/bin/sh
#SBATCH --job-name=pairs
#SBATCH --nodes=2
#SBATCH --ntasks=2
#SBATCH --output=job.txt
#SBATCH --open-mode=append
exec srun --mpi=pmix TRAIN --run-dir run --resume auto
"""


def submit(lab, folder):
    (folder / "job.sh").write_text(BATCH.replace("TRAIN", " ".join(TRAIN)))
    said = subprocess.run(
        ["sbatch", "--parsable", "job.sh"],
        cwd=folder,
        env=lab.env,
        capture_output=True,
        text=True,
        check=True,
    )
    return said.stdout.strip()


def state(lab, job):
    return lab.run("scontrol", "show", "job", job).partition("JobState=")[2].split()[0]


def test_a_batch_job_that_is_cancelled_snapshots_and_the_next_resumes(lab, tmp_path):
    write(tmp_path, steps=ENDLESS, every=0)
    job = submit(lab, tmp_path)
    output = tmp_path / "job.txt"
    assert wait_for(lambda: output.exists() and "Iteration 50" in output.read_text(), SECONDS)
    lab.run("scancel", "--signal=TERM", job)
    assert wait_for(lambda: state(lab, job) not in ("RUNNING", "COMPLETING"), SECONDS)
    (kept,) = (path.name for path in (tmp_path / "run").glob("*_iter_*.solverstate"))
    write(tmp_path, steps=int(kept.split("_iter_")[1].split(".")[0]) + 40, every=0)
    job = submit(lab, tmp_path)
    assert wait_for(lambda: state(lab, job) == "COMPLETED", SECONDS), output.read_text()[-2000:]
    assert f"Resuming from run/{kept}" in output.read_text()

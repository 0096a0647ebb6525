# %% [markdown]
# # Four ranks from a notebook
#
# `caffe.train` starts processes that train one net together, here on this machine, and returns what they told. Each reads a
# fourth of the records; the plan says how each gradient travels.

# %%
import os
import subprocess
import sys

import pycaffe_dist as caffe
from pycaffe_dist.cli import main as pcd

RANKS = int(os.environ.get("RANKS", "4"))
pcd(["init", "--from", "digits", "--quiet"])
subprocess.run([sys.executable, "data/digits/create_digits.py"], check=True)

# %% [markdown]
# ## What would travel

# %%
pcd(["plan", "--solver", "models/digits/solver.prototxt", "--ranks", "4", "--bandwidth", "1gbit"])

# %% [markdown]
# ## Training

# %%
solver = open("models/digits/solver.prototxt").read()
solver = solver.replace("max_iter: 600", "max_iter: 30").replace("display: 50", "display: 10")
with open("short.prototxt", "w") as file:
    file.write(solver.replace("test_interval: 100", "test_interval: 30"))
rows = caffe.train("short.prototxt", ranks=RANKS, run_dir="runs/four")
losses = [row["loss"] for row in rows if row["kind"] == "train"]
print("losses:", losses)
assert losses[-1] < losses[0]

# %% [markdown]
# `pcd board runs` shows the run; with `--trace` it shows each rank's steps, too.

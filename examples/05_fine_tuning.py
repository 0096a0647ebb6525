# %% [markdown]
# # Fine-tuning
#
# A net that knows digits learns which of them are odd: from its weights, and, to compare, from nothing.

# %%
import subprocess
import sys

import pycaffe_dist as caffe
from pycaffe_dist.cli import main as pcd

pcd(["init", "--from", "finetune", "--quiet"])
pcd(["models", "get", "digits", "models/digits", "--quiet"])
for words in ([], ["--odd"]):
    subprocess.run([sys.executable, "data/digits/create_digits.py", *words], check=True)

# %% [markdown]
# ## What it knows

# %%
digits = caffe.get_solver("models/digits/solver.prototxt")
digits.step(100)
digits.net.save("models/digits/digits_iter_600.caffemodel")  # where the next solver looks for it

# %% [markdown]
# ## From its weights, and from nothing
#
# The solver's file names the weights. Layers of the same name take them; `odd`, the last layer, begins anew with ten times the
# rate of the others.

# %%
tuned = caffe.get_solver("models/finetune_digits/solver.prototxt")
text = open("models/finetune_digits/solver.prototxt").read()
with open("scratch.prototxt", "w") as file:
    file.write("\n".join(row for row in text.splitlines() if not row.startswith("weights")))
scratch = caffe.get_solver("scratch.prototxt")


def accuracy(solver):
    net, found = solver.test_nets[0], 0.0
    net.share_with(solver.net)
    for _ in range(6):
        found += float(net.forward()["accuracy"]) / 6
    return found


for _ in range(3):
    for solver in (tuned, scratch):
        solver.step(15)
    scores = accuracy(tuned), accuracy(scratch)
    print(f"after {tuned.iter} iterations: tuned {scores[0]:.3f}, from nothing {scores[1]:.3f}")
assert scores[0] > scores[1]

# %% [markdown]
# # A siamese net
#
# Two nets with the same weights look at two digits. The contrastive loss draws pairs of the same digit together and pushes
# others apart, so that the net learns a plane in which digits of one kind are neighbours.

# %%
import subprocess
import sys
from pathlib import Path

import numpy as np

import pycaffe_dist as caffe
from pycaffe_dist import layers as L
from pycaffe_dist import params as P
from pycaffe_dist.cli import main as pcd

pcd(["init", "--from", "digits", "--quiet"])
subprocess.run([sys.executable, "data/digits/create_digits.py"], check=True)

# %% [markdown]
# ## Pairs, from memory
#
# One batch of all training images; random pairs of them are given to the net before each step.

# %%
reader = caffe.NetSpec()
reader.data, reader.label = L.Data(
    source="data/digits/digits_train_lmdb",
    backend=P.Data.LMDB,
    batch_size=1437,
    transform_param={"scale": 1 / 256},
    ntop=2,
)
Path("reader.prototxt").write_text(str(reader.to_proto()))
net = caffe.Net("reader.prototxt", caffe.TEST)
net.forward()
images, labels = net.blobs["data"].data.copy(), net.blobs["label"].data.copy()

# %% [markdown]
# ## The net
#
# `param: name` makes both towers use the same weights.


# %%
def tower(n, bottom, end):
    def shared(layer):
        return {
            "param": [{"name": f"{layer}_w"}, {"name": f"{layer}_b", "lr_mult": 2}],
            "weight_filler": {"type": "xavier"},
        }

    n["conv1" + end] = L.Convolution(
        bottom, kernel_size=5, num_output=16, stride=2, **shared("conv1")
    )
    n["pool1" + end] = L.Pooling(n["conv1" + end], kernel_size=2, stride=2, pool=P.Pooling.MAX)
    n["ip1" + end] = L.InnerProduct(n["pool1" + end], num_output=100, **shared("ip1"))
    n["relu1" + end] = L.ReLU(n["ip1" + end], in_place=True)
    n["feat" + end] = L.InnerProduct(n["relu1" + end], num_output=2, **shared("feat"))
    return n["feat" + end]


n = caffe.NetSpec()
n.one = L.Input(input_param={"shape": {"dim": [64, 1, 28, 28]}})
n.other = L.Input(input_param={"shape": {"dim": [64, 1, 28, 28]}})
n.same = L.Input(input_param={"shape": {"dim": [64]}})
n.loss = L.ContrastiveLoss(tower(n, n.one, ""), tower(n, n.other, "_p"), n.same, margin=1.0)
Path("siamese.prototxt").write_text(str(n.to_proto()))
Path("solver.prototxt").write_text(
    'net: "siamese.prototxt" base_lr: 0.01 momentum: 0.9 lr_policy: "fixed" max_iter: 300 '
    'snapshot_prefix: "siamese" random_seed: 1'
)
solver = caffe.SGDSolver("solver.prototxt")

# %% [markdown]
# ## Learning

# %%
rng = np.random.default_rng(1)
for step in range(150):
    a, b = rng.integers(0, len(images), (2, 64))
    half = rng.random(64) < 0.5  # random pairs are seldom of the same digit
    b = np.where(half, [rng.choice(np.flatnonzero(labels == labels[i])) for i in a], b)
    solver.net.blobs["one"].data[...] = images[a]
    solver.net.blobs["other"].data[...] = images[b]
    solver.net.blobs["same"].data[...] = labels[a] == labels[b]
    solver.step(1)
    if step % 50 == 0:
        print(step, float(solver.net.blobs["loss"].data))

# %% [markdown]
# ## The plane

# %%
points = []
for begin in range(0, 1280, 64):
    solver.net.blobs["one"].data[...] = images[begin : begin + 64]
    solver.net.forward(end="feat")
    points.append(solver.net.blobs["feat"].data.copy())
points, named = np.concatenate(points), labels[:1280]
distance = np.linalg.norm(points[:, None] - points[None], axis=2)
same = named[:, None] == named[None]
print("same digit:", distance[same].mean(), " other digits:", distance[~same].mean())
assert distance[same].mean() < 0.6 * distance[~same].mean()

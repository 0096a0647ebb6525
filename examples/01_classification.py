# %% [markdown]
# # Classification and features
#
# A net that was trained in a minute names handwritten digits; then we look inside: its filters, the values of its layers, and
# what it is sure of.

# %%
import subprocess
import sys

import numpy as np

import pycaffe_dist as caffe
from pycaffe_dist.cli import main as pcd

pcd(["init", "--from", "digits", "--quiet"])
subprocess.run([sys.executable, "data/digits/create_digits.py"], check=True)
solver = caffe.get_solver("models/digits/solver.prototxt")
solver.step(100)
solver.net.save("lenet.caffemodel")

# %% [markdown]
# ## A deployed net, its weights, and a batch of images
#
# Sixty images of the test net's data layer are the input. They are scaled already.

# %%
test = solver.test_nets[0]
test.forward()
images, labels = test.blobs["data"].data.copy(), test.blobs["label"].data.astype(int)

net = caffe.Net("models/digits/deploy.prototxt", caffe.TEST, weights="lenet.caffemodel")
net.blobs["data"].reshape(*images.shape)
net.reshape()
scores = net.forward(data=images)["prob"]
accuracy = float((scores.argmax(1) == labels).mean())
print(f"{100 * accuracy:.1f} % of {len(labels)} digits are named rightly")
assert accuracy > 0.8

# %% [markdown]
# ## The five best guesses for one of them

# %%
for digit in np.argsort(-scores[0])[:5]:
    print(digit, f"{scores[0, digit]:.4f}")

# %% [markdown]
# ## What is inside
#
# `net` is drawn by itself in a notebook; blobs that hold images are small grids. First the shapes, then the filters of `conv1`
# and what they make of the first digit.

# %%
for name, blob in net.blobs.items():
    print(f"{name:6} {blob.shape}")

# %%
net.params["conv1"][0]

# %%
net.blobs["conv1"]

# %% [markdown]
# ## Features
#
# The 500 values of `ip1` describe an image. Digits of one kind lie closer together than digits of two kinds.

# %%
features = net.forward(end="ip1", data=images)["ip1"].copy()
distance = np.linalg.norm(features[:, None] - features[None], axis=2)
same = labels[:, None] == labels[None]
print("same digit:", distance[same].mean(), " other digits:", distance[~same].mean())
assert distance[same].mean() < distance[~same].mean()

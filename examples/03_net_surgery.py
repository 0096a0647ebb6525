# %% [markdown]
# # Net surgery: a classifier becomes fully convolutional
#
# An inner product over a map of 4x4 is a convolution with a kernel of 4x4. With the same weights, in another order of axes,
# LeNet takes images of any size and gives a map of scores.

# %%
import subprocess
import sys
from pathlib import Path

import numpy as np

import pycaffe_dist as caffe
from pycaffe_dist.cli import main as pcd

pcd(["init", "--from", "digits", "--quiet"])
subprocess.run([sys.executable, "data/digits/create_digits.py"], check=True)
solver = caffe.get_solver("models/digits/solver.prototxt")
solver.step(100)
solver.net.save("lenet.caffemodel")

# %% [markdown]
# ## The same layers, written as convolutions

# %%
text = Path("models/digits/deploy.prototxt").read_text()
text = text.replace("dim: 64 dim: 1 dim: 28 dim: 28", "dim: 1 dim: 1 dim: 28 dim: 56")
for name, kernel in (("ip1", 4), ("ip2", 1)):
    head, _, tail = text.partition(f'name: "{name}"')
    tail = tail.replace('"InnerProduct"', '"Convolution"', 1)
    tail = tail.replace("inner_product_param {", f"convolution_param {{ kernel_size: {kernel}", 1)
    text = f'{head}name: "{name}-conv"{tail}'
Path("fully.prototxt").write_text(text)

# %% [markdown]
# ## The weights move over
#
# `flat` takes the values in their order: a row of `ip1` holds 50 maps of 4x4, which is what a filter holds.

# %%
small = caffe.Net("models/digits/deploy.prototxt", caffe.TEST, weights="lenet.caffemodel")
fully = caffe.Net("fully.prototxt", caffe.TEST)
for name in ("conv1", "conv2", "ip1", "ip2"):
    there = fully.params[name if "conv" in name else f"{name}-conv"]
    for mine, theirs in zip(small.params[name], there):
        theirs.data.flat = mine.data.flat
    print(name, small.params[name][0].data.shape, "->", there[0].data.shape)

# %% [markdown]
# ## Two digits in one image
#
# The map of scores is 1x8: one place for every four pixels. At its left end it says what the classifier says of the left digit.

# %%
solver.test_nets[0].forward()
images = solver.test_nets[0].blobs["data"].data[:2].copy()
labels = solver.test_nets[0].blobs["label"].data[:2].astype(int)
pair = np.concatenate([images[0], images[1]], axis=2)[None]
scores = fully.forward(data=pair)["prob"]
print("scores:", scores.shape, " read from left to right:", scores[0, :, 0].argmax(0))

small.blobs["data"].reshape(2, 1, 28, 28)
small.reshape()
alone = small.forward(data=images)["prob"]
np.testing.assert_allclose(scores[0, :, 0, 0], alone[0], rtol=1e-3, atol=1e-5)
np.testing.assert_allclose(scores[0, :, 0, -1], alone[1], rtol=1e-3, atol=1e-5)
print("labels:", labels, " both ends agree with the classifier")

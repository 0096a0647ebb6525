# %% [markdown]
# # Learning LeNet in Python
#
# The net is written in Python, the solver steps through its iterations one by one, and we keep what we want to see.

# %%
import subprocess
import sys
from pathlib import Path

import pycaffe_dist as caffe
from pycaffe_dist import layers as L
from pycaffe_dist import params as P
from pycaffe_dist.cli import main as pcd

pcd(["init", "--from", "digits", "--quiet"])
subprocess.run([sys.executable, "data/digits/create_digits.py"], check=True)

# %% [markdown]
# ## The net


# %%
def lenet(source, batch):
    n = caffe.NetSpec()
    n.data, n.label = L.Data(
        batch_size=batch,
        backend=P.Data.LMDB,
        source=source,
        transform_param={"scale": 1 / 256},
        ntop=2,
    )
    xavier = {"weight_filler": {"type": "xavier"}}
    n.conv1 = L.Convolution(n.data, kernel_size=5, num_output=20, **xavier)
    n.pool1 = L.Pooling(n.conv1, kernel_size=2, stride=2, pool=P.Pooling.MAX)
    n.conv2 = L.Convolution(n.pool1, kernel_size=5, num_output=50, **xavier)
    n.pool2 = L.Pooling(n.conv2, kernel_size=2, stride=2, pool=P.Pooling.MAX)
    n.fc1 = L.InnerProduct(n.pool2, num_output=500, **xavier)
    n.relu1 = L.ReLU(n.fc1, in_place=True)
    n.score = L.InnerProduct(n.relu1, num_output=10, **xavier)
    n.loss = L.SoftmaxWithLoss(n.score, n.label)
    return n.to_proto()


Path("train.prototxt").write_text(str(lenet("data/digits/digits_train_lmdb", 64)))
Path("test.prototxt").write_text(str(lenet("data/digits/digits_test_lmdb", 60)))
Path("solver.prototxt").write_text("""
train_net: "train.prototxt" test_net: "test.prototxt" test_iter: 6 test_interval: 1000
base_lr: 0.01 momentum: 0.9 weight_decay: 0.0005 lr_policy: "inv" gamma: 0.0001 power: 0.75
max_iter: 1000 snapshot_prefix: "lenet" random_seed: 1
""")
solver = caffe.SGDSolver("solver.prototxt")
print(solver.net.summary())

# %% [markdown]
# ## Learning, step by step
#
# Every 20 iterations the whole test set goes through the test net, which shares its weights with the training net.

# %%
losses, scores = [], []
for iteration in range(61):
    solver.step(1)
    losses.append(float(solver.net.blobs["loss"].data))
    if iteration % 20 == 0:
        right = 0
        for _ in range(6):
            solver.test_nets[0].forward(start="data")
            guess = solver.test_nets[0].blobs["score"].data.argmax(1)
            right += int((guess == solver.test_nets[0].blobs["label"].data).sum())
        scores.append(right / 360)
        print(f"iteration {iteration}: loss {losses[-1]:.3f}, {100 * scores[-1]:.1f} % right")
assert losses[-1] < losses[0] and scores[-1] > 0.7

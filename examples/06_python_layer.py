# %% [markdown]
# # A layer in Python
#
# A layer is a class with `setup`, `reshape`, `forward` and `backward`. This one is the Euclidean loss, and it gives the same
# numbers as the layer that comes with Caffe.

# %%
from pathlib import Path

import numpy as np

import pycaffe_dist as caffe

Path("mine.py").write_text('''
import numpy as np
import pycaffe_dist as caffe


class EuclideanLoss(caffe.Layer):
    """sum of (a - b)^2 over 2 N"""

    def setup(self, bottom, top):
        if len(bottom) != 2:
            raise Exception("two inputs are needed")

    def reshape(self, bottom, top):
        self.diff = np.zeros_like(bottom[0].data, dtype=np.float32)
        top[0].reshape(1)

    def forward(self, bottom, top):
        self.diff[...] = bottom[0].data - bottom[1].data
        top[0].data[...] = np.sum(self.diff**2) / bottom[0].num / 2.0

    def backward(self, top, propagate_down, bottom):
        for i, sign in enumerate((1, -1)):
            if propagate_down[i]:
                bottom[i].diff[...] = sign * self.diff * top[0].diff[0] / bottom[i].num
''')

# %% [markdown]
# ## A net with it, and one with Caffe's own

# %%
NET = """
force_backward: true
layer {{ name: "a" type: "Input" top: "a" input_param {{ shape {{ dim: 10 dim: 5 }} }} }}
layer {{ name: "b" type: "Input" top: "b" input_param {{ shape {{ dim: 10 dim: 5 }} }} }}
layer {{ name: "ip" type: "InnerProduct" bottom: "a" top: "ip"
        inner_product_param {{ num_output: 5 weight_filler {{ type: "xavier" }} }} }}
layer {{ name: "loss" type: "{kind}" bottom: "ip" bottom: "b" top: "loss" loss_weight: 1 {more} }}
"""
python = 'python_param { module: "mine" layer: "EuclideanLoss" }'
Path("mine.prototxt").write_text(NET.format(kind="Python", more=python))
Path("caffes.prototxt").write_text(NET.format(kind="EuclideanLoss", more=""))
mine, caffes = (caffe.Net(name, caffe.TRAIN) for name in ("mine.prototxt", "caffes.prototxt"))
caffes.share_with(mine)

# %%
rng = np.random.default_rng(1)
values = {name: rng.normal(size=(10, 5)).astype(np.float32) for name in "ab"}
losses, gradients = [], []
for net in (mine, caffes):
    losses.append(float(net.forward(**values)["loss"].sum()))
    gradients.append(net.backward()["a"].copy())
print("losses:", losses)
np.testing.assert_allclose(losses[0], losses[1], rtol=1e-5)
np.testing.assert_allclose(gradients[0], gradients[1], rtol=1e-4, atol=1e-6)
mine

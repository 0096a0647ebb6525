"""A Python layer that remembers: what it puts out depends on how many passes there were."""

import pycaffe_dist as caffe


class Fading(caffe.Layer):
    def setup(self, bottom, top):
        self.passes = 0

    def reshape(self, bottom, top):
        top[0].reshape(*bottom[0].data.shape)

    def forward(self, bottom, top):
        self.passes += 1
        top[0].data[...] = bottom[0].data * self._factor()

    def backward(self, top, propagate_down, bottom):
        if propagate_down[0]:
            bottom[0].diff[...] = top[0].diff * self._factor()

    def _factor(self):
        return 1 + 1 / self.passes

    def get_state(self):
        return {"passes": self.passes}

    def set_state(self, state):
        self.passes = state["passes"]

import caffe
import numpy as np
import random

class SegDataLayer(caffe.Layer):
    def setup(self, bottom, top):
        params = eval(self.param_str)
        self.split = params['split']
        self.random = params.get('randomize', True)
        random.seed(params.get('seed', None))
        if len(top) != 2:
            raise Exception("Need to define two tops: data and label.")
        if len(bottom) != 0:
            raise Exception("Do not define a bottom.")
        self.indices = open('{}.txt'.format(self.split), 'r').read().splitlines()
        self.idx = 0
        if 'train' not in self.split:
            self.random = False
        if self.random:
            self.idx = random.randint(0, len(self.indices)-1)

    def reshape(self, bottom, top):
        np.random.seed(int(self.indices[self.idx]))
        self.data = np.random.rand(3, 8, 8)
        self.label = (self.data[:1] > 0.5).astype(np.uint8)
        top[0].reshape(1, *self.data.shape)
        top[1].reshape(1, *self.label.shape)

    def forward(self, bottom, top):
        top[0].data[...] = self.data
        top[1].data[...] = self.label
        self.idx = (self.idx + 1) % len(self.indices)

    def backward(self, top, propagate_down, bottom):
        pass

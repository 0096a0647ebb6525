#!/usr/bin/env python
# A training loop with solver.step, a test by hand, and a chart.
import os
import sys
import matplotlib
matplotlib.use('TkAgg')
import matplotlib.pyplot as plt
from pylab import *
import numpy as np

caffe_root = '../'
sys.path.insert(0, caffe_root + 'python')
import caffe

caffe.set_device(0)
caffe.set_mode_gpu()
solver = caffe.SGDSolver('solver.prototxt')
print [(k, v.data.shape) for k, v in solver.net.blobs.items()][:2]
print [(k, v[0].data.shape) for k, v in solver.net.params.items()]

niter = 9
test_interval = 4
train_loss = np.zeros(niter)
test_acc = np.zeros(int(np.ceil(niter / test_interval)) + 1)
output = np.zeros((niter, 4, 3))
for it in range(niter):
    solver.step(1)
    train_loss[it] = solver.net.blobs['loss'].data
    solver.test_nets[0].forward(start='conv1')
    output[it] = solver.test_nets[0].blobs['ip'].data[:4]
    if it % test_interval == 0:
        print 'Iteration', it, 'testing...'
        correct = 0
        for test_it in range(2):
            solver.test_nets[0].forward()
            correct += sum(solver.test_nets[0].blobs['ip'].data.argmax(1)
                           == solver.test_nets[0].blobs['label'].data)
        test_acc[it / test_interval] = correct / 8.

_, ax1 = subplots()
ax2 = ax1.twinx()
ax1.plot(arange(niter), train_loss)
ax2.plot(test_interval * arange(len(test_acc)), test_acc, 'r')
ax1.set_xlabel('iteration')
ax2.set_ylabel('test accuracy')
plt.savefig('loss.png')
plt.show()
print 'chart', os.path.getsize('loss.png') > 0, len(test_acc), train_loss.min() > 0

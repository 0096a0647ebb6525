from __future__ import division
import caffe
import numpy as np
import os
import sys
from datetime import datetime
from PIL import Image

def fast_hist(a, b, n):
    k = (a >= 0) & (a < n)
    return np.bincount(n * a[k].astype(int) + b[k], minlength=n**2).reshape(n, n)

def compute_hist(net, save_dir, dataset, layer='score', gt='label'):
    n_cl = net.blobs[layer].channels
    hist = np.zeros((n_cl, n_cl))
    loss = 0
    for idx in dataset:
        net.forward()
        hist += fast_hist(net.blobs[gt].data[0, 0].flatten(),
                                net.blobs[layer].data[0].argmax(0).flatten(), n_cl)
        loss += net.blobs['loss'].data.flat[0]
    return hist, loss / len(dataset)

def seg_tests(solver, save_format, dataset, layer='score', gt='label'):
    print '>>>', 'Begin seg tests'
    solver.test_nets[0].share_with(solver.net)
    hist, loss = compute_hist(solver.test_nets[0], None, dataset, layer, gt)
    print '>>> Iteration', solver.iter, 'loss is a number:', loss == loss
    acc = np.diag(hist).sum() / hist.sum()
    print '>>> Iteration', solver.iter, 'overall accuracy between 0 and 1:', 0 <= acc <= 1
    iu = np.diag(hist) / (hist.sum(1) + hist.sum(0) - np.diag(hist))
    return hist

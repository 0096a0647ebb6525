import caffe
import surgery, score

import numpy as np
import os

try:
    import setproctitle
    setproctitle.setproctitle(os.path.basename(os.getcwd()))
except:
    pass

weights = 'net.caffemodel'
caffe.set_device(0)
caffe.set_mode_gpu()
solver = caffe.SGDSolver('fcn_solver.prototxt')
solver.net.copy_from(weights)
interp_layers = [k for k in solver.net.params.keys() if 'up' in k]
surgery.interp(solver.net, interp_layers)
val = np.loadtxt('val.txt', dtype=str)
for _ in range(2):
    solver.step(2)
    score.seg_tests(solver, False, val, layer='score')

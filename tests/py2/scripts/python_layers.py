"""A data layer that a process feeds, and a loss, as the prototxt below names them."""
import cPickle
import Queue
import sys
import threading
from multiprocessing import Process, Queue as ProcessQueue
import numpy as np
from numpy import *
import caffe


class FeedLayer(caffe.Layer):
    """Batches that another process prepares."""
    def setup(self, bottom, top):
        layer_params = eval(self.param_str_)
        self._batch = layer_params['batch']
        self._queue = ProcessQueue(4)
        self._process = BlobFetcher(self._queue, self._batch)
        self._process.start()
        self._name_to_top_map = {'data': 0, 'labels': 1}
        top[0].reshape(self._batch, 3)
        top[1].reshape(self._batch)

    def forward(self, bottom, top):
        blobs = self._queue.get()
        for blob_name, blob in blobs.iteritems():
            top_ind = self._name_to_top_map[blob_name]
            top[top_ind].reshape(*(blob.shape))
            top[top_ind].data[...] = blob.astype(np.float32, copy=False)

    def backward(self, top, propagate_down, bottom):
        pass

    def reshape(self, bottom, top):
        pass


class BlobFetcher(Process):
    def __init__(self, queue, batch):
        super(BlobFetcher, self).__init__()
        self._queue = queue
        self._batch = batch
        self.daemon = True

    def run(self):
        np.random.seed(3)
        while True:
            self._queue.put({'data': np.random.rand(self._batch, 6/2), 'labels': np.zeros(self._batch)})


class EuclideanLossLayer(caffe.Layer):
    def setup(self, bottom, top):
        if len(bottom) != 2:
            raise Exception, "Need two inputs to compute distance."

    def reshape(self, bottom, top):
        self.diff = np.zeros_like(bottom[0].data, dtype=np.float32)
        top[0].reshape(1)

    def forward(self, bottom, top):
        self.diff[...] = bottom[0].data - bottom[1].data.reshape(-1, 1)
        top[0].data[...] = np.sum(self.diff**2) / bottom[0].num / 2.
        assert max(1, 2) == 2 and shape(self.diff)[1] == 1

    def backward(self, top, propagate_down, bottom):
        for i in range(2):
            if not propagate_down[i]:
                continue
            sign = 1 if i == 0 else -1
            bottom[i].diff[...] = sign * self.diff / bottom[i].num


if __name__ == '__main__':
    open('pynet.prototxt', 'w').write("""
    layer { name: 'feed' type: 'Python' top: 'data' top: 'label'
            python_param { module: 'python_layers' layer: 'FeedLayer' param_str: "{'batch': 4}" } }
    layer { name: 'ip' type: 'InnerProduct' bottom: 'data' top: 'ip'
            inner_product_param { num_output: 1 weight_filler { type: 'constant' value: 1 } } }
    layer { name: 'loss' type: 'Python' bottom: 'ip' bottom: 'label' top: 'loss' loss_weight: 1
            python_param { module: 'python_layers' layer: 'EuclideanLossLayer' } }
    """)
    open('pysolver.prototxt', 'w').write(
        "train_net: 'pynet.prototxt' base_lr: 0.1 lr_policy: 'fixed' snapshot_prefix: 'py'")
    solver = caffe.SGDSolver('pysolver.prototxt')
    losses = []
    for _ in xrange(20):
        solver.step(1)
        losses.append(float(solver.net.blobs['loss'].data))
    print 'falls:', losses[-1] < losses[0] / 2
    jobs = Queue.Queue()
    worker = threading.Thread(target=lambda: jobs.put(cPickle.dumps(losses)))
    worker.start(); worker.join()
    print len(cPickle.loads(jobs.get())) == 20, sys.maxint > 2L**31

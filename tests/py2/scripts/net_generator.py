import os, commands, math
import caffe
from caffe import layers as L, params as P
from caffe.proto import caffe_pb2

def lenet(lmdb, batch_size):
    n = caffe.NetSpec()
    n.data, n.label = L.Data(batch_size=batch_size, backend=P.Data.LMDB, source=lmdb,
                             transform_param=dict(scale=1./255), ntop=2)
    for i in xrange(1, 3):
        bottom = n.data if i == 1 else n['pool%d' % (i - 1)]
        n['conv%d' % i] = L.Convolution(bottom, kernel_size=3, num_output=8/i, weight_filler=dict(type='xavier'))
        n['pool%d' % i] = L.Pooling(n['conv%d' % i], kernel_size=2, stride=1, pool=P.Pooling.MAX)
    n.fc1 = L.InnerProduct(n.pool2, num_output=int(math.ceil(50/4)), weight_filler=dict(type='xavier'))
    n.relu1 = L.ReLU(n.fc1, in_place=True)
    n.score = L.InnerProduct(n.relu1, num_output=3, weight_filler=dict(type='xavier'))
    n.loss = L.SoftmaxWithLoss(n.score, n.label)
    return n.to_proto()

with open('generated.prototxt', 'w') as f:
    f.write(str(lenet('data_lmdb', 4)))
s = caffe_pb2.SolverParameter()
s.train_net = 'generated.prototxt'
s.base_lr = 0.01
s.lr_policy = 'fixed'
s.max_iter = 100 / 30
s.display = 1
s.snapshot_prefix = os.getcwdu() + '/generated'
s.solver_mode = caffe_pb2.SolverParameter.GPU
with open('generated_solver.prototxt', 'w') as f:
    print >>f, s
solver = caffe.get_solver('generated_solver.prototxt')
solver.solve()
print solver.iter, [b.data.shape for b in solver.net.params['fc1']]
print commands.getoutput('ls generated_iter_*.caffemodel')

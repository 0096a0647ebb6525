# Two towers with shared weights, and their distances in a pickle.
import caffe, pickle, struct, gzip
import numpy as np
import os.path as osp
TEMPLATE = """
input: "a" input_shape { dim: 2 dim: 3 }
input: "b" input_shape { dim: 2 dim: 3 }
"""
for tower in ('a', 'b'):
    TEMPLATE += """
    layer { name: "ip_%(t)s" type: "InnerProduct" bottom: "%(t)s" top: "feat_%(t)s" param { name: "w" } param { name: "bias" }
            inner_product_param { num_output: 2 weight_filler { type: "constant" value: 0.5 } } }
    """ % {'t': tower}
with open('siamese.prototxt', 'w') as f: f.write(TEMPLATE)
net = caffe.Net('siamese.prototxt', caffe.TEST)
with open('raw.bin', 'wb') as f:
    f.write(struct.pack('>IIII', 2051, 4, 1, 3))
    f.write(np.arange(12, dtype=np.uint8).tostring())
with open('raw.bin', 'rb') as f:
    magic, num, rows, cols = struct.unpack('>IIII', f.read(16))
    images = np.fromstring(f.read(num * rows * cols), dtype=np.uint8).reshape(num, cols)
print hex(magic), num, ord(open('raw.bin', 'rb').read()[-1])
out = net.forward_all(a=images, b=images[::-1])
distances = np.sqrt(((out['feat_a'] - out['feat_b']) ** 2).sum(axis=1))
f = open('distances.pkl', 'w'); pickle.dump([distances, {'names': ['a', 'b']}], f); f.close()
loaded, info = pickle.load(file('distances.pkl'))
print np.allclose(loaded, distances), info['names'], net.params.keys(), distances.round(2)
print sorted(info.items() + [('z', None)], lambda x, y: cmp(x[0], y[0]))[-1][0]

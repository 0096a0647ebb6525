# Gradient ascent on a layer's activations, octave by octave.
from cStringIO import StringIO
import numpy as np
import PIL.Image
from google.protobuf import text_format
import caffe

model = caffe.io.caffe_pb2.NetParameter()
text_format.Merge(open('deploy.prototxt').read(), model)
model.force_backward = True
open('tmp.prototxt', 'w').write(str(model))
net = caffe.Classifier('tmp.prototxt', 'net.caffemodel', mean = np.float32([104.0, 116.0, 122.0]), channel_swap = (2,1,0))

def preprocess(net, img):
    return np.float32(np.rollaxis(img, 2)[::-1]) - net.transformer.mean['data']
def deprocess(net, img):
    return np.dstack((img + net.transformer.mean['data'])[::-1])

def showarray(a, fmt='jpeg'):
    a = np.uint8(np.clip(a, 0, 255))
    f = StringIO()
    PIL.Image.fromarray(a).save(f, fmt)
    return f.getvalue()

def objective_L2(dst):
    dst.diff[:] = dst.data

def make_step(net, step_size=1.5, end='conv1', jitter=2, clip=True, objective=objective_L2):
    src = net.blobs['data']
    dst = net.blobs[end]
    ox, oy = np.random.randint(-jitter, jitter+1, 2)
    src.data[0] = np.roll(np.roll(src.data[0], ox, -1), oy, -2)
    net.forward(end=end)
    objective(dst)
    net.backward(start=end)
    g = src.diff[0]
    src.data[:] += step_size/np.abs(g).mean() * g
    src.data[0] = np.roll(np.roll(src.data[0], -ox, -1), -oy, -2)
    if clip:
        bias = net.transformer.mean['data']
        src.data[:] = np.clip(src.data, -bias, 255-bias)

img = np.float32(PIL.Image.open('image.png'))
octaves = [preprocess(net, img)]
for i in xrange(2-1):
    octaves.append(octaves[-1][:, ::2, ::2])
src = net.blobs['data']
for octave, octave_base in enumerate(octaves[::-1]):
    h, w = octave_base.shape[-2:]
    src.reshape(1, 3, h, w)
    src.data[0] = octave_base
    for i in xrange(3):
        make_step(net)
    vis = deprocess(net, src.data[0])
    print octave, h / 2, w / 2, vis.shape
print 'picture of', len(showarray(vis)) > 100, 'begins', repr(showarray(vis)[:3])

# Images from a list into an LMDB, shuffled, and read again.
import os
import random
import string
import Image
from StringIO import StringIO
import lmdb
import numpy as np
import caffe

random.seed(1)
lines = [string.split(line.strip()) for line in open('list.txt')]
if len(lines) <> 6:
    raise ValueError, 'the list has %d lines' % len(lines)
indices = range(len(lines))
random.shuffle(indices)
train, val = indices[:len(lines)/2], indices[len(lines)/2:]
env = lmdb.open('made_lmdb', map_size=int(1e9))
with env.begin(write=True) as txn:
    for n, i in enumerate(train + val):
        name, label = lines[i]
        im = Image.open(os.path.join('images', name)).resize((6, 6), Image.ANTIALIAS)
        pixels = np.array(im)[:, :, ::-1].transpose((2, 0, 1))
        datum = caffe.proto.caffe_pb2.Datum()
        datum.channels, datum.height, datum.width = pixels.shape
        datum.data = pixels.tostring()  # or .tobytes() if numpy < 1.9
        datum.label = long(label)
        str_id = '{:08}'.format(n)
        txn.put(str_id.encode('ascii'), datum.SerializeToString())
encoded = StringIO()
im.save(encoded, 'PNG')
print 'png:', encoded.getvalue()[:4] == '\x89PNG', encoded.getvalue()[1:4]

env = lmdb.open('made_lmdb', readonly=True)
with env.begin() as txn:
    raw_datum = txn.get(b'00000000')
    datum = caffe.proto.caffe_pb2.Datum()
    datum.ParseFromString(raw_datum)
    flat_x = np.fromstring(datum.data, dtype=np.uint8)
    x = flat_x.reshape(datum.channels, datum.height, datum.width)
    print x.shape, x.dtype, env.stat()['entries']
    cursor = txn.cursor()
    for key, value in cursor:
        print(key, len(value) > 0)
        break
    print ' '.join([k for k, _ in txn.cursor()][:2])

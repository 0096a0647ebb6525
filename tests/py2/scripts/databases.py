# LevelDBs in both modules' ways, as scripts of 2014 made and read them.
import os
import shutil
import leveldb
import numpy as np
import plyvel
import caffe
from caffe.proto import caffe_pb2

shutil.rmtree('features_leveldb', ignore_errors=True)
db = leveldb.LevelDB('features_leveldb', create_if_missing=True, error_if_exists=True)
batch = leveldb.WriteBatch()
for i in xrange(5):
    datum = caffe.io.array_to_datum(np.arange(6).reshape(1, 2, 3).astype(np.uint8) + i, i)
    batch.Put('%08d' % i, datum.SerializeToString())
    if (i + 1) % 2 == 0:
        db.Write(batch, sync=True)
        batch = leveldb.WriteBatch()
db.Write(batch, sync=True)
db.Put('00000001', datum.SerializeToString())
db.Delete('00000003')
del db

db = leveldb.LevelDB('features_leveldb')
for key, value in db.RangeIter():
    datum = caffe_pb2.Datum.FromString(value)
    print key, datum.label, caffe.io.datum_to_array(datum).sum(),
print
import json
from SimpleXMLRPCServer import SimpleXMLRPCServer
print json.dumps({'index': key, 'server': SimpleXMLRPCServer.__name__}, sort_keys=True)
print [k for k in db.RangeIter(key_from='00000001', key_to='00000002', include_value=False)]
print list(db.RangeIter(include_value=False, reverse=True))[0]
try:
    db.Get('nothing')
except KeyError:
    print 'KeyError', len(db.Get('00000000')) > 6
try:
    db.Put('more', 'x')
except leveldb.LevelDBError, e:
    print 'only read' in str(e)

other = plyvel.DB('plyvel_leveldb', create_if_missing=True)
with other.write_batch() as wb:
    for i in range(4):
        wb.put('%d' % i, 'value %d' % i)
other.put('a', 'b')
other.delete('3')
other.close()
other = plyvel.DB('plyvel_leveldb')
print other.get('2'), other.get('3'), other.get('3', 'no'), [k for k, v in other], list(
    other.iterator(start='1', stop='a', include_value=False)), list(other.iterator(prefix='a'))
net = caffe_pb2.NetParameter()
layer = net.layer.add(name='data', type='Data', top=['data', 'label'])
layer.data_param.source, layer.data_param.batch_size = 'features_leveldb', 4
open('leveldb.prototxt', 'w').write(str(net))
net = caffe.Net('leveldb.prototxt', caffe.TRAIN)
net.forward()
print net.blobs['label'].data

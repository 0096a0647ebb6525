'''Features of images, kept in an LMDB, an HDF5 file and a pickle.'''
import cPickle as pickle
import logging
import os, shutil
import h5py
import lmdb
import numpy as np
import caffe
from caffe.proto import caffe_pb2


def main():
    logging.basicConfig(level=logging.WARNING)
    caffe.set_mode_gpu()
    net = caffe.Net('deploy.prototxt', caffe.TEST)
    net.copy_from('net.caffemodel')
    if os.path.exists('features_lmdb'):
        shutil.rmtree('features_lmdb')
    out_env = lmdb.open(path='features_lmdb', map_size=1024**3)
    txn = out_env.begin(write=True)
    in_env = lmdb.open('data_lmdb', readonly=True)
    counter = 0
    features = {}
    with in_env.begin() as in_txn:
        cursor = in_txn.cursor()
        while cursor.next():
            key, value = cursor.key(), cursor.value()
            datum = caffe_pb2.Datum()
            datum.ParseFromString(value)
            label = datum.label
            image = caffe.io.datum_to_array(datum).astype(float)
            image -= 128
            image /= 128
            net.blobs['data'].reshape(1, *image.shape)
            net.reshape()
            net.blobs['data'].data[...] = image
            net.forward()
            feature = net.blobs['pool1'].data.reshape((1, 1, -1))
            out = caffe.io.array_to_datum(arr=feature, label=label)
            txn.put(key=key, value=out.SerializeToString())
            features[key] = feature.flatten()
            counter += 1
            if counter % 5 == 0:
                txn.commit()
                print 'Finished %i ndarrays' % counter
                txn = out_env.begin(write=True)
    txn.commit()
    out_env.sync()
    out_env.close()
    print 'Finished', counter, sorted(features.keys())[0]

    f = h5py.File('features.h5')
    if 'X' in f.keys():
        del f['X']
    f.create_dataset('X', data=np.array([features[k] for k in sorted(features)]))
    print f['X'].value.shape
    f.close()
    pickle.dump(features, open('features.pkl', 'wb'), protocol=pickle.HIGHEST_PROTOCOL)
    again = pickle.load(open('features.pkl', 'r'))
    key = '00000003'
    print key in again, again[key].shape, (again[key] == features[key]).all()


if __name__ == '__main__':
    main()

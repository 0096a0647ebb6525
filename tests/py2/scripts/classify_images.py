import numpy as np, sys, os
import caffe

# mean.binaryproto to .npy
blob = caffe.proto.caffe_pb2.BlobProto()
data = open('mean.binaryproto', 'rb').read()
blob.ParseFromString(data)
arr = np.array(caffe.io.blobproto_to_array(blob))
np.save('mean.npy', arr[0])

net = caffe.Net('deploy.prototxt', 'net.caffemodel', caffe.TEST)
transformer = caffe.io.Transformer({'data': net.blobs['data'].data.shape})
transformer.set_transpose('data', (2,0,1))
transformer.set_mean('data', np.load('mean.npy').mean(1).mean(1))
transformer.set_raw_scale('data', 255)
transformer.set_channel_swap('data', (2,1,0))
net.blobs['data'].reshape(1, 3, 8, 8)
net.blobs['data'].data[...] = transformer.preprocess('data', caffe.io.load_image('image.png'))
out = net.forward()
print("Predicted class is #{}.".format(out['prob'][0].argmax()))
labels = np.loadtxt('synset_words.txt', str, delimiter='\t')
top_k = net.blobs['prob'].data[0].flatten().argsort()[-1:-3:-1]
for i in np.arange(top_k.size):
    print top_k[i], labels[top_k[i]].split(' ', 1)[0]

classifier = caffe.Classifier('deploy.prototxt', 'net.caffemodel', mean=np.load('mean.npy').mean(1).mean(1),
                              channel_swap=(2,1,0), raw_scale=255, image_dims=(10, 10))
prediction = classifier.predict([caffe.io.load_image('image.png')])
print 'prediction shape:', prediction[0].shape, `round(prediction[0].sum(), 3)`
words = map(lambda l: l.strip(), open('synset_words.txt').readlines())
print sorted(zip(prediction[0].tolist(), words), cmp=lambda a, b: cmp(b[0], a[0]))[0][1] in words

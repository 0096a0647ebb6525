# coding: utf-8
# In[1]:
import numpy as np
import matplotlib.pyplot as plt
get_ipython().magic(u'matplotlib inline')
import caffe
plt.rcParams['figure.figsize'] = (10, 10)
plt.rcParams['image.interpolation'] = 'nearest'
plt.rcParams['image.cmap'] = 'gray'

net = caffe.Net('deploy.prototxt', 'net.caffemodel', caffe.TEST)

# In[2]:
def vis_square(data, padsize=1, padval=0):
    data -= data.min()
    data /= data.max()
    n = int(np.ceil(np.sqrt(data.shape[0])))
    padding = ((0, n ** 2 - data.shape[0]), (0, padsize), (0, padsize)) + ((0, 0),) * (data.ndim - 3)
    data = np.pad(data, padding, mode='constant', constant_values=(padval, padval))
    data = data.reshape((n, n) + data.shape[1:]).transpose((0, 2, 1, 3) + tuple(range(4, data.ndim + 1)))
    data = data.reshape((n * data.shape[1], n * data.shape[3]) + data.shape[4:])
    plt.imshow(data); plt.axis('off')
    return data

filters = net.params['conv1'][0].data
print vis_square(filters.transpose(0, 2, 3, 1)).shape
feat = net.blobs['conv1'].data[0, :4]
feat[...] = np.arange(feat.size).reshape(feat.shape)
print vis_square(feat, padval=1).shape, np.float(0.5), np.int(3.9), np.zeros(7 / 2, dtype=np.bool)
plt.hold(True)
plt.savefig('filters.png')
plt.show()

# Before Transformer was a class of its own.
import numpy as np
import matplotlib.pyplot as plt
import caffe

print caffe.Net('deploy.prototxt', 'net.caffemodel').outputs
net = caffe.Classifier('deploy.prototxt', 'net.caffemodel', image_dims=(8, 8), gpu=False,
                       mean_file='mean.npy', input_scale=255, channel_swap=(2, 1, 0))
net.set_phase_test()
net.set_mode_gpu()
image = caffe.io.load_image('image.png')
crops = caffe.io.oversample([caffe.io.resize_image(image, net.image_dims)], net.crop_dims)
data = np.asarray([net.preprocess('data', crop) for crop in crops])
out = net.forward_all(data=data)
print out['prob'].shape, net.deprocess('data', data[0]).shape
print net.predict([image]).shape
figure = plt.figure()
axes = figure.add_subplot(111, axisbg='w')
axes.set_ylim(ymin=0, ymax=1)
plt.xlim(xmin=0)
plt.grid(b=True)
plt.hist([0.1, 0.2], normed=1)
plt.bar(left=[1], height=[2], width=1)
plt.tick_params(axis='x', bottom='off', labelbottom='off')
plt.imshow(out['prob'], cmap='spectral')
plt.style.use('seaborn-whitegrid')
figure.canvas.draw()
print len(figure.canvas.tostring_rgb()) % 3, axes.get_ylim()[0] <= 0
plt.savefig('chart.jpg', frameon=False)

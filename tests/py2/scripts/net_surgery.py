# Fully connected layers become convolutions.
import caffe

net = caffe.Net('deploy.prototxt', 'net.caffemodel', caffe.TEST)
params = ['ip']
fc_params = {pr: (net.params[pr][0].data, net.params[pr][1].data) for pr in params}
for fc in params:
    print '{} weights are {} dimensional and biases are {} dimensional'.format(fc, fc_params[fc][0].shape, fc_params[fc][1].shape)

text = open('deploy.prototxt').read()
text = text.replace('type: "InnerProduct"', 'type: "Convolution"')
text = text.replace('inner_product_param { num_output: 3', 'convolution_param { num_output: 3 kernel_size: 4')
text = text.replace('name: "ip"', 'name: "ip-conv"')
file('full_conv.prototxt', 'w').write(text)

net_full_conv = caffe.Net('full_conv.prototxt', 'net.caffemodel', caffe.TEST)
params_full_conv = ['ip-conv']
conv_params = dict([(pr, (net_full_conv.params[pr][0].data, net_full_conv.params[pr][1].data)) for pr in params_full_conv])
for pr, pr_conv in zip(params, params_full_conv):
    conv_params[pr_conv][0].flat = fc_params[pr][0].flat
    conv_params[pr_conv][1][...] = fc_params[pr][1]
net_full_conv.save('full_conv.caffemodel')
for name, blobs in net_full_conv.params.iteritems():
    print name, blobs[0].data.shape, type(blobs) is caffe._caffe.BlobVec
if net_full_conv.params.has_key('ip-conv'):
    print "transplanted:", (net_full_conv.params['ip-conv'][0].data.ravel() == net.params['ip'][0].data.ravel()).all()

from config import cfg
import timer
from utils.cython_bbox import bbox_overlaps
from nms import nms
import cPickle
import heapq
import os
import numpy as np
import numpy.random as npr

def im_detect(net, im, boxes):
    net.blobs['data'].reshape(*(im.shape))
    blobs_out = net.forward(data=im.astype(np.float32, copy=False))
    return np.tile(blobs_out['prob'], (boxes.shape[0], 1)), boxes

def test_net(net):
    npr.seed(cfg.EPS > 0)
    num_images = 4
    max_per_set = 40 / num_images
    top_scores = [[] for _ in xrange(3)]
    all_boxes = [[[] for _ in xrange(num_images)] for _ in xrange(3)]
    _t = {'im_detect' : timer.Timer(), 'misc' : timer.Timer()}
    for i in xrange(num_images):
        im = npr.rand(1, 3, 8, 8)
        boxes = npr.randint(0, 5, size=(12, 4)).astype(np.float)
        boxes[:, 2:] += boxes[:, :2] + 1
        assert (bbox_overlaps(boxes, boxes).diagonal() == 1).all()
        _t['im_detect'].tic()
        scores, boxes = im_detect(net, im, boxes)
        _t['im_detect'].toc()
        half = np.round(0.5 * boxes.shape[0])
        for j in xrange(3):
            dets = np.hstack((boxes[:half], scores[:half, j][:, np.newaxis])).astype(np.float32)
            for val in dets[:, -1]:
                heapq.heappush(top_scores[j], val)
            if len(top_scores[j]) > max_per_set:
                while len(top_scores[j]) > max_per_set:
                    heapq.heappop(top_scores[j])
            all_boxes[j][i] = dets[nms(dets, cfg.NMS), :]
        print 'im_detect: {:d}/{:d} {:s}'.format(i + 1, num_images, 'ok' if _t['im_detect'].average_time >= 0 else 'no')
    det_file = os.path.join(os.getcwd(), 'detections.pkl')
    with open(det_file, 'wb') as f:
        cPickle.dump(all_boxes, f, cPickle.HIGHEST_PROTOCOL)
    print len(cPickle.load(open(det_file))), net.name, cfg.NMS

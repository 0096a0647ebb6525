import sys
import argparse
from collections import defaultdict
import lmdb
import numpy as np
import caffe


def print_table(headers, matrix):
    names = list(headers)
    row_format = "{:>6}" + "{:>5}" * len(names) + "{:>6}"
    print row_format.format("", *(names + ["[sum]"]))
    for l in names:
        row = [matrix[(l, pl)] for pl in names]
        print row_format.format(l, *(row + [sum(row)]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument('--proto', type=unicode, required=True)
    parser.add_argument('--model', type=str, required=True)
    parser.add_argument('--lmdb', type=str, required=True)
    args = parser.parse_args()
    count = correct = 0
    matrix = defaultdict(int) # (real,pred) -> int
    labels_set = set()
    caffe.set_mode_cpu()
    net = caffe.Net(args.proto, args.model, caffe.TEST)
    lmdb_env = lmdb.open(args.lmdb)
    lmdb_cursor = lmdb_env.begin().cursor()
    for key, value in lmdb_cursor:
        datum = caffe.proto.caffe_pb2.Datum()
        datum.ParseFromString(value)
        label = int(datum.label)
        image = caffe.io.datum_to_array(datum).astype(np.uint8)
        out = net.forward_all(data=np.asarray([image]))
        plabel = int(out['prob'][0].argmax(axis=0))
        count += 1
        iscorrect = label == plabel
        correct += (1 if iscorrect else 0)
        matrix[(label, plabel)] += 1
        labels_set.update([label, plabel])
        if not iscorrect and key == '00000000':
            print("\rError: key=%s, expected %i but predicted %i" % (key, label, plabel))
    sys.stdout.write("\rAccuracy: %.1f%%\n" % (100.*correct/count))
    print str(correct) + " out of " + str(count) + " were classified correctly"
    print_table(sorted(labels_set), matrix)
    print "whole part of count / 4:", count / 4, "rest:", count % 4

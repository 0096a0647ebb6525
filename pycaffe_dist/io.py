"""``caffe.io``: pycaffe/io.py under the name that scripts import."""

import sys

from pycaffe_dist.pycaffe.io import *  # noqa: F403  for type checkers

sys.modules[__name__] = sys.modules["pycaffe_dist.pycaffe.io"]
